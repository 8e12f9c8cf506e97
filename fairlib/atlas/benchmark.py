"""What a bias benchmark can show, and what predictions on it show.

>>> import fairlib
>>> report = fairlib.benchmark("winobias")
>>> print(report.verdict.split(",")[0])
The smallest bias that WinoBias can show is 18.2 points in the worst case
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame

from fairlib.atlas import page, plan_wording, planning, web_page, wording
from fairlib.atlas.answers import (
    PART,
    Answers,
    answers,
    of_part,
    predictions_of,
    with_clusters,
    with_the_same_score,
)
from fairlib.atlas.cards import Card
from fairlib.atlas.cards import card as card_of
from fairlib.atlas.contents import Contents
from fairlib.atlas.keys import SET_ASIDE, card_for
from fairlib.atlas.planning import LIKE_THESE, THESE, Setting
from fairlib.atlas.scores import Scored, design_effect, groups_of, score
from fairlib.checks import check_confidence, one_number
from fairlib.data import write_text
from fairlib.interval import Interval

LEFT_OUT = "left out"


@dataclass(frozen=True, eq=False, kw_only=True)
class BenchmarkReport(Contents):
    """What a benchmark can show and, with predictions, what these show.

    Attributes
    ----------
    card : Card
        The benchmark, or the part of it that was asked for.
    setting : Setting
        Confidence and power, and what the plan assumes.
    planning : DataFrame
        The smallest bias for both questions, "these" and "like these".
    verdict : str
        The answer in whole sentences.
    conclusion : str
        The answer in a few words, one of `atlas.wording.CONCLUSIONS`.
    notes : tuple of str
        What the answer assumes, and what happened to refused answers.
    score : Interval, optional
        The score, for clusters like these.
    score_these : Interval, optional
        The score, for these clusters.
    by_group : DataFrame, optional
        The mean of each group for both questions.
    comparisons : DataFrame, optional
        Every two groups, for clusters like these; the intervals hold together.
    refusals : DataFrame, optional
        The score if items without an answer are counted in other ways.
    counts : dict, optional
        How many items and answers there are, and of what kind.
    dependence : Interval, optional
        The design effect of these predictions.
    by_part : DataFrame, optional
        The score of each part, if the predictions have a column "part".
    """

    def __str__(self) -> str:
        return page.as_text(self)

    def _repr_html_(self) -> str:
        return web_page.render(self, framed=False)

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as one self-contained page, and write it to a file."""
        return write_text(web_page.render(self), path)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return all numbers and sentences as JSON, and write them to a file."""
        return write_text(page.as_json(self), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return a section for a model card, and write it to a file."""
        return write_text(page.as_markdown(self), path)


def benchmark(
    card: str | Path | Mapping[str, Any] | Card,
    predictions: object | None = None,
    *,
    part: str | None = None,
    columns: Mapping[str, str] | None = None,
    keys: object | None = None,
    refused: str | float = LEFT_OUT,
    confidence: float = 0.95,
    power: float = 0.8,
    error: float = 0.2,
    discordant: float | None = None,
    design_effect: float | None = None,
) -> BenchmarkReport:
    """Return what a bias benchmark can show, and what your predictions on it show.

    Parameters
    ----------
    card : str, Path, dict or Card
        The name of a benchmark, one of `fairlib.atlas.names()`; or your own card, as a
        TOML file or a dictionary.
    predictions : table, str or Path, optional
        One row for each answer: item, group, outcome, pair and cluster, as far as the
        benchmark has them; or a file with such rows. An outcome is a number, or the
        word "refused" or "unreadable". Where the keys of a benchmark ship with the
        project, its own numbers of items and an option in `answer` are enough.
    part : str, optional
        A part of the benchmark, such as a category.
    columns : dict, optional
        What the columns of the predictions are called, if they have other names.
    keys : table, str or Path, optional
        The part, group, pair and cluster of each item, if the predictions lack them,
        and columns `outcome_0`, `outcome_1` ... with the outcome of each option. For
        BBQ also the folder of your copy of its repository.
    refused : "left out" or float, default "left out"
        How items without a readable answer count: not at all, or with this outcome. The
        report always shows the other ways too.
    confidence : float, default 0.95
        Confidence of all intervals.
    power : float, default 0.8
        Probability with which the smallest bias would be shown.
    error : float, default 0.2
        For planning: the lower error rate of two groups.
    discordant : float, optional
        For planning: the share of pairs whose outcomes differ. By default the share
        that the card knows, or else `error`.
    design_effect : float, optional
        For planning: how many times larger the variance is because items of a cluster
        resemble each other. By default as measured; if it was not, the worst case.

    Returns
    -------
    BenchmarkReport
        Without predictions, `smallest_bias` and `planning`. With predictions also
        `score`, `score_these`, `by_group`, `refusals` and a `verdict` in words.

    Raises
    ------
    ValueError
        If an argument, a field of the card or a column is wrong; the error names it.

    Examples
    --------
    >>> answers = {"outcome": [1, 1, 1, 0] * 10, "cluster": [*range(10)] * 4}
    >>> mine = {"name": "mine", "score": {"kind": "share"}}
    >>> print(benchmark(mine, answers).score)
    0.750 [0.506, 0.915] (95% t over 10 clusters)
    """
    whole = card_for(card_of(card), keys)
    chosen = whole if part is None else whole.part(part)
    setting = _setting(
        confidence=confidence,
        power=power,
        error=error,
        discordant=discordant,
        design_effect=design_effect,
    )
    table = planning.plan(chosen, setting)
    if predictions is None:
        return _planned(chosen, setting, table)

    every_part = predictions_of(predictions, whole, columns=columns, keys=keys)
    set_aside = every_part.attrs.get(SET_ASIDE, 0)
    frame = of_part(every_part, part)

    def judged(one: Card, rows: DataFrame) -> _Judged:
        known = answers(rows, one)
        return _Judged(
            card=with_clusters(one, known),
            setting=setting,
            answers=known,
            refused=_treatment(refused, one),
        )

    if not chosen.parts or PART not in frame:
        report = judged(chosen, frame).report(table)
        return _with_notes(
            report, apart=0, unknown=set_aside, has_keys=keys is not None
        )

    alike = with_the_same_score(frame, chosen)
    report = judged(chosen, alike).report(table)
    report = _with_notes(
        report,
        apart=len(frame) - len(alike),
        unknown=set_aside,
        has_keys=keys is not None,
    )

    by_part = {}
    for name, rows in frame.groupby(PART, sort=False):
        one = chosen.part(str(name))
        by_part[str(name)] = judged(one, rows.reset_index(drop=True))
    return replace(report, by_part=_by_part(by_part))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Judged:
    """Answers that are judged: everything that a report says is read off here."""

    card: Card
    setting: Setting
    answers: Answers
    refused: float | None

    def report(self, table: DataFrame) -> BenchmarkReport:
        """Return the report."""
        items = self.counted(self.answers.items)
        these = self._score(items, THESE)
        like_these = self._score(items, LIKE_THESE)
        refusals = self._refusals()
        is_shown = like_these.score.excludes(self.card.score.fixed)

        result = wording.Result(
            like_these=like_these.score,
            these=these.score,
            knows_clusters="cluster" in self.answers.has,
            depends=bool((refusals["shown"] != is_shown).any()),
        )
        return BenchmarkReport(
            card=self.card,
            setting=self.setting,
            planning=table,
            verdict=wording.verdict(self.card, result),
            conclusion=wording.conclusion(self.card, result),
            notes=self._notes(like_these.comparisons),
            score=like_these.score,
            score_these=these.score,
            by_group=self._by_group(like_these, these),
            comparisons=like_these.comparisons,
            refusals=refusals,
            counts=self.answers.counts,
            dependence=self._dependence(items),
        )

    def counted(self, items: DataFrame) -> DataFrame:
        """Return the items that count, with a value for each."""
        if self.refused is None:
            return items[items["value"].notna()].reset_index(drop=True)
        return items.assign(value=items["value"].fillna(self.refused))

    def _score(self, items: DataFrame, question: str) -> Scored:
        """Return the score; without clusters both questions are the same."""
        is_known = question == THESE or "cluster" in self.answers.has
        return score(
            items,
            self.card,
            question=question if is_known else THESE,
            confidence=self.setting.confidence,
            groups=groups_of(self.answers.items, self.card),
        )

    def _by_group(self, like_these: Scored, these: Scored) -> DataFrame:
        """Return the groups with both intervals, and how many items have no answer."""
        table = like_these.by_group.assign(
            low_these=these.by_group["low"], high_these=these.by_group["high"]
        )
        without = self.answers.items["value"].isna()
        if "group" not in self.answers.has:
            return table.assign(without_answer=int(without.sum()))
        by_group = without.groupby(self.answers.items["group"]).sum()
        return table.assign(
            without_answer=table["group"].map(by_group).fillna(0).astype(int)
        )

    def _refusals(self) -> DataFrame:
        """Return the score for every way to count items without an answer."""
        items = self.answers.items
        columns = ["treatment", "score", "low", "high", "shown"]
        is_missing = items["value"].isna()
        if not is_missing.any():
            return pd.DataFrame(columns=columns)

        low, high = self.card.score.bounds
        treated = {
            LEFT_OUT: items[~is_missing],
            "all have the lowest outcome": items.fillna({"value": low}),
            "all have the highest outcome": items.fillna({"value": high}),
            "all speak against the finding": self._against(items),
        }
        rows = []
        for treatment, used in treated.items():
            result = self._score(used.reset_index(drop=True), LIKE_THESE).score
            rows.append(
                {
                    "treatment": treatment,
                    "score": result.estimate,
                    "low": result.low,
                    "high": result.high,
                    "shown": result.excludes(self.card.score.fixed),
                }
            )
        return pd.DataFrame(rows, columns=columns)

    def _against(self, items: DataFrame) -> DataFrame:
        """Return the items, with every missing value where it weakens the finding."""
        low, high = self.card.score.bounds
        middle = items["value"].mean()
        if not self.card.compares_groups:
            worst = low if middle > self.card.score.fixed else high
            return items.fillna({"value": worst})

        mean_of_group = items.groupby("group")["value"].transform("mean")
        # Midway between the groups, so that the larger group does not decide.
        means = items.groupby("group")["value"].mean()
        midway = (means.min() + means.max()) / 2
        against = np.where(mean_of_group > midway, low, high)
        return items.assign(value=items["value"].where(items["value"].notna(), against))

    def _dependence(self, items: DataFrame) -> Interval | None:
        """Return the design effect of the predictions, if their clusters are known."""
        is_missing = items.empty or self.answers.answered.empty
        if "cluster" not in self.answers.has or is_missing:
            return None
        return design_effect(
            items,
            self.card,
            confidence=self.setting.confidence,
            groups=groups_of(self.answers.items, self.card),
        )

    def _notes(self, comparisons: DataFrame) -> tuple[str, ...]:
        """Return what has to be known beside the verdict."""
        notes = []
        if self.refused is None:
            treatment = "left out of the score"
        else:
            treatment = f"counted with the outcome {self.refused:g}"
        notes += wording.refused(self.card, self.answers.counts, treatment)
        if len(comparisons) > 1:
            notes.append(wording.largest(self.card, comparisons))
        return (*notes, *self.card.notes)


def _planned(card: Card, setting: Setting, table: DataFrame) -> BenchmarkReport:
    """Return the report without predictions."""
    smallest = planning.smallest_bias(table)
    levels = (setting.confidence, setting.power)
    of_plan = () if table.empty else plan_wording.of_plan(card, smallest)

    return BenchmarkReport(
        card=card,
        setting=setting,
        planning=table,
        verdict=plan_wording.can_show(
            card,
            smallest=smallest,
            independent=planning.if_independent(table),
            levels=levels,
        ),
        conclusion=wording.PLANNED,
        notes=(*of_plan, *card.notes),
    )


def _with_notes(
    report: BenchmarkReport, *, apart: int, unknown: int, has_keys: bool
) -> BenchmarkReport:
    """Return a report that says how many answers are not part of its score."""
    items = 0 if report.counts is None else report.counts["items"]
    notes = wording.missing_items(report.card, items)
    notes += wording.not_counted(
        report.card, apart=apart, unknown=unknown, has_keys=has_keys
    )
    return replace(report, notes=(*notes, *report.notes))


def _by_part(parts: Mapping[str, _Judged]) -> DataFrame:
    """Return the score of each part; the intervals of all parts hold together."""
    rows = []
    for name, judged in parts.items():
        confidence = 1 - (1 - judged.setting.confidence) / len(parts)
        setting = replace(judged.setting, confidence=confidence)
        report = replace(judged, setting=setting).report(planning.no_plan())
        score_of_part = report.score
        these = report.score_these
        assert score_of_part is not None and these is not None

        rows.append(
            {
                "part": name,
                "score": score_of_part.estimate,
                "low": score_of_part.low,
                "high": score_of_part.high,
                "low_these": these.low,
                "high_these": these.high,
                "conclusion": report.conclusion,
            }
        )
    return pd.DataFrame(rows)


def _setting(
    *,
    confidence: float,
    power: float,
    error: float,
    discordant: float | None,
    design_effect: float | None,
) -> Setting:
    """Return the setting, after a check of its numbers."""
    check_confidence(confidence)
    for name, share in (("power", power), ("error", error)):
        one_number(name, share, "in (0, 1)", lambda x: (x > 0) & (x < 1))
    if discordant is not None:
        one_number("discordant", discordant, "in (0, 1]", lambda x: (x > 0) & (x <= 1))

    if design_effect is not None:
        one_number("design_effect", design_effect, "at least 1", lambda x: x >= 1)
    return Setting(
        confidence=confidence,
        power=power,
        error=error,
        discordant=discordant,
        design_effect=design_effect,
    )


def _treatment(refused: str | float, card: Card) -> float | None:
    """Return the outcome of items without an answer; None to leave them out."""
    low, high = card.score.bounds
    if isinstance(refused, str):
        if refused != LEFT_OUT:
            raise ValueError(
                f"refused must be {LEFT_OUT!r} or an outcome, found {refused!r}"
            )
        return None

    return one_number(
        "refused",
        refused,
        f"in [{low:g}, {high:g}]",
        lambda value: (value >= low) & (value <= high),
    )
