"""Many p-values from draws at once: which of them are findings, whatever the seed."""

import numpy as np
from scipy import stats
from statsmodels.stats.proportion import proportion_confint


def discoveries(p, *, draws: int, rate: float = 0.05, certain: float = 0.999) -> np.ndarray:
    """Which of many values are farther from "no difference" than chance explains: "yes", "no" or "undecided".

    Benjamini and Hochberg's procedure lets a share `rate` of findings be false. A p-value from draws has an error of
    its own: "yes" is what is found with the upper ends of the p-values' intervals (Clopper and Pearson, each with
    confidence `certain`), "no" what is not found with the lower ends either, and in between more draws must tell. A
    verdict hardly ever turns from yes to no with another seed. NaN is no question and stays "undecided".

    draws : how many each p comes from; m values that are asked at once need m / (draws + 1) <= rate, else none could
        ever be found. Reference: Benjamini, Hochberg (1995), Journal of the Royal Statistical Society B 57.

    >>> discoveries([0.001, 0.03, 0.5], draws=999).tolist()
    ['yes', 'undecided', 'no']
    """
    p = np.asarray(p, dtype=float)
    known = ~np.isnan(p)
    if known.sum() > rate * (draws + 1):
        raise ValueError(
            f"draws must be at least {int(np.ceil(known.sum() / rate)) - 1:,} for {known.sum():,} questions at once, "
            f"found {draws:,}: the smallest p-value of all could not be told from chance"
        )
    hits = np.round(p[known] * (draws + 1)) - 1
    low, high = proportion_confint(hits, draws, alpha=1 - certain, method="beta")
    found = np.full(p.shape, "undecided")
    sure, possible = (stats.false_discovery_control(np.clip(ends, 0, 1)) <= rate for ends in (high, low))
    found[known] = np.select([sure, ~possible], ["yes", "no"], "undecided")
    return found
