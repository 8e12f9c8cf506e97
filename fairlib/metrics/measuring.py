"""Measure any metric on any table of predictions, with intervals and tests of fairness.

One call answers with one tidy frame. If asked for replicates, it also says how much
each value may vary, and what the value would be for a fair model.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from numpy.random import Generator
from pandas import DataFrame

from fairlib.checks import check_confidence
from fairlib.metrics import draws
from fairlib.metrics.evaluation import Evaluation
from fairlib.metrics.examples import Columns, Examples, NotMeasurable, read
from fairlib.metrics.table2 import AUCS, METRICS, Metric
from fairlib.metrics.uncertainty import (
    Key,
    distance,
    interval,
    over_draws,
    p_value,
    replicated,
)

__all__ = [
    "ALL_CLASSES",
    "Observed",
    "auc",
    "choose",
    "distance",
    "interval",
    "measure",
    "observed",
    "over_draws",
    "p_value",
    "replicated",
    "tabulate",
]

# The class in results of metrics that take all classes together.
ALL_CLASSES = "all"
_KEYS = ("metric", "class", "group")
_UNCERTAINTY = ("low", "high", "null", "p", "p_error")


def measure(
    predictions: object,
    metrics: str | Iterable[str] | Mapping[str, Metric] | None = None,
    *,
    classes: Hashable | Iterable | None = None,
    group: str = "group",
    label: str | None = "label",
    prediction: str | None = "prediction",
    source: str | None = "source",
    term: str | None = "term",
    probability: str = "p_{}",
    count: str | None = None,
    bins: int | None = None,
    replicates: int = 0,
    confidence: float = 0.95,
    rng: Generator | int = 0,
) -> DataFrame:
    """Measure fairness metrics on a table that has one row per example.

    A metric compares what happens to different groups of examples: how often each of
    them is misclassified, for instance. With `replicates`, the answer also says how
    sure one can be of each value. A column that no metric needs may be missing from the
    table.

    Parameters
    ----------
    predictions : frame, path or dataset
        Any table that `fairlib.tables` reads. Equal rows are counted first, in the
        engine that holds the table.
    metrics : str, iterable of str or mapping of str to Metric, optional
        Names from `fairlib.METRICS`, or metrics of your own by their names. By default
        every metric that the table allows.
    classes : class or iterable of classes, optional
        The classes to measure, each against the rest. By default all.
    group : str
        The column of groups.
    label, prediction : str or None
        The columns of the true class and of the predicted class. None: do not use any.
    source, term : str or None
        The columns of the template or original sentence, and of the identity term in
        it. Counterfactual metrics need the source. None: do not use any.
    probability : str
        Pattern of the columns of probabilities; ``{}`` stands for the class.
    count : str, optional
        The column that says how many examples a row stands for.
    bins : int, optional
        Put probabilities into so many bins of equal width. Means and mean absolute
        differences then change by at most 1/(2 bins) per group, Wasserstein distances
        and ranges by at most 1/bins, and an equality gap by at most half the chance
        that two scores share a bin.
    replicates : int, default 0
        How often to draw the data anew, such as 1000. Adds five columns to the result.
    confidence : float, default 0.95
        Confidence of the intervals.
    rng : Generator or int, default 0
        Random numbers for the replicates, and for metrics that compare one variation
        per group at a time without a closed form for their mean: 100 random
        combinations of each source stand for all of them (section 5).

    Returns
    -------
    DataFrame
        Columns metric, class, group and value. The row of a group is the vector-valued
        version of the metric: the group against its background, or the mean over all
        pairs with the group. The row "accumulated" is the aggregate over groups.
        Metrics of kind VBCM have no aggregate; those of kind MCM have nothing else. The
        class "all" belongs to metrics that take all classes together. A value that is
        not defined is NaN.

        With `replicates`, five more columns:

        - low, high: the interval, from drawing whole sources and terms anew;
        - null: the mean of the metric when whole terms change groups at random, as they
          could if the model were fair. Without sources, they do so among examples of
          the same label if the metric conditions on labels, so that base rates stay;
        - p: how often such an exchange is at least as far from "no difference";
        - p_error: the standard error of p. `fairlib.discoveries` is for many p-values.

        The attributes of the frame (`result.attrs`) explain it: "undefined" says why a
        value, interval or null is not defined, "not measured" why metrics were left out
        by default, "no null" why nothing has a null, and "groups" gives the order in
        which signed metrics of two groups subtract.

    Raises
    ------
    ValueError
        If a column is missing or holds something else than its role needs, or if a
        metric that was named cannot be measured on this table.

    Notes
    -----
    If a metric cannot be negative, its interval may exclude 0 although the model is
    fair. Look at p instead. If p says no, `smallest_effect` says what it could have
    missed.

    The interval is for other sources and other terms of the same kind, with any shares
    of labels. For signed differences of means it is safe, and wider than necessary: by
    1.7 times if single examples are noisy and little else differs, and by more if the
    suite fixes how many sources have each label. For metrics that cannot be negative it
    covers less often than it says where groups have few terms: 80 to 90 % instead of
    95 % with five differing terms a group (`benchmarks/resampling.md`).

    The null keeps what is peculiar to each term, and with it what makes the terms of an
    unfair group worse. It is the value of these terms in other groups, and not always
    that of a fair model.

    References
    ----------
    Czarnowska, Vyas and Shah (2021), "Quantifying social biases in NLP: a
    generalization and empirical comparison of extrinsic fairness metrics", TACL 9.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"group": list("aabb"), "label": 1})
    >>> people["prediction"] = [1, 0, 1, 1]
    >>> measure(people, "TPRDifference", classes=1)
              metric  class        group  value
    0  TPRDifference      1            a   -0.5
    1  TPRDifference      1            b   -0.5
    2  TPRDifference      1  accumulated   -0.5
    """
    chosen = choose(metrics)
    columns = Columns(
        group=group,
        label=label,
        prediction=prediction,
        source=source,
        term=term,
        probability=probability,
        count=count,
        bins=bins,
    )
    scores = _need_probabilities(chosen.values())
    examples = read(predictions, columns, classes=classes, scores=scores)

    return tabulate(
        [(examples, chosen)],
        explicit=metrics is not None,
        replicates=replicates,
        confidence=confidence,
        rng=rng,
    )


def auc(
    predictions: object,
    *,
    classes: Hashable | Iterable | None = None,
    group: str = "group",
    label: str = "label",
    prediction: str | None = "prediction",
    source: str | None = "source",
    term: str | None = "term",
    probability: str = "p_{}",
    count: str | None = None,
    bins: int | None = None,
) -> DataFrame:
    """Measure how well probabilities tell positive from negative examples by group.

    The area under a ROC curve says how often a positive example has a higher
    probability than a negative one. Three areas say where errors of a group come from:

    - SubgroupAUC: positives of the group against negatives of the group;
    - BPSN: positives of all other groups (the background) against negatives of the
      group. It is low if the group is flagged wrongly;
    - BNSP: positives of the group against negatives of the background. It is low if the
      group is missed.

    Parameters
    ----------
    predictions : frame, path or dataset
        Any table that `fairlib.tables` reads.
    classes, group, label, prediction, source, term, probability, count, bins
        As for `measure`.

    Returns
    -------
    DataFrame
        Columns metric, class, group and value.

    References
    ----------
    Borkan et al. (2019), "Nuanced metrics for measuring unintended bias with real data
    for text classification", WWW.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"group": list("aabb"), "label": [0, 1, 0, 1]})
    >>> table["p_1"] = [0.2, 0.6, 0.7, 0.9]
    >>> areas = auc(table, classes=[1]).set_index(["metric", "group"])["value"]
    >>> areas["BPSN"].to_dict()
    {'a': 1.0, 'b': 0.0}
    """
    columns = Columns(
        group=group,
        label=label,
        prediction=prediction,
        source=source,
        term=term,
        probability=probability,
        count=count,
        bins=bins,
    )
    examples = read(predictions, columns, classes=classes)

    areas = {
        name: replace(metric, comparison=_area_of_group)
        for name, metric in AUCS.items()
    }
    return tabulate([(examples, areas)], explicit=True)


def _area_of_group(whole: ndarray, group: ndarray) -> ndarray:
    """Return the area of a group as it is, without comparing it to the whole."""
    return group


def choose(
    metrics: str | Iterable[str] | Mapping[str, Metric] | None,
) -> dict[str, Metric]:
    """Return the metrics that an argument `metrics` stands for, by their names.

    Parameters
    ----------
    metrics : str, iterable of str, mapping of str to Metric, or None
        As for `measure`; None stands for all of `METRICS`.
    """
    if metrics is None:
        return METRICS

    named: dict[str, object]
    if isinstance(metrics, Mapping):
        named = dict(metrics)
    elif isinstance(metrics, Iterable) and not isinstance(metrics, str):
        named = {name: METRICS.get(name) for name in metrics}
    else:
        named = {metrics: METRICS.get(metrics)}
    if not named:
        raise ValueError(
            "metrics must name at least one metric, or be None for all of them; "
            f"found {metrics!r}"
        )

    chosen = {}
    for name, metric in named.items():
        if not isinstance(metric, Metric):
            raise ValueError(
                "metrics must be names from fairlib.METRICS or a mapping of names to "
                f"Metric, but no Metric is found for {name!r}; "
                f"the names are {', '.join(METRICS)}"
            )
        chosen[name] = metric
    return chosen


def _need_probabilities(metrics: Iterable[Metric]) -> bool:
    """Whether a metric may use probabilities; one of your own may do so unannounced."""
    return any(
        metric.uses == "probabilities" or metric not in METRICS.values()
        for metric in metrics
    )


def tabulate(
    parts: Sequence[tuple[Examples, Mapping[str, Metric]]],
    explicit: bool,
    *,
    replicates: int = 0,
    confidence: float = 0.95,
    rng: Generator | int = 0,
) -> DataFrame:
    """Measure metrics on examples and put all values into one frame.

    Parameters
    ----------
    parts : sequence of (Examples, mapping of str to Metric)
        Examples, and the metrics to measure on them.
    explicit : bool
        Whether the caller named the metrics. If not, metrics that cannot be measured
        are left out.
    replicates, confidence, rng
        As for `measure`.

    Returns
    -------
    DataFrame
        As from `measure`.
    """
    check_confidence(confidence)
    _check_replicates(replicates)
    generator = np.random.default_rng(rng)

    rows: dict[Key, Iterable[float]] = {}
    undefined: dict[Key, str] = {}
    not_measured: dict[str, str] = {}
    no_null = ""
    for examples, metrics in parts:
        point = observed(examples, metrics, explicit, generator)
        rows.update(point.values)
        undefined.update(point.undefined)
        not_measured.update(point.not_measured)

        if replicates and point.values:
            uncertain = _uncertain(
                examples,
                metrics,
                point.values,
                confidence=confidence,
                replicates=int(replicates),
                rng=generator,
            )
            rows.update(uncertain.rows)
            undefined.update(uncertain.undefined)
            no_null = uncertain.no_null or no_null
    if not rows:
        reasons = [f"{name}: {reason}" for name, reason in not_measured.items()]
        raise ValueError(f"none of the metrics can be measured: {'; '.join(reasons)}")

    columns = [*_KEYS, "value"]
    if replicates:
        columns.extend(_UNCERTAINTY)
    lines = [(*key, *row) for key, row in rows.items()]
    result = DataFrame(lines, columns=columns)

    result.attrs["groups"] = list(parts[0][0].groups)
    result.attrs["undefined"] = [
        {**dict(zip(_KEYS, key, strict=True)), "reason": reason}
        for key, reason in undefined.items()
    ]
    result.attrs["not measured"] = not_measured
    result.attrs["no null"] = no_null
    return result


def _check_replicates(replicates: int) -> None:
    """Raise unless `replicates` is a number of replicates."""
    if not isinstance(replicates, int | np.integer) or replicates < 0:
        raise ValueError(
            f"replicates must be a whole number of at least 0, found {replicates!r}"
        )


class Observed(NamedTuple):
    """Metrics of the data as they are, each by its metric, class and group.

    Attributes
    ----------
    values : dict
        The values, as arrays of one number.
    undefined : dict
        Why values are NaN or infinite.
    not_measured : dict
        Why metrics are left out, by their names.
    """

    values: dict[Key, ndarray]
    undefined: dict[Key, str]
    not_measured: dict[str, str]


def observed(
    examples: Examples,
    metrics: Mapping[str, Metric],
    explicit: bool,
    rng: Generator,
) -> Observed:
    """Measure metrics on the data as they are.

    Parameters
    ----------
    examples : Examples
        The checked data.
    metrics : mapping of str to Metric
        What to measure.
    explicit : bool
        Whether to raise if a metric cannot be measured. If not, it is left out.
    rng : Generator
        Random numbers for metrics that compare random combinations of variations.

    Returns
    -------
    Observed
    """
    evaluation = Evaluation(examples, None, rng)
    values: dict[Key, ndarray] = {}
    undefined: dict[Key, str] = {}
    not_measured: dict[str, str] = {}

    for name, metric in metrics.items():
        for target, class_name in _targets(examples, metric):
            try:
                value_of_group = evaluation.rows(metric, target)
            except NotMeasurable as error:
                if explicit:
                    raise ValueError(f"{name} cannot be measured: {error}") from error
                not_measured[name] = str(error)
                break

            not_finite = []
            for group, value in value_of_group.items():
                values[name, class_name, group] = value
                if not np.isfinite(value[0]):
                    not_finite.append((name, class_name, group))
            if not_finite:
                reason = evaluation.why_undefined(metric, target)
                undefined.update(dict.fromkeys(not_finite, reason))
    return Observed(values, undefined, not_measured)


def _targets(examples: Examples, metric: Metric) -> list[tuple[int | None, Hashable]]:
    """Return the codes and names of the classes on which a metric is measured."""
    if not metric.per_class:
        return [(None, ALL_CLASSES)]
    return [(target, examples.classes[target]) for target in examples.measured]


class _Uncertain(NamedTuple):
    """Values with their uncertainty, why some are undefined, why there is no null."""

    rows: dict[Key, tuple[float, ...]]
    undefined: dict[Key, str]
    no_null: str


def _uncertain(
    examples: Examples,
    metrics: Mapping[str, Metric],
    values: Mapping[Key, ndarray],
    *,
    confidence: float,
    replicates: int,
    rng: Generator,
) -> _Uncertain:
    """Return every value with its interval, the mean of its null, p and p's error."""
    keys_of: dict[tuple, list[Key]] = {}
    for key in values:
        keys_of.setdefault(key[:2], []).append(key)

    resampled = replicated(
        examples, metrics, values, kind="bootstrap", replicates=replicates, rng=rng
    )
    ends: dict[Key, tuple[float, float]] = {}
    for (name, _), keys in keys_of.items():
        value = np.concatenate([values[key] for key in keys])
        again = np.stack([resampled.pop(key) for key in keys])
        lows, highs = interval(metrics[name], value, again, confidence)
        ends.update(zip(keys, zip(lows, highs, strict=True), strict=True))

    nulls: dict[Key, tuple[float, float]] = {}
    no_null = ""
    try:
        exchanged = replicated(
            examples, metrics, values, kind="null", replicates=replicates, rng=rng
        )
    except draws.NothingToExchange as error:
        no_null = str(error)
    else:
        for (name, _), keys in keys_of.items():
            value = np.concatenate([values[key] for key in keys])
            again = np.stack([exchanged.pop(key) for key in keys])
            far = distance(metrics[name], value)
            p_values = p_value(far, distance(metrics[name], again))
            means = again.mean(axis=-1)
            nulls.update(zip(keys, zip(means, p_values, strict=True), strict=True))

    rows: dict[Key, tuple[float, ...]] = {}
    undefined = {}
    for key, (value,) in values.items():
        low, high = ends[key]
        null, p = nulls.get(key, (np.nan, np.nan))
        rows[key] = (value, low, high, null, p, np.sqrt(p * (1 - p) / replicates))

        if not np.isfinite(value):
            continue
        if nulls and np.isnan(null):
            undefined[key] = (
                "null: without differences between groups the metric is undefined "
                "in some draws"
            )
        elif np.isnan(low):
            undefined[key] = (
                "interval: a ratio of 0 has none on the log scale, "
                "where ratios are symmetric"
            )
    return _Uncertain(rows, undefined, no_null)
