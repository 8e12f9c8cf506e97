"""A file of delimited text (CSV) as a table that `fairlib.tables` reads block by block, so that memory stays bounded.

All is text, so that the groups "01" and "NA" stay what they are; only an empty field is missing, and spaces around a
field are no part of it. Which columns hold numbers is said, not guessed from the first block.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv
from tqdm import tqdm

BLOCK = 1 << 22  # bytes
BAR = {"delay": 2, "leave": False}  # shown on the error stream where reading takes more than 2 s
COMPRESSED = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": partial(pa.CompressedInputStream, compression="zstd"),
}


@dataclass(frozen=True)
class Delimited:
    """A file of delimited text with a header; it has what `tables` uses of a `pyarrow.dataset.Dataset`.

    separator : by default a tab for .tsv, else a comma.
    numbers : columns that must hold numbers.
    classes : columns that hold numbers if all their values are; then "1" and "1.0" are one class. Numbers from 2^53 on
        are names, of which a float would take several for one.
    """

    path: str | Path
    separator: str | None = None
    numbers: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns. Takes one reading of `classes`."""
        numbers = {*self.numbers}
        if self.classes and {*self.classes} <= {*self._header} and all(map(_are_numbers, self._text(self.classes))):
            numbers |= {*self.classes}
        return pa.schema([(name, pa.float64() if name in numbers else pa.string()) for name in self._header])

    def to_batches(self, *, columns: Sequence[str], batch_size: int) -> Iterator[pa.RecordBatch]:
        """Yield some columns, as many rows at a time as there are in a block."""
        schema = pa.schema([self.schema.field(name) for name in columns])
        for batch in self._text(columns):
            yield pa.RecordBatch.from_arrays([*map(_cast, batch, schema)], schema=schema)

    @cached_property
    def _header(self) -> dict[str, list[str]]:
        """How the names stand in the file, by the names without spaces around them."""
        found = {}
        with self._opened() as reader:
            for name in reader.schema.names:
                found.setdefault(name.strip(), []).append(name)
        return found

    def _text(self, columns: Sequence[str]) -> Iterator[list[pa.Array]]:
        if twice := [name for name in columns if len(self._header[name]) > 1]:
            raise ValueError(f"{self.path} has several columns {twice[0]!r}; rename all but one")
        names = [self._header[name][0] for name in columns]
        with self._opened(include_columns=names, column_types=dict.fromkeys(names, pa.string())) as reader:
            for batch in reader:
                text = map(pc.utf8_trim_whitespace, batch.columns)
                yield [pc.if_else(pc.equal(values, ""), None, values) for values in text]

    @contextmanager
    def _opened(self, **options) -> Iterator[csv.CSVStreamingReader]:
        path = Path(self.path)
        if not path.is_file():
            raise ValueError(f"there is no file {str(path)!r}")
        separator = self.separator or ("\t" if ".tsv" in path.suffixes else ",")
        size, opened = path.stat().st_size, COMPRESSED.get(path.suffix, lambda file: file)
        try:
            with path.open("rb") as raw, tqdm.wrapattr(raw, "read", size, desc="reading", **BAR) as file:
                yield csv.open_csv(
                    opened(file),
                    read_options=csv.ReadOptions(block_size=BLOCK),
                    parse_options=csv.ParseOptions(delimiter=separator, newlines_in_values=True),
                    convert_options=csv.ConvertOptions(**options),
                )
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is no UTF-8 table separated by {separator!r}: {error}") from error
        except (EOFError, zlib.error, lzma.LZMAError) as error:
            raise ValueError(f"{path} is cut off or broken: {error}") from error


def _are_numbers(columns: list[pa.Array]) -> bool:
    """Whether all values are numbers that a float tells apart."""
    try:
        numbers = pa.concat_arrays([values.unique() for values in columns]).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return pc.all(pc.less(pc.abs(numbers), 2**53), min_count=0).as_py()


def _cast(values: pa.Array, field: pa.Field) -> pa.Array:
    try:
        return values.cast(field.type)
    except pa.ArrowInvalid as error:
        raise ValueError(f"column {field.name!r} must hold numbers: {error}") from error
