"""When groups are known for a few and guessed for the rest: the difference, its interval, and what to annotate.

The cost of every example is known; its group must be annotated, and guesses in its place shrink the difference. What
to annotate is best chosen by error and guess (`allocate`), since errors are rare and say most.

Both intervals are normal approximations. Where fewer than `SMALLEST_CELL` members of a group were annotated with, or
without, an error, they are undefined and say why; of a random sample, `disparity_interval` takes any number.

References: Angelopoulos et al. 2023 (Science 382, 669-674); Angelopoulos, Duchi & Zrnic 2023 (PPI++); Neyman 1934.
"""

import numpy as np
import pandas as pd
from scipy import stats

from fairlib.checks import checked, costs, examples, shown
from fairlib.interval import Interval, bisection

SMALLEST_CELL = 10  # annotated members of a group with, and without, an error


def prediction_powered(
    cost, predicted, group, *, max_cost: float = 1.0, confidence: float = 0.95
) -> Interval:
    """Return mean cost in A less mean cost in B, from guesses for all and annotations for a random sample.

    cost : of every example.
    predicted : the guessed probability that it is in A (or the guess itself, 0 or 1).
    group : +1 in A, -1 in B, 0 in neither; NaN where it was not annotated. What is annotated is drawn at random.

    The difference is a function of four means, of c 1_A, 1_A, c 1_B and 1_B: of the annotated, plus λ times what the
    guesses say of the rest less what they say of the annotated, with the λ that makes the interval narrowest (PPI++).
    The interval is the delta method's.

    >>> wrong = np.repeat([1, 0, 1, 0], [60, 140, 40, 160])
    >>> guess = np.repeat([1.0, 0.0], 200)  # the guessed probability of A
    >>> group = np.where(np.arange(400) % 2, np.nan, 2 * guess - 1)  # every other example was annotated
    >>> print(prediction_powered(wrong, guess, group))
    0.100 [0.015, 0.185] (95% prediction powered)
    """
    cost, group, known, truth, why = _annotated(cost, group, max_cost)
    predicted = _guesses(predicted, len(cost))
    if (found := (~known).sum()) < 2:
        raise ValueError(
            f"group must be NaN where it is not annotated, found {found} such: use disparity_interval"
        )
    guess = _features(cost, predicted, 1 - predicted)
    sample, rest = guess[known], guess[~known]
    gradient = _gradient(truth.mean(axis=0))
    (_, covariance), (_, variance) = np.cov(truth @ gradient, sample @ gradient)
    weight = (
        np.clip(covariance / (variance * (1 + len(truth) / len(rest))), 0, 1)
        if variance > 0
        else 0.0
    )
    corrected = truth - weight * sample
    means = corrected.mean(axis=0) + weight * rest.mean(axis=0)
    gradient = _gradient(means)
    variance = np.var(corrected @ gradient, ddof=1) / len(truth)
    variance += weight**2 * np.var(rest @ gradient, ddof=1) / len(rest)
    return _normal(means, variance, why, max_cost, confidence, "prediction powered")


def allocate(annotations: int, cost, predicted) -> pd.DataFrame:
    """Return how many to annotate in each stratum: with and without an error, guessed to be in A or in B.

    Columns error, guess, examples, share_a (the mean guess), annotate: at least 2, even where that is more than
    `annotations`, at most all, and else by the stratum's size times the deviation that is to be expected of an
    example's influence on the difference (Neyman 1934).

    >>> wrong = np.repeat([1, 0, 1, 0], [60, 140, 40, 160])
    >>> guess = np.repeat([1.0, 0.0], 200)  # the guessed probability of A
    >>> allocate(100, wrong, guess)["annotate"].tolist()
    [23, 26, 30, 20]
    """
    cost = costs("cost", cost)
    predicted = _guesses(predicted, len(cost))
    checked(
        "annotations",
        annotations,
        f"in [1, {len(cost)}]",
        lambda n: (n >= 1) & (n <= len(cost)),
    )
    frame = pd.DataFrame(
        {
            "error": cost > 0,
            "guess": np.where(predicted >= 0.5, "A", "B"),
            "p": predicted,
            "c": cost,
        }
    )
    table = frame.groupby(["error", "guess"]).agg(
        examples=("p", "size"), share_a=("p", "mean"), c=("c", "mean")
    )
    shares = np.array([predicted.mean(), 1 - predicted.mean()]).clip(1e-9)
    mean_a, mean_b = (
        np.average(cost, weights=predicted + 1e-12),
        np.average(cost, weights=1 - predicted + 1e-12),
    )
    jump = np.abs((table["c"] - mean_a) / shares[0] + (table["c"] - mean_b) / shares[1])
    deviation = jump.clip(1e-9) * np.sqrt(
        (table["share_a"] * (1 - table["share_a"])).clip(0.01)
    )
    sizes, wanted = (
        table["examples"].to_numpy(),
        (table["examples"] * deviation).to_numpy(),
    )
    # A stratum that is annotated completely leaves the rest to the others.
    scale = bisection(
        lambda s: np.minimum(s * wanted, sizes).sum() <= annotations,
        0,
        (sizes / wanted).max(),
        steps=99,
    )
    annotate = np.minimum(
        np.maximum(np.floor(scale * wanted + 1e-9).astype(int), 2), sizes
    )
    return table.assign(annotate=annotate).drop(columns="c").reset_index()


def stratified(
    cost, group, stratum, *, max_cost: float = 1.0, confidence: float = 0.95
) -> Interval:
    """Return mean cost in A less mean cost in B *in this data set*, from random samples within strata.

    group : +1 in A, -1 in B; NaN where it was not annotated.
    stratum : of every example, by anything that is known of all: its cost, the guessed group, both.

    It says what full annotation of these examples would give; for a claim about the system, annotate a random sample
    (`prediction_powered`). It is undefined too where the annotated of a stratum are all of one group: its variance
    would be 0.
    """
    cost, group, known, truth, why = _annotated(cost, group, max_cost)
    checked(
        "group", group[known], "+1 or -1 where it is annotated", lambda side: side != 0
    )
    codes, names = pd.factorize(np.asarray(stratum))
    if len(codes) != len(cost) or np.any(codes < 0):
        raise ValueError(
            f"stratum must be known for all {len(cost)} examples, found {np.sum(codes >= 0)}"
        )
    counted = codes, codes[known], codes[group == 1]
    sizes, annotated, in_a = (
        np.bincount(among, minlength=len(names)) for among in counted
    )
    if len(few := names[annotated < np.minimum(2, sizes)]):
        raise ValueError(
            f"stratum must have at least two annotated examples everywhere, found fewer in {shown(few)}"
        )
    alike = (annotated < sizes) & ((in_a == 0) | (in_a == annotated))
    if not why and alike.any():
        why = f"all {annotated[alike][0]} annotated in stratum {names[alike][0]} are of one group"
    means = (sizes / annotated)[codes[known]] @ truth / len(cost)
    influence = (
        pd.Series(truth @ _gradient(means))
        .groupby(codes[known])
        .var(ddof=1)
        .fillna(0)
        .to_numpy()
    )
    variance = np.sum(
        (sizes / len(cost)) ** 2 * influence * (1 / annotated - 1 / sizes)
    )
    return _normal(means, variance, why, max_cost, confidence, "stratified")


def _features(cost: np.ndarray, in_a: np.ndarray, in_b: np.ndarray) -> np.ndarray:
    return np.stack([cost * in_a, in_a, cost * in_b, in_b], axis=1)


def _gradient(means: np.ndarray) -> np.ndarray:
    """Return the derivatives of means[0] / means[1] - means[2] / means[3]."""
    cost_a, share_a, cost_b, share_b = means
    return np.array(
        [1 / share_a, -cost_a / share_a**2, -1 / share_b, cost_b / share_b**2]
    )


def _normal(
    means: np.ndarray,
    variance: float,
    why: str,
    max_cost: float,
    confidence: float,
    method: str,
) -> Interval:
    """Return the interval, within what differences can be; an undefined one if there is a reason why."""
    half_width = (
        np.nan
        if why
        else float(stats.norm.isf((1 - confidence) / 2) * np.sqrt(variance))
    )
    estimate = float(
        np.clip(means[0] / means[1] - means[2] / means[3], -max_cost, max_cost)
    )
    low, high = np.clip(
        [estimate - half_width, estimate + half_width], -max_cost, max_cost
    ).tolist()
    return Interval(
        estimate, low, high, confidence, f"{method}: {why}" if why else method
    )


def _annotated(
    cost, group, max_cost: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, str]:
    """Return costs, groups (0: unknown), which were annotated, their features, and the smallest cell if too small."""
    known = ~np.isnan(np.asarray(group, dtype=float))
    cost, group = examples(
        cost, np.where(known, group, 0), max_cost=max_cost, name="group"
    )
    cells = (
        "A with an error",
        "A without an error",
        "B with an error",
        "B without an error",
    )
    counts = np.bincount((2 * (group == -1) + (cost == 0))[group != 0], minlength=4)
    few = f"only {counts.min()} annotated in {cells[counts.argmin()]}, fewer than {SMALLEST_CELL}"
    truth = _features(cost, group == 1, group == -1)[known]
    return cost, group, known, truth, few if counts.min() < SMALLEST_CELL else ""


def _guesses(predicted, n: int) -> np.ndarray:
    predicted = checked(
        "predicted",
        predicted,
        "a probability in [0, 1]",
        lambda share: (share >= 0) & (share <= 1),
    )
    if predicted.shape != (n,):
        raise ValueError(
            f"predicted must be a probability for each of {n} examples, found shape {predicted.shape}"
        )
    return predicted
