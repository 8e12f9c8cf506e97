"""Who is compared with whom: the groups of each attribute, and of attributes crossed.

A family is one attribute, or several at once. The groups of a family do not overlap.
All sums are over cells, for all groups at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy import ndarray

from fairlib.auditing.attributes import label_text
from fairlib.auditing.counts import Counts
from fairlib.tables import listed

EVERYONE_ELSE = "everyone else"
MOST_GROUPS = 50_000  # in one family


@dataclass(frozen=True, eq=False, kw_only=True)
class Family:
    """The groups of one attribute, or of several crossed.

    Attributes
    ----------
    attributes : tuple of str
        The attributes that are crossed.
    names : tuple of tuple of str
        For each group, one name per attribute.
    codes : ndarray
        The group of each cell.
    kept : ndarray
        The groups that take part: all but those of cases without a value.
    reference : int or None
        The group that others are compared with; None for everyone else.
    is_pair : bool
        Whether there are two groups and nobody named a reference. Either of them can
        then be the subject of a sentence.
    source : ndarray or None
        The source of each cell.
    """

    attributes: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    codes: ndarray
    kept: ndarray
    reference: int | None = None
    is_pair: bool = False
    source: ndarray | None = None

    def __len__(self) -> int:
        return len(self.names)

    def total(self, values: ndarray) -> ndarray:
        """Sum `values` of cells in each group."""
        return np.bincount(self.codes, values, minlength=len(self))

    @property
    def attribute(self) -> str:
        """The attributes in words."""
        return " × ".join(self.attributes)

    @cached_property
    def compared(self) -> ndarray:
        """Which groups are compared: all but the reference."""
        return self.kept[self.kept != self.reference]

    @cached_property
    def pairs(self) -> tuple[ndarray, ndarray, ndarray]:
        """The sources and groups that occur together, and the pair of each cell."""
        if self.source is None:
            raise ValueError("source: the cases of this family have no sources")

        pairs, pair_of_cell = np.unique(
            self.source * len(self) + self.codes, return_inverse=True
        )
        sources, groups = np.divmod(pairs, len(self))
        return sources, groups, pair_of_cell

    def compared_with(
        self, reference: int | None, *, kept: ndarray | None = None
    ) -> "Family":
        """Return the same groups, compared with one of them, or with everyone else.

        Parameters
        ----------
        reference : int or None
            The group that others are compared with; None for everyone else.
        kept : ndarray, optional
            The groups that take part; by default those that do already.
        """
        changed = replace(
            self,
            reference=reference,
            is_pair=False,
            kept=self.kept if kept is None else kept,
        )
        # Sources and groups occur together as before: they are found once.
        if "pairs" in self.__dict__:
            changed.__dict__["pairs"] = self.pairs
        return changed

    def others(self, per_group: ndarray) -> ndarray:
        """Sum over those whom each compared group is compared with."""
        if self.reference is not None:
            return np.full(len(self.compared), per_group[self.reference])
        return per_group.sum() - per_group[self.compared]

    def called(self, group: int) -> str:
        """Write a group as "sex = female, race = black".

        A name that could be taken for another attribute is written in quotes.
        """
        parts = []
        for attribute, name in zip(self.attributes, self.names[group], strict=True):
            is_ambiguous = " = " in name and len(self.attributes) > 1
            parts.append(
                f"{attribute} = {name!r}" if is_ambiguous else f"{attribute} = {name}"
            )
        return ", ".join(parts)


def families(
    counts: Counts, *, depth: int, reference: Mapping[str, object]
) -> list[Family]:
    """Return a family per attribute, per pair of attributes, and so on to `depth`."""
    families_of_two_groups = []
    for size in range(1, min(depth, len(counts.attributes)) + 1):
        for attributes in combinations(counts.attributes, size):
            crossed = family(counts, attributes, reference)
            if len(crossed.kept) > 1:
                families_of_two_groups.append(crossed)
    if families_of_two_groups:
        return families_of_two_groups

    name, coded = next(iter(counts.attributes.items()))
    if coded.names == (coded.missing,):
        raise ValueError(
            f"group: column {name!r} has no value in any case; "
            "a comparison needs two groups or more"
        )
    besides = " beside missing values" if coded.missing is not None else ""
    raise ValueError(
        f"group: column {name!r} holds one group only, {coded.names[0]!r}{besides}; "
        "a comparison needs two or more"
    )


def named_families(counts: Counts, notes: list[str]) -> list[Family]:
    """Return a family per attribute whose groups all have a name, and note the others.

    Missing values are no group here, even if the audit compares groups with them.
    """
    families_of_two_groups = []
    for name in counts.attributes:
        groups = family(counts, (name,), {})
        if len(groups.kept) > 1:
            families_of_two_groups.append(groups)
        else:
            notes.append(
                f"By {name}: there is one group only, so there is nothing to compare."
            )
    return families_of_two_groups


def family(
    counts: Counts, attributes: tuple[str, ...], reference: Mapping[str, object]
) -> Family:
    """Return the groups of an attribute, or of several crossed."""
    codes, names = _crossed(counts, attributes)
    if len(names) > MOST_GROUPS:
        columns = " and ".join(repr(name) for name in attributes)
        hint = ""
        if len(attributes) > 1:
            hint = ", or look at the columns one by one (depth=1)"
        raise ValueError(
            f"group: {len(names):,} groups by {columns}, more than {MOST_GROUPS:,}; "
            f"put values into classes{hint}"
        )

    missing = {(name, counts.attributes[name].missing) for name in attributes}
    missing -= {*reference.items()}  # missing values may be the reference
    kept = [
        code
        for code, names_of_group in enumerate(names)
        if missing.isdisjoint(zip(attributes, names_of_group, strict=True))
    ]
    chosen = _reference(counts, attributes, names, reference)
    # Of two groups, each would be compared with the other: one comparison says it all.
    is_pair = chosen is None and len(kept) == 2
    if is_pair:
        chosen = kept[1]
    return Family(
        attributes=attributes,
        names=tuple(names),
        codes=codes,
        kept=np.array(kept, dtype=int),
        reference=chosen,
        is_pair=is_pair,
        source=counts.source,
    )


def _crossed(
    counts: Counts, attributes: tuple[str, ...]
) -> tuple[ndarray, list[tuple[str, ...]]]:
    """Return the group of each cell, and the names of each group that occurs."""
    first, *others = [counts.attributes[name] for name in attributes]
    codes = first.codes
    names: list[tuple[str, ...]] = [(name,) for name in first.names]

    # One attribute after the other, so that codes stay small where names are many.
    for other in others:
        values = len(other.names)
        present, codes = np.unique(codes * values + other.codes, return_inverse=True)
        names = [
            (*names[code // values], other.names[code % values])
            for code in present.tolist()
        ]
    return codes, names


def _reference(
    counts: Counts,
    attributes: tuple[str, ...],
    names: list[tuple[str, ...]],
    reference: Mapping[str, object],
) -> int | None:
    """Return the group that is named as reference, if it occurs."""
    wanted = tuple(
        label_text(reference[name]) for name in attributes if name in reference
    )
    if wanted in names:
        return names.index(wanted)
    if wanted and len(attributes) == 1:
        known = listed(counts.attributes[attributes[0]].names)
        raise ValueError(
            f"reference: column {attributes[0]!r} has no group {wanted[0]!r}; "
            f"it holds {known}"
        )
    return None


def large_enough(family: Family, counts: Counts, minimum: int) -> ndarray:
    """Return the groups that have enough independent cases."""
    size = family.total(counts.count)
    if counts.source is not None:
        # As many sources as there are, if they had as many cases each.
        sizes = np.bincount(family.pairs[2], counts.count)
        squares = np.bincount(family.pairs[1], sizes**2)
        size = np.floor(size**2 / squares + 1e-9)
    return family.kept[size[family.kept] >= minimum]
