"""Intervals for how much more group A pays than group B.

Every interval for this difference is called by one function, `disparity_interval`. A
data set has one answer: the result depends neither on a seed nor on the order of the
examples, unless you pass `rng` to the betting interval.

`METHODS` lists the intervals with what each of them guarantees:

"finite-sample"
    The interval misses the true difference with probability at most 1 - confidence, for
    every distribution of costs in [0, C] and every number of examples.
"exact"
    The same guarantee, for costs that are either 0 or C.
"asymptotic"
    The guarantee holds in the limit of large groups. Before that limit, `covers` says
    how low the coverage may be, and dossier 10a shows where. Welch's interval is
    undefined, with a reason, where costs are too skewed for a coverage of 93 %.

The betting interval has its guarantee if we look at the examples once, in the order in
which they were drawn or in one random order; that is what `rng` is for. Without `rng`,
the result is the median over `betting.SHUFFLES` random orders of the sorted costs. A
median may miss the truth twice as often as one order, but not more (Rüger 1978);
wherever we looked, it missed less often than 1 - confidence
(`benchmarks/one_answer.md`).

We assume that the costs of a group (for pairs: the differences) are independent draws
with one mean. If your examples come in clusters, pass the means of the clusters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy import ndarray
from numpy.random import Generator
from numpy.typing import ArrayLike

from fairlib import tables
from fairlib.checks import (
    check_confidence,
    check_word,
    checked,
    costs,
    largest_cost,
)
from fairlib.interval import Interval
from fairlib.intervals import betting, exact, moments, proportions
from fairlib.intervals.moments import ends_of_costs, ends_of_counts
from fairlib.intervals.proportions import Ends

Seed = Generator | int | None

# The method that we choose for two groups if all costs are 0 or max_cost.
DEFAULT = "exact_unconditional"

# With this many examples per squared skewness, Welch's interval misses the truth in at
# most 7 % of samples.
_EXAMPLES_PER_SQUARED_SKEWNESS = 10

# With more costs than this, the order hardly matters, and fewer shuffles suffice.
_MANY_COSTS = 100_000


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method for the interval of a difference of two groups' mean costs.

    The functions of a method take costs from 0 to 1 and α, one minus the confidence.
    They return the low and the high end, and can be called without
    `disparity_interval`, for instance on whole arrays of counts.

    Attributes
    ----------
    guarantee : {"finite-sample", "exact", "asymptotic"}
        What the method guarantees: see the beginning of this module.
    reference : str
        Where the method was published.
    paired : bool, default False
        Whether the method is for pairs of costs that belong together.
    function : callable or None, default None
        ``function(cost_a, cost_b, *, alpha, rng)``, for lists of costs from 0 to 1.
        None if the method is for costs of 0 and 1 only.
    counts : callable or None, default None
        The function for counts of costs of 0 and 1, vectorised:
        ``counts(x_a, n_a, x_b, n_b, *, alpha)``, or
        ``counts(only_a, only_b, n, *, alpha)`` for pairs (see
        `fairlib.intervals.proportions`). None for betting, where counts do not suffice
        because the order of the examples matters.
    covers : float or None, default None
        For an asymptotic method, its lowest coverage at 95 % confidence if each group
        has at least 30 examples with costs of 0 or 1, by enumeration. None if the
        method has a guarantee, or if its coverage has not been enumerated.

    Examples
    --------
    >>> low, high = METHODS["newcombe"].counts(56, 70, 48, 80, alpha=0.05)
    >>> print(f"{low:.4f} {high:.4f}")
    0.0524 0.3339
    """

    guarantee: Literal["finite-sample", "exact", "asymptotic"]
    reference: str
    paired: bool = False
    function: Callable[..., tuple] | None = None
    counts: Callable[..., tuple] | None = None
    covers: float | None = None


def disparity_interval(
    cost_a: ArrayLike | tables.Counted,
    cost_b: ArrayLike | tables.Counted,
    *,
    method: str | None = None,
    max_cost: float = 1.0,
    confidence: float = 0.95,
    paired: bool = False,
    rng: Seed = None,
) -> Interval:
    """Return how much more group A pays on average than group B, with an interval.

    The estimate is mean(cost_a) - mean(cost_b). If the interval excludes 0, the sample
    shows a difference between the groups.

    Parameters
    ----------
    cost_a, cost_b : array_like of float, or Counted
        Cost of each example of group A and of group B, from 0 to `max_cost`: a list, or
        counted costs (`fairlib.tables.costs`). If `paired`, two lists of equal length
        whose i-th entries belong together.
    method : str, optional
        A name in `METHODS`. By default "exact_unconditional" if every cost is 0 or
        `max_cost`, which has a guarantee and is narrower than betting; "betting" if
        some costs lie in between; and "betting_pairs" if `paired`.
    max_cost : float, default 1.0
        C, the largest cost that is possible.
    confidence : float, default 0.95
        The probability with which the interval is to contain the true difference.
    paired : bool, default False
        Whether the i-th costs of both groups belong together.
    rng : Generator or int, optional
        Random numbers, or a seed, for the one shuffle with which the betting interval
        has its guarantee; the other methods ignore it. Choose a seed before you see the
        data: the narrowest of many intervals guarantees nothing.

    Returns
    -------
    Interval
        The estimate with its interval; its `method` is the name of the method.

    Raises
    ------
    ValueError
        If an argument is not as described here, or if the method is for costs of 0 and
        `max_cost` only and some costs lie in between.

    Examples
    --------
    >>> print(disparity_interval([1, 0, 1, 1], [0, 0, 1, 0]))
    0.500 [-0.302, 0.917] (95% exact_unconditional)
    >>> print(disparity_interval([0.9, 0.2, 0.7, 0.8] * 5, [0.1, 0.3, 0.4] * 6))
    0.383 [0.100, 0.591] (95% betting)
    """
    check_confidence(confidence)
    largest_cost(max_cost)
    if method is not None:
        allowed = [name for name, entry in METHODS.items() if entry.paired == paired]
        check_word(f"method for paired={paired}", method, allowed)

    counted_a = _counted("cost_a", cost_a, max_cost)
    counted_b = _counted("cost_b", cost_b, max_cost)
    if paired:
        _check_pairs(cost_a, cost_b)

    name = method or _default_method(counted_a, counted_b, paired=paired)
    low, high = _ends(
        METHODS[name], counted_a, counted_b, alpha=1 - confidence, rng=rng
    )
    label = name
    if name == "welch" and (_is_skewed(counted_a) or _is_skewed(counted_b)):
        label = (
            "welch: undefined, fewer examples in a group than "
            f"{_EXAMPLES_PER_SQUARED_SKEWNESS} times its squared skewness"
        )
        low = np.nan
        high = np.nan

    mean_a = np.average(counted_a.values, weights=counted_a.count)
    mean_b = np.average(counted_b.values, weights=counted_b.count)
    estimate = max_cost * float(mean_a - mean_b)
    lower_limit = max_cost * float(np.clip(low, -1, 1))
    upper_limit = max_cost * float(np.clip(high, -1, 1))

    # A bettor weighs the examples a little differently, so that an interval may miss
    # its own estimate. That would only confuse, so we widen the interval to it.
    return Interval(
        estimate=estimate,
        low=min(lower_limit, estimate),
        high=max(upper_limit, estimate),
        confidence=confidence,
        method=label,
    )


def _default_method(a: tables.Counted, b: tables.Counted, *, paired: bool) -> str:
    """Return the name of the method for these costs if the user names none."""
    if paired:
        return "betting_pairs"
    if _number_between(a) or _number_between(b):
        return "betting"
    return DEFAULT


def _number_between(costs: tables.Counted) -> int:
    """Return how many of the costs are neither 0 nor 1."""
    is_between = (costs.values > 0) & (costs.values < 1)
    return int(costs.count[is_between].sum())


def _check_pairs(cost_a, cost_b) -> None:
    """Raise unless the costs of pairs are two lists of equal length."""
    if isinstance(cost_a, tables.Counted) or isinstance(cost_b, tables.Counted):
        lengths = "counts"
    elif np.size(cost_a) != np.size(cost_b):
        lengths = f"{np.size(cost_a)} and {np.size(cost_b)}"
    else:
        return

    raise ValueError(
        f"cost_a and cost_b must be lists of equal length if paired, found {lengths}"
    )


def _ends(
    method: Method, a: tables.Counted, b: tables.Counted, *, alpha: float, rng: Seed
) -> tuple:
    """Return the ends for costs in [0, 1], from their counts if these suffice."""
    between_a = _number_between(a)
    between_b = _number_between(b)
    if method.counts is not None and not (between_a or between_b):
        counts = _counts_of_pairs(a, b) if method.paired else _counts_of_groups(a, b)
        return method.counts(*counts, alpha=alpha)

    if method.function is None:
        side = "cost_a" if between_a else "cost_b"
        raise ValueError(
            f"{side} must be 0 or max_cost for this method, "
            f"found {between_a or between_b} in between; try 'betting'"
        )
    cost_a = np.repeat(a.values, a.count)
    cost_b = np.repeat(b.values, b.count)
    return method.function(cost_a, cost_b, alpha=alpha, rng=rng)


def _counts_of_groups(a: tables.Counted, b: tables.Counted) -> tuple[int, ...]:
    """Return x_a, n_a, x_b, n_b for costs that are 0 or 1."""
    x_a = int(a.count @ a.values)
    x_b = int(b.count @ b.values)
    return x_a, int(a.count.sum()), x_b, int(b.count.sum())


def _counts_of_pairs(a: tables.Counted, b: tables.Counted) -> tuple[int, ...]:
    """Return only_a, only_b, n for pairs of costs that are 0 or 1."""
    only_a = int(np.sum(a.values > b.values))
    only_b = int(np.sum(a.values < b.values))
    return only_a, only_b, len(a.values)


def _is_skewed(costs: tables.Counted) -> bool:
    """Return whether n < 10 G₁², where G₁ is the skewness, or all costs are equal.

    The rule, with another constant, is from Cochran 1977, "Sampling Techniques".
    """
    n = costs.count.sum()
    deviation = costs.values - np.average(costs.values, weights=costs.count)
    second_moment = np.average(deviation**2, weights=costs.count)
    third_moment = np.average(deviation**3, weights=costs.count)

    # n < 10 G₁², where G₁ = third_moment / second_moment^1.5, without the division.
    limit = _EXAMPLES_PER_SQUARED_SKEWNESS * third_moment**2
    return bool(second_moment < 1e-24 or n * second_moment**3 < limit)


def _counted(name: str, values, max_cost: float) -> tables.Counted:
    """Return checked costs as shares of `max_cost`, and how many examples pay each."""
    if not isinstance(values, tables.Counted):
        cost = costs(name, values, max_cost)
        return tables.Counted(cost / max_cost, np.ones(cost.shape, dtype=np.int64))

    cost = np.asarray(values.values)

    def are_counts_of_costs(count: ndarray) -> ndarray:
        is_whole = (count >= 0) & (count == np.floor(count))
        return (
            is_whole
            & (count.sum() <= tables.LARGEST_COUNT)
            & (count.shape == cost.shape)
        )

    count = checked(
        f"{name}: counts",
        values.count,
        "whole numbers of at least 0, one per value, at most 2^53 in all",
        are_counts_of_costs,
    )
    occurs = count > 0
    share = costs(name, cost[occurs], max_cost) / max_cost
    return tables.Counted(share, count[occurs].astype(np.int64))


def _bet_on_groups(
    cost_a: ndarray, cost_b: ndarray, *, alpha: float, rng: Seed
) -> Ends:
    """Return the ends of the betting interval for two groups, on matched blocks."""
    return _bet([cost_a, cost_b], betting.matched_blocks, alpha=alpha, rng=rng)


def _bet_on_pairs(cost_a: ndarray, cost_b: ndarray, *, alpha: float, rng: Seed) -> Ends:
    """Return the ends of the betting interval for the differences of pairs."""
    return _bet([(1 + cost_a - cost_b) / 2], _shuffled, alpha=alpha, rng=rng)


def _shuffled(values: ndarray, *, rng: Generator) -> ndarray:
    """Return the values in a random order."""
    return rng.permutation(values)


def _bet(
    values: Sequence[ndarray],
    game: Callable[..., ndarray],
    *,
    alpha: float,
    rng: Seed,
) -> Ends:
    """Return the median ends over several games, or the ends of one game with `rng`.

    A game gives numbers in [0, 1] with mean (1 + δ)/2, where δ is the difference.
    """
    if rng is None:
        # The result must not depend on the order in which the examples were given.
        ordered = [np.sort(numbers) for numbers in values]
        generator = np.random.default_rng(0)
        has_many = min(map(len, values)) > _MANY_COSTS
        shuffles = betting.SHUFFLES // 5 if has_many else betting.SHUFFLES
    else:
        ordered = list(values)
        generator = np.random.default_rng(rng)
        shuffles = 1

    games = (game(*ordered, rng=generator) for _ in range(shuffles))
    low, high = betting.ends(games, alpha=alpha / 2)
    return 2 * np.median(low) - 1, 2 * np.median(high) - 1


def _hoeffding_pairs(
    cost_a: ndarray, cost_b: ndarray, *, alpha: float, rng: Seed
) -> Ends:
    """Return the ends of Hoeffding's interval for lists of costs that are pairs."""
    return proportions.hoeffding_pairs(
        np.sum(cost_a - cost_b), 0, len(cost_a), alpha=alpha
    )


def _from_moments(
    rule: Callable[..., ndarray],
    guarantee: Literal["finite-sample", "asymptotic"],
    reference: str,
    covers: float | None = None,
) -> Method:
    """Return the method whose half-width follows from the moments by this rule."""
    return Method(
        guarantee=guarantee,
        reference=reference,
        function=partial(ends_of_costs, rule),
        counts=partial(ends_of_counts, rule),
        covers=covers,
    )


_BETTING_PAPERS = (
    "Waudby-Smith & Ramdas 2024 (JRSS B 86); Vorácek & Orabona 2025 (STaR-Bets)"
)

METHODS: dict[str, Method] = {
    "betting": Method(
        guarantee="finite-sample",
        reference=f"on matched blocks: {_BETTING_PAPERS}",
        function=_bet_on_groups,
    ),
    "bernstein_maximal": _from_moments(
        moments.bernstein_maximal,
        "finite-sample",
        "Ethayarajh 2020 (ACL), eq. 3, maximal variance",
    ),
    "bernstein_sample": _from_moments(
        moments.bernstein_sample,
        "asymptotic",
        "Ethayarajh 2020 (ACL), eq. 3, sample variance",
        covers=0.94,
    ),
    "bernstein_centred": _from_moments(
        moments.bernstein_centred,
        "finite-sample",
        "Ethayarajh 2020 (ACL), eq. 3, for c - C/2",
    ),
    "hoeffding": _from_moments(
        moments.hoeffding,
        "finite-sample",
        "Hoeffding 1963 (JASA 58), two samples",
    ),
    "empirical_bernstein": _from_moments(
        moments.empirical_bernstein,
        "finite-sample",
        "Maurer & Pontil 2009 (COLT), theorem 10, two samples",
    ),
    "clopper_pearson": Method(
        guarantee="exact",
        reference="Clopper & Pearson 1934, union over groups",
        counts=proportions.clopper_pearson,
    ),
    "exact_unconditional": Method(
        guarantee="exact",
        reference="Buehler 1957 (JASA 52); Lloyd & Kabaila 2003",
        counts=exact.exact_unconditional,
    ),
    "miettinen_nurminen": Method(
        guarantee="asymptotic",
        reference="Miettinen & Nurminen 1985 (Stat. Med. 4)",
        counts=proportions.miettinen_nurminen,
        covers=0.92,
    ),
    "newcombe": Method(
        guarantee="asymptotic",
        reference="Newcombe 1998 (Stat. Med. 17, 873), method 10",
        counts=proportions.newcombe,
        covers=0.90,
    ),
    "welch": _from_moments(
        moments.welch,
        "asymptotic",
        "Welch 1947 (Biometrika 34)",
        covers=0.93,
    ),
    "betting_pairs": Method(
        guarantee="finite-sample",
        reference=f"on the pairs' differences: {_BETTING_PAPERS}",
        paired=True,
        function=_bet_on_pairs,
    ),
    "hoeffding_pairs": Method(
        guarantee="finite-sample",
        reference="Hoeffding 1963 (JASA 58)",
        paired=True,
        function=_hoeffding_pairs,
        counts=proportions.hoeffding_pairs,
    ),
    "mcnemar": Method(
        guarantee="exact",
        reference="McNemar 1947 (Psychometrika 12), exact, inverted",
        paired=True,
        counts=proportions.mcnemar,
    ),
    "tango": Method(
        guarantee="asymptotic",
        reference="Tango 1998 (Stat. Med. 17, 891)",
        paired=True,
        counts=proportions.tango,
        covers=0.93,
    ),
}
