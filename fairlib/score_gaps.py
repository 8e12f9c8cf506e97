"""How far apart are groups in any metric's own score, when sentences share templates and identity terms?

`gaps.interval` counts independent examples. Here whole terms and sources vary, and the score is anything a metric uses.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy import stats

from fairlib import drawing, scores
from fairlib.cells import Sample
from fairlib.evaluation import Evaluation
from fairlib.examples import Examples, NotMeasurable, read
from fairlib.gaps import MANY, SHARE, STATISTICS
from fairlib.measuring import ALL_CLASSES, MEMORY, choose
from fairlib.metrics import Metric
from fairlib.resampling import p_value


def metric_gap(
    predictions: pd.DataFrame,
    metrics,
    *,
    classes=None,
    statistic: str = "range",
    replicates: int = 1000,
    confidence: float = 0.95,
    rng=0,
    **columns: str,
) -> pd.DataFrame:
    """Return how far groups are apart in the scores of metrics, with intervals that cover "no gap" at their level.

    The score is the metric's phi of each group (for FPED the false positive rate, for CFGap the mean probability of the
    class); how the metric itself compares scores plays no part. Parameters as for `measure`; statistic as in
    `gaps.interval`.

    Returns metric, class, value, low, high, p, highest, lowest (the groups at either end). Differences of all pairs are
    drawn together with weights on whole terms and sources; the largest, in standard errors, gives limits that hold for
    all pairs at once, and the gap follows as in `gaps`; they are widened as Student's t is, for groups of few terms.
    Beside that, p is how often the gap is as large when whole terms are exchanged between groups, and the interval
    leaves 0 only if p is at most 1 − confidence too: so "no gap" is covered even where the weights are a poor guide, as
    long as the terms of all groups could be exchanged. Where nothing can be, p is NaN. For one term per group the
    interval is about these very terms, not about others like them.
    """
    if statistic not in STATISTICS:
        raise ValueError(f"statistic must be one of {', '.join(map(repr, STATISTICS))}, found {statistic!r}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, found {confidence}")
    if replicates < 100:
        raise ValueError(f"replicates must be at least 100, found {replicates}")
    rng = np.random.default_rng(rng)
    chosen, _ = choose(metrics)
    examples = read(predictions, classes=classes, **columns)
    if len(examples.groups) > MANY:
        raise ValueError(f"found {len(examples.groups)} groups; pairs are compared for at most {MANY}")
    wanted = {
        (name, target): _own(metric)
        for name, metric in chosen.items()
        for target in (examples.measured if metric.per_class else (None,))
    }
    try:
        found = {key: score[0] for key, score in _scores(examples, wanted, [None], rng).items()}
    except NotMeasurable as error:
        raise ValueError(f"the scores cannot be measured: {error}") from error
    options = {"replicates": replicates, "batch": max(1, MEMORY // (len(examples) * len(examples.groups))), "rng": rng}
    resampled = _scores(examples, wanted, drawing.bootstrap(examples, **options), rng)
    try:
        every = drawing.complete(examples) if examples.counted else examples
        exchanged = _scores(every, wanted, drawing.null(every, **options), rng)
    except drawing.NothingToExchange:
        exchanged = dict.fromkeys(wanted)
    rows = []
    for (name, target), score in found.items():
        class_name = ALL_CLASSES if target is None else examples.classes[target]
        value, low, high, p = _gap(
            score, resampled[name, target], exchanged[name, target], examples, statistic, confidence
        )
        if getattr(scores, chosen[name].score.__name__, None) is chosen[name].score:
            high = min(high, 1.0)  # all scores that fairlib knows lie between 0 and 1
        ends = (np.nanargmax, np.nanargmin) if np.isfinite(score).any() else ()
        extremes = [examples.groups[int(end(score))] for end in ends] or [None, None]
        rows.append((name, class_name, value, low, high, p, *extremes))
    result = pd.DataFrame(rows, columns=["metric", "class", "value", "low", "high", "p", "highest", "lowest"])
    result.attrs["groups"] = list(examples.groups)
    result.attrs["resampled"] = examples.resampled
    result.attrs["undefined"] = [
        {**row, "reason": "a group has no score, in the data or in a draw"}
        for row in result.loc[result["low"].isna(), ["metric", "class"]].to_dict("records")
    ]
    return result


def limits(
    score: np.ndarray, resampled: np.ndarray, *, statistic: str, confidence: float, widened: float = 1.0
) -> tuple[float, float]:
    """Return the ends of the interval for the gap of scores (k,), from their joint replicates (B, k).

    Every difference d of two groups is divided by its standard error s over the replicates. With c the quantile of the
    largest (d* − d) / s, all true differences are above d − c s at once; the high end is that of a single pair.
    """
    if not (np.isfinite(score).all() and np.isfinite(resampled).all()):
        return np.nan, np.nan
    first, second = np.triu_indices(len(score), 1)
    difference = score[first] - score[second]
    deviation = resampled[:, first] - resampled[:, second] - difference
    error = deviation.std(axis=0)
    relative = np.abs(np.divide(deviation, error, out=np.zeros_like(deviation), where=error > 1e-12))
    alpha = 1 - confidence
    one_region = statistic != "range" or len(score) == 2
    c = widened * np.quantile(relative.max(axis=1), 1 - alpha * (1 if one_region else 1 - SHARE), method="higher")
    if statistic == "range":
        z = c if one_region else widened * np.quantile(relative, 1 - 2 * SHARE * alpha, axis=0, method="higher")
        combine = np.max
    else:
        z, combine = c, np.mean
    low = np.maximum(np.abs(difference) - c * error, 0)
    return float(combine(low)), float(combine(np.abs(difference) + z * error))


def _gap(score, resampled, exchanged, examples: Examples, statistic: str, confidence: float) -> tuple:
    """Return value, low, high, p."""
    compute = STATISTICS[statistic][0]
    value, widened = float(compute(score)), widening(_independent(examples), len(score), confidence)
    low, high = limits(score, resampled, statistic=statistic, confidence=confidence, widened=widened)
    p = np.nan if exchanged is None else p_value(value, np.array([compute(draw) for draw in exchanged]))
    return value, 0.0 if p > 1 - confidence and np.isfinite(low) else low, high, p


@lru_cache
def widening(few: int, groups: int, confidence: float) -> float:
    """Return how much wider limits are for groups of `few` terms than for groups of very many.

    Weights of mean 1 give the mean of n things a variance of (n − 1) / (n + 1) of the unbiased one. And a standard
    error from few is itself uncertain, as Student's t says, or for the largest of all pairs Tukey's studentized range.
    """
    if few < 2:
        return np.inf
    variance = (few + 1) / (few - 1)
    if few >= 200:  # Student's t is normal by then
        return float(np.sqrt(variance))
    groups = min(groups, 20)  # the ratio hardly changes beyond
    tukey = [stats.studentized_range.ppf(confidence, groups, df) for df in (2 * (few - 1), np.inf)]
    return float(np.sqrt(variance) * tukey[0] / tukey[1])


def _independent(examples: Examples) -> int:
    """Return how many things vary on their own in the smallest group: its terms, or the sources if it has one term."""
    terms = int(examples.independent.min())
    return terms if terms > 1 else int(examples.source.max()) + 1


def _own(metric: Metric) -> Metric:
    """Return the metric that leaves each group's score as it is."""
    return replace(metric, kind="VBCM", normalizer="", comparison=own_score, background="all", single=False)


def own_score(background, score):
    """The group's own score, or the mean of its distribution of scores; the background plays no part."""
    if not isinstance(score, Sample):
        return score
    with np.errstate(invalid="ignore"):
        return (score.weights * score.values).sum(axis=-1) / score.size


def _scores(examples: Examples, wanted: dict, draws, rng: np.random.Generator) -> dict:
    """Return scores (replicates, groups) by key of `wanted`."""
    found: dict[tuple, list] = {key: [] for key in wanted}
    for some in draws:
        evaluation = Evaluation(examples, some, combinations=1, rng=rng)
        for (name, target), metric in wanted.items():
            rows = evaluation.rows(replace(metric, two_groups=False), target)
            found[name, target].append(np.stack(list(rows.values()), axis=1))
    return {key: np.concatenate(batches) for key, batches in found.items()}
