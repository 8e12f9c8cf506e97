"""How much more does group A pay than group B, and how sure is that? Every interval under one name.

One data set has one answer: to all methods but betting with `rng`, neither a seed nor the order of examples matters.
`METHODS` lists them with what they promise. "finite-sample": the interval misses the truth with probability at most 1 -
confidence, for every distribution of costs in [0, C] and any n. "exact": the same, for costs that are 0 or C, as lists
in any order or as counts. "asymptotic": in the limit of large groups; `covers` says how little it may be before, and
notebook 10a where. Welch's is undefined, with the reason, where its samples are too skewed to cover 93 %.

Betting keeps its promise when it looks at the examples once, in the order in which they were drawn or in one shuffle:
with `rng`. Without, it is the middle of `betting.SHUFFLES` shuffles of the sorted costs. That may miss twice as often
and no more (Rüger 1978), and missed less often than promised wherever that was looked at (`benchmarks/one_answer.md`).

The costs of a group (for pairs: the differences) are taken for independent draws with one mean: of clustered data, give
the clusters' means.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from fairlib import bernstein, tables
from fairlib.checks import check_confidence, check_word, checked, costs
from fairlib.interval import Interval
from fairlib.intervals import betting, proportions

DEFAULT, DEFAULT_BETWEEN, DEFAULT_PAIRED = (
    "exact_unconditional",
    "betting",
    "betting_pairs",
)
ENOUGH = 10  # examples per squared skewness: with these, Welch's interval misses in at most 7 % of samples
SKEWED = (
    f"undefined, fewer examples in a group than {ENOUGH} times its squared skewness"
)


@dataclass(frozen=True)
class Method:
    """One way to an interval, for costs in [0, 1]: its functions return the two ends.

    `counts` is vectorised and takes counts of 0-1 costs: (x_a, n_a, x_b, n_b, alpha=), or (only_a, only_b, n, alpha=)
    for pairs. `covers` is the lowest coverage at 95 % from 30 0-1 costs a group on, enumerated.
    """

    function: (
        Callable[..., tuple] | None
    )  # (cost_a, cost_b, alpha=, rng=); None where costs must be 0 or 1
    guarantee: str  # "finite-sample" | "exact" | "asymptotic"
    paired: bool
    reference: str
    counts: Callable[..., tuple] | None = (
        None  # None where it matters in which order a bettor sees the examples
    )
    covers: float | None = None


def disparity_interval(
    cost_a,
    cost_b,
    *,
    method=None,
    max_cost: float = 1.0,
    confidence: float = 0.95,
    paired: bool = False,
    rng=None,
) -> Interval:
    """Return mean(cost_a) - mean(cost_b) with its interval.

    cost_a, cost_b : what each example of the group pays, from 0 to `max_cost`; if `paired`, lists of equal length whose
        i-th entries belong together. Lists, or counted costs (`fairlib.tables.costs`).
    method : a name in `METHODS`. By default "exact_unconditional" where every cost is 0 or `max_cost`, which holds for
        all rates and is narrower than betting; "betting" for costs in between, "betting_pairs" if `paired`.
    rng : seed or Generator of the one shuffle with which betting keeps its promise; the other methods ignore it. A seed
        is chosen before the data are seen: the narrowest of many intervals promises nothing.

    >>> print(disparity_interval([1, 0, 1, 1], [0, 0, 1, 0]))
    0.500 [-0.302, 0.917] (95% exact_unconditional)
    >>> print(disparity_interval([0.9, 0.2, 0.7, 0.8] * 5, [0.1, 0.3, 0.4] * 6))
    0.383 [0.100, 0.591] (95% betting)
    """
    check_confidence(confidence)
    allowed = [key for key, entry in METHODS.items() if entry.paired == paired]
    if method is not None:
        check_word(f"method for paired={paired}", method, allowed)
    counted = isinstance(cost_a, tables.Counted) or isinstance(cost_b, tables.Counted)
    a, b = _counted("cost_a", cost_a, max_cost), _counted("cost_b", cost_b, max_cost)
    if paired and (counted or len(a.values) != len(b.values)):
        found = "counts" if counted else f"{len(a.values)} and {len(b.values)}"
        raise ValueError(
            f"cost_a and cost_b must be lists of equal length if paired, found {found}"
        )
    between = [
        int(side.count[(side.values > 0) & (side.values < 1)].sum()) for side in (a, b)
    ]
    name = method or (
        DEFAULT_PAIRED if paired else DEFAULT_BETWEEN if any(between) else DEFAULT
    )
    chosen, alpha = METHODS[name], 1 - confidence
    if any(between) and chosen.function is None:
        side, found = ("cost_a", between[0]) if between[0] else ("cost_b", between[1])
        raise ValueError(
            f"{side} must be 0 or max_cost for this method, found {found} in between; try 'betting'"
        )
    if any(between) or chosen.counts is None:
        low, high = chosen.function(np.repeat(*a), np.repeat(*b), alpha=alpha, rng=rng)
    elif paired:
        low, high = chosen.counts(
            np.sum(a.values > b.values),
            np.sum(a.values < b.values),
            len(a.values),
            alpha=alpha,
        )
    else:
        low, high = chosen.counts(
            *(int(n) for s in (a, b) for n in (s.count @ s.values, s.count.sum())),
            alpha=alpha,
        )
    if name == "welch" and (_skewed(a) or _skewed(b)):
        low, high, name = np.nan, np.nan, f"welch: {SKEWED}"
    estimate = max_cost * float(
        np.average(a.values, weights=a.count) - np.average(b.values, weights=b.count)
    )
    low, high = (max_cost * float(np.clip(end, -1, 1)) for end in (low, high))
    # A bettor weighs the examples a little differently; an interval without its estimate would only confuse.
    return Interval(estimate, min(low, estimate), max(high, estimate), confidence, name)


def _skewed(costs: tables.Counted) -> bool:
    """Return whether n < `ENOUGH` G₁² (G₁: skewness; Cochran 1977, "Sampling Techniques"), or all costs are equal."""
    n, away = (
        costs.count.sum(),
        costs.values - np.average(costs.values, weights=costs.count),
    )
    square, cube = (np.average(away**power, weights=costs.count) for power in (2, 3))
    return bool(square < 1e-24 or n * square**3 < ENOUGH * cube**2)


def _counted(name: str, values, max_cost: float) -> tables.Counted:
    """Return the costs as shares of the largest, checked, and how many examples pay each."""
    if not isinstance(values, tables.Counted):
        cost = costs(name, values, max_cost)
        return tables.Counted(cost / max_cost, np.ones(cost.shape, dtype=np.int64))
    cost, allowed = (
        np.asarray(values.values),
        "whole numbers of at least 0, one per value, at most 2^53 in all",
    )

    def whole(n: np.ndarray) -> np.ndarray:
        return (
            (n >= 0)
            & (n == np.floor(n))
            & (n.sum() <= tables.LARGEST_COUNT)
            & (n.shape == cost.shape)
        )

    count = checked(f"{name}: counts", values.count, allowed, whole)
    return tables.Counted(
        costs(name, cost[count > 0], max_cost) / max_cost,
        count[count > 0].astype(np.int64),
    )


class _Moments(NamedTuple):
    """What a group's costs come down to: how many, their mean, and their variance with n - 1 in the denominator."""

    n: ArrayLike
    mean: ArrayLike
    variance: ArrayLike


def _of_counts(ones: ArrayLike, n: ArrayLike) -> _Moments:
    """Return the moments of n costs, `ones` of which are 1 and the others 0."""
    n = np.asarray(n, dtype=float)
    rate = np.asarray(ones) / n
    return _Moments(n, rate, rate * (1 - rate) * n / np.maximum(n - 1, 1))


def _of_moments(
    half_width: Callable, guarantee: str, reference: str, covers: float | None = None
) -> Method:
    """Return the method whose ends are `half_width(a, b, alpha=)` from the estimate, within what differences can be."""

    def ends(a: _Moments, b: _Moments, alpha: float) -> tuple:
        difference, t = a.mean - b.mean, half_width(a, b, alpha=alpha)
        return np.maximum(difference - t, -1), np.minimum(difference + t, 1)

    def on_costs(*costs, alpha, rng):  # the variance of a single one is 0
        return ends(
            *(
                _Moments(len(c), c.mean(), c.var(ddof=min(len(c) - 1, 1)))
                for c in costs
            ),
            alpha,
        )

    def on_counts(x_a, n_a, x_b, n_b, *, alpha):
        return ends(_of_counts(x_a, n_a), _of_counts(x_b, n_b), alpha)

    return Method(on_costs, guarantee, False, reference, on_counts, covers)


def _bernstein(
    a: _Moments, b: _Moments, *, alpha: float, variance="maximal", max_cost: float = 1.0
):
    """Ethayarajh's bound (eq. 3), γ the smaller group's share of the sample; the maximal variance is (C/γ)²."""
    n = a.n + b.n
    gamma = np.minimum(a.n, b.n) / n
    return bernstein.half_width(
        n, variance=variance, gamma=gamma, max_cost=max_cost, confidence=1 - alpha
    )


def _bernstein_sample(a: _Moments, b: _Moments, *, alpha: float):
    """The same with the sample variance of the amortized disparity in the place of the true one: a plug-in."""
    n = a.n + b.n
    squares = sum(
        (group.variance * (group.n - 1) / group.n + group.mean**2) * n / group.n
        for group in (a, b)
    )
    return _bernstein(
        a,
        b,
        alpha=alpha,
        variance=np.maximum(squares - (a.mean - b.mean) ** 2, 0) * n / (n - 1),
    )


def _bernstein_centred(a: _Moments, b: _Moments, *, alpha: float):
    """The same bound for c - C/2, whose differences are the same: C/2 in the place of C, and σ² <= C² / (4 γ_A γ_B)."""
    return _bernstein(
        a, b, alpha=alpha, variance=(a.n + b.n) ** 2 / (4 * a.n * b.n), max_cost=0.5
    )


def _hoeffding(a: _Moments, b: _Moments, *, alpha: float):
    """Hoeffding's inequality for two samples: t² = (1/n_a + 1/n_b) log(2/α) / 2."""
    return np.sqrt((1 / a.n + 1 / b.n) * np.log(2 / alpha) / 2)


def _empirical_bernstein(a: _Moments, b: _Moments, *, alpha: float):
    """Bernstein's inequality for two samples, with an upper confidence limit for each group's standard deviation.

    t = √(2 v log(1/α₁)) + max(1/n_a, 1/n_b) log(1/α₁) / 3,  v = s_a² / n_a + s_b² / n_b, where s is the sample's
    standard deviation plus √(2 log(1/α₂) / (n - 1)) (Maurer & Pontil 2009, theorem 10), and no more than the largest
    that there is, 1/2. Two tails and two deviations share α: 2 α₁ + 2 α₂ = α, with α₂ = α/20.
    """
    tail, limit = np.log(1 / (0.45 * alpha)), np.log(1 / (0.05 * alpha))
    deviations = (
        np.sqrt(group.variance) + np.sqrt(2 * limit / np.maximum(group.n - 1, 1e-9))
        for group in (a, b)
    )
    v = sum(
        np.minimum(s, 0.5) ** 2 / group.n
        for s, group in zip(deviations, (a, b), strict=True)
    )
    return np.sqrt(2 * v * tail) + tail / (3 * np.minimum(a.n, b.n))


def _welch(a: _Moments, b: _Moments, *, alpha: float):
    """Welch's t interval: normal theory with unequal variances. Groups without any variance get no width at all.

    Where errors are rare it covers far less than it says, 36 % of samples of 30 and 100 at worst: see `_skewed`.
    """
    if np.any(np.minimum(a.n, b.n) < 2):
        raise ValueError("method 'welch' needs at least two examples in each group")
    share_a, share_b = a.variance / a.n, b.variance / b.n
    squared = share_a**2 / (a.n - 1) + share_b**2 / (b.n - 1)
    freedom = np.where(
        squared > 0, (share_a + share_b) ** 2 / np.where(squared > 0, squared, 1), 1
    )
    return np.sqrt(share_a + share_b) * stats.t.ppf(1 - alpha / 2, freedom)


def _bet(cost_a, cost_b, *, alpha, rng, paired=False):
    """Return the ends of the game of one shuffle; without a seed, the middle of many of the sorted costs."""
    costs, games = [(1 + cost_a - cost_b) / 2] if paired else [cost_a, cost_b], 1
    if rng is None:  # of a hundred thousand costs the order hardly matters any more
        games = (
            betting.SHUFFLES
            if min(map(len, costs)) <= 100_000
            else betting.SHUFFLES // 5
        )
        costs, rng = [np.sort(cost) for cost in costs], 0
    rng = np.random.default_rng(rng)
    shuffled = rng.permutation if paired else partial(betting.matched_blocks, rng=rng)
    low, high = betting.ends((shuffled(*costs) for _ in range(games)), alpha=alpha / 2)
    return 2 * np.median(low) - 1, 2 * np.median(high) - 1


def _hoeffding_pairs(cost_a, cost_b, *, alpha, rng):
    return proportions.hoeffding_pairs(
        np.sum(cost_a - cost_b), 0, len(cost_a), alpha=alpha
    )


BETTING = "Waudby-Smith & Ramdas 2024 (JRSS B 86); Vorácek & Orabona 2025 (STaR-Bets)"
ETHAYARAJH = "Ethayarajh 2020 (ACL), eq. 3"
BUEHLER = "Buehler 1957 (JASA 52); Lloyd & Kabaila 2003"
MIETTINEN = "Miettinen & Nurminen 1985 (Stat. Med. 4)"
CLOPPER = "Clopper & Pearson 1934, union over groups"
MAURER = "Maurer & Pontil 2009 (COLT), theorem 10, two samples"
NEWCOMBE = "Newcombe 1998 (Stat. Med. 17, 873), method 10"
FINITE, EXACT, ASYMPTOTIC = "finite-sample", "exact", "asymptotic"

METHODS: dict[str, Method] = {
    "betting": Method(_bet, FINITE, False, f"on matched blocks: {BETTING}"),
    "bernstein_maximal": _of_moments(
        _bernstein, FINITE, f"{ETHAYARAJH}, maximal variance"
    ),
    "bernstein_sample": _of_moments(
        _bernstein_sample, ASYMPTOTIC, f"{ETHAYARAJH}, sample variance", 0.94
    ),
    "bernstein_centred": _of_moments(
        _bernstein_centred, FINITE, f"{ETHAYARAJH}, for c - C/2"
    ),
    "hoeffding": _of_moments(
        _hoeffding, FINITE, "Hoeffding 1963 (JASA 58), two samples"
    ),
    "empirical_bernstein": _of_moments(_empirical_bernstein, FINITE, MAURER),
    "clopper_pearson": Method(None, EXACT, False, CLOPPER, proportions.clopper_pearson),
    "exact_unconditional": Method(
        None, EXACT, False, BUEHLER, proportions.exact_unconditional
    ),
    "miettinen_nurminen": Method(
        None, ASYMPTOTIC, False, MIETTINEN, proportions.miettinen_nurminen, 0.92
    ),
    "newcombe": Method(None, ASYMPTOTIC, False, NEWCOMBE, proportions.newcombe, 0.90),
    "welch": _of_moments(_welch, ASYMPTOTIC, "Welch 1947 (Biometrika 34)", 0.93),
    "betting_pairs": Method(
        partial(_bet, paired=True),
        FINITE,
        True,
        f"on the pairs' differences: {BETTING}",
    ),
    "hoeffding_pairs": Method(
        _hoeffding_pairs,
        FINITE,
        True,
        "Hoeffding 1963 (JASA 58)",
        proportions.hoeffding_pairs,
    ),
    "mcnemar": Method(
        None,
        EXACT,
        True,
        "McNemar 1947 (Psychometrika 12), exact, inverted",
        proportions.mcnemar,
    ),
    "tango": Method(
        None,
        ASYMPTOTIC,
        True,
        "Tango 1998 (Stat. Med. 17, 891)",
        proportions.tango,
        0.93,
    ),
}
