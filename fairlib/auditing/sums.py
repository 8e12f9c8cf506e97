"""How counts become rates: how many cases qualify, and the sums of their values.

A rate is a mean, so it follows from a few numbers per cell: how many cases qualify, the
sum of their values, and the sums of powers of them.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy import ndarray

from fairlib.auditing.counts import POWERS, Counts
from fairlib.auditing.groups import EVERYONE_ELSE, Family
from fairlib.auditing.rates import COST, OUTCOMES, Rate
from fairlib.tables import listed

Powers = Mapping[tuple[int, int], ndarray]


@dataclass(frozen=True, eq=False, kw_only=True)
class Sums:
    """One rate over all cells: how many cases qualify, and sums of their values.

    Attributes
    ----------
    name : str
        The name of the rate.
    rate : Rate
        What is counted.
    class_name : str
        The class that is measured, or the column of costs.
    count : ndarray
        How many cases of each cell qualify.
    powers : mapping of (int, int) to ndarray
        The sums of powers that are not the count, as of `Counts`.
    """

    name: str
    rate: Rate
    class_name: str
    count: ndarray
    powers: Powers

    @property
    def of_shares(self) -> bool:
        """Whether values are 0 or 1, of cases that all count alike."""
        return not self.rate.uses_probability and (1, 0) not in self.powers

    def power(self, a: int, b: int) -> ndarray:
        """Return Σ wᵃ (w y)ᵇ over the cases of each cell, of weight w and value y.

        Without weights, w is 1.
        """
        return self.powers.get((a, b), self.powers.get((0, b), self.count))

    def about(self, family: Family) -> dict[str, object]:
        """Return the columns that say what the comparisons of a family are about."""
        against = EVERYONE_ELSE
        if family.reference is not None:
            against = family.called(family.reference)

        return {
            "attribute": family.attribute,
            "group": [family.called(code) for code in family.compared],
            "against": against,
            "rate": self.name,
            "class": self.class_name,
        }

    def of(self, family: Family) -> "Sums":
        """Return the sums without the cases that no comparison of a family uses."""
        if len(family.kept) < len(family):
            return self.only(np.isin(family.codes, family.kept))
        return self

    def only(self, cells: ndarray) -> "Sums":
        """Return the sums of some cells."""
        powers = {key: values * cells for key, values in self.powers.items()}
        return replace(self, count=self.count * cells, powers=powers)


def rates_to_measure(
    counts: Counts,
    rates: Mapping[str, Rate],
    *,
    names: Collection[str] = (),
    custom: Collection[str] = (),
) -> dict[str, Rate]:
    """Return the rates that the columns allow, or those that are named.

    Parameters
    ----------
    counts : Counts
        The cases.
    rates : mapping of str to Rate
        All rates that can be asked for.
    names : collection of str
        The rates that are asked for; all that the columns allow, if empty.
    custom : collection of str
        The user's own rates. They have to be measurable, and take the place of built-in
        rates with the same meaning.

    Raises
    ------
    ValueError
        If a name is unknown, or a rate needs a column that is not there.
    """
    missing_columns = {
        name: [part for part in rate.needs if getattr(counts, part) is None]
        for name, rate in rates.items()
    }
    for name in (*names, *custom):
        if name not in rates:
            allowed = f"{listed(rates)}, or those of fairlib.auditing.summary.SUMMARY"
            raise ValueError(f"metrics must be among {allowed}, found {name!r}")
        if missing_columns[name]:
            needed = ", ".join(
                "a probability" if part == "score" else f"a {part}"
                for part in missing_columns[name]
            )
            raise ValueError(f"metrics: {name!r} needs {needed} column")

    if names:
        return {name: rates[name] for name in (*names, *custom)}

    meanings = {
        name: (rate.per_class, [{*outcomes} for outcomes in rate.outcomes])
        for name, rate in rates.items()
    }
    custom_meanings = [meanings[name] for name in custom]
    return {
        name: rate
        for name, rate in rates.items()
        if not missing_columns[name]
        and (name in custom or meanings[name] not in custom_meanings)
    }


def sums_of(counts: Counts, rates: Mapping[str, Rate]) -> Iterator[Sums]:
    """Reduce the counts to one rate after another, for each class that is measured."""
    for name, rate in rates.items():
        # None stands for all classes at once.
        codes = counts.positive if rate.per_class else (None,)
        for code in codes:
            count, powers = _sums(counts, rate, code)
            yield Sums(
                name=name,
                rate=rate,
                class_name=_class_name(counts, name, code),
                count=count,
                powers=powers,
            )


def _class_name(counts: Counts, rate_name: str, code: int | None) -> str:
    """Return the name of the class that is measured; of costs, that of their column."""
    if code is not None:
        return counts.classes[code]
    if rate_name == COST and counts.cost is not None:
        return counts.cost.name
    return ""


def _sums(counts: Counts, rate: Rate, code: int | None) -> tuple[ndarray, Powers]:
    """Return how many cases of each cell qualify, and the sums of their values."""
    if not rate.uses_probability:
        return _sums_of_share(counts, rate, code)
    if "label" not in rate.needs:
        return counts.count, counts.powers

    # The label is alike for all cases of a cell, so that (p - y)² = p² - 2 p y + y can
    # be summed up.
    is_class = counts.label == code
    total = counts.powers[0, 1]
    square = counts.powers[0, 2]
    powers = {
        (0, 1): total - is_class * counts.count,
        (0, 2): square - is_class * (2 * total - counts.count),
    }
    return counts.count, powers


def _sums_of_share(
    counts: Counts, rate: Rate, code: int | None
) -> tuple[ndarray, Powers]:
    """Return how many cases of each cell qualify, and how many of these are counted."""
    truth: ndarray | bool
    if code is None:
        truth = True
        predicted = counts.label == counts.prediction
    else:
        truth = counts.label == code
        predicted = counts.prediction == code

    outcome = np.where(truth, 2, 0) + predicted
    event, among = (
        np.isin(outcome, [OUTCOMES.index(name) for name in names])
        for names in rate.outcomes
    )
    if (1, 0) not in counts.powers:
        return counts.count * among, {(0, 1): counts.count * event}

    powers = {
        (a, b): (event if b else among) * counts.powers[a + b, 0] for a, b in POWERS
    }
    return counts.count * among, powers
