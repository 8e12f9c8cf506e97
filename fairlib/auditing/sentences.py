"""How an audit writes one comparison as a sentence."""

from typing import Any

import numpy as np

from fairlib.auditing.questions import Questions
from fairlib.auditing.rates import COST
from fairlib.auditing.setting import Setting
from fairlib.auditing.wording import amount, digits, level

# The columns that change their places if the two sides of a comparison do.
_SIDES = (
    ("group", "against"),
    ("n", "n_against"),
    ("value", "value_against"),
    ("units", "units_against"),
    ("crude", "crude_against"),
)


def is_worse_off(row: Any, questions: Questions) -> bool:
    """Whether the group of a row is worse off than those it is compared with.

    The side with more errors is worse off, and the side that gets the favourable
    prediction less often. If no prediction is known to be favourable, the higher side
    counts.
    """
    higher = row.difference > 0
    if row.question != "selection" or questions.favourable is None:
        return higher

    favourable = questions.counts.classes[questions.favourable]
    return not higher if row.class_name == favourable else higher


def with_worse_off_first(row: Any, questions: Questions) -> Any:
    """Return the row of a pair of groups with the group first that is worse off.

    So the subject of a sentence does not depend on how the groups are spelled. Groups
    that are compared with everyone else, or with a reference, stay where they are.
    """
    pairs = {family.attribute for family in questions.families if family.is_pair}
    if row.attribute not in pairs or is_worse_off(row, questions):
        return row

    exchanged = {
        "difference": -row.difference,
        "low": -row.high,
        "high": -row.low,
    }
    with np.errstate(divide="ignore", invalid="ignore"):
        exchanged["ratio"] = float(np.divide(1.0, row.ratio))
        exchanged["ratio_low"] = float(np.divide(1.0, row.ratio_high))
        exchanged["ratio_high"] = float(np.divide(1.0, row.ratio_low))
    for first, second in _SIDES:
        if hasattr(row, first):
            exchanged[first] = getattr(row, second)
            exchanged[second] = getattr(row, first)
    return row._replace(**exchanged)


def comparison(row: Any, setting: Setting) -> str:
    """Say how a group fares against another one, with the interval of the gap."""
    rate = setting.every_rate[row.rate]
    over = "over" if rate.uses_probability else "of"
    fares = rate.words.format(
        value=level(row, row.value), n=f"{row.n:,}", c=f"‘{row.class_name}’"
    )
    return (
        f"{fares}, against {level(row, row.value_against)} {over} "
        f"{row.n_against:,} for {row.against}: {difference(row)}."
    )


def over_all_cases(row: Any, setting: Setting) -> str:
    """Say what means over strata would be over all cases, if there are strata."""
    if not setting.columns.within:
        return ""

    return (
        f"Both values are means over the strata of {setting.columns.within!r}. Over "
        f"all cases, whatever their stratum, they are {level(row, row.crude)} and "
        f"{level(row, row.crude_against)}{_reversed(row)}."
    )


def _reversed(row: Any) -> str:
    """Say so if the difference over all cases points the other way."""
    if (row.crude - row.crude_against) * row.difference < 0:
        return ", so that the difference points the other way"
    return ""


def chance(row: Any) -> str:
    """Say how often chance leads to a finding like this one.

    A shown difference has a p-value for all comparisons together. The others have
    that of their own comparison, which says less: among many, some are small by chance.
    """
    if row.verdict == "shown":
        return f"chance leads to such a claim in {chance_of(row.p_corrected)} audits"
    share = chance_of(row.p)
    return (
        f"in one comparison alone, chance leads to such a difference in {share} audits"
    )


def needed(row: Any, setting: Setting) -> str:
    """Say how many more cases would probably answer what is not shown."""
    return "" if row.verdict == "shown" else _needed(row, setting)


def _needed(row: Any, setting: Setting) -> str:
    """Say how many more cases would probably give a clear answer."""
    share = f"{100 * setting.power:g} of 100 audits"
    if row.settled_by < 1:
        return f"A new sample of this size would give a clear answer in about {share}."

    if np.isfinite(row.settled_by):
        rate = setting.every_rate[row.rate]
        needed = f"{row.settled_by:,.0f} more {setting.unit} of {row.more_of}"
        if rate.qualifies:
            cases = " with cases" if setting.columns.source else ""
            qualifying = rate.qualifies.format(c=f"‘{row.class_name}’")
            needed += f"{cases} {qualifying}"
        return f"A clear answer needs about {needed}."

    # If more cases of the group would not do, more of all groups are needed.
    decimals = 1 if row.settled_growth < 10 else 0
    times = f"{row.settled_growth:,.{decimals}f} times as many"
    return f"A clear answer needs about {times} {setting.unit} in all groups."


def size(row: Any, setting: Setting) -> str:
    """Say whether a shown difference is as large as its margins, in points and ratio.

    A difference can be small in points and large as a ratio. Then both are said.
    """
    if row.verdict != "shown" or not row.size:
        return ""

    margin = margin_of(row)
    sentences = {
        "beyond": f"The difference is at least {margin}.",
        "within": f"The difference is less than {margin}.",
        "open": f"The difference may be less or more than {margin}.",
    }
    texts = [sentences[row.size]]
    if row.size != "beyond" and row.ratio_size in ("beyond", "open"):
        ratio = f"{row.ratio:.2f} [{row.ratio_low:.2f}, {row.ratio_high:.2f}]"
        limits = f"{setting.ratio_margin:g} to {1 / setting.ratio_margin:g}"
        outside = {
            "beyond": f"As a ratio it is large: {ratio} lies outside {limits}.",
            "open": f"The ratio, {ratio}, may lie inside or outside {limits}.",
        }
        texts.append(outside[row.ratio_size])
    return " ".join(texts)


def margin_of(row: Any) -> str:
    """Write the margin of a comparison with its unit."""
    if row.rate == COST:
        return f"{row.margin:g}"
    return f"{100 * row.margin:g} points"


def difference(row: Any) -> str:
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


def apart(row: Any) -> str:
    """Write how far two sides are apart, such as "5.4 points apart [1.8, 9.1]"."""
    write = amount if row.rate == COST else digits
    unit = "" if row.rate == COST else " points"
    ends = (row.low, row.high) if row.difference >= 0 else (-row.high, -row.low)
    low, high = (write(end).replace("-", "−") for end in ends)
    return f"{write(abs(row.difference))}{unit} apart [{low}, {high}]"


def chance_of(p: float) -> str:
    """Write a p-value as a share of audits."""
    if p < 0.0001:
        return "fewer than 1 in 10,000"
    if p < 0.1:
        return f"at most {100 * p:.2g}% of"
    return f"at most {100 * p:.0f}% of"
