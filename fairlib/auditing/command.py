"""The audit on the command line: a file of predictions in, sentences and a page out.

The file is read in pieces, and of each piece only the counts are kept: memory does not grow with the file. All
is read as text, so that the groups "01" and "NA" stay what they are; only an empty field is missing.
"""

from __future__ import annotations

import argparse
import lzma
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from fairlib import tables
from fairlib.auditing import report, scored, tally
from fairlib.auditing.setting import Setting

ROWS = scored.MOST_TIED  # per piece
DELAY = 2  # seconds until the progress bar shows
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd"}


def main(arguments: list[str]) -> None:
    """`python -m fairlib audit FILE --group COLUMN ...`: exit status 0 with a report, 2 with what is wrong."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        columns = tally.Columns(
            tuple(options.group), options.label, options.prediction, options.probability, options.source, options.count,
            options.threshold,
        )  # fmt: skip
        setting = Setting(
            columns, _references(options.reference, options.group), options.depth, options.metrics, options.margin,
            options.minimum, options.confidence, options.power, options.title or f"Audit of {options.file.name}",
            options.interval,
        )  # fmt: skip
        cells, levels = count(options.file, columns, separator=options.separator)
        counted = tally.tally(cells, columns, positive=options.positive)
        levels = scored.tallies(levels, scored.tied(columns, len(counted)), positive=options.positive)
        found = report(counted, setting, levels, progress=True)
        if options.html:
            found.to_html(options.html)
        for path, frame in ((options.table, found.to_frame), (options.summary, lambda: found.metrics)):
            if path:
                _write(frame(), path)
    except (ValueError, OSError) as error:
        parser.exit(2, f"fairlib audit: {error}\n")
    for path in filter(None, (options.html, options.table, options.summary)):
        print(f"written: {path}", file=sys.stderr)
    encoding = sys.stdout.encoding or "utf-8"  # which may not know a letter of a name
    print(str(found).encode(encoding, "backslashreplace").decode(encoding))


def _write(frame: pd.DataFrame, path: Path) -> None:
    from fairlib.data import write_whole

    write_whole(path, lambda beside: frame.to_csv(beside, index=False, lineterminator="\n"))


def count(
    path: Path, columns: tally.Columns, *, separator: str | None = None
) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Return the counts of a file, or of a folder of parquet files, piece by piece, and those of `scored.cells`."""
    parts, levels = [], {}
    for piece in _pieces(path, columns, separator):
        for role in ("probability", "count"):
            name = getattr(columns, role)
            if name in piece.columns and not pd.api.types.is_numeric_dtype(piece[name]):
                piece[name] = _numbers(piece[name], name)
        parts.append(tally.cells(piece, columns))
        tied = columns if len(parts) == 1 else columns._replace(source=None)
        for name, cells in scored.cells(piece, tied).items():
            levels.setdefault(name, []).append(cells)
    if not parts:
        raise ValueError(f"{path} has no rows")
    return _together(parts, columns), {name: _together(pieces, columns) for name, pieces in levels.items()}


def _together(parts: list[pd.DataFrame], columns: tally.Columns) -> pd.DataFrame:
    counted = pd.concat(parts, ignore_index=True)
    outcomes = [name for name in (columns.label, columns.prediction) if name]
    spelled = [pd.to_numeric(counted[name], errors="coerce") for name in outcomes]
    # "1" and "1.0" are one class; long numbers are names, of which a float would take several for one.
    if outcomes and all((np.abs(values) < 2**53).all() for values in spelled):
        counted[outcomes] = pd.concat(spelled, axis=1).astype(float)
    return counted


def _pieces(path: Path, columns: tally.Columns, separator: str | None) -> Iterator[pd.DataFrame]:
    wanted = set(columns.names)
    if path.is_dir():  # of Parquet files
        known = tables.columns(path)
        for part in tables.parts(path, [name for name in known if name in wanted] or known):
            yield part.to_pandas()
        return
    if not path.is_file():
        raise ValueError(f"FILE: there is no file {str(path)!r}")
    with path.open("rb") as file, tqdm(total=path.stat().st_size, unit="B", unit_scale=True, delay=DELAY) as bar:
        if path.suffix == ".parquet":
            import pyarrow.parquet as parquet

            opened = parquet.ParquetFile(file)
            kept = [name for name in opened.schema_arrow.names if name in wanted]
            for batch in opened.iter_batches(ROWS, columns=kept or None):
                yield batch.to_pandas()
                bar.update(file.tell() - bar.n)
            return
        separator = separator or ("\t" if ".tsv" in path.suffixes else ",")
        how = {
            "sep": separator, "dtype": str, "keep_default_na": False, "na_values": [""], "encoding": "utf-8-sig",
            "compression": COMPRESSED.get(path.suffix), "skipinitialspace": True,
        }  # fmt: skip
        try:
            header = pd.read_csv(path, header=None, nrows=1, **how).iloc[0]
            if len(twice := header[header.duplicated() & header.isin(wanted)]):
                raise ValueError(f"{path} has several columns {twice.iloc[0]!r}; rename all but one")
            pieces = pd.read_csv(file, chunksize=ROWS, **how)
            for piece in pieces:
                if not isinstance(piece.index, pd.RangeIndex):  # else the first column would name the rows, in silence
                    raise ValueError(f"{path} has rows with more fields than the header; name every column there")
                yield (
                    piece[[name for name in piece.columns if name in wanted]] if wanted <= set(piece.columns) else piece
                )
                bar.update(max(0, file.tell() - bar.n))
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8") from error
        except pd.errors.ParserError as error:
            raise ValueError(f"{path} is no table separated by {separator!r}: {error}") from error
        except (EOFError, zlib.error, lzma.LZMAError) as error:
            raise ValueError(f"{path} is cut off or broken: {error}") from error
        except ImportError as error:  # pandas names the package that a kind of compression needs
            raise ValueError(f"{path} cannot be opened: {error}") from error
        except pd.errors.EmptyDataError as error:
            raise ValueError(f"{path} is empty") from error


def _numbers(column: pd.Series, name: str) -> pd.Series:
    numbers = pd.to_numeric(column, errors="coerce")
    if (wrong := numbers.isna() & column.notna()).any():
        raise ValueError(
            f"column {name!r} must hold numbers, found {column[wrong].iloc[0]!r} in row {wrong.idxmax() + 1}"
        )
    return numbers


def _references(given: list[str], group: list[str]) -> dict[str, str]:
    found = {}
    for text in given:
        column, sign, name = text.partition("=")
        if not sign and len(group) == 1:
            column, name = group[0], text
        elif not sign:
            raise ValueError(f"reference must be COLUMN=GROUP, found {text!r}")
        found[column] = name
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m fairlib audit",
        description="Which groups does a classifier treat differently, and how sure is that? One row per case.",
    )
    add = parser.add_argument
    add(
        "file",
        type=Path,
        metavar="FILE",
        help="predictions as .csv, .tsv (also .gz) or .parquet, with a header, or a folder of .parquet files",
    )
    add(
        "--group",
        nargs="+",
        action="extend",
        required=True,
        metavar="COLUMN",
        help="who somebody is; several are also crossed",
    )
    add("--label", metavar="COLUMN", help="the true class")
    add("--prediction", metavar="COLUMN", help="the predicted class")
    add("--probability", metavar="COLUMN", help="the probability of the positive class")
    add("--source", metavar="COLUMN", help="which cases belong together, such as those of one person")
    add("--count", metavar="COLUMN", help="how many cases a row stands for")
    add("--positive", metavar="CLASS", help="the class to measure against the rest (default: the last of two)")
    add("--threshold", type=float, default=0.5, help="predict from probabilities from here on (default: %(default)s)")
    add(
        "--reference",
        nargs="+",
        action="extend",
        default=[],
        metavar="COLUMN=GROUP",
        help="compare with this group, not the rest",
    )
    add("--depth", type=int, default=2, help="how many group columns are crossed at once (default: %(default)s)")
    add("--metrics", nargs="+", metavar="RATE", help="which rates and metrics (default: all that the columns allow)")
    add("--margin", type=float, default=0.05, help="the smallest difference that matters (default: %(default)s)")
    add("--minimum", type=int, default=30, help="groups with fewer cases are named, not tested (default: %(default)s)")
    add("--confidence", type=float, default=0.95, help="of intervals and verdicts (default: %(default)s)")
    add("--power", type=float, default=0.8, help="with which more cases would show the margin (default: %(default)s)")
    add("--interval", default="auto", metavar="METHOD", help="how differences get theirs (default: %(default)s)")
    add("--separator", help="between fields of a CSV (default: a comma, or a tab for .tsv)")
    add("--title", help="of the report")
    add("--html", type=Path, metavar="FILE", help="write the report as one self-contained page")
    add("--table", type=Path, metavar="FILE", help="write all comparisons as CSV")
    add("--summary", type=Path, metavar="FILE", help="write the summary metrics as CSV")
    return parser
