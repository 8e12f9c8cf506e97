"""From any data frame to counts: how many examples share their attributes, label and prediction.

Whatever the audit says about rates follows from these counts, so the rows are looked at once: a million rows with four
attributes become a few thousand cells, inside the engine that holds the frame. Counts of parts add up to counts of all.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd

from fairlib import tables
from fairlib.tables import COUNT, listed

MISSING, EMPTY = "(missing)", "(empty)"
MOST_CLASSES = 100
LONGEST = 200  # characters of a name; what is longer is no name but a mistake
MANY = 1000  # groups: more are suspicious
SCORE, SQUARE = "fairlib: sum of probabilities", "fairlib: sum of their squares"
THRESHOLDED = "fairlib: probability at least the threshold"


class Columns(NamedTuple):
    """Which column of the frame plays which part."""

    group: tuple[str, ...]
    label: str | None = None
    prediction: str | None = None
    probability: str | None = None
    source: str | None = None
    count: str | None = None
    threshold: float = 0.5  # where there are probabilities and no predictions

    @property
    def names(self) -> list[str]:
        """Every column that plays a part, once."""
        others = (self.label, self.prediction, self.probability, self.source, self.count)
        return list(dict.fromkeys([*self.group, *filter(None, others)]))

    @property
    def thresholded(self) -> bool:
        """Whether predictions are to be made from probabilities."""
        return self.prediction is None and self.probability is not None


class Coded(NamedTuple):
    """A column as codes into its names."""

    codes: np.ndarray
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Tally:
    """Examples counted: arrays over cells, which share attributes, label, prediction and source."""

    attributes: dict[str, Coded]
    classes: tuple[str, ...]
    positive: tuple[int, ...]  # the classes that are measured, one against the rest
    label: np.ndarray | None  # codes of classes
    prediction: np.ndarray | None
    count: np.ndarray
    score: np.ndarray | None  # the sum of the cell's probabilities of the positive class
    square: np.ndarray | None  # the sum of their squares
    source: np.ndarray | None
    notes: tuple[str, ...] = ()  # what a reader should know about how the columns were read

    def __len__(self) -> int:
        return int(self.count.sum())


def read(frame, columns: Columns, *, positive=None) -> Tally:
    """Check a frame of any library that narwhals knows, and count its examples."""
    return tally(cells(frame, columns), columns, positive=positive)


def cells(frame, columns: Columns) -> pd.DataFrame:
    """Return one row per combination of the columns' values, with its count and its sums of probabilities.

    O(rows), in the engine that holds them; the memory of the answer is that of the distinct combinations.
    """
    if strange := [name for name in columns.names if not isinstance(name, str)]:
        raise ValueError(f"names of columns must be words, found {strange[0]!r}; rename it")
    known = tables.schema(frame)
    for role in ("group", "label", "prediction", "probability", "source", "count"):
        asked = getattr(columns, role) or ()
        for name in asked if role == "group" else (asked,) if asked else ():
            if name not in known:
                raise ValueError(f"{role}: no column {name!r}; the columns are {listed(known)}")
    keys = [name for name in columns.names if name not in (columns.probability, columns.count)]
    totals, derived = sums(columns)
    if columns.probability:
        tables.check_is_number(known, "probability", columns.probability)
        totals |= tables.range_of(columns.probability)
    keys += derived
    uses = [columns.probability] if columns.probability else []
    found = tables.reduce(frame, keys, totals, derived=derived, uses=uses, count=columns.count)
    if columns.probability:
        tables.check_range(found, columns.probability, highest=1, allowed="lie in [0, 1]")
        found = found.drop(columns=[*tables.range_of(columns.probability)])
    return found


def sums(columns: Columns) -> tuple[dict[str, tables.Total], dict[str, nw.Expr]]:
    """Return what is summed up in each cell, and the columns to be made first, for `tables.reduce`."""
    totals, derived = {COUNT: tables.cases(columns.count)}, {}
    if columns.probability:
        # With counts, a row's probability belongs to as many examples.
        chance = nw.col(columns.probability).cast(nw.Float64)
        weight = nw.col(columns.count) if columns.count else 1.0
        totals |= {SCORE: tables.Total(chance * weight), SQUARE: tables.Total(chance * chance * weight)}
        if columns.thresholded:
            derived[THRESHOLDED] = chance >= columns.threshold
    return totals, derived


def tally(counted: pd.DataFrame, columns: Columns, *, positive=None) -> Tally:
    """Code the combinations that `cells` found; those of several parts of a file may simply stand below each other."""
    counted = counted[counted[COUNT] > 0]
    if not len(counted):
        raise ValueError("the table has no rows, or all its counts are 0")
    attributes, notes = {}, []
    for name in columns.group:
        attributes[name], said = _attribute(counted[name], name, counted[COUNT].to_numpy())
        notes += said
    values = {role: counted[getattr(columns, role)] for role in ("label", "prediction") if getattr(columns, role)}
    for column in values.values():
        if missing := int(counted.loc[column.isna(), COUNT].sum()):
            raise ValueError(f"column {column.name!r} has {missing} missing value(s); every case needs one")
    classes = _classes(values)
    if columns.thresholded:
        classes = _two_classes(classes, positive, columns)
    chosen = _chosen(classes, positive, values)
    if columns.probability and len(chosen) > 1:
        raise ValueError(
            f"positive: column {columns.probability!r} holds the probability of one class, but there are "
            f"{len(classes)}; say which, one of {listed(classes)}"
        )
    index = pd.Index(classes, dtype=object)
    coded = {role: index.get_indexer(column.astype(object)) for role, column in values.items()}
    if columns.thresholded:
        other = 1 - chosen[0] if len(classes) == 2 else chosen[0]
        coded["prediction"] = np.where(counted[THRESHOLDED].to_numpy(dtype=bool), chosen[0], other)
        called = label_text(classes[chosen[0]])
        notes.append(f"‘{called}’ is predicted where column {columns.probability!r} is {columns.threshold:g} or more.")
    return Tally(
        attributes=attributes,
        classes=tuple(spelled(classes)),
        positive=tuple(chosen),
        label=coded.get("label"),
        prediction=coded.get("prediction"),
        count=counted[COUNT].to_numpy(dtype=np.int64),
        score=counted[SCORE].to_numpy(dtype=float) if columns.probability else None,
        square=counted[SQUARE].to_numpy(dtype=float) if columns.probability else None,
        source=_sources(counted[columns.source]) if columns.source else None,
        notes=tuple(notes),
    )


def label_text(value) -> str:
    """Write a value as a reader expects it: 1 and not 1.0, never an empty word, and not a whole book."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value)
    if len(text) > LONGEST:
        return f"{text[:LONGEST]}… ({len(text):,} characters)"
    return text if text.strip() else EMPTY


def spelled(values: list) -> list[str]:
    """Write several values so that no two look alike, even if 1 and "1" are among them."""
    names = [label_text(value) for value in values]
    times = Counter(names)
    return [name if times[name] == 1 else repr(value) for name, value in zip(names, values, strict=True)]


def _attribute(column: pd.Series, name: str, count: np.ndarray) -> tuple[Coded, list[str]]:
    """Code a column of groups in the order of its categories, or sorted; who has no value is a group of their own."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.remove_unused_categories()
        codes, values = column.cat.codes.to_numpy(dtype=np.int64), column.cat.categories.tolist()
    else:
        codes, found = pd.factorize(column.astype(object))
        order = np.array(_order(found.tolist()), dtype=np.int64)
        values = [found[place] for place in order]
        rank = np.full(len(order) + 1, -1, dtype=np.int64)  # the last one for code -1: missing
        rank[order] = np.arange(len(order))
        codes = rank[codes]
    names, notes = spelled(values), []
    if names != [label_text(value) for value in values]:
        notes.append(f"Column {name!r} holds values that look alike, such as 1 and '1'; they are kept apart.")
    if len(names) > MANY:
        notes.append(
            f"Column {name!r} has {len(names):,} different values; does it say who somebody is, or number rows?"
        )
    if (missing := codes < 0).any():
        codes = np.where(missing, len(names), codes)
        names.append(MISSING if MISSING not in names else f"{MISSING} value")
        without = int(count[missing].sum())
        notes.append(
            f"Column {name!r} has no value in {without:,} case(s); they are a group of their own, {names[-1]!r}."
        )
    return Coded(codes, tuple(names)), notes


def _sources(column: pd.Series) -> np.ndarray:
    """Code the sources in an order that is that of their names, not that of the rows: draws go by it."""
    codes, found = pd.factorize(column, use_na_sentinel=False)
    rank = np.empty(len(found), dtype=np.int64)
    rank[_order(found.tolist())] = np.arange(len(found))
    return rank[codes]


def _classes(values: dict[str, pd.Series]) -> list:
    found = {role: column.unique().tolist() for role, column in values.items()}
    for role, classes in found.items():
        if len(classes) > MOST_CLASSES:
            hint = "; if these are probabilities, name it as probability" if role == "prediction" else ""
            raise ValueError(
                f"column {values[role].name!r} has {len(classes)} different values, too many for classes "
                f"(at most {MOST_CLASSES}){hint}"
            )
    together = list(dict.fromkeys(value for classes in found.values() for value in classes))
    words = {isinstance(value, str) for value in together}
    if len(found) == 2 and not set(found["label"]) & set(found["prediction"]) and (len(together) > 2 or len(words) > 1):
        raise ValueError(
            f"columns {values['label'].name!r} and {values['prediction'].name!r} have no class in common: the labels "
            f"are {listed(found['label'])}, the predictions {listed(found['prediction'])}"
        )
    return [together[place] for place in _order(together)]


def _two_classes(classes: list, positive, columns: Columns) -> list:
    """Return the two classes that a threshold decides between."""
    if not columns.label:  # nothing has been named yet
        return [f"below {columns.threshold:g}", positive if positive is not None else f"{columns.threshold:g} or more"]
    if len(classes) > 2:
        raise ValueError(
            f"prediction: column {columns.label!r} has {len(classes)} classes, {listed(classes)}; with more than two, "
            "a column of probabilities makes no predictions"
        )
    if len(classes) == 1 and positive is not None and label_text(positive) != label_text(classes[0]):
        return [*classes, positive]  # a label that happens to be constant
    return classes


def _chosen(classes: list, positive, values: dict[str, pd.Series]) -> list[int]:
    """Return which classes are measured: of two the last in order (1, True, "yes"), of more all; or that asked for."""
    if positive is None:
        return [len(classes) - 1] if len(classes) <= 2 else list(range(len(classes)))
    written = [label_text(name) for name in classes]
    if label_text(positive) not in written:
        columns = " and ".join(repr(column.name) for column in values.values())
        raise ValueError(f"positive: no class {positive!r} in column(s) {columns}; they hold {listed(written)}")
    return [written.index(label_text(positive))]


def _order(values: list) -> list[int]:
    try:
        return sorted(range(len(values)), key=values.__getitem__)
    except TypeError:  # values of several types have no order of their own
        return sorted(range(len(values)), key=lambda place: (type(values[place]).__name__, str(values[place])))
