"""Confidence intervals for the mean of bounded numbers, by betting against every mean that it might have.

Numbers z₁ ... z_m in [0, 1] arrive one after another; given the past each has the unknown mean μ. A bettor who doubts
that it is at most μ₀ owns the share p of the goal, from p₀ = α, puts down G_t(p) before z_t is seen, and then owns
p + G_t(p) (z_t - μ₀). If μ <= μ₀, p ever reaches 1 with probability at most α; the means that are not rejected form the
interval. G_t(p) = min(p/μ₀, STAKES(p) / (σ √τ)), σ from the rounds before, τ rounds to go (notebook 10).

References: Waudby-Smith & Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86 (2024), 1-27;
Vorácek & Orabona, "STaR-Bets: Sequential Target-Recalculating Bets for Tighter Confidence Intervals" (2025).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

KNOTS = 1 << 14
TOLERANCE = 1e-4  # of the distance between mean and end; the end is rounded outwards
LONG = 20_000  # rounds; a longer game is played in bundles


def _stakes() -> np.ndarray:
    """Return (φ(Φ⁻¹(p)) + p √(2 log(1/p))) / 2 at equally spaced p; between these, a line keeps it concave.

    At 1 it would be 0, and the goal only approached; the last line goes on as the one before, and reaches it.
    """
    p = np.arange(1, KNOTS) / KNOTS
    digital = np.exp(-(ndtri(p) ** 2) / 2) / np.sqrt(2 * np.pi)
    inside = (digital + p * np.sqrt(-2 * np.log(p))) / 2
    return np.concatenate([[0.0], inside, [2 * inside[-1] - inside[-2]]])


STAKES = _stakes()
STAKES_LIST = STAKES.tolist()


def mean_interval(values: np.ndarray, *, alpha: float) -> tuple[float, float]:
    """Return the ends of the interval for the mean of `values` in [0, 1], missed with probability ≤ α on either side.

    The numbers have the same mean, given the past, and are used in the order in which they come: those that have no
    order by nature are shuffled once, before a look. Costs O(m), some 14 times.

    >>> low, high = mean_interval(np.tile([0.2, 0.4], 100), alpha=0.025)
    >>> print(f"{low:.3f} {high:.3f}")
    0.285 0.320
    """
    values = np.asarray(values, dtype=float)
    before = pace(values)
    low, high = _lower_end(values, before, alpha), 1 - _lower_end(1 - values, before, alpha)
    return min(low, high), max(low, high)  # where both sides reject everything, which is rare, their hull


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


def rejects(values: np.ndarray, mean: np.ndarray | float, *, alpha: float) -> np.ndarray:
    """Return, for each column of `values` (rounds x games), whether "the mean is at most `mean`" is rejected.

    The game of `mean_interval` on many columns at once, for simulations; `mean` is in (0, 1], for all or for each game.
    """
    values = np.asarray(values, dtype=float)
    share = np.full(values.shape[1], float(alpha))
    for drawn, factor in zip(values, pace(values), strict=True):
        share = next_share(share, drawn, factor, mean)
    return share >= 1


def next_share(share: ArrayLike, drawn: ArrayLike, factor: ArrayLike, mean: ArrayLike) -> np.ndarray:
    """Return what the bettor owns after a round, as a share of the goal; a share of 1 bets no more.

    factor : 1 / (σ √τ) before this round, from `pace`.
    """
    share = np.asarray(share, dtype=float)
    place = np.clip((share * KNOTS).astype(np.int64), 0, KNOTS - 1)
    stake = STAKES[place] + (share * KNOTS - place) * (STAKES[place + 1] - STAKES[place])
    won = share + np.minimum(stake * factor, share / mean) * (drawn - mean)
    return np.where(share < 1, np.minimum(won, 1), 1.0)


def pace(values: np.ndarray) -> np.ndarray:
    """Return 1 / (σ √τ) before each round, σ² from the rounds before and one imagined round with variance 1/4."""
    rounds = np.arange(1, len(values) + 1).reshape(-1, *[1] * (values.ndim - 1))
    means = (0.5 + np.cumsum(values, axis=0)) / (rounds + 1)
    variance = (0.25 + np.cumsum((values - means) ** 2, axis=0)) / (rounds + 1)
    before = np.concatenate([np.full_like(variance[:1], 0.25), variance[:-1]])
    return 1 / np.sqrt(before * rounds[::-1])


def _lower_end(values: np.ndarray, pace: np.ndarray, alpha: float) -> float:
    """Return the largest mean that is still rejected as "at most", rounded down.

    Normal theory says where to look, or, for numbers that hardly vary, what a constant would get: z α^(1/m).
    """
    average, error = float(values.mean()), float(values.std() / np.sqrt(len(values)))
    if average == 0:  # and so no mean is too low
        return 0.0
    expected = 2.1 * error + average * float(np.log(1 / alpha)) / len(values)
    return average - _distance(_rounds(values, pace), average, expected, alpha)


def _distance(game: list[tuple], average: float, expected: float, alpha: float) -> float:
    """Return the distance from the average to the end: out or in from what is expected in growing steps, then halving.

    The least distance that is rejected is known to within `TOLERANCE` of itself, and rounded up.
    """
    kept, rejected, step = average - 1, average, 0.1
    guess = min(expected, average / 2)
    while rejected - kept > TOLERANCE * abs(rejected) + 1e-12:
        if _goal_reached(game, average - guess, alpha):
            rejected, onward = guess, guess / (1 + step)
        else:
            kept, onward = guess, guess * (1 + step)
        bracketed = kept > average - 1 and rejected < average
        guess = onward if not bracketed and step < 1 and kept < onward < rejected else (kept + rejected) / 2
        step *= 3
    return rejected


def _rounds(values: np.ndarray, pace: np.ndarray) -> list[tuple[float, int, float]]:
    """Return the sum, size and pace of each round: single numbers, or bundles where the game is long.

    A bundle's mean has the mean μ too, whatever its size, if that is settled before. Bundles of σ√τ / 2 make the
    interval no wider (under 0.5 %) and a million examples a matter of seconds.
    """
    sizes = np.maximum(1 / (2 * pace), 1).astype(np.int64)
    if len(values) <= LONG or sizes.max() == 1:
        return [(value, 1, factor) for value, factor in zip(values.tolist(), pace.tolist(), strict=True)]
    ahead, starts, position = sizes.tolist(), [], 0
    while position < len(values):
        starts.append(position)
        position += ahead[position]
    sums, sizes = np.add.reduceat(values, starts), np.diff([*starts, len(values)])
    return list(zip(sums.tolist(), sizes.tolist(), pace[starts].tolist(), strict=True))


def _goal_reached(game: list[tuple[float, int, float]], mean: float, alpha: float) -> bool:
    """Play the game once, in plain floats: for a single game they are faster than arrays of one."""
    stakes, share = STAKES_LIST, alpha
    for total, size, factor in game:
        scaled = share * KNOTS
        place = int(scaled)
        left = stakes[place]
        stake = (left + (scaled - place) * (stakes[place + 1] - left)) * factor
        most = share / (size * mean)
        share += (stake if stake < most else most) * (total - size * mean)
        if share >= 1:
            return True
        if share <= 0:
            return False
    return False
