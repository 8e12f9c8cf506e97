"""Planning with clusters: the smallest effect that a design can show.

An interval over clusters excludes the value of "no bias" if the estimate is farther
away than t standard errors, where t has as many degrees of freedom as the clusters
give. So the power at an effect d is that of a noncentral t distribution:

    power(d) = P(T > t(1 - alpha/2)),  T noncentral with d / se(d)

The variance se(d)² is that of independent examples, times the *design effect*: how many
times larger the variance becomes because the examples of a cluster resemble each other.
If the examples of a cluster are copies of one another, the design effect is largest.

For up to 60 clusters this formula promises too much. There it is only the first guess
of a simulation (`fairlib.intervals.cluster_power`), and `benchmarks/atlas.md` compares
both.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike
from scipy.special import nctdtr, ndtr, ndtri, stdtrit

from fairlib.checks import check_confidence, checked
from fairlib.interval import bisection
from fairlib.intervals.cluster_power import MOST_CLUSTERS, Worlds, refined

_STEPS = 40
_MANY = 1e5  # degrees of freedom; t is normal from here on
_FARTHEST = 30.0  # standard errors; farther effects are always shown
_FEWEST_CLUSTERS = 3
_NEARLY_ALL = 0.95  # of the scale; towards its very end nothing varies


def smallest_share(
    sizes: ArrayLike,
    *,
    fixed: float = 0.5,
    design_effect: float = 1.0,
    power: float = 0.8,
    confidence: float = 0.95,
) -> float:
    """Return the smallest distance from a fixed share that a sample can show.

    Parameters
    ----------
    sizes : float or array_like of float
        The number of independent examples; or that of each cluster, in a list.
    fixed : float, default 0.5
        The share of a model without bias.
    design_effect : float, default 1.0
        How many times larger the variance is than that of independent examples.
    power : float, default 0.8
        Probability with which the interval has to exclude `fixed`.
    confidence : float, default 0.95
        Confidence of the interval.

    Returns
    -------
    float
        The distance, in the direction in which there is more room; NaN if no share is
        far enough, or if there are fewer than 3 clusters.

    Examples
    --------
    >>> round(smallest_share(1508), 4)
    0.036
    >>> round(smallest_share([20] * 25, design_effect=5), 2)
    0.15
    """
    checked("fixed", fixed, "in [0, 1]", lambda share: (share >= 0) & (share <= 1))
    number = _sizes("sizes", sizes)
    nearer = min(fixed, 1 - fixed)

    def variance(effect: ndarray) -> ndarray:
        share = nearer + effect
        return share * (1 - share) / number.sum()

    worlds = Worlds(design_effect=design_effect, confidence=confidence)
    search = partial(_smallest, variance, most=1 - nearer, worlds=worlds, power=power)
    if not _is_clustered(sizes):
        return search()
    simulated = partial(worlds.share, sizes=number, fixed=nearer)
    return search(freedom=freedom_of(number), simulated=simulated, number=number.size)


def smallest_difference(
    sizes_a: ArrayLike,
    sizes_b: ArrayLike,
    *,
    error: float = 0.2,
    design_effect: float = 1.0,
    power: float = 0.8,
    confidence: float = 0.95,
) -> float:
    """Return the smallest difference of two groups' rates that a sample can show.

    Parameters
    ----------
    sizes_a, sizes_b : float or array_like of float
        The number of independent examples of each group; or that of each cluster, in
        two lists of one length. A cluster that a group lacks has 0 of its examples.
    error : float, default 0.2
        The lower of the two rates.
    design_effect, power, confidence
        As in `smallest_share`.

    Returns
    -------
    float
        The difference; NaN if no difference is large enough, or if a group has fewer
        than 3 clusters.

    Examples
    --------
    >>> round(smallest_difference(1584, 1584), 4)
    0.0412
    """
    _check_rate("error", error)
    n_a = _sizes("sizes_a", sizes_a)
    n_b = _sizes("sizes_b", sizes_b)

    def variance(effect: ndarray) -> ndarray:
        rate = error + effect
        return rate * (1 - rate) / n_a.sum() + error * (1 - error) / n_b.sum()

    worlds = Worlds(design_effect=design_effect, confidence=confidence)
    search = partial(_smallest, variance, most=1 - error, worlds=worlds, power=power)
    if not _is_clustered(sizes_a):
        return search()
    simulated = partial(worlds.difference, sizes_a=n_a, sizes_b=n_b, error=error)
    return search(
        freedom=_freedom_of_sides(n_a, n_b), simulated=simulated, number=n_a.size
    )


def smallest_change(
    sizes: ArrayLike,
    *,
    discordant: float = 0.2,
    design_effect: float = 1.0,
    power: float = 0.8,
    confidence: float = 0.95,
) -> float:
    """Return the smallest difference within pairs that a sample can show.

    Parameters
    ----------
    sizes : float or array_like of float
        The number of independent pairs; or that of each cluster, in a list.
    discordant : float, default 0.2
        The share of pairs whose two outcomes differ; a larger difference needs more.
    design_effect, power, confidence
        As in `smallest_share`.

    Returns
    -------
    float
        The difference; NaN if no difference is large enough.

    Examples
    --------
    >>> round(smallest_change(1584), 4)
    0.0314
    """
    checked("discordant", discordant, "in [0, 1]", lambda x: (x >= 0) & (x <= 1))
    number = _sizes("sizes", sizes)

    def variance(effect: ndarray) -> ndarray:
        return (np.maximum(discordant, effect) - effect**2) / number.sum()

    worlds = Worlds(design_effect=design_effect, confidence=confidence)
    search = partial(_smallest, variance, most=1.0, worlds=worlds, power=power)
    if not _is_clustered(sizes):
        return search()
    simulated = partial(worlds.change, sizes=number, discordant=discordant)
    return search(freedom=freedom_of(number), simulated=simulated, number=number.size)


def largest_ratio(
    sizes_a: ArrayLike,
    sizes_b: ArrayLike,
    *,
    rate: float = 0.5,
    design_effect: float = 1.0,
    power: float = 0.8,
    confidence: float = 0.95,
) -> float:
    """Return the ratio nearest to 1, and below it, that a sample can show.

    Parameters
    ----------
    sizes_a, sizes_b : float or array_like of float
        As in `smallest_difference`.
    rate : float, default 0.5
        The mean of group B, to which group A is compared.
    design_effect, power, confidence
        As in `smallest_share`.

    Returns
    -------
    float
        The ratio; NaN if no ratio is small enough.

    Examples
    --------
    >>> round(largest_ratio(400, 400), 3)
    0.804
    """
    _check_rate("rate", rate)
    n_a = _sizes("sizes_a", sizes_a)
    n_b = _sizes("sizes_b", sizes_b)

    # The ratio differs from 1 where the difference of the two means differs from 0.
    def variance(effect: ndarray) -> ndarray:
        rate_a = rate - effect
        return rate_a * (1 - rate_a) / n_a.sum() + rate * (1 - rate) / n_b.sum()

    def simulated(effect: float) -> float:
        ratio = 1 - effect / rate
        return worlds.ratio(ratio, sizes_a=n_a, sizes_b=n_b, rate=rate)

    worlds = Worlds(design_effect=design_effect, confidence=confidence)
    search = partial(_smallest, variance, most=rate, worlds=worlds, power=power)
    if _is_clustered(sizes_a):
        freedom = _freedom_of_sides(n_a, n_b)
        effect = search(freedom=freedom, simulated=simulated, number=n_a.size)
    else:
        effect = search()
    return 1 - effect / rate


def freedom_of(sizes: ArrayLike) -> float:
    """Return the degrees of freedom that clusters of these sizes give to a variance.

    Parameters
    ----------
    sizes : array_like of float
        Number of examples of each cluster.

    Returns
    -------
    float
        One less than the number of clusters if all have the same size; fewer if not.
        NaN for fewer than 3 clusters.

    Examples
    --------
    >>> print(round(freedom_of([10] * 25), 6), round(freedom_of([100] + [10] * 24), 1))
    24.0 8.9
    """
    share = _shares(sizes)
    if share.size < _FEWEST_CLUSTERS:
        return np.nan
    spread = share**2 / (1 - share)
    inverse = (share**2).sum() + spread.sum() ** 2 - (spread**2).sum()
    return float(1 / inverse)


def largest_design_effect(sizes: ArrayLike) -> float:
    """Return the design effect if all examples of a cluster are copies of one.

    Parameters
    ----------
    sizes : array_like of float
        Number of examples of each cluster.

    Returns
    -------
    float
        The size of the clusters if all have the same size; more if not.

    Examples
    --------
    >>> largest_design_effect([10] * 25)
    10.0
    """
    share = _shares(sizes)
    total = np.sum(np.asarray(sizes, dtype=float))
    return max(float(total * (share**2).sum()), 1.0)


def least_equal_sizes(
    n: float, clusters: int, smallest: float, largest: float
) -> ndarray:
    """Return the sizes that are most unequal, if only the extremes are known.

    Parameters
    ----------
    n : float
        Number of examples in all clusters.
    clusters : int
        Number of clusters.
    smallest, largest : float
        The number of examples of the smallest and of the largest cluster.

    Returns
    -------
    ndarray
        As many clusters of the largest size as are possible, and one in between.

    Examples
    --------
    >>> least_equal_sizes(100, 10, 5, 20).tolist()
    [20.0, 20.0, 20.0, 10.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0]
    """
    sizes = np.full(clusters, float(smallest))
    room = max(largest - smallest, 0)
    surplus = np.clip(n - smallest * clusters, 0, room * clusters)
    if room == 0 or surplus == 0:
        return sizes

    full = int(surplus // room)
    sizes[:full] += room
    if full < clusters:
        sizes[full] += surplus - full * room
    return sizes


def _shares(sizes: ArrayLike) -> ndarray:
    """Return the share of all examples that each cluster holds, without empty ones."""
    number = checked("sizes", sizes, "at least 0", lambda size: size >= 0)
    filled = number[number > 0]
    return filled / max(filled.sum(), 1e-300)


def _sizes(name: str, sizes: ArrayLike) -> ndarray:
    """Return sizes as an array, after a check."""
    number = checked(name, sizes, "at least 0", lambda size: size >= 0)
    if number.sum() < 1:
        raise ValueError(f"{name} must be at least 1 in all, found {number.sum():g}")
    return number


def _is_clustered(sizes: ArrayLike) -> bool:
    """Whether sizes are those of clusters, and not one number of examples."""
    return np.ndim(sizes) > 0


def _freedom_of_sides(n_a: ndarray, n_b: ndarray) -> float:
    """Return the degrees of freedom of two groups' clusters, shared or not."""
    if n_a.shape != n_b.shape:
        raise ValueError(
            f"sizes_a and sizes_b must have one length, found {n_a.size} and {n_b.size}"
        )
    is_shared = (n_a > 0) & (n_b > 0)
    if is_shared.any():
        return min(freedom_of(n_a), freedom_of(n_b))
    return freedom_of(n_a) + freedom_of(n_b)


def _check_rate(name: str, rate: float) -> None:
    """Raise unless a rate leaves room on both sides."""
    checked(name, rate, "in (0, 1)", lambda x: (x > 0) & (x < 1))


def _smallest(
    variance: Callable[[ndarray], ndarray],
    *,
    most: float,
    worlds: Worlds,
    power: float,
    freedom: float = np.inf,
    simulated: Callable[[float], float] | None = None,
    number: int = 0,
) -> float:
    """Return the smallest effect with this power; NaN if there is none."""
    check_confidence(worlds.confidence)
    checked("power", power, "in (0, 1)", lambda share: (share > 0) & (share < 1))
    checked("design_effect", worlds.design_effect, "positive", lambda x: x > 0)
    if np.isnan(freedom):
        return np.nan

    def is_too_small(effect: ndarray) -> ndarray:
        deviation = np.sqrt(worlds.design_effect * variance(effect))
        distance = np.minimum(effect / np.maximum(deviation, 1e-300), _FARTHEST)
        return _power(distance, freedom, worlds.confidence) < power

    farthest = _NEARLY_ALL * most
    effect = np.nan
    if not is_too_small(np.asarray(farthest)):
        effect = float(bisection(is_too_small, 0.0, farthest, steps=_STEPS))
    if simulated is None or number > MOST_CLUSTERS:
        return effect
    return refined(simulated, effect, most=farthest, power=power)


def _power(distance: ndarray, freedom: float, confidence: float) -> ndarray:
    """Return the probability that the estimate is more than t standard errors away."""
    if freedom >= _MANY:
        return ndtr(distance + ndtri((1 - confidence) / 2))
    critical = -stdtrit(freedom, (1 - confidence) / 2)
    return 1 - nctdtr(freedom, distance, critical)
