"""Counting rows that are in memory, close to the limit: one pass of `numpy.bincount` over a packed code.

Columns of few values (categories, booleans, small whole numbers, words) become digits of one number per row. A block of
rows stays in the processor's cache from packing to counting, so that every column is read from memory once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

BLOCK = 1 << 15  # rows at a time
MOST_CELLS = 1 << 20  # combinations, whether they occur or not
MOST_VALUES = 1 << 16  # of a column of whole numbers, from its lowest to its highest


class Digit(NamedTuple):
    """A column as codes of 0, 1, ... after `lowest` is subtracted, and how to get its values back."""

    codes: np.ndarray
    lowest: int
    size: int
    column: pd.Series
    names: object = None  # of the codes, where values are not the codes themselves


def counts(frame: pd.DataFrame, by: Sequence[str], name: str) -> pd.DataFrame | None:
    """Return one row per combination that occurs, with its number in column `name`; None if it can't be done this way.

    O(rows) time, O(combinations) memory.
    """
    if not by or not len(frame):
        return None
    digits, cells = [], 1
    for column in by:
        digit = _digit(frame[column], MOST_CELLS // cells)
        if digit is None:
            return None
        digits.append(digit)
        cells *= digit.size
    found = np.zeros(cells, dtype=np.int64)
    kind = _kind(digits)
    for start in range(0, len(frame), BLOCK):
        found += np.bincount(_packed(digits, slice(start, start + BLOCK), kind), minlength=cells)
    occurring = np.flatnonzero(found)
    places = np.unravel_index(occurring, [digit.size for digit in digits])
    columns = {column: _values(digit, place) for column, digit, place in zip(by, digits, places, strict=True)}
    return pd.DataFrame(columns | {name: found[occurring]})


def _kind(digits: list[Digit]) -> np.dtype:
    """Return the smallest type that holds all numbers on the way to a code: arithmetic on bytes is nearly free."""
    low, high, lowest, highest = 0, 0, 0, 0
    for digit in digits:
        low, high = low * digit.size + digit.lowest, high * digit.size + digit.lowest + digit.size - 1
        lowest, highest = min(lowest, low), max(highest, high)
    return np.result_type(
        *map(np.min_scalar_type, (min(lowest, -1), highest)), *(digit.codes.dtype for digit in digits)
    )


def _packed(digits: list[Digit], rows: slice, kind: np.dtype) -> np.ndarray:
    """Return one code per row, the first column being the highest digit."""
    first, *others = digits
    code, lowest = first.codes[rows].astype(kind), first.lowest
    for digit in others:
        code *= digit.size
        code += digit.codes[rows]
        lowest = lowest * digit.size + digit.lowest
    if lowest:
        code -= lowest
    return code


def _digit(column: pd.Series, most: int) -> Digit | None:
    """Code a column, unless it has too many values or ones of a kind that has no codes."""
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        codes, names = column.cat.codes.to_numpy(), column.cat.categories
    elif isinstance(kind, pd.StringDtype) or kind is np.dtype(object):
        try:
            codes, names = pd.factorize(column)
        except TypeError:  # values that are lists, say
            return None
    elif isinstance(kind, np.dtype) and kind.kind in "bui":
        codes, names = column.to_numpy(), None
        codes = codes.view(np.int8) if kind.kind == "b" else codes
        lowest, highest = int(codes.min()), int(codes.max())
        if highest - lowest >= min(most, MOST_VALUES) or highest >= np.iinfo(np.int64).max // MOST_CELLS:
            return None
        return Digit(codes, lowest, highest - lowest + 1, column)
    else:
        return None
    missing = len(codes) > 0 and codes.min() < 0
    if len(names) + missing > most:
        return None
    return Digit(codes, -1 if missing else 0, len(names) + int(missing), column, names)


def _values(digit: Digit, place: np.ndarray):
    """Return a column of values of the same type as it came."""
    codes = place + digit.lowest
    if isinstance(digit.column.dtype, pd.CategoricalDtype):
        return pd.Categorical.from_codes(codes, dtype=digit.column.dtype)
    if digit.names is None:
        return codes.astype(digit.column.dtype)
    return pd.Series(digit.names, dtype=digit.column.dtype).reindex(codes).array
