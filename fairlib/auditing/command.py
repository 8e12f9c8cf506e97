"""The audit on the command line: a file of predictions in, sentences and a page out; it may be larger than memory."""

import argparse
import inspect
import os
import re
import sys
from functools import partial
from pathlib import Path

from fairlib.auditing.report import Report, audit
from fairlib.data import write_csv, write_whole
from fairlib.tables.delimited import Delimited

SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
DEFAULTS, SAID = audit.__kwdefaults__, inspect.cleandoc(audit.__doc__ or "")
FAILS = ("shown", "hint", "open")


def _drawn(kind: str, report: Report, path: Path) -> None:
    write_whole(path, report.plot(kind).savefig)


OUTPUTS = {  # what is written if asked for, and how
    "html": ("the report as one self-contained page", Report.to_html),
    "table": (
        "all comparisons as CSV",
        lambda report, path: write_csv(report.rows, path),
    ),
    "summary": (
        "the metrics of the literature as CSV",
        lambda report, path: write_csv(report.metrics, path),
    ),
    "json": ("verdict, findings and all comparisons as JSON", Report.to_json),
    "markdown": ("a section for a model card", Report.to_markdown),
    "plot": (
        "a figure of the comparisons (.png, .svg, .pdf)",
        partial(_drawn, "comparisons"),
    ),
    "calibration": (
        "a figure of how far probabilities hold in each group",
        partial(_drawn, "calibration"),
    ),
    "thresholds": (
        "a figure of what other thresholds would do for each group",
        partial(_drawn, "thresholds"),
    ),
}


def main(arguments: list[str]) -> None:
    """`fairlib audit FILE --group COLUMN ...`: exit status 0 with a report, 1 for --fail-on, 2 with what is wrong."""
    parser = _parser()
    asked = vars(parser.parse_args(arguments))
    file, fail_on = (asked.pop(name) for name in ("file", "fail_on"))
    outputs = {name: path for name in OUTPUTS if (path := asked.pop(name))}
    asked["title"] = asked["title"] or f"Audit of {file.name}"
    form = {name: asked.pop(name) for name in ("separator", "decimal")}
    try:
        _check_outputs(file, outputs)
        asked["reference"] = _references(asked["reference"], asked["group"])
        asked["rates"] = dict(text.rpartition("=")[::2] for text in asked["rates"])
        report = audit(_opened(file, asked, form), **asked, progress=True)
        for name, path in outputs.items():
            OUTPUTS[name][1](report, path)
    except (ValueError, RuntimeError, OSError) as error:  # 1 is for what is found
        parser.exit(2, f"fairlib audit: {error}\n")
    for path in outputs.values():
        print(f"written: {path}", file=sys.stderr)
    encoding = sys.stdout.encoding or "utf-8"  # which may not know a letter of a name
    print(str(report).encode(encoding, "backslashreplace").decode(encoding))
    if fail_on and report.rows["verdict"].isin(FAILS[: FAILS.index(fail_on) + 1]).any():
        parser.exit(
            1, f"fairlib audit: a difference is {fail_on} (--fail-on {fail_on})\n"
        )


def _check_outputs(file: Path, outputs: dict[str, Path]) -> None:
    """Refuse, before any work, what would overwrite the data or another output, or cannot be written."""
    taken = {file.resolve(): "the data"}
    for name, path in outputs.items():
        if path.exists() and not path.is_file() and not path.is_dir():
            continue  # a device or a pipe is written to, and may be so twice
        real = path.resolve()
        for other, what in taken.items():
            if (
                real == other
                or (path.exists() and other.exists() and path.samefile(other))
                or other in real.parents
            ):
                raise ValueError(f"--{name}: {str(path)!r} would overwrite {what}")
        folder = next(parent for parent in real.parents if parent.exists())
        if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
            raise ValueError(f"--{name}: {str(path)!r} cannot be written")
        taken[real] = f"what --{name} writes"


def _opened(path: Path, asked: dict, form: dict) -> str | Delimited:
    """Return a table for `fairlib.tables`; of a CSV file only what must be a number is one."""
    if path.is_dir() or path.suffix == ".parquet":
        return str(path)
    if path.suffix.lower() in SPREADSHEETS:
        raise ValueError(
            f"{path} is a spreadsheet; save its sheet as CSV (File, Save as, CSV UTF-8) and audit that"
        )
    numbers = tuple(
        filter(None, map(asked.get, ("probability", "count", "cost", "weight")))
    )
    table = Delimited(path, **form, numbers=numbers)
    if path.is_file() and table.found_separator == ";":
        print(
            f"{path}: fields are separated by ';', decimals by {table.found_decimal!r}",
            file=sys.stderr,
        )
    return table


def _references(given: list[str], group: list[str]) -> dict[str, str]:
    if len(group) > 1 and (bare := [text for text in given if "=" not in text]):
        raise ValueError(f"reference must be COLUMN=GROUP, found {bare[0]!r}")
    return dict(
        text.split("=", 1) if "=" in text else (group[0], text) for text in given
    )


def _parser() -> argparse.ArgumentParser:
    """Return a parser for the parameters of `audit`, of each of which the first sentence there is the help here."""
    parser = argparse.ArgumentParser(
        prog="fairlib audit",
        description="Which groups does a classifier treat differently, and how sure is that? One row per case.",
    )
    add, several = parser.add_argument, {"nargs": "+", "action": "extend"}
    what = "predictions as .csv, .tsv (also .gz) or .parquet, with a header, or a folder of .parquet files"
    add("file", type=Path, metavar="FILE", help=what)
    own = {
        "group": several | {"required": True},
        "reference": several | {"default": [], "metavar": "COLUMN=GROUP"},
        "rates": several | {"default": [], "metavar": "NAME=SHARE"},
        "metrics": several | {"default": [], "metavar": "NAME"},
        "positive": {"metavar": "CLASS"},
        "title": {"metavar": "TEXT", "default": None},
        "cost_margin": {"metavar": "NUMBER", "type": float},
    }
    described = re.findall(r"^(\w+) : (.*(?:\n    .*)*)", SAID, re.MULTILINE)
    said = {
        name: " ".join(words.split()).partition(". ")[0].rstrip(".").replace("`", "")
        for name, words in described
    }
    for name, default in DEFAULTS.items():
        words, given = said.get(name, ""), {"metavar": "COLUMN"}
        if isinstance(default, int | float):
            words, given = (
                f"{words} (default: {default})",
                {"type": type(default), "default": default},
            )
        if name != "progress":
            add(f"--{name}", **given | own.get(name, {}), help=words)
    add(
        "--separator",
        help="between fields of a CSV (default: as in its header: comma, semicolon or tab)",
    )
    add(
        "--decimal",
        choices=[".", ","],
        help="in the numbers of a CSV (default: a comma where fields have semicolons)",
    )
    for name, (words, _) in OUTPUTS.items():
        add(f"--{name}", type=Path, metavar="FILE", help=f"write {words}")
    add(
        "--fail-on",
        choices=FAILS,
        help="exit with status 1 where a difference is so, or more surely so",
    )
    return parser
