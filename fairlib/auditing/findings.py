"""From comparisons to a verdict, and at most five findings that need no statistics.

Every comparison has one of six verdicts (report.html explains them). Findings begin
with strong evidence; among these comes first what matters most: how far beyond the
margin a difference is, times how many cases it concerns.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairlib.auditing.compared import Compared
from fairlib.auditing.crossings import adding
from fairlib.auditing.groups import EVERYONE_ELSE
from fairlib.auditing.rates import COST
from fairlib.auditing.rows import records
from fairlib.auditing.setting import Setting
from fairlib.auditing.wording import amount, counted, digits, level

# The verdicts that lead to a finding, in this order.
EVIDENCE = {
    "shown": "strong evidence",
    "hint": "some evidence",
    "open": "too weak to tell",
}
MOST_FINDINGS = 5
# How many of the findings are too weak to tell.
MOST_WEAK_FINDINGS = 2
# The groups that one sentence names; more are counted.
MOST_NAMED_GROUPS = 6
# Of all cases: two groups that make up as much are each other's mirror.
MIRROR_SHARE = 0.9


@dataclass(frozen=True)
class Finding:
    """What is said about a group: the verdict behind it, the evidence, the sentences."""

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
    frame = compared.rows
    setting = compared.questions.setting
    told: list = []
    adds = adding(compared.questions)
    matters = frame["verdict"].isin(["shown", "hint"])
    matters |= (frame["verdict"] == "open") & (
        frame["difference"].abs() >= frame["margin"]
    )
    for row in sorted(records(frame[matters]), key=_order):
        weak = sum(other.verdict == "open" for other in told)
        if len(told) == MOST_FINDINGS or (
            row.verdict == "open" and weak == MOST_WEAK_FINDINGS
        ):
            break
        if not any(_mirrored(row, other) for other in told) and adds(row):
            told.append(row)
    tested = frame["p_corrected"].count()
    return tuple(
        Finding(
            verdict=row.verdict,
            evidence=EVIDENCE[row.verdict],
            subject=row.group,
            text=_sentence(row, tested, setting),
        )
        for row in told
    )


def _verdict(compared: Compared, items: Sequence[Finding]) -> str:
    """Say in one sentence what came out."""
    frame = compared.rows
    setting = compared.questions.setting
    first = next(iter(items), None)
    tested, count = frame["p_corrected"].count(), frame["verdict"].value_counts()
    shown, small = count.get("shown", 0), count.get("small", 0)
    if not tested:
        vary = f"vary{' and are not too skewed' if setting.columns.cost else ''}"
        return f"Nothing can be said: no comparison has {setting.minimum} {setting.unit} on either side that {vary}."
    asked = counted(tested, "differences") + " tested"
    if shown:
        sized = frame[
            (frame["verdict"] == "shown") & frame["margin"].notna()
        ]  # of costs, none may be named
        large, among = (sized["difference"].abs() >= sized["margin"]).sum(), len(sized)
        them = "them" if among == shown else f"{among:,} with a margin"
        sizes = f", {'all' if large == among else f'{large:,}' if large else 'none'} of {them} {setting.points} or more"
        subject = (
            f", first of all for {first.subject}"
            if first and (large or not among)
            else ""
        )
        told = f"{shown:,} {'is' if shown == 1 else 'are'} shown{sizes if among else ''}{subject}"
        treated = (
            "Groups fare differently"
            if (frame["rate"] == COST).all()
            else "This model treats groups differently"
        )
        return f"{treated}: of {asked}, {told}."
    if small == tested:
        return f"No difference of {setting.points} or more: all {asked} are ruled out to be so large."
    ruled = f"{small:,} are ruled out to be" if small else "none is ruled out to be"
    size = setting.points or "of a size that matters (no cost_margin is named)"
    told = f"{ruled} {size}{' or more' if small else ''}, {tested - small:,} remain undecided"
    return f"No difference is shown, which is no proof of fairness: of {asked}, {told}."


def _summary(compared: Compared) -> str:
    """Count what was compared, and how it came out."""
    frame = compared.rows
    setting = compared.questions.setting
    count, groups = (
        frame["verdict"].value_counts(),
        len({*frame["group"], *frame["against"]} - {EVERYONE_ELSE}),
    )
    why = "nothing varies" + ", or too skewed" * bool(setting.columns.cost)
    words = {
        "shown": "strong evidence of {:,}",
        "hint": "some of {:,}",
        "open": "too weak to tell {:,}",
        "small": f"{{:,}} ruled out to be {setting.points} or more",
        "too few": f"{{:,}} (too few {setting.unit})",
        "undefined": f"{{:,}} ({why})",
    }
    told = {
        name: text.format(count[name]) for name, text in words.items() if name in count
    }
    untested = ", ".join(
        told.pop(name) for name in ("too few", "undefined") if name in told
    )
    tested = (
        counted(frame["p_corrected"].count(), "differences")
        + " tested"
        + ": " * bool(told)
    )
    said = f"{setting.title}: {len(compared.questions.counts):,} cases, {groups:,} groups. {tested}{', '.join(told.values())}."
    return said + (f" Not tested: {untested}." if untested else "")


def _aside(compared: Compared) -> tuple[str, ...]:
    """Say who is in no comparison: cases that lack a value, groups of single attributes that are too small."""
    setting = compared.questions.setting
    is_single = compared.rows["attribute"].isin(setting.columns.group)
    rows = compared.rows[is_single]
    how = "a mean over strata, in which those count that hold both sides."
    within = (
        [f"Compared within {name!r}: {how}"] if (name := setting.columns.within) else []
    )
    sides = (
        rows[["group", "units"]],
        rows[["against", "units_against"]].set_axis(["group", "units"], axis=1),
    )
    most = (
        pd.concat(sides)
        .groupby("group", sort=False)["units"]
        .max()
        .drop(EVERYONE_ELSE, errors="ignore")
    )
    few = most[most < setting.minimum].sort_values(ascending=False, kind="stable")
    named = "; ".join(
        f"{name} ({size:,})" for name, size in few.head(MOST_NAMED_GROUPS).items()
    )
    rest = (
        f"; and {counted(len(few) - MOST_NAMED_GROUPS, 'groups')} more"
        if len(few) > MOST_NAMED_GROUPS
        else ""
    )
    small = [
        f"Too few to say anything, under {setting.minimum} {setting.unit}: {named}{rest}."
    ] * bool(named)
    return (*within, *compared.questions.counts.notes, *small)


def _order(row) -> tuple:
    """Return a key: the evidence, then how far beyond its margin times how many cases it concerns, then the size."""
    size = abs(row.difference)
    return (
        [*EVIDENCE].index(row.verdict),
        -max(np.nan_to_num(size / row.margin - 1), 0) * row.n,
        -size,
    )


def _mirrored(row, other) -> bool:
    """Whether two comparisons say one thing: what one group has more of is what nearly all the others have less of."""
    same = (row.attribute, row.rate, row.class_name) == (
        other.attribute,
        other.rate,
        other.class_name,
    )
    mirror = (
        same
        and row.against == other.against == EVERYONE_ELSE
        and row.difference * other.difference < 0
    )
    return mirror and row.n + other.n >= MIRROR_SHARE * (row.n + row.n_against)


def _sentence(row, tested: int, setting: Setting) -> str:
    """Say what fares how, how strong the evidence is, and what would settle it."""
    rate, c = setting.every_rate[row.rate], f"‘{row.class_name}’"
    mine, others = (level(row, value) for value in (row.value, row.value_against))
    said = rate.words.format(value=mine, n=f"{row.n:,}", c=c)
    said += f", against {others} {'over' if rate.uses_probability else 'of'} {row.n_against:,} for {row.against}"
    said += f": {_apart(row)}."
    if row.verdict == "shown":
        ends = sorted((abs(row.low), abs(row.high)))
        size = (
            "at least"
            if ends[0] >= row.margin
            else "less than"
            if ends[1] < row.margin
            else ""
        )
        margin = (
            f"{row.margin:g}" if row.rate == COST else f"{100 * row.margin:g} points"
        )
        settled = (
            f" It is {size} {margin}."
            if size
            else f" Whether it is {margin} or more is open."
        )
        settled = (
            settled if np.isfinite(row.margin) else ""
        )  # of costs none may be named
        return f"{said} Chance leads to such a claim in {_chance(row.p_corrected)} audits.{settled}"
    asked = f", and {tested:,} questions were asked" if tested > 1 else ""
    said += f" Chance alone does this in {_chance(row.p)} audits{asked}."
    if np.isfinite(
        row.settled_by
    ):  # by more cases of the group; or, where those would not do, of all
        units = setting.unit if setting.columns.source is None else "sources with cases"
        which = f" {rate.qualifies.format(c=c)}" if rate.qualifies else ""
        return f"{said} About {row.settled_by:,.0f} more {units}{which} of {row.group} would settle it."
    times = (
        f"{row.settled_growth:,.{1 if row.settled_growth < 10 else 0}f} times as many"
    )
    return f"{said} About {times} {setting.unit} of all groups would settle it."


def _apart(row) -> str:
    direction, other = ("more", "less") if row.difference > 0 else ("less", "more")
    near, far = sorted((row.low, row.high), key=lambda end: end * row.difference)
    written, unit = (amount, "") if row.rate == COST else (digits, " points")
    near = f"{written(abs(near))}{f' {other}' if near * row.difference < 0 else ''}"
    return f"{written(abs(row.difference))}{unit} {direction} [{near} to {written(abs(far))} {direction}]"


def _chance(p: float) -> str:
    return (
        "fewer than 1 in 10,000"
        if p < 0.0001
        else f"at most {100 * p:.{'2g' if p < 0.1 else '0f'}}% of"
    )
