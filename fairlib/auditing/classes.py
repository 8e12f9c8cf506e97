"""Which classes the columns of labels and predictions hold, and which are measured."""

from dataclasses import dataclass
from typing import TypeGuard

from pandas import Series

from fairlib.auditing.attributes import label_text, spelled
from fairlib.auditing.codings import check_codings
from fairlib.auditing.setting import Columns
from fairlib.tables import listed
from fairlib.tables.coding import as_numbers, distinct

MOST_CLASSES = 100


@dataclass(frozen=True, kw_only=True)
class Classes:
    """The classes of an audit.

    Attributes
    ----------
    values : list
        The classes as the columns hold them, in order.
    names : tuple of str
        How they are written.
    positive : tuple of int
        The places of the classes that are measured, each against the rest.
    """

    values: list
    names: tuple[str, ...]
    positive: tuple[int, ...]


NO_CLASSES = Classes(values=[], names=(), positive=())


def as_one_type(outcomes: dict[str, Series], notes: list[str]) -> dict[str, Series]:
    """Read "1" and 1 as one class if they are in different columns, and "1" and "1.0".

    Parameters
    ----------
    outcomes : dict of str to Series
        The columns of classes by the part that they play.
    notes : list of str
        A remark is added where text and numbers are read as one class.
    """
    values_by_column = [distinct([column]) for column in outcomes.values()]
    is_text = {
        all(isinstance(value, str) for value in values) for values in values_by_column
    }

    if is_text == {True}:
        numbers = {role: as_numbers(column) for role, column in outcomes.items()}
        # Larger whole numbers look alike as floats.
        are_exact = all(
            column is not None and (column.abs() < 2**53).all()
            for column in numbers.values()
        )
        return numbers if are_exact else outcomes

    texts = [
        text for values in values_by_column for text in values if isinstance(text, str)
    ]
    others = [
        label_text(value)
        for values in values_by_column
        for value in values
        if not isinstance(value, str)
    ]
    if len(is_text) < 2 or not {*texts} & {*others}:
        return outcomes

    columns = " and ".join(repr(column.name) for column in outcomes.values())
    notes.append(
        f"Columns {columns} hold text and numbers; '1' and 1 are read as one class."
    )
    return {
        role: column.astype(object).map(label_text) for role, column in outcomes.items()
    }


def classes_of(
    outcomes: dict[str, Series], columns: Columns, positive: object
) -> Classes:
    """Return the classes of some columns, their names, and which are measured.

    Of two classes, the last in order is measured (1, True, "yes"); of more, each is.

    Parameters
    ----------
    outcomes : dict of str to Series
        The columns of classes by the part that they play.
    columns : Columns
        Which column plays which part.
    positive : object
        The class to be measured, or a name for 1 where the classes are 0 and 1.

    Raises
    ------
    ValueError
        If columns do not hold the same classes, or `positive` is none of them.
    """
    values = distinct(outcomes.values())
    held = " and ".join(repr(column.name) for column in outcomes.values())
    _check_there_are_few(outcomes)
    check_codings(outcomes)
    _check_probability_has_one_class(columns, values, held, positive)

    values = _with_the_class_of_the_threshold(outcomes, columns, values, positive)
    names = spelled(values)
    texts = [label_text(value) for value in values]

    if positive is None:
        last = len(values) - 1
        measured = [last] if len(values) <= 2 else [*range(len(values))]
    elif label_text(positive) in texts:
        measured = [texts.index(label_text(positive))]
    elif _is_a_name(positive) and texts in (["0", "1"], ["False", "True"]):
        names = [f"not {positive}", positive]
        measured = [1]
    else:
        raise ValueError(
            f"positive: no class {positive!r} in column(s) {held}; "
            f"they hold {listed(texts)}"
        )
    return Classes(values=values, names=tuple(names), positive=tuple(measured))


def _is_a_name(positive: object) -> TypeGuard[str]:
    """Whether a text is a name, and no number or truth value that is not in the data.

    "2" does not name the second class of 0 and 1; the user expected other data.
    """
    if not isinstance(positive, str):
        return False
    if positive.strip().casefold() in ("", "true", "false"):
        return False
    try:
        float(positive)
    except ValueError:
        return True
    return False


def _check_there_are_few(outcomes: dict[str, Series]) -> None:
    """Raise if a column holds so many values that they cannot be classes."""
    for role, column in outcomes.items():
        count = len(distinct([column]))
        if count > MOST_CLASSES:
            hint = ""
            if role == "prediction":
                hint = "; if these are probabilities, name it as probability"
            raise ValueError(
                f"column {column.name!r} has {count} different values, "
                f"too many for classes (at most {MOST_CLASSES}){hint}"
            )


def _check_probability_has_one_class(
    columns: Columns, values: list, held: str, positive: object
) -> None:
    """Raise if it is open to which of several classes the probabilities belong."""
    if not columns.probability or len(values) <= 2:
        return
    if columns.prediction is None or positive is None:
        raise ValueError(
            f"probability: column {columns.probability!r} holds that of one class, "
            f"and there are {len(values)} in {held}: {listed(values)}; "
            "name it as positive, beside a column of predictions"
        )


def _with_the_class_of_the_threshold(
    outcomes: dict[str, Series], columns: Columns, values: list, positive: object
) -> list:
    """Return the classes with those that no column of predictions has named."""
    if columns.prediction is not None:
        return values

    if not outcomes:
        threshold = f"{columns.threshold:g}"
        above = f"{threshold} or more" if positive is None else positive
        return [f"below {threshold}", above]

    # A label that happens to be constant still has another class.
    is_constant = len(values) == 1 and positive is not None
    if is_constant and label_text(positive) != label_text(values[0]):
        return [*values, positive]
    return values
