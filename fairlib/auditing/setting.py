"""What an audit was asked to do, checked once; everything that a reader needs to do it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real

from fairlib.auditing.tally import Columns, listed
from fairlib.bounds import METHODS

INTERVALS = ("auto", "counts", *(name for name, method in METHODS.items() if not method.paired))


@dataclass(frozen=True)
class Setting:
    """How to compare. Bad values raise a ValueError that names them."""

    columns: Columns
    reference: str | Mapping[str, object] | None = None
    depth: int = 2
    metrics: str | tuple[str, ...] | None = None  # names of rates and of summary metrics; none of a kind for all
    margin: float = 0.05
    minimum: int = 30
    confidence: float = 0.95
    power: float = 0.8
    title: str = "Audit"
    interval: str = "auto"
    references: Mapping[str, object] = field(init=False)  # by column

    def __post_init__(self) -> None:
        names = self.columns.group
        if not names or not all(isinstance(name, str) for name in names):
            raise ValueError(f"group must be the name of a column, or several, found {names!r}")
        if len(set(names)) < len(names):
            raise ValueError(f"group: a column is named twice in {listed(names)}")
        for role in ("probability", "count"):
            name = getattr(self.columns, role)
            others = {part: of for part, of in self.columns._asdict().items() if part != role}
            if name and (name in names or name in others.values()):
                raise ValueError(f"{role}: column {name!r} plays another part already")
        if self.columns.prediction is None and self.columns.probability is None:
            raise ValueError("prediction: name a column of predictions, or one of probabilities; neither was given")
        shares = {"threshold": self.columns.threshold} | {
            name: getattr(self, name) for name in ("margin", "confidence", "power")
        }
        for name, value in shares.items():
            if not isinstance(value, Real) or not 0 < value < 1:
                raise ValueError(f"{name} must lie between 0 and 1, found {value!r}")
        for name, least in (("minimum", 2), ("depth", 1)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} must be a whole number from {least} on, found {value!r}")
        if self.interval not in INTERVALS:
            raise ValueError(f"interval must be one of {listed(INTERVALS, most=99)}, found {self.interval!r}")
        object.__setattr__(self, "references", self._by_column())
        named = (self.metrics,) if isinstance(self.metrics, str) else tuple(self.metrics or ())
        object.__setattr__(self, "metrics", named)

    @property
    def alpha(self) -> float:
        """How often an audit of a model that treats all alike may claim anything."""
        return 1 - self.confidence

    @property
    def unit(self) -> str:
        """What is taken to be independent of one another."""
        return "cases" if self.columns.source is None else "sources"

    def _by_column(self) -> dict[str, object]:
        names = self.columns.group
        if self.reference is None:
            return {}
        if isinstance(self.reference, Mapping):
            if strange := [name for name in self.reference if name not in names]:
                raise ValueError(f"reference: {strange[0]!r} is no group column; these are {listed(names)}")
            return dict(self.reference)
        if len(names) > 1:
            raise ValueError(
                f"reference must be {{column: group}} where there are several group columns, found {self.reference!r}"
            )
        return {names[0]: self.reference}
