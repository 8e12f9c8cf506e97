"""Before annotating: how many examples does a claim need, and which bias can a given number show?

`sample_size` and `smallest_bias` answer for every method in `fairlib.bounds.METHODS`, and are each other's inverse.
They ask for *power*: the chance that the interval will exclude 0, on the right side, if the true difference is `bias`.
A sample that is just large enough for an *observed* difference (`power=None`, the question of Ethayarajh 2020, eq. 4)
has a power of one half: an estimate falls short of the truth as often as not.

    >>> sample_size(0.05, power=None, method="bernstein_maximal")
    11903
    >>> sample_size(0.05, power=0.8, error=0.2, method="newcombe")
    2187

Costs are 0 or `max_cost` here. Of all costs with the same means these vary most, so that other costs need fewer
examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy import stats

from fairlib import betting, moments, pairs, proportions
from fairlib.bounds import DEFAULT, METHODS

GAMES = {"betting": 1000, "betting_pairs": 1000, "betting_per_group": 200}  # simulated; the last needs whole intervals
WHOLE = ("bentkus", "exact_unconditional")  # count methods that make no sense of a fraction of an example
CELLS = 1 << 24  # of a simulation: bounds its memory, at the price of fewer games
LARGEST = 10_000_000
FARTHEST = 7  # standard deviations: what lies beyond has no weight


@dataclass(frozen=True)
class Design:
    """How examples come: 0-1 errors of `rate_a` and `rate_b` in groups of shares gamma and 1 - gamma, or in pairs."""

    method: str
    rate_a: float
    rate_b: float
    gamma: float
    discordant: float
    alpha: float

    @property
    def paired(self) -> bool:
        """Whether n counts pairs."""
        return METHODS[self.method].paired

    def sizes(self, n: int) -> tuple[int, int]:
        """Return the number of examples in each group."""
        n_a = min(max(round(self.gamma * n), 1), n - 1)
        return n_a, n - n_a


def power(
    n: int,
    bias: float,
    *,
    method: str = DEFAULT,
    error: float | None = None,
    gamma: float = 0.5,
    discordant: float | None = None,
    max_cost: float = 1.0,
    confidence: float = 0.95,
    rng=0,
) -> float:
    """Return the chance that n examples show a bias: that the interval lies above 0 if group A truly pays `bias` more.

    n : examples in both groups together, or pairs.
    error : error rate of group B, as a share of `max_cost`; by default the worst case, about 1/2.
    gamma : share of group A among the examples.
    discordant : for paired methods, share of the pairs in which exactly one goes wrong; by default as if independent.
    rng : for the betting methods, whose power is simulated (1,000 games, ± 0.015; 200 per group); others are exact.
    """
    return _power(n, _design(bias, method, error, gamma, discordant, max_cost, confidence), rng)


def sample_size(
    bias: float,
    *,
    power: float | None = 0.8,
    method: str = DEFAULT,
    error: float | None = None,
    gamma: float = 0.5,
    discordant: float | None = None,
    max_cost: float = 1.0,
    confidence: float = 0.95,
    rng=0,
) -> int:
    """Return how many examples (pairs, for a paired method) show a true difference of `bias` with this power.

    power : None for the number with which an observed difference of exactly `bias` excludes 0, and observed error rates
        of exactly `error` and `error + bias`: where counts must be whole numbers, only such n are tried as make them
        whole.

    The other arguments are those of `power`. Counts being whole, power saws a little up and down as n grows: the search
    is by bisection, and ends on a tooth; for betting to within 1 %.
    """
    _check_power(power)
    design = _design(bias, method, error, gamma, discordant, max_cost, confidence)
    step = _step(design) if power is None else 1
    low, high = 0, _whole_steps(_wald_size(design, power or 0.5), step)
    while high <= LARGEST and not _suffices(high, design, power, rng):
        low, high = high, _whole_steps(1.3 * high, step) + step
    if high > LARGEST:
        raise ValueError(f"bias {bias:g} would need more than {LARGEST:,} examples with method {method!r}")
    while low == 0 and high > step:
        lower = min(_whole_steps(high / 1.3, step), high - step)
        low, high = (0, lower) if _suffices(lower, design, power, rng) else (lower, high)
    coarse = 0.01 if METHODS[method].counts is None and power is not None else 0
    while high - low > max(step, coarse * low):
        middle = max(_whole_steps((low + high) / 2, step), low + step)
        low, high = (low, middle) if _suffices(middle, design, power, rng) else (middle, high)
    return high


def smallest_bias(
    n: int,
    *,
    power: float | None = 0.8,
    method: str = DEFAULT,
    error: float | None = None,
    gamma: float = 0.5,
    discordant: float | None = None,
    max_cost: float = 1.0,
    confidence: float = 0.95,
    rng=0,
) -> float:
    """Return the smallest true difference that n examples show with this power, to a ten-thousandth of `max_cost`.

    The arguments are those of `sample_size`; NaN where n examples can show no difference at all.
    """
    _check_power(power)

    def suffices(share: float) -> bool:
        design = _design(share, method, error, gamma, discordant, 1.0, confidence)
        return _suffices(n, design, power, rng)

    low, high = 0.0, 1.0 - (error or 0.0)
    if METHODS[method].paired and discordant is not None:
        high = min(high, discordant)
    if not suffices(high):
        return float("nan")
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return max_cost * high


# --- Power ------------------------------------------------------------------------------------------------------------


def _suffices(n: int, design: Design, power: float | None, rng) -> bool:
    if n < (1 if design.paired else 4):
        return False
    if power is None:
        return _observed_excludes_zero(n, design, rng)
    return _power(n, design, rng) >= power


def _power(n: int, design: Design, rng) -> float:
    if METHODS[design.method].counts is None:
        return _simulated_power(n, design, rng)
    if design.paired:
        discordant, weight = _likely(n, design.discordant)
        share = (
            (design.rate_a - design.rate_b + design.discordant) / 2 / design.discordant if design.discordant else 0.5
        )
        least = _least_that_excludes(lambda x: (x, discordant - x, n), np.zeros_like(discordant), discordant, design)
        return float(weight @ stats.binom.sf(least - 1, discordant, min(share, 1.0)))
    n_a, n_b = design.sizes(n)
    errors_b, weight = _likely(n_b, design.rate_b)
    counts = np.full_like(errors_b, n_a)
    least = _least_that_excludes(lambda x: (x, n_a, errors_b, n_b), np.zeros_like(errors_b), counts, design)
    return float(weight @ stats.binom.sf(least - 1, n_a, design.rate_a))


def _likely(n: int, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts that a binomial has any chance to give, and their probabilities."""
    middle, reach = n * rate, FARTHEST * np.sqrt(n * rate * (1 - rate)) + 2 * FARTHEST
    counts = np.arange(max(0, int(middle - reach)), min(n, int(middle + reach)) + 1)
    return counts, stats.binom.pmf(counts, n, rate)


def _least_that_excludes(table, low: np.ndarray, high: np.ndarray, design: Design) -> np.ndarray:
    """Return the fewest errors of A, for each count on the other side, with which the interval lies above 0.

    By bisection in all of them at once: with more errors of A, no method's lower end falls. One more than `high` where
    nothing suffices.
    """
    low, high = low - 1, high + 1
    while np.any(high - low > 1):
        middle = np.clip((low + high) // 2, 0, None)
        inside = high - low > 1
        beyond = _above_zero(design.method, design.alpha, *table(np.where(inside, middle, np.maximum(low, 0))))
        low = np.where(inside & ~beyond, middle, low)
        high = np.where(inside & beyond, middle, high)
    return high


def _above_zero(method: str, alpha: float, *table) -> np.ndarray:
    """Return whether the interval lies above 0; where the end itself is dear, by its test of 0."""
    if method == "miettinen_nurminen":
        return proportions.score(0.0, *table) > stats.norm.isf(alpha / 2)
    if method == "tango":
        return pairs.tango_score(0.0, *table) > stats.norm.isf(alpha / 2)
    if method == "bentkus":
        x_a, n_a, x_b, n_b = table
        return moments.bentkus_tail(x_a / n_a - x_b / n_b, 0.0, 2 * np.minimum(n_a, n_b)) <= alpha / 2
    if method == "exact_unconditional":
        x_a, n_a, x_b, n_b = table
        order, level = _exact_level(n_a, n_b, alpha)
        return order[x_a, x_b] >= level
    return METHODS[method].counts(*table, alpha=alpha)[0] > 0


@lru_cache(maxsize=2)
def _exact_level(n_a: int, n_b: int, alpha: float) -> tuple[np.ndarray, float]:
    """Return the order of all tables and the level from which on they are too extreme for a difference of 0."""
    proportions.check_tables(n_a, n_b)
    order = proportions.table_order(n_a, n_b, alpha)
    levels = np.unique(order)
    first, last = -1, len(levels)  # levels[last] is extreme enough, levels[first] is not
    while last - first > 1:
        middle = (first + last) // 2
        region = proportions.extreme_region(order, levels[middle])
        enough = proportions.region_probability(region, n_a, n_b, 0.0) <= alpha / 2
        first, last = (first, middle) if enough else (middle, last)
    return order, float(levels[last]) - 1e-12 if last < len(levels) else np.inf


def _simulated_power(n: int, design: Design, rng) -> float:
    rng = np.random.default_rng(rng)
    rounds = n if design.paired else max(design.sizes(n))
    games = _games(rounds, design)
    if design.paired:
        outcome = rng.random((n, games))
        only_a = (design.rate_a - design.rate_b + design.discordant) / 2
        shares = np.select([outcome < only_a, outcome < design.discordant], [1.0, 0.0], 0.5)
        return float(betting.rejects(shares, 0.5, alpha=design.alpha / 2).mean())
    n_a, n_b = design.sizes(n)
    cost_a = (rng.random((n_a, games)) < design.rate_a).astype(float)
    cost_b = (rng.random((n_b, games)) < design.rate_b).astype(float)
    return float(_bets_above_zero(cost_a, cost_b, design).mean())


def _bets_above_zero(cost_a: np.ndarray, cost_b: np.ndarray, design: Design) -> np.ndarray:
    """Return for each column whether betting excludes 0; the columns are in random order already."""
    if design.method == "betting_per_group":
        low_a = betting.lower_ends(cost_a, alpha=design.alpha / 4)
        high_b = 1 - betting.lower_ends(1 - cost_b, alpha=design.alpha / 4)
        return low_a > high_b
    blocks = min(len(cost_a), len(cost_b))
    shares = (1 + betting.block_means(cost_a, blocks) - betting.block_means(cost_b, blocks)) / 2
    return betting.rejects(shares, 0.5, alpha=design.alpha / 2)


def _observed_excludes_zero(n: int, design: Design, rng) -> bool:
    """Whether 0 is excluded when exactly the expected is observed; by betting, in at least half of the shuffles."""
    in_order = METHODS[design.method].counts is None
    if design.paired:
        only_a, only_b = ((design.discordant + sign * (design.rate_a - design.rate_b)) / 2 * n for sign in (1, -1))
        if not in_order:
            return bool(_above_zero(design.method, design.alpha, only_a, only_b, n))
        shares = np.repeat([1.0, 0.0, 0.5], _whole(only_a, only_b, n - only_a - only_b))
        columns = np.repeat(shares[:, None], _games(n, design), axis=1)
        shuffled = np.random.default_rng(rng).permuted(columns, axis=0)
        return bool(betting.rejects(shuffled, 0.5, alpha=design.alpha / 2).mean() >= 0.5)
    n_a, n_b = design.sizes(n) if in_order or design.method in WHOLE else (design.gamma * n, (1 - design.gamma) * n)
    x_a, x_b = design.rate_a * n_a, design.rate_b * n_b
    if design.method == "exact_unconditional":
        x_a, x_b = _whole(x_a, x_b)
    if not in_order:
        return bool(_above_zero(design.method, design.alpha, x_a, n_a, x_b, n_b))
    rng = np.random.default_rng(rng)
    costs = []
    for x, size in ((x_a, n_a), (x_b, n_b)):
        column = np.repeat([1.0, 0.0], _whole(x, size - x))
        costs.append(rng.permuted(np.repeat(column[:, None], _games(n, design), axis=1), axis=0))
    return bool(_bets_above_zero(*costs, design).mean() >= 0.5)


def _wald_size(design: Design, power: float) -> float:
    """Return what normal theory asks for: where the search begins."""
    bias = design.rate_a - design.rate_b
    if design.paired:
        variance = design.discordant - bias**2
    else:
        a, b = (rate * (1 - rate) for rate in (design.rate_a, design.rate_b))
        variance = a / design.gamma + b / (1 - design.gamma)
    return variance * ((stats.norm.isf(design.alpha / 2) + stats.norm.ppf(power)) / bias) ** 2


def _whole_steps(n: float, step: int) -> int:
    return max(int(n // step) * step, step)


def _games(rounds: int, design: Design) -> int:
    return int(np.clip(CELLS // rounds, 100, GAMES[design.method]))


def _whole(*counts: float) -> list[int]:
    return [int(np.floor(count + 0.5)) for count in counts]


# --- The one place where input is checked -----------------------------------------------------------------------------


def _design(bias, method, error, gamma, discordant, max_cost, confidence) -> Design:
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, found {method!r}")
    share = bias / max_cost
    if not 0 < share <= 1:
        raise ValueError(f"bias must be in (0, max_cost={max_cost:g}], found {bias}")
    error = (1 - share) / 2 if error is None else error
    if not 0 <= error <= 1 - share + 1e-12:
        raise ValueError(f"error must be in [0, 1 - bias/max_cost={1 - share:g}], found {error}")
    if not 0 < gamma < 1:
        raise ValueError(f"gamma must be in (0, 1), found {gamma}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be in (0, 1), found {confidence}")
    rate = min(error + share, 1.0)
    discordant = rate * (1 - error) + error * (1 - rate) if discordant is None else discordant
    if not share - 1e-12 <= discordant <= 1:
        raise ValueError(f"discordant must be in [bias/max_cost={share:g}, 1], found {discordant}")
    return Design(method, rate, error, gamma, min(max(discordant, share), 1.0), 1 - confidence)


def _check_power(power: float | None) -> None:
    if power is not None and not 0 < power < 1:
        raise ValueError(f"power must be in (0, 1), or None for an observed difference, found {power}")


def _step(design: Design) -> int:
    """Return the smallest number whose multiples make all counts whole, for methods that need whole counts."""
    if METHODS[design.method].counts is not None and design.method != "exact_unconditional":
        return 1
    if design.paired:
        shares = [(design.discordant + sign * (design.rate_a - design.rate_b)) / 2 for sign in (1, -1)]
    else:
        shares = [design.gamma, design.gamma * design.rate_a, (1 - design.gamma) * design.rate_b]
    step = int(np.lcm.reduce([Fraction(share).limit_denominator(1000).denominator for share in shares]))
    return step if step <= 1000 else 1
