"""The questions of an audit: every rate, for every way to form groups."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from fairlib.auditing.attributes import label_text
from fairlib.auditing.counts import Counts
from fairlib.auditing.groups import Family, families
from fairlib.auditing.literature import SUMMARY, question_of
from fairlib.auditing.rates import Rate
from fairlib.auditing.setting import Setting
from fairlib.auditing.sums import Sums, rates_to_measure, sums_of
from fairlib.tables import listed

# What can be asked, in the order of a page.
KINDS = ("errors", "selection", "mix", "cost")


@dataclass(frozen=True, eq=False, kw_only=True)
class Question:
    """One rate, compared between the groups of one family.

    Attributes
    ----------
    sums : Sums
        The rate, over all cells.
    family : Family
        The groups.
    kind : {"errors", "selection", "mix", "cost"}
        What is asked, as of `kind_of`.
    """

    sums: Sums
    family: Family
    kind: str


def kind_of(rate: Rate, classes: int) -> str:
    """Return what a rate asks: errors, selection, a mix of both, or costs.

    With more than two classes, false alarms depend on which of the other classes occur
    how often, so that groups with equal errors have different false alarms.

    Parameters
    ----------
    rate : Rate
        What is counted.
    classes : int
        How many classes there are.
    """
    if rate.question != "errors" or classes <= 2 or not rate.share:
        return rate.question
    return "errors" if {*rate.outcomes[1]} == {"TP", "FN"} else "mix"


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
    crossed_levels : mapping of str to Counts
        The same for attributes that are crossed, where they are needed.
    questions : tuple of Question
        What is compared, in this order.
    """

    setting: Setting
    counts: Counts
    levels: Mapping[str, Counts]
    crossed_levels: Mapping[str, Counts]
    questions: tuple[Question, ...]

    @cached_property
    def favourable(self) -> int | None:
        """The code of the class that people want to be predicted, if it is known."""
        return favourable_class(self.counts, self.setting.favourable)

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """The groups of each attribute, and of attributes crossed, each once."""
        by_name = {
            question.family.attribute: question.family for question in self.questions
        }
        return tuple(by_name.values())

    def looked_at(self) -> frozenset[str]:
        """Return the kinds of questions that decide the exit status of the command.

        With labels, these are errors; without labels, selection. A kind is looked at
        as well if a rate of this kind was asked for by name.
        """
        setting = self.setting
        kinds = {"errors", "cost"} if self.counts.label is not None else {*KINDS}
        for question in self.questions:
            if question.sums.name in (*setting.metrics, *setting.rates):
                kinds.add(question.kind)
        for name in setting.metrics:
            if name in SUMMARY:
                kinds.add(question_of(SUMMARY[name], len(self.counts.classes)))
        return frozenset(kinds)


def favourable_class(counts: Counts, favourable: object) -> int | None:
    """Return the code of the class that people want to be predicted.

    By default it is the class that is measured, if there is one such class.

    Raises
    ------
    ValueError
        If no class is called so.
    """
    if favourable is None:
        return counts.positive[0] if len(counts.positive) == 1 else None
    name = label_text(favourable)
    if name in counts.classes:
        return counts.classes.index(name)
    raise ValueError(
        f"favourable: no class {name!r}; the classes are {listed(counts.classes)}"
    )


def questions_about(
    counts: Counts,
    setting: Setting,
    *,
    levels: Mapping[str, Counts],
    crossed_levels: Mapping[str, Counts] | None = None,
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
    crossed_levels : mapping of str to Counts, optional
        The same for attributes that are crossed.

    Raises
    ------
    ValueError
        If a rate or a group that is named does not exist.
    """
    favourable_class(counts, setting.favourable)
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
        Question(
            sums=sums.of(family),
            family=family,
            kind=kind_of(sums.rate, len(counts.classes)),
        )
        for sums in sums_of(counts, rates)
        for family in compared_families
    )

    return Questions(
        setting=setting,
        counts=counts,
        levels=levels,
        crossed_levels=crossed_levels or {},
        questions=questions,
    )
