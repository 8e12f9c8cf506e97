"""An estimate with its uncertainty: what every method in fairlib returns, and the two ways to it that all papers share.

`over_runs` takes a value per run of a training; `bootstrap` any function of counts, at a cost that does not grow with
the data. `fairlib.bounds` has the intervals for a difference of two groups.
"""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

import numpy as np
from scipy import stats

from fairlib.checks import check_confidence, checked


@dataclass(frozen=True)
class Interval:
    """A number that was estimated, and the range of values that the data do not rule out.

    >>> disparity = Interval(0.029, -0.012, 0.070, method="bernstein")
    >>> print(disparity)
    0.029 [-0.012, 0.070] (95% bernstein)
    >>> disparity.excludes(0.0), 0.05 in disparity
    (False, True)
    """

    estimate: float
    low: float
    high: float
    confidence: float = 0.95
    method: str = ""

    def __post_init__(self) -> None:
        checked(
            "confidence",
            self.confidence,
            "in [0, 1)",
            lambda level: (level >= 0) & (level < 1),
        )
        if self.low > self.high:
            raise ValueError(
                f"low must not exceed high, found low={self.low}, high={self.high}"
            )

    @property
    def half_width(self) -> float:
        """Half the length of the interval: the t of "estimate ± t" where it is symmetric."""
        return (self.high - self.low) / 2

    def excludes(self, value: float = 0.0) -> bool:
        """Whether the data rule `value` out: by default, whether a disparity may be claimed. NaN rules nothing out."""
        return self.low > value or self.high < value

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        level = (
            f"{min(100 * self.confidence, 99.99):.4g}% {self.method}".strip()
        )  # never "100%": nothing is certain
        undefined = np.isnan([self.estimate, self.low, self.high]).any()
        found = (
            "undefined"
            if undefined
            else f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}]"
        )
        return f"{found} ({level})"

    def _repr_html_(self) -> str:
        return f"<span>{escape(str(self))}</span>"


def bisection(
    rejects: Callable[[np.ndarray], np.ndarray], low, high, *, steps: int
) -> np.ndarray:
    """Halve between `low`, which is rejected, and `high`, which is not; return what surely is rejected, as arrays."""
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    for _ in range(steps):
        middle = (low + high) / 2
        rejected = rejects(middle)
        low, high = np.where(rejected, middle, low), np.where(rejected, high, middle)
    return low


def over_runs(values, *, confidence: float = 0.95) -> Interval:
    """Interval for the mean over runs of a training that differ in their seed: Student's t with ddof = 1.

    mean ± t s / sqrt(runs). With five runs this is 1.584 times as wide as mean ± 1.96 s_0 / sqrt(5), where s_0 is the
    standard deviation with ddof = 0: that one is called a 95 % interval and covers 84.6 %.

    >>> print(over_runs([0.010, 0.012, 0.009, 0.013, 0.011]))
    0.011 [0.009, 0.013] (95% t over 5 runs)
    """
    values = checked("values", values, "finite", np.isfinite)
    if values.ndim != 1 or values.size < 2:
        raise ValueError(
            f"values must be a vector of at least 2 runs, found shape {values.shape}"
        )
    check_confidence(confidence)
    mean, margin = (
        values.mean(),
        stats.t.ppf((1 + confidence) / 2, values.size - 1) * stats.sem(values),
    )
    return Interval(
        float(mean),
        mean - margin,
        mean + margin,
        confidence,
        f"t over {values.size} runs",
    )


def bootstrap(
    counts,
    statistic: Callable,
    *,
    resamples: int = 2000,
    confidence: float = 0.95,
    rng=None,
) -> Interval:
    """Percentile interval for a statistic of examples that depends on how many there are of each kind only.

    counts : whole numbers of any shape, such as groups x labels x predictions.
    statistic : maps (replicates, *shape of counts) to a number each; it is called once, the data standing first.

    Drawing n examples again, with replacement, is drawing the counts from a multinomial distribution with their own
    shares: exactly the bootstrap of rows (Efron 1979), at O(resamples x cells), whatever n is. An undefined replicate
    counts as the worst of each end.

    >>> errors = np.array([[56, 14], [48, 32]])  # two groups: wrong, right
    >>> def difference(counts):
    ...     return np.subtract(*(counts[:, :, 0] / counts.sum(axis=2)).T)
    >>> print(bootstrap(errors, difference, rng=0))
    0.200 [0.048, 0.341] (95% bootstrap, 2000 resamples)
    """
    check_confidence(confidence)
    counts = checked(
        "counts",
        counts,
        "whole numbers of at least 0",
        lambda n: (n >= 0) & (n == np.floor(n)),
    )
    n = checked(
        "counts", counts.sum(), "in all 1 to 2^63", lambda n: (n > 0) & (n < 2.0**63)
    )
    checked("resamples", resamples, "at least 2", lambda number: number >= 2)
    drawn = np.random.default_rng(rng).multinomial(
        int(n), counts.ravel() / n, size=resamples
    )
    with np.errstate(
        invalid="ignore", divide="ignore"
    ):  # an empty group has no rate: NaN
        values = np.asarray(
            statistic(np.vstack([counts.ravel(), drawn]).reshape(-1, *counts.shape)),
            dtype=float,
        )
    if values.shape != (1 + resamples,):
        raise ValueError(
            f"statistic must return a number per replicate, {1 + resamples}, found shape {values.shape}"
        )
    estimate, replicates = float(values[0]), values[1:]
    missing = np.isnan(replicates + estimate)
    low = np.quantile(
        np.where(missing, -np.inf, replicates), (1 - confidence) / 2, method="lower"
    )
    high = np.quantile(
        np.where(missing, np.inf, replicates), (1 + confidence) / 2, method="higher"
    )
    ends = float(min(low, estimate)), float(max(high, estimate))
    return Interval(estimate, *ends, confidence, f"bootstrap, {resamples} resamples")
