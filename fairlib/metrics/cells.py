"""The examples of every group, and how to reduce them to one value per cell.

A cell holds the examples of one group. For a counterfactual metric, it holds those
examples of one group that were made from one source, which is then called a unit.
Every reduction returns an array that begins with the axes (draws, units, groups): there
is one draw unless the data are resampled, and one unit unless the metric is
counterfactual. Nothing loops over examples; a reduction passes over them once per draw.
"""

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy import ndarray

from fairlib.metrics.draws import Draws
from fairlib.metrics.examples import Examples

# The distribution of a whole group is kept at so many values at most in every draw.
_LARGEST_SUPPORT_OF_DRAWS = 1000

_Function = TypeVar("_Function", bound=Callable)


def described(
    *,
    symbol: str,
    words: str,
    given: str = "",
    needs: str = "examples",
    signed: bool = False,
    neutral: float = 0.0,
) -> Callable[[_Function], _Function]:
    """Return a decorator that attaches facts to a score or a comparison.

    The function itself stays as it is. Each fact becomes an attribute of it, so that
    `scores.f1.symbol` is "F1".

    Parameters
    ----------
    symbol : str
        The symbol that Table 2 of the paper prints.
    words : str
        What the function measures, as the page of an audit says it.
    given : str, default ""
        For a score: the column that it conditions on, "label" or "prediction".
    needs : str, default "examples"
        For a score: what a group must have, so that the score is defined.
    signed : bool, default False
        For a comparison: whether its value says which score is higher.
    neutral : float, default 0.0
        For a comparison: its value for two equal scores.

    Returns
    -------
    callable
        A decorator, which returns the same function with these attributes.
    """
    facts = {
        "symbol": symbol,
        "words": words,
        "given": given,
        "needs": needs,
        "signed": signed,
        "neutral": neutral,
    }

    def attach(function: _Function) -> _Function:
        vars(function).update(facts)
        return function

    return attach


def divide(part: ndarray, whole: ndarray) -> ndarray:
    """Divide a part by its whole; the rate among no examples is undefined, hence NaN.

    Parameters
    ----------
    part, whole : ndarray
        Sums of the same cells.

    Returns
    -------
    ndarray
        The quotients.
    """
    with np.errstate(invalid="ignore"):
        return part / whole


@dataclass(frozen=True, eq=False)
class Sample:
    """How a value, such as a probability, is distributed in each cell.

    The cells of a unit share one list of possible values, the support. Two of them are
    therefore compared by sums over that list.

    Parameters
    ----------
    values : ndarray of shape (units, 1, support)
        The values that occur in each unit, in ascending order.
    weights : ndarray of shape (draws, units, groups, support)
        How often each cell has each of these values.
    """

    values: ndarray
    weights: ndarray

    def __getitem__(self, key: tuple) -> "Sample":
        """Pick groups, as `array[..., groups]` does for scores that are numbers."""
        picked = (*key, slice(None))
        sample = Sample(self.values, self.weights[picked])

        # A group takes part in many pairs, and its sums are the same in all of them.
        vars(sample)["cdf"] = self.cdf[picked]
        vars(sample)["areas"] = self.areas[picked]
        return sample

    @cached_property
    def size(self) -> ndarray:
        """The number of examples in each cell; 0 where it is empty."""
        return self.weights.sum(axis=-1)

    @cached_property
    def cdf(self) -> ndarray:
        """The share of a cell that is at most each value; NaN in an empty cell."""
        return divide(self.weights.cumsum(axis=-1), self.size[..., None])

    @cached_property
    def areas(self) -> ndarray:
        """The cdf times the distance to the next value: its parts of an integral."""
        return self.cdf[..., :-1] * np.diff(self.values, axis=-1)

    def at(self, quantiles: ndarray) -> ndarray:
        """Return the values that are at these quantiles of each cell.

        Parameters
        ----------
        quantiles : ndarray of shape (..., groups, picks)
            Shares between 0 and 1, as many as values are to be picked from each cell.

        Returns
        -------
        ndarray of shape (draws, units, picks, groups)
            The values; NaN in an empty cell.
        """
        *cell_shape, support = self.cdf.shape
        picks = quantiles.shape[-1]
        cells = math.prod(cell_shape)
        quantiles_of_cells = np.broadcast_to(quantiles, (*cell_shape, picks))
        quantiles_of_cells = quantiles_of_cells.reshape(cells, picks)

        # The NaN of an empty cell would spoil the search for all cells.
        empty = self.size.reshape(-1) == 0
        cdf = np.where(empty[:, None], 1.0, self.cdf.reshape(cells, support))

        # Adding its number to each row puts the rows' functions end to end, in one
        # ascending list, so that a single search serves all cells.
        row = np.arange(cells)[:, None]
        places = np.searchsorted(
            (cdf + row).ravel(), (quantiles_of_cells + row).ravel()
        )
        places = places.reshape(cells, picks) - row * support

        values = np.broadcast_to(self.values, self.cdf.shape).reshape(cells, support)
        picked = np.take_along_axis(values, np.clip(places, 0, support - 1), axis=1)
        picked[empty] = np.nan
        return picked.reshape(*cell_shape, picks).swapaxes(-1, -2)


@dataclass(frozen=True, eq=False)
class Cells:
    """The examples of every group, or of every source and group, ready to be reduced.

    This is what a score receives. It picks examples by their properties (`gold`,
    `predicted`, `correct`, `probability`, ...) and reduces them to one number per cell
    (`share`, `mean`, `total`, `confusion`) or to one distribution per cell (`sample`).

    Parameters
    ----------
    examples : Examples
        The examples with their groups, labels and predictions.
    target : int or None
        The class that is measured against all others, as its place in
        `examples.classes`; None for a score of all classes together.
    by_unit : bool
        Whether each source has cells of its own, as a counterfactual metric needs.
    draws : Draws, optional
        How sources and terms are resampled; by default the data are taken as they are.
    """

    examples: Examples
    target: int | None
    _: KW_ONLY
    by_unit: bool
    draws: Draws | None = None
    _samples: dict[str, Sample] = field(default_factory=dict)

    @cached_property
    def unit(self) -> ndarray:
        """The unit of each example: what is held fixed while the group changes."""
        if self.by_unit:
            return self.examples.need("unit")
        return np.zeros(len(self.examples), dtype=int)

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """How many draws, units and groups there are."""
        draws = 1 if self.draws is None else len(self.draws.term_group)
        return draws, int(self.unit.max()) + 1, len(self.examples.groups)

    @cached_property
    def gold(self) -> ndarray:
        """Whether the true class of each example is the measured one: y(x) = c."""
        return self.examples.need("label") == self._measured_class

    @cached_property
    def predicted(self) -> ndarray:
        """Whether the measured class was predicted for each example: ŷ(x) = c."""
        return self.examples.need("prediction") == self._measured_class

    @cached_property
    def correct(self) -> ndarray:
        """Whether the predicted class of each example is its true class."""
        return self.examples.need("prediction") == self.examples.need("label")

    @cached_property
    def probability(self) -> ndarray:
        """The probability of the measured class for each example: f(x, c)."""
        return self.examples.need("probabilities")[:, self._measured_class]

    @cached_property
    def gold_probability(self) -> ndarray:
        """The probability of each example's true class: f(x, y(x))."""
        probabilities = self.examples.need("probabilities")
        return probabilities[np.arange(len(self.examples)), self.examples.need("label")]

    @cached_property
    def confusion(self) -> dict[str, ndarray]:
        """The true and false positives and negatives of each cell: TP, FP, FN, TN.

        An example is positive where it has the measured class, negative where it has
        any other one.
        """
        return {
            "TP": self.total(self.gold & self.predicted),
            "FP": self.total(~self.gold & self.predicted),
            "FN": self.total(self.gold & ~self.predicted),
            "TN": self.total(~self.gold & ~self.predicted),
        }

    def mean(self, values: ndarray, *, among: ndarray | None = None) -> ndarray:
        """Return the mean of a value in each cell.

        Parameters
        ----------
        values : ndarray
            The value of each example.
        among : ndarray of bool, optional
            Which examples count; by default all.

        Returns
        -------
        ndarray of shape (draws, units, groups)
            The means; NaN in a cell without any example that counts.
        """
        if among is None:
            counted = np.ones(len(self.examples))
        else:
            counted = np.asarray(among, dtype=float)
        return divide(self.total(values * counted), self.total(counted))

    def share(self, values: ndarray, *, among: ndarray | None = None) -> ndarray:
        """Return the share of each cell's examples that have a property.

        Parameters
        ----------
        values : ndarray of bool
            Whether each example has the property.
        among : ndarray of bool, optional
            Which examples count; by default all.

        Returns
        -------
        ndarray of shape (draws, units, groups)
            The shares; NaN in a cell without any example that counts.
        """
        return self.mean(values, among=among)

    def total(self, values: ndarray) -> ndarray:
        """Return the sum of a value in each cell.

        Parameters
        ----------
        values : ndarray
            The value of each example, or whether it has a property.

        Returns
        -------
        ndarray of shape (draws, units, groups)
            The sums; 0 in an empty cell.
        """
        numbers = np.asarray(values, dtype=float)
        if self._count is not None:
            numbers = numbers * self._count

        if self.draws is None:
            return self._total_of_the_data(numbers)
        if self.by_unit:
            return self._total_of_units(numbers, self.draws)
        return self._total_of_groups(numbers, self.draws)

    def sample(self, values: ndarray | str, *, among: ndarray | None = None) -> Sample:
        """Return how a value is distributed in each cell.

        Parameters
        ----------
        values : ndarray or str
            The value of each example; or the name of a property of the cells, such as
            "probability", whose distributions are computed once for all metrics.
        among : ndarray of bool, optional
            Which examples count; by default all. Only for values that are an array.

        Returns
        -------
        Sample
            One distribution per cell.
        """
        if isinstance(values, str):
            if values not in self._samples:
                self._samples[values] = self.sample(getattr(self, values))
            return self._samples[values]

        support, place = self._support(values)
        points = support.shape[1]
        group, weight = self._groups_and_weights(among)

        draws, units, groups = self.shape
        unit = np.arange(draws)[:, None] * units + self.unit
        cell = unit * groups + group
        bins = cell * points + place
        if np.ndim(weight) == 0:
            weight_of_bins = None  # every example counts once
        else:
            weight_of_bins = np.broadcast_to(weight, bins.shape).ravel()
        weights = np.bincount(
            bins.ravel(), weight_of_bins, minlength=math.prod(self.shape) * points
        )
        return Sample(support[:, None, :], weights.reshape(*self.shape, points))

    def _total_of_the_data(self, numbers: ndarray) -> ndarray:
        """Sum the data as they are."""
        _, units, groups = self.shape
        cell = self.unit * groups + self.examples.group
        totals = np.bincount(cell, numbers, minlength=units * groups)
        return totals.reshape(self.shape)

    def _total_of_units(self, numbers: ndarray, draws: Draws) -> ndarray:
        """Sum under draws in each unit, where terms have weights and drawn groups.

        The weight of a source is the same for all its groups. It is therefore left out
        here, and counts when sources are averaged.
        """
        from scipy.sparse import csr_array

        replicates, units, groups = self.shape
        terms = draws.term_group.shape[1]
        table = csr_array(
            (numbers, (self.unit, self.examples.term)), shape=(units, terms)
        )

        weight_in_group = np.zeros((terms, replicates, groups))
        term = np.arange(terms)[:, None]
        replicate = np.arange(replicates)
        weight_in_group[term, replicate, draws.term_group.T] = draws.term_weight.T

        totals = table @ weight_in_group.reshape(terms, -1)
        return totals.reshape(-1, replicates, groups).swapaxes(0, 1)

    def _total_of_groups(self, numbers: ndarray, draws: Draws) -> ndarray:
        """Sum under draws in each group, where sources and terms have weights."""
        from scipy.sparse import csr_array

        replicates, _, groups = self.shape
        sources = draws.source_weight.shape[1]
        terms = draws.term_group.shape[1]
        table = csr_array(
            (numbers, (self.examples.term, self.examples.source)),
            shape=(terms, sources),
        )
        total_of_terms = (table @ draws.source_weight.T).T * draws.term_weight

        cell = np.arange(replicates)[:, None] * groups + draws.term_group
        totals = np.bincount(
            cell.ravel(), total_of_terms.ravel(), minlength=replicates * groups
        )
        return totals.reshape(self.shape)

    def _support(self, values: ndarray) -> tuple[ndarray, ndarray]:
        """Return the values of each unit (units, support), and each example's place."""
        rank = pd.Series(values).groupby(self.unit).rank("dense")
        place = rank.to_numpy(dtype=np.int64) - 1

        # Between two points an empty cell is NaN, whatever the other cells hold.
        points = max(int(place.max()) + 1, 2)
        thinned = self.draws is not None and not self.by_unit
        if thinned and points > _LARGEST_SUPPORT_OF_DRAWS:
            place = place * _LARGEST_SUPPORT_OF_DRAWS // points
            points = _LARGEST_SUPPORT_OF_DRAWS

        # Of several values at one place, the largest stays.
        support = np.full((self.shape[1], points), -np.inf)
        np.maximum.at(support, (self.unit, place), values)

        # A unit with fewer distinct values than others repeats its last one.
        return np.maximum.accumulate(support, axis=1), place

    def _groups_and_weights(
        self, among: ndarray | None
    ) -> tuple[ndarray, ndarray | float]:
        """Return the group and the weight of each example in each draw."""
        weight = 1.0 if among is None else among
        if self._count is not None:
            weight = weight * self._count
        if self.draws is None:
            return self.examples.group[None, :], weight

        term = self.examples.term
        weight = weight * self.draws.term_weight[:, term]
        if not self.by_unit:
            weight = weight * self.draws.source_weight[:, self.examples.source]
        return self.draws.term_group[:, term], weight

    @property
    def _count(self) -> ndarray | None:
        """How many examples each row is, unless the weights of the draws include it."""
        if self.draws is not None and self.examples.counted:
            return None
        return self.examples.count

    @property
    def _measured_class(self) -> int:
        """The class that is measured; an error where all classes are taken together."""
        if self.target is None:
            raise ValueError(
                "per_class=False leaves a metric no class of its own: its score cannot "
                "use gold, predicted, probability or confusion"
            )
        return self.target


@dataclass(frozen=True, eq=False, kw_only=True)
class _Background(Cells):
    """What each group is compared with: all examples, or those of the other groups.

    Parameters
    ----------
    cells : Cells
        The groups themselves, whose sums a background adds up.
    kind : str
        "all", or "complement" for all examples but the group's own.
    """

    cells: Cells
    kind: str

    @cached_property
    def confusion(self) -> dict[str, ndarray]:
        """The sums of the counts that the groups have."""
        counts = self.cells.confusion
        return {name: self._pooled(count) for name, count in counts.items()}

    def total(self, values: ndarray) -> ndarray:
        """Return the sum of a value in each background."""
        return self._pooled(self.cells.total(values))

    def sample(self, values: ndarray | str, *, among: ndarray | None = None) -> Sample:
        """Return how a value is distributed in each background."""
        sample = self.cells.sample(values, among=among)
        return Sample(sample.values, self._pooled(sample.weights, axis=-2))

    def _pooled(self, table: ndarray, axis: int = -1) -> ndarray:
        """Sum over the groups' axis, without a group's own part for a complement."""
        together = table.sum(axis=axis, keepdims=True)
        if self.kind == "all":
            return together

        # Subtracting may leave a rounding error below 0 where nothing is left.
        return np.maximum(together - table, 0)


def background(cells: Cells, kind: str) -> Cells:
    """Return the background (beta in the paper) that each group is compared with.

    Parameters
    ----------
    cells : Cells
        The groups. A group counts by its number of examples. Cells that are a
        background already are returned as they are.
    kind : str
        "all" examples, or the "complement": all examples but the group's own.

    Returns
    -------
    Cells
        One cell for each group with its "complement"; a single one for "all".
    """
    if isinstance(cells, _Background):
        return cells

    return _Background(
        examples=cells.examples,
        target=cells.target,
        by_unit=cells.by_unit,
        draws=cells.draws,
        cells=cells,
        kind=kind,
    )
