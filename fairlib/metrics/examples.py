"""From a tidy table of predictions to checked and coded columns: who is compared, what was true, what the model said.

Rows that are alike in all columns are counted first, in the engine that holds the table: everything after that costs
what the number of *distinct* rows costs. Columns that a table lacks are no error until a metric needs one.
"""

from dataclasses import dataclass, replace

import narwhals as nw
import numpy as np
import pandas as pd

from fairlib import tables
from fairlib.tables import COUNT, complete, listed
from fairlib.tables.coding import Columns, code, distinct, in_order, index

ACCUMULATED = (
    "accumulated"  # the name of the aggregate in results, so no group may carry it
)
ROLES = ("group", "label", "prediction", "source", "term")
FOR_AUDITS = ("threshold", "within", "compare", "cost", "weight")  # of `Columns`
ROWS = (
    "group",
    "term",
    "source",
    "unit",
    "label",
    "prediction",
    "probabilities",
    "count",
)  # arrays with a row each
BIN, USUAL = "fairlib: bin of ", Columns()
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
    term: (
        np.ndarray
    )  # (n,) identity terms; a word that two groups share counts as two terms
    term_group: np.ndarray  # (terms,)
    source: np.ndarray  # (n,) whole templates or originals: what is resampled together
    untied: bool  # whether single examples are resampled, for no source and no term ties them together
    unit: np.ndarray | None = (
        None  # (n,) what is held fixed while the group changes: the source, or a token of it
    )
    label: np.ndarray | None = None  # (n,)
    prediction: np.ndarray | None = None  # (n,)
    probabilities: np.ndarray | None = None  # (n, classes)
    count: np.ndarray | None = (
        None  # (n,) how many examples a row stands for; None for one each
    )

    def __len__(self) -> int:
        return len(self.group)

    @property
    def counted(self) -> bool:
        """Whether rows are numbers of examples that nothing ties together."""
        return self.count is not None and self.untied

    def need(self, column: str) -> np.ndarray:
        """Return a column's array, or say that it is missing."""
        if (found := getattr(self, column)) is None:
            spoken = {"probabilities": "probability columns", "unit": "a source column"}
            raise NotMeasurable(
                f"it needs {spoken.get(column, f'a {column} column')}, which the table lacks"
            )
        return found

    def only(self, keep: np.ndarray) -> "Examples":
        """Return the examples where `keep` is true, or those at its places; units without examples go with them."""
        kept = {
            name: array[keep]
            for name in ROWS
            if (array := getattr(self, name)) is not None
        }
        if self.unit is not None:
            kept["unit"] = np.unique(kept["unit"], return_inverse=True)[1]
        return replace(self, **kept)

    def check_units(self, *, one_label: bool) -> None:
        """Raise unless every unit has an example of every group and, if asked, a single label."""
        unit = self.need("unit")
        present = np.zeros((unit.max() + 1, len(self.groups)), dtype=bool)
        present[unit, self.group] = True
        if len(lacking := np.flatnonzero(~present.all(axis=1))):
            raise NotMeasurable(
                "a counterfactual metric compares every source across all groups, but "
                f"{len(lacking)} of {len(present)} lack a group (the first has no example of "
                f"{listed(self.groups[code] for code in np.flatnonzero(~present[lacking[0]]))})"
            )
        if one_label and (
            several := (pd.Series(self.need("label")).groupby(unit).nunique() > 1).sum()
        ):
            raise NotMeasurable(
                f"all variations of a source must have one label, but {several} source(s) have several"
            )


def read(
    table, columns: Columns = USUAL, *, classes=None, scores: bool = True
) -> Examples:
    """Check a tidy table (anything that `tables` reads), count rows that are alike, and code the columns.

    classes : which to measure, by default all. scores : whether probabilities are asked for; if not, they make no rows
    distinct.
    """
    if strange := [
        name for name in FOR_AUDITS if getattr(columns, name) != getattr(USUAL, name)
    ]:
        raise TypeError(f"{strange[0]} is for audits only")
    if (bins := columns.bins) is not None and not (isinstance(bins, int) and bins > 1):
        raise ValueError(f"bins must be a whole number from 2 on, found {bins!r}")
    known = tables.schema(table)
    columns, chances = (
        columns.among(known, ROLES, USUAL),
        probability_columns(columns.probability, known),
    )
    keys, derived = [name for role in ROLES if (name := getattr(columns, role))], {}
    asked = [*chances.values()] if scores else []
    for name in asked:
        tables.check_is_number(known, "probability", name)
        if bins:
            derived[BIN + name] = (
                (nw.col(name).cast(nw.Float64) * bins).floor().clip(0, bins - 1)
            )
    share = tables.Limits("probability", "lie in [0, 1]", 0, 1 + ROUNDING)
    how = {
        "derived": derived,
        "limits": dict.fromkeys(asked if bins else (), share),
        "count": columns.count,
    }
    kinds = tables.counts(table, [*keys, *(derived or asked)], **how)
    for name in how["limits"]:
        kinds[name] = (kinds[BIN + name] + 0.5) / bins
    return coded(kinds, columns, chances, classes=classes)


def coded(
    frame: pd.DataFrame,
    columns: Columns,
    chances: dict[str, str],
    *,
    classes=None,
    unit=None,
) -> Examples:
    """Check and code a frame whose rows are examples, or stand for as many as its column `COUNT` says.

    chances : the columns of probabilities, by class; the frame may lack them. unit : a column, if not the source.
    """
    found = {
        role: complete(frame, name)
        for role in ROLES
        if (name := getattr(columns, role)) in frame
    }
    if not len(frame):
        raise ValueError("predictions has no rows")
    codes = {role: code(found[role])[0] for role in ("source", "term") if role in found}
    group, groups = code(found["group"])
    if len(groups) < 2:
        raise ValueError(
            f"column {columns.group!r} holds one group only, {groups[0]!r}; a comparison needs two"
        )
    if ACCUMULATED in groups:
        raise ValueError(
            f"column {columns.group!r} may not hold {ACCUMULATED!r}, the name of the aggregate in results"
        )
    outcomes = {role: found[role] for role in ("label", "prediction") if role in found}
    known = _classes([*outcomes.values()], chances)
    one = isinstance(classes, str) or not np.iterable(classes)
    wanted = known if classes is None else [classes] if one else list(classes)
    if strange := [name for name in wanted if name not in known]:
        raise ValueError(
            f"classes: {listed(strange)} found, but the classes of the table are {listed(known)}"
        )
    return tied(
        groups=tuple(groups),
        classes=tuple(known),
        measured=tuple(known.index(name) for name in wanted),
        group=group,
        unit=codes.get("source") if unit is None else code(frame[unit])[0],
        probabilities=_probabilities(
            frame, known, chances, 0.5 / columns.bins if columns.bins else 0.0
        ),
        count=frame[COUNT].to_numpy(dtype=np.int64) if COUNT in frame else None,
        **{role: index(column, known) for role, column in outcomes.items()},
        **codes,
    )


def tied(
    *, groups: tuple, classes: tuple, measured: tuple[int, ...], **rows
) -> Examples:
    """Return examples, of the arrays `rows`, with what ties them: terms within their groups, whole sources, or nothing.

    They are put into an order of their own, for engines answer in any, and draws go row by row.
    """
    rows = {name: array for name, array in rows.items() if array is not None}
    keys = [
        rows[name]
        for name in ("prediction", "label", "source", "term", "group")
        if name in rows
    ]
    order = np.lexsort([*rows.get("probabilities", np.empty((0, 0))).T, *keys])
    if "count" in rows and rows["count"].sum() <= 2 * len(order):
        order = np.repeat(
            order, rows.pop("count")[order]
        )  # where hardly any two are alike, a row is an example
    rows = {name: array[order] for name, array in rows.items()}
    group, term, source = (rows.pop(name, None) for name in ("group", "term", "source"))
    terms, term_group, untied = (
        group,
        np.arange(len(groups)),
        term is None and source is None,
    )
    if untied:
        terms, term_group = np.arange(len(group)), group
    elif term is not None:
        pairs, terms = np.unique(group * (term.max() + 1) + term, return_inverse=True)
        term_group = pairs // (term.max() + 1)
    else:
        owner = np.zeros(source.max() + 1, dtype=np.int64)
        owner[source] = group
        if np.array_equal(
            owner[source], group
        ):  # all texts of one author, say, who belongs to one group
            terms, term_group, source = source, owner, None
    source = np.zeros(len(group), dtype=int) if source is None else source
    return Examples(
        groups, classes, measured, group, terms, term_group, source, untied, **rows
    )


def _classes(outcomes: list[pd.Series], chances: dict[str, str]) -> list:
    """Return all classes in order: those with a probability (one suffices for two), or else those that occur."""
    spelled = {str(name): name for name in distinct(outcomes)}
    known = {text: spelled.get(text, text) for text in chances} or spelled
    known |= spelled if len(chances) == 1 and len({**known, **spelled}) == 2 else {}
    for column in outcomes:
        if strange := [
            name for name in distinct([column]) if name not in known.values()
        ]:
            allowed = f"the classes, {listed(known.values())}, are those with a probability column, and of one type"
            raise ValueError(
                f"column {column.name!r} holds {listed(strange)}, which is no class: {allowed}"
            )
    return in_order(known.values())


def probability_columns(pattern: str, known) -> dict[str, str]:
    """Return the columns that fit a pattern such as "p_{}", by the text that stands for the class."""
    if pattern.count("{}") != 1 or pattern == "{}":
        raise ValueError(
            f"probability must be a pattern with one '{{}}' for the class, not alone, found {pattern!r}"
        )
    before, after = pattern.split("{}")
    middles = {
        str(name)[len(before) : len(str(name)) - len(after)]: name for name in known
    }
    return {
        text: name
        for text, name in middles.items()
        if text and str(name) == before + text + after
    }


def _probabilities(
    frame: pd.DataFrame, known: list, chances: dict[str, str], rounded: float
) -> np.ndarray | None:
    """Return the probabilities of all classes, one column each, where the frame has them; each is off by `rounded`."""
    if not chances or not {*chances.values()} <= {*frame}:
        return None
    chance = frame[[*chances.values()]].set_axis([*chances], axis=1).astype(float)
    fine = ((chance >= 0) & (chance <= 1 + ROUNDING)).all()  # NaN is not
    if not fine.all():
        worst = listed(chances[text] for text in fine.index[~fine])
        raise ValueError(
            f"probabilities must lie in [0, 1]; column(s) {worst} hold others or missing values"
        )
    for name in {*map(str, known)} - {*chances}:
        chance[name] = 1 - chance.sum(axis=1)
    sums = chance.sum(axis=1).to_numpy()
    if (off := np.abs(sums - 1)).max() > ROUNDING + rounded * len(known):
        raise ValueError(
            f"probabilities must sum to 1 over the classes {listed(known)}; {np.count_nonzero(off > ROUNDING)} kind(s) "
            f"of row do not (one sums to {sums[off.argmax()]:.4f})"
        )
    return chance[[*map(str, known)]].to_numpy()
