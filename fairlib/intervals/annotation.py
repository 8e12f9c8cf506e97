"""The difference of two groups that are known for few examples and guessed for all.

The cost of every example is known, but its group has to be annotated by somebody. If
guesses simply replace annotations, the estimated difference is too small. The functions
here combine the two, and say which examples are best annotated (`allocate`): those with
an error, because errors are rare and carry most of the information.

Both intervals are normal approximations. Where fewer than ten members of a group
were annotated with an error, or without one, they are undefined and say why. For
a random sample of any size there is `disparity_interval`.

References: Angelopoulos et al. 2023 (Science 382, 669-674); Angelopoulos, Duchi & Zrnic
2023 (PPI++); Neyman 1934.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy import ndarray
from numpy.typing import ArrayLike
from pandas import DataFrame, Series
from scipy import stats

from fairlib.checks import checked, costs, examples, largest_cost, shown
from fairlib.interval import Interval, bisection

_SMALLEST_CELL = 10  # annotated members of a group with, and without, an error


def prediction_powered(
    cost: ArrayLike,
    predicted: ArrayLike,
    group: ArrayLike,
    *,
    max_cost: float = 1.0,
    confidence: float = 0.95,
) -> Interval:
    """Return how much more group A pays, from guesses for all and a few annotations.

    The difference of the two mean costs is a function of four means: of c 1_A, 1_A,
    c 1_B and 1_B, where c is the cost. Each mean is estimated by the mean of the
    annotated examples plus λ times what guesses add: the mean of the guesses for the
    rest, minus that for the annotated examples. λ is chosen so that the interval is
    narrowest (PPI++). The interval follows by the delta method.

    Parameters
    ----------
    cost : array_like of float
        Cost of every example, from 0 to `max_cost`.
    predicted : array_like of float
        Guessed probability that the example is in group A, or the guess itself (0, 1).
    group : array_like of float
        +1 in group A, -1 in group B, 0 in neither; NaN where it was not annotated. The
        annotated examples have to be a random sample of all.
    max_cost : float, default 1.0
        Largest cost that is possible.
    confidence : float, default 0.95
        Probability with which the interval contains the true difference.

    Returns
    -------
    Interval
        Mean cost in A minus mean cost in B; undefined where a cell is too small.

    Raises
    ------
    ValueError
        If an argument is out of range, or fewer than two examples are not annotated.

    Examples
    --------
    >>> wrong = np.repeat([1, 0, 1, 0], [60, 140, 40, 160])
    >>> guess = np.repeat([1.0, 0.0], 200)  # the guessed probability of A
    >>> is_annotated = np.arange(400) % 2 == 0  # every other example
    >>> group = np.where(is_annotated, 2 * guess - 1, np.nan)
    >>> print(prediction_powered(wrong, guess, group))
    0.100 [0.015, 0.185] (95% prediction powered)
    """
    data = _annotated(cost, group, max_cost)
    probability = _guesses(predicted, len(data.cost))
    unknown = int((~data.known).sum())
    if unknown < 2:
        raise ValueError(
            "group must be NaN where it is not annotated, "
            f"found {unknown} such: use disparity_interval"
        )

    truth = data.features
    guess = _features(data.cost, probability, 1 - probability)
    sample = guess[data.known]
    rest = guess[~data.known]

    # λ: how much of what the guesses say is worth adding
    gradient = _gradient(truth.mean(axis=0))
    (_, covariance), (_, variance_of_guess) = np.cov(
        truth @ gradient, sample @ gradient
    )
    weight = 0.0
    if variance_of_guess > 0:
        ratio = covariance / (variance_of_guess * (1 + len(truth) / len(rest)))
        weight = np.clip(ratio, 0, 1)

    corrected = truth - weight * sample
    means = corrected.mean(axis=0) + weight * rest.mean(axis=0)
    gradient = _gradient(means)
    variance = np.var(corrected @ gradient, ddof=1) / len(truth)
    variance += weight**2 * np.var(rest @ gradient, ddof=1) / len(rest)

    return _normal_interval(
        means,
        variance,
        max_cost=max_cost,
        confidence=confidence,
        method="prediction powered",
        undefined=data.undefined,
    )


def allocate(annotations: int, cost: ArrayLike, predicted: ArrayLike) -> DataFrame:
    """Return how many examples to annotate among those with and without an error.

    The examples form four strata: with and without an error, guessed to be in group A
    or in group B. The number of annotations of a stratum is proportional to its size
    times the standard deviation that is expected of an example's influence on the
    difference (Neyman 1934), but at least 2, even where that is more than `annotations`
    allow, and at most the whole stratum.

    Parameters
    ----------
    annotations : int
        How many examples can be annotated, from 1 to all.
    cost : array_like of float
        Cost of every example, at least 0.
    predicted : array_like of float
        Guessed probability that the example is in group A.

    Returns
    -------
    pandas.DataFrame
        One row per stratum, with columns error, guess ("A" or "B"), examples, share_a
        (the mean guessed probability of A) and annotate.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> wrong = np.repeat([1, 0, 1, 0], [60, 140, 40, 160])
    >>> guess = np.repeat([1.0, 0.0], 200)  # the guessed probability of A
    >>> allocate(100, wrong, guess)["annotate"].tolist()
    [23, 26, 30, 20]
    """
    known_cost = costs("cost", cost)
    probability = _guesses(predicted, len(known_cost))
    checked(
        "annotations",
        annotations,
        f"in [1, {len(known_cost)}]",
        lambda n: (n >= 1) & (n <= len(known_cost)),
    )

    frame = DataFrame(
        {
            "error": known_cost > 0,
            "guess": np.where(probability >= 0.5, "A", "B"),
            "probability": probability,
            "cost": known_cost,
        }
    )
    table = frame.groupby(["error", "guess"]).agg(
        examples=("probability", "size"),
        share_a=("probability", "mean"),
        mean_cost=("cost", "mean"),
    )

    sizes = table["examples"].to_numpy()
    deviation = _expected_deviation(table, known_cost, probability)
    wanted = (table["examples"] * deviation).to_numpy()

    # A stratum that is annotated completely leaves its surplus to the others.
    scale = bisection(
        lambda s: np.minimum(s * wanted, sizes).sum() <= annotations,
        0,
        (sizes / wanted).max(),
        steps=99,
    )
    rounded = np.floor(scale * wanted + 1e-9).astype(int)
    annotate = np.minimum(np.maximum(rounded, 2), sizes)

    return table.assign(annotate=annotate).drop(columns="mean_cost").reset_index()


def _expected_deviation(
    strata: DataFrame, cost: ndarray, probability: ndarray
) -> Series:
    """Return the standard deviation of an example's influence on the difference.

    Between "in A" and "in B" an example's influence jumps by (c - mean_a) / share_a +
    (c - mean_b) / share_b; which of the two it is has a variance of p (1 - p).
    """
    shares = np.array([probability.mean(), 1 - probability.mean()]).clip(1e-9)
    mean_a = np.average(cost, weights=probability + 1e-12)
    mean_b = np.average(cost, weights=1 - probability + 1e-12)

    jump_a = (strata["mean_cost"] - mean_a) / shares[0]
    jump_b = (strata["mean_cost"] - mean_b) / shares[1]
    jump = np.abs(jump_a + jump_b)
    variance = strata["share_a"] * (1 - strata["share_a"])
    return jump.clip(1e-9) * np.sqrt(variance.clip(0.01))


def stratified(
    cost: ArrayLike,
    group: ArrayLike,
    stratum: ArrayLike,
    *,
    max_cost: float = 1.0,
    confidence: float = 0.95,
) -> Interval:
    """Return how much more group A pays *in this data set*, from annotated strata.

    The interval is for the difference that full annotation of these examples would
    show. For a claim about the system, annotate a random sample and use
    `prediction_powered`.

    Parameters
    ----------
    cost : array_like of float
        Cost of every example, from 0 to `max_cost`.
    group : array_like of float
        +1 in group A, -1 in group B; NaN where it was not annotated. Within each
        stratum the annotated examples have to be a random sample.
    stratum : array_like
        Stratum of every example: anything that is known of all examples, such as its
        cost, its guessed group, or both.
    max_cost : float, default 1.0
        Largest cost that is possible.
    confidence : float, default 0.95
        Probability with which the interval contains the difference.

    Returns
    -------
    Interval
        Mean cost in A minus mean cost in B. It is undefined where a cell is too small,
        and where all annotated examples of a stratum are of one group, because the
        variance of that stratum would then be estimated as 0.

    Raises
    ------
    ValueError
        If an argument is out of range, if an example has no stratum, or if fewer than
        two examples of a stratum are annotated.
    """
    data = _annotated(cost, group, max_cost)
    checked(
        "group",
        data.group[data.known],
        "+1 or -1 where it is annotated",
        lambda side: side != 0,
    )
    n = len(data.cost)
    codes, names = pd.factorize(np.asarray(stratum))
    if len(codes) != n or np.any(codes < 0):
        raise ValueError(
            f"stratum must be known for all {n} examples, found {np.sum(codes >= 0)}"
        )

    known_codes = codes[data.known]
    sizes = np.bincount(codes, minlength=len(names))
    annotated = np.bincount(known_codes, minlength=len(names))
    in_a = np.bincount(codes[data.group == 1], minlength=len(names))
    few = names[annotated < np.minimum(2, sizes)]
    if len(few):
        raise ValueError(
            "stratum must have at least two annotated examples everywhere, "
            f"found fewer in {shown(few)}"
        )

    undefined = data.undefined
    one_group = (annotated < sizes) & ((in_a == 0) | (in_a == annotated))
    if not undefined and one_group.any():
        undefined = (
            f"all {annotated[one_group][0]} annotated "
            f"in stratum {names[one_group][0]} are of one group"
        )

    means = (sizes / annotated)[known_codes] @ data.features / n
    influence = Series(data.features @ _gradient(means))
    variances = influence.groupby(known_codes).var(ddof=1).fillna(0).to_numpy()
    shares = sizes / n
    variance = np.sum(shares**2 * variances * (1 / annotated - 1 / sizes))

    return _normal_interval(
        means,
        variance,
        max_cost=max_cost,
        confidence=confidence,
        method="stratified",
        undefined=undefined,
    )


def _features(cost: ndarray, in_a: ndarray, in_b: ndarray) -> ndarray:
    """Return c 1_A, 1_A, c 1_B and 1_B of each example, or what is guessed of them."""
    return np.stack([cost * in_a, in_a, cost * in_b, in_b], axis=1)


def _gradient(means: ndarray) -> ndarray:
    """Return the derivatives of means[0] / means[1] - means[2] / means[3]."""
    cost_a, share_a, cost_b, share_b = means
    return np.array(
        [1 / share_a, -cost_a / share_a**2, -1 / share_b, cost_b / share_b**2]
    )


def _normal_interval(
    means: ndarray,
    variance: float,
    *,
    max_cost: float,
    confidence: float,
    method: str,
    undefined: str,
) -> Interval:
    """Return estimate ± z √variance, within the possible differences.

    If there is a reason why the interval is undefined, its ends are NaN.
    """
    difference = means[0] / means[1] - means[2] / means[3]
    estimate = float(np.clip(difference, -max_cost, max_cost))

    if undefined:
        half_width = np.nan
        name = f"{method}: {undefined}"
    else:
        half_width = float(stats.norm.isf((1 - confidence) / 2) * np.sqrt(variance))
        name = method

    return Interval(
        estimate=estimate,
        low=float(np.clip(estimate - half_width, -max_cost, max_cost)),
        high=float(np.clip(estimate + half_width, -max_cost, max_cost)),
        confidence=confidence,
        method=name,
    )


@dataclass(frozen=True, kw_only=True)
class _Annotated:
    """Examples with known costs, the groups of some of them, and what these say."""

    cost: ndarray
    group: ndarray  # +1, -1, or 0 for neither and for not annotated
    known: ndarray  # whether the group was annotated
    features: ndarray  # of the annotated examples
    undefined: str  # why there can be no interval; empty if there can


def _annotated(cost: ArrayLike, group: ArrayLike, max_cost: float) -> _Annotated:
    """Return the examples, checked, and whether a cell is too small for an interval."""
    largest_cost(max_cost)
    known = ~np.isnan(np.asarray(group, dtype=float))
    known_cost, side = examples(
        cost, np.where(known, group, 0), max_cost=max_cost, name="group"
    )

    cells = (
        "A with an error",
        "A without an error",
        "B with an error",
        "B without an error",
    )
    cell = 2 * (side == -1) + (known_cost == 0)
    counts = np.bincount(cell[side != 0], minlength=4)
    undefined = ""
    if counts.min() < _SMALLEST_CELL:
        undefined = (
            f"only {counts.min()} annotated in {cells[counts.argmin()]}, "
            f"fewer than {_SMALLEST_CELL}"
        )

    return _Annotated(
        cost=known_cost,
        group=side,
        known=known,
        features=_features(known_cost, side == 1, side == -1)[known],
        undefined=undefined,
    )


def _guesses(predicted: ArrayLike, n: int) -> ndarray:
    """Return the guessed probabilities, checked: one for each of n examples."""
    probability = checked(
        "predicted",
        predicted,
        "a probability in [0, 1]",
        lambda share: (share >= 0) & (share <= 1),
    )
    if probability.shape != (n,):
        raise ValueError(
            f"predicted must be a probability for each of {n} examples, "
            f"found shape {probability.shape}"
        )
    return probability
