"""Columns of many numbers as groups: ages are put into bands of about as many cases each, and the report says so."""

import numpy as np
import pandas as pd

MOST_NUMBERS, BANDS = 60, 4  # different numbers that are groups by themselves; bands of more


def banded(column: pd.Series, count: pd.Series, notes: list[str]) -> pd.Series:
    """Return a column of groups; one of more than `MOST_NUMBERS` numbers as bands between its quartiles.

    >>> banded(pd.Series(range(100), name="age"), pd.Series([1] * 100), []).unique().tolist()
    ['0 to 24', '25 to 49', '50 to 74', '75 to 99']
    """
    known = column.dropna()
    if known.nunique() <= MOST_NUMBERS or (numbers := as_numbers(known)) is None:
        return column
    held = count[known.index].groupby(numbers).sum()  # sorted by number
    share = held.cumsum() / held.sum()
    ends = [share.index[share.searchsorted(part / BANDS - 1e-12)] for part in range(1, BANDS)]
    band = np.searchsorted(np.unique(ends), numbers)  # up to each quartile, it included
    names = numbers.groupby(band).agg(lambda own: f"{own.min():.6g} to {own.max():.6g}")
    several = f"Column {column.name!r} holds {known.nunique():,} different numbers"
    notes.append(f"{several}; they are put into bands of about as many cases each: {', '.join(names)}.")
    found = pd.Series(pd.Categorical(names[band], names, ordered=True), index=known.index)
    return found.reindex(column.index).rename(column.name)


def as_numbers(values: pd.Series) -> pd.Series | None:
    """Return values as numbers, or None: text with a leading zero, as in "01", names something."""
    text = values.astype(str)
    numbers = pd.to_numeric(text, errors="coerce").astype(float)
    named = isinstance(values.dtype, pd.CategoricalDtype) or text.str.match(r"0\d").any()
    return None if named or not np.isfinite(numbers).all() else numbers
