"""How sure one can be of a bias amplification that was measured on one test set.

Each example's influence on the value is known in closed form, so that the interval costs one more matrix product over
the examples. It takes the pairs' directions as given, which is right where they come from the training data: the
model's association is compared with *that* sample's. Treating the pairs as independent instead is wrong: two exclusive
attributes carry the same number. Over several trainings of a model, use `resampling.over_runs`.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from fairlib.amplification.cooccurrence import blocks, count, count_named, indicators
from fairlib.amplification.measures import check_direction, counted, directions, from_counts
from fairlib.interval import Interval, check_confidence

FEWEST = 5  # wrong examples that matter
ROUNDING = 1e-12  # influences that are none


def interval(direction, task, attribute, predicted, *, train=None, confidence=0.95) -> Interval:
    """Interval for a bias amplification from one test set, conditional on the directions y_at.

    direction, predicted : "A->T" with the predicted task, "T->A" with the predicted attribute, or "MALS" with
        (task_predicted, attribute_predicted).
    task, attribute, train : as in `attribute_to_task`. For MALS, `train` also gives P(A_a = 1 | T_t = 1), which the
        interval then takes as known.

    Value ± t times the standard deviation s of the examples' influences u over √n. What s rests on are the wrong
    examples, and among these the rare: its degrees of freedom are (Σ u²)² / Σ u⁴ (Satterthwaite), or the wrong examples
    if these are fewer. With fewer than `FEWEST` the ends are NaN, and `method` says why: a model that was never seen to
    err has a bias of 0 in this test set, which tells next to nothing of its bias. O(n |A| |T|).

    >>> woman, paints = np.repeat([1, 0], 200), np.repeat([1, 0, 1, 0], [160, 40, 60, 140])
    >>> said_to_paint = np.where(np.arange(400) % 10 == 0, woman, paints)  # for one in ten, the gender decides
    >>> print(interval("A->T", paints, np.stack([woman, 1 - woman], axis=1), said_to_paint))
    0.025 [0.008, 0.042] (95% influence function)
    """
    check_confidence(confidence)
    check_direction(direction)
    train = None if train is None else counted(train)
    terms = _terms(direction, task, attribute, predicted, train)
    given, outcome = terms[0][1:]
    a, t = (given, outcome) if direction == "A->T" else (outcome, given)
    found = count_named(task_predicted=t, attribute_predicted=a)
    labels = train if len(terms) == 1 else count(task, attribute)
    value = from_counts(direction, labels, found, train=train)  # warns of undefined pairs
    weights = _weights(direction, labels, found, train)
    influence = 0.0
    for (sign, given, outcome), counts in zip(terms, (found, labels), strict=False):
        influence = influence + sign * _influence(direction, given, outcome, counts, weights)
    influence[np.abs(influence) < ROUNDING] = 0.0
    freedom = (influence**2).sum() ** 2 / max((influence**4).sum(), ROUNDING**4)
    freedom = min(freedom, _wrong(terms) if len(terms) > 1 else np.inf)
    if freedom < FEWEST:
        few = f"influence function: about {freedom:.0f} wrong examples that matter, fewer than {FEWEST}"
        return Interval(value, np.nan, np.nan, confidence, few)
    margin = stats.t.isf((1 - confidence) / 2, freedom) * influence.std() / np.sqrt(len(given))
    return Interval(value, value - margin, value + margin, confidence, "influence function")


def _wrong(terms: list) -> int:
    """Return how many examples have a prediction that is not the label."""
    (_, *predicted), (_, *labels) = terms
    several = (np.hstack(some[:2]) != np.hstack(some[2:]) for some in blocks(*predicted, *labels))
    return sum(int(wrong.any(axis=1).sum()) for wrong in several)


def _terms(direction: str, task, attribute, predicted, train) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Return sign, given (n x givens) and outcome (n x outcomes) of each mean P(outcome | given) that Δ is made of."""
    if direction == "A->T":
        x = indicators(task=task, attribute=attribute, task_predicted=predicted)
        return [(+1, x["attribute"], x["task_predicted"]), (-1, x["attribute"], x["task"])]
    if direction == "T->A":
        x = indicators(task=task, attribute=attribute, attribute_predicted=predicted)
        return [(+1, x["task"], x["attribute_predicted"]), (-1, x["task"], x["attribute"])]
    if not isinstance(predicted, tuple | list) or len(predicted) != 2:  # an array of two rows would pass as a pair
        must = "predicted must be (task_predicted, attribute_predicted) for MALS"
        raise ValueError(f"{must}, found {type(predicted).__name__}")
    labels = {"task": task, "attribute": attribute} if train is None else {}
    x = indicators(**labels, task_predicted=predicted[0], attribute_predicted=predicted[1], probabilities=False)
    terms = [(+1, x["task_predicted"], x["attribute_predicted"])]
    return terms if train is not None else [*terms, (-1, x["task"], x["attribute"])]


def _weights(direction: str, labels, found, train) -> np.ndarray:
    """Return by how much each pair's Δ counts in the value, |A| x |T|; 0 where a pair is undefined."""
    y = directions(labels if train is None else train, direction=direction)
    table = from_counts(direction, labels, found, train=train, pairs=True)
    defined = (table["reason"] == "").to_numpy().reshape(y.shape)
    if direction == "MALS":
        return np.where(defined, y, 0.0) / max(defined.any(axis=0).sum(), 1)
    return np.where(defined, 2 * y - 1, 0.0) / max(defined.sum(), 1)


def _influence(direction: str, given: np.ndarray, outcome: np.ndarray, counts, weights: np.ndarray) -> np.ndarray:
    """Return given / P(given) * weights * (outcome - its mean among the given), summed over pairs, per example."""
    if direction == "A->T":
        whole, mean = counts.attribute, counts.task_given_attribute
    else:
        whole, mean, weights = counts.task, counts.attribute_given_task.T, weights.T
    share = np.where(whole > 0, whole, counts.n) / counts.n
    offset = (weights * np.nan_to_num(mean)).sum(axis=1)
    return np.concatenate([((g / share) * (o @ weights.T - offset)).sum(axis=1) for g, o in blocks(given, outcome)])
