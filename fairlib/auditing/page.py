"""The report in other forms: one page, data for programs, a section of a model card.

The page needs nothing else: no script, no request, all pictures inside; for eye and
ear. Here the report becomes plain data. `templates` has the words and the look, and
escapes all that it is given.
"""

import json
import re
from collections.abc import Sequence

import jinja2
import numpy as np
import pandas as pd
from markupsafe import Markup

from fairlib.auditing import look
from fairlib.auditing.compared import Compared
from fairlib.auditing.conclusions import FAILING_VERDICTS, Conclusions
from fairlib.auditing.findings import Finding
from fairlib.auditing.literature import SUMMARY, explained
from fairlib.auditing.local_law_144 import NOTE, unknown_categories
from fairlib.auditing.picture import picture
from fairlib.auditing.questions import Questions
from fairlib.auditing.rates import COST
from fairlib.auditing.rows import grouped, records
from fairlib.auditing.wording import amount, level, percent, plain, safe, short

# The form of the JSON; a number goes up if a name in it changes its meaning.
SCHEMA = "fairlib audit 2"
# The tables of `Parts` in the JSON, beside the comparisons.
TABLES = (
    "outcomes",
    "groups",
    "selection",
    "local_law_144",
    "metrics",
    "odds",
    "calibration",
    "calibration_test",
    "changes",
    "gap_changes",
    "strata",
)
# Words of the headlines, the answers and the findings that the first screen can hold.
MOST_FIRST_WORDS = 250
MOST_ROWS = 25
# The verdicts in words.
BADGES = {
    "shown": "strong evidence",
    "hint": "some evidence",
    "small": "ruled out",
    "open": "too weak to tell",
    "too few": "too few",
    "undefined": "undefined",
}
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


def render(conclusions: Conclusions, *, framed: bool = True) -> str:
    """Return the page of a report.

    Parameters
    ----------
    conclusions : Conclusions
        What the audit says, and its tables.
    framed : bool, default True
        Whether to return the whole page. A notebook shows it without its frame.
    """
    parts = conclusions.parts
    questions = parts.questions
    metrics = parts.metrics
    # Some metrics have a value for each group, others one for the whole attribute.
    is_by_group = [SUMMARY[name].kind == "VBCM" for name in metrics["metric"]]

    first = _number_of_first_findings(conclusions)

    html = _TEMPLATE.render(
        conclusions=conclusions,
        parts=parts,
        setting=questions.setting,
        counts=questions.counts,
        favourable=_favourable(questions),
        unknown=unknown_categories(questions),
        has_probabilities=bool(questions.levels),
        rows=records(parts.comparisons),
        drawn=Markup(picture(conclusions.findings, questions.setting)),
        first_findings=conclusions.findings[:first],
        further_findings=conclusions.findings[first:],
        metrics=metrics.assign(by_group=is_by_group),
        notes=metrics.attrs["notes"],
        orders=metrics.attrs["order"],
        limits=_limits(parts.compared),
        tested=int(parts.comparisons["p_corrected"].count()),
        framed=framed,
    )

    return safe(html)


def _number_of_first_findings(conclusions: Conclusions) -> int:
    """Return how many findings the first screen can hold: one at least.

    They are those that are shown; if nothing is, the first of what is not.
    """
    answers = " ".join(conclusions.by_attribute["answer"])
    words = len(conclusions.verdict.split()) + len(answers.split())
    shown = sum(finding.verdict == "shown" for finding in conclusions.findings)

    number = 0
    for finding in conclusions.findings[: shown or 2]:
        words += len(f"{finding.subject} {finding.text} {finding.needed}".split())
        if number and words > MOST_FIRST_WORDS:
            break
        number += 1
    return number


def _favourable(questions: Questions) -> str:
    """Return the name of the favourable class; empty if it is open."""
    if questions.favourable is None:
        return ""
    return questions.counts.classes[questions.favourable]


def as_json(conclusions: Conclusions) -> str:
    """Return all that a report says and all its tables as JSON; undefined is null."""
    parts = conclusions.parts
    setting = parts.questions.setting
    options = vars(setting) | vars(setting.columns)
    del options["columns"]

    contents = {
        "schema": SCHEMA,
        "title": setting.title,
        "verdict": conclusions.verdict,
        "headlines": [vars(line) for line in conclusions.headlines],
        "summary": conclusions.summary,
        "findings": [
            _without_undefined(vars(finding)) for finding in conclusions.findings
        ],
        "by_attribute": _as_records(conclusions.by_attribute),
        "aside": conclusions.aside,
        "fails": {name: conclusions.fails(name) for name in FAILING_VERDICTS},
        "setting": options,
        "comparisons": _as_records(parts.comparisons),
    }
    for name in TABLES:
        contents[name] = _as_records(getattr(parts, name))
    return json.dumps(contents, indent=1, default=str)


def _as_records(table: pd.DataFrame | None) -> list | None:
    """Return the rows of a table as dictionaries, or None if there is no table."""
    if table is None:
        return None
    return json.loads(table.to_json(orient="records", double_precision=15))


def _without_undefined(fields: dict) -> dict:
    """Replace numbers that are missing or infinite by None."""
    return {
        name: None if isinstance(value, float) and not np.isfinite(value) else value
        for name, value in fields.items()
    }


def as_markdown(conclusions: Conclusions) -> str:
    """Return a section for a model card, in which no name is taken for markup."""
    title = conclusions.parts.questions.setting.title

    lines = [
        f"## Fairness: {_without_markup(title)}",
        "",
        f"**{_without_markup(conclusions.verdict)}**",
        "",
    ]
    for answer in conclusions.by_attribute.itertuples():
        text = f"**{_without_markup(answer.attribute)}**: "
        lines.append(f"- {text}{_without_markup(answer.answer)}.")
    lines.append("")
    for place, finding in enumerate(conclusions.findings, 1):
        lines.append(f"{place}. {_without_markup(str(finding))}")

    lines += ["", _without_markup(conclusions.summary)]
    if conclusions.aside:
        lines += ["", *map(_without_markup, conclusions.aside)]
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


def _largest(rows: list) -> list:
    """Return the rows with the most cases, in their order, if there are many."""
    sizes = np.array([-row.n for row in rows])
    places = np.argsort(sizes, kind="stable")[:MOST_ROWS]
    return [rows[place] for place in np.sort(places)]


def _last_chance(findings: Sequence[Finding]) -> str:
    """Say once for several findings how often chance leads to such claims."""
    text = max(findings, key=lambda finding: finding.p).chance
    return f"{text[0].upper()}{text[1:]}"


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
    environment = look.environment()
    environment.filters.update(
        bare=_bare,
        by_difference=_by_difference,
        clearest=_clearest,
        largest=_largest,
        last_chance=_last_chance,
        level=level,
        number=_number,
        percent=percent,
        ratio=_ratio,
        share=_share_of_audits,
        short=short,
        signed=_signed,
    )
    environment.tests.update(finite=_is_finite, missing=_is_missing)

    environment.globals.update(
        records=records,
        grouped=grouped,
        most_rows=MOST_ROWS,
        summary=SUMMARY,
        explained=explained,
        law_note=NOTE,
        badges=BADGES,
    )
    return environment


_TEMPLATE = _environment().get_template("report.html")
