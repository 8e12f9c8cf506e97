"""The questions of an audit: every rate, for every way to form groups."""

from collections.abc import Mapping
from dataclasses import dataclass

from fairlib.auditing.counts import Counts
from fairlib.auditing.groups import Family, families
from fairlib.auditing.literature import SUMMARY
from fairlib.auditing.setting import Setting
from fairlib.auditing.sums import Sums, rates_to_measure, sums_of


@dataclass(frozen=True, eq=False, kw_only=True)
class Question:
    """One rate (`sums`), compared between the groups of one family."""

    sums: Sums
    family: Family


@dataclass(frozen=True, eq=False, kw_only=True)
class Questions:
    """Everything that an audit compares, and the counts that answer it.

    Attributes
    ----------
    setting : Setting
        How groups are compared.
    counts : Counts
        All cases.
    levels : mapping of str to Counts
        All cases again by attribute and level of the probability, if there are
        probabilities.
    questions : tuple of Question
        What is compared, in this order.
    """

    setting: Setting
    counts: Counts
    levels: Mapping[str, Counts]
    questions: tuple[Question, ...]


def questions_about(
    counts: Counts, setting: Setting, *, levels: Mapping[str, Counts]
) -> Questions:
    """Return the questions that a setting asks of counted cases.

    Parameters
    ----------
    counts : Counts
        All cases.
    setting : Setting
        How groups are compared.
    levels : mapping of str to Counts
        All cases by attribute and level of the probability, as of `counts.by_level`.

    Raises
    ------
    ValueError
        If a rate or a group that is named does not exist.
    """
    rates = rates_to_measure(
        counts,
        setting.every_rate,
        names=[name for name in setting.metrics if name not in SUMMARY],
        custom=setting.rates,
    )

    compared_families = families(
        counts, depth=setting.depth, reference=setting.references
    )
    questions = tuple(
        Question(sums=sums.of(family), family=family)
        for sums in sums_of(counts, rates)
        for family in compared_families
    )

    return Questions(setting=setting, counts=counts, levels=levels, questions=questions)
