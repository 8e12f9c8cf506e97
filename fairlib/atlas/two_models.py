"""Two models on the same items: how far apart are their scores, and how sure is that?

The items are compared one by one, so that what makes an item hard for both models does
not count. The interval takes into account that items of one cluster resemble each
other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pandas import DataFrame
from scipy.special import ndtri

from fairlib.atlas import page, web_page, wording
from fairlib.atlas.answers import (
    Answers,
    answers,
    as_frame,
    names_items,
    of_part,
    predictions_of,
    with_clusters,
    with_the_same_score,
)
from fairlib.atlas.cards import Card
from fairlib.atlas.cards import card as card_of
from fairlib.atlas.contents import Compared
from fairlib.atlas.keys import SET_ASIDE, card_for
from fairlib.atlas.planning import LIKE_THESE, THESE
from fairlib.atlas.scores import groups_of, score
from fairlib.checks import check_confidence, one_number
from fairlib.data import write_text
from fairlib.interval import Interval


@dataclass(frozen=True, kw_only=True)
class Comparison(Compared):
    """Two models on the same items of a benchmark.

    Attributes
    ----------
    card : Card
        The benchmark.
    difference : Interval
        The score of the first model minus that of the second, for clusters like these.
    difference_these : Interval
        The same for these clusters.
    smallest_difference : float
        About the smallest true difference that would be shown with this power: the
        interval's half-width, enlarged as for a normal distribution.
    items : int
        How many items both models answered.
    ties : int
        On how many of these items the models have the same outcome.
    only_first, only_second : int
        How many items only one of the models answered; they do not count.
    power : float
        The probability that `smallest_difference` is for.
    notes : tuple of str
        Which items of the benchmark, and which answers, are not part of the comparison.
    """

    def __str__(self) -> str:
        return "\n".join([self.verdict, *self.notes])

    def _repr_html_(self) -> str:
        return web_page.render_comparison(self, framed=False)

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the comparison as one self-contained page, and write it to a file."""
        return write_text(web_page.render_comparison(self), path)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return all numbers and the answer as JSON, and write them to a file."""
        return write_text(page.comparison_as_json(self), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return a section for a model card, and write it to a file."""
        return write_text(page.comparison_as_markdown(self), path)


def compare(
    card: str | Path | Mapping[str, Any] | Card,
    first: object,
    second: object,
    *,
    part: str | None = None,
    columns: Mapping[str, str] | None = None,
    keys: object | None = None,
    confidence: float = 0.95,
    power: float = 0.8,
) -> Comparison:
    """Return how far apart the scores of two models are, item by item.

    Parameters
    ----------
    card : str, Path, dict or Card
        The benchmark, as in `fairlib.benchmark`.
    first, second : table, str or Path
        The answers of each model, as in `fairlib.benchmark`. The column item says which
        answers belong together.
    part : str, optional
        A part of the benchmark.
    columns, keys : optional
        As in `fairlib.benchmark`, for both tables.
    confidence : float, default 0.95
        Confidence of the intervals.
    power : float, default 0.8
        Probability with which the smallest difference would be shown.

    Returns
    -------
    Comparison
        The difference with both intervals, ties, and what could have been shown.

    Raises
    ------
    ValueError
        If the models have no item in common, if an item has another group, pair or
        cluster in the second table, or if the score is a ratio or compares more than
        two groups.

    Examples
    --------
    >>> mine = {"name": "mine", "score": {"kind": "share"}}
    >>> items = {"item": [*range(40)], "cluster": [*range(10)] * 4}
    >>> better = items | {"outcome": [1, 1, 1, 0] * 10}
    >>> worse = items | {"outcome": [1, 1, 0, 0] * 10}
    >>> print(compare(mine, better, worse).difference)
    0.250 [0.047, 0.438] (95% t over 10 clusters)
    """
    check_confidence(confidence)
    one_number("power", power, "in (0, 1)", lambda x: (x > 0) & (x < 1))
    whole = card_for(card_of(card), keys)
    chosen = whole if part is None else whole.part(part)
    if chosen.score.kind == "ratio":
        raise ValueError("card must have a score that is no ratio, found 'ratio'")

    tables = {}
    notes: list[str] = []
    for name, predictions in (("first", first), ("second", second)):
        frame = as_frame(name, predictions)
        if not names_items(frame, whole, columns or {}):
            raise ValueError(
                f"{name} must have the column 'item', which says which answers belong "
                f"together; found {', '.join(map(str, frame.columns))}"
            )
        known = predictions_of(frame, whole, columns=columns, keys=keys)
        of_chosen = of_part(known, part)
        rows = with_the_same_score(of_chosen, chosen)
        tables[name] = answers(rows, chosen)
        notes += [
            f"Of the {name} model, {text[0].lower()}{text[1:]}"
            for text in wording.not_counted(
                chosen,
                apart=len(of_chosen) - len(rows),
                unknown=known.attrs.get(SET_ASIDE, 0),
                has_keys=keys is not None,
            )
        ]
    both = _in_both(tables["first"], tables["second"])
    if chosen.compares_groups and len(groups_of(both, chosen)) > 2:
        raise ValueError(
            "first and second must have two groups, because a difference of largest "
            f"differences has no sign; found {both['group'].nunique()}"
        )

    like_these = _difference(both, chosen, confidence, question=LIKE_THESE)
    sides = [len(table.answered) - len(both) for table in tables.values()]
    enlarged = 1 + ndtri(power) / ndtri((1 + confidence) / 2)
    return Comparison(
        card=with_clusters(chosen, tables["first"]),
        difference=like_these,
        difference_these=_difference(both, chosen, confidence, question=THESE),
        smallest_difference=float(enlarged * like_these.half_width),
        items=len(both),
        ties=int((both["first"] == both["second"]).sum()),
        only_first=sides[0],
        only_second=sides[1],
        power=power,
        notes=(*wording.missing_items(chosen, len(both)), *notes),
    )


def _in_both(first: Answers, second: Answers) -> DataFrame:
    """Return the items that both models answered, with both values."""
    known = sorted(first.has & second.has)
    left = first.answered[["item", *sorted(first.has), "value"]]
    right = second.answered[["item", *known, "value"]]
    both = left.merge(right, on="item", suffixes=("", "_of_second"))
    if both.empty:
        raise ValueError(
            "first and second must have answered items in common, found none: "
            f"{len(left)} and {len(right)} items"
        )

    for name in known:
        is_other = both[name] != both[f"{name}_of_second"]
        if is_other.any():
            item = both["item"][is_other].iloc[0]
            raise ValueError(
                f"{name} must be the same in first and second, found two of item "
                f"{item!r}"
            )
    return both.rename(columns={"value": "first", "value_of_second": "second"})


def _difference(
    both: DataFrame, card: Card, confidence: float, *, question: str
) -> Interval:
    """Return the difference of two scores.

    A difference of outcomes lies between minus and plus their range; we move it to
    [0, 1], where the score is computed, and back.
    """
    low, high = card.score.bounds
    width = high - low
    moved = (both["first"] - both["second"] + width) / (2 * width)
    scaled = replace(card, score=replace(card.score, bounds=(0.0, 1.0), fixed=0.5))
    is_known = question == THESE or "cluster" in both
    result = score(
        both.assign(value=moved),
        scaled,
        question=question if is_known else THESE,
        confidence=confidence,
    ).score

    # A mean moves with its values; a difference of two means does not.
    shift = 0.0 if card.compares_groups else width
    return replace(
        result,
        estimate=2 * width * result.estimate - shift,
        low=2 * width * result.low - shift,
        high=2 * width * result.high - shift,
    )
