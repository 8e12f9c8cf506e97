"""Any metric on any table of predictions: one call, a tidy answer, and beside each value an interval and a null."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from fairlib import comparisons, drawing, resampling
from fairlib.cells import Cells, background
from fairlib.evaluation import Evaluation
from fairlib.examples import Examples, NotMeasurable, read
from fairlib.metrics import METRICS, Metric

ALL_CLASSES = "all"  # the class of metrics that take all classes together
COLUMNS = ["metric", "class", "group", "value"]
MEMORY = 2_000_000  # numbers per array and batch of replicates


def measure(
    predictions: pd.DataFrame,
    metrics=None,
    *,
    classes=None,
    replicates: int = 0,
    confidence: float = 0.95,
    combinations: int = 100,
    rng=0,
    group: str = "group",
    label: str = "label",
    prediction: str = "prediction",
    source: str = "source",
    term: str = "term",
    probability: str = "p_{}",
    count: str | None = None,
    bins: int | None = None,
) -> pd.DataFrame:
    """Measure fairness metrics on a table with one row per example, and say how sure one can be.

    Parameters
    ----------
    predictions : any table that `fairlib.tables` reads (pandas, polars, Arrow, DuckDB, Dask, PySpark, a
        `datasets.Dataset`, a path of Parquet files), with the columns named by `group`, `label`, `prediction` and
        `probability` (one per class), and for counterfactual metrics `source` (which template or original sentence) and
        `term` (which identity term). What no metric asks for may be absent.
    metrics : names from `fairlib.METRICS`, or a mapping of names to `Metric`s of your own; by default every metric that
        the table allows.
    classes : the classes to measure one against the rest; by default all.
    replicates : with a number, e.g. 1000, four columns more: `low` and `high`, the interval with `confidence` from
        drawing whole sources and terms again; `null`, the mean of the metric when whole terms are exchanged between
        groups, which is what it would be for a fair model; `p`, how often that is as far from "no difference" as the
        value. An interval that stays off 0 is no evidence for a metric that cannot be negative: ask `p`.
    combinations : how many combinations of one variation per group stand for all of them, where a metric takes one
        variation at a time and its mean has no closed form (section 5 of the paper: 100).
    rng : a Generator or seed, for these combinations and the replicates.
    count : column with the number of examples that a row stands for, where rows are counts already.
    bins : put probabilities into so many bins of equal width while counting, so that little comes back from a large
        table. No probability moves by more than half a bin: means and mean absolute differences of scores change by at
        most 1/(2 bins) per group, Wasserstein distances and ranges by at most 1/bins; an equality gap by at most half
        the chance that a score of the group and one of the background share a bin.

    Rows that are alike are counted first, where the table is; everything after that costs what the number of distinct
    rows costs, the replicates too.

    Returns
    -------
    A tidy frame: metric, class, group, value. Rows of a group are the vector-valued version: against its background, or
    the mean over the pairs that contain it. The row "accumulated" is the aggregate, which VBCMs lack; MCMs have nothing
    else. A class "all" belongs to metrics that take all classes together. What is not defined is NaN, and
    `result.attrs["undefined"]` says why; `attrs["not measured"]` names the metrics that were left out by default, and
    why; `attrs["groups"]` gives the order in which signed metrics of two groups subtract.
    """
    chosen, explicit = choose(metrics)
    names = {"group": group, "label": label, "prediction": prediction, "source": source, "term": term}
    # A metric of one's own may look at probabilities without saying so.
    scores = any(metric.uses == "probabilities" or metric not in METRICS.values() for metric in chosen.values())
    options = {"probability": probability, "count": count, "bins": bins, "scores": scores}
    parts = [(read(predictions, classes=classes, **names, **options), chosen)]
    return tabulate(parts, explicit, replicates, confidence=confidence, combinations=combinations, rng=rng)


def auc(
    predictions: pd.DataFrame,
    *,
    classes=None,
    group: str = "group",
    label: str = "label",
    probability: str = "p_{}",
    count: str | None = None,
    bins: int | None = None,
) -> pd.DataFrame:
    """Measure the areas under the ROC curve of Borkan et al. 2019, which compare scores of two different sets.

    SubgroupAUC: the group's positives against its negatives. BPSN: the background's positives against the group's
    negatives (low when the group is falsely flagged). BNSP: the group's positives against the background's negatives
    (low when the group is missed). The background is everybody else; columns as for `measure`.
    """
    columns = {"group": group, "label": label, "probability": probability, "count": count}
    examples = read(predictions, classes=classes, bins=bins, **columns)
    rows = []
    for target in examples.measured:
        cells = Cells(examples, target, by_unit=False)
        others = background(cells, "complement")
        positive, negative = (cells.sample(cells.probability, among=among) for among in (cells.gold, ~cells.gold))
        elsewhere = [others.sample(cells.probability, among=among) for among in (cells.gold, ~cells.gold)]
        compared = {
            "SubgroupAUC": (positive, negative),
            "BPSN": (elsewhere[0], negative),
            "BNSP": (positive, elsewhere[1]),
        }
        for name, (high, low) in compared.items():
            values = zip(examples.groups, comparisons.superiority(high, low).ravel().tolist(), strict=True)
            rows += [(name, examples.classes[target], which, value) for which, value in values]
    result = pd.DataFrame(rows, columns=COLUMNS)
    result.attrs["undefined"] = [
        {**row, "reason": "no positive or no negative examples to compare"}
        for row in result.loc[result["value"].isna(), ["metric", "class", "group"]].to_dict("records")
    ]
    return result


def choose(metrics) -> tuple[dict[str, Metric], bool]:
    """Return metrics by name, and whether the caller asked for them one by one."""
    if metrics is None:
        return METRICS, False
    if isinstance(metrics, Mapping):
        if wrong := [name for name, metric in metrics.items() if not isinstance(metric, Metric)]:
            raise ValueError(f"metrics: {wrong[0]!r} must be a Metric, found {type(metrics[wrong[0]]).__name__}")
        return dict(metrics), True
    names = list(metrics) if isinstance(metrics, Iterable) and not isinstance(metrics, str) else [metrics]
    if unknown := [name for name in names if not isinstance(name, str) or name not in METRICS]:
        raise ValueError(
            f"metrics must be names from fairlib.METRICS or a mapping of names to Metric, found {unknown[0]!r}; "
            f"the names are {', '.join(METRICS)}"
        )
    if not names:
        raise ValueError("metrics must name at least one, found none; with None, all are measured")
    return {name: METRICS[name] for name in names}, True


def tabulate(
    parts: list[tuple[Examples, dict[str, Metric]]],
    explicit: bool,
    replicates: int,
    *,
    confidence: float,
    combinations: int,
    rng,
) -> pd.DataFrame:
    """Measure each part's metrics on its examples and put all rows into one frame."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, found {confidence}")
    for name, number, least in (("replicates", replicates, 0), ("combinations", combinations, 1)):
        if not isinstance(number, int | np.integer) or number < least:
            raise ValueError(f"{name} must be a whole number of at least {least}, found {number!r}")
    rng = np.random.default_rng(rng)
    tables, undefined, left_out, why_no_null = [], [], {}, ""
    for examples, metrics in parts:
        values, reasons, not_measured = observed(examples, metrics, explicit, combinations, rng)
        undefined += reasons
        left_out |= not_measured
        table = pd.DataFrame([(*key, value[0]) for key, value in values.items()], columns=COLUMNS)
        if replicates and len(table):
            resampled = replicated(examples, metrics, values, "bootstrap", replicates, combinations, rng)
            try:
                exchanged = replicated(examples, metrics, values, "null", replicates, combinations, rng)
            except drawing.NothingToExchange as error:
                exchanged, why_no_null = None, str(error)
            columns = [
                _uncertainty(metrics[key[0]], value[0], resampled[key], exchanged and exchanged[key], confidence)
                for key, value in values.items()
            ]
            table[["low", "high", "null", "p"]] = np.array(columns)
            undefined += _unsure(values, columns)
        tables.append(table)
    result = pd.concat([table for table in tables if len(table)], ignore_index=True) if any(map(len, tables)) else None
    if result is None:
        raise ValueError("none of the metrics can be measured: " + "; ".join(f"{k}: {v}" for k, v in left_out.items()))
    terms = parts[0][0].independent
    result.attrs |= {
        "groups": list(parts[0][0].groups),
        "undefined": undefined,
        "not measured": left_out,
        "resampled": f"{parts[0][0].resampled} ({terms.min()} to {terms.max()} terms per group)" if replicates else "",
        "no null": why_no_null,
    }
    return result


def observed(examples: Examples, metrics: dict[str, Metric], explicit: bool, combinations: int, rng) -> tuple:
    """Return values by (metric, class, group), reasons for what is undefined, and reasons for what is left out."""
    evaluation = Evaluation(examples, None, combinations=combinations, rng=rng)
    values, reasons, left_out = {}, [], {}
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
            values |= {(name, class_name, group): value for group, value in rows.items()}
            undefined = [group for group, value in rows.items() if not np.isfinite(value[0])]
            if undefined:
                reason = _reason(evaluation, metric, target)
                key = {"metric": name, "class": class_name}
                reasons += [{**key, "group": group, "reason": reason} for group in undefined]
    return values, reasons, left_out


def _unsure(values: dict, columns: list[tuple]) -> list[dict]:
    """Say of which values that are defined the interval, or the null, is not."""
    found = []
    for (name, class_name, group), (low, _, null, p) in zip(values, columns, strict=True):
        if np.isfinite(values[name, class_name, group][0]):
            reason = (
                "interval: a ratio of 0 has none on the log scale, where ratios are symmetric" if np.isnan(low) else ""
            )
            if np.isnan(null) and not np.isnan(p):
                reason = "null: without differences between groups the metric is undefined in some draws"
            if reason:
                found.append({"metric": name, "class": class_name, "group": group, "reason": reason})
    return found


def _reason(evaluation: Evaluation, metric: Metric, target: int | None) -> str:
    """Say why a value is not finite: a group without what its score needs, or a ratio over 0."""
    if groups := evaluation.scoreless(metric, target):
        needs = getattr(metric.score, "needs", "examples that its score needs")
        where = {"all": "", "gold": " with the class as label", "other": " with another label"}[metric.examples]
        return f"no {needs}{where} in group(s) {', '.join(map(str, groups))}"
    return "a score of 0 stands below the line: the ratio is infinite, or undefined where both scores are 0"


def replicated(
    examples: Examples, metrics: dict[str, Metric], values: dict, kind: str, replicates: int, combinations: int, rng
) -> dict:
    """Return, for every key of `values`, the values of all replicates."""
    if kind == "null" and examples.counted:
        examples = drawing.complete(examples)
    draw = {"bootstrap": drawing.bootstrap, "null": drawing.null}[kind]
    draws = draw(
        examples, replicates=replicates, batch=max(1, MEMORY // (len(examples) * len(examples.groups))), rng=rng
    )
    code = {name: index for index, name in enumerate(examples.classes)}
    wanted = dict.fromkeys((name, class_name) for name, class_name, _ in values)
    found: dict[tuple, list] = {key: [] for key in values}
    for some in draws:
        evaluation = Evaluation(examples, some, combinations=combinations, rng=rng)
        for name, class_name in wanted:
            target = code[class_name] if metrics[name].per_class else None
            for group, value in evaluation.rows(metrics[name], target).items():
                found[name, class_name, group].append(value)
    return {key: np.concatenate(batches) for key, batches in found.items()}


def _uncertainty(
    metric: Metric, value: float, resampled: np.ndarray, exchanged: np.ndarray | None, confidence: float
) -> tuple[float, float, float, float]:
    """Return low, high, null and p of one value."""
    low, high = interval(metric, value, resampled, confidence)
    if exchanged is None:
        return low, high, np.nan, np.nan
    return low, high, exchanged.mean(), resampling.p_value(distance(metric, value), distance(metric, exchanged))


def interval(metric: Metric, value: float, resampled: np.ndarray, confidence: float) -> tuple[float, float]:
    """Return the ends of an interval around a value; ratios are compared on the log scale, where they are symmetric."""
    if metric.neutral != 1:
        lowest = -np.inf if metric.signed else 0.0
        return resampling.symmetric_interval(value, resampled, confidence=confidence, lowest=lowest)
    with np.errstate(divide="ignore", invalid="ignore"):
        return tuple(np.exp(resampling.symmetric_interval(np.log(value), np.log(resampled), confidence=confidence)))


def distance(metric: Metric, values):
    """Return how far values of a metric are from "no difference"; ratios on the log scale, where they are symmetric."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.abs(np.log(values)) if metric.neutral == 1 else np.abs(values)
