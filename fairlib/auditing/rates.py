"""What an audit is asked: how to compare, and which shares of cases or means of numbers; `rates.toml` has their words.

Every rate is a mean over the cases of a group that qualify, so it follows from three numbers per group: how many cases
qualify, the sum of their values, and the sum of the squares.
"""

import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fairlib.auditing.groups import EVERYONE_ELSE, Family
from fairlib.auditing.people import POWERS, ROLES, People
from fairlib.tables import listed
from fairlib.tables.coding import Columns

COST = "cost"  # the rate whose class is the name of its column, and whose values are in that column's units
OUTCOMES = (
    "TN",
    "FP",
    "FN",
    "TP",
)  # of a case: is the class predicted (P) or not (N), and is that true (T) or false
APART = {
    "within": ["source"],
    "compare": ["source"],
    "cost": ["probability"],
}  # what does not go together
APART["weight"] = ["probability", "within", "compare"]
SUMMARIES = (
    0.2  # the share of alpha that summary metrics have; comparisons have the rest
)


@dataclass(frozen=True)
class Rate:
    """One question to every group: which cases qualify, what is counted among them, and how to say it."""

    title: str
    words: str  # of one group: {value} and {n} are filled in, and {c}, the class
    qualifies: str = ""  # which cases can be used at all, completing "cases ..."
    share: str = ""  # "outcomes that are counted / outcomes that qualify"; none for means of probabilities
    needs: Sequence[str] = ("label", "prediction")
    per_class: bool = (
        True  # or all classes at once: a right prediction is a TP, a wrong one an FN
    )
    farthest: int = 1  # that two cases can be apart: 2 for what lies between -1 and 1, which is said in points

    @property
    def uses_probability(self) -> bool:
        """Whether it is a mean of numbers, such as probabilities, and no share of cases."""
        return not self.share

    @property
    def outcomes(self) -> list[list[str]]:
        """The outcomes that are counted, and those that qualify."""
        return [part.split() for part in self.share.split("/")]


TEXT = (Path(__file__).parent / "rates.toml").read_text(encoding="utf-8")
RATES = {name: Rate(**fields) for name, fields in tomllib.loads(TEXT).items()}


def own(name: str, share: str) -> Rate:
    """Return a rate of one's own, by the outcomes that are counted and those that qualify.

    >>> own("wrongly approved", "FP / TP FP FN TN").outcomes
    [['FP'], ['TP', 'FP', 'FN', 'TN']]
    """
    counted, among = (
        map(str.split, share.split("/"))
        if isinstance(share, str) and share.count("/") == 1
        else ((), ())
    )
    if name in RATES or not counted or not {*counted} < {*among} <= {*OUTCOMES}:
        said = f"as in 'FN / TP FN', outcomes that are counted and those that qualify, of {listed(OUTCOMES)}"
        raise ValueError(
            f"rates: {name!r} must be a new name with a share, {said}; found {share!r}"
        )
    which = (
        f"that are {' or '.join(among)} of {{c}}"
        if len({*among}) < len(OUTCOMES)
        else ""
    )
    said = name.replace("{", "{{").replace("}", "}}")
    words = f"of {{n}} cases{' ' * bool(which)}{which}, {{value}} are {said}"
    return Rate(f"{name} ({share}, of {{c}})", words, which, share)


@dataclass(frozen=True)
class Setting:
    """How to compare. Bad values raise a ValueError that names them."""

    columns: Columns
    reference: str | Mapping[str, object] | None
    depth: int
    metrics: tuple[
        str, ...
    ]  # names of rates and of summary metrics; none of a kind for all
    margin: float
    minimum: int
    confidence: float
    power: float
    title: str
    rates: Mapping[str, str]  # of one's own, as of `fairlib.auditing.rates.own`
    cost_margin: float | None = (
        None  # the smallest difference of costs that matters, in their units
    )

    def __post_init__(self) -> None:
        columns, names = self.columns, self.columns.group
        if not names or not all(isinstance(name, str) for name in names):
            raise ValueError(
                f"group must be the name of a column, or several, found {names!r}"
            )
        if len(set(names)) < len(names):
            raise ValueError(f"group: a column is named twice in {listed(names)}")
        roles = {role: name for role in ROLES if (name := getattr(columns, role))}
        for role, others in APART.items():
            if role in roles and (both := {*others} & {*roles}):
                raise ValueError(
                    f"{role}: not beside a {min(both)}; there are no intervals for both at once here"
                )
        for role in ("probability", "count", "within", "compare", "cost", "weight"):
            if role in roles and [*names, *roles.values()].count(roles[role]) > 1:
                raise ValueError(
                    f"{role}: column {roles[role]!r} plays another part already"
                )
        if not {"prediction", "probability"} & {*roles} and (
            "cost" not in roles or {"label", "compare"} & {*roles}
        ):
            raise ValueError(
                "prediction: name a column of predictions, or one of probabilities; neither was given"
            )
        size = self.cost_margin
        if size is not None and not (
            "cost" in roles and isinstance(size, Real) and 0 < size < math.inf
        ):
            raise ValueError(
                f"cost_margin must be above 0, in the units of a cost column, found {size!r}"
            )
        for name in ("threshold", "margin", "confidence", "power"):
            value = getattr(columns if name == "threshold" else self, name)
            if not isinstance(value, Real) or not 0 < value < 1:
                raise ValueError(f"{name} must lie between 0 and 1, found {value!r}")
        for name, value, least in (
            ("minimum", self.minimum, 2),
            ("depth", self.depth, 1),
        ):
            if (
                not isinstance(value, Integral)
                or isinstance(value, bool)
                or value < least
            ):
                raise ValueError(
                    f"{name} must be a whole number from {least} on, found {value!r}"
                )
        if strange := [name for name in self.references if name not in names]:
            raise ValueError(
                f"reference: {strange[0]!r} is no group column; these are {listed(names)}"
            )

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
        return (
            "sources"
            if self.columns.source
            else "cases of equal weight"
            if self.columns.weight
            else "cases"
        )

    @property
    def points(self) -> str:
        """The margin in words; of costs alone without a margin, none."""
        points, cost = (
            f"{100 * self.margin:g} points",
            f"{self.cost_margin or 0:g} of ‘{self.columns.cost}’",
        )
        predicts = bool(self.columns.prediction or self.columns.probability)
        return " or ".join([points] * predicts + [cost] * bool(self.cost_margin))

    @property
    def references(self) -> Mapping[str, object]:
        """The group that others are compared with, by column."""
        if self.reference is None or isinstance(self.reference, Mapping):
            return self.reference or {}
        if len(names := self.columns.group) > 1:
            raise ValueError(
                f"reference must be {{column: group}} for several columns, found {self.reference!r}"
            )
        return {names[0]: self.reference}


class Sums(NamedTuple):
    """One rate over all cells: how many cases qualify, and the sums of powers of their values."""

    name: str
    rate: Rate
    class_name: str
    count: np.ndarray
    powers: Mapping[
        tuple[int, int], np.ndarray
    ]  # those that are not the count, as of `People`

    @property
    def of_shares(self) -> bool:
        """Whether values are 0 or 1, of cases that all count alike."""
        return not self.rate.uses_probability and (1, 0) not in self.powers

    def power(self, a: int, b: int) -> np.ndarray:
        """Return Σ wᵃ (w y)ᵇ over the cases of each cell, of weight w (1 without weights) and value y."""
        return self.powers.get((a, b), self.powers.get((0, b), self.count))

    def about(self, family: Family) -> dict:
        """Say what is compared, in columns."""
        groups = [family.called(code) for code in family.compared]
        against = (
            EVERYONE_ELSE
            if family.reference is None
            else family.called(family.reference)
        )
        about = {"attribute": family.attribute, "group": groups, "against": against}
        return about | {"rate": self.name, "class": self.class_name}

    def of(self, family: Family) -> "Sums":
        """Return the sums without the cases that take no part in a family's comparisons."""
        return (
            self.only(np.isin(family.codes, family.kept))
            if len(family.kept) < len(family)
            else self
        )

    def only(self, cells: np.ndarray) -> "Sums":
        """Return the sums of some cells."""
        powers = {key: values * cells for key, values in self.powers.items()}
        return self._replace(count=self.count * cells, powers=powers)


def measured(
    people: People, rates: Mapping[str, Rate], names: Iterable[str] = (), own=()
) -> dict[str, Rate]:
    """Return which rates the columns allow, or those asked for; one's own, which must be, take the place of ours."""
    lacking = {
        name: [part for part in rate.needs if getattr(people, part) is None]
        for name, rate in rates.items()
    }
    for name in (*names, *own):
        if name not in rates:
            allowed = f"{listed(rates)}, or those of fairlib.auditing.summary.SUMMARY"
            raise ValueError(f"metrics must be among {allowed}, found {name!r}")
        if lacking[name]:
            spoken = ", ".join(
                "a probability" if part == "score" else f"a {part}"
                for part in lacking[name]
            )
            raise ValueError(f"metrics: {name!r} needs {spoken} column")
    meant = {
        name: (rate.per_class, [*map(set, rate.outcomes)])
        for name, rate in rates.items()
    }
    renamed = [
        name for name in rates if name not in own and meant[name] in map(meant.get, own)
    ]
    chosen = (
        (*names, *own)
        if names
        else [name for name in rates if not lacking[name] and name not in renamed]
    )
    return {name: rates[name] for name in chosen}


def sums(people: People, rates: Mapping[str, Rate]) -> Iterator[Sums]:
    """Reduce the counts to one rate after another, for each class that is measured."""
    for name, rate in rates.items():
        for c in (
            people.positive if rate.per_class else (None,)
        ):  # None for all classes together
            class_name = (
                people.classes[c]
                if c is not None
                else people.cost.name
                if name == COST
                else ""
            )
            yield Sums(name, rate, class_name, *_sums(people, rate, c))


def _sums(people: People, rate: Rate, c: int | None) -> tuple[np.ndarray, Mapping]:
    count, powers = people.count, people.powers
    if rate.uses_probability and "label" not in rate.needs:
        return count, powers
    truth = (
        people.label == c
    )  # alike for all cases of a cell, so that (p - y)² = p² - 2 p y + y can be summed
    if rate.uses_probability:
        total, square = powers[0, 1], powers[0, 2]
        return count, {
            (0, 1): total - truth * count,
            (0, 2): square - truth * (2 * total - count),
        }
    truth, found = (
        (True, people.label == people.prediction)
        if c is None
        else (truth, people.prediction == c)
    )
    outcome = np.where(truth, 2, 0) + found
    event, among = (
        np.isin(outcome, [*map(OUTCOMES.index, names)]) for names in rate.outcomes
    )
    if (1, 0) not in powers:
        return count * among, {(0, 1): count * event}
    return count * among, {
        (a, b): (event if b else among) * powers[a + b, 0] for a, b in POWERS
    }
