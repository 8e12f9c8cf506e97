"""When groups are known for a few and guessed for the rest: the difference, its interval, and whom to annotate.

Costs are known for everybody, since labels and predictions are; the group is what somebody must annotate. A predictor
of the group (from names, from voices, from dialect) is cheap and wrong. Putting its guesses in the place of the groups
shrinks the difference: members of either group are counted on the other side. Leaving the guesses unused wastes them.

- `prediction_powered`: guesses for all, annotations for a random sample; the sample corrects what the guesses get
  wrong.
- `allocate` and `stratified`: choose whom to annotate by error and guess, since errors are rare and say most.

Both intervals rest on the normal approximation, which needs some annotated members of each group with and without
errors. Where a cell has fewer than `SMALLEST_CELL`, both warn and fall back on a wider interval that holds for any
number.

References: Angelopoulos, Bates, Fannjiang, Jordan & Zrnic 2023 (Science 382, 669-674); Angelopoulos, Duchi & Zrnic 2023
(PPI++); Neyman 1934 for the allocation.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from fairlib.bounds import disparity_interval
from fairlib.interval import Interval

SMALLEST_CELL = 10  # annotated members of a group with, and without, an error


class SmallCellWarning(UserWarning):
    """Too few were annotated for a normal approximation."""


def prediction_powered(
    cost: ArrayLike,
    predicted: ArrayLike,
    group: ArrayLike,
    *,
    max_cost: float = 1.0,
    confidence: float = 0.95,
    rng=0,
) -> Interval:
    """Return mean cost in A less mean cost in B, from guesses for all and annotations for a random sample.

    cost : of every example.
    predicted : the guessed probability that it belongs to A (or the guess itself, 0 or 1).
    group : +1 in A, -1 in B, 0 in neither where somebody looked; NaN where nobody did. Who was looked at is drawn at
        random.
    rng : for the fallback alone, which is `disparity_interval` on the annotated.

    The difference is a function of four means, of c 1_A, 1_A, c 1_B and 1_B. Each is estimated by its mean over the
    annotated, plus λ times what the guesses say about the rest less what they say about the annotated; λ is the
    fraction that makes the interval narrowest (PPI++), near 0 for useless guesses. The interval is the delta method's.
    """
    cost, group, known = _examples(cost, group, max_cost)
    predicted = np.asarray(predicted, dtype=float)
    if predicted.shape != cost.shape or not np.all((predicted >= 0) & (predicted <= 1)):
        raise ValueError("predicted must be a probability in [0, 1] for every example")
    if (~known).sum() < 2:
        raise ValueError(
            f"group must be NaN where nobody looked, found {(~known).sum()} such: use disparity_interval instead"
        )
    if (why := _small_cell(cost, group, known)) is not None:
        warnings.warn(f"{why}; using the {known.sum()} annotated alone", SmallCellWarning, stacklevel=2)
        annotated_a, annotated_b = cost[group == 1], cost[group == -1]
        return disparity_interval(annotated_a, annotated_b, max_cost=max_cost, confidence=confidence, rng=rng)
    truth = _features(cost[known], (group[known] == 1).astype(float), (group[known] == -1).astype(float))
    guess = _features(cost, predicted, 1 - predicted)
    sample, rest = guess[known], guess[~known]
    gradient = _gradient(truth.mean(axis=0))
    weight = _power_tuning(truth @ gradient, sample @ gradient, share=len(truth) / len(rest))
    means = (truth - weight * sample).mean(axis=0) + weight * rest.mean(axis=0)
    gradient = _gradient(means)
    n, others = len(truth), len(rest)
    variance = np.var((truth - weight * sample) @ gradient, ddof=1) / n
    variance += weight**2 * np.var(rest @ gradient, ddof=1) / others
    return _normal(means[0] / means[1] - means[2] / means[3], variance, max_cost, confidence, "prediction powered")


def allocate(annotations: int, cost: ArrayLike, predicted: ArrayLike) -> pd.DataFrame:
    """Return how many to annotate in each stratum: with and without an error, guessed to be in A or in B.

    Columns error, guess, examples, share_a (the mean guess), annotate. The numbers go with the stratum's size times the
    deviation that is to be expected of an example's influence on the difference (Neyman 1934), and are at least 2 and
    at most all, even where the two in every stratum are more than `annotations`.
    """
    cost, predicted = np.asarray(cost, dtype=float), np.asarray(predicted, dtype=float)
    if cost.shape != predicted.shape or cost.ndim != 1:
        raise ValueError(f"cost and predicted must be lists of the same length, found {cost.shape}, {predicted.shape}")
    if not (np.all(cost >= 0) and np.all((predicted >= 0) & (predicted <= 1))):
        raise ValueError("cost must be 0 or more, and predicted a probability in [0, 1], for every example")
    if not 0 < annotations <= len(cost):
        raise ValueError(f"annotations must be in [1, {len(cost)}], found {annotations}")
    frame = pd.DataFrame({"error": cost > 0, "guess": np.where(predicted >= 0.5, "A", "B"), "p": predicted, "c": cost})
    table = frame.groupby(["error", "guess"]).agg(examples=("p", "size"), share_a=("p", "mean"), c=("c", "mean"))
    shares = np.array([predicted.mean(), 1 - predicted.mean()]).clip(1e-9)
    mean_a, mean_b = np.average(cost, weights=predicted + 1e-12), np.average(cost, weights=1 - predicted + 1e-12)
    jump = np.abs((table["c"] - mean_a) / shares[0] + (table["c"] - mean_b) / shares[1])
    deviation = jump.clip(1e-9) * np.sqrt((table["share_a"] * (1 - table["share_a"])).clip(0.01))
    wanted = table["examples"] * deviation
    annotate = pd.Series(0.0, index=table.index)
    open_, left = pd.Series(True, index=table.index), float(annotations)
    for _ in range(len(table)):  # whoever is annotated completely leaves the rest to the others
        offer = left * wanted.where(open_, 0) / wanted[open_].sum()
        full = open_ & (offer >= table["examples"])
        if not full.any():
            annotate = annotate.where(~open_, offer)
            break
        annotate = annotate.where(~full, table["examples"].astype(float))
        left -= table.loc[full, "examples"].sum()
        open_ &= ~full
        if not open_.any():
            break
    counts = np.minimum(np.maximum(np.floor(annotate + 1e-9).astype(int), 2), table["examples"])
    return table.assign(annotate=counts).drop(columns="c").reset_index()


def stratified(
    cost: ArrayLike,
    group: ArrayLike,
    stratum: ArrayLike,
    *,
    max_cost: float = 1.0,
    confidence: float = 0.95,
) -> Interval:
    """Return mean cost in A less mean cost in B *in this data set*, from random samples within strata.

    group : +1 in A, -1 in B where somebody looked, NaN where nobody did.
    stratum : of every example, by anything known of everybody: its cost, the guessed group, both.

    It is about these examples and says what full annotation would give; for a claim about the system, annotate a random
    sample (`prediction_powered`). Each stratum's annotated stand for all its examples. Where a cell is too small, or
    the annotated of a stratum are all of one group, the fallback takes Clopper-Pearson limits of the share of A in each
    stratum, all of which hold together: the difference grows with the share of A where the cost is high and falls where
    it is low. It asks that every stratum has one cost only.
    """
    cost, group, known = _examples(cost, group, max_cost)
    if np.any(group[known] == 0):
        raise ValueError("group must be +1 or -1 where somebody looked, found 0: leave out those who are in neither")
    codes, names = pd.factorize(np.asarray(stratum))
    if len(codes) != len(cost) or np.any(codes < 0):
        raise ValueError(f"stratum must be known for all {len(cost)} examples, found {np.sum(codes >= 0)}")
    sizes, annotated = np.bincount(codes), np.bincount(codes[known], minlength=len(names))
    if np.any(annotated < np.minimum(2, sizes)):
        few = ", ".join(str(names[i]) for i in np.flatnonzero(annotated < np.minimum(2, sizes))[:3])
        raise ValueError(f"stratum must have at least two annotated examples everywhere, found fewer in {few}")
    in_a = np.bincount(codes[known], weights=group[known] == 1, minlength=len(names))
    why = _small_cell(cost, group, known) or _one_group_only(in_a, annotated, sizes, names)
    if why is not None:
        warnings.warn(f"{why}; using Clopper-Pearson limits per stratum", SmallCellWarning, stacklevel=2)
        return _by_limits(cost, codes, in_a, annotated, sizes, max_cost, confidence)
    weights = (sizes / annotated)[codes[known]]
    truth = _features(cost[known], (group[known] == 1).astype(float), (group[known] == -1).astype(float))
    means = weights @ truth / len(cost)
    influence = (
        pd.Series(truth @ _gradient(means)).groupby(codes[known]).var(ddof=1).reindex(range(len(names))).fillna(0)
    )
    variance = np.sum((sizes / len(cost)) ** 2 * influence.to_numpy() * (1 / annotated - 1 / sizes))
    return _normal(means[0] / means[1] - means[2] / means[3], variance, max_cost, confidence, "stratified")


# --- The parts --------------------------------------------------------------------------------------------------------


def _features(cost: np.ndarray, in_a: np.ndarray, in_b: np.ndarray) -> np.ndarray:
    return np.stack([cost * in_a, in_a, cost * in_b, in_b], axis=1)


def _gradient(means: np.ndarray) -> np.ndarray:
    """Return the derivatives of means[0] / means[1] - means[2] / means[3]."""
    cost_a, share_a, cost_b, share_b = means
    return np.array([1 / share_a, -cost_a / share_a**2, -1 / share_b, cost_b / share_b**2])


def _power_tuning(truth: np.ndarray, guess: np.ndarray, *, share: float) -> float:
    """Return λ = cov(truth, guess) / (var(guess) (1 + n/N)), within [0, 1]; both from the annotated."""
    (_, covariance), (_, variance) = np.cov(truth, guess)
    return float(np.clip(covariance / (variance * (1 + share)), 0, 1)) if variance > 0 else 0.0


def _normal(estimate: float, variance: float, max_cost: float, confidence: float, method: str) -> Interval:
    half_width = float(stats.norm.isf((1 - confidence) / 2) * np.sqrt(variance))
    estimate = float(np.clip(estimate, -max_cost, max_cost))
    low, high = max(estimate - half_width, -max_cost), min(estimate + half_width, max_cost)
    return Interval(estimate, low, high, confidence, method)


def _by_limits(cost, codes, in_a, annotated, sizes, max_cost, confidence) -> Interval:
    """Return the exact fallback: limits of the share of A in each stratum, put together at their worst."""
    costs = pd.Series(cost).groupby(codes)
    if (costs.max() > costs.min()).any():
        raise ValueError("stratum must hold examples of one cost only where cells are small: add the cost to it")
    price = costs.mean().to_numpy()
    low, high = proportion_confint(in_a, annotated, alpha=(1 - confidence) / len(sizes), method="beta")
    complete = annotated == sizes
    share = in_a / annotated
    low, high = np.where(complete, share, low), np.where(complete, share, high)

    def difference(share_a: np.ndarray) -> float:
        a, b = sizes * share_a, sizes * (1 - share_a)
        return (a @ price) / max(a.sum(), 1e-12) - (b @ price) / max(b.sum(), 1e-12)

    # The most that the difference can be has shares of A that are high from some price on, and low below it.
    cuts = [-np.inf, *np.unique(price)]
    least = min(difference(np.where(price > cut, low, high)) for cut in cuts)
    most = max(difference(np.where(price > cut, high, low)) for cut in cuts)
    return Interval(difference(share), least, most, confidence, "stratified, exact limits")


def _examples(cost: ArrayLike, group: ArrayLike, max_cost: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    cost, group = np.asarray(cost, dtype=float), np.asarray(group, dtype=float)
    if cost.ndim != 1 or cost.shape != group.shape:
        raise ValueError(f"cost and group must be lists of the same length, found {cost.shape} and {group.shape}")
    if not np.all((cost >= 0) & (cost <= max_cost)):
        raise ValueError(f"cost must be in [0, max_cost={max_cost:g}]")
    known = ~np.isnan(group)
    if len(outside := np.setdiff1d(group[known], [-1, 0, 1])):
        raise ValueError(f"group must be +1, -1, 0 or NaN, found {outside[0]:g}")
    for side, name in ((1, "A (+1)"), (-1, "B (-1)")):
        if not np.any(group == side):
            raise ValueError(f"group must name annotated members of both groups, found none of {name}")
    return cost, group, known


def _small_cell(cost: np.ndarray, group: np.ndarray, known: np.ndarray) -> str | None:
    """Name the smallest cell if it is too small."""
    cells = {
        f"{side} {kind} an error": int(np.sum(known & (group == sign) & ((cost > 0) == wrong)))
        for side, sign in (("A", 1), ("B", -1))
        for kind, wrong in (("with", True), ("without", False))
    }
    name, count = min(cells.items(), key=lambda item: item[1])
    return f"only {count} annotated in {name}, fewer than {SMALLEST_CELL}" if count < SMALLEST_CELL else None


def _one_group_only(in_a: np.ndarray, annotated: np.ndarray, sizes: np.ndarray, names) -> str | None:
    """Name a stratum whose annotated are all of one group: as if its others were too, the variance there would be 0."""
    alike = (annotated < sizes) & ((in_a == 0) | (in_a == annotated))
    if not alike.any():
        return None
    first = int(np.argmax(alike))
    return f"all {annotated[first]} annotated in stratum {names[first]} are of one group"
