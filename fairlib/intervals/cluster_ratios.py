"""Intervals for ratios of two means of examples that come in clusters.

Published bias scores are often ratios, such as the share of right answers about women
divided by the share about men. A ratio q is inside the interval if the difference
"mean of A minus q times mean of B" may be 0. The limits of both means come from
`fairlib.intervals.clusters`; they are combined as the sides of a triangle whose angle
depends on how the two means are correlated (Donner and Zou 2012).
"""

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri, stdtrit

from fairlib.checks import check_confidence
from fairlib.intervals.cluster_checks import checked_sums
from fairlib.intervals.clusters import worth_of_sides

_FEWEST_CLUSTERS = 3
_SMALLEST_POSITIVE = 1e-300

Ends = tuple[ndarray, ndarray]


def from_sums(
    n_a: ArrayLike,
    k_a: ArrayLike,
    n_b: ArrayLike,
    k_b: ArrayLike,
    *,
    largest: float = 1.0,
    confidence: float = 0.95,
) -> Ends:
    """Return intervals for ratios of two means, from the sums of each cluster.

    Parameters
    ----------
    n_a, k_a : array_like of float, (..., clusters)
        Number of side A's examples in each cluster, and the sum of their values.
    n_b, k_b : array_like of float, (..., clusters)
        The same of side B. Equal positions are the same cluster.
    largest : float, default 1.0
        The largest value that is possible; the lowest is 0.
    confidence : float, default 0.95
        The share of samples in which an interval should contain the true ratio.

    Returns
    -------
    tuple of ndarray
        The low and the high end for the mean of A divided by the mean of B; NaN where a
        side has fewer than 3 clusters, infinity where the mean of B may be 0.

    Raises
    ------
    ValueError
        If a size is negative, or a sum is not possible for its size.

    References
    ----------
    Donner, Zou (2012), "Closed-form confidence intervals for functions of the normal
    mean and standard deviation", Statistical Methods in Medical Research 21.

    Examples
    --------
    >>> n = [12, 12, 12, 12, 12, 12]
    >>> low, high = from_sums(n, [6, 2, 5, 9, 4, 7], n, [8, 5, 9, 10, 8, 9])
    >>> print(f"{low:.2f} {high:.2f}")
    0.43 0.85
    """
    check_confidence(confidence)
    bounds = (0.0, largest)
    side_a = checked_sums(n_a, k_a, names=("n_a", "k_a"), bounds=bounds)
    side_b = checked_sums(n_b, k_b, names=("n_b", "k_b"), bounds=bounds)
    worth = worth_of_sides(n_a=n_a, k_a=k_a, n_b=n_b, k_b=k_b, bounds=bounds)

    alpha = 1 - confidence
    mean_a, *limits_a = _limits(*side_a, worth.cases[0], worth.freedom, alpha=alpha)
    mean_b, *limits_b = _limits(*side_b, worth.cases[1], worth.freedom, alpha=alpha)
    low_a, high_a = limits_a
    low_b, high_b = limits_b

    low = _root(
        product=mean_a * mean_b
        - worth.correlation * (mean_a - low_a) * (high_b - mean_b),
        above=low_a * (2 * mean_a - low_a),
        below=high_b * (2 * mean_b - high_b),
        upper=False,
    )
    high = _root(
        product=mean_a * mean_b
        - worth.correlation * (high_a - mean_a) * (mean_b - low_b),
        above=high_a * (2 * mean_a - high_a),
        below=low_b * (2 * mean_b - low_b),
        upper=True,
    )
    return low, high


def _limits(
    sizes: ndarray, sums: ndarray, cases: ndarray, freedom: ndarray, *, alpha: float
) -> tuple[ndarray, ndarray, ndarray]:
    """Return the mean of a side, and its Clopper-Pearson limits for so many cases."""
    total = sizes.sum(axis=-1)
    is_enough = (sizes > 0).sum(axis=-1) >= _FEWEST_CLUSTERS
    mean = sums.sum(axis=-1) / np.where(total > 0, total, 1)

    t_squared = stdtrit(np.minimum(freedom, 1e9), alpha / 2) ** 2
    worth = cases * ndtri(alpha / 2) ** 2 / t_squared
    low = np.minimum(_lower(mean, worth, alpha=alpha), mean)
    high = np.maximum(1 - _lower(1 - mean, worth, alpha=alpha), mean)

    return (
        np.where(is_enough, mean, np.nan),
        np.where(is_enough, low, np.nan),
        np.where(is_enough, high, np.nan),
    )


def _lower(mean: ndarray, worth: ndarray, *, alpha: float) -> ndarray:
    """Return Clopper and Pearson's lower limit."""
    events = np.maximum(mean * worth, _SMALLEST_POSITIVE)
    others = np.maximum(worth - events, 0)
    return betaincinv(events, others + 1, alpha / 2)


def _root(*, product: ndarray, above: ndarray, below: ndarray, upper: bool) -> ndarray:
    """Return the root q of below q² - 2 product q + above = 0 that is a limit."""
    discriminant = np.sqrt(np.maximum(product**2 - above * below, 0))
    if not upper:
        # This form has no difference of two numbers that are nearly the same.
        denominator = product + discriminant
        is_zero = denominator <= 0
        return np.where(is_zero, 0.0, above / np.where(is_zero, 1, denominator))

    is_unbounded = below <= 0
    root = (product + discriminant) / np.where(is_unbounded, 1, below)
    return np.where(is_unbounded, np.inf, root)
