"""The chance that an interval will exclude 0, for every method: what `fairlib.planning` searches with.

Where the counts of 0-1 costs decide, all counts that have any chance are looked at; where the order of the examples
does (betting), it is simulated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import stats

from fairlib import betting, moments, pairs, proportions
from fairlib.bounds import METHODS
from fairlib.interval import check_confidence

GAMES = {"betting": 1000, "betting_pairs": 1000, "betting_per_group": 200}  # simulated; the last needs whole intervals
WHOLE = ("bentkus", "exact_unconditional")  # count methods that make no sense of a fraction of an example
ROUNDS = 1 << 14  # of a simulated game; a longer one is played in that many bundles, which costs little power
CELLS = 1 << 24  # of a simulation: bounds its memory, at the price of fewer games
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


def power_of(n: int, design: Design, rng) -> float:
    """Return the chance that n examples or pairs give an interval above 0."""
    if METHODS[design.method].counts is None:
        return _simulated_power(n, design, rng)
    if design.paired:
        discordant, weight = likely(n, design.discordant)
        share = (
            (design.rate_a - design.rate_b + design.discordant) / 2 / design.discordant if design.discordant else 0.5
        )
        least = _least_that_excludes(lambda x: (x, discordant - x, n), np.zeros_like(discordant), discordant, design)
        return float(weight @ stats.binom.sf(least - 1, discordant, min(share, 1.0)))
    n_a, n_b = design.sizes(n)
    errors_b, weight = likely(n_b, design.rate_b)
    counts = np.full_like(errors_b, n_a)
    least = _least_that_excludes(lambda x: (x, n_a, errors_b, n_b), np.zeros_like(errors_b), counts, design)
    return float(weight @ stats.binom.sf(least - 1, n_a, design.rate_a))


def likely(n: int, rate: float) -> tuple[np.ndarray, np.ndarray]:
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
        middle = (low + high) // 2
        inside = high - low > 1
        beyond = above_zero(design.method, design.alpha, *table(np.where(inside, middle, np.maximum(low, 0))))
        low = np.where(inside & ~beyond, middle, low)
        high = np.where(inside & beyond, middle, high)
    return high


def above_zero(method: str, alpha: float, *table) -> np.ndarray:
    """Return whether the interval lies above 0; where the end itself is dear, by its test of 0."""
    if method == "miettinen_nurminen":
        return proportions.score(0.0, *table) > stats.norm.isf(alpha / 2)
    if method == "tango":
        return pairs.tango_score(0.0, *table) > stats.norm.isf(alpha / 2)
    if method == "bentkus":
        x_a, n_a, x_b, n_b = table
        return x_a / n_a - x_b / n_b >= bentkus_difference(min(n_a, n_b), alpha)
    if method == "exact_unconditional":
        x_a, n_a, x_b, n_b = table
        order, level = exact_level(n_a, n_b, alpha)
        return order[x_a, x_b] >= level
    return METHODS[method].counts(*table, alpha=alpha)[0] > 0


@lru_cache(maxsize=2)
def bentkus_difference(n: int, alpha: float) -> float:
    """Return the least observed difference that excludes 0 where the smaller group has n examples; no count matters."""
    kept, beyond = 0.0, 2.0  # a difference of 2 is none: nothing suffices
    for _ in range(50):
        middle = (kept + beyond) / 2
        enough = middle <= 1 and moments.bentkus_tail(middle, 0.0, 2 * n) <= alpha / 2
        kept, beyond = (kept, middle) if enough else (middle, beyond)
    return beyond


@lru_cache(maxsize=2)
def exact_level(n_a: int, n_b: int, alpha: float, difference: float = 0.0) -> tuple[np.ndarray, float]:
    """Return the order of all tables and the level from which on they are too extreme for this difference."""
    proportions.check_tables(n_a, n_b)
    order = proportions.table_order(n_a, n_b, alpha)
    levels = np.unique(order)
    first, last = -1, len(levels)  # levels[last] is extreme enough, levels[first] is not
    while last - first > 1:
        middle = (first + last) // 2
        region = proportions.extreme_region(order, levels[middle])
        enough = proportions.region_probability(region, n_a, n_b, difference) <= alpha / 2
        first, last = (first, middle) if enough else (middle, last)
    return order, float(levels[last]) - 1e-12 if last < len(levels) else np.inf


def _simulated_power(n: int, design: Design, rng) -> float:
    rng = np.random.default_rng(rng)
    if design.paired:
        only_a = (design.rate_a - design.rate_b + design.discordant) / 2
        shape = (min(n, ROUNDS), _games(min(n, ROUNDS), design))
        if n > ROUNDS:
            sizes = np.broadcast_to(_bundles(n)[:, None], shape)
            counts = rng.multinomial(sizes, [only_a, design.discordant - only_a, 1 - design.discordant])
            shares = 0.5 + (counts[..., 0] - counts[..., 1]) / (2 * sizes)
        else:
            outcome = rng.random(shape)
            shares = np.select([outcome < only_a, outcome < design.discordant], [1.0, 0.0], 0.5)
        return float(betting.rejects(shares, 0.5, alpha=design.alpha / 2).mean())
    sizes = design.sizes(n)
    games = _games(min(max(sizes), ROUNDS), design)
    costs = []
    for size, rate in zip(sizes, (design.rate_a, design.rate_b), strict=True):
        if size > ROUNDS:
            bundles = _bundles(size)[:, None]
            costs.append(rng.binomial(bundles, rate, size=(ROUNDS, games)) / bundles)
        else:
            costs.append((rng.random((size, games)) < rate).astype(float))
    return float(_bets_above_zero(*costs, design).mean())


def _bundles(size: int) -> np.ndarray:
    """Return the sizes of `ROUNDS` bundles that are as equal as can be."""
    return np.diff(np.linspace(0, size, ROUNDS + 1).astype(np.int64))


def _bets_above_zero(cost_a: np.ndarray, cost_b: np.ndarray, design: Design) -> np.ndarray:
    """Return for each column whether betting excludes 0; the columns are in random order already."""
    if design.method == "betting_per_group":
        low_a = betting.lower_ends(cost_a, alpha=design.alpha / 4)
        high_b = 1 - betting.lower_ends(1 - cost_b, alpha=design.alpha / 4)
        return low_a > high_b
    blocks = min(len(cost_a), len(cost_b))
    shares = (1 + betting.block_means(cost_a, blocks) - betting.block_means(cost_b, blocks)) / 2
    return betting.rejects(shares, 0.5, alpha=design.alpha / 2)


def observed_excludes_zero(n: int, design: Design, rng) -> bool:
    """Whether 0 is excluded when exactly the expected is observed; by betting, in at least half of the shuffles."""
    in_order = METHODS[design.method].counts is None
    if design.paired:
        only_a, only_b = ((design.discordant + sign * (design.rate_a - design.rate_b)) / 2 * n for sign in (1, -1))
        if not in_order:
            return bool(above_zero(design.method, design.alpha, only_a, only_b, n))
        shares = np.repeat([1.0, 0.0, 0.5], _whole(only_a, only_b, n - only_a - only_b))
        columns = np.repeat(shares[:, None], _games(n, design), axis=1)
        shuffled = np.random.default_rng(rng).permuted(columns, axis=0)
        return bool(betting.rejects(shuffled, 0.5, alpha=design.alpha / 2).mean() >= 0.5)
    n_a, n_b = design.sizes(n) if in_order or design.method in WHOLE else (design.gamma * n, (1 - design.gamma) * n)
    x_a, x_b = design.rate_a * n_a, design.rate_b * n_b
    if design.method == "exact_unconditional":
        x_a, x_b = _whole(x_a, x_b)
    if not in_order:
        return bool(above_zero(design.method, design.alpha, x_a, n_a, x_b, n_b))
    rng = np.random.default_rng(rng)
    costs = []
    for x, size in ((x_a, n_a), (x_b, n_b)):
        column = np.repeat([1.0, 0.0], _whole(x, size - x))
        costs.append(rng.permuted(np.repeat(column[:, None], _games(n, design), axis=1), axis=0))
    return bool(_bets_above_zero(*costs, design).mean() >= 0.5)


def _games(rounds: int, design: Design) -> int:
    return int(np.clip(CELLS // rounds, 100, GAMES[design.method]))


def _whole(*counts: float) -> list[int]:
    return [int(np.floor(count + 0.5)) for count in counts]


# --- The one place where input is checked -----------------------------------------------------------------------------


def design_of(bias, method, error, gamma, discordant, max_cost, confidence) -> Design:
    """Return the design, checked, with the defaults filled in."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, found {method!r}")
    if not 0 < max_cost < np.inf:
        raise ValueError(f"max_cost must be positive and finite, found {max_cost}")
    share = bias / max_cost
    if not 0 < share <= 1:
        raise ValueError(f"bias must be in (0, max_cost={max_cost:g}], found {bias}")
    error = (1 - share) / 2 if error is None else error
    if not 0 <= error <= 1 - share + 1e-12:
        raise ValueError(f"error must be in [0, 1 - bias/max_cost={1 - share:g}], found {error}")
    if not 0 < gamma < 1:
        raise ValueError(f"gamma must be in (0, 1), found {gamma}")
    check_confidence(confidence)
    rate = min(error + share, 1.0)
    discordant = rate * (1 - error) + error * (1 - rate) if discordant is None else discordant
    if not share - 1e-12 <= discordant <= 1:
        raise ValueError(f"discordant must be in [bias/max_cost={share:g}, 1], found {discordant}")
    return Design(method, rate, error, gamma, min(max(discordant, share), 1.0), 1 - confidence)
