"""How often do intervals for the gap between many groups hold? A simulation, since the truth must be known.

`python benchmarks/gaps.py` writes benchmarks/gaps.csv: for each design (how many groups, how large, which rates), the
share of simulated data sets in which an interval covers the true gap, its Monte-Carlo error, the shares that it misses
above and below, and its mean width. Every design has a seed of its own, in the table. About a minute on one core.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm

from fairlib import gaps
from fairlib.data import write_whole
from fairlib.grouped import Groups

TABLE = Path(__file__).with_suffix(".csv")
SETS = 400
REPLICATES = 500


def percentile_bootstrap(errors: np.ndarray, totals: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """The 2.5 % and 97.5 % percentiles of the gap of resampled examples: widely done, and never at 0."""
    rates = rng.binomial(totals, errors / totals, size=(REPLICATES, len(totals))) / totals
    low, high = np.quantile(rates.max(axis=1) - rates.min(axis=1), [0.025, 0.975])
    return float(low), float(high)


def largest_pair(errors: np.ndarray, totals: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """An ordinary 95 % interval for the two groups that happen to be farthest apart, as if one had meant these."""
    rates = errors / totals
    pair = [rates.argmax(), rates.argmin()]
    error = np.sqrt((rates[pair] * (1 - rates[pair]) / totals[pair]).sum())
    difference, z = rates.max() - rates.min(), norm.ppf(0.975)
    return max(difference - z * error, 0.0), difference + z * error


def exact(data: np.ndarray, totals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`gaps.interval` of every data set, (sets, groups), at once: counts that occur in several are looked up once."""
    every = Groups((), np.tile(totals, len(data)).astype(float), data.ravel().astype(float), data.ravel().astype(float))
    ends = []
    for radius, extreme in zip(gaps.radii(0.05, groups=len(totals)), EXTREMES, strict=True):
        limits = gaps.exact(every, *gaps.corners(radius))
        ends.append(extreme(*(limit.reshape(-1, *data.shape) for limit in limits)))
    return tuple(ends)


EXTREMES = (gaps.smallest_range, gaps.widest_range)
NAIVE = {"percentile bootstrap": percentile_bootstrap, "largest pair": largest_pair}
METHODS = (*NAIVE, "gaps.interval")


def sizes(groups: int, size: int, kind: str) -> np.ndarray:
    """Groups of one size, or from a twentieth of it upwards."""
    if kind == "equal":
        return np.full(groups, size)
    return np.geomspace(size / 20, size, groups).round().astype(int)


def simulate(
    groups: int, size: int, kind: str, rate: float, gap: float, *, sets: int = SETS, seed: int = 0
) -> list[dict]:
    """Return one row per method for one design; with a gap, one group's rate is higher by it."""
    rng = np.random.default_rng(seed)
    totals = sizes(groups, size, kind)
    truth = np.full(groups, rate)
    truth[-1] += gap
    data = rng.binomial(totals, truth, size=(sets, groups))
    rows = []
    for name in METHODS:
        if name in NAIVE:
            low, high = np.array([NAIVE[name](errors, totals, rng) for errors in data]).T
        else:
            low, high = exact(data, totals)
        missed = low > gap + 1e-12, high < gap - 1e-12
        coverage = 1 - np.mean(missed[0] | missed[1])
        rows.append(
            {
                "groups": groups,
                "size": size,
                "sizes": kind,
                "rate": rate,
                "gap": gap,
                "method": name,
                "sets": sets,
                "seed": seed,
                "coverage": coverage,
                "error": np.sqrt(coverage * (1 - coverage) / sets),
                "missed_above": missed[0].mean(),
                "missed_below": missed[1].mean(),
                "width": (high - low).mean(),
            }
        )
    return rows


def main() -> None:
    """Simulate all designs and write the table."""
    designs = itertools.product((2, 3, 5, 10, 20), (200, 1000), ("equal", "unequal"), (0.01, 0.1, 0.5), (0.0, 0.1))
    rows = [row for seed, design in enumerate(designs) for row in simulate(*design, seed=seed)]
    table = pd.DataFrame(rows).round(5)
    write_whole(TABLE, lambda path: table.to_csv(path, index=False))
    print(table.groupby(["method", "gap"])["coverage"].agg(["min", "mean", "max"]))


if __name__ == "__main__":
    main()
