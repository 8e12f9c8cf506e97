"""Differences where cases belong together: several of one person, or many groups' versions of one template."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairlib import bounds
from fairlib.auditing.contrasts import Contrast, student
from fairlib.auditing.groups import Family
from fairlib.auditing.rates import Sums


class Shared(NamedTuple):
    """The sources that a group touches: an entry for each pair of a source and a compared group that occur together."""

    group: np.ndarray  # which of the compared groups
    source: np.ndarray
    n: np.ndarray  # the group's cases in the source
    k: np.ndarray  # the sum of their values
    n_others: np.ndarray  # the same of those that the group is compared with
    k_others: np.ndarray
    whole_n: np.ndarray  # of each source: the reference, or everybody
    whole_k: np.ndarray


def by_source(sums: Sums, family: Family, sides: tuple, *, interval: str, minimum: int, confidence: float) -> Contrast:
    """Compare ratios of sums over sources: Var = S/(S - 1) Σₛ uₛ², where uₛ is what source s adds to the difference.

    uₛ = (kₛ - mean nₛ)/n of the group less the same of the others.
    """
    shared, size = _shared(sums, family), len(family.compared)
    there = np.bincount(shared.group, shared.n > 0, minlength=size)  # sources with a qualifying case of the group
    of_it_alone = (shared.whole_n[shared.source] > 0) & (shared.n_others <= 0)
    elsewhere = np.count_nonzero(shared.whole_n) - np.bincount(shared.group, of_it_alone, minlength=size)
    fewer = np.minimum(there, elsewhere)
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = _squares(shared, sides, size)
        variance, alike = (np.clip(total, 0, None) * fewer / (fewer - 1) for total in squares)
        variance = np.where(variance * there < 1e-12, 0.0, variance)  # what rounding leaves of none
    _, mean, _, mean_others = sides
    difference, errors = mean - mean_others, (np.sqrt(variance), np.sqrt(alike))
    each = variance * there  # one more source of the group is worth what its present ones are
    found = student(
        there, elsewhere, difference, *errors, fewer - 1, confidence, "by source", each, np.zeros(size)
    )  # fmt: skip
    if interval != "counts" and not sums.rate.uses_probability and constant(shared.whole_n):
        _bet_on_pairs(found, shared, minimum, confidence)
    return found


def _shared(sums: Sums, family: Family) -> Shared:
    sources = int(family.source.max()) + 1
    source, group, place = family.pairs
    n, k = (np.bincount(place, values, minlength=len(group)) for values in (sums.count, sums.total))
    counted = slice(None) if family.reference is None else group == family.reference
    whole_n, whole_k = (np.bincount(source[counted], values[counted], minlength=sources) for values in (n, k))
    rank = np.full(len(family), -1)
    rank[family.compared] = np.arange(len(family.compared))
    touched = rank[group] >= 0
    group, source, n, k = rank[group[touched]], source[touched], n[touched], k[touched]
    own = (n, k) if family.reference is None else (0, 0)  # the reference never includes the group itself
    return Shared(group, source, n, k, whole_n[source] - own[0], whole_k[source] - own[1], whole_n, whole_k)


def _squares(shared: Shared, sides: tuple, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Σₛ uₛ² of each group, and the same if sources that hold one side only varied alike, for their size.

    Sources that a group does not touch are summed up in closed form, so the cost is that of the entries of `shared`,
    however many groups there are.
    """
    n, mean, n_others, mean_others = sides
    group, whole_n, whole_k = shared.group, shared.whole_n, shared.whole_k

    def total(values: np.ndarray) -> np.ndarray:
        return np.bincount(group, values, minlength=size)

    mine = (shared.k - mean[group] * shared.n) / n[group]
    theirs = (shared.k_others - mean_others[group] * shared.n_others) / n_others[group]
    whole = (whole_k[shared.source] - mean_others[group] * whole_n[shared.source]) / n_others[group]
    everywhere = (
        whole_k @ whole_k - 2 * mean_others * (whole_k @ whole_n) + mean_others**2 * (whole_n @ whole_n)
    ) / n_others**2
    untouched = everywhere - total(whole**2)
    both_sides_too = total((mine - theirs) ** 2)

    alone = shared.n_others <= 0
    only_mine, sizes_mine = total(alone * mine**2), total(alone * shared.n**2)
    sizes_untouched = whole_n @ whole_n - total(whole_n[shared.source] ** 2)
    each = (only_mine * n**2 + untouched * n_others**2) / np.maximum(sizes_mine + sizes_untouched, 1)
    alike = both_sides_too - only_mine + each * (sizes_mine / n**2 + sizes_untouched / n_others**2)
    return both_sides_too + untouched, alike


def _bet_on_pairs(found: Contrast, shared: Shared, minimum: int, confidence: float) -> None:
    """Put betting's interval in the place of Student's where every source has as many cases of either side."""
    order = np.lexsort((shared.source, shared.group))
    for mine in np.split(order, np.cumsum(np.bincount(shared.group, minlength=len(found.low)))[:-1]):
        ours, theirs = shared.n[mine], shared.n_others[mine]  # theirs: none where only this group has such cases
        if len(mine) < max(minimum, len(shared.whole_n)) or not (constant(ours) and constant(theirs)):
            continue
        costs = shared.k[mine] / ours, shared.k_others[mine] / theirs
        played = bounds.disparity_interval(*costs, paired=True, confidence=confidence)
        code = shared.group[mine[0]]
        found.low[code], found.high[code], found.method[code] = played.low, played.high, played.method


def constant(counts: np.ndarray) -> bool:
    """Whether every source has as many cases as every other, and has some."""
    return len(counts) > 0 and counts.min() == counts.max() > 0
