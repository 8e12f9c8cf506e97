"""From numbers to sentences that can be read without statistics, each with its interval and what chance would do.

Every comparison gets one of six verdicts, and every verdict its own kind of sentence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairlib.auditing.rates import RATES
from fairlib.auditing.setting import Setting

VERDICTS = {
    "shown": "a difference that chance hardly explains, even in an audit with this many comparisons",
    "hint": "would be evidence if this were the only comparison, and is none among so many",
    "small": "a difference as large as the margin is ruled out",
    "open": "the data fit with both, no difference and one that matters",
    "too few": "too few cases to say anything",
    "undefined": "nothing varies, so there is nothing to compare",
}
NAMED = 12  # groups that one sentence names; more are counted


@dataclass(frozen=True)
class Finding:
    """What is said about a group or a rate, and the verdict behind it."""

    verdict: str
    subject: str
    text: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.text}"


def verdicts(rows: pd.DataFrame, setting: Setting, *, units: np.ndarray) -> np.ndarray:
    """Decide on every comparison; a difference counts as shown only if its own interval excludes 0, too."""
    off_zero = (rows["low"] > 0) | (rows["high"] < 0)
    choices = {
        "too few": units < setting.minimum,
        "undefined": rows["p"].isna() | rows["low"].isna(),
        "shown": off_zero & (rows["p_corrected"] <= setting.alpha),
        "hint": off_zero,
        "small": (rows["low"] > -setting.margin) & (rows["high"] < setting.margin),
    }
    return np.select(list(choices.values()), list(choices), default="open")


def findings(rows: pd.DataFrame, setting: Setting) -> list[Finding]:
    """Return all sentences: what is shown, largest first; then what is not, and why; then who is too few."""
    rows = rows.assign(class_name=rows["class"])  # a name that tuples can carry
    found = []
    for verdict in ("shown", "hint"):
        chosen = rows[rows["verdict"] == verdict]
        chosen = chosen.loc[chosen["difference"].abs().sort_values(ascending=False, kind="stable").index]
        tested = int(rows["p_corrected"].notna().sum())
        for place, group in enumerate(chosen["group"]):
            found.append(Finding(verdict, group, _difference(chosen.iloc[[place]], tested, setting)))
    for verdict, say in (("open", _open), ("small", _small), ("undefined", _undefined)):
        chosen = rows[rows["verdict"] == verdict]
        for (rate, class_name), same in chosen.groupby(["rate", "class"], sort=False):
            found.append(Finding(verdict, question(rate, class_name), say(same, setting)))
    return found + _too_few(rows[rows["verdict"] == "too few"], setting)


def question(rate: str, class_name: str) -> str:
    """Return a rate's title with its class."""
    return RATES[rate].title.replace("{c}", quoted(class_name))


def quoted(class_name: str) -> str:
    """Write a class so that it stands out in a sentence."""
    return f"‘{class_name}’"


def percent(share: float, digits: int = 1) -> str:
    """Write a share as a percentage; a tiny one keeps two digits that say something."""
    if not np.isfinite(share):
        return "undefined"
    if digits == 1 and 0 < abs(share) < 0.0005:
        return f"{100 * share:.2g}%"
    return f"{100 * share:.{digits}f}%"


def chance(p: float) -> str:
    """Write how often chance does something at most."""
    if p < 0.0001:
        return "fewer than 1 in 10,000"
    return f"at most {100 * p:.2g}% of" if p < 0.1 else f"at most {100 * p:.0f}% of"


def points(row) -> str:
    """Write a difference with its interval in percentage points."""
    direction = "more" if row.difference > 0 else "less"
    low, high = sorted((abs(row.low), abs(row.high)))
    if row.low < 0 < row.high:
        return f"{100 * row.difference:+.1f} points [{100 * row.low:+.1f}, {100 * row.high:+.1f}]"
    return f"{100 * abs(row.difference):.1f} points {direction} [{100 * low:.1f}, {100 * high:.1f}]"


def sides(row) -> str:
    """Say what both sides of a comparison are, without the difference."""
    rate, c = RATES[row.rate], quoted(row.class_name)
    words = rate.words.format(value=_value(row.value, rate), n=f"{row.n:,}", c=c)
    again = rate.again.format(value=_value(row.value_against, rate), n=f"{row.n_against:,}")
    return f"{words}, against {again} for {row.against}"


def needed(rows: pd.DataFrame, setting: Setting) -> str:
    """Say how many more cases of each group would tell, or of everybody where those alone would not do."""
    wanting = rows[rows["more"] > 0].sort_values(["more", "growth"], kind="stable")
    if not len(wanting):
        return ""
    what = setting.unit if setting.columns.source is None else f"{setting.unit} with cases"
    which = qualifying(wanting["rate"].iloc[0], wanting["class_name"].iloc[0])
    enough = wanting[np.isfinite(wanting["more"])]
    told = [f"{row.more:,.0f} of {row.group}" for row in enough.head(NAMED).itertuples()]
    if told:
        told[0] = f"about {told[0].replace(' of ', f' more {what} of ', 1)}"
        told[-1] += f" (cases{which})" if which else ""
    if len(enough) < len(wanting):
        factor = wanting["growth"][~np.isfinite(wanting["more"])].max()
        others = f"about {factor:.{1 if factor < 10 else 0}f} times as many {setting.unit} of all groups"
        told.append(f"for the others, {others}" if told else others)
    return f"A difference of {100 * setting.margin:g} points would be shown by {'; '.join(told)}."


def qualifying(rate: str, class_name: str) -> str:
    """Return " whose label is ..." or what else a case must be for a rate, or nothing."""
    words = RATES[rate].qualifies.format(c=quoted(class_name))
    return f" {words}" if words else ""


def sentence(words: str) -> str:
    """Write words with a capital and a full stop; names keep their own spelling."""
    return f"{words[0].upper()}{words[1:]}."


def times(growth: float, setting: Setting) -> str:
    """Say how much larger the whole data would have to be, where more of one group would not do."""
    factor = f"{growth:.1f}" if growth < 10 else f"{growth:.0f}"
    shown = f"would show a difference of {100 * setting.margin:g} points"
    return f"about {factor} times as many {setting.unit} of all groups {shown}"


def _difference(row: pd.DataFrame, tested: int, setting: Setting) -> str:
    (one,) = row.itertuples()
    said = f"{sides(one)}: {points(one)}."
    if one.verdict == "shown":
        margin = 100 * setting.margin
        small = f" It is smaller than {margin:g} points." if 100 * max(abs(one.low), abs(one.high)) < margin else ""
        often = chance(one.p_corrected)
        return f"{said} A model that treats all alike would lead to such a claim in {often} audits.{small}"
    among = f"among {tested:,} comparisons it is no evidence" if tested > 1 else "that is too often for evidence"
    only = "If this were the only comparison, chance" if tested > 1 else "Chance"
    return f"{said} {only} would do this in {chance(one.p)} audits; {among}. {needed(row, setting)}".rstrip()


def _open(rows: pd.DataFrame, setting: Setting) -> str:
    both = f"the data fit with no difference, and also with one of {100 * setting.margin:g} points"
    return f"not decided for {named(rows['group'])}: {both}. {needed(rows, setting)}".rstrip()


def _small(rows: pd.DataFrame, setting: Setting) -> str:
    return f"a difference of {100 * setting.margin:g} points or more is ruled out for {named(rows['group'])}."


def _undefined(rows: pd.DataFrame, setting: Setting) -> str:
    return f"nothing to compare for {named(rows['group'])}: nothing varies."


def _too_few(rows: pd.DataFrame, setting: Setting) -> list[Finding]:
    told = []
    for (rate, class_name), same in rows.groupby(["rate", "class"], sort=False):
        largest = same.sort_values("n", ascending=False, kind="stable")
        counts = [f"{row.group} ({row.n:,})" for row in largest.head(NAMED).itertuples()]
        rest = f" and {len(same) - NAMED:,} more groups" if len(same) > NAMED else ""
        which = f"{setting.minimum} {setting.unit}{qualifying(rate, class_name)}"
        text = f"too few to say anything, under {which}: {', '.join(counts)}{rest}."
        told.append(Finding("too few", question(rate, class_name), text))
    return told


def named(groups: pd.Series) -> str:
    """Name some groups, and count the rest."""
    groups = list(dict.fromkeys(groups))
    return "; ".join(groups[:NAMED]) + (f"; and {len(groups) - NAMED:,} more groups" if len(groups) > NAMED else "")


def _value(value: float, rate) -> str:
    return percent(value).replace("%", " points") if rate.title.startswith("Overestimation") else percent(value)
