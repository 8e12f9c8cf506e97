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

from fairlib.checks import check_confidence
from fairlib.intervals.clusters import limits_of_sides

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

    Notes
    -----
    By `benchmarks/atlas.md`, a 95 % interval contains the ratio in 95 % of samples or
    more from 5 clusters on. With 3 clusters whose examples resemble each other
    strongly, it may be 91 %.

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
    limits = limits_of_sides(
        (n_a, k_a, n_b, k_b), bounds=(0.0, largest), alpha=1 - confidence
    )
    mean_a, mean_b = limits.mean
    low_a, low_b = limits.low
    high_a, high_b = limits.high

    below = limits.correlation * (mean_a - low_a) * (high_b - mean_b)
    above = limits.correlation * (high_a - mean_a) * (mean_b - low_b)
    low = _lower_root(
        product=mean_a * mean_b - below,
        of_a=low_a * (2 * mean_a - low_a),
        of_b=high_b * (2 * mean_b - high_b),
    )
    high = _upper_root(
        product=mean_a * mean_b - above,
        of_a=high_a * (2 * mean_a - high_a),
        of_b=low_b * (2 * mean_b - low_b),
    )
    return low, high


def _lower_root(*, product: ndarray, of_a: ndarray, of_b: ndarray) -> ndarray:
    """Return the smaller root q of of_b q² - 2 product q + of_a = 0."""
    # This form has no difference of two numbers that are nearly the same.
    denominator = product + _discriminant(product, of_a, of_b)
    is_zero = denominator <= 0
    return np.where(is_zero, 0.0, of_a / np.where(is_zero, 1, denominator))


def _upper_root(*, product: ndarray, of_a: ndarray, of_b: ndarray) -> ndarray:
    """Return the larger root q; infinity if the mean of B may be 0."""
    is_unbounded = of_b <= 0
    root = product + _discriminant(product, of_a, of_b)
    return np.where(is_unbounded, np.inf, root / np.where(is_unbounded, 1, of_b))


def _discriminant(product: ndarray, of_a: ndarray, of_b: ndarray) -> ndarray:
    """Return the root of the discriminant."""
    return np.sqrt(np.maximum(product**2 - of_a * of_b, 0))
