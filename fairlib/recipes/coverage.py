"""The coverage laboratory: does an interval contain the truth as often as it says, and how wide is it?

Where the counts of 0-1 costs decide, every table that has any chance is looked at, so that the coverage is exact; where
the order of the examples does (betting), experiments are simulated and the Monte-Carlo error stands beside the result.
"""

from bisect import bisect_left
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
from fairlib.intervals.exact import APART, TIE
from fairlib.intervals.planning import (
    games_of_groups,
    games_of_pairs,
    likely,
    sample_size,
)
from fairlib.intervals.proportions import limits, newcombe

SEED = 20  # of the whole grid; experiment number i draws from default_rng([SEED, i])
NUMBERS = (
    13,
    4,
)  # per design of two groups, and of pairs; more than there are methods, so that these may change
SIZES = (50, 100, 500, 1000)
GAMMAS = (0.1, 0.3, 0.5)
RATES = (0.02, 0.05, 0.2, 0.475)  # error rate of the better group
BIASES = (0.0, 0.05)
ERRORS = (0.05, 0.2, 0.475)  # of the better group, in the table of examples needed
DISCORDANT = (0.06, 0.3, 0.9)  # share of pairs in which exactly one goes wrong
EXPERIMENTS = 10_000  # where the order matters
BATCH = 2000  # experiments at a time: bounds the memory
WIDTHS = 200  # experiments whose whole interval is computed


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
    """Return coverage, its Monte-Carlo error and the mean width for two independent groups of 0-1 costs."""
    if METHODS[method].counts is None:
        return _simulated(
            partial(games_of_groups, (n_a, n_b), (rate_a, rate_b)),
            rate_a - rate_b,
            alpha,
            rng,
        )
    (x_a, weight_a), (x_b, weight_b) = likely(n_a, rate_a), likely(n_b, rate_b)
    x_a, x_b, weight = x_a[:, None], x_b[None, :], np.outer(weight_a, weight_b)
    truth = rate_a - rate_b
    if method == "exact_unconditional":
        covered, width = _exact(x_a, n_a, x_b, n_b, truth, alpha)
    else:
        low, high = METHODS[method].counts(x_a, n_a, x_b, n_b, alpha=alpha)
        covered, width = _contains(low, high, truth), high - low
    return _summary(covered, width, weight)


def paired(
    method: str, n: int, bias: float, discordant: float, *, alpha: float = 0.05, rng=0
) -> dict:
    """Return the same for n pairs, in a share `discordant` of which exactly one side goes wrong."""
    if METHODS[method].counts is None:
        return _simulated(
            partial(games_of_pairs, n, (discordant + bias) / 2, discordant),
            bias,
            alpha,
            rng,
        )
    p_a, p_b = (discordant + bias) / 2, (discordant - bias) / 2
    (only_a, weight_a), (only_b, _) = likely(n, p_a), likely(n, p_b)
    only_a, only_b = only_a[:, None], only_b[None, :]
    weight = weight_a[:, None] * stats.binom.pmf(only_b, n - only_a, p_b / (1 - p_a))
    possible = np.minimum(
        only_b, n - only_a
    )  # what has no weight must be a table nevertheless
    low, high = METHODS[method].counts(only_a, possible, n, alpha=alpha)
    return _summary(_contains(low, high, bias), high - low, weight)


def grid(*, progress: bool = False) -> pd.DataFrame:
    """Return a row per method and truth: what `data/bundled/coverage` holds. Five minutes on one core."""
    designs = [
        {"n": n, "gamma": gamma, "rate": rate, "bias": bias}
        for n, gamma, rate, bias in product(SIZES, GAMMAS, RATES, BIASES)
    ] + [
        {"n": n, "bias": bias, "discordant": share}
        for n, bias, share in product(SIZES, BIASES, DISCORDANT)
    ]
    rows, number = [], 0
    for truth in tqdm(designs, disable=not progress):
        pairs = "discordant" in truth
        for place, method in enumerate(
            name for name, known in METHODS.items() if known.paired == pairs
        ):
            rng = np.random.default_rng([SEED, number + place])
            if pairs:
                result = paired(method, **truth, rng=rng)
            else:
                n_a, rate = round(truth["n"] * truth["gamma"]), truth["rate"]
                result = independent(
                    method, n_a, rate + truth["bias"], truth["n"] - n_a, rate, rng=rng
                )
            rows.append({"method": method, **truth, **result, "number": number + place})
        number += NUMBERS[pairs]
    columns = [
        "method",
        "n",
        "gamma",
        "rate",
        "bias",
        "discordant",
        "coverage",
        "error",
        "width",
        "how",
        "number",
    ]
    return pd.DataFrame(rows)[columns].round({"coverage": 6, "error": 6, "width": 6})


def _contains(low, high, truth) -> np.ndarray:
    return (low <= truth + 1e-12) & (truth - 1e-12 <= high)


def _summary(covered, width, weight) -> dict:
    total = (
        weight.sum()
    )  # 1, but for what lies farther out than seven standard deviations
    coverage, mean = (
        float((weight * covered).sum() / total),
        float((weight * width).sum() / total),
    )
    return {"coverage": coverage, "error": 0.0, "width": mean, "how": "enumerated"}


def _exact(x_a, n_a, x_b, n_b, truth, alpha) -> tuple[np.ndarray, float]:
    """Return whether each table's interval contains the truth, from one test of it, and one width, the middle's."""
    above = exact_rejections(n_a, n_b, truth, alpha)[x_a, x_b]
    below = exact_rejections(n_b, n_a, -truth, alpha).T[x_a, x_b]
    middle_a, middle_b = int(np.median(x_a)), int(np.median(x_b))
    low, high = METHODS["exact_unconditional"].counts(
        middle_a, n_a, middle_b, n_b, alpha=alpha
    )
    return ~(above | below), high - low


def exact_rejections(
    n_a: int, n_b: int, difference: float, alpha: float, *, rates: int = 200
) -> np.ndarray:
    """Return for every table, by enumeration of all, whether its exact limit is above a difference.

    For each of many pairs of rates with that difference: how probable are the tables as extreme? The largest of those
    near the table's own rates decides. Between the pairs that are looked at nothing is, unlike in the interval itself.
    """
    x_a, x_b = np.arange(n_a + 1)[:, None], np.arange(n_b + 1)[None, :]
    order = newcombe(x_a, n_a, x_b, n_b, alpha=alpha)[0].ravel()
    ranked = np.argsort(-order, kind="stable")
    ties = (
        np.searchsorted(-order[ranked], -order + TIE, side="right") - 1
    )  # the last that is as extreme
    (low_a, high_a), (low_b, high_b) = (
        limits(x, n, APART * alpha / 4) for x, n in ((x_a, n_a), (x_b, n_b))
    )
    largest = np.zeros((n_a + 1, n_b + 1))
    shares = np.sin(np.linspace(0, np.pi / 2, rates)) ** 2
    for rate_b in shares * (1 - abs(difference)) + max(0.0, -difference):
        rate_a = min(max(rate_b + difference, 0.0), 1.0)
        weight = stats.binom.pmf(x_a, n_a, rate_a) * stats.binom.pmf(x_b, n_b, rate_b)
        probability = np.cumsum(weight.ravel()[ranked])[ties].reshape(largest.shape)
        near = (
            (low_a <= rate_a)
            & (rate_a <= high_a)
            & (low_b <= rate_b)
            & (rate_b <= high_b)
        )
        largest = np.where(near, np.maximum(largest, probability), largest)
    return (largest <= (0.5 - APART) * alpha) & (x_a / n_a - x_b / n_b >= difference)


def _simulated(draw, truth: float, alpha: float, rng) -> dict:
    """Return the same from simulated experiments; their order is random already, so that nothing needs a shuffle."""
    rng = np.random.default_rng(rng)
    covered, width = [], None
    for start in range(0, EXPERIMENTS, BATCH):
        shares = draw(rng, min(BATCH, EXPERIMENTS - start))
        too_high = betting.rejects(shares, (1 + truth) / 2, alpha=alpha / 2)
        too_low = betting.rejects(1 - shares, (1 - truth) / 2, alpha=alpha / 2)
        covered.append(~(too_high | too_low))
        if width is None:
            low, above = (
                _lower_ends(values, alpha / 2)
                for values in (shares[:, :WIDTHS], 1 - shares[:, :WIDTHS])
            )
            width = 2 * (1 - above - low)
    coverage = float(np.concatenate(covered).mean())
    error = float(np.sqrt(coverage * (1 - coverage) / EXPERIMENTS))
    return {
        "coverage": coverage,
        "error": error,
        "width": float(width.mean()),
        "how": "simulated",
    }


def _lower_ends(values: np.ndarray, alpha: float) -> np.ndarray:
    zeros, ones = np.zeros(values.shape[1]), np.ones(values.shape[1])
    return bisection(
        lambda mean: betting.rejects(values, mean, alpha=alpha), zeros, ones, steps=14
    )


# --- Examples for five points -----------------------------------------------------------------------------------------


def five_points(*, progress: bool = False) -> pd.DataFrame:
    """Return how many examples (or pairs) a claim of five points needs, by every method: `data/bundled/five_points`.

    power is NaN for an observed difference of exactly .05, .8 for a true one that is to be found four times in five.
    """
    powers = (None, 0.8)
    jobs = [
        (method, {"error": error}, power)
        for method in METHODS
        for error in ERRORS
        for power in powers
    ]
    jobs = [job for job in jobs if not METHODS[job[0]].paired] + [
        (method, {"error": 0.3, "discordant": discordant}, power)
        for method in METHODS
        if METHODS[method].paired
        for discordant in DISCORDANT
        for power in powers
    ]
    rows = []
    for method, truth, power in tqdm(jobs, disable=not progress):
        n = (
            sample_size(0.05, method=method, power=power, **truth)
            if power
            else observed_size(method, **truth)
        )
        rows.append({"method": method, **truth, "power": power, "n": n})
    table = pd.DataFrame(rows)[["method", "error", "discordant", "power", "n"]].astype(
        {"power": float}
    )
    return table.assign(error=table["error"].where(table["discordant"].isna()))


def observed_size(
    method: str, *, error: float, discordant: float | None = None, bias: float = 0.05
) -> int:
    """Return how many examples (balanced groups) or pairs exclude 0 when exactly `bias` is observed.

    The question of Ethayarajh 2020, eq. 4, asked of every method. Only such numbers are tried, where counts must be
    whole, as make all of them whole. By betting, 0 is excluded in at least half of 1,000 shuffles.
    """
    shares = [0.5, 0.5 * (error + bias), 0.5 * error]
    if METHODS[method].paired:
        shares = [(discordant + bias) / 2, (discordant - bias) / 2]
    whole = METHODS[method].counts is None or method == "exact_unconditional"
    step = (
        int(
            np.lcm.reduce(
                [
                    Fraction(share).limit_denominator(1000).denominator
                    for share in shares
                ]
            )
        )
        if whole
        else 1
    )

    def excludes(times: int) -> bool:
        n = times * step
        n_a, n_b = (n // 2, n - n // 2) if whole else (n / 2, n / 2)
        table = (shares[0] * n, shares[1] * n, n)
        if not METHODS[method].paired:
            table = ((error + bias) * n_a, n_a, error * n_b, n_b)
        if METHODS[method].counts is None:
            return _mostly_excluded(table)
        return bool(
            METHODS[method].counts(
                *(map(round, table) if whole else table), alpha=0.05
            )[0]
            > 0
        )

    most = max(50 // step, 1)
    fewest = most - 1
    while not excludes(most):
        fewest, most = most, 2 * most
    tried = range(fewest + 1, most)
    return step * (fewest + 1 + bisect_left(tried, True, key=excludes))


def _mostly_excluded(table: tuple, *, games: int = 1000) -> bool:
    """Return whether betting excludes 0 in at least half of the orders in which these examples may come."""
    rng = np.random.default_rng(0)

    def shuffled(values: list[float], counts: list[float]) -> np.ndarray:
        column = np.repeat(values, [round(count) for count in counts])
        return rng.permuted(np.repeat(column[:, None], games, axis=1), axis=0)

    if len(table) == 3:
        only_a, only_b, n = table
        shares = shuffled([1.0, 0.0, 0.5], [only_a, only_b, n - only_a - only_b])
    else:
        x_a, n_a, x_b, n_b = table
        shares = (
            1
            + shuffled([1.0, 0.0], [x_a, n_a - x_a])
            - shuffled([1.0, 0.0], [x_b, n_b - x_b])
        ) / 2
    return bool(betting.rejects(shares, 0.5, alpha=0.025).mean() >= 0.5)
