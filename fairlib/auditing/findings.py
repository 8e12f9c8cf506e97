"""From comparisons to a verdict, and at most five findings that need no statistics.

Every comparison has one of six verdicts (report.html explains them). Findings begin
with strong evidence; among these comes first what matters most: how far beyond the
margin a difference is, times how many cases it concerns.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairlib.auditing.compared import Compared
from fairlib.auditing.crossings import adding
from fairlib.auditing.groups import EVERYONE_ELSE
from fairlib.auditing.rates import COST
from fairlib.auditing.rows import records
from fairlib.auditing.setting import Setting
from fairlib.auditing.wording import amount, counted, digits, level

# The verdicts that lead to a finding, in the order of findings.
EVIDENCE = {
    "shown": "strong evidence",
    "hint": "some evidence",
    "open": "too weak to tell",
}
MOST_FINDINGS = 5
MOST_WEAK_FINDINGS = 2  # among the findings, those that are too weak to tell
MOST_NAMED_GROUPS = 6  # in one sentence; further groups are counted
MIRROR_SHARE = 0.9  # of all cases: two groups that make up as much mirror each other


@dataclass(frozen=True)
class Finding:
    """What is said about a group: its verdict, the evidence, and the sentences."""

    verdict: str
    evidence: str
    subject: str
    text: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.text} ({self.evidence})"


@dataclass(frozen=True, eq=False, kw_only=True)
class Findings:
    """What an audit says in words.

    Attributes
    ----------
    compared : Compared
        All comparisons.
    items : tuple of Finding
        At most five findings, the one that matters most first.
    verdict : str
        The result in one sentence.
    summary : str
        How many comparisons there are, and with which results.
    aside : tuple of str
        Who is in no comparison, and what else a reader should know.
    """

    compared: Compared
    items: tuple[Finding, ...]
    verdict: str
    summary: str
    aside: tuple[str, ...]


def findings_of(compared: Compared) -> Findings:
    """Return what the comparisons of an audit say in words."""
    items = _items(compared)
    return Findings(
        compared=compared,
        items=items,
        verdict=_verdict(compared, items),
        summary=_summary(compared),
        aside=_aside(compared),
    )


def _items(compared: Compared) -> tuple[Finding, ...]:
    """Return at most five findings, the one that matters most first."""
    rows = compared.rows
    has_evidence = rows["verdict"].isin(["shown", "hint"])
    may_be_large = rows["difference"].abs() >= rows["margin"]
    matters = has_evidence | ((rows["verdict"] == "open") & may_be_large)

    adds_something = adding(compared.questions)
    chosen: list[Any] = []
    weak = 0
    for row in sorted(records(rows[matters]), key=_order):
        is_weak = row.verdict == "open"
        if len(chosen) == MOST_FINDINGS or (is_weak and weak == MOST_WEAK_FINDINGS):
            break
        if any(_is_mirror(row, earlier) for earlier in chosen):
            continue
        if adds_something(row):
            chosen.append(row)
            weak += is_weak

    setting = compared.questions.setting
    tested = rows["p_corrected"].count()
    return tuple(
        Finding(
            verdict=row.verdict,
            evidence=EVIDENCE[row.verdict],
            subject=row.group,
            text=_sentence(row, tested, setting),
        )
        for row in chosen
    )


def _order(row) -> tuple:
    """Return a key: first the evidence, then what matters, then the size.

    What matters is how far a difference lies beyond its margin, times how many cases it
    concerns.
    """
    size = abs(row.difference)
    beyond = max(np.nan_to_num(size / row.margin - 1), 0)
    return list(EVIDENCE).index(row.verdict), -beyond * row.n, -size


def _is_mirror(row, earlier) -> bool:
    """Whether two comparisons say the same thing from both sides.

    What one group has more of, nearly all other cases have less of.
    """
    for name in ("attribute", "rate", "class_name"):
        if getattr(row, name) != getattr(earlier, name):
            return False

    if not row.against == earlier.against == EVERYONE_ELSE:
        return False
    if row.difference * earlier.difference >= 0:
        return False
    return row.n + earlier.n >= MIRROR_SHARE * (row.n + row.n_against)


def _verdict(compared: Compared, items: Sequence[Finding]) -> str:
    """Say the result in one sentence."""
    setting = compared.questions.setting
    rows = compared.rows
    tested = rows["p_corrected"].count()
    if not tested:
        skewed = " and are not too skewed" if setting.columns.cost else ""
        return (
            f"Nothing can be said: no comparison has {setting.minimum} {setting.unit} "
            f"on either side that vary{skewed}."
        )

    differences = f"{counted(tested, 'differences')} tested"
    if (rows["verdict"] == "shown").any():
        only_costs = (rows["rate"] == COST).all()
        subject = "Groups fare" if only_costs else "This model treats groups"
        shown = _shown(rows, items, setting)
        return f"{subject} differently: of {differences}, {shown}."

    small = (rows["verdict"] == "small").sum()
    if small == tested:
        return (
            f"No difference of {setting.points} or more: "
            f"all {differences} are ruled out to be so large."
        )

    ruled_out = "none is ruled out to be"
    or_more = ""
    if small:
        ruled_out = f"{small:,} are ruled out to be"
        or_more = " or more"
    size = setting.points or "of a size that matters (no cost_margin is named)"
    return (
        f"No difference is shown, which is no proof of fairness: of {differences}, "
        f"{ruled_out} {size}{or_more}, {tested - small:,} remain undecided."
    )


def _shown(rows: pd.DataFrame, items: Sequence[Finding], setting: Setting) -> str:
    """Say how many differences are shown, how large they are, and the first of them."""
    shown = rows[rows["verdict"] == "shown"]
    are = "is" if len(shown) == 1 else "are"
    text = f"{len(shown):,} {are} shown"

    # Costs may have no margin; nothing is said about their size then.
    with_margin = shown[shown["margin"].notna()]
    large = (with_margin["difference"].abs() >= with_margin["margin"]).sum()
    if len(with_margin):
        number = f"{large:,}" if large else "none"
        if large == len(with_margin):
            number = "all"
        of_them = "them"
        if len(with_margin) < len(shown):
            of_them = f"{len(with_margin):,} with a margin"
        text += f", {number} of {of_them} {setting.points} or more"

    if items and (large or not len(with_margin)):
        text += f", first of all for {items[0].subject}"
    return text


def _summary(compared: Compared) -> str:
    """Count what was compared, by the results."""
    rows = compared.rows
    setting = compared.questions.setting
    number = Counter(rows["verdict"])
    skewed = ", or too skewed" if setting.columns.cost else ""

    results = {
        "shown": f"strong evidence of {number['shown']:,}",
        "hint": f"some of {number['hint']:,}",
        "open": f"too weak to tell {number['open']:,}",
        "small": f"{number['small']:,} ruled out to be {setting.points} or more",
    }
    untested = {
        "too few": f"{number['too few']:,} (too few {setting.unit})",
        "undefined": f"{number['undefined']:,} (nothing varies{skewed})",
    }

    cases = len(compared.questions.counts)
    groups = len({*rows["group"], *rows["against"]} - {EVERYONE_ELSE})
    tested = counted(rows["p_corrected"].count(), "differences")
    text = f"{setting.title}: {cases:,} cases, {groups:,} groups. {tested} tested"
    if number.keys() & results:
        text += f": {_about(number, results)}"
    text += "."
    if number.keys() & untested:
        text += f" Not tested: {_about(number, untested)}."
    return text


def _about(number: Mapping[str, int], words: Mapping[str, str]) -> str:
    """Join the words about verdicts that at least one comparison has."""
    return ", ".join(words[verdict] for verdict in words if number[verdict])


def _aside(compared: Compared) -> tuple[str, ...]:
    """Say how columns were read, and which groups of one attribute are too small."""
    setting = compared.questions.setting
    notes = []
    if setting.columns.within:
        notes.append(
            f"Compared within {setting.columns.within!r}: a mean over strata, "
            "in which those count that hold both sides."
        )
    notes += compared.questions.counts.notes

    # A group may be small on one side only: as a reference, or among those compared.
    rows = compared.rows[compared.rows["attribute"].isin(setting.columns.group)]
    sides = [
        rows.set_index("group")["units"],
        rows.set_index("against")["units_against"],
    ]
    largest = pd.concat(sides).groupby(level=0, sort=False).max()
    small = largest[largest < setting.minimum].drop(EVERYONE_ELSE, errors="ignore")
    if small.empty:
        return tuple(notes)

    small = small.sort_values(ascending=False, kind="stable")
    names = [
        f"{name} ({size:,})" for name, size in small.head(MOST_NAMED_GROUPS).items()
    ]
    if len(small) > MOST_NAMED_GROUPS:
        names.append(f"and {counted(len(small) - MOST_NAMED_GROUPS, 'groups')} more")
    notes.append(
        f"Too few to say anything, under {setting.minimum} {setting.unit}: "
        f"{'; '.join(names)}."
    )
    return tuple(notes)


def _sentence(row, tested: int, setting: Setting) -> str:
    """Say how a group fares, how strong the evidence is, and what would settle it."""
    rate = setting.every_rate[row.rate]
    class_name = f"‘{row.class_name}’"
    over = "over" if rate.uses_probability else "of"
    fares = rate.words.format(value=level(row, row.value), n=f"{row.n:,}", c=class_name)
    comparison = (
        f"{fares}, against {level(row, row.value_against)} {over} "
        f"{row.n_against:,} for {row.against}: {_difference(row)}."
    )
    if row.verdict == "shown":
        chance = f"Chance leads to such a claim in {_chance(row.p_corrected)} audits."
        return f"{comparison} {chance}{_size(row)}"

    chance = f"Chance alone does this in {_chance(row.p)} audits"
    if tested > 1:
        chance += f", and {tested:,} questions were asked"

    # More cases of the group settle it; if they would not do, more of all groups.
    if np.isfinite(row.settled_by):
        units = "sources with cases" if setting.columns.source else setting.unit
        if rate.qualifies:
            units += f" {rate.qualifies.format(c=class_name)}"
        needed = f"{row.settled_by:,.0f} more {units} of {row.group}"
    else:
        decimals = 1 if row.settled_growth < 10 else 0
        times = f"{row.settled_growth:,.{decimals}f} times as many"
        needed = f"{times} {setting.unit} of all groups"
    return f"{comparison} {chance}. About {needed} would settle it."


def _size(row) -> str:
    """Say whether a shown difference is as large as its margin, if it has one."""
    if not np.isfinite(row.margin):
        return ""

    margin = f"{row.margin:g}" if row.rate == COST else f"{100 * row.margin:g} points"
    nearest, farthest = sorted((abs(row.low), abs(row.high)))
    if nearest >= row.margin:
        return f" It is at least {margin}."
    if farthest < row.margin:
        return f" It is less than {margin}."
    return f" Whether it is {margin} or more is open."


def _difference(row) -> str:
    """Write a difference with its interval, such as "3.1 points more [1 to 5 more]"."""
    direction = "more"
    opposite = "less"
    near = row.low
    far = row.high
    if row.difference < 0:
        direction, opposite = opposite, direction
        near, far = far, near

    write = amount if row.rate == COST else digits
    unit = "" if row.rate == COST else " points"
    start = write(abs(near))
    if near * row.difference < 0:
        start += f" {opposite}"
    size = f"{write(abs(row.difference))}{unit}"
    return f"{size} {direction} [{start} to {write(abs(far))} {direction}]"


def _chance(p: float) -> str:
    """Write a p-value as a share of audits."""
    if p < 0.0001:
        return "fewer than 1 in 10,000"
    if p < 0.1:
        return f"at most {100 * p:.2g}% of"
    return f"at most {100 * p:.0f}% of"
