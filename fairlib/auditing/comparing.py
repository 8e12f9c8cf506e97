"""Each group against others: the difference, its interval, and the test that fits it.

There is one method for all data. Each side of a comparison is worth some number of
independent cases of 0 or 1 (`Contrast.worth`), and Clopper and Pearson's limits for so
many cases say how far its rate may be from the mean. The two distances are combined as
the sides of a triangle, whose angle depends on the correlation of the sides (Newcombe
1998, method 10 and the method for pairs, with exact limits in place of Wilson's; Zou
and Donner 2008). The test belongs to the interval: p is the level at which the interval
just excludes 0.

What a side is worth depends on the data:

- Independent cases, each right or wrong, are worth their number. By enumeration for
  groups of 30 to 1,000 and 25 rates, the interval covers 95 % or more, except where
  one rate is nearly 0 and the other nearly 1 (.927 for 30 and 30 cases with rates of
  .01 and .99). The test errs in at most .9 of the cases that its level allows, at
  levels from 5 % to 1 in 100,000.
- Means m of probabilities are worth m (1 - m) / (s²/n), where s² is their variance.
- Means of costs are treated the same way, between the lowest and the highest cost. They
  have no interval if they are too skewed. `benchmarks/audits.md` reports the coverage.
- Cases with survey weights count as sources whose sizes are the weights.
- Cases that belong together by their source are worth m (1 - m) / V, where V is the
  variance between sources (Korn and Graubard 1998). V is unbiased, and has the degrees
  of freedom that it would have for independent cases (Bell and McCaffrey 2002). V says
  too little about few sources, so each side must have a `minimum` of them. Sources with
  n cases each count as (Σ n)² / Σ n² sources of equal size. Below 30 of them
  on both sides, `few_sources` takes the place of all this.

A few cases that happen to contain no rare large value vary too little, and would be
trusted far too much. So no side is worth more than if its sources varied as those of
both sides do, with one more source that is all wrong, or all right.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from numpy import ndarray
from scipy.special import betaincinv, ndtr, ndtri, stdtrit

from fairlib.auditing.groups import Family
from fairlib.auditing.rates import COST
from fairlib.auditing.sums import Sums
from fairlib.interval import bisection

_LARGEST_Z = 20.0  # p-values below 1e-88 are not told apart
_CASES_PER_SQUARED_SKEWNESS = 10
_ROUNDING = 1e-12  # sums of squares that are this small are 0
_MOST_DOUBLINGS = 40.0  # nobody can add more than 2^40 cases
_MOST_WORTH = 1e15  # cases that the limits of a rate can tell apart
_SMALLEST_POSITIVE = 1e-300  # in place of 0 as a divisor

Ends = tuple[ndarray, ndarray]


@dataclass(frozen=True, eq=False, kw_only=True)
class Contrast:
    """What both sides of each comparison say, and how surely.

    Arrays of two rows hold the compared groups in the first row, and in the second row
    what each of them is compared with. All other arrays have one value per comparison.

    Attributes
    ----------
    n : ndarray, (2, groups)
        Number of cases.
    value : ndarray, (2, groups)
        Their mean.
    units : ndarray, (2, groups)
        The number of cases, or of sources of equal size, that they count as.
    worth : ndarray, (2, groups)
        The number of independent cases of 0 or 1 that say as much about the mean.
    freedom : ndarray, (2, groups)
        Degrees of freedom of the variance behind `worth`; infinite if it is known.
    correlation : ndarray
        The correlation of the means of both sides.
    span : ndarray
        How far two cases can be apart.
    variance : ndarray
        The variance of one more case of the group.
    variance_others : ndarray
        The variance of the other side's mean.
    expected : ndarray
        For shares, the rate of a group that is like the others; otherwise NaN.
    third : ndarray, (2, groups), or 0.0
        For costs, the third central moment of the means.
    """

    n: ndarray
    value: ndarray
    units: ndarray
    worth: ndarray
    freedom: ndarray
    correlation: ndarray
    span: ndarray
    variance: ndarray
    variance_others: ndarray
    expected: ndarray
    third: ndarray | float = 0.0

    @property
    def difference(self) -> ndarray:
        """The mean of the group minus the mean of the other side."""
        return self.value[0] - self.value[1]

    @cached_property
    def p(self) -> ndarray:
        """The level at which the interval of each difference just excludes 0.

        NaN where the difference is undefined or the costs are too skewed.
        """
        upwards = _with_sides_exchanged(self, where=self.difference < 0)

        # Where one side's limit can go no farther and the sides are correlated, the
        # other side's limit may bring the end back above 0. The first level at which
        # the end touches 0 counts, so a coarse search comes before the bisection.
        is_correlated = (self.correlation > 0).any()
        steps = np.linspace(0, _LARGEST_Z, 81 if is_correlated else 2)
        touches = [~(_low(upwards, z) > 0) for z in steps[1:-1]]
        touches.append(np.full(len(self.difference), True))
        first = np.array(touches).argmax(axis=0)

        z = bisection(
            lambda z: _low(upwards, z) > 0, steps[first], steps[first + 1], steps=30
        )
        is_undefined = np.isnan(self.difference) | self._is_too_skewed
        return np.where(is_undefined, np.nan, 2 * ndtr(-z))

    @property
    def _is_too_skewed(self) -> ndarray:
        """Whether a mean has fewer than 10 g² cases, where g is their skewness.

        Cochran (1977), Sampling techniques.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = _largest_variance(self.value, self.span) / self.worth
            squared_skewness = _CASES_PER_SQUARED_SKEWNESS * self.third**2
            return (squared_skewness > variance**3).any(axis=0)


def contrast(sums: Sums, family: Family) -> Contrast:
    """Return what both sides of each comparison of a family say, and how surely."""

    def sides(per_cell: ndarray) -> ndarray:
        per_group = family.total(per_cell)
        both = [per_group[family.compared], family.others(per_group)]
        return np.stack(both).astype(float)

    cases = sides(sums.count)
    n = sides(sums.power(1, 0))
    total = sides(sums.power(0, 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / n
        if family.source is not None:
            return _from_sources(sums, family, cases=cases, n=n, mean=mean)

        def moment(a: int, b: int) -> ndarray:
            return sides(sums.power(a, b))

        if not sums.of_shares:
            return from_moments(sums, moment, cases=cases, n=n, mean=mean)

        return from_shares(sums, moment, cases=cases, n=n, total=total)


def from_shares(
    sums: Sums,
    moment: Callable[[int, int], ndarray],
    *,
    cases: ndarray,
    n: ndarray,
    total: ndarray,
) -> Contrast:
    """Return a contrast of independent cases, each of which counts or does not."""
    # A group that is still too small to know is taken to be like the others. Half a
    # case more keeps its rate away from 0 and 1.
    expected = (total[1] + 0.5) / (n[1] + 1)
    variance = expected * (1 - expected)

    return Contrast(
        n=cases,
        value=total / n,
        units=_number_of_equal_units(n, moment(2, 0)),
        worth=n,
        freedom=np.full(n.shape, np.inf),
        correlation=np.zeros(n.shape[1]),
        span=np.full(n.shape[1], float(sums.rate.farthest)),
        variance=variance,
        variance_others=variance / n[1],
        expected=expected,
        third=np.zeros(n.shape),
    )


def from_moments(
    sums: Sums,
    moment: Callable[[int, int], ndarray],
    *,
    cases: ndarray,
    n: ndarray,
    mean: ndarray,
    shared: ndarray | float = 0.0,
) -> Contrast:
    """Return a contrast whose precision follows from how much units vary.

    `moment(a, b)` is Σ nᵃ kᵇ over units with size n and sum k, such as cases with
    weights; `shared` is Σ r r' over the units that both sides have in common, where
    r = k - mean n.
    """
    span = float(sums.rate.farthest)
    n2 = moment(2, 0)
    n3 = moment(3, 0)
    squares = (moment(0, 2) - 2 * mean * moment(1, 1) + mean**2 * n2) / span**2

    third = np.zeros(n.shape)
    if sums.name == COST:
        cubes = (
            moment(0, 3)
            - 3 * mean * moment(1, 2)
            + 3 * mean**2 * moment(2, 1)
            - mean**3 * n3
        )
        third = np.nan_to_num(cubes / n**3)

    share_of_span = (mean + span - 1) / span
    worth, freedom, correlation = worth_of_units(
        n, share_of_span, n2=n2, n3=n3, squares=squares, shared=shared / span**2
    )
    if not sums.rate.uses_probability:
        worth = np.minimum(worth, cases)

    units = _number_of_equal_units(n, n2)
    variance_of_mean = _largest_variance(mean, span) / worth
    return Contrast(
        n=cases,
        value=mean,
        units=units,
        worth=worth,
        freedom=freedom,
        correlation=correlation,
        span=np.full(n.shape[1], span),
        variance=variance_of_mean[1] * units[1],
        variance_others=variance_of_mean[1],
        expected=np.full(n.shape[1], np.nan),
        third=third,
    )


def _from_sources(
    sums: Sums, family: Family, *, cases: ndarray, n: ndarray, mean: ndarray
) -> Contrast:
    """Return a contrast whose units are sources, which both sides may share."""
    moment, shared = _over_sources(sums, family, mean)
    apart = from_moments(sums, moment, cases=cases, n=n, mean=mean, shared=shared)

    # One more source is worth what each source is worth now, and has both sides in the
    # same proportion as now.
    variance = _largest_variance(mean, float(sums.rate.farthest)) / apart.worth
    covariance = apart.correlation * np.sqrt(variance.prod(axis=0))
    of_difference = variance.sum(axis=0) - 2 * covariance
    return replace(
        apart,
        variance=of_difference * apart.units[0],
        variance_others=np.zeros(n.shape[1]),
    )


def _over_sources(
    sums: Sums, family: Family, mean: ndarray
) -> tuple[Callable[[int, int], ndarray], ndarray]:
    """Return Σ nᵃ kᵇ over sources, as a function of a and b, and Σ r r'.

    Sources that a group has no case of are summed up once for all groups. So the cost
    grows with the pairs of source and group that occur, however many groups there are.
    """
    source_of_pair, group_of_pair, pair_of_cell = family.pairs
    pairs = len(group_of_pair)
    n_of_pair = np.bincount(pair_of_cell, sums.power(1, 0), minlength=pairs)
    k_of_pair = np.bincount(pair_of_cell, sums.power(0, 1), minlength=pairs)

    # The other side as a whole: the reference, or everyone, the group itself included.
    in_whole = np.ones(pairs)
    if family.reference is not None:
        in_whole = group_of_pair == family.reference
    whole_n = np.bincount(source_of_pair, n_of_pair * in_whole)
    whole_k = np.bincount(source_of_pair, k_of_pair * in_whole)

    is_compared = np.isin(group_of_pair, family.compared)
    group = np.searchsorted(family.compared, group_of_pair[is_compared])
    source = source_of_pair[is_compared]
    n = n_of_pair[is_compared]
    k = k_of_pair[is_compared]

    # A reference never includes the group itself; everyone does.
    itself = 1.0 if family.reference is None else 0.0
    others_n = whole_n[source] - itself * n
    others_k = whole_k[source] - itself * k

    def by_group(values: ndarray) -> ndarray:
        return np.bincount(group, values, minlength=mean.shape[1])

    def moment(a: int, b: int) -> ndarray:
        of_group = by_group(n**a * k**b)
        whole_of_touched = by_group(whole_n[source] ** a * whole_k[source] ** b)
        others_of_touched = by_group(others_n**a * others_k**b)
        whole = np.sum(whole_n**a * whole_k**b)
        return np.stack([of_group, whole - whole_of_touched + others_of_touched])

    residuals = k - mean[0, group] * n
    residuals_of_others = others_k - mean[1, group] * others_n
    return moment, by_group(residuals * residuals_of_others)


def _number_of_equal_units(n: ndarray, n2: ndarray) -> ndarray:
    """Return (Σ n)² / Σ n², rounded down: as many units of equal size weigh as much."""
    return np.floor(np.nan_to_num(n**2 / n2) * (1 + _ROUNDING))


def worth_of_units(
    n: ndarray,
    mean: ndarray,
    *,
    n2: ndarray,
    n3: ndarray,
    squares: ndarray,
    shared: ndarray | float,
) -> tuple[ndarray, ndarray, ndarray]:
    """Return what both sides are worth, their degrees of freedom, and the correlation.

    A side is a weighted mean over units with size n and sum k, such as sources.

    With h = n / Σ n, independent cases have E Σ r² = σ² Σ n (1 - Σ h²). Then Σ r² has
    (1 - Σ h²)² / (Σ h² - 2 Σ h³ + (Σ h²)²) degrees of freedom: the number of sources
    minus one if all sources have equal sizes.

    Parameters
    ----------
    n : ndarray, (2, groups)
        Σ n, the number of cases.
    mean : ndarray, (2, groups)
        Their mean, in [0, 1].
    n2, n3 : ndarray, (2, groups)
        Σ n² and Σ n³ over the sources.
    squares : ndarray, (2, groups)
        Σ r², where r = k - mean n is the residual of a source.
    shared : ndarray or float
        Σ r r' of the two sides.
    """
    h2 = n2 / n**2
    h3 = n3 / n**3
    unbiased_squares = np.where(squares < _ROUNDING * n2, 0.0, squares) / (1 - h2)
    freedom = (1 - h2) ** 2 / np.maximum(h2 - 2 * h3 + h2**2, _SMALLEST_POSITIVE)
    worth_alone = _largest_variance(mean, 1.0) / (unbiased_squares / n**2)

    # How much sources of both sides vary, as a share of the variance that is possible,
    # with one more source that is all wrong, or all right.
    pooled_mean = (n * mean).sum(axis=0) / n.sum(axis=0)
    pooled_variance = unbiased_squares.sum(axis=0) / n2.sum(axis=0)
    share = pooled_variance / _largest_variance(pooled_mean, 1.0)
    sources = (1 / h2).sum(axis=0)
    share_with_one_more = (np.nan_to_num(share, nan=1.0) * sources + 1) / (sources + 1)
    worth_together = 1 / (np.fmin(share_with_one_more, 1.0) * h2)
    worth = np.fmin(worth_alone, worth_together)

    of_residuals = _largest_variance(mean, 1.0) / worth * (1 - h2) * n**2
    scale = np.sqrt(of_residuals.prod(axis=0))
    correlation = np.where(scale > 0, shared / scale, 0.0)
    return worth, freedom, np.clip(correlation, -1, 1)


def _largest_variance(mean: ndarray, span: ndarray | float) -> ndarray:
    """Return the largest variance that values with this mean can have."""
    return (mean + span - 1) * (1 - mean)


def joined(parts: list[Contrast]) -> Contrast:
    """Return the comparisons of several contrasts as one contrast."""
    names = [field.name for field in fields(Contrast)]
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts], axis=-1)
        for name in names
    }
    return Contrast(**arrays)


def ends(compared: Contrast, alpha: ndarray | float) -> Ends:
    """Return the ends of intervals for the differences.

    Each interval misses the true difference with probability at most `alpha`.
    """
    z = -ndtri(alpha / 2)
    low = _low(compared, z)
    high = -_low(_with_sides_exchanged(compared), z)
    return _agreeing_with_p(compared, alpha, low=low, high=high, null=0.0)


def limits(compared: Contrast, alpha: ndarray | float) -> Ends:
    """Return the ends of intervals for the shares of both sides, (2, groups)."""
    z = -ndtri(alpha / 2)
    low = _limit(compared.value, compared.worth, compared.freedom, z)
    low_of_rest = _limit(1 - compared.value, compared.worth, compared.freedom, z)
    return low, 1 - low_of_rest


def ratio_ends(compared: Contrast, alpha: ndarray | float) -> Ends:
    """Return the ends of intervals for the ratios of both sides' shares.

    They exclude 1 where the intervals of `ends` exclude 0. An end is a ratio r with

        (p₁ - r p₂)² = a² - 2 ρ r a b + r² b²

    where a and b are the distances from the means to their limits (Donner and Zou 2012,
    with exact limits). NaN for means that are no shares, and for 0 / 0.
    """
    lower, upper = limits(compared, alpha)
    share, other = compared.value

    with np.errstate(invalid="ignore", divide="ignore"):
        # The smaller root cancels digits; it follows from the product of the roots.
        _, half, rest, distance = _quadratic(
            compared, share - lower[0], upper[1] - other
        )
        smaller = np.where(rest > 0, rest / (2 * half - (half - distance)), 0.0)

        square, half, _, distance = _quadratic(
            compared, upper[0] - share, other - lower[1]
        )
        larger = (half + distance) / square

    low = np.maximum(smaller, 0)
    high = np.where((lower[1] > 0) & (larger >= 0), larger, np.inf)
    low, high = _agreeing_with_p(compared, alpha, low=low, high=high, null=1.0)

    is_ratio = (compared.span == 1) & ~((share == 0) & (other == 0))
    return np.where(is_ratio, low, np.nan), np.where(is_ratio, high, np.nan)


def _quadratic(
    compared: Contrast, a: ndarray, b: ndarray
) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """Return s, h, c and √(h² - s c) of the equation s r² - 2 h r + c = 0."""
    share, other = compared.value
    square = other**2 - b**2
    half = share * other - compared.correlation * a * b
    rest = share**2 - a**2
    return square, half, rest, np.sqrt(np.maximum(half**2 - square * rest, 0))


def _agreeing_with_p(
    compared: Contrast,
    alpha: ndarray | float,
    *,
    low: ndarray,
    high: ndarray,
    null: float,
) -> Ends:
    """Return ends that include "no difference" where p is more than alpha.

    Both are NaN where p is unknown.
    """
    includes_null = compared.p > alpha
    is_unknown = np.isnan(compared.p)
    known_low = np.where(is_unknown, np.nan, low)
    known_high = np.where(is_unknown, np.nan, high)
    return (
        np.where(includes_null, np.minimum(known_low, null), known_low),
        np.where(includes_null, np.maximum(known_high, null), known_high),
    )


def _with_sides_exchanged(
    compared: Contrast, *, where: ndarray | bool = True
) -> Contrast:
    """Return the comparisons with their sides exchanged."""
    return replace(
        compared,
        value=np.where(where, compared.value[::-1], compared.value),
        worth=np.where(where, compared.worth[::-1], compared.worth),
        freedom=np.where(where, compared.freedom[::-1], compared.freedom),
    )


def _low(compared: Contrast, z: ndarray | float) -> ndarray:
    """Return the low end of intervals with limits z standard deviations away."""
    span = compared.span
    share_of_span = (compared.value + span - 1) / span
    with np.errstate(invalid="ignore", divide="ignore"):
        # The group's mean may be too high, and the other side's mean too low.
        share = np.stack([share_of_span[0], 1 - share_of_span[1]])
        distance = share - _limit(share, compared.worth, compared.freedom, z)

        common = 2 * compared.correlation * distance.prod(axis=0)
        squared = (distance**2).sum(axis=0) - common
        low = compared.difference - span * np.sqrt(np.maximum(squared, 0))
        return np.maximum(low, -span)


def _limit(
    share: ndarray, worth: ndarray, freedom: ndarray, z: ndarray | float
) -> ndarray:
    """Return Clopper and Pearson's lower limit of shares.

    A worth that is estimated counts for less, in the ratio of z² to t².
    """
    tail = ndtr(-np.asarray(z))
    t = stdtrit(np.minimum(freedom, 1e9), tail)
    shrunk = worth * np.where(np.isfinite(freedom), (z / t) ** 2, 1.0)

    # Values that do not vary at all are worth any number of cases.
    cases = np.minimum(shrunk, _MOST_WORTH)
    events = np.maximum(share * cases, _SMALLEST_POSITIVE)
    limit = betaincinv(events, cases - share * cases + 1, tail)
    limit = np.where(share > 0, np.nan_to_num(limit), 0.0)
    return np.where(np.isnan(share), np.nan, limit)


def planned_for_others(plan: Contrast) -> Contrast:
    """Return a plan in which the other side grows, and the group stays as it is.

    With sources, one more source has cases of both sides, so that nothing changes.
    """
    has_own_cases = plan.variance_others > 0
    exchanged = _with_sides_exchanged(plan, where=has_own_cases)
    units = np.where(has_own_cases, plan.units[::-1], plan.units)

    # If the sides are alike, the mean of a side with n cases has variance v / n.
    with np.errstate(divide="ignore", invalid="ignore"):
        variance_of_group = plan.variance / plan.units[0]
    return replace(
        exchanged,
        units=units,
        variance_others=np.where(
            has_own_cases, variance_of_group, plan.variance_others
        ),
    )


def settling(
    plan: Contrast, *, size: ndarray, alpha: float, power: float
) -> tuple[ndarray, ndarray]:
    """Return how many more cases would show a difference of some size.

    n cases show a difference d from the others with the wanted power if

        d = z(α/2) √(v₀/n + v) + z(power) √(v₁/n + v)

    where v₀ is the variance of a case if the group is like the others, v₁ the variance
    if its rate is d nearer to one half, and v the variance of the others' mean. This is
    an approximation: for rare events and strict levels, its power is up to 0.1 lower.

    Parameters
    ----------
    plan : Contrast
        The comparisons.
    size : ndarray
        The difference d of each comparison.
    alpha, power : float
        The level of the test, and the power that is wanted.

    Returns
    -------
    more : ndarray
        How many more cases of the group would do if the others stay as they are;
        infinite where the others are too few. Shares need 1 / size cases more than the
        formula, because an exact test jumps from count to count.
    times : ndarray
        How many times as many cases of all groups would do.
    """
    towards_half = np.where(plan.expected < 0.5, 1, -1)
    step = np.minimum(size, np.abs(plan.expected - 0.5))
    share = plan.expected + towards_half * step
    is_share = np.isfinite(plan.expected)
    variance_if_different = np.where(is_share, share * (1 - share), plan.variance)

    def shown_by(n: ndarray) -> ndarray:
        error = np.sqrt(plan.variance / n + plan.variance_others)
        error_if_different = np.sqrt(variance_if_different / n + plan.variance_others)
        return -ndtri(alpha / 2) * error + ndtri(power) * error_if_different

    doublings = bisection(
        lambda doublings: shown_by(2**doublings) > size, 0.0, _MOST_DOUBLINGS, steps=60
    )
    jump = np.where(is_share, 1 / size, 0)
    wanted = np.ceil(2**doublings + jump - 1e-6)
    wanted = np.where(doublings >= _MOST_DOUBLINGS - 0.1, np.inf, wanted)
    more = np.maximum(wanted - plan.units[0], 0)

    times = (shown_by(np.maximum(plan.units[0], 1)) / size) ** 2
    return np.where(np.isnan(size), np.nan, more), times
