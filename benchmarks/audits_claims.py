"""How often metrics, equalized odds and tests of calibration accuse a fair model.

`python benchmarks/audits_claims.py` prints a table, in about an hour; `--share 0.1`
takes a tenth of the audits. Each row is a model whose truth is known, audited again and
again. In brackets is the Monte Carlo error (one standard error).
"""

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd
from audits import _percent, measured
from audits_worlds import Case, Once, Tally
from scipy.special import expit, ndtr

import fairlib
from fairlib.auditing.literature import SUMMARY, question_of
from fairlib.auditing.odds import equalized_odds
from fairlib.auditing.probabilities import calibration_test
from fairlib.auditing.questions import Questions
from fairlib.auditing.summary import summarize

CLAIMS = {
    "metrics": "any claim about errors by a metric",
    "odds": "any claim by equalized odds",
    "calibration": "any claim by the test of calibration",
}
ODDS_HELD = "intervals of equalized odds that hold the truth"
CALIBRATION_HELD = "intervals of calibration that hold the truth"
SHOWN = "differences that are shown"
AIMS = {
    **dict.fromkeys(CLAIMS.values(), "5 %"),
    ODDS_HELD: "≥ 95 %",
    CALIBRATION_HELD: "≥ 95 %",
    SHOWN: "",
}
ERRORS = [name for name in SUMMARY if question_of(name, classes=2) == "errors"]
# How often the class is predicted where it is the label, and where it is not.
HITS = 0.8
FALSE_ALARMS = 0.15


def questions_of(frame: pd.DataFrame, **columns) -> Questions:
    """Return what an audit of these cases asks, about wrong predictions alone."""
    return fairlib.audit(
        frame,
        group="group",
        label="label",
        metrics=["errors", *ERRORS],
        positive=1,
        **columns,
    ).questions


def predicted(
    rng: np.random.Generator, group: np.ndarray, base_rate: np.ndarray, **columns
) -> pd.DataFrame:
    """Return cases that are predicted alike, given their label."""
    label = rng.random(len(group)) < base_rate
    chance = np.where(label, HITS, FALSE_ALARMS)
    prediction = rng.random(len(group)) < chance
    cases = {"group": group, "label": label, "prediction": prediction}
    return pd.DataFrame(cases).astype(int).assign(**columns)


def claims_of(questions: Questions, *names: str) -> dict[str, Tally]:
    """Count whether anything is claimed about errors or calibration."""
    claimed = {}
    if "metrics" in names:
        rows = summarize(questions)
        is_claim = (rows["question"] == "errors") & (rows["verdict"] == "shown")
        claimed["metrics"] = is_claim.any()
    if "odds" in names:
        claimed["odds"] = (equalized_odds(questions)["verdict"] == "shown").any()
    if "calibration" in names:
        verdicts = calibration_test(questions)["verdict"]
        claimed["calibration"] = (verdicts == "shown").any()
    return {CLAIMS[name]: Tally(is_claimed, 1) for name, is_claimed in claimed.items()}


# --- Worlds: metrics and equalized odds ---


def base_rates(*rates: float, size: int = 500) -> Once:
    """Rates of errors are equal in all groups, base rates are not."""

    def once(rng):
        group = np.repeat(np.arange(len(rates)), size)
        frame = predicted(rng, group, np.array(rates)[group])
        score = rng.beta(2, 2, len(group)) / 2 + frame["label"] / 4
        questions = questions_of(
            frame.assign(score=score.round(2)),
            prediction="prediction",
            probability="score",
        )
        return claims_of(questions, "metrics", "odds")

    return once


def perfect(*rates: float, size: int = 500) -> Once:
    """Every prediction is the label; base rates differ."""

    def once(rng):
        group = np.repeat(np.arange(len(rates)), size)
        frame = predicted(rng, group, np.array(rates)[group])
        frame["prediction"] = frame["label"]
        return claims_of(
            questions_of(frame, prediction="prediction"), "metrics", "odds"
        )

    return once


def spaced_hits(groups: int, width: float, *, size: int = 400) -> Once:
    """Hits of groups lie at equal distances; the largest difference is `width`."""
    hits = HITS - width * np.linspace(0, 1, groups)

    def once(rng):
        group = np.repeat(np.arange(groups), size)
        label = rng.random(len(group)) < 0.4
        chance = np.where(label, hits[group], FALSE_ALARMS)
        frame = pd.DataFrame({"group": group, "label": label}).astype(int)
        frame["prediction"] = (rng.random(len(group)) < chance).astype(int)
        rows = equalized_odds(questions_of(frame, prediction="prediction"))
        row = rows.iloc[0]
        return {
            ODDS_HELD: Tally(row["low"] <= width <= row["high"], 1),
            SHOWN: Tally(row["verdict"] == "shown", 1),
        }

    return once


# --- Worlds: calibration ---

Draw = Callable[[np.random.Generator, np.ndarray], np.ndarray]


def spread_odds(middle: float, *, shift: float = 1.0) -> Draw:
    """Log odds are normal around `middle`; those of the first group are shifted."""

    def draw(rng, group):
        return expit(rng.normal(middle + shift * (group == 0), 1.2))

    return draw


def between(low: float, high: float) -> Draw:
    """Probabilities are uniform between two numbers."""

    def draw(rng, group):
        return rng.uniform(low, high, len(group))

    return draw


def calibrated(sizes: tuple[int, ...], draw: Draw, *, power: float = 1.0) -> Once:
    """Outcomes follow one curve in all groups: the probability to some power."""

    def once(rng):
        group = np.repeat(np.arange(len(sizes)), sizes)
        score = draw(rng, group)
        label = (rng.random(len(group)) < score**power).astype(int)
        frame = pd.DataFrame({"group": group, "label": label, "score": score})
        questions = questions_of(frame, probability="score")
        return claims_of(questions, "calibration")

    return once


def less_calibrated(sizes: tuple[int, int], draw: Draw, extra: float) -> Once:
    """Outcomes of the first group are `extra` more frequent than the probability."""

    def once(rng):
        group = np.repeat([0, 1], sizes)
        score = draw(rng, group)
        label = rng.random(len(group)) < score + extra * (group == 0)
        frame = pd.DataFrame({"group": group, "label": label, "score": score})
        questions = questions_of(frame.astype({"label": int}), probability="score")
        row = calibration_test(questions).iloc[0]
        truth = extra if row["group"] == "group = 0" else -extra
        is_defined = np.isfinite(row["low"])
        is_held = is_defined and row["low"] <= truth <= row["high"]
        return {
            CALIBRATION_HELD: Tally(is_held, is_defined),
            SHOWN: Tally(row["verdict"] == "shown", 1),
        }

    return once


# --- Worlds: sources ---


def _together(rng: np.random.Generator, source: np.ndarray, alike: float) -> np.ndarray:
    """Return uniform numbers that go together within sources, to some degree."""
    of_source = rng.normal(size=source.max() + 1)[source]
    alone = rng.normal(size=len(source))
    return ndtr(np.sqrt(alike) * of_source + np.sqrt(1 - alike) * alone)


def tied(
    group_of_source: np.ndarray, cases: int, *, alike: float, middle: float = 0.0
) -> Once:
    """Cases of a source have similar probabilities, outcomes and predictions."""

    def once(rng):
        source = np.repeat(np.arange(len(group_of_source)), cases)
        odds = rng.normal(middle, 1, len(group_of_source))[source]
        score = expit(odds + rng.normal(0, 0.8, len(source)))
        label = _together(rng, source, alike) < score
        chance = np.where(label, HITS, FALSE_ALARMS)
        prediction = _together(rng, source, alike) < chance

        columns = {
            "group": group_of_source[source],
            "label": label,
            "prediction": prediction,
        }
        frame = pd.DataFrame(columns).astype(int).assign(score=score, source=source)
        questions = questions_of(
            frame, prediction="prediction", probability="score", source="source"
        )
        return claims_of(questions, "odds", "calibration")

    return once


def shared_sources(sources: int, cases: int, *, alike: float) -> Once:
    """Each source has cases of several groups."""

    def once(rng):
        group = rng.integers(3, size=(sources, cases)).ravel()
        source = np.repeat(np.arange(sources), cases)
        score = expit(rng.normal(0, 1, sources)[source])
        label = _together(rng, source, alike) < score
        chance = np.where(label, HITS, FALSE_ALARMS)
        prediction = _together(rng, source, alike) < chance
        columns = {"group": group, "label": label, "prediction": prediction}
        frame = pd.DataFrame(columns).astype(int).assign(score=score, source=source)
        questions = questions_of(
            frame, prediction="prediction", probability="score", source="source"
        )
        return claims_of(questions, "odds", "calibration")

    return once


HALVES = np.arange(200) % 2
FEW_AND_MANY = np.repeat([0, 1], [40, 400])
CASES = [
    Case("base rates of 1 and 99 %, 5,000 each", base_rates(0.01, 0.99, size=5000)),
    Case("base rates of 10 and 90 %", base_rates(0.1, 0.9), 1000),
    Case("base rates of 5, 50 and 95 %", base_rates(0.05, 0.5, 0.95), 1000),
    Case("six base rates, 10 to 90 %", base_rates(*np.linspace(0.1, 0.9, 6)), 500),
    Case("twelve base rates, 10 to 90 %", base_rates(*np.linspace(0.1, 0.9, 12)), 300),
    Case("perfect, base rates of 1 and 99 %", perfect(0.01, 0.99, size=5000)),
    Case("perfect, base rates of 35 and 50 %", perfect(0.35, 0.5)),
    *(
        Case(f"hits of {groups} groups, {100 * width:g} points", world, 1000)
        for groups in (2, 3, 6, 12)
        for width in (0.0, 0.1)
        for world in [spaced_hits(groups, width)]
    ),
    Case("calibrated, 500 v 500", calibrated((500, 500), spread_odds(0)), 1000),
    Case(
        "the same, wrong in all groups alike",
        calibrated((500, 500), spread_odds(0), power=3),
        1000,
    ),
    Case("calibrated, 40 v 1,000", calibrated((40, 1000), spread_odds(0)), 1000),
    Case("calibrated, six groups of 200", calibrated((200,) * 6, spread_odds(0)), 1000),
    Case("rare outcome, 500 v 500", calibrated((500, 500), spread_odds(-4)), 1000),
    Case("rare outcome, 40 v 1,000", calibrated((40, 1000), spread_odds(-4)), 1000),
    Case(
        "10 points off, 500 v 500",
        less_calibrated((500, 500), between(0.2, 0.8), 0.1),
        1000,
    ),
    Case(
        "20 points off, 40 v 1,000",
        less_calibrated((40, 1000), between(0.2, 0.7), 0.2),
        1000,
    ),
    Case(
        "rare outcome, 3 points off, 500 v 500",
        less_calibrated((500, 500), between(0.005, 0.03), 0.03),
        1000,
    ),
    Case(
        "rare outcome, 3 points off, 40 v 1,000",
        less_calibrated((40, 1000), between(0.005, 0.03), 0.03),
        1000,
    ),
    Case("200 sources of 5", tied(HALVES, 5, alike=0.5), 1000),
    Case("200 sources of 5, all alike", tied(HALVES, 5, alike=0.99), 1000),
    Case("40 v 400 sources of 5", tied(FEW_AND_MANY, 5, alike=0.5), 1000),
    Case(
        "40 v 400 sources of 5, rare outcome",
        tied(FEW_AND_MANY, 5, alike=0.9, middle=-3),
        500,
    ),
    Case("200 sources that hold three groups", shared_sources(200, 6, alike=0.5), 500),
]


def _lines(place: int, audits: int) -> list[str]:
    """Simulate the case at this place: closures do not travel between processes."""
    case = CASES[place]
    return [
        f"| {case.name} | {quantity} | {audits:,} | {AIMS[quantity]} "
        f"| {_percent(*estimate)} |"
        for quantity, estimate in measured(case, audits).items()
    ]


def main() -> None:
    """Simulate all cases, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0)
    share = parser.parse_args().share

    print("| truth | what | audits | aim | share |")
    print("| :-- | :-- | --: | --: | --: |")
    with ProcessPoolExecutor(max_workers=2) as pool:
        audits = [max(2, int(case.audits * share)) for case in CASES]
        for lines in pool.map(_lines, range(len(CASES)), audits):
            print("\n".join(lines), flush=True)


if __name__ == "__main__":
    main()
