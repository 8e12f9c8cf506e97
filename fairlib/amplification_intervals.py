"""How sure one can be of a bias amplification that was measured on one test set.

Each example's influence on the value is known in closed form, so that the interval costs one more matrix product over
the examples. It takes the pairs' directions as given, which is right where they come from the training data (the
model's association is compared with *that* sample's); where the training data leave a direction open, the table of
pairs says so. Treating the pairs as independent instead is wrong: two exclusive attributes carry the same number.
Over several trainings of a model, use `resampling.over_runs`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from fairlib import resampling
from fairlib.amplification import MALS, check_direction, counted, directions, from_counts, two
from fairlib.cooccurrence import blocks, count, count_named, indicators
from fairlib.interval import Interval, check_confidence


def interval(
    direction, task, attribute, predicted, *, train=None, ties="negative", confidence=0.95, pairs=False
) -> Interval | pd.DataFrame:
    """Interval for a bias amplification from one test set, conditional on the directions y_at.

    direction, predicted : "A->T" with the predicted task, "T->A" with the predicted attribute, or "MALS" with
        (task_predicted, attribute_predicted).
    task, attribute, train, ties : as in `amplification.attribute_to_task`. For MALS, `train` also gives
        P(A_a = 1 | T_t = 1), which the interval then takes as known.
    pairs : return the table of pairs with the columns standard_error, low and high of its `amplification`, each pair at
        `confidence` on its own (of 132 intervals at 95 %, some 7 miss).

    Normal quantiles of the influence function's standard deviation. O(n |A| |T|), no copy of the input.
    """
    check_confidence(confidence)
    case = _case(direction, task, attribute, predicted, train, ties)
    margin = stats.norm.ppf((1 + confidence) / 2)
    if pairs:
        table, error = case.table, case.oriented(_pair_errors(case)).ravel()
        counted = table["y"] if direction == "MALS" else (2 * table["y"] - 1).abs()  # a pair that adds 0 adds it surely
        error = (error * counted).where(table["reason"] == "")
        middle = table["amplification"]
        return table.assign(standard_error=error, low=middle - margin * error, high=middle + margin * error)
    margin *= _influence(case).std() / np.sqrt(case.n)
    value = case.measure()  # warns of undefined pairs
    return Interval(value, value - margin, value + margin, confidence, "influence function")


def influence(direction, task, attribute, predicted, *, train=None, ties="negative") -> np.ndarray:
    """Return each example's influence on the bias amplification: n values with mean 0.

    Their standard deviation over sqrt(n) is the standard error of the value; that of the difference of two models'
    influences on the same examples is the standard error of the difference of their values.
    """
    return _influence(_case(direction, task, attribute, predicted, train, ties))


def bootstrap(
    direction, task, attribute, predicted, *, train=None, ties="negative", resamples=2000, confidence=0.95, rng=None
) -> Interval:
    """Check `interval` without its linear approximation: percentiles of a Poisson bootstrap over the examples.

    The directions stay those of the data. A pair that a resample leaves undefined is left out of that resample's mean.
    """
    case = _case(direction, task, attribute, predicted, train, ties)
    options = {"resamples": resamples, "confidence": confidence, "rng": rng}
    return resampling.poisson_bootstrap(_features(case), lambda totals: _from_totals(case, totals), **options)


@dataclass(frozen=True)
class _Case:
    """A bias amplification as the sum over pairs of weight * (sum over terms of sign * mean(outcome | given) - known).

    `given` has a column per attribute for A->T, and per task for T->A and MALS; weights and known are given x outcome.
    """

    direction: str
    measure: Callable
    table: pd.DataFrame
    terms: list[tuple[int, np.ndarray, np.ndarray]]  # sign, given (n x givens), outcome (n x outcomes)
    weights: np.ndarray
    known: np.ndarray | float

    @property
    def n(self) -> int:
        return len(self.terms[0][1])

    def oriented(self, values: np.ndarray) -> np.ndarray:
        """Turn |A| x |T| into given x outcome, or back."""
        return values if self.direction == "A->T" else values.T


def _case(direction, task, attribute, predicted, train, ties) -> _Case:
    check_direction(direction)
    train = counted(train)
    if direction == "MALS":
        named = dict(zip(("task_predicted", "attribute_predicted"), two(predicted, MALS), strict=True))
        found = count_named(probabilities=False, **named)
        terms = [(+1, *indicators(**named).values())]
        labels = train
        if train is None:
            labels = count(task, attribute)
            arrays = indicators(task=task, attribute=attribute, **named)  # all of the same examples
            terms += [(-1, arrays["task"], arrays["attribute"])]
        options = {}
    else:
        given, outcome = ("attribute", "task") if direction == "A->T" else ("task", "attribute")
        named = {"task": task, "attribute": attribute, f"{outcome}_predicted": predicted}
        arrays = indicators(**named)
        labels = count(task, attribute)
        found = count_named(**{name: named[name] for name in _counted(direction)})
        terms = [(+1, arrays[given], arrays[f"{outcome}_predicted"]), (-1, arrays[given], arrays[outcome])]
        options = {"train": train, "ties": ties}
    measure = partial(from_counts, direction, labels, found, **options)
    table = measure(pairs=True)
    y = directions(labels if train is None else train, direction=direction, ties=ties)
    defined = (table["reason"] == "").to_numpy().reshape(y.shape)
    number = defined.any(axis=0).sum() if direction == "MALS" else defined.sum()
    weights = np.where(defined, y if direction == "MALS" else 2 * y - 1, 0.0) / max(number, 1)
    known = labels.attribute_given_task.T if len(terms) == 1 else 0.0
    weights = weights if direction == "A->T" else weights.T
    return _Case(direction, measure, table, terms, weights, np.nan_to_num(known))


def _counted(direction: str) -> tuple[str, str]:
    """Name the task array and the attribute array whose counts make the model's probability."""
    return ("task_predicted", "attribute") if direction == "A->T" else ("task", "attribute_predicted")


def _influence(case: _Case) -> np.ndarray:
    """Sum over terms of sign * given / P(given) * weights * (outcome - its mean among the given), per example."""
    total = np.zeros(case.n)
    for sign, given, outcome in case.terms:
        share, mean = _moments(given, outcome)
        offset = (case.weights * mean).sum(axis=1)
        parts = [((g / share) * (o @ case.weights.T - offset)).sum(axis=1) for g, o in blocks(given, outcome)]
        total += sign * np.concatenate(parts)
    return total


def _pair_errors(case: _Case) -> np.ndarray:
    """Standard error of each pair's Δ, given x outcome: its influences' root mean square over sqrt(n)."""
    moments = [_moments(given, outcome) for _, given, outcome in case.terms]
    square = 0.0
    for arrays in blocks(*(array for _, *pair in case.terms for array in pair)):
        own = 0.0
        for (sign, *_), (share, mean), g, o in zip(case.terms, moments, arrays[::2], arrays[1::2], strict=True):
            own = own + sign * (g / share)[:, :, None] * (o[:, None, :] - mean)
        square = square + (own**2).sum(axis=0)
    return np.sqrt(square) / case.n


def _moments(given: np.ndarray, outcome: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return P(given) and the outcome's mean among the given; 1 and 0 where nothing is given (its weight is 0)."""
    whole, part = 0.0, 0.0
    for g, o in blocks(given, outcome):
        whole, part = whole + g.sum(axis=0), part + g.T @ o
    never = whole == 0
    return np.where(never, len(given), whole) / len(given), part / np.where(never, 1, whole)[:, None]


def _features(case: _Case):
    """Yield blocks of what the value is made of: for each term, given and given * outcome."""
    for arrays in blocks(*(array for _, *pair in case.terms for array in pair)):
        parts = []
        for g, o in zip(arrays[::2], arrays[1::2], strict=True):
            parts += [g, (g[:, :, None] * o[:, None, :]).reshape(len(g), -1)]
        yield np.hstack(parts)


def _from_totals(case: _Case, totals: np.ndarray) -> np.ndarray:
    """Return the value for each row of totals of `_features`."""
    givens, outcomes = case.weights.shape
    delta = np.broadcast_to(-1.0 * case.known, (len(totals), givens, outcomes))
    size = givens * (1 + outcomes)
    for number, (sign, *_) in enumerate(case.terms):
        own = totals[:, number * size : (number + 1) * size]
        whole, part = own[:, :givens, None], own[:, givens:].reshape(-1, givens, outcomes)
        delta = delta + sign * np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    there = ~np.isnan(delta)
    kept = (np.abs(case.weights) * there).sum(axis=(1, 2)) / np.abs(case.weights).sum()
    return (case.weights * np.where(there, delta, 0)).sum(axis=(1, 2)) / kept
