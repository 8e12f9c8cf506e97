"""An audit that may stop at any time: annotate one example after the other, and look.

A *confidence sequence* contains the truth at all times at once with the promised
probability, so that stopping early cannot mislead anybody.

Members of the two groups are matched as they come, in blocks whose sizes are settled
beforehand. With a difference δ of the two mean costs and a largest cost C, each match
gives a number z in [0, 1] whose mean is μ = (1 + δ/C) / 2. The claim "μ is at most m"
is rejected for good once a bettor against it has multiplied her money by 2/α. She
divides it among several portfolios, and each risks a fraction f of its money in every
round, so that she owns the mean over f of Π (1 - f + f z/m) (dossier 10b gives the
argument).

References: Waudby-Smith & Ramdas 2024 (JRSS B 86, 1-27); Cover 1991 for the portfolios
(Mathematical Finance 1, 1-29); Chugg, Cortes-Gomez, Wilder & Ramdas 2023 (NeurIPS),
"Auditing fairness by betting".
"""

from functools import partial

import numpy as np
import pandas as pd
from numpy import ndarray
from numpy.typing import ArrayLike

from fairlib.checks import check_confidence, checked, examples, largest_cost
from fairlib.interval import bisection
from fairlib.intervals.betting import block_means

# f of each portfolio: large for large differences, small for small ones
FRACTIONS = 0.7 / 2.0 ** np.arange(10)
_STEPS = 24  # of the bisection: ends are known to 1e-7
_LOOKS = 50  # by default


def confidence_sequence(
    cost: ArrayLike,
    membership: ArrayLike,
    *,
    at: ArrayLike | None = None,
    gamma: float = 0.5,
    max_cost: float = 1.0,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Return the interval after each of several looks at a growing list of examples.

    Call it on everything annotated so far, as often as you like: a row depends on
    nothing that comes later. With probability `confidence`, all rows contain the true
    difference.

    Parameters
    ----------
    cost : array_like of float
        Cost of each example, in the order in which the examples were annotated. Within
        a group, costs have to be independent draws.
    membership : array_like of int
        +1 for group A, -1 for group B, 0 for neither. The order in which the groups
        come must not depend on the costs.
    at : array_like of int, optional
        Numbers of examples after which to look. By default 50 moments, equally spaced.
    gamma : float, default 0.5
        Share of group A that you expect. It settles the sizes of the blocks that are
        matched: with .25, one example of A with three of B. A wrong guess costs
        examples, not validity. If you choose what to annotate, take the groups in turn.
    max_cost : float, default 1.0
        C, the largest cost that is possible.
    confidence : float, default 0.95
        Probability with which all intervals contain the true difference at once.

    Returns
    -------
    pandas.DataFrame
        One row per look, with columns n (examples so far), matched (pairs of whole
        blocks), estimate (mean cost in A minus mean cost in B; NaN until both groups
        have examples), low and high.

    Raises
    ------
    ValueError
        If an argument is out of range, or a group has no example at all.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> membership = rng.choice([1, -1], 800)
    >>> wrong = rng.random(800) < 0.2 + 0.2 * (membership == 1)
    >>> confidence_sequence(wrong, membership, at=[400, 800]).round(2)
         n  matched  estimate   low  high
    0  400      179      0.15 -0.02  0.29
    1  800      373      0.16  0.05  0.25
    """
    checked("gamma", gamma, "in (0, 1)", lambda share: (share > 0) & (share < 1))
    check_confidence(confidence)
    largest_cost(max_cost)
    costs, groups = examples(cost, membership, max_cost=max_cost)
    moments = np.linspace(1, len(costs), _LOOKS) if at is None else at
    looks = np.unique(moments).astype(int)
    checked(
        "at",
        looks,
        f"in [1, {len(costs)}]",
        lambda n: (n >= 1) & (n <= len(costs)),
    )

    # How many examples of each group there are at each look, and what they cost
    is_member = np.stack([groups == 1, groups == -1])
    count = np.cumsum(is_member, axis=1)[:, looks - 1]
    total = np.cumsum(is_member * costs, axis=1)[:, looks - 1]
    with np.errstate(invalid="ignore"):  # until both groups have examples
        mean_a, mean_b = total / count

    # The smaller group gives one example to each match
    odds = gamma / (1 - gamma)
    block_a = max(round(odds), 1)
    block_b = max(round(1 / odds), 1)
    matched = np.minimum(count[0] // block_a, count[1] // block_b)
    matches = matched[-1]
    of_a = block_means(costs[is_member[0]][: matches * block_a], matches)
    of_b = block_means(costs[is_member[1]][: matches * block_b], matches)
    values = (1 + (of_a - of_b) / max_cost) / 2

    low, high = mean_sequence(values, matched.tolist(), alpha=1 - confidence)
    return pd.DataFrame(
        {
            "n": looks,
            "matched": matched,
            "estimate": mean_a - mean_b,
            "low": max_cost * (2 * low - 1),
            "high": max_cost * (2 * high - 1),
        }
    )


def mean_sequence(
    values: ndarray, at: list[int], *, alpha: float
) -> tuple[ndarray, ndarray]:
    """Return the limits for a mean after each of several looks at a growing list.

    Parameters
    ----------
    values : numpy.ndarray of float
        Numbers from 0 to 1, in the order in which they came.
    at : list of int
        Numbers of values after which to look, in ascending order.
    alpha : float
        Probability with which some limit may miss the mean.

    Returns
    -------
    low, high : numpy.ndarray
        The limits after each look. A mean that was rejected once stays rejected.
    """
    rejected_from_below = _largest_rejected(values, at, alpha)
    rejected_from_above = 1 - _largest_rejected(1 - values, at, alpha)
    return (
        np.minimum(rejected_from_below, rejected_from_above),
        np.maximum(rejected_from_below, rejected_from_above),
    )


def _largest_rejected(values: ndarray, at: list[int], alpha: float) -> ndarray:
    """Return the largest m for which "the mean is at most m" was rejected by each look.

    This m can only grow, so that each search begins where the last one ended.
    """
    largest = 0.0
    largest_by_look = []
    for number in at:
        is_rejected = partial(_ever_rejected, values[:number], alpha=alpha)
        largest = float(bisection(is_rejected, largest, 1.0, steps=_STEPS))
        largest_by_look.append(largest)
    return np.array(largest_by_look)


def _ever_rejected(values: ndarray, mean: ndarray, alpha: float) -> ndarray:
    """Return whether a bettor against "at most `mean`" ever reached 2/α.

    The logarithm of each portfolio after t values is Σ log(1 + f (z/mean - 1)).
    """
    returns = FRACTIONS[:, None] * (values / mean - 1)
    log_portfolios = np.cumsum(np.log1p(returns), axis=1)
    log_wealth = np.logaddexp.reduce(log_portfolios, axis=0) - np.log(len(FRACTIONS))
    return np.asarray(log_wealth.max(initial=-np.inf) >= np.log(2 / alpha))
