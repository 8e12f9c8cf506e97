"""Intervals for a difference of two error rates: costs that are 0 or 1, and nothing in between.

Every function takes counts: x_a errors among n_a examples of group A, x_b among n_b of group B (arrays broadcast,
except in `exact_unconditional`), and returns the ends of an interval for p_a - p_b that is to be missed with
probability at most `alpha`.
"""

from __future__ import annotations

import numpy as np
from scipy import optimize, stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

LARGEST_TABLE = 9_000_000  # tables (n_a + 1)(n_b + 1) that the exact method looks at


def clopper_pearson(x_a, n_a, x_b, n_b, *, alpha: float):
    """Two exact intervals, one per group, each missed with probability α/2, and the differences of their ends."""
    low_a, high_a = proportion_confint(x_a, n_a, alpha=alpha / 2, method="beta")
    low_b, high_b = proportion_confint(x_b, n_b, alpha=alpha / 2, method="beta")
    return low_a - high_b, high_a - low_b


def newcombe(x_a, n_a, x_b, n_b, *, alpha: float):
    """Newcombe's square-and-add of two Wilson intervals (1998, method 10), as statsmodels computes it."""
    return confint_proportions_2indep(x_a, n_a, x_b, n_b, compare="diff", method="newcomb", alpha=alpha)


# --- Miettinen and Nurminen 1985 --------------------------------------------------------------------------------------


def miettinen_nurminen(x_a, n_a, x_b, n_b, *, alpha: float):
    """The differences δ that the score test does not reject at level α (Miettinen & Nurminen 1985).

    z(δ) = (x_a/n_a - x_b/n_b - δ) / √((p̃_a q̃_a / n_a + p̃_b q̃_b / n_b) N / (N - 1)), where p̃ are the likeliest
    rates whose difference is δ. Written here because statsmodels 0.15's version computes p̃ wrongly (its cubic
    multiplies δ with the wrong count).
    """
    x_a, n_a, x_b, n_b = np.broadcast_arrays(*(np.asarray(count, dtype=float) for count in (x_a, n_a, x_b, n_b)))
    critical = stats.norm.isf(alpha / 2)
    low = _score_end(x_a, n_a, x_b, n_b, critical)
    return low, -_score_end(x_b, n_b, x_a, n_a, critical)


def score(difference, x_a, n_a, x_b, n_b) -> np.ndarray:
    """Return z(δ), positive where the observed difference is larger than δ."""
    rate_b = restricted_rate(difference, x_a, n_a, x_b, n_b)
    rate_a = np.clip(rate_b + difference, 0, 1)
    n = n_a + n_b
    variance = (rate_a * (1 - rate_a) / n_a + rate_b * (1 - rate_b) / n_b) * n / (n - 1)
    distance = x_a / n_a - x_b / n_b - difference
    steep = np.sign(distance) * np.where(np.abs(distance) > 1e-12, np.inf, 0)  # no variance: either right or impossible
    return np.where(variance > 1e-18, distance / np.sqrt(np.maximum(variance, 1e-18)), steep)


def restricted_rate(difference, x_a, n_a, x_b, n_b) -> np.ndarray:
    """Return the likeliest p_b among all pairs of rates with p_a - p_b = δ: a root of a cubic, in closed form.

    The likelihood's derivative, times its denominators, is n p³ + l₂ p² + l₁ p + l₀; the middle one of its three real
    roots is the one.
    """
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


def _score_end(x_a, n_a, x_b, n_b, critical: float) -> np.ndarray:
    """Return the lower end, by bisection: z falls as δ grows."""
    rejected, kept = np.full(x_a.shape, -1.0), x_a / n_a - x_b / n_b
    for _ in range(44):
        middle = (rejected + kept) / 2
        beyond = score(middle, x_a, n_a, x_b, n_b) > critical
        rejected, kept = np.where(beyond, middle, rejected), np.where(beyond, kept, middle)
    return rejected


# --- Exact, without conditioning --------------------------------------------------------------------------------------


def exact_unconditional(x_a: int, n_a: int, x_b: int, n_b: int, *, alpha: float) -> tuple[float, float]:
    """Buehler's exact limits: up to this δ, tables as extreme as this one have probability at most α/2, for all p_b.

    "As extreme" is decided once, whatever δ: by Newcombe's limit, the order in which one would have trusted the tables
    anyway, made monotone in either count. Then the probability grows with δ, and the limits are the tightest that are
    exact and keep this order (Buehler 1957; Lloyd & Kabaila 2003). All (n_a + 1)(n_b + 1) tables are looked at: for
    small groups.

    The maximum over p_b is taken on a grid of 257 rates, refined twice around the best.
    """
    check_tables(n_a, n_b)
    low = _exact_low(x_a, n_a, x_b, n_b, alpha)
    return low, -_exact_low(x_b, n_b, x_a, n_a, alpha)


def check_tables(n_a: int, n_b: int) -> None:
    """Raise unless all tables of such groups can be looked at."""
    tables = (n_a + 1) * (n_b + 1)
    if tables > LARGEST_TABLE:
        raise ValueError(
            f"method 'exact_unconditional' looks at (n_a + 1)(n_b + 1) tables and allows "
            f"{LARGEST_TABLE:,}, found {tables:,}; use 'betting' for groups of this size"
        )


def _exact_low(x_a: int, n_a: int, x_b: int, n_b: int, alpha: float) -> float:
    order = table_order(n_a, n_b, alpha)
    most_b = extreme_region(order, order[x_a, x_b])

    def excess(difference: float) -> float:
        return region_probability(most_b, n_a, n_b, difference) - alpha / 2

    if excess(-1.0) >= 0:
        return -1.0
    top = x_a / n_a - x_b / n_b
    if excess(top) <= 0:
        return top
    return max(-1.0, optimize.brentq(excess, -1.0, top, xtol=1e-7) - 1e-7)


def table_order(n_a: int, n_b: int, alpha: float) -> np.ndarray:
    """Return for each table (x_a, x_b) the number that says how much it speaks for p_a > p_b."""
    x_a, x_b = np.arange(n_a + 1)[:, None], np.arange(n_b + 1)[None, :]
    low_a, _ = proportion_confint(x_a, n_a, alpha=alpha, method="wilson")
    _, high_b = proportion_confint(x_b, n_b, alpha=alpha, method="wilson")
    rate_a, rate_b = x_a / n_a, x_b / n_b
    return rate_a - rate_b - np.sqrt((rate_a - low_a) ** 2 + (high_b - rate_b) ** 2)


def extreme_region(order: np.ndarray, level: float) -> np.ndarray:
    """Return for each x_a the largest x_b (or -1) of the tables as extreme as `level`, grown to be monotone."""
    inside = order >= level - 1e-12
    most_b = np.where(inside.any(axis=1), inside.shape[1] - 1 - np.argmax(inside[:, ::-1], axis=1), -1)
    return np.maximum.accumulate(most_b)


def region_probability(most_b: np.ndarray, n_a: int, n_b: int, difference: float) -> float:
    """Return the largest probability of {x_b <= most_b[x_a]} over all pairs of rates with p_a - p_b = δ."""
    lowest, highest = max(0.0, -difference), min(1.0, 1.0 - difference)
    reached = np.flatnonzero(most_b >= 0)

    def probability(rate_b: np.ndarray) -> np.ndarray:
        rate_a = np.clip(rate_b + difference, 0, 1)
        of_a = stats.binom.pmf(reached[:, None], n_a, rate_a)
        return (of_a * stats.binom.cdf(most_b[reached][:, None], n_b, rate_b)).sum(axis=0)

    angles = np.linspace(0, np.pi, 257)  # denser towards the ends, where a binomial changes fastest
    best = 0.0
    for _ in range(3):
        rates = lowest + (highest - lowest) * (1 - np.cos(angles)) / 2
        values = probability(rates)
        top = int(np.argmax(values))
        best = max(best, float(values[top]))
        angles = np.linspace(angles[max(top - 1, 0)], angles[min(top + 1, len(angles) - 1)], 17)
    return best
