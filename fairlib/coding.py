"""From columns to codes: kinds of row and their number, groups and classes, and the probabilities of classes.

What `examples.read` is made of. Bad columns raise a ValueError that names them.
"""

from __future__ import annotations

import narwhals as nw
import numpy as np
import pandas as pd

from fairlib import tables
from fairlib.tables import COUNT, listed

ROUNDING = 1e-3  # how far probabilities, often stored with few digits, may be from summing to 1


def probability_columns(pattern: str, known) -> dict[str, str]:
    """Return the columns that fit a pattern such as "p_{}", by the text that stands for the class."""
    if pattern.count("{}") != 1:
        raise ValueError(f"probability must be a pattern with one '{{}}' for the class, found {pattern!r}")
    before, after = pattern.split("{}")
    middles = {str(name)[len(before) : len(str(name)) - len(after)]: name for name in known}
    return {text: name for text, name in middles.items() if text and str(name) == before + text + after}


def kinds(table, by: list[str], probabilities: list, count: str | None, bins: int | None) -> pd.DataFrame:
    """Return one row per kind of example, with its `COUNT`; or per example, where hardly any two are alike."""
    known = tables.schema(table)
    totals, derived, keys = {COUNT: tables.cases(count)}, {}, probabilities
    for name in probabilities:
        tables.check_is_number(known, "probability", name)
    if bins and probabilities:
        keys = [f"fairlib: bin of {name}" for name in probabilities]
        numbers = {name: nw.col(name).cast(nw.Float64) for name in probabilities}
        for name, key in zip(probabilities, keys, strict=True):
            derived[key] = (numbers[name] * bins).floor().clip(0, bins - 1)
            totals |= tables.range_of(name)
    found = tables.reduce(table, [*by, *keys], totals, derived=derived, uses=probabilities if bins else (), count=count)
    for name, key in zip(probabilities, keys, strict=True):
        if bins:
            tables.check_range(found, name, highest=1 + ROUNDING, allowed="lie in [0, 1]")
            found[name] = (found[key] + 0.5) / bins
    if found[COUNT].sum() <= 2 * len(found):
        found = found.loc[found.index.repeat(found[COUNT])].assign(**{COUNT: 1})
    return found.reset_index(drop=True)


def column(frame: pd.DataFrame, name: str) -> pd.Series | None:
    """Return a column without missing values; None if the table lacks it."""
    if name not in frame.columns:
        return None
    if (lacking := frame[name].isna()).any():
        missing = int(frame.loc[lacking, COUNT].sum()) if COUNT in frame else int(lacking.sum())
        raise ValueError(f"column {name!r} has {missing} missing value(s); every example needs one")
    return frame[name]


def owners(source: np.ndarray, group: np.ndarray) -> np.ndarray | None:
    """Return the group of each source, or None if some source has examples of several groups."""
    owner = np.zeros(int(source.max()) + 1, dtype=np.int64)
    owner[source] = group
    return owner if np.array_equal(owner[source], group) else None


def codes(column: pd.Series) -> tuple[np.ndarray, tuple]:
    """Return codes and names: in the order of the categories, or sorted."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        used = column.cat.remove_unused_categories()
        return used.cat.codes.to_numpy(dtype=np.int64), tuple(used.cat.categories.tolist())
    try:
        codes, names = pd.factorize(column, sort=True)
    except (TypeError, NotImplementedError):  # values of several types have no order of their own, half floats no index
        names = pd.Index(_ordered(column.unique().tolist()), dtype=object)
        codes = names.get_indexer(column.astype(object))
    return codes.astype(np.int64), tuple(names.tolist())


def classes(
    frame: pd.DataFrame, seen: dict[str, list], columns: dict, names: dict, rounded: float
) -> tuple[list, np.ndarray | None]:
    """Return all classes in order, and their probabilities, one column per class, where the frame has them."""
    distinct = dict.fromkeys(name for found in seen.values() for name in found)  # 1, 1.0 and True are one class
    spelled = {str(name): name for name in distinct}
    if twins := [name for name in distinct if name is not spelled[str(name)]]:
        raise ValueError(
            f"columns {listed(names[role] for role in seen)} hold the class {twins[0]!r} and another, "
            f"{spelled[str(twins[0])]!r}, that is written alike; make them of one type"
        )
    if not columns:
        return _ordered(distinct), None
    known = [spelled.get(text, text) for text in columns]
    if len(known) == 1 and len({*spelled.values(), *known}) == 2:
        (missing,) = {*spelled.values()} - {*known}
        known.append(missing)
    for role, found in seen.items():
        if strange := [name for name in found if name not in known]:
            raise ValueError(
                f"column {names[role]!r} holds {listed(strange)}, which is no class: the classes, "
                f"{listed(known)}, are those with a probability column"
            )
    order = _ordered(known)
    if not set(columns.values()) <= set(frame.columns):
        return order, None
    matrix = frame[list(columns.values())].to_numpy(dtype=float)
    if not np.isfinite(matrix).all() or matrix.min() < 0 or matrix.max() > 1 + ROUNDING:
        bad = (~np.isfinite(matrix) | (matrix < 0) | (matrix > 1 + ROUNDING)).any(axis=0)
        worst = [name for name, wrong in zip(columns.values(), bad, strict=True) if wrong]
        raise ValueError(f"probabilities must lie in [0, 1]; column(s) {listed(worst)} hold others or missing values")
    if len(known) > len(columns):
        matrix = np.column_stack([matrix, 1 - matrix])
    elif (off := np.abs(matrix.sum(axis=1) - 1)).max() > ROUNDING + rounded * matrix.shape[1]:
        row = int(off.argmax())
        raise ValueError(
            f"probabilities must sum to 1 over the classes {listed(known)}; {np.count_nonzero(off > ROUNDING)} kind(s) "
            f"of row do not (one sums to {matrix[row].sum():.4f})"
        )
    return order, matrix[:, [known.index(name) for name in order]]


def _ordered(values) -> list:
    try:
        return sorted(values)
    except TypeError:  # names of several types have no order of their own
        return sorted(values, key=str)
