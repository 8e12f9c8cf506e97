"""How fast intervals and metrics of many groups are, beside what a user would take.

`benchmarks/speed.py` asks these questions and writes the answers into its table.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from speed_frame import Case, memory, seconds
from statsmodels.stats.proportion import confint_proportions_2indep

import fairlib
from fairlib.intervals import planning
from fairlib.metrics.comparisons import absolute_difference, sums_over_pairs

GROUPS = 1000
DRAWS = 100
BIAS = 0.05


def exact_interval(n: int = 100_000) -> Iterator[Case]:
    """Return the default interval, beside an approximate one from statsmodels."""
    half = n // 2
    cost_a = np.arange(half) < 0.25 * half
    cost_b = np.arange(half) < 0.24 * half
    counts = (int(cost_a.sum()), half, int(cost_b.sum()), half)

    def ours() -> object:
        return fairlib.disparity_interval(cost_a, cost_b)

    def peer() -> object:
        return confint_proportions_2indep(*counts, method="score", compare="diff")

    yield Case(
        question="default interval of a difference, exact",
        n=n,
        ours=seconds(ours),
        memory=memory(ours),
        peer="statsmodels, Miettinen-Nurminen from counts",
        theirs=seconds(peer),
        peer_memory=memory(peer),
        other_algorithm=True,
        reason="the peer solves one approximate equation for each end and has no "
        "guarantee; ours sums over all tables that are as extreme.",
    )


def many_groups(n: int = GROUPS) -> Iterator[Case]:
    """Compare all pairs of groups in many draws, beside NumPy by hand."""
    scores = np.random.default_rng(0).random((DRAWS, 1, n))

    def ours() -> np.ndarray:
        return sums_over_pairs(absolute_difference, scores).sum(axis=(1, 2)) / 2

    def peer() -> list[float]:
        return [float(np.abs(draw[0, :, None] - draw[0]).sum() / 2) for draw in scores]

    np.testing.assert_allclose(ours(), peer(), rtol=1e-12)
    yield Case(
        question=f"distances of all pairs of groups, {DRAWS} draws",
        n=n,
        ours=seconds(ours),
        memory=memory(ours),
        peer="NumPy by hand, all pairs",
        theirs=seconds(peer),
        peer_memory=memory(peer),
        other_algorithm=True,
    )


def planned(n: int = 3168) -> Iterator[Case]:
    """Plan a sample for the exact interval, beside an approximate interval."""

    def size(method: str) -> int:
        return planning.sample_size(BIAS, method=method)

    yield Case(
        question=f"sample size for a difference of {BIAS}, exact interval",
        n=n,
        ours=seconds(size, "exact_unconditional"),
        memory=memory(size, "exact_unconditional"),
        peer="fairlib with Newcombe's interval",
        theirs=seconds(size, "newcombe"),
        peer_memory=memory(size, "newcombe"),
        other_algorithm=True,
        reason="the exact interval needs a critical value for every size that the "
        "search tries.",
    )


def replicated(n: int = 20_400) -> Iterator[Case]:
    """Measure every pair of 1,000 groups with replicates; the peer has all pairs."""
    rng = np.random.default_rng(1)
    people = pd.DataFrame(
        {
            "group": np.arange(n) % min(GROUPS, n // 20),
            "label": rng.integers(2, size=n),
            "prediction": rng.integers(2, size=n),
        }
    )
    groups = people["group"].nunique()
    rates = rng.random((groups, DRAWS))

    def ours() -> pd.DataFrame:
        return fairlib.measure(people, "ParityGap", classes=1, replicates=DRAWS)

    def peer() -> list[float]:
        return [float(np.abs(rate[:, None] - rate).mean()) for rate in rates.T]

    yield Case(
        question=f"a gap of {groups:,} groups with {DRAWS} replicates and a null",
        n=n,
        ours=seconds(ours),
        memory=memory(ours),
        peer="NumPy by hand, all pairs of ready rates",
        theirs=seconds(peer),
        peer_memory=memory(peer),
        other_algorithm=True,
        reason="ours also reads and counts the rows, draws the replicates, exchanges "
        "the groups, and gives an interval for every group.",
    )


QUESTIONS = (exact_interval, many_groups, planned, replicated)
