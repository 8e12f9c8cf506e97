"""Metrics that are 0 on average when groups do not differ: direction from one half of the data, size from the other.

A metric of absolute differences is positive even for a perfectly fair model, because noise in either direction adds to
it. If one half of the data says which group has the higher score, and the other half by how much, the noise of the one
has nothing to do with that of the other. Each half takes both parts, averaged over many random splits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from fairlib.metrics import comparisons, draws
from fairlib.metrics.cells import Sample
from fairlib.metrics.examples import Columns, Examples, read
from fairlib.metrics.measuring import COLUMNS, choose, observed, over_draws
from fairlib.metrics.table2 import Metric

ROUNDING = 1e-12


def corrected(predictions, metrics=None, *, classes=None, splits: int = 50, rng=0, **columns) -> pd.DataFrame:
    """Measure group metrics so that a fair model gets 0 on average, whatever the size of the data.

    Parameters as for `measure`; `splits` random halvings: of whole identity terms if every group has two or more, for
    the examples of a term are alike; else of whole sources, which cannot tell the particular terms from the groups; or
    of single examples if the table has neither (`attrs["halved by"]`).

    Returns a tidy frame: metric, class, group, value (as `measure` gives it) and corrected. A corrected value may be
    negative: then the halves disagree about which group is worse, and there is nothing to see. Metrics with a sign, and
    ratios, have no such bias and stay as they are. `attrs["undefined"]` gives reasons for NaN.

    >>> people = pd.DataFrame({"group": list("aabb"), "label": 1, "prediction": [1, 0, 0, 0]})
    >>> corrected(people, "TPRGap", classes=1)[["value", "corrected"]].iloc[-1].tolist()
    [0.5, 0.0]
    """
    if splits < 1:
        raise ValueError(f"splits must be positive, found {splits}")
    chosen, explicit = choose(metrics)
    if not explicit:
        chosen = {name: metric for name, metric in chosen.items() if metric.fairness == "group"}
    examples = read(predictions, Columns(**columns), classes=classes)
    return of_examples(examples, chosen, explicit, splits=splits, rng=rng)


def of_examples(examples: Examples, chosen: dict[str, Metric], explicit: bool, *, splits: int, rng=0) -> pd.DataFrame:
    """Return what `corrected` returns, for examples that are read already."""
    rng = np.random.default_rng(rng)
    split = {name: other for name, metric in chosen.items() if (other := crossed(metric, name)) is not None}
    values, reasons, left_out = observed(examples, chosen, explicit, 1, rng)
    if not values:
        raise ValueError("none of the metrics can be measured: " + "; ".join(f"{k}: {v}" for k, v in left_out.items()))
    by, halves = draws.halves(examples, splits, rng)
    found = over_draws(examples, halves, split, [key for key in values if key[0] in split], 1, rng)
    rows = [(*key, value[0], _mean(found[key]) if key in found else value[0]) for key, value in values.items()]
    result = pd.DataFrame(rows, columns=[*COLUMNS, "corrected"])
    lost = result[np.isfinite(result["value"]) & ~np.isfinite(result["corrected"])]
    reasons += lost[COLUMNS[:3]].assign(reason="corrected: no split leaves it defined").to_dict("records")
    said = {"groups": list(examples.groups), "undefined": reasons, "not measured": left_out, "halved by": by}
    result.attrs |= said
    return result


def crossed(metric: Metric, name: str = "") -> Metric | None:
    """Return the metric with the split version of its comparison; None where there is nothing to correct."""
    if metric.signed or metric.neutral != 0:
        return None
    if metric.comparison not in CROSSED or metric.fairness != "group":
        allowed = " and ".join(comparison.__name__ for comparison in CROSSED)
        raise ValueError(f"metric {name!r} has no split version: group metrics of {allowed} have one")
    return replace(metric, comparison=CROSSED[metric.comparison])


def absolute_difference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The difference of two scores, counted as positive if the other half has it in the same direction."""
    difference = x - y  # the first axis holds all the one halves of the data, then the other halves
    other = np.roll(difference, len(difference) // 2, axis=0)
    return np.where(np.abs(other) > ROUNDING, np.sign(other), 0) * difference  # equal scores have no direction


def wasserstein(x: Sample, y: Sample) -> np.ndarray:
    """The area between two distribution functions, positive where the other half has them in the same order."""
    return absolute_difference(x.areas, y.areas).sum(axis=-1)


CROSSED = {comparisons.absolute_difference: absolute_difference, comparisons.wasserstein: wasserstein}


def _mean(values: np.ndarray) -> float:
    """Return the mean over the splits that leave the metric defined; NaN if there are none."""
    defined = values[np.isfinite(values)]
    return float(defined.mean()) if len(defined) else np.nan
