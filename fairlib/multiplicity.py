"""Many groups, many metrics: which of the differences would still be there if one had not looked at so many?

Fifteen pairs of groups at 5 % each find "something" in about a third to a half of all audits of a fair model. What is
controlled here is the probability of even one false finding in the whole family of questions (the family-wise error).
Holm's method needs nothing but p-values; max-T also uses that the questions hang together, and so finds more.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from statsmodels.stats.multitest import multipletests

from fairlib.drawing import NothingToExchange
from fairlib.examples import read
from fairlib.measuring import choose, distance, observed, replicated

# name -> (statsmodels' name, what is controlled, under which dependence of the p-values)
METHODS = {
    "holm": ("holm", "any false finding, under any dependence"),
    "bonferroni": ("bonferroni", "any false finding, under any dependence; never better than holm"),
    "hommel": ("hommel", "any false finding, under positive dependence"),
    "benjamini-hochberg": ("fdr_bh", "the share of false ones among findings, under positive dependence"),
    "benjamini-yekutieli": ("fdr_by", "the share of false ones among findings, under any dependence"),
}
SCALES = ("deviation", "rank", "none")


def adjust(p_values, *, method: str = "holm"):
    """Return p-values that may be compared with the level as if there were no others.

    A finding whose adjusted value is at most .05 is one of a list that holds a false one with probability 5 % at most
    (for "holm"; see `multiplicity.METHODS` for what the others control). NaN stays NaN and is no question.
    A Series keeps its index. Holm 1979, Scandinavian Journal of Statistics 6.

    >>> adjust([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, found {method!r}")
    values = np.asarray(p_values, dtype=float)
    known = ~np.isnan(values)
    if values.ndim != 1 or not ((values[known] >= 0) & (values[known] <= 1)).all():
        raise ValueError("p_values must be a list of numbers in [0, 1], or NaN for what is not defined")
    adjusted = np.full(len(values), np.nan)
    if known.any():
        corrected = _holm if method == "holm" else lambda p: multipletests(p, method=METHODS[method][0])[1]
        adjusted[known] = corrected(values[known])
    return pd.Series(adjusted, index=p_values.index) if isinstance(p_values, pd.Series) else adjusted


def max_t(observed, null, *, scale: str = "deviation", step_down: bool = True) -> np.ndarray:
    """Return adjusted p-values from joint draws of all statistics under the null: Westfall and Young's method.

    Each statistic is compared with the *largest* of all statistics in each draw. Because a draw gives all of them
    together, questions that are nearly the same cost nearly nothing, where Holm counts each in full.

    Parameters
    ----------
    observed : (m,) statistics; the larger, the farther from "no difference".
    null : (draws, m) the same from data without differences: permutations, or a centred bootstrap.
    scale : how statistics of different units are made comparable, before the largest is taken: "deviation" subtracts
        each one's mean under the null and divides by its standard deviation; "rank" takes each one's own p-value
        (min-P); "none" leaves them.
    step_down : leave out those already found when the next is looked at; finds more at the same error.

    The observed data count as one of the draws, so no p-value is below 1 / (1 + draws), and with a permutation null the
    family-wise error under "no differences at all" is at most the level exactly, for any number of draws. Where only
    some of the differences are null, it needs that these behave as if all were (subset pivotality). A statistic that is
    NaN has no p-value; a draw in which it is NaN counts as far. Westfall and Young 1993, "Resampling-based multiple
    testing", algorithms 2.8 and 4.1. O(draws m).
    """
    observed, null = np.asarray(observed, dtype=float), np.asarray(null, dtype=float)
    if scale not in SCALES:
        raise ValueError(f"scale must be one of {', '.join(map(repr, SCALES))}, found {scale!r}")
    if observed.ndim != 1 or null.ndim != 2 or null.shape[1:] != observed.shape or len(null) == 0:
        raise ValueError(f"null must be (draws, {observed.size}) for {observed.size} statistics, found {null.shape}")
    known = ~np.isnan(observed)
    every = np.vstack([observed, null])[:, known]  # the data are draw 0, so that all draws are treated alike
    every[np.isnan(every)] = np.inf
    if scale == "deviation":
        every = _standardized(every)
    elif scale == "rank":
        every = _ranked(every)
    order = np.argsort(-every[0], kind="stable")
    if step_down:  # the largest among those that are not yet found
        largest = np.maximum.accumulate(every[:, order][:, ::-1], axis=1)[:, ::-1]
    else:
        largest = np.broadcast_to(every.max(axis=1, initial=-np.inf)[:, None], every.shape)
    p = (largest >= every[0, order] - 1e-12).mean(axis=0)
    adjusted = np.full(len(observed), np.nan)
    adjusted[np.flatnonzero(known)[order]] = np.maximum.accumulate(p)
    return adjusted


def family(
    predictions: pd.DataFrame,
    metrics=None,
    *,
    classes=None,
    rows: str = "all",
    replicates: int = 999,
    scale: str = "deviation",
    combinations: int = 100,
    rng=0,
    **columns: str,
) -> pd.DataFrame:
    """Test a whole family of fairness metrics, classes and groups at once, by exchanging whole identity terms.

    Every row of the answer is a question: does this metric differ from what a model would give that does not see the
    groups? Parameters as for `measure` and `max_t`; rows "all", or "groups" or "accumulated" only. Whole terms are
    exchanged; in a table without terms, whole sources that belong to one group, else single examples. For what else is
    alike (all examples of one person, say), name that column as `term`.

    Returns measure's columns metric, class, group, value and, beside them, null (the mean without differences), p (for
    this question alone), p_holm and p_max_t (for the whole family). The null is "groups make no difference at all": if
    one metric differs, others that it drags along may be found too. With few terms p cannot be small: with two groups
    of three terms each there are only 10 different exchanges, so p is never below .1.
    """
    if rows not in ("all", "groups", "accumulated"):
        raise ValueError(f"rows must be 'all', 'groups' or 'accumulated', found {rows!r}")
    if replicates < 1:
        raise ValueError(f"replicates must be positive, found {replicates}")
    rng = np.random.default_rng(rng)
    chosen, explicit = choose(metrics)
    examples = read(predictions, classes=classes, **columns)
    values, reasons, left_out = observed(examples, chosen, explicit, combinations, rng)
    keys = [key for key in values if rows == "all" or (key[2] == "accumulated") == (rows == "accumulated")]
    if not keys:
        raise ValueError(f"no rows {rows!r} to test: {left_out or 'the metrics have none'}")
    try:
        draws = replicated(examples, chosen, values, "null", replicates, combinations, rng)
    except NothingToExchange as error:
        raise ValueError(f"no null: {error}") from error
    result = pd.DataFrame([(*key, values[key][0]) for key in keys], columns=["metric", "class", "group", "value"])
    far = np.array([distance(chosen[key[0]], values[key][0]) for key in keys])
    null = np.stack([distance(chosen[key[0]], draws[key]) for key in keys], axis=1)
    result["null"] = [draws[key].mean() for key in keys]
    result["p"] = [float(max_t(far[[i]], null[:, [i]], scale="none")[0]) for i in range(len(keys))]
    result["p_holm"] = adjust(result["p"])
    result["p_max_t"] = max_t(far, null, scale=scale)
    result.attrs |= {"groups": list(examples.groups), "undefined": reasons, "not measured": left_out}
    return result


def _holm(p: np.ndarray) -> np.ndarray:
    """As statsmodels does it, which collects all garbage at each call: .1 s in a session that holds a few tables."""
    order = np.argsort(p)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    return adjusted


def _standardized(every: np.ndarray) -> np.ndarray:
    """Return (draws, m) less their mean, by their standard deviation; infinity stays, what is constant becomes 0."""
    finite = np.isfinite(every)
    count = np.maximum(finite.sum(axis=0), 1)
    mean = np.where(finite, every, 0).sum(axis=0) / count
    deviation = np.where(finite, every - np.where(finite, mean, 0), 0)
    spread = np.sqrt((deviation**2).sum(axis=0) / count)
    scaled = np.divide(deviation, spread, out=np.zeros_like(every), where=spread > 1e-12)
    return np.where(finite, scaled, every)


def _ranked(every: np.ndarray) -> np.ndarray:
    """Return minus each one's own p-value, (draws, m)."""
    ordered = np.sort(every, axis=0)
    below = np.stack(
        [np.searchsorted(ordered[:, j], every[:, j] - 1e-12, side="left") for j in range(every.shape[1])], axis=1
    )
    return -(len(every) - below) / len(every)
