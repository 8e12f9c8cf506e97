"""More worlds of audits.py: strata, pairs of models, few sources, selection, and more.

Each world draws one sample, audits it and returns its tallies, as in audits_worlds.py.
"""

import numpy as np
import pandas as pd
from audits_worlds import HELD, Case, Once, Tally

import fairlib
from fairlib.intervals.pairs import bonett_price, change_interval

COLUMNS = {"group": "group", "label": "label", "prediction": "prediction"}
CLAIM = "any claim by a comparison"
UNDER = "a group said to be under 4/5"
WIDTH = "width, divided by Bonett and Price's"


def _counted(frame: pd.DataFrame) -> pd.DataFrame:
    """Return how often each row occurs, in the column n."""
    return frame.value_counts(list(frame)).rename("n").reset_index()


def _any_shown(rows: pd.DataFrame) -> Tally:
    """Count whether an audit shows a difference of errors."""
    is_error = rows["rate"].isin(["misses", "false alarms", "errors"])
    return Tally(bool((is_error & (rows["verdict"] == "shown")).any()), 1)


def numbered_strata(*, strata: int, numeric: bool) -> Once:
    """Hospitals that differ in how often the model errs, and in who comes there."""

    def once(rng: np.random.Generator) -> dict[str, Tally]:
        hospital = rng.integers(strata, size=40 * strata)
        is_first = rng.random(len(hospital)) < 0.2 + 0.6 * hospital / strata
        error = rng.random(len(hospital)) < 0.1 + 0.3 * hospital / strata
        label = rng.integers(2, size=len(hospital))
        name = hospital if numeric else np.char.add("h", hospital.astype(str))
        frame = pd.DataFrame(
            {
                "group": np.where(is_first, "a", "b"),
                "label": label,
                "prediction": np.where(error, 1 - label, label),
                "within": name,
            }
        )
        report = fairlib.audit(
            _counted(frame), **COLUMNS, positive=1, within="within", count="n"
        )
        return {CLAIM: _any_shown(report.to_frame())}

    return once


def sparse_strata(*, strata: int, many: int, few: int) -> Once:
    """Strata with many cases of one group and few of the other, all treated alike."""

    def once(rng: np.random.Generator) -> dict[str, Tally]:
        stratum = np.repeat(np.arange(strata), many + few)
        group = np.tile(np.repeat(["a", "b"], [many, few]), strata)
        error = rng.random(len(stratum)) < rng.uniform(0.05, 0.4, strata)[stratum]
        frame = pd.DataFrame(
            {
                "group": group,
                "label": 1,
                "prediction": np.where(error, 0, 1),
                "within": stratum,
            }
        )
        report = fairlib.audit(
            _counted(frame),
            **COLUMNS,
            positive=1,
            within="within",
            count="n",
            metrics="misses",
            minimum=min(30, strata * few),
        )
        row = report.to_frame().iloc[0]
        share = report.parts.shares["comparisons"]
        return {
            "claims at the level that is allotted": Tally(row["p"] <= 0.05 * share, 1),
            HELD: Tally(row["low"] <= 0 <= row["high"], 1),
        }

    return once


def sources_within(*, sources: int, shared: bool) -> Once:
    """People with several cases in several strata, all treated alike."""

    def once(rng: np.random.Generator) -> dict[str, Tally]:
        n = 12 * sources
        source = rng.integers(sources, size=n)
        stratum = rng.integers(4, size=n)
        is_first = rng.random(n) < 0.5 if shared else (source % 2 == 0)
        propensity = rng.beta(0.5, 2, size=sources)[source]
        error = rng.random(n) < np.clip(propensity + 0.05 * stratum, 0, 1)
        frame = pd.DataFrame(
            {
                "group": np.where(is_first, "a", "b"),
                "label": 1,
                "prediction": np.where(error, 0, 1),
                "within": stratum,
                "source": source,
            }
        )
        report = fairlib.audit(
            frame,
            **COLUMNS,
            positive=1,
            within="within",
            source="source",
            metrics="misses",
        )
        row = report.to_frame().iloc[0]
        return {
            "p of 5 % or less": Tally(row["p"] <= 0.05, 1),
            HELD: Tally(row["low"] <= 0 <= row["high"], 1),
        }

    return once


def few_templates(*, sources: int, shared: bool, design: float) -> Once:
    """Few templates, whose cases are alike, with all groups treated alike."""

    def once(rng: np.random.Generator) -> dict[str, Tally]:
        size = 40
        # The design effect is 1 + (size - 1) rho.
        rho = (design - 1) / (size - 1)
        total = 1 / rho - 1
        rate = rng.beta(0.3 * total, 0.7 * total, size=sources)
        source = np.repeat(np.arange(sources), size)
        error = rng.random(len(source)) < rate[source]
        is_first = np.arange(len(source)) % 2 == 0 if shared else source % 2 == 0
        frame = pd.DataFrame(
            {
                "group": np.where(is_first, "a", "b"),
                "label": 1,
                "prediction": np.where(error, 0, 1),
                "source": source,
            }
        )
        report = fairlib.audit(
            frame, **COLUMNS, positive=1, source="source", metrics="misses"
        )
        row = report.to_frame().iloc[0]
        is_tested = np.isfinite(row["p"]) and row["verdict"] != "too few"
        return {
            "p of 5 % or less": Tally(is_tested and row["p"] <= 0.05, is_tested),
            HELD: Tally(is_tested and row["low"] <= 0 <= row["high"], is_tested),
        }

    return once


def two_models(*, n: int, more: float, fewer: float) -> Once:
    """One group of which another model misses some more, and some fewer."""

    def once(rng: np.random.Generator) -> dict[str, Tally]:
        frames = []
        for name in ("a", "b"):
            cells = rng.multinomial(n, [more, fewer, 1 - more - fewer])
            frame = pd.DataFrame(
                {
                    "group": name,
                    "label": 1,
                    "prediction": [1, 0, 1],
                    "other": [0, 1, 1],
                    "n": cells,
                }
            )
            frames.append(frame)
        report = fairlib.audit(
            pd.concat(frames),
            **COLUMNS,
            positive=1,
            compare="other",
            count="n",
            metrics="misses",
        )
        row = report.changes.iloc[0]
        truth = more - fewer
        counted = (row["more"], row["fewer"], row["n"])
        low, high = change_interval(*counted, alpha=0.05)
        low_of_bonett, high_of_bonett = bonett_price(*counted, alpha=0.05)
        gap = report.gap_changes.iloc[0]
        return {
            HELD: Tally(low <= truth <= high, 1),
            WIDTH: Tally((high - low) / (high_of_bonett - low_of_bonett), 1),
            "intervals of the gap's change that hold the truth": Tally(
                gap["low"] <= 0 <= gap["high"], 1
            ),
        }

    return once


def two_models_by_source(*, sources: int) -> Once:
    """Two equally good models on cases that belong together."""

    def once(rng: np.random.Generator) -> dict[str, Tally]:
        size = 10
        source = np.repeat(np.arange(2 * sources), size)
        rate = rng.beta(0.5, 2, size=2 * sources)[source]
        frame = pd.DataFrame(
            {
                "group": np.where(source < sources, "a", "b"),
                "label": 1,
                "prediction": np.where(rng.random(len(source)) < rate, 0, 1),
                "other": np.where(rng.random(len(source)) < rate, 0, 1),
                "source": source,
            }
        )
        report = fairlib.audit(
            frame,
            **COLUMNS,
            positive=1,
            compare="other",
            source="source",
            metrics="misses",
        )
        row = report.changes.iloc[0]
        gap = report.gap_changes.iloc[0]
        return {
            HELD: Tally(row["low"] <= 0 <= row["high"], 1),
            "intervals of the gap's change that hold the truth": Tally(
                gap["low"] <= 0 <= gap["high"], 1
            ),
        }

    return once


def selected(*, groups: int, rate: float = 0.3, size: int = 300) -> Once:
    """Groups that are selected equally often: the best is picked by the data."""

    def once(rng: np.random.Generator) -> dict[str, Tally]:
        chosen = rng.binomial(size, rate, size=groups)
        frame = pd.DataFrame(
            {
                "group": np.repeat(np.arange(groups), 2).astype(str),
                "prediction": np.tile([1, 0], groups),
                "n": np.column_stack([chosen, size - chosen]).ravel(),
            }
        )
        report = fairlib.audit(
            frame, group="group", prediction="prediction", positive=1, count="n"
        )
        table = report.selection
        excludes = (table["ratio_high"] < 1) | (table["ratio_low"] > 1)
        return {
            "a ratio whose interval excludes 1": Tally(bool(excludes.any()), 1),
            UNDER: Tally(bool((table["four_fifths"] == "under").any()), 1),
        }

    return once


CASES = [
    Case("120 numbered strata", numbered_strata(strata=120, numeric=True)),
    Case("120 named strata", numbered_strata(strata=120, numeric=False)),
    Case("60 strata of 40 against 1", sparse_strata(strata=60, many=40, few=1), 2000),
    Case("60 strata of 50 against 2", sparse_strata(strata=60, many=50, few=2), 2000),
    Case(
        "200 strata of 100 against 1", sparse_strata(strata=200, many=100, few=1), 1000
    ),
    Case("20 strata of 60 against 5", sparse_strata(strata=20, many=60, few=5), 2000),
    Case(
        "strata, 40 sources with cases of both groups",
        sources_within(sources=40, shared=True),
        1000,
    ),
    Case(
        "strata, 40 sources, each of one group",
        sources_within(sources=40, shared=False),
        1000,
    ),
    *(
        Case(
            f"{sources} templates, {'shared' if shared else 'each of one group'}, "
            f"design effect {design}",
            few_templates(sources=sources, shared=shared, design=design),
            1000,
        )
        for sources, design in ((16, 2), (16, 20), (25, 2), (25, 20), (25, 38))
        for shared in (True, False)
    ),
    Case(
        "two models, 1,000 cases, 3 % and 1 % discordant",
        two_models(n=1000, more=0.03, fewer=0.01),
        2000,
    ),
    Case(
        "two models, 200 cases, 5 % and 5 % discordant",
        two_models(n=200, more=0.05, fewer=0.05),
        2000,
    ),
    Case(
        "two models, 200 cases, 1 % and 1 % discordant",
        two_models(n=200, more=0.01, fewer=0.01),
        2000,
    ),
    Case(
        "two models, 60 sources of 10 a group", two_models_by_source(sources=60), 1000
    ),
    *(
        Case(
            f"{groups} groups of 300, all selected in 30 %",
            selected(groups=groups),
            1000,
        )
        for groups in (2, 3, 6, 12)
    ),
]
