"""Metrics that are 0 on average when groups do not differ: direction from one half of the data, size from the other.

A plug-in metric of absolute differences is positive even for a perfectly fair model, because noise in either direction
adds to it. If instead one half of the data says which group has the higher score, and the other half says by how much,
then noise in the two halves does not conspire: for a fair model the product is 0 on average, for any other it is close
to the true difference, or a little below where the first half points the wrong way. This is sample splitting, or
cross-fitting; each half takes both parts, and the result is averaged over many random splits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from fairlib import comparisons, drawing
from fairlib.cells import Sample
from fairlib.evaluation import Evaluation
from fairlib.examples import Examples, NotMeasurable, read
from fairlib.measuring import COLUMNS, MEMORY, choose, observed
from fairlib.metrics import Metric

ROUNDING = 1e-12


def corrected(
    predictions: pd.DataFrame,
    metrics=None,
    *,
    classes=None,
    splits: int = 50,
    combinations: int = 100,
    rng=0,
    **columns: str,
) -> pd.DataFrame:
    """Measure fairness metrics so that a fair model gets 0 on average, whatever the size of the data.

    Parameters as for `measure`; `splits` random halvings. The data are halved by whole identity terms if every group
    has two or more, for the examples of a term are alike; else by whole sources, which cannot tell the particular
    terms from the groups; or by single examples if the table has neither.

    Returns a tidy frame: metric, class, group, value (as `measure` gives it) and corrected. A corrected value may be
    negative: then the two halves disagree about which group is worse, and there is nothing to see. Metrics that have a
    sign, and ratios, have no such bias and stay as they are. `attrs["undefined"]` gives reasons for NaN, `attrs["halved
    by"]` says what was halved.
    """
    if splits < 1 or combinations < 1:
        raise ValueError(f"splits and combinations must be positive, found {splits} and {combinations}")
    rng = np.random.default_rng(rng)
    chosen, explicit = choose(metrics)
    examples = read(predictions, classes=classes, **columns)
    values, reasons, left_out = observed(examples, chosen, explicit, combinations, rng)
    if not values:
        raise ValueError("none of the metrics can be measured: " + "; ".join(f"{k}: {v}" for k, v in left_out.items()))
    wanted = {}
    for name, class_name, _ in values:
        target = examples.classes.index(class_name) if chosen[name].per_class else None
        wanted[name, class_name] = (crossed(chosen[name], name), target)
    by, source_kind, term_kind, why_not = _halving(examples)
    found: dict[tuple, list] = {key: [] for key in values}
    options = {"splits": splits, "batch": max(2, MEMORY // (len(examples) * len(examples.groups))), "rng": rng}
    if examples.counted:
        halves = drawing.halved_counts(examples.count, examples.group, term_kind, **options)
    else:
        what = "sources" if by == "sources" else "terms"
        halves = drawing.halved_draws(source_kind, term_kind, examples.term_group, by=what, **options)
    for draws in halves:
        evaluation = Evaluation(examples, draws, combinations=combinations, rng=rng)
        for (name, class_name), (metric, target) in wanted.items():
            if metric is None or (why_not and metric.fairness == "counterfactual"):
                continue
            for group, replicates in evaluation.rows(metric, target).items():
                found[name, class_name, group].append(replicates)
    rows = []
    for key, value in values.items():
        metric = wanted[key[:2]][0]
        rows.append((*key, value[0], value[0] if metric is None else _mean(found[key])))
        if not np.isfinite(rows[-1][-1]) and np.isfinite(value[0]):
            reason = why_not if metric.fairness == "counterfactual" and why_not else "no split leaves it defined"
            reasons.append({**dict(zip(COLUMNS, key, strict=False)), "reason": f"corrected: {reason}"})
    result = pd.DataFrame(rows, columns=[*COLUMNS, "corrected"])
    result.attrs |= {
        "groups": list(examples.groups), "undefined": reasons, "not measured": left_out, "halved by": by,
    }  # fmt: skip
    return result


def crossed(metric: Metric, name: str = "") -> Metric | None:
    """Return the metric with the split version of its comparison; None where there is nothing to correct."""
    if metric.signed or metric.neutral != 0:
        return None
    if metric.comparison not in CROSSED:
        raise ValueError(
            f"metric {name!r}: no split version of {metric.comparison.__name__}; there are those of "
            f"{', '.join(comparison.__name__ for comparison in CROSSED)}, and signed ones need none"
        )
    return replace(metric, comparison=CROSSED[metric.comparison])


# Comparisons whose first axis holds halves of the data, first all the one halves, then the other halves.


def absolute_difference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The difference of two scores, counted as positive if the other half has it in the same direction."""
    difference = x - y
    other = _other(difference)
    return np.where(np.abs(other) > ROUNDING, np.sign(other), 0) * difference  # equal scores have no direction


def wasserstein(x: Sample, y: Sample) -> np.ndarray:
    """The area between two distribution functions, positive where the other half has them in the same order."""
    return absolute_difference(x.areas, y.areas).sum(axis=-1)


def standard_deviation(scores: np.ndarray) -> np.ndarray:
    """The deviations of the groups' scores from their mean, along the direction of the other half's deviations."""
    deviation = scores - scores.mean(axis=-1, keepdims=True)
    direction = _other(deviation)
    length = np.sqrt((direction**2).sum(axis=-1))
    along = (deviation * direction).sum(axis=-1)
    return np.divide(along, length, out=0 * along, where=length > ROUNDING) / np.sqrt(scores.shape[-1])


def score_range(scores: np.ndarray) -> np.ndarray:
    """How far the other half's highest group is above the other half's lowest group."""
    other = _other(scores).round(12)  # so that equal scores are equal
    best, worst = (np.take_along_axis(scores, pick(other, axis=-1)[..., None], -1) for pick in (np.argmax, np.argmin))
    return (best - worst)[..., 0]


CROSSED = {
    comparisons.absolute_difference: absolute_difference,
    comparisons.wasserstein: wasserstein,
    comparisons.standard_deviation: standard_deviation,
    comparisons.score_range: score_range,
}


def _other(halves: np.ndarray) -> np.ndarray:
    return np.roll(halves, len(halves) // 2, axis=0)


def _halving(examples: Examples) -> tuple[str, np.ndarray, np.ndarray, str]:
    """Return what is halved, the kind of each source and of each term, and why counterfactual metrics cannot be."""
    sources = int(examples.source.max()) + 1
    source_kind = np.zeros(sources, dtype=int)
    if examples.label is not None:  # so that both halves have examples of every class
        source_kind[examples.source] = examples.label
    term_kind = np.zeros(len(examples.term_group), dtype=int)
    for number, terms in enumerate(drawing.same_sources(examples.source, examples.term, len(term_kind))):
        term_kind[terms] = number
    if examples.independent.min() >= 2:
        of_kind = np.unique(np.stack([examples.term_group, term_kind]), axis=1, return_counts=True)[1]
        single = "" if of_kind.min() >= 2 else "a source has only one term of a group, which cannot be halved"
        if examples.resampled != "examples":
            return "terms", source_kind, term_kind, single
        return "examples", source_kind, term_kind if examples.label is None else examples.label, single
    if sources < 2:
        raise NotMeasurable("every group needs two or more examples, or identity terms, to be halved")
    return "sources", source_kind, term_kind, "a group has only one term, so that no source can be halved"


def _mean(batches: list[np.ndarray]) -> float:
    """Return the mean over the splits that leave the metric defined; NaN if there are none."""
    values = np.concatenate(batches) if batches else np.array([])
    defined = values[np.isfinite(values)]
    return float(defined.mean()) if len(defined) else np.nan
