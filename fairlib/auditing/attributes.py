"""Columns of groups as codes and names; and how values of a column are written."""

import datetime
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairlib.tables.coding import as_numbers, banded, code

MISSING = "(missing)"
EMPTY = "(empty)"
# Characters of a name; a longer text is no name but a mistake.
_LONGEST_NAME = 200
# More groups than these are suspicious.
_MANY_GROUPS = 1000


class Coded(NamedTuple):
    """A column as codes into its names; `missing` is the name of missing values."""

    codes: np.ndarray
    names: tuple[str, ...]
    missing: str | None = None


def label_text(value: object) -> str:
    """Write a value as a reader expects it: 1 and not 1.0, and never an empty word."""
    # Some engines know dates; others know only moments, of which midnight is a date.
    is_moment = isinstance(value, datetime.datetime) and value.tzinfo is None
    if is_moment and value.time() == datetime.time():  # type: ignore[attr-defined]
        text = str(value.date())  # type: ignore[attr-defined]
    elif isinstance(value, float) and value.is_integer():
        text = str(int(value))
    else:
        text = str(value)

    if len(text) > _LONGEST_NAME:
        return f"{text[:_LONGEST_NAME]}… ({len(text):,} characters)"
    return text if text.strip() else EMPTY


def spelled(values: list) -> list[str]:
    """Write several values so that no two look alike, even if 1 and "1" are there."""
    names = [label_text(value) for value in values]
    times = Counter(names)
    return [
        name if times[name] == 1 else repr(value)
        for name, value in zip(names, values, strict=True)
    ]


def coded_by_text(column: pd.Series) -> np.ndarray:
    """Return codes of the values of a column in the order of how values are written.

    Parameters
    ----------
    column : Series
        The column, without missing values.
    """
    codes, values = code(column)
    texts = np.array([label_text(value) for value in values], dtype=object)
    codes, _ = _reordered(codes, values, np.argsort(texts, kind="stable"))
    return codes


def _coded_by_number(column: pd.Series) -> tuple[np.ndarray, list]:
    """Code a column; texts that are all numbers are in the order of the numbers.

    So the groups 9 and 10 have the same order in a frame and in a file of text.
    """
    codes, values = code(column)
    if isinstance(column.dtype, pd.CategoricalDtype):
        return codes, values
    numbers = as_numbers(pd.Series(values, dtype=object))
    if numbers is None:
        return codes, values
    return _reordered(codes, values, np.argsort(numbers.to_numpy(), kind="stable"))


def _reordered(
    codes: np.ndarray, values: list, order: np.ndarray
) -> tuple[np.ndarray, list]:
    """Return codes and values in another order; the code -1 stays."""
    place = np.empty(len(values) + 1, dtype=np.int64)
    place[order] = np.arange(len(values))
    place[-1] = -1
    return place[codes], [values[number] for number in order.tolist()]


def coded_attribute(
    column: pd.Series,
    count: pd.Series,
    notes: list[str],
    *,
    band_notes: list[str],
    bands: Sequence[float] | None = None,
) -> Coded:
    """Code a column of groups, and add to `notes` what is odd about the column.

    Missing values are a group of their own. A column of many different numbers is cut
    into bands, which `band_notes` says.
    """
    return coded(banded(column, count, band_notes, bands=bands), count, notes)


def coded(column: pd.Series, count: pd.Series, notes: list[str]) -> Coded:
    """Code a column of names, such as strata, and note what is odd about it."""
    codes, values = _coded_by_number(column)
    names = spelled(values)
    column_name = f"Column {column.name!r}"

    if names != [label_text(value) for value in values]:
        notes.append(
            f"{column_name} holds values that look alike, such as 1 and '1'; "
            "they are kept apart."
        )
    if len(names) > _MANY_GROUPS:
        notes.append(
            f"{column_name} has {len(names):,} different values; "
            "does it name groups, or number rows?"
        )

    is_missing = codes < 0
    if not is_missing.any():
        return Coded(codes, tuple(names))

    missing = f"{MISSING} value" if MISSING in names else MISSING
    cases = count[is_missing].sum()
    notes.append(
        f"{column_name} has no value in {int(cases):,} case(s) "
        f"({cases / count.sum():.1%}): set aside."
    )
    return Coded(np.where(is_missing, len(names), codes), (*names, missing), missing)
