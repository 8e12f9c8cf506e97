"""Every group against others: the difference, its interval, how often chance does that, how many more cases would tell.

Three ways to be sure, by what the data are:

- Shares of independent cases: an interval of `fairlib.bounds`, and Fisher's exact test, which is how often the
  difference is as large when cases are dealt to the two sides at random. By default betting on matched blocks, which
  holds for any n, as long as an audit is small enough to play the games; beyond that "counts": Newcombe's interval
  where all four counts are at least `FEW`, else the union of two exact ones. Its coverage stays within 0.7 points of
  nominal for any two rates and groups of 30 or more (tests/test_auditing_contrasts.py enumerates it); it costs nothing.
- Means of probabilities: Welch's interval and test.
- Cases that belong together by their source: an interval and test for a difference of ratios whose variance is that
  between sources. Two cases made from one source count for what they are worth, and pairs get the precision of pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from fairlib import bounds
from fairlib.auditing.groups import Family
from fairlib.auditing.rates import Sums

FEW = 5  # events, or cases without, below which no normal approximation is trusted
ONE_BY_ONE = ("betting", "betting_per_group", "exact_unconditional")  # the methods that take no arrays of counts
AFFORDABLE = 500_000  # rounds of betting in one audit: about 15 s
LONGEST = 20_000  # rounds of one game; a longer one is bundled
START = 50  # rounds that take as long as one game's beginning


class Contrast(NamedTuple):
    """Arrays over the compared groups of a family: (groups,)."""

    units: np.ndarray  # independent cases, or sources, in the smaller of the two sides
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    method: np.ndarray
    variance: np.ndarray  # of one more case of the group
    variance_others: np.ndarray  # of the others' mean
    expected: np.ndarray  # the share that a group would have that is like the others; NaN for what is no share


def contrast(
    sums: Sums, family: Family, *, source: np.ndarray | None, interval: str, minimum: int, confidence: float
) -> tuple[dict[str, np.ndarray], Contrast]:
    """Return the values on both sides of each comparison, and the comparison itself."""
    n, k, s, n_others, k_others, s_others = both_sides(sums, family)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, mean_others = k / n, k_others / n_others
        spread, spread_others = s / n - mean**2, s_others / n_others - mean_others**2
    sides = {"n": n, "value": mean, "n_against": n_others, "value_against": mean_others}
    if source is not None:
        return sides, _by_source(sums, family, source, (n, mean, n_others, mean_others), confidence)
    if sums.rate.uses_probability:
        return sides, _welch(n, mean, spread, n_others, mean_others, spread_others, confidence)
    return sides, _shares(n, k, n_others, k_others, interval, minimum, confidence)


def both_sides(sums: Sums, family: Family) -> tuple[np.ndarray, ...]:
    """Return count, total and squares of the compared groups, and the same of those they stand against."""
    summed = [family.total(values) for values in (sums.count, sums.total, sums.square)]
    return (*(values[family.compared] for values in summed), *(family.others(values) for values in summed))


def rounds(sums: Sums, family: Family, *, minimum: int) -> int:
    """Return how long betting would take for these comparisons: a round per case of the smaller side, and a start."""
    n, _, _, n_others, _, _ = both_sides(sums, family)
    smaller = np.minimum(n, n_others)
    return int((np.minimum(smaller, LONGEST) + START)[smaller >= minimum].sum())


def ends(k: np.ndarray, n: np.ndarray, k_others: np.ndarray, n_others: np.ndarray, *, interval: str, confidence: float):
    """Return the ends of the intervals for differences of shares, and which method made each."""
    counts, alpha = (k, n, k_others, n_others), 1 - confidence
    if interval == "counts":
        few = np.minimum.reduce([k, n - k, k_others, n_others - k_others]) < FEW
        chosen = {name: bounds.METHODS[name].counts(*counts, alpha=alpha) for name in ("clopper_pearson", "newcombe")}
        low, high = (np.where(few, *(chosen[name][end] for name in chosen)) for end in (0, 1))
        return low, high, np.where(few, "clopper_pearson", "newcombe")
    method = bounds.METHODS[interval]
    if interval in ONE_BY_ONE:
        found = np.array([_one(method, *map(int, four), alpha=alpha) for four in zip(*counts, strict=True)])
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


def more_needed(plan: Contrast, have: np.ndarray, *, margin: float, alpha: float, power: float) -> np.ndarray:
    """Return how many more cases of the group would show a difference of `margin`, the others staying as they are.

    z(α/2) √(v₀/n + v) + z(power) √(v₁/n + v) = margin, with v₀ the variance of a case if the group is like the others,
    v₁ if it is a margin nearer to one half, and v that of the others' mean; for shares 1/margin more, as an exact test
    jumps from count to count. Infinite where the others are too few. A normal approximation: for rare events and strict
    levels the power comes out up to 0.1 lower.
    """
    lowest, highest = np.zeros(len(have)), np.full(len(have), 40.0)  # log2 of n
    for _ in range(60):
        middle = (lowest + highest) / 2
        short = _reach(plan, 2**middle, margin, alpha, power) > margin
        lowest, highest = np.where(short, middle, lowest), np.where(short, highest, middle)
    jumps = np.where(np.isfinite(plan.expected), 1 / margin, 0)
    needed = np.where(highest >= 39.9, np.inf, np.ceil(2**highest + jumps - 1e-6))
    return np.maximum(needed - have, 0)


def detectable(plan: Contrast, have: np.ndarray, *, alpha: float, power: float) -> np.ndarray:
    """Return the smallest true difference that the present cases show with probability `power` at level `alpha`."""
    difference = np.full(len(have), 0.1)
    for _ in range(40):  # what is to be seen changes the variance a little, so it is found by going round
        difference = np.minimum(_reach(plan, np.maximum(have, 1), difference, alpha, power), 1.0)
    return difference


def _reach(plan: Contrast, n: np.ndarray, difference: np.ndarray | float, alpha: float, power: float) -> np.ndarray:
    nearer = plan.expected + np.where(plan.expected < 0.5, 1, -1) * np.minimum(difference, np.abs(plan.expected - 0.5))
    there = np.where(np.isfinite(plan.expected), nearer * (1 - nearer), plan.variance)
    tails = stats.norm.isf(alpha / 2), stats.norm.ppf(power)
    spread = (np.sqrt(variance / n + plan.variance_others) for variance in (plan.variance, there))
    return sum(z * error for z, error in zip(tails, spread, strict=True))


def _one(method: bounds.Method, k: int, n: int, k_others: int, n_others: int, *, alpha: float) -> tuple[float, float]:
    costs = (np.repeat([1.0, 0.0], [ones, size - ones]) for ones, size in ((k, n), (k_others, n_others)))
    return method.function(*costs, alpha=alpha, rng=0)  # the seed of everybody: nobody picks one that suits


def _shares(n, k, n_others, k_others, interval: str, minimum: int, confidence: float) -> Contrast:
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
            units=units,
            difference=k / n - k_others / n_others,
            low=low,
            high=high,
            p=p,
            method=method,
            variance=typical * (1 - typical),
            variance_others=typical * (1 - typical) / n_others,
            expected=typical,
        )


def _welch(n, mean, spread, n_others, mean_others, spread_others, confidence: float) -> Contrast:
    with np.errstate(invalid="ignore", divide="ignore"):
        # Sums of squares lose digits: a spread that is 0 may come out as a tiny number of either sign.
        spread, spread_others = (np.where(v < 1e-12, 0.0, v) for v in (spread, spread_others))
        first, second = spread / (n - 1), spread_others / (n_others - 1)
        freedom = (first + second) ** 2 / (first**2 / (n - 1) + second**2 / (n_others - 1))
    return _student(
        n, n_others, mean - mean_others, np.sqrt(first + second), freedom, confidence, "welch", spread_others, second
    )


def _by_source(sums: Sums, family: Family, source: np.ndarray, sides: tuple, confidence: float) -> Contrast:
    """Compare ratios of sums over sources: Var = S/(S - 1) Σₛ uₛ², where uₛ is what source s adds to the difference.

    uₛ = (kₛ - mean nₛ)/n of the group less the same of the others. Sources that the group does not touch are summed up
    in closed form, so the cost is that of the occupied pairs of source and group, however many groups there are.
    """
    n, mean, n_others, mean_others = sides
    sources = int(source.max()) + 1
    pairs, place = np.unique(source * len(family) + family.codes, return_inverse=True)
    pair_source, pair_group = np.divmod(pairs, len(family))
    pair_n, pair_k = (np.bincount(place, values, minlength=len(pairs)) for values in (sums.count, sums.total))
    if family.reference is None:
        whole_n, whole_k = (np.bincount(pair_source, values, minlength=sources) for values in (pair_n, pair_k))
    else:
        mine = pair_group == family.reference
        whole_n, whole_k = (
            np.bincount(pair_source[mine], values[mine], minlength=sources) for values in (pair_n, pair_k)
        )
    rank = np.full(len(family), -1)
    rank[family.compared] = np.arange(len(family.compared))
    touched = rank[pair_group] >= 0
    group, at, pair_n, pair_k = rank[pair_group[touched]], pair_source[touched], pair_n[touched], pair_k[touched]
    own_n, own_k = (pair_n, pair_k) if family.reference is None else (0, 0)  # the others never include the group itself
    size = len(family.compared)
    with np.errstate(invalid="ignore", divide="ignore"):
        theirs = ((whole_k[at] - own_k) - mean_others[group] * (whole_n[at] - own_n)) / n_others[group]
        if_untouched = (whole_k[at] - mean_others[group] * whole_n[at]) / n_others[group]
        mine = (pair_k - mean[group] * pair_n) / n[group]
        everywhere = (
            whole_k @ whole_k - 2 * mean_others * (whole_k @ whole_n) + mean_others**2 * (whole_n @ whole_n)
        ) / n_others**2
    squares = np.bincount(group, (mine - theirs) ** 2 - if_untouched**2, minlength=size) + everywhere
    there = np.bincount(group, pair_n > 0, minlength=size)  # sources with a qualifying case of the group
    elsewhere = np.count_nonzero(whole_n) - np.bincount(
        group, (whole_n[at] > 0) & (whole_n[at] - own_n <= 0), minlength=size
    )
    fewer = np.minimum(there, elsewhere)
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = np.clip(squares, 0, None) * fewer / (fewer - 1)
        variance = np.where(variance < 1e-18, 0.0, variance)
    # One more source of the group is worth what its present ones are.
    each = variance * there
    return _student(
        there,
        elsewhere,
        mean - mean_others,
        np.sqrt(variance),
        fewer - 1,
        confidence,
        "by source",
        each,
        np.zeros(size),
    )


def _student(n, n_others, difference, error, freedom, confidence, method, variance, variance_others) -> Contrast:
    """Return a t interval and test; undefined where a side has fewer than two, or where nothing varies at all."""
    usable = (np.minimum(n, n_others) > 1) & (error > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        margin = np.where(usable, stats.t.isf((1 - confidence) / 2, np.where(usable, freedom, 1)) * error, np.nan)
        p = np.where(usable, 2 * stats.t.sf(np.abs(difference) / error, np.where(usable, freedom, 1)), np.nan)
    return Contrast(
        units=np.minimum(n, n_others),
        difference=difference,
        low=difference - margin,
        high=difference + margin,
        p=p,
        method=np.full(len(n), method),
        variance=variance,
        variance_others=variance_others,
        expected=np.full(len(n), np.nan),
    )
