"""What is known of a difference, by whatever method; what Student's t says; how many more cases would tell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats


class Contrast(NamedTuple):
    """Arrays over the compared groups of a family: (groups,)."""

    units: np.ndarray  # independent cases of the group, or sources
    units_against: np.ndarray  # of those that it is compared with
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    method: np.ndarray
    variance: np.ndarray  # of one more case of the group
    variance_others: np.ndarray  # of the others' mean
    expected: np.ndarray  # the share that a group would have that is like the others; NaN for what is no share

    @property
    def fewer(self) -> np.ndarray:
        """How many independent cases, or sources, there are in the smaller of the two sides."""
        return np.minimum(self.units, self.units_against)


def student(n, n_others, difference, error, alike, freedom, confidence, method, variance, variance_others) -> Contrast:
    """Return a t interval and test; undefined where a side has fewer than two, or where nothing varies at all.

    A few cases that happen to hold no rare large value vary too little, and t is far too sure of them. So p is at least
    that of the difference with the standard error `alike`, of sides that vary as all cases together do.

    Where the sides differ and nothing varies within them, all of the m in the smaller one agree: chance does that with
    probability 2^(1 - m) at most, and at most 1 - (α/4)^(1/m) of either side can be otherwise, by up to 1 each.
    """
    fewer, alpha = np.minimum(n, n_others), 1 - confidence
    usable = (fewer > 1) & (error > 0)
    agreed = (fewer > 1) & (error == 0) & (np.abs(difference) > 1e-9)
    with np.errstate(invalid="ignore", divide="ignore"):
        margin = np.where(usable, stats.t.isf(alpha / 2, np.where(usable, freedom, 1)) * error, np.nan)
        margin = np.where(agreed, 2 * (1 - (alpha / 4) ** (1 / fewer)), margin)
        own = stats.t.sf(np.abs(difference) / error, np.where(usable, freedom, 1))
        p = np.where(usable, 2 * np.maximum(own, stats.norm.sf(np.abs(difference) / alike)), np.nan)
        p = np.where(agreed, 2.0 ** (1 - fewer), p)
    return Contrast(
        units=n,
        units_against=n_others,
        difference=difference,
        low=difference - margin,
        high=difference + margin,
        p=p,
        method=np.full(len(n), method, dtype=object),
        variance=variance,
        variance_others=variance_others,
        expected=np.full(len(n), np.nan),
    )


def more_needed(plan: Contrast, have: np.ndarray, *, margin: float, alpha: float, power: float) -> np.ndarray:
    """Return how many more cases of the group would show a difference of `margin`, the others staying as they are.

    z(α/2) √(v₀/n + v) + z(power) √(v₁/n + v) = margin, with v₀ the variance of a case if the group is like the others,
    v₁ if it is a margin nearer to one half, and v that of the others' mean; for shares 1/margin more, as an exact test
    jumps from count to count. Infinite where the others are too few. A normal approximation: for rare events and strict
    levels the power comes out up to 0.1 lower.
    """
    tails = _tails(alpha, power)
    lowest, highest = np.zeros(len(have)), np.full(len(have), 40.0)  # log2 of n
    for _ in range(60):
        middle = (lowest + highest) / 2
        short = _reach(plan, 2**middle, margin, tails) > margin
        lowest, highest = np.where(short, middle, lowest), np.where(short, highest, middle)
    jumps = np.where(np.isfinite(plan.expected), 1 / margin, 0)
    needed = np.where(highest >= 39.9, np.inf, np.ceil(2**highest + jumps - 1e-6))
    return np.maximum(needed - have, 0)


def detectable(plan: Contrast, have: np.ndarray, *, alpha: float, power: float) -> np.ndarray:
    """Return the smallest true difference that the present cases show with probability `power` at level `alpha`."""
    tails, difference = _tails(alpha, power), np.full(len(have), 0.1)
    for _ in range(40):  # what is to be seen changes the variance a little, so it is found by going round
        difference = np.minimum(_reach(plan, np.maximum(have, 1), difference, tails), 1.0)
    return difference


def growth(plan: Contrast, have: np.ndarray, *, margin: float, alpha: float, power: float) -> np.ndarray:
    """Return how many times as many cases of everybody, mixed as now, would show a difference of `margin`."""
    return (_reach(plan, np.maximum(have, 1), margin, _tails(alpha, power)) / margin) ** 2


def _tails(alpha: float, power: float) -> tuple[float, float]:
    return stats.norm.isf(alpha / 2), stats.norm.ppf(power)


def _reach(plan: Contrast, n: np.ndarray, difference: np.ndarray | float, tails: tuple[float, float]) -> np.ndarray:
    """Return the difference that n cases show, if the group's own variance is that at `difference` from the others."""
    nearer = plan.expected + np.where(plan.expected < 0.5, 1, -1) * np.minimum(difference, np.abs(plan.expected - 0.5))
    there = np.where(np.isfinite(plan.expected), nearer * (1 - nearer), plan.variance)
    spread = (np.sqrt(variance / n + plan.variance_others) for variance in (plan.variance, there))
    return sum(z * error for z, error in zip(tails, spread, strict=True))
