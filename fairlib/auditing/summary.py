"""One number per metric: Table 2 and AUCs for the audited groups, with intervals, and what chance alone would give.

All metrics of an attribute see the same replicates, so that the correction for many metrics can use how they hang
together: twenty metrics of one confusion table are far from twenty questions.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from tqdm import tqdm

from fairlib import comparisons, multiplicity, resampling, scores
from fairlib.auditing import groups
from fairlib.auditing.scored import levels
from fairlib.auditing.setting import Setting
from fairlib.auditing.tally import Tally
from fairlib.cells import Background, Cells, background
from fairlib.examples import ACCUMULATED, Examples, read
from fairlib.measuring import ALL_CLASSES, distance, interval, observed, replicated
from fairlib.metrics import METRICS, Metric
from fairlib.splitting import corrected, crossed
from fairlib.tables import COUNT

COLUMNS = ["attribute", "metric", "class", "group", "value", "low", "high", "corrected", "null", "p", "p_corrected"]
REPLICATES, FEWEST, SPLITS = 999, 199, 50
BUDGET = 3_000_000  # weights per attribute and kind of replicate: about 1 s; four times as many for the fewest
LEVELS = 50  # of the probabilities in replicates, at equal shares; fewer distinct ones stay as they are
MOST_CASES = 10**9  # that can be dealt out
MOST_GROUPS = 60  # pairs of more would fill the page and the hour


def within_group(cells: Cells) -> np.ndarray:
    """How often a positive case of the group has a higher probability than a negative one: its own AUC."""
    positive, negative = (cells.sample(cells.probability, among=among) for among in (cells.gold, ~cells.gold))
    return comparisons.superiority(positive, negative)


def others_first(cells: Cells) -> np.ndarray:
    """BPSN: the others' positive cases against the group's negative ones; low where the group is falsely flagged."""
    if isinstance(cells, Background):  # of everybody there are no others
        return within_group(cells)
    positive = background(cells, "complement").sample(cells.probability, among=cells.gold)
    return comparisons.superiority(positive, cells.sample(cells.probability, among=~cells.gold))


def group_first(cells: Cells) -> np.ndarray:
    """BNSP: the group's positive cases against the others' negative ones; low where the group is missed."""
    if isinstance(cells, Background):
        return within_group(cells)
    negative = background(cells, "complement").sample(cells.probability, among=~cells.gold)
    return comparisons.superiority(cells.sample(cells.probability, among=cells.gold), negative)


@comparisons.described("y − x", signed=True)
def above(everybody: np.ndarray, group: np.ndarray) -> np.ndarray:
    """How much higher the group's score is than everybody's."""
    return group - everybody


def _auc(score, title: str) -> Metric:
    return Metric("VBCM", score, above, uses="probabilities", title=title, reference="Borkan et al. 2019")


AUCS = {
    "SubgroupAUCGap": _auc(within_group, "AUC within the group"),
    "BPSNGap": _auc(others_first, "AUC, others' positives, its negatives"),
    "BNSPGap": _auc(group_first, "AUC, its positives, others' negatives"),
}
# Which cases of a group a metric of each group looks at: those with the class as label, with another one, or both.
NEEDS = {
    "FPRRatio": ("other",), "FNRRatio": ("gold",), "PosAvgEG": ("gold",), "NegAvgEG": ("other",),
    "SubgroupAUCGap": ("gold", "other"), "BPSNGap": ("other",), "BNSPGap": ("gold",),
}  # fmt: skip
# Counterfactual metrics compare versions of one text, and attachment scores are about tokens; here a row is a case.
SUMMARY: dict[str, Metric] = {
    name: metric
    for name, metric in METRICS.items()
    if metric.fairness == "group" and metric.score is not scores.attachment
} | AUCS


def summarize(tally: Tally, scored: dict[str, Tally], setting: Setting, *, progress: bool = False) -> pd.DataFrame:
    """Measure every metric that the columns allow, one attribute at a time; `Report.metrics` explains the columns.

    Costs a few seconds at most, whatever the number of cases: that of the distinct profiles (group, label, prediction,
    level of the probability, source) times the replicates. Where there are too many of them, values come without
    intervals. `attrs["notes"]` says so, and who was left out; `attrs["order"]` names the groups in the order in which
    signed metrics subtract.
    """
    named = [name for name in setting.metrics if name in SUMMARY]
    metrics, rows, notes, order = {name: SUMMARY[name] for name in named or SUMMARY}, [], [], {}
    families = groups.families(tally, depth=1, reference={})
    for family in tqdm(families, desc="summary metrics", delay=2, disable=not progress):
        (attribute,) = family.attributes
        enough, said = _large_enough(family, tally, setting)
        if 2 <= len(enough) <= MOST_GROUPS:
            found, why = _measure(tally, scored.get(attribute, tally), attribute, enough, metrics, setting)
            called = dict(enumerate(tally.attributes[attribute].names)) | {ACCUMULATED: ACCUMULATED}
            order[attribute] = tuple(called[code] for code in enough.tolist())
            classes = dict(enumerate(tally.classes)) | {ALL_CLASSES: ALL_CLASSES}
            rows += [(attribute, name, classes[c], called[group], *row) for (name, c, group), row in found.items()]
            said += why
        notes += [f"By {attribute}: {words}" for words in said]
    result = pd.DataFrame(rows, columns=COLUMNS)
    # Metrics of one attribute are corrected by max-T; attributes share no replicates, so their number is a factor.
    tested = result.loc[result["p_corrected"].notna(), "attribute"].nunique()
    result["p_corrected"] = (result["p_corrected"].astype(float) * max(1, tested)).clip(upper=1)
    result.attrs |= {"notes": notes, "order": order}
    return result


def _large_enough(family: groups.Family, tally: Tally, setting: Setting) -> tuple[np.ndarray, list[str]]:
    """Return which groups take part, and what a reader should know about the others."""
    size = np.bincount(family.codes, tally.count, minlength=len(family))
    if tally.source is not None:
        pairs = pd.unique(tally.source * len(family) + family.codes)
        size = np.bincount(pairs % len(family), minlength=len(family))
    enough = np.flatnonzero(size >= setting.minimum)
    left, said = len(family) - len(enough), []
    if left:
        named = "1 group is" if left == 1 else f"{left:,} groups are"
        said.append(f"{named} left out for having fewer than {setting.minimum} {setting.unit}.")
    if len(enough) < 2:
        said.append("fewer than two groups are large enough for metrics of the whole attribute.")
    if len(enough) > MOST_GROUPS:
        said.append(f"metrics of the whole attribute are given for up to {MOST_GROUPS} groups, not {len(enough):,}.")
    return enough, said


def _measure(
    tally: Tally, cells: Tally, attribute: str, enough: np.ndarray, metrics: dict[str, Metric], setting: Setting
) -> tuple[dict[tuple, list[float]], list[str]]:
    """Return value, low, high, corrected, null, p, p_corrected by (metric, class, group), and what to know about them.

    Values are those of the fine levels of a probability; what surrounds them is moved there from wider levels.
    """
    exact, said = _exact(tally, counts(cells, attribute, enough), attribute, metrics, setting.minimum)
    if not exact:
        return {}, said
    wide = counts(cells, attribute, enough, most=LEVELS, by_source=True)
    untied = tally.source is not None and cells.source is None
    if untied or len(wide) * FEWEST > 4 * BUDGET or wide[COUNT].sum() > MOST_CASES:
        said.append("there are too many different cases for intervals and tests of these metrics.")
        return {key: [value, *[np.nan] * 6] for key, value in exact.items()}, said
    examples, rng = _examples(wide, tally), np.random.default_rng(0)  # the seed of everybody: nobody picks one
    near = observed(examples, metrics, False, 1, rng)[0]
    replicates = int(np.clip(BUDGET // len(wide), FEWEST, REPLICATES))
    again = replicated(examples, metrics, near, "bootstrap", replicates, 1, rng)
    mixed = examples.source.any()  # sources with cases of several groups cannot change theirs
    dealt = {} if mixed else replicated(examples, metrics, near, "null", replicates, 1, rng)
    halves = _halved(wide, examples, {name: metrics[name] for name, _, _ in near})
    found, far, null = {}, [], []
    for key, value in exact.items():
        metric, start = metrics[key[0]], near[key][0]
        moved = value - start if np.isfinite(value) else 0.0
        low, high = interval(metric, value, again[key] + moved, setting.confidence)
        found[key] = [value, low, high, halves.get(key, start) + moved, np.nan, np.nan, np.nan]
        if dealt:
            far.append(distance(metric, start))
            null.append(distance(metric, dealt[key]))
            found[key][4:6] = dealt[key].mean(), resampling.p_value(far[-1], null[-1])
    if mixed:
        return found, [*said, "sources hold cases of several groups, so that it is not known what chance does."]
    for row, p in zip(found.values(), multiplicity.max_t(far, np.stack(null, axis=1)), strict=True):
        row[6] = p
    return found, said


def _exact(
    tally: Tally, table: pd.DataFrame, attribute: str, metrics: dict[str, Metric], minimum: int
) -> tuple[dict[tuple, float], list[str]]:
    """Return aggregates, and values of each group where there is none; and why some that were asked for are missing."""
    values, _, left_out = observed(_examples(table, tally), metrics, False, 1, np.random.default_rng(0))
    said = [f"{name} is left out: {why}." for name, why in left_out.items()] if len(metrics) < len(SUMMARY) else []
    values = {key: value[0] for key, value in values.items() if key[2] == ACCUMULATED or metrics[key[0]].kind == "VBCM"}
    if few := _too_few(tally, attribute, list(values), minimum):
        said.append(f"metrics of a group that has fewer than {minimum} cases for them are left out.")
    return {key: value for key, value in values.items() if key not in few}, said


def _too_few(tally: Tally, attribute: str, keys: list[tuple], minimum: int) -> set[tuple]:
    """Return which metrics of one group have fewer cases of it to look at: a rate of three people is no rate."""
    codes, few, held = tally.attributes[attribute].codes, set(), {}
    everybody = np.bincount(codes, tally.count)
    for name, c, group in keys:
        if group != ACCUMULATED:
            if c not in held:
                gold = np.bincount(codes, tally.count * (tally.label == c))
                held[c] = {"gold": gold, "other": everybody - gold}
            if min(held[c][part][group] for part in NEEDS[name]) < minimum:
                few.add((name, c, group))
    return few


def counts(
    tally: Tally, attribute: str, enough: np.ndarray, *, most: int | None = None, by_source: bool = False
) -> pd.DataFrame:
    """Return counts as `measure` reads them, with codes for names: group, label, prediction, p_0, ..., `COUNT`."""
    group = tally.attributes[attribute].codes
    columns = {"group": group, "label": tally.label, "prediction": tally.prediction}
    columns["source"] = tally.source if by_source else None
    if tally.score is not None:
        # Only that of the class that is measured is known; the others share the rest, and nobody asks for theirs.
        chance, (measured,) = levels(tally, most=most), tally.positive
        several = max(2, len(tally.classes))  # a class that never occurs stands beside a single one
        for c in range(several):
            columns[f"p_{c}"] = chance if c == measured else (1 - chance) / (several - 1)
    found = pd.DataFrame({name: values for name, values in columns.items() if values is not None})
    keys = list(found)
    found = found.assign(**{COUNT: tally.count})[np.isin(group, enough)]
    return found.groupby(keys, as_index=False)[COUNT].sum()  # in one order, however the rows came


def _examples(table: pd.DataFrame, tally: Tally) -> Examples:
    occurring = set().union(*(table[name] for name in ("label", "prediction") if name in table))
    classes = [c for c in tally.positive if c in occurring or f"p_{c}" in table]
    return read(table, classes=classes, count=COUNT)


def _halved(table: pd.DataFrame, examples: Examples, metrics: dict[str, Metric]) -> dict[tuple, float]:
    """Return the values that chance does not add to, of the metrics to which it does."""
    biased = {name: metric for name, metric in metrics.items() if crossed(metric, name) is not None}
    if not biased:
        return {}
    classes = [examples.classes[c] for c in examples.measured]
    found = corrected(table, biased, classes=classes, splits=SPLITS, count=COUNT)
    return {tuple(key): value for *key, _, value in found.itertuples(index=False)}
