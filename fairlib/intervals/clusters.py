"""Intervals for means of examples that come in few clusters.

Clusters are templates, schools or raters, for example. Examples of one cluster
resemble one another, so 3 to 40 clusters say much less about a mean than their examples
would if these were independent. The interval follows from three known ideas, each of
which mends a fault of the one before:

1. *How far clusters vary.* Let cluster c hold the share h_c of all examples, and let
   r_c be the sum of its values, minus its number of examples times the mean, divided by
   the number of all examples. The variance of the mean is estimated by

       V = Σ r_c² / (1 - h_c)

   For independent examples V has no bias, and a number f₀ of degrees of freedom that
   follows from the h_c (Bell and McCaffrey 2002). Clusters of unequal size therefore
   count as fewer clusters.
2. *Rates have limits.* A mean m on a scale from 0 to 1 is worth W = m (1 - m) / V
   independent cases, and Clopper and Pearson's limits for W cases replace m ± t √V, so
   that no limit lies beyond the scale (Korn and Graubard 1998). W is multiplied by
   (z/t)², where t has f degrees of freedom, because V is estimated.
3. *Rare events make V uncertain too.* Where the mean is close to an end of the scale, a
   few clusters hold all that varies, and V may be far too small. So f is at most about
   as large as the number of events that the data are worth:

       1/f = 1/f₀ + max(0, 1 - 5 m (1 - m)) / (W m (1 - m))

   This is Satterthwaite's formula for clusters' means whose variance is ρ m (1 - m) and
   whose excess kurtosis is 2 ρ (1/(m (1 - m)) - 5). That lies between a binomial
   distribution, where the leading factor is 1, and a beta distribution, where it is
   about 6.

If all clusters have the same mean m, V is 0 and says nothing about clusters that were
not drawn. With confidence 1 - α/2, a share b = (α/2)^(Σ h_c²) of all clusters is like
these, and the others may lie at either end of the scale. So the interval is
[m b, 1 - (1 - m) b]. It is exact for clusters of equal size, whatever the correlation
within them: nothing wrong in 25 templates says that at most 13.7 % is wrong, however
many sentences each has. A single error says more about clusters than none does (it
shows that errors come alone), and may give a narrower interval.

What is promised, and where it fails, is in the notes of `interval`.

References
----------
Bell, McCaffrey (2002), "Bias reduction in standard errors for linear regression with
multi-stage samples", Survey Methodology 28.

Korn, Graubard (1998), "Confidence intervals for proportions with small expected number
of positive counts estimated from survey data", Survey Methodology 24.
"""

from dataclasses import dataclass

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri, stdtrit

from fairlib.checks import check_confidence, check_word
from fairlib.interval import Interval
from fairlib.intervals.cluster_checks import (
    checked_sums,
    examples,
    on_scale,
)

_FEWEST_CLUSTERS = 3
_ROUNDING = 1e-20  # variances on a scale from 0 to 1 that are this small are 0
_SMALLEST_POSITIVE = 1e-300  # in place of 0 as a divisor, or as a count

Ends = tuple[ndarray, ndarray]


def interval(
    values: ArrayLike,
    clusters: ArrayLike,
    *,
    weights: str = "items",
    bounds: tuple[float, float] = (0, 1),
    confidence: float = 0.95,
) -> Interval:
    """Return an interval for a mean of examples that come in few clusters.

    Use it where examples share a template, a document or a rater. The clusters are
    taken to be drawn at random from many: the interval is for the mean over all
    clusters like these.

    Parameters
    ----------
    values : array_like of float
        The value of each example, such as an error (0 or 1) or a score.
    clusters : array_like
        The cluster of each example, as a number or a word.
    weights : {"items", "clusters"}, default "items"
        "items" is the mean of all examples: a cluster counts as much as it has
        examples. "clusters" is the mean of the clusters' means: all count alike.
    bounds : tuple of float, default (0, 1)
        The lowest and the highest value that is possible.
    confidence : float, default 0.95
        The share of samples in which the interval should contain the true mean.

    Returns
    -------
    Interval
        The mean with its interval. It never has zero width, not even where all clusters
        are alike.

    Raises
    ------
    ValueError
        If there are fewer than 3 clusters, if a value or a cluster is missing, or if a
        value is out of bounds.

    Notes
    -----
    `benchmarks/clusters.md` counts how often the interval contains the true mean, for 3
    to 40 clusters of equal and unequal sizes, means from 0.01 to 0.5 and design effects
    up to 40, and compares it with eight other methods.

    *What holds*: a 95 % interval covers the mean in 94 % of samples or more (up to the
    Monte Carlo error of 0.4 points) wherever the true means of clusters spread as a
    beta or a logit-normal distribution does, and sizes do not depend on them. Among the
    worlds in which Bell and McCaffrey's t interval covers 94 % too, the median width is
    at most 1.3 times that of t from 5 clusters on. With 3 clusters and rates of 10 % or
    less it is up to twice as wide.

    *What does not hold*: if large clusters have higher means, the mean of items is
    covered in 93 % of samples (sizes that differ by a factor of e between means of 0
    and 1), and less often if the dependence is stronger. This does not concern the mean
    of clusters. If a tenth of all clusters is very different (errors in half of the
    cases instead of 2 %), a sample of 3 to 10 clusters often contains none of these,
    and cannot know of them: coverage is as low as 70 %. Of the methods that were
    compared, only betting covers there. If one cluster holds more than nine tenths of
    all examples, coverage may be below 90 %.

    The clusters are taken to be a random sample. The interval says nothing about
    clusters of another kind.

    Examples
    --------
    >>> errors = [0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0]
    >>> template = ["a", "a", "a", "b", "b", "b", "c", "c", "c", "d", "d", "d"]
    >>> print(interval(errors, template))
    0.333 [0.026, 0.831] (95% t over 4 clusters)
    >>> print(interval([0] * 12, template))  # no error yet
    0.000 [0.000, 0.602] (95% t over 4 clusters)
    """
    check_word("weights", weights, ("items", "clusters"))
    value, cluster = examples(values, clusters, bounds)
    n = np.bincount(cluster)
    k = np.bincount(cluster, value)
    if len(n) < _FEWEST_CLUSTERS:
        raise ValueError(
            f"clusters must name at least {_FEWEST_CLUSTERS} clusters, found {len(n)}"
        )

    low, high = from_sums(n, k, weights=weights, bounds=bounds, confidence=confidence)
    estimate = value.mean() if weights == "items" else np.mean(k / n)
    return Interval(
        estimate=float(estimate),
        low=float(low),
        high=float(high),
        confidence=confidence,
        method=f"t over {len(n)} clusters",
    )


def from_sums(
    n: ArrayLike,
    k: ArrayLike,
    *,
    weights: str = "items",
    bounds: tuple[float, float] = (0, 1),
    confidence: float = 0.95,
) -> Ends:
    """Return intervals for many means at once, from each cluster's size and sum.

    This is `interval` for data that were counted already: the last axis of both arrays
    is the cluster, and every other axis is a mean of its own.

    Parameters
    ----------
    n : array_like of float, (..., clusters)
        Number of examples of each cluster. Clusters without examples are left out.
    k : array_like of float, (..., clusters)
        Sum of their values, such as the number of errors.
    weights : {"items", "clusters"}, default "items"
        Whether a cluster counts as much as it has examples, or all count alike.
    bounds : tuple of float, default (0, 1)
        The lowest and the highest value that is possible.
    confidence : float, default 0.95
        The share of samples in which an interval should contain the true mean.

    Returns
    -------
    tuple of ndarray
        The low and the high end for each mean; NaN for fewer than 3 clusters.

    Raises
    ------
    ValueError
        If a size is negative, or a sum is not possible for its size.

    Examples
    --------
    >>> low, high = from_sums([[10, 10, 20, 5], [8, 8, 8, 8]], [[2, 1, 6, 0], [0] * 4])
    >>> print(low.round(3), high.round(3))
    [0.018 0.   ] [0.598 0.602]
    """
    check_word("weights", weights, ("items", "clusters"))
    check_confidence(confidence)
    side = _side(n, k, names=("n", "k"), bounds=bounds, weights=weights)

    low, high = _limits(side, side.freedom, alpha=1 - confidence)
    return on_scale(low, bounds), on_scale(high, bounds)


def difference_from_sums(
    n_a: ArrayLike,
    k_a: ArrayLike,
    n_b: ArrayLike,
    k_b: ArrayLike,
    *,
    bounds: tuple[float, float] = (0, 1),
    confidence: float = 0.95,
) -> Ends:
    """Return intervals for differences of two means of items, from sums per cluster.

    A cluster may hold examples of both sides, as a template that is filled with the
    terms of two groups does: then the two sums of the cluster may be correlated, which
    makes the interval narrower. Or each side has clusters of its own: then n is 0 on
    the other side.

    Parameters
    ----------
    n_a, k_a : array_like of float, (..., clusters)
        Number of side A's examples in each cluster, and the sum of their values.
    n_b, k_b : array_like of float, (..., clusters)
        The same of side B. Equal positions are the same cluster.
    bounds : tuple of float, default (0, 1)
        The lowest and the highest value that is possible.
    confidence : float, default 0.95
        The share of samples in which an interval should contain the true difference.

    Returns
    -------
    tuple of ndarray
        The low and the high end for the mean of A minus the mean of B; NaN where a side
        has fewer than 3 clusters.

    Raises
    ------
    ValueError
        If a size is negative, or a sum is not possible for its size.

    Notes
    -----
    What a cluster adds to the difference is r_a - r_b, with the residuals of each side
    as shares of the side's examples. The variance of the difference is V_a + V_b -
    2 Σ r_a r_b / √((1 - h_a) (1 - h_b)). Its degrees of freedom are those that it would
    have if examples were independent: one less than the number of clusters if both
    sides share equal clusters, and those of Welch if each side has its own. They are
    computed once with V_a and V_b, and once as if the means of all clusters varied
    alike; the smaller number counts. Rare events reduce it as in `interval`. The sides'
    limits, with these degrees of freedom, are combined as the sides of a triangle whose
    angle depends on the correlation (Zou and Donner 2008).

    By `benchmarks/clusters.md`, at most 5 % of the differences are claimed falsely from
    5 clusters a side on, shared or not, of equal or unequal sizes, with design effects
    up to 40. With 3 shared clusters it may be 8 %. Where few clusters are very
    different from all others, and one side has many more clusters than the other,
    it is up to 20 %: the smaller side does not know of such clusters.

    References
    ----------
    Zou, Donner (2008), "Construction of confidence limits about effect measures: a
    general approach", Statistics in Medicine 27.

    Examples
    --------
    >>> n = [12, 12, 12, 12, 12, 12]
    >>> errors_a = [6, 2, 5, 9, 4, 7]
    >>> errors_b = [4, 1, 2, 6, 3, 3]
    >>> low, high = difference_from_sums(n, errors_a, n, errors_b)
    >>> print(f"{low:.3f} {high:.3f}")
    0.093 0.318
    """
    check_confidence(confidence)
    a = _side(n_a, k_a, names=("n_a", "k_a"), bounds=bounds)
    b = _side(n_b, k_b, names=("n_b", "k_b"), bounds=bounds)
    if a.share.shape[-1] != b.share.shape[-1]:
        raise ValueError(
            "n_a and n_b must have as many clusters, "
            f"found {a.share.shape[-1]} and {b.share.shape[-1]}"
        )

    low, high = _limits_of_difference(a, b, alpha=1 - confidence)
    width = bounds[1] - bounds[0]
    return width * low, width * high


@dataclass(frozen=True, eq=False, kw_only=True)
class Worth:
    """How much two sides' clusters say, for intervals that are made elsewhere.

    Attributes
    ----------
    cases : ndarray, (2, ...)
        The number of independent cases of 0 or 1 that say as much about each mean.
    freedom : ndarray, (...)
        The degrees of freedom of the variance of the difference.
    correlation : ndarray, (...)
        The correlation of the two means.
    """

    cases: ndarray
    freedom: ndarray
    correlation: ndarray


def worth_of_sides(
    *,
    n_a: ArrayLike,
    k_a: ArrayLike,
    n_b: ArrayLike,
    k_b: ArrayLike,
    bounds: tuple[float, float] = (0, 1),
) -> Worth:
    """Return what `difference_from_sums` knows before it makes intervals.

    Clopper and Pearson's limits for `cases` cases, with `freedom` degrees of freedom,
    combined as in `difference_from_sums`, are its intervals. Where all clusters of a
    side are alike, a side is worth as many cases as it has clusters of equal size, and
    no correlation is counted.

    Parameters
    ----------
    n_a, k_a, n_b, k_b, bounds
        As in `difference_from_sums`.
    """
    a = _side(n_a, k_a, names=("n_a", "k_a"), bounds=bounds)
    b = _side(n_b, k_b, names=("n_b", "k_b"), bounds=bounds)

    cases = []
    for side in (a, b):
        is_alike = side.variance == 0
        variance = np.where(is_alike, 1.0, side.variance)
        clusters = 1 / np.maximum(side.concentration, _SMALLEST_POSITIVE)
        cases.append(np.where(is_alike, clusters, side.largest_variance / variance))

    differ_alike = ((a.residual - b.residual) ** 2).sum(axis=-1) < _ROUNDING
    return Worth(
        cases=np.stack(cases),
        freedom=_freedom_of_difference(a, b),
        correlation=np.where(differ_alike, 0.0, _correlation(a, b)),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Limits:
    """The limits of two sides' means, on a scale from 0 to 1.

    Attributes
    ----------
    mean, low, high : ndarray, (2, ...)
        The means of both sides with their limits; NaN for fewer than 3 clusters.
    correlation : ndarray, (...)
        The correlation of the two means; 0 where the sides are in the same proportion
        in every cluster, because other clusters may differ.
    """

    mean: ndarray
    low: ndarray
    high: ndarray
    correlation: ndarray


def limits_of_sides(
    sides: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
    *,
    bounds: tuple[float, float] = (0, 1),
    alpha: float = 0.05,
) -> Limits:
    """Return the limits from which an interval for a ratio of two means is made.

    Parameters
    ----------
    sides : tuple of array_like
        n_a, k_a, n_b and k_b of `difference_from_sums`.
    bounds : tuple of float, default (0, 1)
        The lowest and the highest value that is possible.
    alpha : float, default 0.05
        One minus the confidence.
    """
    n_a, k_a, n_b, k_b = sides
    a = _side(n_a, k_a, names=("n_a", "k_a"), bounds=bounds)
    b = _side(n_b, k_b, names=("n_b", "k_b"), bounds=bounds)
    freedom = _freedom_of_difference(a, b)
    low_a, high_a = _limits(a, freedom, alpha=alpha)
    low_b, high_b = _limits(b, freedom, alpha=alpha)

    residual = a.residual * b.mean[..., None] - b.residual * a.mean[..., None]
    in_proportion = (residual**2).sum(axis=-1) < _ROUNDING
    return Limits(
        mean=np.stack([a.mean, b.mean]),
        low=np.stack([low_a, low_b]),
        high=np.stack([high_a, high_b]),
        correlation=np.where(in_proportion, 0.0, _correlation(a, b)),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Side:
    """What the clusters say about means on a scale from 0 to 1.

    Attributes
    ----------
    share : ndarray, (..., clusters)
        h_c, the share of all examples that each cluster holds.
    residual : ndarray, (..., clusters)
        r_c / √(1 - h_c), whose squares add up to the variance.
    mean : ndarray
        The mean; NaN for fewer than 3 clusters.
    """

    share: ndarray
    residual: ndarray
    mean: ndarray

    @property
    def variance(self) -> ndarray:
        """V, the variance of the mean."""
        variance = (self.residual**2).sum(axis=-1)
        return np.where(variance < _ROUNDING, 0.0, variance)

    @property
    def concentration(self) -> ndarray:
        """Σ h_c²: 1 over the number of clusters, if these have equal sizes."""
        return (self.share**2).sum(axis=-1)

    @property
    def largest_variance(self) -> ndarray:
        """The variance of a case that is 0 or 1 and has this mean."""
        return np.maximum(self.mean * (1 - self.mean), _SMALLEST_POSITIVE)

    @property
    def rarity(self) -> ndarray:
        """How much rare events reduce the degrees of freedom: 1/f - 1/f₀."""
        excess = np.maximum(1 - 5 * self.largest_variance, 0)
        ratio = np.sqrt(self.variance) / self.largest_variance
        return excess * ratio**2

    @property
    def freedom(self) -> ndarray:
        """f, the degrees of freedom of the variance."""
        spread = _spread(self.share)
        inverse = self.concentration + _off_diagonal(spread, spread) + self.rarity
        return 1 / np.maximum(inverse, _SMALLEST_POSITIVE)


def _limits_of_difference(a: _Side, b: _Side, *, alpha: float) -> Ends:
    """Return the ends of intervals for differences on a scale from -1 to 1."""
    freedom = _freedom_of_difference(a, b)
    low_a, high_a = _limits(a, freedom, alpha=alpha)
    low_b, high_b = _limits(b, freedom, alpha=alpha)
    correlation = _correlation(a, b)

    difference = a.mean - b.mean
    below = _third_side(a.mean - low_a, high_b - b.mean, correlation)
    above = _third_side(high_a - a.mean, b.mean - low_b, correlation)

    # Sides that differ by the same amount in every cluster: clusters that were not
    # drawn may still differ by as much as is possible.
    residual = a.residual - b.residual
    is_alike = ((residual**2).sum(axis=-1) < _ROUNDING) & (a.variance > 0)
    share = (alpha / 2) ** np.maximum(a.concentration, b.concentration)
    below = np.where(is_alike, (1 + difference) * (1 - share), below)
    above = np.where(is_alike, (1 - difference) * (1 - share), above)
    return np.maximum(difference - below, -1), np.minimum(difference + above, 1)


def _correlation(a: _Side, b: _Side) -> ndarray:
    """Return the correlation of two means; 0 if one of them does not vary."""
    covariance = (a.residual * b.residual).sum(axis=-1)
    scale = np.sqrt(a.variance * b.variance)
    return (covariance / np.where(scale > 0, scale, 1)).clip(-1, 1)


def _third_side(one: ndarray, other: ndarray, correlation: ndarray) -> ndarray:
    """Return the third side of triangles, whose angle has this cosine."""
    squared = one**2 + other**2 - 2 * correlation * one * other
    return np.sqrt(np.maximum(squared, 0))


def _freedom_of_difference(a: _Side, b: _Side) -> ndarray:
    """Return the degrees of freedom of the variance of a difference.

    A side of few clusters may vary little by chance, and would then be counted as if
    its variance did not matter. So we also take the sides' parts to be those that they
    have if the means of all clusters vary alike, and choose the smaller result.
    """
    estimated = _freedom_with_parts(a, b, a.variance, b.variance)
    expected = _freedom_with_parts(a, b, a.concentration, b.concentration)
    return np.minimum(estimated, expected)


def _freedom_with_parts(a: _Side, b: _Side, of_a: ndarray, of_b: ndarray) -> ndarray:
    """Return the degrees of freedom if the sides' variances are in this proportion.

    What clusters c and d add has the covariance -(v_a s_c s_d + v_b t_c t_d), where v_a
    and v_b are the sides' variances, and s and t are their `_spread`.
    """
    total = of_a + of_b
    part_a = np.where(total > 0, of_a / np.where(total > 0, total, 1), 0.5)
    part_b = 1 - part_a
    of_clusters = part_a[..., None] * a.share + part_b[..., None] * b.share
    inverse = (of_clusters**2).sum(axis=-1)

    spread_a = _spread(a.share)
    spread_b = _spread(b.share)
    for part, one, other in (
        (part_a**2, spread_a, spread_a),
        (part_b**2, spread_b, spread_b),
        (2 * part_a * part_b, spread_a, spread_b),
    ):
        inverse = inverse + part * _off_diagonal(one, other)

    inverse = inverse + part_a**2 * a.rarity + part_b**2 * b.rarity
    return 1 / np.maximum(inverse, _SMALLEST_POSITIVE)


def _spread(share: ndarray) -> ndarray:
    """Return h_c / √(1 - h_c); independent clusters c and d covary by their product."""
    return share / np.sqrt(1 - share)


def _off_diagonal(one: ndarray, other: ndarray) -> ndarray:
    """Return the sum of u_c u_d over all pairs of different clusters, for u = x y."""
    product = one * other
    return product.sum(axis=-1) ** 2 - (product**2).sum(axis=-1)


def _limits(side: _Side, freedom: ndarray, *, alpha: float) -> Ends:
    """Return the ends of intervals for means on a scale from 0 to 1."""
    low = _lower_limit(side, side.mean, freedom, alpha=alpha)
    high = 1 - _lower_limit(side, 1 - side.mean, freedom, alpha=alpha)

    # At a low confidence, Clopper and Pearson's limits may lie beyond the mean.
    return np.minimum(low, side.mean), np.maximum(high, side.mean)


def _lower_limit(
    side: _Side, mean: ndarray, freedom: ndarray, *, alpha: float
) -> ndarray:
    """Return the lower limit of a mean, or of one minus the mean."""
    z = ndtri(alpha / 2)
    t = stdtrit(np.minimum(freedom, 1e9), alpha / 2)
    is_alike = side.variance == 0
    variance = np.where(is_alike, 1.0, side.variance)
    worth = side.largest_variance / variance * (z / t) ** 2

    events = np.maximum(mean * worth, _SMALLEST_POSITIVE)
    others = np.maximum(worth - events, 0)
    limit = betaincinv(events, others + 1, alpha / 2)

    alike_share = (alpha / 2) ** side.concentration
    return np.where(is_alike, mean * alike_share, limit)


def _side(
    n: ArrayLike,
    k: ArrayLike,
    *,
    names: tuple[str, str],
    bounds: tuple[float, float],
    weights: str = "items",
) -> _Side:
    """Return what clusters say, from their sizes and sums, after a check of both."""
    sizes, sums = checked_sums(n, k, names=names, bounds=bounds)
    is_used = sizes > 0
    if weights == "clusters":
        sums = sums / np.where(is_used, sizes, 1)
        sizes = is_used.astype(float)

    total = np.maximum(sizes.sum(axis=-1, keepdims=True), _SMALLEST_POSITIVE)
    mean = sums.sum(axis=-1) / total[..., 0]
    is_enough = is_used.sum(axis=-1) >= _FEWEST_CLUSTERS

    # A side that is too small is undefined: its shares never divide by 0.
    share = np.where(is_enough[..., None], sizes / total, 0.0)
    residual = (sums - mean[..., None] * sizes) / total / np.sqrt(1 - share)
    return _Side(
        share=share,
        residual=np.where(is_enough[..., None], residual, 0.0),
        mean=np.where(is_enough, np.clip(mean, 0, 1), np.nan),
    )
