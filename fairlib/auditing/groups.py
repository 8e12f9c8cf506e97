"""Who is compared with whom: the groups of every attribute and of attributes crossed, each against others.

A family is one attribute, or several at once; its groups do not overlap. All sums are over cells, all at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from fairlib.auditing.tally import Tally, label_text, listed

EVERYONE_ELSE = "everyone else"
MOST_GROUPS = 50_000  # in one family


@dataclass(frozen=True, eq=False)
class Family:
    """The groups of one attribute, or of several crossed, and which of them is the reference, if any."""

    attributes: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]  # of each group, one name per attribute
    codes: np.ndarray  # of each cell
    reference: int | None = None
    source: np.ndarray | None = None  # of each cell, which cells belong together

    def __len__(self) -> int:
        return len(self.names)

    def total(self, values: np.ndarray) -> np.ndarray:
        """Sum `values` of cells in each group."""
        return np.bincount(self.codes, values, minlength=len(self))

    @cached_property
    def compared(self) -> np.ndarray:
        """Which groups are compared: all but the reference; of two only the first, the other being its mirror."""
        if self.reference is not None:
            return np.delete(np.arange(len(self)), self.reference)
        return np.arange(1) if len(self) == 2 else np.arange(len(self))

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The sources and groups that occur together, one entry per pair, and the pair of each cell."""
        pairs, place = np.unique(self.source * len(self) + self.codes, return_inverse=True)
        return *np.divmod(pairs, len(self)), place

    def others(self, per_group: np.ndarray) -> np.ndarray:
        """Sum over those that each compared group stands against: the reference, or everyone else."""
        if self.reference is not None:
            return np.full(len(self.compared), per_group[self.reference])
        return per_group.sum() - per_group[self.compared]

    @property
    def against(self) -> str:
        """Whom the groups are compared with, in words."""
        other = 1 if self.reference is None and len(self) == 2 else self.reference
        return EVERYONE_ELSE if other is None else spoken(self.attributes, self.names[other])


def families(tally: Tally, *, depth: int, reference: Mapping[str, object]) -> list[Family]:
    """Return one family per attribute, then per pair of attributes, and so on up to `depth` at once."""
    found = []
    for size in range(1, min(depth, len(tally.attributes)) + 1):
        for attributes in combinations(tally.attributes, size):
            family = _family(tally, attributes, reference)
            if len(family) > 1:  # else there is nobody to compare with
                found.append(family)
    if not found:
        held = {name: coded.names[0] for name, coded in tally.attributes.items()}
        name, value = next(iter(held.items()))
        raise ValueError(f"group: column {name!r} holds one group only, {value!r}; a comparison needs two or more")
    return found


def spoken(attributes: tuple[str, ...], names: tuple[str, ...]) -> str:
    """Write a group as "sex = female, race = black"; a name that could be taken for the next attribute in quotes."""
    names = tuple(repr(name) if " = " in name and len(names) > 1 else name for name in names)
    return ", ".join(f"{attribute} = {name}" for attribute, name in zip(attributes, names, strict=True))


def _family(tally: Tally, attributes: tuple[str, ...], reference: Mapping[str, object]) -> Family:
    coded = [tally.attributes[name] for name in attributes]
    codes, names = coded[0].codes, [(name,) for name in coded[0].names]
    for more in coded[1:]:  # one attribute after another, so that codes stay small even where names are many
        present, codes = np.unique(codes * len(more.names) + more.codes, return_inverse=True)
        pairs = (divmod(code, len(more.names)) for code in present.tolist())
        names = [(*names[before], more.names[after]) for before, after in pairs]
    if len(names) > MOST_GROUPS:
        crossed = " and ".join(map(repr, attributes))
        raise ValueError(
            f"group: {len(names):,} groups by {crossed}, more than {MOST_GROUPS:,}; put values into classes"
            + (", or look at the columns one by one (depth=1)" if len(attributes) > 1 else "")
        )
    chosen = None
    if all(name in reference for name in attributes):
        wanted = tuple(label_text(reference[name]) for name in attributes)
        if wanted in names:
            chosen = names.index(wanted)
        elif len(attributes) == 1:
            raise ValueError(
                f"reference: column {attributes[0]!r} has no group {wanted[0]!r}; it holds {listed(coded[0].names)}"
            )
    return Family(attributes, tuple(names), codes, chosen, tally.source)
