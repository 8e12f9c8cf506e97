"""From numbers to a verdict, and at most five findings that can be read without statistics, what matters most first.

Every comparison gets one of six verdicts (report.html explains them). Told first is what is shown; then what matters
most: how far beyond the margin it is, times how many cases it concerns.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import pandas as pd

from fairlib.auditing import comparing, further
from fairlib.auditing.comparing import Contrast
from fairlib.auditing.groups import EVERYONE_ELSE
from fairlib.auditing.people import People
from fairlib.auditing.rates import COST, RATES, SUMMARIES, Setting
from fairlib.intervals import multiplicity

# Characters that HTML forbids, that no file can hold, or that make a text read other than written (bidi controls).
UNSAFE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
EVIDENCE = {
    "shown": "strong evidence",
    "hint": "some evidence",
    "open": "too weak to tell",
}  # in this order
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


def decided(
    rows: pd.DataFrame, compared: Contrast, setting: Setting, cases: People
) -> pd.DataFrame:
    """Decide on the comparisons, all of them together, and say how many more cases each would need.

    Costs get their units at the end. Holm's correction, not max-T, which would need all comparisons for every draw.
    """
    sides = {
        "n": compared.n.astype(np.int64),
        "value": compared.value,
        "units": compared.units.astype(np.int64),
    }
    for name, values in sides.items():
        rows[name], rows[f"{name}_against"] = values
    with np.errstate(divide="ignore", invalid="ignore"):
        rows["ratio"] = np.where(
            compared.span == 1, compared.value[0] / compared.value[1], np.nan
        )
    rows["difference"], rows["p"] = compared.difference, compared.p
    own = (
        np.nan
        if setting.cost_margin is None
        else setting.cost_margin / cases.cost.reach
    )
    rows["margin"] = margin = np.where(rows["rate"] == COST, own, setting.margin)
    share, few = (
        (1 - SUMMARIES) * setting.alpha,
        compared.units.min(axis=0) < setting.minimum,
    )
    rows["p_corrected"] = np.minimum(
        multiplicity.holm(rows["p"].mask(few)) / (1 - SUMMARIES), 1
    )
    questions, shown = (
        max(1, rows["p_corrected"].count()),
        rows["p_corrected"] <= setting.alpha,
    )
    # Not shown, and yet rare: among so many, chance makes less than one such on average.
    hint = (rows["p"] <= setting.alpha) & (rows["p"] * questions <= 1) & ~shown

    def decide(alpha: float) -> int:
        """Give intervals and verdicts at a level for each comparison; return how many say something."""
        level = np.where(hint, setting.alpha, alpha)
        rows["confidence"], (rows["low"], rows["high"]) = (
            1 - level,
            comparing.ends(compared, level),
        )
        rows["ratio_low"], rows["ratio_high"] = comparing.ratio_ends(compared, level)
        verdicts = {
            "too few": few,
            "undefined": rows["p"].isna() | rows["low"].isna(),
            "shown": shown,
            "hint": hint,
            "small": (rows["low"] > -margin) & (rows["high"] < margin),
        }
        rows["verdict"] = np.select([*verdicts.values()], [*verdicts], default="open")
        return rows["verdict"].isin(["shown", "small"]).sum()

    # Where R of m say something, intervals of level R alpha / m keep the false coverage rate (Benjamini and Yekutieli
    # 2005, JASA 100); R is found from above. What Holm's correction shows is off 0 then: p <= alpha / (m - R + 1).
    count = questions
    while (found := max(1, decide(setting.alpha * count / questions))) < count:
        count = found
    # Planned for the level at which one comparison among so many is shown; Holm's first step, so a little too careful.
    size = np.fmax(np.abs(compared.difference), margin)
    with np.errstate(divide="ignore"):  # no difference, and no margin
        settling = comparing.settling(
            compared, size=size, alpha=share / questions, power=setting.power
        )
    rows["settled_by"], rows["settled_growth"] = settling
    return cases.in_units(rows)


def findings(report) -> list[Finding]:
    """Return at most five, what matters most first: with interval, evidence, and what would settle it."""
    frame, setting, told = report.rows, report.setting, []
    adds = further.adding(report.people, report.questions, alpha=setting.alpha)
    matters = frame["verdict"].isin(["shown", "hint"])
    matters |= (frame["verdict"] == "open") & (
        frame["difference"].abs() >= frame["margin"]
    )
    for row in sorted(records(frame[matters]), key=_order):
        weak = sum(other.verdict == "open" for other in told)
        if len(told) == MOST or (row.verdict == "open" and weak == MOST_WEAK):
            break
        if not any(_mirrored(row, other) for other in told) and adds(row):
            told.append(row)
    tested = frame["p_corrected"].count()
    return [
        Finding(
            row.verdict,
            EVIDENCE[row.verdict],
            row.group,
            _sentence(row, tested, setting),
        )
        for row in told
    ]


def verdict(report) -> str:
    """Say in one sentence what came out."""
    frame, setting, first = (
        report.rows,
        report.setting,
        next(iter(report.findings), None),
    )
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


def summary(report) -> str:
    """Count what was compared, and how it came out."""
    frame, setting = report.rows, report.setting
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
    said = f"{setting.title}: {len(report.people):,} cases, {groups:,} groups. {tested}{', '.join(told.values())}."
    return said + (f" Not tested: {untested}." if untested else "")


def aside(report) -> list[str]:
    """Say who is in no comparison: cases that lack a value, groups of single attributes that are too small."""
    rows, setting = (
        report.rows[report.rows["attribute"].isin(report.setting.columns.group)],
        report.setting,
    )
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
    named = "; ".join(f"{name} ({size:,})" for name, size in few.head(NAMED).items())
    rest = (
        f"; and {counted(len(few) - NAMED, 'groups')} more" if len(few) > NAMED else ""
    )
    small = [
        f"Too few to say anything, under {setting.minimum} {setting.unit}: {named}{rest}."
    ] * bool(named)
    return [*within, *report.people.notes, *small]


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
    return mirror and row.n + other.n >= MIRROR * (row.n + row.n_against)


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
    written, unit = (amount, "") if row.rate == COST else (_digits, " points")
    near = f"{written(abs(near))}{f' {other}' if near * row.difference < 0 else ''}"
    return f"{written(abs(row.difference))}{unit} {direction} [{near} to {written(abs(far))} {direction}]"


def _chance(p: float) -> str:
    return (
        "fewer than 1 in 10,000"
        if p < 0.0001
        else f"at most {100 * p:.{'2g' if p < 0.1 else '0f'}}% of"
    )


def records(frame: pd.DataFrame | None) -> list:
    """Return the rows of a frame, if there is one, as named tuples, for which "class" is no name."""
    return (
        []
        if frame is None
        else [*frame.rename(columns={"class": "class_name"}).itertuples(index=False)]
    )


def grouped(rows: Sequence, *names: str) -> dict:
    """Return rows by what they hold under some names, in the order in which that first occurs."""
    found = {}
    for row in rows:
        found.setdefault(attrgetter(*names)(row), []).append(row)
    return found


def short(row) -> str:
    """Return the name of a row's rate, with its class."""
    return f"{row.rate} ({row.class_name})" if row.class_name else row.rate


def level(row, value: float) -> str:
    """Write a value of a row: as a percentage, in points where it may be negative, or a cost in its units."""
    if row.rate == COST:
        return amount(value)
    rate = RATES.get(row.rate)
    return (
        f"{_digits(value)} points".replace("-", "−")
        if rate and rate.farthest > 1
        else percent(value)
    )


def amount(value: float) -> str:
    """Write a cost, or a difference of costs, with four digits that count."""
    return (
        f"{float(f'{value:.4g}'):,.12g}".replace("-", "−")
        if np.isfinite(value)
        else "undefined"
    )


def percent(share: float) -> str:
    """Write a share as a percentage; what is nearly none or nearly all does not read as none or all."""
    return f"{_digits(share)}%" if np.isfinite(share) else "undefined"


def _digits(share: float) -> str:
    size, digits = abs(share), 1
    if size in (0, 1):
        return f"{100 * share:.0f}"
    if size < 0.0005:
        return np.format_float_positional(
            100 * share, precision=1, fractional=False, trim="-"
        )
    while digits < 9 and size < 1 and round(100 * size, digits) == 100:
        digits += 1
    return f"{100 * share:.{digits}f}"


def counted(number: int, plural: str) -> str:
    """Write a number with the plural of what it counts, such as "1 case" and "2 cases"."""
    return f"{number:,} {plural.removesuffix('s') if number == 1 else plural}"


def plain(text: str) -> str:
    """Write text as one line, in which no name can start a line of its own or steer a terminal."""
    return UNSAFE.sub("\ufffd", " ".join(text.split()))
