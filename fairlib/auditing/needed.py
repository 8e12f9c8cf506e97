"""How small a difference the present cases would show, and how many more cases would show the margin.

A difference d of n cases from the others is shown with the power asked for if d = z(α/2) √(v₀/n + v) + z(power) √(v₁/n
+ v), where v₀ is the variance of a case if the group is like the others, v₁ if it differs by d towards one half, and v
that of the others' mean. A normal approximation: for rare events and strict levels the power comes out up to 0.1 lower.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from fairlib.auditing.comparing import Contrast


def more_needed(plan: Contrast, *, margin: float, alpha: float, power: float) -> np.ndarray:
    """Return how many more cases of the group would show a difference of `margin`, the others staying as they are.

    For shares 1/margin more, as an exact test jumps from count to count; infinite where the others are too few.
    """
    lowest, highest = np.zeros(len(plan.span)), np.full(len(plan.span), 40.0)  # log2 of n
    for _ in range(60):
        middle = (lowest + highest) / 2
        short = _reach(plan, 2**middle, margin, alpha, power) > margin
        lowest, highest = np.where(short, middle, lowest), np.where(short, highest, middle)
    jumps = np.where(np.isfinite(plan.expected), 1 / margin, 0)
    wanted = np.where(highest >= 39.9, np.inf, np.ceil(2**highest + jumps - 1e-6))
    return np.maximum(wanted - plan.units[0], 0)


def detectable(plan: Contrast, *, alpha: float, power: float) -> np.ndarray:
    """Return the smallest true difference that the present cases show with probability `power` at level `alpha`."""
    difference = np.full(len(plan.span), 0.1)
    for _ in range(40):  # what is to be seen changes the variance a little, so it is found by going round
        difference = np.minimum(_reach(plan, np.maximum(plan.units[0], 1), difference, alpha, power), 1.0)
    return difference


def growth(plan: Contrast, *, margin: float, alpha: float, power: float) -> np.ndarray:
    """Return how many times as many cases of all groups, mixed as now, would show a difference of `margin`."""
    return (_reach(plan, np.maximum(plan.units[0], 1), margin, alpha, power) / margin) ** 2


def _reach(plan: Contrast, n: np.ndarray, difference: np.ndarray | float, alpha: float, power: float) -> np.ndarray:
    """Return the difference that n cases show, if the group's own variance is that at `difference` from the others."""
    share = plan.expected + np.where(plan.expected < 0.5, 1, -1) * np.minimum(difference, np.abs(plan.expected - 0.5))
    there = np.where(np.isfinite(plan.expected), share * (1 - share), plan.variance)
    error, error_there = (np.sqrt(variance / n + plan.variance_others) for variance in (plan.variance, there))
    return stats.norm.isf(alpha / 2) * error + stats.norm.ppf(power) * error_there
