"""The report as one page that needs nothing else: no script, no request, every picture inside, readable by ear as well as by eye."""

from __future__ import annotations

import numpy as np
import pandas as pd

import fairlib.auditing as auditing
from fairlib.auditing import findings
from fairlib.auditing.markup import Markup, element, interval, safe, scale, stylesheet, table
from fairlib.auditing.rates import RATES

# The browser itself refuses whatever would be fetched.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
MOST_ROWS, MOST_TABLES, MOST_SENTENCES, MOST_COLUMNS = 25, 60, 40, 10
BADGES = {
    "shown": "difference shown",
    "hint": "hint only",
    "small": "ruled out",
    "open": "open",
    "too few": "too few",
    "undefined": "undefined",
}
CHAPTERS = {
    "shown": ("Differences that are shown", "No comparison shows a difference."),
    "hint": ("Hints that are no evidence", ""),
    "open": ("What remains open", ""),
    "small": ("What is ruled out", ""),
    "undefined": ("Where there is nothing to compare", ""),
    "too few": ("Groups too small to say anything about", ""),
}


def document(report: auditing.Report) -> str:
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


def fragment(report: auditing.Report) -> str:
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
        parts += _chapter(title, nothing, [finding.text for finding in told if finding.verdict == verdict])
    parts += [*_comparisons(report), *_reading(report), *_limits(report), *_making(report)]
    return element("div", *parts, class_="fairlib-audit")


def _chapter(title: str, nothing: str, sentences: list[str]) -> list[Markup]:
    if not sentences:
        return [element("h2", title), element("p", nothing)] if nothing else []
    rest = len(sentences) - MOST_SENTENCES
    said = [element("h2", title), element("ul", *(element("li", text) for text in sentences[:MOST_SENTENCES]))]
    if rest > 0:
        said.append(element("p", f"And {rest:,} more, which the table of all comparisons holds.", class_="note"))
    return said


def _glance(report: auditing.Report) -> list[Markup]:
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
            body.append([name, *(_glance_cell(mine.loc[key]) for key in rates.itertuples(index=False, name=None))])
        against = rows["against"].iloc[0]
        caption = f"By {attribute}: percentage points more (+) or less (−) than {against}"
        parts.append(table(caption, ["group", *heads], body, class_="glance"))
    if not parts:
        return []
    legend = "Shaded with a bold number: shown; shaded with ?: a hint only; with ≈: a difference that matters is ruled out; plain: open."
    return [element("h2", "At a glance"), *parts, element("p", legend, class_="note")]


def _glance_cell(row: pd.Series) -> Markup:
    if row["verdict"] in ("too few", "undefined"):
        return element("td", findings.VERDICTS[row["verdict"]].split(" to ")[0], class_=_class(row["verdict"]))
    mark = {"hint": " ?", "small": " ≈"}.get(row["verdict"], "")
    return element("td", _signed(row["difference"]) + mark, class_=_class(row["verdict"]))


def _comparisons(report: auditing.Report) -> list[Markup]:
    """All comparisons, one table per attribute and rate, on one common scale."""
    rows, setting = report.rows, report.setting
    tested = rows[rows["p_corrected"].notna()]
    limit = _limit(np.r_[2 * setting.margin, tested[["low", "high"]].abs().to_numpy().ravel()])
    parts = [
        element("h2", "All comparisons"),
        element(
            "p",
            f"Differences in percentage points with intervals of {100 * setting.confidence:g} % confidence, each for its "
            f"comparison alone. The band around 0 is the margin of {100 * setting.margin:g} points; a filled dot is a "
            "difference that is shown.",
        ),
    ]
    tables = list(rows.groupby(["attribute", "rate", "class"], sort=False))
    if len(tables) > MOST_TABLES:
        telling = [one for one in tables if (one[1]["verdict"] == "shown").any()][:MOST_TABLES]
        said = f"{len(telling)} of {len(tables):,} tables, of those with a difference that is shown; all comparisons are in the table of results."
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
    against = rows["against"].iloc[0]
    caption = f"{title}. Compared with {against}"
    if len(rows) > MOST_ROWS:
        caption += f" ({MOST_ROWS} of {len(rows):,} groups, those whose differences are clearest)"
        rows = rows.sort_values(["p_corrected", "p", "n"], ascending=[True, True, False], kind="stable").head(MOST_ROWS)
    rows = rows.sort_values("difference", ascending=False, kind="stable")
    head = ["group", "cases", "rate", against, "difference [interval]", scale(limit), "verdict"]
    return table(caption, head, [_forest_row(row, limit, margin) for row in rows.itertuples()])


def _forest_row(row, limit: float, margin: float) -> list:
    badge = element("span", BADGES[row.verdict], class_=f"verdict {_class(row.verdict)}")
    verdict = element("td", badge, class_="words")
    if row.verdict == "too few":  # a rate of three people is no rate, and may give one of them away
        return [row.group, f"{row.n:,}", "–", "–", "–", "", verdict]
    numbers = f"{_signed(row.difference)} [{_signed(row.low)}, {_signed(row.high)}]"
    if not np.isfinite([row.low, row.high]).all():
        numbers = _signed(row.difference)
    drawn = interval(
        row.difference, row.low, row.high, limit=limit, margin=margin, verdict=row.verdict, words=f"{row.group}: {numbers} points"
    )
    value, other = findings.percent(row.value), findings.percent(row.value_against)
    return [row.group, f"{row.n:,}", value, other, element("td", numbers), drawn, verdict]


def _reading(report: auditing.Report) -> list[Markup]:
    setting = report.setting
    tested = int(report.rows["p_corrected"].notna().sum())
    explained = {
        "Interval": f"The numbers in brackets: differences that the data do not rule out. It is built so that in {100 * setting.confidence:g} % "
        "of audits it holds the true difference of its comparison.",
        "So many of a hundred audits": f"Who compares often finds something. {tested:,} comparisons were tested here, and the verdicts allow for that: "
        f"if no group differed from any other, an audit like this would claim a difference in at most {100 * setting.alpha:.3g} % of cases.",
        "So many more cases": f"With these, a true difference of {100 * setting.margin:g} points would be shown in {100 * setting.power:g} of 100 audits "
        "of this size; an estimate.",
    }
    explained |= {BADGES[verdict].capitalize(): f"{words[0].upper()}{words[1:]}." for verdict, words in findings.VERDICTS.items()}
    entries = [part for term, words in explained.items() for part in (element("dt", term), element("dd", words))]
    return [element("h2", "How to read this report"), element("dl", *entries)]


def _limits(report: auditing.Report) -> list[Markup]:
    said = [
        "A difference is not its cause. Groups may differ in how often the label is true, or in what the cases are like; the report says "
        "how the model fares with them, not why.",
        "A difference in how often something is predicted is no error by itself; one in errors, misses or false alarms is measured "
        "against the labels.",
        "The labels are taken as true and the groups as recorded. Where labels are themselves unfair, a model that repeats them looks fair here.",
        "What holds for these cases holds for others only where these are a fair sample of them.",
    ]
    if report.sources is None:
        said.append("Cases are taken to be independent. If several belong to one person or text, audit again and name that column as the source.")
    if "unreliable" in set(report.rows["rate"]):
        said.append("Groups in which the label is true more often than in others cannot, in general, have equal rates of every kind at once.")
    return [element("h2", "What this report cannot say"), element("ul", *(element("li", text) for text in said))]


def _making(report: auditing.Report) -> list[Markup]:
    setting, methods = report.setting, sorted(set(report.rows["method"]))
    parts = {role: value for role, value in setting.columns._asdict().items() if value and role not in ("group", "threshold")}
    facts = {"groups": ", ".join(setting.columns.group), **parts, "classes": ", ".join(report.classes[:20])}
    facts |= {"cases": f"{report.cases:,}"} | ({} if report.sources is None else {"sources (independent)": f"{report.sources:,}"})
    facts |= {
        "compared with": "; ".join(dict.fromkeys(report.rows["against"])) if len(set(report.rows["against"])) <= 20 else "see tables",
        "confidence": f"{100 * setting.confidence:g} %",
        "margin": f"{100 * setting.margin:g} points",
        "fewest cases per group": f"{setting.minimum} {setting.unit}",
        "intervals and tests": "; ".join(METHODS[method] for method in methods),
        "many comparisons": "Holm's correction over all of them",
    }
    body = [[name, element("td", value, class_="words")] for name, value in facts.items()]
    return [element("h2", "How it was made"), table("Data and settings", ["", ""], body)]


METHODS = {
    "newcombe": "Newcombe's interval with Fisher's exact test",
    "exact union": "where counts are below 5, the union of two Clopper-Pearson intervals with Fisher's exact test",
    "welch": "Welch's interval and test for means",
    "by source": "t interval and test whose variance is that between sources",
}


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
