"""Every group against others: the difference, its interval, how often chance does that.

Three ways to be sure, by what the data are:

- Shares of independent cases: an interval of `fairlib.bounds`, and Fisher's exact test, which is how often the
  difference is as large when cases are dealt to the two sides at random. By default "counts": Newcombe's interval where
  all four counts are at least 5, else the union of two exact ones. Its coverage stays within 0.7 points of nominal for
  any two rates and groups of 30 or more (tests/test_auditing_comparing.py enumerates it); it costs nothing. Betting,
  the default elsewhere, keeps its promise for cases in the order in which they came, and counts have none.
- Means of probabilities: Welch's interval; of Welch's test and one with the variance of all cases, the larger p.
- Cases that belong together by their source: a t interval and test for a difference of ratios whose variance is that
  between sources. Two cases made from one source count for what they are worth, and pairs get the precision of pairs;
  where every source has as many cases of either side as every other, betting on the pairs gives an interval that holds
  for any number of sources.
"""

from __future__ import annotations

import numpy as np

from fairlib.auditing.by_source import by_source
from fairlib.auditing.contrasts import Contrast, student
from fairlib.auditing.groups import Family
from fairlib.auditing.rates import Sums
from fairlib.auditing.shares import shares


def contrast(
    sums: Sums, family: Family, *, interval: str, minimum: int, confidence: float
) -> tuple[dict[str, np.ndarray], Contrast]:
    """Return the values on both sides of each comparison, and the comparison itself."""
    n, k, s, n_others, k_others, s_others = both_sides(sums, family)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, mean_others = k / n, k_others / n_others
        spread, spread_others = s / n - mean**2, s_others / n_others - mean_others**2
    sides = {"n": n, "value": mean, "n_against": n_others, "value_against": mean_others}
    if family.source is not None:
        how = {"interval": interval, "minimum": minimum, "confidence": confidence}
        found = by_source(sums, family, (n, mean, n_others, mean_others), **how)
    elif sums.rate.uses_probability:
        found = _welch(n, mean, spread, n_others, mean_others, spread_others, confidence)
    else:
        found = shares(n, k, n_others, k_others, interval, minimum, confidence)
    farthest = sums.rate.farthest  # which Student's t does not know
    low, high = (np.clip(end, -farthest, farthest) for end in (found.low, found.high))
    return sides, found._replace(low=low, high=high)


def both_sides(sums: Sums, family: Family) -> tuple[np.ndarray, ...]:
    """Return count, total and squares of the compared groups, and the same of those they stand against."""
    summed = [family.total(values) for values in (sums.count, sums.total, sums.square)]
    return (*(values[family.compared] for values in summed), *(family.others(values) for values in summed))


def _welch(n, mean, spread, n_others, mean_others, spread_others, confidence: float) -> Contrast:
    with np.errstate(invalid="ignore", divide="ignore"):
        # Sums of squares lose digits: a spread that is 0 may come out as a tiny number of either sign.
        spread, spread_others = (np.where(v < 1e-12, 0.0, v) for v in (spread, spread_others))
        first, second = spread / (n - 1), spread_others / (n_others - 1)
        freedom = (first + second) ** 2 / (first**2 / (n - 1) + second**2 / (n_others - 1))
        difference, everybody = mean - mean_others, n + n_others
        total = n * spread + n_others * spread_others + n * n_others / everybody * difference**2
        alike = np.sqrt(total / (everybody - 1) * (1 / n + 1 / n_others))
    error = np.sqrt(first + second)
    return student(n, n_others, difference, error, alike, freedom, confidence, "welch", spread_others, second)
