"""From any table to counts: how many cases share their groups, label, prediction and source.

Whatever the audit says follows from these counts, made inside the engine that holds the table: a million rows with four
attributes become a few thousand cells.
"""

import datetime
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd

from fairlib import tables
from fairlib.tables import COUNT, complete, listed
from fairlib.tables.coding import Columns, as_numbers, banded, code, distinct, index

MISSING, EMPTY = "(missing)", "(empty)"
MOST_CLASSES = 100
LONGEST = 200  # characters of a name; what is longer is no name but a mistake
MANY = 1000  # groups: more are suspicious
POWER = "fairlib: sum of weights to the {} times weighted costs, or probabilities, to the {}"
POWERS = [(a, b) for a in range(4) for b in range(4 - a) if a + b]
DECIDED, LEVEL = (
    "fairlib: probability at least the threshold",
    "fairlib: level of the probability",
)
STEP, EDGE = (
    0.01,
    1e-9,
)  # of levels, in log odds: fine at rare classes too; what is within the edge of 0 or 1 is one
MOST_TIED = (
    200_000  # cases: of more, the counts by level do not say which belong together
)

ROLES = (
    "label",
    "prediction",
    "probability",
    "source",
    "count",
    "within",
    "compare",
    "cost",
    "weight",
)
LIMITS = {  # of columns that hold a number for each case
    "probability": ("lie in [0, 1]", 0, 1),
    "weight": ("hold weights (0 to 1e100)", 0, 1e100),
    "cost": ("hold numbers from -1e300 to 1e300", -1e300, 1e300),
}
KEYS = (
    "label",
    "prediction",
    "source",
    "within",
    "compare",
)  # what cases of a cell share, beside their groups


class Coded(NamedTuple):
    """A column as codes into its names."""

    codes: np.ndarray
    names: tuple[str, ...]
    missing: str | None = None  # the name of cases without a value


class Cost(NamedTuple):
    """A column of costs, which are counted as how far from the middle they are: -1 is the lowest, 1 the highest."""

    name: str
    middle: float
    reach: float


@dataclass(frozen=True, eq=False)
class People:
    """Cases counted: arrays over cells, which share groups, label, prediction and source."""

    attributes: dict[str, Coded]
    classes: tuple[str, ...]
    positive: tuple[int, ...]  # the classes that are measured, one against the rest
    notes: tuple[str, ...]  # what a reader should know about how the columns were read
    count: np.ndarray
    powers: Mapping[
        tuple[int, int], np.ndarray
    ]  # Σ wᵃ (w c)ᵇ, of weights w and costs or probabilities c, by (a, b)
    label: np.ndarray | None = None  # codes of classes
    prediction: np.ndarray | None = None
    source: np.ndarray | None = None
    score: np.ndarray | None = (
        None  # the sum of the cell's probabilities of the positive class
    )
    level: np.ndarray | None = (
        None  # of the probability, where cells are counted by level too
    )
    within: Coded | None = None  # the stratum of each cell
    compare: np.ndarray | None = (
        None  # codes of the classes that another model predicts
    )
    cost: Cost | None = None

    def __len__(self) -> int:
        return int(self.count.sum())

    def in_units(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return comparisons with costs in the units of their column."""
        if self.cost is not None:
            mine, origin = (
                rows["rate"] == "cost",
                dict.fromkeys(["value", "value_against"], self.cost.middle),
            )
            for name in {*origin, "difference", "low", "high", "margin"} & {*rows}:
                rows[name] = np.where(
                    mine,
                    origin.get(name, 0.0) + self.cost.reach * rows[name],
                    rows[name],
                )
        return rows

    def probability(self, most: int | None = None) -> np.ndarray:
        """Return that of each cell: the mean over its level, or over one of `most` wider levels of equal shares."""
        count, total = (
            np.bincount(self.level, values) for values in (self.count, self.score)
        )
        if most is not None and len(count) > most:  # levels are in order
            wide = ((count.cumsum() - count / 2) * most / count.sum()).astype(int)
            count, total = (
                np.bincount(wide, values)[wide] for values in (count, total)
            )
        return (total / count)[self.level]


def read(table, columns: Columns, *, positive=None) -> People:
    """Check a table and count its cases. O(rows), in the engine that holds them; costs take one more pass."""
    columns.among(tables.schema(table), ("group", *ROLES))
    cost = None
    if columns.cost:  # sums of squares of what lies between -1 and 1 lose no digits
        limits = {columns.cost: tables.Limits("cost", *LIMITS["cost"])}
        low, high = tables.counts(table, columns.group[:1], limits=limits).attrs[
            columns.cost
        ]
        cost = Cost(columns.cost, (low + high) / 2, (high - low) / 2 or 1.0)
    return _coded(_cells(table, columns, cost), columns, positive, cost)


def of_arrays(
    label, prediction, groups, given: Columns
) -> tuple[pd.DataFrame, Columns]:
    """Return arrays as a table, with its columns; given : the arrays that play the other parts."""
    names = groups if isinstance(groups, Mapping) else getattr(groups, "columns", ())
    held = {str(name): groups[name] for name in names} or {
        str(getattr(groups, "name", None) or "group"): groups
    }
    given = given._asdict() | {"label": label, "prediction": prediction}
    named = {
        role: role if role not in held else f"the {role}"
        for role in ROLES
        if given[role] is not None
    }
    arrays = held | {name: given[role] for role, name in named.items()}
    if len({*map(len, arrays.values())}) > 1:
        found = ", ".join(
            f"{len(values):,} of {name}" for name, values in arrays.items()
        )
        raise ValueError(f"arrays must be of one length, found {found}")
    if strange := [name for name, values in arrays.items() if np.ndim(values) != 1]:
        raise ValueError(
            f"{strange[0]}: an array must have one dimension, found {np.ndim(arrays[strange[0]])}"
        )
    known = {
        name: values.to_pandas() if hasattr(values, "to_pandas") else values
        for name, values in arrays.items()
    }
    columns = {
        name: pd.Series(values).reset_index(drop=True) for name, values in known.items()
    }
    return pd.DataFrame(columns), Columns(**given | named | {"group": tuple(held)})


def by_level(table, columns: Columns, cases: int, positive=None) -> dict[str, People]:
    """Count the cases of a table again for each attribute, by the level of their probability.

    A distribution is no sum, so the counts of `read` do not hold what AUCs and distances between distributions need.
    """
    source, found = columns.source if cases <= MOST_TIED else None, {}
    for name in columns.group if columns.probability else ():
        alone = columns._replace(group=(name,), within=None, source=source)
        found[name] = _coded(_cells(table, alone, by_level=True), alone, positive)
    return found


def label_text(value) -> str:
    """Write a value as a reader expects it: 1 and not 1.0, never an empty word, and not a whole book."""
    if (
        isinstance(value, datetime.datetime)
        and value.tzinfo is None
        and value.time() == datetime.time()
    ):
        value = value.date()  # some engines know dates, some only moments
    text = str(int(value) if isinstance(value, float) and value.is_integer() else value)
    if len(text) > LONGEST:
        return f"{text[:LONGEST]}… ({len(text):,} characters)"
    return text if text.strip() else EMPTY


def _cells(
    table, columns: Columns, cost: Cost | None = None, *, by_level: bool = False
) -> pd.DataFrame:
    """Return one row per combination of the columns' values, with its count and its sums of probabilities or costs."""
    by = [*columns.group, *(name for role in KEYS if (name := getattr(columns, role)))]
    numbers = {
        role: nw.col(name).cast(nw.Float64)
        for role in LIMITS
        if (name := getattr(columns, role))
    }
    value, size, derived = (
        numbers.get("probability", 0.0),
        numbers.get("weight", 1.0),
        {},
    )
    if columns.probability and columns.prediction is None:
        derived[DECIDED] = value >= columns.threshold
    if by_level:
        inside = value.clip(EDGE, 1 - EDGE)
        derived[LEVEL] = ((inside / (1 - inside)).log() / STEP).round()
    if cost:
        value = size * ((numbers["cost"] - cost.middle) / cost.reach)
    times = (
        nw.col(columns.count) if columns.count else 1.0
    )  # a row's numbers belong to as many cases
    totals, most = {}, 3 if cost else 2 if columns.probability else 0
    for a, b in POWERS:
        if (columns.weight or not a) and b <= most:
            totals[POWER.format(a, b)] = tables.Total(
                math.prod([size] * a + [value] * b, start=times)
            )
    limits = {
        getattr(columns, role): tables.Limits(role, *LIMITS[role]) for role in numbers
    }
    return tables.counts(
        table,
        [*by, *derived],
        totals,
        derived=derived,
        limits=limits,
        count=columns.count,
    )


def _powers(
    cells: pd.DataFrame, columns: Columns, notes: list[str]
) -> dict[tuple[int, int], np.ndarray]:
    """Return the sums of powers, and note the design effect; weights that are all alike are none."""
    powers = {
        key: cells[name].to_numpy()
        for key in POWERS
        if (name := POWER.format(*key)) in cells
    }
    if not columns.weight:
        return powers
    n, weight, square = cells[COUNT].sum(), powers[1, 0].sum(), powers[2, 0].sum()
    if not weight:
        raise ValueError(f"weight: column {columns.weight!r} holds nothing but 0")
    effect = n * square / weight**2
    like = f"as sure as {n / effect:,.0f} of equal weight (Kish's design effect: {effect:.2f})"
    notes.append(
        f"Weighted by {columns.weight!r}; regardless of outcomes, {n:,} cases are {like}."
    )
    if effect > 1 + 1e-12:
        notes.append("Metrics of the literature take no weights and are left out.")
        return powers
    return {
        (0, b): values / (weight / n) ** b for (a, b), values in powers.items() if not a
    }


def _coded(
    cells: pd.DataFrame, columns: Columns, positive, cost: Cost | None = None
) -> People:
    if not len(cells):
        raise ValueError("the table has no rows, or all its counts are 0")
    notes: list[str] = []
    attributes = {
        name: _attribute(cells[name], cells[COUNT], notes) for name in columns.group
    }
    named = {
        role: name
        for role in ("label", "prediction", "compare")
        if (name := getattr(columns, role))
    }
    outcomes = _one_type(
        {role: complete(cells, name) for role, name in named.items()}, notes
    )
    if (alone := not outcomes and not columns.probability) and positive is not None:
        raise ValueError(f"positive: costs alone have no classes, found {positive!r}")
    classes, names, chosen = (
        _classes(outcomes, columns, positive) if not alone else ([], [], [])
    )
    found = {role: index(column, classes) for role, column in outcomes.items()}
    if columns.probability and columns.prediction is None:
        other = 1 - chosen[0] if len(classes) == 2 else chosen[0]
        found["prediction"] = np.where(
            cells[DECIDED].to_numpy(dtype=bool), chosen[0], other
        )
        where = (
            f"where column {columns.probability!r} is {columns.threshold:g} or more."
        )
        notes.append(f"‘{names[chosen[0]]}’ is predicted {where}")
    if columns.source:
        codes, known = code(cells[columns.source])
        found["source"] = np.where(codes < 0, len(known), codes)
    if columns.within:
        found["within"] = _attribute(cells[columns.within], cells[COUNT], notes)
    if LEVEL in cells:
        found["level"] = code(cells[LEVEL])[0]
    count, powers = cells[COUNT].to_numpy(), _powers(cells, columns, notes)
    if columns.probability:
        found["score"] = powers[0, 1]
    return People(
        attributes,
        tuple(names),
        tuple(chosen),
        tuple(notes),
        count,
        powers,
        cost=cost,
        **found,
    )


def _attribute(column: pd.Series, count: pd.Series, notes: list[str]) -> Coded:
    """Code a column of groups, of which the missing are one, and note what is odd about it."""
    codes, values = code(banded(column, count, notes))
    names, called = _spelled(values), f"Column {column.name!r}"
    if names != [label_text(value) for value in values]:
        notes.append(
            f"{called} holds values that look alike, such as 1 and '1'; they are kept apart."
        )
    if len(names) > MANY:
        notes.append(
            f"{called} has {len(names):,} different values; does it name groups, or number rows?"
        )
    if not (lacking := codes < 0).any():
        return Coded(codes, tuple(names))
    missing, cases = (
        MISSING if MISSING not in names else f"{MISSING} value",
        count[lacking].sum(),
    )
    notes.append(
        f"{called} has no value in {int(cases):,} case(s) ({cases / count.sum():.1%}): set aside."
    )
    return Coded(np.where(lacking, len(names), codes), (*names, missing), missing)


def _spelled(values: list) -> list[str]:
    """Write several values so that no two look alike, even if 1 and "1" are among them."""
    names = [label_text(value) for value in values]
    times = Counter(names)
    return [
        name if times[name] == 1 else repr(value)
        for name, value in zip(names, values, strict=True)
    ]


def _one_type(outcomes: dict[str, pd.Series], notes: list[str]) -> dict[str, pd.Series]:
    """Read "1" beside 1 as one class, where one column holds text and another does not, and "1" beside "1.0"."""
    held = [distinct([column]) for column in outcomes.values()]
    text = {all(isinstance(value, str) for value in values) for values in held}
    if text == {True}:
        numbers = {role: as_numbers(column) for role, column in outcomes.items()}
        told_apart = all(
            each is not None and (each.abs() < 2**53).all() for each in numbers.values()
        )  # by floats
        return numbers if told_apart else outcomes
    if len(text) < 2 or not set.intersection(
        *({*map(label_text, values)} for values in held)
    ):
        return outcomes
    columns = " and ".join(repr(column.name) for column in outcomes.values())
    notes.append(
        f"Columns {columns} hold text and numbers; '1' and 1 are read as one class."
    )
    return {
        role: column.astype(object).map(label_text) for role, column in outcomes.items()
    }


def _classes(
    outcomes: dict[str, pd.Series], columns: Columns, positive
) -> tuple[list, list[str], list[int]]:
    """Return the classes, their names, and which are measured: of two the last in order (1, True, "yes"), or all.

    A `positive` that is no class of 0 and 1 is a name for 1.
    """
    found, classes = (
        {role: distinct([column]) for role, column in outcomes.items()},
        distinct(outcomes.values()),
    )
    held = " and ".join(repr(column.name) for column in outcomes.values())
    for role, values in found.items():
        if len(values) > MOST_CLASSES:
            hint = (
                "; if these are probabilities, name it as probability"
                if role == "prediction"
                else ""
            )
            many = f"{len(values)} different values, too many for classes (at most {MOST_CLASSES})"
            raise ValueError(f"column {outcomes[role].name!r} has {many}{hint}")
    apart = {"label", "prediction"} <= found.keys() and not {*found["label"]} & {
        *found["prediction"]
    }
    if apart and (
        len(classes) > 2 or len({isinstance(value, str) for value in classes}) > 1
    ):
        both = f"the labels are {listed(found['label'])}, the predictions {listed(found['prediction'])}"
        raise ValueError(f"columns {held} have no class in common: {both}")
    if (
        columns.probability
        and len(classes) > 2
        and (columns.prediction is None or positive is None)
    ):
        many = f"{len(classes)} in {held}: {listed(classes)}; name it as positive, beside a column of predictions"
        raise ValueError(
            f"probability: column {columns.probability!r} holds that of one class, and there are {many}"
        )
    if columns.prediction is None and not outcomes:  # nothing has been named yet
        text = f"{columns.threshold:g}"
        classes = [
            f"below {text}",
            positive if positive is not None else f"{text} or more",
        ]
    elif columns.prediction is None and len(classes) == 1 and positive is not None:
        classes += [positive] * (
            label_text(positive) != label_text(classes[0])
        )  # a label that happens to be constant
    written, names = [*map(label_text, classes)], _spelled(classes)
    if positive is None:
        chosen = [len(classes) - 1] if len(classes) <= 2 else [*range(len(classes))]
    elif label_text(positive) in written:
        chosen = [written.index(label_text(positive))]
    elif isinstance(positive, str) and written in (["0", "1"], ["False", "True"]):
        names, chosen = [f"not {positive}", positive], [1]
    else:
        raise ValueError(
            f"positive: no class {positive!r} in column(s) {held}; they hold {listed(written)}"
        )
    return classes, names, chosen
