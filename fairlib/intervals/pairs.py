"""An interval for the change of a rate when the same cases are judged twice.

Two models predict the same cases. Only those cases say how a rate changes that are
counted with one model and not with the other: the discordant cases. `more` of them are
counted only by the second model, and `fewer` only by the first.

With 12 discordant cases or more, the interval contains two good approximations, those
of Tango and of Bonett and Price, because each covers too little where the other does
not. With fewer discordant cases, the exact interval takes their place. The coverage is
in `benchmarks/pairs.md`.
"""

import numpy as np
from numpy import ndarray
from scipy.special import betainc, ndtr, ndtri

from fairlib.intervals.proportions import mcnemar, tango

FEWEST_DISCORDANT = 12
# The share of alpha that belongs to the test in the exact interval.
_SHARE_OF_TEST = 0.95

Ends = tuple[ndarray, ndarray]


def change_interval(
    more: ndarray, fewer: ndarray, n: ndarray, *, alpha: ndarray | float
) -> Ends:
    """Return the ends of intervals for (more - fewer) / n, the change of a rate.

    Parameters
    ----------
    more, fewer : ndarray
        Cases that are counted only after the change, and only before it.
    n : ndarray
        All cases.
    alpha : float or ndarray
        One minus the confidence.

    References
    ----------
    Tango 1998, Statistics in Medicine 17. Bonett and Price 2012, Journal of Educational
    and Behavioral Statistics 37.

    Examples
    --------
    >>> low, high = change_interval(30, 10, 1000, alpha=0.05)
    >>> print(f"{low:.4f} {high:.4f}")
    0.0073 0.0336
    """
    low_of_bonett, high_of_bonett = bonett_price(more, fewer, n, alpha=alpha)
    low_of_tango, high_of_tango = tango(more, fewer, n, alpha=alpha)
    low_exact, high_exact = mcnemar(more, fewer, n, alpha=alpha)

    is_exact = uses_exact(more, fewer)
    low = np.where(is_exact, low_exact, np.minimum(low_of_bonett, low_of_tango))
    high = np.where(is_exact, high_exact, np.maximum(high_of_bonett, high_of_tango))
    return low, high


def change_p(more: ndarray, fewer: ndarray, n: ndarray) -> ndarray:
    """Return the level at which the interval of `change_interval` just excludes 0.

    Parameters
    ----------
    more, fewer, n : ndarray
        As in `change_interval`.
    """
    discordant = np.asarray(more, dtype=float) + fewer
    distance = np.abs(np.asarray(more, dtype=float) - fewer)

    smaller = np.minimum(more, fewer)
    # A fair coin lands so often, or less often, on the rarer side.
    tail = betainc(np.maximum(discordant - smaller, 1), smaller + 1.0, 0.5)
    exact = 2 * np.where(discordant > 0, tail, 1) / _SHARE_OF_TEST

    # The larger of two standard errors: at no change, and at the change itself.
    variance_at_zero = discordant
    variance_at_change = discordant + 2 - distance**2 / (np.asarray(n) + 2)
    variance = np.maximum(variance_at_zero, variance_at_change)
    approximate = 2 * ndtr(-distance / np.sqrt(np.maximum(variance, 1)))

    p = np.where(uses_exact(more, fewer), exact, approximate)
    return np.minimum(p, 1)


def uses_exact(more: ndarray, fewer: ndarray) -> ndarray:
    """Return where there are so few discordant cases that the interval is exact."""
    return np.asarray(more) + np.asarray(fewer) < FEWEST_DISCORDANT


def bonett_price(
    more: ndarray, fewer: ndarray, n: ndarray, *, alpha: ndarray | float
) -> Ends:
    """Return Bonett and Price's adjusted Wald interval for a change.

    One discordant case of each kind is added, and the interval is Wald's.

    Parameters
    ----------
    more, fewer, n, alpha
        As in `change_interval`.
    """
    total = np.asarray(n, dtype=float) + 2
    share_more = (np.asarray(more, dtype=float) + 1) / total
    share_fewer = (np.asarray(fewer, dtype=float) + 1) / total

    change = share_more - share_fewer
    variance = (share_more + share_fewer - change**2) / total
    margin = -ndtri(np.asarray(alpha) / 2) * np.sqrt(variance)
    return np.maximum(change - margin, -1), np.minimum(change + margin, 1)
