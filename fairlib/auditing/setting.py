"""How an audit is set up: which column plays which part, and how groups are compared.

Every bad value is refused here, before any data are read.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real

from fairlib.auditing.rates import RATES, Rate, custom_rate
from fairlib.tables import Limits, listed

# The parts that a column can play beside those of the groups.
ROLES = (
    "label",
    "prediction",
    "probability",
    "source",
    "count",
    "within",
    "compare",
    "cost",
    "weight",
)
# Parts that need a column of their own, which plays no other part.
ROLES_OF_ONE_COLUMN = (
    "probability",
    "count",
    "within",
    "compare",
    "cost",
    "weight",
)
# Parts that exclude each other, because there are no intervals for both at once.
EXCLUDED_ROLES = {
    "within": ("source",),
    "compare": ("source",),
    "cost": ("probability",),
    "weight": ("probability", "within", "compare"),
}
# What the columns that hold a number for each case may hold: words, lowest, highest.
LIMITS = {
    "probability": Limits("probability", "lie in [0, 1]", 0, 1),
    "weight": Limits("weight", "hold weights (0 to 1e100)", 0, 1e100),
    "cost": Limits("cost", "hold numbers from -1e300 to 1e300", -1e300, 1e300),
}
# The share of alpha that the metrics of the literature have; comparisons have the rest.
SUMMARY_SHARE = 0.2


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which column of a table plays which part in an audit.

    Attributes
    ----------
    group : tuple of str
        The columns of groups.
    label, prediction : str or None
        The true and the predicted class.
    probability : str or None
        The probability of the measured class.
    source : str or None
        What belongs together: a person, a template.
    count : str or None
        How many cases a row stands for.
    threshold : float
        From which probability on the class is predicted, without a prediction.
    within : str or None
        The stratum.
    compare : str or None
        What another model predicts.
    cost : str or None
        A number for each case.
    weight : str or None
        The weight of each case in a survey.
    """

    group: tuple[str, ...]
    label: str | None = None
    prediction: str | None = None
    probability: str | None = None
    source: str | None = None
    count: str | None = None
    threshold: float = 0.5
    within: str | None = None
    compare: str | None = None
    cost: str | None = None
    weight: str | None = None

    def by_role(self) -> dict[str, str]:
        """Return the names of columns by the part that they play, without groups."""
        names = {role: getattr(self, role) for role in ROLES}
        return {role: name for role, name in names.items() if name}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How groups are compared. Bad values raise a ValueError that names them.

    Attributes
    ----------
    columns : Columns
        Which column plays which part.
    reference : str, mapping or None
        The group that others are compared with, or such a group by column.
    depth : int
        How many columns of groups are crossed at once.
    metrics : tuple of str
        Names of rates and of metrics of the literature; all, if no name is of a kind.
    margin : float
        The smallest difference that matters.
    minimum : int
        Groups with fewer independent cases are not tested.
    confidence : float
        Of the intervals and verdicts.
    power : float
        With which probability the planned number of cases would show a difference.
    title : str
        Of the report.
    rates : mapping of str to str
        The user's own rates, as `fairlib.auditing.rates.custom_rate` reads them.
    cost_margin : float or None
        The smallest difference of costs that matters, in their units.
    """

    columns: Columns
    reference: str | Mapping[str, object] | None
    depth: int
    metrics: tuple[str, ...]
    margin: float
    minimum: int
    confidence: float
    power: float
    title: str
    rates: Mapping[str, str]
    cost_margin: float | None = None

    def __post_init__(self) -> None:
        _check_group_names(self.columns.group)
        _check_excluded_roles(self.columns)
        _check_roles_of_one_column(self.columns)
        _check_there_is_something_to_compare(self.columns)
        _check_cost_margin(self.cost_margin, self.columns)

        _check_fraction("threshold", self.columns.threshold)
        _check_fraction("margin", self.margin)
        _check_fraction("confidence", self.confidence)
        _check_fraction("power", self.power)
        _check_whole_number("minimum", self.minimum, least=2)
        _check_whole_number("depth", self.depth, least=1)

        _check_references(self.references, self.columns.group)

    @property
    def alpha(self) -> float:
        """How often a model that treats all groups alike may be flagged, at most."""
        return 1 - self.confidence

    @property
    def every_rate(self) -> dict[str, Rate]:
        """All rates that can be asked for, by name."""
        custom = {name: custom_rate(name, share) for name, share in self.rates.items()}
        return RATES | custom

    @property
    def unit(self) -> str:
        """The units that are taken to be independent of one another, in words."""
        if self.columns.source:
            return "sources"
        if self.columns.weight:
            return "cases of equal weight"
        return "cases"

    @property
    def points(self) -> str:
        """The margin in words; empty for costs alone without a margin."""
        margins = []
        if self.columns.prediction or self.columns.probability:
            margins.append(f"{100 * self.margin:g} points")
        if self.cost_margin:
            margins.append(f"{self.cost_margin:g} of ‘{self.columns.cost}’")
        return " or ".join(margins)

    @property
    def references(self) -> Mapping[str, object]:
        """The group that others are compared with, by column."""
        if self.reference is None or isinstance(self.reference, Mapping):
            return self.reference or {}

        names = self.columns.group
        if len(names) > 1:
            raise ValueError(
                "reference must be {column: group} for several columns, "
                f"found {self.reference!r}"
            )
        return {names[0]: self.reference}


def _check_group_names(names: tuple[str, ...]) -> None:
    """Raise unless there is a column of groups, and each is named once."""
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"group must be the name of a column, or several, found {names!r}"
        )
    if len(set(names)) < len(names):
        raise ValueError(f"group: a column is named twice in {listed(names)}")


def _check_excluded_roles(columns: Columns) -> None:
    """Raise if two columns play parts that exclude each other."""
    roles = columns.by_role().keys()
    for role, excluded in EXCLUDED_ROLES.items():
        present = roles & set(excluded)
        if role in roles and present:
            raise ValueError(
                f"{role}: not beside a {min(present)}; "
                "there are no intervals for both at once here"
            )


def _check_roles_of_one_column(columns: Columns) -> None:
    """Raise if a column plays two parts of which one needs a column of its own."""
    roles = columns.by_role()
    all_names = [*columns.group, *roles.values()]
    for role in ROLES_OF_ONE_COLUMN:
        if role in roles and all_names.count(roles[role]) > 1:
            raise ValueError(
                f"{role}: column {roles[role]!r} plays another part already"
            )


def _check_there_is_something_to_compare(columns: Columns) -> None:
    """Raise unless there are predictions or probabilities, or costs alone."""
    if columns.prediction or columns.probability:
        return
    if not columns.cost or columns.label or columns.compare:
        raise ValueError(
            "prediction: name a column of predictions, or one of probabilities; "
            "neither was given"
        )


def _check_cost_margin(margin: float | None, columns: Columns) -> None:
    """Raise unless the margin of costs is positive, beside a column of costs."""
    if margin is None:
        return
    is_positive = isinstance(margin, Real) and 0 < margin < math.inf
    if not columns.cost or not is_positive:
        raise ValueError(
            "cost_margin must be above 0, in the units of a cost column, "
            f"found {margin!r}"
        )


def _check_fraction(name: str, value: float) -> None:
    """Raise unless a value lies between 0 and 1."""
    if not isinstance(value, Real) or not 0 < value < 1:
        raise ValueError(f"{name} must lie between 0 and 1, found {value!r}")


def _check_whole_number(name: str, value: int, *, least: int) -> None:
    """Raise unless a value is a whole number that is large enough."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or value < least:
        raise ValueError(
            f"{name} must be a whole number from {least} on, found {value!r}"
        )


def _check_references(references: Mapping[str, object], names: tuple[str, ...]) -> None:
    """Raise if a group of reference belongs to a column that holds no groups."""
    for name in references:
        if name not in names:
            raise ValueError(
                f"reference: {name!r} is no group column; these are {listed(names)}"
            )
