"""Counting rows that are in memory, close to the limit: one pass of `numpy.bincount` over a packed code.

Columns of few values (categories, booleans, small whole numbers, words) become digits of one number per row. A block of
rows stays in the processor's cache from packing to counting, so that every column is read from memory once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

BLOCK = 1 << 17  # rows at a time, an even number
LOOK = 1 << 14  # rows that say which values to expect
MOST_CELLS = 1 << 20  # combinations, whether they occur or not
MOST_VALUES = 1 << 16  # of a column of whole numbers, from its lowest to its highest
FEW_CELLS = 64  # of so few, the pairs are still few enough to count two rows at once


class Digit(NamedTuple):
    """A column as codes, and which occur: `size` of them, from `lowest` on."""

    codes: np.ndarray
    column: pd.Series
    names: object = None  # of the codes 0, 1, ..., where values are not the codes themselves
    lowest: int = 0
    size: int = 0


def counts(frame: pd.DataFrame, by: Sequence[str], name: str) -> pd.DataFrame | None:
    """Return one row per combination that occurs, with its number in column `name`; None if it can't be done this way.

    O(rows) time, O(combinations) memory.
    """
    coded = [_coded(frame[column]) for column in by] if len(frame) else []
    if not coded or any(digit is None for digit in coded):
        return None
    for looked in (LOOK, len(frame)):  # the first rows hold every value, as a rule; where not, look at all of them
        if (digits := _ranged(coded, slice(looked))) is None:
            return None
        if (found := _found(digits)) is not None:
            break
    occurring = np.flatnonzero(found)
    places = np.unravel_index(occurring, [digit.size for digit in digits])
    columns = {column: _values(digit, place) for column, digit, place in zip(by, digits, places, strict=True)}
    return pd.DataFrame(columns | {name: found[occurring]})


def _coded(column: pd.Series) -> Digit | None:
    """Code a column, unless its values are of a kind that has no codes; -1 stands for a missing one."""
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return Digit(column.cat.codes.to_numpy(), column, column.cat.categories)
    if isinstance(kind, pd.StringDtype) or kind is np.dtype(object):
        try:
            codes, names = pd.factorize(column)
        except TypeError:  # values that are lists, say
            return None
        return Digit(codes, column, names)
    if isinstance(kind, np.dtype) and kind.kind in "bui":
        codes = column.to_numpy()
        # No type holds all of uint64 and negative numbers too; as int64 its upper half is negative, until the way back.
        as_signed = {np.dtype(bool): np.int8, np.dtype(np.uint64): np.int64}
        return Digit(codes.view(as_signed.get(kind, kind)), column)
    return None


def _ranged(digits: list[Digit], rows: slice) -> list[Digit] | None:
    """Set which codes occur from a look at some rows; None where they are too many, or too large to calculate with."""
    ranged, cells = [], 1
    for digit in digits:
        lowest, highest = int(digit.codes[rows].min()), int(digit.codes[rows].max())
        size = highest - lowest + 1
        cells *= size
        if cells > MOST_CELLS or (digit.names is None and size > MOST_VALUES):
            return None
        if max(-lowest, highest) >= np.iinfo(np.int64).max // MOST_CELLS:
            return None
        ranged.append(digit._replace(lowest=lowest, size=size))
    return ranged


def _found(digits: list[Digit]) -> np.ndarray | None:
    """Return how often each combination occurs; None where a code occurs that is not in its digit's range."""
    found = np.zeros(math.prod(digit.size for digit in digits), dtype=np.int64)
    kind = _kind(digits)
    for start in range(0, len(digits[0].codes), BLOCK):
        if (code := _packed(digits, slice(start, start + BLOCK), kind)) is None:
            return None
        found += _occurrences(code, cells=len(found))
    return found


def _occurrences(code: np.ndarray, *, cells: int) -> np.ndarray:
    """Count the codes of a block: where cells are few, of pairs of rows, which takes two thirds of the time."""
    if cells > FEW_CELLS or len(code) < BLOCK:
        return np.bincount(code, minlength=cells)
    upper, lower = code.reshape(2, -1)
    pairs = np.bincount(upper.astype(np.int16) * cells + lower, minlength=cells**2).reshape(cells, cells)
    return pairs.sum(axis=0) + pairs.sum(axis=1)


def _leaves_range(digit: Digit, some: np.ndarray) -> bool:
    if digit.lowest == 0:  # read without a sign, negative numbers are the largest: one look in place of two
        return some.view(f"{some.dtype.byteorder}u{some.itemsize}").max() >= digit.size
    return some.min() < digit.lowest or some.max() >= digit.lowest + digit.size


def _kind(digits: list[Digit]) -> np.dtype:
    """Return the smallest type that holds all numbers on the way to a code: arithmetic on bytes is nearly free.

    A column's own numbers may be larger: where they wrap around, the code, which fits, wraps back.
    """
    low, high, needed = 0, 0, []
    for digit in digits:
        low, high = low * digit.size + digit.lowest, high * digit.size + digit.lowest + digit.size - 1
        needed += [low, high, digit.size]
    needed.append(high - low)  # the highest code, once the lowest is 0
    return np.min_scalar_type(min(*needed, *(-number - 1 for number in needed)))  # of a negative number: a signed type


def _packed(digits: list[Digit], rows: slice, kind: np.dtype) -> np.ndarray | None:
    """Return one code per row, the first column being the highest digit; None where one is not in its digit's range."""
    code, lowest = None, 0
    for digit in digits:
        some = digit.codes[rows]  # looked at and converted at once, while it is in the cache
        if _leaves_range(digit, some):
            return None
        if code is None:
            code = some.astype(kind)
        else:
            code *= digit.size
            code += some.astype(kind, copy=False)
        lowest = lowest * digit.size + digit.lowest
    if lowest:
        code -= lowest
    return code


def _values(digit: Digit, place: np.ndarray):
    """Return a column of values of the same type as it came."""
    codes = place + digit.lowest
    if digit.names is None:
        return codes.astype(digit.column.dtype)
    return pd.Series(digit.names, dtype=digit.column.dtype).reindex(codes).reset_index(drop=True)
