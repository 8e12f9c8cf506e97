"""The audit on the command line: a file of predictions in, sentences and a page out.

The file may be larger than memory. This module imports nothing heavy until there is a
file to audit, so that its help answers at once.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fairlib.auditing.options import OPTIONS, Option
from fairlib.auditing.spooling import name_of, readable_again

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
    "calibration": "a figure of whether probabilities hold in each group",
    "thresholds": "a figure of what other thresholds would do for each group",
}
# The verdicts that --fail-on may name, the surest first (`conclusions`).
_FAILING_VERDICTS = ("shown", "hint", "open")
# What figures of probabilities need beside a column of groups.
_NEEDS_OF_FIGURES = {
    "plot": (),
    "calibration": ("probability", "label"),
    "thresholds": ("probability",),
}
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

    # Libraries expect an error stream, also where the shell has closed it (2>&-).
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115

    # Status 1 is for the verdicts of --fail-on, so errors have status 2. That holds for
    # errors that nobody foresaw too: they show where they come from.
    try:
        finding = _run(parser, arguments)
    except (ValueError, RuntimeError, OSError, MemoryError) as error:
        _discard_output()
        parser.exit(2, f"fairlib audit: {str(error) or type(error).__name__}\n")
    except Exception:
        _discard_output()
        parser.exit(2, f"fairlib audit: {traceback.format_exc()}")

    if finding:
        parser.exit(1, f"fairlib audit: {finding}\n")


def _run(parser: argparse.ArgumentParser, arguments: list[str]) -> str:
    """Audit a file, write what was asked for, and return what --fail-on says."""
    # Python has no stream where the shell has closed it (>&-).
    if sys.stdout is None:
        raise ValueError("the standard output is closed")
    try:
        given = parser.parse_args(arguments)
    except SystemExit:
        # The help may still be on its way.
        sys.stdout.flush()
        raise

    paths = {name: getattr(given, name) for name in OUTPUTS}
    outputs = {name: path for name, path in paths.items() if path}
    _check_outputs(given.file, outputs)
    _check_figures(given, outputs)
    report = _report(given)

    # Every output is made before the first is written.
    writers = {name: _writer(name, report, path) for name, path in outputs.items()}
    for name, path in outputs.items():
        writers[name](path)
        _notice(f"written: {path}")

    # The output may not know a letter of a name.
    encoding = sys.stdout.encoding or "utf-8"
    text = str(report).encode(encoding, "backslashreplace").decode(encoding)
    # A full disk and a broken pipe show when the text is flushed.
    print(text, flush=True)
    return _finding(report, given.fail_on)


def _finding(report: Report, fail_on: str | None) -> str:
    """Return why the exit status is 1, or an empty text."""
    if fail_on is None:
        return ""
    if report.fails(fail_on):
        return f"a difference is {fail_on} (--fail-on {fail_on})"
    return ""


def _notice(text: str) -> None:
    """Write a line to the error stream; where that is closed, nobody reads it."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(text, file=sys.stderr)


def _discard_output() -> None:
    """Let nothing more be written if the output has failed.

    Python would try again when it ends, and change the exit status.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        with suppress(OSError, ValueError):
            os.dup2(nowhere, sys.stdout.fileno())


def _report(given: argparse.Namespace) -> Report:
    """Audit the file as the arguments say."""
    options = {option.name: getattr(given, option.name) for option in OPTIONS}
    options["title"] = given.title or f"Audit of {name_of(given.file)}"
    options["reference"] = _references(given.reference, given.group)
    options["rates"] = _shares(given.rates)
    options["bands"] = _bands(given.bands)

    from fairlib.auditing.report import audit

    with readable_again(given.file) as path:
        table: str | Delimited = ""
        try:
            table = _opened(given, path)
            return audit(table, **options, progress=True)
        except ValueError as error:
            message = str(error)
            if path != given.file:
                # The user does not know the name of a temporary copy.
                message = message.replace(str(path), name_of(given.file))
            raise ValueError(f"{message}{_hint(table)}") from error


def _hint(table: str | Delimited) -> str:
    """Return what to try if all columns of a file seem to be a single one."""
    if isinstance(table, str):
        return ""
    with suppress(ValueError):
        separator = table.likely_separator
        if separator:
            return (
                f"; the fields seem to be separated by {separator!r} "
                f"(--separator {separator!r})"
            )
    return ""


def _writer(name: str, report: Report, path: Path) -> Callable[[Path], object]:
    """Return a function that writes an output of a report; figures are drawn now."""
    from fairlib.data import write_csv, write_whole

    if name == "html":
        return report.to_html
    if name == "json":
        return report.to_json
    if name == "markdown":
        return report.to_markdown
    if name == "table":
        return partial(write_csv, report.rows)
    if name == "summary":
        return partial(write_csv, report.metrics)

    kind = "comparisons" if name == "plot" else name
    figure = report.plot(kind)
    # A device has no ending that says which format it takes.
    save = partial(figure.savefig, format=_ending(path) or "png")
    return lambda target: write_whole(target, save)


def _ending(path: Path) -> str:
    """Return the ending of a path without its point, in lower case."""
    return path.suffix.removeprefix(".").lower()


def _check_figures(given: argparse.Namespace, outputs: dict[str, Path]) -> None:
    """Raise, before any work, unless the figures that are asked for can be drawn."""
    figures = {
        name: path for name, path in outputs.items() if name in _NEEDS_OF_FIGURES
    }
    if not figures:
        return

    for name in figures:
        missing = [
            f"--{need}" for need in _NEEDS_OF_FIGURES[name] if not getattr(given, need)
        ]
        if missing:
            raise ValueError(
                f"--{name}: nothing to draw without {' and '.join(missing)}"
            )

    try:
        from matplotlib.figure import Figure
    except ImportError:
        return  # the report says what to install

    formats = Figure().canvas.get_supported_filetypes()
    for name, path in figures.items():
        if _ending(path) not in formats and not _is_device(path):
            raise ValueError(
                f"--{name}: {str(path)!r} must end in one of "
                f"{', '.join(f'.{ending}' for ending in sorted(formats))}"
            )


def _check_outputs(file: Path, outputs: dict[str, Path]) -> None:
    """Raise, before any work, unless every output can be written.

    An output may not overwrite the data, nor what another output writes.
    """
    _check_folder([file, *outputs.values()])
    taken = {file.resolve(): "the data"}
    for name, path in outputs.items():
        if _is_device(path):
            if path.resolve() in taken and not path.is_char_device():
                raise ValueError(f"--{name}: {str(path)!r} is in use already")
            if not os.access(path, os.W_OK):
                raise ValueError(f"--{name}: {str(path)!r} cannot be written")
            continue

        for taken_path, contents in taken.items():
            if _would_overwrite(path, taken_path):
                raise ValueError(f"--{name}: {str(path)!r} would overwrite {contents}")

        if not _is_writable(path):
            raise ValueError(f"--{name}: {str(path)!r} cannot be written")
        taken[path.resolve()] = f"what --{name} writes"


def _check_folder(paths: list[Path]) -> None:
    """Raise if a path begins in the current folder, and somebody has deleted that."""
    if all(path.is_absolute() for path in paths):
        return
    try:
        Path.cwd()
    except FileNotFoundError:
        raise ValueError(
            "the folder in which the command was started no longer exists"
        ) from None


def _is_device(path: Path) -> bool:
    """Whether a path is a device or a pipe, which several outputs may share."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _is_writable(path: Path) -> bool:
    """Whether a file may be written there; folders that are missing are made."""
    target = path.resolve()
    if target.is_dir():
        return False
    folder = next(parent for parent in target.parents if parent.exists())
    return folder.is_dir() and os.access(folder, os.W_OK)


def _would_overwrite(path: Path, taken_path: Path) -> bool:
    """Whether a path leads to a file that is in use, or to a place below that file."""
    real_path = path.resolve()
    if real_path == taken_path or taken_path in real_path.parents:
        return True
    return path.exists() and taken_path.exists() and path.samefile(taken_path)


def _opened(given: argparse.Namespace, path: Path) -> str | Delimited:
    """Return a table for `fairlib.tables`, from the file or from a copy of it.

    Of a CSV file, only the columns that must hold numbers are read as numbers.
    """
    from fairlib.tables.delimited import Delimited

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
        _notice(
            f"{given.file}: fields are separated by ';', "
            f"decimals by {table.found_decimal!r}"
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


def _bands(given: Sequence[str]) -> dict[str, list[float]]:
    """Return where columns are cut, by column, from COLUMN=NUMBERS."""
    bands = {}
    for text in given:
        name, _, numbers = text.rpartition("=")
        try:
            bands[name] = [float(number) for number in numbers.split(",")]
        except ValueError:
            raise ValueError(
                f"bands must be COLUMN=NUMBERS, as in 'age=30,45,60', found {text!r}"
            ) from None
    return bands


def _parser() -> argparse.ArgumentParser:
    """Return a parser for the options of an audit, its file and its outputs."""
    parser = argparse.ArgumentParser(
        prog="fairlib audit",
        description="Which groups does a classifier treat differently, and how sure "
        "can one be? The table has one row per case.",
        epilog="The exit status is 0 with a report, 1 if a difference has the verdict "
        "that --fail-on names, and 2 with an error.",
    )
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="predictions as .csv, .tsv (also .gz) or .parquet, with a header, "
        "or a folder of .parquet files; - is the standard input",
    )
    for option in OPTIONS:
        _add(parser, option)

    parser.add_argument(
        "--separator",
        help="the character between the fields of a CSV file (default: comma, "
        "semicolon or tab, whichever the header has)",
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
        help="exit with status 1 if a difference has this verdict, or a surer one. A "
        "model that treats all groups alike fails 'shown' in at most 5%% of audits, as "
        "--confidence says. It fails 'hint' far more often, because hints are not "
        "corrected for the number of comparisons: in 29%% to 39%% of audits with 15 "
        "comparisons. It nearly always fails 'open', unless there are very many cases",
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

    spelled = [f"--{option.name}"]
    if "_" in option.name:
        spelled.append(f"--{option.name.replace('_', '-')}")
    if option.default is False:
        parser.add_argument(*spelled, action="store_true", help=option.help)
        return

    # A report is named after its file, unless it is given a title.
    default = None if option.name == "title" else option.default
    help_text = option.help
    if default is not None:
        help_text = f"{help_text} (default: {default})"
    parser.add_argument(
        *spelled,
        type=option.type,
        default=default,
        metavar=option.metavar,
        help=help_text,
    )
