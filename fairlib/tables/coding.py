"""Columns of a table: which part each plays, and codes for the values in it."""

from collections.abc import Collection, Iterable, Sequence

import narwhals as nw
import numpy as np
import pandas as pd
from pandas import Series

from fairlib.tables import listed

_MOST_NUMERIC_GROUPS = 60  # more different numbers than this are put into bands
_QUARTILES = np.array([0.25, 0.5, 0.75])


def check_column(known: nw.Schema, role: str, name: object) -> None:
    """Raise an error unless a table has the column that plays a role.

    Parameters
    ----------
    known : narwhals.Schema
        The columns of the table, from `tables.schema`.
    role : str
        What the column is used for; the error begins with it.
    name : str
        The column.

    Raises
    ------
    ValueError
        If the table has no such column, or if its name is not a word.
    """
    if not isinstance(name, str):
        raise ValueError(f"names of columns must be words, found {name!r}; rename it")
    if name not in known:
        raise ValueError(f"{role}: no column {name!r}; the columns are {listed(known)}")


def code(column: Series) -> tuple[np.ndarray, list]:
    """Replace the values of a column by whole numbers.

    Parameters
    ----------
    column : Series
        The column.

    Returns
    -------
    codes : ndarray of int
        The place of each value in the list of values; -1 if the value is missing.
    values : list
        The values that occur: in the order of the categories if the column has
        categories, otherwise sorted.

    Examples
    --------
    >>> codes, values = code(pd.Series(["m", "f", None, "m"]))
    >>> codes.tolist(), values
    ([1, 0, -1, 1], ['f', 'm'])
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        used = column.cat.remove_unused_categories()
        return used.cat.codes.to_numpy(dtype=np.int64), used.cat.categories.tolist()

    values = distinct([column.dropna()])
    return index(column, values), values


def distinct(columns: Iterable[Series]) -> list:
    """Return the values of several columns, sorted and without repetition.

    Parameters
    ----------
    columns : iterable of Series
        The columns.

    Returns
    -------
    list
        The values. 1, 1.0 and True are equal, so they are one value.

    Examples
    --------
    >>> distinct([pd.Series([2, 1]), pd.Series([1.0, 3.0])])
    [1, 2, 3.0]
    """
    values = [value for column in columns for value in column.unique().tolist()]
    return in_order(dict.fromkeys(values))


def index(column: Series, values: list) -> np.ndarray:
    """Return the place of each value of a column in a list of values.

    Parameters
    ----------
    column : Series
        The column.
    values : list
        The values, each once.

    Returns
    -------
    ndarray of int
        The place of each value, from 0; -1 if the list does not have it.
    """
    return pd.Index(values, dtype=object).get_indexer(pd.Index(column, dtype=object))


def in_order(values: Collection) -> list:
    """Sort values, even if they are of several types.

    Parameters
    ----------
    values : collection
        The values.

    Returns
    -------
    list
        The values in their own order. If they have none, as words and numbers have
        none, they are sorted by how they are written.

    Examples
    --------
    >>> in_order(["b", 10, 9])
    [10, 9, 'b']
    """
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (str(value), type(value).__name__))


def banded(
    column: Series,
    count: Series,
    notes: list[str],
    *,
    bands: Sequence[float] | None = None,
) -> Series:
    """Put a column of many numbers, such as ages, into bands.

    Without `bands`, a column is returned as it is, unless it holds more than 60
    different numbers. It is then cut at the quartiles of the examples, so each of the
    four bands has about as many examples as the others.

    Parameters
    ----------
    column : Series
        The group of each row.
    count : Series
        How many examples each row stands for.
    notes : list of str
        A note for the reader is added to this list if the column is put into bands.
    bands : sequence of float, optional
        The numbers at which the column is cut. Each number begins a band.

    Returns
    -------
    Series
        The column, or the band of each row.

    Raises
    ------
    ValueError
        If a column that is to be cut does not hold numbers.

    Examples
    --------
    >>> ages = pd.Series(range(100), name="age")
    >>> banded(ages, pd.Series([1] * 100), []).unique().tolist()
    ['0 to 24', '25 to 49', '50 to 74', '75 to 99']
    >>> banded(ages, pd.Series([1] * 100), [], bands=[40]).unique().tolist()
    ['0 to 39', '40 to 99']
    """
    known = column.dropna()
    if bands is None and known.nunique() <= _MOST_NUMERIC_GROUPS:
        return column

    numbers = as_numbers(known)
    if numbers is None and bands is None:
        return column
    if numbers is None:
        raise ValueError(
            f"bands: column {column.name!r} must hold numbers to be cut, "
            f"found {listed(distinct([known]))}"
        )

    if bands is not None:
        band_of_row = np.searchsorted(np.asarray(bands), numbers, side="right")
    else:
        # The limits are the numbers at which the shares 1/4, 2/4, 3/4 are reached. Each
        # limit belongs to the band below it. Equal limits leave fewer bands.
        count_by_number = count[known.index].groupby(numbers).sum()
        share = count_by_number.cumsum() / count_by_number.sum()
        limits = share.index[share.searchsorted(_QUARTILES - 1e-12)]
        band_of_row = np.searchsorted(limits.unique(), numbers)

    names = numbers.groupby(band_of_row).agg(_range)
    if bands is None:
        notes.append(
            f"Column {column.name!r} holds {known.nunique():,} different numbers. They "
            "were cut into bands of about as many cases each: "
            f"{', '.join(names)}. Choose the limits yourself with bands=, or write the "
            "numbers as text if they are names."
        )
    else:
        notes.append(f"Column {column.name!r} was cut as asked: {', '.join(names)}.")

    in_bands = pd.Categorical(names[band_of_row], names, ordered=True)
    banded_rows = Series(in_bands, index=known.index)
    return banded_rows.reindex(column.index).rename(column.name)


def as_numbers(values: Series) -> Series | None:
    """Return values as numbers, or None if they are names.

    Parameters
    ----------
    values : Series
        The values, none of them missing.

    Returns
    -------
    Series of float or None
        The numbers. None if a value is not a finite number, if the column has
        categories, or if a number has a leading zero: "01" is the name of something.
    """
    if isinstance(values.dtype, pd.CategoricalDtype):
        return None
    text = values.astype(str)
    if text.str.match(r"0\d").any():
        return None

    numbers = pd.to_numeric(text, errors="coerce").astype(float)
    return numbers if np.isfinite(numbers).all() else None


def _range(numbers: Series) -> str:
    """Name a band by its smallest and its largest number."""
    return f"{numbers.min():.6g} to {numbers.max():.6g}"
