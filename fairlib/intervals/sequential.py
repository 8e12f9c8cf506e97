"""An audit that may stop at any time: annotate one example after the other, look as often as you like.

A *confidence sequence* contains the truth at all times at once with the promised probability, so that stopping early
cannot fool it. Members of either group are matched as they come, in blocks of sizes settled before; a match gives a
number z in [0, 1] with mean μ = (1 + δ/C)/2. A gambler who doubts "μ is at most μ₀" owns Π (1 - f + f z/μ₀) after
betting a fraction f of all that he has on every match, and the mean of that over `FRACTIONS` f; μ₀ is rejected for good
once it reaches 2/α (notebook 10 has the argument).

References: Waudby-Smith & Ramdas 2024 (JRSS B 86, 1-27); Cover 1991 for the portfolios (Mathematical Finance 1, 1-29);
Chugg, Cortes-Gomez, Wilder & Ramdas 2023 (NeurIPS), "Auditing fairness by betting".
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from fairlib.checks import check_confidence, check_max_cost, checked, costs, examples
from fairlib.interval import Interval, bisection

FRACTIONS = 0.7 / 2.0 ** np.arange(10)  # of the money at risk: large ones for large differences, small for small
STEPS = 24  # of the bisection: to within 1e-7


class SequentialAudit:
    """Annotate, add, look, and stop when you have seen enough.

    gamma : share of group A that you expect; it settles the sizes of the blocks that are matched (one A with three B at
        .25). A wrong guess costs examples, not validity. Where you choose what to annotate, take the groups in turn.
    max_cost : C, the largest cost.

    >>> audit = SequentialAudit()
    >>> for _ in range(12):
    ...     _ = audit.add(1, group=+1), audit.add(0, group=-1)
    >>> audit.excludes_zero
    True
    >>> print(audit.interval())
    1.000 [0.051, 1.000] (95% confidence sequence)

    The order in which the groups come must not depend on the costs; within a group the costs are independent draws.
    """

    def __init__(self, *, gamma: float = 0.5, max_cost: float = 1.0, confidence: float = 0.95) -> None:
        """Start without any example."""
        self.options = {"gamma": gamma, "max_cost": max_cost, "confidence": confidence}
        self.sizes = _sizes(**self.options)
        self.costs, self.groups, self.excludes_zero = [], [], False

    @property
    def n(self) -> int:
        """How many examples of either group were annotated."""
        return len(self.groups)

    def add(self, cost: float, *, group: int) -> bool:
        """Take in one example of group A (+1) or B (-1), or neither (0); return whether 0 is excluded by now."""
        costs("cost", [cost], self.options["max_cost"])
        if checked("group", group, "+1, -1 or 0", lambda side: np.isin(side, [-1, 0, 1])):
            self.costs.append(cost)
            self.groups.append(group)
            shares, alpha = np.array(self.costs) / self.options["max_cost"], 1 - self.options["confidence"]
            z = _matched(shares, np.array(self.groups), self.sizes)
            self.excludes_zero |= _ever_rejected(z, 0.5, alpha) or _ever_rejected(1 - z, 0.5, alpha)
        return self.excludes_zero

    def interval(self) -> Interval:
        """Return the difference so far, with an interval that holds at all times at once; NaN without either group."""
        found = [np.nan]
        if len({*self.groups}) == 2:
            table = confidence_sequence(self.costs, self.groups, at=[self.n], **self.options)
            found = table[["estimate", "low", "high"]].iloc[0].tolist()
        return Interval(found[0], min(found), max(found), self.options["confidence"], "confidence sequence")


def confidence_sequence(
    cost, membership, *, at=None, gamma: float = 0.5, max_cost: float = 1.0, confidence: float = 0.95
) -> pd.DataFrame:
    """Return the confidence sequence along a list of annotated examples, in the order in which they were annotated.

    Columns n, matched, estimate, low, high, after each of `at` examples; by default at 50 moments, equally far apart.

    >>> rng = np.random.default_rng(0)
    >>> membership = rng.choice([1, -1], 800)
    >>> wrong = rng.random(800) < 0.2 + 0.2 * (membership == 1)
    >>> confidence_sequence(wrong, membership, at=[400, 800]).round(2)
         n  matched  estimate   low  high
    0  400      179      0.15 -0.02  0.29
    1  800      373      0.16  0.05  0.25
    """
    sizes = _sizes(gamma=gamma, max_cost=max_cost, confidence=confidence)
    cost, membership = examples(cost, membership, max_cost=max_cost)
    at = np.unique(np.linspace(1, len(cost), 50) if at is None else at).astype(int)
    checked("at", at, f"in [1, {len(cost)}]", lambda n: (n >= 1) & (n <= len(cost)))
    sides = [membership == 1, membership == -1]
    count, total = (np.cumsum(values, axis=1)[:, at - 1] for values in (sides, np.multiply(sides, cost)))
    matched = (count // np.array(sizes)[:, None]).min(axis=0)
    low, high = mean_sequence(_matched(cost / max_cost, membership, sizes), matched.tolist(), alpha=1 - confidence)
    with np.errstate(invalid="ignore"):  # no difference before both groups have examples
        table = {"n": at, "matched": matched, "estimate": np.subtract(*(total / count))}
    return pd.DataFrame(table | {"low": max_cost * (2 * low - 1), "high": max_cost * (2 * high - 1)})


def _sizes(*, gamma: float, max_cost: float, confidence: float) -> tuple[int, int]:
    """Return how many of A and of B make a block, all options checked."""
    checked("gamma", gamma, "in (0, 1)", lambda share: (share > 0) & (share < 1))
    check_confidence(confidence)
    check_max_cost(max_cost)
    return max(round(gamma / (1 - gamma)), 1), max(round((1 - gamma) / gamma), 1)


def _matched(cost: np.ndarray, membership: np.ndarray, sizes: tuple[int, int]) -> np.ndarray:
    """Return a number in [0, 1] for each pair of whole blocks, of mean (1 + δ/C)/2; costs are shares of C."""
    sides = cost[membership == 1], cost[membership == -1]
    matches = min(len(side) // size for side, size in zip(sides, sizes, strict=True))
    a, b = (side[: matches * size].reshape(matches, size).mean(1) for side, size in zip(sides, sizes, strict=True))
    return (1 + a - b) / 2


def mean_sequence(values: np.ndarray, at: list[int], *, alpha: float) -> tuple[np.ndarray, np.ndarray]:
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
