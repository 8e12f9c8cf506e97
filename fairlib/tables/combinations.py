"""Count combinations of values by small whole numbers, in place of the values.

Each value of a column gets a code: 0, 1, 2, and so on. The codes of a row's values make
up the number of its combination, and numbers are counted by `numpy.bincount`. That is
several times as fast as a group-by of the values, which has to look up every value of
every row. Columns of pandas and of Arrow are coded here; other engines count by
themselves.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas import DataFrame, Series

Combine = Literal["sum", "min", "max"]

_MOST_WHOLE_NUMBERS = 1 << 16  # whole numbers in a wider range are looked up
_FEWEST_COMBINATIONS = 1 << 16  # so many are always counted without a look-up
_ROWS_IN_FIRST_LOOK = 1 << 12
_LAST_OF_ASCII = 127
_NUMBER = "fairlib: number of the combination"


class _Codes(NamedTuple):
    """A column as codes.

    Parameters
    ----------
    codes : ndarray of unsigned int
        The code of each row.
    size : int
        All codes are smaller than this number.
    values : callable
        Maps an array of codes to a column of the values that they stand for.
    """

    codes: np.ndarray
    size: int
    values: Callable[[np.ndarray], Any]


class _Folded(NamedTuple):
    """Several columns as one: a number for each combination of their codes.

    Parameters
    ----------
    numbers : ndarray of unsigned int
        The number of each row's combination.
    size : int
        All numbers are smaller than this number.
    codes : callable
        Maps an array of numbers to a list with the codes of each column.
    """

    numbers: np.ndarray
    size: int
    codes: Callable[[np.ndarray], list[np.ndarray]]


class _Cells(NamedTuple):
    """The combinations that occur, in the order of their first rows.

    Parameters
    ----------
    numbers : ndarray of unsigned int
        The number of each row's combination.
    occurring : ndarray of unsigned int
        The number of each combination that occurs.
    count : ndarray of int
        How many rows each of these combinations has.
    columns : list
        The values of each column in each of these combinations.
    """

    numbers: np.ndarray
    occurring: np.ndarray
    # Every tuple has a method of this name, which nobody needs here.
    count: np.ndarray  # type: ignore[assignment]
    columns: list[Any]


def count_frame(
    frame: DataFrame, keys: Sequence[str], totals: Mapping[str, Combine | None]
) -> DataFrame:
    """Count the combinations of values in some columns of a frame of pandas.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    keys : sequence of str
        The columns whose combinations are counted.
    totals : mapping of str to {"sum", "min", "max"} or None
        The columns whose values are combined, and how; None counts rows.

    Returns
    -------
    DataFrame
        One row per combination, in the order of first rows: its values and its totals.
    """
    cells = _counted([_codes_of_series(frame[name]) for name in keys])
    columns = dict(zip(keys, cells.columns, strict=True))

    combines = {name: combine for name, combine in totals.items() if combine}
    sums = DataFrame()
    if combines:
        groups = frame[[*combines]].groupby(cells.numbers, sort=False)
        sums = groups.agg(combines).reset_index(drop=True)
    for name, combine in totals.items():
        columns[name] = sums[name] if combine else cells.count
    return DataFrame(columns)


def count_arrow(
    table: pa.Table,
    keys: Sequence[str],
    totals: Mapping[str, Combine | None],
    *,
    plain: Collection[str] = (),
) -> pa.Table:
    """Count the combinations of values in some columns of a table of Arrow.

    Parameters
    ----------
    table : pyarrow.Table
        The rows.
    keys : sequence of str
        The columns whose combinations are counted.
    totals : mapping of str to {"sum", "min", "max"} or None
        The columns whose values are combined, and how; None counts rows.
    plain : collection of str, default ()
        The columns whose values are no dictionaries in the result, even if they are in
        the table.

    Returns
    -------
    pyarrow.Table
        One row per combination, in the order of first rows: its values and its totals.
    """
    cells = _counted(
        [
            _codes_of_arrow(_in_one_piece(table[name]), is_plain=name in plain)
            for name in keys
        ]
    )
    columns = dict(zip(keys, cells.columns, strict=True))

    combines = {name: combine for name, combine in totals.items() if combine}
    sums = pa.table({})
    if combines:
        numbered = table.select([*combines]).append_column(_NUMBER, [cells.numbers])
        # With one thread, numbers are always added up in the same order.
        sums = numbered.group_by(_NUMBER, use_threads=False).aggregate(
            [(name, combine, _options(combine)) for name, combine in combines.items()]
        )
        # The groups come in an order of their own.
        groups = pd.Index(sums[_NUMBER].to_numpy())
        sums = sums.take(groups.get_indexer(cells.occurring))
    for name, combine in totals.items():
        columns[name] = sums[f"{name}_{combine}"] if combine else cells.count
    return pa.table(columns)


def _options(combine: Combine) -> pc.ScalarAggregateOptions:
    """Return options by which a sum of no values at all is 0, as it is in pandas."""
    return pc.ScalarAggregateOptions(min_count=0 if combine == "sum" else 1)


def _in_one_piece(column: pa.ChunkedArray) -> pa.Array:
    """Return a column of a table as one array."""
    if column.num_chunks == 1:
        return column.chunk(0)
    return column.combine_chunks()


# --- combinations of codes ---


def _counted(columns: list[_Codes]) -> _Cells:
    """Count the combinations of codes."""
    rows = len(columns[0].codes)
    most = max(_FEWEST_COMBINATIONS, 2 * rows)

    folded = _Folded(columns[0].codes, columns[0].size, lambda numbers: [numbers])
    for column in columns[1:]:
        if folded.size * column.size > most:
            folded = _only_occurring(folded)
        folded = _with(folded, column)

    if folded.size > most:
        folded = _only_occurring(folded)
    count = np.bincount(folded.numbers, minlength=folded.size)
    occurring = _in_order_of_first_rows(folded.numbers, int(np.count_nonzero(count)))

    values = [
        column.values(codes)
        for column, codes in zip(columns, folded.codes(occurring), strict=True)
    ]
    return _Cells(folded.numbers, occurring, count[occurring], values)


def _with(folded: _Folded, column: _Codes) -> _Folded:
    """Return the combinations with one more column."""
    size = folded.size * column.size
    kind = _smallest_type(size)
    numbers = folded.numbers.astype(kind)
    numbers *= kind.type(column.size)
    numbers += column.codes

    def codes(some_numbers: np.ndarray) -> list[np.ndarray]:
        earlier, last = np.divmod(some_numbers, kind.type(column.size))
        return [*folded.codes(earlier), last]

    return _Folded(numbers, size, codes)


def _only_occurring(folded: _Folded) -> _Folded:
    """Return the combinations with new numbers, which all occur."""
    numbers, occurring = pd.factorize(folded.numbers)
    return _Folded(
        _as_codes(numbers, len(occurring)),
        len(occurring),
        lambda some_numbers: folded.codes(occurring[some_numbers]),
    )


def _in_order_of_first_rows(numbers: np.ndarray, different: int) -> np.ndarray:
    """Return the different numbers in an array, in the order of their first places."""
    # The first rows often have them all.
    rows = _ROWS_IN_FIRST_LOOK
    while rows < len(numbers):
        occurring = pd.unique(numbers[:rows])
        if len(occurring) == different:
            return occurring
        rows *= 16
    return pd.unique(numbers)


def _smallest_type(largest: int) -> np.dtype:
    """Return the smallest type of whole numbers that holds 0 to some number."""
    # `numpy.bincount` takes no unsigned numbers of 64 bits.
    kind = np.min_scalar_type(max(largest, 0))
    return np.dtype(np.int64) if kind.itemsize == 8 else kind


def _as_codes(places: np.ndarray, size: int) -> np.ndarray:
    """Return places in a list of `size` values as codes of the smallest type."""
    return places.astype(_smallest_type(size - 1), copy=False)


# --- columns ---


def _codes_of_series(column: Series) -> _Codes:
    """Return the codes of a column of pandas; a missing value is a value like others.

    Raises
    ------
    TypeError
        If the values cannot be looked up, as lists cannot.
    """
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return _codes_of_categories(column)
    if isinstance(kind, np.dtype) and kind.kind in "biu":
        numbers = _in_a_range(column.to_numpy())
        if numbers is not None:
            return numbers._replace(values=lambda codes: Series(numbers.values(codes)))

    places, index = column.factorize(use_na_sentinel=False)
    size = len(index)

    def values(codes: np.ndarray) -> Series:
        # Of objects that are all alike, such as words, pandas infers the type.
        taken = index[codes]
        return Series(
            taken.tolist() if pd.api.types.is_object_dtype(kind) and size else taken
        )

    return _Codes(_as_codes(places, size), size, values)


def _codes_of_categories(column: Series) -> _Codes:
    """Return the codes of a column with categories; 0 stands for a missing value."""
    kind = column.dtype
    size = len(kind.categories) + 1
    # Of unsigned numbers, the code of missing values, -1, plus 1 is 0.
    codes = column.cat.codes.to_numpy().astype(_smallest_type(size - 1))
    codes += 1

    def values(some_codes: np.ndarray) -> Series:
        places = some_codes.astype(np.int64) - 1
        return Series(pd.Categorical.from_codes(places, dtype=kind))

    return _Codes(codes, size, values)


def _codes_of_arrow(column: pa.Array, *, is_plain: bool) -> _Codes:
    """Return the codes of a column of Arrow; a missing value is a value like others."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _codes_of_dictionary(column, is_plain=is_plain)

    if pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        numbers = _codes_of_numbers(column)
        if numbers is not None:
            return numbers
    return _codes_of_dictionary(encoded(column), is_plain=True)


def _codes_of_numbers(column: pa.Array) -> _Codes | None:
    """Return the codes of whole numbers or truth values, unless they are far apart."""
    kind = column.type
    numbers = column.cast(pa.uint8()) if pa.types.is_boolean(kind) else column
    if column.null_count > 0:
        lowest = pc.min(numbers)
        if not lowest.is_valid:
            return None
        numbers = numbers.fill_null(lowest)
    known = _in_a_range(numbers.to_numpy())
    if known is None:
        return None

    # The last code stands for a missing value.
    size = known.size
    codes = known.codes
    if column.null_count > 0:
        is_missing = column.is_null().to_numpy(zero_copy_only=False)
        codes = codes.astype(_smallest_type(size))
        codes[is_missing] = size

    def values(some_codes: np.ndarray) -> pa.Array:
        some_numbers = known.values(some_codes)
        return pa.array(some_numbers, mask=some_codes == size).cast(kind)

    return _Codes(codes, size + 1, values)


def _codes_of_dictionary(column: pa.DictionaryArray, *, is_plain: bool) -> _Codes:
    """Return the codes of a column that Arrow has coded already."""
    # The last code stands for a missing value.
    size = len(column.dictionary)
    indices = column.indices
    if indices.null_count > 0:
        indices = indices.cast(pa.int64()).fill_null(size)

    def values(codes: np.ndarray) -> pa.Array:
        places = pa.array(codes, mask=codes == size)
        if is_plain:
            return column.dictionary.take(places)
        return pa.DictionaryArray.from_arrays(
            places, column.dictionary, ordered=column.type.ordered
        )

    return _Codes(_as_codes(indices.to_numpy(), size + 1), size + 1, values)


def _in_a_range(numbers: np.ndarray) -> _Codes | None:
    """Return codes of whole numbers that begin with the lowest of them.

    Returns
    -------
    _Codes or None
        None if the numbers are too far apart, or if there are none.
    """
    if len(numbers) == 0:
        return None
    if numbers.dtype == bool:
        return _Codes(numbers.view(np.uint8), 2, lambda codes: codes.astype(bool))

    lowest = numbers.min()
    size = int(numbers.max()) - int(lowest) + 1
    if size > _MOST_WHOLE_NUMBERS:
        return None

    # Of large numbers the type of the codes keeps the last bits only. Those of a
    # difference are right all the same.
    kind = _smallest_type(size - 1)
    codes = np.subtract(numbers, lowest, dtype=kind, casting="unsafe")
    return _Codes(codes, size, lambda codes: codes.astype(numbers.dtype) + lowest)


# --- words ---


def encoded(column: pa.Array) -> pa.DictionaryArray:
    """Return a column as the list of its values and the place of each row's value.

    Parameters
    ----------
    column : pyarrow.Array
        The column. A missing value becomes a place in the list like any other.

    Returns
    -------
    pyarrow.DictionaryArray
        The same column.
    """
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        letters = _encoded_letters(column)
        if letters is not None:
            return letters
    return pc.dictionary_encode(column, null_encoding="encode")


def _encoded_letters(column: pa.Array) -> pa.DictionaryArray | None:
    """Return a column of words of one letter each, such as the classes "0" and "1".

    The bytes of such words are codes already, so that none has to be looked up.
    """
    rows = len(column)
    if rows == 0 or column.null_count > 0:
        return None

    _, ends, letters = column.buffers()
    kind = np.int32 if pa.types.is_string(column.type) else np.int64
    end = np.frombuffer(ends, kind)[column.offset : column.offset + rows + 1]
    if end[-1] - end[0] != rows or (np.diff(end) != 1).any():
        return None

    letter = np.frombuffer(letters, np.uint8)[end[0] : end[-1]]
    known = _in_a_range(letter)
    if known is None or letter.max() > _LAST_OF_ASCII:
        return None
    words = [chr(code) for code in range(letter.min(), letter.max() + 1)]
    return pa.DictionaryArray.from_arrays(known.codes, pa.array(words, column.type))
