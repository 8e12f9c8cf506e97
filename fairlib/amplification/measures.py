"""Bias amplification: does a model make the association of attribute and task stronger than its training data had it?

An example has an attribute A (a woman, a man) and a task T (painting or not). The training data associate the two; a
model's *errors* may follow that association or go against it. `attribute_to_task` and `task_to_attribute` are
BiasAmp A->T and T->A of Wang & Russakovsky (2021), eq. (2); `mals` is BiasAmp_MALS of Zhao et al. (2017), eq. (1).

The sign: **positive is amplification** of what the training data associate, negative is reduction, and a perfect model
has 0. (oxonfair 0.3 reports A->T with the opposite sign.)

Arrays have one row per example: n x |T| tasks and n x |A| attributes, 0 or 1, where several may be 1 at once. They are
read once, in O(n |A| |T|), and not copied; data frames lend their columns' names to the tables of pairs. `from_counts`
takes counts in place of arrays.
"""

import warnings

import narwhals as nw
import numpy as np
import pandas as pd
from scipy import stats

from fairlib import tables
from fairlib.amplification import cooccurrence
from fairlib.amplification.cooccurrence import Counts, blocks, count, indicators
from fairlib.checks import check_confidence, check_word, checked
from fairlib.interval import Interval

DIRECTIONS = ("A->T", "T->A", "MALS")
TIES = {"negative": 0.0, "zero": 0.5}  # the y_at of a pair that is exactly independent
FEWEST = 5  # wrong examples that matter, for an interval
ROUNDING = 1e-12  # influences that are none


def mals(task, attribute, task_predicted, attribute_predicted, *, pairs=False):
    """BiasAmp_MALS: are the groups that hold most of a task predicted to hold more of it?

    1/|T| times the sum over pairs of y_at Δ_at, where Δ_at = P(Â_a = 1 | T̂_t = 1) - P(A_a = 1 | T_t = 1) and
    y_at = 1 where P(A_a = 1 | T_t = 1) > 1/|A| (eq. 1). It cannot tell an error in T̂ from an error in Â, and it takes
    a large group for a correlated one.

    task, attribute : labels, by the paper's choice those of the training data; they set y_at and P(A_a = 1 | T_t = 1).
    task_predicted, attribute_predicted : 0/1; they may be of other examples, as many as there are.
    pairs : return the table of pairs instead, see `from_counts`.

    >>> women_and_men = [[1, 0], [1, 0], [0, 1], [1, 0]]
    >>> mals([[1], [1], [1], [0]], women_and_men, [[1], [1], [0], [0]], women_and_men)  # who paints: 2/3 women, now all
    0.33333333333333337
    """
    predicted = count(
        task_predicted,
        attribute_predicted,
        named=("task_predicted", "attribute_predicted"),
    )
    return from_counts("MALS", count(task, attribute), predicted, pairs=pairs)


def attribute_to_task(task, attribute, task_predicted, *, train=None, pairs=False):
    """BiasAmp A->T: by how much knowing the attribute moves the *task prediction* the way the training data lean.

    Mean over all pairs of y_at Δ_at + (1 - y_at)(-Δ_at), where Δ_at = P(T̂_t = 1 | A_a = 1) - P(T_t = 1 | A_a = 1) on
    the test set, and y_at = 1 where P(A_a = 1, T_t = 1) > P(A_a = 1) P(T_t = 1) (eq. 2).

    task_predicted : 0/1 or probabilities.
    train : (task, attribute) or `Counts` of the training data, which set the direction y_at; without it the test labels
        do, and then the value is another one: an error in the direction correlates with an error in Δ.
    pairs : return the table of pairs instead, see `from_counts`.

    >>> women_and_men = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> attribute_to_task([[1], [1], [0], [0]], women_and_men, [[1], [1], [1], [0]])  # a man is now said to paint
    -0.25
    """
    return from_counts(
        "A->T",
        *_counts_of("A->T", task, attribute, task_predicted),
        train=train,
        pairs=pairs,
    )


def task_to_attribute(task, attribute, attribute_predicted, *, train=None, pairs=False):
    """BiasAmp T->A: by how much the task moves the *prediction of the attribute* the way the training data lean.

    As `attribute_to_task`, with Δ_at = P(Â_a = 1 | T_t = 1) - P(A_a = 1 | T_t = 1) (eq. 2).

    >>> women_and_men = [[1, 0], [1, 0], [0, 1], [1, 0]]
    >>> task_to_attribute([[1], [1], [1], [0]], women_and_men, [[1, 0]] * 4)  # the man who paints is called a woman
    -0.33333333333333337
    """
    return from_counts(
        "T->A",
        *_counts_of("T->A", task, attribute, attribute_predicted),
        train=train,
        pairs=pairs,
    )


def from_counts(
    direction, labels, predicted, *, train=None, ties="negative", pairs=False
):
    """Bias amplification from counts instead of arrays: in one place, all three metrics.

    direction : "A->T", "T->A" or "MALS".
    labels : `Counts` of the labels.
    predicted : `Counts` of the attribute with the predicted task (A->T), of the predicted attribute with the task
        (T->A), or of both predictions (MALS).
    train : as in `attribute_to_task`. ties : as in `directions`.

    Returns the mean over the pairs, or with `pairs` one row per (attribute, task): y (1, 0, or 0.5 for a tie that
    counts zero), delta, amplification (yΔ + (1 - y)(-Δ); yΔ for MALS), n (the examples on which the model's
    probability is conditioned), and reason where the pair is undefined (NaN). Undefined pairs are left out of the mean,
    with a warning that counts them.

    >>> labels = Counts(80, [40, 40], [40], [[30], [10]])  # 30 of 40 women paint, and 10 of 40 men
    >>> from_counts("A->T", labels, Counts(80, [40, 40], [50], [[40], [10]]))
    0.125
    """
    columns = _pairs_of(direction, labels, predicted, train=train, ties=ties)
    if not pairs:
        return _mean_of(direction, columns)
    names = pd.MultiIndex.from_product(
        [labels.attributes, labels.tasks], names=["attribute", "task"]
    )
    return pd.DataFrame(
        {name: values.ravel() for name, values in columns.items()}, index=names
    ).reset_index()


def from_table(
    direction, table, *, task, attribute, predicted, train=None, count=None, pairs=False
):
    """Bias amplification from columns of any table that `fairlib.tables` reads; its engine counts them.

    task, attribute : names of the columns of labels.
    predicted : those of the predicted tasks ("A->T") or attributes ("T->A"), in the order of the labels.
    train : a table with the same columns of labels, or `Counts`, that sets the direction y_at.
    count : column with the number of examples that a row stands for, in `train` too if it is there.

    What leaves the engine is a row per combination of the columns' values: few for labels, with probabilities as many
    as there are examples.

    >>> people = pd.DataFrame({"woman": [1, 0], "paints": [1, 0], "said_to_paint": [0.9, 0.2], "people": [30, 50]})
    >>> columns = {"task": "paints", "attribute": "woman", "predicted": "said_to_paint"}
    >>> round(from_table("A->T", people, **columns, count="people"), 12)
    -0.1
    """
    labels = {"task": task, "attribute": attribute}
    counted = _counts_of(
        direction, **_columns(table, labels | {"predicted": predicted}, count)
    )
    if not isinstance(train, Counts | None):
        train = cooccurrence.count(
            **_columns(train, labels, count if count in tables.schema(train) else None)
        )
    return from_counts(direction, *counted, train=train, pairs=pairs)


def interval(
    direction, task, attribute, predicted, *, train=None, confidence=0.95
) -> Interval:
    """Interval for a bias amplification from one test set, conditional on the directions y_at.

    predicted : the tasks ("A->T") or attributes ("T->A"). train : as in `attribute_to_task`.

    Value ± t times the standard deviation s of the examples' influences u, known in closed form, over √n. What s rests
    on are the wrong examples, and among these the rare: its degrees of freedom are (Σ u²)² / Σ u⁴ (Satterthwaite), or
    the wrong examples if these are fewer. With fewer than `FEWEST` the ends are NaN, and `method` says why: a model
    that was never seen to err has a bias of 0 in this test set, which tells next to nothing of it. O(n |A| |T|).

    The directions are right as given where they come from the training data: the model's association is compared with
    *that* sample's. Treating the pairs as independent instead is wrong: two exclusive attributes carry the same number.
    Over several trainings of a model, use `resampling.over_runs`.

    >>> woman, paints = np.repeat([1, 0], 200), np.repeat([1, 0, 1, 0], [160, 40, 60, 140])
    >>> said_to_paint = np.where(np.arange(400) % 10 == 0, woman, paints)  # for one in ten, the gender decides
    >>> print(interval("A->T", paints, np.stack([woman, 1 - woman], axis=1), said_to_paint))
    0.025 [0.008, 0.042] (95% influence function)
    """
    check_confidence(confidence)
    labels, found = _counts_of(direction, task, attribute, predicted)
    pairs = _pairs_of(direction, labels, found, train=train)
    value, defined = _mean_of(direction, pairs), pairs["reason"] == ""
    weights = np.where(defined, 2 * pairs["y"] - 1, 0.0) / max(
        defined.sum(), 1
    )  # of each pair's Δ in the value
    number, delta, given, true = (
        np.maximum(pairs["n"], 1),
        np.nan_to_num(pairs["delta"]),
        attribute,
        task,
    )
    if direction == "T->A":
        weights, number, delta, given, true = (
            weights.T,
            number.T,
            delta.T,
            task,
            attribute,
        )
    factor, offset = found.n / number[:, 0], (weights * delta).sum(axis=1)
    influence, wrong = [], 0
    for g, t, p in blocks(
        *indicators(given=given, true=true, true_predicted=predicted).values()
    ):
        influence.append(((g * factor) * ((p - t) @ weights.T - offset)).sum(axis=1))
        wrong += np.count_nonzero((p != t).any(axis=1))
    influence = np.concatenate(influence)
    influence[np.abs(influence) < ROUNDING] = 0.0
    freedom = min(
        (influence**2).sum() ** 2 / max((influence**4).sum(), ROUNDING**4), wrong
    )
    if freedom < FEWEST:
        few = f"influence function: about {freedom:.0f} wrong examples that matter, fewer than {FEWEST}"
        return Interval(value, np.nan, np.nan, confidence, few)
    margin = (
        stats.t.isf((1 - confidence) / 2, freedom)
        * influence.std()
        / np.sqrt(len(influence))
    )
    return Interval(
        value, value - margin, value + margin, confidence, "influence function"
    )


def directions(train: Counts, *, direction="A->T", ties="negative") -> np.ndarray:
    """Return y_at, |A| x |T|: 1 where the data associate attribute and task, 0 where not; NaN where they cannot say.

    ties : "negative" as eq. (2) has it (an independent pair has y_at = 0), or "zero" as the authors' code has it (0.5:
        the pair adds nothing). Counts are compared as integers, so that independence is exact.

    >>> directions(Counts(80, [40, 40], [40, 20], [[30, 10], [10, 10]]), ties="zero").tolist()
    [[1.0, 0.5], [0.0, 0.5]]
    """
    check_word("ties", ties, TIES)
    check_word("direction", direction, DIRECTIONS)
    if direction == "MALS":
        if len(train.attribute) < 2:
            raise ValueError(
                "attribute must have a column per group, at least 2 for MALS (1/|A| would be 1), found 1"
            )
        y = np.where(len(train.attribute) * train.joint > train.task, 1.0, 0.0)
        return np.where(train.task > 0, y, np.nan)
    together, expected = train.n * train.joint, np.outer(train.attribute, train.task)
    y = np.where(
        together > expected, 1.0, np.where(together == expected, TIES[ties], 0.0)
    )
    constant = [
        (counts == 0) | (counts == train.n) for counts in (train.attribute, train.task)
    ]
    return np.where(np.logical_or.outer(*constant), np.nan, y)


def calibrated_threshold(scores, positive_rate: float) -> float:
    """Return the threshold at which `scores >= threshold` marks the N p highest of N scores (section 3.3).

    The rate comes from the training labels, the scores from validation data. Where equal scores make N p impossible,
    the threshold that comes nearest is returned; infinity if nothing is to be marked. O(N log N).

    >>> calibrated_threshold([0.1, 0.9, 0.4, 0.8], positive_rate=0.5)
    0.8
    """
    scores = np.asarray(scores, dtype=float)
    if scores.ndim != 1 or scores.size == 0 or np.isnan(scores).any():
        raise ValueError(
            f"scores must be a non-empty vector without NaN, found shape {scores.shape}"
        )
    checked(
        "positive_rate",
        positive_rate,
        "in [0, 1]",
        lambda rate: (rate >= 0) & (rate <= 1),
    )
    values, counts = np.unique(scores, return_counts=True)
    marked = np.append(
        np.cumsum(counts[::-1])[::-1], 0
    )  # by the threshold at each distinct score, and above them all
    return float(
        np.append(values, np.inf)[
            np.abs(marked - round(positive_rate * scores.size)).argmin()
        ]
    )


def _pairs_of(
    direction: str, labels: Counts, predicted: Counts, *, train, ties="negative"
) -> dict[str, np.ndarray]:
    """Compute the columns of the table of pairs, |A| x |T| each."""
    if not isinstance(train, Counts | None):
        if (
            not isinstance(train, tuple | list) or len(train) != 2
        ):  # an array of two rows would pass as a pair
            raise ValueError(
                f"train must be (task, attribute) or Counts, found {type(train).__name__}"
            )
        train = count(*train)
    reference = train or labels
    for other in (predicted, reference):
        if other.joint.shape != labels.joint.shape:
            found = f"{labels.joint.shape} and {other.joint.shape}"
            raise ValueError(
                f"labels, predictions and training data must have the same |A| x |T|, found {found}"
            )
    for what in ("attributes", "tasks"):
        mine, theirs = getattr(labels, what), getattr(reference, what)
        if mine != theirs and tuple(range(len(mine))) not in (
            mine,
            theirs,
        ):  # numbers stand for no names
            raise ValueError(
                f"train must have the same {what} in the same order, found {theirs} beside {mine}"
            )
    y = directions(reference, direction=direction, ties=ties)
    probability = (
        "task_given_attribute" if direction == "A->T" else "attribute_given_task"
    )
    delta = getattr(predicted, probability) - getattr(
        reference if direction == "MALS" else labels, probability
    )
    never = {
        "A->T": "attribute never occurs",
        "T->A": "task never occurs",
        "MALS": "task never occurs or is predicted",
    }
    one_sided = "task or attribute does not vary in the training data"
    return {
        "y": y,
        "delta": delta,
        "amplification": y * delta
        if direction == "MALS"
        else y * delta + (1 - y) * -delta,
        "n": np.broadcast_to(
            predicted.attribute[:, None] if direction == "A->T" else predicted.task,
            y.shape,
        ),
        "reason": np.where(
            np.isnan(delta), never[direction], np.where(np.isnan(y), one_sided, "")
        ),
    }


def _mean_of(direction: str, columns: dict[str, np.ndarray]) -> float:
    """Return the mean over the pairs that are defined, and warn of the others."""
    defined = columns["reason"] == ""
    if not defined.all():
        reasons, counts = np.unique(columns["reason"][~defined], return_counts=True)
        why = "; ".join(
            f"{count}: {reason}" for reason, count in zip(reasons, counts, strict=True)
        )
        warnings.warn(
            f"{(~defined).sum()} of {defined.size} pairs are undefined and left out ({why})",
            stacklevel=4,
        )
    if not defined.any():
        return float("nan")
    # For MALS a mean over tasks of a sum over attributes, all of which are defined for a task or none.
    size = defined.any(axis=0).sum() if direction == "MALS" else defined.sum()
    return float(columns["amplification"][defined].sum() / size)


def _counts_of(
    direction: str, task, attribute, predicted, weight=None
) -> tuple[Counts, Counts]:
    """Count the labels, and the labels with the predictions in place of the tasks (A->T) or attributes (T->A)."""
    check_word("direction", direction, DIRECTIONS[:2])
    labels = count(task, attribute, weight=weight)
    if direction == "A->T":
        return labels, count(
            predicted, attribute, named=("task_predicted", "attribute"), weight=weight
        )
    return labels, count(
        task, predicted, named=("task", "attribute_predicted"), weight=weight
    )


def _columns(table, roles: dict, count: str | None) -> dict:
    """Return a table's distinct rows by the roles of its columns, and how many examples each row stands for."""
    roles = {
        role: [names] if isinstance(names, str) else list(names)
        for role, names in roles.items()
    }
    columns, known = (
        {name: role for role, names in roles.items() for name in names},
        tables.schema(table),
    )
    for name, role in columns.items():
        tables.check_is_number(known, role, name, besides=(nw.Boolean, nw.Object))
    found = tables.counts(table, [*columns], count=count)
    if found.empty:
        raise ValueError("the table has no rows, or all of them stand for 0 examples")
    return {role: found[names] for role, names in roles.items()} | {
        "weight": found[tables.COUNT]
    }
