"""Check a table of predictions and turn its columns into arrays that metrics can use.

Equal rows are counted first, in the engine that holds the table. The cost of all later
work therefore grows with the number of *distinct* rows. Only the column of groups must
be there; any other column may be missing until a metric needs it.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace

import narwhals as nw
import numpy as np
from numpy import ndarray
from pandas import DataFrame, Series

from fairlib import tables
from fairlib.tables import COUNT, complete, listed
from fairlib.tables.coding import check_column, code, distinct, in_order, index

# The group of aggregates in results. No group of a table may have this name.
ACCUMULATED = "accumulated"
ROLES = ("group", "label", "prediction", "source", "term")
_OUTCOMES = ("label", "prediction")
# The arrays of `Examples` that have one entry per example.
_ARRAYS = (*ROLES, "unit", "probabilities", "count")
# Rows are sorted by these columns; the last one decides first, as in `numpy.lexsort`.
_ORDER = ("prediction", "label", "source", "term", "group")
_BIN_OF = "fairlib: bin of "
# Probabilities are often stored with few digits. Their sum may be off by this much.
_ROUNDING = 1e-3


class NotMeasurable(ValueError):
    """A metric needs something that the table does not have."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The names of the columns that metrics read, and how probabilities are read.

    A column that has its usual name, such as "label", may be missing from a table. A
    column with any other name must be there, and so must the column of groups.

    Parameters
    ----------
    group : str, default "group"
        The group of each example.
    label : str or None, default "label"
        The true class.
    prediction : str or None, default "prediction"
        The predicted class.
    source : str or None, default "source"
        The template or original sentence from which an example was made. Sources are
        resampled as a whole, and counterfactual metrics compare groups within them.
    term : str or None, default "term"
        The identity term that stands in the example, such as a name.
    probability : str, default "p_{}"
        Pattern of the columns of probabilities; ``{}`` stands for the class.
    count : str or None, default None
        How many examples a row stands for. None: each row is one example.
    bins : int or None, default None
        Put probabilities into so many bins of equal width, and use the middle of each
        bin. None: use probabilities as they are.
    """

    group: str = "group"
    label: str | None = "label"
    prediction: str | None = "prediction"
    source: str | None = "source"
    term: str | None = "term"
    probability: str = "p_{}"
    count: str | None = None
    bins: int | None = None

    def __post_init__(self) -> None:
        if self.bins is not None and not (isinstance(self.bins, int) and self.bins > 1):
            raise ValueError(
                f"bins must be a whole number from 2 on, found {self.bins!r}"
            )

    def present_in(self, known: nw.Schema) -> dict[str, str]:
        """Return the name of the column for each role that a table has.

        Parameters
        ----------
        known : narwhals.Schema
            The columns of the table, from `fairlib.tables.schema`.

        Raises
        ------
        ValueError
            If the table has no column of groups, or lacks a column that was named.
        """
        names = {}
        for role in ROLES:
            name = getattr(self, role)
            # The usual name of a column is that of its role.
            absent = name is None or (name == role and name not in known)
            if absent and role != "group":
                continue
            check_column(known, role, name)
            names[role] = name
        return names


_USUAL_COLUMNS = Columns()


@dataclass(frozen=True, eq=False, kw_only=True)
class Examples:
    """Checked arrays with one entry per example, or per kind of equal examples.

    Groups and classes are coded: an entry is an index into `groups` or `classes`. An
    array is None if the table has no such column.

    Attributes
    ----------
    groups : tuple
        Names of the groups, in the order of the column's categories or else sorted.
    classes : tuple
        All classes that a label or a prediction may name.
    measured : tuple of int
        Which classes are measured, as indices into `classes`.
    group : ndarray of int, shape (n,)
        The group of each example.
    term : ndarray of int, shape (n,)
        The identity term. A word that occurs in two groups counts as two terms.
    term_group : ndarray of int, shape (number of terms,)
        The group of each term.
    source : ndarray of int, shape (n,)
        The template or original: whole sources are resampled together.
    untied : bool
        Whether examples are resampled one by one, because neither a source nor a term
        ties any of them together.
    unit : ndarray of int, shape (n,), or None
        What stays fixed while the group changes: the source, or one token of it.
    label, prediction : ndarray of int, shape (n,), or None
        The true and the predicted class.
    probabilities : ndarray of float, shape (n, number of classes), or None
        The probability of each class.
    count : ndarray of int, shape (n,), or None
        How many examples an entry stands for. None: each entry is one example.
    """

    groups: tuple[Hashable, ...]
    classes: tuple[Hashable, ...]
    measured: tuple[int, ...]
    group: ndarray
    term: ndarray
    term_group: ndarray
    source: ndarray
    untied: bool
    unit: ndarray | None = None
    label: ndarray | None = None
    prediction: ndarray | None = None
    probabilities: ndarray | None = None
    count: ndarray | None = None

    def __len__(self) -> int:
        return len(self.group)

    @property
    def counted(self) -> bool:
        """Whether entries count examples that nothing ties together."""
        return self.count is not None and self.untied

    def need(self, name: str) -> ndarray:
        """Return an array by its name, or raise `NotMeasurable` if the table lacks it.

        Parameters
        ----------
        name : str
            Name of an attribute, such as "label".
        """
        array = getattr(self, name)
        if array is None:
            columns = {
                "probabilities": "probability columns",
                "unit": "a source column",
            }
            needed = columns.get(name, f"a {name} column")
            raise NotMeasurable(f"it needs {needed}, which the table lacks")
        return array

    def only(self, keep: ndarray) -> "Examples":
        """Return some of the examples.

        Units that have no example left are dropped, and the others are numbered anew.

        Parameters
        ----------
        keep : ndarray of bool or of int
            Which examples to keep: a mask, or their places.
        """
        arrays = {}
        for name in _ARRAYS:
            array = getattr(self, name)
            if array is not None:
                arrays[name] = array[keep]

        if self.unit is not None:
            arrays["unit"] = np.unique(arrays["unit"], return_inverse=True)[1]
        return replace(self, **arrays)

    def check_units(self, *, one_label: bool) -> None:
        """Raise `NotMeasurable` unless every unit has an example of every group.

        Parameters
        ----------
        one_label : bool
            Also demand that all examples of a unit have the same label.
        """
        unit = self.need("unit")
        has_group = np.zeros((unit.max() + 1, len(self.groups)), dtype=bool)
        has_group[unit, self.group] = True

        incomplete = np.flatnonzero(~has_group.all(axis=1))
        if len(incomplete):
            missing = np.flatnonzero(~has_group[incomplete[0]])
            raise NotMeasurable(
                "a counterfactual metric compares every source across all groups, but "
                f"{len(incomplete)} of {len(has_group)} lack a group (the first has no "
                f"example of {listed(self.groups[group] for group in missing)})"
            )

        if one_label:
            labels_per_unit = Series(self.need("label")).groupby(unit).nunique()
            mixed = (labels_per_unit > 1).sum()
            if mixed:
                raise NotMeasurable(
                    "all variations of a source must have one label, but "
                    f"{mixed} source(s) have several"
                )


def read(
    table: object,
    columns: Columns = _USUAL_COLUMNS,
    *,
    classes: Hashable | Iterable | None = None,
    scores: bool = True,
) -> Examples:
    """Check a table with one row per example, count equal rows, and code its columns.

    Parameters
    ----------
    table : frame, path or dataset
        Any table that `fairlib.tables` reads.
    columns : Columns, optional
        The names of the columns.
    classes : class or iterable of classes, optional
        Which classes to measure. By default all.
    scores : bool, default True
        Whether probabilities are needed. If not, they are not read, and more rows are
        equal.

    Returns
    -------
    examples : Examples

    Raises
    ------
    ValueError
        If a column is missing or holds something else than its role needs.
    """
    known = tables.schema(table)
    names = columns.present_in(known)
    probability_of = probability_columns(columns.probability, known)

    score_columns = list(probability_of.values()) if scores else []
    for name in score_columns:
        tables.check_is_number(known, "probability", name)

    keys = list(names.values())
    if columns.bins is None:
        kinds = tables.counts(table, [*keys, *score_columns], count=columns.count)
    else:
        kinds = _counts_in_bins(
            table, keys, score_columns, bins=columns.bins, count=columns.count
        )
    return coded(kinds, names, probability_of, classes=classes, bins=columns.bins)


def _counts_in_bins(
    table: object,
    keys: list[str],
    score_columns: list[str],
    *,
    bins: int,
    count: str | None,
) -> DataFrame:
    """Count rows that are equal once each probability is the middle of its bin."""
    bin_of = {
        _BIN_OF + name: (nw.col(name).cast(nw.Float64) * bins).floor().clip(0, bins - 1)
        for name in score_columns
    }
    allowed = tables.Limits("probability", "lie in [0, 1]", 0, 1 + _ROUNDING)
    kinds = tables.counts(
        table,
        [*keys, *bin_of],
        derived=bin_of,
        limits=dict.fromkeys(score_columns, allowed),
        count=count,
    )

    for name in score_columns:
        kinds[name] = (kinds[_BIN_OF + name] + 0.5) / bins
    return kinds


def coded(
    frame: DataFrame,
    names: Mapping[str, str],
    probability_of: Mapping[str, str],
    *,
    classes: Hashable | Iterable | None = None,
    unit: str | None = None,
    bins: int | None = None,
) -> Examples:
    """Check and code a frame whose rows are examples, or kinds of equal examples.

    Parameters
    ----------
    frame : DataFrame
        The rows. Its column `fairlib.tables.COUNT`, if any, says how many examples a
        row stands for.
    names : mapping of str to str
        The column that plays each role; all of them must be in the frame.
    probability_of : mapping of str to str
        The column of probabilities of each class, from `probability_columns`. Its keys
        say which classes there are, even if the frame lacks these columns.
    classes : class or iterable of classes, optional
        Which classes to measure. By default all.
    unit : str, optional
        The column of what stays fixed while the group changes. By default the source.
    bins : int, optional
        How many bins the probabilities were put into.

    Returns
    -------
    examples : Examples
    """
    values = {role: complete(frame, name) for role, name in names.items()}
    if not len(frame):
        raise ValueError("predictions has no rows")
    group, groups = _coded_groups(values.pop("group"))

    outcomes = [values[role] for role in _OUTCOMES if role in values]
    known = _known_classes(outcomes, probability_of)
    measured = _places(classes, known)

    codes = _codes(values, known)
    unit_codes = codes.get("source") if unit is None else code(frame[unit])[0]
    count = frame[COUNT].to_numpy(dtype=np.int64) if COUNT in frame else None
    return tied(
        groups=tuple(groups),
        classes=tuple(known),
        measured=measured,
        group=group,
        unit=unit_codes,
        probabilities=_probabilities(frame, known, probability_of, bins),
        count=count,
        **codes,
    )


def _coded_groups(column: Series) -> tuple[ndarray, list]:
    """Return the code of each row's group, and the names of the groups."""
    codes, groups = code(column)
    if len(groups) < 2:
        raise ValueError(
            f"column {column.name!r} holds one group only, {groups[0]!r}; "
            "a comparison needs two"
        )
    if ACCUMULATED in groups:
        raise ValueError(
            f"column {column.name!r} may not hold {ACCUMULATED!r}, "
            "the name of the aggregate in results"
        )
    return codes, groups


def _places(classes: Hashable | Iterable | None, known: list) -> tuple[int, ...]:
    """Return the places of the classes to measure among all classes."""
    if classes is None:
        wanted = known
    elif isinstance(classes, str) or not isinstance(classes, Iterable):
        wanted = [classes]
    else:
        wanted = list(classes)

    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ValueError(
            f"classes: {listed(unknown)} found, but the classes of the table are "
            f"{listed(known)}"
        )
    return tuple(known.index(name) for name in wanted)


def tied(
    *,
    groups: tuple[Hashable, ...],
    classes: tuple[Hashable, ...],
    measured: tuple[int, ...],
    **arrays: ndarray | None,
) -> Examples:
    """Sort coded rows and find out which of them vary together.

    Terms within their groups tie rows together, and so do whole sources. Rows are
    sorted because engines return them in any order, and random draws go row by row. If
    hardly any two examples are equal, a row for each example replaces the counts.

    Parameters
    ----------
    groups, classes, measured
        As in `Examples`.
    **arrays : ndarray or None
        `group` and any others of the arrays in `Examples` that have one entry per row.

    Returns
    -------
    examples : Examples
    """
    given = {name: array for name, array in arrays.items() if array is not None}
    rows = _sorted(given)
    group = rows.pop("group")
    word = rows.pop("term", None)
    source = rows.pop("source", None)

    term, term_group, drawn_source = _ties(len(groups), group, word, source)
    return Examples(
        groups=groups,
        classes=classes,
        measured=measured,
        group=group,
        term=term,
        term_group=term_group,
        source=drawn_source,
        untied=word is None and source is None,
        **rows,
    )


def _sorted(arrays: dict[str, ndarray]) -> dict[str, ndarray]:
    """Put rows into an order that does not depend on the engine that counted them."""
    keys = [arrays[name] for name in _ORDER if name in arrays]
    if "probabilities" in arrays:
        keys = [*arrays["probabilities"].T, *keys]
    order = np.lexsort(keys)

    names = list(arrays)
    if "count" in arrays and arrays["count"].sum() <= 2 * len(order):
        order = np.repeat(order, arrays["count"][order])
        names.remove("count")
    return {name: arrays[name][order] for name in names}


def _ties(
    groups: int, group: ndarray, word: ndarray | None, source: ndarray | None
) -> tuple[ndarray, ndarray, ndarray]:
    """Return the term of each row, the group of each term, the source of each row."""
    same_source = np.zeros(len(group), dtype=int)

    if word is not None:
        # A word that two groups share counts as two terms.
        words = word.max() + 1
        pairs, term = np.unique(group * words + word, return_inverse=True)
        return term, pairs // words, same_source if source is None else source

    if source is None:
        return np.arange(len(group)), group, same_source

    # A source that belongs to one group, such as all texts of an author, is a term.
    group_of_source = np.zeros(source.max() + 1, dtype=np.int64)
    group_of_source[source] = group
    if np.array_equal(group_of_source[source], group):
        return source, group_of_source, same_source
    return group, np.arange(groups), source


def _known_classes(outcomes: list[Series], probability_of: Mapping[str, str]) -> list:
    """Return all classes in order: all with a probability, or else all that occur."""
    occurring = {str(name): name for name in distinct(outcomes)}
    # The name of a column holds a class as text; in the table it may be a number.
    by_text = {text: occurring.get(text, text) for text in probability_of} or occurring
    # The probability of one of two classes is enough.
    together = {**by_text, **occurring}
    if len(probability_of) == 1 and len(together) == 2:
        by_text = together

    known = in_order(by_text.values())
    for column in outcomes:
        unknown = [name for name in distinct([column]) if name not in known]
        if unknown:
            raise ValueError(
                f"column {column.name!r} holds {listed(unknown)}, which is no class: "
                f"the classes, {listed(by_text.values())}, are those with a "
                "probability column, and of one type"
            )
    return known


def _codes(values: dict[str, Series], known: list) -> dict[str, ndarray]:
    """Code labels and predictions by class, and the other columns by their values."""
    codes = {}
    for role, column in values.items():
        if role in _OUTCOMES:
            codes[role] = index(column, known)
        else:
            codes[role] = code(column)[0]
    return codes


def probability_columns(pattern: str, known: Iterable) -> dict[str, str]:
    """Find the columns of probabilities, and the class that each of them names.

    Parameters
    ----------
    pattern : str
        The names of the columns, with ``{}`` for the class, such as "p_{}".
    known : iterable of column names
        All columns of the table.

    Returns
    -------
    dict
        The name of the column by the text that stands for the class.

    Examples
    --------
    >>> probability_columns("p_{}", ["group", "p_pos", "p_neg"])
    {'pos': 'p_pos', 'neg': 'p_neg'}
    """
    if pattern.count("{}") != 1 or pattern == "{}":
        raise ValueError(
            "probability must be a pattern with one '{}' for the class, not alone, "
            f"found {pattern!r}"
        )
    before, after = pattern.split("{}")

    name_of_class = {}
    for name in known:
        text = str(name)[len(before) : len(str(name)) - len(after)]
        if text and str(name) == before + text + after:
            name_of_class[text] = name
    return name_of_class


def _probabilities(
    frame: DataFrame,
    known: list,
    probability_of: Mapping[str, str],
    bins: int | None,
) -> ndarray | None:
    """Return the checked probabilities of all classes, or None if there are none."""
    names = list(probability_of.values())
    if not names or not {*names} <= {*frame}:
        return None
    scores = frame[names].set_axis(list(probability_of), axis=1).astype(float)

    # A missing value is in no range.
    valid = ((scores >= 0) & (scores <= 1 + _ROUNDING)).all()
    if not valid.all():
        wrong = [probability_of[text] for text in valid.index[~valid]]
        raise ValueError(
            f"probabilities must lie in [0, 1]; column(s) {listed(wrong)} hold others "
            "or missing values"
        )

    texts = [str(name) for name in known]
    for text in texts:
        if text not in scores:
            scores[text] = 1 - scores.sum(axis=1)

    # The middle of a bin is up to half a bin away from the probability.
    half_bin = 0.0 if bins is None else 0.5 / bins
    sums = scores.sum(axis=1).to_numpy()
    error = np.abs(sums - 1)
    if error.max() > _ROUNDING + half_bin * len(known):
        raise ValueError(
            f"probabilities must sum to 1 over the classes {listed(known)}; "
            f"{np.count_nonzero(error > _ROUNDING)} kind(s) of row do not "
            f"(one sums to {sums[error.argmax()]:.4f})"
        )
    return scores[texts].to_numpy()
