"""An estimate with its uncertainty: what every method in fairlib returns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape


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
