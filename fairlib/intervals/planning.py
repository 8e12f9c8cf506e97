"""Before annotating: how many examples does a claim need, and which bias can a given number show?

`sample_size` and `smallest_bias` answer for every method in `fairlib.bounds.METHODS`, and are each other's inverse.
They ask for *power*: the chance that the interval will exclude 0, on the right side, if the true difference is `bias`.
A sample just large enough for an *observed* difference of `bias` (Ethayarajh 2020, eq. 4) has a power of one half: an
estimate falls short of the truth as often as not.

    >>> sample_size(0.05, power=0.8, error=0.2, method="newcombe")
    2184
    >>> sample_size(0.05, power=0.5, error=0.2, method="newcombe")
    1072

Costs are 0 or 1 here: of all costs with the same means these vary most, so that others need fewer examples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import stats

from fairlib.interval import bisection, check_confidence
from fairlib.intervals import betting, pairs, proportions
from fairlib.intervals.disparity import DEFAULT, METHODS

LARGEST = 10_000_000
GAMES, TOGETHER = 2000, 500  # simulated, and how many at a time
ROUNDS = 1 << 14  # of a simulated game, at most
COUNTS = 1 << 11  # that are looked at, where more are likely: every second, third ...
FARTHEST = 7  # standard deviations: what lies beyond has no weight
UNLIKELY = 5e-4  # tables whose exact interval is not looked at: power is that much too low at most


def sample_size(bias: float, *, power: float = 0.8, method: str = DEFAULT, rng=0, **design) -> int:
    """Return how many examples (pairs, for a paired method) show a true difference of `bias` with this power.

    design : error, the error rate of group B, by default the worst case, about 1/2; gamma, the share of group A among
        the examples (0.5); discordant, for paired methods the share of the pairs in which exactly one goes wrong, by
        default as if independent; confidence (0.95).
    rng : for betting, whose power is simulated (standard error 0.9 %) for up to 16,384 in the smaller group, n known to
        1 %. For the others power is computed from the tables, for "exact_unconditional" at most .001 too low and n
        known to 0.1 %; as counts are whole, it saws a little up and down as n grows, and the search ends on a tooth.

    >>> sample_size(0.05, method="newcombe", error=0.2)
    2184
    """
    planned = _design(bias, method, **design)
    _check_power(power)
    suffices = partial(_suffices, design=planned, power=power, rng=rng)
    start, critical, wanted = _wald_size(planned, power), stats.norm.isf(planned.alpha / 2), stats.norm.ppf(power)
    for _ in range(2):  # a look says how far it is from there: quantiles grow with the root of n
        if 4 <= start <= LARGEST:
            found = stats.norm.ppf(np.clip(_power(int(start), planned, rng), 0.01, 0.99))
            start *= ((critical + wanted) / max(critical + found, 0.1)) ** 2
    low, high = _bracket(max(int(1.002 * start), 1), 1.01, suffices)
    if high > LARGEST:
        raise ValueError(f"bias {bias:g} would need more than {LARGEST:,} examples with method {method!r}")
    return _halved(low, high, suffices, least=1, share=planned.coarse)


def smallest_bias(n: int, *, power: float = 0.8, method: str = DEFAULT, rng=0, **design) -> float:
    """Return the smallest true difference that n examples show with this power, to a ten-thousandth.

    The arguments and costs are those of `sample_size`; NaN where n examples can show no difference at all. For betting
    it is known to 1 %, and a simulation's standard error of 1.5 % beside.

    >>> round(smallest_bias(3160, power=0.5, method="bernstein_maximal"), 3)
    0.097
    """
    if not (n >= 1 and n == int(n)):
        raise ValueError(f"n must be a whole number from 1 on, found {n}")
    _check_power(power)
    error, discordant = design.get("error"), design.get("discordant")
    _design(1.0, method, **design | {"error": 0.0, "discordant": None})  # what is wrong with any bias
    if error is not None and not 0 <= error < 1:
        raise ValueError(f"error must be in [0, 1), found {error}")

    def planned(bias: float) -> _Design:
        return _design(float(bias), method, **design)

    def suffices(bias: float) -> bool:
        return _suffices(n, planned(bias), power, rng)

    most = 1.0 - (error or 0.0)
    if METHODS[method].paired and discordant is not None:
        most = min(most, discordant)
    if not suffices(most):
        return float("nan")
    start = float(bisection(lambda bias: _wald_size(planned(bias), power) >= n, 1e-6, most, steps=30))
    critical, wanted = stats.norm.isf(planned(most).alpha / 2), stats.norm.ppf(power)
    for _ in range(2):  # a look says how far it is from there: quantiles grow with the bias
        found = stats.norm.ppf(np.clip(_power(n, planned(start), rng), 0.01, 0.99)) if n >= 4 else wanted
        start = min(start * (critical + wanted) / max(critical + found, 0.1), most)
    low, high, stride = 0.0, start, 1.004
    while high < most and not suffices(high):
        low, high, stride = high, min(stride * high, most), min(stride**2, 1.3)
    while low == 0 and high > 1e-4:
        fewer, stride = high / stride, min(stride**2, 1.3)
        low, high = (0.0, fewer) if suffices(fewer) else (fewer, high)
    return float(_halved(low, high, suffices, least=1e-4, share=planned(most).coarse))


def _suffices(n: int, design: _Design, power: float, rng) -> bool:
    return n >= (1 if design.paired else 4) and _power(n, design, rng) >= power


def _wald_size(design: _Design, power: float) -> float:
    """Return what normal theory asks for: where the search begins."""
    if design.paired:
        variance = design.discordant - design.bias**2
    else:
        a, b = (rate * (1 - rate) for rate in (design.rate_a, design.rate_b))
        variance = a / design.gamma + b / (1 - design.gamma)
    return variance * ((stats.norm.isf(design.alpha / 2) + stats.norm.ppf(power)) / design.bias) ** 2


def _bracket(start: int, stride: float, suffices: Callable) -> tuple[int, int]:
    """Return a number that does not suffice and one that does, or is too large, in growing strides from `start`."""
    low, high = 0, start
    while high <= LARGEST and not suffices(high):
        low, high, stride = high, int(stride * high) + 1, min(stride**2, 1.3)
    while low == 0 and 1 < high <= LARGEST:
        fewer, stride = max(min(int(high / stride), high - 1), 1), min(stride**2, 1.3)
        low, high = (0, fewer) if suffices(fewer) else (fewer, high)
    return low, high


def _halved(low, high, suffices: Callable, *, least: float, share: float):
    """Halve between what does not suffice and what does, until they are within `least` or a share of `low`."""
    while high - low > max(least, share * low):
        middle = type(high)((low + high) / 2)
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def likely(n: int, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts that a binomial has any chance to give, or up to `COUNTS` of them, and their probabilities."""
    middle, reach = n * rate, FARTHEST * np.sqrt(n * rate * (1 - rate)) + 2 * FARTHEST
    step = 1 + int(2 * reach) // COUNTS
    counts = np.arange(max(0, int(middle - reach)), min(n, int(middle + reach)) + 1, step)
    return counts, step * stats.binom.pmf(counts, n, rate)


def _power(n: int, design: _Design, rng) -> float:
    """Return the chance that n examples or pairs give an interval above 0, over all counts, or by simulated games."""
    if METHODS[design.method].counts is None:
        return _simulated(n, design, rng)
    if design.paired:
        most, weight = likely(n, design.discordant)  # one-sided pairs; among them those that A loses are binomial
        trials, rate = most, min(design.only_a / design.discordant, 1.0) if design.discordant else 0.5
    else:
        trials, n_b = design.sizes(n)
        errors_b, weight = likely(n_b, design.rate_b)
        most, rate = np.full_like(errors_b, trials), design.rate_a

    def at_most_zero(count: np.ndarray) -> np.ndarray:
        table = (count, most - count, n) if design.paired else (count, trials, errors_b, n_b)
        return ~_above_zero(design, table)

    enough = proportions.largest_count(at_most_zero, most)  # with more errors of A, no method's lower end falls
    return float(weight @ stats.binom.sf(enough, trials, rate))


def _above_zero(design: _Design, table: tuple) -> np.ndarray:
    """Return whether the interval lies above 0; where the end itself is dear, by its test of 0."""
    tests = {"miettinen_nurminen": proportions.score, "tango": pairs.tango_score}
    if design.method in tests:
        return tests[design.method](0.0, *table) > stats.norm.isf(design.alpha / 2)
    if design.method != "exact_unconditional":
        return METHODS[design.method].counts(*table, alpha=design.alpha)[0] > 0
    return _exact_above_zero(design, *table)


def _exact_above_zero(design: _Design, x_a, n_a: int, x_b, n_b: int) -> np.ndarray:
    """Return it for tables that are likely; the level is that of the one among them that needs most."""
    counts, near = [], []
    for n, rate in ((n_a, design.rate_a), (n_b, design.rate_b)):
        counts.append((stats.binom.ppf(UNLIKELY / 4, n, rate), stats.binom.isf(UNLIKELY / 4, n, rate)))
        (low, _), (_, high) = (proportions.limits(x, n, proportions.APART * design.alpha / 4) for x in counts[-1])
        near.append((float(low), float(high)))
    (fewest, most), level = counts[1], proportions.exact_level(n_a, n_b, design.alpha, tuple(near))
    return (x_b >= fewest) & (x_b <= most) & (proportions.newcombe_low(x_a, n_a, x_b, n_b, design.alpha) >= level)


def _simulated(n: int, design: _Design, rng) -> float:
    """Return in how many games a bettor is convinced who sees the examples in random order."""
    sizes = [n] if design.paired else design.sizes(n)
    if min(sizes) > ROUNDS:
        raise ValueError(f"method {design.method!r} is simulated for up to {ROUNDS:,} rounds; plan with {DEFAULT!r}")
    rng, rates = np.random.default_rng(rng), (design.rate_a, design.rate_b)
    convinced = 0
    for _ in range(GAMES // TOGETHER):
        if design.paired:
            outcome = rng.random((n, TOGETHER))
            shares = np.select([outcome < design.only_a, outcome < design.discordant], [1.0, 0.0], 0.5)
        else:
            costs = ((rng.random((size, TOGETHER)) < rate) * 1.0 for size, rate in zip(sizes, rates, strict=True))
            mean_a, mean_b = (betting.block_means(cost, min(sizes)) for cost in costs)
            shares = (1 + mean_a - mean_b) / 2
        convinced += int(betting.rejects(shares, 0.5, alpha=design.alpha / 2).sum())
    return convinced / GAMES


@dataclass(frozen=True)
class _Design:
    """How examples come: 0-1 errors of `rate_a` and `rate_b` in groups of shares gamma and 1 - gamma, or in pairs."""

    method: str
    rate_a: float
    rate_b: float
    gamma: float
    discordant: float
    alpha: float

    @property
    def paired(self) -> bool:
        return METHODS[self.method].paired

    @property
    def bias(self) -> float:
        return self.rate_a - self.rate_b

    @property
    def only_a(self) -> float:
        """The share of the pairs in which A alone goes wrong."""
        return (self.bias + self.discordant) / 2

    @property
    def coarse(self) -> float:
        """How exact a search may be: where power is simulated, more than 1 % would be noise."""
        return 0.01 if METHODS[self.method].counts is None else 0.001 * (self.method == "exact_unconditional")

    def sizes(self, n: int) -> tuple[int, int]:
        n_a = min(max(round(self.gamma * n), 1), n - 1)
        return n_a, n - n_a


def _design(bias, method, error=None, gamma=0.5, discordant=None, confidence=0.95) -> _Design:
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, found {method!r}")
    if not 0 < bias <= 1:
        raise ValueError(f"bias must be in (0, 1], found {bias}")
    error = (1 - bias) / 2 if error is None else error
    if not 0 <= error <= 1 - bias + 1e-12:
        raise ValueError(f"error must be in [0, 1 - bias={1 - bias:g}], found {error}")
    if not 0 < gamma < 1:
        raise ValueError(f"gamma must be in (0, 1), found {gamma}")
    check_confidence(confidence)
    rate = min(error + bias, 1.0)
    discordant = rate * (1 - error) + error * (1 - rate) if discordant is None else discordant
    if not bias - 1e-12 <= discordant <= 1:
        raise ValueError(f"discordant must be in [bias={bias:g}, 1], found {discordant}")
    return _Design(method, rate, error, gamma, min(max(discordant, bias), 1.0), 1 - confidence)


def _check_power(power: float) -> None:
    if not 0 < power < 1:
        raise ValueError(f"power must be in (0, 1), found {power}")
