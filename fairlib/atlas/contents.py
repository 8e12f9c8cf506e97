"""All that a report on a benchmark says, before it is text, a page or JSON."""

from collections.abc import Mapping
from dataclasses import dataclass

from pandas import DataFrame

from fairlib.atlas import planning
from fairlib.atlas.cards import Card
from fairlib.atlas.planning import Setting
from fairlib.interval import Interval


@dataclass(frozen=True, eq=False, kw_only=True)
class Contents:
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

    card: Card
    setting: Setting
    planning: DataFrame
    verdict: str
    conclusion: str
    notes: tuple[str, ...] = ()
    score: Interval | None = None
    score_these: Interval | None = None
    by_group: DataFrame | None = None
    comparisons: DataFrame | None = None
    refusals: DataFrame | None = None
    counts: Mapping[str, int] | None = None
    dependence: Interval | None = None
    by_part: DataFrame | None = None

    @property
    def smallest_bias(self) -> float:
        """The smallest bias that the benchmark can show, for clusters like these."""
        return planning.smallest_bias(self.planning)
