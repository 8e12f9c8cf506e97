"""What a table is: a frame that narwhals knows, or something with a schema that is read in batches."""

from pathlib import Path
from typing import NamedTuple

import narwhals as nw
import pandas as pd
import pyarrow.dataset


class Dataset(NamedTuple):
    """A `datasets.Dataset` as something that has a schema and batches."""

    table: object

    @property
    def schema(self):
        """Names and types of the columns."""
        return self.table.features.arrow_schema

    def to_batches(self, *, columns: list[str], batch_size: int):
        """Yield some columns in parts of at most `batch_size` rows."""
        for part in self.table.select_columns(columns).with_format("arrow").iter(batch_size):
            yield from part.to_batches()


def opened(table):
    """Return a frame that narwhals knows, or what has a schema and batches: an Arrow dataset, a CSV, a Dataset."""
    if isinstance(table, str | Path):
        if not Path(table).exists():
            raise ValueError(f"there is no file or folder {str(table)!r}")
        return pyarrow.dataset.dataset(table, format="parquet", partitioning="hive")
    if hasattr(type(table), "to_batches") and not hasattr(type(table), "to_pandas"):
        return table
    if getattr(table, "features", None) and hasattr(table, "with_format"):  # told without importing that library
        return Dataset(table)
    try:
        return nw.from_native(_with_categories(table) if isinstance(table, pd.DataFrame) else table)
    except TypeError:
        raise ValueError(
            "a table must be a frame that narwhals knows (pandas, polars, Arrow, DuckDB, Dask, PySpark, ...), a "
            f"datasets.Dataset or the path of Parquet files, found {type(table).__name__}"
        ) from None


def _with_categories(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame in which dictionaries of Arrow are categories, for these keep their order in a group-by."""
    kinds = {name: getattr(kind, "pyarrow_dtype", None) for name, kind in frame.dtypes.items()}
    if not (names := [name for name, kind in kinds.items() if kind and pyarrow.types.is_dictionary(kind)]):
        return frame
    plain = pyarrow.Table.from_pandas(frame[names], preserve_index=False).replace_schema_metadata().to_pandas()
    return frame.assign(**plain.set_axis(frame.index))
