"""Count the rows of a part of a table, and add up the counts of all parts."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import narwhals as nw
import narwhals.selectors as selectors
import pandas as pd
import pyarrow
from pandas import DataFrame

from fairlib.tables.combinations import Combine, count_arrow, count_frame
from fairlib.tables.opening import Frame, collected, listed

_MOST_PENDING_ROWS = 1 << 20  # rows of counts that wait to be added up


class Total(NamedTuple):
    """A number that the engine computes for each combination of values.

    Parameters
    ----------
    value : narwhals.Expr or None
        The value of each row; None stands for 1, so that the total counts rows.
    combine : {"sum", "min", "max"}, default "sum"
        Whether the total is the sum, the smallest or the largest of the values.
    """

    value: nw.Expr | None
    combine: Combine = "sum"


class Question(NamedTuple):
    """What is counted in each part of a table: the arguments of `counts`, checked.

    Parameters
    ----------
    keys : list of str
        The columns whose combinations are counted.
    totals : mapping of str to Total
        The numbers to compute for each combination.
    derived : mapping of str to narwhals.Expr
        Columns to compute first.
    known : narwhals.Schema
        The columns of the table.
    """

    keys: list[str]
    totals: Mapping[str, Total]
    derived: Mapping[str, nw.Expr]
    known: nw.Schema

    @property
    def values(self) -> dict[str, nw.Expr]:
        """The values that are combined, by the name of their total."""
        return {
            name: total.value
            for name, total in self.totals.items()
            if total.value is not None
        }

    @property
    def combines(self) -> dict[str, Combine | None]:
        """How the values of each total are combined; None where rows are counted."""
        return {
            name: None if total.value is None else total.combine
            for name, total in self.totals.items()
        }

    @property
    def plain(self) -> list[str]:
        """The columns of the table that are no categories, however they are read."""
        return [
            name
            for name in self.keys
            if name in self.known and self.known[name] != nw.Categorical
        ]


def counted(part: Frame, question: Question) -> DataFrame | pyarrow.Table:
    """Count the rows of a part: here, or in the engine that holds it.

    Parameters
    ----------
    part : narwhals.DataFrame or narwhals.LazyFrame
        The rows.
    question : Question
        What to count.

    Returns
    -------
    DataFrame or pyarrow.Table
        One row per combination: its values and its totals.

    Raises
    ------
    ValueError
        If a column holds values that cannot be counted.
    """
    try:
        if part.implementation.is_pandas():
            return _counted_in_pandas(part, question)
        if part.implementation.is_pyarrow():
            return _counted_in_arrow(part, question)
        return _counted_by_engine(part, question)
    except (TypeError, NotImplementedError) as error:
        raise ValueError(
            f"a column of {listed(question.keys)} holds values that cannot be "
            f"counted: {error}"
        ) from error


def _counted_in_pandas(part: Frame, question: Question) -> DataFrame:
    """Count the rows of a frame of pandas."""
    return count_frame(
        _prepared(part, question).to_native(), question.keys, question.combines
    )


def _counted_in_arrow(part: Frame, question: Question) -> pyarrow.Table:
    """Count the rows of a table of Arrow; its words may be read as dictionaries."""
    table = part.to_native()
    plain = question.plain

    if question.derived or question.values:
        # Expressions are written for words, and not for their places in dictionaries.
        encoded = [name for name in plain if part.schema[name] == nw.Categorical]
        words = part.with_columns(nw.col(name).cast(nw.String) for name in encoded)
        table = _prepared(words, question).to_native()
        for name in encoded:
            place = table.column_names.index(name)
            table = table.set_column(place, name, part.to_native()[name])
    return count_arrow(table, question.keys, question.combines, plain=plain)


def _counted_by_engine(part: Frame, question: Question) -> DataFrame:
    """Count the rows of a part, in the engine that holds it."""
    # DuckDB takes "p_a.b" for the column "b" of a table "p_a", so keys are numbered.
    numbered = {
        name: f"fairlib: key {place}" for place, name in enumerate(question.keys)
    }
    groups = (
        _prepared(part, question)
        .rename(numbered)
        .group_by(list(numbered.values()), drop_null_keys=False)
    )
    aggregates = [_aggregate(name, total) for name, total in question.totals.items()]
    cells = collected(groups.agg(*aggregates))

    names = {number: name for name, number in numbered.items()}
    return _as_pandas(cells).rename(columns=names)


def _prepared(part: Frame, question: Question) -> Frame:
    """Return a part with the columns that are computed from others."""
    # Engines are fastest at totals of columns, so the values become columns first.
    if question.derived or question.values:
        return part.with_columns(**question.derived, **question.values)
    return part


def _aggregate(name: str, total: Total) -> nw.Expr:
    """Return the expression that combines the values of a total."""
    if total.value is None:
        return nw.len().alias(name)
    return getattr(nw.col(name), total.combine)().alias(name)


def _as_pandas(cells: nw.DataFrame[Any]) -> DataFrame:
    """Return an engine's rows as a frame of pandas."""
    if cells.implementation.is_pandas_like():
        # Dask numbers the rows of each of its parts from 0.
        return cells.to_pandas().reset_index(drop=True)

    if cells.implementation.is_polars():
        # The order of polars' categories depends on what the process has met before.
        words = selectors.categorical().cast(nw.String)
        arrow = cells.with_columns(words).to_arrow()
    else:
        arrow = cells.to_arrow()
    # By way of Arrow, dates stay dates.
    return _arrow_as_pandas(arrow)


def _arrow_as_pandas(cells: pyarrow.Table) -> DataFrame:
    """Return rows of Arrow as a frame of pandas."""
    # For few rows, another thread would wait for those that read the next part.
    frame = _with_signed_codes(cells).to_pandas(use_threads=False)
    return frame.reset_index(drop=True)


def _with_signed_codes(table: pyarrow.Table) -> pyarrow.Table:
    """Return a table whose categories have signed codes.

    DuckDB's codes are unsigned, and pyarrow 17 gives pandas signed ones only.
    """
    fields = []
    for field in table.schema:
        kind = field.type
        if pyarrow.types.is_dictionary(kind):
            kind = pyarrow.dictionary(pyarrow.int32(), kind.value_type, kind.ordered)
        fields.append((field.name, kind))
    return table.cast(pyarrow.schema(fields))


def added(
    cells_of_parts: Iterator[DataFrame | pyarrow.Table], question: Question
) -> DataFrame:
    """Add up the counts of all parts.

    Parameters
    ----------
    cells_of_parts : iterator
        What `counted` returned for each part; at least one.
    question : Question
        What was counted.

    Returns
    -------
    DataFrame
        One row per combination: its values and its totals, as floats.
    """
    waiting = [next(cells_of_parts)]
    pending_rows = 0

    for cells in cells_of_parts:
        waiting.append(cells)
        pending_rows += len(cells)
        # Parts are added up a few at a time, which is fast and bounds the memory.
        if pending_rows > _MOST_PENDING_ROWS:
            waiting = [_sum_of_parts(waiting, question)]
            pending_rows = 0
    return _sum_of_parts(waiting, question)


def _sum_of_parts(
    cells_of_parts: list[DataFrame | pyarrow.Table], question: Question
) -> DataFrame:
    """Combine the totals of rows that agree in all keys."""
    together = _together(cells_of_parts)
    # Each engine has numeric types of its own; here totals are floats.
    cells = together.astype(dict.fromkeys(question.totals, float))
    if len(cells_of_parts) == 1:
        return cells

    groups = cells.groupby(
        question.keys, dropna=False, sort=False, observed=True, as_index=False
    )
    return groups.agg({name: total.combine for name, total in question.totals.items()})


def _together(cells_of_parts: list[DataFrame | pyarrow.Table]) -> DataFrame:
    """Return the counts of all parts in one frame of pandas."""
    tables_of_arrow = [
        cells for cells in cells_of_parts if isinstance(cells, pyarrow.Table)
    ]
    frames = [cells for cells in cells_of_parts if isinstance(cells, DataFrame)]

    if tables_of_arrow and _have_dictionaries(tables_of_arrow[0]):
        # Each part may have categories of its own, which pandas puts together.
        frames.extend(_arrow_as_pandas(cells) for cells in tables_of_arrow)
    elif tables_of_arrow:
        frames.append(_arrow_as_pandas(pyarrow.concat_tables(tables_of_arrow)))

    # A part without rows knows no types, so it counts only if there is no other.
    with_rows = [cells for cells in frames if len(cells) > 0] or frames[:1]
    if len(with_rows) == 1:
        return with_rows[0]
    return pd.concat(with_rows, ignore_index=True)


def _have_dictionaries(cells: pyarrow.Table) -> bool:
    """Return whether a column holds Arrow dictionaries."""
    return any(pyarrow.types.is_dictionary(kind) for kind in cells.schema.types)
