"""Intervals for pairs: the same example twice, once in either group's words, so that the two costs go together.

Where the costs are 0 or 1, a table of four counts says everything; what matters are the pairs in which exactly one went
wrong: `only_a` and `only_b` of `n`. Every function returns the ends of an interval for the mean of cost_a - cost_b,
that is p(only a) - p(only b), that is to be missed with probability at most `alpha`.
"""

import numpy as np

from fairlib.intervals.proportions import accepted, limits, standardized


def hoeffding(only_a, only_b, n, *, alpha: float):
    """Hoeffding's inequality for differences in [-1, 1]: t² = 2 log(2/α) / n."""
    mean, half_width = (np.asarray(only_a) - only_b) / n, np.sqrt(2 * np.log(2 / alpha) / n)
    return np.maximum(mean - half_width, -1), np.minimum(mean + half_width, 1)


def mcnemar(only_a, only_b, n, *, alpha: float):
    """The exact McNemar test turned into an interval; it excludes 0 where the test's p-value is at most 0.95 α.

    Given the number of one-sided pairs, `only_a` is binomial with π = (1 + δ/ψ)/2, where ψ is the rate of such pairs,
    so that δ = (2π - 1) ψ. On either side π gets a Clopper-Pearson limit that is missed with probability 0.95 α/2 (this
    is the test), and ψ one that is missed with 0.05 α/2: from below where the limit of π says that δ is beyond 0, from
    above where it does not.
    """
    only_a, only_b, n = np.broadcast_arrays(only_a, only_b, n)
    low = _mcnemar_low(only_a, only_b, n, alpha / 2)
    return low, -_mcnemar_low(only_b, only_a, n, alpha / 2)


def _mcnemar_low(more, less, n, tail: float) -> np.ndarray:
    discordant = more + less
    share = np.where(discordant > 0, limits(more, np.maximum(discordant, 1), 0.95 * tail)[0], 0)
    least, most = limits(discordant, n, 0.05 * tail)
    return (2 * share - 1) * np.where(share > 0.5, least, most)


def tango(only_a, only_b, n, *, alpha: float):
    """The differences that the score test for pairs does not reject at level α (Tango 1998).

    z(δ) = (only_a - only_b - n δ) / √(n (2 q̃ + δ (1 - δ))), q̃ the likeliest p(only b) if the difference is δ.

    >>> low, high = tango(28, 25, 618, alpha=0.1)
    >>> print(f"{low:.4f} {high:.4f}")
    -0.0148 0.0247
    """
    only_a, only_b, n = np.broadcast_arrays(*(np.asarray(count, dtype=float) for count in (only_a, only_b, n)))
    return accepted(tango_score, (only_a, only_b, n), (only_a - only_b) / n, alpha)


def tango_score(difference, only_a, only_b, n) -> np.ndarray:
    """Return z(δ), positive where the observed difference is larger than δ."""
    rate = likeliest_rate(difference, only_a, only_b, n)
    variance = n * (2 * rate + difference * (1 - difference))
    return standardized(only_a - only_b - n * difference, variance, rounding=1e-9)


def likeliest_rate(difference, only_a, only_b, n) -> np.ndarray:
    """Return the likeliest p(only b) where p(only a) - p(only b) = δ: a root of 2n q² + B q - only_b δ (1 - δ)."""
    linear = (2 * n - only_a + only_b) * difference - only_a - only_b
    root = np.sqrt(np.maximum(linear**2 + 8 * n * only_b * difference * (1 - difference), 0))
    return np.clip((root - linear) / (4 * n), np.maximum(0, -difference), (1 - difference) / 2)
