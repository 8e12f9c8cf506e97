"""Parquet files, which are read a few columns and a few rows at a time."""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa
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
    files: ds.Dataset, columns: Sequence[str], batch_size: int
) -> Iterator[pa.RecordBatch]:
    """Yield batches of rows, and read ahead as little as possible.

    By default, Arrow reads many files at once, so that its memory grows with them.
    """
    options = ds.ParquetFragmentScanOptions(
        use_buffered_stream=True, buffer_size=_BYTES_PER_READ, pre_buffer=False
    )
    return files.to_batches(
        columns=list(columns),
        batch_size=batch_size,
        batch_readahead=1,
        fragment_readahead=1,
        fragment_scan_options=options,
    )
