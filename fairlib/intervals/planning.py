"""Before annotating: how many examples does a claim need, and which bias can a given number show?

`sample_size` and `smallest_bias` answer for every method in `fairlib.bounds.METHODS`, and are each other's inverse.
They ask for *power*: the chance that the interval will exclude 0, on the right side, if the true difference is `bias`.
A sample just large enough for an *observed* difference of `bias` (Ethayarajh 2020, eq. 4) has a power of one half: an
estimate falls short of the truth as often as not.

Costs are 0 or 1 here: of all costs with the same means these vary most, so that others need fewer examples.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import stats

from fairlib.checks import check_confidence, check_word, checked
from fairlib.interval import bisection
from fairlib.intervals import betting, exact, proportions
from fairlib.intervals.disparity import DEFAULT, METHODS

LARGEST = 10_000_000
GAMES, TOGETHER = 2000, 500  # simulated, and how many at a time
ROUNDS = 1 << 14  # of a simulated game, at most
COUNTS = 1 << 11  # that are looked at, where more are likely: every second, third ...
FARTHEST = 7  # standard deviations: what lies beyond has no weight
UNLIKELY = 5e-4  # tables whose exact interval is not looked at: power is that much too low at most


def sample_size(
    bias: float, *, power: float = 0.8, method: str = DEFAULT, rng=0, **design
) -> int:
    """Return how many examples (pairs, for a paired method) show a true difference of `bias` with this power.

    design : error, the error rate of group B, by default the worst case, about 1/2; gamma, the share of group A among
        the examples (0.5); discordant, for paired methods the share of the pairs in which exactly one goes wrong, by
        default as if independent; confidence (0.95).
    rng : for betting, whose power is simulated (standard error 0.9 %) for up to 16,384 in the smaller group, n known to
        1 %. For the others power is computed from the tables, for "exact_unconditional" at most .001 too low and n
        known to 0.1 %; as counts are whole, it saws a little up and down as n grows, and the search ends on a tooth.

    >>> [sample_size(0.05, power=power, error=0.2, method="newcombe") for power in (0.8, 0.5)]
    [2184, 1072]
    """
    planned = _Design(bias, method, **design)
    found = _smallest(
        lambda n: _power(n, planned, rng),
        planned.size(power),
        planned,
        power,
        most=LARGEST,
    )
    if math.isnan(found):
        raise ValueError(
            f"bias {bias:g} would need more than {LARGEST:,} examples with method {method!r}"
        )
    return found


def smallest_bias(
    n: int, *, power: float = 0.8, method: str = DEFAULT, rng=0, **design
) -> float:
    """Return the smallest true difference that n examples show with this power, to a ten-thousandth.

    The arguments and costs are those of `sample_size`; NaN where n examples can show no difference at all. For betting
    it is known to 1 %, and a simulation's standard error of 1.5 % beside.

    >>> round(smallest_bias(3160, power=0.5, method="bernstein_maximal"), 3)
    0.097
    """
    checked("n", n, "a whole number from 1 on", lambda n: (n >= 1) & (n == np.floor(n)))
    error, discordant = design.get("error") or 0.0, design.get("discordant")
    checked("error", error, "in [0, 1)", lambda rate: (rate >= 0) & (rate < 1))
    most = min(1.0 - error, 1.0 if discordant is None else discordant)
    planned = partial(_Design, method=method, **design)
    start = float(
        bisection(lambda bias: planned(bias).size(power) >= n, 1e-6, most, steps=30)
    )
    return _smallest(
        lambda bias: _power(n, planned(bias), rng),
        start,
        planned(most),
        power,
        most=most,
    )


class _Design:
    """How examples come: 0-1 errors of `rate_a` and `rate_b` in groups of shares gamma and 1 - gamma, or in pairs.

    Exactly one goes wrong in a share `discordant` of the pairs, A's alone in a share `only_a`.
    """

    def __init__(
        self, bias, method, error=None, gamma=0.5, discordant=None, confidence=0.95
    ) -> None:
        check_word("method", method, METHODS)
        bias = float(
            checked("bias", bias, "in (0, 1]", lambda bias: (bias > 0) & (bias <= 1))
        )
        error = (1 - bias) / 2 if error is None else error
        checked(
            "error",
            error,
            f"in [0, 1 - bias={1 - bias:g}]",
            lambda rate: (rate >= 0) & (rate <= 1 - bias + 1e-12),
        )
        checked("gamma", gamma, "in (0, 1)", lambda share: (share > 0) & (share < 1))
        check_confidence(confidence)
        rate = min(error + bias, 1.0)
        both = (
            rate * (1 - error) + error * (1 - rate)
            if discordant is None
            else discordant
        )
        checked(
            "discordant",
            both,
            f"in [bias={bias:g}, 1]",
            lambda share: (share >= bias - 1e-12) & (share <= 1),
        )
        self.method, self.paired, self.alpha = (
            method,
            METHODS[method].paired,
            1 - confidence,
        )
        self.rate_a, self.rate_b, self.gamma, self.bias = (
            rate,
            error,
            gamma,
            rate - error,
        )
        self.discordant = min(max(both, bias), 1.0)
        self.only_a = (self.bias + self.discordant) / 2

    def sizes(self, n: int) -> tuple[int, int]:
        """Return how many of n examples are in either group."""
        n_a = min(max(round(self.gamma * n), 1), n - 1)
        return n_a, n - n_a

    def size(self, power: float) -> float:
        """Return what normal theory asks for: where the search begins."""
        variance = self.discordant - self.bias**2
        if not self.paired:
            a, b = (rate * (1 - rate) for rate in (self.rate_a, self.rate_b))
            variance = a / self.gamma + b / (1 - self.gamma)
        return (
            variance
            * ((stats.norm.isf(self.alpha / 2) + stats.norm.ppf(power)) / self.bias)
            ** 2
        )


def _smallest(
    power_at: Callable, start: float, design: _Design, power: float, *, most: float
):
    """Return the smallest number (or bias, to a ten-thousandth) that has this power; NaN where none up to `most` has.

    `start` is what normal theory asks for. Two looks say how far it is from there, as normal quantiles grow with the
    bias and the root of n; then strides grow until one number does not suffice and one does, and these are halved.
    """
    checked("power", power, "in (0, 1)", lambda power: (power > 0) & (power < 1))
    whole = isinstance(most, int)
    up, down = (math.ceil, math.floor) if whole else (float, float)
    least, slack, stride = (1, 1.002, 1.01) if whole else (1e-4, 1.0, 1.004)
    exact = (
        0.001 * (design.method == "exact_unconditional")
        if METHODS[design.method].counts
        else 0.01
    )
    critical, wanted = stats.norm.isf(design.alpha / 2), stats.norm.ppf(power)
    for _ in range(2):
        if not whole or 4 <= start <= most:
            found = stats.norm.ppf(np.clip(power_at(down(start)), 0.01, 0.99))
            start *= ((critical + wanted) / max(critical + found, 0.1)) ** (
                2 if whole else 1
            )
        start = min(start, most)
    low, high = 0, max(down(min(slack * start, most)), least)
    while power_at(high) < power:
        if high >= most:
            return math.nan
        low, high, stride = high, min(up(stride * high), most), min(stride**2, 1.3)
    while high - low > max(least, exact * low):
        tried = down((low + high) / 2 if low else high / stride)
        stride = min(stride**2, 1.3)
        low, high = (low, tried) if power_at(tried) >= power else (tried, high)
    return high


def likely(n: int, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts that a binomial has any chance to give, or up to `COUNTS` of them, and their probabilities."""
    middle, reach = n * rate, FARTHEST * np.sqrt(n * rate * (1 - rate)) + 2 * FARTHEST
    step = 1 + int(2 * reach) // COUNTS
    counts = np.arange(
        max(0, int(middle - reach)), min(n, int(middle + reach)) + 1, step
    )
    return counts, step * stats.binom.pmf(counts, n, rate)


def _power(n: int, design: _Design, rng) -> float:
    """Return the chance that n examples or pairs give an interval above 0, over all counts, or by simulated games."""
    if n < 4 and not design.paired:
        return 0.0
    if METHODS[design.method].counts is None:
        return _simulated(n, design, rng)
    if design.paired:
        most, weight = likely(
            n, design.discordant
        )  # one-sided pairs; among them those that A loses are binomial
        trials, rate = most, min(design.only_a / design.discordant, 1.0)
    else:
        trials, n_b = design.sizes(n)
        errors_b, weight = likely(n_b, design.rate_b)
        most, rate = np.full_like(errors_b, trials), design.rate_a

    def at_most_zero(count: np.ndarray) -> np.ndarray:
        return ~_above_zero(
            design,
            (count, most - count, n)
            if design.paired
            else (count, trials, errors_b, n_b),
        )

    enough = exact.largest_count(
        at_most_zero, most
    )  # with more errors of A, no method's lower end falls
    return float(weight @ stats.binom.sf(enough, trials, rate))


def _above_zero(design: _Design, table: tuple) -> np.ndarray:
    """Return whether the interval lies above 0; where the end itself is dear, by its test of 0."""
    tests = {
        "miettinen_nurminen": proportions.miettinen_nurminen_score,
        "tango": proportions.tango_score,
    }
    if design.method in tests:
        return tests[design.method](0.0, *table) > stats.norm.isf(design.alpha / 2)
    if design.method != "exact_unconditional":
        return METHODS[design.method].counts(*table, alpha=design.alpha)[0] > 0
    _, n_a, x_b, n_b = (
        table  # those that are likely, at the level of the one among them that needs most
    )
    sides = np.array([[n_a], [n_b]]), np.array([[design.rate_a], [design.rate_b]])
    counts = stats.binom.ppf([UNLIKELY / 4, 1 - UNLIKELY / 4], *sides)
    low, high = proportions.limits(counts, sides[0], exact.APART * design.alpha / 4)
    near = tuple(zip(low[:, 0].tolist(), high[:, 1].tolist(), strict=True))
    level = exact.exact_level(n_a, n_b, design.alpha, near)
    is_likely = (x_b >= counts[1, 0]) & (x_b <= counts[1, 1])
    return is_likely & (proportions.newcombe(*table, alpha=design.alpha)[0] >= level)


def _simulated(n: int, design: _Design, rng) -> float:
    """Return in what share of games a bettor is convinced who sees the examples in random order."""
    sizes = [n] if design.paired else design.sizes(n)
    if min(sizes) > ROUNDS:
        raise ValueError(
            f"method {design.method!r} is simulated for up to {ROUNDS:,} rounds; plan with {DEFAULT!r}"
        )
    draw = partial(games_of_groups, sizes, (design.rate_a, design.rate_b))
    if design.paired:
        draw = partial(games_of_pairs, n, design.only_a, design.discordant)
    rng, alpha = np.random.default_rng(rng), design.alpha / 2
    return float(
        np.mean(
            [
                betting.rejects(draw(rng, TOGETHER), 0.5, alpha=alpha)
                for _ in range(GAMES // TOGETHER)
            ]
        )
    )


def games_of_groups(sizes, rates, rng: np.random.Generator, games: int) -> np.ndarray:
    """Draw the rounds of games, (rounds, games), for two groups of such sizes and error rates."""
    costs = (
        (rng.random((size, games)) < rate) * 1.0
        for size, rate in zip(sizes, rates, strict=True)
    )
    mean_a, mean_b = (betting.block_means(cost, min(sizes)) for cost in costs)
    return (1 + mean_a - mean_b) / 2


def games_of_pairs(
    n: int, only_a: float, discordant: float, rng: np.random.Generator, games: int
) -> np.ndarray:
    """Draw the same for pairs, of which such a share is wrong in a alone, or on exactly one side."""
    outcome = rng.random((n, games))
    return np.select([outcome < only_a, outcome < discordant], [1.0, 0.0], 0.5)
