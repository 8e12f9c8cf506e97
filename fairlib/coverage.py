"""The coverage laboratory: does an interval contain the truth as often as it says, and how wide is it?

Where the counts of 0-1 costs decide, every table that has any chance is looked at, so that the coverage is exact; where
the order of the examples does (betting), experiments are simulated and the Monte-Carlo error stands beside the result.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
from scipy import stats
from tqdm import tqdm

from fairlib import betting, moments
from fairlib.bounds import METHODS
from fairlib.planning import sample_size
from fairlib.power import exact_level, likely

SEED = 20  # of the whole grid; experiment number i draws from default_rng([SEED, i])
SIZES = (50, 100, 500, 1000)
GAMMAS = (0.1, 0.3, 0.5)
RATES = (0.02, 0.05, 0.2, 0.475)  # error rate of the better group
BIASES = (0.0, 0.05)
ERRORS = (0.05, 0.2, 0.475)  # of the better group, in the table of examples needed
DISCORDANT = (0.06, 0.3, 0.9)  # share of pairs in which exactly one goes wrong
EXPERIMENTS = {"betting": 10_000, "betting_pairs": 10_000, "betting_per_group": 1000}
BATCH = 2000  # experiments at a time: bounds the memory
WIDTHS = 200  # experiments whose whole interval is computed


def independent(method: str, n_a: int, rate_a: float, n_b: int, rate_b: float, *, alpha: float = 0.05, rng=0) -> dict:
    """Return coverage, its Monte-Carlo error and the mean width for two independent groups of 0-1 costs."""
    if METHODS[method].counts is None:
        return _simulated(method, (n_a, rate_a, n_b, rate_b), alpha, rng)
    (x_a, weight_a), (x_b, weight_b) = likely(n_a, rate_a), likely(n_b, rate_b)
    x_a, x_b, weight = x_a[:, None], x_b[None, :], np.outer(weight_a, weight_b)
    truth = rate_a - rate_b
    if method == "exact_unconditional":
        covered, width = _exact(x_a, n_a, x_b, n_b, truth, alpha)
    elif method == "bentkus":
        covered, width = _bentkus(x_a / n_a - x_b / n_b, 2 * min(n_a, n_b), truth, alpha)
    else:
        low, high = METHODS[method].counts(x_a, n_a, x_b, n_b, alpha=alpha)
        covered, width = _contains(low, high, truth), high - low
    return _summary(covered, width, weight)


def paired(method: str, n: int, bias: float, discordant: float, *, alpha: float = 0.05, rng=0) -> dict:
    """Return the same for n pairs, in a share `discordant` of which exactly one side goes wrong."""
    if METHODS[method].counts is None:
        return _simulated(method, (n, bias, discordant), alpha, rng)
    p_a, p_b = (discordant + bias) / 2, (discordant - bias) / 2
    (only_a, weight_a), (only_b, _) = likely(n, p_a), likely(n, p_b)
    only_a, only_b = only_a[:, None], only_b[None, :]
    weight = weight_a[:, None] * stats.binom.pmf(only_b, n - only_a, p_b / (1 - p_a))
    possible = np.minimum(only_b, n - only_a)  # what has no weight must be a table nevertheless
    low, high = METHODS[method].counts(only_a, possible, n, alpha=alpha)
    return _summary(_contains(low, high, bias), high - low, weight)


def grid(*, progress: bool = False) -> pd.DataFrame:
    """Return a row per method and truth: what `data/bundled/coverage` holds. Five minutes on one core."""
    two_groups = product(SIZES, GAMMAS, RATES, BIASES)
    jobs = [
        (method, {"n": n, "gamma": gamma, "rate": rate, "bias": bias})
        for n, gamma, rate, bias in two_groups
        for method in METHODS
        if not METHODS[method].paired
    ]
    jobs += [
        (method, {"n": n, "bias": bias, "discordant": discordant})
        for n, bias, discordant in product(SIZES, BIASES, DISCORDANT)
        for method in METHODS
        if METHODS[method].paired
    ]
    rows = []
    for number, (method, truth) in enumerate(tqdm(jobs, disable=not progress)):
        rng = np.random.default_rng([SEED, number])
        if METHODS[method].paired:
            result = paired(method, truth["n"], truth["bias"], truth["discordant"], rng=rng)
        else:
            n_a = round(truth["n"] * truth["gamma"])
            rate = truth["rate"]
            result = independent(method, n_a, rate + truth["bias"], truth["n"] - n_a, rate, rng=rng)
        rows.append({"method": method, **truth, **result, "number": number})
    columns = ["method", "n", "gamma", "rate", "bias", "discordant", "coverage", "error", "width", "how", "number"]
    return pd.DataFrame(rows)[columns].round({"coverage": 6, "error": 6, "width": 6})


def _contains(low, high, truth) -> np.ndarray:
    return (low <= truth + 1e-12) & (truth - 1e-12 <= high)


def _summary(covered, width, weight) -> dict:
    total = weight.sum()  # 1, but for what lies farther out than seven standard deviations
    coverage, mean = float((weight * covered).sum() / total), float((weight * width).sum() / total)
    return {"coverage": coverage, "error": 0.0, "width": mean, "how": "enumerated"}


def _exact(x_a, n_a, x_b, n_b, truth, alpha) -> tuple[np.ndarray, float]:
    """Return whether each table's interval contains the truth, from one pass over all, and one width, the middle's."""
    order, level = exact_level(n_a, n_b, alpha, truth)
    mirrored, mirrored_level = exact_level(n_b, n_a, alpha, -truth)
    covered = (order[x_a, x_b] < level) & (mirrored[x_b, x_a] < mirrored_level)
    middle_a, middle_b = int(np.median(x_a)), int(np.median(x_b))
    low, high = METHODS["exact_unconditional"].counts(middle_a, n_a, middle_b, n_b, alpha=alpha)
    return covered, high - low


def _bentkus(difference, draws, truth, alpha) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each interval contains the truth, by bisection in the difference, and interpolated widths."""
    values = np.unique(difference)

    def too_large(values: np.ndarray, truth: float) -> np.ndarray:
        first, last = -1, len(values)
        while last - first > 1:
            middle = (first + last) // 2
            enough = moments.bentkus_tail(values[middle], truth, draws) <= alpha / 2
            first, last = (first, middle) if enough else (middle, last)
        return values[last] if last < len(values) else np.inf

    covered = (difference < too_large(values, truth)) & (-difference < too_large(-values[::-1], -truth))
    points = np.linspace(values[0], values[-1], 41)
    group = moments.Moments(draws // 2, points, 0.0)
    low, high = moments.bentkus(group, moments.Moments(draws // 2, 0.0, 0.0), alpha=alpha)
    return covered, np.interp(difference, points, np.minimum(high, 1) - np.maximum(low, -1))


def _simulated(method: str, setting: tuple, alpha: float, rng) -> dict:
    """Return the same from simulated experiments; their order is random already, so that nothing needs a shuffle."""
    rng = np.random.default_rng(rng)
    covered, widths, experiments = [], [], EXPERIMENTS[method]
    for start in range(0, experiments, BATCH):
        batch = min(BATCH, experiments - start)
        if method == "betting_per_group":
            n_a, rate_a, n_b, rate_b = setting
            groups = (rng.random((n_a, batch)) < rate_a), (rng.random((n_b, batch)) < rate_b)
            (low_a, high_a), (low_b, high_b) = (betting.mean_intervals(costs, alpha=alpha / 4) for costs in groups)
            covered.append(_contains(low_a - high_b, high_a - low_b, rate_a - rate_b))
            widths.append(high_a - low_b - low_a + high_b)
            continue
        shares, truth = _pairs(rng, batch, *setting) if len(setting) == 3 else _blocks(rng, batch, *setting)
        too_high = betting.rejects(shares, (1 + truth) / 2, alpha=alpha / 2)
        too_low = betting.rejects(1 - shares, (1 - truth) / 2, alpha=alpha / 2)
        covered.append(~(too_high | too_low))
        if start == 0:
            low, high = betting.mean_intervals(shares[:, :WIDTHS], alpha=alpha / 2)
            widths.append(2 * (high - low))
    coverage = float(np.concatenate(covered).mean())
    error = float(np.sqrt(coverage * (1 - coverage) / experiments))
    return {"coverage": coverage, "error": error, "width": float(np.concatenate(widths).mean()), "how": "simulated"}


def _blocks(rng, batch, n_a, rate_a, n_b, rate_b) -> tuple[np.ndarray, float]:
    costs = ((rng.random((n, batch)) < rate).astype(float) for n, rate in ((n_a, rate_a), (n_b, rate_b)))
    mean_a, mean_b = (betting.block_means(cost, min(n_a, n_b)) for cost in costs)
    return (1 + mean_a - mean_b) / 2, rate_a - rate_b


def _pairs(rng, batch, n, bias, discordant) -> tuple[np.ndarray, float]:
    outcome = rng.random((n, batch))
    return np.select([outcome < (discordant + bias) / 2, outcome < discordant], [1.0, 0.0], 0.5), bias


def five_points(*, progress: bool = False) -> pd.DataFrame:
    """Return how many examples (or pairs) a claim of five points needs, by every method: `data/bundled/five_points`.

    power is NaN for an observed difference of exactly .05, .8 for a true one that is to be found four times in five.
    """
    powers = (None, 0.8)
    jobs = [(method, {"error": error}, power) for method in METHODS for error in ERRORS for power in powers]
    jobs = [job for job in jobs if not METHODS[job[0]].paired] + [
        (method, {"error": 0.3, "discordant": discordant}, power)
        for method in METHODS
        if METHODS[method].paired
        for discordant in DISCORDANT
        for power in powers
    ]
    rows = []
    for method, truth, power in tqdm(jobs, disable=not progress):
        n = sample_size(0.05, method=method, power=power, **truth)
        rows.append({"method": method, **truth, "power": power, "n": n})
    table = pd.DataFrame(rows)[["method", "error", "discordant", "power", "n"]].astype({"power": float})
    return table.assign(error=table["error"].where(table["discordant"].isna()))
