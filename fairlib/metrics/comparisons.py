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


def sums_over_pairs(
    compare: Callable[..., ndarray], score: ndarray | Sample
) -> ndarray:
    """Return, for each group, the sum of the comparisons of all pairs that contain it.

    Parameters
    ----------
    compare : callable
        A comparison of two scores. In a pair, the group that comes first in the table
        is the first one.
    score : ndarray of shape (..., groups), or Sample
        The scores of all groups.

    Returns
    -------
    ndarray of shape (..., groups)
        The sums. Every pair is part of two of them.

    Notes
    -----
    Distances between k numbers need no more than their order, so that k log k steps
    suffice. For other comparisons, each of the k (k - 1) / 2 pairs is compared, and one
    group with all later groups at a time is kept in memory.

    Examples
    --------
    >>> sums_over_pairs(absolute_difference, np.array([0.5, 0.25, 1.0])).tolist()
    [0.75, 1.0, 1.25]
    """
    if isinstance(score, Sample):
        if compare is wasserstein:
            # At each value, the distance is one between numbers: |F - G|.
            sums = _sums_of_distances(score.areas.swapaxes(-1, -2))
            return sums.sum(axis=-2)
        groups = score.size.shape[-1]
        sums = np.zeros(score.size.shape)
    else:
        if compare is absolute_difference and not np.isinf(score).any():
            return _sums_of_distances(score)
        groups = score.shape[-1]
        sums = np.zeros(score.shape)

    for first in range(groups - 1):
        later = np.arange(first + 1, groups)
        values = compare(score[..., np.full_like(later, first)], score[..., later])
        sums[..., first] += values.sum(axis=-1)
        sums[..., later] += values
    return sums


def _sums_of_distances(scores: ndarray) -> ndarray:
    """Return, for each number of the last axis, the sum of its distances to the others.

    A gap between neighbours of the sorted numbers is part of the distance to every
    number beyond the gap. Only gaps are added up, which are never negative, so that
    nothing is lost to rounding where numbers are almost equal.
    """
    order = scores.argsort(axis=-1)
    gaps = np.diff(np.take_along_axis(scores, order, axis=-1), axis=-1)
    below = np.arange(1, scores.shape[-1])

    to_lower = np.zeros(scores.shape)
    to_lower[..., 1:] = (gaps * below).cumsum(axis=-1)
    to_higher = np.zeros(scores.shape)
    to_higher[..., :-1] = (gaps * below[::-1])[..., ::-1].cumsum(axis=-1)[..., ::-1]

    sums = np.empty(scores.shape)
    np.put_along_axis(sums, order, to_lower + to_higher, axis=-1)
    return sums


def sums_of_mean_distances(groups: Sample) -> ndarray:
    """Return, for each group, the sum over all other groups of the mean of |a - b|.

    The mean is over all pairs of one value a of the first and one value b of the second
    group. With the distribution functions F and G it is ∫ F (1 - G) + G (1 - F). The
    sum over all G needs only the sum of all G.

    Parameters
    ----------
    groups : Sample
        The distributions of all groups.

    Returns
    -------
    ndarray of shape (draws, units, groups)
        The sums. Every pair of groups is part of two of them.
    """
    distance_to_next = np.diff(groups.values, axis=-1)
    at_most = groups.cdf[..., :-1]
    above = 1 - at_most

    others_at_most = at_most.sum(axis=-2, keepdims=True) - at_most
    others_above = above.sum(axis=-2, keepdims=True) - above
    means = at_most * others_above + above * others_at_most
    sums = (means * distance_to_next).sum(axis=-1)

    # Rounding may leave a sum just below 0.
    return np.maximum(sums, 0)


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
# closed form, for the pairs of each group or for all groups; nothing need be sampled.
OVER_PRODUCT = {
    absolute_difference: sums_of_mean_distances,
    score_range: mean_range,
}
