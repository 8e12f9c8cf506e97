"""The power of intervals over few clusters, by simulation.

With 3 to 60 clusters, the intervals of `fairlib.intervals.clusters` are wider than
normal theory expects, most of all where the examples of a cluster are nearly copies of
one another. So their power is simulated: the true means of the clusters are drawn from
a beta distribution whose correlation within clusters gives the design effect.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy import ndarray
from numpy.random import Generator
from scipy.special import expit

from fairlib.intervals import cluster_ratios, clusters

MOST_CLUSTERS = 60  # with more, normal theory is good enough
WORLDS = 600
# How far an answer moves with other draws: its relative standard deviation, which is
# from 1 to 2 % for the cards of the atlas.
SPREAD = 0.02
_CLOSEST = 0.02  # the relative error of an answer
_STRIDE = 1.15
_MOST_CORRELATED = 0.999
_LEAST_CORRELATED = 1e-6
_DIGITS = 12


@dataclass(frozen=True, eq=False, kw_only=True)
class Worlds:
    """Clusters whose examples resemble each other, to be drawn again and again.

    Attributes
    ----------
    design_effect : float
        How many times larger the variance is than that of independent examples.
    confidence : float
        Confidence of the intervals.
    rng : int or Generator
        Seed of the simulation.
    worlds : int
        How often the clusters are drawn.
    """

    design_effect: float
    confidence: float
    rng: int | Generator = 0
    worlds: int = WORLDS

    def share(self, effect: float, *, sizes: ndarray, fixed: float) -> float:
        """Return how often the interval of a share excludes a fixed value below it."""
        generator = np.random.default_rng(self.rng)
        n = self._repeated(sizes)
        k = self._draw(n, fixed + effect, generator)

        low, _ = clusters.from_sums(n, k, confidence=self.confidence)
        return float(np.mean(low > fixed))

    def difference(
        self, effect: float, *, sizes_a: ndarray, sizes_b: ndarray, error: float
    ) -> float:
        """Return how often the interval of a difference of two groups lies above 0."""
        sides = self._sides(sizes_a, error + effect, sizes_b, error)
        low, _ = clusters.difference_from_sums(*sides, confidence=self.confidence)
        return float(np.mean(low > 0))

    def ratio(
        self, ratio: float, *, sizes_a: ndarray, sizes_b: ndarray, rate: float
    ) -> float:
        """Return how often the interval of a ratio lies below 1."""
        sides = self._sides(sizes_a, ratio * rate, sizes_b, rate)
        _, high = cluster_ratios.from_sums(*sides, confidence=self.confidence)
        return float(np.mean(high < 1))

    def change(self, effect: float, *, sizes: ndarray, discordant: float) -> float:
        """Return how often the interval of a difference within pairs lies above 0."""
        generator = np.random.default_rng(self.rng)
        n = self._repeated(sizes)

        # Of the discordant pairs, only the outcome of A is 1 in some, of B in others;
        # of the other pairs, half have two outcomes of 1.
        differing = max(discordant, effect)
        discordant_pairs = self._draw(n, differing, generator)
        share_a = (differing + effect) / (2 * differing)
        size = (1 - differing) * self.design_effect + differing * _mean_size(sizes)
        only_a = self._draw(discordant_pairs, share_a, generator, size=size)
        both = generator.binomial((n - discordant_pairs).astype(int), 0.5)

        k_a = both + only_a
        k_b = both + discordant_pairs - only_a
        sides = (n, k_a, n, k_b)
        low, _ = clusters.difference_from_sums(*sides, confidence=self.confidence)
        return float(np.mean(low > 0))

    def _sides(
        self, sizes_a: ndarray, rate_a: float, sizes_b: ndarray, rate_b: float
    ) -> tuple[ndarray, ndarray, ndarray, ndarray]:
        """Return the sizes and the sums of two groups."""
        generator = np.random.default_rng(self.rng)
        n_a = self._repeated(sizes_a)
        n_b = self._repeated(sizes_b)
        k_a = self._draw(n_a, rate_a, generator)
        k_b = self._draw(n_b, rate_b, generator)
        return n_a, k_a, n_b, k_b

    def _repeated(self, sizes: ndarray) -> ndarray:
        """Return the sizes of the clusters of every world."""
        whole = np.round(sizes)
        return np.broadcast_to(whole, (self.worlds, whole.size))

    def _draw(
        self,
        n: ndarray,
        rate: float,
        generator: Generator,
        *,
        size: float | None = None,
    ) -> ndarray:
        """Return sums of examples of 0 or 1 that resemble each other in a cluster."""
        mean_size = _mean_size(n[0]) if size is None else size
        correlation = (self.design_effect - 1) / max(mean_size - 1, _LEAST_CORRELATED)
        correlation = min(correlation, _MOST_CORRELATED)

        mean: ndarray | float = rate
        if correlation > _LEAST_CORRELATED and 0 < rate < 1:
            concentration = 1 / correlation - 1
            mean = _beta(
                rate * concentration, (1 - rate) * concentration, n.shape, generator
            )
        return generator.binomial(n.astype(int), mean).astype(float)


def refined(
    power_at: Callable[[float], float], start: float, *, most: float, power: float
) -> float:
    """Return the smallest effect with this power, near a first guess.

    Parameters
    ----------
    power_at : callable
        The power at an effect.
    start : float
        The first guess; NaN stands for half of `most`.
    most : float
        The largest effect that is possible.
    power : float
        The power that is asked for.

    Returns
    -------
    float
        The effect, to 2 % and the error of the simulation; NaN if none has this power.
    """
    high = most / 2 if np.isnan(start) else min(_rounded(start), most)
    low = 0.0
    if power_at(high) >= power:
        while power_at(high / _STRIDE) >= power:
            high /= _STRIDE
        low = high / _STRIDE
    else:
        # Where an effect fills the scale, power may fall again.
        while low == 0.0 or power_at(high) < power:
            if high >= most:
                return np.nan
            low = high
            high = min(_STRIDE * high, most)

    while high - low > _CLOSEST * high:
        middle = (low + high) / 2
        if power_at(middle) >= power:
            high = middle
        else:
            low = middle
    return high


def _beta(a: float, b: float, shape: tuple, generator: Generator) -> ndarray:
    """Return draws of a beta distribution that are the same in all versions of NumPy.

    Its own draws differ between versions where a and b are small. A gamma variate of
    shape a is one of shape a + 1 times U^(1/a); in logarithms, nothing underflows.
    """

    def log_gamma(shape_of_one: float) -> ndarray:
        larger = generator.standard_gamma(shape_of_one + 1, size=shape)
        uniform = 1 - generator.random(shape)
        return np.log(larger) + np.log(uniform) / shape_of_one

    # Without the last digits, because machines differ in them.
    return np.round(expit(log_gamma(a) - log_gamma(b)), _DIGITS)


def _rounded(effect: float) -> float:
    """Return an effect without the digits in which versions of SciPy differ.

    A draw depends on every digit of its rate, so two versions would give two answers.
    """
    return float(f"{effect:.6g}")


def _mean_size(sizes: ndarray) -> float:
    """Return the mean size of the cluster that an example belongs to."""
    return float((sizes**2).sum() / max(sizes.sum(), 1))
