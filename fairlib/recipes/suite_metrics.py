"""The metrics of the released suites, with intervals and p-values.

They take more draws than a notebook has time for. The metrics to be tested were chosen
before the values were known: of Figure 1 the eight metrics of groups that differ by
more than a constant factor, of Figure 2 all nine rows. The counterfactual metrics of
Figure 1 have a value and no test.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from fairlib.data import load
from fairlib.metrics import draws, measuring
from fairlib.metrics.examples import ACCUMULATED, Columns, Examples, read
from fairlib.metrics.table2 import METRICS, Metric
from fairlib.recipes.originals import recipe

# Of terms between groups: enough for 500 questions at once (`fairlib.discoveries`).
EXCHANGES = 9999
RESAMPLES = 500
SEED = 2021
_ALL_SEEDS = "all"
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
# The rows of Figure 2 that are missing from Figure 1.
_TESTED_BY_GROUP = ("FPRRatio", "FNRRatio", "PosAvgEG", "NegAvgEG")
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
_ATTRIBUTES_BY_GROUP = ("gender", "names")  # shown group by group in Figure 2
KEYS = ["model", "classes", "attribute"]
_COLUMNS = [
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
    """Metrics of two families of sentiment models on released suites, with tests."""
    outputs = load("suite_predictions", source="bundled")
    parts = {
        key: of_suite(suite) for key, suite in outputs.groupby(KEYS, observed=True)
    }
    return pd.concat(parts, names=KEYS).droplevel(-1).reset_index()


def of_suite(
    suite: pd.DataFrame, *, exchanges: int = EXCHANGES, rng: int = SEED
) -> pd.DataFrame:
    """Return the metrics of one suite and one family of models.

    All seeds share their draws, so that the mean over the seeds is compared with the
    mean of what the same exchange of terms does to each seed. The mean of a ratio is
    geometric.

    Parameters
    ----------
    suite : pandas.DataFrame
        The rows of `suite_predictions` of one model, number of classes and attribute.
    exchanges : int
        How many times terms are exchanged between groups.
    rng : int
        Seed of all draws.

    Returns
    -------
    pandas.DataFrame
        One row per seed (and one for all seeds together), metric, class and group.
    """
    by_group = suite["attribute"].iloc[0] in _ATTRIBUTES_BY_GROUP
    runs = runs_of(suite)

    tested = {"positive": TESTED}
    if by_group:
        tested = {"positive": TESTED + _TESTED_BY_GROUP, "negative": ("AvgGF (TC)",)}
    rows = []
    for name, metrics in tested.items():
        examples = {
            seed: read(run, Columns(), classes=name) for seed, run in runs.items()
        }
        results = tests(examples, metrics, exchanges, rng)
        rows += [(seed, *key, *result) for (seed, *key), result in results.items()]
    for seed, run in runs.items():
        rows += _only_shown(seed, run, rng)
    table = pd.DataFrame(rows, columns=_COLUMNS)

    shown = table[table["metric"].isin(SHOWN)]
    means = shown.groupby(["metric", "class", "group"], sort=False)["value"].mean()
    of_all_seeds = means.reset_index().assign(seed=_ALL_SEEDS)
    table = pd.concat([table, of_all_seeds], ignore_index=True)
    return table[(table["group"] == ACCUMULATED) | by_group].round(7)


def runs_of(suite: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the predictions of each seed, on the templates on which a task is judged.

    Parameters
    ----------
    suite : pandas.DataFrame
        The rows of `suite_predictions` of one model, number of classes and attribute.
    """
    texts = ["source", "group", "term", "label", "prediction"]
    outputs = suite.astype(dict.fromkeys(texts, str))
    if suite["classes"].iloc[0] == 2:
        outputs = outputs[outputs["label"] != "neutral"].drop(columns="p_neutral")
    return {
        str(seed): run.drop(columns=[*KEYS, "seed"])
        for seed, run in outputs.groupby("seed")
    }


def _only_shown(seed: str, run: pd.DataFrame, rng: int) -> list[tuple]:
    """Return rows of the metrics that have a value and no test."""
    examples = read(run, Columns(), classes="positive")
    values, *_ = measuring.observed(examples, _named(SHOWN), True, _draws(rng))
    no_test = [np.nan] * 5
    return [(seed, *key, value[0], *no_test) for key, value in values.items()]


def tests(
    runs: dict[str, Examples], names: tuple, exchanges: int = EXCHANGES, rng: int = SEED
) -> dict[tuple, tuple]:
    """Return values, intervals and p-values of metrics, by seed and for all seeds.

    Parameters
    ----------
    runs : dict of Examples
        The examples of each seed.
    names : tuple of str
        Names of the metrics.
    exchanges : int
        How many times terms are exchanged between groups.
    rng : int
        Seed of all draws.

    Returns
    -------
    dict
        For each (seed, metric, class, group) the value, low, high, the mean under
        exchange, p and the standard error of p.
    """
    metrics = _named(names)

    values = {}
    exchanged = {}
    resampled = {}
    for seed, examples in runs.items():
        values[seed] = measuring.observed(examples, metrics, True, _draws(rng))[0]
        exchanged[seed] = measuring.over_draws(
            examples,
            draws.exchanged(examples, exchanges, _draws(rng)),
            metrics,
            keys=values[seed],
            rng=_draws(rng),
        )
        resampled[seed] = measuring.over_draws(
            examples,
            draws.bootstrap(examples, RESAMPLES, _draws(rng)),
            metrics,
            keys=values[seed],
            rng=_draws(rng),
        )

    rows = {}
    for key in values[next(iter(runs))]:
        metric = metrics[key[0]]
        for seed in [*runs, _ALL_SEEDS]:
            (value,) = _mean(metric, values, key, seed)
            null = _mean(metric, exchanged, key, seed)
            again = _mean(metric, resampled, key, seed)

            low, high = measuring.interval(metric, value, again, 0.95)
            p = measuring.p_value(
                measuring.distance(metric, value), measuring.distance(metric, null)
            )
            error_of_p = np.sqrt(p * (1 - p) / exchanges)
            rows[seed, *key] = (value, low, high, null.mean(), p, error_of_p)
    return rows


def _mean(metric: Metric, values: dict[str, dict], key: tuple, seed: str) -> np.ndarray:
    """Return the values of one seed, or the mean over all: geometric for a ratio."""
    if seed != _ALL_SEEDS:
        return values[seed][key]

    of_all_seeds = np.stack([of_seed[key] for of_seed in values.values()])
    if metric.neutral != 1:
        return of_all_seeds.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.exp(np.log(of_all_seeds).mean(axis=0))


def _named(names: Iterable[str]) -> dict[str, Metric]:
    return {name: METRICS[name] for name in names}


def _draws(rng: int) -> np.random.Generator:
    return np.random.default_rng(rng)
