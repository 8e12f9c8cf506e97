"""What a number would have been with other data: other runs of a training, or other examples.

Four ways, by what the number is made of: `over_runs` for a value per run; `bootstrap` for any function of counts, at a
cost that does not grow with the data; `poisson_bootstrap` for functions of sums over examples; and for the metrics of
paper 2, replicates of whole templates and identity terms, which `drawing` draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from fairlib.interval import Interval, check_confidence

WEIGHTS = 1 << 22  # drawn at a time: bounds the memory

# --- Runs of a training -----------------------------------------------------------------------------------------------


def over_runs(values, *, confidence: float = 0.95) -> Interval:
    """Interval for the mean over runs of a training that differ in their seed: Student's t with ddof = 1.

    mean ± t s / sqrt(runs). With five runs this is 1.584 times as wide as mean ± 1.96 s_0 / sqrt(5), where s_0 is the
    standard deviation with ddof = 0: that one is called a 95 % interval and covers 84.6 %.

    >>> print(over_runs([0.010, 0.012, 0.009, 0.013, 0.011]))
    0.011 [0.009, 0.013] (95% t over 5 runs)
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or values.size < 2:
        raise ValueError(f"values must be a vector of at least 2 runs, found shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"values must be finite, found {(~np.isfinite(values)).sum()} that are not")
    check_confidence(confidence)
    mean, error = values.mean(), stats.sem(values)
    margin = stats.t.ppf((1 + confidence) / 2, values.size - 1) * error
    return Interval(float(mean), mean - margin, mean + margin, confidence, f"t over {values.size} runs")


# --- Counts -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """A statistic, or an array of them, with its values in data that could have been: read it again at any level."""

    estimate: np.ndarray  # the statistic's own shape
    replicates: np.ndarray  # (resamples, ...)
    method: str

    def ends(self, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the percentile interval's low and high ends; a replicate that is undefined counts as either's worst.

        An undefined estimate has undefined ends.
        """
        check_confidence(confidence)
        lowest, highest = (np.where(np.isnan(self.replicates), worst, self.replicates) for worst in (-np.inf, np.inf))
        low = np.quantile(lowest, (1 - confidence) / 2, axis=0, method="lower")
        high = np.quantile(highest, (1 + confidence) / 2, axis=0, method="higher")
        undefined = np.isnan(self.estimate)
        return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return the interval of a single statistic."""
        if self.estimate.ndim:
            raise ValueError(f"interval is for a single statistic, found shape {self.estimate.shape}; take ends()")
        low, high = map(float, self.ends(confidence))
        estimate = float(self.estimate)
        return Interval(estimate, min(low, estimate), max(high, estimate), confidence, self.method)

    @property
    def standard_error(self) -> np.ndarray:
        """The standard deviation of the replicates; NaN where one of them is undefined."""
        return self.replicates.std(axis=0, ddof=1)


def bootstrap(
    counts, statistic: Callable[[np.ndarray], np.ndarray], *, resamples: int = 2000, batch: int | None = None, rng=None
) -> Bootstrap:
    """Draw examples again, with replacement, when all that matters is how many there are of each kind.

    counts : whole numbers of any shape, such as groups x labels x predictions.
    statistic : maps (replicates, *shape of counts) to (replicates, ...).
    batch : replicates that are in memory at a time; by default as many as make four million numbers. The draws are the
        same for every `batch`.

    Drawing n examples again is drawing the counts from a multinomial distribution with their own shares: exactly the
    bootstrap of rows (Efron 1979), at O(resamples x cells), whatever n is.

    >>> errors = np.array([[56, 14], [48, 32]])  # two groups: wrong, right
    >>> def difference(counts):
    ...     rate = counts[:, :, 0] / counts.sum(axis=2)
    ...     return rate[:, 0] - rate[:, 1]
    >>> print(bootstrap(errors, difference, rng=0).interval())
    0.200 [0.048, 0.341] (95% bootstrap, 2000 resamples)
    """
    counts = np.asarray(counts, dtype=float)
    whole = np.all(counts >= 0) and np.all(counts == np.floor(counts))
    if not whole or not 0 < counts.sum() < 2.0**63:
        raise ValueError(f"counts must be whole numbers of at least 0, and not all 0; found {counts.ravel()[:5]} ...")
    if resamples < 2 or (batch is not None and batch < 1):
        raise ValueError(f"resamples must be at least 2 and batch at least 1, found {resamples} and {batch}")
    rng = np.random.default_rng(rng)
    n, shares = int(counts.sum()), counts.ravel() / counts.sum()
    batch = batch or max(1, WEIGHTS // counts.size)
    with np.errstate(invalid="ignore", divide="ignore"):  # an empty group has no rate: NaN
        estimate = np.asarray(statistic(counts[None]), dtype=float)
        replicates = np.empty((resamples, *estimate.shape[1:]))
        for start in range(0, resamples, batch):
            some = replicates[start : start + batch]
            drawn = rng.multinomial(n, shares, size=len(some)).reshape(len(some), *counts.shape)
            found = np.asarray(statistic(drawn.astype(float)), dtype=float)
            if estimate.shape[:1] != (1,) or found.shape != some.shape:
                raise ValueError(
                    "statistic must return one value, or array, per replicate: (1, ...) for one and "
                    f"({len(some)}, ...) for {len(some)}, found {estimate.shape} and {found.shape}"
                )
            some[...] = found
    return Bootstrap(estimate[0], replicates, f"bootstrap, {resamples} resamples")


# --- Sums over examples -----------------------------------------------------------------------------------------------


def poisson_totals(blocks: Iterable[np.ndarray], *, resamples: int, rng=None) -> np.ndarray:
    """Return (1 + resamples) x features: the features' totals, then those with each example counted Poisson(1) times.

    The row bootstrap without drawing rows: one matrix product (weights x features) per block of examples, so that
    neither the weights nor the features of all examples need ever be in memory together. O(n resamples).

    blocks : arrays of rows x features that together hold the examples.
    """
    if resamples < 2:
        raise ValueError(f"resamples must be at least 2, found {resamples}")
    rng = np.random.default_rng(rng)
    totals = 0.0
    rows = max(1, WEIGHTS // resamples)
    for block in blocks:
        for start in range(0, len(block), rows):
            part = np.asarray(block[start : start + rows], dtype=float)
            drawn = rng.poisson(1.0, size=(resamples, len(part))).astype(float) @ part  # no name keeps the weights
            totals = totals + np.vstack([part.sum(axis=0), drawn])
    if not np.ndim(totals):
        raise ValueError("blocks must hold at least one array of rows x features, found none")
    return totals


def poisson_bootstrap(
    blocks: Iterable[np.ndarray],
    statistic: Callable[[np.ndarray], np.ndarray],
    *,
    resamples: int = 2000,
    confidence: float = 0.95,
    rng=None,
) -> Interval:
    """Percentile interval of a function of feature totals, such as a ratio of sums, by the Poisson bootstrap.

    statistic : maps rows of feature totals (rows x features) to one value per row.
    """
    check_confidence(confidence)
    estimate, *values = statistic(poisson_totals(blocks, resamples=resamples, rng=rng))
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(estimate), float(low), float(high), confidence, f"Poisson bootstrap, {resamples} resamples")


# --- From replicates to an interval and a p-value ---------------------------------------------------------------------


def symmetric_interval(
    value: float, replicates: np.ndarray, *, confidence: float, lowest: float = -np.inf
) -> tuple[float, float]:
    """Return value ± the distance that the replicates keep with `confidence`, but not below `lowest`.

    A replicate in which the metric is undefined counts as infinitely far; a value that is not finite has no interval.

    A metric made of absolute differences grows with noise, so its replicates lie above the value as the value lies
    above the truth. The symmetric bootstrap (Hall 1988) takes that into its width; plain quantiles would never reach 0.
    It still is an interval around the value, not a test of "no difference": that is what `exchanged_draws` are for.
    """
    if not np.isfinite(value):
        return np.nan, np.nan
    distances = np.abs(replicates - value)
    distances = np.where(np.isnan(distances), np.inf, distances)
    margin = np.quantile(distances, confidence, method="higher")
    return max(value - margin, lowest), value + margin


def p_value(distance: float, null_distances: np.ndarray) -> float:
    """Return how often the null is at least as far from "no difference" as the value; the value counts as one draw.

    A draw in which the metric is undefined counts as far.
    """
    if np.isnan(distance):
        return np.nan
    return (1 + np.count_nonzero(~(null_distances < distance - 1e-12))) / (1 + len(null_distances))
