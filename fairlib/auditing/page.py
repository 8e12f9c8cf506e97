"""The report as one page that needs nothing else: no script, no request, all pictures inside; for eye and ear.

Here the report becomes plain data; `report.html` has the words and the look, and escapes all that it is given.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import jinja2
import numpy as np

from fairlib.auditing import findings
from fairlib.auditing.findings import grouped, records
from fairlib.auditing.rates import RATES
from fairlib.auditing.summary import SUMMARY

MOST_ROWS, MOST_TABLES, MOST_COLUMNS = 25, 60, 10
WIDTH, EDGE = 220, 6  # of the picture of one interval
LIMITS = np.array([0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 2.0])  # of its axis


def render(report, *, framed: bool = True) -> str:
    """Return the whole page, or what a notebook shows: the page without its frame."""
    rows, limit = records(report.rows), _limit(report)
    tables = grouped(rows, "attribute", "rate", "class_name")
    shown = [key for key, same in tables.items() if any(row.verdict == "shown" for row in same)][:MOST_TABLES]
    metrics = report.metrics.assign(by_group=[SUMMARY[name].kind == "VBCM" for name in report.metrics["metric"]])
    html = TEMPLATE.render(
        report=report,
        setting=report.setting,
        framed=framed,
        rows=rows,
        gaps=grouped(records(report.gaps), "attribute"),
        metrics=grouped(records(metrics), "attribute", "by_group"),
        tables=tables,
        forests=[*tables] if len(tables) <= MOST_TABLES else shown,
        limit=limit,
        most_rows=MOST_ROWS,
        most_columns=MOST_COLUMNS,
        x=partial(_x, limit),
    )
    return findings.UNSAFE.sub("\ufffd", html)


def _clearest(rows: list) -> list:
    """Return the rows with the smallest p, of these the largest groups, in their own order; all if not too many."""

    def key(place: int) -> tuple:
        row = rows[place]
        return _last(row.p_corrected), _last(row.p), -getattr(row, "n", 0)

    return [rows[place] for place in sorted(sorted(range(len(rows)), key=key)[:MOST_ROWS])]


def _by_difference(rows: list) -> list:
    return sorted(rows, key=lambda row: (row.verdict == "too few", _last(-row.difference)))


def _last(value: float) -> float:
    """Return a key by which what is undefined comes last."""
    return np.inf if np.isnan(value) else value


def _bare(name: str, attribute: str) -> str:
    """Write a group without its attribute, under a heading that names it."""
    return name.removeprefix(f"{attribute} = ")


def _short(row) -> str:
    return f"{row.rate} ({row.class_name})" if RATES[row.rate].per_class else row.rate


def _signed(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−") if np.isfinite(share) else "undefined"


def _number(value: float) -> str:
    """Write a metric with three decimals and a real minus."""
    if np.isfinite(value):
        return f"{value:.3f}".replace("-0.000", "0.000").replace("-", "−")
    return "–" if np.isnan(value) else "infinite"


def _share(p: float) -> str:
    return "–" if np.isnan(p) else "100%" if p >= 0.995 else f"{100 * p:.2g}%"


def _limit(report) -> float:
    """Return the end of the axis: a round number of which the longest interval takes most."""
    tested = report.rows.loc[report.rows["p_corrected"].notna(), ["low", "high"]]
    longest = np.nanmax([2 * report.setting.margin, *tested.abs().max()])
    return float(LIMITS[np.searchsorted(LIMITS, longest - 1e-9).clip(max=len(LIMITS) - 1)])


def _x(limit: float, value: float) -> float:
    """Return where a difference lies in the picture of an interval; what is beyond the axis lies at its end."""
    return round(float(WIDTH / 2 + (WIDTH / 2 - EDGE) * np.clip(value / limit, -1, 1)), 1)


def _template() -> jinja2.Template:
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    whitespace = {"trim_blocks": True, "lstrip_blocks": True}
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, **whitespace)
    environment.filters |= {
        "bare": _bare,
        "short": _short,
        "clearest": _clearest,
        "by_difference": _by_difference,
        "hyphened": lambda verdict: verdict.replace(" ", "-"),
        "thousands": "{:,}".format,
        "of_100": lambda share: f"{100 * share:.3g}",
        "percent": findings.percent,
        "signed": _signed,
        "number": _number,
        "share": _share,
    }
    environment.tests |= {"finite": np.isfinite, "missing": np.isnan}
    environment.globals |= {"grouped": grouped, "question": findings.question}
    environment.globals["summary"] = SUMMARY
    return environment.get_template("report.html")


TEMPLATE = _template()
