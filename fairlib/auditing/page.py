"""The report in other forms: one page, data for programs, a section of a model card.

The page needs nothing else: no script, no request, all pictures inside; for eye and
ear. Here the report becomes plain data. `report.html` has the words and the look, and
escapes all that it is given.
"""

import json
import re
from pathlib import Path

import jinja2
import numpy as np
import pandas as pd

from fairlib.auditing.compared import Compared
from fairlib.auditing.findings import Findings
from fairlib.auditing.literature import SUMMARY, explained
from fairlib.auditing.rates import COST
from fairlib.auditing.rows import grouped, records
from fairlib.auditing.wording import amount, level, percent, plain, safe, short

MOST_ROWS = 25
# Where the axis of intervals may end.
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
)


def render(
    findings: Findings,
    *,
    metrics: pd.DataFrame,
    changes: pd.DataFrame | None,
    framed: bool = True,
) -> str:
    """Return the page of a report.

    Parameters
    ----------
    findings : Findings
        What the comparisons say.
    metrics : DataFrame
        The metrics of the literature, as of `summarize`.
    changes : DataFrame or None
        What another model changes, as of `changes.changes`.
    framed : bool, default True
        Whether to return the whole page. A notebook shows it without its frame.
    """
    questions = findings.compared.questions
    # Some metrics have a value for each group, others one for the whole attribute.
    is_by_group = [SUMMARY[name].kind == "VBCM" for name in metrics["metric"]]

    html = _TEMPLATE.render(
        findings=findings,
        setting=questions.setting,
        counts=questions.counts,
        has_probabilities=bool(questions.levels),
        comparisons=findings.compared.rows,
        changes=changes,
        metrics=metrics.assign(by_group=is_by_group),
        notes=metrics.attrs["notes"],
        orders=metrics.attrs["order"],
        limits=_limits(findings.compared),
        framed=framed,
    )

    return safe(html)


def as_json(findings: Findings) -> str:
    """Return what a report says, and all comparisons, as JSON; undefined is null."""
    setting = findings.compared.questions.setting
    options = vars(setting) | vars(setting.columns)
    del options["columns"]

    rows = findings.compared.rows.to_json(orient="records", double_precision=15)
    contents = {
        "title": setting.title,
        "verdict": findings.verdict,
        "summary": findings.summary,
        "findings": [vars(finding) for finding in findings.items],
        "aside": findings.aside,
        "setting": options,
        "comparisons": json.loads(rows),
    }
    return json.dumps(contents, indent=1, default=str)


def as_markdown(findings: Findings) -> str:
    """Return a section for a model card, in which no name is taken for markup."""
    title = findings.compared.questions.setting.title

    lines = [
        f"## Fairness: {_without_markup(title)}",
        "",
        f"**{_without_markup(findings.verdict)}**",
        "",
    ]
    for place, finding in enumerate(findings.items, 1):
        lines.append(f"{place}. {_without_markup(str(finding))}")

    lines += ["", _without_markup(findings.summary)]
    if findings.aside:
        lines += ["", *map(_without_markup, findings.aside)]
    return "\n".join(lines) + "\n"


def _without_markup(text: str) -> str:
    """Write text as one line of Markdown."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", plain(text))


def _limits(compared: Compared) -> dict[str, float]:
    """Return where the axis of each rate ends.

    The end is a round number of which the longest interval takes most.
    """
    rows = compared.rows[compared.rows["p_corrected"].notna()]
    setting = compared.questions.setting
    is_cost = rows["rate"] == COST

    longest = _farthest_end(rows[~is_cost])
    needed = max(2 * setting.margin, longest) - 1e-9
    limit = min(limit for limit in LIMITS if limit >= needed)
    limit_of_costs = float(f"{1.1 * _farthest_end(rows[is_cost]):.2g}")
    return dict.fromkeys(setting.every_rate, limit) | {COST: limit_of_costs}


def _farthest_end(rows: pd.DataFrame) -> float:
    """Return how far the intervals reach; a little more than 0 if there are none."""
    return float(np.nanmax([1e-300, *rows[["low", "high"]].abs().max()]))


def _bare(name: str, attribute: str) -> str:
    """Return the name of a group, under a heading that names the attribute."""
    return name.removeprefix(f"{attribute} = ")


def _by_difference(rows: list) -> list:
    """Sort comparisons: the largest difference first, groups that are too few last."""
    return sorted(
        rows,
        key=lambda row: (
            row.verdict == "too few",
            -np.nan_to_num(row.difference, nan=-np.inf),
        ),
    )


def _clearest(rows: list) -> list:
    """Return the rows with the smallest p, of these the largest groups, in their order.

    All are returned if they are not too many.
    """
    keys = [(-getattr(row, "n", 0), row.p, row.p_corrected) for row in rows]
    # NaN come last.
    by_clarity = np.lexsort([*zip(*keys, strict=True)])
    return [rows[place] for place in np.sort(by_clarity[:MOST_ROWS])]


def _signed(share: float, rate: str = "") -> str:
    """Write a difference with its sign: in points, or for costs in their units."""
    if rate == COST:
        return f"+{amount(share)}" if share > 0 else amount(share)
    if np.isfinite(share):
        return f"{100 * share:+.1f}".replace("-", "−")
    return "undefined"


def _number(value: float) -> str:
    """Write a metric with three decimals and a real minus."""
    if np.isfinite(value):
        return f"{value:z.3f}".replace("-", "−")
    return "–" if np.isnan(value) else "infinite"


def _ratio(value: float) -> str:
    """Write a ratio with two decimals."""
    return f"{value:.2f}" if np.isfinite(value) else "∞"


def _share_of_audits(p: float) -> str:
    """Write how often chance does something, as a percentage with two digits."""
    if np.isnan(p):
        return "–"
    if p >= 0.995:
        return "100%"
    if p < 1e-4:
        return "<0.01%"
    return f"{100 * p:.2g}%"


def _is_finite(value: float) -> bool:
    """Whether a number is neither missing nor infinite."""
    return bool(np.isfinite(value))


def _is_missing(value: float) -> bool:
    """Whether there is no number."""
    return bool(np.isnan(value))


def _environment() -> jinja2.Environment:
    """Return the environment of the template, with the words that it uses."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    environment.filters.update(
        bare=_bare,
        by_difference=_by_difference,
        clearest=_clearest,
        level=level,
        number=_number,
        percent=percent,
        ratio=_ratio,
        share=_share_of_audits,
        short=short,
        signed=_signed,
        thousands="{:,}".format,
    )
    environment.tests.update(finite=_is_finite, missing=_is_missing)

    environment.globals.update(
        records=records,
        grouped=grouped,
        most_rows=MOST_ROWS,
        summary=SUMMARY,
        explained=explained,
    )
    return environment


_TEMPLATE = _environment().get_template("report.html")
