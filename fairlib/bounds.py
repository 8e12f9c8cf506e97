"""How much more does group A pay than group B, and how sure is that? Every interval under one name.

    >>> import numpy as np
    >>> wrong_a, wrong_b = np.repeat([1, 0], [56, 14]), np.repeat([1, 0], [48, 32])
    >>> print(disparity_interval(wrong_a, wrong_b, method="newcombe"))
    0.200 [0.052, 0.334] (95% newcombe)

`METHODS` lists them with what they promise. "finite-sample": the interval misses the truth with probability at most 1 -
confidence, for every distribution of costs in [0, C] and any n. "exact": the same, for costs that are 0 or C.
"asymptotic": in the limit of large groups, and how large is large nobody knows beforehand; notebook 10 shows where they
fail.

The costs of a group are taken for independent draws with one mean (for pairs: the differences). Clustered data are not
that: give the clusters' means instead.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairlib import betting, moments, pairs, proportions, tables
from fairlib.interval import Interval, check_confidence
from fairlib.moments import Moments

DEFAULT, DEFAULT_PAIRED = "betting", "betting_pairs"


@dataclass(frozen=True)
class Method:
    """One way to an interval: `function(cost_a, cost_b, alpha=, rng=)` returns the ends, for costs in [0, 1].

    `counts` is the same for counts of 0-1 costs, vectorised: (x_a, n_a, x_b, n_b, alpha=), or (only_a, only_b, n,
    alpha=) for pairs. It is None where more than the counts matters: the order in which a bettor sees the examples.
    """

    function: Callable[..., tuple[float, float]]
    guarantee: str  # "finite-sample" | "exact" | "asymptotic"
    paired: bool
    reference: str
    counts: Callable | None = None


def disparity_interval(
    cost_a: ArrayLike,
    cost_b: ArrayLike,
    *,
    method: str | None = None,
    max_cost: float = 1.0,
    confidence: float = 0.95,
    paired: bool = False,
    rng=0,
) -> Interval:
    """Return mean(cost_a) - mean(cost_b) with its interval.

    cost_a, cost_b : what each example of the group was made to pay, from 0 to `max_cost`; if `paired`, of equal length,
        and the i-th of either belong together. Lists, tables of one column, or counted costs (`fairlib.tables.costs`):
        methods in closed form take counts of 0 and `max_cost` as they are, however many examples they stand for; for
        costs in between, and for betting, a list of all examples is made, 8 bytes each.
    method : a name in `METHODS`; by default "betting", or "betting_pairs" if `paired`: the narrowest that hold for any
        n.
    rng : seed or Generator of the one shuffle that betting makes; the other methods ignore it. Seed 0 unless told
        otherwise, so that nobody is tempted to try several: an interval picked from many seeds promises nothing. The
        promise of betting is for examples in the order in which they came. Counted costs have none, so the seed and the
        counts draw one together, and the promise is kept on average over the counts that could have been: for groups of
        30 to 100 and two given rates, up to three points less often than for lists, or more often.
    """
    name = method or (DEFAULT_PAIRED if paired else DEFAULT)
    allowed = [key for key, entry in METHODS.items() if entry.paired == paired]
    if name not in allowed:
        raise ValueError(f"method must be one of {', '.join(allowed)} for paired={paired}, found {name!r}")
    check_confidence(confidence)
    if not 0 < max_cost < np.inf:
        raise ValueError(f"max_cost must be positive and finite, found {max_cost}")
    cost_a, cost_b = (tables.counted(costs) or costs for costs in (cost_a, cost_b))
    counted = isinstance(cost_a, tables.Counted) or isinstance(cost_b, tables.Counted)
    a, b = _costs("cost_a", cost_a, max_cost), _costs("cost_b", cost_b, max_cost)
    if paired and not np.array_equal(a.count, b.count):
        raise ValueError(
            f"cost_a and cost_b must be of equal length if paired, found {a.count.sum()} and {b.count.sum()}"
        )
    estimate = max_cost * float(np.average(a.values, weights=a.count) - np.average(b.values, weights=b.count))
    if METHODS[name].counts and all(np.isin(costs.values, (0, 1)).all() for costs in (a, b)):
        low, high = METHODS[name].counts(*_numbers(a, b, paired), alpha=1 - confidence)
    else:
        if counted:
            a, b, rng = _ordered(a, b, paired, rng)
        low, high = METHODS[name].function(np.repeat(*a), np.repeat(*b), alpha=1 - confidence, rng=rng)
    low, high = (max_cost * float(np.clip(end, -1, 1)) for end in (low, high))
    # A bettor weighs the examples a little differently; an interval without its estimate would only confuse.
    low, high = min(low, estimate), max(high, estimate)
    return Interval(estimate, low, high, confidence, name)


def _costs(name: str, values, max_cost: float) -> tables.Counted:
    """Return the costs as shares of the largest, checked, and how many examples pay each."""
    counted = isinstance(values, tables.Counted)
    costs = np.asarray(values.values if counted else values, dtype=float)
    count = np.asarray(values.count, dtype=float) if counted else np.ones(costs.shape, dtype=np.int64)
    if costs.ndim != 1 or not count.any():
        raise ValueError(f"{name} must be a list of at least one cost, found shape {costs.shape}")
    if counted:
        whole = (count >= 0) & (count <= tables.MOST) & (count == np.floor(count))
        if count.shape != costs.shape or not whole.all():
            raise ValueError(f"{name}: counts must be whole numbers of at least 0, one per value, found {count}")
        costs, count = costs[count > 0], count[count > 0].astype(np.int64)
    outside = ~((costs >= 0) & (costs <= max_cost))  # NaN included
    if outside.any():
        shown = ", ".join(f"{value:g}" for value in costs[outside][:3])
        raise ValueError(f"{name} must be in [0, max_cost={max_cost:g}], found {shown} ({count[outside].sum()} such)")
    return tables.Counted(costs / max_cost, count)


def _ordered(a: tables.Counted, b: tables.Counted, paired: bool, rng):
    """Return counted costs sorted (pairs stay together), and a generator that depends on them, if `rng` is a seed.

    However they were counted, the same examples are then shuffled in the same way. With one shuffle for all counts of
    the same size, an unlucky one would be unlucky for good.
    """
    order_a = np.lexsort((b.values, a.values)) if paired else np.argsort(a.values, kind="stable")
    order_b = order_a if paired else np.argsort(b.values, kind="stable")
    a, b = (
        tables.Counted(costs.values[order], costs.count[order].astype(np.int64))
        for costs, order in ((a, order_a), (b, order_b))
    )
    if isinstance(rng, int | np.integer):
        rng = np.random.default_rng([int(rng), zlib.crc32(b"".join(array.tobytes() for array in (*a, *b)))])
    return a, b, rng


def _numbers(a: tables.Counted, b: tables.Counted, paired: bool) -> tuple[int, ...]:
    """Return what the methods in closed form take of 0-1 costs: sums and sizes, or the pairs that differ and all."""
    if paired:
        return (*(int(a.count[more].sum()) for more in (a.values > b.values, a.values < b.values)), int(a.count.sum()))
    return tuple(int(number) for costs in (a, b) for number in (costs.values @ costs.count, costs.count.sum()))


# --- From a list of costs to what each method needs -------------------------------------------------------------------


def _from_moments(function: Callable, guarantee: str, reference: str) -> Method:
    def on_costs(cost_a, cost_b, *, alpha, rng):
        return function(Moments.of(cost_a), Moments.of(cost_b), alpha=alpha)

    def on_counts(x_a, n_a, x_b, n_b, *, alpha):
        low, high = function(Moments.of_counts(x_a, n_a), Moments.of_counts(x_b, n_b), alpha=alpha)
        return np.clip(low, -1, 1), np.clip(high, -1, 1)

    return Method(on_costs, guarantee, False, reference, on_counts)


def _from_counts(function: Callable, guarantee: str, reference: str) -> Method:
    def on_costs(cost_a, cost_b, *, alpha, rng):
        (x_a, n_a), (x_b, n_b) = _count("cost_a", cost_a), _count("cost_b", cost_b)
        return function(x_a, n_a, x_b, n_b, alpha=alpha)

    return Method(on_costs, guarantee, False, reference, function)


def _from_pair_counts(function: Callable, guarantee: str, reference: str) -> Method:
    def on_costs(cost_a, cost_b, *, alpha, rng):
        _count("cost_a", cost_a), _count("cost_b", cost_b)
        return function(int(np.sum(cost_a > cost_b)), int(np.sum(cost_a < cost_b)), len(cost_a), alpha=alpha)

    return Method(on_costs, guarantee, True, reference, function)


def _count(name: str, cost: np.ndarray) -> tuple[int, int]:
    if between := int(np.sum((cost > 0) & (cost < 1))):
        raise ValueError(f"{name} must be 0 or max_cost for this method, found {between} in between; try 'betting'")
    return int(cost.sum()), len(cost)


def _betting(cost_a, cost_b, *, alpha, rng):
    low, high = betting.mean_interval(betting.matched_blocks(cost_a, cost_b, max_cost=1, rng=rng), alpha=alpha / 2)
    return 2 * low - 1, 2 * high - 1


def _betting_per_group(cost_a, cost_b, *, alpha, rng):
    rng = np.random.default_rng(rng)
    (low_a, high_a), (low_b, high_b) = (
        betting.mean_interval(rng.permutation(cost), alpha=alpha / 4) for cost in (cost_a, cost_b)
    )
    return low_a - high_b, high_a - low_b


def _betting_pairs(cost_a, cost_b, *, alpha, rng):
    shares = np.random.default_rng(rng).permutation((1 + cost_a - cost_b) / 2)
    low, high = betting.mean_interval(shares, alpha=alpha / 2)
    return 2 * low - 1, 2 * high - 1


def _hoeffding_pairs(cost_a, cost_b, *, alpha, rng):
    return pairs.hoeffding(float(np.mean(cost_a - cost_b)), len(cost_a), alpha=alpha)


def _hoeffding_pair_counts(only_a, only_b, n, *, alpha):
    low, high = pairs.hoeffding((np.asarray(only_a) - only_b) / n, n, alpha=alpha)
    return np.clip(low, -1, 1), np.clip(high, -1, 1)


BETTING = "Waudby-Smith & Ramdas 2024 (JRSS B 86); Vorácek & Orabona 2025 (STaR-Bets)"
ETHAYARAJH = "Ethayarajh 2020 (ACL), eq. 3"

METHODS: dict[str, Method] = {
    "betting": Method(_betting, "finite-sample", False, f"on matched blocks: {BETTING}"),
    "betting_per_group": Method(_betting_per_group, "finite-sample", False, f"per group, α/2 each: {BETTING}"),
    "bernstein_maximal": _from_moments(moments.bernstein_maximal, "finite-sample", f"{ETHAYARAJH}, maximal variance"),
    "bernstein_sample": _from_moments(moments.bernstein_sample, "asymptotic", f"{ETHAYARAJH}, sample variance"),
    "bernstein_centred": _from_moments(moments.bernstein_centred, "finite-sample", f"{ETHAYARAJH}, for c - C/2"),
    "hoeffding": _from_moments(moments.hoeffding, "finite-sample", "Hoeffding 1963 (JASA 58), two samples"),
    "bentkus": _from_moments(moments.bentkus, "finite-sample", "Hoeffding 1963; Bentkus 2004 (Ann. Probab. 32)"),
    "empirical_bernstein": _from_moments(
        moments.empirical_bernstein, "finite-sample", "Maurer & Pontil 2009 (COLT), theorem 10, two samples"
    ),
    "clopper_pearson": _from_counts(proportions.clopper_pearson, "exact", "Clopper & Pearson 1934, union over groups"),
    "exact_unconditional": _from_counts(
        proportions.exact_unconditional, "exact", "Buehler 1957 (JASA 52); Lloyd & Kabaila 2003"
    ),
    "miettinen_nurminen": _from_counts(
        proportions.miettinen_nurminen, "asymptotic", "Miettinen & Nurminen 1985 (Stat. Med. 4)"
    ),
    "newcombe": _from_counts(proportions.newcombe, "asymptotic", "Newcombe 1998 (Stat. Med. 17, 873), method 10"),
    "welch": _from_moments(moments.welch, "asymptotic", "Welch 1947 (Biometrika 34)"),
    "betting_pairs": Method(_betting_pairs, "finite-sample", True, f"on the pairs' differences: {BETTING}"),
    "hoeffding_pairs": Method(
        _hoeffding_pairs, "finite-sample", True, "Hoeffding 1963 (JASA 58)", _hoeffding_pair_counts
    ),
    "mcnemar": _from_pair_counts(pairs.mcnemar, "exact", "McNemar 1947 (Psychometrika 12), exact, inverted"),
    "tango": _from_pair_counts(pairs.tango, "asymptotic", "Tango 1998 (Stat. Med. 17, 891)"),
}
