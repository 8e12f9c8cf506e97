"""How an audit is set up: which column plays which part, and how groups are compared.

Every bad value is refused here, before any data are read.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    "label",
    "prediction",
)
# Parts that exclude each other, because there are no intervals for both at once.
EXCLUDED_ROLES = {
    "cost": ("probability",),
    "weight": ("probability", "within", "compare"),
}
# Groups with fewer cases, or fewer sources of equal size, are not tested.
# `benchmarks/audits.md` reports how often so few sources lead to a false claim.
FEWEST_CASES = 30
FEWEST_SOURCES = 5
# What the columns that hold a number for each case may hold: words, lowest, highest.
LIMITS = {
    "probability": Limits("probability", "lie in [0, 1]", 0, 1),
    "weight": Limits("weight", "hold weights (0 to 1e300)", 0, 1e300),
    "cost": Limits("cost", "hold numbers from -1e300 to 1e300", -1e300, 1e300),
}


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
    bands : mapping of str to sequence of float
        The numbers at which a column of groups is cut, by column.
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
    bands: Mapping[str, Sequence[float]] = field(default_factory=dict)

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
    minimum : int or None
        Groups with fewer independent cases are not tested; None for `FEWEST_CASES`, or
        with sources for `FEWEST_SOURCES`.
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
    ratio_margin : float
        The ratio of two rates from which on a difference matters, below 1.
    favourable : object
        The class that people want to be predicted; None for the class that is measured.
    local_law_144 : bool
        Whether to make the tables of New York City's Local Law 144.
    """

    columns: Columns
    reference: str | Mapping[str, object] | None
    depth: int
    metrics: tuple[str, ...]
    margin: float
    minimum: int | None
    confidence: float
    power: float
    title: str
    rates: Mapping[str, str]
    cost_margin: float | None = None
    ratio_margin: float = 0.8
    favourable: object = None
    local_law_144: bool = False

    def __post_init__(self) -> None:
        _check_group_names(self.columns.group)
        _check_excluded_roles(self.columns)
        _check_roles_of_one_column(self.columns)
        _check_there_is_something_to_compare(self.columns)
        _check_cost_margin(self.cost_margin, self.columns)
        _check_rates(self.rates)

        _check_fraction("threshold", self.columns.threshold)
        _check_fraction("margin", self.margin)
        _check_fraction("ratio_margin", self.ratio_margin)
        _check_fraction("confidence", self.confidence)
        _check_fraction("power", self.power)
        if self.minimum is not None:
            _check_whole_number("minimum", self.minimum, least=2)
        _check_whole_number("depth", self.depth, least=1)

        _check_bands(self.columns)
        _check_truth("local_law_144", self.local_law_144)
        _check_references(self.references, self.columns.group)

    @property
    def alpha(self) -> float:
        """How often a model that treats all groups alike may be flagged, at most."""
        return 1 - self.confidence

    @property
    def fewest(self) -> int:
        """The fewest independent cases, or sources, of a group that is tested."""
        if self.minimum is not None:
            return self.minimum
        return FEWEST_SOURCES if self.columns.source else FEWEST_CASES

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
                f"{role}: column {roles[role]!r} plays another part already "
                f"({_parts_of(roles[role], columns)})"
            )


def _parts_of(name: str, columns: Columns) -> str:
    """Write all parts that a column plays."""
    parts = [role for role, column in columns.by_role().items() if column == name]
    return " and ".join(["group"] * columns.group.count(name) + parts)


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


def _check_rates(rates: Mapping[str, str]) -> None:
    """Raise unless the user's own rates are shares by name."""
    if not isinstance(rates, Mapping):
        raise ValueError(f"rates must be {{name: share}}, found {rates!r}")
    for name, share in rates.items():
        if not isinstance(name, str):
            raise ValueError(f"rates: names must be texts, found {name!r}")
        custom_rate(name, share)


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


def _check_bands(columns: Columns) -> None:
    """Raise unless each column that is cut is cut at increasing numbers."""
    if not isinstance(columns.bands, Mapping):
        raise ValueError(
            "bands must be {column: numbers at which it is cut}, "
            f"found {columns.bands!r}"
        )

    for name, limits in columns.bands.items():
        if name not in columns.group:
            raise ValueError(
                f"bands: {name!r} is no group column; these are {listed(columns.group)}"
            )
        are_numbers = isinstance(limits, Sequence) and all(
            isinstance(limit, Real) and math.isfinite(limit) for limit in limits
        )
        if not are_numbers or not limits or sorted({*limits}) != [*limits]:
            raise ValueError(
                f"bands: column {name!r} must be cut at increasing numbers, "
                f"found {limits!r}"
            )


def _check_truth(name: str, value: object) -> None:
    """Raise unless a value is True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False, found {value!r}")


def _check_references(references: Mapping[str, object], names: tuple[str, ...]) -> None:
    """Raise if a group of reference belongs to a column that holds no groups."""
    for name in references:
        if name not in names:
            raise ValueError(
                f"reference: {name!r} is no group column; these are {listed(names)}"
            )
