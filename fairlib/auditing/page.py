"""The report as one page that needs nothing else: no script, no request, all pictures inside; for eye and ear."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fairlib.auditing import findings
from fairlib.auditing.explained import BADGES, about
from fairlib.auditing.markup import Markup, element, interval, safe, scale, stylesheet, table
from fairlib.auditing.overview import summary_metrics
from fairlib.auditing.rates import RATES

if TYPE_CHECKING:
    from fairlib.auditing import Report

# The browser itself refuses whatever would be fetched.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
MOST_ROWS, MOST_TABLES, MOST_SENTENCES, MOST_COLUMNS = 25, 60, 40, 10
CHAPTERS = {
    "shown": ("Differences that are shown", "No comparison shows a difference."),
    "hint": ("Hints that are no evidence", ""),
    "open": ("What remains open", ""),
    "small": ("What is ruled out", ""),
    "undefined": ("Where there is nothing to compare", ""),
    "too few": ("Groups too small to say anything about", ""),
}


def document(report: Report) -> str:
    """Return the whole page."""
    head = element(
        "head",
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{safe(POLICY)}">'),
        element("title", report.setting.title),
        element("style", Markup("body { margin: 0 auto; max-width: 62em; padding: 1.5em; background: #ffffff; }")),
    )
    body = element("body", element("main", Markup(fragment(report))))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def fragment(report: Report) -> str:
    """Return the page without its frame, for a notebook."""
    told = report.findings
    parts = [
        element("style", stylesheet()),
        element("h1", report.setting.title),
        element("p", report.summary.removeprefix(f"{report.setting.title}: ")),
        *(element("p", note, class_="note") for note in report.notes),
        *_glance(report),
    ]
    for verdict, (title, nothing) in CHAPTERS.items():
        parts += _chapter(title, nothing, [finding for finding in told if finding.verdict == verdict])
    parts += [*_gaps(report), *summary_metrics(report), *_comparisons(report), *about(report)]
    return element("div", *parts, class_="fairlib-audit")


def _chapter(title: str, nothing: str, told: list[findings.Finding]) -> list[Markup]:
    if not told:
        return [element("h2", title), element("p", nothing)] if nothing else []
    rest = len(told) - MOST_SENTENCES
    items = (element("li", element("strong", one.subject), ": ", one.text) for one in told[:MOST_SENTENCES])
    said = [element("h2", title), element("ul", *items)]
    if rest > 0:
        said.append(element("p", f"And {rest:,} more, which the table of all comparisons holds.", class_="note"))
    return said


def _glance(report: Report) -> list[Markup]:
    """One small table per attribute: groups down, rates across."""
    parts = []
    rates = report.rows[["rate", "class"]].drop_duplicates()
    if len(rates) > MOST_COLUMNS:
        return []
    heads = [_short(rate, class_name) for rate, class_name in rates.itertuples(index=False)]
    for attribute, rows in report.rows.groupby("attribute", sort=False):
        names = rows["group"].drop_duplicates()
        if len(names) > MOST_ROWS:
            continue
        body = []
        for name in names:
            mine = rows[rows["group"] == name].set_index(["rate", "class"])
            body.append(
                [
                    _bare(name, attribute),
                    *(_glance_cell(mine.loc[key]) for key in rates.itertuples(index=False, name=None)),
                ]
            )
        against = _bare(rows["against"].iloc[0], attribute)
        caption = f"By {attribute}: percentage points more (+) or less (−) than {against}"
        parts.append(table(caption, ["group", *heads], body, class_="glance"))
    if not parts:
        return []
    legend = "Bold: shown. With ?: a hint only. With ≈: a difference that matters is ruled out. Plain: open."
    return [element("h2", "At a glance"), *parts, element("p", legend, class_="note")]


def _glance_cell(row: pd.Series) -> Markup:
    if row["verdict"] in ("too few", "undefined"):
        return element("td", findings.VERDICTS[row["verdict"]].split(" to ")[0], class_=_class(row["verdict"]))
    mark = {"hint": " ?", "small": " ≈"}.get(row["verdict"], "")
    return element("td", _signed(row["difference"]) + mark, class_=_class(row["verdict"]))


def _comparisons(report: Report) -> list[Markup]:
    """All comparisons, one table per attribute and rate, on one common scale."""
    rows, setting = report.rows, report.setting
    tested = rows[rows["p_corrected"].notna()]
    limit = _limit(np.r_[2 * setting.margin, tested[["low", "high"]].abs().to_numpy().ravel()])
    parts = [
        element("h2", "All comparisons"),
        element(
            "p",
            f"Differences in percentage points with intervals of {100 * setting.confidence:g}% confidence, each for "
            f"its comparison alone. The band around 0 is the margin of {100 * setting.margin:g} points; a filled dot "
            "is a difference that is shown.",
        ),
    ]
    tables = list(rows.groupby(["attribute", "rate", "class"], sort=False))
    if len(tables) > MOST_TABLES:
        telling = [one for one in tables if (one[1]["verdict"] == "shown").any()][:MOST_TABLES]
        said = f"Shown here, of {len(tables):,} tables: {len(telling)} of those with a difference that is shown."
        parts.append(element("p", said, class_="note"))
        tables = telling
    last = None
    for (attribute, rate, class_name), same in tables:
        if attribute != last:
            parts.append(element("h3", f"By {attribute}"))
            last = attribute
        parts.append(_forest(same, findings.question(rate, class_name), limit, setting.margin))
    return parts


def _forest(rows: pd.DataFrame, title: str, limit: float, margin: float) -> Markup:
    attribute = rows["attribute"].iloc[0]
    against = _bare(rows["against"].iloc[0], attribute)
    rows = rows.assign(group=[_bare(name, attribute) for name in rows["group"]])
    caption = f"{title}. Compared with {against}"
    if len(rows) > MOST_ROWS:
        caption += f" ({MOST_ROWS} of {len(rows):,} groups, those whose differences are clearest)"
        rows = rows.sort_values(["p_corrected", "p", "n"], ascending=[True, True, False], kind="stable").head(MOST_ROWS)
    last = rows["verdict"] == "too few"
    rows = rows.assign(last=last).sort_values(["last", "difference"], ascending=[True, False], kind="stable")
    head = ["group", "cases", "rate", against, "difference [interval]", scale(limit), _head("verdict")]
    body = [_forest_row(row, limit, margin) for row in rows.itertuples()]
    return table(caption, head, body, class_="forest", context=f"By {attribute}")


def _forest_row(row, limit: float, margin: float) -> list:
    badge = element("span", BADGES[row.verdict], class_=f"verdict {_class(row.verdict)}")
    verdict = element("td", badge, class_="words")
    if row.verdict == "too few":  # a rate of three people is no rate, and may give one of them away
        return [row.group, f"{row.n:,}", "–", "–", "–", "", verdict]
    numbers = _signed(row.difference)
    if np.isfinite([row.low, row.high]).all():
        numbers += f" [{_signed(row.low)}, {_signed(row.high)}]"
    look = {"limit": limit, "margin": margin, "verdict": row.verdict, "words": f"{row.group}: {numbers} points"}
    drawn = interval(row.difference, row.low, row.high, **look)
    shares = findings.percent(row.value), findings.percent(row.value_against)
    return [row.group, f"{row.n:,}", *shares, numbers, element("td", drawn), verdict]


def _gaps(report: Report) -> list[Markup]:
    """How far the groups of an attribute are apart, for which an interval must not forget that one looked at all."""
    if not len(report.gaps):
        return []
    head = ["rate", "groups", _head("highest"), _head("lowest"), "gap [interval]"]
    parts = [
        element("h2", "How far the groups are apart"),
        element(
            "p",
            "The highest rate less the lowest, in percentage points. Some group is always highest: the interval allows "
            "for that, and reaches 0 where the groups may all be alike.",
        ),
    ]
    for attribute, rows in report.gaps.groupby("attribute", sort=False):
        body = [
            [
                _short(row.rate, row.class_name),
                f"{row.groups:,}",
                element("td", _bare(row.highest, attribute), class_="words"),
                element("td", _bare(row.lowest, attribute), class_="words"),
                f"{100 * row.gap:.1f} [{100 * row.low:.1f}, {100 * row.high:.1f}]",
            ]
            for row in rows.rename(columns={"class": "class_name"}).head(MOST_ROWS).itertuples()
        ]
        parts.append(table(f"By {attribute}", head, body, context="How far the groups are apart"))
    return parts


def _head(words: str) -> Markup:
    return element("th", words, scope="col", class_="words")


def _bare(name: str, attribute: str) -> str:
    """Write a group without its attribute, under a heading that names it."""
    return name.removeprefix(f"{attribute} = ")


def _short(rate: str, class_name: str) -> str:
    return f"{rate} ({class_name})" if RATES[rate].per_class else rate


def _signed(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−") if np.isfinite(share) else "undefined"


def _class(verdict: str) -> str:
    return verdict.replace(" ", "-")


def _limit(values: np.ndarray) -> float:
    """Return a round number of which the largest value takes most of the axis."""
    largest = float(np.nanmax(values))
    steps = np.array([0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 2.0])
    return float(steps[np.searchsorted(steps, largest - 1e-9).clip(max=len(steps) - 1)])
