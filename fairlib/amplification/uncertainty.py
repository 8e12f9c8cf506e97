"""How sure one can be of a bias amplification that was measured on one test set.

Each example's influence on the value is known in closed form, so that the interval costs one more matrix product over
the examples. It takes the pairs' directions as given, which is right where they come from the training data: the
model's association is compared with *that* sample's. Treating the pairs as independent instead is wrong: two exclusive
attributes carry the same number. Over several trainings of a model, use `resampling.over_runs`.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from fairlib.amplification.cooccurrence import blocks, count_named, indicators
from fairlib.amplification.measures import answers, counted, from_counts, pairs_of
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
    model = answers(direction, task, attribute, predicted)
    train = None if train is None else counted(train)
    given = direction == "MALS" and train is not None  # what the model is compared with
    data = {} if given else {"task": task, "attribute": attribute}
    arrays = indicators(**data | model, probabilities=direction != "MALS")
    sides = [tuple(arrays[name] for name in names) for names in (model, data) if names]
    found, labels = count_named(**model), train if given else count_named(**data)
    value = from_counts(direction, labels, found, train=train)  # warns of undefined pairs
    pairs = pairs_of(direction, labels, found, train=train)
    y, defined = pairs["y"], pairs["reason"] == ""
    if direction == "MALS":  # by how much each pair's Δ counts in the value
        weights = np.where(defined, y, 0.0) / max(defined.any(axis=0).sum(), 1)
    else:
        weights = np.where(defined, 2 * y - 1, 0.0) / max(defined.sum(), 1)
    influence = 0.0
    for sign, side, counts in zip((+1, -1), sides, (found, labels), strict=False):
        influence = influence + sign * _influence(direction, *side, counts, weights)
    influence[np.abs(influence) < ROUNDING] = 0.0
    freedom = (influence**2).sum() ** 2 / max((influence**4).sum(), ROUNDING**4)
    if len(sides) > 1:
        wrong = (np.hstack(some[:2]) != np.hstack(some[2:]) for some in blocks(*sides[0], *sides[1]))
        freedom = min(freedom, sum(int(rows.any(axis=1).sum()) for rows in wrong))
    if freedom < FEWEST:
        few = f"influence function: about {freedom:.0f} wrong examples that matter, fewer than {FEWEST}"
        return Interval(value, np.nan, np.nan, confidence, few)
    margin = stats.t.isf((1 - confidence) / 2, freedom) * influence.std() / np.sqrt(len(influence))
    return Interval(value, value - margin, value + margin, confidence, "influence function")


def _influence(direction: str, task: np.ndarray, attribute: np.ndarray, counts, weights: np.ndarray) -> np.ndarray:
    """Return given / P(given) * weights * (outcome - its mean among the given), summed over pairs, per example."""
    if direction == "A->T":
        given, outcome, whole, mean = attribute, task, counts.attribute, counts.task_given_attribute
    else:
        given, outcome, whole, mean = task, attribute, counts.task, counts.attribute_given_task.T
        weights = weights.T
    share = np.where(whole > 0, whole, counts.n) / counts.n
    offset = (weights * np.nan_to_num(mean)).sum(axis=1)
    return np.concatenate([((g / share) * (o @ weights.T - offset)).sum(axis=1) for g, o in blocks(given, outcome)])
