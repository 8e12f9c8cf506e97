"""Any metric on any table of predictions: one call, a tidy answer, and beside each value an interval and a null."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from fairlib.checks import check_confidence
from fairlib.metrics import draws
from fairlib.metrics.evaluation import Evaluation
from fairlib.metrics.examples import Columns, Examples, NotMeasurable, read
from fairlib.metrics.table2 import AUCS, METRICS, Metric

ALL_CLASSES = "all"  # the class of metrics that take all classes together
KEYS = ["metric", "class", "group"]
UNSURE = ["low", "high", "null", "p", "p_error"]


def measure(
    predictions,
    metrics=None,
    *,
    classes=None,
    replicates=0,
    confidence=0.95,
    rng=0,
    **columns,
) -> pd.DataFrame:
    """Measure fairness metrics on a table with one row per example, and say how sure one can be.

    predictions : any table that `fairlib.tables` reads. Rows that are alike are counted first, where the table is.
    metrics : names from `fairlib.METRICS`, or a mapping of names to `Metric`s of your own; by default every metric that
        the table allows.
    classes : the classes to measure one against the rest; by default all.
    replicates : with a number, e.g. 1000, five columns more: `low` and `high`, the interval with `confidence` from
        drawing whole sources and terms again; `null`, the mean of the metric when whole terms are exchanged between
        groups, which is what it would be for a fair model (without sources: exchanged within a label, for metrics that
        condition on labels, so that base rates stay); `p`, how often that is as far from "no difference" as the value;
        and `p_error`, the standard error of p itself (for many p-values at once see `discoveries`). An interval that
        stays off 0 is no evidence for a metric that cannot be negative: ask `p`.
    rng : a Generator or seed, for the replicates, and for combinations of one variation per group where a metric takes
        one variation at a time and its mean has no closed form: 100 of each source stand for all (section 5).
    columns : what the columns of the table are called, where not as in `fairlib.metrics.examples.Columns`: `group`,
        `label`, `prediction`, `probability` (a pattern, one column per class), `count` (of the examples that a row
        stands for), and for counterfactual metrics `source` (which template or original sentence) and `term` (which
        identity term). What no metric asks for may be absent. `bins` puts probabilities into so many bins of equal
        width: means and mean absolute differences change by at most 1/(2 bins) per group, Wasserstein distances and
        ranges by at most 1/bins, an equality gap by at most half the chance that two scores share a bin.

    Returns a tidy frame: metric, class, group, value. Rows of a group are the vector-valued version: against its
    background, or the mean over the pairs that contain it. The row "accumulated" is the aggregate, which VBCMs lack;
    MCMs have nothing else. A class "all" belongs to metrics that take all classes together. What is not defined is NaN,
    and `result.attrs["undefined"]` says why; `attrs["not measured"]` names the metrics that were left out by default,
    and why; `attrs["groups"]` gives the order in which signed metrics of two groups subtract.

    >>> people = pd.DataFrame({"group": list("aabb"), "label": [1, 1, 1, 1], "prediction": [1, 0, 1, 1]})
    >>> measure(people, "TPRDifference", classes=1)[["metric", "group", "value"]].to_dict("records")[-1]
    {'metric': 'TPRDifference', 'group': 'accumulated', 'value': -0.5}
    """
    chosen, explicit = choose(metrics)
    # A metric of one's own may look at probabilities without saying so.
    scores = any(
        metric.uses == "probabilities" or metric not in METRICS.values()
        for metric in chosen.values()
    )
    examples = read(predictions, Columns(**columns), classes=classes, scores=scores)
    return tabulate(
        [(examples, chosen)],
        explicit,
        replicates=replicates,
        confidence=confidence,
        rng=rng,
    )


def auc(predictions, *, classes=None, **columns) -> pd.DataFrame:
    """Measure the areas under the ROC curve of each group: phi of `AUCS`, not yet compared with that of all examples.

    An area is how often a positive example has a higher probability than a negative one. SubgroupAUC: the group's
    positives against its negatives. BPSN: the background's positives against the group's negatives (low where the group
    is falsely flagged). BNSP: the group's positives against the background's negatives (low where the group is missed).
    The background is all other groups; classes and columns as for `measure`.

    >>> table = pd.DataFrame({"group": list("aabb"), "label": [0, 1, 0, 1], "p_1": [0.2, 0.6, 0.7, 0.9]})
    >>> auc(table, classes=[1]).pivot(index="metric", columns="group", values="value").loc["BPSN"].to_dict()
    {'a': 1.0, 'b': 0.0}
    """
    areas = {
        name: replace(metric, comparison=lambda whole, group: group)
        for name, metric in AUCS.items()
    }
    examples = read(predictions, Columns(**columns), classes=classes)
    return tabulate([(examples, areas)], True)


def choose(metrics) -> tuple[dict[str, Metric], bool]:
    """Return metrics by name, and whether the caller asked for them one by one."""
    if metrics is None:
        return METRICS, False
    names = (
        metrics
        if isinstance(metrics, Iterable) and not isinstance(metrics, str)
        else [metrics]
    )
    chosen = (
        dict(metrics)
        if isinstance(metrics, Mapping)
        else {name: METRICS.get(name) for name in names}
    )
    if wrong := [
        name for name, metric in chosen.items() if not isinstance(metric, Metric)
    ]:
        raise ValueError(
            "metrics must be names from fairlib.METRICS or a mapping of names to Metric, but no Metric is found for "
            f"{wrong[0]!r}; the names are {', '.join(METRICS)}"
        )
    return chosen, True


def tabulate(
    parts, explicit: bool, *, replicates=0, confidence=0.95, rng=0
) -> pd.DataFrame:
    """Measure metrics on examples, for all pairs (examples, metrics) of `parts`, and put all rows into one frame."""
    check_confidence(confidence)
    if not isinstance(replicates, int | np.integer) or replicates < 0:
        raise ValueError(
            f"replicates must be a whole number of at least 0, found {replicates!r}"
        )
    rng, rows, reasons, left_out, no_null = np.random.default_rng(rng), {}, {}, {}, ""
    for examples, metrics in parts:
        values, undefined, not_measured = observed(examples, metrics, explicit, rng)
        if replicates and values:
            values, unsure, why = _unsure(
                examples, metrics, values, confidence, replicates, rng
            )
            undefined, no_null = undefined | unsure, why or no_null
        rows, reasons, left_out = (
            rows | values,
            reasons | undefined,
            left_out | not_measured,
        )
    if not rows:
        raise ValueError(
            "none of the metrics can be measured: "
            + "; ".join(f"{k}: {v}" for k, v in left_out.items())
        )
    columns = [*KEYS, "value", *(UNSURE if replicates else ())]
    result = pd.DataFrame([(*key, *row) for key, row in rows.items()], columns=columns)
    reasons = [
        dict(zip((*KEYS, "reason"), (*key, why), strict=True))
        for key, why in reasons.items()
    ]
    groups = list(parts[0][0].groups)
    result.attrs |= {
        "groups": groups,
        "undefined": reasons,
        "not measured": left_out,
        "no null": no_null,
    }
    return result


def observed(
    examples: Examples, metrics: dict[str, Metric], explicit: bool, rng
) -> tuple[dict, dict, dict]:
    """Return values by (metric, class, group), why some are undefined, and why metrics are left out."""
    evaluation = Evaluation(examples, None, rng)
    values, reasons, left_out = {}, {}, {}
    for name, metric in metrics.items():
        for target in examples.measured if metric.per_class else (None,):
            class_name = ALL_CLASSES if target is None else examples.classes[target]
            try:
                rows = evaluation.rows(metric, target)
            except NotMeasurable as error:
                if explicit:
                    raise ValueError(f"{name} cannot be measured: {error}") from error
                left_out[name] = str(error)
                break
            found = {(name, class_name, group): value for group, value in rows.items()}
            values |= found
            if undefined := [
                key for key, value in found.items() if not np.isfinite(value[0])
            ]:
                reasons |= dict.fromkeys(
                    undefined, evaluation.why_undefined(metric, target)
                )
    return values, reasons, left_out


def replicated(
    examples: Examples,
    metrics: dict[str, Metric],
    keys,
    kind: str,
    replicates: int,
    rng,
) -> dict:
    """Return, for every (metric, class, group) of `keys`, the values of all replicates: "bootstrap" or "null"."""
    if kind == "bootstrap":
        return over_draws(
            examples, draws.bootstrap(examples, replicates, rng), metrics, keys, rng
        )
    found, tied = (
        {},
        examples.source.any(),
    )  # variations of one source have one label: nothing need be given
    given_of = {key: "" if tied else metrics[key[0]].given for key in keys}
    for given in dict.fromkeys(given_of.values()):
        world = draws.exchangeable(examples, given)
        drawn = draws.exchanged(world, replicates, rng, given=given)
        found |= over_draws(
            world, drawn, metrics, [key for key in keys if given_of[key] == given], rng
        )
    return found


def over_draws(
    examples: Examples,
    drawn: Iterator[draws.Draws],
    metrics: dict[str, Metric],
    keys,
    rng,
) -> dict:
    """Return, for every (metric, class, group) of `keys`, the values in all replicates that are drawn."""
    wanted = dict.fromkeys((name, class_name) for name, class_name, _ in keys)
    found: dict[tuple, list] = {key: [] for key in keys}
    for some in drawn:
        evaluation = Evaluation(examples, some, rng)
        for name, class_name in wanted:
            target = (
                examples.classes.index(class_name) if metrics[name].per_class else None
            )
            for group, value in evaluation.rows(metrics[name], target).items():
                found[name, class_name, group].append(value)
    return {key: np.concatenate(batches) for key, batches in found.items()}


def interval(
    metric: Metric, value: float, replicates: np.ndarray, confidence: float
) -> tuple[float, float]:
    """Return value ± the distance that the replicates keep with `confidence`: the symmetric bootstrap (Hall 1988).

    A metric made of absolute differences grows with noise, so its replicates lie above the value as the value lies
    above the truth. The width takes that in; plain quantiles would never reach 0. It is no test of "no difference".

    Ratios are compared on the log scale, where they are symmetric; what cannot be negative has no negative end. A
    replicate in which the metric is undefined counts as infinitely far; a value that is not finite has no interval.
    """
    center, drawn = _scaled(metric, value), _scaled(metric, replicates)
    if not np.isfinite(center):
        return np.nan, np.nan
    distances = np.abs(drawn - center)
    margin = np.quantile(
        np.where(np.isnan(distances), np.inf, distances), confidence, method="higher"
    )
    low, high = center - margin, center + margin
    if metric.neutral == 1:
        return np.exp(low), np.exp(high)
    return (low if metric.signed else max(low, 0.0)), high


def distance(metric: Metric, values):
    """Return how far values of a metric are from "no difference"; ratios on the log scale, where they are symmetric."""
    return np.abs(_scaled(metric, values))


def _scaled(metric: Metric, values):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(values) if metric.neutral == 1 else values


def p_value(distance: float, null_distances: np.ndarray) -> float:
    """Return how often the null is at least as far from "no difference" as the value, which counts as one draw.

    A draw in which the metric is undefined counts as far.
    """
    if np.isnan(distance):
        return np.nan
    return (1 + np.count_nonzero(~(null_distances < distance - 1e-12))) / (
        1 + len(null_distances)
    )


def _unsure(
    examples: Examples,
    metrics: dict,
    values: dict,
    confidence: float,
    replicates: int,
    rng,
) -> tuple:
    """Return every value with its `UNSURE`, which of these are undefined and why, and why there is no null."""
    resampled, exchanged, why = (
        replicated(examples, metrics, values, "bootstrap", replicates, rng),
        {},
        "",
    )
    try:
        exchanged = replicated(examples, metrics, values, "null", replicates, rng)
    except draws.NothingToExchange as error:
        why = str(error)
    rows, reasons = {}, {}
    for key, (value,) in values.items():
        metric, null, p = metrics[key[0]], np.nan, np.nan
        if exchanged:
            null = exchanged[key].mean()
            p = p_value(distance(metric, value), distance(metric, exchanged[key]))
        low, high = interval(metric, value, resampled[key], confidence)
        rows[key] = (value, low, high, null, p, np.sqrt(p * (1 - p) / replicates))
        if exchanged and np.isnan(null) and np.isfinite(value):
            reasons[key] = (
                "null: without differences between groups the metric is undefined in some draws"
            )
        elif np.isnan(low) and np.isfinite(value):
            reasons[key] = (
                "interval: a ratio of 0 has none on the log scale, where ratios are symmetric"
            )
    return rows, reasons, why
