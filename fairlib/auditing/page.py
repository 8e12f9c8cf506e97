"""The report in other forms: one page, data for programs, a section of a model card.

The page needs nothing else: no script, no request, all pictures inside; for eye and ear. Here the report becomes plain
data; `report.html` has the words and the look, and escapes all that it is given.
"""

import json
import re
from pathlib import Path

import jinja2
import numpy as np

from fairlib.auditing import findings
from fairlib.auditing.findings import grouped, records
from fairlib.auditing.rates import COST
from fairlib.auditing.summary import SUMMARY, explained

MOST_ROWS = 25
LIMITS = (
    0.01,
    0.02,
    0.05,
    0.1,
    0.15,
    0.2,
    0.25,
    0.3,
    0.4,
    0.5,
    0.6,
    0.8,
    1.0,
    2.0,
)  # of the axis of intervals


def render(report, *, framed: bool = True) -> str:
    """Return the whole page, or what a notebook shows: the page without its frame."""
    metrics = report.metrics.assign(
        by_group=[SUMMARY[name].kind == "VBCM" for name in report.metrics["metric"]]
    )
    html = TEMPLATE.render(
        report=report, framed=framed, metrics=metrics, limits=_limits(report)
    )
    return findings.UNSAFE.sub("\ufffd", html)


def _clearest(rows: list) -> list:
    """Return the rows with the smallest p, of these the largest groups, in their own order; all if not too many."""
    keys = zip(
        *((-getattr(row, "n", 0), row.p, row.p_corrected) for row in rows), strict=True
    )
    return [
        rows[place] for place in np.sort(np.lexsort([*keys])[:MOST_ROWS])
    ]  # NaN come last


def _signed(share: float, rate: str = "") -> str:
    if rate == COST:
        return "+" * (share > 0) + findings.amount(share)
    return (
        f"{100 * share:+.1f}".replace("-", "−") if np.isfinite(share) else "undefined"
    )


def _number(value: float) -> str:
    """Write a metric with three decimals and a real minus."""
    if np.isfinite(value):
        return f"{value:z.3f}".replace("-", "−")
    return "–" if np.isnan(value) else "infinite"


def _limits(report) -> dict[str, float]:
    """Return the end of the axis of each rate: a round number of which the longest interval takes most."""
    rows, costs = (
        report.rows[report.rows["p_corrected"].notna()],
        report.rows["rate"] == COST,
    )
    longest, cost = (
        np.nanmax([1e-300, *rows.loc[own, ["low", "high"]].abs().max()])
        for own in (~costs, costs)
    )
    longest = min(
        limit
        for limit in LIMITS
        if limit >= max(2 * report.setting.margin, longest) - 1e-9
    )
    return dict.fromkeys(report.setting.every_rate, longest) | {
        COST: float(f"{1.1 * cost:.2g}")
    }


def as_json(report) -> str:
    """Return verdict, findings, who is set aside, and all comparisons as JSON; what is undefined is null."""
    setting = vars(report.setting) | report.setting.columns._asdict()
    del setting["columns"]
    found, rows = (
        [*map(vars, report.findings)],
        report.rows.to_json(orient="records", double_precision=15),
    )
    said = {
        "title": setting["title"],
        "verdict": report.verdict,
        "summary": report.summary,
        "findings": found,
    }
    said |= {"aside": report.aside, "setting": setting, "comparisons": json.loads(rows)}
    return json.dumps(said, indent=1, default=str)


def as_markdown(report) -> str:
    """Return a section for a model card: the verdict, what matters most, and who is set aside; no name is markup."""

    def safe(text) -> str:
        return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", findings.plain(str(text)))

    lines = [
        f"## Fairness: {safe(report.setting.title)}",
        "",
        f"**{safe(report.verdict)}**",
        "",
    ]
    lines += [
        f"{place}. {safe(finding)}" for place, finding in enumerate(report.findings, 1)
    ]
    return (
        "\n".join(
            [
                *lines,
                "",
                safe(report.summary),
                *[""] * bool(report.aside),
                *map(safe, report.aside),
            ]
        )
        + "\n"
    )


LOADER = jinja2.FileSystemLoader(Path(__file__).parent)
ENVIRONMENT = jinja2.Environment(
    loader=LOADER,
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
ENVIRONMENT.filters |= {
    "bare": lambda name, attribute: name.removeprefix(
        f"{attribute} = "
    ),  # under a heading that names it
    "by_difference": lambda rows: sorted(
        rows,
        key=lambda row: (
            row.verdict == "too few",
            -np.nan_to_num(row.difference, nan=-np.inf),
        ),
    ),
    "clearest": _clearest,
    "number": _number,
    "percent": findings.percent,
    "ratio": lambda value: f"{value:.2f}" if np.isfinite(value) else "∞",
    "share": lambda p: (
        "–"
        if np.isnan(p)
        else "100%"
        if p >= 0.995
        else "<0.01%"
        if p < 1e-4
        else f"{100 * p:.2g}%"
    ),
    "level": findings.level,
    "short": findings.short,
    "signed": _signed,
    "thousands": "{:,}".format,
}
ENVIRONMENT.tests |= {"finite": np.isfinite, "missing": np.isnan}
ENVIRONMENT.globals |= {"records": records, "grouped": grouped, "most_rows": MOST_ROWS}
ENVIRONMENT.globals |= {"summary": SUMMARY, "explained": explained}
TEMPLATE = ENVIRONMENT.get_template("report.html")
