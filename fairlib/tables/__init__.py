"""From any table to counts: everything that is measured here needs few numbers per group, and they are cheap to get.

A table may be a frame of pandas, polars, Arrow, DuckDB, Dask or PySpark (all that narwhals knows, lazy or not), a
`datasets.Dataset`, the path of a Parquet file or of a folder of them, a `pyarrow.dataset.Dataset`, or a CSV file
(`tables.delimited.Delimited`). The counting happens where the rows are, in the engine that holds them; only counts come
back, one row per combination of values that occurs. What has no engine of its own (a file, a folder, a Dataset) is read
in parts of a bounded size, whose counts add up.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"sex": ["f", "m", "f", "f"], "wrong": [1, 0, 1, 0]})
    >>> counts(people, ["sex", "wrong"]).sort_values(["sex", "wrong"]).to_string(index=False, header=False).split("\\n")
    ['f 0 1', 'f 1 2', 'm 0 1']
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import narwhals as nw
import narwhals.selectors as selectors
import numpy as np
import pandas as pd
import pyarrow
import pyarrow.dataset

COUNT, PARTS = "fairlib: count", "fairlib: parts of a case"
MOST = 2.0**53  # cases that a row may stand for
ROWS = 1 << 18  # of a part, where there is no engine: bounds the memory
MOST_PENDING = 1 << 20  # rows of counts that wait to be added up


class Total(NamedTuple):
    """A number per cell that the engine computes: the sum, or the extreme, of a value that every row has."""

    value: nw.Expr | None  # None for 1
    combine: str = "sum"  # "sum" | "min" | "max"


class Counted(NamedTuple):
    """A column whose equal values were counted. `numpy.repeat(values, count)` is the column again, in another order."""

    values: np.ndarray
    count: np.ndarray


def counts(
    table,
    by: Sequence[str],
    totals: Mapping[str, Total] | None = None,
    *,
    derived: Mapping[str, nw.Expr] | None = None,
    limits: Mapping[str, tuple[str, str, float, float]] | None = None,
    count: str | None = None,
) -> pd.DataFrame:
    """Return one row per combination of the columns `by` that occurs, with how often it does in the column `COUNT`.

    totals : numbers to compute for each combination, by name. derived : columns to make first; `by` may name them.
    limits : the columns that these look at; of each the role, what it must do in words, and the lowest and highest
        value that may be; those that were found are in the result's `attrs`.
    count : column with the number of cases that a row stands for, where rows are counts already; it is checked, and
        combinations of 0 cases are left out.

    One pass over the rows, in the engine; the memory here is that of the distinct combinations.
    """
    by, derived, checked = (
        list(dict.fromkeys(by)),
        dict(derived or {}),
        dict(limits or {}),
    )
    totals = {COUNT: Total(None)} | dict(totals or {})
    if count is not None:
        checked[count] = ("count", "hold counts (0, 1, 2, ...)", 0, MOST)
        number = nw.col(count).cast(nw.Float64)  # a sum of small numbers may be large
        totals |= {COUNT: Total(number), PARTS: Total(number - number.floor(), "max")}
    for name, (role, *_) in checked.items():
        check_is_number(schema(table), role, name)
        totals |= _range_of(name)
    columns = list(
        dict.fromkeys([*(name for name in by if name not in derived), *checked])
    )
    found = _added(
        (_reduced(part, by, totals, derived) for part in parts(table, columns)),
        by,
        totals,
    )
    ranges = {
        name: _checked_range(found, name, *allowed)
        for name, (_, *allowed) in checked.items()
    }
    if count is not None:
        if (found.pop(PARTS) > 0).any():
            raise ValueError(
                f"column {count!r} must hold counts (0, 1, 2, ...), found parts of one"
            )
        found = found[found[COUNT] > 0].reset_index(drop=True)
    if (total := float(found[COUNT].sum())) >= 2.0**63:
        raise ValueError(
            f"column {count!r} counts {total:.3g} cases in all, more than can be counted (2^63)"
        )
    found.attrs = ranges
    return found.astype({COUNT: np.int64})


def costs(
    table, *, cost: str, group: str, between: tuple, count: str | None = None
) -> tuple[Counted, Counted]:
    """Return what two groups pay, counted: the arguments of `fairlib.disparity_interval`.

    cost, group : columns. between : the two groups (values of the column `group`) that are compared; others are left
        out, as they would be by selecting them.

    >>> people = pd.DataFrame({"sex": ["f", "m", "f", "m", "x"], "wrong": [1, 0, 1, 1, 0]})
    >>> women, men = costs(people, cost="wrong", group="sex", between=("f", "m"))
    >>> women.values.tolist(), women.count.tolist()
    ([1.0], [2])
    """
    check_is_number(schema(table), "cost", cost, besides=(nw.Boolean,))
    found = counts(table, [group, cost], count=count)
    if len(between) != 2 or between[0] == between[1]:
        raise ValueError(
            f"between must be two groups of column {group!r}, found {between!r}"
        )
    sides = [found[found[group] == name] for name in between]
    if missing := [
        name for name, side in zip(between, sides, strict=True) if side.empty
    ]:
        held = listed(found[group].unique())
        raise ValueError(
            f"between: column {group!r} has no group {missing[0]!r}; it holds {held}"
        )
    return tuple(
        Counted(complete(side, cost).to_numpy(dtype=float), side[COUNT].to_numpy())
        for side in sides
    )


def schema(table) -> nw.Schema:
    """Return the names and types of a table's columns, without reading its rows."""
    source = _opened(table)
    frame = (
        source
        if isinstance(source, nw.DataFrame | nw.LazyFrame)
        else nw.from_native(source.schema.empty_table())
    )
    return frame.collect_schema()


def parts(table, columns: Sequence[str]) -> Iterator[nw.DataFrame | nw.LazyFrame]:
    """Yield some columns of a table: the whole frame where an engine holds it, else parts of at most `ROWS` rows."""
    columns, known = list(columns), schema(table)
    if strange := [name for name in columns if name not in known]:
        raise ValueError(f"no column {strange[0]!r}; the columns are {listed(known)}")
    if nested := [name for name in columns if known[name].is_nested()]:
        raise ValueError(
            f"column {nested[0]!r} must hold one value per row, found values of type {known[nested[0]]}"
        )
    source = _opened(table)
    if isinstance(source, nw.DataFrame | nw.LazyFrame):
        yield source.select(columns)
        return
    batches = source.to_batches(columns=columns, batch_size=ROWS)
    frames = (nw.from_native(pyarrow.Table.from_batches([batch])) for batch in batches)
    yield next(
        frames, nw.from_native(source.schema.empty_table().select(columns))
    )  # there may be no rows
    yield from frames


def rows(table, columns: Sequence[str]) -> pd.DataFrame:
    """Return the rows themselves, for what depends on their order: the memory is that of the columns."""
    found = (
        part.collect() if isinstance(part, nw.LazyFrame) else part
        for part in parts(table, columns)
    )
    return pd.concat([part.to_pandas() for part in found], ignore_index=True)


def complete(found: pd.DataFrame, name: str) -> pd.Series:
    """Return a column, or say in how many cases it has no value."""
    if (lacking := found[name].isna()).any():
        missing = int(
            found.loc[lacking, COUNT].sum() if COUNT in found else lacking.sum()
        )
        raise ValueError(
            f"column {name!r} has {missing} missing value(s); every case needs one"
        )
    return found[name]


def check_is_number(
    known: nw.Schema, role: str, name: str, besides: Sequence = ()
) -> None:
    """Raise unless the column is there and holds numbers, or what is of a type in `besides`, told by its type."""
    if name not in known:
        raise ValueError(f"{role}: no column {name!r}; the columns are {listed(known)}")
    if not known[name].is_numeric() and known[name] not in besides:
        raise ValueError(
            f"{role}: column {name!r} must hold numbers, found values of type {known[name]}"
        )


def listed(values: Iterable, most: int = 12) -> str:
    """Write values for an error message."""
    values = list(values)
    return ", ".join(map(repr, values[:most])) + (
        f" and {len(values) - most} more" if len(values) > most else ""
    )


def _opened(table):
    """Return a frame that narwhals knows, or what has a schema and batches: an Arrow dataset, a CSV, a Dataset."""
    if isinstance(table, str | Path):
        if not Path(table).exists():
            raise ValueError(f"there is no file or folder {str(table)!r}")
        return pyarrow.dataset.dataset(table, format="parquet", partitioning="hive")
    if hasattr(type(table), "to_batches") and not hasattr(type(table), "to_pandas"):
        return table
    if getattr(table, "features", None) and hasattr(
        table, "with_format"
    ):  # told without importing that library
        return SimpleNamespace(
            schema=table.features.arrow_schema, to_batches=partial(_batches, table)
        )
    kinds = table.dtypes if isinstance(table, pd.DataFrame) else pd.Series()
    if names := [
        name for name, kind in kinds.items() if str(kind).startswith("dictionary<")
    ]:
        arrow = pyarrow.Table.from_pandas(
            table[names], preserve_index=False
        ).replace_schema_metadata()
        table = table.assign(
            **arrow.to_pandas().set_axis(table.index)
        )  # as categories, whose order a group-by keeps
    try:
        return nw.from_native(table)
    except TypeError:
        raise ValueError(
            "a table must be a frame that narwhals knows (pandas, polars, Arrow, DuckDB, Dask, PySpark, ...), a "
            f"datasets.Dataset or the path of Parquet files, found {type(table).__name__}"
        ) from None


def _batches(
    table, *, columns: list[str], batch_size: int
) -> Iterator[pyarrow.RecordBatch]:
    """Yield some columns of a `datasets.Dataset` in parts of at most `batch_size` rows."""
    for part in table.select_columns(columns).with_format("arrow").iter(batch_size):
        yield from part.to_batches()


def _reduced(
    part, by: list[str], totals: Mapping[str, Total], derived: Mapping[str, nw.Expr]
) -> pd.DataFrame:
    # Engines are at their best where what is aggregated is a column, so the values become columns first.
    values = {
        name: total.value for name, total in totals.items() if total.value is not None
    }
    part = part.with_columns(**derived, **values) if derived or values else part
    keys = {
        name: f"fairlib: key {place}" for place, name in enumerate(by)
    }  # DuckDB reads "p_a.b" as a table's column
    aggregates = [
        (
            nw.len() if total.value is None else getattr(nw.col(name), total.combine)()
        ).alias(name)
        for name, total in totals.items()
    ]
    try:
        found = (
            part.rename(keys)
            .group_by([*keys.values()], drop_null_keys=False)
            .agg(*aggregates)
        )
        found = found.collect() if isinstance(found, nw.LazyFrame) else found
    except (TypeError, NotImplementedError) as error:
        raise ValueError(
            f"a column of {listed(by)} holds values that cannot be counted: {error}"
        ) from error
    if (
        found.implementation.is_polars()
    ):  # codes of its categories hang on what the process met before; it sorts names
        found = found.with_columns(selectors.categorical().cast(nw.String))
    found = (
        found if found.implementation.is_pandas_like() else _signed(found.to_arrow())
    )  # in Arrow dates stay dates
    found = found.to_pandas().reset_index(
        drop=True
    )  # Dask's parts number their rows anew
    found = found.rename(columns={key: name for name, key in keys.items()})
    return found.astype(
        dict.fromkeys(totals, float)
    )  # engines answer in types of their own


def _signed(table: pyarrow.Table) -> pyarrow.Table:
    """Return a table whose categories have signed codes, as DuckDB's have not: pyarrow 17 gives pandas no others."""
    kinds = {
        field.name: field.type
        for field in table.schema
        if pyarrow.types.is_dictionary(field.type)
    }
    signed = {
        name: pyarrow.dictionary(pyarrow.int32(), kind.value_type, kind.ordered)
        for name, kind in kinds.items()
    }
    return table.cast(
        pyarrow.schema(
            [(field.name, signed.get(field.name, field.type)) for field in table.schema]
        )
    )


def _range_of(name: str) -> dict[str, Total]:
    number = nw.col(name).cast(nw.Float64)
    missing = Total((number.is_null() | number.is_nan()).cast(nw.Int64))
    found = {
        "lowest": Total(number, "min"),
        "highest": Total(number, "max"),
        "missing": missing,
    }
    return {f"fairlib: {what} {name}": total for what, total in found.items()}


def _checked_range(
    found: pd.DataFrame, name: str, allowed: str, lowest: float, highest: float
) -> tuple:
    low, high, missing = (found.pop(column) for column in _range_of(name))
    low, high, missing = low.min(), high.max(), int(missing.sum())
    if missing:
        raise ValueError(
            f"column {name!r} has {missing} missing value(s); every case needs one"
        )
    if low < lowest or high > highest:
        raise ValueError(f"column {name!r} must {allowed}, found {low:g} to {high:g}")
    return low, high


def _added(
    parts: Iterator[pd.DataFrame], by: list[str], totals: Mapping[str, Total]
) -> pd.DataFrame:
    """Add up the parts' rows that agree in `by`, a few parts at a time, so that what waits is bounded."""
    how, waiting = (
        {name: total.combine for name, total in totals.items()},
        [next(parts)],
    )
    for last, part in pairwise(chain(parts, [None])):
        waiting.append(last)
        if part is None or sum(map(len, waiting[1:])) > MOST_PENDING:
            together = pd.concat(
                [one for one in waiting if len(one)] or waiting[:1], ignore_index=True
            )
            groups = together.groupby(
                by, dropna=False, sort=False, observed=True, as_index=False
            )
            waiting = [groups.agg(how)]
    return waiting[0]
