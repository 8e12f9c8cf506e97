"""Confidence intervals for the mean of bounded numbers, by betting against every mean.

Numbers z₁, ..., z_m in [0, 1] arrive one after another. Each has the same unknown mean
μ, whatever came before it. To test the claim that μ is at most μ₀, a bettor plays a
game of m rounds against it. Let p be her wealth, as a fraction of the amount at which
we reject the claim. She begins with p = α. In round t she places the stake G_t(p)
before she sees z_t, and her wealth becomes

    p + G_t(p) (z_t - μ₀)

If the claim is true, her wealth does not grow on average, so that it ever reaches 1
with probability at most α. The means that are not rejected form the interval.

Her stake is G_t(p) = min(p/μ₀, STAKES(p) / (σ √τ)): she never stakes more than she can
lose, σ is the standard deviation of the rounds before, and τ is the number of rounds
that are left (dossier 10a).

References
----------
Waudby-Smith, Ramdas (2024), "Estimating means of bounded random variables by betting",
Journal of the Royal Statistical Society B 86, 1-27.

Vorácek, Orabona (2025), "STaR-Bets: Sequential Target-Recalculating Bets for Tighter
Confidence Intervals".
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy.special import ndtri
from tqdm import tqdm

from fairlib.interval import bisection

# How many shuffles we play if the examples have no order; their median is the result.
SHUFFLES = 25
# The stakes are tabulated at this many equally spaced wealths.
KNOTS = 1 << 14

# Each step halves the error of an end: the ends are known to 1e-7, rounded outwards.
_BISECTION_STEPS = 26
# A game with more rounds than this is played in bundles of rounds.
_LONG_GAME = 500
# How many bundles a game has at most, so that a million examples take only seconds.
_MOST_BUNDLES = 20_000

Numbers = float | ndarray


def _tabulated_stakes() -> ndarray:
    """Return (φ(Φ⁻¹(p)) + p √(2 log(1/p))) / 2 for equally spaced p from 0 to 1."""
    wealth = np.arange(1, KNOTS) / KNOTS
    density = np.exp(-(ndtri(wealth) ** 2) / 2) / np.sqrt(2 * np.pi)
    stakes = (density + wealth * np.sqrt(-2 * np.log(wealth))) / 2

    # At p = 1 the formula gives 0, so that the bettor would approach the goal and never
    # reach it. We continue the line of the last two stakes instead.
    last = 2 * stakes[-1] - stakes[-2]
    return np.concatenate([[0.0], stakes, [last]])


# Lines between the tabulated stakes keep them concave.
STAKES = _tabulated_stakes()


class _Games(NamedTuple):
    """Games that are played together, as arrays of shape (rounds, games).

    A round is a bundle of numbers: their sum, how many they are, and the pace of the
    game, which is 1 / (σ √τ), or 0 if the game is over.
    """

    sums: ndarray
    sizes: ndarray
    paces: ndarray


def ends(
    games: Iterable[ndarray], *, alpha: float, progress: bool = True
) -> tuple[ndarray, ndarray]:
    """Return an interval for the mean of each of many sequences of numbers.

    Parameters
    ----------
    games : iterable of ndarray
        Sequences of numbers in [0, 1], each in the order in which its numbers arrived.
        The sequences may have different lengths.
    alpha : float
        The probability with which each of the two ends may miss the mean. An interval
        with confidence 95 % has ``alpha=0.025``.
    progress : bool, default True
        Whether to show, after two seconds, how long it will take. Nothing is shown
        where the output is not a terminal, or if TQDM_DISABLE=1 is set.

    Returns
    -------
    tuple of ndarray
        The low and the high end for each sequence.

    Notes
    -----
    A sequence of more than 500 numbers is played in bundles, see `_bundled`.

    Examples
    --------
    >>> numbers = np.tile([0.2, 0.4], 50)
    >>> (low,), (high,) = ends([numbers], alpha=0.025)
    >>> print(f"{low:.3f} {high:.3f}")
    0.277 0.332
    """
    sums, sizes, paces = _bundled(games)

    # The high end for z is one minus the low end for 1 - z: we play both games.
    both_sides = _Games(
        sums=np.hstack([sums, sizes - sums]),
        sizes=np.tile(sizes, 2),
        paces=np.tile(paces, 2),
    )
    is_played = both_sides.paces > 0
    total = (both_sides.sums * is_played).sum(axis=0)
    average = total / (both_sides.sizes * is_played).sum(axis=0)

    def is_too_low(mean: ndarray) -> ndarray:
        positive = np.maximum(mean, np.finfo(float).tiny)
        bar.update()
        return _rejected(both_sides, positive, alpha=alpha)

    with tqdm(
        total=_BISECTION_STEPS,
        desc="betting interval",
        delay=2,
        leave=False,
        disable=None if progress else True,
    ) as bar:
        limits = bisection(is_too_low, 0.0, average, steps=_BISECTION_STEPS)
    low, one_minus_high = np.split(limits, 2)

    # At low confidence both sides may reject everything; then the ends change places.
    high = 1 - one_minus_high
    return np.minimum(low, high), np.maximum(low, high)


def matched_blocks(
    cost_a: ndarray,
    cost_b: ndarray,
    *,
    rng: np.random.Generator | int,
) -> ndarray:
    """Match each example of the smaller group with a block of the larger, at random.

    Both groups are shuffled, and each is cut into as many blocks of consecutive
    examples as the smaller group has examples. No example is left out. A number of the
    result is (1 + mean cost of A's block - mean cost of B's block) / 2, which lies in
    [0, 1] and has mean (1 + δ)/2, where δ is the difference of the groups' means.

    Parameters
    ----------
    cost_a, cost_b : ndarray
        Cost of each example of group A and of group B, from 0 to 1.
    rng : Generator or int
        Random numbers for the shuffle, or a seed.

    Returns
    -------
    ndarray
        One number in [0, 1] for each example of the smaller group.

    Examples
    --------
    >>> cost_a = np.array([1.0, 1.0])
    >>> cost_b = np.array([0.0, 0.0, 0.0, 0.0, 0.0])
    >>> matched_blocks(cost_a, cost_b, rng=0)
    array([1., 1.])
    """
    generator = np.random.default_rng(rng)
    shuffled_a = generator.permutation(cost_a)
    shuffled_b = generator.permutation(cost_b)

    blocks = min(len(cost_a), len(cost_b))
    means_a = block_means(shuffled_a, blocks)
    means_b = block_means(shuffled_b, blocks)
    return (1 + (means_a - means_b)) / 2


def block_means(cost: ndarray, blocks: int) -> ndarray:
    """Return the means of consecutive blocks, whose sizes differ by at most one.

    Parameters
    ----------
    cost : ndarray
        Costs, one entry of the first axis for each example.
    blocks : int
        Number of blocks, at most the number of examples.

    Returns
    -------
    ndarray
        One entry of the first axis for each block.

    Examples
    --------
    >>> block_means(np.array([0.0, 1.0, 1.0, 0.0, 0.0]), 2)
    array([0.5       , 0.33333333])
    """
    cuts = np.linspace(0, len(cost), blocks + 1).astype(np.int64)
    sizes = _along_first_axis(np.diff(cuts), cost)
    return np.add.reduceat(cost, cuts[:-1], axis=0) / sizes


def rejects(values: ndarray, mean: Numbers, *, alpha: float) -> ndarray:
    """Return for each game whether we reject that the mean is at most `mean`.

    Parameters
    ----------
    values : ndarray of shape (rounds, games)
        Numbers in [0, 1]. Each column is a game, in the order of its rounds.
    mean : float or ndarray of shape (games,)
        The mean that is tested, in (0, 1].
    alpha : float
        The probability with which a true claim may be rejected.

    Returns
    -------
    ndarray of bool
        One entry for each game.

    Examples
    --------
    >>> values = np.tile([0.2, 0.4], 50)[:, None]
    >>> rejects(values, 0.2, alpha=0.05), rejects(values, 0.3, alpha=0.05)
    (array([ True]), array([False]))
    """
    games = _Games(sums=values, sizes=np.ones(len(values)), paces=pace(values))
    return _rejected(games, mean, alpha=alpha)


def _rejected(games: _Games, mean: Numbers, *, alpha: float) -> ndarray:
    """Return for each game whether the bettor's wealth reaches the goal."""
    share = np.full(games.sums.shape[1], float(alpha))
    for drawn, size, factor in zip(*games, strict=True):
        share = next_share(share, drawn, factor, mean=mean, size=size)
    return share >= 1


def next_share(
    share: Numbers,
    drawn: Numbers,
    factor: Numbers,
    mean: Numbers,
    *,
    size: Numbers = 1,
) -> ndarray:
    """Return the bettor's wealth after a round, as a share of the goal.

        p + min(p/μ₀, STAKES(p) · factor) (z - μ₀), and at most 1

    A bettor who has reached the goal does not bet any more.

    Parameters
    ----------
    share : float or ndarray
        p, the wealth before the round, as a share of the goal.
    drawn : float or ndarray
        z, the number that arrives in this round, or the sum of several.
    factor : float or ndarray
        1 / (σ √τ) before this round, from `pace`.
    mean : float or ndarray
        μ₀, the mean that is tested.
    size : int or ndarray of int, default 1
        How many numbers `drawn` is the sum of; their sum has mean ``size * mean``.

    Returns
    -------
    ndarray
        The wealth after the round, at most 1.
    """
    wealth = np.asarray(share, dtype=float)
    knot = np.clip((wealth * KNOTS).astype(np.int64), 0, KNOTS - 1)
    slope = STAKES[knot + 1] - STAKES[knot]
    stake = STAKES[knot] + (wealth * KNOTS - knot) * slope

    expected = size * mean
    bet = np.minimum(stake * factor, wealth / expected)
    after = wealth + bet * (drawn - expected)
    return np.where(wealth < 1, np.minimum(after, 1), 1.0)


def pace(values: ndarray) -> ndarray:
    """Return 1 / (σ √τ) before each round: how boldly the bettor may play in it.

    σ² is the variance of the rounds before, together with one imagined round whose
    variance is 1/4, and τ is the number of rounds that are left, this one included.

    Parameters
    ----------
    values : ndarray of shape (rounds,) or (rounds, games)
        Numbers in [0, 1], in the order of the rounds.

    Returns
    -------
    ndarray
        One number for each entry of `values`.

    Examples
    --------
    >>> pace(np.array([0.5, 0.5, 0.5, 0.5]))
    array([1.        , 1.63299316, 2.44948974, 4.        ])
    """
    rounds = _along_first_axis(np.arange(1, len(values) + 1), values)
    means = (0.5 + np.cumsum(values, axis=0)) / (rounds + 1)
    squares = np.cumsum((values - means) ** 2, axis=0)
    variance = (0.25 + squares) / (rounds + 1)

    variance_before = np.insert(variance[:-1], 0, 0.25, axis=0)
    rounds_left = rounds[::-1]
    return 1 / np.sqrt(variance_before * rounds_left)


def _along_first_axis(numbers: ndarray, values: ndarray) -> ndarray:
    """Return numbers so shaped that they broadcast along the first axis of `values`."""
    return np.expand_dims(numbers, tuple(range(1, values.ndim)))


def _bundled(games: Iterable[ndarray]) -> _Games:
    """Return games as arrays, with the rounds of long games put together into bundles.

    The mean of a bundle has mean μ too, whatever its size, if the size is settled
    before its numbers arrive. Bundles of σ √τ / 2 numbers make the interval no wider on
    average (by less than 0.5 %). A game that has fewer rounds than the longest ends
    with rounds in which nothing is bet.
    """
    games_in_bundles = []
    for values in games:
        paces = pace(values)
        starts = _starts_of_bundles(paces)
        sums = np.add.reduceat(values, starts)
        sizes = np.diff(starts, append=len(values))
        games_in_bundles.append(_Games(sums, sizes, paces[starts]))

    rounds = max(len(game.sums) for game in games_in_bundles)
    shape = (rounds, len(games_in_bundles))
    together = _Games(np.zeros(shape), np.ones(shape), np.zeros(shape))
    for column, game in enumerate(games_in_bundles):
        for array, entries in zip(together, game, strict=True):
            array[: len(entries), column] = entries
    return together


def _starts_of_bundles(paces: ndarray) -> list[int]:
    """Return the round in which each bundle begins; in a short game, every round."""
    rounds = len(paces)
    if rounds <= _LONG_GAME:
        return list(range(rounds))

    sizes = np.maximum(1 / (2 * paces), 1 + rounds // _MOST_BUNDLES)
    size_from = sizes.astype(np.int64).tolist()

    starts = []
    position = 0
    while position < rounds:
        starts.append(position)
        position += size_from[position]
    return starts
