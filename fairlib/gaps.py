"""How far apart are many groups? Intervals for a gap that can say "there may be none".

The gap between the highest and the lowest of several observed rates is positive even if all true rates are equal, and
so is every replicate of a bootstrap (but for ties of two or three groups). An interval made of its percentiles stays
above 0, and misses "no gap" every single time. The interval here starts from what the rates may be, and asks how far
apart those are.

**The region.** Let Z⁺ say how many standard deviations too high a group's count is for the mean p, as the normal
quantile of 1 − P(X ≥ x; p), and Z⁻ how many too low. For costs of 0 and 1 there are independent standard normal
variables N, one per group, with max(Z⁺, 0) ≤ max(N, 0) and max(Z⁻, 0) ≤ max(−N, 0): a discrete tail is never smaller
than it claims, and no count is both too high and too low. So, with k groups and x, y ≥ 0,

    P(every Z⁺ ≤ x and every Z⁻ ≤ y) ≥ (Φ(x) − Φ(−y))ᵏ,

and any shape that the pair (largest N, largest −N) stays inside with probability 1 − α gives a joint confidence region
for all means. The shape here is the disc x² + y² ≤ r², as a staircase of `CORNERS` rectangles whose probability is a
finite sum; r solves it for the level. In each rectangle (x, y) a group's mean lies between its Clopper-Pearson limits
with tails Φ(−x) and Φ(−y), and the gap between the extremes of those. Nothing is asymptotic.

**Why a disc.** Intervals that hold for every group at once would be a square, which lets the highest group be far too
high *and* the lowest far too low: as unlikely as both together. For two groups of one size the square is 1.61 times as
wide as z √(sum of variances) and the disc 1.2; for 20 groups the disc is within 3 % of Tukey's studentized range, which
holds for normal means only. It adapts to groups of different sizes without a choice.

**The high end** needs no correction for the number of groups: the truly highest and lowest groups are *one* pair,
whichever it is, and the largest of all pairs' upper limits is not below that pair's own. It gets `SHARE` of α, unless
both ends are nearer when they come from one region, as with two or three groups.

References: Clopper and Pearson 1934, Biometrika 26 (the limits); Tukey 1953, Kramer 1956 and Hayter 1984, Annals of
Statistics 12 (all pairs at once); Berger 1982, Technometrics 24 (intersection and union, for the high end); Bentkus
2004, Annals of Probability 32 (bounded costs).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq, linear_sum_assignment
from scipy.special import betaincinv, ndtr

from fairlib.grouped import Groups, read
from fairlib.interval import Interval

CORNERS = 32
SHARE = 0.2  # of α for the high end
MANY = 1000  # groups; of more, there are too many pairs to go through


def interval(
    costs,
    totals=None,
    *,
    statistic: str = "range",
    method: str | None = None,
    confidence: float = 0.95,
    max_cost: float = 1.0,
) -> Interval:
    """Return how far the groups' mean costs are apart, with an interval that covers "not at all" at its level.

    It excludes 0 only where some two groups differ, allowing for all the pairs that one could have chosen.

    Parameters
    ----------
    costs : each group's costs in [0, max_cost], as a mapping of names to arrays or a sequence of arrays; or, with
        `totals`, the number of errors of each group. Groups are independent samples of independent examples: where
        examples share a template or an identity term, use `fairlib.metric_gap`.
    totals : the number of examples of each group, if `costs` are counts.
    statistic : "range", the highest mean minus the lowest; "mean difference", the absolute difference of two groups'
        means, averaged over all pairs of groups.
    method : a name in `gaps.METHODS`; by default "exact" if every cost is 0 or max_cost, else "bentkus".

    With a finite-sample method it holds for every number of groups, every size and every rate; small counts are coarse,
    so there it holds more often than it says. For the signed difference of just two groups, intervals made for that are
    narrower. Costs O(groups), or O(groups³) for the mean difference.

    >>> print(interval([12, 30, 25], [200, 210, 190]))
    0.083 [0.001, 0.167] (95% exact)
    >>> print(interval([12, 15, 13], [200, 210, 190]))
    0.011 [0.000, 0.083] (95% exact)
    """
    if statistic not in STATISTICS:
        raise ValueError(f"statistic must be one of {', '.join(map(repr, STATISTICS))}, found {statistic!r}")
    groups, method = _checked(costs, totals, method, confidence, max_cost)
    value, ends = STATISTICS[statistic]
    low, high = ends(groups, METHODS[method].limits, 1 - confidence)
    estimate = float(value(groups.mean))
    return Interval(max_cost * estimate, max_cost * low, max_cost * high, confidence=confidence, method=method)


def pairs(
    costs, totals=None, *, method: str | None = None, confidence: float = 0.95, max_cost: float = 1.0
) -> pd.DataFrame:
    """Return the differences of all pairs of groups, with intervals that hold for all of them at once.

    Columns first, second, difference, low, high; parameters as for `interval`. Whatever pair one picks after looking at
    the data, the level of its interval still holds.
    """
    groups, method = _checked(costs, totals, method, confidence, max_cost)
    first, second = _pairs(groups)
    low, high = np.full(len(first), np.inf), np.full(len(first), -np.inf)
    shape = corners(radius(1 - confidence, groups=len(groups.names)))
    for below, above in zip(*METHODS[method].limits(groups, *shape), strict=True):
        low = np.minimum(low, below[first] - above[second])
        high = np.maximum(high, above[first] - below[second])
    names = np.empty(len(groups.names), dtype=object)
    names[:] = groups.names
    numbers = {"difference": groups.mean[first] - groups.mean[second], "low": low, "high": high}
    scaled = {name: max_cost * values for name, values in numbers.items()}
    return pd.DataFrame({"first": names[first], "second": names[second], **scaled})


def p_value(costs, totals=None, *, method: str | None = None, max_cost: float = 1.0) -> float:
    """Return how often groups that do not differ would be as far apart as these, at most: the least α that excludes 0.

    Valid whatever the groups' common mean is; parameters as for `interval`.
    """
    groups, method = _checked(costs, totals, method, 0.95, max_cost)

    def apart(r: float) -> float:
        below, above = METHODS[method].limits(groups, *corners(r))
        return (below.max(axis=1) - above.min(axis=1)).min()

    farthest = 12.0
    if apart(1e-6) <= 0 or len(set(groups.mean.tolist())) == 1:
        return 1.0
    r = farthest if apart(farthest) > 0 else brentq(apart, 1e-6, farthest)
    return float(np.clip(1 - coverage(r, groups=len(groups.names)), np.finfo(float).tiny, 1))


# --- The shape: a disc in (largest N, largest −N) ---------------------------------------------------------------------


def corners(r: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners (x, y) of the staircase on the disc of radius r: x falls, y rises."""
    angle = np.linspace(0, np.pi / 2, CORNERS)
    return r * np.cos(angle), r * np.sin(angle)


def coverage(r: float, *, groups: int | None) -> float:
    """Return the probability of the staircase for `groups` groups, or with None for two given groups in a given order.

    Two given groups in a given order: the first may be too high and the second too low, but not the other way round.
    """
    x, y = corners(r)

    def inside(x, y):
        return ndtr(x) * ndtr(y) if groups is None else (ndtr(x) - ndtr(-y)) ** groups

    return float(inside(x, y).sum() - inside(x[1:], y[:-1]).sum())


@lru_cache(maxsize=1000)
def radius(alpha: float, *, groups: int | None) -> float:
    """Return the radius that is exceeded with probability alpha."""
    if coverage(0.0, groups=groups) >= 1 - alpha:  # two given groups are in the other order with probability 1/4
        return 0.0
    return brentq(lambda r: coverage(r, groups=groups) - (1 - alpha), 0.0, 40.0)


def radii(alpha: float, *, groups: int) -> tuple[float, float]:
    """Return the radii for the low and the high end of a range: of one region for both, or of a share of α for each."""
    both = radius(alpha, groups=groups)
    apart = radius((1 - SHARE) * alpha, groups=groups), radius(SHARE * alpha, groups=None)
    return min(((both, both), apart), key=sum)


# --- Limits of one group's mean ---------------------------------------------------------------------------------------


def exact(groups: Groups, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Clopper and Pearson's limits, at which a count at least, or at most, as large has the probability of the tail."""
    return _binomial(groups.size, groups.total, groups.total, ndtr(-x), ndtr(-y))


def bentkus(groups: Groups, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For any costs in [0, C]: a sum's tail is at most e times the tail of the binomial with the same mean."""
    return _binomial(groups.size, np.floor(groups.total), np.ceil(groups.total), ndtr(-x) / np.e, ndtr(-y) / np.e)


def normal(groups: Groups, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean ∓ standard errors: narrow, and wrong for rare errors or small groups; a group of one says nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.maximum(groups.squares / groups.size - groups.mean**2, 0) / (groups.size - 1)
    error = np.where(groups.size > 1, np.sqrt(variance), np.inf)
    low = np.where(np.isinf(error), 0.0, groups.mean - x[:, None] * np.nan_to_num(error, posinf=0))
    high = np.where(np.isinf(error), 1.0, groups.mean + y[:, None] * np.nan_to_num(error, posinf=0))
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _binomial(size, least, most, tail_below, tail_above) -> tuple[np.ndarray, np.ndarray]:
    """Return limits (corners, groups) for at least `least` and at most `most` errors; once for equal counts."""
    (size, least, most), which = np.unique(np.stack([size, least, most]), axis=1, return_inverse=True)
    low = betaincinv(np.maximum(least, 1), size - least + 1, tail_below[:, None])
    high = 1 - betaincinv(np.maximum(size - most, 1), most + 1, tail_above[:, None])
    return np.where(least > 0, low, 0.0)[:, which], np.where(most < size, high, 1.0)[:, which]


class Method(NamedTuple):
    """How the limits of one group's mean are found, and what that guarantees."""

    limits: Callable  # (Groups, x (m,), y (m,)) -> low, high, both (m, k)
    guarantee: str  # "finite-sample" or "asymptotic"
    reference: str


METHODS = {
    "exact": Method(exact, "finite-sample", "Clopper and Pearson 1934"),
    "bentkus": Method(bentkus, "finite-sample", "Bentkus 2004"),
    "normal": Method(normal, "asymptotic", "the central limit theorem"),
}

# --- Statistics of all means, and their extremes in the region --------------------------------------------------------


def largest_difference(means: np.ndarray) -> float:
    """Return the highest mean minus the lowest."""
    return means.max() - means.min()


def mean_difference(means: np.ndarray) -> float:
    """Return the mean of |difference| over all pairs, which only takes a sort."""
    return float(_weights(len(means)) @ np.sort(means))


def _range_ends(groups: Groups, limits: Callable, alpha: float) -> tuple[float, float]:
    low_radius, high_radius = radii(alpha, groups=len(groups.names))
    low = smallest_range(*limits(groups, *corners(low_radius)))
    return float(low), float(widest_range(*limits(groups, *corners(high_radius))))


def smallest_range(below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Return the least highest-minus-lowest over all rectangles, given limits (corners, ..., groups)."""
    return np.maximum((below.max(axis=-1) - above.min(axis=-1)).min(axis=0), 0.0)


def widest_range(below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Return the greatest highest-minus-lowest over all rectangles, given limits (corners, ..., groups)."""
    top, bottom = above.argmax(axis=-1)[..., None], below.argmin(axis=-1)[..., None]
    others_above, others_below = above.copy(), below.copy()  # a group is not far from itself
    np.put_along_axis(others_above, bottom, -np.inf, axis=-1)
    np.put_along_axis(others_below, top, np.inf, axis=-1)
    from_bottom = others_above.max(axis=-1) - np.take_along_axis(below, bottom, axis=-1)[..., 0]
    from_top = np.take_along_axis(above, top, axis=-1)[..., 0] - others_below.min(axis=-1)
    return np.maximum(from_bottom, from_top).max(axis=0)


def _mean_difference_ends(groups: Groups, limits: Callable, alpha: float) -> tuple[float, float]:
    """Go through the corners: pairs are no nearer than their limits; the farthest apart is an assignment of ranks.

    The mean difference is the largest sum of rank weights times means over all orders of the groups, so its maximum
    over a rectangle puts each group at its high limit if its rank's weight is positive, else at its low limit.
    """
    first, second = _pairs(groups)
    weights, low, high = _weights(len(groups.names)), np.inf, -np.inf
    for below, above in zip(*limits(groups, *corners(radius(alpha, groups=len(groups.names)))), strict=True):
        distance = np.maximum(below[first] - above[second], below[second] - above[first])
        low = min(low, np.maximum(distance, 0).mean())
        value = np.where(weights > 0, above[:, None] * weights, below[:, None] * weights)
        high = max(high, value[linear_sum_assignment(value, maximize=True)].sum())
    return float(low), float(high)


STATISTICS = {
    "range": (largest_difference, _range_ends),
    "mean difference": (mean_difference, _mean_difference_ends),
}


def _weights(k: int) -> np.ndarray:
    """Return the weights of the sorted means in the mean difference."""
    return (2 * np.arange(k) - (k - 1)) * 2 / (k * (k - 1))


def _pairs(groups: Groups) -> tuple[np.ndarray, np.ndarray]:
    if len(groups.names) > MANY:
        raise ValueError(f"costs has {len(groups.names)} groups; pairs are compared for at most {MANY}")
    return np.triu_indices(len(groups.names), 1)


def _checked(costs, totals, method: str | None, confidence: float, max_cost: float) -> tuple[Groups, str]:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, found {confidence}")
    groups = read(costs, totals, max_cost=max_cost)
    method = method or ("exact" if groups.zero_one else "bentkus")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, found {method!r}")
    if method == "exact" and not groups.zero_one:
        raise ValueError("method 'exact' is for costs of 0 or max_cost, found others; use 'bentkus'")
    return groups, method
