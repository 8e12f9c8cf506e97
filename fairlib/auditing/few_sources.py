"""Comparisons of groups whose cases come from few sources, such as 25 templates.

The variance between few sources is itself uncertain. `fairlib.intervals.clusters` says
how far it can be trusted, and was studied for 3 to 40 sources: false claims and
coverage are in `benchmarks/clusters.md` and `benchmarks/audits.md`.
"""

from dataclasses import replace

import numpy as np
from numpy import ndarray

from fairlib.auditing.comparing import Contrast
from fairlib.auditing.groups import Family
from fairlib.auditing.sums import Sums
from fairlib.intervals.clusters import worth_of_sides

# Fewer sources of equal size than this, on both sides, are few.
FEW_SOURCES = 30
_FEWEST = 3  # nothing is known from fewer
_MOST_PAIRS = 5_000_000  # of groups and sources; more are compared as if many


def with_few_sources(apart: Contrast, sums: Sums, family: Family) -> Contrast:
    """Return a contrast with what few sources are worth (`intervals.clusters`).

    The bound for rare large values, one more source that is all wrong, is much too
    careful for few sources. In its place, the degrees of freedom say how far the
    variance between few sources can be trusted. The bound stays where only one side has
    few sources: rare sources that are very different would be on the other side alone.
    """
    is_few = apart.units.max(axis=0) < FEW_SOURCES
    is_few &= apart.units.min(axis=0) >= _FEWEST
    source_of_cell = family.source
    if source_of_cell is None or not is_few.any():
        return apart

    # Sources of these comparisons, counted anew: there are few, or the table is large.
    _, place = np.unique(source_of_cell, return_inverse=True)
    sources = int(place.max()) + 1
    if sources * len(family) > _MOST_PAIRS:
        return apart

    def by_group(per_cell: ndarray) -> ndarray:
        cell = family.codes * sources + place
        totals = np.bincount(cell, per_cell, minlength=len(family) * sources)
        return totals.reshape(len(family), sources)

    def sides(per_cell: ndarray) -> tuple[ndarray, ndarray]:
        per_group = by_group(per_cell)
        of_groups = per_group[family.compared]
        if family.reference is None:
            return of_groups, per_group[family.kept].sum(axis=0) - of_groups
        others = np.broadcast_to(per_group[family.reference], of_groups.shape)
        return of_groups, others

    # A sum may lie beyond its bounds by rounding alone.
    span = float(sums.rate.farthest)
    n, n_others = sides(sums.power(1, 0))
    k, k_others = sides(sums.power(0, 1))
    worth = worth_of_sides(
        n_a=n,
        k_a=np.clip(k, (1 - span) * n, n),
        n_b=n_others,
        k_b=np.clip(k_others, (1 - span) * n_others, n_others),
        bounds=(1 - span, 1),
    )
    return replace(
        apart,
        worth=np.where(is_few, worth.cases, apart.worth),
        freedom=np.where(is_few, worth.freedom, apart.freedom),
        correlation=np.where(is_few, worth.correlation, apart.correlation),
    )
