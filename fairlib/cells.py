"""The examples of each group, or of each source and group, and their reductions to one value or distribution per cell.

All arrays begin with (replicates, units, groups): one replicate unless the data are resampled, one unit unless the
metric is counterfactual. Nothing loops over examples; a reduction costs one pass over them per replicate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from fairlib.drawing import Draws
from fairlib.examples import Examples

REPLICATED_SUPPORT = 1000  # points, at equal shares, where replicates evaluate the distribution of a whole group


@dataclass(frozen=True, eq=False)
class Sample:
    """One distribution of values per cell; the cells of a unit share their support, so that they compare by sums."""

    values: np.ndarray  # (units, 1, support) ascending
    weights: np.ndarray  # (replicates, units, groups, support)

    def __getitem__(self, key) -> Sample:
        """Pick groups, as `array[..., groups]` does for scores that are numbers."""
        picked = (*key, slice(None))
        sample = Sample(self.values, self.weights[picked])
        vars(sample).update(cdf=self.cdf[picked], areas=self.areas[picked])  # summed once, for all pairs of groups
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

    def draw(self, quantiles: np.ndarray) -> np.ndarray:
        """Return the values at `quantiles` (..., groups, draws) of each cell: (..., draws, groups)."""
        support = self.cdf.shape[-1]
        cdf = self.cdf.reshape(-1, support)
        row = np.arange(len(cdf))[:, None]
        # One search for all cells: adding the row number puts the rows' functions end to end.
        wanted = np.broadcast_to(quantiles, (*self.cdf.shape[:-1], quantiles.shape[-1])).reshape(len(cdf), -1)
        found = np.searchsorted((cdf + row).ravel(), (wanted + row).ravel()).reshape(wanted.shape) - row * support
        values = np.broadcast_to(self.values, self.cdf.shape).reshape(-1, support)
        drawn = np.take_along_axis(values, np.clip(found, 0, support - 1), axis=1)
        return drawn.reshape(*self.cdf.shape[:-1], -1).swapaxes(-1, -2)


@dataclass(frozen=True, eq=False)
class Cells:
    """The examples of every group, or of every group and source, and how to reduce them to one value per cell."""

    examples: Examples
    target: int | None  # the class that is measured, one against the rest; None where all classes are
    by_unit: bool  # counterfactual: each source on its own
    draws: Draws | None = None  # how sources and terms are resampled; None for the data as they are

    @cached_property
    def units(self) -> int:
        """How many sources are looked at one by one; 1 for group metrics."""
        return int(self.unit.max()) + 1 if self.by_unit else 1

    @cached_property
    def unit(self) -> np.ndarray:
        """The unit of each example."""
        return self.examples.need("unit") if self.by_unit else np.zeros(len(self.examples), dtype=int)

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
        return self.examples.need("probabilities")[np.arange(len(self.examples)), self.examples.need("label")]

    @cached_property
    def confusion(self) -> dict[str, np.ndarray]:
        """True and false positives and negatives of each cell, for the class that is measured against the rest."""
        gold, predicted = self.gold, self.predicted
        kinds = {"tp": gold & predicted, "fp": ~gold & predicted, "fn": gold & ~predicted, "tn": ~gold & ~predicted}
        return {name: self.total(kind) for name, kind in kinds.items()}

    @cached_property
    def probabilities(self) -> Sample:
        """The distribution of f(x, c) in each cell."""
        return self.sample(self.probability)

    @cached_property
    def gold_probabilities(self) -> Sample:
        """The distribution of f(x, y(x)) in each cell."""
        return self.sample(self.gold_probability)

    def share(self, of: np.ndarray, *, among: np.ndarray | None = None) -> np.ndarray:
        """Return in each cell the share of examples with property `of` among those with property `among`, else NaN."""
        return self.mean(of, among=among)

    def mean(self, values: np.ndarray, *, among: np.ndarray | None = None) -> np.ndarray:
        """Return in each cell the mean of `values` over the examples with property `among`; NaN without any."""
        counted = np.ones(len(self.examples)) if among is None else np.asarray(among, dtype=float)
        return divide(self.total(values * counted), self.total(counted))

    def total(self, values: np.ndarray) -> np.ndarray:
        """Sum `values` in each cell: (replicates, units, groups)."""
        groups = len(self.examples.groups)
        values = np.asarray(values, dtype=float)
        values = values if self._count is None else values * self._count
        if self.draws is None:
            cell = self.unit * groups + self.examples.group
            return np.bincount(cell, values, minlength=self.units * groups).reshape(1, self.units, groups)
        draws, term = self.draws, self.examples.term
        replicates, terms = draws.term_group.shape
        if self.by_unit:  # the weight of a source is the same for all groups, so it comes in when sources are averaged
            table = sparse.csr_array((values, (self.unit, term)), shape=(self.units, terms))
            member = np.zeros((terms, replicates, groups))
            member[np.arange(terms)[:, None], np.arange(replicates), draws.term_group.T] = draws.term_weight.T
            return (table @ member.reshape(terms, -1)).reshape(-1, replicates, groups).swapaxes(0, 1)
        table = sparse.csr_array((values, (term, self.examples.source)), shape=(terms, draws.source_weight.shape[1]))
        by_term = (table @ draws.source_weight.T).T * draws.term_weight
        cell = np.arange(replicates)[:, None] * groups + draws.term_group
        return np.bincount(cell.ravel(), by_term.ravel(), minlength=replicates * groups).reshape(replicates, 1, groups)

    def sample(self, values: np.ndarray, *, among: np.ndarray | None = None) -> Sample:
        """Collect `values` of each cell, or of its examples with property `among`, as a distribution.

        Costs one sort, and memory replicates x units x groups x support. Samples of other properties share the support.
        """
        unit, groups, examples = self.unit, len(self.examples.groups), self.examples
        order = np.lexsort((values, unit)) if self.by_unit else np.argsort(values, kind="stable")
        sorted_unit, sorted_values = unit[order], values[order]
        starts = np.r_[True, sorted_unit[1:] != sorted_unit[:-1]]
        distinct = np.cumsum(starts | np.r_[True, sorted_values[1:] != sorted_values[:-1]]) - 1
        rank = np.empty(len(values), dtype=np.int64)
        rank[order] = distinct - distinct[starts][sorted_unit]  # among the distinct values of its unit
        support = int(rank.max()) + 1
        if self.draws is not None and not self.by_unit and support > REPLICATED_SUPPORT:
            rank, support = rank * REPLICATED_SUPPORT // support, REPLICATED_SUPPORT
        table = np.full((self.units, support), -np.inf)
        table[sorted_unit, rank[order]] = sorted_values  # of values that share a place, the largest stays
        table = np.maximum.accumulate(table, axis=1)  # units with fewer distinct values repeat their last
        if self.draws is None:
            replicates, group, weight = 1, examples.group[None, :], self._count
        else:
            replicates, group = len(self.draws.term_group), self.draws.term_group[:, examples.term]
            weight = self.draws.term_weight[:, examples.term]
            if not self.by_unit:
                weight = weight * self.draws.source_weight[:, examples.source]
            weight = weight if self._count is None else weight * self._count
        if among is not None:
            weight = among * (1.0 if weight is None else weight)
        cell = ((np.arange(replicates)[:, None] * self.units + unit) * groups + group) * support + rank
        weight = None if weight is None else np.broadcast_to(weight, cell.shape).ravel()
        weights = np.bincount(cell.ravel(), weight, minlength=replicates * self.units * groups * support)
        return Sample(table[:, None, :], weights.reshape(replicates, self.units, groups, support))

    @property
    def _count(self) -> np.ndarray | None:
        """How many examples each row stands for, unless the draws' weights say that already."""
        return None if self.draws is not None and self.examples.counted else self.examples.count

    @property
    def _target(self) -> int:
        if self.target is None:
            raise ValueError(
                "a metric with per_class=False has no class of its own: its score may not use gold or predicted"
            )
        return self.target


@dataclass(frozen=True, eq=False)
class Background(Cells):
    """The background of every group (beta): all examples, or all but the group's own."""

    of: Cells | None = None
    kind: str = "all"

    @cached_property
    def confusion(self) -> dict[str, np.ndarray]:
        """Counts of the background, from those of the groups."""
        return {name: self._pooled(counts, axis=-1) for name, counts in self.of.confusion.items()}

    @cached_property
    def probabilities(self) -> Sample:
        """The distribution of f(x, c) in the background."""
        return self._pooled_sample(self.of.probabilities)

    @cached_property
    def gold_probabilities(self) -> Sample:
        """The distribution of f(x, y(x)) in the background."""
        return self._pooled_sample(self.of.gold_probabilities)

    def total(self, values: np.ndarray) -> np.ndarray:
        """Sum `values` in each background; a group counts by its examples."""
        return self._pooled(self.of.total(values), axis=-1)

    def sample(self, values: np.ndarray, *, among: np.ndarray | None = None) -> Sample:
        """Collect `values` of each background as a distribution."""
        return self._pooled_sample(self.of.sample(values, among=among))

    def _pooled_sample(self, sample: Sample) -> Sample:
        return Sample(sample.values, self._pooled(sample.weights, axis=-2))

    def _pooled(self, table: np.ndarray, axis: int) -> np.ndarray:
        together = table.sum(axis=axis, keepdims=True)
        # Subtracting may leave a rounding error where nothing is left.
        return together if self.kind == "all" else np.maximum(together - table, 0)


def background(cells: Cells, kind: str) -> Background:
    """Return the backgrounds of `cells`: kind "all" or "complement"."""
    return Background(cells.examples, cells.target, cells.by_unit, cells.draws, of=cells, kind=kind)


def divide(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Divide a part by its whole, with NaN where there is nothing: a rate among no examples is not defined."""
    with np.errstate(invalid="ignore"):
        return part / whole


def worlds(sizes: np.ndarray, *, limit: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Choose one variation per group, as often as there are combinations, but at most `limit` times in each unit.

    The whole Cartesian product of the groups' variations where it is small enough; else random combinations that use
    every variation of a group equally often, drawn for each unit on its own so that chance averages out over units.

    sizes : (units, groups) variations. Returns quantiles (units, groups, worlds) for `Sample.draw`, and which worlds
    of a unit are real (units, worlds); the others only fill up.
    """
    shapes, which = np.unique(sizes.astype(int), axis=0, return_inverse=True)
    width = min(limit, max(math.prod(shape) for shape in shapes.tolist()))
    quantiles = np.full((*sizes.shape, width), 0.5)
    real = np.zeros((len(sizes), width), dtype=bool)
    for number, shape in enumerate(shapes.tolist()):
        rows = np.flatnonzero(which.ravel() == number)
        combinations = min(math.prod(shape), limit)
        real[rows, :combinations] = True
        if combinations < limit or math.prod(shape) == limit:
            chosen = np.array(np.unravel_index(np.arange(combinations), shape))
            quantiles[rows, :, :combinations] = (chosen + 0.5) / np.array(shape)[:, None]
            continue
        for group, variations in enumerate(shape):
            turns = (np.arange(limit) + rng.integers(variations, size=(len(rows), 1))) % variations
            quantiles[rows, group] = (rng.permuted(turns, axis=1) + 0.5) / variations
    return quantiles, real
