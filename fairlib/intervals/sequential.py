"""An audit that may stop at any time: annotate one example after the other, look as often as you like.

A *confidence sequence* contains the truth at all times at once with the promised probability, so that stopping early
cannot fool it. Members of either group are matched as they come, in blocks of sizes settled before; a match gives z in
[0, 1] with mean μ = (1 + δ/C)/2. "μ is at most μ₀" is rejected for good once the mean of Π (1 - f + f z/μ₀), over
`FRACTIONS` f of what a bettor puts at risk, reaches 2/α (notebook 10b has the argument).

References: Waudby-Smith & Ramdas 2024 (JRSS B 86, 1-27); Cover 1991 for the portfolios (Mathematical Finance 1, 1-29);
Chugg, Cortes-Gomez, Wilder & Ramdas 2023 (NeurIPS), "Auditing fairness by betting".
"""

from functools import partial

import numpy as np
import pandas as pd

from fairlib.checks import check_confidence, checked, examples
from fairlib.interval import bisection
from fairlib.intervals.betting import block_means

FRACTIONS = 0.7 / 2.0 ** np.arange(
    10
)  # large ones for large differences, small for small
STEPS = 24  # of the bisection: to within 1e-7


def confidence_sequence(
    cost, membership, *, at=None, gamma=0.5, max_cost=1.0, confidence=0.95
) -> pd.DataFrame:
    """Return the confidence sequence along a list of annotated examples, in the order in which they were annotated.

    Call it on all that was annotated so far, as often as you like: a row depends on nothing that comes later. The order
    in which the groups come must not depend on the costs; within a group the costs are independent draws.

    at : the numbers of examples after which to look; by default 50 moments, equally far apart.
    gamma : share of group A that you expect; it settles the sizes of the blocks that are matched (one A with three B at
        .25). A wrong guess costs examples, not validity. Where you choose what to annotate, take the groups in turn.
    max_cost : C, the largest cost.

    Columns n, matched (pairs of whole blocks), estimate (NaN before both groups have examples), low, high.

    >>> rng = np.random.default_rng(0)
    >>> membership = rng.choice([1, -1], 800)
    >>> wrong = rng.random(800) < 0.2 + 0.2 * (membership == 1)
    >>> confidence_sequence(wrong, membership, at=[400, 800]).round(2)
         n  matched  estimate   low  high
    0  400      179      0.15 -0.02  0.29
    1  800      373      0.16  0.05  0.25
    """
    checked("gamma", gamma, "in (0, 1)", lambda share: (share > 0) & (share < 1))
    check_confidence(confidence)
    cost, membership = examples(cost, membership, max_cost=max_cost)
    at = np.unique(np.linspace(1, len(cost), 50) if at is None else at).astype(int)
    checked("at", at, f"in [1, {len(cost)}]", lambda n: (n >= 1) & (n <= len(cost)))
    sides, odds = (membership == 1, membership == -1), gamma / (1 - gamma)
    sizes = max(round(odds), 1), max(round(1 / odds), 1)
    count, total = (
        np.cumsum(values, axis=1)[:, at - 1]
        for values in (sides, np.multiply(sides, cost))
    )
    matched = (count // np.array(sizes)[:, None]).min(axis=0)
    blocks = matched[-1]
    a, b = (
        block_means(cost[side][: blocks * size], blocks)
        for side, size in zip(sides, sizes, strict=True)
    )
    low, high = mean_sequence(
        (1 + (a - b) / max_cost) / 2, matched.tolist(), alpha=1 - confidence
    )
    with np.errstate(
        invalid="ignore"
    ):  # no difference before both groups have examples
        table = {"n": at, "matched": matched, "estimate": np.subtract(*(total / count))}
    return pd.DataFrame(
        table | {"low": max_cost * (2 * low - 1), "high": max_cost * (2 * high - 1)}
    )


def mean_sequence(
    values: np.ndarray, at: list[int], *, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends for the mean of numbers in [0, 1] after each of the `at` first ones.

    An end is the largest mean that was rejected as "at most" by then. It only grows: search on from the last.
    """
    ends = []
    for side in (values, 1 - values):
        lows = [0.0]
        for number in at:
            rejected = partial(_ever_rejected, side[:number], alpha=alpha)
            lows.append(float(bisection(rejected, lows[-1], 1.0, steps=STEPS)))
        ends.append(np.array(lows[1:]))
    return np.minimum(ends[0], 1 - ends[1]), np.maximum(ends[0], 1 - ends[1])


def _ever_rejected(values: np.ndarray, mean: float, alpha: float) -> bool:
    """Return whether the mean over all fractions (rows) of what is owned ever reached 2/α, against "at most `mean`"."""
    log_wealth = np.cumsum(np.log1p(FRACTIONS[:, None] * (values / mean - 1)), axis=1)
    owned = np.logaddexp.reduce(log_wealth, axis=0) - np.log(len(FRACTIONS))
    return bool(owned.max(initial=-np.inf) >= np.log(2 / alpha))
