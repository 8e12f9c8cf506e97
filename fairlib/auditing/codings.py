"""Whether labels and predictions write the same classes in the same way.

If labels are -1 and 1 and predictions 0 and 1, then every case of the first class
counts as an error. Nothing else in an audit would notice, so such columns are refused.
"""

import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from itertools import combinations

import pandas as pd
from pandas import Series

from fairlib.auditing.attributes import label_text
from fairlib.tables import listed
from fairlib.tables.coding import distinct

_FIRST_ROUNDED_NUMBER = 2.0**53  # larger whole numbers look alike as floats
_ADVICE = (
    "write the same classes in the same way in both columns; if there are more classes "
    "than these, make both columns pandas categories that list all of them"
)


def check_codings(outcomes: Mapping[str, Series]) -> None:
    """Raise unless all columns of classes can be meant to hold the same classes.

    A column need not hold all classes. A prediction may be constant, a rare class may
    never be predicted, and there may be more classes than two.

    Parameters
    ----------
    outcomes : mapping of str to Series
        The columns of classes by the part that they play.

    Raises
    ------
    ValueError
        If two columns do not match.
    """
    for first, second in combinations(outcomes.values(), 2):
        if _have_the_same_categories(first, second):
            continue
        problem = _mismatch(distinct([first]), distinct([second]))
        if problem:
            raise ValueError(
                f"columns {first.name!r} and {second.name!r} {problem}: "
                f"{first.name!r} holds {listed(distinct([first]))}, "
                f"{second.name!r} holds {listed(distinct([second]))}; {_ADVICE}"
            )


def note_strange_classes(outcomes: Mapping[str, Series], notes: list[str]) -> None:
    """Add a note for each column of predictions with classes that no label is.

    Parameters
    ----------
    outcomes : mapping of str to Series
        The columns of classes by the part that they play.
    notes : list of str
        The notes to which this function adds.
    """
    if "label" not in outcomes:
        return
    label = outcomes["label"]
    true_classes = distinct([label])

    for role, column in outcomes.items():
        strange = [value for value in distinct([column]) if value not in true_classes]
        # Two classes need no remark: all labels are 0, say.
        if role != "label" and strange and len(true_classes) + len(strange) > 2:
            notes.append(
                f"Column {column.name!r} holds {listed(strange)}, "
                f"which column {label.name!r} never does."
            )


def _have_the_same_categories(first: Series, second: Series) -> bool:
    """Whether two columns declare all their classes, and they are the same."""
    kinds = [column.dtype for column in (first, second)]
    if not all(isinstance(kind, pd.CategoricalDtype) for kind in kinds):
        return False
    one, other = kinds
    return {*one.categories} == {*other.categories}


def _mismatch(first: list, second: list) -> str:
    """Say why the values of two columns cannot be the same classes, or nothing."""
    shared = {*first} & {*second}
    only_first = {*first} - shared
    only_second = {*second} - shared
    if not only_first or not only_second:
        return ""

    if {*map(_plain, only_first)} & {*map(_plain, only_second)}:
        return (
            "hold classes that differ only in how they are written (upper and lower "
            "case, blanks, zeros)"
        )
    if not shared:
        # Two classes may be apart: all labels are 0, say, and all predictions 1.
        kinds = {isinstance(value, str) for value in first + second}
        are_constant = len(first) == len(second) == 1 and len(kinds) == 1
        return "" if are_constant else "have no class in common"
    if len(first) == len(second) == 2:
        return "hold two classes each, but not the same two"
    if _are_shifted(first, second):
        return "hold the same whole numbers, but shifted"
    return ""


def _plain(value: object) -> str:
    """Write a value without what a reader may overlook: case, blanks and zeros."""
    text = value if isinstance(value, str) else label_text(value)
    plain = "".join(unicodedata.normalize("NFKC", text).casefold().split())
    with suppress(ValueError):
        number = float(plain)
        if abs(number) < _FIRST_ROUNDED_NUMBER:
            return label_text(number)
    return plain


def _are_shifted(first: list, second: list) -> bool:
    """Whether two columns number the same classes from different numbers on."""
    if len(first) != len(second):
        return False
    try:
        numbers = sorted(map(float, first))
        other_numbers = sorted(map(float, second))
    except (TypeError, ValueError):
        return False

    shifts = {b - a for a, b in zip(numbers, other_numbers, strict=True)}
    return len(shifts) == 1 and all(shift.is_integer() for shift in shifts)
