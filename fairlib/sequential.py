"""An audit that may stop at any time: annotate one example after the other, look as often as you like.

An interval for a fixed n is no longer a 95 % interval if one looks at it after every example and stops as soon as it
excludes 0: with a z-test, looking a hundred times finds one where there is none in about two audits of five. A
*confidence sequence* contains the truth at all times at once with the promised probability, so that stopping early
cannot fool it.

**How.** Members of either group are matched as they come, in blocks of sizes settled before; a match gives a number z
in [0, 1] with mean μ = (1 + δ/C)/2 (see `fairlib.betting`). Whoever doubts "μ is at most μ₀" may think of z/μ₀ as the
price of a share after a day at the start of which it cost 1: if the claim holds, it is worth 1 on average or less. He
splits his money evenly over portfolios that keep a fraction f of it in that share, for ten fractions f. If he ever owns
2/α times what he began with, μ₀ is rejected; if the claim is true that happens with probability at most α/2, at
whatever time one looks (Ville's inequality). Each day's growth, 1 - f + f z/μ₀, falls with μ₀, so that what is rejected
has no holes and the end is found by bisection.

References: Waudby-Smith & Ramdas 2024 (JRSS B 86, 1-27); Cover 1991 for the portfolios (Mathematical Finance 1, 1-29);
Chugg, Cortes-Gomez, Wilder & Ramdas 2023 (NeurIPS), "Auditing fairness by betting".
"""

from __future__ import annotations

from collections import deque

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairlib.interval import Interval, check_confidence

FRACTIONS = 0.7 / 2.0 ** np.arange(
    10
)  # of the money that is at risk: large ones for large differences, small for small
STEPS = 24  # of the bisection: to within 1e-7


class SequentialAudit:
    """Annotate, add, look, and stop when you have seen enough.

    gamma : share of group A that you expect; it settles the sizes of the blocks that are matched (one A with three B at
        .25). A wrong guess costs examples, not validity. Whoever chooses whom to annotate takes the groups in turn.
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
        """Begin with nobody annotated."""
        if not 0 < gamma < 1:
            raise ValueError(f"gamma must be in (0, 1), found {gamma}")
        check_confidence(confidence)
        if not 0 < max_cost < np.inf:
            raise ValueError(f"max_cost must be positive and finite, found {max_cost}")
        self.max_cost, self.confidence = max_cost, confidence
        self.sizes = {1: max(round(gamma / (1 - gamma)), 1), -1: max(round((1 - gamma) / gamma), 1)}
        self.waiting = {1: deque(), -1: deque()}
        self.total, self.count = {1: 0.0, -1: 0.0}, {1: 0, -1: 0}
        self.matched: list[float] = []
        self._wealth = np.zeros((2, len(FRACTIONS)))  # logarithms, against "no difference", for either side
        self.excludes_zero = False

    @property
    def n(self) -> int:
        """How many examples were annotated."""
        return self.count[1] + self.count[-1]

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
        if all(len(self.waiting[side]) >= self.sizes[side] for side in (1, -1)):
            mean_a, mean_b = (
                sum(self.waiting[side].popleft() for _ in range(self.sizes[side])) / self.sizes[side]
                for side in (1, -1)
            )
            self._bet((1 + mean_a - mean_b) / 2)
        return self.excludes_zero

    def interval(self) -> Interval:
        """Return the difference so far, with an interval that holds at all times at once. O(n) for each of 24 steps."""
        if not all(self.count.values()):
            return Interval(np.nan, np.nan, np.nan, self.confidence, "confidence sequence")
        estimate = self.total[1] / self.count[1] - self.total[-1] / self.count[-1]
        low, high = mean_sequence(np.array(self.matched), [len(self.matched)], alpha=1 - self.confidence)[0]
        low, high = (float(self.max_cost * (2 * end - 1)) for end in (low, high))
        return Interval(estimate, min(low, estimate), max(high, estimate), self.confidence, "confidence sequence")

    def _bet(self, z: float) -> None:
        self.matched.append(z)
        self._wealth += np.log1p(FRACTIONS * (np.array([[z], [1 - z]]) / 0.5 - 1))
        owned = np.logaddexp.reduce(self._wealth, axis=1) - np.log(len(FRACTIONS))
        self.excludes_zero = self.excludes_zero or bool(np.any(owned >= np.log(2 / (1 - self.confidence))))


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

    at : after how many examples to look; by default at 50 moments, equally far apart.

    Columns n, matched, estimate, low, high. Later rows lie within earlier ones, up to their estimates.
    """
    cost, membership = np.asarray(cost, dtype=float), np.asarray(membership)
    if cost.ndim != 1 or cost.shape != membership.shape or not cost.size:
        raise ValueError(
            f"cost and membership must be lists of the same length, found shapes {cost.shape} and {membership.shape}"
        )
    at = np.unique(np.linspace(1, len(cost), 50).astype(int)) if at is None else np.unique(np.asarray(at, dtype=int))
    if len(at) and not 1 <= at[0] <= at[-1] <= len(cost):
        raise ValueError(f"at must be in [1, {len(cost)}], found {at[0]} to {at[-1]}")
    audit = SequentialAudit(gamma=gamma, max_cost=max_cost, confidence=confidence)
    rows = []
    looks = iter([*at, 0])
    look = next(looks)
    for number, (price, side) in enumerate(zip(cost.tolist(), membership.tolist(), strict=True), start=1):
        audit.add(price, group=side)
        if number == look:
            defined = all(audit.count.values())
            estimate = audit.total[1] / audit.count[1] - audit.total[-1] / audit.count[-1] if defined else np.nan
            rows.append((number, len(audit.matched), estimate))
            look = next(looks)
    table = pd.DataFrame(rows, columns=["n", "matched", "estimate"])
    ends = mean_sequence(np.array(audit.matched), table["matched"].tolist(), alpha=1 - confidence)
    return table.assign(low=max_cost * (2 * ends[:, 0] - 1), high=max_cost * (2 * ends[:, 1] - 1))


def mean_sequence(values: np.ndarray, at: list[int], *, alpha: float) -> np.ndarray:
    """Return the ends (rows: low, high) for the mean of numbers in [0, 1] after each of the `at` first ones."""
    lows, highs = _lower_ends(values, at, alpha), 1 - _lower_ends(1 - values, at, alpha)
    return np.stack([np.minimum(lows, highs), np.maximum(lows, highs)], axis=1)


def _lower_ends(values: np.ndarray, at: list[int], alpha: float) -> np.ndarray:
    """Return the largest mean that was rejected as "at most" by then. It only grows: search on from the last."""
    ends, rejected = [], 0.0
    for number in at:
        kept = 1.0
        for _ in range(STEPS if number else 0):
            middle = (rejected + kept) / 2
            if _ever_rejected(values[:number], middle, alpha):
                rejected = middle
            else:
                kept = middle
        ends.append(rejected)
    return np.array(ends, dtype=float)


def _ever_rejected(values: np.ndarray, mean: float, alpha: float) -> bool:
    wealth = np.cumsum(np.log1p(FRACTIONS[:, None] * (values / mean - 1)), axis=1)
    owned = np.logaddexp.reduce(wealth, axis=0) - np.log(len(FRACTIONS))
    return bool(owned.max() >= np.log(2 / alpha))
