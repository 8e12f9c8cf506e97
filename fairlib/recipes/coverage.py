"""The coverage laboratory: how often an interval contains the truth, and its width.

Where the interval depends only on the counts of 0-1 costs, every table that can occur
is enumerated, so that the coverage is exact. Where it depends on the order of the
examples (betting), experiments are simulated, and the Monte-Carlo error is reported. So
is that of the exact interval's mean width, where tables are drawn.
"""

from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from scipy import stats
from tqdm import tqdm

from fairlib.interval import bisection
from fairlib.intervals import betting
from fairlib.intervals.disparity import METHODS
from fairlib.intervals.exact import APART, TIE, exact_unconditional
from fairlib.intervals.planning import (
    games_of_groups,
    games_of_pairs,
    likely,
    sample_size,
)
from fairlib.intervals.proportions import limits, newcombe

SEED = 20  # of the whole grid; experiment number i draws from default_rng([SEED, i])

# How many numbers a design takes up: more than there are methods, so that methods may
# be added without changing the numbers of the other experiments.
_NUMBERS_PER_DESIGN_OF_GROUPS = 13
_NUMBERS_PER_DESIGN_OF_PAIRS = 4

SIZES = (50, 100, 500, 1000)
GAMMAS = (0.1, 0.3, 0.5)
RATES = (0.02, 0.05, 0.2, 0.475)  # error rates of the better group
_BIASES = (0.0, 0.05)
ERRORS = (0.05, 0.2, 0.475)  # of the better group, in the table of examples needed
_DISCORDANT = (0.06, 0.3, 0.9)  # share of pairs in which exactly one side goes wrong
EXPERIMENTS = 10_000  # where the order matters
_EXPERIMENTS_AT_A_TIME = 2000  # bounds the memory
_EXPERIMENTS_WITH_WIDTH = 200  # whose whole interval is computed
_ROUNDING = 1e-12  # of a limit that equals the truth

# An exact interval takes 0.01 s. Up to this many tables are enumerated for its mean
# width; where more of them matter, some are drawn.
MOST_TABLES = 1000
TABLES_DRAWN = 500
_SHARE_LEFT_OUT = 1e-6  # the probability of all tables together that do not matter


def independent(
    method: str,
    n_a: int,
    rate_a: float,
    n_b: int,
    rate_b: float,
    *,
    alpha: float = 0.05,
    rng=0,
) -> dict:
    """Return the coverage and the mean width for two independent groups.

    Parameters
    ----------
    method : str
        A name in `fairlib.bounds.METHODS`.
    n_a, n_b : int
        Number of examples of each group.
    rate_a, rate_b : float
        Probability that an example of the group has the cost 1 (and not 0).
    alpha : float, default 0.05
        1 minus the confidence of the interval.
    rng : numpy.random.Generator or int, default 0
        Random numbers. They are used by methods that depend on the order of examples,
        and by "exact_unconditional" if many tables matter.

    Returns
    -------
    dict
        coverage and its Monte-Carlo standard error (error), the mean width and its
        Monte-Carlo standard error (width_error), and how the coverage was computed
        ("enumerated" or "simulated"). An error is 0 if all tables were enumerated.

    Notes
    -----
    The interval "exact_unconditional" is slow: each table takes about 0.01 s. Its
    coverage needs no intervals, because a test tells which tables miss the truth. Its
    mean width is enumerated if at most `MOST_TABLES` (1,000) tables matter; tables that
    have a probability of 1e-6 together do not matter. Otherwise `TABLES_DRAWN` (500)
    tables are drawn. In each of them, the exact interval is compared with Newcombe's
    interval, whose mean width over all tables is enumerated. The two widths rise and
    fall together, so that the error of the mean is small: at most 0.0002 in all designs
    of `grid`. So the mean width takes at most 10 s.
    """
    truth = rate_a - rate_b
    counts_method = METHODS[method].counts
    if counts_method is None:
        draw = partial(games_of_groups, (n_a, n_b), (rate_a, rate_b))
        return _simulated(draw, truth, alpha, rng)

    likely_a, weight_a = likely(n_a, rate_a)
    likely_b, weight_b = likely(n_b, rate_b)
    x_a = likely_a[:, None]
    x_b = likely_b[None, :]
    weight = np.outer(weight_a, weight_b)

    tables = (x_a, n_a, x_b, n_b)
    if method == "exact_unconditional":
        # This interval is slow to compute, so that we test whether it misses the truth.
        contains_truth = ~_exact_misses(tables, truth, alpha)
        width, width_error = _mean_exact_width(tables, weight, alpha, rng)
        summary = _summary(contains_truth, width, weight)
        return {**summary, "width_error": width_error}

    low, high = counts_method(*tables, alpha=alpha)
    return _summary(_contains(low, high, truth), high - low, weight)


def paired(
    method: str, n: int, bias: float, discordant: float, *, alpha: float = 0.05, rng=0
) -> dict:
    """Return the coverage and the mean width for pairs of examples.

    Parameters
    ----------
    method : str
        A name in `fairlib.bounds.METHODS`, of a method for pairs.
    n : int
        Number of pairs.
    bias : float
        True difference between the error rates of the two sides.
    discordant : float
        Share of pairs in which exactly one side goes wrong.
    alpha : float, default 0.05
        1 minus the confidence of the interval.
    rng : numpy.random.Generator or int, default 0
        Random numbers; only a method that depends on the order of examples draws any.

    Returns
    -------
    dict
        As for `independent`.
    """
    counts_method = METHODS[method].counts
    if counts_method is None:
        draw = partial(games_of_pairs, n, (discordant + bias) / 2, discordant)
        return _simulated(draw, bias, alpha, rng)

    p_a = (discordant + bias) / 2
    p_b = (discordant - bias) / 2
    likely_a, weight_a = likely(n, p_a)
    likely_b, _ = likely(n, p_b)
    only_a = likely_a[:, None]
    only_b = likely_b[None, :]
    weight = weight_a[:, None] * stats.binom.pmf(only_b, n - only_a, p_b / (1 - p_a))

    # A table without weight must nevertheless be a table: no more than n pairs.
    possible_b = np.minimum(only_b, n - only_a)
    low, high = counts_method(only_a, possible_b, n, alpha=alpha)
    return _summary(_contains(low, high, bias), high - low, weight)


def grid(*, progress: bool = False) -> pd.DataFrame:
    """Return the coverage of every method for every design of the laboratory.

    This is the table in `data/bundled/coverage`. It takes five minutes on one core.

    Parameters
    ----------
    progress : bool, default False
        Whether to show a progress bar.

    Returns
    -------
    pandas.DataFrame
        One row per method and design.
    """
    designs = [
        {"n": n, "gamma": gamma, "rate": rate, "bias": bias}
        for n, gamma, rate, bias in product(SIZES, GAMMAS, RATES, _BIASES)
    ]
    designs += [
        {"n": n, "bias": bias, "discordant": discordant}
        for n, bias, discordant in product(SIZES, _BIASES, _DISCORDANT)
    ]

    rows = []
    first_number = 0
    for design in tqdm(designs, disable=not progress):
        pairs = "discordant" in design
        methods = [name for name, method in METHODS.items() if method.paired == pairs]
        for number, method in enumerate(methods, start=first_number):
            result = _cell(method, design, np.random.default_rng([SEED, number]))
            rows.append({"method": method, **design, **result, "number": number})

        if pairs:
            first_number += _NUMBERS_PER_DESIGN_OF_PAIRS
        else:
            first_number += _NUMBERS_PER_DESIGN_OF_GROUPS

    parameters = ["method", "n", "gamma", "rate", "bias", "discordant"]
    results = ["coverage", "error", "width", "width_error", "how", "number"]
    table = pd.DataFrame(rows)[[*parameters, *results]]
    return table.round(dict.fromkeys(["coverage", "error", "width", "width_error"], 6))


def _cell(method: str, design: dict, rng: np.random.Generator) -> dict:
    """Return the coverage of one method for one design of the grid."""
    if "discordant" in design:
        return paired(method, **design, rng=rng)

    n_a = round(design["n"] * design["gamma"])
    n_b = design["n"] - n_a
    rate_b = design["rate"]
    rate_a = rate_b + design["bias"]
    return independent(method, n_a, rate_a, n_b=n_b, rate_b=rate_b, rng=rng)


def _contains(low, high, truth: float) -> np.ndarray:
    """Return whether intervals contain the truth, but for rounding."""
    return (low <= truth + _ROUNDING) & (truth - _ROUNDING <= high)


def _summary(contains_truth, width, weight: np.ndarray) -> dict:
    """Return the weighted means over all tables that were enumerated."""
    # The weights add up to 1, but for tables beyond seven standard deviations.
    total = weight.sum()
    return {
        "coverage": float((weight * contains_truth).sum() / total),
        "error": 0.0,
        "width": float((weight * width).sum() / total),
        "width_error": 0.0,
        "how": "enumerated",
    }


def _mean_exact_width(
    tables: tuple, weight: np.ndarray, alpha: float, rng
) -> tuple[float, float]:
    """Return the mean width of the exact interval and its Monte-Carlo error."""
    x_a, n_a, x_b, n_b = tables
    counts_a, counts_b = (counts.ravel() for counts in np.broadcast_arrays(x_a, x_b))
    share = weight.ravel() / weight.sum()

    def widths_of(rows: np.ndarray) -> np.ndarray:
        widths = []
        for row in rows:
            table = (int(counts_a[row]), n_a, int(counts_b[row]), n_b)
            low, high = exact_unconditional(*table, alpha=alpha)
            widths.append(high - low)
        return np.array(widths)

    most_likely_first = np.argsort(-share, kind="stable")
    cumulated = np.cumsum(share[most_likely_first])
    number = 1 + int(np.searchsorted(cumulated, 1 - _SHARE_LEFT_OUT))
    if number <= MOST_TABLES:
        rows = most_likely_first[:number]
        return float(np.average(widths_of(rows), weights=share[rows])), 0.0

    # The width of Newcombe's interval is known for all tables. What the exact interval
    # adds to it varies much less than the width itself, and so needs fewer tables.
    low, high = newcombe(*tables, alpha=alpha)
    newcombe_width = (high - low).ravel()
    drawn = np.random.default_rng(rng).choice(share.size, size=TABLES_DRAWN, p=share)
    distinct, place = np.unique(drawn, return_inverse=True)
    added = (widths_of(distinct) - newcombe_width[distinct])[place]
    mean = float(share @ newcombe_width + added.mean())
    return mean, float(stats.sem(added))


def _exact_misses(tables: tuple, truth: float, alpha: float) -> np.ndarray:
    """Return whether each table's exact interval misses the truth, by testing it."""
    x_a, n_a, x_b, n_b = tables
    too_high = exact_rejections(n_a, n_b, truth, alpha)[x_a, x_b]
    too_low = exact_rejections(n_b, n_a, -truth, alpha).T[x_a, x_b]
    return too_high | too_low


def exact_rejections(
    n_a: int, n_b: int, difference: float, alpha: float, *, rates: int = 200
) -> np.ndarray:
    """Return for every table whether its exact lower limit is above a difference.

    For each of many pairs of rates with that difference, the function computes how
    probable the tables are that are as extreme. The largest of these probabilities for
    rates near the table's own rates decides. Unlike the interval itself, this function
    does not look between the pairs of rates.

    Parameters
    ----------
    n_a, n_b : int
        Number of examples of each group.
    difference : float
        The difference of rates that is tested, rate of A minus rate of B.
    alpha : float
        1 minus the confidence of the interval.
    rates : int, default 200
        Number of pairs of rates.

    Returns
    -------
    numpy.ndarray of bool
        Element [x_a, x_b] is about the table with these numbers of costs 1.
    """
    x_a = np.arange(n_a + 1)[:, None]
    x_b = np.arange(n_b + 1)[None, :]

    # A table is as extreme as another if Newcombe's lower limit is as high or higher.
    tables = (x_a, n_a, x_b, n_b)
    order = newcombe(*tables, alpha=alpha)[0].ravel()
    ranked = np.argsort(-order, kind="stable")
    last_as_extreme = np.searchsorted(-order[ranked], -order + TIE, side="right") - 1

    low_a, high_a = limits(x_a, n_a, APART * alpha / 4)
    low_b, high_b = limits(x_b, n_b, APART * alpha / 4)

    largest = np.zeros((n_a + 1, n_b + 1))
    shares = np.sin(np.linspace(0, np.pi / 2, rates)) ** 2
    for rate_b in shares * (1 - abs(difference)) + max(0.0, -difference):
        rate_a = min(max(rate_b + difference, 0.0), 1.0)
        weight = stats.binom.pmf(x_a, n_a, rate_a) * stats.binom.pmf(x_b, n_b, rate_b)
        cumulated = np.cumsum(weight.ravel()[ranked])
        probability = cumulated[last_as_extreme].reshape(largest.shape)

        near_a = (low_a <= rate_a) & (rate_a <= high_a)
        near_b = (low_b <= rate_b) & (rate_b <= high_b)
        larger = np.maximum(largest, probability)
        largest = np.where(near_a & near_b, larger, largest)

    return (largest <= (0.5 - APART) * alpha) & (x_a / n_a - x_b / n_b >= difference)


def _simulated(draw: Callable, truth: float, alpha: float, rng) -> dict:
    """Return coverage and width with their errors, from simulated experiments.

    The experiments come in random order, so that the examples need no shuffle.
    """
    generator = np.random.default_rng(rng)

    contains_truth = []
    width = None
    for start in range(0, EXPERIMENTS, _EXPERIMENTS_AT_A_TIME):
        experiments = min(_EXPERIMENTS_AT_A_TIME, EXPERIMENTS - start)
        shares = draw(generator, experiments)
        too_high = betting.rejects(shares, (1 + truth) / 2, alpha=alpha / 2)
        too_low = betting.rejects(1 - shares, (1 - truth) / 2, alpha=alpha / 2)
        contains_truth.append(~(too_high | too_low))

        if width is None:
            first = slice(_EXPERIMENTS_WITH_WIDTH)
            low = _lower_limits(shares[:, first], alpha / 2)
            above = _lower_limits(1 - shares[:, first], alpha / 2)
            width = 2 * (1 - above - low)

    coverage = float(np.concatenate(contains_truth).mean())
    return {
        "coverage": coverage,
        "error": float(np.sqrt(coverage * (1 - coverage) / EXPERIMENTS)),
        "width": float(width.mean()),
        "width_error": float(stats.sem(width)),
        "how": "simulated",
    }


def _lower_limits(values: np.ndarray, alpha: float) -> np.ndarray:
    """Return the lower limit of each experiment's mean, by betting."""
    zeros = np.zeros(values.shape[1])
    ones = np.ones(values.shape[1])

    def rejected(mean: np.ndarray) -> np.ndarray:
        return betting.rejects(values, mean, alpha=alpha)

    return bisection(rejected, zeros, ones, steps=14)


# --- Examples that a claim of five points needs ---


def five_points(*, progress: bool = False) -> pd.DataFrame:
    """Return how many examples, or pairs, a claim of five points needs.

    This is the table in `data/bundled/five_points`.

    Parameters
    ----------
    progress : bool, default False
        Whether to show a progress bar.

    Returns
    -------
    pandas.DataFrame
        One row per method, error rate (or share of discordant pairs) and power. A power
        of NaN asks for an interval without 0 when exactly .05 is observed. A power of
        .8 asks that a true difference of .05 is detected four times in five.
    """
    designs = [
        (method, {"error": error})
        for method in METHODS
        if not METHODS[method].paired
        for error in ERRORS
    ]
    designs += [
        (method, {"error": 0.3, "discordant": discordant})
        for method in METHODS
        if METHODS[method].paired
        for discordant in _DISCORDANT
    ]
    jobs = list(product(designs, (None, 0.8)))

    rows = []
    for (method, design), power in tqdm(jobs, disable=not progress):
        if power is None:
            n = observed_size(method, **design)
        else:
            n = sample_size(0.05, method=method, power=power, **design)
        rows.append({"method": method, **design, "power": power, "n": n})

    table = pd.DataFrame(rows)[["method", "error", "discordant", "power", "n"]]
    error = table["error"].where(table["discordant"].isna())
    return table.astype({"power": float}).assign(error=error)


def observed_size(
    method: str, *, error: float, discordant: float | None = None, bias: float = 0.05
) -> int:
    """Return how many examples exclude 0 when exactly this bias is observed.

    This is the question of Ethayarajh 2020, eq. 4, for any method. Where counts must be
    whole numbers, only sample sizes are tried for which all counts are whole. A method
    by betting excludes 0 if it does so in at least half of 1,000 shuffles.

    Parameters
    ----------
    method : str
        A name in `fairlib.bounds.METHODS`.
    error : float
        Observed error rate of the better group (of two groups of the same size).
    discordant : float, optional
        For pairs: observed share of pairs in which exactly one side goes wrong.
    bias : float, default 0.05
        Observed difference of the error rates.

    Returns
    -------
    int
        Number of examples of both groups together, or number of pairs.
    """
    counts_method = METHODS[method].counts
    whole = counts_method is None or method == "exact_unconditional"
    step = 1
    if whole:
        step = _size_of_whole_counts(_shares_of(method, error, discordant, bias))

    def excludes_zero(times: int) -> bool:
        table = _observed_table(
            method, times * step, error, discordant=discordant, bias=bias, whole=whole
        )
        if counts_method is None:
            return _mostly_excluded(table)
        counts = map(round, table) if whole else table
        low, _ = counts_method(*counts, alpha=0.05)
        return bool(low > 0)

    enough = max(50 // step, 1)
    too_few = enough - 1
    while not excludes_zero(enough):
        too_few = enough
        enough = 2 * enough

    between = range(too_few + 1, enough)
    return step * (too_few + 1 + bisect_left(between, True, key=excludes_zero))


def _shares_of(
    method: str, error: float, discordant: float | None, bias: float
) -> list[float]:
    """Return the shares of all examples that have to be whole numbers of examples."""
    if METHODS[method].paired:
        return [(discordant + bias) / 2, (discordant - bias) / 2]
    return [0.5, 0.5 * (error + bias), 0.5 * error]


def _size_of_whole_counts(shares: list[float]) -> int:
    """Return the smallest sample size of which all these shares are whole numbers."""
    fractions = [Fraction(share).limit_denominator(1000) for share in shares]
    return int(np.lcm.reduce([fraction.denominator for fraction in fractions]))


def _observed_table(
    method: str,
    n: int,
    error: float,
    *,
    discordant: float | None,
    bias: float,
    whole: bool,
) -> tuple:
    """Return the counts of n examples or pairs that show exactly the bias."""
    if METHODS[method].paired:
        only_a, only_b = _shares_of(method, error, discordant, bias)
        return only_a * n, only_b * n, n

    n_a = n // 2 if whole else n / 2
    n_b = n - n_a
    return (error + bias) * n_a, n_a, error * n_b, n_b


def _mostly_excluded(table: tuple, *, games: int = 1000) -> bool:
    """Return whether betting excludes 0 in at least half of the shuffles."""
    rng = np.random.default_rng(0)

    def shuffled(values: list[float], counts: list[float]) -> np.ndarray:
        column = np.repeat(values, [round(count) for count in counts])
        return rng.permuted(np.repeat(column[:, None], games, axis=1), axis=0)

    if len(table) == 3:
        only_a, only_b, n = table
        shares = shuffled([1.0, 0.0, 0.5], [only_a, only_b, n - only_a - only_b])
    else:
        x_a, n_a, x_b, n_b = table
        costs_a = shuffled([1.0, 0.0], [x_a, n_a - x_a])
        costs_b = shuffled([1.0, 0.0], [x_b, n_b - x_b])
        shares = (1 + costs_a - costs_b) / 2
    return bool(betting.rejects(shares, 0.5, alpha=0.025).mean() >= 0.5)
