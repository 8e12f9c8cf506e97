"""Estimates with their uncertainty, and two ways to compute them.

Every method of fairlib returns an `Interval`. `over_runs` takes one value per run of a
training. `bootstrap` takes any function of counts, at a cost that does not grow with
the data. `fairlib.bounds` has the intervals for a difference between two groups.
"""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from fairlib.checks import check_confidence, checked


@dataclass(frozen=True)
class Interval:
    """An estimate, and the range of values that the data do not rule out.

    If an interval for a difference between two groups excludes 0, the sample shows that
    the groups differ. The interval contains every difference that the data leave open.

    Parameters
    ----------
    estimate : float
        The value that the data suggest; NaN if it is undefined.
    low, high : float
        The two ends of the interval, which belong to it.
    confidence : float, default 0.95
        The share of samples in which such an interval contains the true value.
    method : str, default ""
        The name of the method, for display.

    Examples
    --------
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
        """Half the length of the interval: the t of "estimate ± t" if it is symmetric.

        Returns
        -------
        float
            (high - low) / 2.
        """
        return (self.high - self.low) / 2

    def excludes(self, value: float = 0.0) -> bool:
        """Return whether the data rule a value out.

        With the default, the question is whether the data show a disparity at all. An
        undefined interval, whose ends are NaN, rules nothing out.

        Parameters
        ----------
        value : float, default 0.0
            The value in question.

        Returns
        -------
        bool
            True if the value lies outside the interval.
        """
        return self.low > value or self.high < value

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        # Never "100%", because nothing is certain.
        percent = min(100 * self.confidence, 99.99)
        level = f"{percent:.4g}% {self.method}".strip()

        if np.isnan([self.estimate, self.low, self.high]).any():
            return f"undefined ({level})"
        return f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}] ({level})"

    def _repr_html_(self) -> str:
        return f"<span>{escape(str(self))}</span>"


def bisection(
    rejects: Callable[[ndarray], ndarray],
    low: ArrayLike,
    high: ArrayLike,
    *,
    steps: int,
) -> ndarray:
    """Search for the value at which a test begins to accept, by halving a range.

    The test must reject `low`, accept `high` and change its answer once in between. The
    range is halved `steps` times, and its lower end is returned. So the answer errs on
    the safe side: the test surely rejects it.

    Parameters
    ----------
    rejects : callable
        Maps an array of values to an array of truth values, True for a rejected one.
    low, high : array_like of float
        The ends of the range; arrays are searched element by element.
    steps : int
        How often the range is halved.

    Returns
    -------
    ndarray of float
        The largest value that is known to be rejected, for each element.

    Examples
    --------
    >>> float(bisection(lambda x: x**2 < 2, 0, 2, steps=20).round(5))
    1.41421
    """
    rejected = np.asarray(low, dtype=float)
    accepted = np.asarray(high, dtype=float)

    for _ in range(steps):
        middle = (rejected + accepted) / 2
        is_rejected = rejects(middle)
        rejected = np.where(is_rejected, middle, rejected)
        accepted = np.where(is_rejected, accepted, middle)
    return rejected


def over_runs(values: ArrayLike, *, confidence: float = 0.95) -> Interval:
    """Return an interval for the mean over runs of a training that differ by chance.

    The interval says how much the mean would move if the same model were trained again
    with other seeds. It is Student's t interval with ddof = 1:

        mean ± t s / sqrt(runs)

    Parameters
    ----------
    values : array_like of float
        One value per run, from at least two runs.
    confidence : float, default 0.95
        The share of samples in which the interval contains the true mean.

    Returns
    -------
    Interval
        The mean with its interval.

    Raises
    ------
    ValueError
        If there are fewer than two values, or if one is not finite.

    Notes
    -----
    With five runs this interval is 1.584 times as wide as mean ± 1.96 s_0 / sqrt(5),
    where s_0 is the standard deviation with ddof = 0. The narrower interval is
    published as a 95 % interval, but it covers the mean in 84.6 % of samples only.

    Examples
    --------
    >>> print(over_runs([0.010, 0.012, 0.009, 0.013, 0.011]))
    0.011 [0.009, 0.013] (95% t over 5 runs)
    """
    value_of_run = checked("values", values, "finite", np.isfinite)
    if value_of_run.ndim != 1 or value_of_run.size < 2:
        raise ValueError(
            "values must be a vector of at least 2 runs, "
            f"found shape {value_of_run.shape}"
        )
    check_confidence(confidence)

    runs = value_of_run.size
    mean = value_of_run.mean()
    t = stdtrit(runs - 1, (1 + confidence) / 2)
    margin = t * (value_of_run.std(ddof=1) / np.sqrt(runs))

    return Interval(
        estimate=float(mean),
        low=mean - margin,
        high=mean + margin,
        confidence=confidence,
        method=f"t over {runs} runs",
    )


def bootstrap(
    counts: ArrayLike,
    statistic: Callable[[ndarray], ArrayLike],
    *,
    resamples: int = 2000,
    confidence: float = 0.95,
    rng: np.random.Generator | int | None = None,
) -> Interval:
    """Return a percentile interval for a statistic that needs only counts.

    The interval says how much the statistic would move if the n examples were drawn
    again from the same source. Drawing n examples with replacement is the same as
    drawing their counts from a multinomial distribution with the observed shares. So
    this is exactly the bootstrap of rows, without the rows.

    Parameters
    ----------
    counts : array_like of int
        How many examples there are of each kind. Any shape will do, for example
        groups x labels x predictions.
    statistic : callable
        Maps an array of shape (replicates, *shape of counts) to one number per
        replicate. It is called once, and the first replicate is the data themselves.
    resamples : int, default 2000
        The number of draws.
    confidence : float, default 0.95
        The share of samples in which the interval should contain the true value.
    rng : numpy.random.Generator or int, optional
        The source of random numbers, or a seed.

    Returns
    -------
    Interval
        The statistic of the data, and the quantiles of its draws.

    Raises
    ------
    ValueError
        If counts are not whole numbers, or if the statistic has another shape.

    Notes
    -----
    The cost is O(resamples x cells), however many examples there are. A draw for which
    the statistic is undefined (NaN) counts as the worst case at both ends.

    References
    ----------
    Efron (1979), "Bootstrap methods: another look at the jackknife".

    Examples
    --------
    >>> errors = np.array([[56, 14], [48, 32]])  # two groups: wrong, right
    >>> def difference(counts):
    ...     return np.subtract(*(counts[:, :, 0] / counts.sum(axis=2)).T)
    >>> print(bootstrap(errors, difference, rng=0))
    0.200 [0.048, 0.341] (95% bootstrap, 2000 resamples)
    """
    check_confidence(confidence)
    checked("resamples", resamples, "at least 2", lambda number: number >= 2)
    observed = checked(
        "counts",
        counts,
        "whole numbers of at least 0",
        lambda number: (number >= 0) & (number == np.floor(number)),
    )
    n = checked(
        "counts",
        observed.sum(),
        "in all 1 to 2^63",
        lambda number: (number > 0) & (number < 2.0**63),
    )

    shares = observed.ravel() / n
    draws = np.random.default_rng(rng).multinomial(int(n), shares, size=resamples)
    data_and_draws = np.vstack([observed.ravel(), draws])

    # The rate of an empty group is 0 / 0: NaN, without a warning.
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.asarray(
            statistic(data_and_draws.reshape(-1, *observed.shape)), dtype=float
        )
    if values.shape != (1 + resamples,):
        raise ValueError(
            f"statistic must return a number per replicate, {1 + resamples}, "
            f"found shape {values.shape}"
        )

    estimate = float(values[0])
    low, high = _percentiles(values[1:], estimate, confidence)
    return Interval(
        estimate=estimate,
        low=low,
        high=high,
        confidence=confidence,
        method=f"bootstrap, {resamples} resamples",
    )


def _percentiles(
    drawn_values: ndarray, estimate: float, confidence: float
) -> tuple[float, float]:
    """Return both ends of a percentile interval; they enclose the estimate."""
    is_undefined = np.isnan(drawn_values + estimate)
    at_worst_low = np.where(is_undefined, -np.inf, drawn_values)
    at_worst_high = np.where(is_undefined, np.inf, drawn_values)

    # Between two draws the quantile is the outer one, so that no interval is too short
    # (and infinite draws are never averaged).
    low = np.quantile(at_worst_low, (1 - confidence) / 2, method="lower")
    high = np.quantile(at_worst_high, (1 + confidence) / 2, method="higher")
    return float(min(low, estimate)), float(max(high, estimate))
