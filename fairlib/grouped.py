"""Costs by group: from arrays or counts to the few sums that intervals for many groups need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True, eq=False)
class Groups:
    """Costs by group, in units of the largest possible cost, reduced to what an interval needs; k groups."""

    names: tuple
    size: np.ndarray  # (k,)
    total: np.ndarray  # (k,) the sum of the costs
    squares: np.ndarray  # (k,) the sum of their squares

    @property
    def mean(self) -> np.ndarray:
        """The mean cost of every group."""
        return self.total / self.size

    @property
    def zero_one(self) -> bool:
        """Whether every cost is 0 or the largest possible one."""
        return np.array_equal(self.total, self.squares)


def read(costs, totals=None, *, max_cost: float = 1.0) -> Groups:
    """Return groups from a mapping or a sequence of arrays of costs; or of counts of errors, with their totals."""
    if not 0 < max_cost < np.inf:
        raise ValueError(f"max_cost must be positive and finite, found {max_cost}")
    groups = _from_costs(costs, max_cost) if totals is None else _from_counts(costs, totals)
    if len(groups.names) < 2:
        raise ValueError(f"costs must have two groups or more, found {len(groups.names)}")
    return groups


def _named(values) -> dict:
    if isinstance(values, pd.Series):
        return dict(zip(values.index.tolist(), values.tolist(), strict=True))
    return dict(values) if isinstance(values, Mapping) else dict(enumerate(values))


def _from_counts(costs, totals) -> Groups:
    costs, totals = _named(costs), _named(totals)
    if costs.keys() != totals.keys():
        raise ValueError(f"costs and totals must have the same groups, found {len(costs)} and {len(totals)}")
    names = tuple(costs)
    total = np.array([costs[name] for name in names], dtype=float)
    size = np.array([totals[name] for name in names], dtype=float)
    wrong = ~((total >= 0) & (total <= size) & (size >= 1) & (total % 1 == 0) & (size % 1 == 0))
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(
            f"counts must be whole with 0 <= costs <= totals and totals >= 1; group {names[at]!r} has {total[at]:g} of "
            f"{size[at]:g}"
        )
    return Groups(names, size, total, total)


def _from_costs(costs, max_cost: float) -> Groups:
    rows = []
    for name, values in _named(costs).items():
        values = np.asarray(values, dtype=float)
        if values.ndim != 1 or len(values) == 0:
            raise ValueError(f"costs of group {name!r} must be a list of numbers, found shape {values.shape}")
        if not ((values >= 0) & (values <= max_cost)).all():
            raise ValueError(f"costs must lie in [0, {max_cost:g}]; group {name!r} has others or missing values")
        values = values / max_cost
        rows.append((name, len(values), values.sum(), (values**2).sum()))
    names, size, total, squares = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Groups(names, *(np.array(column, dtype=float) for column in (size, total, squares)))
