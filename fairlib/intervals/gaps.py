"""How far apart many groups are: an interval for a gap that may also be none.

The gap between the highest and the lowest of several observed rates is positive even if
all true rates are equal, and so is nearly every replicate of a bootstrap. The interval
here considers all rates that the data allow, at once.

Let x be the number of standard deviations by which the most overestimated group may be
too high, and y the number by which the most underestimated group may be too low. Then
(x, y) stays inside a disc of radius r with probability 1 - α. The disc is replaced by a
staircase of rectangles; in each rectangle, the rate of a group lies between its
Clopper-Pearson limits with tails Φ(-x) and Φ(-y). Nothing here is asymptotic; notebook
10b gives the argument.

References: Clopper and Pearson 1934, Biometrika 26 (the limits); Tukey 1953, Kramer
1956 and Hayter 1984, Annals of Statistics 12 (all pairs at once); Berger 1982,
Technometrics 24 (intersection and union, for the high end).
"""

from collections.abc import Hashable, Mapping
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy import ndarray
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import ndtr

from fairlib.checks import check_confidence
from fairlib.interval import Interval
from fairlib.intervals import proportions

_ANGLES = np.linspace(0, np.pi / 2, 32)
STAIRS = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)])  # corners (x, y) for r = 1
_SHARE_OF_HIGH_END = 0.2  # of α


def interval(
    errors: ArrayLike | Mapping[Hashable, float],
    totals: ArrayLike | Mapping[Hashable, float],
    *,
    confidence: float = 0.95,
) -> Interval:
    """Return the highest error rate minus the lowest, with an interval for this gap.

    If all groups have the same true rate, the interval contains 0 with probability
    `confidence`. It excludes 0 only where some two groups differ, although one could
    have chosen any pair of groups. It holds for any number of groups, any sizes and any
    rates; where counts are small, it covers more often than it promises. For the signed
    difference of just two groups, `disparity_interval` is narrower.

    Parameters
    ----------
    errors, totals : array_like or mapping of names to counts
        Number of errors and of examples of each group; series and mappings are matched
        by name. Groups have to be independent samples of independent examples; where
        examples share a template or an identity term, they are not.
    confidence : float, default 0.95
        Probability with which the interval contains the true gap.

    Returns
    -------
    Interval
        The observed gap, with ends from 0 to 1.

    Raises
    ------
    ValueError
        If there are fewer than two groups, if the names differ, or if the counts of a
        group are impossible.

    Notes
    -----
    The cost is O(groups).

    Examples
    --------
    >>> print(interval([12, 15, 13], [200, 210, 190]))
    0.011 [0.000, 0.083] (95% exact)
    """
    check_confidence(confidence)
    errors_by_group, totals_by_group = _counts(errors, totals)
    rates = errors_by_group / totals_by_group
    low_radius, high_radius = radii(1 - confidence, groups=len(rates))

    # Low end: some group is at least this high, and some other at least this low.
    below, above = limits(errors_by_group, totals_by_group, low_radius)
    low = max(float((below.max(axis=1) - above.min(axis=1)).min()), 0.0)

    # High end: the farthest that any group can be from the lowest of the others. A
    # group is not compared with itself: if it is the lowest, with the second lowest.
    below, above = limits(errors_by_group, totals_by_group, high_radius)
    two_lowest = np.partition(below, 1, axis=1)[:, :2]
    lowest = two_lowest[:, [0]]
    second = two_lowest[:, [1]]
    is_lowest = np.arange(len(rates)) == below.argmin(axis=1)[:, None]
    high = float((above - np.where(is_lowest, second, lowest)).max())

    return Interval(
        estimate=float(rates.max() - rates.min()),
        low=low,
        high=high,
        confidence=confidence,
        method="exact",
    )


def radii(alpha: float, *, groups: int) -> tuple[float, float]:
    """Return the radii for the low and for the high end of a gap.

    Either one disc serves both ends, or each end has a disc for its own share of alpha:
    whichever is smaller in sum.

    Parameters
    ----------
    alpha : float
        Probability with which the interval may miss the gap.
    groups : int
        Number of groups.

    Returns
    -------
    tuple of float
        Radius for the low end, radius for the high end.
    """
    common = radius(alpha, groups=groups)
    low = radius((1 - _SHARE_OF_HIGH_END) * alpha, groups=groups)
    high = radius(_SHARE_OF_HIGH_END * alpha, groups=None)
    if common + common <= low + high:
        return common, common
    return low, high


@lru_cache(maxsize=1000)
def radius(alpha: float, *, groups: int | None) -> float:
    """Return the radius of the disc that (x, y) leaves with probability alpha.

    The errors of the groups are independent standard normal numbers. All k of them lie
    inside the rectangle of a corner (x, y) with probability (Φ(x) - Φ(-y))^k; those of
    a given ordered pair do with probability Φ(x) Φ(y).

    Parameters
    ----------
    alpha : float
        Probability of leaving the disc.
    groups : int or None
        Number of groups. None for two given groups in a given order: the first may be
        too high and the second too low, but not the other way round.

    Returns
    -------
    float
        The radius; 0 where alpha is so large that no disc is needed.
    """

    def inside_corner(x: ndarray, y: ndarray) -> ndarray:
        if groups is None:
            return ndtr(x) * ndtr(y)
        return (ndtr(x) - ndtr(-y)) ** groups

    def excess(r: float) -> float:
        # Neighbouring rectangles overlap: what is counted twice is subtracted.
        x, y = r * STAIRS
        overlap = inside_corner(x[1:], y[:-1]).sum()
        return float(inside_corner(x, y).sum() - overlap) - (1 - alpha)

    # A pair is in the other order with probability 1/4 even if r = 0.
    if excess(0.0) >= 0:
        return 0.0
    return brentq(excess, 0.0, 40.0)


def limits(errors: ndarray, totals: ndarray, r: float) -> tuple[ndarray, ndarray]:
    """Return the Clopper-Pearson limits of every group at every corner of a staircase.

    Parameters
    ----------
    errors, totals : numpy.ndarray of shape (groups,)
        Number of errors and of examples of each group.
    r : float
        Radius of the disc.

    Returns
    -------
    below, above : numpy.ndarray of shape (corners, groups)
        Lower limits with tails Φ(-x), and upper limits with tails Φ(-y).
    """
    tails_below, tails_above = ndtr(-r * STAIRS)
    below, _ = proportions.limits(errors, totals, tails_below[:, None])
    _, above = proportions.limits(errors, totals, tails_above[:, None])
    return below, above


def _counts(
    errors: ArrayLike | Mapping[Hashable, float],
    totals: ArrayLike | Mapping[Hashable, float],
) -> tuple[ndarray, ndarray]:
    """Return the counts of the groups in one order, checked."""
    errors_by_group = pd.Series(errors, dtype=float)
    totals_by_group = pd.Series(totals, dtype=float)
    names = errors_by_group.index
    same_names = names.is_unique and set(names) == set(totals_by_group.index)
    if not same_names or len(names) < 2:
        raise ValueError(
            "errors and totals must name the same groups, 2 or more, "
            f"found {len(errors_by_group)}, {len(totals_by_group)}"
        )

    totals_by_group = totals_by_group[names]
    in_range = (
        (errors_by_group >= 0)
        & (errors_by_group <= totals_by_group)
        & (totals_by_group >= 1)
    )
    whole = (errors_by_group % 1 == 0) & (totals_by_group % 1 == 0)
    possible = in_range & whole
    if not possible.all():
        name = possible.idxmin()
        raise ValueError(
            "counts must be whole with 0 <= errors <= totals and totals >= 1; "
            f"group {name!r} has {errors_by_group[name]:g} "
            f"of {totals_by_group[name]:g}"
        )

    return errors_by_group.to_numpy(), totals_by_group.to_numpy()
