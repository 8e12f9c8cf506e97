"""One number per metric: Table 2 and AUCs for the audited groups, with intervals, and what chance alone would give.

All metrics of an attribute see the same replicates, so that what corrects for many can use how they hang together.
"""

from collections.abc import Callable
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from fairlib.auditing import groups
from fairlib.auditing.people import People
from fairlib.auditing.rates import SUMMARIES, Setting
from fairlib.intervals import multiplicity
from fairlib.metrics import draws, scores
from fairlib.metrics.examples import ACCUMULATED, Examples, tied
from fairlib.metrics.measuring import (
    ALL_CLASSES,
    distance,
    interval,
    observed,
    p_value,
    replicated,
)
from fairlib.metrics.table2 import AUCS, METRICS, Metric

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
# Which cases of a group a metric of each group looks at: those with the class as label, with another one, or both.
NEEDS = {
    "FPRRatio": ("other",),
    "FNRRatio": ("gold",),
    "PosAvgEG": ("gold",),
    "NegAvgEG": ("other",),
    "SubgroupAUCGap": ("gold", "other"),
    "BPSNGap": ("other",),
    "BNSPGap": ("gold",),
}
# Counterfactual metrics compare versions of one text, and attachment scores are about tokens; here a row is a case.
SUMMARY: dict[str, Metric] = {
    name: metric
    for name, metric in METRICS.items()
    if metric.fairness == "group" and metric.score is not scores.attachment
} | {f"{name}Gap": metric for name, metric in AUCS.items()}


def summarize(report) -> pd.DataFrame:
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
    people, setting = report.people, report.setting
    metrics = {
        name: SUMMARY[name] for name in setting.metrics if name in SUMMARY
    } or SUMMARY
    rows, worlds, notes, order = [], [], [], {}
    rng, classes = (
        np.random.default_rng(SEED),
        dict(enumerate(people.classes)) | {ALL_CLASSES: ALL_CLASSES},
    )
    none = (
        people.prediction is None or (1, 0) in people.powers
    )  # costs alone; weights, which none of these takes
    families = [] if none else groups.families(people, depth=1, reference={})
    for family in tqdm(
        families, desc="summary metrics", delay=2, disable=not report.progress
    ):
        (attribute,) = family.attributes
        enough, said = large_enough(family, people, setting)
        if 2 <= len(enough) <= MOST_GROUPS:
            found, world, why = _measure(
                report.levels.get(attribute, people),
                attribute,
                enough,
                metrics,
                setting,
                rng,
            )
            called = dict(enumerate(people.attributes[attribute].names)) | {
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


def explained(metric: Metric) -> str:
    """Say in a line what a metric measures: what of each group, compared how, with whom."""
    score = getattr(metric.score, "words", metric.score.__name__)
    comparison = getattr(metric.comparison, "words", metric.comparison.__name__)
    among = {
        "gold": ", of cases of the class",
        "other": ", of cases of other classes",
    }.get(metric.examples, "")
    whom = {
        "BCM": "each group with all cases",
        "VBCM": "a group with the others",
        "PCM": "groups in pairs",
    }
    return f"{score}{among}. {comparison}, {whom[metric.kind]}."


def large_enough(
    family: groups.Family, people: People, setting: Setting
) -> tuple[np.ndarray, list[str]]:
    """Return which groups take part, and what a reader should know about the others."""
    size = family.total(people.count)
    if (
        people.source is not None
    ):  # as many as there are, if they had as many cases each
        sizes = np.bincount(family.pairs[2], people.count)
        size = np.floor(size**2 / np.bincount(family.pairs[1], sizes**2) + 1e-9)
    enough = family.kept[size[family.kept] >= setting.minimum]
    left = len(family.kept) - len(enough)
    of_all, are = (
        "metrics of the whole attribute",
        "group is" if left == 1 else "groups are",
    )
    said = {
        f"{left:,} {are} left out for having fewer than {setting.minimum} {setting.unit}.": left
        > 0,
        f"fewer than two groups are large enough for {of_all}.": len(enough) < 2,
        f"{of_all} are given for up to {MOST_GROUPS} groups, not {len(enough):,}.": len(
            enough
        )
        > MOST_GROUPS,
    }
    return enough, [words for words, so in said.items() if so]


class World(NamedTuple):
    """How the metrics of one attribute come out where groups make no difference; NaN where that is not known."""

    most: int  # draws at first
    values: list[float]  # as the cases are, at the levels of the draws
    draw: Callable  # how many draws -> the metrics' values in them, (draws, metrics)


def _measure(
    people: People,
    attribute: str,
    enough: np.ndarray,
    metrics: dict[str, Metric],
    setting: Setting,
    rng,
) -> tuple[dict[tuple, tuple], World, list[str]]:
    """Return value, low and high by (metric, class, group); their world; and what to know about them.

    Values are those of the fine levels of a probability; what surrounds them is found at wider levels, and shifted.
    """
    exact, said = _exact(people, attribute, enough, metrics, setting.minimum)
    unknown = World(
        REPLICATES,
        [np.nan] * len(exact),
        lambda size: np.full((size, len(exact)), np.nan),
    )
    examples, kinds = _examples(people, attribute, enough, wide=True)
    untied = setting.columns.source is not None and people.source is None
    if (
        not exact
        or untied
        or kinds * FEWEST > 4 * BUDGET
        or people.count.sum() > draws.MOST
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
    resampled = replicated(examples, metrics, wide, "bootstrap", replicates, rng)
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
        drawn = replicated(examples, metrics, wide, "null", size, rng)
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
        max(first, int(1 / (SUMMARIES * alpha))),
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
        error = np.sqrt(p * (1 - p) / size) / SUMMARIES
        p = np.minimum(p / SUMMARIES, 1)
        if size >= most or not (np.abs(p - alpha) < 4 * error).any():
            break
        size = min(4 * size, most)
    own = [p_value(*pair) for pair in zip(far, apart.T, strict=True)]
    return np.column_stack([null.mean(axis=0), own, p, error])


def _exact(
    people: People,
    attribute: str,
    enough: np.ndarray,
    metrics: dict[str, Metric],
    minimum: int,
) -> tuple[dict[tuple, float], list[str]]:
    """Return aggregates, and values of each group where there is none; and why some that were asked for are missing."""

    def looked_at(
        name: str, c: int, group: int
    ) -> int:  # how many cases of a group, on the side where they are fewer
        mine, gold = people.attributes[attribute].codes == group, people.label == c
        return min(
            people.count[mine & (gold if part == "gold" else ~gold)].sum()
            for part in NEEDS[name]
        )

    examples, _ = _examples(people, attribute, enough)
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
    people: People, attribute: str, enough: np.ndarray, *, wide: bool = False
) -> tuple[Examples, int]:
    """Return the cases of some groups as `measure` has them, with codes for names; and how many kinds there are.

    wide : with few levels of probabilities, and by source.
    """
    group, several = (
        people.attributes[attribute].codes,
        max(2, len(people.classes)),
    )  # a class may never occur
    columns = {
        "group": group,
        "label": people.label,
        "prediction": people.prediction,
        "count": people.count,
    }
    columns |= {"source": people.source} if wide else {}
    if people.level is not None:
        # Only that of the class that is measured is known; the others share the rest, and none of them is measured.
        levels, columns["level"] = np.unique(
            people.probability(LEVELS if wide else None), return_inverse=True
        )
        others = (1 - levels)[:, None] / (several - 1)
        levels = np.where(
            np.arange(several) == people.positive[0], levels[:, None], others
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
            c for c in people.positive if c in occurring or level is not None
        ),
        probabilities=None if level is None else levels[level],
        **rows | {"group": np.searchsorted(enough, rows["group"])},
    )
    return examples, len(cells)
