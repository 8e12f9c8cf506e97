"""An estimate with its uncertainty: what every method in fairlib returns, and the two ways to it that all papers share.

`over_runs` takes a value per run of a training; `bootstrap` any function of counts, at a cost that does not grow with
the data. `fairlib.bounds` has the intervals for a difference of two groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

DRAWN = 1 << 22  # numbers that are drawn at a time: bounds the memory


@dataclass(frozen=True)
class Interval:
    """A number that was estimated, and the range of values that the data do not rule out.

    >>> disparity = Interval(0.029, -0.012, 0.070, method="bernstein")
    >>> print(disparity)
    0.029 [-0.012, 0.070] (95% bernstein)
    >>> disparity.excludes(0.0)
    False
    >>> 0.05 in disparity
    True
    """

    estimate: float
    low: float
    high: float
    confidence: float = 0.95
    method: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.confidence < 1:
            raise ValueError(f"confidence must be in [0, 1), found {self.confidence}")
        if self.low > self.high:
            raise ValueError(f"low must not exceed high, found low={self.low}, high={self.high}")

    @property
    def half_width(self) -> float:
        """Half the length of the interval: the t of "estimate ± t" where it is symmetric."""
        return (self.high - self.low) / 2

    def excludes(self, value: float = 0.0) -> bool:
        """Whether the data rule `value` out; by default, whether a disparity may be claimed at all.

        An undefined interval (NaN) rules nothing out.
        """
        return self.low > value or self.high < value

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        if any(math.isnan(end) for end in (self.estimate, self.low, self.high)):
            return f"undefined ({self._label})"
        return f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}] ({self._label})"

    def _repr_html_(self) -> str:
        return f"<span>{escape(str(self))}</span>"

    @property
    def _label(self) -> str:
        return f"{min(100 * self.confidence, 99.99):.4g}% {self.method}".strip()  # never "100%": nothing is certain


def check_confidence(confidence: float) -> None:
    """Raise unless an interval can be made at this confidence."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be in (0, 1), found {confidence}")


def bisection(rejects: Callable[[np.ndarray], ArrayLike], low: ArrayLike, high: ArrayLike, *, steps: int) -> np.ndarray:
    """Halve between `low`, which is rejected, and `high`, which is not; return what is surely rejected. Arrays welcome.

    >>> float(bisection(lambda value: value**2 < 2, 0, 2, steps=20))
    1.4142131805419922
    """
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
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or values.size < 2:
        raise ValueError(f"values must be a vector of at least 2 runs, found shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"values must be finite, found {(~np.isfinite(values)).sum()} that are not")
    check_confidence(confidence)
    mean, error = values.mean(), stats.sem(values)
    margin = stats.t.ppf((1 + confidence) / 2, values.size - 1) * error
    return Interval(float(mean), mean - margin, mean + margin, confidence, f"t over {values.size} runs")


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """A statistic, or an array of them, with its values in data that could have been: read it again at any level."""

    estimate: np.ndarray  # the statistic's own shape
    replicates: np.ndarray  # (resamples, ...)
    method: str

    def ends(self, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the percentile interval's low and high ends; a replicate that is undefined counts as either's worst.

        An undefined estimate has undefined ends.
        """
        check_confidence(confidence)
        lowest, highest = (np.where(np.isnan(self.replicates), worst, self.replicates) for worst in (-np.inf, np.inf))
        low = np.quantile(lowest, (1 - confidence) / 2, axis=0, method="lower")
        high = np.quantile(highest, (1 + confidence) / 2, axis=0, method="higher")
        undefined = np.isnan(self.estimate)
        return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return the interval of a single statistic."""
        if self.estimate.ndim:
            raise ValueError(f"interval is for a single statistic, found shape {self.estimate.shape}; take ends()")
        low, high = map(float, self.ends(confidence))
        estimate = float(self.estimate)
        return Interval(estimate, min(low, estimate), max(high, estimate), confidence, self.method)


def bootstrap(counts, statistic: Callable[[np.ndarray], np.ndarray], *, resamples: int = 2000, rng=None) -> Bootstrap:
    """Draw examples again, with replacement, when all that matters is how many there are of each kind.

    counts : whole numbers of any shape, such as groups x labels x predictions.
    statistic : maps (replicates, *shape of counts) to (replicates, ...).

    Drawing n examples again is drawing the counts from a multinomial distribution with their own shares: exactly the
    bootstrap of rows (Efron 1979), at O(resamples x cells), whatever n is.

    >>> errors = np.array([[56, 14], [48, 32]])  # two groups: wrong, right
    >>> def difference(counts):
    ...     rate = counts[:, :, 0] / counts.sum(axis=2)
    ...     return rate[:, 0] - rate[:, 1]
    >>> print(bootstrap(errors, difference, rng=0).interval())
    0.200 [0.048, 0.341] (95% bootstrap, 2000 resamples)
    """
    counts = np.asarray(counts, dtype=float)
    whole = np.all(counts >= 0) and np.all(counts == np.floor(counts))
    if not whole or not 0 < counts.sum() < 2.0**63:
        raise ValueError(f"counts must be whole numbers of at least 0, and not all 0; found {counts.ravel()[:5]} ...")
    if resamples < 2:
        raise ValueError(f"resamples must be at least 2, found {resamples}")
    rng = np.random.default_rng(rng)
    n, shares = int(counts.sum()), counts.ravel() / counts.sum()
    batch = max(1, DRAWN // counts.size)
    with np.errstate(invalid="ignore", divide="ignore"):  # an empty group has no rate: NaN
        estimate = np.asarray(statistic(counts[None]), dtype=float)
        replicates = np.empty((resamples, *estimate.shape[1:]))
        for start in range(0, resamples, batch):
            some = replicates[start : start + batch]
            drawn = rng.multinomial(n, shares, size=len(some)).reshape(len(some), *counts.shape)
            found = np.asarray(statistic(drawn.astype(float)), dtype=float)
            if estimate.shape[:1] != (1,) or found.shape != some.shape:
                raise ValueError(
                    "statistic must return one value, or array, per replicate: (1, ...) for one and "
                    f"({len(some)}, ...) for {len(some)}, found {estimate.shape} and {found.shape}"
                )
            some[...] = found
    return Bootstrap(estimate[0], replicates, f"bootstrap, {resamples} resamples")
