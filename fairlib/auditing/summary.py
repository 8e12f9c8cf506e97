"""One number per metric: Table 2 and AUCs for the audited groups, with intervals, and what chance alone would give.

All metrics of an attribute see the same replicates, so that what corrects for many can use how they hang together.
"""

from collections.abc import Callable
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from fairlib.auditing.counts import Counts
from fairlib.auditing.groups import Family, families, large_enough
from fairlib.auditing.literature import NEEDS, SUMMARY
from fairlib.auditing.questions import Questions
from fairlib.auditing.setting import SUMMARY_SHARE, Setting
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

COLUMNS = [
    "attribute",
    "metric",
    "class",
    "group",
    "value",
    "low",
    "high",
    "null",
    "p",
    "p_corrected",
    "p_error",
]
REPLICATES, FEWEST, MOST_DRAWN = (
    999,
    199,
    16,
)  # times as many exchanges as replicates, where p needs them
SEED = 0  # the same for all audits, so that no one can try several
BUDGET = 3_000_000  # weights per attribute and kind of replicate: about 1 s; four times as many for the fewest
LEVELS = 50  # of the probabilities in replicates, at equal shares; fewer distinct ones stay as they are
MOST_GROUPS = 60  # pairs of more would fill the page and the hour


def summarize(questions: Questions, *, progress: bool = False) -> pd.DataFrame:
    """Return the metrics of the paper's Table 2 that the columns allow, and AUCs, for each attribute as a whole.

    The group is "accumulated" but where a metric has no aggregate; low, high : by drawing cases or sources again; as
    null, the mean of the metric where groups make no difference beyond what it conditions on, which stays as it is (the
    labels, for error rates); p : how often it is as far from "no difference" then; p_corrected : for all these metrics
    together, in the fifth of 1 - confidence that they have (max-T within an attribute and a null, times their number);
    with p_error, its Monte Carlo error.

    Costs the distinct profiles (group, label, prediction, level of the probability, source) times the replicates, up to
    a few seconds per attribute; where there are too many, values come without intervals. `attrs["notes"]` says so, and
    who was left out; `attrs["order"]` names the groups in the order in which signed metrics subtract.
    """
    counts, setting = questions.counts, questions.setting
    metrics = {
        name: SUMMARY[name] for name in setting.metrics if name in SUMMARY
    } or SUMMARY
    rows, worlds, notes, order = [], [], [], {}
    rng, classes = (
        np.random.default_rng(SEED),
        dict(enumerate(counts.classes)) | {ALL_CLASSES: ALL_CLASSES},
    )
    none = (
        counts.prediction is None or (1, 0) in counts.powers
    )  # costs alone; weights, which none of these takes
    measurable = [] if none else families(counts, depth=1, reference={})
    for family in tqdm(
        measurable, desc="summary metrics", delay=2, disable=not progress
    ):
        (attribute,) = family.attributes
        enough = large_enough(family, counts, setting.minimum)
        said = _left_out(family, enough, setting)
        if 2 <= len(enough) <= MOST_GROUPS:
            found, world, why = _measure(
                questions.levels.get(attribute, counts),
                attribute,
                enough,
                metrics,
                setting=setting,
                rng=rng,
            )
            called = dict(enumerate(counts.attributes[attribute].names)) | {
                ACCUMULATED: ACCUMULATED
            }
            order[attribute] = tuple(called[code] for code in enough.tolist())
            rows += [
                (attribute, name, classes[c], called[code], *row)
                for (name, c, code), row in found.items()
            ]
            worlds, said = [*worlds, world], said + why
        notes += [f"By {attribute}: {words}" for words in said]
    result = pd.DataFrame(rows, columns=COLUMNS[:7])
    own = [metrics[name] for name in result["metric"]]
    result[COLUMNS[7:]] = _chances(worlds, own, setting.alpha) if rows else np.nan
    neutral, alike = (
        [metric.neutral for metric in own],
        result["p_corrected"] > setting.alpha,
    )
    result["low"] = result["low"].mask(
        alike, np.minimum(result["low"], neutral)
    )  # what is as by chance may be none
    result["high"] = result["high"].mask(alike, np.maximum(result["high"], neutral))
    result.attrs |= {"notes": notes, "order": order}
    return result


def _left_out(family: Family, enough: np.ndarray, setting: Setting) -> list[str]:
    """Say which groups take no part in the metrics of an attribute."""
    notes = []
    left = len(family.kept) - len(enough)
    if left > 0:
        are = "group is" if left == 1 else "groups are"
        notes.append(
            f"{left:,} {are} left out for having fewer than "
            f"{setting.minimum} {setting.unit}."
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


class World(NamedTuple):
    """How the metrics of one attribute come out where groups make no difference; NaN where that is not known."""

    most: int  # draws at first
    values: list[float]  # as the cases are, at the levels of the draws
    draw: Callable  # how many draws -> the metrics' values in them, (draws, metrics)


def _measure(
    counts: Counts,
    attribute: str,
    enough: np.ndarray,
    metrics: dict[str, Metric],
    *,
    setting: Setting,
    rng: np.random.Generator,
) -> tuple[dict[tuple, tuple], World, list[str]]:
    """Return value, low and high by (metric, class, group); their world; and what to know about them.

    Values are those of the fine levels of a probability; what surrounds them is found at wider levels, and shifted.
    """
    exact, said = _exact(counts, attribute, enough, metrics, setting.minimum)
    unknown = World(
        REPLICATES,
        [np.nan] * len(exact),
        lambda size: np.full((size, len(exact)), np.nan),
    )
    examples, kinds = _examples(counts, attribute, enough, wide=True)
    untied = setting.columns.source is not None and counts.source is None
    if (
        not exact
        or untied
        or kinds * FEWEST > 4 * BUDGET
        or counts.count.sum() > draws.MOST
    ):
        why = [
            "there are too many different cases for intervals and tests of these metrics."
        ] * bool(exact)
        return (
            {key: (value, np.nan, np.nan) for key, value in exact.items()},
            unknown,
            said + why,
        )
    wide, found = observed(examples, metrics, False, rng)[0], {}
    replicates = int(np.clip(BUDGET // kinds, FEWEST, REPLICATES))
    resampled = replicated(
        examples, metrics, wide, kind="bootstrap", replicates=replicates, rng=rng
    )
    for key, value in exact.items():
        shifted = resampled[key] + (value - wide[key][0] if np.isfinite(value) else 0.0)
        found[key] = (
            value,
            *interval(metrics[key[0]], value, shifted, setting.confidence),
        )
    if examples.source.any():  # which cannot change their groups
        why = "sources hold cases of several groups, so that it is not known what chance does."
        return found, unknown, [*said, why]

    def draw(size: int) -> np.ndarray:
        drawn = replicated(
            examples, metrics, wide, kind="null", replicates=size, rng=rng
        )
        return np.column_stack([drawn[key] for key in exact])

    try:
        draw(1)
    except draws.NothingToExchange:
        why = "no two groups have sources of the same size: it is not known what chance does."
        return found, unknown, [*said, why]
    return found, World(replicates, [wide[key][0] for key in exact], draw), said


def _chances(worlds: list[World], metrics: list[Metric], alpha: float) -> np.ndarray:
    """Return null, p, p_corrected and its Monte Carlo error for every value of all worlds.

    All are corrected together by max-T, in the share of alpha that they have, so that none can be shown from fewer than
    1 / share draws. Metrics of two attributes, or nulls, are drawn apart, as if they had nothing to do with each other:
    the largest of them all is then larger, if anything (the Gaussian correlation inequality; Royen 2014). Four times
    as many are drawn until no p is near alpha, as far as its Monte Carlo error goes, or `MOST_DRAWN` times as many.
    """
    far = [
        distance(*pair)
        for pair in zip(
            metrics, chain(*(world.values for world in worlds)), strict=True
        )
    ]
    first = min(world.most for world in worlds)
    size, most, null = (
        max(first, int(1 / (SUMMARY_SHARE * alpha))),
        MOST_DRAWN * first,
        np.empty((0, len(far))),
    )
    while True:
        null = np.vstack(
            [null, np.column_stack([world.draw(size - len(null)) for world in worlds])]
        )
        apart = np.column_stack(
            [distance(*pair) for pair in zip(metrics, null.T, strict=True)]
        )
        p = multiplicity.max_t(far, apart)
        error = np.sqrt(p * (1 - p) / size) / SUMMARY_SHARE
        p = np.minimum(p / SUMMARY_SHARE, 1)
        if size >= most or not (np.abs(p - alpha) < 4 * error).any():
            break
        size = min(4 * size, most)
    own = [p_value(*pair) for pair in zip(far, apart.T, strict=True)]
    return np.column_stack([null.mean(axis=0), own, p, error])


def _exact(
    counts: Counts,
    attribute: str,
    enough: np.ndarray,
    metrics: dict[str, Metric],
    minimum: int,
) -> tuple[dict[tuple, float], list[str]]:
    """Return aggregates, and values of each group where there is none; and why some that were asked for are missing."""

    def looked_at(
        name: str, c: int, group: int
    ) -> int:  # how many cases of a group, on the side where they are fewer
        mine, gold = counts.attributes[attribute].codes == group, counts.label == c
        return min(
            counts.count[mine & (gold if part == "gold" else ~gold)].sum()
            for part in NEEDS[name]
        )

    examples, _ = _examples(counts, attribute, enough)
    values, _, left_out = observed(examples, metrics, False, np.random.default_rng(0))
    said = (
        [f"{name} is left out: {why}." for name, why in left_out.items()]
        if len(metrics) < len(SUMMARY)
        else []
    )
    values = {
        key: value
        for key, (value,) in values.items()
        if key[2] == ACCUMULATED or key[0] in NEEDS
    }
    found = {
        key: value
        for key, value in values.items()
        if key[2] == ACCUMULATED or looked_at(*key) >= minimum
    }
    if len(found) < len(values):
        said.append(
            f"metrics of a group that has fewer than {minimum} cases for them are left out."
        )
    return found, said


def _examples(
    counts: Counts, attribute: str, enough: np.ndarray, *, wide: bool = False
) -> tuple[Examples, int]:
    """Return the cases of some groups as `measure` has them, with codes for names; and how many kinds there are.

    wide : with few levels of probabilities, and by source.
    """
    group, several = (
        counts.attributes[attribute].codes,
        max(2, len(counts.classes)),
    )  # a class may never occur
    columns = {
        "group": group,
        "label": counts.label,
        "prediction": counts.prediction,
        "count": counts.count,
    }
    columns |= {"source": counts.source} if wide else {}
    if counts.level is not None:
        # Only that of the class that is measured is known; the others share the rest, and none of them is measured.
        levels, columns["level"] = np.unique(
            counts.probability(LEVELS if wide else None), return_inverse=True
        )
        others = (1 - levels)[:, None] / (several - 1)
        levels = np.where(
            np.arange(several) == counts.positive[0], levels[:, None], others
        )
    cases = pd.DataFrame(columns)[np.isin(group, enough)].dropna(axis=1)
    cells = cases.groupby([*cases.columns.drop("count")], as_index=False)["count"].sum()
    occurring = {*cells["prediction"], *cells.get("label", ())}
    rows = {name: column.to_numpy() for name, column in cells.items()}
    level = rows.pop("level", None)
    examples = tied(
        groups=tuple(enough.tolist()),
        classes=tuple(range(several)),
        measured=tuple(
            c for c in counts.positive if c in occurring or level is not None
        ),
        probabilities=None if level is None else levels[level],
        **rows | {"group": np.searchsorted(enough, rows["group"])},
    )
    return examples, len(cells)
