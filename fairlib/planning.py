"""Before annotating: how many examples does a claim need, and which bias can a given number show?

`sample_size` and `smallest_bias` answer for every method in `fairlib.bounds.METHODS`, and are each other's inverse.
They ask for *power*: the chance that the interval will exclude 0, on the right side, if the true difference is `bias`.
A sample that is just large enough for an *observed* difference (`power=None`, the question of Ethayarajh 2020, eq. 4)
has a power of one half: an estimate falls short of the truth as often as not.

    >>> sample_size(0.05, power=None, method="bernstein_maximal")
    11903
    >>> sample_size(0.05, power=0.8, error=0.2, method="newcombe")
    2187

Costs are 0 or `max_cost` here. Of all costs with the same means these vary most, so that other costs need fewer
examples.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy import stats

from fairlib.bounds import DEFAULT, METHODS
from fairlib.power import Design, design_of, observed_excludes_zero, power_of

LARGEST = 10_000_000


def power(
    n: int,
    bias: float,
    *,
    method: str = DEFAULT,
    error: float | None = None,
    gamma: float = 0.5,
    discordant: float | None = None,
    max_cost: float = 1.0,
    confidence: float = 0.95,
    rng=0,
) -> float:
    """Return the chance that n examples show a bias: that the interval lies above 0 if group A truly pays `bias` more.

    n : examples in both groups together, or pairs.
    error : error rate of group B, as a share of `max_cost`; by default the worst case, about 1/2.
    gamma : share of group A among the examples.
    discordant : for paired methods, share of the pairs in which exactly one goes wrong; by default as if independent.
    rng : for the betting methods, whose power is simulated: 1,000 games, a standard error of 0.013 (200 games per
        group, and from 17,000 rounds on fewer, never less than 100); for the others it is exact.
    """
    design = design_of(bias, method, error, gamma, discordant, max_cost, confidence)
    _check_n(n, 1 if design.paired else 2)
    return power_of(n, design, rng)


def sample_size(
    bias: float,
    *,
    power: float | None = 0.8,
    method: str = DEFAULT,
    error: float | None = None,
    gamma: float = 0.5,
    discordant: float | None = None,
    max_cost: float = 1.0,
    confidence: float = 0.95,
    rng=0,
) -> int:
    """Return how many examples (pairs, for a paired method) show a true difference of `bias` with this power.

    power : None for the number with which an observed difference of exactly `bias` excludes 0, and observed error rates
        of exactly `error` and `error + bias`: where counts must be whole numbers, only such n are tried as make them
        whole.

    The other arguments are those of `power`. Counts being whole, power saws a little up and down as n grows: the search
    is by bisection, and ends on a tooth. For betting it ends within 1 %, and what is simulated adds a standard error of
    3 % of n (10 % where n is in the hundred thousands, for fewer games are played there).

    Cost: a moment for most methods. Betting takes a second up to some thousand examples and up to half a minute for
    hundred thousands, and 1 GB; per group 10 s for some thousand. `exact_unconditional` takes 20 s for 2,000 and
    refuses more than 6,000; `clopper_pearson` and `mcnemar` take a second up to 5,000 and minutes near a million.
    """
    _check_power(power)
    design = design_of(bias, method, error, gamma, discordant, max_cost, confidence)
    step = _step(design) if power is None else 1
    low, high, stride = 0, _whole_steps(1.05 * _wald_size(design, power or 0.5), step), 1.3
    if _coarse(method, power) and 4 <= high <= LARGEST:  # a look is dear, and one says how far it is from there
        high, stride = _whole_steps(1.005 * _scaled(high, design, power, rng), step), 1.01
    while high <= LARGEST and not _suffices(high, design, power, rng):
        low, high, stride = high, _whole_steps(stride * high, step) + step, min(stride**2, 1.3)
    if high > LARGEST:
        raise ValueError(f"bias {bias:g} would need more than {LARGEST:,} examples with method {method!r}")
    while low == 0 and high > step:
        lower, stride = min(_whole_steps(high / stride, step), high - step), min(stride**2, 1.3)
        low, high = (0, lower) if _suffices(lower, design, power, rng) else (lower, high)
    while high - low > max(step, _coarse(method, power) * low):
        middle = max(_whole_steps((low + high) / 2, step), low + step)
        low, high = (low, middle) if _suffices(middle, design, power, rng) else (middle, high)
    return high


def smallest_bias(
    n: int,
    *,
    power: float | None = 0.8,
    method: str = DEFAULT,
    error: float | None = None,
    gamma: float = 0.5,
    discordant: float | None = None,
    max_cost: float = 1.0,
    confidence: float = 0.95,
    rng=0,
) -> float:
    """Return the smallest true difference that n examples show with this power, to a ten-thousandth of `max_cost`.

    The arguments are those of `sample_size`; NaN where n examples can show no difference at all. It costs what
    `sample_size` does; for betting it is known to 1 %, and a simulation's standard error of 1.5 % beside.
    """
    _check_power(power)
    _check_n(n, 1)
    design_of(max_cost, method, 0.0, gamma, None, max_cost, confidence)  # what is wrong with any bias
    if error is not None and not 0 <= error < 1:
        raise ValueError(f"error must be in [0, 1), found {error}")

    def design(share: float) -> Design:
        return design_of(share, method, error, gamma, discordant, 1.0, confidence)

    most = 1.0 - (error or 0.0)
    if METHODS[method].paired and discordant is not None:
        most = min(most, discordant)
    if not _suffices(n, design(most), power, rng):
        return float("nan")
    low, high = _wald_bias(n, design, most, power or 0.5), most
    while low > 0 and _suffices(n, design(low), power, rng):
        low, high = low / 1.3 if low > 1e-4 else 0.0, low
    while 1.3 * low < high and not _suffices(n, design(1.3 * low), power, rng):
        low *= 1.3
    high = min(high, 1.3 * low) if low > 0 else high
    while high - low > max(1e-4, _coarse(method, 0.5) * low):
        middle = (low + high) / 2
        low, high = (low, middle) if _suffices(n, design(middle), power, rng) else (middle, high)
    return max_cost * high


# --- The search -------------------------------------------------------------------------------------------------------


def _suffices(n: int, design: Design, power: float | None, rng) -> bool:
    if n < (1 if design.paired else 4):
        return False
    if power is None:
        return observed_excludes_zero(n, design, rng)
    return power_of(n, design, rng) >= power


def _scaled(n: int, design: Design, power: float, rng) -> float:
    """Return what normal theory asks for, given the power of n: the quantiles of power grow with the root of n."""
    critical, found = stats.norm.isf(design.alpha / 2), np.clip(power_of(n, design, rng), 0.01, 0.99)
    return n * ((critical + stats.norm.ppf(power)) / max(critical + stats.norm.ppf(found), 0.1)) ** 2


def _wald_size(design: Design, power: float) -> float:
    """Return what normal theory asks for: where the search begins."""
    bias = design.rate_a - design.rate_b
    if design.paired:
        variance = design.discordant - bias**2
    else:
        a, b = (rate * (1 - rate) for rate in (design.rate_a, design.rate_b))
        variance = a / design.gamma + b / (1 - design.gamma)
    return variance * ((stats.norm.isf(design.alpha / 2) + stats.norm.ppf(power)) / bias) ** 2


def _wald_bias(n: int, design, most: float, power: float) -> float:
    """Return the bias for which normal theory asks for n examples."""
    low, high = 1e-6, most
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if _wald_size(design(middle), power) < n else (middle, high)
    return 0.9 * low


def _coarse(method: str, power: float | None) -> float:
    """Return how exact the search may be: where power is simulated, more than 1 % would be noise."""
    return 0.01 if METHODS[method].counts is None and power is not None else 0.0


def _whole_steps(n: float, step: int) -> int:
    return max(int(n // step) * step, step)


def _step(design: Design) -> int:
    """Return the smallest number whose multiples make all counts whole, for methods that need whole counts."""
    if METHODS[design.method].counts is not None and design.method != "exact_unconditional":
        return 1
    if design.paired:
        shares = [(design.discordant + sign * (design.rate_a - design.rate_b)) / 2 for sign in (1, -1)]
    else:
        shares = [design.gamma, design.gamma * design.rate_a, (1 - design.gamma) * design.rate_b]
    step = int(np.lcm.reduce([Fraction(share).limit_denominator(1000).denominator for share in shares]))
    return step if step <= 1000 else 1


def _check_n(n: int, least: int) -> None:
    if not (n >= least and n == int(n)):
        raise ValueError(f"n must be a whole number from {least} on, found {n}")


def _check_power(power: float | None) -> None:
    if power is not None and not 0 < power < 1:
        raise ValueError(f"power must be in (0, 1), or None for an observed difference, found {power}")
