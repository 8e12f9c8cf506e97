"""Does a model make an association stronger than its training data had it?

An example has an attribute A (it shows a woman, a man) and a task T (it shows painting,
or not). The training data associate the two, and the *errors* of a model may follow
that association or go against it. `attribute_to_task` and `task_to_attribute` are
BiasAmp A->T and T->A of Wang and Russakovsky (2021), eq. (2). `mals` is BiasAmp_MALS of
Zhao et al. (2017), which Wang and Russakovsky restate as eq. (1).

A positive value means that the model amplifies what the training data associate, a
negative value that it weakens the association. A perfect model has 0. (The package
oxonfair 0.3 reports A->T with the opposite sign.)

Arrays have one row per example: n x |T| tasks and n x |A| attributes, 0 or 1, where
several may be 1 at once. They are read once, in O(n |A| |T|), and not copied.
`from_counts` takes counts in place of arrays, `from_table` takes columns of a table.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import narwhals as nw
import numpy as np
import pandas as pd
from numpy import ndarray
from numpy.typing import ArrayLike
from pandas import DataFrame, Series

from fairlib import tables
from fairlib.amplification import cooccurrence
from fairlib.amplification.cooccurrence import Counts, count
from fairlib.checks import check_word

_DIRECTIONS = ("A->T", "T->A", "MALS")
# The y_at of a pair whose attribute and task are exactly independent.
_TIES = {"negative": 0.0, "zero": 0.5}


def mals(
    task: ArrayLike,
    attribute: ArrayLike,
    task_predicted: ArrayLike,
    attribute_predicted: ArrayLike,
    *,
    pairs: bool = False,
) -> float | DataFrame:
    """Return BiasAmp_MALS, the older measure of bias amplification.

    It asks whether the groups that have most examples of a task are predicted to have
    even more of them. It cannot tell an error in the predicted task from an error in
    the predicted attribute, and it mistakes a large group for an associated group.

    BiasAmp_MALS = 1/|T| Σ_at y_at Δ_at

    y_at = 1[P(A_a = 1 | T_t = 1) > 1/|A|]

    Δ_at = P(Â_a = 1 | T̂_t = 1) - P(A_a = 1 | T_t = 1)

    Parameters
    ----------
    task : array_like, n x |T|
        Labels of the tasks. The paper takes the labels of the training data, which set
        y_at and P(A_a = 1 | T_t = 1).
    attribute : array_like, n x |A|
        Labels of the attributes of the same examples.
    task_predicted, attribute_predicted : array_like of 0 or 1
        The predictions, m x |T| and m x |A|. They may be about other examples.
    pairs : bool, default False
        Whether to return a row per attribute and task, see `from_counts`.

    Returns
    -------
    float or DataFrame
        The sum over the attributes, averaged over the tasks; or the table of pairs.

    References
    ----------
    Zhao et al. (2017); Wang and Russakovsky (2021), eq. (1).

    Examples
    --------
    Two thirds of those who paint are women; the model predicts only women to paint.

    >>> women_and_men = [[1, 0], [1, 0], [0, 1], [1, 0]]
    >>> mals([[1], [1], [1], [0]], women_and_men, [[1], [1], [0], [0]], women_and_men)
    0.33333333333333337
    """
    predicted = count(
        task_predicted,
        attribute_predicted,
        named=("task_predicted", "attribute_predicted"),
    )
    return from_counts("MALS", count(task, attribute), predicted, pairs=pairs)


def attribute_to_task(
    task: ArrayLike,
    attribute: ArrayLike,
    task_predicted: ArrayLike,
    *,
    train: Counts | Sequence[ArrayLike] | None = None,
    pairs: bool = False,
) -> float | DataFrame:
    """Return BiasAmp A->T: does the attribute sway the prediction of the task?

    The value is positive if the model predicts a task more often for the groups that
    the training data associate with it, and less often for the others.

    BiasAmp_A->T = 1/(|A| |T|) Σ_at y_at Δ_at + (1 - y_at)(-Δ_at)

    y_at = 1[P(A_a = 1, T_t = 1) > P(A_a = 1) P(T_t = 1)]

    Δ_at = P(T̂_t = 1 | A_a = 1) - P(T_t = 1 | A_a = 1)

    Parameters
    ----------
    task : array_like, n x |T|
        Labels of the tasks in the test set.
    attribute : array_like, n x |A|
        Labels of the attributes.
    task_predicted : array_like, n x |T|
        Predicted tasks, 0 or 1, or their probabilities.
    train : (task, attribute) or Counts, optional
        The training data, which set y_at. Without them the test labels set it, and that
        is another measure: errors in y_at are then correlated with errors in Δ_at.
    pairs : bool, default False
        Whether to return a row per attribute and task, see `from_counts`.

    Returns
    -------
    float or DataFrame
        The mean over all pairs of an attribute and a task, or the table of pairs.

    References
    ----------
    Wang and Russakovsky (2021), eq. (2).

    Examples
    --------
    Only the women paint; the model says that one of the men paints, too.

    >>> women_and_men = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> attribute_to_task([[1], [1], [0], [0]], women_and_men, [[1], [1], [1], [0]])
    -0.25
    """
    labels, predicted = counts_of("A->T", task, attribute, task_predicted)
    return from_counts("A->T", labels, predicted, train=train, pairs=pairs)


def task_to_attribute(
    task: ArrayLike,
    attribute: ArrayLike,
    attribute_predicted: ArrayLike,
    *,
    train: Counts | Sequence[ArrayLike] | None = None,
    pairs: bool = False,
) -> float | DataFrame:
    """Return BiasAmp T->A: does the task sway the prediction of the attribute?

    The value is positive if the model sees a group more often in examples of the tasks
    that the training data associate with it, and less often in examples of the others.

    The formula is that of `attribute_to_task`, with

    Δ_at = P(Â_a = 1 | T_t = 1) - P(A_a = 1 | T_t = 1)

    Parameters
    ----------
    task : array_like, n x |T|
        Labels of the tasks in the test set.
    attribute : array_like, n x |A|
        Labels of the attributes.
    attribute_predicted : array_like, n x |A|
        Predicted attributes, 0 or 1, or their probabilities.
    train : (task, attribute) or Counts, optional
        The training data, which set y_at, as in `attribute_to_task`.
    pairs : bool, default False
        Whether to return a row per attribute and task, see `from_counts`.

    Returns
    -------
    float or DataFrame
        The mean over all pairs of an attribute and a task, or the table of pairs.

    References
    ----------
    Wang and Russakovsky (2021), eq. (2).

    Examples
    --------
    Two women and a man paint; the model takes the man for a woman.

    >>> women_and_men = [[1, 0], [1, 0], [0, 1], [1, 0]]
    >>> task_to_attribute([[1], [1], [1], [0]], women_and_men, [[1, 0]] * 4)
    -0.33333333333333337
    """
    labels, predicted = counts_of("T->A", task, attribute, attribute_predicted)
    return from_counts("T->A", labels, predicted, train=train, pairs=pairs)


def from_counts(
    direction: str,
    labels: Counts,
    predicted: Counts,
    *,
    train: Counts | Sequence[ArrayLike] | None = None,
    ties: str = "negative",
    pairs: bool = False,
) -> float | DataFrame:
    """Return any of the three measures of bias amplification, from counts.

    Parameters
    ----------
    direction : "A->T", "T->A" or "MALS"
        Which measure.
    labels : Counts
        The labels.
    predicted : Counts
        For "A->T", the attributes with the predicted tasks; for "T->A", the predicted
        attributes with the tasks; for "MALS", both predictions.
    train : (task, attribute) or Counts, optional
        The training data, which set y_at, as in `attribute_to_task`.
    ties : "negative" or "zero", default "negative"
        What an exactly independent pair counts, as in `directions`.
    pairs : bool, default False
        Whether to return the table of pairs instead of the mean.

    Returns
    -------
    float or DataFrame
        The mean over the pairs; for "MALS", the sum over the attributes and the mean
        over the tasks. Pairs that are undefined are left out, and a warning counts
        them. The table has a row per attribute and task with the columns

        - y: 1 if the training data associate the two, 0 if not, 0.5 for a tie that
          counts nothing,
        - delta: Δ_at,
        - amplification: y Δ + (1 - y)(-Δ), or y Δ for "MALS",
        - n: the number of examples on which the model's probability is conditioned,
        - reason: why the pair is undefined, or "".

    References
    ----------
    Wang and Russakovsky (2021), eq. (1) and (2).

    Examples
    --------
    Of 40 women 30 paint, and of 40 men 10; the model says that all the women paint.

    >>> labels = Counts(80, [40, 40], [40], [[30], [10]])
    >>> from_counts("A->T", labels, Counts(80, [40, 40], [50], [[40], [10]]))
    0.125
    """
    table = pairs_of(direction, labels, predicted, train=train, ties=ties)
    if not pairs:
        return mean_of(direction, table)

    names = pd.MultiIndex.from_product(
        [labels.attributes, labels.tasks], names=["attribute", "task"]
    )
    columns = {
        "y": table.y.ravel(),
        "delta": table.delta.ravel(),
        "amplification": table.amplification.ravel(),
        "n": table.n.ravel(),
        "reason": table.reason.ravel(),
    }
    return DataFrame(columns, index=names).reset_index()


def from_table(
    direction: str,
    table,
    *,
    task: str | Sequence[str],
    attribute: str | Sequence[str],
    predicted: str | Sequence[str],
    train=None,
    count: str | None = None,
    pairs: bool = False,
) -> float | DataFrame:
    """Return bias amplification from the columns of a table.

    Parameters
    ----------
    direction : "A->T" or "T->A"
        Which measure.
    table : frame or path
        Anything that `fairlib.tables` reads.
    task, attribute : str or sequence of str
        The columns of labels.
    predicted : str or sequence of str
        The columns of the predicted tasks ("A->T") or attributes ("T->A"), in the order
        of the labels.
    train : frame, path or Counts, optional
        A table with the same columns of labels, or counts, which set y_at.
    count : str, optional
        The column with the number of examples that a row stands for. It is used in
        `train`, too, if `train` has it.
    pairs : bool, default False
        Whether to return a row per attribute and task, see `from_counts`.

    Returns
    -------
    float or DataFrame
        The mean over all pairs, or the table of pairs.

    Notes
    -----
    The engine that holds the table counts the examples. It hands over a row for each
    combination of values: few rows for labels, but one row per example if the
    predictions are probabilities.

    Examples
    --------
    >>> people = pd.DataFrame({
    ...     "woman": [1, 0], "paints": [1, 0], "p_paints": [0.9, 0.2],
    ...     "people": [30, 50],
    ... })
    >>> columns = {"task": "paints", "attribute": "woman", "predicted": "p_paints"}
    >>> round(from_table("A->T", people, **columns, count="people"), 12)
    -0.1
    """
    roles = {"task": task, "attribute": attribute}
    columns = _columns(table, roles | {"predicted": predicted}, count)
    labels, with_predictions = counts_of(direction, **columns)

    if train is None or isinstance(train, Counts):
        training_counts = train
    else:
        count_in_train = count if count in tables.schema(train) else None
        training_columns = _columns(train, roles, count_in_train)
        training_counts = cooccurrence.count(**training_columns)

    return from_counts(
        direction, labels, with_predictions, train=training_counts, pairs=pairs
    )


def directions(
    train: Counts, *, direction: str = "A->T", ties: str = "negative"
) -> ndarray:
    """Return y_at: which attributes and tasks the data associate with each other.

    Parameters
    ----------
    train : Counts
        The data, usually the training data.
    direction : "A->T", "T->A" or "MALS", default "A->T"
        For whose measure. "A->T" and "T->A" have the same y_at, eq. (2). "MALS" has
        that of eq. (1), which is 1 where an attribute has more than its equal share
        1/|A| of a task.
    ties : "negative" or "zero", default "negative"
        What becomes of a pair that is exactly independent: "negative" gives 0, as eq.
        (2) has it; "zero" gives 0.5, as the authors' code has it, and the pair counts
        nothing. Eq. (1) has no such choice: an exactly equal share gives 0.

    Returns
    -------
    ndarray, |A| x |T|
        1 where attribute and task are associated, 0 where they are not, NaN where the
        data cannot show it: an attribute or a task that never varies, and for "MALS" a
        task that never occurs.

    Notes
    -----
    Products of counts are compared, not quotients. Counts are whole numbers, so that
    independence is recognised exactly.

    References
    ----------
    Wang and Russakovsky (2021), eq. (1) and (2).

    Examples
    --------
    >>> counts = Counts(80, [40, 40], [40, 20], [[30, 10], [10, 10]])
    >>> directions(counts, ties="zero").tolist()
    [[1.0, 0.5], [0.0, 0.5]]
    """
    check_word("ties", ties, _TIES)
    check_word("direction", direction, _DIRECTIONS)

    if direction == "MALS":
        groups = len(train.attribute)
        if groups < 2:
            raise ValueError(
                "attribute must have a column per group, at least 2 for MALS "
                "(1/|A| would be 1), found 1"
            )
        y = np.where(groups * train.joint > train.task, 1.0, 0.0)
        return np.where(train.task > 0, y, np.nan)

    together = train.n * train.joint
    if_independent = np.outer(train.attribute, train.task)
    y = np.where(together == if_independent, _TIES[ties], 0.0)
    y = np.where(together > if_independent, 1.0, y)

    constant_attribute = (train.attribute == 0) | (train.attribute == train.n)
    constant_task = (train.task == 0) | (train.task == train.n)
    undefined = np.logical_or.outer(constant_attribute, constant_task)
    return np.where(undefined, np.nan, y)


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """The table of pairs of an attribute and a task, |A| x |T| each."""

    y: ndarray
    delta: ndarray
    amplification: ndarray
    n: ndarray
    reason: ndarray

    @property
    def defined(self) -> ndarray:
        """Whether a pair has a value."""
        return self.reason == ""


def pairs_of(
    direction: str,
    labels: Counts,
    predicted: Counts,
    *,
    train: Counts | Sequence[ArrayLike] | None,
    ties: str = "negative",
) -> Pairs:
    """Compute y_at, Δ_at and the amplification of each pair."""
    reference = labels if train is None else _training_counts(train)
    _check_alike(labels, predicted, reference)
    y = directions(reference, direction=direction, ties=ties)

    if direction == "A->T":
        delta = predicted.task_given_attribute - labels.task_given_attribute
        condition = predicted.attribute[:, None]
        never = "attribute never occurs"
    elif direction == "T->A":
        delta = predicted.attribute_given_task - labels.attribute_given_task
        condition = predicted.task
        never = "task never occurs"
    else:
        delta = predicted.attribute_given_task - reference.attribute_given_task
        condition = predicted.task
        never = "task never occurs or is predicted"

    # MALS looks only at pairs that are associated.
    amplification = y * delta
    if direction != "MALS":
        amplification = y * delta + (1 - y) * -delta

    one_sided = "task or attribute does not vary in the training data"
    reason = np.where(np.isnan(y), one_sided, "")
    reason = np.where(np.isnan(delta), never, reason)
    return Pairs(
        y=y,
        delta=delta,
        amplification=amplification,
        n=np.broadcast_to(condition, y.shape),
        reason=reason,
    )


def _training_counts(train: Counts | Sequence[ArrayLike]) -> Counts:
    """Return the counts of the training data, which may be a pair of arrays."""
    if isinstance(train, Counts):
        return train

    # An array of two rows would pass as a pair, if its type were not looked at.
    if not isinstance(train, tuple | list) or len(train) != 2:
        raise ValueError(
            f"train must be (task, attribute) or Counts, found {type(train).__name__}"
        )
    task, attribute = train
    return count(task, attribute)


def _check_alike(labels: Counts, predicted: Counts, reference: Counts) -> None:
    """Raise an error unless all counts are about the same attributes and tasks."""
    for counts in (predicted, reference):
        if counts.joint.shape != labels.joint.shape:
            raise ValueError(
                "labels, predictions and training data must have the same |A| x |T|, "
                f"found {labels.joint.shape} and {counts.joint.shape}"
            )

    for kind in ("attributes", "tasks"):
        names = getattr(labels, kind)
        names_in_training = getattr(reference, kind)
        numbers = tuple(range(len(names)))  # these stand where nobody gave names
        unnamed = numbers in (names, names_in_training)
        if names != names_in_training and not unnamed:
            raise ValueError(
                f"train must have the same {kind} in the same order, "
                f"found {names_in_training} beside {names}"
            )


def mean_of(direction: str, table: Pairs) -> float:
    """Return the mean over the pairs that are defined, and warn of the others."""
    defined = table.defined
    if not defined.all():
        reasons, counts = np.unique(table.reason[~defined], return_counts=True)
        why = "; ".join(
            f"{number}: {reason}"
            for reason, number in zip(reasons, counts, strict=True)
        )
        warnings.warn(
            f"{(~defined).sum()} of {defined.size} pairs are undefined and left out "
            f"({why})",
            stacklevel=4,
        )
    if not defined.any():
        return float("nan")

    # MALS is a mean over the tasks of a sum over the attributes. For a task, either all
    # attributes are defined or none.
    size = defined.any(axis=0).sum() if direction == "MALS" else defined.sum()
    return float(table.amplification[defined].sum() / size)


def counts_of(
    direction: str,
    task: ArrayLike,
    attribute: ArrayLike,
    predicted: ArrayLike,
    *,
    weight: ArrayLike | None = None,
) -> tuple[Counts, Counts]:
    """Count the labels, and then the labels with one side replaced by predictions."""
    check_word("direction", direction, _DIRECTIONS[:2])
    labels = count(task, attribute, weight=weight)

    if direction == "A->T":
        names = ("task_predicted", "attribute")
        return labels, count(predicted, attribute, named=names, weight=weight)
    names = ("task", "attribute_predicted")
    return labels, count(task, predicted, named=names, weight=weight)


def _columns(
    table, roles: Mapping[str, str | Sequence[str]], count: str | None
) -> dict[str, DataFrame | Series]:
    """Return the distinct rows of a table by the roles of their columns.

    The entry "weight" is the number of examples that each row stands for.
    """
    names_by_role = {
        role: [names] if isinstance(names, str) else list(names)
        for role, names in roles.items()
    }
    role_of = {name: role for role, names in names_by_role.items() for name in names}

    schema = tables.schema(table)
    for name, role in role_of.items():
        tables.check_is_number(schema, role, name, besides=(nw.Boolean, nw.Object))

    rows = tables.counts(table, list(role_of), count=count)
    if rows.empty:
        raise ValueError("the table has no rows, or all of them stand for 0 examples")

    columns = {role: rows[names] for role, names in names_by_role.items()}
    columns["weight"] = rows[tables.COUNT]
    return columns
