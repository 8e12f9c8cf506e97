"""How far apart the largest and the smallest of several equal groups are by chance.

If `groups` independent numbers come from the same normal distribution with variance 1,
their range (largest less smallest) follows the studentized range distribution with
infinitely many degrees of freedom. Tukey's comparison of all pairs of groups uses it.

`scipy.stats.studentized_range` computes the same distribution. Importing
`scipy.stats` takes longer than a whole audit, and its upper tail is one minus the lower
tail, which loses the digits of small probabilities. The integral here keeps them.
"""

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike
from scipy.special import ndtr

# Where the largest number may lie; outside, the integrand is below 1e-30. The integrand
# is smooth and falls like a normal density, so equal steps are as good as any rule.
_STEP = 0.1
_LARGEST = _STEP * np.arange(-120, 121)
_WIDEST_RANGE = 64.0
_HALVINGS = 64


def tail_of_range(width: ArrayLike, *, groups: int) -> ndarray:
    """Return how often the range of several standard normal numbers exceeds a width.

    Parameters
    ----------
    width : array_like
        The widths, at least 0; NaN gives NaN.
    groups : int
        How many numbers there are, at least 2.

    Returns
    -------
    ndarray
        The probabilities, in the shape of `width`.

    Notes
    -----
    Any of the k numbers may be the largest. If it is z, the range stays below w when
    each other number lies between z - w and z:

    P(range > w) = k ∫ φ(z) [Φ(z)^(k-1) - (Φ(z) - Φ(z-w))^(k-1)] dz

    References
    ----------
    J. W. Tukey (1953), The problem of multiple comparisons. H. L. Harter (1960),
    Tables of range and studentized range, Annals of Mathematical Statistics 31.

    Examples
    --------
    >>> print(tail_of_range(3.3145, groups=3).round(4))
    0.05
    """
    widths = np.asarray(width, dtype=float)[..., None]
    density = np.exp(-(_LARGEST**2) / 2) / np.sqrt(2 * np.pi)

    # Of the numbers below the largest, the share that is farther away than the width.
    below = ndtr(_LARGEST)
    too_far = ndtr(_LARGEST - widths) / below
    with np.errstate(divide="ignore"):  # at width 0, all are too far away
        any_too_far = -np.expm1((groups - 1) * np.log1p(-too_far))

    integrand = groups * density * below ** (groups - 1) * any_too_far
    return _STEP * integrand.sum(axis=-1)


def quantile_of_range(tail: float, *, groups: int) -> float:
    """Return the width that a range of standard normal numbers exceeds so often.

    Parameters
    ----------
    tail : float
        The probability of a wider range, between 0 and 1.
    groups : int
        How many numbers there are, at least 2.

    Examples
    --------
    >>> round(quantile_of_range(0.05, groups=3), 3)
    3.314
    """
    low = 0.0
    high = _WIDEST_RANGE
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if tail_of_range(middle, groups=groups) > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2
