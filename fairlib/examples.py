"""From a tidy table of predictions to checked arrays: who is compared, what was true, what the model said.

One row per example, or per kind of example with their number. Rows that are alike in all columns are counted first, in
the engine that holds the table: then everything costs what the number of *distinct* rows costs. Columns that a table
lacks are no error here; a metric that needs one says so when it asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import narwhals as nw
import numpy as np
import pandas as pd

from fairlib import tables
from fairlib.tables import COUNT, listed

ACCUMULATED = "accumulated"  # the name of the aggregate in results, so no group may carry it
COLUMNS = {"group": "group", "label": "label", "prediction": "prediction", "source": "source", "term": "term"}
ROWS = ("group", "term", "source", "unit", "label", "prediction", "probabilities", "count")  # arrays with a row each
EXAMPLES = "examples"  # what is resampled where nothing ties them together
ROUNDING = 1e-3  # how far probabilities, often stored with few digits, may be from summing to 1


class NotMeasurable(ValueError):
    """A metric cannot be computed on this table: what it needs, and what the table lacks."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Checked and coded columns; n examples (or kinds of example), every code an index into the names beside it."""

    groups: tuple  # names in the order of the column's categories, else sorted
    classes: tuple  # every class that a label or prediction may name
    measured: tuple[int, ...]  # which of them are asked for
    group: np.ndarray  # (n,)
    term: np.ndarray  # (n,) identity terms; a word that two groups share counts as two terms
    term_group: np.ndarray  # (terms,)
    source: np.ndarray  # (n,) whole templates or originals: what is resampled together
    unit: np.ndarray | None  # (n,) what is held fixed while the group changes: the source, or a token of it
    label: np.ndarray | None  # (n,)
    prediction: np.ndarray | None  # (n,)
    probabilities: np.ndarray | None  # (n, classes)
    resampled: str  # in words: what varies when the data are resampled
    count: np.ndarray | None = None  # (n,) how many examples a row stands for; None for one each

    def __len__(self) -> int:
        return len(self.group)

    @property
    def counted(self) -> bool:
        """Whether rows are numbers of examples that nothing ties together."""
        return self.count is not None and self.resampled == EXAMPLES

    @property
    def independent(self) -> np.ndarray:
        """How many things vary on their own in each group: its terms, or its examples where nothing ties them."""
        weight = self.count if self.counted else None
        return np.bincount(self.term_group, weight, minlength=len(self.groups)).astype(np.int64)

    def need(self, column: str) -> np.ndarray:
        """Return a column's array, or say that it is missing."""
        found = getattr(self, column)
        if found is None:
            spoken = {"probabilities": "probability columns", "unit": "a source column"}.get(
                column, f"a {column} column"
            )
            raise NotMeasurable(f"it needs {spoken}, which the table lacks")
        return found

    def only(self, keep: np.ndarray) -> Examples:
        """Return the examples where `keep` is true; units that lose all their examples go with them."""
        kept = {name: array[keep] for name in ROWS if (array := getattr(self, name)) is not None}
        if self.unit is not None:
            kept["unit"] = np.unique(self.unit[keep], return_inverse=True)[1]
        return replace(self, **kept)

    def ordered(self) -> Examples:
        """Return the examples in an order of their own, for engines answer in any order, and draws go row by row."""
        scores = () if self.probabilities is None else self.probabilities.T
        codes = [codes for codes in (self.prediction, self.label, self.source, self.group) if codes is not None]
        order = np.lexsort([*scores, *codes] if self.resampled == EXAMPLES else [*scores, *codes, self.term])
        kept = {name: array[order] for name in ROWS if (array := getattr(self, name)) is not None}
        if self.resampled == EXAMPLES:  # every row is a term of its own
            kept |= {"term": np.arange(len(order)), "term_group": self.group[order]}
        return replace(self, **kept)

    def check_units(self, *, one_label: bool) -> None:
        """Raise unless every unit has an example of every group and, if asked, a single label."""
        unit = self.need("unit")
        present = np.zeros((unit.max() + 1, len(self.groups)), dtype=bool)
        present[unit, self.group] = True
        if lacking := np.count_nonzero(~present.all(axis=1)):
            first = int(np.flatnonzero(~present.all(axis=1))[0])
            absent = ", ".join(repr(self.groups[code]) for code in np.flatnonzero(~present[first]))
            raise NotMeasurable(
                f"a counterfactual metric compares every source across all groups, but {lacking} of {len(present)} "
                f"lack a group (the first has no example of {absent})"
            )
        if one_label:
            label = self.need("label")
            lowest, highest = np.full(len(present), len(self.classes)), np.full(len(present), -1)
            np.minimum.at(lowest, unit, label)
            np.maximum.at(highest, unit, label)
            if mixed := np.count_nonzero(lowest != highest):
                raise NotMeasurable(
                    f"all variations of a source must have one label, but {mixed} source(s) have several"
                )


def read(
    table,
    *,
    classes=None,
    group: str = "group",
    label: str = "label",
    prediction: str = "prediction",
    source: str = "source",
    term: str = "term",
    probability: str = "p_{}",
    count: str | None = None,
    bins: int | None = None,
    scores: bool = True,
) -> Examples:
    """Check a tidy table (anything that `tables` reads), count rows that are alike, and code the columns.

    A column that is missing under its default name counts as absent; one that was named by the caller must be there.
    Classes are those with a probability column; without such columns, whatever occurs as label or prediction. One
    probability column for two classes suffices.

    count : column with the number of examples that a row stands for.
    bins : put probabilities into this many bins of equal width first, and take the middle of the bin for each.
    scores : whether probabilities are asked for at all; if not, they make no rows distinct.
    """
    if bins is not None and not (isinstance(bins, int) and bins > 1):
        raise ValueError(f"bins must be a whole number from 2 on, found {bins!r}")
    names = {"group": group, "label": label, "prediction": prediction, "source": source, "term": term}
    known = tables.columns(table)
    for role, name in names.items():
        if name not in known and name != COLUMNS[role]:
            raise ValueError(f"{role}: no column {name!r}; the columns are {listed(known)}")
    if group not in known:
        raise ValueError(f"group: no column {group!r}; the columns are {listed(known)}")
    by = [name for name in dict.fromkeys(names.values()) if name in known]
    columns = probability_columns(probability, known)
    if probability == "{}":  # fits every column, so the classes must tell which are meant
        outcomes = [name for name in (label, prediction) if name in known]
        occurring = {str(value) for name in outcomes for value in tables.counts(table, [name], count=count)[name]}
        columns = {text: name for text, name in columns.items() if text in occurring}
    counted = _counted(table, by, list(columns.values()) if scores else [], count, bins)
    examples = coded(counted, names, columns, classes=classes, rounded=0 if bins is None else 0.5 / bins)
    return examples.ordered() if examples.resampled == EXAMPLES or not isinstance(table, pd.DataFrame) else examples


def coded(
    frame: pd.DataFrame, names: dict[str, str], columns: dict, *, classes=None, unit=None, rounded=0.0
) -> Examples:
    """Check and code a frame whose rows are examples, or stand for as many as the column `COUNT` says.

    names : role -> column. columns : see `probability_columns`; they may be missing in the frame if nobody needs them.
    unit : column that says what is held fixed while the group changes, if that is not the source.
    rounded : by how much each probability may be off.
    """
    found = {role: _column(frame, name) for role, name in names.items()}
    if len(frame) == 0:
        raise ValueError("predictions has no rows")
    group_code, groups = _codes(found["group"])
    if len(groups) < 2:
        raise ValueError(
            f"column {names['group']!r} holds one group only, {groups[0]!r}; a comparison needs two or more"
        )
    if ACCUMULATED in groups:
        raise ValueError(
            f"column {names['group']!r} may not hold {ACCUMULATED!r}: that is the name of the aggregate in results"
        )
    seen = {role: found[role].unique().tolist() for role in ("label", "prediction") if found[role] is not None}
    known, matrix = _classes(frame, seen, columns, names, rounded)
    wanted = known if classes is None else ([classes] if isinstance(classes, str) else list(classes))
    if strange := [name for name in wanted if name not in known]:
        raise ValueError(f"classes: {listed(strange)} found, but the classes of the table are {listed(known)}")
    index = pd.Index(known, dtype=object)
    codes = {role: index.get_indexer(found[role].astype(object)) for role in seen}

    source_code = None if found["source"] is None else _codes(found["source"])[0]
    unit_code = source_code if unit is None else _codes(frame[unit])[0]
    if found["term"] is not None:
        spoken = _codes(found["term"])[0].astype(np.int64)
        pairs, term_code = np.unique(group_code * (spoken.max() + 1) + spoken, return_inverse=True)
        term_group = pairs // (spoken.max() + 1)
        resampled = "terms" if source_code is None else "sources and terms"
    elif source_code is None:  # nothing ties examples together: each one varies on its own
        term_code, term_group, resampled = np.arange(len(frame)), group_code, EXAMPLES
    elif (owner := _owners(source_code, group_code)) is not None:  # such as all texts of one author: they stay together
        term_code, term_group, source_code, resampled = source_code, owner, None, "sources"
    else:
        term_code, term_group, resampled = group_code, np.arange(len(groups)), "sources"
    several = COUNT in frame and (frame[COUNT] != 1).any()
    return Examples(
        groups=groups,
        classes=tuple(known),
        measured=tuple(known.index(name) for name in wanted),
        group=group_code,
        term=term_code,
        term_group=term_group,
        source=np.zeros(len(frame), dtype=int) if source_code is None else source_code,
        unit=unit_code,
        label=codes.get("label"),
        prediction=codes.get("prediction"),
        probabilities=matrix,
        resampled=resampled,
        count=frame[COUNT].to_numpy(dtype=np.int64) if several else None,
    )


def probability_columns(pattern: str, known) -> dict[str, str]:
    """Return the columns that fit a pattern such as "p_{}", by the text that stands for the class."""
    if pattern.count("{}") != 1:
        raise ValueError(f"probability must be a pattern with one '{{}}' for the class, found {pattern!r}")
    before, after = pattern.split("{}")
    middles = {str(name)[len(before) : len(str(name)) - len(after)]: name for name in known}
    return {text: name for text, name in middles.items() if text and str(name) == before + text + after}


def _counted(table, by: list[str], probabilities: list, count: str | None, bins: int | None) -> pd.DataFrame:
    """Return one row per kind of example, with its `COUNT`; or per example, where hardly any two are alike."""
    known = tables.schema(table)
    totals, derived, keys = {COUNT: tables.cases(count)}, {}, probabilities
    for name in probabilities:
        tables.check_is_number(known, "probability", name)
    if bins and probabilities:
        keys = [f"fairlib: bin of {name}" for name in probabilities]
        numbers = {name: nw.col(name).cast(nw.Float64) for name in probabilities}
        for name, key in zip(probabilities, keys, strict=True):
            derived[key] = (numbers[name] * bins).floor().clip(0, bins - 1)
            totals |= tables.range_of(name)
    found = tables.reduce(table, [*by, *keys], totals, derived=derived, uses=probabilities if bins else (), count=count)
    for name, key in zip(probabilities, keys, strict=True):
        if bins:
            tables.check_range(found, name, highest=1 + ROUNDING, allowed="lie in [0, 1]")
            found[name] = (found[key] + 0.5) / bins
    if found[COUNT].sum() <= 2 * len(found):
        found = found.loc[found.index.repeat(found[COUNT])].assign(**{COUNT: 1})
    return found.reset_index(drop=True)


def _column(frame: pd.DataFrame, name: str) -> pd.Series | None:
    if name not in frame.columns:
        return None
    if (lacking := frame[name].isna()).any():
        missing = int(frame.loc[lacking, COUNT].sum()) if COUNT in frame else int(lacking.sum())
        raise ValueError(f"column {name!r} has {missing} missing value(s); every example needs one")
    return frame[name]


def _owners(source: np.ndarray, group: np.ndarray) -> np.ndarray | None:
    """Return the group of each source, or None if some source has examples of several groups."""
    owner = np.zeros(int(source.max()) + 1, dtype=np.int64)
    owner[source] = group
    return owner if np.array_equal(owner[source], group) else None


def _codes(column: pd.Series) -> tuple[np.ndarray, tuple]:
    """Return codes and names: in the order of the categories, or sorted."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        used = column.cat.remove_unused_categories()
        return used.cat.codes.to_numpy(dtype=np.int64), tuple(used.cat.categories.tolist())
    codes, names = pd.factorize(column, sort=True)
    return codes.astype(np.int64), tuple(names.tolist())


def _classes(
    frame: pd.DataFrame, seen: dict[str, list], columns: dict, names: dict, rounded: float
) -> tuple[list, np.ndarray | None]:
    """Return all classes in order, and their probabilities, one column per class, where the frame has them."""
    distinct = dict.fromkeys(name for found in seen.values() for name in found)  # 1, 1.0 and True are one class
    spelled = {str(name): name for name in distinct}
    if not columns:
        return _ordered(distinct), None
    known = [spelled.get(text, text) for text in columns]
    if len(known) == 1 and len({*spelled.values(), *known}) == 2:
        (missing,) = {*spelled.values()} - {*known}
        known.append(missing)
    for role, found in seen.items():
        if strange := [name for name in found if name not in known]:
            raise ValueError(
                f"column {names[role]!r} holds {listed(strange)}, which is no class: the classes, "
                f"{listed(known)}, are those with a probability column"
            )
    order = _ordered(known)
    if not set(columns.values()) <= set(frame.columns):
        return order, None
    matrix = frame[list(columns.values())].to_numpy(dtype=float)
    if not np.isfinite(matrix).all() or matrix.min() < 0 or matrix.max() > 1 + ROUNDING:
        bad = (~np.isfinite(matrix) | (matrix < 0) | (matrix > 1 + ROUNDING)).any(axis=0)
        worst = [name for name, wrong in zip(columns.values(), bad, strict=True) if wrong]
        raise ValueError(f"probabilities must lie in [0, 1]; column(s) {listed(worst)} hold others or missing values")
    if len(known) > len(columns):
        matrix = np.column_stack([matrix, 1 - matrix])
    elif (off := np.abs(matrix.sum(axis=1) - 1)).max() > ROUNDING + rounded * matrix.shape[1]:
        row = int(off.argmax())
        raise ValueError(
            f"probabilities must sum to 1 over the classes {listed(known)}; {np.count_nonzero(off > ROUNDING)} kind(s) "
            f"of row do not (one sums to {matrix[row].sum():.4f})"
        )
    return order, matrix[:, [known.index(name) for name in order]]


def _ordered(values) -> list:
    try:
        return sorted(values)
    except TypeError:  # names of several types have no order of their own
        return sorted(values, key=str)
