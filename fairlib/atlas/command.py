"""The atlas on the command line: the name of a benchmark in, an answer out."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairlib.atlas.benchmark import BenchmarkReport
    from fairlib.atlas.two_models import Comparison

_OUTPUTS = {
    "html": "the report as one self-contained page",
    "json": "all numbers and sentences as JSON",
    "markdown": "a section for a model card",
}
_ROLES = ("item", "group", "outcome", "pair", "cluster", "kind", "answer", "part")
_ERROR = 2


def main(arguments: list[str]) -> None:
    """Run `fairlib benchmark NAME [FILE] ...`.

    The exit status is 0 with a report, 1 for --fail-on-shown, and 2 with an error.

    Parameters
    ----------
    arguments : list of str
        What follows `fairlib benchmark`.
    """
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        if given.name is None and given.card is None:
            print(_listed())
            return
        if given.compare is not None:
            comparison = _comparison(given)
            _write(comparison, given)
            print(_printable(str(comparison)), flush=True)
            _leave(parser, given, is_shown=comparison.difference.excludes(0))
            return

        report = _report(given)
        _write(report, given)
    except (ValueError, RuntimeError, OSError) as error:
        parser.exit(_ERROR, f"fairlib benchmark: {error}\n")

    print(_printable(str(report)), flush=True)
    _leave(parser, given, is_shown=report.conclusion == "shown")


def _write(report: "BenchmarkReport | Comparison", given: argparse.Namespace) -> None:
    """Write a report to the files that the arguments name."""
    for output in _OUTPUTS:
        path = getattr(given, output)
        if path is not None:
            getattr(report, f"to_{output}")(path)
            print(f"written: {path}", file=sys.stderr)


def _leave(
    parser: argparse.ArgumentParser, given: argparse.Namespace, *, is_shown: bool
) -> None:
    """Leave with status 1 if that was asked for and something is shown."""
    if given.fail_on_shown and is_shown:
        shown = "a bias" if given.compare is None else "a difference"
        parser.exit(1, f"fairlib benchmark: {shown} is shown (--fail-on-shown)\n")


def _comparison(given: argparse.Namespace) -> "Comparison":
    """Return the comparison of two models that the arguments ask for."""
    from fairlib.atlas.two_models import compare

    card, file = _card_and_file(given)
    if file is None:
        raise ValueError("compare must come with the answers of two models, found one")
    if given.refused is not None:
        raise ValueError(
            "compare must be without refused, because items without a readable answer "
            "of both models do not count"
        )
    return compare(
        card,
        file,
        given.compare,
        part=given.part,
        columns=_columns(given),
        keys=given.keys,
        confidence=given.confidence,
        power=given.power,
    )


def _columns(given: argparse.Namespace) -> dict[str, str]:
    """Return what the columns of the user's file are called."""
    columns = {}
    for text in given.column:
        role, sign, column = text.partition("=")
        if not sign:
            raise ValueError(f"column must be ROLE=COLUMN, found {text!r}")
        columns[role] = column
    return columns


def _card_and_file(given: argparse.Namespace) -> tuple[str | Path, Path | None]:
    """Return the benchmark and the file with the answers."""
    if given.card is None:
        return given.name, given.file
    # With a card of one's own, the only word that is left is the file.
    named = None if given.name is None else Path(given.name)
    return given.card, given.file or named


def _report(given: argparse.Namespace) -> "BenchmarkReport":
    """Return the report that the arguments ask for."""
    from fairlib.atlas.benchmark import LEFT_OUT, benchmark

    card, file = _card_and_file(given)
    return benchmark(
        card,
        file,
        part=given.part,
        columns=_columns(given),
        keys=given.keys,
        refused=LEFT_OUT if given.refused is None else given.refused,
        confidence=given.confidence,
        power=given.power,
        error=given.error,
        discordant=given.discordant,
        design_effect=given.design_effect,
    )


def _listed() -> str:
    """Return the benchmarks that have a card, one a line."""
    from fairlib.atlas.cards import card, names

    lines = []
    for name in names():
        one = card(name)
        parts = f" (parts: {', '.join(one.parts)})" if one.parts else ""
        lines.append(f"{name}: {one.title}, {one.status}{parts}")
    return _printable("\n".join(lines))


def _printable(text: str) -> str:
    """Return a text in letters that the output knows."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _parser() -> argparse.ArgumentParser:
    """Return a parser for the options of `fairlib benchmark`."""
    parser = argparse.ArgumentParser(
        prog="fairlib benchmark",
        description="What can a bias benchmark show, and what do your answers to it "
        "show? Without a name, the benchmarks are listed.",
        epilog="The exit status is 0 with a report, 1 if --fail-on-shown is given and "
        "a bias is shown, and 2 with an error.",
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="the benchmark, or a card as .toml file"
    )
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="your answers, one row each: item, group, outcome, pair, cluster; or a "
        "log of Inspect (.eval) or of lm-evaluation-harness (samples_*.jsonl)",
    )

    parser.add_argument("--part", help="a part of the benchmark, such as a category")
    parser.add_argument("--card", type=Path, metavar="FILE", help="a card of your own")
    parser.add_argument(
        "--keys",
        type=Path,
        metavar="FILE",
        help="the group, pair and cluster of each item, if FILE lacks them; for BBQ "
        "also the folder of your copy of its repository",
    )
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="ROLE=COLUMN",
        help=f"the name of a column in FILE; roles are {', '.join(_ROLES)}",
    )
    parser.add_argument(
        "--refused",
        type=float,
        metavar="OUTCOME",
        help="the outcome with which items without an answer count (default: none; "
        "they are left out, and the other ways are shown)",
    )
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="FILE",
        help="the answers of a second model to the same items: how far apart are the "
        "two scores?",
    )
    _add_numbers(parser)

    for output, contents in _OUTPUTS.items():
        parser.add_argument(
            f"--{output}", type=Path, metavar="FILE", help=f"write {contents}"
        )
    parser.add_argument(
        "--fail-on-shown",
        action="store_true",
        help="exit with status 1 if a bias, or with --compare a difference, is shown",
    )
    return parser


def _add_numbers(parser: argparse.ArgumentParser) -> None:
    """Add the options that are numbers."""
    numbers: Sequence[tuple[str, float | None, str]] = (
        ("confidence", 0.95, "confidence of the intervals"),
        ("power", 0.8, "probability with which the smallest bias would be shown"),
        ("error", 0.2, "for planning: the lower error rate of two groups"),
        ("discordant", None, "for planning: the share of pairs that differ"),
        ("design-effect", None, "for planning: how much clusters add to the variance"),
    )
    for name, default, text in numbers:
        shown = "" if default is None else f" (default: {default})"
        parser.add_argument(
            f"--{name}", type=float, default=default, help=f"{text}{shown}"
        )
