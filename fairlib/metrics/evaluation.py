"""From scores to metrics: the sums of equations (1) to (6), for the data as they are or for many replicates at once."""

import math
from dataclasses import dataclass, field

import numpy as np

from fairlib.metrics import comparisons
from fairlib.metrics.cells import Cells, Sample, background
from fairlib.metrics.draws import Draws
from fairlib.metrics.examples import ACCUMULATED, Examples, NotMeasurable
from fairlib.metrics.table2 import NORMALIZERS, Metric

COMBINATIONS = (
    100  # of one variation per group, for each source (section 5 of the paper)
)
REPLICATED_COMBINATIONS = (
    20  # per source and replicate: they average over sources, so few suffice
)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One table under one set of draws: cells are counted once and shared by all metrics."""

    examples: Examples
    draws: Draws | None  # replicates; None for the data as they are
    rng: np.random.Generator
    _cells: dict[tuple, Cells] = field(default_factory=dict)

    def rows(self, metric: Metric, target: int | None) -> dict:
        """Return the metric's values by group and accumulated, each with one value per replicate."""
        groups = self.examples.groups
        if metric.two_groups and len(groups) != 2:
            raise NotMeasurable(
                f"it compares exactly two groups, and the table has {len(groups)}"
            )
        cells = self._cells_of(metric, target)
        if len(cells.examples) == 0:  # no example of the class
            named = (
                *(() if metric.kind == "MCM" else groups),
                *(() if metric.kind == "VBCM" else (ACCUMULATED,)),
            )
            return dict.fromkeys(
                named,
                np.full(
                    1 if self.draws is None else len(self.draws.term_group), np.nan
                ),
            )
        score, compare, real = _score(metric, cells), metric.comparison, None
        exact = comparisons.OVER_PRODUCT.get(compare) if metric.single else None
        if metric.single and not exact:
            score, real = self._one_variation_each(score)
        if metric.kind == "MCM":
            return {
                ACCUMULATED: self._average(
                    (exact or compare)(score)[..., None], cells, real
                )[:, 0]
            }
        if metric.kind == "PCM":
            values = self._average(
                exact(score) if exact else comparisons.of_pairs(compare, score),
                cells,
                real,
            )
            member = np.stack(np.triu_indices(len(groups), 1))
            # A group's own value is the mean over the pairs that contain it.
            own = [
                values[:, (member == group).any(axis=0)].mean(axis=1)
                for group in range(len(groups))
            ]
        else:
            against = _score(metric, background(cells, metric.background))
            values = self._average(compare(against, score), cells, real)
            own = values.T
        rows = dict(zip(groups, own, strict=True))
        if metric.kind != "VBCM":
            rows[ACCUMULATED] = values.sum(axis=1) / NORMALIZERS[metric.normalizer](
                len(groups)
            )
        return rows

    def why_undefined(self, metric: Metric, target: int | None) -> str:
        """Say why a value is not finite: a group without what its score needs, in some source, or a ratio over 0."""
        cells, lacking = (
            self._cells_of(metric, target),
            np.ones(len(self.examples.groups), dtype=bool),
        )
        if len(cells.examples):
            score = metric.score(cells)
            lacking = (
                score.size == 0 if isinstance(score, Sample) else np.isnan(score)
            ).any(axis=(0, 1))
        if not lacking.any():
            return "a score of 0 stands below the line: the ratio is infinite, or undefined where both scores are 0"
        needs = getattr(metric.score, "needs", "examples")
        where = {
            "all": "",
            "gold": " with the class as label",
            "other": " with another label",
        }[metric.examples]
        groups = (
            str(group)
            for group, lacks in zip(self.examples.groups, lacking, strict=True)
            if lacks
        )
        return f"no {needs}{where} in group(s) {', '.join(groups)}"

    def _cells_of(self, metric: Metric, target: int | None) -> Cells:
        """Return the cells that a metric looks at: all examples, or only those with or without the class."""
        examples, by_unit = self.examples, metric.fairness == "counterfactual"
        key = (target, metric.examples, by_unit)
        if key not in self._cells:
            if by_unit:
                examples.check_units(one_label=metric.examples != "all")
            if metric.examples != "all":
                examples = examples.only(
                    (examples.need("label") == target) == (metric.examples == "gold")
                )
            self._cells[key] = Cells(examples, target, by_unit, self.draws)
        return self._cells[key]

    def _one_variation_each(self, sample: Sample) -> tuple[np.ndarray, np.ndarray]:
        """Return scores (replicates, units, combinations, groups), and which combinations of a unit are real."""
        if self.draws is None:
            quantiles, real = combinations(
                sample.size[0], limit=COMBINATIONS, rng=self.rng
            )
            return sample.at(quantiles), real
        several = np.count_nonzero(sample.weights[0], axis=-1).max() > 1
        count = REPLICATED_COMBINATIONS if several else 1
        # Spread evenly within each group, in an order of its own: far less noise than independent draws.
        places = np.broadcast_to(np.arange(count), (*sample.size.shape, count))
        quantiles = (
            self.rng.permuted(places, axis=-1) + self.rng.random(places.shape)
        ) / count
        return sample.at(quantiles), np.ones((sample.size.shape[1], count), dtype=bool)

    def _average(
        self, values: np.ndarray, cells: Cells, real: np.ndarray | None
    ) -> np.ndarray:
        """Average comparisons over combinations and sources: (replicates, groups) remain."""
        if real is not None:
            values = np.einsum(
                "bkmg,km->bkg", values, real / real.sum(axis=1, keepdims=True)
            )
        if self.draws is None or not cells.by_unit:
            return values.mean(axis=1)
        source = np.zeros(cells.shape[1], dtype=int)
        source[cells.unit] = cells.examples.source
        weight = self.draws.source_weight[:, source]
        return np.einsum(
            "bkg,bk->bg", values, weight / weight.sum(axis=1, keepdims=True)
        )


def _score(metric: Metric, cells: Cells) -> np.ndarray | Sample:
    score = metric.score(cells)
    found = score.size.shape if isinstance(score, Sample) else np.shape(score)
    if found not in (cells.shape, (*cells.shape[:-1], 1)):
        raise ValueError(
            f"score must return a Sample or an array of shape {cells.shape}; found {found}"
        )
    return score


def combinations(
    sizes: np.ndarray, *, limit: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Choose one variation per group: every combination in turn, or `limit` random ones where there are more.

    Random ones use every variation of a group equally often, and are drawn for each unit on its own. sizes : (units,
    groups) variations. Returns quantiles (units, groups, combinations) for `Sample.at`, and which combinations of a
    unit are real (units, combinations); the others only fill up.
    """
    shapes, which = np.unique(sizes.astype(int), axis=0, return_inverse=True)
    width = min(limit, max(math.prod(shape) for shape in shapes.tolist()))
    quantiles = np.full((*sizes.shape, width), 0.5)
    real = np.zeros((len(sizes), width), dtype=bool)
    for number, shape in enumerate(shapes.tolist()):
        units, count = np.flatnonzero(which.ravel() == number), math.prod(shape)
        real[units, :count] = True
        if count <= limit:
            chosen = np.array(np.unravel_index(np.arange(count), shape))
            quantiles[units, :, :count] = (chosen + 0.5) / np.array(shape)[:, None]
            continue
        for group, variations in enumerate(shape):
            turns = (
                np.arange(limit) + rng.integers(variations, size=(len(units), 1))
            ) % variations
            quantiles[units, group] = (rng.permuted(turns, axis=1) + 0.5) / variations
    return quantiles, real
