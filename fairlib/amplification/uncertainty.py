"""How sure one can be of a bias amplification that was measured on one test set.

Each example's influence on the value is known in closed form, so that the interval costs one more matrix product over
the examples. It takes the pairs' directions as given, which is right where they come from the training data: the
model's association is compared with *that* sample's. Treating the pairs as independent instead is wrong: two exclusive
attributes carry the same number. Over several trainings of a model, use `resampling.over_runs`.
"""

import numpy as np
from scipy import stats

from fairlib.amplification.cooccurrence import blocks, indicators
from fairlib.amplification.measures import counts_of, mean_of, pairs_of
from fairlib.interval import Interval, check_confidence

FEWEST = 5  # wrong examples that matter
ROUNDING = 1e-12  # influences that are none


def interval(direction, task, attribute, predicted, *, train=None, confidence=0.95) -> Interval:
    """Interval for a bias amplification from one test set, conditional on the directions y_at.

    direction, predicted : "A->T" with the predicted task, or "T->A" with the predicted attribute.
    task, attribute, train : as in `attribute_to_task`.

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
    labels, found = counts_of(direction, task, attribute, predicted)
    pairs = pairs_of(direction, labels, found, train=train)
    value, defined = mean_of(direction, pairs), pairs["reason"] == ""
    weights = np.where(defined, 2 * pairs["y"] - 1, 0.0) / max(defined.sum(), 1)  # of each pair's Δ in the value
    number, delta, given, true = np.maximum(pairs["n"], 1), np.nan_to_num(pairs["delta"]), attribute, task
    if direction == "T->A":
        weights, number, delta, given, true = weights.T, number.T, delta.T, task, attribute
    factor, offset = found.n / number[:, 0], (weights * delta).sum(axis=1)
    influence, wrong = [], 0
    for g, t, p in blocks(*indicators(given=given, true=true, true_predicted=predicted).values()):
        influence.append(((g * factor) * ((p - t) @ weights.T - offset)).sum(axis=1))
        wrong += np.count_nonzero((p != t).any(axis=1))
    influence = np.concatenate(influence)
    influence[np.abs(influence) < ROUNDING] = 0.0
    freedom = min((influence**2).sum() ** 2 / max((influence**4).sum(), ROUNDING**4), wrong)
    if freedom < FEWEST:
        few = f"influence function: about {freedom:.0f} wrong examples that matter, fewer than {FEWEST}"
        return Interval(value, np.nan, np.nan, confidence, few)
    margin = stats.t.isf((1 - confidence) / 2, freedom) * influence.std() / np.sqrt(len(influence))
    return Interval(value, value - margin, value + margin, confidence, "influence function")
