"""Open any table: as a frame that an engine holds, or to be read part by part."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import narwhals as nw
import pyarrow
from pandas import DataFrame

from fairlib.tables.parquet import ParquetFiles

ROWS_PER_PART = 1 << 18  # bounds the memory where no engine holds the rows

_MOST_LISTED = 12  # values in an error message

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]


class _ReadInBatches(Protocol):
    """A table without an engine: an Arrow dataset, a CSV file, a `datasets.Dataset`."""

    @property
    def schema(self) -> pyarrow.Schema: ...

    def to_batches(
        self, *, columns: list[str], batch_size: int
    ) -> Iterable[pyarrow.RecordBatch]: ...


def schema(table: object) -> nw.Schema:
    """Return the names and types of a table's columns, without reading its rows.

    Parameters
    ----------
    table : table
        Any table that `fairlib.tables` lists.

    Returns
    -------
    narwhals.Schema
        The type of each column, by its name.
    """
    return _schema_of(_opened(table))


def parts(
    table: object, columns: Sequence[str], *, encoded: bool = False
) -> Iterator[Frame]:
    """Yield some columns of a table, in one piece or part by part.

    Parameters
    ----------
    table : table
        Any table that `fairlib.tables` lists.
    columns : sequence of str
        The columns to read.
    encoded : bool, default False
        Whether files may be read with words as Arrow dictionaries, which is faster.

    Yields
    ------
    narwhals.DataFrame or narwhals.LazyFrame
        The whole table, if an engine holds it; if not, parts of at most `ROWS_PER_PART`
        rows. There is always at least one part.

    Raises
    ------
    ValueError
        If a column does not exist, or holds lists.
    """
    names = list(columns)
    source = _opened(table)
    _check_columns(_schema_of(source), names)

    if isinstance(source, nw.DataFrame | nw.LazyFrame):
        yield source.select(names)
        return

    read = source.to_batches
    if encoded:
        # Only the readers of this project have this way.
        read = getattr(source, "to_encoded_batches", read)
    has_parts = False
    for batch in read(columns=names, batch_size=ROWS_PER_PART):
        has_parts = True
        yield nw.from_native(pyarrow.Table.from_batches([batch]))
    # Without rows there may be no batch at all, but the columns have to be known.
    if not has_parts:
        yield nw.from_native(source.schema.empty_table().select(names))


def collected(frame: Frame) -> nw.DataFrame[Any]:
    """Return a frame whose rows have been computed.

    Parameters
    ----------
    frame : narwhals.DataFrame or narwhals.LazyFrame
        A frame, lazy or not.

    Returns
    -------
    narwhals.DataFrame
        The frame; the engine computes a lazy one now.
    """
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def check_is_number(
    known: nw.Schema,
    role: str,
    name: str,
    besides: Sequence[type[nw.dtypes.DType]] = (),
) -> None:
    """Raise an error unless a table has a column, and its type is that of numbers.

    Parameters
    ----------
    known : narwhals.Schema
        The columns of the table, from `schema`.
    role : str
        What the column is used for; the error begins with it.
    name : str
        The column.
    besides : sequence of narwhals types, default ()
        Other types that are allowed, truth values for example.

    Raises
    ------
    ValueError
        If the column does not exist or has another type.
    """
    if name not in known:
        raise ValueError(f"{role}: no column {name!r}; the columns are {listed(known)}")
    if not known[name].is_numeric() and known[name] not in besides:
        raise ValueError(
            f"{role}: column {name!r} must hold numbers, "
            f"found values of type {known[name]}"
        )


def listed(values: Iterable) -> str:
    """Write the first twelve values for an error message.

    Parameters
    ----------
    values : iterable
        The values.

    Returns
    -------
    str
        The first values, and how many more there are.

    Examples
    --------
    >>> listed("ab")
    "'a', 'b'"
    >>> listed(range(15))
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more'
    """
    all_values = list(values)
    text = ", ".join(map(repr, all_values[:_MOST_LISTED]))
    if len(all_values) > _MOST_LISTED:
        return f"{text} and {len(all_values) - _MOST_LISTED} more"
    return text


def _opened(table: object) -> Frame | _ReadInBatches:
    """Return a frame that narwhals knows, or something that is read in batches."""
    if isinstance(table, str | Path):
        return ParquetFiles(table)
    if _is_read_in_batches(table):
        return table  # type: ignore[return-value]
    if _is_hugging_face_dataset(table):
        return _HuggingFaceDataset(table)

    if _is_dask_frame(table):
        return _opened_dask_frame(table)

    frame = _with_categories(table) if isinstance(table, DataFrame) else table
    try:
        return nw.from_native(frame)  # type: ignore[call-overload]
    except TypeError:
        raise ValueError(
            "a table must be a frame that narwhals knows (pandas, polars, Arrow, "
            "DuckDB, Dask, PySpark, ...), a datasets.Dataset or the path of Parquet "
            f"files, found {type(table).__name__}"
        ) from None


def _is_dask_frame(table: object) -> bool:
    """Return whether a table is a Dask frame, without importing Dask."""
    kind = type(table)
    return kind.__module__.startswith("dask") and kind.__name__ == "DataFrame"


def _opened_dask_frame(table: object) -> Frame:
    """Return a Dask frame as a frame that narwhals knows."""
    with warnings.catch_warnings():
        # Since 2.29 narwhals announces that a package of its own will read Dask frames.
        # What it has built in works until then; afterwards the error names the package.
        warnings.filterwarnings("ignore", "Dask support is moving", FutureWarning)
        try:
            return nw.from_native(table)  # type: ignore[call-overload]
        except (TypeError, ImportError):
            raise ValueError(
                f"narwhals {nw.__version__} does not read Dask frames without another "
                "package: run pip install narwhals-dask"
            ) from None


def _is_read_in_batches(table: object) -> bool:
    """Return whether a table is an Arrow dataset or works like one, as a CSV does."""
    # An Arrow table has batches too, but it can count its rows itself.
    kind = type(table)
    return hasattr(kind, "to_batches") and not hasattr(kind, "to_pandas")


def _is_hugging_face_dataset(table: object) -> bool:
    """Return whether a table is a `datasets.Dataset`, without importing its library."""
    return bool(getattr(table, "features", None)) and hasattr(table, "with_format")


@dataclass(frozen=True)
class _HuggingFaceDataset:
    """A `datasets.Dataset` that is read in batches of Arrow."""

    dataset: Any

    @property
    def schema(self) -> pyarrow.Schema:
        return self.dataset.features.arrow_schema

    def to_batches(
        self, *, columns: list[str], batch_size: int
    ) -> Iterator[pyarrow.RecordBatch]:
        arrow = self.dataset.select_columns(columns).with_format("arrow")
        for part in arrow.iter(batch_size):
            yield from part.to_batches()


def _with_categories(frame: DataFrame) -> DataFrame:
    """Return a frame whose Arrow dictionaries are categories, in the same order."""
    dictionaries = [
        name
        for name, kind in frame.dtypes.items()
        if str(kind).startswith("dictionary<")
    ]
    if not dictionaries:
        return frame

    arrow = pyarrow.Table.from_pandas(frame[dictionaries], preserve_index=False)
    categories = arrow.replace_schema_metadata().to_pandas()
    return frame.assign(**categories.set_axis(frame.index))


def _schema_of(source: Frame | _ReadInBatches) -> nw.Schema:
    """Return the names and types of the columns of a table that was opened."""
    if isinstance(source, nw.DataFrame | nw.LazyFrame):
        return source.collect_schema()
    return nw.from_native(source.schema.empty_table()).collect_schema()


def _check_columns(known: nw.Schema, names: list[str]) -> None:
    """Raise an error unless all columns exist and hold one value per row."""
    for name in names:
        if name not in known:
            raise ValueError(f"no column {name!r}; the columns are {listed(known)}")
        if known[name].is_nested():
            raise ValueError(
                f"column {name!r} must hold one value per row, "
                f"found values of type {known[name]}"
            )
