"""Whether one answer for one data set keeps its promise.

`python benchmarks/one_answer.py` writes one_answer.md, in minutes.

Enumerated: all samples of small groups with few values, and their exact probabilities.
Simulated: with standard errors.
"""

import itertools
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import stats

from fairlib import disparity_interval
from fairlib.data import write_whole
from fairlib.intervals import betting, gaps, planning
from fairlib.intervals.disparity import METHODS
from fairlib.recipes.coverage import exact_rejections

RESULT = Path(__file__).with_name("one_answer.md")
SMALL = [
    ((0, 1), 15, 15),
    ((0, 1), 30, 33),
    ((0, 1), 8, 40),
    ((0, 0.5, 1), 8, 8),
    ((0, 0.5, 1), 5, 15),
    ((0, 0.25, 1), 9, 9),
]
COSTS = {
    "beta(2, 8)": lambda rng, shape: rng.beta(2, 8, shape),
    "beta(.05, 1)": lambda rng, shape: rng.beta(0.05, 1, shape),
    "0, .5, 1": lambda rng, shape: rng.choice([0, 0.5, 1], shape, p=[0.7, 0.2, 0.1]),
    "rarely .5 or 1": lambda rng, shape: rng.choice(
        [0, 0.5, 1], shape, p=[0.97, 0.02, 0.01]
    ),
}
SIZES = [(20, 20), (10, 90), (100, 100), (50, 450), (250, 250)]
EXPERIMENTS = 1000
BATCH = 50  # experiments at a time
SKEWED_EXPERIMENTS = 4000
# bias, error, gamma
DESIGNS = [
    (0.1, 0.1, 0.5),
    (0.1, 0.2, 0.5),
    (0.2, 0.02, 0.3),
    (0.3, 0.3, 0.5),
    (0.1, 0.05, 0.3),
]
FEW = [(30, 30), (33, 33), (30, 100), (30, 500), (100, 100), (100, 1000)]
CLOSED = (
    "welch",
    "welch, undefined where skewed",
    "bernstein_sample",
    "newcombe",
    "miettinen_nurminen",
)
SKEWED = {
    "exponential": lambda rng, shape: np.minimum(rng.exponential(0.1, shape), 1),
    "lognormal": lambda rng, shape: np.minimum(rng.lognormal(-4, 1.5, shape), 1),
    "beta(.05, 1)": COSTS["beta(.05, 1)"],
    "rarely .5 or 1": COSTS["rarely .5 or 1"],
}


def samples(values: tuple, n: int) -> np.ndarray:
    """Return how often each value occurs: one row for each possible sample of n."""
    others = itertools.product(range(n + 1), repeat=len(values) - 1)
    counts = np.array([row for row in others if sum(row) <= n])
    return np.column_stack([n - counts.sum(axis=1), counts])


def distributions(number: int) -> np.ndarray:
    """Return a grid of distributions over this number of values, a row for each."""
    steps = np.linspace(0.02, 0.98, 25 if number == 2 else 9)
    others = itertools.product(steps, repeat=number - 1)
    shares = np.array([row for row in others if sum(row) < 1])
    return np.column_stack([1 - shares.sum(axis=1), shares])


def enumerated(values: tuple, n_a: int, n_b: int) -> dict:
    """Return the coverage of betting without a seed: the lowest and the mean.

    These are over a grid of pairs of distributions.
    """
    samples_a = samples(values, n_a)
    samples_b = samples(values, n_b)
    costs = np.array(values, dtype=float)
    low, high = middle_ends(costs, samples_a, samples_b)

    shares = distributions(len(values))
    chances_a = [stats.multinomial.pmf(samples_a, n_a, row) for row in shares]
    chances_b = [stats.multinomial.pmf(samples_b, n_b, row) for row in shares]
    means = shares @ costs
    coverage = []
    for mean_a, chance_a in zip(means, chances_a, strict=True):
        for mean_b, chance_b in zip(means, chances_b, strict=True):
            truth = mean_a - mean_b
            is_covered = (low <= truth + 1e-9) & (truth - 1e-9 <= high)
            coverage.append(chance_a @ is_covered @ chance_b)

    return {
        "values": values,
        "n_a": n_a,
        "n_b": n_b,
        "lowest": min(coverage),
        "mean": np.mean(coverage),
    }


def middle_ends(
    costs: np.ndarray, samples_a: np.ndarray, samples_b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the default's ends for every pair of samples: medians over shuffles."""
    costs_b = [np.repeat(costs, counts) for counts in samples_b]
    low = []
    high = []
    for counts in samples_a:
        costs_a = np.repeat(costs, counts)
        games = (game for b in costs_b for game in shuffled(costs_a, b))
        ends_low, ends_high = betting.ends(games, alpha=0.025)
        low.append(2 * np.median(ends_low.reshape(len(costs_b), -1), axis=1) - 1)
        high.append(2 * np.median(ends_high.reshape(len(costs_b), -1), axis=1) - 1)
    return np.array(low), np.array(high)


def shuffled(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    """Return the games of which the default is the middle."""
    fixed = np.random.default_rng(0)
    return [betting.matched_blocks(a, b, rng=fixed) for _ in range(betting.SHUFFLES)]


def simulated(name: str, n_a: int, n_b: int, rng: np.random.Generator) -> dict:
    """Return coverage and width of the middle of many shuffles, beside those of one."""
    draw = COSTS[name]
    not_missed: list[float] = []  # by one shuffle: the share of all shuffles
    not_missed_by_middle: list[bool] = []
    for number in range(0, EXPERIMENTS, BATCH):
        games = []
        for _ in range(BATCH):
            a = np.sort(draw(rng, n_a))
            b = np.sort(draw(rng, n_b))
            games += shuffled(a, b)
        shares = np.stack(games, axis=1)

        missed_above = betting.rejects(shares, 0.5, alpha=0.025)
        missed_below = betting.rejects(1 - shares, 0.5, alpha=0.025)
        missed = (missed_above | missed_below).reshape(BATCH, -1).mean(axis=1)
        not_missed.extend(1 - missed)
        not_missed_by_middle.extend(missed <= 0.5)

        if number == 0:
            low, high = (
                end.reshape(BATCH, -1) for end in betting.ends(shares.T, alpha=0.025)
            )
            widths = 2 * (high - low)
            widths_of_middle = 2 * (np.median(high, axis=1) - np.median(low, axis=1))

    coverage = np.mean(not_missed_by_middle)
    return {
        "costs": name,
        "n_a": n_a,
        "n_b": n_b,
        "coverage": coverage,
        "error": standard_error(coverage, EXPERIMENTS),
        "one shuffle": np.mean(not_missed),
        "width": np.mean(widths_of_middle),
        "width of one": np.mean(widths),
    }


def standard_error(share: float, experiments: int) -> float:
    """Return the standard error of a share; not 0 where the share is 0 or 1."""
    variance = max(share * (1 - share), 1 / experiments)
    return np.sqrt(variance / experiments)


def delivered(bias: float, error: float, gamma: float) -> dict:
    """Return the power of the default interval at the size that is planned for 80 %.

    The power is enumerated.
    """
    n = planning.sample_size(bias, error=error, gamma=gamma)
    n_a = round(gamma * n)
    n_b = n - n_a
    chance_a = stats.binom.pmf(np.arange(n_a + 1), n_a, error + bias)
    chance_b = stats.binom.pmf(np.arange(n_b + 1), n_b, error)
    power = chance_a @ exact_rejections(n_a, n_b, 0.0, 0.05) @ chance_b
    return {"bias": bias, "error": error, "gamma": gamma, "n": n, "delivered": power}


def lowest(name: str, n_a: int, n_b: int) -> dict:
    """Return the lowest coverage, enumerated, and where it is.

    Over error rates that are multiples of 1/200, and their differences. An undefined
    interval misses nothing, because it claims nothing.
    """
    low, high = ends_of_all_tables(name, n_a, n_b)
    undefined = np.zeros(low.shape, dtype=bool)
    if "undefined" in name:
        undefined |= is_skewed(n_a)[:, None] | is_skewed(n_b)

    rates = np.arange(1, 200) / 200
    chances_a = stats.binom.pmf(np.arange(n_a + 1)[:, None], n_a, rates)
    chances_b = stats.binom.pmf(np.arange(n_b + 1)[:, None], n_b, rates)
    worst = (2.0, 0.0, 0.0)
    for step in range(-190, 191, 2):
        difference = step / 200
        truth = abs(difference) if name == "gaps.interval" else difference
        holds = undefined | ((low <= truth + 1e-12) & (truth - 1e-12 <= high))

        up = max(step, 0)
        down = max(-step, 0)
        chance_a = chances_a[:, up : 199 - down]
        chance_b = chances_b[:, down : 199 - up]
        coverage = np.einsum("ir,ir->r", chance_a, holds @ chance_b)
        rate_b = rates[down + coverage.argmin()]
        worst = min(worst, (coverage.min(), difference, rate_b))

    coverage, difference, rate_b = worst
    return {
        "interval": name,
        "n_a": n_a,
        "n_b": n_b,
        "lowest": coverage,
        "difference": difference,
        "rate of B": rate_b,
    }


def ends_of_all_tables(name: str, n_a: int, n_b: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of an interval for every pair of counts of errors."""
    x_a = np.arange(n_a + 1)
    x_b = np.arange(n_b + 1)
    if name != "gaps.interval":
        method = METHODS[name.split(",")[0]]
        tables = (x_a[:, None], n_a, x_b[None, :], n_b)
        return method.counts(*tables, alpha=0.05)

    intervals = [gaps.interval([i, j], [n_a, n_b]) for i in x_a for j in x_b]
    low = np.array([interval.low for interval in intervals])
    high = np.array([interval.high for interval in intervals])
    return low.reshape(n_a + 1, n_b + 1), high.reshape(n_a + 1, n_b + 1)


def is_skewed(n: int) -> np.ndarray:
    """Return, for each count of errors among n, whether Welch's is undefined."""
    half_wrong = np.repeat([0.0, 1.0], 50)
    undefined = []
    for errors in range(n + 1):
        cost = np.arange(n) < errors
        interval = disparity_interval(cost, half_wrong, method="welch")
        undefined.append(np.isnan(interval.low))
    return np.array(undefined)


def skewed(name: str, n_a: int, n_b: int, rng: np.random.Generator) -> dict:
    """Return how often Welch's interval holds "no difference", or is undefined."""
    draw = SKEWED[name]
    intervals = []
    for _ in range(SKEWED_EXPERIMENTS):
        a = draw(rng, n_a)
        b = draw(rng, n_b)
        intervals.append(disparity_interval(a, b, method="welch"))

    coverage = 1 - np.mean([interval.excludes(0) for interval in intervals])
    return {
        "costs": name,
        "n_a": n_a,
        "n_b": n_b,
        "not missed": coverage,
        "error": standard_error(coverage, SKEWED_EXPERIMENTS),
        "undefined": np.mean([np.isnan(interval.low) for interval in intervals]),
    }


def timed() -> list[dict]:
    """Return how long the default takes."""
    rng = np.random.default_rng(0)
    rows = []
    for n in (10_000, 1_000_000):
        for kind, costs in (
            ("0 or 1", rng.random(n) < 0.2),
            ("in between", rng.random(n)),
        ):
            a = costs[: n // 2]
            b = costs[n // 2 :]
            taken = seconds(disparity_interval, a, b)
            rows.append({"costs": kind, "n": f"{n:,}", "seconds": taken})

    exact = METHODS["exact_unconditional"].counts
    for n_a, n_b in ((1, 10**6), (10**9, 10**9)):
        counts = (n_a // 2, n_a, n_b // 5, n_b)
        taken = seconds(exact, *counts, alpha=0.05)
        sizes = f"{n_a:,} against {n_b:,}"
        rows.append({"costs": "0 or 1", "n": sizes, "seconds": taken})
    return rows


def seconds(call: Callable, *arguments, **options) -> float:
    """Return how much time of the processor a call takes."""
    started = time.process_time()
    call(*arguments, **options)
    return time.process_time() - started


def table(rows: list[dict]) -> str:
    """Return rows as a table in Markdown."""
    lines = [list(rows[0]), ["---"] * len(rows[0])]
    for row in rows:
        cells = [
            f"{value:.4f}" if isinstance(value, float) else str(value)
            for value in row.values()
        ]
        lines.append(cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def few_examples() -> list[str]:
    """Return what intervals cover from 30 examples a group on."""
    rows = [lowest(name, *sizes) for name in CLOSED for sizes in FEW]
    rows += [lowest("gaps.interval", *sizes) for sizes in FEW if max(sizes) <= 100]

    rng = np.random.default_rng(6)
    of_skewed = [
        skewed(name, *sizes, rng)
        for name in SKEWED
        for sizes in ((30, 30), (30, 500), (100, 1000))
    ]
    return [
        "## Few examples of 0-1 costs: the lowest coverage, enumerated, and where "
        "(rates are multiples of 1/200)",
        table(rows),
        "## Welch's interval for few examples of skewed costs: "
        f"{SKEWED_EXPERIMENTS:,} experiments without a difference",
        table(of_skewed),
    ]


def main() -> None:
    """Write the result."""
    rng = np.random.default_rng(5)
    of_simulated = [simulated(name, *sizes, rng) for sizes in SIZES for name in COSTS]
    parts = [
        "# One answer for one data set: does it keep its word?",
        "95 % intervals. `python benchmarks/one_answer.py` writes this file.",
        "## Betting without a seed, enumerated: "
        "groups with few values, sorted or counted",
        table([enumerated(*design) for design in SMALL]),
        f"## The same, simulated: no difference; {EXPERIMENTS:,} experiments; "
        f"widths from {BATCH}",
        table(of_simulated),
        "## Planned for 80 % power with the exact interval: "
        "what is delivered, enumerated",
        table([delivered(*design) for design in DESIGNS]),
        *few_examples(),
        "## How long the default takes, in seconds of one processor",
        table(timed()),
    ]

    text = "\n\n".join(parts) + "\n"
    write_whole(RESULT, lambda path: path.write_text(text, encoding="utf-8"))


if __name__ == "__main__":
    main()
