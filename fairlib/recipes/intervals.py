"""Tables of notebooks 10a and 10b: WinoBias pairs by occupation, and how often each
interval contains the truth.
"""

import itertools

import numpy as np
import pandas as pd
from scipy.stats import norm
from tqdm import tqdm

from fairlib.intervals import gaps
from fairlib.recipes.ethayarajh2020 import LLM, WINOBIAS_FILES
from fairlib.recipes.originals import original, recipe, require_columns

PRO_TEST = WINOBIAS_FILES["pro_stereotyped_type1.txt.test"]
FIRST_LINE = 1  # the answers' pair i is the file's line i + 1, counted from 1: see `winobias_occupations`


@recipe(files=[LLM, PRO_TEST])
def winobias_occupations() -> pd.DataFrame:
    """The language model's pairs by trial, by the occupation that the pronoun refers to, and by what was right.

    The answers are numbered from 1 to 395, the file has 396 lines. That pair i is line i + 1 (the first taken for a
    header) is inferred, not documented: with this shift the rate of right answers differs between occupations far more
    than with any other (an intraclass correlation of .146 on the stereotyped sentences, and below .05 with every other
    shift of up to six lines).
    """
    lines = [
        line
        for line in original(PRO_TEST).read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]
    occupations = (
        pd.Series(lines).str.extract(r"\[(?:[Tt]he|[Aa]n?) ([^\]]+)\]")[0].str.strip()
    )
    answers = require_columns(
        pd.read_csv(original(LLM)),
        ["trial", "pair", "pro_correct", "anti_correct"],
        LLM.path,
    )
    answers = answers.assign(
        occupation=answers["pair"].map(lambda pair: occupations[pair - 1 + FIRST_LINE])
    )
    keys = ["trial", "occupation", "pro_correct", "anti_correct"]
    return (
        answers[keys]
        .value_counts()
        .rename("pairs")
        .reset_index()
        .sort_values(keys, ignore_index=True)
    )


@recipe(files=[], costly=True)
def coverage() -> pd.DataFrame:
    """Coverage and width of every method in `fairlib.bounds` on the whole grid: about
    ten minutes.
    """
    from fairlib.recipes.coverage import grid

    return grid(progress=True)


@recipe(files=[], costly=True)
def five_points() -> pd.DataFrame:
    """Examples that a claim of five points needs, by every method in `fairlib.bounds`:
    about five minutes.
    """
    from fairlib.recipes.coverage import five_points

    return five_points(progress=True)


# --- The gap between many groups: a simulation, since the truth must be known ---

SETS = 400  # simulated for each design, from a seed of its own
REPLICATES = 500
DESIGNS = tuple(
    itertools.product(
        (2, 3, 5, 10, 20),
        (200, 1000),
        ("equal", "unequal"),
        (0.01, 0.1, 0.5),
        (0.0, 0.1),
    )
)


@recipe(files=[], costly=True)
def gap_coverage() -> pd.DataFrame:
    """How often intervals for the gap between many groups contain the true one, by design: about three minutes.

    groups, size, sizes, rate, gap : how many groups, how large the largest, whether all are, their error rate, and how
        much higher that of one group is.
    """
    designs = enumerate(tqdm(DESIGNS))
    return pd.DataFrame(
        [row for seed, design in designs for row in simulated_gaps(*design, seed=seed)]
    ).round(5)


def simulated_gaps(
    groups: int, size: int, sizes: str, rate: float, gap: float, *, seed: int
) -> list[dict]:
    """Return one row per method for one design."""
    rng = np.random.default_rng(seed)
    totals, truth = np.full(groups, size), np.full(groups, rate)
    if sizes == "unequal":  # from a twentieth upwards
        totals = np.geomspace(size / 20, size, groups).round().astype(int)
    truth[-1] += gap
    data = rng.binomial(totals, truth, size=(SETS, groups))
    design = {"groups": groups, "size": size, "sizes": sizes, "rate": rate, "gap": gap}
    rows = []
    for method, ends in GAP_METHODS.items():
        low, high = np.array([ends(errors, totals, rng) for errors in data]).T
        missed = low > gap + 1e-12, high < gap - 1e-12
        coverage = 1 - np.mean(missed[0] | missed[1])
        error = np.sqrt(coverage * (1 - coverage) / SETS)
        found = {
            "method": method,
            "sets": SETS,
            "seed": seed,
            "coverage": coverage,
            "error": error,
        }
        misses = {"missed_above": missed[0].mean(), "missed_below": missed[1].mean()}
        rows.append(design | found | misses | {"width": (high - low).mean()})
    return rows


def _percentile_bootstrap(
    errors: np.ndarray, totals: np.ndarray, rng: np.random.Generator
) -> tuple[float, float]:
    """The 2.5 % and 97.5 % percentiles of the gap of resampled examples: widely done,
    and never at 0.
    """
    rates = (
        rng.binomial(totals, errors / totals, size=(REPLICATES, len(totals))) / totals
    )
    return tuple(np.quantile(rates.max(axis=1) - rates.min(axis=1), [0.025, 0.975]))


def _largest_pair(
    errors: np.ndarray, totals: np.ndarray, rng: np.random.Generator
) -> tuple[float, float]:
    """An ordinary 95 % interval for the two groups that happen to be farthest apart, as
    if one had meant these.
    """
    rates = errors / totals
    pair = [rates.argmax(), rates.argmin()]
    error = np.sqrt((rates[pair] * (1 - rates[pair]) / totals[pair]).sum())
    difference, z = rates.max() - rates.min(), norm.ppf(0.975)
    return max(difference - z * error, 0.0), difference + z * error


def _interval(
    errors: np.ndarray, totals: np.ndarray, rng: np.random.Generator
) -> tuple[float, float]:
    found = gaps.interval(errors, totals)
    return found.low, found.high


GAP_METHODS = {
    "percentile bootstrap": _percentile_bootstrap,
    "largest pair": _largest_pair,
    "gaps.interval": _interval,
}
