"""What an audit was asked to do, checked once; all that a reader needs to repeat it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real

from fairlib.auditing.rates import RATES, Rate, own
from fairlib.tables import listed
from fairlib.tables.coding import Columns

APART = {"within": ["source"], "compare": ["source"], "cost": ["probability"]}  # what does not go together
APART["weight"] = ["probability", "within", "compare"]
SUMMARIES = 0.2  # the share of alpha that summary metrics have; comparisons have the rest


@dataclass(frozen=True)
class Setting:
    """How to compare. Bad values raise a ValueError that names them."""

    columns: Columns
    reference: str | Mapping[str, object] | None
    depth: int
    metrics: tuple[str, ...]  # names of rates and of summary metrics; none of a kind for all
    margin: float
    minimum: int
    confidence: float
    power: float
    title: str
    rates: Mapping[str, str]  # of one's own, as of `fairlib.auditing.rates.own`
    cost_margin: float | None = None  # the smallest difference of costs that matters, in their units

    def __post_init__(self) -> None:
        columns, names = self.columns, self.columns.group
        if not names or not all(isinstance(name, str) for name in names):
            raise ValueError(f"group must be the name of a column, or several, found {names!r}")
        if len(set(names)) < len(names):
            raise ValueError(f"group: a column is named twice in {listed(names)}")
        roles = {role: name for role, name in columns._asdict().items() if role not in ("group", "threshold") and name}
        for role, others in APART.items():
            if role in roles and (both := {*others} & {*roles}):
                raise ValueError(f"{role}: not beside a {min(both)}; there are no intervals for both at once here")
        for role in ("probability", "count", "within", "compare", "cost", "weight"):
            if role in roles and [*names, *roles.values()].count(roles[role]) > 1:
                raise ValueError(f"{role}: column {roles[role]!r} plays another part already")
        if not {"prediction", "probability"} & {*roles} and ("cost" not in roles or {"label", "compare"} & {*roles}):
            raise ValueError("prediction: name a column of predictions, or one of probabilities; neither was given")
        size = self.cost_margin
        if size is not None and not ("cost" in roles and isinstance(size, Real) and 0 < size < math.inf):
            raise ValueError(f"cost_margin must be above 0, in the units of a cost column, found {size!r}")
        for name in ("threshold", "margin", "confidence", "power"):
            value = getattr(columns if name == "threshold" else self, name)
            if not isinstance(value, Real) or not 0 < value < 1:
                raise ValueError(f"{name} must lie between 0 and 1, found {value!r}")
        for name, value, least in (("minimum", self.minimum, 2), ("depth", self.depth, 1)):
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} must be a whole number from {least} on, found {value!r}")
        if strange := [name for name in self.references if name not in names]:
            raise ValueError(f"reference: {strange[0]!r} is no group column; these are {listed(names)}")

    @property
    def alpha(self) -> float:
        """How often an audit of a model that treats all alike may claim anything."""
        return 1 - self.confidence

    @property
    def every_rate(self) -> dict[str, Rate]:
        """All rates that can be asked for, by name."""
        return RATES | {name: own(name, share) for name, share in self.rates.items()}

    @property
    def unit(self) -> str:
        """What is taken to be independent of one another."""
        return "sources" if self.columns.source else "cases of equal weight" if self.columns.weight else "cases"

    @property
    def points(self) -> str:
        """The margin in words; of costs alone without a margin, none."""
        points, cost = f"{100 * self.margin:g} points", f"{self.cost_margin or 0:g} of ‘{self.columns.cost}’"
        predicts = bool(self.columns.prediction or self.columns.probability)
        return " or ".join([points] * predicts + [cost] * bool(self.cost_margin))

    @property
    def references(self) -> Mapping[str, object]:
        """The group that others are compared with, by column."""
        if self.reference is None or isinstance(self.reference, Mapping):
            return self.reference or {}
        if len(names := self.columns.group) > 1:
            raise ValueError(f"reference must be {{column: group}} for several columns, found {self.reference!r}")
        return {names[0]: self.reference}
