"""Confidence intervals from counts, for costs that are either 0 or 1.

The functions for two groups take x_a, n_a, x_b, n_b: there are x_a errors among n_a
examples of group A, and x_b errors among n_b examples of group B. They return the ends
of an interval for p_a - p_b, the difference of the error rates.

The functions for pairs take only_a, only_b, n. A pair is one example in two versions,
one for each group, so that its two costs belong together. Of n pairs, only_a had an
error in the version of group A alone, and only_b in the version of group B alone. The
functions return the ends of an interval for p(only a) - p(only b), which is p_a - p_b.

Every interval is meant to miss the true difference with probability at most `alpha`.
All arguments may be numbers or arrays, which broadcast. The exact interval for two
groups, which is too long for this module, is in `fairlib.intervals.exact`.
"""

from collections.abc import Callable

import numpy as np
from numpy import ndarray
from scipy.special import betainccinv, betaincinv, ndtri

from fairlib.interval import bisection

Numbers = float | ndarray
Ends = tuple[ndarray, ndarray]  # the low and the high ends of intervals

_BISECTION_STEPS = 44  # each halves the error of an end: it is known to 1e-13


def limits(x: Numbers, n: Numbers, tail: Numbers) -> Ends:
    """Return exact limits for one error rate (Clopper and Pearson's).

    The low limit is the rate p at which x or more errors have probability `tail`; the
    high limit is the rate at which x or fewer errors have it:

        P(X >= x | n, low) = tail,  P(X <= x | n, high) = tail

    Parameters
    ----------
    x : float or ndarray
        Number of errors.
    n : float or ndarray
        Number of examples.
    tail : float or ndarray
        The probability with which each of the two limits may miss the rate. A
        two-sided interval with confidence 1 - alpha has ``tail=alpha / 2``.

    Returns
    -------
    tuple of ndarray
        The low limits and the high limits.

    References
    ----------
    Clopper, Pearson (1934), "The use of confidence or fiducial limits illustrated in
    the case of the binomial", Biometrika 26.

    Examples
    --------
    >>> low, high = limits(1, 10, tail=0.025)
    >>> print(f"{low:.4f} {high:.4f}")
    0.0025 0.4450
    """
    errors = np.asarray(x, dtype=float)
    low = betaincinv(np.maximum(errors, 1), n - errors + 1, tail)
    high = betainccinv(errors + 1, np.maximum(n - errors, 1), tail)

    # Without any error no rate is too low, and with errors alone none is too high.
    return np.where(errors > 0, low, 0.0), np.where(errors < n, high, 1.0)


def wilson(successes: Numbers, n: Numbers, *, alpha: float) -> Ends:
    """Return Wilson's interval for one rate: the rates that a score test accepts.

        centre ± z √(p̂ (1 - p̂)/n + z²/(4 n²)) / (1 + z²/n)
        centre = (p̂ + z²/(2 n)) / (1 + z²/n)

    Here p̂ = successes / n, and z is the normal quantile of 1 - α/2. The interval is
    never empty and never leaves [0, 1], and covers well even in small samples.

    Parameters
    ----------
    successes : float or ndarray
        How often the event occurred.
    n : float or ndarray
        How often it could have occurred.
    alpha : float
        α, one minus the confidence.

    Returns
    -------
    tuple of ndarray
        The low and the high ends.

    References
    ----------
    Wilson (1927), "Probable inference, the law of succession, and statistical
    inference", Journal of the American Statistical Association 22.

    Examples
    --------
    >>> low, high = wilson(1, 10, alpha=0.05)
    >>> print(f"{low:.4f} {high:.4f}")
    0.0179 0.4042
    """
    trials = np.asarray(n, dtype=float)
    rate = np.asarray(successes, dtype=float) / trials
    z = -ndtri(alpha / 2)

    shrinkage = 1 + z**2 / trials
    centre = (rate + z**2 / (2 * trials)) / shrinkage
    variance = rate * (1 - rate) / trials + z**2 / (4 * trials**2)
    margin = z * np.sqrt(variance) / shrinkage

    # Only rounding can take an end out of [0, 1].
    return np.clip(centre - margin, 0, 1), np.clip(centre + margin, 0, 1)


def clopper_pearson(
    x_a: Numbers, n_a: Numbers, x_b: Numbers, n_b: Numbers, *, alpha: float
) -> Ends:
    """Return an exact interval for a difference of rates, from one for each rate.

    Each group gets its own exact interval (`limits`), which misses its rate with
    probability at most α/2. The difference then lies between the differences of
    opposite ends, [low_a - high_b, high_a - low_b], unless one of the two is wrong.

    Parameters
    ----------
    x_a, n_a : float or ndarray
        Number of errors and of examples of group A.
    x_b, n_b : float or ndarray
        Number of errors and of examples of group B.
    alpha : float
        α, one minus the confidence.

    Returns
    -------
    tuple of ndarray
        The low and the high ends.
    """
    low_a, high_a = limits(x_a, n_a, alpha / 4)
    low_b, high_b = limits(x_b, n_b, alpha / 4)
    return low_a - high_b, high_a - low_b


def newcombe(
    x_a: Numbers, n_a: Numbers, x_b: Numbers, n_b: Numbers, *, alpha: float
) -> Ends:
    """Return Newcombe's interval: Wilson's intervals of both rates, squared and added.

    Let [l_a, u_a] and [l_b, u_b] be the Wilson intervals of the two rates. The distance
    from the estimate to an end combines the distances of the two rates to their ends as
    the sides of a right-angled triangle:

        low  = p̂_a - p̂_b - √((p̂_a - l_a)² + (u_b - p̂_b)²)
        high = p̂_a - p̂_b + √((u_a - p̂_a)² + (p̂_b - l_b)²)

    Parameters
    ----------
    x_a, n_a : float or ndarray
        Number of errors and of examples of group A.
    x_b, n_b : float or ndarray
        Number of errors and of examples of group B.
    alpha : float
        α, one minus the confidence.

    Returns
    -------
    tuple of ndarray
        The low and the high ends.

    References
    ----------
    Newcombe (1998), "Interval estimation for the difference between independent
    proportions: comparison of eleven methods", Statistics in Medicine 17, 873-890,
    method 10.

    Examples
    --------
    >>> low, high = newcombe(56, 70, 48, 80, alpha=0.05)
    >>> print(f"{low:.4f} {high:.4f}")
    0.0524 0.3339
    """
    rate_a = np.divide(x_a, n_a)
    rate_b = np.divide(x_b, n_b)
    low_a, high_a = wilson(x_a, n_a, alpha=alpha)
    low_b, high_b = wilson(x_b, n_b, alpha=alpha)

    difference = rate_a - rate_b
    distance_down = np.sqrt((rate_a - low_a) ** 2 + (high_b - rate_b) ** 2)
    distance_up = np.sqrt((high_a - rate_a) ** 2 + (rate_b - low_b) ** 2)
    return difference - distance_down, difference + distance_up


def miettinen_nurminen(
    x_a: Numbers, n_a: Numbers, x_b: Numbers, n_b: Numbers, *, alpha: float
) -> Ends:
    """Return the differences of two rates that a score test accepts at level α.

    An end is a difference δ with |z(δ)| equal to the normal quantile of 1 - α/2, where
    z(δ) is the statistic of `miettinen_nurminen_score`.

    Parameters
    ----------
    x_a, n_a : float or ndarray
        Number of errors and of examples of group A.
    x_b, n_b : float or ndarray
        Number of errors and of examples of group B.
    alpha : float
        α, one minus the confidence.

    Returns
    -------
    tuple of ndarray
        The low and the high ends.

    Notes
    -----
    statsmodels 0.15 has this interval too, but computes p̃ wrongly: its cubic equation
    multiplies δ with the wrong count.

    References
    ----------
    Miettinen, Nurminen (1985), "Comparative analysis of two rates", Statistics in
    Medicine 4.

    Examples
    --------
    >>> low, high = miettinen_nurminen(56, 70, 48, 80, alpha=0.05)
    >>> print(f"{low:.5f} {high:.5f}")
    0.05283 0.33817
    """
    return _accepted_differences(
        miettinen_nurminen_score,
        (x_a, n_a, x_b, n_b),
        estimate=np.divide(x_a, n_a) - np.divide(x_b, n_b),
        alpha=alpha,
    )


def miettinen_nurminen_score(
    difference: Numbers, x_a: Numbers, n_a: Numbers, x_b: Numbers, n_b: Numbers
) -> ndarray:
    """Return how many standard errors the observed difference lies above δ.

        z(δ) = (x_a/n_a - x_b/n_b - δ) / √(v N/(N - 1))
        v = p̃_a (1 - p̃_a)/n_a + p̃_b (1 - p̃_b)/n_b,  N = n_a + n_b

    Here p̃_a and p̃_b are the likeliest rates whose difference is δ (`restricted_rate`).

    Parameters
    ----------
    difference : float or ndarray
        δ, the difference that is tested.
    x_a, n_a : float or ndarray
        Number of errors and of examples of group A.
    x_b, n_b : float or ndarray
        Number of errors and of examples of group B.

    Returns
    -------
    ndarray
        z(δ), which falls as δ grows.
    """
    rate_b = restricted_rate(difference, x_a, n_a, x_b=x_b, n_b=n_b)
    rate_a = np.clip(rate_b + difference, 0, 1)

    n = n_a + n_b
    variance = (rate_a * (1 - rate_a) / n_a + rate_b * (1 - rate_b) / n_b) * n / (n - 1)
    return _standardized(x_a / n_a - x_b / n_b - difference, variance, rounding=1e-12)


def restricted_rate(
    difference: Numbers, x_a: Numbers, n_a: Numbers, x_b: Numbers, n_b: Numbers
) -> ndarray:
    """Return the likeliest rate of group B among all rates with p_a - p_b = δ.

    The likelihood is largest at the middle root of a cubic equation,

        N p³ + l₂ p² + l₁ p + l₀ = 0,  N = n_a + n_b
        l₂ = (n_a + 2 n_b) δ - N - x_a - x_b
        l₁ = (n_b δ - N - 2 x_b) δ + x_a + x_b
        l₀ = x_b δ (1 - δ)

    which has the closed form

        p_b = 2 r cos((π + arccos(q/r³))/3) - l₂/(3 N)
        q = (l₂/(3 N))³ - l₁ l₂/(6 N²) + l₀/(2 N)
        r = ± √((l₂/(3 N))² - l₁/(3 N)), with the sign of q

    Parameters
    ----------
    difference : float or ndarray
        δ, the difference p_a - p_b.
    x_a, n_a : float or ndarray
        Number of errors and of examples of group A.
    x_b, n_b : float or ndarray
        Number of errors and of examples of group B.

    Returns
    -------
    ndarray
        The rate p_b, from max(0, -δ) to min(1, 1 - δ).

    References
    ----------
    Miettinen, Nurminen (1985), Statistics in Medicine 4, appendix 1.
    """
    n = n_a + n_b
    x = x_a + x_b
    l2 = (n_a + 2 * n_b) * difference - n - x
    l1 = (n_b * difference - n - 2 * x_b) * difference + x
    l0 = x_b * difference * (1 - difference)

    shift = l2 / (3 * n)
    q = shift**3 - l1 * l2 / (6 * n**2) + l0 / (2 * n)
    sign = np.where(q < 0, -1.0, 1.0)
    r = sign * np.sqrt(np.maximum(shift**2 - l1 / (3 * n), 0))

    # Rounding may take the ratio out of [-1, 1]; where r is 0, q is 0 as well.
    ratio = np.clip(q / np.where(r == 0, 1, r) ** 3, -1, 1)
    root = 2 * r * np.cos((np.pi + np.arccos(ratio)) / 3) - shift
    return np.clip(root, np.maximum(0, -difference), np.minimum(1, 1 - difference))


def hoeffding_pairs(
    only_a: Numbers, only_b: Numbers, n: Numbers, *, alpha: float
) -> Ends:
    """Return an interval for pairs from Hoeffding's inequality, which always holds.

    The differences of pairs lie in [-1, 1], so that their mean is missed by t or more
    with probability at most α where

        t = √(2 log(2/α) / n)

    Parameters
    ----------
    only_a, only_b : float or ndarray
        Number of pairs with an error in the version of one group alone.
    n : float or ndarray
        Number of pairs.
    alpha : float
        α, one minus the confidence.

    Returns
    -------
    tuple of ndarray
        The low and the high ends.

    References
    ----------
    Hoeffding (1963), "Probability inequalities for sums of bounded random variables",
    Journal of the American Statistical Association 58, theorem 2.
    """
    mean = (np.asarray(only_a) - only_b) / n
    half_width = np.sqrt(2 * np.log(2 / alpha) / n)
    return np.maximum(mean - half_width, -1), np.minimum(mean + half_width, 1)


def mcnemar(only_a: Numbers, only_b: Numbers, n: Numbers, *, alpha: Numbers) -> Ends:
    """Return an exact interval for pairs: McNemar's test, turned into an interval.

    The interval excludes 0 exactly where the p-value of the exact test is at most
    0.95 α.

    Parameters
    ----------
    only_a, only_b : float or ndarray
        Number of pairs with an error in the version of one group alone.
    n : float or ndarray
        Number of pairs.
    alpha : float
        α, one minus the confidence.

    Returns
    -------
    tuple of ndarray
        The low and the high ends.

    Notes
    -----
    Call a pair discordant if exactly one of its versions has an error, and let ψ be the
    rate of such pairs. Given how many pairs are discordant, only_a is binomial with
    π = (1 + δ/ψ)/2, so that

        δ = (2π - 1) ψ

    For each end, π gets an exact limit that is missed with probability 0.95 α/2 (this
    limit is the test) and ψ one that is missed with probability 0.05 α/2: a limit from
    below where the limit of π puts δ beyond 0, and from above where it does not.

    References
    ----------
    McNemar (1947), "Note on the sampling error of the difference between correlated
    proportions or percentages", Psychometrika 12.
    """
    low = _mcnemar_low(only_a, only_b, n, alpha / 2)
    high = -_mcnemar_low(only_b, only_a, n, alpha / 2)
    return low, high


def _mcnemar_low(
    only_a: Numbers, only_b: Numbers, n: Numbers, tail: Numbers
) -> ndarray:
    """Return the low end (2π - 1) ψ, which is missed with probability `tail`."""
    discordant = only_a + only_b
    share_of_a, _ = limits(only_a, np.maximum(discordant, 1), 0.95 * tail)
    fewest, most = limits(discordant, n, 0.05 * tail)
    return (2 * share_of_a - 1) * np.where(share_of_a > 0.5, fewest, most)


def tango(only_a: Numbers, only_b: Numbers, n: Numbers, *, alpha: Numbers) -> Ends:
    """Return the differences that a score test for pairs accepts at level α.

    An end is a difference δ with |z(δ)| equal to the normal quantile of 1 - α/2, where
    z(δ) is the statistic of `tango_score`.

    Parameters
    ----------
    only_a, only_b : float or ndarray
        Number of pairs with an error in the version of one group alone.
    n : float or ndarray
        Number of pairs.
    alpha : float
        α, one minus the confidence.

    Returns
    -------
    tuple of ndarray
        The low and the high ends.

    References
    ----------
    Tango (1998), "Equivalence test and confidence interval for the difference in
    proportions for the paired-sample design", Statistics in Medicine 17, 891-908.

    Examples
    --------
    >>> low, high = tango(28, 25, 618, alpha=0.1)
    >>> print(f"{low:.4f} {high:.4f}")
    -0.0148 0.0247
    """
    return _accepted_differences(
        tango_score,
        (only_a, only_b, n),
        estimate=np.subtract(only_a, only_b) / n,
        alpha=alpha,
    )


def tango_score(
    difference: Numbers, only_a: Numbers, only_b: Numbers, n: Numbers
) -> ndarray:
    """Return how many standard errors the observed difference of pairs lies above δ.

        z(δ) = (only_a - only_b - n δ) / √(n (2 q̃ + δ (1 - δ)))

    Here q̃ is the likeliest p(only b) if the difference is δ (`likeliest_rate`).

    Parameters
    ----------
    difference : float or ndarray
        δ, the difference that is tested.
    only_a, only_b : float or ndarray
        Number of pairs with an error in the version of one group alone.
    n : float or ndarray
        Number of pairs.

    Returns
    -------
    ndarray
        z(δ), which falls as δ grows.
    """
    rate = likeliest_rate(difference, only_a, only_b, n)
    variance = n * (2 * rate + difference * (1 - difference))
    return _standardized(only_a - only_b - n * difference, variance, rounding=1e-9)


def likeliest_rate(
    difference: Numbers, only_a: Numbers, only_b: Numbers, n: Numbers
) -> ndarray:
    """Return the likeliest p(only b) among all with p(only a) - p(only b) = δ.

    The likelihood is largest at the larger root of a quadratic equation,

        2n q² + B q - only_b δ (1 - δ) = 0
        B = (2n - only_a + only_b) δ - only_a - only_b

    Parameters
    ----------
    difference : float or ndarray
        δ, the difference p(only a) - p(only b).
    only_a, only_b : float or ndarray
        Number of pairs with an error in the version of one group alone.
    n : float or ndarray
        Number of pairs.

    Returns
    -------
    ndarray
        The rate q, from max(0, -δ) to (1 - δ)/2.
    """
    b = (2 * n - only_a + only_b) * difference - only_a - only_b
    discriminant = b**2 + 8 * n * only_b * difference * (1 - difference)
    root = (np.sqrt(np.maximum(discriminant, 0)) - b) / (4 * n)
    return np.clip(root, np.maximum(0, -difference), (1 - difference) / 2)


def _accepted_differences(
    score: Callable[..., ndarray],
    counts: tuple[Numbers, ...],
    *,
    estimate: Numbers,
    alpha: Numbers,
) -> Ends:
    """Return the ends of the differences δ with |score(δ, *counts)| <= z.

    The score has to fall as δ grows, and to be 0 at the estimate.
    """
    numbers = [np.asarray(count, dtype=float) for count in counts]
    critical = -ndtri(alpha / 2)

    def is_too_low(difference: ndarray) -> ndarray:
        return score(difference, *numbers) > critical

    def is_too_high(difference: ndarray) -> ndarray:
        return score(difference, *numbers) < -critical

    low = bisection(is_too_low, -1.0, estimate, steps=_BISECTION_STEPS)
    high = bisection(is_too_high, 1.0, estimate, steps=_BISECTION_STEPS)
    return low, high


def _standardized(distance: Numbers, variance: Numbers, *, rounding: float) -> ndarray:
    """Return distance / √variance.

    If the variance is 0, the result is infinite with the sign of the distance; or it is
    0 if the distance is at most `rounding`.
    """
    least = 1e-6 * rounding
    z = distance / np.sqrt(np.maximum(variance, least))

    is_off = np.abs(distance) > rounding
    without_variance = np.sign(distance) * np.where(is_off, np.inf, 0)
    return np.where(variance > least, z, without_variance)
