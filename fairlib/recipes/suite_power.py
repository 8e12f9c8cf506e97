"""What the tests of the released suites could find, and what chance gives them.

A suite in which an attribute's groups have one or two terms each can hide effects that
a suite of two hundred names cannot. The table says how large they may be, so that a
"no" can be read beside what the test could have seen.
"""

import numpy as np
import pandas as pd

from fairlib.data import load
from fairlib.metrics import draws
from fairlib.metrics.examples import ACCUMULATED, Columns, Examples, read
from fairlib.metrics.measuring import observed, over_draws
from fairlib.metrics.power import Design, Question, mean_move, search
from fairlib.metrics.table2 import METRICS
from fairlib.recipes.originals import recipe
from fairlib.recipes.suite_metrics import KEYS, SEED, runs_of

# The metric of the test that dossier 04 asks about attributes.
METRIC = "AvgGF"
WORLDS = 100
# Enough for one question at 5 %; more exchanges would find hardly smaller effects.
EXCHANGES = 99
# Enough to draw the range of what chance gives.
EXCHANGES_SHOWN = 999
COLUMNS = ["effect", "low", "high", "moves", "null_low", "null_high"]


@recipe(files=[], costly=True)
def suite_power() -> pd.DataFrame:
    """Smallest effects that tests of sentiment models on released suites would find."""
    outputs = load("suite_predictions", source="bundled")
    rows = [
        (*key, *of_suite(suite)) for key, suite in outputs.groupby(KEYS, observed=True)
    ]
    return pd.DataFrame(rows, columns=[*KEYS, *COLUMNS])


def of_suite(
    suite: pd.DataFrame, *, worlds: int = WORLDS, rng: int = SEED
) -> tuple[float, ...]:
    """Return what one suite's test could find, and the range that chance gives.

    Parameters
    ----------
    suite : pandas.DataFrame
        The rows of `suite_predictions` of one model, number of classes and attribute.
    worlds : int
        How many worlds without differences between groups get the effect.
    rng : int
        Seed of all draws.

    Returns
    -------
    effect, low, high : float
        The smallest effect, with its interval.
    moves : float
        By how much it moves the mean probability of an affected sentence.
    null_low, null_high : float
        The 5 % and 95 % quantiles of the metric when terms are exchanged.
    """
    runs = [read(run, Columns(), classes="positive") for run in runs_of(suite).values()]
    return (*smallest(runs, worlds, rng), *null_range(runs, rng))


def smallest(
    runs: list[Examples], worlds: int, rng: int
) -> tuple[float, float, float, float]:
    """Return the smallest effect, its interval, and what it moves.

    The effect is added to the probability of the positive class of every second group's
    terms. As in `suite_metrics`, the test looks at the mean over the seeds.

    Parameters
    ----------
    runs : list of Examples
        The suite as each seed's model sees it.
    worlds, rng
        As for `of_suite`.
    """
    design = Design(
        scale="probability",
        affected=tuple(range(1, len(runs[0].groups), 2)),
        tested=ACCUMULATED,
        level=0.05,
        power=0.8,
        worlds=worlds,
        exchanges=EXCHANGES,
    )
    (target,) = runs[0].measured
    question = Question(METRIC, METRICS[METRIC], target)
    result = search(runs, question, design=design, rng=rng)

    effect, low, high = (round(number, 4) for number in result[:3])
    return effect, low, high, round(mean_move(runs, question, design, effect), 4)


def null_range(runs: list[Examples], rng: int) -> tuple[float, float]:
    """Return the range of nine in ten values of the metric when terms are exchanged.

    Parameters
    ----------
    runs : list of Examples
        The suite as each seed's model sees it. All seeds share their exchanges.
    rng : int
        Seed of the exchanges.
    """
    metrics = {METRIC: METRICS[METRIC]}
    of_runs = []
    for run in runs:
        generator = np.random.default_rng(rng)
        keys = observed(run, metrics, True, generator).values
        drawn = draws.exchanged(run, EXCHANGES_SHOWN, np.random.default_rng(rng))
        values = over_draws(run, drawn, metrics, keys=keys, rng=generator)
        of_runs.append(values[METRIC, run.classes[run.measured[0]], ACCUMULATED])

    low, high = np.quantile(np.mean(of_runs, axis=0), [0.05, 0.95]).round(4).tolist()
    return low, high
