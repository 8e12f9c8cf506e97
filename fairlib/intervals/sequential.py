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

from collections import deque
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairlib.interval import Interval, bisection, check_confidence
from fairlib.intervals.disparity import check_max_cost

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
        if not 0 < gamma < 1:
            raise ValueError(f"gamma must be in (0, 1), found {gamma}")
        check_confidence(confidence)
        check_max_cost(max_cost)
        self.max_cost, self.confidence = max_cost, confidence
        self.sizes = {1: max(round(gamma / (1 - gamma)), 1), -1: max(round((1 - gamma) / gamma), 1)}
        self.waiting = {1: deque(), -1: deque()}
        self.total, self.count = {1: 0.0, -1: 0.0}, {1: 0, -1: 0}
        self.matched: list[float] = []
        self._log_wealth = np.zeros((2, len(FRACTIONS)))  # against "no difference", for either side
        self.excludes_zero = False

    @property
    def n(self) -> int:
        """How many examples of either group were annotated."""
        return self.count[1] + self.count[-1]

    @property
    def estimate(self) -> float:
        """The difference so far; NaN until both groups have examples."""
        return self.total[1] / self.count[1] - self.total[-1] / self.count[-1] if all(self.count.values()) else np.nan

    def add(self, cost: float, *, group: int) -> bool:
        """Take in one example of group A (+1) or B (-1), or neither (0); return whether 0 is excluded by now. O(1)."""
        if group not in (-1, 0, 1):
            raise ValueError(f"group must be +1, -1 or 0, found {group}")
        if not 0 <= cost <= self.max_cost:
            raise ValueError(f"cost must be in [0, max_cost={self.max_cost:g}], found {cost}")
        if group == 0:
            return self.excludes_zero
        self.total[group] += cost
        self.count[group] += 1
        self.waiting[group].append(cost / self.max_cost)
        if all(len(self.waiting[side]) >= size for side, size in self.sizes.items()):
            means = {
                side: sum(self.waiting[side].popleft() for _ in range(size)) / size for side, size in self.sizes.items()
            }
            z = (1 + means[1] - means[-1]) / 2
            self.matched.append(z)
            self._log_wealth += np.log1p(FRACTIONS * (np.array([[z], [1 - z]]) / 0.5 - 1))
            self.excludes_zero |= bool(_owned(self._log_wealth, axis=1).max() >= np.log(2 / (1 - self.confidence)))
        return self.excludes_zero

    def interval(self) -> Interval:
        """Return the difference so far, with an interval that holds at all times at once. O(n) for each of 24 steps."""
        ((low, high),) = self._ends([len(self.matched)]) if all(self.count.values()) else [(np.nan, np.nan)]
        low, high = float(min(low, self.estimate)), float(max(high, self.estimate))
        return Interval(self.estimate, low, high, self.confidence, "confidence sequence")

    def _ends(self, at: list[int]) -> np.ndarray:
        """Return the ends for the difference (rows: low, high) after each number of matches."""
        return self.max_cost * (2 * mean_sequence(np.array(self.matched), at, alpha=1 - self.confidence) - 1)


def confidence_sequence(
    cost: ArrayLike,
    membership: ArrayLike,
    *,
    at: ArrayLike | None = None,
    gamma: float = 0.5,
    max_cost: float = 1.0,
    confidence: float = 0.95,
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
    cost, membership = np.asarray(cost, dtype=float), np.asarray(membership)
    if cost.ndim != 1 or cost.shape != membership.shape or not cost.size:
        shapes = f"{cost.shape} and {membership.shape}"
        raise ValueError(f"cost and membership must be lists of the same length, found shapes {shapes}")
    at = np.unique(np.linspace(1, len(cost), 50).astype(int)) if at is None else np.unique(np.asarray(at, dtype=int))
    if len(at) and not 1 <= at[0] <= at[-1] <= len(cost):
        raise ValueError(f"at must be in [1, {len(cost)}], found {at[0]} to {at[-1]}")
    audit = SequentialAudit(gamma=gamma, max_cost=max_cost, confidence=confidence)
    rows, looks = [], set(at.tolist())
    for number, (price, side) in enumerate(zip(cost.tolist(), membership.tolist(), strict=True), start=1):
        audit.add(price, group=side)
        if number in looks:
            rows.append((number, len(audit.matched), audit.estimate))
    table = pd.DataFrame(rows, columns=["n", "matched", "estimate"])
    low, high = audit._ends(table["matched"].tolist()).T
    return table.assign(low=low, high=high)


def mean_sequence(values: np.ndarray, at: list[int], *, alpha: float) -> np.ndarray:
    """Return the ends (rows: low, high) for the mean of numbers in [0, 1] after each of the `at` first ones."""
    lows, highs = _lower_ends(values, at, alpha), 1 - _lower_ends(1 - values, at, alpha)
    return np.stack([np.minimum(lows, highs), np.maximum(lows, highs)], axis=1)


def _lower_ends(values: np.ndarray, at: list[int], alpha: float) -> np.ndarray:
    """Return the largest mean that was rejected as "at most" by then. It only grows: search on from the last."""
    ends = [0.0]
    for number in at:
        rejected = partial(_ever_rejected, values[:number], alpha=alpha)
        ends.append(float(bisection(rejected, ends[-1], 1.0, steps=STEPS)))
    return np.array(ends[1:])


def _ever_rejected(values: np.ndarray, mean: float, alpha: float) -> bool:
    log_wealth = np.cumsum(np.log1p(FRACTIONS[:, None] * (values / mean - 1)), axis=1)
    return bool(_owned(log_wealth, axis=0).max(initial=-np.inf) >= np.log(2 / alpha))


def _owned(log_wealth: np.ndarray, *, axis: int) -> np.ndarray:
    """Return the logarithm of the mean over all fractions."""
    return np.logaddexp.reduce(log_wealth, axis=axis) - np.log(len(FRACTIONS))
