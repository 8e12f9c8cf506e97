"""Intervals and design effects for claims that are tested from counts.

A method is a function from α, one minus the confidence, to the ends of an interval.
"""

from collections.abc import Callable

import numpy as np
from numpy import ndarray
from scipy.special import ndtri, stdtrit

from fairlib.intervals import clusters
from fairlib.intervals.disparity import METHODS
from fairlib.intervals.exact import exact_unconditional
from fairlib.intervals.proportions import mcnemar

ALPHA = 0.05

Ends = tuple[float, float]
Method = Callable[[float], Ends]


def exact(x_a: float, n_a: float, x_b: float, n_b: float) -> Method:
    """Return the exact interval of two independent groups."""
    counts = (int(x_a), int(n_a), int(x_b), int(n_b))
    return lambda alpha: exact_unconditional(*counts, alpha=alpha)


def discordant(only_a: float, only_b: float, n: float) -> Method:
    """Return the exact interval of pairs."""
    return lambda alpha: mcnemar(only_a, only_b, n, alpha=alpha)


def bernstein(x_a: float, n_a: float, x_b: float, n_b: float) -> Method:
    """Return the interval of the first paper, with the largest possible variance."""
    counts = METHODS["bernstein_maximal"].counts
    table = (x_a, n_a, x_b, n_b)
    return lambda alpha: counts(*table, alpha=alpha)


def clustered_difference(sums: ndarray) -> Method:
    """Return the interval of two rates whose clusters are a sample."""
    return lambda alpha: clusters.difference_from_sums(*sums.T, confidence=1 - alpha)


def clustered_score(sums: ndarray) -> Method:
    """Return the interval of a mean over terms, less one half."""

    def ends(alpha: float) -> Ends:
        low, high = clusters.from_sums(
            *sums.T, weights="clusters", confidence=1 - alpha
        )
        return low - 0.5, high - 0.5

    return ends


def mean_of_terms(differences: ndarray) -> Method:
    """Return the interval of a mean of differences between -1 and 1, one a term."""
    return lambda alpha: clusters.from_sums(
        np.ones(len(differences)), differences, bounds=(-1, 1), confidence=1 - alpha
    )


def stratified(sums: ndarray) -> Method:
    """Return the interval of a mean over these very terms, less one half."""
    n, k = sums.T
    rates = k / n
    excess = rates.mean() - 0.5
    variance = (rates * (1 - rates) / np.maximum(n - 1, 1)).sum() / len(n) ** 2
    standard_error = np.sqrt(variance)
    return lambda alpha: (
        excess + ndtri(alpha / 2) * standard_error,
        excess - ndtri(alpha / 2) * standard_error,
    )


def student(estimate: float, residuals: ndarray) -> Ends:
    """Return Student's interval from what each cluster adds to an estimate."""
    number = len(residuals)
    variance = number / (number - 1) * (residuals**2).sum()
    margin = -stdtrit(number - 1, ALPHA / 2) * np.sqrt(variance)
    return estimate - margin, estimate + margin


def effect_of_mean(sums: ndarray) -> float:
    """Return the design effect of a mean of items."""
    n, k, squares = sums.T
    total = n.sum()
    mean = k.sum() / total
    residuals = (k - mean * n) / total
    variance = len(n) / (len(n) - 1) * (residuals**2).sum()
    return _ratio(variance, (squares.sum() / total - mean**2) / total)


def difference(sums: ndarray) -> tuple[float, ndarray]:
    """Return the difference of two rates, and what each cluster adds to it."""
    n_a, k_a, n_b, k_b = sums.T
    rate_a = k_a.sum() / n_a.sum()
    rate_b = k_b.sum() / n_b.sum()
    of_a = (k_a - rate_a * n_a) / n_a.sum()
    of_b = (k_b - rate_b * n_b) / n_b.sum()
    return rate_a - rate_b, of_a - of_b


def effect_of_difference(sums: ndarray) -> float:
    """Return the design effect of a difference of two rates."""
    n_a, k_a, n_b, k_b = sums.sum(axis=0)
    rate_a = k_a / n_a
    rate_b = k_b / n_b
    _, residuals = difference(sums)

    variance = len(sums) / (len(sums) - 1) * (residuals**2).sum()
    if_independent = rate_a * (1 - rate_a) / n_a + rate_b * (1 - rate_b) / n_b
    return _ratio(variance, if_independent)


def effect_of_terms(sums: ndarray) -> float:
    """Return the design effect of a mean over terms."""
    n, k = sums.T
    rates = k / n
    over_terms = rates.var(ddof=1) / len(n)
    within_terms = (rates * (1 - rates) / np.maximum(n - 1, 1)).sum() / len(n) ** 2
    return _ratio(over_terms, within_terms)


def _ratio(variance: float, if_independent: float) -> float:
    """Return a design effect; 0 where nothing varies."""
    return variance / if_independent if if_independent > 0 else 0.0


def design_effect(
    sums: ndarray, effect: Callable[[ndarray], float]
) -> tuple[float, float, float]:
    """Return a design effect with its interval from the jackknife over clusters.

    The interval is Student's, for the logarithm. In samples of 10 to 40 clusters whose
    means have a beta distribution (means of 0.3, design effects of 1.8 to 29), it
    contained the true design effect in 93 to 95 % of 400 draws.
    """
    number = len(sums)
    whole = effect(sums)
    without_one = [effect(np.delete(sums, place, axis=0)) for place in range(number)]
    if min(without_one) == 0:
        # All that varies lies in one cluster: nothing can be said of other clusters.
        return whole, np.nan, np.nan

    logarithms = np.log(without_one)
    deviations = logarithms - logarithms.mean()
    standard_error = np.sqrt((number - 1) / number * (deviations**2).sum())
    factor = np.exp(-stdtrit(number - 1, ALPHA / 2) * standard_error)
    return whole, whole / factor, whole * factor
