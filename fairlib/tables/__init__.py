r"""Count the rows of any table, in the engine that holds them.

Everything that fairlib measures needs only a few numbers per group. Here they are
counted. The result has one row per combination of values that occurs, so it stays
small however large the table is.

A table may be

- a frame of pandas, polars, Arrow, DuckDB, Dask or PySpark, lazy or not (narwhals
  knows them all): its own engine counts the rows;
- the path of a Parquet file or of a folder of them, a `pyarrow.dataset.Dataset`, a
  `datasets.Dataset`, or a CSV file (`tables.delimited.Delimited`): these have no
  engine, so they are read in parts of a bounded size, and the counts are added up.

>>> import pandas as pd
>>> people = pd.DataFrame({"sex": ["f", "m", "f", "f"], "wrong": [1, 0, 1, 0]})
>>> cells = counts(people, ["sex", "wrong"]).sort_values(["sex", "wrong"])
>>> cells.to_string(index=False, header=False).split("\n")
['f 0 1', 'f 1 2', 'm 0 1']
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from fairlib.tables.counting import Question, Total, added, counted
from fairlib.tables.opening import (
    check_is_number,
    collected,
    listed,
    parts,
    schema,
)

COUNT = "fairlib: count"  # the column of the result that holds the counts
LARGEST_COUNT = 2.0**53  # up to here a float holds every whole number

_FRACTION = "fairlib: fraction of a count"
_LOWEST = "fairlib: lowest {}"
_HIGHEST = "fairlib: highest {}"
_MISSING = "fairlib: missing {}"


class Limits(NamedTuple):
    """What a column of numbers must hold.

    Parameters
    ----------
    role : str
        What the column is used for; errors begin with it.
    allowed : str
        What the column must do, in words that follow "must".
    lowest, highest : float
        The smallest and the largest number that is allowed.
    """

    role: str
    allowed: str
    lowest: float
    highest: float


_LIMITS_OF_COUNTS = Limits("count", "hold counts (0, 1, 2, ...)", 0, LARGEST_COUNT)


class Counted(NamedTuple):
    """A column whose equal values were counted.

    `numpy.repeat(values, count)` is the column again, in another order.

    Parameters
    ----------
    values : ndarray
        The values that occur.
    count : ndarray of int
        How many examples have each value.
    """

    values: np.ndarray
    # Every tuple has a method of this name, which nobody needs here.
    count: np.ndarray  # type: ignore[assignment]


def counts(
    table: object,
    by: Sequence[str],
    totals: Mapping[str, Total] | None = None,
    *,
    derived: Mapping[str, nw.Expr] | None = None,
    limits: Mapping[str, Limits] | None = None,
    count: str | None = None,
) -> DataFrame:
    """Count how often each combination of values occurs in some columns of a table.

    Parameters
    ----------
    table : table
        Any table that the description of this module lists.
    by : sequence of str
        The columns whose combinations are counted.
    totals : mapping of str to Total, optional
        More numbers to compute for each combination, by the name of their column. They
        may use the columns in `by` and in `limits`.
    derived : mapping of str to narwhals.Expr, optional
        Columns to compute first, from those in `by` and in `limits`; `by` may name
        them.
    limits : mapping of str to Limits, optional
        What columns of numbers must hold, by the name of the column.
    count : str, optional
        The column that says how many examples a row stands for, if the table holds
        counts already. It must hold whole numbers of at least 0.

    Returns
    -------
    DataFrame
        One row per combination that occurs: the columns `by`, the number of examples in
        the column `COUNT`, and the totals. Its `attrs` hold the smallest and largest
        number of each column in `limits`. A combination of 0 examples is left out.

    Raises
    ------
    ValueError
        If `by` is empty, or if a column does not exist, or does not hold what it must.

    Notes
    -----
    The engine passes over the rows once. The memory needed here is that of the
    combinations.

    Examples
    --------
    >>> people = pd.DataFrame({"sex": ["f", "m", "f"], "people": [2, 1, 3]})
    >>> cells = counts(people, ["sex"], count="people").set_index("sex")
    >>> cells[COUNT].to_dict()
    {'f': 5, 'm': 1}
    """
    keys = list(dict.fromkeys(by))
    if not keys:
        raise ValueError("by must name at least one column, found none")

    new_columns = derived or {}
    limits_by_column = dict(limits or {})
    if count is not None:
        limits_by_column[count] = _LIMITS_OF_COUNTS

    known = schema(table)
    for name, (role, *_) in limits_by_column.items():
        check_is_number(known, role, name)
    all_totals = _with_checks(totals or {}, limits_by_column, count)

    in_table = [name for name in keys if name not in new_columns]
    needed = list(dict.fromkeys([*in_table, *limits_by_column]))
    question = Question(keys, all_totals, new_columns, known)
    cells_of_parts = (
        counted(part, question) for part in parts(table, needed, encoded=True)
    )
    cells = added(cells_of_parts, question)

    ranges = _checked_ranges(cells, limits_by_column)
    if count is not None:
        cells = _checked_counts(cells, count)
    cells.attrs = ranges
    return cells.astype({COUNT: np.int64})


def costs(
    table: object,
    *,
    cost: str,
    group: str,
    between: Sequence[object],
    count: str | None = None,
) -> tuple[Counted, Counted]:
    """Count the costs of two groups, for `fairlib.disparity_interval`.

    Parameters
    ----------
    table : table
        Any table that the description of this module lists.
    cost : str
        The column with the cost of each example: numbers or truth values.
    group : str
        The column with the group of each example.
    between : sequence of two values
        The two groups to compare, as the column `group` names them. The examples of all
        other groups are left out.
    count : str, optional
        The column that says how many examples a row stands for, if the table holds
        counts already.

    Returns
    -------
    tuple of two Counted
        The costs of the first group, and those of the second.

    Raises
    ------
    ValueError
        If a column or a group does not exist, or if a cost is missing.

    Examples
    --------
    >>> sex = ["f", "m", "f", "m", "x"]
    >>> people = pd.DataFrame({"sex": sex, "wrong": [1, 0, 1, 1, 0]})
    >>> women, men = costs(people, cost="wrong", group="sex", between=("f", "m"))
    >>> women.values.tolist(), women.count.tolist()
    ([1.0], [2])
    """
    check_is_number(schema(table), "cost", cost, besides=(nw.Boolean,))
    cells = counts(table, [group, cost], count=count)

    if len(between) != 2 or between[0] == between[1]:
        raise ValueError(
            f"between must be two groups of column {group!r}, found {between!r}"
        )
    costs_of_groups = []
    for name in between:
        cells_of_group = cells[cells[group] == name]
        if cells_of_group.empty:
            raise ValueError(
                f"between: column {group!r} has no group {name!r}; "
                f"it holds {listed(cells[group].unique())}"
            )
        values = complete(cells_of_group, cost).to_numpy(dtype=float)
        costs_of_groups.append(Counted(values, cells_of_group[COUNT].to_numpy()))

    first, second = costs_of_groups
    return first, second


def complete(frame: DataFrame, name: str) -> Series:
    """Return a column, or raise an error if a value is missing in it.

    Parameters
    ----------
    frame : DataFrame
        The rows; with a column `COUNT`, the error counts examples and not rows.
    name : str
        The column.

    Returns
    -------
    Series
        The column.

    Raises
    ------
    ValueError
        If a value is missing. The error says for how many examples.
    """
    is_missing = frame[name].isna()
    if not is_missing.any():
        return frame[name]

    if COUNT in frame:
        missing = frame.loc[is_missing, COUNT].sum()
    else:
        missing = is_missing.sum()
    raise _values_are_missing(name, int(missing))


def rows(table: object, columns: Sequence[str]) -> DataFrame:
    """Return the rows of a table, for computations that depend on their order.

    Parameters
    ----------
    table : table
        Any table that the description of this module lists.
    columns : sequence of str
        The columns to read.

    Returns
    -------
    DataFrame
        All rows, so it needs the memory of these columns.
    """
    frames = [collected(part).to_pandas() for part in parts(table, columns)]
    return pd.concat(frames, ignore_index=True)


# --- checking what was counted ---


def _with_checks(
    totals: Mapping[str, Total], limits: Mapping[str, Limits], count: str | None
) -> dict[str, Total]:
    """Return the number of examples, the totals, and what has to be checked later."""
    all_totals = {COUNT: Total(None), **totals}
    if count is not None:
        # As floats, because the sum of many small integers may be a large one.
        number = nw.col(count).cast(nw.Float64)
        all_totals[COUNT] = Total(number)
        all_totals[_FRACTION] = Total(number - number.floor(), "max")

    for name in limits:
        number = nw.col(name).cast(nw.Float64)
        is_missing = number.is_null() | number.is_nan()
        all_totals[_LOWEST.format(name)] = Total(number, "min")
        all_totals[_HIGHEST.format(name)] = Total(number, "max")
        all_totals[_MISSING.format(name)] = Total(is_missing.cast(nw.Int64))
    return all_totals


def _checked_ranges(
    cells: DataFrame, limits: Mapping[str, Limits]
) -> dict[str, tuple[float, float]]:
    """Take the smallest and largest number of each column out of the counts."""
    ranges = {}
    for name, (_, allowed, lowest, highest) in limits.items():
        low = cells.pop(_LOWEST.format(name)).min()
        high = cells.pop(_HIGHEST.format(name)).max()
        missing = int(cells.pop(_MISSING.format(name)).sum())

        if missing > 0:
            raise _values_are_missing(name, missing)
        if low < lowest or high > highest:
            raise ValueError(
                f"column {name!r} must {allowed}, found {low:g} to {high:g}"
            )
        ranges[name] = (low, high)
    return ranges


def _checked_counts(cells: DataFrame, count: str) -> DataFrame:
    """Check the sums of a column of counts; leave out combinations of 0 examples."""
    if (cells.pop(_FRACTION) > 0).any():
        raise ValueError(
            f"column {count!r} must hold counts (0, 1, 2, ...), found a fraction"
        )

    total = float(cells[COUNT].sum())
    if total >= 2.0**63:
        raise ValueError(
            f"the counts in column {count!r} add up to {total:.3g}, "
            "more than can be counted (2^63)"
        )
    return cells[cells[COUNT] > 0].reset_index(drop=True)


def _values_are_missing(name: str, missing: int) -> ValueError:
    return ValueError(
        f"column {name!r} has {missing} missing value(s); every example needs one: "
        "fill them in, or leave these examples out"
    )
