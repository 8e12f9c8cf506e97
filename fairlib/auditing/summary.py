"""One number per metric: Table 2 and AUCs of the audited groups, with intervals.

All metrics of an attribute see the same replicates, so that the correction for many
metrics can use how they depend on each other.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy import ndarray
from tqdm import tqdm

from fairlib.auditing import claims
from fairlib.auditing.counts import Counts
from fairlib.auditing.groups import Family, large_enough, named_families
from fairlib.auditing.literature import NEEDS, SUMMARY, question_of
from fairlib.auditing.questions import Questions
from fairlib.auditing.setting import Setting
from fairlib.intervals import multiplicity
from fairlib.metrics import draws
from fairlib.metrics.examples import ACCUMULATED, Examples, tied
from fairlib.metrics.measuring import (
    ALL_CLASSES,
    distance,
    interval,
    observed,
    p_value,
    replicated,
)
from fairlib.metrics.table2 import Metric

KEYS = ["attribute", "metric", "class", "group"]
VALUES = ["value", "low", "high"]
CHANCES = ["null", "p", "p_corrected", "p_error"]
REPLICATES = 999
FEWEST_REPLICATES = 199
MOST_EXCHANGES = 16  # times as many as replicates, where p-values need them
_ERRORS_FROM_ALPHA = 4  # Monte Carlo errors that a p-value has to be away from alpha
SEED = 0  # the same for all audits, so that nobody can try several
# Weights per attribute and kind of replicate, which take about 1 s; the fewest
# replicates may take four times as many.
WEIGHTS_PER_ATTRIBUTE = 3_000_000
# Levels of the probabilities in replicates, at equal shares.
MOST_LEVELS = 50
# Pairs of more groups would fill the page and the hour.
MOST_GROUPS = 60

Key = tuple[str, object, object]  # metric, class and group, in codes


@dataclass(frozen=True, eq=False, kw_only=True)
class World:
    """The metrics of one attribute if groups make no difference.

    Attributes
    ----------
    replicates : int
        How many draws there are at first.
    values : list of float
        The metrics of the cases themselves, at the levels of the draws.
    draw : callable
        ``draw(size)`` returns the metrics in so many draws, (draws, metrics).
    """

    replicates: int
    values: list[float]
    draw: Callable[[int], ndarray]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Measured:
    """The metrics of one attribute: value, low and high by key."""

    rows: dict[Key, tuple[float, float, float]]
    world: World
    notes: list[str]


def summarize(
    questions: Questions, *, share: float = 1.0, progress: bool = False
) -> pd.DataFrame:
    """Return the metrics of paper 2's Table 2, and AUCs, for each attribute as a whole.

    Parameters
    ----------
    questions : Questions
        What is asked, and the counts that answer it.
    share : float, default 1
        The part of alpha that all these metrics may use together.
    progress : bool, default False
        Show a bar on the error stream where it takes more than 2 s.

    Returns
    -------
    DataFrame
        One row per metric, class and attribute. `group` is "accumulated", except for
        metrics without an aggregate.

        - low, high : an interval, from drawing cases or sources again. It excludes "no
          difference" exactly where the verdict is "shown".
        - null : the mean of the metric if groups make no difference beyond what it
          conditions on (the labels, for error rates).
        - p : how often the metric is as far from "no difference" then.
        - p_corrected : p for all these metrics together (max-T), divided by `share`. It
          can be compared with 1 - confidence.
        - p_error : the Monte Carlo error of p_corrected.
        - question : "errors", "selection" or "mix", as of `literature.question_of`.
        - verdict : "shown", "open", or "undefined" if there is no p.

        `attrs["notes"]` says what was left out, and `attrs["order"]` names the groups
        in the order in which signed metrics subtract.

    Notes
    -----
    Metrics about errors are compared with what they are when cases of the same label
    are exchanged between groups. So different base rates alone never lead to a claim.
    Strata and weights are not taken into account, so with them nothing is measured.

    The cost is the number of distinct profiles (group, label, prediction, level of the
    probability, source) times the replicates, up to a few seconds per attribute. Where
    there are too many profiles, values come without intervals.
    """
    claims.check_share(share)
    counts = questions.counts
    setting = questions.setting
    metrics = {name: SUMMARY[name] for name in setting.metrics if name in SUMMARY}
    metrics = metrics or SUMMARY
    rng = np.random.default_rng(SEED)

    rows: list[tuple] = []
    worlds = []
    order = {}
    notes = claims.ignored_columns("Metrics of the literature", counts)
    measurable: list[Family] = []
    if counts.prediction is not None and not notes:
        measurable = named_families(counts, notes)

    hidden = None if progress else True  # None: hidden unless a terminal shows it
    bar = tqdm(measurable, desc="summary metrics", delay=2, disable=hidden)
    for family in bar:
        (attribute,) = family.attributes
        enough = large_enough(family, counts, setting.fewest)
        left_out = _left_out(family, enough, setting)
        if 2 <= len(enough) <= MOST_GROUPS:
            measured = _measure(
                questions.levels.get(attribute, counts),
                attribute,
                enough,
                metrics=metrics,
                setting=setting,
                share=share,
                rng=rng,
            )
            names = counts.attributes[attribute].names
            order[attribute] = tuple(names[code] for code in enough)
            rows += _named(measured, attribute, counts)
            worlds.append(measured.world)
            left_out += measured.notes
        notes += [f"By {attribute}: {note}" for note in left_out]

    result = pd.DataFrame(rows, columns=[*KEYS, *VALUES])
    metric_of_row = [metrics[name] for name in result["metric"]]
    result[CHANCES] = np.nan
    if rows:
        chances = _chances(worlds, metric_of_row, setting.alpha, share=share)
        result[CHANCES] = chances

    classes = _classes_of_labels(counts)
    result["question"] = [question_of(metric, classes) for metric in metric_of_row]
    result["verdict"] = claims.decide(
        result["p"], alpha=setting.alpha, joint=result["p_corrected"]
    )["verdict"]
    notes += _set_back_close_calls(result, setting.alpha)
    _add_agreeing_intervals(result, metric_of_row, setting.alpha)

    result.attrs |= {"notes": notes, "order": order}
    return result


def _set_back_close_calls(rows: pd.DataFrame, alpha: float) -> list[str]:
    """Make no claim that hangs on which draws were made, and say where that is so."""
    farthest = rows["p_corrected"] + _ERRORS_FROM_ALPHA * rows["p_error"]
    is_close = (rows["verdict"] == "shown") & (farthest > alpha)
    rows.loc[is_close, "verdict"] = "open"
    return [
        f"By {row.attribute}: {row.metric} is not counted as shown, because its "
        "p-value is too close to the limit for this number of draws."
        for row in rows[is_close].itertuples()
    ]


def _classes_of_labels(counts: Counts) -> int:
    """Return how many classes the labels have; without labels, no metric asks."""
    return 0 if counts.label is None else len(np.unique(counts.label))


def _add_agreeing_intervals(
    rows: pd.DataFrame, metrics: list[Metric], alpha: float
) -> None:
    """Make intervals exclude "no difference" exactly where a difference is shown."""
    neutral = np.array([metric.neutral for metric in metrics], dtype=float)
    rows["low"], rows["high"] = claims.agreeing(
        rows["value"],
        (rows["low"], rows["high"]),
        p=rows["p"],
        level=alpha,
        is_shown=rows["verdict"] == "shown",
        null=neutral,
    )


def _left_out(family: Family, enough: ndarray, setting: Setting) -> list[str]:
    """Say which groups take no part in the metrics of an attribute."""
    notes = []
    left = len(family.kept) - len(enough)

    if left > 0:
        are = "group is" if left == 1 else "groups are"
        notes.append(
            f"{left:,} {are} left out for having fewer than "
            f"{setting.fewest} {setting.unit}."
        )
    if len(enough) < 2:
        notes.append(
            "fewer than two groups are large enough for metrics of the whole attribute."
        )
    if len(enough) > MOST_GROUPS:
        notes.append(
            "metrics of the whole attribute are given for up to "
            f"{MOST_GROUPS} groups, not {len(enough):,}."
        )
    return notes


def _named(measured: _Measured, attribute: str, counts: Counts) -> list[tuple]:
    """Return the rows of an attribute, with names in place of codes."""
    group_names: dict[object, object] = {ACCUMULATED: ACCUMULATED}
    group_names |= dict(enumerate(counts.attributes[attribute].names))
    class_names: dict[object, object] = {ALL_CLASSES: ALL_CLASSES}
    class_names |= dict(enumerate(counts.classes))
    return [
        (attribute, metric, class_names[code], group_names[group], *numbers)
        for (metric, code, group), numbers in measured.rows.items()
    ]


def _measure(
    counts: Counts,
    attribute: str,
    enough: ndarray,
    *,
    metrics: Mapping[str, Metric],
    setting: Setting,
    share: float,
    rng: np.random.Generator,
) -> _Measured:
    """Measure one attribute.

    Values are those of the fine levels of a probability. Their intervals are found at
    wider levels, and shifted.
    """
    exact, notes = _exact(
        counts, attribute, enough, metrics=metrics, minimum=setting.fewest
    )
    world = World(
        replicates=REPLICATES,
        values=[np.nan] * len(exact),
        draw=lambda size: np.full((size, len(exact)), np.nan),
    )
    rows: dict[Key, tuple[float, float, float]] = {
        key: (value, np.nan, np.nan) for key, value in exact.items()
    }
    if not exact:
        return _Measured(rows=rows, world=world, notes=notes)

    examples, kinds = _examples(counts, attribute, enough, wide=True)
    is_untied = setting.columns.source is not None and counts.source is None
    is_too_slow = kinds * FEWEST_REPLICATES > 4 * WEIGHTS_PER_ATTRIBUTE
    if is_untied or is_too_slow or counts.count.sum() > draws.MOST:
        notes.append(
            "there are too many different cases for intervals and tests of these "
            "metrics."
        )
        return _Measured(rows=rows, world=world, notes=notes)

    replicates = WEIGHTS_PER_ATTRIBUTE // kinds
    replicates = int(np.clip(replicates, FEWEST_REPLICATES, REPLICATES))
    if _draws_needed(setting.alpha, share) > MOST_EXCHANGES * replicates:
        notes.append(
            f"a confidence of {setting.confidence:.10g} needs "
            f"{_draws_needed(setting.alpha, share):,} draws, more than the "
            f"{MOST_EXCHANGES * replicates:,} that are made: these metrics have no "
            "intervals and are not tested."
        )
        return _Measured(rows=rows, world=world, notes=notes)

    # Intervals have random numbers of their own. How many they need depends on the
    # order of the names, and the draws of the tests must not.
    of_intervals, of_tests = rng.spawn(2)
    wide, _, _ = observed(examples, metrics, False, of_intervals)
    resampled = replicated(
        examples,
        metrics,
        wide,
        kind="bootstrap",
        replicates=replicates,
        rng=of_intervals,
    )
    for key, value in exact.items():
        shift = value - wide[key][0] if np.isfinite(value) else 0.0
        low, high = interval(
            metrics[key[0]], value, resampled[key] + shift, setting.confidence
        )
        rows[key] = (value, float(low), float(high))

    if examples.source.any():
        # Such sources cannot change their groups.
        notes.append(
            "sources hold cases of several groups, so that these metrics cannot be "
            "tested against chance."
        )
        return _Measured(rows=rows, world=world, notes=notes)

    def draw(size: int) -> ndarray:
        drawn = replicated(
            examples, metrics, wide, kind="null", replicates=size, rng=of_tests
        )
        return np.column_stack([drawn[key] for key in exact])

    try:
        draw(1)
    except draws.NothingToExchange:
        notes.append(
            "no two groups have sources of the same size, so that these metrics cannot "
            "be tested against chance."
        )
        return _Measured(rows=rows, world=world, notes=notes)

    values = [wide[key][0] for key in exact]
    world = World(replicates=replicates, values=values, draw=draw)
    return _Measured(rows=rows, world=world, notes=notes)


def _draws_needed(alpha: float, share: float) -> int:
    """Return of how many draws one as extreme as the data can be shown."""
    return int(1 / (share * alpha))


def _chances(
    worlds: list[World], metrics: list[Metric], alpha: float, *, share: float
) -> ndarray:
    """Return null, p, p_corrected and its Monte Carlo error for all values.

    All are corrected together by max-T, in the share of alpha that they have. So none
    can be shown from fewer than 1 / share draws. Metrics of two attributes, or of two
    nulls, are drawn as if they were independent: if anything, the largest of all is
    then larger (the Gaussian correlation inequality; Royen 2014). Four times as many
    draws are made until no p is near alpha, given its Monte Carlo error, up to
    `MOST_EXCHANGES` times as many.
    """
    values = [value for world in worlds for value in world.values]
    distances = [
        distance(metric, value) for metric, value in zip(metrics, values, strict=True)
    ]
    first = min(world.replicates for world in worlds)
    most = MOST_EXCHANGES * first
    size = min(max(first, _draws_needed(alpha, share)), most)

    null = np.empty((0, len(distances)))
    while True:
        drawn = np.column_stack([world.draw(size - len(null)) for world in worlds])
        null = np.vstack([null, drawn])
        null_distances = np.column_stack(
            [
                distance(metric, column)
                for metric, column in zip(metrics, null.T, strict=True)
            ]
        )
        p = multiplicity.max_t(distances, null_distances)
        error = np.sqrt(p * (1 - p) / size) / share
        p = np.minimum(p / share, 1)
        is_near = np.abs(p - alpha) < _ERRORS_FROM_ALPHA * error
        if size >= most or not is_near.any():
            break
        size = min(4 * size, most)

    p_alone = [
        p_value(value, column)
        for value, column in zip(distances, null_distances.T, strict=True)
    ]
    return np.column_stack([null.mean(axis=0), p_alone, p, error])


def _exact(
    counts: Counts,
    attribute: str,
    enough: ndarray,
    *,
    metrics: Mapping[str, Metric],
    minimum: int,
) -> tuple[dict[Key, float], list[str]]:
    """Return aggregates, or values of each group where there is none, and notes.

    Notes say why metrics that were asked for are missing.
    """
    examples, _ = _examples(counts, attribute, enough)
    values, _, left_out = observed(examples, metrics, False, np.random.default_rng(0))
    notes = []
    if len(metrics) < len(SUMMARY):
        notes = [f"{name} is left out: {why}." for name, why in left_out.items()]

    exact = {}
    has_small_groups = False
    for (name, code, group), (value,) in values.items():
        if group == ACCUMULATED:
            exact[name, code, group] = value
        elif name in NEEDS:
            is_in_group = counts.attributes[attribute].codes == group
            is_class = counts.label == code
            if _fewest_cases(counts, name, is_in_group, is_class) >= minimum:
                exact[name, code, group] = value
            else:
                has_small_groups = True

    if has_small_groups:
        notes.append(
            f"metrics of a group that has fewer than {minimum} cases for them are left "
            "out."
        )
    return exact, notes


def _fewest_cases(
    counts: Counts, metric: str, is_in_group: ndarray, is_class: ndarray
) -> int:
    """Return how many cases of a group a metric uses, on the side with fewer cases."""
    sides = {"gold": is_class, "other": ~is_class}
    return min(counts.count[is_in_group & sides[part]].sum() for part in NEEDS[metric])


def _examples(
    counts: Counts, attribute: str, enough: ndarray, *, wide: bool = False
) -> tuple[Examples, int]:
    """Return the cases of some groups as `measure` takes them, and their kinds.

    Groups and classes are codes. With `wide`, there are few levels of probabilities,
    and cases of different sources are apart.
    """
    group = counts.attributes[attribute].codes
    classes = max(2, len(counts.classes))  # a class may never occur
    columns = {
        "group": group,
        "label": counts.label,
        "prediction": counts.prediction,
        "count": counts.count,
    }
    if wide:
        columns["source"] = counts.source

    probabilities = None
    if counts.level is not None:
        levels, columns["level"] = np.unique(
            counts.probability(MOST_LEVELS if wide else None), return_inverse=True
        )
        # Only the probability of the measured class is known. The other classes share
        # the rest; none of them is measured.
        others = (1 - levels)[:, None] / (classes - 1)
        is_measured = np.arange(classes) == counts.positive[0]
        probabilities = np.where(is_measured, levels[:, None], others)

    cases = pd.DataFrame(columns)[np.isin(group, enough)].dropna(axis=1)
    keys = list(cases.columns.drop("count"))
    cells = cases.groupby(keys, as_index=False)["count"].sum()
    occurring = {*cells["prediction"], *cells.get("label", ())}
    if probabilities is not None:
        occurring |= {*counts.positive}
        probabilities = probabilities[cells.pop("level")]

    rows = {name: column.to_numpy() for name, column in cells.items()}
    rows["group"] = np.searchsorted(enough, rows["group"])
    examples = tied(
        groups=tuple(enough.tolist()),
        classes=tuple(range(classes)),
        measured=tuple(code for code in counts.positive if code in occurring),
        probabilities=probabilities,
        **rows,
    )
    return examples, len(cells)
