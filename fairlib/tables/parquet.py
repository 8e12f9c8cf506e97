"""Parquet files, which are read a few columns and a few rows at a time.

A reader holds the rows of one batch and one megabyte of the file. Arrow's own scan of a
folder holds the columns of a whole row group, and begins the next one.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    import pyarrow.dataset as ds

_BYTES_PER_READ = 1 << 20


@dataclass(frozen=True)
class ParquetFiles:
    """A Parquet file, or a folder of them, as a table for `fairlib.tables`.

    Parts of a path such as `year=2026` are columns.

    Parameters
    ----------
    path : str or Path
        The file or the folder.
    """

    path: str | Path

    @cached_property
    def schema(self) -> pa.Schema:
        """The names and types of the columns.

        Returns
        -------
        pyarrow.Schema
            As the files say.

        Raises
        ------
        ValueError
            If there are no such files, or if they are no Parquet files.
        """
        return self._files().schema

    def to_batches(
        self, *, columns: Sequence[str], batch_size: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield some columns, some rows at a time.

        Parameters
        ----------
        columns : sequence of str
            The columns to read.
        batch_size : int
            The largest number of rows in a batch.

        Yields
        ------
        pyarrow.RecordBatch
            The rows of a batch.
        """
        return _batches(self._files(), columns, batch_size)

    def to_encoded_batches(
        self, *, columns: Sequence[str], batch_size: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield some columns, in which words are Arrow dictionaries.

        That is how most files hold words, so none has to be written out.

        Parameters
        ----------
        columns, batch_size
            As for `to_batches`.

        Yields
        ------
        pyarrow.RecordBatch
            The rows of a batch.
        """
        words = {
            name for name in columns if pa.types.is_string(self.schema.field(name).type)
        }
        return _batches(self._files(words), columns, batch_size)

    def _files(self, words: Collection[str] = ()) -> ds.FileSystemDataset:
        """Return the files, with some columns of words as dictionaries."""
        path = Path(self.path)
        if not path.exists():
            raise ValueError(f"there is no file or folder {str(path)!r}")

        # Whoever audits a CSV file need not wait for this import.
        import pyarrow.dataset as ds

        # Arrow writes the names of files in UTF-8, in every locale.
        name = os.fsencode(path).decode("utf-8", "surrogateescape")
        kind = ds.ParquetFileFormat(dictionary_columns=set(words))
        try:
            files = ds.dataset(name, format=kind, partitioning="hive")
        except pa.ArrowInvalid as error:
            raise ValueError(
                f"{str(path)!r} must be a Parquet file or a folder that holds nothing "
                "else (for a CSV file, pass fairlib.tables.delimited.Delimited(path)); "
                f"found: {error}"
            ) from None

        if not files.files:
            raise ValueError(f"the folder {str(path)!r} holds no Parquet files")
        return files


def _batches(
    files: ds.FileSystemDataset, columns: Sequence[str], batch_size: int
) -> Iterator[pa.RecordBatch]:
    """Yield batches of rows, one file after another."""
    from pyarrow.dataset import get_partition_keys
    from pyarrow.parquet import ParquetFile

    schema = pa.schema([files.schema.field(name) for name in columns])
    words = [field.name for field in schema if pa.types.is_dictionary(field.type)]

    for fragment in files.get_fragments():
        # What stands in the path of a file holds for all its rows.
        of_path = get_partition_keys(fragment.partition_expression)
        in_file = [name for name in columns if name not in of_path]
        if not _is_as_declared(fragment.physical_schema, schema, in_file):
            yield from _batches_of_scan(fragment, files.schema, columns, batch_size)
            continue

        with fragment.open() as stream:
            file = ParquetFile(
                stream,
                metadata=fragment.metadata,
                read_dictionary=[name for name in words if name in in_file],
                buffer_size=_BYTES_PER_READ,
            )
            for batch in file.iter_batches(
                batch_size=batch_size, columns=in_file, use_threads=False
            ):
                yield _with_columns_of_path(batch, schema, of_path)


def _is_as_declared(held: pa.Schema, schema: pa.Schema, names: Sequence[str]) -> bool:
    """Whether a file holds all columns just as a schema says, and at least one.

    If a column is missing or has another type, Arrow's scan fills it up or converts it.
    """
    places = {name: held.get_field_index(name) for name in names}
    return bool(names) and all(
        place >= 0 and held.field(place).type == schema.field(name).type
        for name, place in places.items()
    )


def _with_columns_of_path(
    batch: pa.RecordBatch, schema: pa.Schema, of_path: Mapping[str, object]
) -> pa.RecordBatch:
    """Return the columns of a schema: from a batch, or from the path of its file."""
    arrays = []
    for field in schema:
        if field.name in of_path:
            value = pa.scalar(of_path[field.name], field.type)
            arrays.append(pa.repeat(value, len(batch)))
        else:
            arrays.append(batch.column(field.name))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _batches_of_scan(
    fragment: ds.ParquetFileFragment,
    schema: pa.Schema,
    columns: Sequence[str],
    batch_size: int,
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a file whose columns have to be filled up or converted."""
    from pyarrow.dataset import ParquetFragmentScanOptions

    options = ParquetFragmentScanOptions(
        use_buffered_stream=True, buffer_size=_BYTES_PER_READ, pre_buffer=False
    )
    return fragment.to_batches(
        schema=schema,
        columns=list(columns),
        batch_size=batch_size,
        batch_readahead=1,
        fragment_scan_options=options,
    )
