"""Who is compared with whom: the groups of every attribute and of attributes crossed, each against others.

A family is one attribute, or several at once; its groups do not overlap. All sums are over cells, all at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from fairlib.auditing.attributes import label_text
from fairlib.auditing.counts import Counts
from fairlib.tables import listed

EVERYONE_ELSE = "everyone else"
MOST_GROUPS = 50_000  # in one family


@dataclass(frozen=True, eq=False, kw_only=True)
class Family:
    """The groups of one attribute, or of several crossed, and which of them is the reference, if any."""

    attributes: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]  # of each group, one name per attribute
    codes: np.ndarray  # of each cell
    kept: (
        np.ndarray
    )  # the groups that take part: all but those of cases that lack a value
    reference: int | None = None
    source: np.ndarray | None = None  # of each cell, which cells belong together

    def __len__(self) -> int:
        return len(self.names)

    def total(self, values: np.ndarray) -> np.ndarray:
        """Sum `values` of cells in each group."""
        return np.bincount(self.codes, values, minlength=len(self))

    @property
    def attribute(self) -> str:
        """The attributes in words."""
        return " × ".join(self.attributes)

    @cached_property
    def compared(self) -> np.ndarray:
        """Which groups are compared: all but the reference."""
        return self.kept[self.kept != self.reference]

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The sources and groups that occur together, one entry per pair, and the pair of each cell."""
        pairs, place = np.unique(
            self.source * len(self) + self.codes, return_inverse=True
        )
        return *np.divmod(pairs, len(self)), place

    def others(self, per_group: np.ndarray) -> np.ndarray:
        """Sum over those that each compared group stands against: the reference, or everyone else."""
        if self.reference is not None:
            return np.full(len(self.compared), per_group[self.reference])
        return per_group.sum() - per_group[self.compared]

    def called(self, group: int) -> str:
        """Write a group as "sex = female, race = black"; what could be taken for the next attribute in quotes."""
        names = self.names[group]
        names = [
            repr(name) if " = " in name and len(names) > 1 else name for name in names
        ]
        return ", ".join(
            f"{attribute} = {name}"
            for attribute, name in zip(self.attributes, names, strict=True)
        )


def families(
    counts: Counts, *, depth: int, reference: Mapping[str, object]
) -> list[Family]:
    """Return one family per attribute, then per pair of attributes, and so on up to `depth` at once."""
    sizes = range(1, min(depth, len(counts.attributes)) + 1)
    crossings = [
        attributes
        for size in sizes
        for attributes in combinations(counts.attributes, size)
    ]
    found = [
        one
        for attributes in crossings
        if len((one := family(counts, attributes, reference)).kept) > 1
    ]
    if not found:
        name, coded = next(iter(counts.attributes.items()))
        besides = " beside missing values" if coded.missing is not None else ""
        only = f"one group only, {coded.names[0]!r}{besides}; a comparison needs two or more"
        raise ValueError(f"group: column {name!r} holds {only}")
    return found


def family(
    counts: Counts, attributes: tuple[str, ...], reference: Mapping[str, object]
) -> Family:
    """Return the groups of an attribute, or of several crossed."""
    first, *others = coded = [counts.attributes[name] for name in attributes]
    codes, names = first.codes, [(name,) for name in first.names]
    for other in others:  # one attribute after another, so that codes stay small even where names are many
        present, codes = np.unique(
            codes * len(other.names) + other.codes, return_inverse=True
        )
        names = [
            (*names[code // len(other.names)], other.names[code % len(other.names)])
            for code in present.tolist()
        ]
    if len(names) > MOST_GROUPS:
        crossed, hint = (
            " and ".join(map(repr, attributes)),
            ", or look at the columns one by one (depth=1)",
        )
        many = f"group: {len(names):,} groups by {crossed}, more than {MOST_GROUPS:,}; put values into classes"
        raise ValueError(many + hint * bool(others))
    wanted = tuple(
        label_text(reference[name]) for name in attributes if name in reference
    )
    chosen = (
        names.index(wanted) if wanted in names else None
    )  # a crossing that never occurs is no reference
    if wanted and chosen is None and not others:
        known = listed(first.names)
        raise ValueError(
            f"reference: column {attributes[0]!r} has no group {wanted[0]!r}; it holds {known}"
        )
    lost = {
        (name, one.missing) for name, one in zip(attributes, coded, strict=True)
    } - {*reference.items()}
    kept = [
        code
        for code, own in enumerate(names)
        if lost.isdisjoint(zip(attributes, own, strict=True))
    ]
    if chosen is None and len(kept) == 2:  # the one is the other's mirror
        chosen = kept[1]
    return Family(
        attributes=attributes,
        names=tuple(names),
        codes=codes,
        kept=np.array(kept, dtype=int),
        reference=chosen,
        source=counts.source,
    )


def large_enough(family: Family, counts: Counts, minimum: int) -> np.ndarray:
    """Return the groups that have enough independent cases."""
    size = family.total(counts.count)
    if counts.source is not None:
        # As many sources as there are, if they had as many cases each.
        sizes = np.bincount(family.pairs[2], counts.count)
        squares = np.bincount(family.pairs[1], sizes**2)
        size = np.floor(size**2 / squares + 1e-9)
    return family.kept[size[family.kept] >= minimum]
