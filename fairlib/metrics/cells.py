"""The examples of each group, or of each source and group, and their reductions to one value or distribution per cell.

All arrays begin with (replicates, units, groups): one replicate unless the data are resampled, one unit unless the
metric is counterfactual. Nothing loops over examples; a reduction costs one pass over them per replicate.
"""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import sparse

from fairlib.metrics.draws import Draws
from fairlib.metrics.examples import Examples

REPLICATED_SUPPORT = 1000  # points, at equal shares, where replicates evaluate the distribution of a whole group


def described(symbol: str, **facts):
    """Give a score or a comparison the symbol that Table 2 prints, and what else is to be known of it."""

    def mark(function):
        vars(function).update(facts, symbol=symbol)
        return function

    return mark


def divide(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Divide a part by its whole, with NaN where there is nothing: a rate among no examples is not defined."""
    with np.errstate(invalid="ignore"):
        return part / whole


@dataclass(frozen=True, eq=False)
class Sample:
    """One distribution of values per cell; the cells of a unit share their support, so that they compare by sums."""

    values: np.ndarray  # (units, 1, support) ascending
    weights: np.ndarray  # (replicates, units, groups, support)

    def __getitem__(self, key) -> "Sample":
        """Pick groups, as `array[..., groups]` does for scores that are numbers."""
        picked = (*key, slice(None))
        sample = Sample(self.values, self.weights[picked])
        vars(sample).update(
            cdf=self.cdf[picked], areas=self.areas[picked]
        )  # summed once, for all pairs of groups
        return sample

    @cached_property
    def size(self) -> np.ndarray:
        """The weight of each cell; 0 where it is empty."""
        return self.weights.sum(axis=-1)

    @cached_property
    def cdf(self) -> np.ndarray:
        """The share of a cell that is at most each value of the support; NaN in an empty cell."""
        return divide(self.weights.cumsum(axis=-1), self.size[..., None])

    @cached_property
    def areas(self) -> np.ndarray:
        """The cdf times the distance to the next value: what it adds to an integral over the value."""
        return self.cdf[..., :-1] * np.diff(self.values, axis=-1)

    def at(self, quantiles: np.ndarray) -> np.ndarray:
        """Return the values at `quantiles` (..., groups, picks) of each cell: (..., picks, groups); NaN if empty."""
        support = self.cdf.shape[-1]
        empty = self.size.reshape(-1) == 0
        cdf = np.where(
            empty[:, None], 1.0, self.cdf.reshape(-1, support)
        )  # NaN would spoil the order for all cells
        row = np.arange(len(cdf))[:, None]
        # One search for all cells: adding the row number puts the rows' functions end to end.
        wanted = np.broadcast_to(
            quantiles, (*self.cdf.shape[:-1], quantiles.shape[-1])
        ).reshape(len(cdf), -1)
        found = (
            np.searchsorted((cdf + row).ravel(), (wanted + row).ravel()).reshape(
                wanted.shape
            )
            - row * support
        )
        values = np.broadcast_to(self.values, self.cdf.shape).reshape(-1, support)
        picked = np.take_along_axis(values, np.clip(found, 0, support - 1), axis=1)
        picked[empty] = np.nan
        return picked.reshape(*self.cdf.shape[:-1], -1).swapaxes(-1, -2)


@dataclass(frozen=True, eq=False)
class Cells:
    """The examples of every group, or of every group and source, and how to reduce them to one value per cell."""

    examples: Examples
    target: (
        int | None
    )  # the class that is measured, one against the rest; None where all classes are
    by_unit: bool  # counterfactual: each source on its own
    draws: Draws | None = (
        None  # how sources and terms are resampled; None for the data as they are
    )
    own: "Cells | None" = (
        None  # of a background: the cells of the groups, whose sums it takes
    )
    kind: str = ""  # of a background: "all" examples, or their "complement", all but the group's own
    _samples: dict[str, Sample] = field(default_factory=dict)

    @cached_property
    def unit(self) -> np.ndarray:
        """The unit of each example: what is held fixed while the group changes."""
        return (
            self.examples.need("unit")
            if self.by_unit
            else np.zeros(len(self.examples), dtype=int)
        )

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """How many replicates, units and groups there are."""
        replicates = 1 if self.draws is None else len(self.draws.term_group)
        return replicates, int(self.unit.max()) + 1, len(self.examples.groups)

    @cached_property
    def gold(self) -> np.ndarray:
        """Whether the true class of each example is the class that is measured: y(x) = c."""
        return self.examples.need("label") == self._target

    @cached_property
    def predicted(self) -> np.ndarray:
        """Whether the class that is measured was predicted."""
        return self.examples.need("prediction") == self._target

    @cached_property
    def correct(self) -> np.ndarray:
        """Whether the prediction is the true class, whichever it is."""
        return self.examples.need("prediction") == self.examples.need("label")

    @cached_property
    def probability(self) -> np.ndarray:
        """f(x, c): the probability of the class that is measured."""
        return self.examples.need("probabilities")[:, self._target]

    @cached_property
    def gold_probability(self) -> np.ndarray:
        """f(x, y(x)): the probability of each example's true class."""
        return self.examples.need("probabilities")[
            np.arange(len(self.examples)), self.examples.need("label")
        ]

    @cached_property
    def confusion(self) -> dict[str, np.ndarray]:
        """True and false positives and negatives of each cell, for the class that is measured against the rest."""
        if self.own is not None:  # from counts that are there already
            return {
                name: self._pooled(counts)
                for name, counts in self.own.confusion.items()
            }
        gold, predicted = self.gold, self.predicted
        kinds = {
            "TP": gold & predicted,
            "FP": ~gold & predicted,
            "FN": gold & ~predicted,
            "TN": ~gold & ~predicted,
        }
        return {name: self.total(kind) for name, kind in kinds.items()}

    def mean(
        self, values: np.ndarray, *, among: np.ndarray | None = None
    ) -> np.ndarray:
        """Return in each cell the mean of `values` over the examples with property `among`; NaN without any."""
        counted = (
            np.ones(len(self.examples))
            if among is None
            else np.asarray(among, dtype=float)
        )
        return divide(self.total(values * counted), self.total(counted))

    share = mean  # of the examples with a property

    def total(self, values: np.ndarray) -> np.ndarray:
        """Sum `values` in each cell: (replicates, units, groups)."""
        if self.own is not None:
            return self._pooled(self.own.total(values))
        replicates, units, groups = self.shape
        values = np.asarray(values, dtype=float)
        values = values if self._count is None else values * self._count
        if self.draws is None:
            cell = self.unit * groups + self.examples.group
            return np.bincount(cell, values, minlength=units * groups).reshape(
                self.shape
            )
        draws, term = self.draws, self.examples.term
        terms = draws.term_group.shape[1]
        if self.by_unit:  # the weight of a source is the same for all groups, so it comes in when sources are averaged
            table = sparse.csr_array((values, (self.unit, term)), shape=(units, terms))
            member = np.zeros((terms, replicates, groups))
            member[
                np.arange(terms)[:, None], np.arange(replicates), draws.term_group.T
            ] = draws.term_weight.T
            return (
                (table @ member.reshape(terms, -1))
                .reshape(-1, replicates, groups)
                .swapaxes(0, 1)
            )
        table = sparse.csr_array(
            (values, (term, self.examples.source)),
            shape=(terms, draws.source_weight.shape[1]),
        )
        by_term = (table @ draws.source_weight.T).T * draws.term_weight
        cell = np.arange(replicates)[:, None] * groups + draws.term_group
        return np.bincount(
            cell.ravel(), by_term.ravel(), minlength=replicates * groups
        ).reshape(self.shape)

    def sample(
        self, values: np.ndarray | str, *, among: np.ndarray | None = None
    ) -> Sample:
        """Collect `values` of each cell, or of its examples with property `among`, as a distribution.

        The name of a property in place of values, such as "probability", is collected once for all metrics.
        """
        if self.own is not None:
            sample = self.own.sample(values, among=among)
            return Sample(sample.values, self._pooled(sample.weights, axis=-2))
        if isinstance(values, str):
            if values not in self._samples:
                self._samples[values] = self.sample(getattr(self, values))
            return self._samples[values]
        replicates, units, groups = self.shape
        rank = (
            pd.Series(values).groupby(self.unit).rank("dense").to_numpy(dtype=np.int64)
            - 1
        )
        support = max(
            int(rank.max()) + 1, 2
        )  # between two points an empty cell is NaN, whatever others hold
        if self.draws is not None and not self.by_unit and support > REPLICATED_SUPPORT:
            rank, support = rank * REPLICATED_SUPPORT // support, REPLICATED_SUPPORT
        table = np.full((units, support), -np.inf)
        np.maximum.at(
            table, (self.unit, rank), values
        )  # of values that share a place, the largest stays
        table = np.maximum.accumulate(
            table, axis=1
        )  # units with fewer distinct values repeat their last
        weight, group, draws = (
            1.0 if among is None else among,
            self.examples.group[None, :],
            self.draws,
        )
        weight = weight if self._count is None else weight * self._count
        if draws is not None:
            weight, group = (
                weight * draws.term_weight[:, self.examples.term],
                draws.term_group[:, self.examples.term],
            )
            weight = (
                weight
                if self.by_unit
                else weight * draws.source_weight[:, self.examples.source]
            )
        cell = (
            (np.arange(replicates)[:, None] * units + self.unit) * groups + group
        ) * support + rank
        weight = (
            np.broadcast_to(weight, cell.shape).ravel() if np.ndim(weight) else None
        )
        weights = np.bincount(
            cell.ravel(), weight, minlength=math.prod(self.shape) * support
        )
        return Sample(table[:, None, :], weights.reshape(*self.shape, support))

    def _pooled(self, table: np.ndarray, axis: int = -1) -> np.ndarray:
        together = table.sum(axis=axis, keepdims=True)
        # Subtracting may leave a rounding error where nothing is left.
        return together if self.kind == "all" else np.maximum(together - table, 0)

    @property
    def _count(self) -> np.ndarray | None:
        """How many examples each row stands for, unless the draws' weights say that already."""
        return (
            None
            if self.draws is not None and self.examples.counted
            else self.examples.count
        )

    @property
    def _target(self) -> int:
        if self.target is None:
            raise ValueError(
                "per_class=False leaves a metric no class of its own: no gold, predicted, or probability"
            )
        return self.target


def background(cells: Cells, kind: str) -> Cells:
    """Return the background (beta) of every group: "all" examples, or the "complement", all but the group's own.

    A group counts by its examples. What is a background already has no other.
    """
    return cells if cells.kind else replace(cells, own=cells, kind=kind)
