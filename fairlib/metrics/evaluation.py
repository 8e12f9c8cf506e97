"""From scores to metrics: the sums of equations (1) to (6) of the paper.

They are computed for the data as they are, or for many draws of them at once.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy import ndarray
from numpy.random import Generator

from fairlib.metrics import comparisons
from fairlib.metrics.cells import Cells, Sample, background
from fairlib.metrics.draws import Draws
from fairlib.metrics.examples import ACCUMULATED, Examples, NotMeasurable
from fairlib.metrics.table2 import NORMALIZERS, Metric

# Combinations of one variation per group that are taken of each source (section 5).
_COMBINATIONS = 100
# The same in each draw, where an average over sources makes up for fewer combinations.
_COMBINATIONS_IN_DRAWS = 20
_WORDS_OF_EXAMPLES = {
    "all": "",
    "gold": " with the class as label",
    "other": " with another label",
}


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One table under some draws, on which any number of metrics can be computed.

    Cells are counted once and shared by all metrics.

    Parameters
    ----------
    examples : Examples
        The table.
    draws : Draws or None
        Other data that might have been seen; None for the data as they are.
    rng : numpy.random.Generator
        Chooses combinations of variations where there are too many to take all.
    """

    examples: Examples
    draws: Draws | None
    rng: Generator
    _cells: dict[tuple, Cells] = field(default_factory=dict)

    def rows(self, metric: Metric, target: int | None) -> dict:
        """Return a metric's value for each group, and accumulated over all groups.

        Parameters
        ----------
        metric : Metric
            What to compute.
        target : int or None
            The class that is measured, as its place in `examples.classes`; None for a
            metric of all classes together.

        Returns
        -------
        dict
            An array with one value per draw, by the name of the group or "accumulated".

        Raises
        ------
        NotMeasurable
            If the table lacks what the metric needs.
        """
        groups = self.examples.groups
        if metric.two_groups and len(groups) != 2:
            raise NotMeasurable(
                f"it compares exactly two groups, and the table has {len(groups)}"
            )

        cells = self._cells_of(metric, target)
        if len(cells.examples) == 0:
            return self._undefined_rows(metric)

        compared = self._compared(metric, cells)
        if metric.kind == "MCM":
            return {ACCUMULATED: compared[:, 0]}

        values_of_groups = compared
        total = compared.sum(axis=1)
        if metric.kind == "PCM":
            # A group has as many pairs as there are other groups. Each pair is in the
            # sums of two groups.
            values_of_groups = compared / (len(groups) - 1)
            total = total / 2

        rows = dict(zip(groups, values_of_groups.T, strict=True))
        if metric.kind != "VBCM":
            rows[ACCUMULATED] = total / NORMALIZERS[metric.normalizer](len(groups))
        return rows

    def why_undefined(self, metric: Metric, target: int | None) -> str:
        """Say why a value of a metric is not finite.

        Parameters
        ----------
        metric : Metric
            What was computed.
        target : int or None
            The class that was measured, as for `rows`.

        Returns
        -------
        str
            The groups that lack, in some source, what the score needs; or that a ratio
            has a denominator of 0.
        """
        cells = self._cells_of(metric, target)
        if len(cells.examples) == 0:
            undefined = np.ones(len(self.examples.groups), dtype=bool)
        else:
            score = metric.score(cells)
            empty = score.size == 0 if isinstance(score, Sample) else np.isnan(score)
            undefined = empty.any(axis=(0, 1))

        if not undefined.any():
            return (
                "the score in the denominator is 0: the ratio is infinite, "
                "or undefined where both scores are 0"
            )
        needs = getattr(metric.score, "needs", "examples")
        groups = ", ".join(
            str(group)
            for group, is_undefined in zip(self.examples.groups, undefined, strict=True)
            if is_undefined
        )
        return f"no {needs}{_WORDS_OF_EXAMPLES[metric.examples]} in group(s) {groups}"

    def _cells_of(self, metric: Metric, target: int | None) -> Cells:
        """Return the cells that a metric looks at: those of the examples it counts."""
        by_unit = metric.fairness == "counterfactual"
        key = (target, metric.examples, by_unit)
        if key in self._cells:
            return self._cells[key]

        examples = self.examples
        if by_unit:
            examples.check_units(one_label=metric.examples != "all")
        if metric.examples != "all":
            has_class = examples.need("label") == target
            wants_class = metric.examples == "gold"
            examples = examples.only(has_class == wants_class)
        self._cells[key] = Cells(examples, target, by_unit=by_unit, draws=self.draws)
        return self._cells[key]

    def _undefined_rows(self, metric: Metric) -> dict:
        """Return NaN in every row of a metric: no example has what is measured."""
        names: list = []
        if metric.kind != "MCM":
            names.extend(self.examples.groups)
        if metric.kind != "VBCM":
            names.append(ACCUMULATED)

        draws = 1 if self.draws is None else len(self.draws.term_group)
        return dict.fromkeys(names, np.full(draws, np.nan))

    def _compared(self, metric: Metric, cells: Cells) -> ndarray:
        """Return the comparisons, averaged over sources and combinations.

        Their shape is (draws, groups) for metrics with a background; the same for pairs
        of groups, where they are sums over the pairs that contain a group; and
        (draws, 1) for all groups at once.
        """
        score = _score(metric, cells)
        if metric.kind in ("BCM", "VBCM"):
            score_of_background = _score(metric, background(cells, metric.background))
            values = metric.comparison(score_of_background, score)
            return self._averaged_over_sources(values, cells)

        if not metric.single:
            values = _compared_groups(metric, score)
            return self._averaged_over_sources(values, cells)
        if not isinstance(score, Sample):
            raise ValueError(
                "score must return a Sample where single is True, found an array"
            )

        # The mean over all combinations may have a closed form.
        mean_over_product = comparisons.OVER_PRODUCT.get(metric.comparison)
        if mean_over_product is not None:
            values = mean_over_product(score)
            if metric.kind == "MCM":
                values = values[..., None]
            return self._averaged_over_sources(values, cells)

        score_of_combinations, real = self._one_variation_each(score)
        values = _compared_groups(metric, score_of_combinations)
        weight = real / real.sum(axis=1, keepdims=True)
        values = np.einsum("bkmg,km->bkg", values, weight)
        return self._averaged_over_sources(values, cells)

    def _one_variation_each(self, sample: Sample) -> tuple[ndarray, ndarray]:
        """Return the scores of combinations of one variation per group.

        The scores have the shape (draws, units, combinations, groups). The second array
        says which combinations of a unit are real.
        """
        if self.draws is None:
            quantiles, real = combinations(
                sample.size[0], limit=_COMBINATIONS, rng=self.rng
            )
            return sample.at(quantiles), real

        several = np.count_nonzero(sample.weights[0], axis=-1).max() > 1
        count = _COMBINATIONS_IN_DRAWS if several else 1

        # Quantiles that are spread evenly within each group, in an order of its own,
        # have far less noise than independent ones.
        places = np.broadcast_to(np.arange(count), (*sample.size.shape, count))
        shuffled = self.rng.permuted(places, axis=-1)
        quantiles = (shuffled + self.rng.random(places.shape)) / count
        return sample.at(quantiles), np.ones((sample.size.shape[1], count), dtype=bool)

    def _averaged_over_sources(self, values: ndarray, cells: Cells) -> ndarray:
        """Average comparisons (draws, units, ...) over units, by their source's weight.

        All units count alike where sources are not drawn, or where there is one unit.
        """
        if self.draws is None or not cells.by_unit:
            return values.mean(axis=1)

        source = np.zeros(cells.shape[1], dtype=int)
        source[cells.unit] = cells.examples.source
        weight = self.draws.source_weight[:, source]
        share = weight / weight.sum(axis=1, keepdims=True)
        return np.einsum("bkg,bk->bg", values, share)


def _score(metric: Metric, cells: Cells) -> ndarray | Sample:
    """Return the score of each cell, checked to be one number or sample per cell."""
    score = metric.score(cells)
    shape = score.size.shape if isinstance(score, Sample) else np.shape(score)
    if shape not in (cells.shape, (*cells.shape[:-1], 1)):
        raise ValueError(
            f"score must return a Sample or an array of shape {cells.shape}; "
            f"found {shape}"
        )
    return score


def _compared_groups(metric: Metric, score: ndarray | Sample) -> ndarray:
    """Compare each group with all others (PCM), or all groups at once (MCM)."""
    if metric.kind == "PCM":
        return comparisons.sums_over_pairs(metric.comparison, score)
    return metric.comparison(score)[..., None]


def combinations(
    sizes: ndarray, *, limit: int, rng: Generator
) -> tuple[ndarray, ndarray]:
    """Choose combinations of one variation per group, for each unit on its own.

    Parameters
    ----------
    sizes : ndarray of shape (units, groups)
        How many variations each unit has of each group.
    limit : int
        How many combinations at most. A unit with no more than that gets each of its
        combinations once; any other gets random ones, which use every variation of a
        group equally often.
    rng : numpy.random.Generator
        Where the random numbers come from.

    Returns
    -------
    quantiles : ndarray of shape (units, groups, combinations)
        Which variation each combination takes, as `Sample.at` wants it.
    real : ndarray of bool, of shape (units, combinations)
        Which combinations of a unit count; the other ones only fill up its row.
    """
    shapes, shape_of_unit = np.unique(sizes.astype(int), axis=0, return_inverse=True)
    width = min(limit, max(math.prod(shape) for shape in shapes.tolist()))
    quantiles = np.full((*sizes.shape, width), 0.5)
    real = np.zeros((len(sizes), width), dtype=bool)

    for number, shape in enumerate(shapes.tolist()):
        units = np.flatnonzero(shape_of_unit.ravel() == number)
        count = math.prod(shape)
        real[units, :count] = True

        if count <= limit:
            # A combination is a number whose digits are the variations it takes.
            variations = np.array(shape)[:, None]
            place_value = count // np.maximum(np.cumprod(shape), 1)
            variation = np.arange(count) // place_value[:, None] % variations
            quantiles[units, :, :count] = (variation + 0.5) / variations
        else:
            for group, variations in enumerate(shape):
                start = rng.integers(variations, size=(len(units), 1))
                turns = (np.arange(limit) + start) % variations
                shuffled = rng.permuted(turns, axis=1)
                quantiles[units, group] = (shuffled + 0.5) / variations
    return quantiles, real
