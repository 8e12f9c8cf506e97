"""Each group's own rate with its interval, and how often each outcome occurs.

A comparison says how far two groups are apart. Many readers want to know first what the
rate of a group is, how many cases it rests on, and whether the outcome itself is as
frequent in one group as in another.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
from pandas import DataFrame

from fairlib.auditing import comparing
from fairlib.auditing.claims import decide
from fairlib.auditing.comparing import Contrast
from fairlib.auditing.groups import Family
from fairlib.auditing.questions import Questions
from fairlib.auditing.rates import COST, Rate
from fairlib.auditing.sums import Sums, sums_of

BASE_RATE = "base rate"
# How often the class is the label. Nothing is predicted here.
BASE_RATE_RATE = Rate(
    question="outcomes",
    title="Base rate (how often {c} is the label)",
    words="the label is {c} in {value} of {n} cases",
    share="FN TP / TN FP FN TP",
    needs=("label",),
)


def own_rates(questions: Questions) -> DataFrame:
    """Return the rates of each group, each with an interval for itself alone.

    Groups are those of single attributes.

    Returns
    -------
    DataFrame
        One row per group, rate and class: `n` cases, `value`, and the interval from
        `low` to `high`; with labels also the rate "base rate". Strata are ignored.
        Groups with too few cases have no value.
    """
    single = [family for family in questions.families if len(family.attributes) == 1]
    pairs = [
        (question.sums, question.family)
        for question in questions.questions
        if len(question.family.attributes) == 1
    ]
    pairs += [
        (sums.of(family), family) for family in single for sums in base_rates(questions)
    ]
    if not pairs:
        return DataFrame()

    tables = [_rates_of_groups(sums, family, questions) for sums, family in pairs]
    rows = pd.concat(tables, ignore_index=True).astype({"n": np.int64})

    cost = questions.counts.cost
    if cost is not None:
        is_cost = rows["rate"] == COST
        for name in ("value", "low", "high"):
            in_units = cost.middle + cost.reach * rows[name]
            rows[name] = np.where(is_cost, in_units, rows[name])
    return rows


def base_rates(questions: Questions) -> list[Sums]:
    """Return how often each measured class is the label; nothing without labels."""
    counts = questions.counts
    if counts.label is None:
        return []

    # The share needs no prediction. With labels alone, each case is as good as any.
    with_labels = counts
    if counts.prediction is None:
        with_labels = replace(counts, prediction=counts.label)
    return list(sums_of(with_labels, {BASE_RATE: BASE_RATE_RATE}))


def outcomes(questions: Questions, *, share: float) -> DataFrame | None:
    """Return whether the outcome is as frequent in one group as in another.

    Parameters
    ----------
    questions : Questions
        What is asked, and the counts that answer it.
    share : float
        The part of alpha that all these claims may use together.

    Returns
    -------
    DataFrame or None
        None without labels. Otherwise the comparisons of base rates, with the columns
        of `Report.to_frame` that apply; `verdict` is "shown" or "open".
    """
    sums_of_classes = base_rates(questions)
    if not sums_of_classes:
        return None

    tables = []
    for sums in sums_of_classes:
        for family in questions.families:
            if len(family.attributes) > 1:
                continue
            sides = comparing.contrast(sums.of(family), family)
            tables.append(_comparison(sums, family, sides))
    rows = pd.concat(tables, ignore_index=True)

    setting = questions.setting
    is_small = rows[["units", "units_against"]].min(axis=1) < setting.fewest
    decided = decide(rows["p"].mask(is_small), alpha=setting.alpha, share=share)
    rows[["p_corrected", "verdict"]] = decided
    rows.loc[is_small, "verdict"] = "too few"
    return rows


def _comparison(sums: Sums, family: Family, sides: Contrast) -> DataFrame:
    """Return the base rates of the groups of a family, compared."""
    n, n_against = sides.n.astype(np.int64)
    units, units_against = sides.units
    value, value_against = sides.value

    return DataFrame(
        {
            **sums.about(family),
            "n": n,
            "n_against": n_against,
            "units": units,
            "units_against": units_against,
            "value": value,
            "value_against": value_against,
            "difference": sides.difference,
            "p": sides.p,
        }
    )


def _rates_of_groups(sums: Sums, family: Family, questions: Questions) -> DataFrame:
    """Return the rate of every group of a family with its interval."""
    setting = questions.setting
    value, low, high, n, units = rates_with_intervals(sums, family, setting.alpha)
    is_small = units < setting.fewest

    return DataFrame(
        {
            "attribute": family.attribute,
            "group": [family.called(code) for code in family.kept],
            "rate": sums.name,
            "class": sums.class_name,
            "n": n,
            "value": np.where(is_small, np.nan, value),
            "low": np.where(is_small, np.nan, low),
            "high": np.where(is_small, np.nan, high),
        }
    )


def rates_with_intervals(
    sums: Sums, family: Family, alpha: float
) -> tuple[np.ndarray, ...]:
    """Return value, low, high, cases and units of each group of a family."""
    alone = family.compared_with(None)
    sides = comparing.contrast(sums, alone)

    # Limits are for shares: values between -1 and 1 are shares of their span.
    span = sides.span
    shares = replace(sides, value=(sides.value + span - 1) / span)
    low, high = comparing.limits(shares, alpha)
    low = span * low - span + 1
    high = span * high - span + 1
    return sides.value[0], low[0], high[0], sides.n[0], sides.units[0]
