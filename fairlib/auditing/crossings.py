"""Crossed attributes: whether a crossing says more than the attributes it consists of."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from fairlib.auditing.counts import Counts
from fairlib.auditing.questions import Question, Questions

# How many crossings are tested, those that matter most: each at a 20th of the level.
MOST_CROSSINGS = 20


def adding(questions: Questions) -> Callable[[Any], bool]:
    """Return a test of whether a comparison says more than the attributes it crosses.

    The first `MOST_CROSSINGS` crossings that the test is asked about are tested; the
    others are taken to add nothing.
    """
    by_name = {
        (question.family.attribute, question.sums.name, question.sums.class_name): (
            question
        )
        for question in questions.questions
    }
    places = iter(range(MOST_CROSSINGS))

    def adds(row: Any) -> bool:
        question = by_name[row.attribute, row.rate, row.class_name]
        family = question.family
        if len(family.attributes) == 1:
            return True
        if next(places, None) is None:
            return False

        group = next(code for code in family.kept if family.called(code) == row.group)
        more, p = interaction(questions.counts, question, group)
        level = questions.setting.alpha / MOST_CROSSINGS
        return bool(p <= level and more * row.difference > 0)

    return adds


def interaction(counts: Counts, question: Question, group: int) -> tuple[float, float]:
    """Return by how much a group's mean is more than its attributes add up to, and how often chance does that.

    For two attributes (a, b) it is (m₁₁ − m₀₁) − (m₁₀ − m₀₀), where 1 stands for the group's own value and 0 for all
    others; for more, the same of higher order. Normal intervals of the four means, half a case added for rare ones; by
    source, of what each source adds to the sum (Liang and Zeger 1986).
    """
    sums, family = question.sums, question.family
    attributes, names = (
        [counts.attributes[name] for name in family.attributes],
        family.names[group],
    )
    inside = [
        one.codes == one.names.index(name)
        for one, name in zip(attributes, names, strict=True)
    ]
    cells, cell = (
        2 ** len(inside),
        sum(mine.astype(int) << place for place, mine in enumerate(inside)),
    )
    sign = np.array(
        [(-1.0) ** (len(inside) - code.bit_count()) for code in range(cells)]
    )
    sizes = sums.count, sums.power(1, 0), sums.power(0, 1), sums.power(2, 0)
    cases, n, k, n2 = (np.bincount(cell, values, cells) for values in sizes)
    if cases.min() < 2 or not (n2 < n**2).all():
        return np.nan, np.nan
    mean, smooth, freedom = k / n, (k + 0.5) / (n + 1), np.inf
    if counts.source is not None:
        residual = (sums.power(0, 1) - mean[cell] * sums.power(1, 0)) * (sign / n)[cell]
        sources = min(
            len(np.unique(counts.source[cell == code])) for code in range(cells)
        )
        variance = (
            (np.bincount(counts.source, residual) ** 2).sum()
            * sources
            / max(sources - 1, 1e-9)
        )
        freedom = max(sources - 1, 1)
    elif not sums.of_shares:
        squares = sums.power(0, 2) - mean[cell] * (
            2 * sums.power(1, 1) - mean[cell] * sums.power(2, 0)
        )
        variance = (np.bincount(cell, squares, cells) / (n**2 - n2)).sum()
    else:
        variance = (smooth * (1 - smooth) / n).sum()
    more = float(sign @ mean)
    if variance <= 0:
        return more, float(abs(more) < 1e-12)
    return more, float(2 * stats.t.sf(abs(more) / np.sqrt(variance), freedom))
