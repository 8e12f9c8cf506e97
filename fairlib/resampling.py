"""Uncertainty by repetition: over runs of the training, and over examples drawn again."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from scipy import stats

from fairlib.interval import Interval

WEIGHTS = 1 << 22  # drawn at a time: bounds the memory

# --- runs and weighted examples -----------------------------------------------------------------------------------


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
    _check_confidence(confidence)
    mean, error = values.mean(), stats.sem(values)
    margin = stats.t.ppf((1 + confidence) / 2, values.size - 1) * error
    return Interval(float(mean), mean - margin, mean + margin, confidence, f"t over {values.size} runs")


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
            weights = rng.poisson(1.0, size=(resamples, len(part))).astype(float)
            totals = totals + np.vstack([part.sum(axis=0), weights @ part])
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
    _check_confidence(confidence)
    estimate, *values = statistic(poisson_totals(blocks, resamples=resamples, rng=rng))
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(estimate), float(low), float(high), confidence, f"Poisson bootstrap, {resamples} resamples")


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be in (0, 1), found {confidence}")
