"""What a benchmark can show: the smallest bias, for two questions.

"These templates" asks what other items would show that are made with the same
templates. "Templates like these" asks what other templates would show. The second
question is the one that a claim about a model is about, and it needs many clusters.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy import ndarray
from pandas import DataFrame

from fairlib.atlas.cards import Card
from fairlib.intervals import cluster_planning as clustered
from fairlib.intervals import planning

THESE = "these"
LIKE_THESE = "like these"
_MOST_EXACT = 5000  # pairs; the exact plan of more takes seconds
_FEWEST_CLUSTERS = 3
COLUMNS = (
    "question",
    "assumption",
    "unit",
    "number",
    "design_effect",
    "smallest_bias",
)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a plan assumes about the model that will be measured.

    Attributes
    ----------
    confidence : float
        Confidence of the interval.
    power : float
        Probability with which a bias has to be shown.
    error : float
        The lower rate of two groups.
    discordant : float, optional
        The share of pairs whose outcomes differ; by default the card's own, or `error`.
    design_effect : float, optional
        By default the card's own, if it was measured.
    """

    confidence: float = 0.95
    power: float = 0.8
    error: float = 0.2
    discordant: float | None = None
    design_effect: float | None = None

    @property
    def levels(self) -> dict[str, Any]:
        """Power and confidence."""
        return {"power": self.power, "confidence": self.confidence}


@dataclass(frozen=True, kw_only=True)
class _Row:
    """One line of a plan."""

    question: str
    assumption: str
    unit: str
    number: float
    design_effect: float
    smallest_bias: float


def plan(card: Card, setting: Setting) -> DataFrame:
    """Return the smallest bias that a benchmark can show, for both questions.

    Parameters
    ----------
    card : Card
        The card of the benchmark.
    setting : Setting
        What is assumed about the model.

    Returns
    -------
    DataFrame
        One row for each question and assumption. The last row is for the question
        "like these" and is what `smallest_bias` is read off.
    """
    if card.items.number is None or card.status == "open":
        return no_plan()

    rows = _rows_for_these(card, setting)
    if card.clusters.number:
        rows += _rows_for_like_these(card, setting)
    return pd.DataFrame([vars(row) for row in rows], columns=[*COLUMNS])


def no_plan() -> DataFrame:
    """Return a plan without rows, for a benchmark whose items were not counted.

    Returns
    -------
    DataFrame
        The columns of a plan.
    """
    return pd.DataFrame(columns=[*COLUMNS])


def smallest_bias(table: DataFrame) -> float:
    """Return the one number of a plan; NaN if there is none.

    Parameters
    ----------
    table : DataFrame
        What `plan` returns.

    Returns
    -------
    float
        The smallest bias for "like these".
    """
    if table.empty:
        return float("nan")
    return float(table["smallest_bias"].iloc[-1])


def if_independent(table: DataFrame) -> float:
    """Return the smallest bias of a plan if items, or pairs, are independent.

    Parameters
    ----------
    table : DataFrame
        What `plan` returns.

    Returns
    -------
    float
        The smallest bias for "these"; NaN if there is none.
    """
    of_these = table[table["question"] == THESE]
    if of_these.empty:
        return float("nan")
    return float(of_these["smallest_bias"].iloc[-1])


def unit_of(card: Card) -> tuple[str, int]:
    """Return what is independent if clusters do not matter: pairs, or items.

    Parameters
    ----------
    card : Card
        The card of the benchmark.

    Returns
    -------
    tuple of str and int
        The name of the unit, and how many there are.
    """
    if _is_paired(card):
        return card.pairs.what, card.pairs.number
    return card.items.what, card.items.number or 0


def group_sizes(card: Card) -> tuple[float, float]:
    """Return the sizes of the two groups that are compared.

    With more than two groups these are the two smallest.

    Parameters
    ----------
    card : Card
        The card of the benchmark.

    Returns
    -------
    tuple of float
        The sizes, in the order of the groups if there are two.
    """
    groups = card.groups
    if groups.sizes:
        names = groups.names or tuple(groups.sizes)
        sizes = [float(groups.sizes[name]) for name in names]
        if len(sizes) > 2:
            sizes = sorted(sizes)
        return sizes[0], sizes[min(1, len(sizes) - 1)]

    number = groups.number or 2
    if groups.smallest is not None:
        smallest = float(groups.smallest)
        is_one_of_two = number == 2 and card.items.number is not None
        rest = float(card.items.number or 0) - smallest
        return smallest, rest if is_one_of_two else smallest
    return (card.items.number or 0) / number, (card.items.number or 0) / number


def _is_paired(card: Card) -> bool:
    """Whether the groups are compared within pairs."""
    return card.score.kind == "difference" and card.pairs.number > 0


def _rows_for_these(card: Card, setting: Setting) -> list[_Row]:
    """Return the rows for the items themselves: without the pairs, and with them."""
    row = partial(_Row, question=THESE, design_effect=1.0)
    rows = []
    if not _is_paired(card) or card.groups.number == 2:
        rows.append(
            row(
                assumption="items are independent",
                unit=card.items.what,
                number=card.items.number or 0,
                smallest_bias=_of_items(card, setting),
            )
        )

    if _is_paired(card):
        discordant = _discordant(card, setting)
        rows.append(
            row(
                assumption=f"{discordant:.0%} of pairs differ",
                unit=card.pairs.what,
                number=card.pairs.number,
                smallest_bias=_of_pairs(card.pairs.number, discordant, setting),
            )
        )
    return rows


def _of_items(card: Card, setting: Setting) -> float:
    """Return the smallest bias if all items are independent."""
    if not card.compares_groups:
        effect = clustered.smallest_share(
            card.items.number or 0, fixed=_fixed_share(card), **setting.levels
        )
        return _width(card) * effect

    n_a, n_b = group_sizes(card)
    if min(n_a, n_b) < 1:
        return float("nan")
    if card.score.kind == "ratio":
        ratio = clustered.largest_ratio(
            n_a, n_b, rate=1 - setting.error, **setting.levels
        )
        return 1 - ratio
    total = round(n_a + n_b)
    effect = planning.smallest_bias(
        total,
        method="newcombe",
        error=setting.error,
        gamma=n_a / (n_a + n_b),
        **setting.levels,
    )
    return _width(card) * effect


def _of_pairs(pairs: int, discordant: float, setting: Setting) -> float:
    """Return the smallest difference if all pairs are independent."""
    if pairs > _MOST_EXACT:
        return clustered.smallest_change(pairs, discordant=discordant, **setting.levels)
    exact = planning.smallest_bias(
        pairs, method="mcnemar", discordant=discordant, **setting.levels
    )
    if not np.isnan(exact):
        return exact
    # So few pairs show only differences that need more discordant pairs.
    return clustered.smallest_change(pairs, discordant=discordant, **setting.levels)


def _rows_for_like_these(card: Card, setting: Setting) -> list[_Row]:
    """Return the rows for clusters like these; the last one is the answer."""
    _, number = unit_of(card)
    sizes = tuple(_cluster_sizes(card, number))
    largest = _largest_design_effect(card, sizes)
    of_clusters = partial(_of_clusters, card, sizes, setting)
    row = partial(
        _Row,
        question=LIKE_THESE,
        unit=card.clusters.what,
        number=card.clusters.number or 0,
    )

    worst = row(
        assumption=f"all of the same {card.clusters.what} repeat each other",
        design_effect=largest,
        smallest_bias=of_clusters(largest),
    )
    design_effect = setting.design_effect
    assumption = "the design effect that was given"
    if design_effect is None and card.dependence is not None:
        design_effect = card.dependence.design_effect
        assumption = f"the design effect measured on {card.dependence.origin}"
    if design_effect is None:
        return [worst]

    # Below 1, a design effect may have been measured by chance.
    used = min(max(design_effect, 1.0), largest)
    expected = row(
        assumption=assumption, design_effect=used, smallest_bias=of_clusters(used)
    )
    return [worst, expected]


def _largest_design_effect(card: Card, sizes: tuple[float, ...]) -> float:
    """Return the design effect of copies, for the score of the card."""
    if card.compares_groups and not _is_paired(card):
        n_a, n_b = group_sizes(card)
        sizes_a, sizes_b = _sizes_of_sides(card, sizes)
        copies_a = clustered.largest_design_effect(sizes_a)
        copies_b = clustered.largest_design_effect(sizes_b)
        # The group that is smaller counts for more of the variance.
        return (copies_a / n_a + copies_b / n_b) / (1 / n_a + 1 / n_b)
    return clustered.largest_design_effect(sizes)


def _of_clusters(
    card: Card, sizes: tuple[float, ...], setting: Setting, design_effect: float
) -> float:
    """Return the smallest bias for clusters like these."""
    if len(sizes) < _FEWEST_CLUSTERS:
        return float("nan")
    if not card.compares_groups:
        effect = _cached(
            clustered.smallest_share,
            sizes,
            fixed=_fixed_share(card),
            design_effect=design_effect,
            **setting.levels,
        )
        return _width(card) * effect
    if _is_paired(card):
        return _width(card) * _cached(
            clustered.smallest_change,
            sizes,
            discordant=_discordant(card, setting),
            design_effect=design_effect,
            **setting.levels,
        )

    sides = _sizes_of_sides(card, sizes)
    if card.score.kind == "ratio":
        ratio = _cached(
            clustered.largest_ratio,
            *sides,
            rate=1 - setting.error,
            design_effect=design_effect,
            **setting.levels,
        )
        return 1 - ratio
    effect = _cached(
        clustered.smallest_difference,
        *sides,
        error=setting.error,
        design_effect=design_effect,
        **setting.levels,
    )
    return _width(card) * effect


@cache
def _cached(function: Callable[..., float], *sizes: tuple, **options: float) -> float:
    """Return a result that is simulated, and takes a moment."""
    return function(*sizes, **options)


def _cluster_sizes(card: Card, number: int) -> ndarray:
    """Return how many units each cluster holds: as known, or as unequal as possible.

    Clusters without a unit are left out: nothing is measured on them.
    """
    if _is_paired(card) and card.pairs.sizes:
        sizes = np.array(card.pairs.sizes, dtype=float)
        return sizes[sizes > 0]

    clusters = card.clusters
    count = clusters.number or 0
    if clusters.sizes:
        sizes = np.array(clusters.sizes, dtype=float)
    elif clusters.smallest is not None and clusters.largest is not None:
        sizes = clustered.least_equal_sizes(
            card.items.number or 0, count, clusters.smallest, clusters.largest
        )
    else:
        sizes = np.full(count, 1.0)

    # The sizes of a card are those of items. If those of pairs are not known, they are
    # taken to be proportional, and add up to the number of pairs.
    # From the largest on: how they are spread must not depend on the card's order.
    scaled = np.array(_spread(-np.sort(-sizes), number))
    return scaled[scaled > 0]


def _sizes_of_sides(
    card: Card, sizes: tuple[float, ...]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return how many items each cluster holds of each of two groups."""
    n_a, n_b = group_sizes(card)
    number = np.array(sizes)
    if card.clusters.shared:
        return _spread(number, n_a), _spread(number, n_b)

    # Every cluster belongs to one group: every second one, or every third, and so on.
    # Of more than two groups, the clusters of the others are left out.
    is_used = _every_so_often(number.size, (n_a + n_b) / number.sum())
    used = number[is_used]
    is_a = _every_so_often(used.size, n_a / (n_a + n_b))
    return tuple(np.where(is_a, used, 0.0)), tuple(np.where(is_a, 0.0, used))


def _spread(sizes: ndarray, n: float) -> tuple[float, ...]:
    """Return how many of n items each cluster holds, in proportion to its size."""
    so_far = np.round(np.cumsum(sizes) * n / max(sizes.sum(), 1))
    return tuple(np.diff(so_far, prepend=0.0))


def _every_so_often(number: int, share: float) -> ndarray:
    """Return a share of so many places, as evenly as possible."""
    ends = np.floor(np.arange(number + 1) * min(share, 1.0) + 1e-9)
    return np.diff(ends) > 0


def _discordant(card: Card, setting: Setting) -> float:
    """Return the share of pairs whose outcomes differ."""
    if setting.discordant is not None:
        return setting.discordant
    if card.pairs.discordant is not None:
        return card.pairs.discordant
    return setting.error


def _width(card: Card) -> float:
    """Return how long the scale of outcomes is."""
    low, high = card.score.bounds
    return high - low


def _fixed_share(card: Card) -> float:
    """Return the fixed value on a scale from 0 to 1."""
    return (card.score.fixed - card.score.bounds[0]) / _width(card)
