"""Every group against others: the difference, what the data allow it to be, how often chance does that.

One way for all data. Each side of a comparison is worth so many independent cases of 0 or 1 (`Contrast.worth`); with as
many, Clopper and Pearson's limits say how far its rate may be from the mean. The two distances are squared and added,
less what the sides have in common (Newcombe 1998, method 10 and that for pairs, with exact limits in the place of
Wilson's; Zou and Donner 2008). The test is the interval's own: p is the level at which it just leaves out 0.

- Cases of their own, each right or wrong: worth what they are. Enumerated for groups of 30 to 1,000 and 25 rates, the
  interval covers 95 % or more but where one rate is nearly 0 and the other nearly 1 (.927 at 30 and 30, rates of .01
  and .99), and its test errs in at most .9 of the cases that its level allows, at levels from 5 % to 1 in 100,000.
- Means of probabilities: m (1 - m) / (s² / n), by how much they vary.
- Costs, from the lowest to the highest: alike; none where they are so skewed that a mean is, too. How often those that
  are given cover, or few are and too few of them do, stands in `benchmarks/audits.md`.
- Cases that weigh more or less (survey weights): as sources of these sizes below, each a case of its own.
- Cases that belong together by their source: m (1 - m) / V, where V is the variance between sources (Korn and Graubard
  1998), unbiased and with the degrees of freedom that it has for independent cases (Bell and McCaffrey 2002). Where a
  side must have a `minimum` of sources, those of sizes n count for (Σ n)² / Σ n²: of fewer, V says too little.

A few cases that happen to hold no rare large value vary too little, and one would be far too sure of them. So no side
is worth more than if its sources varied as those of both sides do, and one more that is all wrong, or all right.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri, stdtrit

from fairlib.auditing.groups import Family
from fairlib.auditing.rates import COST
from fairlib.auditing.sums import Sums
from fairlib.interval import bisection

SUREST = 20.0  # standard deviations: p-values below 1e-88 are not told apart
ENOUGH = 10  # times the squared skewness
ROUNDING = 1e-12  # what sums of squares leave of none
MOST_MORE = 40.0  # log2 of the cases that anybody could add


@dataclass(frozen=True, eq=False, kw_only=True)
class Contrast:
    """Arrays over compared groups; of n to freedom (2, groups), for both sides: the group's and the others'."""

    n: np.ndarray  # cases of either side
    value: np.ndarray  # their mean
    units: np.ndarray  # as how many cases, or sources of equal size, they count
    worth: np.ndarray  # how many independent cases of 0 or 1 say as much about the mean
    freedom: np.ndarray  # degrees of freedom of what they are worth
    correlation: np.ndarray  # of the two sides' means
    span: np.ndarray  # how far two cases can be apart
    variance: np.ndarray  # of one more case of the group
    variance_others: np.ndarray  # of the others' mean
    expected: np.ndarray  # the share that a group would have that is like the others; NaN for what is no share
    third: np.ndarray | float = (
        0.0  # of the means of costs, (2, groups): the third central moment
    )

    @property
    def difference(self) -> np.ndarray:
        """The group's mean less the others'."""
        return self.value[0] - self.value[1]

    @cached_property
    def p(self) -> np.ndarray:
        """The level at which the interval of each difference just leaves out 0.

        Where one side's limit can go no farther, and the sides are correlated, the other's may draw the end back from
        0: the first level counts, and no interval with a higher confidence leaves out 0 again. Means of costs are too
        skewed for any unless n ≥ 10 g², where g is their skewness (Cochran 1977, Sampling techniques).
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            skewed = (
                ENOUGH * self.third**2
                > (_spread(self.value, self.span) / self.worth) ** 3
            ).any(axis=0)
        below = self.difference < 0
        upwards, steps = (
            _turned(self, below),
            np.linspace(0, SUREST, 81 if (self.correlation > 0).any() else 2),
        )
        touching = np.array(
            [~(_low(upwards, z) > 0) for z in steps[1:-1]] + [np.full(len(below), True)]
        )
        first = touching.argmax(axis=0)
        z = bisection(
            lambda z: _low(upwards, z) > 0, steps[first], steps[first + 1], steps=30
        )
        return np.where(np.isnan(self.difference) | skewed, np.nan, 2 * ndtr(-z))


def contrast(sums: Sums, family: Family) -> Contrast:
    """Return what either side of each comparison of a family says, and how surely."""

    def sides(values: np.ndarray) -> np.ndarray:
        values = family.total(values)
        return np.stack([values[family.compared], family.others(values)]).astype(float)

    cases, n, k = sides(sums.count), sides(sums.power(1, 0)), sides(sums.power(0, 1))
    span, third = float(sums.rate.farthest), np.zeros(n.shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = k / n
        if family.source is None:
            power, shared = lambda a, b: sides(sums.power(a, b)), 0.0
        else:
            power, shared = _over_sources(sums, family, mean)
        of_sizes = power(2, 0), power(3, 0)
        units = np.floor(np.nan_to_num(n**2 / of_sizes[0]) * (1 + ROUNDING))
        if family.source is None and sums.of_shares:
            worth, freedom, correlation = (
                n,
                np.full(n.shape, np.inf),
                np.zeros(n.shape[1]),
            )
            # A group as yet too small to know is taken to be like the others; half a case more keeps off the edge.
            expected = (k[1] + 0.5) / (n[1] + 1)
            variance, others = (
                expected * (1 - expected),
                expected * (1 - expected) / n[1],
            )
        else:
            squares = (
                power(0, 2) - 2 * mean * power(1, 1) + mean**2 * of_sizes[0]
            ) / span**2
            if sums.name == COST:
                third = (
                    power(0, 3)
                    - 3 * mean * power(1, 2)
                    + 3 * mean**2 * power(2, 1)
                    - mean**3 * of_sizes[1]
                )
                third = np.nan_to_num(third / n**3)
            share = (mean + span - 1) / span  # of what is possible
            worth, freedom, correlation = _worth(
                n, share, of_sizes, squares, shared / span**2
            )
            worth = worth if sums.rate.uses_probability else np.minimum(worth, cases)
            of_mean, expected = _spread(mean, span) / worth, np.full(n.shape[1], np.nan)
            variance, others = of_mean[1] * units[1], of_mean[1]
            if (
                family.source is not None
            ):  # one more source is worth what each is now, and has both sides as they are
                together = of_mean.sum(axis=0) - 2 * correlation * np.sqrt(
                    of_mean.prod(axis=0)
                )
                variance, others = together * units[0], np.zeros(n.shape[1])
    spans = np.full(n.shape[1], span)
    return Contrast(
        n=cases,
        value=mean,
        units=units,
        worth=worth,
        freedom=freedom,
        correlation=correlation,
        span=spans,
        variance=variance,
        variance_others=others,
        expected=expected,
        third=third,
    )


def joined(parts: list[Contrast]) -> Contrast:
    """Return several as one."""
    names = [field.name for field in fields(Contrast)]
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts], axis=-1)
        for name in names
    }
    return Contrast(**arrays)


def ends(compared: Contrast, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of intervals for the differences that are to be missed with probability at most alpha each."""
    z = -ndtri(alpha / 2)
    return _holding(
        compared, alpha, 0.0, _low(compared, z), -_low(_turned(compared), z)
    )


def limits(compared: Contrast, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of intervals for the shares of either side, (2, groups)."""
    values = (compared.value, 1 - compared.value)
    lower, other = (
        _limit(value, compared.worth, compared.freedom, -ndtri(alpha / 2))
        for value in values
    )
    return lower, 1 - other


def ratio_ends(compared: Contrast, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of intervals for the ratios of values, which leave out 1 where `ends` leave out 0.

    Those r at which r times the others' value is as far from the group's as its limits are (Donner and Zou 2012, with
    exact limits): (p₁ - r p₂)² = a² - 2 ρ r a b + r² b², where a and b are the distances from mean to limit.
    """
    (lower, upper), (one, other), roots = limits(compared, alpha), compared.value, []
    for sign, a, b in (
        (-1, one - lower[0], upper[1] - other),
        (1, upper[0] - one, other - lower[1]),
    ):
        square, half, rest = (
            other**2 - b**2,
            one * other - compared.correlation * a * b,
            one**2 - a**2,
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            root = half + sign * np.sqrt(np.maximum(half**2 - square * rest, 0))
            # The one root that does not cancel; the other follows from their product.
            roots.append(
                np.where(
                    sign > 0,
                    root / square,
                    np.where(rest > 0, rest / (2 * half - root), 0.0),
                )
            )
    shares = (compared.span == 1) & ~((one == 0) & (other == 0))
    high = np.where((lower[1] > 0) & (roots[1] >= 0), roots[1], np.inf)
    low, high = _holding(compared, alpha, 1.0, np.maximum(roots[0], 0), high)
    return np.where(shares, low, np.nan), np.where(shares, high, np.nan)


def _holding(
    compared: Contrast, alpha: float, null: float, low, high
) -> tuple[np.ndarray, np.ndarray]:
    """Return ends between which "no difference" lies where p is more than alpha."""
    inside, unknown = compared.p > alpha, np.isnan(compared.p)
    low, high = (np.where(unknown, np.nan, end) for end in (low, high))
    return np.where(inside, np.minimum(low, null), low), np.where(
        inside, np.maximum(high, null), high
    )


def _turned(compared: Contrast, where: np.ndarray | bool = True) -> Contrast:
    """Return the comparisons with their sides exchanged."""
    sides = {name: getattr(compared, name) for name in ("value", "worth", "freedom")}
    return replace(
        compared,
        **{
            name: np.where(where, values[::-1], values)
            for name, values in sides.items()
        },
    )


def _low(compared: Contrast, z: np.ndarray | float) -> np.ndarray:
    """Return the low end of intervals whose limits are z standard deviations away."""
    span = compared.span
    share = (compared.value + span - 1) / span  # of what is possible
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.stack(
            [share[0], 1 - share[1]]
        )  # how far the one may be too high, and the other too low
        far = share - _limit(share, compared.worth, compared.freedom, z)
        both = (far**2).sum(axis=0) - 2 * compared.correlation * far.prod(axis=0)
        return np.maximum(
            compared.difference - span * np.sqrt(np.maximum(both, 0)), -span
        )


def _limit(
    share: np.ndarray, worth: np.ndarray, freedom: np.ndarray, z: np.ndarray | float
) -> np.ndarray:
    """Return Clopper and Pearson's lower limit; a worth that is estimated counts for less, as t stands to z."""
    tail = ndtr(-np.asarray(z))
    worth = worth * np.where(
        np.isfinite(freedom), (z / stdtrit(np.minimum(freedom, 1e9), tail)) ** 2, 1.0
    )
    found = betaincinv(
        np.maximum(share * worth, 1e-300), worth - share * worth + 1, tail
    )
    return np.where(
        np.isnan(share), np.nan, np.where(share > 0, np.nan_to_num(found), 0.0)
    )


def _spread(mean: np.ndarray, span: float) -> np.ndarray:
    """Return the largest variance that values with this mean can have."""
    return (mean + span - 1) * (1 - mean)


def _worth(
    n, mean, of_sizes, squares, shared
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what each side is worth, its degrees of freedom, and the correlation of the sides' means.

    mean : in [0, 1]. of_sizes : Σ n² and Σ n³ over sources. squares : Σ r² of their residuals r = k - mean n. shared :
    Σ r r' of the two sides. With h = n / Σ n, E Σ r² = σ² Σ n (1 - Σ h²) for independent cases, and Σ r² has as many
    degrees of freedom as (Σ h - Σ h²)² / (Σ h² - 2 Σ h³ + (Σ h²)²): the number of sources less one if all are equal.
    """
    h2, h3 = of_sizes[0] / n**2, of_sizes[1] / n**3
    squares = np.where(squares < ROUNDING * of_sizes[0], 0.0, squares) / (1 - h2)
    freedom = (1 - h2) ** 2 / np.maximum(h2 - 2 * h3 + h2**2, 1e-300)
    own = _spread(mean, 1.0) / (squares / n**2)
    together = (n * mean).sum(axis=0) / n.sum(axis=0)
    share = (
        squares.sum(axis=0) / of_sizes[0].sum(axis=0) / _spread(together, 1.0)
    )  # of the variance that can be
    sources = (1 / h2).sum(axis=0)
    share = np.fmin((np.nan_to_num(share, nan=1.0) * sources + 1) / (sources + 1), 1.0)
    worth = np.fmin(own, 1 / (share * h2))
    scale = np.sqrt((_spread(mean, 1.0) / worth * (1 - h2) * n**2).prod(axis=0))
    return worth, freedom, np.clip(np.where(scale > 0, shared / scale, 0.0), -1, 1)


def _over_sources(
    sums: Sums, family: Family, mean: np.ndarray
) -> tuple[Callable, np.ndarray]:
    """Return Σ nᵃ kᵇ over sources as a function of a and b, (2, groups), and Σ r r', where r = k - mean n.

    Those that a group does not touch are summed up for all groups at once, so the cost is that of the pairs of source
    and group that occur, however many groups there are.
    """
    source, group, place = family.pairs
    summed = sums.power(1, 0), sums.power(0, 1)
    n, k = (np.bincount(place, values, minlength=len(group)) for values in summed)
    whole = (
        np.ones(len(group)) if family.reference is None else group == family.reference
    )
    whole_n, whole_k = (np.bincount(source, values * whole) for values in (n, k))
    own = np.isin(group, family.compared)
    group, source, n, k = (
        np.searchsorted(family.compared, group[own]),
        source[own],
        n[own],
        k[own],
    )
    mine = (
        1.0 if family.reference is None else 0.0
    )  # the reference never includes the group itself
    here = whole_n[source], whole_k[source]
    others = here[0] - mine * n, here[1] - mine * k

    def power(
        a: int, b: int
    ) -> (
        np.ndarray
    ):  # Σ n^a k^b, the group's, and the others': of all, but for sources touched
        sides = (m**a * t**b for m, t in ((n, k), here, others))
        own, less, more = (
            np.bincount(group, values, minlength=mean.shape[1]) for values in sides
        )
        return np.stack([own, np.sum(whole_n**a * whole_k**b) - less + more])

    residuals = (k - mean[0, group] * n) * (others[1] - mean[1, group] * others[0])
    return power, np.bincount(group, residuals, minlength=mean.shape[1])


def settling(
    plan: Contrast, *, size: np.ndarray, alpha: float, power: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return how many more cases of the group would show a difference of `size`, and how many times as many of all.

    A difference d of n cases from the others is shown with the power asked for if d = z(α/2) √(v₀/n + v) + z(power)
    √(v₁/n + v), where v₀ is the variance of a case if the group is like the others, v₁ if it differs by d towards one
    half, and v that of the others' mean: an approximation, whose power is up to 0.1 lower for rare events and strict
    levels. More cases: the others stay as they are (infinite where these are too few), and shares need 1 / size more,
    as an exact test jumps from count to count. Times: all groups grow, mixed as now.
    """
    share = plan.expected + np.where(plan.expected < 0.5, 1, -1) * np.minimum(
        size, np.abs(plan.expected - 0.5)
    )
    there = np.where(np.isfinite(plan.expected), share * (1 - share), plan.variance)

    def reach(n: np.ndarray) -> np.ndarray:  # the difference that n cases show
        error, error_there = (
            np.sqrt(variance / n + plan.variance_others)
            for variance in (plan.variance, there)
        )
        return -ndtri(alpha / 2) * error + ndtri(power) * error_there

    found = bisection(lambda n: reach(2**n) > size, 0.0, MOST_MORE, steps=60)
    jumps = np.where(np.isfinite(plan.expected), 1 / size, 0)
    wanted = np.where(
        found >= MOST_MORE - 0.1, np.inf, np.ceil(2**found + jumps - 1e-6)
    )
    more = np.where(np.isnan(size), np.nan, np.maximum(wanted - plan.units[0], 0))
    return more, (reach(np.maximum(plan.units[0], 1)) / size) ** 2
