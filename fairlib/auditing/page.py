"""The report in other forms: one page, data for programs, a section of a model card.

The page needs nothing else: no script, no request, all pictures inside; for eye and ear. Here the report becomes plain
data; `report.html` has the words and the look, and escapes all that it is given.
"""

import json
import re
from functools import partial
from pathlib import Path

import jinja2
import numpy as np
import pandas as pd

from fairlib.auditing import findings
from fairlib.auditing.findings import grouped, records
from fairlib.auditing.rates import COST
from fairlib.auditing.summary import SUMMARY, explained

MOST_ROWS, MOST_TABLES, MOST_COLUMNS = 25, 60, 10
WIDTH, EDGE = 220, 6  # of the picture of one interval
FOUR_FIFTHS = 0.8  # Uniform Guidelines on Employee Selection Procedures, 29 CFR 1607.4 D
LIMITS = np.array([0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 2.0])  # of its axis


def render(report, *, framed: bool = True) -> str:
    """Return the whole page, or what a notebook shows: the page without its frame."""
    rows, limits = records(report.rows), _limits(report)
    tables = grouped(rows, "attribute", "rate", "class_name")
    shown = [key for key, same in tables.items() if any(row.verdict == "shown" for row in same)][:MOST_TABLES]
    metrics = report.metrics.assign(by_group=[SUMMARY[name].kind == "VBCM" for name in report.metrics["metric"]])
    html = TEMPLATE.render(
        report=report,
        setting=report.setting,
        framed=framed,
        rows=rows,
        metrics=grouped(records(metrics), "attribute", "by_group"),
        impact=impact(report),
        slopes=grouped(records(report.slopes), "attribute", "class_name") if report.slopes is not None else {},
        changes=grouped(records(report.changes), "attribute") if report.changes is not None else {},
        tables=tables,
        forests=[*tables] if len(tables) <= MOST_TABLES else shown,
        limits=limits,
        most_rows=MOST_ROWS,
        most_columns=MOST_COLUMNS,
        x=partial(_x, limits),
    )
    return findings.UNSAFE.sub("\ufffd", html)


def _clearest(rows: list) -> list:
    """Return the rows with the smallest p, of these the largest groups, in their own order; all if not too many."""
    keys = [(_last(row.p_corrected), _last(row.p), -getattr(row, "n", 0)) for row in rows]
    return [rows[place] for place in sorted(sorted(range(len(rows)), key=keys.__getitem__)[:MOST_ROWS])]


def _last(value: float) -> float:
    """Return a key by which what is undefined comes last."""
    return np.inf if np.isnan(value) else value


def _signed(share: float, rate: str = "") -> str:
    if rate == COST:
        return "+" * (share > 0) + findings.amount(share)
    return f"{100 * share:+.1f}".replace("-", "−") if np.isfinite(share) else "undefined"


def _number(value: float) -> str:
    """Write a metric with three decimals and a real minus."""
    if np.isfinite(value):
        return f"{value:.3f}".replace("-0.000", "0.000").replace("-", "−")
    return "–" if np.isnan(value) else "infinite"


def _share(p: float) -> str:
    return "–" if np.isnan(p) else "100%" if p >= 0.995 else "<0.01%" if p < 0.0001 else f"{100 * p:.2g}%"


def _limits(report) -> dict[str, float]:
    """Return the end of the axis of each rate: a round number of which the longest interval takes most."""
    rows, costs = report.rows[report.rows["p_corrected"].notna()], report.rows["rate"] == COST
    longest, cost = (np.nanmax([1e-300, *rows.loc[own, ["low", "high"]].abs().max()]) for own in (~costs, costs))
    longest = max(2 * report.setting.margin, longest)
    longest = float(LIMITS[np.searchsorted(LIMITS, longest - 1e-9).clip(max=len(LIMITS) - 1)])
    return dict.fromkeys(report.setting.every_rate, longest) | {COST: float(f"{1.1 * cost:.2g}")}


def _x(limits: dict[str, float], value: float, rate: str) -> float:
    """Return where a difference lies in the picture of an interval; what is beyond the axis lies at its end."""
    return round(float(WIDTH / 2 + (WIDTH / 2 - EDGE) * np.clip(value / limits[rate], -1, 1)), 1)


def _template() -> jinja2.Template:
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    whitespace = {"trim_blocks": True, "lstrip_blocks": True}
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, **whitespace)
    environment.filters |= {
        "bare": lambda name, attribute: name.removeprefix(f"{attribute} = "),  # under a heading that names it
        "by_difference": partial(sorted, key=lambda row: (row.verdict == "too few", _last(-row.difference))),
        "clearest": _clearest,
        "hyphened": lambda verdict: verdict.replace(" ", "-"),
        "number": _number,
        "of_100": lambda share: f"{100 * share:.3g}",
        "percent": findings.percent,
        "ratio": lambda value: f"{value:.2f}" if np.isfinite(value) else "∞",
        "share": _share,
        "level": findings.level,
        "short": findings.short,
        "signed": _signed,
        "thousands": "{:,}".format,
    }
    environment.tests |= {"finite": np.isfinite, "missing": np.isnan}
    environment.globals |= {"grouped": grouped, "summary": SUMMARY, "explained": explained}
    return environment.get_template("report.html")


def as_json(report) -> str:
    """Return verdict, findings, who is set aside, and all comparisons as JSON; what is undefined is null."""
    about = vars(report.setting) | report.setting.columns._asdict()
    found = [vars(finding) for finding in report.findings]
    said = {"title": about["title"], "verdict": report.verdict, "summary": report.summary, "findings": found}
    rows = json.loads(report.rows.to_json(orient="records", double_precision=15))
    said |= {"aside": report.aside, "setting": {name: about[name] for name in about if name != "columns"}}
    return json.dumps(said | {"comparisons": rows}, indent=1, default=str)


def as_markdown(report) -> str:
    """Return a section for a model card: the verdict, what matters most, and who is set aside."""
    lines = [f"## Fairness: {report.setting.title}", "", f"**{report.verdict}**", ""]
    lines += [f"{place}. {finding}" for place, finding in enumerate(report.findings, 1)]
    lines += ["", report.summary, *(["", *report.aside] if report.aside else [])]
    return "\n".join(_escaped(findings.plain(line)) if line else line for line in lines) + "\n"


def _escaped(line: str) -> str:
    """Keep names from being markup: of what Markdown reads, only what the section itself writes at a line's edges."""
    start, text, end = re.fullmatch(r"(## |\*\*|\d+\. |)(.*?)(\*\*|)", line).groups()
    return start + re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text) + end


def impact(report) -> dict[tuple, list]:
    """Return, by attribute, class and others, how often groups are predicted, beside the four-fifths line."""
    rows = of_single_attributes(report)
    rows = rows[(rows["rate"] == "predicted") & rows["ratio"].notna() & (rows["verdict"] != "undefined")]
    words = {
        "under 4/5": rows["ratio_high"] < FOUR_FIFTHS,
        "others under 4/5": rows["ratio_low"] > 1 / FOUR_FIFTHS,
        "within 4/5": (rows["ratio_low"] > FOUR_FIFTHS) & (rows["ratio_high"] < 1 / FOUR_FIFTHS),
    }
    rows = rows.assign(line=np.select([*words.values()], [*words], "undecided"))
    return grouped(records(rows), "attribute", "class_name", "against")


def of_single_attributes(report) -> pd.DataFrame:
    """Return the comparisons of attributes that are not crossed, of groups that are large enough."""
    rows = report.rows
    return rows[rows["attribute"].isin(report.setting.columns.group) & (rows["verdict"] != "too few")]


TEMPLATE = _template()
