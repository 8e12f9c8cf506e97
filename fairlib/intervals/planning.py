"""Planning before annotating: how many examples a claim about a difference needs.

`sample_size` and `smallest_bias` answer for every method in `fairlib.bounds.METHODS`;
each of the two functions is the inverse of the other. Both ask for *power*: the
probability that the interval will lie on the right side of 0 if the true difference is
`bias`. A sample that is just large enough for an *observed* difference of `bias`
(Ethayarajh 2020, eq. 4) has a power of only one half, because an estimate falls short
of the true difference as often as it exceeds it.

All costs are 0 or 1 here. Among all costs with the same means, these vary most, so that
other costs need fewer examples.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy import ndarray
from numpy.random import Generator
from scipy import stats

from fairlib.checks import check_confidence, check_word, checked
from fairlib.interval import bisection
from fairlib.intervals import betting, exact, proportions
from fairlib.intervals.disparity import DEFAULT, METHODS

GAMES = 2000  # that are simulated for the power of betting
# As many counts of a binomial are computed; of more, every second, third, ...
MOST_COUNTS = 1 << 11
_GAMES_AT_ONCE = 500
_MOST_ROUNDS = 1 << 14  # of a simulated game
_MOST_EXAMPLES = 10_000_000
_REACH = 7  # standard deviations; counts farther from the mean have no weight
# Tables this improbable are taken for "no difference shown" where each of them would
# cost an exact interval; the power comes out too low by at most this much.
_UNLIKELY = 5e-4


def sample_size(
    bias: float,
    *,
    power: float = 0.8,
    method: str = DEFAULT,
    error: float | None = None,
    gamma: float = 0.5,
    discordant: float | None = None,
    confidence: float = 0.95,
    rng: int | Generator | None = 0,
) -> int:
    """Return how many examples are needed to show a true difference of `bias`.

    With this many examples, the interval of `method` lies above 0 with probability
    `power` if the error rate of group A is larger than that of group B by `bias`.

    Parameters
    ----------
    bias : float
        True difference of the two error rates, above 0 and at most 1.
    power : float, default 0.8
        Probability with which the interval has to exclude 0, on the right side.
    method : str, default "exact_unconditional"
        Name of an interval in `fairlib.bounds.METHODS`.
    error : float, optional
        Error rate of group B. By default the worst case, (1 - bias) / 2.
    gamma : float, default 0.5
        Share of group A among the examples. Methods for pairs ignore it.
    discordant : float, optional
        For methods for pairs: the share of the pairs in which exactly one of the two
        examples goes wrong. By default the share of independent pairs.
    confidence : float, default 0.95
        Confidence of the interval.
    rng : int or numpy.random.Generator, default 0
        Seed for the power of betting, which is simulated. Other methods ignore it.

    Returns
    -------
    int
        Number of examples, or of pairs for a method for pairs.

    Raises
    ------
    ValueError
        If an argument is out of range, if more than 10,000,000 examples would be
        needed, or if betting would need more than 16,384 in the smaller group.

    Notes
    -----
    The power of betting is simulated with a standard error of 0.9 %, and the answer is
    known to 1 %. For the other methods, power is computed from all tables that are
    likely. For "exact_unconditional", it is never too high. With groups of equal size,
    it was at most 0.01 too low wherever we compared it with the intervals of all
    tables. With groups of unequal size, it was up to 0.11 too low, and the answer was
    up to 7 % larger than necessary. Because counts are whole, power goes a little up
    and down as n grows; a slightly smaller n may have the power too.

    Examples
    --------
    >>> sample_size(0.05, power=0.8, error=0.2, method="newcombe")
    2184
    >>> sample_size(0.05, power=0.5, error=0.2, method="newcombe")
    1072
    """
    design = _design(
        bias,
        method=method,
        error=error,
        gamma=gamma,
        discordant=discordant,
        confidence=confidence,
    )
    _check_power(power)
    search = _Search(
        scale=_EXAMPLES,
        power_at=lambda n: _power(n, design, rng),
        power=power,
        most=_MOST_EXAMPLES,
        alpha=design.alpha,
        tolerance=_tolerance(method),
    )

    size = search.smallest(design.normal_size(power))
    if math.isnan(size):
        raise ValueError(
            f"bias {bias:g} would need more than {_MOST_EXAMPLES:,} examples "
            f"with method {method!r}"
        )
    return int(size)


def smallest_bias(
    n: int,
    *,
    power: float = 0.8,
    method: str = DEFAULT,
    error: float | None = None,
    gamma: float = 0.5,
    discordant: float | None = None,
    confidence: float = 0.95,
    rng: int | Generator | None = 0,
) -> float:
    """Return the smallest true difference that n examples show with this power.

    A difference smaller than this one may exist, but a data set of n examples would
    often fail to show it. The answer is known to a ten-thousandth.

    Parameters
    ----------
    n : int
        Number of examples, or of pairs for a method for pairs.
    power, method, gamma, discordant, confidence, rng
        As in `sample_size`.
    error : float, optional
        Error rate of group B, from 0 and below 1. By default the worst case for each
        difference.

    Returns
    -------
    float
        The difference of the two error rates; NaN if n examples cannot show any.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    For betting, the answer is known to 1 %, with a standard error of 1.5 %.

    Examples
    --------
    >>> round(smallest_bias(3160, power=0.5, method="bernstein_maximal"), 3)
    0.097
    """
    checked("n", n, "a whole number from 1 on", lambda n: (n >= 1) & (n == np.floor(n)))
    least_error = error or 0.0
    checked("error", least_error, "in [0, 1)", lambda rate: (rate >= 0) & (rate < 1))
    _check_power(power)

    design_for = partial(
        _design,
        method=method,
        error=error,
        gamma=gamma,
        discordant=discordant,
        confidence=confidence,
    )
    most = min(1.0 - least_error, 1.0 if discordant is None else discordant)
    search = _Search(
        scale=_DIFFERENCES,
        power_at=lambda bias: _power(n, design_for(bias), rng),
        power=power,
        most=most,
        alpha=design_for(most).alpha,
        tolerance=_tolerance(method),
    )

    def is_too_small(bias: ndarray) -> ndarray:
        return np.asarray(design_for(float(bias)).normal_size(power) >= n)

    start = float(bisection(is_too_small, 1e-6, most, steps=30))
    return float(search.smallest(start))


# --- the search ---


@dataclass(frozen=True, kw_only=True)
class _Scale:
    """The values among which a search looks, and the steps that it takes."""

    round_down: Callable[[float], float]
    round_up: Callable[[float], float]
    least: float  # the smallest value, and the distance of two neighbours
    first_tried: float  # smaller values have no power that is worth looking at
    exponent: int  # the normal quantile of power grows like value ** (1 / exponent)
    slack: float  # the first value tried is this many times the corrected start
    stride: float  # the second is this many times the first; then strides grow


_EXAMPLES = _Scale(
    round_down=math.floor,
    round_up=math.ceil,
    least=1,
    first_tried=4,
    exponent=2,
    slack=1.002,
    stride=1.01,
)
_DIFFERENCES = _Scale(
    round_down=float,
    round_up=float,
    least=1e-4,
    first_tried=0.0,
    exponent=1,
    slack=1.0,
    stride=1.004,
)
_LONGEST_STRIDE = 1.3


@dataclass(frozen=True, kw_only=True)
class _Search:
    """The search for the smallest value with enough power: a size or a difference."""

    scale: _Scale
    power_at: Callable
    power: float
    most: float
    alpha: float
    tolerance: float  # error of the answer that is allowed, as a share of it

    def smallest(self, start: float) -> float:
        """Return the smallest value with this power; NaN if no value up to `most` has.

        `start` is what normal theory asks for. From there, strides grow until one value
        does not suffice and another does; the distance of these two is then halved.
        """
        scale = self.scale
        first = scale.slack * self._corrected(start)
        low = 0.0
        high = max(scale.round_down(min(first, self.most)), scale.least)
        stride = scale.stride

        while self.power_at(high) < self.power:
            if high >= self.most:
                return math.nan
            low = high
            high = min(scale.round_up(stride * high), self.most)
            stride = min(stride**2, _LONGEST_STRIDE)

        while high - low > max(scale.least, self.tolerance * low):
            middle = (low + high) / 2 if low else high / stride
            tried = scale.round_down(middle)
            stride = min(stride**2, _LONGEST_STRIDE)
            if self.power_at(tried) >= self.power:
                high = tried
            else:
                low = tried

        return high

    def _corrected(self, start: float) -> float:
        """Return a better start: twice, see how far the power at the start is off.

        In normal theory, z(power) = constant * value ** (1 / exponent) - z(1 - alpha/2)
        """
        critical = stats.norm.isf(self.alpha / 2)
        wanted = stats.norm.ppf(self.power)
        better = start
        longest_jump = math.inf if self.tolerance == 0 else 10.0  # as power is costly

        for _ in range(2):
            if self.scale.first_tried <= better <= self.most:
                power = self.power_at(self.scale.round_down(better))
                reached = stats.norm.ppf(np.clip(power, 0.01, 0.99))
                ratio = (critical + wanted) / max(critical + reached, 0.1)
                better *= min(ratio**self.scale.exponent, longest_jump)
            better = min(better, self.most)

        return better


def _tolerance(method: str) -> float:
    """Return the relative error that an answer may have: 0 where power is cheap."""
    if METHODS[method].counts is None:
        return 0.01
    return 0.001 if method == "exact_unconditional" else 0.0


# --- the design ---


@dataclass(frozen=True, kw_only=True)
class _Design:
    """How examples come: two groups of 0-1 errors, or pairs of such errors.

    A share `gamma` of the examples is in group A. Its error rate is `rate_a`, that of
    group B is `rate_b`. In pairs, a share `discordant` has exactly one error.
    """

    method: str
    alpha: float
    gamma: float
    bias: float
    rate_a: float
    rate_b: float
    discordant: float

    @property
    def paired(self) -> bool:
        """Whether the method is one for pairs."""
        return METHODS[self.method].paired

    @property
    def only_a(self) -> float:
        """The share of pairs in which only the example of group A goes wrong."""
        return (self.bias + self.discordant) / 2

    def sizes(self, n: int) -> tuple[int, int]:
        """Return how many of n examples are in group A and in group B."""
        n_a = min(max(round(self.gamma * n), 1), n - 1)
        return n_a, n - n_a

    def normal_size(self, power: float) -> float:
        """Return how many examples are needed in normal theory.

        n = variance * ((z(1 - alpha/2) + z(power)) / bias) ** 2
        """
        if self.paired:
            variance = self.discordant - self.bias**2
        else:
            variance_a = self.rate_a * (1 - self.rate_a)
            variance_b = self.rate_b * (1 - self.rate_b)
            variance = variance_a / self.gamma + variance_b / (1 - self.gamma)

        quantiles = stats.norm.isf(self.alpha / 2) + stats.norm.ppf(power)
        return variance * (quantiles / self.bias) ** 2


def _design(
    bias: float,
    *,
    method: str,
    error: float | None = None,
    gamma: float = 0.5,
    discordant: float | None = None,
    confidence: float = 0.95,
) -> _Design:
    """Return the design that these arguments describe, after checking them."""
    check_word("method", method, METHODS)
    difference = float(
        checked("bias", bias, "in (0, 1]", lambda bias: (bias > 0) & (bias <= 1))
    )

    rate_b = (1 - difference) / 2 if error is None else error
    checked(
        "error",
        rate_b,
        f"in [0, 1 - bias={1 - difference:g}]",
        lambda rate: (rate >= 0) & (rate <= 1 - difference + 1e-12),
    )
    rate_a = min(rate_b + difference, 1.0)
    checked("gamma", gamma, "in (0, 1)", lambda share: (share > 0) & (share < 1))
    check_confidence(confidence)

    if discordant is None:
        one_wrong = rate_a * (1 - rate_b) + rate_b * (1 - rate_a)
    else:
        one_wrong = discordant
    checked(
        "discordant",
        one_wrong,
        f"in [bias={difference:g}, 1]",
        lambda share: (share >= difference - 1e-12) & (share <= 1),
    )

    return _Design(
        method=method,
        alpha=1 - confidence,
        gamma=gamma,
        bias=rate_a - rate_b,
        rate_a=rate_a,
        rate_b=rate_b,
        discordant=min(max(one_wrong, difference), 1.0),
    )


def _check_power(power: float) -> None:
    """Raise unless power is a probability strictly between 0 and 1."""
    checked("power", power, "in (0, 1)", lambda share: (share > 0) & (share < 1))


# --- power ---


def likely(n: int, rate: float) -> tuple[ndarray, ndarray]:
    """Return the counts that a binomial distribution is likely to give.

    Parameters
    ----------
    n : int
        Number of examples.
    rate : float
        Error rate.

    Returns
    -------
    counts : numpy.ndarray
        The counts within a little more than 7 standard deviations of the mean: all, or
        every second, third, ... where there would be more than `MOST_COUNTS`.
    probabilities : numpy.ndarray
        The probability of each count, times the distance of neighbouring counts.
    """
    mean = n * rate
    reach = _REACH * np.sqrt(n * rate * (1 - rate)) + 2 * _REACH
    step = 1 + int(2 * reach) // MOST_COUNTS

    first = max(0, int(mean - reach))
    last = min(n, int(mean + reach))
    counts = np.arange(first, last + 1, step)
    return counts, step * stats.binom.pmf(counts, n, rate)


def _power(n: int, design: _Design, rng: int | Generator | None = 0) -> float:
    """Return the probability that n examples or pairs give an interval above 0."""
    if n < 4 and not design.paired:
        return 0.0
    if METHODS[design.method].counts is None:
        return _simulated_power(n, design, rng)
    if design.paired:
        return _power_of_pairs(n, design)
    return _power_of_groups(n, design)


def _power_of_groups(n: int, design: _Design) -> float:
    """Return the probability of all tables of two groups with an interval above 0."""
    n_a, n_b = design.sizes(n)
    errors_b, probability = likely(n_b, design.rate_b)

    def too_few(errors_a: ndarray) -> ndarray:
        return ~_above_zero(design, (errors_a, n_a, errors_b, n_b))

    # With more errors in group A, no method's lower limit falls: for each number of
    # errors in group B, one count of group A separates the tables.
    most_too_few = exact.largest_count(too_few, np.full_like(errors_b, n_a))
    return float(probability @ stats.binom.sf(most_too_few, n_a, design.rate_a))


def _power_of_pairs(n: int, design: _Design) -> float:
    """Return the probability of all tables of n pairs with an interval above 0."""
    discordant, probability = likely(n, design.discordant)

    def too_few(only_a: ndarray) -> ndarray:
        return ~_above_zero(design, (only_a, discordant - only_a, n))

    # Among the pairs with exactly one error, those with the error in A are binomial.
    most_too_few = exact.largest_count(too_few, discordant)
    rate = min(design.only_a / design.discordant, 1.0)
    return float(probability @ stats.binom.sf(most_too_few, discordant, rate))


def _above_zero(design: _Design, table: tuple) -> ndarray:
    """Return whether the interval of each table lies above 0."""
    if design.method == "exact_unconditional":
        return _exactly_above_zero(design, table)

    # Limits of score intervals are costly; they exclude 0 where the test rejects it.
    critical = stats.norm.isf(design.alpha / 2)
    if design.method == "miettinen_nurminen":
        return proportions.miettinen_nurminen_score(0.0, *table) > critical
    if design.method == "tango":
        return proportions.tango_score(0.0, *table) > critical

    counts = METHODS[design.method].counts
    assert counts is not None  # the other methods are simulated
    low, _ = counts(*table, alpha=design.alpha)
    return low > 0


def _exactly_above_zero(design: _Design, table: tuple) -> ndarray:
    """Return whether the exact interval lies above 0, for tables that are likely.

    All likely tables are compared with one critical value of Newcombe's lower limit:
    the value for the likely table that needs most. Unlikely tables count as "no".
    """
    _, n_a, x_b, n_b = table
    sizes = np.array([[n_a], [n_b]])
    rates = np.array([[design.rate_a], [design.rate_b]])
    tails = [_UNLIKELY / 4, 1 - _UNLIKELY / 4]
    counts = stats.binom.ppf(tails, sizes, rates)  # groups x (lowest, highest)

    low, high = proportions.limits(counts, sizes, exact.APART * design.alpha / 4)
    near = tuple(zip(low[:, 0].tolist(), high[:, 1].tolist(), strict=True))
    level = exact.exact_level(n_a, n_b, design.alpha, near)

    is_likely = (x_b >= counts[1, 0]) & (x_b <= counts[1, 1])
    newcombe_low, _ = proportions.newcombe(*table, alpha=design.alpha)
    return is_likely & (newcombe_low >= level)


def _simulated_power(n: int, design: _Design, rng: int | Generator | None) -> float:
    """Return the share of simulated games in which a bettor becomes convinced."""
    sizes = (n,) if design.paired else design.sizes(n)
    if min(sizes) > _MOST_ROUNDS:
        raise ValueError(
            f"method {design.method!r} is simulated for up to {_MOST_ROUNDS:,} rounds; "
            f"plan with {DEFAULT!r}"
        )

    if design.paired:
        draw = partial(games_of_pairs, n, design.only_a, design.discordant)
    else:
        draw = partial(games_of_groups, sizes, (design.rate_a, design.rate_b))

    generator = np.random.default_rng(rng)
    convinced = []
    for _ in range(GAMES // _GAMES_AT_ONCE):
        rounds = draw(generator, _GAMES_AT_ONCE)
        convinced.append(betting.rejects(rounds, 0.5, alpha=design.alpha / 2))
    return float(np.mean(convinced))


def games_of_groups(
    sizes: Sequence[int], rates: Sequence[float], rng: Generator, games: int
) -> ndarray:
    """Draw games for a bettor who compares two groups of 0-1 errors.

    Parameters
    ----------
    sizes, rates : sequence of two numbers
        Number of examples and error rate of group A and of group B.
    rng : numpy.random.Generator
        Source of randomness.
    games : int
        Number of games.

    Returns
    -------
    numpy.ndarray
        Array of shape (rounds, games) with numbers from 0 to 1: a round for each member
        of the smaller group, matched with a block of the larger group. Their mean is
        (1 + difference) / 2.
    """
    blocks = min(sizes)
    mean_a, mean_b = (
        betting.block_means((rng.random((size, games)) < rate) * 1.0, blocks)
        for size, rate in zip(sizes, rates, strict=True)
    )
    return (1 + mean_a - mean_b) / 2


def games_of_pairs(
    n: int, only_a: float, discordant: float, rng: Generator, games: int
) -> ndarray:
    """Draw games for a bettor who compares pairs of 0-1 errors.

    Parameters
    ----------
    n : int
        Number of pairs.
    only_a : float
        Share of the pairs in which only the example of group A goes wrong.
    discordant : float
        Share of the pairs in which exactly one of the two examples goes wrong.
    rng : numpy.random.Generator
        Source of randomness.
    games : int
        Number of games.

    Returns
    -------
    numpy.ndarray
        Array of shape (n, games): 1 where only A is wrong, 0 where only B is, else 1/2.
    """
    outcome = rng.random((n, games))
    return np.select([outcome < only_a, outcome < discordant], [1.0, 0.0], 0.5)
