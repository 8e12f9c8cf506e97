"""How probabilities are distributed in each group, as counts: what AUCs and distances between distributions need.

A distribution is no sum, so the tally does not hold it. Here the cases of every attribute are counted by the level of
their probability, 1/100 of a unit of log odds wide: fine at rare classes too, a few thousand levels at most, and counts
of parts of a file still add up. A level stands for the mean of the probabilities in it.
"""

from __future__ import annotations

import narwhals as nw
import numpy as np
import pandas as pd

from fairlib import tables
from fairlib.auditing.tally import Columns, Tally, sums
from fairlib.auditing.tally import tally as coded

LEVEL = "fairlib: level of the probability"
MOST_TIED = 200_000  # cases: of more, the levels do not say which belong together
STEP, EDGE = 0.01, 1e-9  # in log odds; what is closer to 0 or 1 than the edge is one level


def read(frame, columns: Columns, cases: int, *, positive=None) -> dict[str, Tally]:
    """Count the examples of a frame by attribute and level; which belong together only up to `MOST_TIED` cases."""
    columns = tied(columns, cases)
    return tallies(cells(frame, columns), columns, positive=positive)


def tied(columns: Columns, cases: int) -> Columns:
    """Return the columns to count by: with the source only where the cases are not too many."""
    return columns if cases <= MOST_TIED else columns._replace(source=None)


def cells(frame, columns: Columns) -> dict[str, pd.DataFrame]:
    """Return, for each attribute, the counts of a frame by attribute, label, prediction, source and level.

    O(rows) for each attribute, inside the engine that holds the frame; nothing where there are no probabilities.
    """
    if not columns.probability:
        return {}
    totals, derived = sums(columns)
    inside = nw.col(columns.probability).cast(nw.Float64).clip(EDGE, 1 - EDGE)
    derived[LEVEL] = ((inside / (1 - inside)).log() / STEP).round()
    others = [*filter(None, (columns.label, columns.prediction, columns.source)), *derived]
    options = {"derived": derived, "uses": [columns.probability], "count": columns.count}
    return {
        name: tables.reduce(frame, list(dict.fromkeys([name, *others])), totals, **options) for name in columns.group
    }


def tallies(cells: dict[str, pd.DataFrame], columns: Columns, *, positive=None) -> dict[str, Tally]:
    """Code what `cells` counted, attribute by attribute; one attribute of each tally is `LEVEL`."""
    return {
        name: coded(found, columns._replace(group=(name, LEVEL)), positive=positive) for name, found in cells.items()
    }


def levels(scored: Tally, *, most: int | None = None) -> np.ndarray:
    """Return the probability of each cell: the mean of its level, or of one of `most` wider levels of equal shares."""
    code = scored.attributes[LEVEL].codes
    count, total = (np.bincount(code, values) for values in (scored.count, scored.score))
    mean = total / count
    if most is not None and len(mean) > most:
        order = np.argsort(mean, kind="stable")
        middle = np.empty_like(mean)
        middle[order] = np.cumsum(count[order]) - count[order] / 2
        wide = (middle * most / count.sum()).astype(int)
        mean = (np.bincount(wide, total) / np.maximum(np.bincount(wide, count), 1))[wide]
    return mean[code]
