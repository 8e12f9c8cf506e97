"""From numbers to a verdict, and at most five findings that can be read without statistics, what matters most first.

Every comparison gets one of six verdicts (report.html explains them). Told first is what is shown; then what matters
most: how far beyond the margin it is, times how many cases it concerns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import pandas as pd

from fairlib.auditing.groups import EVERYONE_ELSE
from fairlib.auditing.rates import RATES, Rate
from fairlib.auditing.setting import Setting

# Characters that HTML forbids, that no file can hold, or that make a text read other than written (bidi controls).
UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
EVIDENCE = {"shown": "strong evidence", "hint": "some evidence", "open": "too weak to tell"}  # in this order
MOST, MOST_WEAK = 5, 2  # findings; of these, how many are too weak to tell
NAMED = 6  # groups that one sentence names; more are counted
MIRROR = 0.9  # of all cases: two groups that make up as much are each other's mirror


@dataclass(frozen=True)
class Finding:
    """What is said about a group: the verdict behind it, how strong the evidence is, and the sentences."""

    verdict: str
    evidence: str
    subject: str
    text: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.text} ({self.evidence})"


def hints(rows: pd.DataFrame, setting: Setting) -> pd.Series:
    """Which comparisons are not shown and yet rare: among so many, chance makes less than one such on average."""
    tested = rows["p_corrected"].notna()
    return (rows["p"] <= setting.alpha) & (rows["p"] * tested.sum() <= 1) & ~(rows["p_corrected"] <= setting.alpha)


def verdicts(rows: pd.DataFrame, setting: Setting) -> np.ndarray:
    """Decide on every comparison."""
    choices = {
        "too few": rows[["units", "units_against"]].min(axis=1) < setting.minimum,
        "undefined": rows["p"].isna() | rows["low"].isna(),
        "shown": rows["p_corrected"] <= setting.alpha,
        "hint": hints(rows, setting),
        "small": (rows["low"] > -setting.margin) & (rows["high"] < setting.margin),
    }
    return np.select(list(choices.values()), list(choices), default="open")


def findings(frame: pd.DataFrame, setting: Setting, adds: Callable[[object], bool]) -> list[Finding]:
    """Return what matters most. adds : whether a comparison of crossed attributes says more than they do alone."""
    told: list = []
    for row in sorted(filter(_matters(setting), records(frame)), key=_order(setting)):
        weak = sum(other.verdict == "open" for other in told)
        if len(told) == MOST or (row.verdict == "open" and weak == MOST_WEAK):
            break
        if not any(_mirrored(row, other) for other in told) and adds(row):
            told.append(row)
    tested = int(frame["p_corrected"].notna().sum())
    return [Finding(row.verdict, EVIDENCE[row.verdict], row.group, _sentence(row, tested, setting)) for row in told]


def verdict(frame: pd.DataFrame, first: Finding | None, setting: Setting) -> str:
    """Say in one sentence what came out."""
    count, points = frame["verdict"].value_counts(), f"{100 * setting.margin:g} points"
    tested = int(frame["p_corrected"].notna().sum())
    shown, small = int(count.get("shown", 0)), int(count.get("small", 0))
    if not tested:
        return f"Nothing can be said: no comparison has {setting.minimum} {setting.unit} on either side that vary."
    asked = counted(tested, "differences") + " tested"
    if not shown:
        if small == tested:
            return f"No difference of {points} or more: all {asked} are ruled out to be so large."
        ruled = f"{small:,} are ruled out to be {points} or more" if small else f"none is ruled out to be {points}"
        rest = f"{tested - small:,} remain undecided"
        return f"No difference is shown, which is no proof of fairness: of {asked}, {ruled}, {rest}."
    large = (frame["verdict"] == "shown") & (frame["difference"].abs() >= setting.margin)
    sizes = (
        f"{'all' if large.sum() == shown else f'{large.sum():,}' if large.any() else 'none'} of them {points} or more"
    )
    subject = f", first of all for {first.subject}" if first and large.any() else ""
    told = f"{shown:,} {'is' if shown == 1 else 'are'} shown, {sizes}{subject}"
    return f"This model treats groups differently: of {asked}, {told}."


def summary(frame: pd.DataFrame, cases: int, setting: Setting) -> str:
    """Count what was compared, and how it came out."""
    count, tested = frame["verdict"].value_counts(), int(frame["p_corrected"].notna().sum())
    groups = len({*frame["group"], *frame["against"]} - {EVERYONE_ELSE})
    words = {
        "shown": "strong evidence of {:,}",
        "hint": "some of {:,}",
        "open": "too weak to tell {:,}",
        "small": f"{{:,}} ruled out to be {100 * setting.margin:g} points or more",
        "too few": f"{{:,}} (too few {setting.unit})",
        "undefined": "{:,} (nothing varies)",
    }
    told = {verdict: text.format(count[verdict]) for verdict, text in words.items() if verdict in count}
    untested = ", ".join(told.pop(verdict) for verdict in ("too few", "undefined") if verdict in told)
    said = f"{setting.title}: {cases:,} cases, {groups:,} groups."
    said += f" {counted(tested, 'differences')} tested{': ' if told else ''}{', '.join(told.values())}."
    return said + (f" Not tested: {untested}." if untested else "")


def _matters(setting: Setting) -> Callable[[object], bool]:
    return lambda row: (
        row.verdict in ("shown", "hint") or (row.verdict == "open" and abs(row.difference) >= setting.margin)
    )


def _order(setting: Setting) -> Callable[[object], tuple]:
    def key(row) -> tuple:
        size = abs(row.difference)
        concerned = max(size - setting.margin, 0) * row.n  # cases that fare differently beyond the margin
        return [*EVIDENCE].index(row.verdict), -concerned, -size

    return key


def _mirrored(row, other) -> bool:
    """Whether two comparisons say one thing: what one group has more of is what nearly all the others have less of."""
    same = (row.attribute, row.rate, row.class_name) == (other.attribute, other.rate, other.class_name)
    mirror = same and row.against == other.against == EVERYONE_ELSE and row.difference * other.difference < 0
    return mirror and row.n + other.n >= MIRROR * (row.n + row.n_against)


def _sentence(row, tested: int, setting: Setting) -> str:
    """Say what fares how, how strong the evidence is, and what would settle it."""
    margin, said = f"{100 * setting.margin:g} points", f"{_sides(row)}: {_apart(row)}."
    if row.verdict == "shown":
        ends = sorted((abs(row.low), abs(row.high)))
        size = "at least" if ends[0] >= setting.margin else "less than" if ends[1] < setting.margin else ""
        settled = f"It is {size} {margin}." if size else f"Whether it is {margin} or more is open."
        return f"{said} Chance leads to such a claim in {_chance(row.p_corrected)} audits. {settled}"
    asked = f", and {tested:,} questions were asked" if tested > 1 else ""
    why = f"Chance alone does this in {_chance(row.p)} audits{asked}."
    return f"{said} {why} {_settled(row, setting)}"


def _settled(row, setting: Setting) -> str:
    """Say how many more cases would show this difference, of the group or, where those would not do, of all."""
    if np.isfinite(row.settled_by):
        units = setting.unit if setting.columns.source is None else "sources with cases"
        more = f"{row.settled_by:,.0f} more {units}{_qualifying(row)}"
        return f"About {more} of {row.group} would settle it."
    times = row.settled_growth
    return f"About {times:,.{1 if times < 10 else 0}f} times as many {setting.unit} of all groups would settle it."


def _apart(row) -> str:
    direction, other = ("more", "less") if row.difference > 0 else ("less", "more")
    near, far = sorted((row.low, row.high), key=lambda end: end * row.difference)
    near = f"{_digits(abs(near))}{f' {other}' if near * row.difference < 0 else ''}"
    return f"{_digits(abs(row.difference))} points {direction} [{near} to {_digits(abs(far))} {direction}]"


def aside(frame: pd.DataFrame, single: Sequence[str], setting: Setting) -> str:
    """Name the groups of single attributes that are too small for any comparison."""
    rows, sides = frame[frame["attribute"].isin(single)], (["group", "units"], ["against", "units_against"])
    units = pd.concat([rows[side].set_axis(["group", "units"], axis=1) for side in sides])
    most = units[units["group"] != EVERYONE_ELSE].groupby("group", sort=False)["units"].max()
    few = most[most < setting.minimum].sort_values(ascending=False, kind="stable")
    named = "; ".join(f"{name} ({size:,})" for name, size in few.head(NAMED).items())
    rest = f"; and {counted(len(few) - NAMED, 'groups')} more" if len(few) > NAMED else ""
    return f"Too few to say anything, under {setting.minimum} {setting.unit}: {named}{rest}." if len(few) else ""


def records(frame: pd.DataFrame) -> list:
    """Return the rows of a frame as named tuples, for which "class" is no name."""
    return [*frame.rename(columns={"class": "class_name"}).itertuples(index=False)]


def grouped(rows: Sequence, *names: str) -> dict:
    """Return rows by what they hold under some names, in the order in which that first occurs."""
    found = {}
    for row in rows:
        found.setdefault(attrgetter(*names)(row), []).append(row)
    return found


def question(rate: str, class_name: str) -> str:
    """Return a rate's title with its class."""
    return RATES[rate].title.replace("{c}", f"‘{class_name}’")


def percent(share: float) -> str:
    """Write a share as a percentage; what is nearly none or nearly all does not read as none or all."""
    return f"{_digits(share)}%" if np.isfinite(share) else "undefined"


def _digits(share: float) -> str:
    size, digits = abs(share), 1
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


def _chance(p: float) -> str:
    return "fewer than 1 in 10,000" if p < 0.0001 else f"at most {100 * p:.{'2g' if p < 0.1 else '0f'}}% of"


def _sides(row) -> str:
    rate, c = RATES[row.rate], f"‘{row.class_name}’"
    words = rate.words.format(value=_value(row.value, rate), n=f"{row.n:,}", c=c)
    of = "over" if rate.uses_probability else "of"
    return f"{words}, against {_value(row.value_against, rate)} {of} {row.n_against:,} for {row.against}"


def _qualifying(row) -> str:
    """Return " whose label is ..." or what else a case must be for the rate of a row, or nothing."""
    words = RATES[row.rate].qualifies.format(c=f"‘{row.class_name}’")
    return f" {words}" if words else ""


def plain(text: str) -> str:
    """Write text as one line, in which no name can start a line of its own or steer a terminal."""
    return UNSAFE.sub("\ufffd", " ".join(text.split()))


def _value(value: float, rate: Rate) -> str:
    return f"{_digits(value)} points".replace("-", "−") if rate.farthest > 1 else percent(value)
