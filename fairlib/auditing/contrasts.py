"""Every group against others: the difference, its interval, how often chance does that, and how many more cases would tell.

Three ways to be sure, by what the data are:

- shares of independent cases: Newcombe's interval where all four counts are at least `FEW`, else the union of two exact ones
  (Clopper and Pearson), so that coverage stays within 0.7 points of nominal for any rates and any groups of 30 or more
  (tests/test_auditing_contrasts.py enumerates it); Fisher's exact test, which is how often the difference is as large when
  cases are dealt to the two groups at random;
- means of probabilities: Welch's interval and test;
- cases that belong together by their source: an interval and test for a difference of ratios whose variance counts sources, not
  cases. Two examples made from one source count for what they are worth, and paired data get the precision of pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from fairlib.auditing.groups import Family
from fairlib.auditing.rates import Sums

FEW = 5  # events, or cases without, below which no normal approximation is trusted


class Contrast(NamedTuple):
    """Arrays over the compared groups of a family: (groups,)."""

    units: np.ndarray  # independent cases, or sources, in the smaller of the two sides
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    method: np.ndarray
    variance: np.ndarray  # of one more case of the group, and
    variance_others: np.ndarray  # of the others' mean


def contrast(sums: Sums, family: Family, *, source: np.ndarray | None, confidence: float) -> tuple[dict, Contrast]:
    """Return the values on both sides of each comparison, and the comparison itself."""
    count, total, square = (family.total(values) for values in (sums.count, sums.total, sums.square))
    n, k, s = (values[family.compared] for values in (count, total, square))
    n_others, k_others, s_others = (family.others(values) for values in (count, total, square))
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, mean_others = k / n, k_others / n_others
        spread, spread_others = s / n - mean**2, s_others / n_others - mean_others**2
    sides = {"n": n, "value": mean, "n_against": n_others, "value_against": mean_others}
    if source is not None:
        return sides, _by_source(sums, family, source, (n, mean, n_others, mean_others), confidence)
    if sums.rate.uses_probability:
        return sides, _welch(n, mean, spread, n_others, mean_others, spread_others, confidence)
    return sides, _shares(n, k, n_others, k_others, confidence)


def newcombe(k: np.ndarray, n: np.ndarray, k_others: np.ndarray, n_others: np.ndarray, confidence: float):
    """Return Newcombe's (1998) interval for a difference of shares, which joins two Wilson intervals; asymptotic."""
    low, high = proportion_confint(k, n, 1 - confidence, method="wilson")
    low_others, high_others = proportion_confint(k_others, n_others, 1 - confidence, method="wilson")
    mean, others = k / n, k_others / n_others
    return (
        mean - others - np.hypot(mean - low, high_others - others),
        mean - others + np.hypot(high - mean, others - low_others),
    )


def exact_union(k: np.ndarray, n: np.ndarray, k_others: np.ndarray, n_others: np.ndarray, confidence: float):
    """Return the interval from one exact interval per side, each missing half as often: holds for any n, and is wide."""
    low, high = proportion_confint(k, n, (1 - confidence) / 2, method="beta")
    low_others, high_others = proportion_confint(k_others, n_others, (1 - confidence) / 2, method="beta")
    return low - high_others, high - low_others


def exact_p(k: np.ndarray, n: np.ndarray, k_others: np.ndarray, n_others: np.ndarray) -> np.ndarray:
    """Return how often dealing the cases to the two sides at random gives a difference as large: Fisher's exact test.

    Two-sided by doubling the smaller tail, which holds whatever the sizes of the sides.
    """
    everybody, events = n + n_others, k + k_others
    below = stats.hypergeom.cdf(k, everybody, events, n)
    above = stats.hypergeom.sf(k - 1, everybody, events, n)
    return np.minimum(1.0, 2 * np.minimum(below, above))


def corrected(p: np.ndarray) -> np.ndarray:
    """Return Holm's p-values: how often at most, in an audit of this size where nothing differs, chance leads to such a claim."""
    result = np.full(len(p), np.nan)
    tested = np.isfinite(p)
    if tested.any():
        result[tested] = multipletests(p[tested], method="holm")[1]
    return result


def detectable(variance, n, variance_others, *, alpha: float, power: float) -> np.ndarray:
    """Return the smallest true difference that n cases of the group show with probability `power` at level `alpha`."""
    return _reach(alpha, power) * np.sqrt(variance / np.maximum(n, 1) + variance_others)


def more_needed(variance, n, variance_others, *, margin: float, alpha: float, power: float) -> np.ndarray:
    """Return how many more cases of the group would show a difference of `margin`: infinite where the others are too few.

    The others stay as they are. Normal approximation with the variance that a rate `margin` away from the others' would have.
    """
    budget = (margin / _reach(alpha, power)) ** 2 - variance_others
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(budget > 0, np.ceil(variance / budget), np.inf)
    return np.maximum(needed - n, 0)


def _reach(alpha: float, power: float) -> float:
    return stats.norm.isf(alpha / 2) + stats.norm.ppf(power)


def _shares(n, k, n_others, k_others, confidence: float) -> Contrast:
    low, high, p = (np.full(len(n), np.nan) for _ in range(3))
    both = (n > 0) & (n_others > 0)
    counts = k[both], n[both], k_others[both], n_others[both]
    few = np.minimum.reduce([k, n - k, k_others, n_others - k_others]) < FEW
    if both.any():
        low[both], high[both] = np.where(few[both], exact_union(*counts, confidence), newcombe(*counts, confidence))
        p[both] = exact_p(*counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, others = k / n, k_others / n_others
        # A group as yet too small to know is taken to be like the others; one case more keeps 0 and 1 off the edge.
        typical = (k_others + 0.5) / (n_others + 1)
        return Contrast(
            units=np.minimum(n, n_others),
            difference=mean - others,
            low=low,
            high=high,
            p=p,
            method=np.where(few, "exact union", "newcombe"),
            variance=typical * (1 - typical),
            variance_others=typical * (1 - typical) / n_others,
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

    uₛ = (kₛ - mean nₛ)/n of the group less the same of the others. Sources that the group does not touch are summed up in closed
    form, so that the cost is that of the occupied pairs of source and group, however many groups there are.
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
    )
