"""From numbers to sentences that can be read without statistics, each with its interval and what chance would do.

Every comparison gets one of six verdicts (report.html explains them), and every verdict its own kind of sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import pandas as pd

from fairlib.auditing.groups import EVERYONE_ELSE
from fairlib.auditing.rates import RATES, Rate
from fairlib.auditing.setting import Setting

# Characters that HTML forbids, that no file can hold, or that make a text read other than written (bidi controls).
UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
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
    """Decide on every comparison."""
    choices = {
        "too few": rows[["units", "units_against"]].min(axis=1) < setting.minimum,
        "undefined": rows["p"].isna() | rows["low"].isna(),
        "shown": rows["p_corrected"] <= setting.alpha,
        "hint": rows["p"] <= setting.alpha,
        "small": (rows["low"] > -setting.margin) & (rows["high"] < setting.margin),
    }
    return np.select(list(choices.values()), list(choices), default="open")


def findings(frame: pd.DataFrame, setting: Setting) -> list[Finding]:
    """Return all sentences: what is shown, largest first; what is not, and why; which groups are too small."""
    rows = records(frame)
    by_verdict, tested = grouped(rows, "verdict"), sum(not np.isnan(row.p_corrected) for row in rows)
    found = []
    for verdict in ("shown", "hint"):
        for row in sorted(by_verdict.get(verdict, []), key=lambda row: -abs(row.difference)):
            found.append(Finding(verdict, row.group, _difference(row, tested, setting)))
    for verdict in ("open", "small", "undefined", "too few"):
        for (rate, class_name), same in grouped(by_verdict.get(verdict, []), "rate", "class_name").items():
            found.append(Finding(verdict, question(rate, class_name), _together(verdict, same, setting)))
    return found


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


def _needed(rows: Sequence, setting: Setting) -> str:
    """Say how many more cases of each group would tell, or of all groups where those alone would not do."""
    wanting = sorted((row for row in rows if row.more > 0), key=lambda row: (row.more, row.growth))
    if not wanting:
        return ""
    enough = [row for row in wanting if np.isfinite(row.more)]
    told = [f"{row.more:,.0f} of {row.group}" for row in enough[:NAMED]]
    if told:
        units = setting.unit if setting.columns.source is None else "sources with cases"
        number, units = counted(enough[0].more, units).split(" ", 1)
        told[0] = f"about {number} more {units}{_qualifying(enough[0])} of {enough[0].group}"
    if len(enough) < len(wanting):
        factor = max(row.growth for row in wanting[len(enough) :])
        others = f"about {factor:,.{1 if factor < 10 else 0}f} times as many {setting.unit} of all groups"
        told.append(f"for the others, {others}" if told else others)
    return f"A difference of {100 * setting.margin:g} points would be shown by {'; '.join(told)}."


def _qualifying(row) -> str:
    """Return " whose label is ..." or what else a case must be for the rate of a row, or nothing."""
    words = RATES[row.rate].qualifies.format(c=f"‘{row.class_name}’")
    return f" {words}" if words else ""


def plain(text: str) -> str:
    """Write text as one line, in which no name can start a line of its own or steer a terminal."""
    return UNSAFE.sub("\ufffd", " ".join(text.split()))


def _difference(row, tested: int, setting: Setting) -> str:
    direction = "more" if row.difference > 0 else "less"
    low, high = sorted((abs(row.low), abs(row.high)))  # both on one side of 0, or it would not be told
    apart = f"{_digits(abs(row.difference))} points {direction} [{_digits(low)}, {_digits(high)}]"
    said = f"{_sides(row)}: {apart}."
    if row.verdict == "shown":
        margin = 100 * setting.margin
        small = f" It is smaller than {margin:g} points." if 100 * max(abs(row.low), abs(row.high)) < margin else ""
        often = _chance(row.p_corrected)
        return f"{said} A model that treats all alike would lead to such a claim in {often} audits.{small}"
    among = f"among {tested:,} comparisons it is no evidence" if tested > 1 else "that is too often for evidence"
    only = "If this were the only comparison, chance" if tested > 1 else "Chance"
    return f"{said} {only} would do this in {_chance(row.p)} audits; {among}. {_needed([row], setting)}".rstrip()


def _together(verdict: str, rows: Sequence, setting: Setting) -> str:
    """Say in one sentence what groups have in common that one cannot, or need not, tell apart from the others."""
    if verdict == "too few":
        return _too_few(rows, setting)
    groups, points = list(dict.fromkeys(row.group for row in rows)), f"{100 * setting.margin:g} points"
    rest = len(groups) - NAMED
    named = "; ".join(groups[:NAMED]) + (f"; and {counted(rest, 'groups')} more" if rest > 0 else "")
    words = {
        "undefined": f"nothing to compare for {named}: nothing varies.",
        "small": f"a difference of {points} or more is ruled out for {named}.",
        "open": f"the difference is not decided for {named}: it may be none, or one of {points}.",
    }
    return f"{words[verdict]} {_needed(rows, setting) if verdict == 'open' else ''}".rstrip()


def _too_few(rows: Sequence, setting: Setting) -> str:
    few = dict(map(_smaller, rows))  # a reference that is too small stands in many rows
    largest = sorted(few.items(), key=lambda side: -side[1])
    counts = [f"{name} ({units:,.0f})" for name, units in largest[:NAMED]]
    rest = f" and {counted(len(few) - NAMED, 'groups')} more" if len(few) > NAMED else ""
    which = _qualifying(rows[0])
    units = f"{setting.unit}{' with cases' if which and setting.unit != 'cases' else ''}{which}"
    return f"too few to say anything, under {setting.minimum} {units}: {'; '.join(counts)}{rest}."


def _smaller(row) -> tuple[str, int]:
    """Return which side of a comparison is the smaller one, and how many independent cases it has."""
    if row.units <= row.units_against:
        return row.group, row.units
    return (f"everyone but {row.group}" if row.against == EVERYONE_ELSE else row.against), row.units_against


def _value(value: float, rate: Rate) -> str:
    return f"{_digits(value)} points".replace("-", "−") if rate.farthest > 1 else percent(value)
