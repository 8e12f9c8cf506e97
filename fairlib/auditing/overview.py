"""The report's chapter of summary metrics: what a value is, what chance alone would give, whether it is more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fairlib.auditing.markup import Markup, element, table
from fairlib.auditing.summary import SUMMARY

if TYPE_CHECKING:
    from fairlib.auditing import Report

MOST_ROWS = 25
WORDS = {"shown": "more than chance", "hint": "hint only", "open": "as by chance", "undefined": "undefined"}
EXPLAINED = (
    "Metrics of the literature (Table 2 of Czarnowska et al. 2021; AUCs after Borkan et al. 2019, less that of all "
    "cases together). Most of them count differences in either direction, so that chance adds to them: a model that "
    "treats all alike gets, on average, what the column “by chance” says. “Corrected” is the value without that; a "
    "negative one says that there is nothing to see. “Chance” is how often at most an audit of such a model has any "
    "metric in this chapter that is as far off: metrics are corrected among themselves, as the differences above are."
)


def summary_metrics(report: Report) -> list[Markup]:
    """Return the chapter: per attribute the metrics of all groups together, and those of each group."""
    found = report.metrics
    notes = [element("p", note, class_="note") for note in found.attrs["notes"]]
    parts = [element("h2", "Summary metrics"), element("p", EXPLAINED)] if len(found) else []
    for attribute, rows in found.groupby("attribute", sort=False):
        together = rows["metric"].map(lambda name: SUMMARY[name].kind != "VBCM")  # a group may have any name
        if together.any():
            caption = f"By {attribute}: all groups together{_order(rows, found.attrs['order'][attribute])}"
            parts.append(_table(rows[together], caption, report.setting.alpha))
        if not together.all():
            caption = f"By {attribute}: each group against the others"
            parts.append(_table(rows[~together], caption, report.setting.alpha))
    return [*parts, *notes]


def _order(rows: pd.DataFrame, names: tuple[str, ...]) -> str:
    """Say which group is first in metrics that subtract or divide two groups."""
    if not any(SUMMARY[name].two_groups for name in rows["metric"]):
        return ""
    return f". Signed differences are {names[0]} less {names[1]}, ratios {names[0]} by {names[1]}"


def _table(rows: pd.DataFrame, caption: str, alpha: float) -> Markup:
    if len(rows) > MOST_ROWS:
        caption += f" ({MOST_ROWS} of {len(rows):,} values, those that are clearest)"
        clearest = rows.sort_values(["p_corrected", "p"], kind="stable").index[
            :MOST_ROWS
        ]  # what is undefined comes last
        rows = rows.loc[sorted(clearest)]
    # Of metrics of each group none needs a correction; of those of all groups together none has a group.
    left_out = {"corrected"} if SUMMARY[rows["metric"].iloc[0]].kind == "VBCM" else {"group"}
    left_out |= {"class"} if rows["class"].nunique() == 1 else set()
    shown = {"metric": "metric", "class": "class", "group": _words("group"), "value": "value [interval]"}
    shown |= {"corrected": "corrected", "null": "by chance", "p_corrected": "chance", "verdict": _words("verdict")}
    shown = {name: head for name, head in shown.items() if name not in left_out}
    cells = [_cells(row, alpha) for row in rows.to_dict("records")]
    return table(caption, list(shown.values()), [[cell[name] for name in shown] for cell in cells])


def _cells(row: dict, alpha: float) -> dict[str, str]:
    value = number(row["value"])
    if np.isfinite([row["low"], row["high"]]).all():
        value += f" [{number(row['low'])}, {number(row['high'])}]"
    return {
        "metric": f"{SUMMARY[row['metric']].title} ({row['metric']})",
        "class": row["class"],
        "group": element("td", row["group"], class_="words"),
        "value": value,
        "corrected": number(row["corrected"]),
        "null": number(row["null"]),
        "p_corrected": share(row["p_corrected"]),
        "verdict": _verdict(row["value"], row["p"], row["p_corrected"], alpha=alpha),
    }


def _words(text: str) -> Markup:
    return element("th", text, scope="col", class_="words")


def _verdict(value: float, p: float, p_corrected: float, *, alpha: float) -> Markup:
    if np.isnan(value):
        verdict = "undefined"
    elif np.isnan(p_corrected):
        return element("td", "–", class_="words")
    else:
        verdict = "shown" if p_corrected <= alpha else "hint" if p <= alpha else "open"
    return element("td", element("span", WORDS[verdict], class_=f"verdict {verdict}"), class_="words")


def number(value: float) -> str:
    """Write a metric with three decimals and a real minus."""
    if np.isfinite(value):
        return f"{value:.3f}".replace("-0.000", "0.000").replace("-", "−")
    return "–" if np.isnan(value) else "infinite"


def share(p: float) -> str:
    """Write a chance as a percentage."""
    return "–" if np.isnan(p) else "100%" if p >= 0.995 else f"{100 * p:.2g}%"
