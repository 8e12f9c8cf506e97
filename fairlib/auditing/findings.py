"""At most five findings that need no statistics, the one that matters most first.

A finding is about one rate, one class and one attribute. Among its groups it names the
one that is worse off; others are named beside it. Findings begin with strong evidence,
and errors come before selection. Among those comes first what matters most: how far
beyond the margin a difference is, times how many cases it concerns.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from pandas import DataFrame

from fairlib.auditing.compared import Compared
from fairlib.auditing.crossings import adding
from fairlib.auditing.questions import KINDS, Questions
from fairlib.auditing.rates import COST
from fairlib.auditing.rows import grouped, records
from fairlib.auditing.sentences import (
    chance,
    comparison,
    is_worse_off,
    needed,
    over_all_cases,
    size,
    with_worse_off_first,
)
from fairlib.auditing.wording import amount, counted, digits

# The verdicts that lead to a finding, in the order of findings.
EVIDENCE = {
    "shown": "strong evidence",
    "hint": "some evidence",
    "open": "too weak to tell",
}
MOST_FINDINGS = 5
MOST_OF_A_KIND = 3  # if other kinds of questions have findings as well
MOST_WEAK_FINDINGS = 2  # among the findings, those that are too weak to tell
MOST_BESIDE = 2  # other groups that one finding names


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What is said about a rate and an attribute: the evidence, and the sentences.

    Attributes
    ----------
    verdict : {"shown", "hint", "open"}
        The verdict of the comparison.
    evidence : str
        The verdict in words.
    subject : str
        The group that the finding is about.
    text : str
        What is found, and how large it is.
    needed : str
        How many cases would give a clear answer, if a difference is not shown.
    chance : str
        How often chance leads to such a finding.
    p : float
        The p-value behind it: of shown differences, that for all comparisons together.
    question : {"errors", "selection", "mix", "cost"}
        Which question the finding answers.
    attribute, rate, class_name : str
        What was compared.
    difference, low, high : float
        The difference with its interval.
    """

    verdict: str
    evidence: str
    subject: str
    text: str
    needed: str
    chance: str
    p: float
    question: str
    attribute: str
    rate: str
    class_name: str
    difference: float
    low: float
    high: float

    def __str__(self) -> str:
        text = f"{self.text} {self.needed}".strip()
        caution = ""
        if self.verdict == "hint":
            caution = "; the interval does not allow for the number of comparisons"
        return f"{self.subject}: {text} ({self.evidence}: {self.chance}{caution})"


def findings_of(compared: Compared) -> tuple[Finding, ...]:
    """Return at most five findings, the one that matters most first."""
    questions = compared.questions
    rows = compared.rows
    has_evidence = rows["verdict"].isin(["shown", "hint"])
    may_be_large = rows["difference"].abs() >= rows["margin"]
    matters = has_evidence | ((rows["verdict"] == "open") & may_be_large)

    # One finding per rate, class and attribute: about the first row of each.
    by_topic = grouped(
        sorted(records(rows[matters]), key=lambda row: _order(row, questions)),
        "attribute",
        "rate",
        "class_name",
    )
    topics = sorted(by_topic.values(), key=lambda topic: _order(topic[0], questions))
    return tuple(
        _finding(chosen, others, questions=questions)
        for chosen, others in _chosen(topics, questions)
    )


def _order(row: Any, questions: Questions) -> tuple:
    """Return a key: the evidence, the question, who is worse off, then what matters.

    What matters is how far a difference lies beyond its margin, times how many cases it
    concerns. Of two groups, the smaller one counts. Nothing here depends on how groups
    are spelled.
    """
    size = abs(row.difference)
    beyond = max(np.nan_to_num(size / row.margin - 1), 0)
    pairs = {family.attribute for family in questions.families if family.is_pair}
    is_pair = row.attribute in pairs

    cases = min(row.n, row.n_against) if is_pair else row.n
    better_off = not is_pair and not is_worse_off(row, questions)
    return (
        list(EVIDENCE).index(row.verdict),
        KINDS.index(row.question),
        better_off,
        -beyond * cases,
        -size,
        -row.n - row.n_against,
    )


def _chosen(topics: list[list], questions: Questions) -> list[tuple[Any, list]]:
    """Return the row that each finding is about, and the other rows of its topic."""
    adds_something = adding(questions)
    kinds = {topic[0].question for topic in topics if topic[0].verdict != "open"}
    most_of_a_kind = MOST_OF_A_KIND if len(kinds) > 1 else MOST_FINDINGS

    chosen: list[tuple[Any, list]] = []
    weak = 0
    number_of_kind = dict.fromkeys(KINDS, 0)
    for topic in topics:
        if len(chosen) == MOST_FINDINGS:
            break
        kind = topic[0].question
        if number_of_kind[kind] == most_of_a_kind:
            continue
        worth_saying = [row for row in topic if adds_something(row)]
        if not worth_saying:
            continue
        is_weak = worth_saying[0].verdict == "open"
        if is_weak and weak == MOST_WEAK_FINDINGS:
            continue

        weak += is_weak
        number_of_kind[kind] += 1
        chosen.append((worth_saying[0], worth_saying[1:]))
    return chosen


def _finding(row: Any, others: list, *, questions: Questions) -> Finding:
    """Return a finding about one comparison, and the groups beside it."""
    setting = questions.setting
    subject = with_worse_off_first(row, questions)
    texts = [comparison(subject, setting)]
    if words_about_size := size(subject, setting):
        texts.append(words_about_size)
    if words_about_strata := over_all_cases(subject, setting):
        texts.append(words_about_strata)
    beside = [other for other in others if other.verdict == row.verdict]
    if beside:
        texts.append(_beside(beside))

    return Finding(
        verdict=row.verdict,
        evidence=EVIDENCE[row.verdict],
        subject=subject.group,
        text=" ".join(texts),
        needed=needed(subject, setting),
        chance=chance(subject),
        p=row.p_corrected if row.verdict == "shown" else row.p,
        question=row.question,
        attribute=row.attribute,
        rate=row.rate,
        class_name=row.class_name,
        difference=subject.difference,
        low=subject.low,
        high=subject.high,
    )


def _beside(rows: list) -> str:
    """Name the other groups that differ in the same rate, with the same evidence."""
    write = amount if rows[0].rate == COST else digits
    parts = []
    for row in rows[:MOST_BESIDE]:
        more = "more" if row.difference > 0 else "less"
        parts.append(f"{row.group} ({write(abs(row.difference))} {more})")

    text = ", ".join(parts)
    if len(rows) > MOST_BESIDE:
        text += f" and {counted(len(rows) - MOST_BESIDE, 'more groups')}"
    words = {"shown": "Also different", "hint": "Some evidence also for"}
    return f"{words.get(rows[0].verdict, 'Also open')}: {text}."


def strongest(rows: DataFrame, questions: Questions) -> Any:
    """Return the row of a table that matters most, with the worse-off group first."""
    first = min(records(rows), key=lambda row: _order(row, questions))
    return with_worse_off_first(first, questions)
