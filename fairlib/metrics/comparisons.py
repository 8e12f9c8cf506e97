"""How scores are compared: the second of the two choices behind a fairness metric.

The paper calls a comparison d. Most compare two scores, x and y: those of two groups,
or, for a metric with a background, that of the background (x) and that of the group
(y). Others compare the scores of all groups at once; the groups are then the last axis.
A score is an array of numbers, or a `Sample` where it is a distribution.

>>> absolute_difference(np.array([0.25, 0.5]), np.array([0.75, 0.5])).tolist()
[0.5, 0.0]
>>> score_range(np.array([[0.25, 0.5, 0.75]])).tolist()
[0.5]
"""

from collections.abc import Callable

import numpy as np
from numpy import ndarray

from fairlib.metrics.cells import Sample, described, divide

# --- comparisons of two scores --------------------------------------------------------


@described(symbol="|x − y|", words="How far apart two scores are")
def absolute_difference(x: ndarray, y: ndarray) -> ndarray:
    """Return how far apart two scores are: |x − y|.

    Parameters
    ----------
    x, y : ndarray
        The scores.

    Returns
    -------
    ndarray
        The distances; 0 where the scores are equal.
    """
    return np.abs(x - y)


@described(
    symbol="x − y",
    words="How much higher the first score is than the second",
    signed=True,
)
def difference(x: ndarray, y: ndarray) -> ndarray:
    """Return how much higher the first score is than the second: x − y.

    Parameters
    ----------
    x, y : ndarray
        The scores of the first and of the second group.

    Returns
    -------
    ndarray
        The differences; positive where the first score is higher.
    """
    return x - y


@described(
    symbol="y − x",
    words="How much higher the group's score y is than the background's score x",
    signed=True,
)
def above_background(x: ndarray, y: ndarray) -> ndarray:
    """Return how much higher a group's score is than its background's: y − x.

    Parameters
    ----------
    x, y : ndarray
        The scores of the background and of the group.

    Returns
    -------
    ndarray
        The differences; positive where the group's score is higher.
    """
    return y - x


@described(
    symbol="y / x",
    words="How many times the background's score x the group's score y is; "
    "infinite over 0, undefined for 0/0",
    neutral=1.0,
)
def ratio_to_background(x: ndarray, y: ndarray) -> ndarray:
    """Return how many times the background's score a group's score is: y / x.

    Parameters
    ----------
    x, y : ndarray
        The scores of the background and of the group.

    Returns
    -------
    ndarray
        The ratios; infinite where only the background's score is 0, NaN where both
        scores are 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.true_divide(y, x)


@described(
    symbol="x / y",
    words="How many times the second score the first one is; "
    "infinite over 0, undefined for 0/0",
    neutral=1.0,
)
def ratio(x: ndarray, y: ndarray) -> ndarray:
    """Return how many times the second score the first one is: x / y.

    Parameters
    ----------
    x, y : ndarray
        The scores of the first and of the second group.

    Returns
    -------
    ndarray
        The ratios; infinite where only the second score is 0, NaN where both are 0.
    """
    return ratio_to_background(y, x)


@described(
    symbol="W₁(X, Y)",
    words="How far probability has to move, on average, to turn one distribution of "
    "scores into the other: ∫ |F − G|",
)
def wasserstein(x: Sample, y: Sample) -> ndarray:
    """Return the Wasserstein-1 distance of two distributions of scores: ∫ |F − G|.

    This is how far probability has to move, on average, to turn one distribution into
    the other. F and G are the distribution functions, whose areas are compared.

    Parameters
    ----------
    x, y : Sample
        The distributions.

    Returns
    -------
    ndarray
        The distances.
    """
    return np.abs(x.areas - y.areas).sum(axis=-1)


@described(
    symbol="1/2 − MWU(X, Y) / (|X| |Y|)",
    words="How much likelier than not a draw from y exceeds a draw from x, ties "
    "counting half: P(y > x) + P(y = x)/2 − 1/2",
    signed=True,
)
def equality_gap(x: Sample, y: Sample) -> ndarray:
    """Return how much likelier than not a value of y exceeds a value of x.

    The value is P(y > x) + P(y = x)/2 − 1/2, where ties count half. With the background
    as x, a negative value means that the group's scores tend to be lower than those of
    the background.

    Parameters
    ----------
    x, y : Sample
        The distributions of the background and of the group.

    Returns
    -------
    ndarray
        The gaps, from −1/2 to 1/2.
    """
    return superiority(y, x) - 0.5


def superiority(x: Sample, y: Sample) -> ndarray:
    """Return how often a value of x exceeds a value of y: P(x > y) + P(x = y)/2.

    This is the Mann-Whitney U of x divided by |X| |Y|. If x holds the positive examples
    and y the negative ones, it is the area under the ROC curve.

    Parameters
    ----------
    x, y : Sample
        The distributions.

    Returns
    -------
    ndarray
        The probabilities; NaN where a distribution is empty.
    """
    nothing = np.zeros_like(y.cdf[..., :1])
    below = np.concatenate([nothing, y.cdf[..., :-1]], axis=-1)

    # P(y < v) + P(y ≤ v) counts a tie once, and what is below v twice.
    twice = np.einsum("...u,...u->...", x.weights, below + y.cdf)
    return divide(twice, 2 * x.size)


# --- comparisons of all groups at once ------------------------------------------------


@described(
    symbol="std(X)",
    words="How far the groups' scores are from their mean: the standard deviation of a "
    "population (divided by |T|)",
)
def standard_deviation(scores: ndarray) -> ndarray:
    """Return how far the groups' scores are from their mean.

    This is the standard deviation of a population: squares are divided by |T|, the
    number of groups.

    Parameters
    ----------
    scores : ndarray of shape (..., groups)
        The scores of all groups.

    Returns
    -------
    ndarray of shape (...)
        The standard deviations.
    """
    return scores.std(axis=-1)


@described(
    symbol="max(X) − min(X)",
    words="How far the highest of the groups' scores is above the lowest",
)
def score_range(scores: ndarray) -> ndarray:
    """Return how far the highest of the groups' scores is above the lowest.

    Parameters
    ----------
    scores : ndarray of shape (..., groups)
        The scores of all groups.

    Returns
    -------
    ndarray of shape (...)
        The ranges.
    """
    return scores.max(axis=-1) - scores.min(axis=-1)


# --- over pairs of groups, and over all combinations of their examples ----------------


def of_pairs(compare: Callable[..., ndarray], score: ndarray | Sample) -> ndarray:
    """Compare all pairs of groups (i, j) with i < j.

    Parameters
    ----------
    compare : callable
        A comparison of two scores.
    score : ndarray of shape (..., groups), or Sample
        The scores of all groups.

    Returns
    -------
    ndarray of shape (..., pairs)
        The comparisons, in the order (0, 1), (0, 2), ..., (1, 2), ...
    """
    if not isinstance(score, Sample):
        first, second = np.triu_indices(score.shape[-1], 1)
        return compare(score[..., first], score[..., second])

    first, second = np.triu_indices(score.size.shape[-1], 1)
    compared = []
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        compared.append(compare(score[..., i : i + 1], score[..., j : j + 1]))
    return np.concatenate(compared, axis=-1)


def mean_absolute_difference(groups: Sample) -> ndarray:
    """Return the mean of |a − b| for every pair of groups: ∫ F + G − 2FG.

    The mean is over all pairs of one value a of the first and one value b of the second
    group. F and G are the groups' distribution functions.

    Parameters
    ----------
    groups : Sample
        The distributions of all groups.

    Returns
    -------
    ndarray of shape (draws, units, pairs)
        The means, in the order of `of_pairs`.
    """
    area = groups.areas.sum(axis=-1)
    area_of_product = groups.areas @ groups.cdf[..., :-1].swapaxes(-1, -2)

    first, second = np.triu_indices(area.shape[-1], 1)
    area_of_pairs = area[..., first] + area[..., second]
    means = area_of_pairs - 2 * area_of_product[..., first, second]

    # Rounding may leave a mean just below 0.
    return np.maximum(means, 0)


def mean_range(groups: Sample) -> ndarray:
    """Return the mean range of one value per group: ∫ 1 − ∏F − ∏(1 − F).

    The mean is over all combinations of one value from each group. At a point v, ∏F is
    the chance that all of the values are at most v, and ∏(1 − F) that all exceed it;
    else v lies inside their range.

    Parameters
    ----------
    groups : Sample
        The distributions of all groups.

    Returns
    -------
    ndarray of shape (draws, units)
        The means.
    """
    all_at_most = groups.cdf.prod(axis=-2)
    all_above = (1 - groups.cdf).prod(axis=-2)
    inside = 1 - all_at_most - all_above

    distance_to_next = np.diff(groups.values[..., 0, :], axis=-1)
    return (inside[..., :-1] * distance_to_next).sum(axis=-1)


# The mean of some comparisons over all combinations of one variation per group has a
# closed form, for every pair of groups or for all groups, so nothing need be sampled.
OVER_PRODUCT = {
    absolute_difference: mean_absolute_difference,
    score_range: mean_range,
}
