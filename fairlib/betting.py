"""Confidence intervals for the mean of bounded numbers, by betting against every mean that it might have.

**The game.** Numbers z₁ ... z_m in [0, 1] arrive one after another; given the past each has the unknown mean μ.
Somebody doubts the claim "the mean is at most μ₀" and bets on it: he owns the share p of what he would need to be
believed, starts with p₀ = α, puts down G_t(p) before z_t is seen, and then owns

    p + G_t(p) (z_t - μ₀),          0 <= G_t(p) <= p / μ₀  (he can lose what he has, and no more).

If the claim is true, his wealth falls on average with every round, whatever he puts down, so he ever owns p >= 1 with
probability at most α (Ville's inequality: p is a nonnegative supermartingale). So whoever has p >= 1 may reject the
claim, and the means that are never rejected form a confidence set. No variance is assumed and no limit is taken: only
the bounds and the mean given the past. That is the argument of Waudby-Smith & Ramdas (2024); only power depends on G.

**The bet.** The bettor knows when the game ends. If z were a Brownian motion with standard deviation σ, the bettor
whose chance to own 1 at the end is largest replicates a digital option, G = φ(Φ⁻¹(p)) / (σ √τ), with τ rounds to go.
Rare or coarse z need bolder bets near the goal, such as those of STaR-Bets, G = p √(2 log(1/p)) / (σ √τ) (Vorácek &
Orabona 2025). `STAKES` is the average of the two; σ is estimated from the rounds before.

**One interval, not a set with holes.** The end of the interval is found by bisection, which asks for a test that, where
it rejects μ₀, rejects all smaller ones too. It does if G_t is concave in p with G_t(0) = 0, does not grow with μ₀, and
μ₀ G_t does not fall with μ₀; here G_t = min(p/μ₀, STAKES(p) / (σ √τ)), with σ from the data and not from μ₀. Proof, by
induction over rounds: let μ₁ < μ₂ and p₁ >= p₂ be the shares of those who bet against either. (i) p + G(p)(z - μ₁), cut
off at 1, does not fall with p: where z < μ₁, because concavity gives G'(p) <= G(p)/p <= 1/μ₁; where z > μ₁, because it
is concave in p and at least 1 at p = 1. (ii) At the same p, G(p; μ)(z - μ) is not smaller for μ₁ than for μ₂: for z >
μ₂ because G does not grow with μ, for z < μ₁ because G (μ - z) = μG - zG does not fall with μ; and in between it is
positive for μ₁, negative for μ₂.

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
    star = p * np.sqrt(-2 * np.log(p))
    inside = (digital + star) / 2
    return np.concatenate([[0.0], inside, [2 * inside[-1] - inside[-2]]])


STAKES = _stakes()
STAKES_LIST = STAKES.tolist()


def mean_interval(values: np.ndarray, *, alpha: float) -> tuple[float, float]:
    """Return the ends of the interval for the mean of `values` in [0, 1], missed with probability ≤ α on either side.

    The numbers have the same mean, given the past, and are used in the order in which they come: whoever has no order
    by nature shuffles them once, before looking. O(m) for each of about 14 steps of the bisection.
    """
    values = np.asarray(values, dtype=float)
    before = pace(values)
    low, high = _lower_end(values, before, alpha), 1 - _lower_end(1 - values, before, alpha)
    return min(low, high), max(low, high)  # both sides reject everything once in a blue moon: then their hull


def matched_blocks(cost_a: np.ndarray, cost_b: np.ndarray, *, max_cost: float, rng=0) -> np.ndarray:
    """Return one number in [0, 1] per member of the smaller group, of mean (1 + δ/C)/2, δ the difference of the means.

    Both groups are shuffled; each member of the smaller group is matched with one block of the larger, which is cut
    into as many blocks as there are members, of sizes that differ by at most one, so that nobody is left out.
    """
    rng = np.random.default_rng(rng)
    cost_a, cost_b = rng.permutation(cost_a), rng.permutation(cost_b)
    blocks = min(len(cost_a), len(cost_b))
    return (1 + (block_means(cost_a, blocks) - block_means(cost_b, blocks)) / max_cost) / 2


def block_means(cost: np.ndarray, blocks: int) -> np.ndarray:
    """Return the means of `blocks` consecutive blocks of the first axis, of sizes that differ by at most one."""
    cuts = np.linspace(0, len(cost), blocks + 1).astype(np.int64)
    sizes = np.diff(cuts).reshape(-1, *[1] * (cost.ndim - 1))
    return np.add.reduceat(cost, cuts[:-1], axis=0) / sizes


def rejects(values: np.ndarray, mean: np.ndarray | float, *, alpha: float) -> np.ndarray:
    """Return, for each column of `values` (rounds x games), whether "the mean is at most `mean`" is rejected.

    The same game as in `mean_interval`, played on many columns at once: for simulations and planning. `mean` is in (0,
    1], one for all or one for each game.
    """
    values = np.asarray(values, dtype=float)
    share = np.full(values.shape[1], float(alpha))
    for drawn, factor in zip(values, pace(values), strict=True):
        share = next_share(share, drawn, factor, mean)
    return share >= 1


def next_share(share: ArrayLike, drawn: ArrayLike, factor: ArrayLike, mean: ArrayLike) -> np.ndarray:
    """Return what the bettor owns after a round, as a share of the goal; whoever has reached it stops betting.

    factor : 1 / (σ √τ) before this round, from `pace`.
    """
    share = np.asarray(share, dtype=float)
    place = np.clip((share * KNOTS).astype(np.int64), 0, KNOTS - 1)
    stake = STAKES[place] + (share * KNOTS - place) * (STAKES[place + 1] - STAKES[place])
    won = share + np.minimum(stake * factor, share / mean) * (drawn - mean)
    return np.where(share < 1, np.minimum(won, 1), 1.0)


def mean_intervals(values: np.ndarray, *, alpha: float, steps: int = 14) -> tuple[np.ndarray, np.ndarray]:
    """Return `mean_interval` for each column of `values` (rounds x games), rounded outwards to 2 ** -steps."""
    values = np.asarray(values, dtype=float)
    return lower_ends(values, alpha=alpha, steps=steps), 1 - lower_ends(1 - values, alpha=alpha, steps=steps)


def lower_ends(values: np.ndarray, *, alpha: float, steps: int = 14) -> np.ndarray:
    """Return the lower ends alone."""
    rejected, kept = np.zeros(values.shape[1]), np.ones(values.shape[1])
    for _ in range(steps):
        middle = (rejected + kept) / 2
        beyond = rejects(values, middle, alpha=alpha)
        rejected, kept = np.where(beyond, middle, rejected), np.where(beyond, kept, middle)
    return rejected


def pace(values: np.ndarray) -> np.ndarray:
    """Return 1 / (σ √τ) before each round, σ² from the rounds before and one imagined round with variance 1/4."""
    rounds = np.arange(1, len(values) + 1).reshape(-1, *[1] * (values.ndim - 1))
    means = (0.5 + np.cumsum(values, axis=0)) / (rounds + 1)
    variance = (0.25 + np.cumsum((values - means) ** 2, axis=0)) / (rounds + 1)
    before = np.concatenate([np.full_like(variance[:1], 0.25), variance[:-1]])
    return 1 / np.sqrt(before * rounds[::-1])


def _lower_end(values: np.ndarray, pace: np.ndarray, alpha: float) -> float:
    """Return the largest mean that is still rejected as "at most", rounded down.

    Normal theory says where to look, or, for numbers that hardly vary, what a constant would get: z α^(1/m). A long
    game is first played roughly, so that the real one, which decides, is played a few times only.
    """
    average, error = float(values.mean()), float(values.std() / np.sqrt(len(values)))
    if average == 0:  # and so no mean is too low
        return 0.0
    expected = 2.1 * error + average * float(np.log(1 / alpha)) / len(values)
    sums, sizes, factors = _rounds(values, pace)
    game = _game(sums, sizes, factors, sizes)
    if len(game) <= LONG:
        return average - _distance(game, average, expected, 0.1, TOLERANCE, alpha)
    rough = _distance(_roughly(sums, sizes, factors), average, expected, 0.1, TOLERANCE, alpha)
    return average - _distance(game, average, rough, 0.001, 5 * TOLERANCE, alpha)


def _distance(game: list[tuple], average: float, expected: float, step: float, tolerance: float, alpha: float) -> float:
    """Return the distance from the average to the end: out or in from what is expected in growing steps, then halving.

    The least distance that is rejected is known to within `tolerance` of itself, and rounded up.
    """
    kept, rejected = average - 1, average
    guess = min(expected, average / 2)
    while rejected - kept > tolerance * abs(rejected) + 1e-12:
        if _goal_reached(game, average - guess, alpha):
            rejected, onward = guess, guess / (1 + step)
        else:
            kept, onward = guess, guess * (1 + step)
        bracketed = kept > average - 1 and rejected < average
        guess = onward if not bracketed and step < 1 and kept < onward < rejected else (kept + rejected) / 2
        step *= 3
    return rejected


def _rounds(values: np.ndarray, pace: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sum, size and pace of each round: single numbers, or bundles where the game is long.

    A bundle's mean has the mean μ too, so that the argument above holds for bundles, whatever their sizes, as long as
    these are settled before. Bundles of σ√τ / 2 make the interval no wider (under 0.5 %) and a million examples a
    matter of a second.
    """
    sizes = np.maximum(1 / (2 * pace), 1).astype(np.int64)
    if len(values) <= LONG or sizes.max() == 1:
        return values, np.ones(len(values), dtype=np.int64), pace
    ahead, starts, position = sizes.tolist(), [], 0
    while position < len(values):
        starts.append(position)
        position += ahead[position]
    return np.add.reduceat(values, starts), np.diff([*starts, len(values)]), pace[starts]


def _game(sums, sizes, factors, at_risk) -> list[tuple[float, int, float, int]]:
    """Return the rounds one by one, as plain numbers."""
    return list(zip(sums.tolist(), sizes.tolist(), factors.tolist(), at_risk.tolist(), strict=True))


def _roughly(sums: np.ndarray, sizes: np.ndarray, factors: np.ndarray, rounds: int = 16) -> list[tuple]:
    """Return the game with this many rounds played as one, at the stake of the first.

    Such a stake may lose more than there is, so that this game proves nothing; it ends close to the real one.
    """
    starts = np.arange(0, len(sums), rounds)
    return _game(np.add.reduceat(sums, starts), np.add.reduceat(sizes, starts), factors[starts], sizes[starts])


def _goal_reached(game: list[tuple[float, int, float, int]], mean: float, alpha: float) -> bool:
    """Play the game once, in plain floats: for a single game they are faster than arrays of one."""
    stakes, share = STAKES_LIST, alpha
    for total, size, factor, at_risk in game:
        scaled = share * KNOTS
        place = int(scaled)
        left = stakes[place]
        stake = (left + (scaled - place) * (stakes[place + 1] - left)) * factor
        most = share / (at_risk * mean)
        share += (stake if stake < most else most) * (total - size * mean)
        if share >= 1:
            return True
        if share <= 0:
            return False
    return False
