"""Every group against others: the difference, its interval, how often chance does that.

Three ways to be sure, by what the data are:

- Shares of independent cases: an interval of `fairlib.bounds`, and Fisher's exact test, which is how often the
  difference is as large when cases are given to the two sides at random. By default "counts": Newcombe's interval where
  all four counts are at least 5, else the union of two exact ones. Its coverage stays within 0.7 points of nominal for
  any two rates and groups of 30 or more (tests/auditing/test_auditing_comparing.py enumerates it); it costs nothing.
- Means of probabilities: Welch's interval; of Welch's test and one with the variance of all cases, the larger p.
- Cases that belong together by their source: a t interval and test for a difference of ratios whose variance is that
  between sources. Two cases made from one source count for what they are worth, and pairs get the precision of pairs;
  where every source has as many cases of either side as every other, betting on the pairs gives an interval that holds
  for any number of sources.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from fairlib.auditing.groups import Family
from fairlib.auditing.rates import Sums
from fairlib.intervals import disparity as bounds
from fairlib.tables import Counted

FEW = 5  # events, or cases without, below which no normal approximation is trusted
MOST_LISTED = 100_000_000  # cases that methods which take no counts lay out one by one


class Contrast(NamedTuple):
    """Arrays over the compared groups of a family: (groups,)."""

    units: np.ndarray  # independent cases of the group, or sources
    units_against: np.ndarray  # of those that it is compared with
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    method: np.ndarray
    variance: np.ndarray  # of one more case of the group
    variance_others: np.ndarray  # of the others' mean
    expected: np.ndarray  # the share that a group would have that is like the others; NaN for what is no share

    @property
    def fewer(self) -> np.ndarray:
        """How many independent cases, or sources, there are in the smaller of the two sides."""
        return np.minimum(self.units, self.units_against)


def contrast(sums: Sums, family: Family, interval: str, minimum: int, confidence: float) -> tuple[dict, Contrast]:
    """Return the values on both sides of each comparison, and the comparison itself."""
    summed = [family.total(values) for values in (sums.count, sums.total, sums.square)]
    (n, k, s), (n_others, k_others, s_others) = [v[family.compared] for v in summed], [family.others(v) for v in summed]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, mean_others = k / n, k_others / n_others
        spread, spread_others = s / n - mean**2, s_others / n_others - mean_others**2
    sides = {"n": n, "value": mean, "n_against": n_others, "value_against": mean_others}
    if family.source is not None:
        found = by_source(sums, family, *sides.values(), interval, minimum, confidence)
    elif sums.rate.uses_probability:
        found = _welch(n, mean, spread, n_others, mean_others, spread_others, confidence)
    else:
        found = shares(n, k, n_others, k_others, interval, minimum, confidence)
    farthest = sums.rate.farthest  # which Student's t does not know
    low, high = (np.clip(end, -farthest, farthest) for end in (found.low, found.high))
    return sides, found._replace(low=low, high=high)


# --- Shares of independent cases --------------------------------------------------------------------------------------


def shares(n, k, n_others, k_others, interval: str, minimum: int, confidence: float) -> Contrast:
    """Compare k of n cases with k of n others, all arrays over groups."""
    low, high, p = np.full((3, len(n)), np.nan)
    method, units = np.full(len(n), "", dtype=object), np.minimum(n, n_others)
    # Groups that are not tested get an interval that is never too narrow, no game and no p.
    for chosen, how in (((units > 0) & (units < minimum), "clopper_pearson"), (units >= minimum, interval)):
        if chosen.any():
            counts = k[chosen], n[chosen], k_others[chosen], n_others[chosen]
            low[chosen], high[chosen], method[chosen] = ends(*counts, interval=how, confidence=confidence)
    tested = units >= minimum
    p[tested] = exact_p(k[tested], n[tested], k_others[tested], n_others[tested])
    # A group as yet too small to know is taken to be like the others; half a case more keeps 0 and 1 off the edge.
    typical = (k_others + 0.5) / (n_others + 1)
    variance = typical * (1 - typical)
    with np.errstate(invalid="ignore", divide="ignore"):
        difference, variance_others = k / n - k_others / n_others, variance / n_others
    return Contrast(n, n_others, difference, low, high, p, method, variance, variance_others, typical)


def ends(k: np.ndarray, n: np.ndarray, k_others: np.ndarray, n_others: np.ndarray, *, interval: str, confidence: float):
    """Return the ends of the intervals for differences of shares, and which method made each."""
    counts, alpha = (k, n, k_others, n_others), 1 - confidence
    if interval in ("auto", "counts"):
        few = np.minimum.reduce([k, n - k, k_others, n_others - k_others]) < FEW
        chosen = {name: bounds.METHODS[name].counts(*counts, alpha=alpha) for name in ("clopper_pearson", "newcombe")}
        low, high = (np.where(few, *(chosen[name][end] for name in chosen)) for end in (0, 1))
        return low, high, np.where(few, "clopper_pearson", "newcombe")
    if interval == "exact_unconditional" or bounds.METHODS[interval].counts is None:  # it takes no arrays of counts
        if (most := int((n + n_others).max())) > MOST_LISTED:
            raise ValueError(f"interval: {interval!r} takes up to {MOST_LISTED:,} cases, found {most:,}; use 'counts'")
        costs = zip(_one_by_one(k, n), _one_by_one(k_others, n_others), strict=True)
        how = {"method": interval, "confidence": confidence}
        played = [bounds.disparity_interval(*pair, **how) for pair in costs]
        low, high = np.array([(one.low, one.high) for one in played]).T
    else:
        low, high = bounds.METHODS[interval].counts(*counts, alpha=alpha)
    difference = k / n - k_others / n_others
    return np.minimum(low, difference), np.maximum(high, difference), np.full(len(n), interval)


def _one_by_one(k: np.ndarray, n: np.ndarray) -> list[Counted]:
    """Return k costs of 1 and n - k of 0 for each group."""
    return [Counted(np.array([0, 1]), sizes) for sizes in np.stack([n - k, k], axis=1).astype(int)]


def exact_p(k: np.ndarray, n: np.ndarray, k_others: np.ndarray, n_others: np.ndarray) -> np.ndarray:
    """Return how often giving the cases to the two sides at random makes a difference as large: Fisher's exact test.

    Two-sided by doubling the smaller tail, which holds whatever the sizes of the sides.
    """
    cases, events = n + n_others, k + k_others
    below = stats.hypergeom.cdf(k, cases, events, n)
    above = stats.hypergeom.sf(k - 1, cases, events, n)
    return np.minimum(1.0, 2 * np.minimum(below, above))


# --- Means ------------------------------------------------------------------------------------------------------------


def student(n, n_others, difference, error, alike, freedom, confidence, method, variance, variance_others) -> Contrast:
    """Return a t interval and test; undefined where a side has fewer than two, or where nothing varies at all.

    A few cases that happen to hold no rare large value vary too little, and t is far too sure of them. So p is at least
    that of the difference with the standard error `alike`, of sides that vary as all cases together do.

    Where the sides differ and nothing varies within them, all of the m in the smaller one agree: chance does that with
    probability 2^(1 - m) at most, and at most 1 - (α/4)^(1/m) of either side can be otherwise, by up to 1 each.
    """
    fewer, alpha, unknown = np.minimum(n, n_others), 1 - confidence, np.full(len(n), np.nan)
    usable = (fewer > 1) & (error > 0)
    agreed = (fewer > 1) & (error == 0) & (np.abs(difference) > 1e-9)
    freedom = np.where(usable, freedom, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        margin = np.where(usable, stats.t.isf(alpha / 2, freedom) * error, np.nan)
        margin = np.where(agreed, 2 * (1 - (alpha / 4) ** (1 / fewer)), margin)
        own = stats.t.sf(np.abs(difference) / error, freedom)
        p = np.where(usable, 2 * np.maximum(own, stats.norm.sf(np.abs(difference) / alike)), np.nan)
        p = np.where(agreed, 2.0 ** (1 - fewer), p)
    low, high, method = difference - margin, difference + margin, np.full(len(n), method, dtype=object)
    return Contrast(n, n_others, difference, low, high, p, method, variance, variance_others, expected=unknown)


def _welch(n, mean, spread, n_others, mean_others, spread_others, confidence: float) -> Contrast:
    with np.errstate(invalid="ignore", divide="ignore"):
        # Sums of squares lose digits: a spread that is 0 may come out as a tiny number of either sign.
        spread, spread_others = (np.where(v < 1e-12, 0.0, v) for v in (spread, spread_others))
        first, second = spread / (n - 1), spread_others / (n_others - 1)
        freedom = (first + second) ** 2 / (first**2 / (n - 1) + second**2 / (n_others - 1))
        difference, cases = mean - mean_others, n + n_others
        total = n * spread + n_others * spread_others + n * n_others / cases * difference**2
        alike = np.sqrt(total / (cases - 1) * (1 / n + 1 / n_others))
        error = np.sqrt(first + second)
    return student(n, n_others, difference, error, alike, freedom, confidence, "welch", spread_others, second)


# --- Cases that belong together ---------------------------------------------------------------------------------------


class Shared(NamedTuple):
    """The sources that a group touches: an entry for each pair of a source and a compared group that occur together."""

    group: np.ndarray  # which of the compared groups
    source: np.ndarray
    n: np.ndarray  # the group's cases in the source
    k: np.ndarray  # the sum of their values
    n_others: np.ndarray  # the same of those that the group is compared with
    k_others: np.ndarray
    whole_n: np.ndarray  # of each source: of the reference, or of all groups
    whole_k: np.ndarray


def by_source(sums, family, n, mean, n_others, mean_others, interval: str, minimum: int, confidence: float) -> Contrast:
    """Compare ratios of sums over sources: Var = S/(S - 1) Σₛ uₛ², where uₛ is what source s adds to the difference.

    uₛ = (kₛ - mean nₛ)/n of the group less the same of the others.
    """
    shared, size = _shared(sums, family), len(family.compared)
    there = np.bincount(shared.group, shared.n > 0, minlength=size)  # sources with a qualifying case of the group
    of_it_alone = (shared.whole_n[shared.source] > 0) & (shared.n_others <= 0)
    elsewhere = np.count_nonzero(shared.whole_n) - np.bincount(shared.group, of_it_alone, minlength=size)
    fewer = np.minimum(there, elsewhere)
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = _squares(shared, n, mean, n_others, mean_others)
        variance, alike = (np.clip(total, 0, None) * fewer / (fewer - 1) for total in squares)
        variance = np.where(variance * there < 1e-12, 0.0, variance)  # what rounding leaves of none
    errors, each = (np.sqrt(variance), np.sqrt(alike)), variance * there  # one more source is worth what each is now
    sides = there, elsewhere, mean - mean_others
    found = student(*sides, *errors, fewer - 1, confidence, "by source", each, np.zeros(size))
    if interval != "counts" and not sums.rate.uses_probability and _constant(shared.whole_n):
        _bet_on_pairs(found, shared, minimum, confidence)
    return found


def _shared(sums: Sums, family: Family) -> Shared:
    sources = int(family.source.max()) + 1
    source, group, place = family.pairs
    n, k = (np.bincount(place, values, minlength=len(group)) for values in (sums.count, sums.total))
    whole = slice(None) if family.reference is None else group == family.reference
    whole_n, whole_k = (np.bincount(source[whole], values[whole], minlength=sources) for values in (n, k))
    rank = np.full(len(family), -1)
    rank[family.compared] = np.arange(len(family.compared))
    touched = rank[group] >= 0
    group, source, n, k = rank[group[touched]], source[touched], n[touched], k[touched]
    own = (n, k) if family.reference is None else (0, 0)  # the reference never includes the group itself
    return Shared(group, source, n, k, whole_n[source] - own[0], whole_k[source] - own[1], whole_n, whole_k)


def _squares(shared: Shared, n, mean, n_others, mean_others) -> tuple[np.ndarray, np.ndarray]:
    """Return Σₛ uₛ² of each group, and the same if sources that hold one side only varied alike, for their size.

    Sources that a group does not touch are summed up in closed form, so the cost is that of the entries of `shared`,
    however many groups there are.
    """
    group, whole_n, whole_k = shared.group, shared.whole_n, shared.whole_k

    def total(values: np.ndarray) -> np.ndarray:
        return np.bincount(group, values, minlength=len(n))

    mine = (shared.k - mean[group] * shared.n) / n[group]
    theirs = (shared.k_others - mean_others[group] * shared.n_others) / n_others[group]
    whole = (whole_k[shared.source] - mean_others[group] * whole_n[shared.source]) / n_others[group]
    everywhere = whole_k @ whole_k - 2 * mean_others * (whole_k @ whole_n) + mean_others**2 * (whole_n @ whole_n)
    everywhere = everywhere / n_others**2
    untouched, both_sides = everywhere - total(whole**2), total((mine - theirs) ** 2)
    alone = shared.n_others <= 0
    only_mine, sizes_mine = total(alone * mine**2), total(alone * shared.n**2)
    sizes_untouched = whole_n @ whole_n - total(whole_n[shared.source] ** 2)
    each = (only_mine * n**2 + untouched * n_others**2) / np.maximum(sizes_mine + sizes_untouched, 1)
    alike = both_sides - only_mine + each * (sizes_mine / n**2 + sizes_untouched / n_others**2)
    return both_sides + untouched, alike


def _bet_on_pairs(found: Contrast, shared: Shared, minimum: int, confidence: float) -> None:
    """Put betting's interval in the place of Student's where every source has as many cases of either side."""
    order = np.lexsort((shared.source, shared.group))
    for mine in np.split(order, np.cumsum(np.bincount(shared.group, minlength=len(found.low)))[:-1]):
        ours, theirs = shared.n[mine], shared.n_others[mine]  # theirs: none where only this group has such cases
        if len(mine) < max(minimum, len(shared.whole_n)) or not (_constant(ours) and _constant(theirs)):
            continue
        costs = shared.k[mine] / ours, shared.k_others[mine] / theirs
        played = bounds.disparity_interval(*costs, paired=True, confidence=confidence)
        code = shared.group[mine[0]]
        found.low[code], found.high[code], found.method[code] = played.low, played.high, played.method


def _constant(counts: np.ndarray) -> bool:  # every source has as many cases as every other, and has some
    return len(counts) > 0 and counts.min() == counts.max() > 0
