"""Intervals from counts: costs that are 0 or 1, and nothing in between, of two groups or of pairs.

Of two groups these are x_a errors among n_a examples of group A and x_b among n_b of group B. Of n pairs (the same
example twice, once in either group's words, so that the two costs go together) they are those in which exactly one went
wrong, `only_a` and `only_b`. Every function returns the ends of an interval for p_a - p_b, or for p(only a) - p(only
b), that is to be missed with probability at most `alpha`; arrays broadcast, except in `exact_unconditional`.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy import optimize, stats
from scipy.fft import dct, idct
from scipy.special import betainccinv, betaincinv, ndtri
from statsmodels.stats.proportion import confint_proportions_2indep

from fairlib.interval import bisection

TINY = 1e-6  # share of α that may be lost to rounding, and is given back
APART = 1e-3  # share of α for the event that a rate is not where it is sought
FINER = 256  # rates looked at for each rate computed
TIE = 1e-12  # tables whose order differs by less are as extreme
BINS = 2048  # of the counts of A, where more of them matter


def limits(x, n, tail: float) -> tuple[np.ndarray, np.ndarray]:
    """Return Clopper and Pearson's limits for the rate where x of n are errors, each missed with this probability."""
    x = np.asarray(x, dtype=float)
    low, high = (
        betaincinv(np.maximum(x, 1), n - x + 1, tail),
        betainccinv(x + 1, np.maximum(n - x, 1), tail),
    )
    return np.where(x > 0, low, 0.0), np.where(x < n, high, 1.0)


def clopper_pearson(x_a, n_a, x_b, n_b, *, alpha: float):
    """Two exact intervals, one per group, each missed with probability α/2, and the differences of their ends."""
    (low_a, high_a), (low_b, high_b) = (
        limits(x_a, n_a, alpha / 4),
        limits(x_b, n_b, alpha / 4),
    )
    return low_a - high_b, high_a - low_b


def newcombe(x_a, n_a, x_b, n_b, *, alpha: float):
    """Newcombe's square-and-add of two Wilson intervals (1998, method 10), as statsmodels computes it."""
    return confint_proportions_2indep(
        x_a, n_a, x_b, n_b, compare="diff", method="newcomb", alpha=alpha
    )


def accepted(score: Callable, counts: tuple, difference, alpha: float):
    """Return the ends of the differences δ that a test does not reject: z = score(δ, *counts) falls as δ grows."""
    counts, critical = (
        [np.asarray(count, dtype=float) for count in counts],
        stats.norm.isf(alpha / 2),
    )
    low = bisection(
        lambda end: score(end, *counts) > critical, -1.0, difference, steps=44
    )
    return low, bisection(
        lambda end: score(end, *counts) < -critical, 1.0, difference, steps=44
    )


def standardized(distance, variance, *, rounding: float) -> np.ndarray:
    """Return z; without any variance a distance is none (but for rounding) or impossible."""
    impossible = np.sign(distance) * np.where(np.abs(distance) > rounding, np.inf, 0)
    least = 1e-6 * rounding
    return np.where(
        variance > least, distance / np.sqrt(np.maximum(variance, least)), impossible
    )


def miettinen_nurminen(x_a, n_a, x_b, n_b, *, alpha: float):
    """The differences that the score test does not reject at level α (Miettinen & Nurminen 1985).

    z(δ) = (x_a/n_a - x_b/n_b - δ) / √((p̃_a q̃_a / n_a + p̃_b q̃_b / n_b) N / (N - 1)), where p̃ are the likeliest
    rates whose difference is δ. Written here because statsmodels 0.15's version computes p̃ wrongly (its cubic
    multiplies δ with the wrong count).

    >>> low, high = miettinen_nurminen(56, 70, 48, 80, alpha=0.05)
    >>> print(f"{low:.5f} {high:.5f}")
    0.05283 0.33817
    """
    return accepted(
        miettinen_nurminen_score,
        (x_a, n_a, x_b, n_b),
        np.divide(x_a, n_a) - np.divide(x_b, n_b),
        alpha,
    )


def miettinen_nurminen_score(difference, x_a, n_a, x_b, n_b) -> np.ndarray:
    """Return Miettinen and Nurminen's z(δ), positive where the observed difference is larger than δ."""
    rate_b = restricted_rate(difference, x_a, n_a, x_b, n_b)
    rate_a = np.clip(rate_b + difference, 0, 1)
    n = n_a + n_b
    variance = (rate_a * (1 - rate_a) / n_a + rate_b * (1 - rate_b) / n_b) * n / (n - 1)
    return standardized(x_a / n_a - x_b / n_b - difference, variance, rounding=1e-12)


def restricted_rate(difference, x_a, n_a, x_b, n_b) -> np.ndarray:
    """Return the likeliest p_b among all rates with p_a - p_b = δ: the middle root of n p³ + l₂ p² + l₁ p + l₀."""
    n, x = n_a + n_b, x_a + x_b
    l2 = (n_a + 2 * n_b) * difference - n - x
    l1 = (n_b * difference - n - 2 * x_b) * difference + x
    l0 = x_b * difference * (1 - difference)
    shift = l2 / (3 * n)
    q = shift**3 - l1 * l2 / (6 * n**2) + l0 / (2 * n)
    p = np.where(q < 0, -1.0, 1.0) * np.sqrt(np.maximum(shift**2 - l1 / (3 * n), 0))
    ratio = np.clip(q / np.where(p == 0, 1, p) ** 3, -1, 1)
    root = 2 * p * np.cos((np.pi + np.arccos(ratio)) / 3) - shift
    return np.clip(root, np.maximum(0, -difference), np.minimum(1, 1 - difference))


def exact_unconditional(
    x_a: int, n_a: int, x_b: int, n_b: int, *, alpha: float
) -> tuple[float, float]:
    """Buehler's exact limits: up to this δ, tables as extreme as this one have probability at most α/2, for all p_b.

    "As extreme" is decided once, whatever δ, by Newcombe's lower limit, which grows with x_a and falls with x_b
    (Buehler 1957; Lloyd & Kabaila 2003). "All" are the rates between limits that the counts set them, which are missed
    with probability `APART` α; this is taken off α/2 (Berger & Boos 1994). The maximum over them is bounded, not
    guessed (see `_Region`), and rounded up: the ends lie a few millionths of the width farther out, never farther in;
    from some 50,000 examples on, up to 0.2 %. Costs 0.02 s for groups of 100, 0.1 s of 5,000, 1 or 2 s of billions.

    >>> low, high = exact_unconditional(30, 100, 18, 100, alpha=0.05)
    >>> print(f"{low:.4f} {high:.4f}")
    0.0004 0.2380
    """
    low = _exact_low(x_a, n_a, x_b, n_b, alpha)
    return low, -_exact_low(x_b, n_b, x_a, n_a, alpha)


def _exact_low(x_a: int, n_a: int, x_b: int, n_b: int, alpha: float) -> float:
    """Return the smallest δ at which some rate makes the tables too probable.

    Every rate of the larger group gives a limit, right or too high; the one that is worst there gives the next, until
    none is worse.
    """
    order = float(newcombe(x_a, n_a, x_b, n_b, alpha=alpha)[0])
    if (
        newcombe(0, n_a, n_b, n_b, alpha=alpha)[0] >= order - TIE
    ):  # every table is as extreme
        return -1.0
    near = limits(x_a, n_a, APART * alpha / 4), limits(x_b, n_b, APART * alpha / 4)
    region = _Region(order, n_a, n_b, alpha, near)
    low, of_a = max(order, -1.0), n_a > n_b
    _, share = region.largest(low)
    while True:
        rate = share * (1 - abs(low)) + max(0.0, -low) + low * of_a

        def excess(end: float, rate: float) -> float:
            here = (rate - end * of_a - max(0.0, -end)) / max(1 - abs(end), 1e-300)
            aim = region.allowed - 2 * TINY * alpha  # less what rounding may add
            return (
                region.probability(end, np.clip([here], *region.shares(end)))[0] - aim
            )

        low = optimize.brentq(excess, -1, 1, args=(rate,), xtol=1e-16)
        probability, share = region.largest(low)
        if probability <= region.allowed:
            return min(low, x_a / n_a - x_b / n_b)


@lru_cache(maxsize=4)
def exact_level(n_a: int, n_b: int, alpha: float, near: tuple) -> float:
    """Return the value of Newcombe's lower limit from which on the exact limit of a table is above 0.

    near : limits for either rate that hold those of the table; with wider ones the level is a little high.
    """

    def excess(
        order: float,
    ) -> float:  # in standard deviations, with which it is nearly a straight line
        region = _Region(order, n_a, n_b, alpha, near)
        return float(
            np.subtract(
                *ndtri(
                    np.clip([region.largest(0.0)[0], region.allowed], 1e-6, 1 - 1e-6)
                )
            )
        )

    reach = min(4 / np.sqrt(min(n_a, n_b)), 2.0)
    exact = reach * (1e-7 if n_a + n_b < 10_000 else 5e-5)
    return optimize.brentq(excess, -reach, reach, xtol=exact) + 2 * exact


class _Region:
    """The tables whose order is at least `level` (ties too), those with x_b <= most_b[x_a], and how probable they are.

    All pairs of rates with difference δ are p_b = s (1 - |δ|) + max(0, -δ), p_a = p_b + δ, 0 <= s = (1 - cos θ)/2 <= 1.
    The probability is smooth in θ: in a stretch of it, some rates give it everywhere (notebook 10a), and between points
    that are `FINER` times as dense it is at most 1/cos(π / 2 FINER) times as large (M. Riesz 1914).
    """

    def __init__(
        self, level: float, n_a: int, n_b: int, alpha: float, near: tuple
    ) -> None:
        self.n_a, self.n_b, self.near = (
            n_a,
            n_b,
            near,
        )  # near: limits of the rates of A and of B
        (low, high), tail = near[0], TINY * alpha
        matter = np.linspace(
            stats.binom.ppf(tail, n_a, low), stats.binom.isf(tail, n_a, high), BINS
        )
        x_a = self.x_a = np.unique(
            np.append(np.floor(matter), 0.0)
        )  # all that matter, or the last of each bin
        most = np.full(len(x_a), n_b)
        self.most_b = largest_count(
            lambda x_b: newcombe(x_a, n_a, x_b, n_b, alpha=alpha)[0] >= level - TIE,
            most,
        )
        # The largest probability that may be found: α/2, less all that is lost on the way.
        self.allowed = (0.5 - 5 * TINY - APART) * alpha * np.cos(np.pi / (2 * FINER))

    def largest(self, difference: float) -> tuple[float, float]:
        """Return the largest probability at this difference of the rates, and the share s that has it."""
        first, last = 2 * np.arcsin(np.sqrt(self.shares(difference)))
        nodes = 32 + int(
            4 * (last - first) * np.sqrt((self.n_a + self.n_b) * (1 - abs(difference)))
        )

        def share(place) -> np.ndarray:
            angle = (
                first
                + (last - first) * np.sin((place + 0.5) * np.pi / (2 * nodes)) ** 2
            )
            return np.sin(angle / 2) ** 2

        finer = FINER * idct(
            dct(self.probability(difference, share(np.arange(nodes)))), n=FINER * nodes
        )
        place = int(finer.argmax())
        return float(finer[place]), float(share((place + 0.5) / FINER - 0.5))

    def shares(self, difference: float) -> np.ndarray:
        """Return the shares s between which both rates are near; where they cannot both be, the two nearest."""
        (low_a, high_a), (low_b, high_b) = self.near
        rates = np.sort(
            [max(low_b, low_a - difference), min(high_b, high_a - difference)]
        )
        return np.clip(
            (rates - max(0.0, -difference)) / max(1 - abs(difference), 1e-300), 0, 1
        )

    def probability(self, difference: float, share: np.ndarray) -> np.ndarray:
        """Return the probability for each share: over x_a, of x_a times that of an x_b below the boundary."""
        rate_b = share[:, None] * (1 - abs(difference)) + max(0.0, -difference)
        of_a = stats.binom.cdf(self.x_a, self.n_a, np.clip(rate_b + difference, 0, 1))
        chance = stats.binom.cdf(self.most_b, self.n_b, rate_b)
        return (np.diff(of_a, prepend=0, axis=1) * chance).sum(axis=1) + 1 - of_a[:, -1]


def largest_count(
    holds: Callable[[np.ndarray], np.ndarray], most: np.ndarray
) -> np.ndarray:
    """Return the largest count up to `most` for which something holds that holds for all smaller ones; else -1."""
    found = np.full(np.shape(most), -1)
    for power in range(int(np.max(most)).bit_length(), -1, -1):
        tried = found + (1 << power)
        found = np.where((tried <= most) & holds(np.minimum(tried, most)), tried, found)
    return found


def hoeffding_pairs(only_a, only_b, n, *, alpha: float):
    """Hoeffding's inequality for the differences of pairs, in [-1, 1]: t² = 2 log(2/α) / n."""
    mean, half_width = (
        (np.asarray(only_a) - only_b) / n,
        np.sqrt(2 * np.log(2 / alpha) / n),
    )
    return np.maximum(mean - half_width, -1), np.minimum(mean + half_width, 1)


def mcnemar(only_a, only_b, n, *, alpha: float):
    """The exact McNemar test turned into an interval; it excludes 0 where the test's p-value is at most 0.95 α.

    Given the number of one-sided pairs, `only_a` is binomial with π = (1 + δ/ψ)/2, where ψ is the rate of such pairs,
    so that δ = (2π - 1) ψ. On either side π gets a Clopper-Pearson limit that is missed with probability 0.95 α/2 (this
    is the test), and ψ one that is missed with 0.05 α/2: from below where the limit of π says that δ is beyond 0, from
    above where it does not.
    """
    low = _mcnemar_low(only_a, only_b, n, alpha / 2)
    return low, -_mcnemar_low(only_b, only_a, n, alpha / 2)


def _mcnemar_low(more, less, n, tail: float) -> np.ndarray:
    discordant = more + less
    share = limits(more, np.maximum(discordant, 1), 0.95 * tail)[0]
    least, most = limits(discordant, n, 0.05 * tail)
    return (2 * share - 1) * np.where(share > 0.5, least, most)


def tango(only_a, only_b, n, *, alpha: float):
    """The differences that the score test for pairs does not reject at level α (Tango 1998).

    z(δ) = (only_a - only_b - n δ) / √(n (2 q̃ + δ (1 - δ))), q̃ the likeliest p(only b) if the difference is δ.

    >>> low, high = tango(28, 25, 618, alpha=0.1)
    >>> print(f"{low:.4f} {high:.4f}")
    -0.0148 0.0247
    """
    return accepted(
        tango_score, (only_a, only_b, n), np.subtract(only_a, only_b) / n, alpha
    )


def tango_score(difference, only_a, only_b, n) -> np.ndarray:
    """Return z(δ), positive where the observed difference is larger than δ."""
    rate = likeliest_rate(difference, only_a, only_b, n)
    variance = n * (2 * rate + difference * (1 - difference))
    return standardized(only_a - only_b - n * difference, variance, rounding=1e-9)


def likeliest_rate(difference, only_a, only_b, n) -> np.ndarray:
    """Return the likeliest p(only b) where p(only a) - p(only b) = δ: a root of 2n q² + B q - only_b δ (1 - δ)."""
    linear = (2 * n - only_a + only_b) * difference - only_a - only_b
    root = np.sqrt(
        np.maximum(linear**2 + 8 * n * only_b * difference * (1 - difference), 0)
    )
    return np.clip(
        (root - linear) / (4 * n), np.maximum(0, -difference), (1 - difference) / 2
    )
