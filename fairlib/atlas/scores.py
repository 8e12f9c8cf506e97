"""Scores of a benchmark with their intervals, for "these" and for "like these".

Both questions have the same estimate. They differ in what is drawn again: for "these"
it is the items (or pairs) of the same clusters, for "like these" it is the clusters.
"""

from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
from numpy import ndarray
from pandas import DataFrame, Series
from scipy.stats import chi2

from fairlib.atlas.cards import Card
from fairlib.atlas.planning import LIKE_THESE, THESE
from fairlib.interval import Interval
from fairlib.intervals import cluster_ratios, clusters, proportions
from fairlib.intervals.disparity import disparity_interval

_FEWEST_CLUSTERS = 3
_MOST_EXACT = 100_000  # items; the exact interval of more takes seconds


@dataclass(frozen=True, eq=False, kw_only=True)
class Scored:
    """A score for one question.

    Attributes
    ----------
    score : Interval
        The score; with more than two groups, the largest difference of two.
    by_group : DataFrame
        Columns group, items, mean, low, high.
    comparisons : DataFrame
        Columns group, other, score, low, high, shown: one row for two groups that are
        compared. The intervals of all rows hold together.
    units : int
        How many items, pairs or clusters were taken to be independent.
    """

    score: Interval
    by_group: DataFrame
    comparisons: DataFrame
    units: int


def score(
    items: DataFrame,
    card: Card,
    *,
    question: str,
    confidence: float,
    groups: list[str] | None = None,
) -> Scored:
    """Return the score of a benchmark with its interval, for one question.

    Parameters
    ----------
    items : DataFrame
        One row for each answered item: value, and group, pair and cluster if known.
    card : Card
        The benchmark.
    question : {"these", "like these"}
        Whether items are drawn again, or clusters.
    confidence : float
        Confidence of the intervals.
    groups : list of str, optional
        All groups, if some of them have no answered item; by default `groups_of`.

    Returns
    -------
    Scored
        The score, the groups and the comparisons.
    """
    table = _Table(items, card, question, groups)
    by_group = _by_group(table, confidence)
    if not card.compares_groups:
        return Scored(
            score=_mean(table, confidence),
            by_group=by_group,
            comparisons=pd.DataFrame(),
            units=table.units,
        )

    comparisons = _comparisons(table, confidence)
    return Scored(
        score=_summary(comparisons, table, confidence),
        by_group=by_group,
        comparisons=comparisons,
        units=table.units,
    )


def groups_of(items: DataFrame, card: Card) -> list[str]:
    """Return the groups of a table of items, in the order of the card.

    Parameters
    ----------
    items : DataFrame
        One row for each item.
    card : Card
        The benchmark.

    Returns
    -------
    list of str
        The names; of two groups, the first is compared with the second.

    Raises
    ------
    ValueError
        If there is only one group, or one that the card does not know.
    """
    if "group" not in items:
        return []
    present = sorted(items["group"].unique())
    stated = list(card.groups.names or card.groups.sizes)
    unknown = [name for name in present if name not in stated]
    if stated and unknown:
        raise ValueError(
            f"group must be one of {', '.join(stated)}, found {unknown[0]!r}"
        )

    names = [name for name in stated if name in present] or present
    if card.compares_groups and len(names) < 2:
        raise ValueError(f"group must name at least 2 groups, found {', '.join(names)}")
    return names


def design_effect(
    items: DataFrame,
    card: Card,
    *,
    confidence: float = 0.95,
    groups: list[str] | None = None,
) -> Interval:
    """Return how many times larger the variance over clusters is than that of items.

    Parameters
    ----------
    items : DataFrame
        One row for each answered item, with its cluster.
    card : Card
        The benchmark.
    confidence : float, default 0.95
        Confidence of the interval.
    groups : list of str, optional
        All groups, if some of them have no answered item; by default `groups_of`.

    Returns
    -------
    Interval
        The variance of the score over clusters, divided by its variance if pairs (or
        items, where there are no pairs) were independent. Its interval takes the
        clusters' sums to be normal. NaN if it is undefined.
    """
    variances = []
    for question in (LIKE_THESE, THESE):
        table = _Table(items, card, question, groups)
        is_enough = table.units >= _FEWEST_CLUSTERS
        variances.append(_variance(table) if is_enough else np.nan)

    of_clusters, of_items = variances
    method = "chi-squared"
    if not of_items > 0 or np.isnan(of_clusters):
        return _interval(np.nan, np.nan, np.nan, confidence=confidence, method=method)

    ratio = of_clusters / of_items
    freedom = items["cluster"].nunique() - 1
    tail = (1 - confidence) / 2
    return Interval(
        estimate=ratio,
        low=ratio * freedom / chi2.isf(tail, freedom),
        high=ratio * freedom / chi2.ppf(tail, freedom),
        confidence=confidence,
        method=method,
    )


class _Table:
    """Items as sums of each group and unit."""

    def __init__(
        self,
        items: DataFrame,
        card: Card,
        question: str,
        groups: list[str] | None = None,
    ) -> None:
        self.card = card
        self.question = question
        self.groups = groups or groups_of(items, card) or ["all"]
        self.values = items["value"].to_numpy(dtype=float)
        self.bounds = card.score.bounds

        self.side = np.zeros(len(items), dtype=int)
        if "group" in items:
            self.side = pd.Categorical(items["group"], categories=self.groups).codes
        self.unit_name, self.unit = self._units(items)
        self.units = int(self.unit.max()) + 1 if len(self.unit) else 0
        self.weight = self._weights(items)
        self.is_binary = bool(np.isin(self.values, self.bounds).all())
        self.is_weighted = bool((self.weight != 1).any())

    def _units(self, items: DataFrame) -> tuple[str, ndarray]:
        """Return what is drawn again, and which unit each item belongs to."""
        if self.question == LIKE_THESE:
            return "clusters", pd.factorize(items["cluster"])[0]
        if self.card.compares_groups and "pair" in items:
            return "pairs", pd.factorize(items["pair"])[0]
        return "items", np.arange(len(items))

    def _weights(self, items: DataFrame) -> ndarray:
        """Return the weight of each item: 1, or so that all clusters count alike."""
        if self.card.score.weights == "items":
            return np.ones(len(items))
        if "cluster" not in items:
            raise ValueError(
                f"predictions must have the column 'cluster', because all clusters of "
                f"{self.card.name} count alike in its score"
            )
        by = ["group", "cluster"] if self.card.compares_groups else ["cluster"]
        return 1 / items.groupby(by)["value"].transform("size").to_numpy()

    def sums(self, side: int | None = None) -> tuple[ndarray, ndarray]:
        """Return the size and the sum of each unit, of one group or of all."""
        is_in = slice(None) if side is None else self.side == side
        unit = self.unit[is_in]
        weight = self.weight[is_in]
        n = np.bincount(unit, weight, minlength=self.units)
        k = np.bincount(unit, weight * self.values[is_in], minlength=self.units)
        return n, k

    def of(self, side: int) -> ndarray:
        """Return the values of one group."""
        return self.values[self.side == side]

    def label(self, note: str = "") -> str:
        """Return the name of the method, for display."""
        text = f"t over {self.units} {self.unit_name}"
        return f"{note}, {text}" if note else text


def _mean(table: _Table, confidence: float, side: int | None = None) -> Interval:
    """Return a mean, of one group or of all items."""
    n, k = table.sums(side)
    total = n.sum()
    estimate = float(k.sum() / total) if total > 0 else np.nan
    filled = int((n > 0).sum())

    is_exact = table.is_binary and not table.is_weighted
    if table.unit_name == "items" and is_exact and filled > 0:
        low_bound, high_bound = table.bounds
        width = high_bound - low_bound
        ones = np.round((k.sum() - low_bound * total) / width)
        low, high = proportions.limits(ones, total, tail=(1 - confidence) / 2)
        return _interval(
            estimate,
            low_bound + width * low,
            low_bound + width * high,
            confidence=confidence,
            method="clopper_pearson",
        )

    low, high = clusters.from_sums(n, k, bounds=table.bounds, confidence=confidence)
    text = f"t over {filled} {table.unit_name}"
    return _interval(estimate, low, high, confidence=confidence, method=text)


def _by_group(table: _Table, confidence: float) -> DataFrame:
    """Return the mean of each group, with an interval of its own."""
    rows = []
    for side, name in enumerate(table.groups):
        mean = _mean(table, confidence, side)
        row = {"group": name, "items": int((table.side == side).sum())}
        rows.append(row | {"mean": mean.estimate, "low": mean.low, "high": mean.high})
    return pd.DataFrame(rows)


def _comparisons(table: _Table, confidence: float) -> DataFrame:
    """Return every two groups that are compared; all intervals hold together."""
    places = range(len(table.groups))
    pairs = list(combinations(places, 2))
    level = 1 - (1 - confidence) / len(pairs)
    compare = partial(
        _ratio if table.card.score.kind == "ratio" else _difference, table
    )

    rows = []
    for one, other in pairs:
        interval = compare(one, other, level)
        rows.append(
            {
                "group": table.groups[one],
                "other": table.groups[other],
                "score": interval.estimate,
                "low": interval.low,
                "high": interval.high,
                "shown": interval.excludes(table.card.score.fixed),
                "method": interval.method,
            }
        )
    return pd.DataFrame(rows)


def _summary(comparisons: DataFrame, table: _Table, confidence: float) -> Interval:
    """Return the one comparison, or the largest of several."""
    if len(comparisons) == 1:
        row = comparisons.iloc[0]
        return _interval(
            row["score"],
            row["low"],
            row["high"],
            confidence=confidence,
            method=row["method"],
        )

    method = table.label(f"largest of {len(comparisons)}")
    if table.card.score.kind == "ratio":
        return _smallest_ratio(comparisons, confidence, method)
    farthest = comparisons[["low", "high"]].abs().max(axis=1)
    nearest = np.maximum(comparisons["low"], -comparisons["high"])
    return _interval(
        comparisons["score"].abs().max(),
        max(0.0, nearest.max()),
        farthest.max(),
        confidence=confidence,
        method=method,
    )


def _smallest_ratio(comparisons: DataFrame, confidence: float, method: str) -> Interval:
    """Return the smallest ratio of any two groups, the lower divided by the higher."""
    is_turned = comparisons["score"] > 1
    low = comparisons["low"].where(~is_turned, 1 / comparisons["high"])
    high = comparisons["high"].where(~is_turned, 1 / comparisons["low"])
    estimate = comparisons["score"].where(~is_turned, 1 / comparisons["score"])

    # The ratio of the lower to the higher mean is at most 1.
    return _interval(
        estimate.min(),
        low.min(),
        min(1.0, high.min()),
        confidence=confidence,
        method=method,
    )


def _difference(table: _Table, one: int, other: int, confidence: float) -> Interval:
    """Return the mean of one group minus the mean of another."""
    plain = table.is_binary and not table.is_weighted
    if plain and table.question == THESE:
        exact = _exact_difference(table, one, other, confidence)
        if exact is not None:
            return exact

    n_a, k_a = table.sums(one)
    n_b, k_b = table.sums(other)
    if min(n_a.sum(), n_b.sum()) == 0:
        return _undefined(table, confidence)

    sides = (n_a, k_a, n_b, k_b)
    low, high = clusters.difference_from_sums(
        *sides, bounds=table.bounds, confidence=confidence
    )
    used = int(((n_a > 0) | (n_b > 0)).sum())
    return _interval(
        k_a.sum() / n_a.sum() - k_b.sum() / n_b.sum(),
        low,
        high,
        confidence=confidence,
        method=f"t over {used} {table.unit_name}",
    )


def _exact_difference(
    table: _Table, one: int, other: int, confidence: float
) -> Interval | None:
    """Return the exact interval, if all items are paired, or if none is."""
    low_bound, high_bound = table.bounds
    if (low_bound, high_bound) != (0.0, 1.0):
        return None
    if table.unit_name == "items":
        cost_a = table.of(one)
        cost_b = table.of(other)
        if min(len(cost_a), len(cost_b)) == 0:
            return None
        is_large = len(cost_a) + len(cost_b) > _MOST_EXACT
        method = "newcombe" if is_large else "exact_unconditional"
        return disparity_interval(cost_a, cost_b, method=method, confidence=confidence)

    n_a, k_a = table.sums(one)
    n_b, k_b = table.sums(other)
    is_used = (n_a > 0) | (n_b > 0)
    if not is_used.any() or not ((n_a[is_used] == 1) & (n_b[is_used] == 1)).all():
        return None
    return disparity_interval(
        k_a[is_used],
        k_b[is_used],
        method="mcnemar",
        paired=True,
        confidence=confidence,
    )


def _ratio(table: _Table, one: int, other: int, confidence: float) -> Interval:
    """Return the mean of one group divided by the mean of another."""
    n_a, k_a = table.sums(one)
    n_b, k_b = table.sums(other)
    if min(n_a.sum(), n_b.sum()) == 0:
        return _undefined(table, confidence)

    sides = (n_a, k_a, n_b, k_b)
    low, high = cluster_ratios.from_sums(
        *sides, largest=table.bounds[1], confidence=confidence
    )

    mean_b = k_b.sum() / n_b.sum()
    estimate = k_a.sum() / n_a.sum() / mean_b if mean_b > 0 else np.nan
    used = int(((n_a > 0) | (n_b > 0)).sum())
    return _interval(
        estimate,
        low,
        high,
        confidence=confidence,
        method=f"t over {used} {table.unit_name}",
    )


def _undefined(table: _Table, confidence: float) -> Interval:
    """Return the interval of a score that is undefined."""
    method = f"t over {table.units} {table.unit_name}"
    return _interval(np.nan, np.nan, np.nan, confidence=confidence, method=method)


def _interval(
    estimate: float | Series,
    low: float | ndarray,
    high: float | ndarray,
    *,
    confidence: float,
    method: str,
) -> Interval:
    """Return an interval of plain numbers."""
    return Interval(
        estimate=float(estimate),
        low=float(low),
        high=float(high),
        confidence=confidence,
        method=method,
    )


def _variance(table: _Table) -> float:
    """Return the variance of the score if the units are independent.

    With more than two groups it is the mean over all comparisons.
    """
    if not table.card.compares_groups:
        return float((_residuals(*table.sums()) ** 2).sum())

    sides = [table.sums(side) for side in range(len(table.groups))]
    sums = [(n, k) for n, k in sides if n.sum() > 0]
    if len(sums) < 2:
        return np.nan

    residuals = [_residuals(n, k) for n, k in sums]
    if table.card.score.kind == "ratio":
        # The variance of the logarithm of a ratio is that of relative deviations.
        residuals = [
            residual * n.sum() / max(k.sum(), 1e-300)
            for residual, (n, k) in zip(residuals, sums, strict=True)
        ]
    variances = [
        ((one - other) ** 2).sum() for one, other in combinations(residuals, 2)
    ]
    return float(np.mean(variances))


def _residuals(n: ndarray, k: ndarray) -> ndarray:
    """Return what each unit adds to the deviation of a mean, without its bias."""
    total = n.sum()
    share = n / total
    residual = (k - k.sum() / total * n) / total
    return residual / np.sqrt(np.maximum(1 - share, 1e-12))
