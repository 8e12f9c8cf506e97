"""The metrics of the released suites, with intervals and p-values: more draws than a notebook has time for.

What is tested was fixed before the values were known: of Figure 1 the eight metrics of groups that differ by more than
a constant factor, of Figure 2 all nine rows. The counterfactual metrics of Figure 1 have a value and no test.
"""

import numpy as np
import pandas as pd

from fairlib.data import load
from fairlib.metrics import draws, measuring
from fairlib.metrics.examples import ACCUMULATED, Columns, Examples, read
from fairlib.metrics.table2 import METRICS, Metric
from fairlib.recipes.originals import recipe

EXCHANGES = 9999  # of terms between groups: enough for 500 questions at once (`fairlib.discoveries`)
RESAMPLES = 500
SEED = 2021
ALL_SEEDS = "all"
TESTED = (
    "FPED*",
    "FNED*",
    "DisparityScore*",
    "AvgGF",
    "AvgGF (TC)",
    "TPRGap",
    "TNRGap",
    "ParityGap",
)
BY_GROUP = (
    "FPRRatio",
    "FNRRatio",
    "PosAvgEG",
    "NegAvgEG",
)  # the rows of Figure 2 that Figure 1 lacks
SHOWN = (
    "FPED",
    "FNED",
    "DisparityScore",
    "CFGap",
    "CFGap (TC)",
    "AvgIF",
    "AvgIF (TC)",
    "PertSS",
    "PertSD",
    "PertSR",
)
GROUPED = ("gender", "names")  # what Figure 2 shows group by group
KEYS = ["model", "classes", "attribute"]
COLUMNS = [
    "seed",
    "metric",
    "class",
    "group",
    "value",
    "low",
    "high",
    "null",
    "p",
    "p_error",
]


@recipe(files=[], costly=True)
def suite_metrics() -> pd.DataFrame:
    """Metrics of two families of sentiment models on the released suites, with intervals and p-values."""
    outputs = load("suite_predictions", source="bundled")
    parts = {
        key: of_suite(suite) for key, suite in outputs.groupby(KEYS, observed=True)
    }
    return pd.concat(parts, names=KEYS).droplevel(-1).reset_index()


def of_suite(
    suite: pd.DataFrame, *, exchanges: int = EXCHANGES, rng: int = SEED
) -> pd.DataFrame:
    """Return the metrics of one suite and one family of models, for each seed and for all seeds together.

    All seeds share their draws, so that their mean is compared with the mean of what the same exchange of terms does to
    each. A ratio's mean is geometric.
    """
    attribute, classes = suite["attribute"].iloc[0], suite["classes"].iloc[0]
    suite = suite.astype(
        dict.fromkeys(["source", "group", "term", "label", "prediction"], str)
    )
    if classes == 2:
        suite = suite[suite["label"] != "neutral"].drop(columns="p_neutral")
    runs = {
        str(seed): frame.drop(columns=[*KEYS, "seed"])
        for seed, frame in suite.groupby("seed")
    }
    grouped = attribute in GROUPED
    asked = [("positive", TESTED + (BY_GROUP if grouped else ()))] + [
        ("negative", ("AvgGF (TC)",))
    ] * grouped
    rows = []
    for name, tested in asked:
        examples = {
            seed: read(run, Columns(), classes=name) for seed, run in runs.items()
        }
        rows += [
            (seed, *key, *found)
            for (seed, *key), found in tests(examples, tested, exchanges, rng).items()
        ]
    for seed, run in runs.items():
        values = measuring.observed(
            read(run, Columns(), classes="positive"), _named(SHOWN), True, _draws(rng)
        )[0]
        rows += [(seed, *key, value[0], *[np.nan] * 5) for key, value in values.items()]
    table = pd.DataFrame(rows, columns=COLUMNS)
    means = (
        table[table["metric"].isin(SHOWN)]
        .groupby(["metric", "class", "group"], sort=False)["value"]
        .mean()
    )
    table = pd.concat(
        [table, means.reset_index().assign(seed=ALL_SEEDS)], ignore_index=True
    )
    return table[(table["group"] == ACCUMULATED) | grouped].round(7)


def tests(
    runs: dict[str, Examples], names: tuple, exchanges: int = EXCHANGES, rng: int = SEED
) -> dict[tuple, tuple]:
    """Return value, low, high, null, p and its error by (seed, metric, class, group), also for all seeds together."""
    metrics = _named(names)
    values, null, resampled = {}, {}, {}
    for seed, examples in runs.items():
        values[seed] = measuring.observed(examples, metrics, True, _draws(rng))[0]
        for into, drawn in (
            (null, draws.exchanged(examples, exchanges, _draws(rng))),
            (resampled, draws.bootstrap(examples, RESAMPLES, _draws(rng))),
        ):
            into[seed] = measuring.over_draws(
                examples, drawn, metrics, values[seed], _draws(rng)
            )
    rows = {}
    for key in values[next(iter(runs))]:
        metric = metrics[key[0]]
        for seed in [*runs, ALL_SEEDS]:
            (value,), fair, again = (
                _mean(metric, found, key, seed) for found in (values, null, resampled)
            )
            p = measuring.p_value(
                measuring.distance(metric, value), measuring.distance(metric, fair)
            )
            ends = measuring.interval(metric, value, again, 0.95)
            rows[seed, *key] = (
                value,
                *ends,
                fair.mean(),
                p,
                np.sqrt(p * (1 - p) / exchanges),
            )
    return rows


def _mean(metric: Metric, found: dict[str, dict], key: tuple, seed: str) -> np.ndarray:
    """Return what one seed found, or the mean over all of them: geometric for a ratio."""
    if seed != ALL_SEEDS:
        return found[seed][key]
    every = np.stack([values[key] for values in found.values()])
    with np.errstate(divide="ignore", invalid="ignore"):
        return (
            np.exp(np.log(every).mean(axis=0))
            if metric.neutral == 1
            else every.mean(axis=0)
        )


def _named(names: tuple) -> dict[str, Metric]:
    return {name: METRICS[name] for name in names}


def _draws(rng: int) -> np.random.Generator:
    return np.random.default_rng(rng)
