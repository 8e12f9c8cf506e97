"""What a reader of the report must know: how to read it, what it cannot say, and how it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlib.auditing import findings
from fairlib.auditing.markup import Markup, element, table
from fairlib.bounds import METHODS

if TYPE_CHECKING:
    from fairlib.auditing import Report

BADGES = {
    "shown": "difference shown",
    "hint": "hint only",
    "small": "ruled out",
    "open": "open",
    "too few": "too few",
    "undefined": "undefined",
}


def about(report: Report) -> list[Markup]:
    """Return the last three chapters."""
    return [*_reading(report), *_limits(report), *_making(report)]


def _reading(report: Report) -> list[Markup]:
    setting = report.setting
    tested = int(report.rows["p_corrected"].notna().sum())
    sure, wrong, power = (f"{100 * share:.3g}" for share in (setting.confidence, setting.alpha, setting.power))
    certain = all(METHODS[name].guarantee != "asymptotic" for name in set(report.rows["method"]) & set(METHODS))
    certain = certain and not set(report.rows["method"]) & {"welch", "by source"}
    explained = {
        "Numbers in brackets": "An interval: the differences that the data do not rule out. In "
        f"{'at least' if certain else 'about'} {sure} of 100 audits it holds the true difference of its comparison.",
        "“In at most so many audits”": "Who compares often finds something. "
        f"{tested:,} differences were tested here, and the verdicts allow for that: if no group differed from any "
        f"other, at most {wrong} in 100 such audits would claim any difference at all.",
        "“About so many more cases”": "An estimate: with these, a true difference of "
        f"{100 * setting.margin:g} points would be shown in {power} of 100 audits of this size.",
    }
    present = [name for name in BADGES if name in set(report.rows["verdict"])]
    explained |= {BADGES[name].capitalize(): findings.sentence(findings.VERDICTS[name]) for name in present}
    entries = [part for term, words in explained.items() for part in (element("dt", term), element("dd", words))]
    return [element("h2", "How to read this report"), element("dl", *entries)]


def _limits(report: Report) -> list[Markup]:
    said = [
        "A difference is not its cause. Groups may differ in how often the label is true, or in what their cases are "
        "like; the report says how the model fares with them, not why.",
        "A difference in how often something is predicted is no error by itself; one in errors, misses or false alarms "
        "is measured against the labels.",
        "The labels are taken as true and the groups as recorded. Where labels are themselves unfair, a model that "
        "repeats them looks fair here.",
        "What holds for these cases holds for others only where these are a fair sample of them.",
    ]
    if report.sources is None:
        said.append(
            "Cases are taken to be independent. If several belong to one person or text, audit again and name that "
            "column as the source."
        )
    if "unreliable" in set(report.rows["rate"]):
        said.append(
            "Where the label is true more often in one group than in another, their rates cannot in general all be "
            "equal at once: which of them should be is a decision, not a measurement."
        )
    return [element("h2", "What this report cannot say"), element("ul", *(element("li", text) for text in said))]


def _making(report: Report) -> list[Markup]:
    setting, rows = report.setting, report.rows
    roles = {
        role: name for role, name in setting.columns._asdict().items() if role not in ("group", "threshold") and name
    }
    methods, against = sorted(set(rows["method"]) - {""}), list(dict.fromkeys(rows["against"]))
    facts = {"group": ", ".join(setting.columns.group)} | roles
    facts |= {"classes": ", ".join(report.classes[:20]), "cases": f"{report.cases:,}"}
    facts |= {} if report.sources is None else {"independent sources": f"{report.sources:,}"}
    facts |= {
        "compared with": "; ".join(against[:12]) + (" and others" if len(against) > 12 else ""),
        "confidence": f"{100 * setting.confidence:g}%",
        "margin": f"{100 * setting.margin:g} points",
        "fewest per group": f"{setting.minimum} {setting.unit}",
        "intervals": "; ".join(NAMES.get(method, method.replace("_", " ")) for method in methods),
        "tests": "; ".join(dict.fromkeys(TESTS.get(method, TESTS["betting"]) for method in methods)),
        "many comparisons": "Holm's correction over all of them",
    }
    if report.metrics["p"].notna().any():
        facts["summary metrics"] = (
            f"intervals by drawing {setting.unit} again, “by chance” by dealing them out to the groups; corrected by "
            "splitting in halves; max-T over the metrics of a column, times the number of columns"
        )
    body = [[name, element("td", value, class_="words")] for name, value in facts.items()]
    return [
        element("h2", "How it was made"),
        table("Data and settings", ["setting", element("th", "value", scope="col", class_="words")], body),
    ]


NAMES = {
    "betting": "betting on matched blocks, which holds for any number of cases",
    "newcombe": "Newcombe's interval",
    "clopper_pearson": "two Clopper-Pearson intervals, one per side, where counts are small",
    "welch": "Welch's interval for means",
    "betting_pairs": "betting on the differences within sources, which holds for any number of sources",
    "by source": "t interval whose variance is that between sources",
}


BY_SOURCE = "t test on sources, or one with the variance of all of them where that is less sure"
TESTS = {
    "betting": "Fisher's exact test",
    "welch": "Welch's test, or one with the variance of all cases where that is less sure",
    "betting_pairs": BY_SOURCE,
    "by source": BY_SOURCE,
}
