"""From a tidy table of predictions to checked arrays: who is compared, what was true, what the model said.

One row per example, or per kind of example with their number. Rows that are alike in all columns are counted first, in
the engine that holds the table: then everything costs what the number of *distinct* rows costs. Columns that a table
lacks are no error here; a metric that needs one says so when it asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from fairlib import coding, tables
from fairlib.tables import COUNT, listed

ACCUMULATED = "accumulated"  # the name of the aggregate in results, so no group may carry it
COLUMNS = {"group": "group", "label": "label", "prediction": "prediction", "source": "source", "term": "term"}
ROWS = ("group", "term", "source", "unit", "label", "prediction", "probabilities", "count")  # arrays with a row each
EXAMPLES = "examples"  # what is resampled where nothing ties them together


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
    columns = coding.probability_columns(probability, known)
    if probability == "{}":  # fits every column, so the classes must tell which are meant
        outcomes = [name for name in (label, prediction) if name in known]
        occurring = {str(value) for name in outcomes for value in tables.counts(table, [name], count=count)[name]}
        columns = {text: name for text, name in columns.items() if text in occurring}
    counted = coding.kinds(table, by, list(columns.values()) if scores else [], count, bins)
    examples = coded(counted, names, columns, classes=classes, rounded=0 if bins is None else 0.5 / bins)
    return examples.ordered() if examples.resampled == EXAMPLES or not isinstance(table, pd.DataFrame) else examples


def coded(
    frame: pd.DataFrame, names: dict[str, str], columns: dict, *, classes=None, unit=None, rounded=0.0
) -> Examples:
    """Check and code a frame whose rows are examples, or stand for as many as the column `COUNT` says.

    names : role -> column. columns : see `coding.probability_columns`; the frame may lack them if nobody needs them.
    unit : column that says what is held fixed while the group changes, if that is not the source.
    rounded : by how much each probability may be off.
    """
    found = {role: coding.column(frame, name) for role, name in names.items()}
    if len(frame) == 0:
        raise ValueError("predictions has no rows")
    group_code, groups = coding.codes(found["group"])
    if len(groups) < 2:
        raise ValueError(
            f"column {names['group']!r} holds one group only, {groups[0]!r}; a comparison needs two or more"
        )
    if ACCUMULATED in groups:
        raise ValueError(
            f"column {names['group']!r} may not hold {ACCUMULATED!r}: that is the name of the aggregate in results"
        )
    seen = {role: found[role].unique().tolist() for role in ("label", "prediction") if found[role] is not None}
    known, matrix = coding.classes(frame, seen, columns, names, rounded)
    one = isinstance(classes, str) or not np.iterable(classes)
    wanted = known if classes is None else [classes] if one else list(classes)
    if strange := [name for name in wanted if name not in known]:
        raise ValueError(f"classes: {listed(strange)} found, but the classes of the table are {listed(known)}")
    index = pd.Index(known, dtype=object)
    codes = {role: index.get_indexer(found[role].astype(object)) for role in seen}

    source_code = None if found["source"] is None else coding.codes(found["source"])[0]
    unit_code = source_code if unit is None else coding.codes(frame[unit])[0]
    if found["term"] is not None:
        spoken = coding.codes(found["term"])[0].astype(np.int64)
        pairs, term_code = np.unique(group_code * (spoken.max() + 1) + spoken, return_inverse=True)
        term_group = pairs // (spoken.max() + 1)
        resampled = "terms" if source_code is None else "sources and terms"
    elif source_code is None:  # nothing ties examples together: each one varies on its own
        term_code, term_group, resampled = np.arange(len(frame)), group_code, EXAMPLES
    elif (owner := coding.owners(source_code, group_code)) is not None:  # all texts of one author, say, stay together
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
