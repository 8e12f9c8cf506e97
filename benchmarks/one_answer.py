"""Does one answer for one data set keep its word? `python benchmarks/one_answer.py` writes one_answer.md, in minutes.

Enumerated: all samples of small groups with few values, and their exact probabilities. Simulated: with standard errors.
"""

import itertools
import time
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
EXPERIMENTS, BATCH = 1000, 50
DESIGNS = [
    (0.1, 0.1, 0.5),
    (0.1, 0.2, 0.5),
    (0.2, 0.02, 0.3),
    (0.3, 0.3, 0.5),
    (0.1, 0.05, 0.3),
]  # bias, error, gamma
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
    **{name: COSTS[name] for name in ("beta(.05, 1)", "rarely .5 or 1")},
}


def samples(values: tuple, n: int) -> np.ndarray:
    """Return how often each value occurs, a row per sample that there can be."""
    counts = np.array(
        [
            c
            for c in itertools.product(range(n + 1), repeat=len(values) - 1)
            if sum(c) <= n
        ]
    )
    return np.column_stack([n - counts.sum(axis=1), counts])


def enumerated(values: tuple, n_a: int, n_b: int) -> dict:
    """Return the lowest and the mean coverage of betting without a seed, over a grid of pairs of distributions."""
    of_a, of_b = samples(values, n_a), samples(values, n_b)
    costs = np.array(values, dtype=float)
    of_b_sorted = [np.repeat(costs, b) for b in of_b]
    low, high = [], []
    for a in of_a:
        ends = betting.ends(
            (game for b in of_b_sorted for game in shuffled(np.repeat(costs, a), b)),
            alpha=0.025,
        )
        for side, found in zip((low, high), ends, strict=True):
            side.append(2 * np.median(found.reshape(len(of_b), -1), axis=1) - 1)
    low, high = np.array(low), np.array(high)
    steps = np.linspace(0.02, 0.98, 25 if len(values) == 2 else 9)
    shares = np.array(
        [p for p in itertools.product(steps, repeat=len(values) - 1) if sum(p) < 1]
    )
    shares = np.column_stack([1 - shares.sum(axis=1), shares])
    chance_a, chance_b = (
        [stats.multinomial.pmf(of, n, p) for p in shares]
        for of, n in ((of_a, n_a), (of_b, n_b))
    )
    means, coverage = shares @ costs, []
    for mean_a, a in zip(means, chance_a, strict=True):
        for mean_b, b in zip(means, chance_b, strict=True):
            truth = mean_a - mean_b
            coverage.append(a @ ((low <= truth + 1e-9) & (truth - 1e-9 <= high)) @ b)
    return {
        "values": values,
        "n_a": n_a,
        "n_b": n_b,
        "lowest": min(coverage),
        "mean": np.mean(coverage),
    }


def shuffled(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    """Return the games of which the default is the middle."""
    fixed = np.random.default_rng(0)
    return [betting.matched_blocks(a, b, rng=fixed) for _ in range(betting.SHUFFLES)]


def simulated(name: str, n_a: int, n_b: int, rng: np.random.Generator) -> dict:
    """Return coverage and width of the middle of many shuffles, beside those of one."""
    draw = COSTS[name]
    covered, width = (
        {"one shuffle": [], "default": []},
        {"one shuffle": [], "default": []},
    )
    for number in range(0, EXPERIMENTS, BATCH):
        pairs = [
            (np.sort(draw(rng, n_a)), np.sort(draw(rng, n_b))) for _ in range(BATCH)
        ]
        shares = np.stack([game for pair in pairs for game in shuffled(*pair)], axis=1)
        missed = betting.rejects(shares, 0.5, alpha=0.025) | betting.rejects(
            1 - shares, 0.5, alpha=0.025
        )
        missed = missed.reshape(BATCH, -1).mean(axis=1)
        covered["one shuffle"].extend(1 - missed)
        covered["default"].extend(missed <= 0.5)
        if number == 0:
            low, high = (
                end.reshape(BATCH, -1) for end in betting.ends(shares.T, alpha=0.025)
            )
            width["one shuffle"] = 2 * (high - low)
            width["default"] = 2 * (np.median(high, axis=1) - np.median(low, axis=1))
    coverage = np.mean(covered["default"])
    row = {"costs": name, "n_a": n_a, "n_b": n_b, "coverage": coverage}
    row |= {
        "error": np.sqrt(max(coverage * (1 - coverage), 1 / EXPERIMENTS) / EXPERIMENTS)
    }
    row |= {
        "one shuffle": np.mean(covered["one shuffle"]),
        "width": np.mean(width["default"]),
    }
    return row | {"width of one": np.mean(width["one shuffle"])}


def delivered(bias: float, error: float, gamma: float) -> dict:
    """Return the power, enumerated, of the default interval at the size that is planned for 80 %."""
    n = planning.sample_size(bias, error=error, gamma=gamma)
    n_a = round(gamma * n)
    of_a, of_b = (
        stats.binom.pmf(np.arange(m + 1), m, p)
        for m, p in ((n_a, error + bias), (n - n_a, error))
    )
    power = of_a @ exact_rejections(n_a, n - n_a, 0.0, 0.05) @ of_b
    return {"bias": bias, "error": error, "gamma": gamma, "n": n, "delivered": power}


def lowest(name: str, n_a: int, n_b: int) -> dict:
    """Return the lowest coverage, enumerated, over error rates that are multiples of 1/200 and their differences.

    An undefined interval misses nothing: it claims nothing.
    """
    x_a, x_b = np.arange(n_a + 1)[:, None], np.arange(n_b + 1)[None, :]
    if name == "gaps.interval":
        found = [gaps.interval([i, j], [n_a, n_b]) for i in x_a[:, 0] for j in x_b[0]]
        low, high = np.array([(gap.low, gap.high) for gap in found]).T.reshape(
            2, n_a + 1, n_b + 1
        )
    else:
        low, high = METHODS[name.split(",")[0]].counts(x_a, n_a, x_b, n_b, alpha=0.05)
    undefined = np.zeros(low.shape, dtype=bool)
    if "undefined" in name:
        undefined |= is_skewed(n_a)[:, None] | is_skewed(n_b)
    rates = np.arange(1, 200) / 200
    of_a, of_b = (
        stats.binom.pmf(np.arange(n + 1)[:, None], n, rates) for n in (n_a, n_b)
    )
    worst = (2.0, 0.0, 0.0)
    for step in range(-190, 191, 2):
        truth = abs(step / 200) if name == "gaps.interval" else step / 200
        holds = undefined | ((low <= truth + 1e-12) & (truth - 1e-12 <= high))
        up, down = max(step, 0), max(-step, 0)
        rate_a, rate_b = of_a[:, up : 199 - down], of_b[:, down : 199 - up]
        coverage = np.einsum("ir,ir->r", rate_a, holds @ rate_b)
        worst = min(
            worst, (coverage.min(), step / 200, rates[down + coverage.argmin()])
        )
    return {"interval": name, "n_a": n_a, "n_b": n_b} | dict(
        zip(("lowest", "difference", "rate of B"), worst, strict=True)
    )


def is_skewed(n: int) -> np.ndarray:
    """Return for every count of errors among n whether Welch's interval is undefined with it."""
    other = np.repeat([0.0, 1.0], 50)
    found = [
        disparity_interval(np.arange(n) < x, other, method="welch")
        for x in range(n + 1)
    ]
    return np.array([np.isnan(interval.low) for interval in found])


def skewed(
    name: str, n_a: int, n_b: int, rng: np.random.Generator, *, experiments: int = 4000
) -> dict:
    """Return how often Welch's interval holds "no difference", or is undefined, for costs in between."""
    draw = SKEWED[name]
    found = [
        disparity_interval(draw(rng, n_a), draw(rng, n_b), method="welch")
        for _ in range(experiments)
    ]
    coverage = 1 - np.mean([interval.excludes(0) for interval in found])
    row = {"costs": name, "n_a": n_a, "n_b": n_b, "not missed": coverage}
    row |= {
        "error": np.sqrt(max(coverage * (1 - coverage), 1 / experiments) / experiments)
    }
    return row | {"undefined": np.mean([np.isnan(interval.low) for interval in found])}


def timed() -> list[dict]:
    """Return how long the default takes."""
    rng, rows = np.random.default_rng(0), []
    for n in (10_000, 1_000_000):
        for kind, costs in (
            ("0 or 1", rng.random(n) < 0.2),
            ("in between", rng.random(n)),
        ):
            started = time.process_time()
            disparity_interval(costs[: n // 2], costs[n // 2 :])
            rows.append(
                {"costs": kind, "n": f"{n:,}", "seconds": time.process_time() - started}
            )
    for n_a, n_b in ((1, 10**6), (10**9, 10**9)):
        started = time.process_time()
        METHODS["exact_unconditional"].counts(n_a // 2, n_a, n_b // 5, n_b, alpha=0.05)
        rows.append(
            {
                "costs": "0 or 1",
                "n": f"{n_a:,} against {n_b:,}",
                "seconds": time.process_time() - started,
            }
        )
    return rows


def table(rows: list[dict]) -> str:
    """Return rows as a table in Markdown."""
    shown = [
        [
            f"{value:.4f}" if isinstance(value, float) else str(value)
            for value in row.values()
        ]
        for row in rows
    ]
    lines = [list(rows[0]), ["---"] * len(rows[0]), *shown]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def few_examples() -> list[str]:
    """Return what intervals cover from 30 examples a group on."""
    rng = np.random.default_rng(6)
    rows = [lowest(name, *sizes) for name in CLOSED for sizes in FEW]
    rows += [lowest("gaps.interval", *sizes) for sizes in FEW if max(sizes) <= 100]
    return [
        "## Few examples of 0-1 costs: the lowest coverage, enumerated, and where (rates are multiples of 1/200)",
        table(rows),
        "## Welch's interval for few examples of skewed costs: 4,000 experiments without a difference",
        table(
            [
                skewed(name, *sizes, rng)
                for name in SKEWED
                for sizes in ((30, 30), (30, 500), (100, 1000))
            ]
        ),
    ]


def main() -> None:
    """Write the result."""
    rng = np.random.default_rng(5)
    parts = [
        "# One answer for one data set: does it keep its word?",
        "95 % intervals. `python benchmarks/one_answer.py` writes this file.",
        "## Betting without a seed, enumerated: groups with few values, sorted or counted",
        table([enumerated(*design) for design in SMALL]),
        f"## The same, simulated: no difference; {EXPERIMENTS:,} experiments; widths from {BATCH}",
        table([simulated(name, *sizes, rng) for sizes in SIZES for name in COSTS]),
        "## Planned for 80 % power with the exact interval: what is delivered, enumerated",
        table([delivered(*design) for design in DESIGNS]),
        *few_examples(),
        "## How long the default takes, in seconds of one processor",
        table(timed()),
    ]
    write_whole(
        RESULT,
        lambda path: path.write_text("\n\n".join(parts) + "\n", encoding="utf-8"),
    )


if __name__ == "__main__":
    main()
