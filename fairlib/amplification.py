"""Bias amplification: does a model make the association of attribute and task stronger than its training data had it?

An example has an attribute A (a woman, a man) and a task T (painting or not). The training data associate the two; a
model's *errors* may follow that association or go against it. `attribute_to_task` and `task_to_attribute` are
BiasAmp A->T and T->A of Wang & Russakovsky (2021), eq. (2); `mals` is BiasAmp_MALS of Zhao et al. (2017), eq. (1).

The sign: **positive is amplification** of what the training data associate, negative is reduction, and a perfect model
has 0. (oxonfair 0.3 reports A->T with the opposite sign.)

Arrays have one row per example: n x |T| tasks and n x |A| attributes, 0 or 1, where several may be 1 at once. Data
frames lend their columns' names to the tables of pairs. `from_counts` takes counts in place of arrays.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

DIRECTIONS = ("A->T", "T->A", "MALS")
TIES = {"negative": 0.0, "zero": 0.5}  # the y_at of a pair that is exactly independent
ROWS = 1 << 15  # examples converted at a time: bounds the memory, and keeps float32 counts exact


@dataclass(frozen=True)
class Counts:
    """How many of `n` examples have each attribute (|A|), each task (|T|), and both at once (|A| x |T|).

    Counts may be sums of weights or of probabilities, or rates: with `joint` P(T = 1 | A = 1), `attribute` is all ones.
    """

    n: float
    attribute: np.ndarray
    task: np.ndarray
    joint: np.ndarray
    attributes: tuple = ()  # names
    tasks: tuple = ()

    def __post_init__(self) -> None:
        for name in ("attribute", "task", "joint"):
            values = np.asarray(getattr(self, name), dtype=float)
            if not np.all(values >= 0):  # also False for NaN
                raise ValueError(f"{name} must be counts of at least 0, found {values[~(values >= 0)][0]}")
            object.__setattr__(self, name, values)
        shape = (self.attribute.size, self.task.size)
        if self.joint.shape != shape:
            raise ValueError(f"joint must have the shape |A| x |T| = {shape}, found {self.joint.shape}")
        for name, size in zip(("attributes", "tasks"), shape, strict=True):
            names = tuple(getattr(self, name)) or tuple(range(size))
            if len(names) != size:
                raise ValueError(f"{name} must name {size} columns, found {len(names)} names")
            object.__setattr__(self, name, names)

    @property
    def task_given_attribute(self) -> np.ndarray:
        """P(T_t = 1 | A_a = 1), |A| x |T|; NaN where an attribute never occurs."""
        return _ratio(self.joint, self.attribute[:, None])

    @property
    def attribute_given_task(self) -> np.ndarray:
        """P(A_a = 1 | T_t = 1), |A| x |T|; NaN where a task never occurs."""
        return _ratio(self.joint, self.task[None, :])


def attribute_to_task(task, attribute, task_predicted, *, train=None, ties="negative", pairs=False):
    """BiasAmp A->T: by how much knowing the attribute moves the *task prediction* the way the training data lean.

    Mean over all pairs of y_at Δ_at + (1 - y_at)(-Δ_at), where Δ_at = P(T̂_t = 1 | A_a = 1) - P(T_t = 1 | A_a = 1) on
    the test set, and y_at = 1 where P(A_a = 1, T_t = 1) > P(A_a = 1) P(T_t = 1) (eq. 2).

    task, attribute : labels, n x |T| and n x |A|.
    task_predicted : n x |T|, 0/1 or probabilities.
    train : (task, attribute) or `Counts` of the training data, which set the direction y_at; without it the test labels
        do, and then the value is another one: an error in the direction correlates with an error in Δ.
    ties : "negative" as eq. (2) has it (an independent pair has y_at = 0), or "zero" as the authors' code has it (the
        pair adds nothing). Counts are compared as integers, so that independence is exact.
    pairs : return the table of pairs instead, see `from_counts`.

    One matrix product over the examples, O(n |A| |T|), no copy of the input.

    >>> amplification = attribute_to_task([[1], [1], [0], [0]], [[1, 0], [1, 0], [0, 1], [0, 1]], [[1], [1], [1], [0]])
    >>> float(amplification)  # women paint, men do not; one man is now said to paint: less of an association
    -0.25
    """
    labels = _count(task=task, attribute=attribute)
    predicted = _count(task_predicted=task_predicted, attribute=attribute, probabilities=True)
    return from_counts("A->T", labels, predicted, train=train, ties=ties, pairs=pairs)


def task_to_attribute(task, attribute, attribute_predicted, *, train=None, ties="negative", pairs=False):
    """BiasAmp T->A: by how much the task moves the *prediction of the attribute* the way the training data lean.

    As `attribute_to_task`, with Δ_at = P(Â_a = 1 | T_t = 1) - P(A_a = 1 | T_t = 1) (eq. 2).
    """
    labels = _count(task=task, attribute=attribute)
    predicted = _count(task=task, attribute_predicted=attribute_predicted, probabilities=True)
    return from_counts("T->A", labels, predicted, train=train, ties=ties, pairs=pairs)


def mals(task, attribute, task_predicted, attribute_predicted, *, pairs=False):
    """BiasAmp_MALS: are the groups that hold most of a task predicted to hold more of it?

    1/|T| times the sum over pairs of y_at Δ_at, where Δ_at = P(Â_a = 1 | T̂_t = 1) - P(A_a = 1 | T_t = 1) and
    y_at = 1 where P(A_a = 1 | T_t = 1) > 1/|A| (eq. 1). It cannot tell an error in T̂ from an error in Â, and it takes
    a large group for a correlated one.

    task, attribute : labels, by the paper's choice those of the training data; they set y_at and P(A_a = 1 | T_t = 1).
    task_predicted, attribute_predicted : 0/1; they may be of other examples, as many as there are.
    """
    labels = _count(task=task, attribute=attribute)
    predicted = _count(task_predicted=task_predicted, attribute_predicted=attribute_predicted)
    return from_counts("MALS", labels, predicted, pairs=pairs)


def from_counts(direction, labels, predicted, *, train=None, ties="negative", pairs=False):
    """Bias amplification from counts instead of arrays: in one place, all three metrics.

    direction : "A->T", "T->A" or "MALS".
    labels : `Counts` of the true attribute with the true task.
    predicted : `Counts` of the true attribute with the predicted task (A->T), of the predicted attribute with the true
        task (T->A), or of both predictions (MALS).
    train, ties, pairs : as in `attribute_to_task`.

    Returns the mean over the pairs, or with `pairs` one row per (attribute, task): y (1, 0, or 0.5 for a tie that
    counts zero), delta, amplification (yΔ + (1 - y)(-Δ); yΔ for MALS), n (the examples on which the model's
    probability is conditioned), uncertain (whether the training data leave the direction open at 95 %), and reason
    where the pair is undefined (NaN). Undefined pairs are left out of the mean, with a warning that counts them.
    """
    columns = _pairs(direction, labels, predicted, train=train, ties=ties)
    if pairs:
        names = pd.MultiIndex.from_product([labels.attributes, labels.tasks], names=["attribute", "task"])
        return pd.DataFrame({name: values.ravel() for name, values in columns.items()}, index=names).reset_index()
    defined = columns["reason"] == ""
    if not defined.all():
        reasons, counts = np.unique(columns["reason"][~defined], return_counts=True)
        why = "; ".join(f"{count}: {reason}" for reason, count in zip(reasons, counts, strict=True))
        warnings.warn(f"{(~defined).sum()} of {defined.size} pairs are undefined and left out ({why})", stacklevel=3)
    if not defined.any():
        return float("nan")
    total = columns["amplification"][defined].sum()
    # For MALS a mean over tasks of a sum over attributes, all of which are defined for a task or none.
    return float(total / (defined.any(axis=0).sum() if direction == "MALS" else defined.sum()))


def directions(train: Counts, *, direction="A->T", ties="negative") -> np.ndarray:
    """Return y_at, |A| x |T|: 1 where the data associate attribute and task, 0 where not; NaN where they cannot say."""
    if ties not in TIES:
        raise ValueError(f"ties must be one of {', '.join(TIES)}, found {ties!r}")
    if direction not in DIRECTIONS:
        raise ValueError(f"direction must be one of {', '.join(DIRECTIONS)}, found {direction!r}")
    if direction == "MALS":
        if len(train.attribute) < 2:
            raise ValueError("attribute must have a column per group, at least 2 for MALS (1/|A| would be 1), found 1")
        y = np.where(len(train.attribute) * train.joint > train.task, 1.0, 0.0)
        return np.where(train.task > 0, y, np.nan)
    together, expected = train.n * train.joint, np.outer(train.attribute, train.task)
    y = np.where(together > expected, 1.0, np.where(together == expected, TIES[ties], 0.0))
    return np.where(_constant(train.attribute, train.n)[:, None] | _constant(train.task, train.n), np.nan, y)


def calibrated_threshold(scores, positive_rate: float) -> float:
    """Return the threshold at which `scores >= threshold` marks the N p highest of N scores (section 3.3).

    The rate comes from the training labels, the scores from validation data. Where equal scores make N p impossible,
    the threshold that comes nearest is returned; infinity if nothing is to be marked. O(N log N).
    """
    scores = np.asarray(scores, dtype=float)
    if scores.ndim != 1 or scores.size == 0 or np.isnan(scores).any():
        raise ValueError(f"scores must be a non-empty vector without NaN, found shape {scores.shape}")
    if not 0 <= positive_rate <= 1:
        raise ValueError(f"positive_rate must be in [0, 1], found {positive_rate}")
    values, counts = np.unique(scores, return_counts=True)
    marked = np.append(np.cumsum(counts[::-1])[::-1], 0)  # by the threshold at each distinct score, and above them all
    return float(np.append(values, np.inf)[np.abs(marked - round(positive_rate * scores.size)).argmin()])


def _pairs(direction: str, labels: Counts, predicted: Counts, *, train, ties: str) -> dict[str, np.ndarray]:
    """Compute the columns of the table of pairs, |A| x |T| each."""
    reference = labels if train is None else train if isinstance(train, Counts) else _count_train(train)
    _same_columns(labels, predicted)
    _same_columns(labels, reference, names=True)
    y = directions(reference, direction=direction, ties=ties)
    if direction == "A->T":
        delta, n = predicted.task_given_attribute - labels.task_given_attribute, labels.attribute[:, None]
    elif direction == "T->A":
        delta, n = predicted.attribute_given_task - labels.attribute_given_task, labels.task
    else:
        delta, n = predicted.attribute_given_task - reference.attribute_given_task, predicted.task
    never = {"A->T": "attribute never occurs", "T->A": "task never occurs", "MALS": "task never occurs or is predicted"}
    one_sided = "task or attribute does not vary in the training data"
    return {
        "y": y,
        "delta": delta,
        "amplification": y * delta if direction == "MALS" else y * delta + (1 - y) * -delta,
        "n": np.broadcast_to(n, y.shape),
        "uncertain": _uncertain(reference, direction),
        "reason": np.where(np.isnan(delta), never[direction], np.where(np.isnan(y), one_sided, "")),
    }


def _uncertain(train: Counts, direction: str, confidence=0.95) -> np.ndarray:
    """Whether the training data leave y_at open: a two-sided score test of what it asks, per pair."""
    if direction == "MALS":
        share = 1 / len(train.attribute)
        surplus = train.joint - share * train.task
        scale = np.broadcast_to(np.sqrt(train.task * share * (1 - share)), surplus.shape)
    else:
        surplus = train.n * train.joint - np.outer(train.attribute, train.task)
        spread = train.attribute * (train.n - train.attribute)
        scale = np.sqrt(np.clip(np.outer(spread, train.task * (train.n - train.task)), 0, None) / train.n)
    return ~(np.abs(surplus) > stats.norm.ppf((1 + confidence) / 2) * scale)


def _count(*, probabilities=False, **named) -> Counts:
    """Count a task and an attribute array, in this order, and name the argument in what goes wrong."""
    arrays, names = {}, []
    for argument, values in named.items():
        arrays[argument] = _matrix(values, argument, probabilities and argument.endswith("_predicted"))
        names.append(tuple(getattr(values, "columns", ())))
    sizes = {argument: len(array) for argument, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"arrays must have one row per example, found {_listed(sizes)} rows")
    task, attribute = arrays.values()
    whole = task.dtype.kind in "bui" and attribute.dtype.kind in "bui"
    kind = np.float32 if whole else np.float64
    in_attribute, in_task = np.zeros(attribute.shape[1]), np.zeros(task.shape[1])
    joint = np.zeros((attribute.shape[1], task.shape[1]))
    for start in range(0, len(task), ROWS):
        a = attribute[start : start + ROWS].astype(kind, copy=False)
        t = task[start : start + ROWS].astype(kind, copy=False)
        in_attribute += a.sum(axis=0)
        in_task += t.sum(axis=0)
        joint += a.T @ t
    return Counts(len(task), in_attribute, in_task, joint, attributes=names[1], tasks=names[0])


def count(task, attribute) -> Counts:
    """Count how often each attribute and task occurs, alone and together: all that eq. (1) and (2) need of the data."""
    return _count(task=task, attribute=attribute)


def _count_train(train) -> Counts:
    if not isinstance(train, tuple | list) or len(train) != 2:
        raise ValueError(f"train must be (task, attribute) or Counts, found {type(train).__name__}")
    return _count(task=train[0], attribute=train[1])


def _matrix(values, argument: str, probabilities: bool) -> np.ndarray:
    """Return an n x columns array of 0/1 (or, where allowed, of probabilities); a vector becomes one column."""
    array = np.asarray(values)
    if array.dtype == object:
        try:
            array = array.astype(float)
        except (TypeError, ValueError):
            raise ValueError(f"{argument} must be 0 or 1, found {array.ravel()[0]!r} among others") from None
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "buif":
        raise ValueError(f"{argument} must be n x columns of 0/1, found shape {array.shape} of {array.dtype}")
    if array.dtype.kind == "b":
        return array
    for start in range(0, len(array), ROWS):  # in blocks: no temporary of the array's own size
        block = array[start : start + ROWS]
        good = (block >= 0) & (block <= 1) if probabilities else (block == 0) | (block == 1)
        if not good.all():
            allowed = "probabilities in [0, 1]" if probabilities else "0 or 1"
            raise ValueError(f"{argument} must be {allowed}, found {block[~good][0]} (row {start + _first(~good)})")
    return array


def _same_columns(labels: Counts, other: Counts, *, names=False) -> None:
    if other.joint.shape != labels.joint.shape:
        found = f"{labels.joint.shape} and {other.joint.shape}"
        raise ValueError(f"labels, predictions and training data must have the same |A| x |T| columns, found {found}")
    for what in ("attributes", "tasks") if names else ():
        mine, theirs = getattr(labels, what), getattr(other, what)
        named = tuple(range(len(mine))) not in (mine, theirs)
        if named and mine != theirs:
            raise ValueError(f"train must have the same {what} in the same order, found {theirs} beside {mine}")


def _constant(counts: np.ndarray, n: float) -> np.ndarray:
    return (counts == 0) | (counts == n)


def _first(bad: np.ndarray) -> int:
    return int(bad.any(axis=1).argmax())


def _listed(sizes: dict) -> str:
    return ", ".join(f"{name} {size}" for name, size in sizes.items())


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
