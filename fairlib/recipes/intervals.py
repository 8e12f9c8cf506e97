"""Tables of dossiers 10a and 10b: WinoBias pairs, and the coverage of intervals."""

import itertools

import numpy as np
import pandas as pd
from scipy.stats import norm
from tqdm import tqdm

from fairlib.intervals import gaps
from fairlib.recipes.ethayarajh2020 import LLM, WINOBIAS_FILES
from fairlib.recipes.originals import original, recipe, require_columns

PRO_TEST = WINOBIAS_FILES["pro_stereotyped_type1.txt.test"]
# The answers' pair i is the file's line i + 1, see `winobias_occupations`.
_FIRST_LINE = 1


@recipe(files=[LLM, PRO_TEST])
def winobias_occupations() -> pd.DataFrame:
    """The language model's pairs by the occupation that the pronoun refers to.

    The answers are numbered from 1 to 395, the file has 396 lines. That pair i is line
    i + 1 (the first line being taken for a header) is inferred, not documented: with
    this shift the rate of right answers differs between occupations far more than with
    any other shift (an intraclass correlation of .146 on the stereotyped sentences, and
    below .05 with every other shift of up to six lines).
    """
    text = original(PRO_TEST).read_text(encoding="utf-8")
    lines = pd.Series([line for line in text.splitlines() if line.strip()])
    occupations = lines.str.extract(r"\[(?:[Tt]he|[Aa]n?) ([^\]]+)\]")[0].str.strip()

    columns = ["trial", "pair", "pro_correct", "anti_correct"]
    answers = require_columns(pd.read_csv(original(LLM)), columns, LLM.path)
    occupation = occupations.loc[answers["pair"] - 1 + _FIRST_LINE]
    answers = answers.assign(occupation=occupation.to_numpy())

    keys = ["trial", "occupation", "pro_correct", "anti_correct"]
    counts = answers[keys].value_counts().rename("pairs").reset_index()
    return counts.sort_values(keys, ignore_index=True)


@recipe(files=[], costly=True)
def coverage() -> pd.DataFrame:
    """Coverage and width of every method in `fairlib.bounds` on the whole grid.

    It takes about five minutes.
    """
    from fairlib.recipes.coverage import grid

    return grid(progress=True)


@recipe(files=[], costly=True)
def five_points() -> pd.DataFrame:
    """Examples that a claim of five points needs, by every method in `fairlib.bounds`.

    It takes about five minutes.
    """
    from fairlib.recipes.coverage import five_points

    return five_points(progress=True)


# --- The gap between many groups: a simulation, since the truth must be known ---

_SETS = 400  # simulated for each design, from a seed of its own
REPLICATES = 500
_ROUNDING = 1e-12  # of a limit that equals the true gap
_CHOICES = {
    "groups": (2, 3, 5, 10, 20),
    "size": (200, 1000),
    "sizes": ("equal", "unequal"),
    "rate": (0.01, 0.1, 0.5),
    "gap": (0.0, 0.1),
}
DESIGNS = tuple(itertools.product(*_CHOICES.values()))


@recipe(files=[], costly=True)
def gap_coverage() -> pd.DataFrame:
    """How often intervals for the gap between many groups contain the true gap.

    It takes about three minutes.

    Returns
    -------
    pandas.DataFrame
        One row per design and method. A design is the number of `groups`, the `size` of
        the largest group, whether all have this size (`sizes`), their error `rate`, and
        how much higher that of one group is (`gap`).
    """
    rows = []
    for seed, design in enumerate(tqdm(DESIGNS)):
        rows += simulated_gaps(*design, seed=seed)
    return pd.DataFrame(rows).round(5)


def simulated_gaps(
    groups: int, size: int, sizes: str, rate: float, gap: float, *, seed: int
) -> list[dict]:
    """Return how often each method's interval contains the gap, for one design.

    Parameters
    ----------
    groups : int
        Number of groups.
    size : int
        Number of examples of the largest group.
    sizes : str
        "equal", or "unequal": from a twentieth of the largest upwards.
    rate : float
        Error rate of the groups.
    gap : float
        How much higher the error rate of one group is.
    seed : int
        Seed of the simulation.

    Returns
    -------
    list of dict
        One row per method.
    """
    rng = np.random.default_rng(seed)
    totals = np.full(groups, size)
    if sizes == "unequal":
        totals = np.geomspace(size / 20, size, groups).round().astype(int)
    truth = np.full(groups, rate)
    truth[-1] += gap
    errors_of_sets = rng.binomial(totals, truth, size=(_SETS, groups))

    rows = []
    for method, limits in GAP_METHODS.items():
        intervals = [limits(errors, totals, rng) for errors in errors_of_sets]
        low, high = np.array(intervals).T
        too_high = low > gap + _ROUNDING
        too_low = high < gap - _ROUNDING

        coverage = 1 - np.mean(too_high | too_low)
        row = {
            "groups": groups,
            "size": size,
            "sizes": sizes,
            "rate": rate,
            "gap": gap,
            "method": method,
            "sets": _SETS,
            "seed": seed,
            "coverage": coverage,
            "error": np.sqrt(coverage * (1 - coverage) / _SETS),
            "missed_above": too_high.mean(),
            "missed_below": too_low.mean(),
            "width": (high - low).mean(),
        }
        rows.append(row)
    return rows


def _percentile_bootstrap(
    errors: np.ndarray, totals: np.ndarray, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the 2.5 % and 97.5 % percentiles of the gap of resampled examples.

    This interval is widely used, and never contains 0.
    """
    drawn = rng.binomial(totals, errors / totals, size=(REPLICATES, len(totals)))
    rates = drawn / totals
    drawn_gaps = rates.max(axis=1) - rates.min(axis=1)
    low, high = np.quantile(drawn_gaps, [0.025, 0.975])
    return low, high


def _largest_pair(
    errors: np.ndarray, totals: np.ndarray, rng: np.random.Generator
) -> tuple[float, float]:
    """Return an ordinary 95 % interval for the two groups that are farthest apart.

    It is computed as if these two groups had been chosen beforehand.
    """
    rates = errors / totals
    pair = [rates.argmax(), rates.argmin()]
    error = np.sqrt((rates[pair] * (1 - rates[pair]) / totals[pair]).sum())
    difference = rates.max() - rates.min()
    half_width = norm.ppf(0.975) * error
    return max(difference - half_width, 0.0), difference + half_width


def _interval(
    errors: np.ndarray, totals: np.ndarray, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the interval of `gaps.interval`."""
    interval = gaps.interval(errors, totals)
    return interval.low, interval.high


GAP_METHODS = {
    "percentile bootstrap": _percentile_bootstrap,
    "largest pair": _largest_pair,
    "gaps.interval": _interval,
}
