"""From any table to counts: how many cases share groups, label, prediction and source.

Everything that the audit says follows from these counts. They are made inside the
engine that holds the table: a million rows with four attributes become a few thousand
cells.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple, cast

import narwhals as nw
import numpy as np
from numpy import ndarray
from pandas import DataFrame, Series

from fairlib import tables
from fairlib.auditing.attributes import (
    Coded,
    coded,
    coded_attribute,
    coded_by_text,
)
from fairlib.auditing.classes import NO_CLASSES, Classes, as_one_type, classes_of
from fairlib.auditing.codings import note_strange_classes
from fairlib.auditing.rates import COST
from fairlib.auditing.setting import LIMITS, ROLES, Columns
from fairlib.tables import COUNT, complete
from fairlib.tables.coding import check_column, code, index

# Which powers of weights and of weighted values are summed up.
POWERS = [(a, b) for a in range(4) for b in range(4 - a) if a + b]
# Of more cases, the counts by level do not say which cases belong together.
MOST_TIED_CASES = 200_000

# What cases of a cell share, beside their groups.
_SHARED_ROLES = ("label", "prediction", "source", "within", "compare")
# Columns of the counts that the table does not hold.
_POWER = (
    "fairlib: sum of weights to the {} times weighted costs, or probabilities, "
    "to the {}"
)
_DECIDED = "fairlib: probability at least the threshold"
_LEVEL = "fairlib: level of the probability"
# The width of a level, in log odds: fine at rare classes too.
_LEVEL_WIDTH = 0.01
# What is within the edge of 0 or 1 is one level.
_LEVEL_EDGE = 1e-9


class CostScale(NamedTuple):
    """How costs are counted: by their distance from the middle; 1 is the highest."""

    name: str
    middle: float
    reach: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Counts:
    """Counted cases, as arrays over cells; the cases of a cell share all columns.

    Attributes
    ----------
    attributes : dict of str to Coded
        The groups of each cell, by column.
    classes : tuple of str
        The names of the classes.
    positive : tuple of int
        The classes that are measured, each against the rest.
    notes : tuple of str
        What a reader should know about how the columns were read.
    band_notes : tuple of str
        Which columns of groups were cut into bands, and where.
    count : ndarray
        How many cases a cell holds.
    powers : mapping of (int, int) to ndarray
        Σ wᵃ (w c)ᵇ by (a, b), for weights w and costs or probabilities c.
    label, prediction, compare : ndarray or None
        Codes of classes; `compare` is what another model predicts.
    source : ndarray or None
        Which cells belong together.
    score : ndarray or None
        The sum of the cell's probabilities of the measured class.
    level : ndarray or None
        The level of the probability, where cells are counted by level too.
    within : Coded or None
        The stratum.
    cost : CostScale or None
        How costs are counted.
    """

    attributes: dict[str, Coded]
    classes: tuple[str, ...]
    positive: tuple[int, ...]
    notes: tuple[str, ...]
    band_notes: tuple[str, ...]
    count: ndarray
    powers: Mapping[tuple[int, int], ndarray]
    label: ndarray | None = None
    prediction: ndarray | None = None
    source: ndarray | None = None
    score: ndarray | None = None
    level: ndarray | None = None
    within: Coded | None = None
    compare: ndarray | None = None
    cost: CostScale | None = None

    def __len__(self) -> int:
        return int(self.count.sum())

    def in_units(self, rows: DataFrame) -> DataFrame:
        """Return comparisons with costs in the units of their column."""
        if self.cost is None:
            return rows

        is_cost = rows["rate"] == COST
        origin = {"value": self.cost.middle, "value_against": self.cost.middle}
        converted = {}
        for name in (*origin, "difference", "low", "high", "margin"):
            if name in rows:
                in_units = origin.get(name, 0.0) + self.cost.reach * rows[name]
                converted[name] = np.where(is_cost, in_units, rows[name])
        return rows.assign(**converted)

    def probability(self, most_levels: int | None = None) -> ndarray:
        """Return the probability of each cell: the mean over its level.

        Parameters
        ----------
        most_levels : int or None
            Take the mean over so many wider levels of equal shares instead.
        """
        if self.level is None or self.score is None:
            raise ValueError("these cases are not counted by level of probability")
        count = np.bincount(self.level, self.count)
        total = np.bincount(self.level, self.score)

        if most_levels is not None and len(count) > most_levels:
            # Levels are in order, so that neighbours can be put together.
            place = (count.cumsum() - count / 2) * most_levels / count.sum()
            wide = place.astype(int)
            count = np.bincount(wide, count)[wide]
            total = np.bincount(wide, total)[wide]

        return (total / count)[self.level]


def read(table, columns: Columns, *, positive: object = None) -> Counts:
    """Check a table and count its cases.

    Parameters
    ----------
    table : frame or path
        Whatever `fairlib.tables` reads.
    columns : Columns
        Which column plays which part.
    positive : object
        The class that is measured, as of `classes_of`.

    Notes
    -----
    O(rows), in the engine that holds them; costs or weights take one more pass.
    """
    _check_columns(table, columns)

    # Sums of powers of numbers between -1 and 1 lose no digits, so costs and weights
    # are scaled by their extremes.
    roles = columns.by_role()
    limits = {roles[role]: LIMITS[role] for role in ("cost", "weight") if role in roles}
    extremes = {}
    if limits:
        extremes = tables.counts(table, columns.group[:1], limits=limits).attrs

    cost = None
    if columns.cost:
        low, high = extremes[columns.cost]
        cost = CostScale(columns.cost, (low + high) / 2, (high - low) / 2 or 1.0)
    _, heaviest = extremes.get(columns.weight, (0.0, 1.0))

    cells = _cells(table, columns, cost, heaviest=heaviest or 1.0)
    return _coded(cells, columns, positive, cost)


def by_level(
    table,
    columns: Columns,
    cases: int,
    *,
    positive: object = None,
    crossed: Iterable[int] = (1,),
) -> dict[str, Counts]:
    """Count the cases for each attribute again, by the level of their probability.

    A distribution is no sum, so the counts of `read` do not hold what AUCs and
    distances between distributions need.

    Parameters
    ----------
    table : frame or path
        Whatever `fairlib.tables` reads.
    columns : Columns
        Which column plays which part.
    cases : int
        How many cases there are; of too many, sources are not counted.
    positive : object
        The class that is measured, as of `classes_of`.
    crossed : iterable of int, default (1,)
        How many attributes are counted together: 1 for each attribute alone, 2 for each
        pair, and so on.
    """
    if not columns.probability:
        return {}

    source = columns.source if cases <= MOST_TIED_CASES else None
    counts_by_attribute = {}
    for size in crossed:
        for names in combinations(columns.group, size):
            together = replace(columns, group=names, within=None, source=source)
            cells = _cells(table, together, by_level=True)
            counts = _coded(cells, together, positive)
            counts_by_attribute[" × ".join(names)] = counts
    return counts_by_attribute


def _check_columns(table, columns: Columns) -> None:
    """Raise unless the table has all columns that are named."""
    known = tables.schema(table)
    for name in columns.group:
        check_column(known, "group", name)
    for role in ROLES:
        name = getattr(columns, role)
        if name is not None:
            check_column(known, role, name)


def _cells(
    table,
    columns: Columns,
    cost: CostScale | None = None,
    *,
    heaviest: float = 1.0,
    by_level: bool = False,
) -> DataFrame:
    """Count the cases of every combination of values, and sum up their numbers.

    The unit of weights is the weight `heaviest`.
    """
    roles = columns.by_role()
    by = [*columns.group, *(roles[role] for role in _SHARED_ROLES if role in roles)]
    numbers = {
        role: nw.col(roles[role]).cast(nw.Float64) for role in LIMITS if role in roles
    }
    value = numbers.get("probability", 0.0)
    weight = numbers["weight"] / heaviest if "weight" in numbers else 1.0

    derived: dict[str, nw.Expr] = {}
    if columns.probability and columns.prediction is None:
        derived[_DECIDED] = numbers["probability"] >= columns.threshold
    if by_level:
        inside = numbers["probability"].clip(_LEVEL_EDGE, 1 - _LEVEL_EDGE)
        derived[_LEVEL] = ((inside / (1 - inside)).log() / _LEVEL_WIDTH).round()

    highest_power = 0
    if columns.probability:
        highest_power = 2
    if cost:
        highest_power = 3
        value = weight * ((numbers["cost"] - cost.middle) / cost.reach)

    # The numbers of a row belong to as many cases.
    times = nw.col(columns.count) if columns.count else 1.0
    totals = {}
    for a, b in POWERS:
        if (columns.weight or not a) and b <= highest_power:
            product = math.prod([weight] * a + [value] * b, start=times)
            # There is a column among the factors, so that this is no mere number.
            totals[_POWER.format(a, b)] = tables.Total(cast(nw.Expr, product))

    return tables.counts(
        table,
        [*by, *derived],
        totals,
        derived=derived,
        limits={roles[role]: LIMITS[role] for role in numbers},
        count=columns.count,
    )


def _coded(
    cells: DataFrame,
    columns: Columns,
    positive: object,
    cost: CostScale | None = None,
) -> Counts:
    """Replace the values of counted cells by codes."""
    if not len(cells):
        raise ValueError("the table has no rows, or all its counts are 0")

    # The order of these steps is that of the notes that they write.
    notes: list[str] = []
    band_notes: list[str] = []
    attributes = {
        name: coded_attribute(
            cells[name],
            cells[COUNT],
            notes,
            band_notes=band_notes,
            bands=columns.bands.get(name),
        )
        for name in columns.group
    }
    roles = columns.by_role()
    outcomes: dict[str, Series] = {
        role: complete(cells, roles[role])
        for role in ("label", "prediction", "compare")
        if role in roles
    }
    outcomes = as_one_type(outcomes, notes)
    classes = _classes(outcomes, columns, positive)
    note_strange_classes(outcomes, notes)
    codes = {role: index(column, classes.values) for role, column in outcomes.items()}
    if columns.probability and columns.prediction is None:
        codes["prediction"] = _decided_by_threshold(cells, columns, classes, notes)

    within = None
    if columns.within:
        # The numbers of hospitals are names: strata are never put into bands.
        within = coded(cells[columns.within], cells[COUNT], notes)
        if within.names == (within.missing,):
            raise ValueError(
                f"within: column {columns.within!r} has no value in any case; "
                "name a column that holds strata"
            )
    powers = _powers(cells, columns, notes)

    return Counts(
        attributes=attributes,
        classes=classes.names,
        positive=classes.positive,
        notes=tuple(notes),
        band_notes=tuple(band_notes),
        count=cells[COUNT].to_numpy(),
        powers=powers,
        label=codes.get("label"),
        prediction=codes.get("prediction"),
        source=_sources(cells, columns),
        score=powers[0, 1] if columns.probability else None,
        level=code(cells[_LEVEL])[0] if _LEVEL in cells else None,
        within=within,
        compare=codes.get("compare"),
        cost=cost,
    )


def _classes(
    outcomes: dict[str, Series], columns: Columns, positive: object
) -> Classes:
    """Return the classes; costs alone have none."""
    if outcomes or columns.probability:
        return classes_of(outcomes, columns, positive)
    if positive is not None:
        raise ValueError(f"positive: costs alone have no classes, found {positive!r}")
    return NO_CLASSES


def _decided_by_threshold(
    cells: DataFrame, columns: Columns, classes: Classes, notes: list[str]
) -> ndarray:
    """Return the class of each cell that follows from its probability."""
    positive = classes.positive[0]
    negative = 1 - positive if len(classes.values) == 2 else positive
    notes.append(
        f"‘{classes.names[positive]}’ is predicted where column "
        f"{columns.probability!r} is {columns.threshold:g} or more."
    )
    return np.where(cells[_DECIDED].to_numpy(dtype=bool), positive, negative)


def _sources(cells: DataFrame, columns: Columns) -> ndarray | None:
    """Return the source of each cell; every case needs one.

    Sources are numbered in the order of their texts. Random draws depend on this order,
    and it is the same for the number 10 in a frame and the text "10" in a file.
    """
    if not columns.source:
        return None
    return coded_by_text(complete(cells, columns.source))


def _powers(
    cells: DataFrame, columns: Columns, notes: list[str]
) -> dict[tuple[int, int], ndarray]:
    """Return the sums of powers, and note the design effect of weights.

    Weights that are all alike are left out.
    """
    powers = {
        key: cells[_POWER.format(*key)].to_numpy()
        for key in POWERS
        if _POWER.format(*key) in cells
    }
    if not columns.weight:
        return powers

    n = cells[COUNT].sum()
    weight = powers[1, 0].sum()
    if not weight:
        raise ValueError(f"weight: column {columns.weight!r} holds nothing but 0")

    design_effect = n * powers[2, 0].sum() / weight**2
    notes.append(
        f"Cases are weighted by {columns.weight!r}. Regardless of outcomes, {n:,} "
        f"cases tell as much as {n / design_effect:,.0f} of equal weight "
        f"(Kish's design effect: {design_effect:.2f})."
    )
    if design_effect > 1 + 1e-12:
        notes.append(
            "Metrics of the literature do not take weights into account and are left "
            "out."
        )
        return powers

    return {
        (0, b): values / (weight / n) ** b for (a, b), values in powers.items() if not a
    }
