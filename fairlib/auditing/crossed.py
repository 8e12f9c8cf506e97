"""Does a crossing say more than its attributes do alone? Old women may fare as women do and as the old do, added up."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy import stats

from fairlib.auditing import rates
from fairlib.auditing.groups import Family
from fairlib.auditing.people import People
from fairlib.auditing.rates import Sums

MOST = 20  # crossings that are tested, those that matter most: each at a 20th of the level


def adding(people: People, families: Mapping[str, Family], *, alpha: float) -> Callable[[object], bool]:
    """Return a test of whether a comparison says more than the attributes that it crosses, of the first `MOST`."""
    tested = iter(range(MOST))

    def adds(row) -> bool:
        family = families[row.attribute]
        if len(family.attributes) == 1:
            return True
        if next(tested, None) is None:
            return False
        (sums,) = (one for one in rates.sums(people, (row.rate,)) if one.class_name == row.class_name)
        group = next(code for code in family.kept if family.called(code) == row.group)
        more, p = interaction(people, sums.of(family), family, group)
        return bool(p <= alpha / MOST and more * row.difference > 0)

    return adds


def interaction(people: People, sums: Sums, family: Family, group: int) -> tuple[float, float]:
    """Return by how much a group's mean is more than its attributes add up to, and how often chance does that.

    For two attributes (a, b) it is (m₁₁ − m₀₁) − (m₁₀ − m₀₀), where 1 stands for the group's own value and 0 for all
    others; for more, the same of higher order. Normal intervals of the four means, half a case added for rare ones; by
    source, of what each source adds to the sum (Liang and Zeger 1986).
    """
    attributes, names = [people.attributes[name] for name in family.attributes], family.names[group]
    inside = [one.codes == one.names.index(name) for one, name in zip(attributes, names, strict=True)]
    cells, cell = 2 ** len(inside), sum(mine.astype(int) << place for place, mine in enumerate(inside))
    sign = np.array([(-1.0) ** (len(inside) - code.bit_count()) for code in range(cells)])
    n, k, square = (np.bincount(cell, values, cells) for values in (sums.count, sums.total, sums.square))
    if n.min() < 2:
        return np.nan, np.nan
    mean, freedom = k / n, np.inf
    if people.source is None:
        smooth = (k + 0.5) / (n + 1)
        variance = np.where(
            sums.rate.uses_probability, (square / n - mean**2) / (n - 1), smooth * (1 - smooth) / n
        ).sum()
    else:
        residual = (sums.total - mean[cell] * sums.count) * (sign / n)[cell]
        sources = min(len(np.unique(people.source[cell == code])) for code in range(cells))
        variance = (np.bincount(people.source, residual) ** 2).sum() * sources / max(sources - 1, 1e-9)
        freedom = max(sources - 1, 1)
    more = float(sign @ mean)
    if variance <= 0:
        return more, float(abs(more) < 1e-12)
    return more, float(2 * stats.t.sf(abs(more) / np.sqrt(variance), freedom))
