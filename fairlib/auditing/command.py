"""The audit on the command line: a file of predictions in, sentences and a page out.

The file may be larger than memory. This module imports nothing heavy until there is a
file to audit, so that its help answers at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fairlib.auditing.options import OPTIONS, Option

if TYPE_CHECKING:
    from fairlib.auditing.report import Report
    from fairlib.tables.delimited import Delimited

# What is written if asked for.
OUTPUTS = {
    "html": "the report as one self-contained page",
    "table": "all comparisons as CSV",
    "summary": "the metrics of the literature as CSV",
    "json": "verdict, findings and all comparisons as JSON",
    "markdown": "a section for a model card",
    "plot": "a figure of the comparisons (.png, .svg, .pdf)",
    "calibration": "a figure of how far probabilities hold in each group",
    "thresholds": "a figure of what other thresholds would do for each group",
}
# The verdicts that --fail-on may name, the surest first.
_FAILING_VERDICTS = ("shown", "hint", "open")
_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")


def main(arguments: list[str]) -> None:
    """Run `fairlib audit FILE --group COLUMN ...`.

    The exit status is 0 with a report, 1 for --fail-on, and 2 with an error.

    Parameters
    ----------
    arguments : list of str
        What follows `fairlib audit`.
    """
    parser = _parser()
    given = parser.parse_args(arguments)
    paths = {name: getattr(given, name) for name in OUTPUTS}
    outputs = {name: path for name, path in paths.items() if path}

    # Status 1 is for the verdicts of --fail-on, so errors have status 2.
    try:
        report = _report(given, outputs)
        for name, path in outputs.items():
            _write(name, report, path)
    except (ValueError, RuntimeError, OSError) as error:
        parser.exit(2, f"fairlib audit: {error}\n")

    for path in outputs.values():
        print(f"written: {path}", file=sys.stderr)
    # The output may not know a letter of a name.
    encoding = sys.stdout.encoding or "utf-8"
    print(str(report).encode(encoding, "backslashreplace").decode(encoding))

    if given.fail_on:
        place = _FAILING_VERDICTS.index(given.fail_on)
        failing = _FAILING_VERDICTS[: place + 1]
        if report.rows["verdict"].isin(failing).any():
            parser.exit(
                1,
                f"fairlib audit: a difference is {given.fail_on} "
                f"(--fail-on {given.fail_on})\n",
            )


def _report(given: argparse.Namespace, outputs: dict[str, Path]) -> Report:
    """Audit the file as the arguments say."""
    _check_outputs(given.file, outputs)
    options = {option.name: getattr(given, option.name) for option in OPTIONS}
    options["title"] = given.title or f"Audit of {given.file.name}"
    options["reference"] = _references(given.reference, given.group)
    options["rates"] = _shares(given.rates)

    from fairlib.auditing.report import audit

    return audit(_opened(given), **options, progress=True)


def _write(name: str, report: Report, path: Path) -> None:
    """Write an output of a report."""
    from fairlib.data import write_csv, write_whole

    if name == "html":
        report.to_html(path)
    elif name == "json":
        report.to_json(path)
    elif name == "markdown":
        report.to_markdown(path)
    elif name == "table":
        write_csv(report.rows, path)
    elif name == "summary":
        write_csv(report.metrics, path)
    else:
        kind = "comparisons" if name == "plot" else name
        write_whole(path, report.plot(kind).savefig)


def _check_outputs(file: Path, outputs: dict[str, Path]) -> None:
    """Raise, before any work, unless every output can be written.

    An output may not overwrite the data, nor what another output writes.
    """
    taken = {file.resolve(): "the data"}
    for name, path in outputs.items():
        if _is_device(path):
            continue

        for taken_path, contents in taken.items():
            if _would_overwrite(path, taken_path):
                raise ValueError(f"--{name}: {str(path)!r} would overwrite {contents}")

        if not _is_writable(path):
            raise ValueError(f"--{name}: {str(path)!r} cannot be written")
        taken[path.resolve()] = f"what --{name} writes"


def _is_device(path: Path) -> bool:
    """Whether a path is a device or a pipe, which several outputs may share."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _is_writable(path: Path) -> bool:
    """Whether a file may be written there; folders that are missing are made."""
    folder = next(parent for parent in path.resolve().parents if parent.exists())
    return not path.is_dir() and folder.is_dir() and os.access(folder, os.W_OK)


def _would_overwrite(path: Path, taken_path: Path) -> bool:
    """Whether a path leads to a file that is in use, or to a place below that file."""
    real_path = path.resolve()
    if real_path == taken_path or taken_path in real_path.parents:
        return True
    return path.exists() and taken_path.exists() and path.samefile(taken_path)


def _opened(given: argparse.Namespace) -> str | Delimited:
    """Return a table for `fairlib.tables`.

    Of a CSV file, only the columns that must hold numbers are read as numbers.
    """
    from fairlib.tables.delimited import Delimited

    path = given.file
    if path.is_dir() or path.suffix == ".parquet":
        return str(path)
    if path.suffix.lower() in _SPREADSHEETS:
        raise ValueError(
            f"{path} is a spreadsheet; save its sheet as CSV "
            "(File, Save as, CSV UTF-8) and audit that"
        )

    columns = (given.probability, given.count, given.cost, given.weight)
    numbers = tuple(name for name in columns if name)
    table = Delimited(
        path, separator=given.separator, decimal=given.decimal, numbers=numbers
    )
    if path.is_file() and table.found_separator == ";":
        print(
            f"{path}: fields are separated by ';', decimals by {table.found_decimal!r}",
            file=sys.stderr,
        )
    return table


def _references(given: Sequence[str], group: Sequence[str]) -> dict[str, str]:
    """Return the groups of reference by column, from GROUP or COLUMN=GROUP."""
    references = {}
    for text in given:
        column, sign, name = text.partition("=")
        if sign:
            references[column] = name
        elif len(group) == 1:
            references[group[0]] = text
        else:
            raise ValueError(f"reference must be COLUMN=GROUP, found {text!r}")
    return references


def _shares(given: Sequence[str]) -> dict[str, str]:
    """Return the user's own rates by name, from NAME=SHARE."""
    shares = {}
    for text in given:
        name, _, share = text.rpartition("=")
        shares[name] = share
    return shares


def _parser() -> argparse.ArgumentParser:
    """Return a parser for the options of an audit, its file and its outputs."""
    parser = argparse.ArgumentParser(
        prog="fairlib audit",
        description="Which groups does a classifier treat differently, and how sure "
        "is that? One row per case.",
    )
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="predictions as .csv, .tsv (also .gz) or .parquet, with a header, "
        "or a folder of .parquet files",
    )
    for option in OPTIONS:
        _add(parser, option)

    parser.add_argument(
        "--separator",
        help="the character between the fields of a CSV file (default: comma, "
        "semicolon or tab, as in its header)",
    )
    parser.add_argument(
        "--decimal",
        choices=[".", ","],
        help="the decimal sign in the numbers of a CSV file (default: a comma if "
        "semicolons separate the fields, else a point)",
    )
    for name, contents in OUTPUTS.items():
        parser.add_argument(
            f"--{name}", type=Path, metavar="FILE", help=f"write {contents}"
        )
    parser.add_argument(
        "--fail-on",
        choices=_FAILING_VERDICTS,
        help="exit with status 1 if a difference has this verdict, or a surer one",
    )
    return parser


def _add(parser: argparse.ArgumentParser, option: Option) -> None:
    """Add an option of an audit to a parser."""
    if option.several:
        parser.add_argument(
            f"--{option.name}",
            nargs="+",
            action="extend",
            default=[],
            required=option.required,
            metavar=option.metavar,
            help=option.help,
        )
        return

    # A report is named after its file, unless it is given a title.
    default = None if option.name == "title" else option.default
    help_text = option.help
    if default is not None:
        help_text = f"{help_text} (default: {default})"
    parser.add_argument(
        f"--{option.name}",
        type=option.type,
        default=default,
        metavar=option.metavar,
        help=help_text,
    )
