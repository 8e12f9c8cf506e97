"""What the numbers would have been with other data: other runs, or examples, sources and terms drawn anew.

Sentences made from one template, or around one identity term, succeed and fail together. So whole templates and whole
terms are drawn, never sentences; to see what a fair model would give, whole terms are exchanged between groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import stats

from fairlib.interval import Interval

WEIGHTS = 1 << 22  # drawn at a time: bounds the memory

# --- Runs of a training, and weighted examples ------------------------------------------------------------------------


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


# --- Sources and terms: for any metric of metrics.py ------------------------------------------------------------------


class NothingToExchange(ValueError):
    """No two groups have terms that could stand in for each other."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Some replicates of the data, as weights: nothing is copied, every metric is a function of weighted sums."""

    source_weight: np.ndarray  # (replicates, sources)
    term_weight: np.ndarray  # (replicates, terms)
    term_group: np.ndarray  # (replicates, terms) the group that each term stands for


def weighted_draws(sources: int, term_group: np.ndarray, *, replicates: int, batch: int, rng) -> Iterator[Draws]:
    """Draw sources and terms again, `batch` replicates at a time: the Bayesian bootstrap of whole sources and terms.

    Every source and every term gets an exponential weight of mean 1, and an example the product of its two: with two
    crossed ways to vary, the variance comes out right or a little large (Owen and Eckles 2012, "Bootstrapping data
    arrays of arbitrary order", Annals of Applied Statistics 6). Unlike counts, such weights lose no group or class.
    """
    rng = np.random.default_rng(rng)
    for size in _batches(replicates, batch):
        yield Draws(
            rng.standard_exponential((size, sources)),
            rng.standard_exponential((size, len(term_group))),
            np.broadcast_to(term_group, (size, len(term_group))),
        )


def exchanged_draws(
    source: np.ndarray, term: np.ndarray, term_group: np.ndarray, *, replicates: int, batch: int, rng
) -> Iterator[Draws]:
    """Exchange whole identity terms between groups at random: what the metric would be if groups made no difference.

    Terms are exchanged among those that occur in the same sources (adjectives with adjectives), so that every source
    keeps its number of variations per group. Exchanging sentences instead would call a fair model unfair most of the
    time, for sentences of one term are alike. Where no term can change its group, there is nothing to draw from.
    """
    rng = np.random.default_rng(rng)
    kinds = same_sources(source, term, len(term_group))
    movable = [kind for kind in kinds if len(set(term_group[kind].tolist())) > 1]
    if not movable:
        raise NothingToExchange(
            "term: no two terms of different groups occur in the same sources, so none can be exchanged"
        )
    sources = int(source.max()) + 1
    for size in _batches(replicates, batch):
        groups = np.tile(term_group, (size, 1))
        for kind in movable:
            groups[:, kind] = rng.permuted(groups[:, kind], axis=1)
        yield Draws(np.ones((size, sources)), np.ones(groups.shape), groups)


def halved_draws(
    source_kind: np.ndarray, term_kind: np.ndarray, term_group: np.ndarray, *, by: str, splits: int, batch: int, rng
) -> Iterator[Draws]:
    """Split the data at random into two halves, again and again, by whole "terms" or whole "sources".

    The first half of the replicates in each batch are the one halves; the other halves follow in the same order. Every
    kind of term of every group, or every kind of source, is split as evenly as it can be; so is every group.
    """
    rng = np.random.default_rng(rng)
    for size in _batches(splits, max(1, batch // 2)):
        source_weight = np.ones((2 * size, len(source_kind)))
        term_weight = np.ones((2 * size, len(term_group)))
        if by == "terms":
            chosen = _halves(np.asarray(term_group), term_kind, size, rng)
            term_weight = np.concatenate([chosen, 1 - chosen])
        else:
            chosen = _halves(np.zeros_like(source_kind), source_kind, size, rng)
            source_weight = np.concatenate([chosen, 1 - chosen])
        yield Draws(source_weight, term_weight, np.broadcast_to(term_group, (2 * size, len(term_group))))


def _halves(group: np.ndarray, kind: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return 1 for one half and 0 for the other, (size, items): every second one of a shuffled list sorted by kind."""
    items = len(group)
    order_of_kinds = rng.random((size, int(kind.max()) + 1))[:, kind]
    shuffled = np.lexsort((rng.random((size, items)), order_of_kinds, np.broadcast_to(group, (size, items))), axis=-1)
    first = np.searchsorted(np.sort(group), np.arange(int(group.max()) + 1))  # of each group, in the shuffled list
    coin = rng.integers(2, size=(size, len(first)))
    sorted_group = np.sort(group)
    side = (np.arange(items) - first[sorted_group] + coin[:, sorted_group]) % 2
    chosen = np.empty((size, items))
    np.put_along_axis(chosen, shuffled, side.astype(float), axis=1)
    return chosen


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
    distances = np.nan_to_num(np.abs(replicates - value), nan=np.inf)
    margin = np.quantile(distances, confidence, method="higher")
    return max(value - margin, lowest), value + margin


def p_value(distance: float, null_distances: np.ndarray) -> float:
    """Return how often the null is at least as far from "no difference" as the value; the value counts as one draw.

    A draw in which the metric is undefined counts as far.
    """
    if np.isnan(distance):
        return np.nan
    return (1 + np.count_nonzero(~(null_distances < distance - 1e-12))) / (1 + len(null_distances))


def same_sources(source: np.ndarray, term: np.ndarray, terms: int) -> list[np.ndarray]:
    """Group terms by the set of sources that they occur in: a set is known by the sum of its sources' random labels."""
    label = np.random.default_rng(0).integers(0, 2**62, size=(int(source.max()) + 1, 2), dtype=np.uint64)
    keys = np.zeros((terms, 2), dtype=np.uint64)
    source, term = np.unique(np.stack([source, term]), axis=1)
    np.add.at(keys, term, label[source])  # wraps around, which is fine for a label
    which = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    return np.split(np.argsort(which, kind="stable"), np.cumsum(np.bincount(which))[:-1])


def _batches(replicates: int, batch: int) -> Iterator[int]:
    for start in range(0, replicates, batch):
        yield min(batch, replicates - start)
