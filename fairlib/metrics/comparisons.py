"""d: how scores are compared, the second choice behind every fairness metric.

A comparison of two scores is a function of x and y, for a background metric the background and the group; one of all
groups at once is a function of X, whose last axis is the groups. Scores are arrays of numbers or `Sample`s.

>>> absolute_difference(np.array([0.25, 0.5]), np.array([0.75, 0.5])).tolist()
[0.5, 0.0]
>>> score_range(np.array([[0.25, 0.5, 0.75]])).tolist()
[0.5]
"""

import numpy as np

from fairlib.metrics.cells import Sample, described, divide


@described("|x − y|")
def absolute_difference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How far apart two scores are."""
    return np.abs(x - y)


@described("x − y", signed=True)
def difference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How much higher the first score is than the second."""
    return x - y


@described("y − x", signed=True)
def above_background(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How much higher the group's score y is than the background's score x."""
    return y - x


@described("y / x", neutral=1.0)
def ratio_to_background(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How many times the background's score x the group's score y is; infinite over 0, undefined for 0/0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.true_divide(y, x)


@described("x / y", neutral=1.0)
def ratio(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How many times the second score the first one is; infinite over 0, undefined for 0/0."""
    return ratio_to_background(y, x)


@described("W₁(X, Y)")
def wasserstein(x: Sample, y: Sample) -> np.ndarray:
    """How far probability has to move, on average, to turn one distribution of scores into the other: ∫ |F − G|."""
    return np.abs(x.areas - y.areas).sum(axis=-1)


@described("1/2 − MWU(X, Y) / (|X| |Y|)", signed=True)
def equality_gap(x: Sample, y: Sample) -> np.ndarray:
    """How much likelier than not a draw from y exceeds a draw from x, ties counting half: P(y > x) + P(y = x)/2 − 1/2.

    With the background as x, a negative value says that the group's scores tend to be lower than the background's.
    """
    return superiority(y, x) - 0.5


def superiority(x: Sample, y: Sample) -> np.ndarray:
    """P(x > y) + P(x = y)/2: the Mann-Whitney U of x over |X| |Y|, which is also the area under a ROC curve."""
    below = np.concatenate([np.zeros_like(y.cdf[..., :1]), y.cdf[..., :-1]], axis=-1)
    return divide(np.einsum("...u,...u->...", x.weights, below + y.cdf), 2 * x.size)


@described("std(X)")
def standard_deviation(scores: np.ndarray) -> np.ndarray:
    """How far the groups' scores are from their mean: the standard deviation of a population (divided by |T|)."""
    return scores.std(axis=-1)


@described("max(X) − min(X)")
def score_range(scores: np.ndarray) -> np.ndarray:
    """How far the highest of the groups' scores is above the lowest."""
    return scores.max(axis=-1) - scores.min(axis=-1)


def mean_absolute_difference(groups: Sample) -> np.ndarray:
    """The mean of |a − b| over all pairs of one value from each of two groups, for all pairs: ∫ F + G − 2FG."""
    area, product = (
        groups.areas.sum(axis=-1),
        groups.areas @ groups.cdf[..., :-1].swapaxes(-1, -2),
    )
    first, second = np.triu_indices(area.shape[-1], 1)
    return np.maximum(
        area[..., first] + area[..., second] - 2 * product[..., first, second], 0
    )


def mean_range(groups: Sample) -> np.ndarray:
    """The mean range over all combinations of one value per group: ∫ 1 − ∏F − ∏(1 − F)."""
    inside = 1 - groups.cdf.prod(axis=-2) - (1 - groups.cdf).prod(axis=-2)
    return (inside[..., :-1] * np.diff(groups.values[..., 0, :], axis=-1)).sum(axis=-1)


def of_pairs(compare, score: np.ndarray | Sample) -> np.ndarray:
    """Compare all pairs of groups i < j, which take the place of the groups in the last axis."""
    groups = (score.size if isinstance(score, Sample) else score).shape[-1]
    first, second = np.triu_indices(groups, 1)
    if not isinstance(score, Sample):
        return compare(score[..., first], score[..., second])
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    return np.concatenate(
        [compare(score[..., i : i + 1], score[..., j : j + 1]) for i, j in pairs],
        axis=-1,
    )


# For scores of one variation at a time: the mean of the comparison over the whole Cartesian product of variations,
# of all pairs of groups or of all groups, where that has a closed form, so that nothing need be sampled.
OVER_PRODUCT = {absolute_difference: mean_absolute_difference, score_range: mean_range}
