"""From numbers to sentences that can be read without statistics, each with its interval and what chance would do.

Every comparison gets one of six verdicts, and every verdict its own kind of sentence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairlib.auditing.groups import EVERYONE_ELSE
from fairlib.auditing.rates import RATES
from fairlib.auditing.setting import Setting

VERDICTS = {
    "shown": "a difference that chance hardly explains, even in an audit with this many comparisons",
    "hint": "would be evidence if this were the only comparison, and is none among so many",
    "small": "a difference as large as the margin is ruled out, by an interval for this comparison alone",
    "open": "it cannot be told whether there is no difference or one that matters",
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


def verdicts(rows: pd.DataFrame, setting: Setting) -> np.ndarray:
    """Decide on every comparison; a difference, shown or hinted at, needs an interval off 0 and a test that agrees."""
    off_zero = (rows["low"] > 0) | (rows["high"] < 0)
    choices = {
        "too few": rows[["units", "units_against"]].min(axis=1) < setting.minimum,
        "undefined": rows["p"].isna() | rows["low"].isna(),
        "shown": off_zero & (rows["p_corrected"] <= setting.alpha),
        "hint": off_zero & (rows["p"] <= setting.alpha),
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
    """Write a share as a percentage; what is nearly none or nearly all does not read as none or all."""
    if not np.isfinite(share):
        return "undefined"
    return f"{_digits(share, digits)}%"


def _digits(share: float, digits: int = 1) -> str:
    """Write a hundred times a share; what is not 0 or 100 does not read as if it were."""
    size = abs(share)
    if size in (0, 1):
        return f"{100 * share:.0f}"
    if size < 0.0005:
        return np.format_float_positional(100 * share, precision=1, fractional=False, trim="-")
    while digits < 9 and size < 1 and round(100 * size, digits) == 100:
        digits += 1
    return f"{100 * share:.{digits}f}"


def counted(number: float, words: str) -> str:
    """Write a number with what it counts, such as "1 case" and "2 cases"; the words' first word is the plural."""
    first, _, rest = words.partition(" ")
    return f"{number:,.0f} {first[:-1] if number == 1 else first}{' ' * bool(rest)}{rest}"


def chance(p: float) -> str:
    """Write how often chance does something at most."""
    if p < 0.0001:
        return "fewer than 1 in 10,000"
    return f"at most {100 * p:.2g}% of" if p < 0.1 else f"at most {100 * p:.0f}% of"


def points(row) -> str:
    """Write a difference with its interval in percentage points."""
    direction = "more" if row.difference > 0 else "less"
    low, high = sorted((abs(row.low), abs(row.high)))  # both on one side of 0, or it would not be told
    return f"{_digits(abs(row.difference))} points {direction} [{_digits(low)}, {_digits(high)}]"


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
    what = setting.unit if setting.columns.source is None else "sources with cases"
    which = qualifying(wanting["rate"].iloc[0], wanting["class_name"].iloc[0])
    enough = wanting[np.isfinite(wanting["more"])]
    told = [f"{row.more:,.0f} of {row.group}" for row in enough.head(NAMED).itertuples()]
    if told:
        first = enough.iloc[0]
        size, unit, *rest = counted(first["more"], what).split(" ")
        told[0] = f"about {' '.join([size, 'more', unit, *rest])}{which} of {first['group']}"
    if len(enough) < len(wanting):
        factor = wanting["growth"][~np.isfinite(wanting["more"])].max()
        others = f"about {factor:,.{1 if factor < 10 else 0}f} times as many {setting.unit} of all groups"
        told.append(f"for the others, {others}" if told else others)
    return f"A difference of {100 * setting.margin:g} points would be shown by {'; '.join(told)}."


def qualifying(rate: str, class_name: str) -> str:
    """Return " whose label is ..." or what else a case must be for a rate, or nothing."""
    words = RATES[rate].qualifies.format(c=quoted(class_name))
    return f" {words}" if words else ""


def sentence(words: str) -> str:
    """Write words with a capital and a full stop; names keep their own spelling."""
    return f"{words[0].upper()}{words[1:]}."


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
    both = f"it may be none, or one of {100 * setting.margin:g} points"
    return f"the difference is not decided for {named(rows['group'])}: {both}. {needed(rows, setting)}".rstrip()


def _small(rows: pd.DataFrame, setting: Setting) -> str:
    return f"a difference of {100 * setting.margin:g} points or more is ruled out for {named(rows['group'])}."


def _undefined(rows: pd.DataFrame, setting: Setting) -> str:
    return f"nothing to compare for {named(rows['group'])}: nothing varies."


def _too_few(rows: pd.DataFrame, setting: Setting) -> list[Finding]:
    told = []
    for (rate, class_name), same in rows.groupby(["rate", "class"], sort=False):
        few = dict(map(_smaller, same.itertuples()))  # a reference that is too small stands in many rows
        largest = sorted(few.items(), key=lambda side: -side[1])
        counts = [f"{name} ({units:,.0f})" for name, units in largest[:NAMED]]
        rest = f" and {counted(len(few) - NAMED, 'groups')} more" if len(few) > NAMED else ""
        which = f"{setting.minimum} {_units(rate, class_name, setting)}"
        text = f"too few to say anything, under {which}: {'; '.join(counts)}{rest}."
        told.append(Finding("too few", question(rate, class_name), text))
    return told


def _smaller(row) -> tuple[str, int]:
    """Return which side of a comparison is the smaller one, and how many independent cases it has."""
    if row.units <= row.units_against:
        return row.group, row.units
    return (f"everyone but {row.group}" if row.against == EVERYONE_ELSE else row.against), row.units_against


def _units(rate: str, class_name: str, setting: Setting) -> str:
    """Return what is counted for a rate: "cases whose label is ...", "sources with cases ..."."""
    which = qualifying(rate, class_name)
    return f"{setting.unit}{' with cases' if which and setting.unit != 'cases' else ''}{which}"


def named(groups: pd.Series) -> str:
    """Name some groups, and count the rest."""
    groups = list(dict.fromkeys(groups))
    rest = len(groups) - NAMED
    return "; ".join(groups[:NAMED]) + (f"; and {counted(rest, 'groups')} more" if rest > 0 else "")


def _value(value: float, rate) -> str:
    return f"{_digits(value)} points".replace("-", "−") if rate.farthest > 1 else percent(value)
