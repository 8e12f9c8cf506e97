"""Selection rates: how often each group gets the prediction that people want.

Each group is compared with the group that has the most favourable rate, in one table
for each attribute and one for each crossing. The data pick that group, so an interval
for a fixed pair of groups would promise too much: with equal rates and six groups, it
excludes a ratio of 1 in a third of the audits. The intervals here hold in spite of the
pick (Hsu 1984: multiple comparisons with the best). The ratio of group i to the best
rate is the smallest of its ratios to all rates, so that

- its low end is the lowest of the low ends of its ratios to each other group, each at
  level α / (k - 1) for k groups;
- its high end is the lowest of the high ends, at level α / (k (k - 1)), so that all
  groups that are said to lie under a line are said so rightly at once.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy import ndarray
from pandas import DataFrame

from fairlib.auditing import comparing
from fairlib.auditing.every_pair import contrast_of_pairs
from fairlib.auditing.groups import Family
from fairlib.auditing.own_rates import base_rates, rates_with_intervals
from fairlib.auditing.questions import Questions
from fairlib.auditing.rates import RATES
from fairlib.auditing.sums import Sums, sums_of

MOST_GROUPS = 60  # in one table: intervals need every pair of groups
# 29 CFR 1607.4 D, and the impact ratios of New York City.
FOUR_FIFTHS = 0.8

COLUMNS = (
    "attribute",
    "group",
    "class",
    "n",
    "base_rate",
    "rate",
    "low",
    "high",
    "ratio",
    "ratio_low",
    "ratio_high",
    "best",
    "four_fifths",
)


def selection(questions: Questions, *, share: float) -> DataFrame | None:
    """Return how often each group gets the favourable prediction.

    Parameters
    ----------
    questions : Questions
        What is asked, and the counts that answer it.
    share : float
        The part of alpha that all claims about the line of four fifths may use.

    Returns
    -------
    DataFrame or None
        None without predictions, or if it is open which class is favourable. Otherwise
        one row per group, with

        - n, base_rate : the number of cases, and how often the favourable class is the
          label (missing without labels);
        - rate, low, high : how often it is predicted, with an interval for this group
          alone;
        - ratio, ratio_low, ratio_high : the rate divided by the most favourable rate of
          the table, with an interval that holds although the data picked that group;
        - best : the group with the most favourable rate;
        - four_fifths : "under" if the ratio is shown to be under 4/5, "within" if it is
          not, "undecided" if the data cannot tell, "too few" if the group has too few
          cases. The claims "under" of all tables together keep their share of alpha.
    """
    counts = questions.counts
    favourable = questions.favourable
    if counts.prediction is None or favourable is None:
        return None

    measured = replace(counts, positive=(favourable,))
    (predicted,) = sums_of(measured, {"predicted": RATES["predicted"]})
    labels = base_rates(replace(questions, counts=measured))
    base = labels[0] if labels else None

    tables = [
        _table(predicted.of(family), base, family, questions)
        for family in questions.families
    ]
    compared = sum(len(table.large) > 1 for table in tables)
    level_of_claims = questions.setting.alpha * share / max(compared, 1)
    frames = [
        _with_ratios(table, alpha=questions.setting.alpha, claims=level_of_claims)
        for table in tables
    ]
    return pd.concat(frames, ignore_index=True)[list(COLUMNS)]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Table:
    """The groups of a family with their rates.

    Attributes
    ----------
    frame : DataFrame
        One row per group.
    family : Family
        The groups.
    predicted : Sums
        How often the favourable class is predicted.
    large : ndarray
        The rows of groups with enough cases.
    """

    frame: DataFrame
    family: Family
    predicted: Sums
    large: ndarray


def _table(
    predicted: Sums, base: Sums | None, family: Family, questions: Questions
) -> _Table:
    """Return the rates of the groups of a family."""
    setting = questions.setting
    value, low, high, n, units = rates_with_intervals(predicted, family, setting.alpha)
    base_rate = np.full(len(value), np.nan)
    if base is not None:
        base_rate = rates_with_intervals(base.of(family), family, setting.alpha)[0]

    is_large = units >= setting.fewest
    hidden = ~is_large  # a rate of three people is no rate, and may give one away
    frame = DataFrame(
        {
            "attribute": family.attribute,
            "group": [family.called(code) for code in family.kept],
            "class": predicted.class_name,
            "n": n.astype(np.int64),
            "base_rate": np.where(hidden, np.nan, base_rate),
            "rate": np.where(hidden, np.nan, value),
            "low": np.where(hidden, np.nan, low),
            "high": np.where(hidden, np.nan, high),
        }
    )
    return _Table(
        frame=frame, family=family, predicted=predicted, large=np.flatnonzero(is_large)
    )


def _with_ratios(table: _Table, *, alpha: float, claims: float) -> DataFrame:
    """Return the table with ratios, and what they say about four fifths.

    Parameters
    ----------
    table : _Table
        The rates of the groups.
    alpha : float
        The level of the low ends.
    claims : float
        The level of the high ends, from which the claims "under" follow.
    """
    groups = len(table.frame)
    ratios = np.full((3, groups), np.nan)
    four_fifths = np.full(groups, "too few", dtype=object)
    best = ""

    large = table.large
    if len(large) > 1:
        rate = table.frame["rate"].to_numpy()[large]
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = rate / rate.max()
        low, high = _ratios_to_best(table, alpha=alpha, claims=claims)

        ratios[:, large] = [ratio, low, high]
        best = table.frame["group"].iloc[large[np.argmax(rate)]]
        four_fifths[large] = np.select(
            [np.isnan(low), high < FOUR_FIFTHS, low >= FOUR_FIFTHS],
            ["undefined", "under", "within"],
            default="undecided",
        )
    return table.frame.assign(
        ratio=ratios[0],
        ratio_low=ratios[1],
        ratio_high=ratios[2],
        best=best,
        four_fifths=four_fifths,
    )


def _ratios_to_best(
    table: _Table, *, alpha: float, claims: float
) -> tuple[ndarray, ndarray]:
    """Return the ends of the ratios of the large groups to the best rate.

    The cost is that of comparing every group with every other one.
    """
    family = table.family
    large = family.kept[table.large]
    groups = len(large)
    if groups > MOST_GROUPS:
        undefined = np.full(groups, np.nan)
        return undefined, undefined

    # Each group with every other one: a row per group.
    place = np.arange(groups)
    others = np.stack([np.delete(place, row) for row in place])
    sides = contrast_of_pairs(
        table.predicted,
        family,
        first=np.repeat(large, groups - 1),
        second=large[others.ravel()],
    )
    low_of_pairs, _ = comparing.ratio_ends(sides, alpha / (groups - 1))
    _, high_of_pairs = comparing.ratio_ends(sides, claims / (groups * (groups - 1)))
    low = low_of_pairs.reshape(others.shape).min(axis=1)
    high = high_of_pairs.reshape(others.shape).min(axis=1)

    # No group is better than the best.
    return np.minimum(low, 1.0), np.minimum(high, 1.0)
