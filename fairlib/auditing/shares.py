"""Differences of shares of independent cases: an interval of `fairlib.bounds`, and Fisher's exact test."""

from __future__ import annotations

import numpy as np
from scipy import stats

from fairlib import bounds
from fairlib.auditing.contrasts import Contrast
from fairlib.tables import Counted

FEW = 5  # events, or cases without, below which no normal approximation is trusted
ONE_BY_ONE = ("betting", "betting_per_group", "exact_unconditional")  # the methods that take no arrays of counts
MOST_DEALT = 100_000_000  # cases that these lay out one by one


def ends(k: np.ndarray, n: np.ndarray, k_others: np.ndarray, n_others: np.ndarray, *, interval: str, confidence: float):
    """Return the ends of the intervals for differences of shares, and which method made each."""
    counts, alpha = (k, n, k_others, n_others), 1 - confidence
    if interval in ("auto", "counts"):
        few = np.minimum.reduce([k, n - k, k_others, n_others - k_others]) < FEW
        chosen = {name: bounds.METHODS[name].counts(*counts, alpha=alpha) for name in ("clopper_pearson", "newcombe")}
        low, high = (np.where(few, *(chosen[name][end] for name in chosen)) for end in (0, 1))
        return low, high, np.where(few, "clopper_pearson", "newcombe")
    method = bounds.METHODS[interval]
    if interval in ONE_BY_ONE:
        if (most := int((n + n_others).max())) > MOST_DEALT:
            raise ValueError(f"interval: {interval!r} takes up to {MOST_DEALT:,} cases, found {most:,}; use 'counts'")
        found = np.array([_one(interval, *map(int, four), confidence=confidence) for four in zip(*counts, strict=True)])
        low, high = found.reshape(-1, 2).T
    else:
        low, high = method.counts(*counts, alpha=alpha)
    difference = k / n - k_others / n_others
    return np.minimum(low, difference), np.maximum(high, difference), np.full(len(n), interval)


def exact_p(k: np.ndarray, n: np.ndarray, k_others: np.ndarray, n_others: np.ndarray) -> np.ndarray:
    """Return how often dealing the cases to the two sides at random gives a difference as large: Fisher's exact test.

    Two-sided by doubling the smaller tail, which holds whatever the sizes of the sides.
    """
    everybody, events = n + n_others, k + k_others
    below = stats.hypergeom.cdf(k, everybody, events, n)
    above = stats.hypergeom.sf(k - 1, everybody, events, n)
    return np.minimum(1.0, 2 * np.minimum(below, above))


def _one(name: str, k: int, n: int, k_others: int, n_others: int, *, confidence: float) -> tuple[float, float]:
    """Return the ends that anybody gets for these counts from `fairlib.disparity_interval`."""
    costs = (Counted(np.array([0, 1]), np.array([size - ones, ones])) for ones, size in ((k, n), (k_others, n_others)))
    found = bounds.disparity_interval(*costs, method=name, confidence=confidence)
    return found.low, found.high


def shares(n, k, n_others, k_others, interval: str, minimum: int, confidence: float) -> Contrast:
    """Compare k of n cases with k of n others, all arrays over groups."""
    low, high, p = (np.full(len(n), np.nan) for _ in range(3))
    method = np.full(len(n), "", dtype=object)
    units = np.minimum(n, n_others)
    # Groups that are not tested get an interval that is never too narrow, no game and no p.
    for chosen, how in (((units > 0) & (units < minimum), "clopper_pearson"), (units >= minimum, interval)):
        if chosen.any():
            counts = k[chosen], n[chosen], k_others[chosen], n_others[chosen]
            low[chosen], high[chosen], method[chosen] = ends(*counts, interval=how, confidence=confidence)
    tested = units >= minimum
    p[tested] = exact_p(k[tested], n[tested], k_others[tested], n_others[tested])
    with np.errstate(invalid="ignore", divide="ignore"):
        # A group as yet too small to know is taken to be like the others; half a case more keeps 0 and 1 off the edge.
        typical = (k_others + 0.5) / (n_others + 1)
        return Contrast(
            units=n,
            units_against=n_others,
            difference=k / n - k_others / n_others,
            low=low,
            high=high,
            p=p,
            method=method,
            variance=typical * (1 - typical),
            variance_others=typical * (1 - typical) / n_others,
            expected=typical,
        )
