"""A file of delimited text (CSV) as a table that `fairlib.tables` reads block by block, so that memory stays bounded.

All is text, so that the groups "01" and "NA" stay what they are; only an empty field is missing, and spaces around a
field are no part of it. Which columns hold numbers is said, not guessed from the first block.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv
from tqdm import tqdm

BLOCK, HEADER = (
    1 << 22,
    1 << 16,
)  # bytes of a part that is read at once, and in which the header ends
BAR = {
    "delay": 2,
    "leave": False,
}  # shown on the error stream where reading takes more than 2 s
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}


@dataclass(frozen=True)
class Delimited:
    """A file of delimited text with a header; it has what `tables` uses of a `pyarrow.dataset.Dataset`.

    separator : by default a tab for .tsv, else that which stands most often in the header: a comma, semicolon or tab.
    decimal : of numbers; by default a comma where the separator is a semicolon, and then a point is one as well.
    numbers : columns that must hold numbers.
    """

    path: str | Path
    separator: str | None = None
    decimal: str | None = None
    numbers: tuple[str, ...] = ()

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return pa.schema(
            [
                (name, pa.float64() if name in self.numbers else pa.string())
                for name in self._header
            ]
        )

    def to_batches(
        self, *, columns: Sequence[str], batch_size: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield some columns, as many rows at a time as there are in a block."""
        schema = pa.schema([self.schema.field(name) for name in columns])
        for batch in self._text(columns):
            yield pa.RecordBatch.from_arrays(
                [*map(self._cast, batch, schema)], schema=schema
            )

    @cached_property
    def found_separator(self) -> str:
        """What stands between fields: as was said, or as the header shows."""
        if self.separator or ".tsv" in Path(self.path).suffixes:
            return self.separator or "\t"
        with self._bytes() as file:
            header = re.sub(
                rb'"[^"]*"', b"", file.read(HEADER).lstrip().partition(b"\n")[0]
            )
        return max(",;\t", key=lambda sign: header.count(sign.encode()))

    @property
    def found_decimal(self) -> str:
        """What stands before the decimals of a number."""
        return self.decimal or ("," if self.found_separator == ";" else ".")

    @cached_property
    def _header(self) -> dict[str, list[str]]:
        """How the names stand in the file, by the names without spaces around them."""
        with self._bytes() as file:
            names = self._reader(file).schema.names
        return {
            name.strip(): [other for other in names if other.strip() == name.strip()]
            for name in names
        }

    def _text(self, columns: Sequence[str]) -> Iterator[list[pa.Array]]:
        if twice := [name for name in columns if len(self._header[name]) > 1]:
            raise ValueError(
                f"{self.path} has several columns {twice[0]!r}; rename all but one"
            )
        names = [self._header[name][0] for name in columns]
        with self._bytes() as file:
            for batch in self._reader(
                file,
                include_columns=names,
                column_types=dict.fromkeys(names, pa.string()),
            ):
                text = map(pc.utf8_trim_whitespace, batch.columns)
                yield [
                    pc.if_else(pc.equal(values, ""), None, values) for values in text
                ]

    def _reader(self, file: pa.NativeFile, **options) -> csv.CSVStreamingReader:
        form = csv.ParseOptions(delimiter=self.found_separator, newlines_in_values=True)
        read, convert = csv.ReadOptions(block_size=BLOCK), csv.ConvertOptions(**options)
        return csv.open_csv(
            file, read_options=read, parse_options=form, convert_options=convert
        )

    @contextmanager
    def _bytes(self) -> Iterator[pa.NativeFile]:
        """Open the file, decompressed, with progress; what is wrong with it comes out as a `ValueError`."""
        path = Path(self.path)
        if not path.is_file():
            raise ValueError(f"there is no file {str(path)!r}")
        with (
            path.open("rb") as raw,
            tqdm.wrapattr(
                raw, "read", path.stat().st_size, desc="reading", **BAR
            ) as file,
        ):
            try:
                yield pa.input_stream(file, compression=COMPRESSED.get(path.suffix))
            except OSError as error:
                raise ValueError(f"{path} is cut off or broken: {error}") from error
            except (pa.ArrowInvalid, UnicodeDecodeError) as error:
                raise ValueError(
                    f"{path} is no UTF-8 table separated by {self.found_separator!r}: {error}"
                ) from error

    def _cast(self, values: pa.Array, field: pa.Field) -> pa.Array:
        if pa.types.is_string(field.type):
            return values
        try:
            return (
                pc.replace_substring(values, ",", ".")
                if self.found_decimal == ","
                else values
            ).cast(pa.float64())
        except pa.ArrowInvalid as error:
            hint = (
                ""
                if self.found_decimal == ","
                else "; if a comma stands before decimals, say so (--decimal ,)"
            )
            raise ValueError(
                f"column {field.name!r} must hold numbers: {error}{hint}"
            ) from error
