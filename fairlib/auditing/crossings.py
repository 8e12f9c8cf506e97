"""Crossed attributes: whether a crossing says more than its attributes alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import stdtr

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
    level = questions.setting.alpha / MOST_CROSSINGS
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
        return bool(p <= level and more * row.difference > 0)

    return adds


def interaction(counts: Counts, question: Question, group: int) -> tuple[float, float]:
    """Return by how much a group's mean exceeds what its attributes add up to, and p.

    For two attributes it is (m₁₁ - m₀₁) - (m₁₀ - m₀₀), where 1 stands for the group's
    own value and 0 for all others; for more attributes, the same of higher order. p
    comes from normal intervals of the four means, with half a case added for rare ones.
    With sources, the variance is that of what each source adds to the sum (Liang and
    Zeger 1986).
    """
    sums = question.sums
    corner = _corner_of_cells(counts, question, group)
    attributes = len(question.family.attributes)
    corners = 2**attributes
    sign = np.array(
        [(-1.0) ** (attributes - code.bit_count()) for code in range(corners)]
    )

    cases = np.bincount(corner, sums.count, corners)
    n = np.bincount(corner, sums.power(1, 0), corners)
    total = np.bincount(corner, sums.power(0, 1), corners)
    n2 = np.bincount(corner, sums.power(2, 0), corners)
    if cases.min() < 2 or not (n2 < n**2).all():
        return np.nan, np.nan

    mean = total / n
    freedom = np.inf
    if counts.source is not None:
        residual = sums.power(0, 1) - mean[corner] * sums.power(1, 0)
        added = np.bincount(counts.source, residual * (sign / n)[corner])
        sources = min(
            len(np.unique(counts.source[corner == code])) for code in range(corners)
        )
        variance = (added**2).sum() * sources / max(sources - 1, 1e-9)
        freedom = max(sources - 1, 1)
    elif sums.of_shares:
        smoothed = (total + 0.5) / (n + 1)
        variance = (smoothed * (1 - smoothed) / n).sum()
    else:
        squares = sums.power(0, 2) - mean[corner] * (
            2 * sums.power(1, 1) - mean[corner] * sums.power(2, 0)
        )
        variance = (np.bincount(corner, squares, corners) / (n**2 - n2)).sum()

    more = float(sign @ mean)
    if variance <= 0:
        return more, float(abs(more) < 1e-12)
    return more, float(2 * stdtr(freedom, -abs(more) / np.sqrt(variance)))


def _corner_of_cells(counts: Counts, question: Question, group: int) -> np.ndarray:
    """Return which of the group's own values each cell has, one bit per attribute."""
    corner = np.zeros(len(counts.count), dtype=int)
    names = question.family.names[group]
    for place, attribute in enumerate(question.family.attributes):
        coded = counts.attributes[attribute]
        has_value = coded.codes == coded.names.index(names[place])
        corner += has_value.astype(int) << place
    return corner
