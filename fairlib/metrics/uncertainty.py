"""Measure metrics on data that are drawn anew, and turn the draws into intervals and p.

Resampled data show how much a metric varies. Data in which groups are exchanged show
what the metric would be if groups made no difference.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.random import Generator
from numpy.typing import ArrayLike

from fairlib.metrics import comparisons, draws
from fairlib.metrics.evaluation import Evaluation
from fairlib.metrics.examples import Examples
from fairlib.metrics.table2 import Metric

Key = tuple[str, Any, Any]  # the names of a metric, a class and a group

# Distances that differ by less than this differ by rounding alone.
_TOLERANCE = 1e-12


def replicated(
    examples: Examples,
    metrics: Mapping[str, Metric],
    keys: Iterable[Key],
    *,
    kind: str,
    replicates: int,
    rng: Generator,
) -> dict[Key, ndarray]:
    """Measure metrics on data that are drawn anew many times.

    Parameters
    ----------
    examples : Examples
        The checked data.
    metrics : mapping of str to Metric
        All metrics by their names.
    keys : iterable of (metric, class, group)
        Which values to compute.
    kind : {"bootstrap", "null"}
        "bootstrap" resamples sources and terms, or single examples if nothing ties
        them. "null" exchanges terms between groups, as if groups made no difference.
    replicates : int
        How many times to draw.
    rng : Generator
        Random numbers.

    Returns
    -------
    dict
        The values in all replicates, by (metric, class, group).
    """
    if kind == "bootstrap":
        drawn = draws.bootstrap(examples, replicates, rng)
        return over_draws(examples, drawn, metrics, keys=keys, rng=rng)

    # Variations of one source have one label, so their exchange keeps labels anyway.
    sources_tie = examples.source.any()
    keys_given: dict[str, list[Key]] = {}
    for key in keys:
        given = "" if sources_tie else metrics[key[0]].given
        keys_given.setdefault(given, []).append(key)

    values = {}
    for given, keys_of_null in keys_given.items():
        exchangeable = draws.exchangeable(examples, given)
        drawn = draws.exchanged(exchangeable, replicates, rng, given=given)
        values.update(
            over_draws(exchangeable, drawn, metrics, keys=keys_of_null, rng=rng)
        )
    return values


def over_draws(
    examples: Examples,
    drawn: Iterator[draws.Draws],
    metrics: Mapping[str, Metric],
    keys: Iterable[Key],
    rng: Generator,
) -> dict[Key, ndarray]:
    """Measure metrics on every draw.

    Parameters
    ----------
    examples : Examples
        The data from which the draws come.
    drawn : iterator of Draws
        Batches of draws, from `draws.bootstrap` or `draws.exchanged`.
    metrics : mapping of str to Metric
        All metrics by their names.
    keys : iterable of (metric, class, group)
        Which values to compute.
    rng : Generator
        Random numbers for metrics that compare random combinations of variations.

    Returns
    -------
    dict
        The values in all draws, by (metric, class, group).
    """
    groups_of: dict[tuple[str, Any], list] = {}
    for name, class_name, group in keys:
        groups_of.setdefault((name, class_name), []).append(group)
    batches: dict[tuple[str, Any], list[ndarray]] = {names: [] for names in groups_of}

    together = drawn
    if not any(_draws_combinations(metrics[name]) for name, _ in groups_of):
        together = _merged(
            drawn, draws.NUMBERS_PER_BATCH // _numbers_per_draw(examples)
        )
    for batch in together:
        evaluation = Evaluation(examples, batch, rng)
        for (name, class_name), groups in groups_of.items():
            metric = metrics[name]
            target = examples.classes.index(class_name) if metric.per_class else None
            rows = evaluation.rows(metric, target)
            batches[name, class_name].append(np.stack([rows[g] for g in groups]))

    values: dict[Key, ndarray] = {}
    for names, groups in groups_of.items():
        in_all_draws = np.concatenate(batches.pop(names), axis=1)
        values.update(
            ((*names, group), row)
            for group, row in zip(groups, in_all_draws, strict=True)
        )
    return values


def _draws_combinations(metric: Metric) -> bool:
    """Return whether random numbers decide which variations a metric compares."""
    return metric.single and metric.comparison not in comparisons.OVER_PRODUCT


def _numbers_per_draw(examples: Examples) -> int:
    """Return how large the largest array of one draw is, about.

    Without sources and probabilities, a draw is one weight per example. Else it may be
    a number for each group and each source, term or probability.
    """
    if examples.unit is None and examples.probabilities is None:
        return len(examples)
    return len(examples) * len(examples.groups)


def _merged(drawn: Iterator[draws.Draws], most: int) -> Iterator[draws.Draws]:
    """Put small batches of draws together into batches of up to `most` draws.

    How many are drawn at once decides which random numbers they get, and therefore
    never changes. How many are measured at once does not matter to the values.
    """
    waiting: list[draws.Draws] = []
    size = 0
    for batch in drawn:
        if waiting and size + len(batch.term_group) > most:
            yield _concatenated(waiting)
            waiting = []
            size = 0
        waiting.append(batch)
        size += len(batch.term_group)

    if waiting:
        yield _concatenated(waiting)


def _concatenated(batches: list[draws.Draws]) -> draws.Draws:
    """Return several batches of draws as one."""
    if len(batches) == 1:
        return batches[0]

    return draws.Draws(
        *(
            np.concatenate([getattr(batch, field.name) for batch in batches])
            for field in fields(draws.Draws)
        )
    )


def interval(
    metric: Metric, value: ArrayLike, replicates: ndarray, confidence: float
) -> tuple[ndarray, ndarray]:
    """Return the symmetric bootstrap interval of a metric.

    The interval is the value plus and minus a margin. The share `confidence` of the
    replicates is at most this margin away from the value. Several values, such as those
    of all groups, have their intervals computed at once.

    Parameters
    ----------
    metric : Metric
        The metric. Ratios are compared on the log scale, where they are symmetric. A
        metric that cannot be negative has no negative limit.
    value : float or ndarray of shape (...)
        The value of the metric in the data.
    replicates : ndarray of shape (..., replicates)
        The values in resampled data. NaN counts as infinitely far from the value.
    confidence : float
        Confidence of the interval.

    Returns
    -------
    low, high : ndarray of shape (...)
        The limits; NaN if the value is not finite on its scale.

    Notes
    -----
    A metric that sums up absolute differences grows with noise. Its replicates
    therefore lie above the value, as the value lies above the truth. The symmetric
    interval is wide enough for both, while plain quantiles of the replicates would
    never reach 0. For the question whether there is any difference, see `p_value`.

    References
    ----------
    Hall (1988), "On symmetric bootstrap confidence intervals", JRSS B 50.
    """
    center = _scaled(metric, value)
    center = np.where(np.isfinite(center), center, np.nan)

    distances = np.abs(_scaled(metric, replicates) - center[..., None])
    distances[np.isnan(distances)] = np.inf
    margin = np.quantile(
        distances, confidence, axis=-1, method="higher", overwrite_input=True
    )
    low = center - margin
    high = center + margin

    if metric.neutral == 1:
        return np.exp(low), np.exp(high)
    if metric.signed:
        return low, high
    return np.maximum(low, 0.0), high


def distance(metric: Metric, values: ArrayLike) -> ndarray:
    """Return how far values of a metric are from "no difference".

    Parameters
    ----------
    metric : Metric
        The metric. Ratios are compared on the log scale, where they are symmetric.
    values : array_like of float
        Values of the metric.
    """
    return np.abs(_scaled(metric, values))


def _scaled(metric: Metric, values: ArrayLike) -> ndarray:
    """Return values on the scale on which "no difference" is 0."""
    if metric.neutral != 1:
        return np.asarray(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(values)


def p_value(distance: ArrayLike, null_distances: ndarray) -> ndarray:
    """Return how often a fair model would be at least as far from "no difference".

    Parameters
    ----------
    distance : float or ndarray of shape (...)
        How far the value in the data is from "no difference".
    null_distances : ndarray of shape (..., draws)
        How far values are that occur if groups make no difference. NaN, which stands
        for a draw in which the metric is undefined, counts as far.

    Returns
    -------
    ndarray of shape (...)
        The share of draws that are as far. The data count as one more draw, so the
        share is never 0. NaN if the distance is NaN.
    """
    far = np.asarray(distance)
    is_nearer = null_distances < far[..., None] - _TOLERANCE
    p = (1 + np.count_nonzero(~is_nearer, axis=-1)) / (1 + is_nearer.shape[-1])
    return np.where(np.isnan(far), np.nan, p)[()]
