"""The rows of a table one by one, for sentences and pages."""

from collections.abc import Hashable, Iterable
from operator import attrgetter
from typing import Any

import pandas as pd


def records(frame: pd.DataFrame | None) -> list[Any]:
    """Return the rows of a table, if there is one, as named tuples.

    The column "class" is called `class_name`, because `class` is no name in Python.
    """
    if frame is None:
        return []
    return [*frame.rename(columns={"class": "class_name"}).itertuples(index=False)]


def grouped(rows: Iterable[Any], *names: str) -> dict[Hashable, list[Any]]:
    """Return rows by their values under some names, in order of first occurrence."""
    key_of = attrgetter(*names)
    rows_by_key: dict[Hashable, list[Any]] = {}
    for row in rows:
        rows_by_key.setdefault(key_of(row), []).append(row)
    return rows_by_key
