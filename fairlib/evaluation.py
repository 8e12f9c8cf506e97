"""From scores to metrics: the sums of equations (1) to (6), for the data as they are or for many replicates at once."""

from __future__ import annotations

import numpy as np

from fairlib import comparisons
from fairlib.cells import Cells, Sample, background, worlds
from fairlib.drawing import Draws
from fairlib.examples import ACCUMULATED, Examples, NotMeasurable
from fairlib.metrics import NORMALIZERS, Metric

REPLICATED_COMBINATIONS = 20  # per source and replicate: they average over sources, so few suffice


class Evaluation:
    """One table under one set of draws: cells are counted once and shared by all metrics."""

    def __init__(self, examples: Examples, draws: Draws | None, *, combinations: int, rng: np.random.Generator) -> None:
        """Take the data as they are (draws None) or replicates of them."""
        self.examples, self.draws, self.combinations, self.rng = examples, draws, combinations, rng
        self._subsets: dict[tuple, Examples] = {}
        self._cells: dict[tuple, Cells] = {}
        self._backgrounds: dict[tuple, Cells] = {}

    def rows(self, metric: Metric, target: int | None) -> dict:
        """Return the metric's values by group and accumulated, each with one value per replicate."""
        groups = self.examples.groups
        if metric.two_groups and len(groups) != 2:
            raise NotMeasurable(f"it compares exactly two groups, and the table has {len(groups)}")
        cells = self.cells(metric, target)
        if len(cells.examples) == 0:  # no example of the class
            return self._nothing(metric)
        score = self._score(metric, cells)
        compare, real = metric.comparison, None
        if metric.single:
            if metric.comparison in comparisons.OVER_PRODUCT:
                compare = comparisons.OVER_PRODUCT[metric.comparison]
            else:
                score, real = self._one_variation_each(score)
        if metric.kind == "MCM":
            return {ACCUMULATED: self._average(compare(score)[..., None], cells, real)[:, 0]}
        if metric.kind == "PCM":
            compared = groups
            pairs = self._average(comparisons.of_pairs(compare, score), cells, real)
            member = np.stack(np.triu_indices(len(groups), 1))
            # A group's own value is the mean over the pairs that contain it.
            per_group = np.stack([pairs[:, (member == g).any(axis=0)].mean(axis=1) for g in range(len(groups))], axis=1)
            total = pairs.sum(axis=1)
        else:
            compared, against = self._background(metric, cells, score)
            kept = [groups.index(group) for group in compared]
            per_group = self._average(compare(against, score), cells, real)[:, kept]
            total = per_group.sum(axis=1)
        rows = dict(zip(compared, per_group.T, strict=True))
        if metric.kind != "VBCM":
            rows[ACCUMULATED] = total / NORMALIZERS[metric.normalizer](len(compared))
        return rows

    def scoreless(self, metric: Metric, target: int | None) -> list:
        """Name the groups that have no score, in one source or more."""
        cells = self.cells(metric, target)
        if len(cells.examples) == 0:
            return list(self.examples.groups)
        score = metric.score(cells)
        missing = score.size == 0 if isinstance(score, Sample) else np.isnan(score)
        return [group for group, lacks in zip(self.examples.groups, missing.any(axis=(0, 1)), strict=True) if lacks]

    def cells(self, metric: Metric, target: int | None) -> Cells:
        """Return the cells that a metric looks at: of all examples or only of those with, or without, the class."""
        by_unit = metric.fairness == "counterfactual"
        key = (target, metric.examples, by_unit)
        if key not in self._cells:
            if by_unit:
                self.examples.check_units(one_label=metric.examples != "all")
            self._cells[key] = Cells(self._subset(metric.examples, target), target, by_unit, self.draws)
        return self._cells[key]

    def _nothing(self, metric: Metric) -> dict:
        groups = () if metric.kind == "MCM" else self.examples.groups
        nothing = np.full(1 if self.draws is None else len(self.draws.term_group), np.nan)
        return dict.fromkeys((*groups, *(() if metric.kind == "VBCM" else (ACCUMULATED,))), nothing)

    def _subset(self, which: str, target: int | None) -> Examples:
        if which == "all":
            return self.examples
        if (which, target) not in self._subsets:
            gold = self.examples.need("label") == target
            self._subsets[which, target] = self.examples.only(gold if which == "gold" else ~gold)
        return self._subsets[which, target]

    def _score(self, metric: Metric, cells: Cells) -> np.ndarray | Sample:
        score = metric.score(cells)
        replicates = 1 if self.draws is None else len(self.draws.term_group)
        wanted = (replicates, cells.units, len(self.examples.groups))
        found = score.size.shape if isinstance(score, Sample) else np.shape(score)
        if found not in (wanted, (*wanted[:-1], 1)):
            raise ValueError(
                f"score must return a Sample, or an array of shape {wanted} with one value per cell; found {found}"
            )
        return score

    def _background(self, metric: Metric, cells: Cells, score) -> tuple[tuple, np.ndarray | Sample]:
        """Return the groups that are compared, and the score of the background of each."""
        groups, kind = self.examples.groups, metric.background
        if kind not in ("all", "complement"):  # which a group may be called too, and then they still mean the same
            if kind not in groups:
                raise ValueError(
                    f"background must be 'all', 'complement' or one of {', '.join(map(repr, groups))}, found {kind!r}"
                )
            return tuple(group for group in groups if group != kind), score[..., [groups.index(kind)]]
        key = (cells.target, metric.examples, cells.by_unit, kind)
        if key not in self._backgrounds:
            self._backgrounds[key] = background(cells, kind)
        against = self._score(metric, self._backgrounds[key])
        if metric.single and isinstance(against, Sample) and metric.comparison not in comparisons.OVER_PRODUCT:
            raise ValueError("a comparison of one variation at a time needs a group's name as its background")
        return groups, against

    def _one_variation_each(self, sample: Sample) -> tuple[np.ndarray, np.ndarray]:
        """Return scores (replicates, units, worlds, groups), one variation per group and world, and which are real."""
        if self.draws is None:
            quantiles, real = worlds(sample.size[0], limit=self.combinations, rng=self.rng)
            return sample.draw(quantiles), real
        several = np.count_nonzero(sample.weights[0], axis=-1).max() > 1
        count = min(self.combinations, REPLICATED_COMBINATIONS) if several else 1
        # Spread evenly within each group, in an order of its own: far less noise than independent draws.
        places = np.broadcast_to(np.arange(count), (*sample.size.shape, count))
        quantiles = (self.rng.permuted(places, axis=-1) + self.rng.random(places.shape)) / count
        return sample.draw(quantiles), np.ones((sample.size.shape[1], count), dtype=bool)

    def _average(self, values: np.ndarray, cells: Cells, real: np.ndarray | None) -> np.ndarray:
        """Average comparisons over worlds and sources: (replicates, groups) remain."""
        if real is not None:
            values = np.einsum("bkmg,km->bkg", values, real / real.sum(axis=1, keepdims=True))
        if self.draws is None or not cells.by_unit:
            return values.mean(axis=1)
        source = np.zeros(cells.units, dtype=int)
        source[cells.unit] = cells.examples.source
        weight = self.draws.source_weight[:, source]
        return np.einsum("bkg,bk->bg", values, weight / weight.sum(axis=1, keepdims=True))
