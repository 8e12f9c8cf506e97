"""Files of delimited text (CSV), which are read in blocks so that memory stays bounded.

All fields are text unless a column is named as one of numbers. So the groups "01" and
"NA" stay what they are; only an empty field is missing. Spaces around a field do not
belong to it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv
from tqdm import tqdm

from fairlib.tables.combinations import encoded

BYTES_PER_BLOCK = 1 << 22  # bounds the memory

_MOST_BYTES_OF_HEADER = 1 << 16
_SEPARATORS = ",;\t"
_RARE_SEPARATORS = "|:"  # named in a hint, but never assumed
_MARKS_OF_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}


@dataclass(frozen=True)
class Delimited:
    r"""A file of delimited text with a header, as a table for `fairlib.tables`.

    `tables` reads it as it reads a `pyarrow.dataset.Dataset`: by its schema and its
    batches. The file may be compressed (.gz, .bz2, .zst).

    Parameters
    ----------
    path : str or Path
        The file.
    separator : str, optional
        What separates the fields. By default a tab for .tsv; for other files the comma,
        semicolon or tab, whichever occurs most often in the header.
    decimal : str, optional
        What stands before the decimals of a number. By default a comma if the separator
        is a semicolon, otherwise a point. With a comma, a point is understood too.
    numbers : tuple of str, default ()
        The columns that must hold numbers; all others hold text.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from fairlib import tables
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("group;share\n01;0,5\n")
    ...     file = Delimited(path, numbers=("share",))
    ...     people = tables.rows(file, ["group", "share"])
    >>> people.to_dict("records")
    [{'group': '01', 'share': 0.5}]
    """

    path: str | Path
    separator: str | None = None
    decimal: str | None = None
    numbers: tuple[str, ...] = ()

    @cached_property
    def schema(self) -> pa.Schema:
        """The names and types of the columns.

        Returns
        -------
        pyarrow.Schema
            Floats for the columns `numbers`, and text for all others.
        """
        fields = []
        for name in self._names_in_file:
            kind = pa.float64() if name in self.numbers else pa.string()
            fields.append((name, kind))
        return pa.schema(fields)

    def to_batches(
        self, *, columns: Sequence[str], batch_size: int
    ) -> Iterator[pa.RecordBatch]:
        """Read some columns, a block of rows at a time.

        Parameters
        ----------
        columns : sequence of str
            The columns to read.
        batch_size : int
            Not used: a batch has as many rows as there are in a block of the file.

        Returns
        -------
        iterator of pyarrow.RecordBatch
            The rows of each block.

        Raises
        ------
        ValueError
            If the file cannot be read, or if a column holds anything but numbers.
        """
        return self._batches(columns, self._converted)

    def to_encoded_batches(
        self, *, columns: Sequence[str], batch_size: int
    ) -> Iterator[pa.RecordBatch]:
        """Read some columns, in which words are Arrow dictionaries.

        Each different word of a block is then tidied up once, and not once a row.

        Parameters
        ----------
        columns, batch_size
            As for `to_batches`.

        Returns
        -------
        iterator of pyarrow.RecordBatch
            The rows of each block.
        """
        return self._batches(columns, self._encoded)

    @cached_property
    def found_separator(self) -> str:
        """The sign between two fields: named by the user, or else found in the file.

        Returns
        -------
        str
            One character.

        Raises
        ------
        ValueError
            If the user has named more than one character, or another alphabet's.
        """
        if self.separator:
            if len(self.separator) > 1 or not self.separator.isascii():
                raise ValueError(
                    "separator must be one character of ASCII, "
                    f"found {self.separator!r}"
                )
            return self.separator
        if ".tsv" in Path(self.path).suffixes:
            return "\t"

        with self._opened() as file:
            first_bytes = file.read(_MOST_BYTES_OF_HEADER).lstrip()
        header, _, _ = first_bytes.partition(b"\n")
        # What is quoted is part of a name.
        unquoted = re.sub(rb'"[^"]*"', b"", header)
        return max(_SEPARATORS, key=lambda sign: unquoted.count(sign.encode()))

    @property
    def found_decimal(self) -> str:
        """What stands before the decimals of a number.

        Returns
        -------
        str
            A comma or a point.
        """
        if self.decimal:
            return self.decimal
        return "," if self.found_separator == ";" else "."

    @property
    def likely_separator(self) -> str | None:
        """What seems to separate the fields, if the header was read as one field.

        Returns
        -------
        str or None
            One character; None if the header has several fields, or no such sign.
        """
        names = self.schema.names
        if len(names) > 1:
            return None
        header = "".join(names)
        signs = [sign for sign in _SEPARATORS + _RARE_SEPARATORS if sign in header]
        return max(signs, key=header.count, default=None)

    @cached_property
    def _names_in_file(self) -> dict[str, list[str]]:
        """The names of the columns, each with its spellings in the file."""
        self._check_encoding()
        try:
            spellings = self._spellings(_MOST_BYTES_OF_HEADER)
        except ValueError:
            # The first rows may be long.
            spellings = self._spellings(BYTES_PER_BLOCK)

        names: dict[str, list[str]] = {}
        for spelling in spellings:
            names.setdefault(spelling.strip(), []).append(spelling)
        return names

    def _spellings(self, block_size: int) -> list[str]:
        """Return the names of the columns as they are in the file."""
        with self._opened() as file:
            return self._reader(file, block_size).schema.names

    def _check_encoding(self) -> None:
        """Raise if the file is text of two bytes per letter, as Excel may write it."""
        with self._opened() as file:
            start = file.read(_MOST_BYTES_OF_HEADER)
        if start.startswith(_MARKS_OF_UTF_16) or b"\0" in start:
            raise ValueError(
                f"{self.path} is no UTF-8 table separated by "
                f"{self.found_separator!r}: it looks like UTF-16 (Excel's 'Unicode "
                "Text'); save it as UTF-8, or convert it: "
                "iconv -f UTF-16 -t UTF-8 OLD > NEW"
            )

    def _batches(
        self, columns: Sequence[str], convert: Callable[[pa.Array, str], pa.Array]
    ) -> Iterator[pa.RecordBatch]:
        """Yield some columns, block by block.

        Parameters
        ----------
        columns : sequence of str
            The columns to read.
        convert : callable
            Maps the text of a column in the file and the name of the column to values,
            or raises if the text is no UTF-8.
        """
        names = []
        for name in columns:
            spellings = self._names_in_file[name]
            if len(spellings) > 1:
                raise ValueError(
                    f"{self.path} has several columns {name!r}; rename all but one"
                )
            names.append(spellings[0])

        with self._opened() as file:
            reader = self._reader(
                file,
                BYTES_PER_BLOCK,
                include_columns=names,
                column_types=dict.fromkeys(names, pa.string()),
                check_utf8=False,
            )
            for batch in reader:
                arrays = [
                    convert(text, name)
                    for text, name in zip(batch.columns, columns, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def _reader(
        self, file: pa.NativeFile, block_size: int, **options: Any
    ) -> csv.CSVStreamingReader:
        """Return a reader of the file's blocks."""
        return csv.open_csv(
            file,
            read_options=csv.ReadOptions(block_size=block_size),
            parse_options=csv.ParseOptions(
                delimiter=self.found_separator, newlines_in_values=True
            ),
            convert_options=csv.ConvertOptions(**options),
        )

    @contextmanager
    def _opened(self) -> Iterator[pa.NativeFile]:
        """Open the file, decompressed; if it cannot be read, raise a `ValueError`."""
        path = Path(self.path)
        if not path.is_file():
            raise ValueError(f"there is no file {str(path)!r}")

        # A bar on the error stream, if reading takes more than 2 seconds.
        bar = {"desc": "reading", "delay": 2, "leave": False}
        size = path.stat().st_size
        with path.open("rb") as raw, tqdm.wrapattr(raw, "read", size, **bar) as file:
            try:
                yield pa.input_stream(file, compression=_COMPRESSIONS.get(path.suffix))
            except OSError as error:
                raise ValueError(f"{path} is cut off or broken: {error}") from error
            except (pa.ArrowInvalid, UnicodeDecodeError) as error:
                raise ValueError(
                    f"{path} is no UTF-8 table separated by "
                    f"{self.found_separator!r}: {error}"
                ) from error

    def _converted(self, text: pa.Array, name: str) -> pa.Array:
        """Return the values of a column as words, or as floats."""
        if name in self.numbers:
            return self._as_numbers(text, name)
        text.validate(full=True)
        return _tidy(text)

    def _encoded(self, text: pa.Array, name: str) -> pa.Array:
        """Return the values of a column as encoded words, or as floats."""
        if name in self.numbers:
            return self._as_numbers(text, name)

        # Each different word is checked and tidied up once.
        column = encoded(text)
        column.dictionary.validate(full=True)
        words = _tidy(column.dictionary)
        if words.equals(column.dictionary):
            return column

        # Words that differed only in spaces are one word now.
        different = encoded(words)
        indices = different.indices.take(column.indices)
        return pa.DictionaryArray.from_arrays(indices, different.dictionary)

    def _as_numbers(self, text: pa.Array, name: str) -> pa.Array:
        """Return the values of a column as floats."""
        has_comma = self.found_decimal == ","
        with_point = pc.replace_substring(text, ",", ".") if has_comma else text
        try:
            return with_point.cast(pa.float64())
        except pa.ArrowInvalid:
            tidy = _tidy(with_point)  # there may be spaces or empty fields

        try:
            return tidy.cast(pa.float64())
        except pa.ArrowInvalid as error:
            hint = "; if a comma stands before decimals, say so (--decimal ,)"
            raise ValueError(
                f"column {name!r} must hold numbers: {error}{'' if has_comma else hint}"
            ) from error


def _tidy(text: pa.Array) -> pa.Array:
    """Return text without spaces around it; where nothing is left, it is missing."""
    trimmed = pc.utf8_trim_whitespace(text)
    return pc.if_else(pc.equal(trimmed, ""), None, trimmed)
