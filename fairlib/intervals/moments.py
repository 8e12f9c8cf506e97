"""Intervals for a difference of two means that need no more than each group's size, mean and variance.

Costs lie in [0, 1] here. Every function takes two `Moments`, whose fields may be arrays, and returns the two ends of an
interval for mean_a - mean_b that is to be missed with probability at most `alpha`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from fairlib import bernstein


class Moments(NamedTuple):
    """What a group's costs come down to: how many, their mean, and their variance with n - 1 in the denominator."""

    n: ArrayLike
    mean: ArrayLike
    variance: ArrayLike

    @classmethod
    def of(cls, cost: np.ndarray) -> "Moments":
        """Return the moments of a list of costs; the variance of a single one is 0."""
        return cls(len(cost), float(cost.mean()), float(cost.var(ddof=1)) if len(cost) > 1 else 0.0)

    @classmethod
    def of_counts(cls, ones: ArrayLike, n: ArrayLike) -> "Moments":
        """Return the moments of n costs, `ones` of which are 1 and the others 0."""
        n = np.asarray(n, dtype=float)
        rate = np.asarray(ones) / n
        return cls(n, rate, rate * (1 - rate) * n / np.maximum(n - 1, 1))


def bernstein_maximal(a: Moments, b: Moments, *, alpha: float):
    """Ethayarajh's bound with the maximal variance (C/γ)², γ the smaller group's share of the sample (eq. 3)."""
    return _bernstein(a, b, "maximal", alpha)


def bernstein_sample(a: Moments, b: Moments, *, alpha: float):
    """The same with the sample variance of the amortized disparity in the place of the true one: a plug-in."""
    n = a.n + b.n
    squares = sum((group.variance * (group.n - 1) / group.n + group.mean**2) * n / group.n for group in (a, b))
    return _bernstein(a, b, np.maximum(squares - (a.mean - b.mean) ** 2, 0) * n / (n - 1), alpha)


def bernstein_centred(a: Moments, b: Moments, *, alpha: float):
    """The same bound for the cost less C/2: no difference changes, and C/2 takes the place of C.

    The amortized disparity of the centred cost has a variance of at most C² / (4 γ_A γ_B).
    """
    return _bernstein(a, b, (a.n + b.n) ** 2 / (4 * a.n * b.n), alpha, max_cost=0.5)


def _bernstein(a: Moments, b: Moments, variance, alpha: float, max_cost: float = 1.0):
    n = a.n + b.n
    options = {"gamma": np.minimum(a.n, b.n) / n, "max_cost": max_cost, "confidence": 1 - alpha}
    return _around(a, b, bernstein.half_width(n, variance=variance, **options))


def hoeffding(a: Moments, b: Moments, *, alpha: float):
    """Hoeffding's inequality for two samples: t² = (1/n_a + 1/n_b) log(2/α) / 2."""
    return _around(a, b, np.sqrt((1 / a.n + 1 / b.n) * np.log(2 / alpha) / 2))


def empirical_bernstein(a: Moments, b: Moments, *, alpha: float):
    """Bernstein's inequality for two samples, with an upper confidence limit for each group's standard deviation.

    t = √(2 v log(1/α₁)) + max(1/n_a, 1/n_b) log(1/α₁) / 3,  v = s_a² / n_a + s_b² / n_b, where s is the sample's
    standard deviation plus √(2 log(1/α₂) / (n - 1)) (Maurer & Pontil 2009, theorem 10), and no more than the largest
    that there is, 1/2. Two tails and two deviations share α: 2 α₁ + 2 α₂ = α, with α₂ = α/20.
    """
    tail, limit = np.log(1 / (0.45 * alpha)), np.log(1 / (0.05 * alpha))
    deviations = (np.sqrt(group.variance) + np.sqrt(2 * limit / np.maximum(group.n - 1, 1e-9)) for group in (a, b))
    v = sum(np.minimum(s, 0.5) ** 2 / group.n for s, group in zip(deviations, (a, b), strict=True))
    return _around(a, b, np.sqrt(2 * v * tail) + tail / (3 * np.minimum(a.n, b.n)))


def welch(a: Moments, b: Moments, *, alpha: float):
    """Welch's t interval: normal theory with unequal variances. Groups without any variance get no width at all.

    Where errors are rare it covers far less than it says: 36 % of samples of 30 and 100 at worst. `disparity_interval`
    gives it where each sample has n >= 10 G₁², G₁ its skewness (after Cochran 1977, "Sampling Techniques"): then 93 %.
    """
    if np.any(np.minimum(a.n, b.n) < 2):
        raise ValueError("method 'welch' needs at least two examples in each group")
    share_a, share_b = a.variance / a.n, b.variance / b.n
    squared = share_a**2 / (a.n - 1) + share_b**2 / (b.n - 1)
    freedom = np.where(squared > 0, (share_a + share_b) ** 2 / np.where(squared > 0, squared, 1), 1)
    return _around(a, b, np.sqrt(share_a + share_b) * stats.t.ppf(1 - alpha / 2, freedom))


def _around(a: Moments, b: Moments, half_width):
    """Return the ends, within what differences can be."""
    difference = np.asarray(a.mean) - np.asarray(b.mean)
    return np.maximum(difference - half_width, -1), np.minimum(difference + half_width, 1)
