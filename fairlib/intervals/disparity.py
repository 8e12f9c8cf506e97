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

import numpy as np

from fairlib import tables
from fairlib.checks import check_confidence, check_max_cost, checked, costs
from fairlib.interval import Interval
from fairlib.intervals import betting, moments, proportions

DEFAULT, DEFAULT_BETWEEN, DEFAULT_PAIRED = "exact_unconditional", "betting", "betting_pairs"
ENOUGH = 10  # examples per squared skewness: with these, Welch's interval misses in at most 7 % of samples
SKEWED = f"undefined, fewer examples in a group than {ENOUGH} times its squared skewness"


@dataclass(frozen=True)
class Method:
    """One way to an interval, for costs in [0, 1]: its functions return the two ends.

    `counts` is vectorised and takes counts of 0-1 costs: (x_a, n_a, x_b, n_b, alpha=), or (only_a, only_b, n, alpha=)
    for pairs. `covers` is the lowest coverage at 95 % from 30 0-1 costs a group on, enumerated.
    """

    function: Callable[..., tuple] | None  # (cost_a, cost_b, alpha=, rng=); None where costs must be 0 or 1
    guarantee: str  # "finite-sample" | "exact" | "asymptotic"
    paired: bool
    reference: str
    counts: Callable[..., tuple] | None = None  # None where it matters in which order a bettor sees the examples
    covers: float | None = None


def disparity_interval(
    cost_a, cost_b, *, method=None, max_cost: float = 1.0, confidence: float = 0.95, paired: bool = False, rng=None
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
    check_max_cost(max_cost)
    allowed = [key for key, entry in METHODS.items() if entry.paired == paired]
    if method is not None and method not in allowed:
        raise ValueError(f"method must be one of {', '.join(allowed)} for paired={paired}, found {method!r}")
    counted = isinstance(cost_a, tables.Counted) or isinstance(cost_b, tables.Counted)
    a, b = _counted("cost_a", cost_a, max_cost), _counted("cost_b", cost_b, max_cost)
    if paired and (counted or len(a.values) != len(b.values)):
        found = "counts" if counted else f"{len(a.values)} and {len(b.values)}"
        raise ValueError(f"cost_a and cost_b must be lists of equal length if paired, found {found}")
    between = [int(side.count[(side.values > 0) & (side.values < 1)].sum()) for side in (a, b)]
    name = method or (DEFAULT_PAIRED if paired else DEFAULT_BETWEEN if any(between) else DEFAULT)
    chosen, alpha = METHODS[name], 1 - confidence
    if any(between) and chosen.function is None:
        side, found = ("cost_a", between[0]) if between[0] else ("cost_b", between[1])
        raise ValueError(f"{side} must be 0 or max_cost for this method, found {found} in between; try 'betting'")
    if any(between) or chosen.counts is None:
        low, high = chosen.function(np.repeat(*a), np.repeat(*b), alpha=alpha, rng=rng)
    elif paired:
        low, high = chosen.counts(np.sum(a.values > b.values), np.sum(a.values < b.values), len(a.values), alpha=alpha)
    else:
        low, high = chosen.counts(*(int(n) for s in (a, b) for n in (s.count @ s.values, s.count.sum())), alpha=alpha)
    if name == "welch" and (_skewed(a) or _skewed(b)):
        low, high, name = np.nan, np.nan, f"welch: {SKEWED}"
    estimate = max_cost * float(np.average(a.values, weights=a.count) - np.average(b.values, weights=b.count))
    low, high = (max_cost * float(np.clip(end, -1, 1)) for end in (low, high))
    # A bettor weighs the examples a little differently; an interval without its estimate would only confuse.
    return Interval(estimate, min(low, estimate), max(high, estimate), confidence, name)


def _skewed(costs: tables.Counted) -> bool:
    """Return whether n < `ENOUGH` G₁², where G₁ is the sample's skewness (Cochran's rule), or all costs are equal."""
    n, away = costs.count.sum(), costs.values - np.average(costs.values, weights=costs.count)
    square, cube = (np.average(away**power, weights=costs.count) for power in (2, 3))
    return bool(square < 1e-24 or n * square**3 < ENOUGH * cube**2)


def _counted(name: str, values, max_cost: float) -> tables.Counted:
    """Return the costs as shares of the largest, checked, and how many examples pay each."""
    if not isinstance(values, tables.Counted):
        cost = costs(name, values, max_cost)
        return tables.Counted(cost / max_cost, np.ones(cost.shape, dtype=np.int64))
    cost, allowed = np.asarray(values.values), "whole numbers of at least 0, one per value, at most 2^53 in all"

    def whole(n: np.ndarray) -> np.ndarray:
        return (n >= 0) & (n == np.floor(n)) & (n.sum() <= tables.MOST) & (n.shape == cost.shape)

    count = checked(f"{name}: counts", values.count, allowed, whole)
    return tables.Counted(costs(name, cost[count > 0], max_cost) / max_cost, count[count > 0].astype(np.int64))


def _of_moments(function: Callable, guarantee: str, reference: str, covers: float | None = None) -> Method:
    def on_costs(cost_a, cost_b, *, alpha, rng):
        return function(moments.Moments.of(cost_a), moments.Moments.of(cost_b), alpha=alpha)

    def on_counts(x_a, n_a, x_b, n_b, *, alpha):
        return function(moments.Moments.of_counts(x_a, n_a), moments.Moments.of_counts(x_b, n_b), alpha=alpha)

    return Method(on_costs, guarantee, False, reference, on_counts, covers)


def _bet(cost_a, cost_b, *, alpha, rng, paired=False):
    """Return the ends of the game of one shuffle; without a seed, the middle of many of the sorted costs."""
    costs, games = [(1 + cost_a - cost_b) / 2] if paired else [cost_a, cost_b], 1
    if rng is None:  # of a hundred thousand costs the order hardly matters any more
        games = betting.SHUFFLES if min(map(len, costs)) <= 100_000 else betting.SHUFFLES // 5
        costs, rng = [np.sort(cost) for cost in costs], 0
    rng = np.random.default_rng(rng)
    shuffled = rng.permutation if paired else partial(betting.matched_blocks, rng=rng)
    low, high = betting.ends((shuffled(*costs) for _ in range(games)), alpha=alpha / 2)
    return 2 * np.median(low) - 1, 2 * np.median(high) - 1


def _hoeffding_pairs(cost_a, cost_b, *, alpha, rng):
    return proportions.hoeffding_pairs(np.sum(cost_a - cost_b), 0, len(cost_a), alpha=alpha)


BETTING = "Waudby-Smith & Ramdas 2024 (JRSS B 86); Vorácek & Orabona 2025 (STaR-Bets)"
ETHAYARAJH = "Ethayarajh 2020 (ACL), eq. 3"
BUEHLER = "Buehler 1957 (JASA 52); Lloyd & Kabaila 2003"
MIETTINEN = "Miettinen & Nurminen 1985 (Stat. Med. 4)"
CLOPPER = "Clopper & Pearson 1934, union over groups"
NEWCOMBE = "Newcombe 1998 (Stat. Med. 17, 873), method 10"
MAURER = "Maurer & Pontil 2009 (COLT), theorem 10, two samples"
FINITE, EXACT, ASYMPTOTIC = "finite-sample", "exact", "asymptotic"

METHODS: dict[str, Method] = {
    "betting": Method(_bet, FINITE, False, f"on matched blocks: {BETTING}"),
    "bernstein_maximal": _of_moments(moments.bernstein_maximal, FINITE, f"{ETHAYARAJH}, maximal variance"),
    "bernstein_sample": _of_moments(moments.bernstein_sample, ASYMPTOTIC, f"{ETHAYARAJH}, sample variance", 0.94),
    "bernstein_centred": _of_moments(moments.bernstein_centred, FINITE, f"{ETHAYARAJH}, for c - C/2"),
    "hoeffding": _of_moments(moments.hoeffding, FINITE, "Hoeffding 1963 (JASA 58), two samples"),
    "empirical_bernstein": _of_moments(moments.empirical_bernstein, FINITE, MAURER),
    "clopper_pearson": Method(None, EXACT, False, CLOPPER, proportions.clopper_pearson),
    "exact_unconditional": Method(None, EXACT, False, BUEHLER, proportions.exact_unconditional),
    "miettinen_nurminen": Method(None, ASYMPTOTIC, False, MIETTINEN, proportions.miettinen_nurminen, 0.92),
    "newcombe": Method(None, ASYMPTOTIC, False, NEWCOMBE, proportions.newcombe, 0.90),
    "welch": _of_moments(moments.welch, ASYMPTOTIC, "Welch 1947 (Biometrika 34)", 0.93),
    "betting_pairs": Method(partial(_bet, paired=True), FINITE, True, f"on the pairs' differences: {BETTING}"),
    "hoeffding_pairs": Method(_hoeffding_pairs, FINITE, True, "Hoeffding 1963 (JASA 58)", proportions.hoeffding_pairs),
    "mcnemar": Method(None, EXACT, True, "McNemar 1947 (Psychometrika 12), exact, inverted", proportions.mcnemar),
    "tango": Method(None, ASYMPTOTIC, True, "Tango 1998 (Stat. Med. 17, 891)", proportions.tango, 0.93),
}
