"""The report on a benchmark in other forms: text, data for programs, Markdown."""

import json
import re
from dataclasses import asdict
from typing import Any

import numpy as np
from pandas import DataFrame

from fairlib.atlas.cards import Card
from fairlib.atlas.contents import Compared, Contents
from fairlib.interval import Interval

# The form of the JSON; the number goes up if a name in it changes its meaning.
SCHEMA = "fairlib benchmark 1"
SCHEMA_OF_COMPARISONS = "fairlib comparison 1"
_TABLES = ("planning", "by_group", "comparisons", "refusals", "by_part")
_INTERVALS = ("score", "score_these", "dependence")
_HEADINGS = {
    "planning": "What the benchmark can show",
    "by_group": "By group",
    "comparisons": "Every two groups",
    "refusals": "Other ways to count items without an answer",
    "by_part": "By part",
}


def as_text(report: Contents) -> str:
    """Return a report for a terminal.

    Parameters
    ----------
    report : Contents
        The report.
    """
    lines = [report.card.title, "", report.verdict, *report.notes]
    for name, table in _filled_tables(report).items():
        shown = table.round(3).to_string(index=False)
        lines += ["", f"{_HEADINGS[name]}:", shown]
    return "\n".join(lines)


def as_markdown(report: Contents) -> str:
    """Return a section for a model card, in which no name is taken for markup.

    Parameters
    ----------
    report : Contents
        The report.
    """
    lines = [f"## {_plain(report.card.title)}", "", f"**{_plain(report.verdict)}**", ""]
    lines += [f"- {_plain(note)}" for note in report.notes]

    for name, table in _filled_tables(report).items():
        lines += ["", f"### {_HEADINGS[name]}", ""]
        lines.append(
            "| " + " | ".join(_plain(str(one)) for one in table.columns) + " |"
        )
        lines.append("|" + " --- |" * table.shape[1])
        for row in table.itertuples(index=False):
            lines.append("| " + " | ".join(_plain(_cell(one)) for one in row) + " |")
    return "\n".join(lines) + "\n"


def as_json(report: Contents) -> str:
    """Return all that a report says and its tables as JSON; undefined is null.

    Parameters
    ----------
    report : Contents
        The report.
    """
    contents: dict[str, Any] = {
        "schema": SCHEMA,
        "card": _card(report.card),
        "verdict": report.verdict,
        "conclusion": report.conclusion,
        "notes": list(report.notes),
        "setting": asdict(report.setting),
        "smallest_bias": _number(report.smallest_bias),
        "counts": None if report.counts is None else dict(report.counts),
    }

    for name in _INTERVALS:
        contents[name] = _interval(getattr(report, name))
    for name in _TABLES:
        table = getattr(report, name)
        contents[name] = None if table is None else _records(table)
    return json.dumps(contents, indent=1, default=str)


def comparison_as_markdown(comparison: Compared) -> str:
    """Return a comparison of two models as a section for a model card.

    Parameters
    ----------
    comparison : Compared
        The comparison.
    """
    intervals = {
        "for clusters like these": comparison.difference,
        "for these clusters": comparison.difference_these,
    }
    lines = [
        f"## {_plain(comparison.card.title)}: two models",
        "",
        f"**{_plain(comparison.verdict)}**",
        "",
        "| first minus second | estimate | low | high |",
        "| --- | --- | --- | --- |",
    ]

    for question, interval in intervals.items():
        numbers = (interval.estimate, interval.low, interval.high)
        lines.append(f"| {question} | " + " | ".join(map(_cell, numbers)) + " |")
    lines += ["", *(f"- {_plain(note)}" for note in comparison.notes)]
    return "\n".join(lines).rstrip() + "\n"


def comparison_as_json(comparison: Compared) -> str:
    """Return a comparison of two models as JSON; undefined is null.

    Parameters
    ----------
    comparison : Compared
        The comparison.
    """
    contents = {
        "schema": SCHEMA_OF_COMPARISONS,
        "card": _card(comparison.card),
        "verdict": comparison.verdict,
        "difference": _interval(comparison.difference),
        "difference_these": _interval(comparison.difference_these),
        "smallest_difference": _number(comparison.smallest_difference),
    }

    for name in ("items", "ties", "only_first", "only_second", "power", "notes"):
        contents[name] = getattr(comparison, name)
    return json.dumps(contents, indent=1, default=str)


def _card(card: Card) -> dict[str, Any]:
    """Return a card as a dictionary, without its parts."""
    return {name: value for name, value in asdict(card).items() if name != "parts"}


def _filled_tables(report: Contents) -> dict[str, DataFrame]:
    """Return the tables of a report that have rows."""
    tables = {name: getattr(report, name) for name in _TABLES}
    return {
        name: table
        for name, table in tables.items()
        if table is not None and not table.empty
    }


def _interval(interval: Interval | None) -> dict[str, Any] | None:
    """Return an interval as a dictionary."""
    if interval is None:
        return None
    return {
        name: _number(value) if isinstance(value, float) else value
        for name, value in asdict(interval).items()
    }


def _records(table: DataFrame) -> list:
    """Return the rows of a table; numbers that are undefined or infinite are null."""
    return json.loads(table.to_json(orient="records", double_precision=15))


def _number(value: float) -> float | None:
    """Return a number, or None if it is undefined or infinite."""
    return float(value) if np.isfinite(value) else None


def _cell(value: object) -> str:
    """Return a value of a table for a reader."""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _plain(text: str) -> str:
    """Return a text as one line of Markdown."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text.split()))
