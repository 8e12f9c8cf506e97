"""Which column of a table plays which part, and codes for the values that it holds: alike for metrics and audits."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd

from fairlib.tables import listed

MOST_NUMBERS, BANDS = (
    60,
    4,
)  # different numbers that are groups by themselves; bands of more


class Columns(NamedTuple):
    """Which column plays which part, and how probabilities are read; those of an audit are named, or None."""

    group: str | tuple[str, ...] = "group"
    label: str | None = "label"
    prediction: str | None = "prediction"
    probability: str | None = (
        "p_{}"  # a pattern for the classes; in an audit, that of one class
    )
    source: str | None = "source"  # what belongs together: a person, a template
    count: str | None = None  # how many cases a row stands for
    threshold: float = 0.5  # where an audit has probabilities and no predictions
    within: str | None = None  # the stratum, in an audit
    compare: str | None = None  # what another model predicts, in an audit
    cost: str | None = None  # a number for each case, in an audit
    weight: str | None = None  # of a case in a survey, in an audit
    term: str | None = "term"  # an identity term
    bins: int | None = (
        None  # of equal width, into which probabilities are put: each becomes the middle of its bin
    )

    def among(
        self, known: nw.Schema, roles: Sequence[str], usual: "Columns | None" = None
    ) -> "Columns":
        """Return those that a table has; one that it lacks is an error, or absent if it has its usual name."""
        absent = {}
        for role in roles:
            asked = getattr(self, role)
            for name in (
                asked if isinstance(asked, tuple) else () if asked is None else (asked,)
            ):
                if not isinstance(name, str):
                    raise ValueError(
                        f"names of columns must be words, found {name!r}; rename it"
                    )
                if name not in known and (
                    role == "group" or name != getattr(usual, role, None)
                ):
                    raise ValueError(
                        f"{role}: no column {name!r}; the columns are {listed(known)}"
                    )
                absent |= {} if name in known else {role: None}
        return self._replace(**absent)


def check_column(known: nw.Schema, role: str, name: object) -> None:
    """Raise unless a table has the column that plays a role."""
    if not isinstance(name, str):
        raise ValueError(f"names of columns must be words, found {name!r}; rename it")
    if name not in known:
        raise ValueError(f"{role}: no column {name!r}; the columns are {listed(known)}")


def code(column: pd.Series) -> tuple[np.ndarray, list]:
    """Return codes, -1 where a value is missing, and values: in the order of the column's categories, or sorted."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        used = column.cat.remove_unused_categories()
        return used.cat.codes.to_numpy(dtype=np.int64), used.cat.categories.tolist()
    values = distinct([column.dropna()])
    return index(column, values), values


def distinct(columns: Iterable[pd.Series]) -> list:
    """Return the values of several columns in order, each once: 1, 1.0 and True are one."""
    return in_order(
        dict.fromkeys(value for column in columns for value in column.unique().tolist())
    )


def index(column: pd.Series, values: list) -> np.ndarray:
    """Return the place of each value of a column among `values`."""
    return pd.Index(values, dtype=object).get_indexer(pd.Index(column, dtype=object))


def in_order(values: Iterable) -> list:
    """Sort values; those of several types have no order of their own, and are sorted by their spelling."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (str(value), type(value).__name__))


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
    ends = [
        share.index[share.searchsorted(part / BANDS - 1e-12)]
        for part in range(1, BANDS)
    ]
    band = np.searchsorted(np.unique(ends), numbers)  # up to each quartile, it included
    names = numbers.groupby(band).agg(lambda own: f"{own.min():.6g} to {own.max():.6g}")
    several = f"Column {column.name!r} holds {known.nunique():,} different numbers"
    notes.append(
        f"{several}; they are put into bands of about as many cases each: {', '.join(names)}."
    )
    found = pd.Series(
        pd.Categorical(names[band], names, ordered=True), index=known.index
    )
    return found.reindex(column.index).rename(column.name)


def as_numbers(values: pd.Series) -> pd.Series | None:
    """Return values as numbers, or None: text with a leading zero, as in "01", names something."""
    text = values.astype(str)
    numbers = pd.to_numeric(text, errors="coerce").astype(float)
    named = (
        isinstance(values.dtype, pd.CategoricalDtype) or text.str.match(r"0\d").any()
    )
    return None if named or not np.isfinite(numbers).all() else numbers
