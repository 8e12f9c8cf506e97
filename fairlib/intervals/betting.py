"""Confidence intervals for the mean of bounded numbers, by betting against every mean that it might have.

Numbers z₁ ... z_m in [0, 1] arrive one after another; given the past each has the unknown mean μ. A bettor who doubts
that it is at most μ₀ owns the share p of the goal, from p₀ = α, puts down G_t(p) before z_t is seen, and then owns
p + G_t(p) (z_t - μ₀). If μ <= μ₀, p ever reaches 1 with probability at most α; the means that are not rejected form the
interval. G_t(p) = min(p/μ₀, STAKES(p) / (σ √τ)), σ from the rounds before, τ rounds to go (notebook 10a).

References: Waudby-Smith & Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86 (2024), 1-27;
Vorácek & Orabona, "STaR-Bets: Sequential Target-Recalculating Bets for Tighter Confidence Intervals" (2025).
"""

from collections.abc import Iterable
from itertools import zip_longest

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from fairlib.interval import bisection

KNOTS = 1 << 14
STEPS = 26  # of the bisection: ends are known to 1e-7, rounded outwards
LONG = 500  # rounds; a longer game is played in bundles
BUNDLES = 20_000  # of a game, at most: what a million examples of small variance need to end within seconds
SHUFFLES = (
    25  # whose middle stands for all orders in which the examples could have come
)

# (φ(Φ⁻¹(p)) + p √(2 log(1/p))) / 2 at equally spaced p; between these, a line keeps it concave. At 1 it would be 0, and
# the goal only approached: the last line goes on as the one before, and reaches it.
_SHARES = np.arange(1, KNOTS) / KNOTS
_DIGITAL = np.exp(-(ndtri(_SHARES) ** 2) / 2) / np.sqrt(2 * np.pi)
_INSIDE = (_DIGITAL + _SHARES * np.sqrt(-2 * np.log(_SHARES))) / 2
STAKES = np.concatenate([[0.0], _INSIDE, [2 * _INSIDE[-1] - _INSIDE[-2]]])


def ends(games: Iterable[np.ndarray], *, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the low and the high end of each of many games, which are played together, on either side."""
    sums, sizes, factors = _bundled(games)
    sums, sizes, factors = (
        np.hstack([sums, sizes - sums]),
        np.hstack([sizes, sizes]),
        np.hstack([factors, factors]),
    )
    average = (sums * (factors > 0)).sum(axis=0) / (sizes * (factors > 0)).sum(axis=0)

    def too_low(mean: np.ndarray) -> np.ndarray:
        return rejects(
            sums,
            np.maximum(mean, np.finfo(float).tiny),
            alpha=alpha,
            bundles=(sizes, factors),
        )

    low, high = np.split(
        bisection(too_low, np.zeros_like(average), average, steps=STEPS), 2
    )
    return np.minimum(low, 1 - high), np.maximum(
        low, 1 - high
    )  # the hull, where both sides reject everything


def matched_blocks(cost_a: np.ndarray, cost_b: np.ndarray, *, rng=0) -> np.ndarray:
    """Return one number in [0, 1] per member of the smaller group, of mean (1 + δ)/2, δ the difference of the means.

    Both groups are shuffled, and each member of the smaller is matched with a block of the larger: none is left out.
    """
    rng = np.random.default_rng(rng)
    cost_a, cost_b = rng.permutation(cost_a), rng.permutation(cost_b)
    blocks = min(len(cost_a), len(cost_b))
    return (1 + (block_means(cost_a, blocks) - block_means(cost_b, blocks))) / 2


def block_means(cost: np.ndarray, blocks: int) -> np.ndarray:
    """Return the means of `blocks` consecutive blocks of the first axis, of sizes that differ by at most one."""
    cuts = np.linspace(0, len(cost), blocks + 1).astype(np.int64)
    sizes = np.diff(cuts).reshape(-1, *[1] * (cost.ndim - 1))
    return np.add.reduceat(cost, cuts[:-1], axis=0) / sizes


def rejects(
    values: np.ndarray, mean: np.ndarray | float, *, alpha: float, bundles: tuple = ()
) -> np.ndarray:
    """Return, for each column of `values` (rounds x games), whether "the mean is at most `mean`" is rejected.

    `mean` is in (0, 1], for all or for each game. bundles : where values are sums, of how many, and the pace of each.
    """
    values = np.asarray(values, dtype=float)
    sizes, factors = bundles or (np.ones(len(values), dtype=np.int64), pace(values))
    share = np.full(values.shape[1], float(alpha))
    for drawn, size, factor in zip(values, sizes, factors, strict=True):
        share = next_share(share, drawn, factor, mean, size)
    return share >= 1


def next_share(
    share: ArrayLike, drawn: ArrayLike, factor: ArrayLike, mean: ArrayLike, size=1
) -> np.ndarray:
    """Return what the bettor owns after a round, as a share of the goal; a share of 1 bets no more.

    factor : 1 / (σ √τ) before this round, from `pace`. size : of how many numbers `drawn` is the sum.
    """
    share = np.asarray(share, dtype=float)
    place = np.clip((share * KNOTS).astype(np.int64), 0, KNOTS - 1)
    stake = STAKES[place] + (share * KNOTS - place) * (
        STAKES[place + 1] - STAKES[place]
    )
    mean = size * mean
    won = share + np.minimum(stake * factor, share / mean) * (drawn - mean)
    return np.where(share < 1, np.minimum(won, 1), 1.0)


def pace(values: np.ndarray) -> np.ndarray:
    """Return 1 / (σ √τ) before each round, σ² from the rounds before and one imagined round with variance 1/4."""
    rounds = np.arange(1, len(values) + 1).reshape(-1, *[1] * (values.ndim - 1))
    means = (0.5 + np.cumsum(values, axis=0)) / (rounds + 1)
    variance = (0.25 + np.cumsum((values - means) ** 2, axis=0)) / (rounds + 1)
    before = np.concatenate([np.full_like(variance[:1], 0.25), variance[:-1]])
    return 1 / np.sqrt(before * rounds[::-1])


def _bundled(games: Iterable[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sum, size and pace (rounds x games): of single numbers, or of bundles where a game is long.

    A bundle's mean has the mean μ too, whatever its size, if that is settled before. Bundles of σ√τ / 2 make the
    interval no wider on average (under 0.5 %), and `BUNDLES` bounds how many there are. A game with fewer of them ends
    with rounds that bet nothing.
    """
    played = []
    for values in games:
        factors = pace(values)
        ahead = (
            np.maximum(1 / (2 * factors), 1 + len(values) // BUNDLES)
            .astype(np.int64)
            .tolist()
        )
        starts, position = [], 0
        while position < len(values):
            starts.append(position)
            position += ahead[position] if len(values) > LONG else 1
        sizes = np.diff([*starts, len(values)])
        played.append((np.add.reduceat(values, starts), sizes, factors[starts]))
    idle = zip(zip(*played, strict=True), (0.0, 1, 0.0), strict=True)
    return tuple(
        np.array([*zip_longest(*parts, fillvalue=nothing)]) for parts, nothing in idle
    )
