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


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What a comparison of two models holds; `Comparison` describes each number.

    The pages that show a comparison are written from this class, so that they need
    not import the comparison, which imports them.
    """

    card: Card
    difference: Interval
    difference_these: Interval
    smallest_difference: float
    items: int
    ties: int
    only_first: int
    only_second: int
    power: float
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The answer in whole sentences."""
        low, high = (100 * end for end in (self.difference.low, self.difference.high))
        if self.difference.excludes(0):
            answer = "The two models differ on this benchmark"
        else:
            answer = "It is open which of the two models has the higher score"

        left_out = self.only_first + self.only_second
        return (
            f"{answer}: the first minus the second is "
            f"{100 * self.difference.estimate:.1f} points, with an interval from "
            f"{low:.1f} to {high:.1f}. On {self.ties:,} of {self.items:,} items both "
            f"have the same outcome; {left_out:,} items were answered by one model "
            "only, and do not count. A true difference of about "
            f"{100 * self.smallest_difference:.1f} points would be shown in "
            f"{self.power:.0%} of samples."
        )
