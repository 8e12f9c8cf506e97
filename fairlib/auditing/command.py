"""The audit on the command line: a file of predictions in, sentences and a page out; it may be larger than memory."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from fairlib.auditing.report import audit
from fairlib.data import write_whole
from fairlib.tables.delimited import Delimited

CSV = {"index": False, "lineterminator": "\n"}


def main(arguments: list[str]) -> None:
    """`fairlib audit FILE --group COLUMN ...`: exit status 0 with a report, 2 with what is wrong."""
    parser = _parser()
    asked = vars(parser.parse_args(arguments))
    file, html, table, summary = (asked.pop(name) for name in ("file", "html", "table", "summary"))
    asked["title"] = asked["title"] or f"Audit of {file.name}"
    try:
        asked["reference"] = _references(asked["reference"], asked["group"])
        report = audit(_opened(file, asked, asked.pop("separator")), **asked, progress=True)
        if html:
            report.to_html(html)
        if table:
            write_whole(table, partial(report.rows.to_csv, **CSV))
        if summary:
            write_whole(summary, partial(report.metrics.to_csv, **CSV))
    except (ValueError, OSError) as error:
        parser.exit(2, f"fairlib audit: {error}\n")
    for path in filter(None, (html, table, summary)):
        print(f"written: {path}", file=sys.stderr)
    encoding = sys.stdout.encoding or "utf-8"  # which may not know a letter of a name
    print(str(report).encode(encoding, "backslashreplace").decode(encoding))


def _opened(path: Path, asked: dict, separator: str | None) -> str | Delimited:
    """Return a table for `fairlib.tables`; of a CSV file only what must be a number is one."""
    if path.is_dir() or path.suffix == ".parquet":
        return str(path)
    numbers = tuple(filter(None, (asked["probability"], asked["count"])))
    return Delimited(path, separator, numbers, classes=tuple(filter(None, (asked["label"], asked["prediction"]))))


def _references(given: list[str], group: list[str]) -> dict[str, str]:
    found = {}
    for text in given:
        column, sign, name = text.partition("=")
        if not sign and len(group) > 1:
            raise ValueError(f"reference must be COLUMN=GROUP, found {text!r}")
        found |= {column: name} if sign else {group[0]: text}
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fairlib audit",
        description="Which groups does a classifier treat differently, and how sure is that? One row per case.",
    )
    add, several = parser.add_argument, {"nargs": "+", "action": "extend"}
    what = "predictions as .csv, .tsv (also .gz) or .parquet, with a header, or a folder of .parquet files"
    add("file", type=Path, metavar="FILE", help=what)
    add("--group", **several, required=True, metavar="COLUMN", help="the groups; several columns are also crossed")
    add("--label", metavar="COLUMN", help="the true class")
    add("--prediction", metavar="COLUMN", help="the predicted class")
    add("--probability", metavar="COLUMN", help="the probability of the positive class")
    add("--source", metavar="COLUMN", help="which cases belong together, such as those of one person")
    add("--count", metavar="COLUMN", help="how many cases a row stands for")
    add("--positive", metavar="CLASS", help="the class to measure against the rest (default: the last of two)")
    add("--threshold", type=float, default=0.5, help="predict from probabilities from here on (default: %(default)s)")
    add("--reference", **several, default=[], metavar="COLUMN=GROUP", help="compare with this group, not the rest")
    add("--depth", type=int, default=2, help="how many group columns are crossed at once (default: %(default)s)")
    add("--metrics", nargs="+", metavar="RATE", help="which rates and metrics (default: all that the columns allow)")
    add("--margin", type=float, default=0.05, help="the smallest difference that matters (default: %(default)s)")
    add("--minimum", type=int, default=30, help="groups with fewer cases are named, not tested (default: %(default)s)")
    add("--confidence", type=float, default=0.95, help="of intervals and verdicts (default: %(default)s)")
    add("--power", type=float, default=0.8, help="with which more cases would show the margin (default: %(default)s)")
    add("--separator", help="between fields of a CSV (default: a comma, or a tab for .tsv)")
    add("--title", help="of the report")
    add("--html", type=Path, metavar="FILE", help="write the report as one self-contained page")
    add("--table", type=Path, metavar="FILE", help="write all comparisons as CSV")
    add("--summary", type=Path, metavar="FILE", help="write the summary metrics as CSV")
    return parser
