"""What an audit says: the one place where all that is said is decided.

The headline, the findings, the page, JSON, Markdown and the exit status of the command
are read off the same tables here, so that none can contradict another.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
from pandas import DataFrame

from fairlib.auditing.answers import by_attribute
from fairlib.auditing.findings import Finding, findings_of
from fairlib.auditing.groups import EVERYONE_ELSE
from fairlib.auditing.headlines import Headline, headlines
from fairlib.auditing.parts import Parts
from fairlib.auditing.wording import counted, joined

# The verdicts that may be asked to fail, the surest first.
FAILING_VERDICTS = ("shown", "hint", "open")
MOST_NAMED_GROUPS = 6  # in one sentence; further groups are counted


@dataclass(frozen=True, eq=False, kw_only=True)
class Conclusions:
    """What an audit says in words, about the tables in `parts`."""

    parts: Parts

    @cached_property
    def headlines(self) -> tuple[Headline, ...]:
        """One headline for each question."""
        return headlines(self.parts)

    @cached_property
    def verdict(self) -> str:
        """All headlines."""
        return " ".join(line.text for line in self.headlines)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """At most five findings, the one that matters most first."""
        return findings_of(self.parts.compared)

    @cached_property
    def by_attribute(self) -> DataFrame:
        """One answer for each attribute."""
        return by_attribute(self.parts)

    @cached_property
    def summary(self) -> str:
        """How many comparisons there are, and with which results."""
        return _summary(self.parts)

    @cached_property
    def aside(self) -> tuple[str, ...]:
        """How columns were read, who is in no comparison, and what else to know."""
        return _aside(self.parts)

    def fails(self, verdict: str) -> bool:
        """Whether a difference that is looked at has a verdict, or a surer one.

        With labels, errors, calibration and costs are looked at; selection only if it
        was asked for by name, or if there are no labels.

        Parameters
        ----------
        verdict : {"shown", "hint", "open"}
            The weakest verdict that fails.

        Raises
        ------
        ValueError
            If there is no such verdict.
        """
        if verdict not in FAILING_VERDICTS:
            raise ValueError(
                f"verdict must be among {', '.join(FAILING_VERDICTS)}, "
                f"found {verdict!r}"
            )
        failing = FAILING_VERDICTS[: FAILING_VERDICTS.index(verdict) + 1]
        claims = self.parts.looked_at()
        is_failing = claims["verdict"].isin(failing)

        # Only comparisons of groups can be ruled out to be large. So only they can be
        # said to be open still.
        is_open = claims["verdict"] == "open"
        is_failing &= ~is_open | (claims["part"] == "comparisons")
        return bool(is_failing.any())


def _summary(parts: Parts) -> str:
    """Count what was compared, by the results."""
    rows = parts.comparisons
    setting = parts.questions.setting
    number = Counter(rows["verdict"])
    skewed = ", or too skewed" if setting.columns.cost else ""

    results = {
        "shown": ("has strong evidence", "have strong evidence"),
        "hint": ("has some evidence", "have some evidence"),
        "open": ("has evidence too weak to tell", "have evidence too weak to tell"),
        "small": (
            f"is ruled out to be {setting.points} or more",
            f"are ruled out to be {setting.points} or more",
        ),
    }
    untested = {
        "too few": (f"has too few {setting.unit}", f"have too few {setting.unit}"),
        "undefined": (f"does not vary{skewed}", f"do not vary{skewed}"),
    }

    cases = len(parts.questions.counts)
    groups = len({*rows["group"], *rows["against"]} - {EVERYONE_ELSE})
    text = f"{setting.title}: {cases:,} cases, {groups:,} groups."
    tested = int(rows["p_corrected"].count())
    if not tested:
        return f"{text} No difference was tested: {_about(number, untested)}."
    text += f" {_about_tested(number, results, tested)}."
    if number.keys() & untested:
        text += f" Of those not tested, {_about(number, untested)}."
    return text


def _about_tested(
    number: Mapping[str, int], words: Mapping[str, tuple[str, str]], tested: int
) -> str:
    """Count the tested comparisons by the results; if all have one, say it once."""
    results = [verdict for verdict in words if number[verdict]]
    if len(results) > 1:
        return f"Of {tested:,} differences tested, {_about(number, words)}"

    one, several = words[results[0]]
    if tested == 1:
        return f"The one difference tested {one}"
    all_of_them = "Both" if tested == 2 else f"All {tested:,}"
    return f"{all_of_them} differences tested {several}"


def _about(number: Mapping[str, int], words: Mapping[str, tuple[str, str]]) -> str:
    """Join the words about verdicts that at least one comparison has."""
    return joined(
        [
            f"{number[verdict]:,} {words[verdict][number[verdict] > 1]}"
            for verdict in words
            if number[verdict]
        ]
    )


def _aside(parts: Parts) -> tuple[str, ...]:
    """Say how columns were read, and which groups of one attribute are too small."""
    questions = parts.questions
    setting = questions.setting
    notes = [*questions.counts.band_notes]
    if setting.columns.within:
        notes.append(
            f"Groups are compared within the strata of {setting.columns.within!r}. "
            "Each rate is a mean over the strata that hold both sides; other strata "
            "are not used. The tables of single groups and of selection rates use all "
            "cases."
        )
    notes += questions.counts.notes
    notes += _about_favourable(parts)

    # A group may be small on one side only: as a reference, or among those compared.
    rows = parts.comparisons
    single = rows[rows["attribute"].isin(setting.columns.group)]
    sides = [
        single.set_index("group")["units"],
        single.set_index("against")["units_against"],
    ]
    largest = pd.concat(sides).groupby(level=0, sort=False).max()
    small = largest[largest < setting.fewest].drop(EVERYONE_ELSE, errors="ignore")
    if small.empty:
        return tuple(notes)

    small = small.sort_values(ascending=False, kind="stable")
    names = [
        f"{name} ({size:,})" for name, size in small.head(MOST_NAMED_GROUPS).items()
    ]
    if len(small) > MOST_NAMED_GROUPS:
        names.append(f"and {counted(len(small) - MOST_NAMED_GROUPS, 'groups')} more")
    notes.append(
        f"Groups with fewer than {setting.fewest} {setting.unit} are too small to "
        f"test: {'; '.join(names)}."
    )
    return tuple(notes)


def _about_favourable(parts: Parts) -> list[str]:
    """Say which prediction people are taken to want."""
    questions = parts.questions
    counts = questions.counts
    if (
        counts.prediction is None
        or not (parts.comparisons["question"] == "selection").any()
    ):
        return []

    if questions.favourable is None:
        return [
            "There are several classes, so the audit does not know which prediction "
            "people want. Name it with favourable= to get selection ratios."
        ]

    name = counts.classes[questions.favourable]
    if questions.setting.favourable is not None:
        return [f"The favourable prediction is ‘{name}’."]
    return [
        f"The audit takes ‘{name}’ to be the favourable prediction. If people want "
        "another one, name it with favourable=."
    ]
