"""From a tidy table of predictions to checked arrays: who is compared, what was true, what the model said.

One row per example. Columns that a table lacks are no error here; a metric that needs one says so when it asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

ACCUMULATED = "accumulated"  # the name of the aggregate in results, so no group may carry it
COLUMNS = {"group": "group", "label": "label", "prediction": "prediction", "source": "source", "term": "term"}
ROUNDING = 1e-3  # how far probabilities, often stored with few digits, may be from summing to 1


class NotMeasurable(ValueError):
    """A metric cannot be computed on this table: what it needs, and what the table lacks."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Checked and coded columns; n examples, every code an index into the names beside it."""

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

    def __len__(self) -> int:
        return len(self.group)

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
        unit = None if self.unit is None else np.unique(self.unit[keep], return_inverse=True)[1]
        kept = {}
        for name in ("group", "term", "source", "label", "prediction", "probabilities"):
            array = getattr(self, name)
            kept[name] = None if array is None else array[keep]
        return replace(self, unit=unit, **kept)

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
    frame: pd.DataFrame,
    *,
    classes=None,
    group: str = "group",
    label: str = "label",
    prediction: str = "prediction",
    source: str = "source",
    term: str = "term",
    probability: str = "p_{}",
    unit: str | None = None,
) -> Examples:
    """Check a tidy table and code its columns.

    A column that is missing under its default name counts as absent; one that was named by the caller must be there.
    Classes are those with a probability column; without such columns, whatever occurs as label or prediction. One
    probability column for two classes suffices.
    """
    names = {"group": group, "label": label, "prediction": prediction, "source": source, "term": term}
    columns = {role: _column(frame, role, name) for role, name in names.items()}
    if len(frame) == 0:
        raise ValueError("predictions has no rows")
    if columns["group"] is None:
        raise ValueError(f"group: no column {group!r}; the columns are {_listed(frame.columns)}")
    group_code, groups = _codes(columns["group"])
    if len(groups) < 2:
        raise ValueError(f"column {group!r} holds one group only, {groups[0]!r}; a comparison needs two or more")
    if ACCUMULATED in groups:
        raise ValueError(f"column {group!r} may not hold {ACCUMULATED!r}: that is the name of the aggregate in results")

    seen = {role: columns[role].unique().tolist() for role in ("label", "prediction") if columns[role] is not None}
    known, matrix = _classes(frame, seen, probability, names)
    wanted = known if classes is None else ([classes] if isinstance(classes, str) else list(classes))
    if strange := [name for name in wanted if name not in known]:
        raise ValueError(f"classes: {_listed(strange)} found, but the classes of the table are {_listed(known)}")
    index = pd.Index(known, dtype=object)
    coded = {role: index.get_indexer(columns[role].astype(object)) for role in seen}

    source_code = None if columns["source"] is None else _codes(columns["source"])[0]
    unit_code = source_code if unit is None else _codes(frame[unit])[0]
    if columns["term"] is not None:
        spoken = _codes(columns["term"])[0].astype(np.int64)
        pairs, term_code = np.unique(group_code * (spoken.max() + 1) + spoken, return_inverse=True)
        term_group = pairs // (spoken.max() + 1)
        resampled = "terms" if source_code is None else "sources and terms"
    elif source_code is None:  # nothing ties examples together: each one varies on its own
        term_code, term_group, resampled = np.arange(len(frame)), group_code, "examples"
    elif (owner := _owners(source_code, group_code)) is not None:  # such as all texts of one author: they stay together
        term_code, term_group, source_code, resampled = source_code, owner, None, "sources"
    else:
        term_code, term_group, resampled = group_code, np.arange(len(groups)), "sources"
    return Examples(
        groups=groups,
        classes=tuple(known),
        measured=tuple(known.index(name) for name in wanted),
        group=group_code,
        term=term_code,
        term_group=term_group,
        source=np.zeros(len(frame), dtype=int) if source_code is None else source_code,
        unit=unit_code,
        label=coded.get("label"),
        prediction=coded.get("prediction"),
        probabilities=matrix,
        resampled=resampled,
    )


def _column(frame: pd.DataFrame, role: str, name: str) -> pd.Series | None:
    if name not in frame.columns:
        if name != COLUMNS[role]:
            raise ValueError(f"{role}: no column {name!r}; the columns are {_listed(frame.columns)}")
        return None
    if missing := int(frame[name].isna().sum()):
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


def _classes(frame: pd.DataFrame, seen: dict[str, list], pattern: str, names: dict) -> tuple[list, np.ndarray | None]:
    """Return all classes in order, and their probabilities, one column per class."""
    if pattern.count("{}") != 1:
        raise ValueError(f"probability must be a pattern with one '{{}}' for the class, found {pattern!r}")
    spelled = {str(name): name for found in seen.values() for name in found}
    before, after = pattern.split("{}")
    columns = {}
    for name in frame.columns:
        middle = str(name)[len(before) : len(str(name)) - len(after)]
        fits = str(name) == before + middle + after and middle != ""
        if fits and (before or after or middle in spelled):  # the pattern "{}" alone fits every column
            columns[spelled.get(middle, middle)] = name
    if not columns:
        return _ordered(spelled.values()), None
    known = list(columns)
    if len(columns) == 1 and len(set(spelled.values()) | set(columns)) == 2:
        (missing,) = set(spelled.values()) - set(columns)
        known.append(missing)
    for role, found in seen.items():
        if strange := [name for name in found if name not in known]:
            raise ValueError(
                f"column {names[role]!r} holds {_listed(strange)}, which is no class: the classes, "
                f"{_listed(known)}, are those with a probability column {pattern!r}"
            )
    matrix = frame[list(columns.values())].to_numpy(dtype=float)
    if not np.isfinite(matrix).all() or matrix.min() < 0 or matrix.max() > 1 + ROUNDING:
        bad = (~np.isfinite(matrix) | (matrix < 0) | (matrix > 1 + ROUNDING)).any(axis=0)
        worst = [name for name, wrong in zip(columns.values(), bad, strict=True) if wrong]
        raise ValueError(f"probabilities must lie in [0, 1]; column(s) {_listed(worst)} hold others or missing values")
    if len(known) > len(columns):
        matrix = np.column_stack([matrix, 1 - matrix])
    elif (off := np.abs(matrix.sum(axis=1) - 1)).max() > ROUNDING:
        row = int(off.argmax())
        raise ValueError(
            f"probabilities must sum to 1 over the classes {_listed(known)}; {np.count_nonzero(off > ROUNDING)} row(s) "
            f"do not (row {row} sums to {matrix[row].sum():.4f})"
        )
    order = _ordered(known)
    return order, matrix[:, [known.index(name) for name in order]]


def _ordered(values) -> list:
    try:
        return sorted(values)
    except TypeError:  # names of several types have no order of their own
        return sorted(values, key=str)


def _listed(values) -> str:
    shown = [repr(value) for value in values]
    return ", ".join(shown[:12]) + (f" and {len(shown) - 12} more" if len(shown) > 12 else "")
