"""Confidence intervals for the ratio of two rates, from the counts of two groups.

The functions take x, n, x_other, n_other: x of n cases of a group and x_other of
n_other cases of another group have the outcome. They return the ends of an interval for
the ratio p / p_other. Counts may be fractional, as they are if they were computed again
from a printed rate. All arguments may be numbers or arrays, which broadcast.
"""

import numpy as np
from scipy.special import ndtri

from fairlib.intervals.proportions import Ends, Numbers, limits


def ratio(
    x: Numbers, n: Numbers, x_other: Numbers, n_other: Numbers, *, alpha: Numbers
) -> Ends:
    """Return an interval for the ratio of two rates that also suits small groups.

    The exact limits of both rates are combined: an end is a ratio r at which the
    distance of p from r times the other rate is as large as both distances to the
    limits together.

    Parameters
    ----------
    x, n : float or ndarray
        The cases of the group with the outcome, and all its cases.
    x_other, n_other : float or ndarray
        The same of the group that it is divided by.
    alpha : float or ndarray
        The probability with which the interval may miss the true ratio.

    Returns
    -------
    tuple of ndarray
        The low and the high ends; the high end is infinite if the other rate may be 0.

    References
    ----------
    Donner, Zou (2012), "Closed-form confidence intervals for functions of the normal
    mean and standard deviation", Statistical Methods in Medical Research 21.
    Clopper, Pearson (1934), Biometrika 26, for the limits of each rate.

    Examples
    --------
    >>> low, high = ratio(30, 100, 50, 100, alpha=0.05)
    >>> print(f"{low:.2f} {high:.2f}")
    0.41 0.87
    """
    tail = np.asarray(alpha) / 2
    rate = np.asarray(x, dtype=float) / n
    other = np.asarray(x_other, dtype=float) / n_other
    lower, upper = limits(x, n, tail)
    lower_other, upper_other = limits(x_other, n_other, tail)
    product = rate * other

    with np.errstate(invalid="ignore", divide="ignore"):
        rest = lower * (2 * rate - lower)
        square = upper_other * (2 * other - upper_other)
        low = rest / (product + np.sqrt(np.maximum(product**2 - square * rest, 0)))

        rest = upper * (2 * rate - upper)
        square = lower_other * (2 * other - lower_other)
        high = (product + np.sqrt(np.maximum(product**2 - square * rest, 0))) / square

    return (
        np.where(lower > 0, low, 0.0),
        np.where(lower_other > 0, high, np.inf),
    )


def katz(
    x: Numbers, n: Numbers, x_other: Numbers, n_other: Numbers, *, alpha: Numbers
) -> Ends:
    """Return the usual large-sample interval for the ratio of two rates.

        exp(log(p / p_other) ± z √(1/x - 1/n + 1/x_other - 1/n_other))

    Parameters
    ----------
    x, n, x_other, n_other, alpha
        As for `ratio`.

    Returns
    -------
    tuple of ndarray
        The low and the high ends; NaN where no case has the outcome.

    References
    ----------
    Katz, Baptista, Azen, Pike (1978), "Obtaining confidence intervals for the risk
    ratio in cohort studies", Biometrics 34.

    Examples
    --------
    >>> low, high = katz(30, 100, 50, 100, alpha=0.05)
    >>> print(f"{low:.2f} {high:.2f}")
    0.42 0.86
    """
    events = np.asarray(x, dtype=float)
    events_other = np.asarray(x_other, dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        estimate = events / n / (events_other / n_other)
        variance = 1 / events - 1 / np.asarray(n, dtype=float)
        variance_other = 1 / events_other - 1 / np.asarray(n_other, dtype=float)
        factor = np.exp(
            -ndtri(np.asarray(alpha) / 2) * np.sqrt(variance + variance_other)
        )
        return estimate / factor, estimate * factor
