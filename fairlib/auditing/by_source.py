"""Differences where cases belong together: several of one person, or many groups' versions of one template."""

from __future__ import annotations

import numpy as np

from fairlib import bounds
from fairlib.auditing.contrasts import Contrast, student
from fairlib.auditing.groups import Family
from fairlib.auditing.rates import Sums


def by_source(sums: Sums, family: Family, sides: tuple, *, interval: str, minimum: int, confidence: float) -> Contrast:
    """Compare ratios of sums over sources: Var = S/(S - 1) Σₛ uₛ², where uₛ is what source s adds to the difference.

    uₛ = (kₛ - mean nₛ)/n of the group less the same of the others. Sources that the group does not touch are summed up
    in closed form, so the cost is that of the occupied pairs of source and group, however many groups there are.
    """
    n, mean, n_others, mean_others = sides
    sources = int(family.source.max()) + 1
    pair_source, pair_group, place = family.pairs
    pair_n, pair_k = (np.bincount(place, values, minlength=len(pair_group)) for values in (sums.count, sums.total))
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
    # The same if sources that hold one side only varied alike, as all of them do, for their size.
    alone = whole_n[at] - own_n <= 0
    only_mine = np.bincount(group, alone * mine**2, minlength=size)
    only_theirs = everywhere - np.bincount(group, if_untouched**2, minlength=size)
    sizes_mine = np.bincount(group, alone * pair_n**2, minlength=size)
    sizes_theirs = whole_n @ whole_n - np.bincount(group, whole_n[at] ** 2, minlength=size)
    there = np.bincount(group, pair_n > 0, minlength=size)  # sources with a qualifying case of the group
    elsewhere = np.count_nonzero(whole_n) - np.bincount(
        group, (whole_n[at] > 0) & (whole_n[at] - own_n <= 0), minlength=size
    )
    fewer = np.minimum(there, elsewhere)
    with np.errstate(invalid="ignore", divide="ignore"):
        each_alike = (only_mine * n**2 + only_theirs * n_others**2) / np.maximum(sizes_mine + sizes_theirs, 1)
        alike = squares - only_mine - only_theirs + each_alike * (sizes_mine / n**2 + sizes_theirs / n_others**2)
        variance, alike = (np.clip(total, 0, None) * fewer / (fewer - 1) for total in (squares, alike))
        variance = np.where(variance * there < 1e-12, 0.0, variance)  # what rounding leaves of none
    # One more source of the group is worth what its present ones are.
    each = variance * there
    found = student(
        there,
        elsewhere,
        mean - mean_others,
        np.sqrt(variance),
        np.sqrt(alike),
        fewer - 1,
        confidence,
        "by source",
        each,
        np.zeros(size),
    )
    if interval == "counts" or sums.rate.uses_probability or not constant(whole_n):
        return found
    order = np.lexsort((at, group))
    for mine in np.split(order, np.cumsum(np.bincount(group, minlength=size))[:-1]):
        ours = pair_n[mine]
        own_n, own_k = (ours, pair_k[mine]) if family.reference is None else (0, 0)
        theirs = whole_n[at[mine]] - own_n  # none at all where only this group has such cases
        if len(mine) < max(minimum, sources) or not (constant(ours) and constant(theirs)):
            continue
        others = (whole_k[at[mine]] - own_k) / theirs
        played = bounds.disparity_interval(pair_k[mine] / ours, others, paired=True, confidence=confidence)
        code = group[mine[0]]
        found.low[code], found.high[code], found.method[code] = played.low, played.high, played.method
    return found


def constant(counts: np.ndarray) -> bool:
    """Whether every source has as many cases as every other, and has some."""
    return len(counts) > 0 and counts.min() == counts.max() > 0
