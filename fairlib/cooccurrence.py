"""How often attributes and tasks occur, alone and together: all that bias amplification needs to know of a data set.

Arrays have one row per example and hold 0 or 1 (predictions may hold probabilities), so that several attributes or
tasks may be there at once. Examples are read in blocks: no copy of the input is ever made. Columns of a table that an
engine holds are counted there.
"""

from __future__ import annotations

from dataclasses import dataclass

import narwhals as nw
import numpy as np
import pandas as pd

from fairlib import tables

ROWS = 1 << 15  # examples converted at a time: bounds the memory
CACHED = 1 << 12  # examples multiplied at a time: they stay in the processor's cache, and float32 counts are exact


@dataclass(frozen=True)
class Counts:
    """How many of `n` examples have each attribute (|A|), each task (|T|), and both at once (|A| x |T|).

    Counts may be sums of weights or of probabilities, or rates: with `joint` P(T = 1 | A = 1), `attribute` is all ones.
    """

    n: float
    attribute: np.ndarray
    task: np.ndarray
    joint: np.ndarray
    attributes: tuple = ()  # names
    tasks: tuple = ()

    def __post_init__(self) -> None:
        for name in ("attribute", "task", "joint"):
            values = np.asarray(getattr(self, name), dtype=float)
            if not np.all(values >= 0):  # also False for NaN
                raise ValueError(f"{name} must be counts of at least 0, found {values[~(values >= 0)][0]}")
            object.__setattr__(self, name, values)
        shape = (self.attribute.size, self.task.size)
        if self.joint.shape != shape:
            raise ValueError(f"joint must have the shape |A| x |T| = {shape}, found {self.joint.shape}")
        for name, size in zip(("attributes", "tasks"), shape, strict=True):
            names = tuple(getattr(self, name)) or tuple(range(size))
            if len(names) != size:
                raise ValueError(f"{name} must name {size} columns, found {len(names)} names")
            object.__setattr__(self, name, names)

    @property
    def task_given_attribute(self) -> np.ndarray:
        """P(T_t = 1 | A_a = 1), |A| x |T|; NaN where an attribute never occurs."""
        return _ratio(self.joint, self.attribute[:, None])

    @property
    def attribute_given_task(self) -> np.ndarray:
        """P(A_a = 1 | T_t = 1), |A| x |T|; NaN where a task never occurs."""
        return _ratio(self.joint, self.task[None, :])


def count(task, attribute) -> Counts:
    """Count how often each attribute and task occurs, alone and together. One matrix product, O(n |A| |T|).

    task, attribute : n x |T| and n x |A| of 0/1; a data frame lends its columns' names.
    """
    return count_named(task=task, attribute=attribute)


def count_named(*, probabilities=True, **named) -> Counts:
    """Count a task and an attribute array, in this order; the keywords name the arguments in what goes wrong.

    probabilities : whether those that end in "_predicted" may hold probabilities, which are summed.
    """
    arrays = indicators(probabilities=probabilities, **named)
    task, attribute = arrays.values()
    in_attribute, in_task, joint = _products(attribute, task)
    tasks, attributes = (tuple(getattr(values, "columns", ())) for values in named.values())
    return Counts(len(task), in_attribute, in_task, joint, attributes=attributes, tasks=tasks)


def count_columns(table, *, task, attribute, count: str | None = None, probabilities: bool = False) -> Counts:
    """Count columns of any table that `tables` reads; where an engine holds it, only sums come back.

    task, attribute : names of columns of 0/1. count : column with the number of examples that a row stands for.
    probabilities : whether the columns may hold probabilities, which are summed.
    """
    task, attribute = ([names] if isinstance(names, str) else list(names) for names in (task, attribute))
    weights, known = [count] if count else [], tables.schema(table)
    for role, names in {"task": task, "attribute": attribute, "count": weights}.items():
        for name in names:
            tables.check_is_number(known, role, name, besides=(nw.Boolean, nw.Object) if role != "count" else ())
    sizes = np.cumsum([1, len(attribute), len(task)])
    total = np.zeros(sizes[-1] + len(attribute) * len(task))
    for part in tables.parts(table, dict.fromkeys([*task, *attribute, *weights])):
        lazy = isinstance(part, nw.LazyFrame)
        if lazy or len(part):
            total += (_sums_in_engine if lazy else _sums_of_arrays)(part, task, attribute, count, probabilities)
    (n,), in_attribute, in_task, joint = np.split(total, sizes)
    if not n > 0:
        raise ValueError("the table has no rows, or all of them stand for 0 examples")
    return Counts(
        float(n), in_attribute, in_task, joint.reshape(len(attribute), len(task)), tuple(attribute), tuple(task)
    )


def _sums_in_engine(part: nw.LazyFrame, task, attribute, count, probabilities: bool) -> np.ndarray:
    """Return n, the sums of the attributes and of the tasks, and those of their products, from one query."""
    weight = nw.lit(1.0) if count is None else nw.col(count).cast(nw.Float64)
    number = {name: nw.col(name).cast(nw.Float64) for name in dict.fromkeys([*attribute, *task])}
    values = [weight, *(number[name] * weight for name in [*attribute, *task])]
    values += [number[a] * number[t] * weight for a in attribute for t in task]
    sums = {f"fairlib: sum {place}": tables.Total(value) for place, value in enumerate(values)}
    checks = {name: total for column in number for name, total in tables.range_of(column).items()}
    between = {f"fairlib: between {name}": tables.Total(value * (1 - value), "max") for name, value in number.items()}
    uses = [*number, *([count] if count else [])]
    found = tables.reduce(part, [], sums | checks | between, uses=uses, count=count)
    for name in number:
        allowed = "hold probabilities in [0, 1]" if probabilities else "hold 0 or 1"
        tables.check_range(found, name, highest=1, allowed=allowed)
        if not probabilities and found[f"fairlib: between {name}"][0] > 0:
            raise ValueError(f"column {name!r} must {allowed}, found others in between")
    return found[list(sums)].to_numpy(dtype=float)[0]


def _sums_of_arrays(part: nw.DataFrame, task, attribute, count, probabilities: bool) -> np.ndarray:
    """Return the same from matrix products, which are faster where the rows are in memory."""
    end = "_predicted" if probabilities else ""
    named = {f"task{end}": part.select(task).to_numpy(), f"attribute{end}": part.select(attribute).to_numpy()}
    t, a = indicators(**named).values()
    weight = None if count is None else tables.whole_numbers(part, count)
    n = len(t) if weight is None else weight.sum()
    return np.concatenate([[n], *(sums.ravel() for sums in _products(a, t, weight))])


def _products(attribute: np.ndarray, task: np.ndarray, weight: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
    """Return how often each attribute, each task, and both of them occur; each row counts `weight` times."""
    whole = weight is None and task.dtype.kind in "bui" and attribute.dtype.kind in "bui"
    kind = np.float32 if whole else np.float64
    in_attribute, product = np.zeros(attribute.shape[1]), np.zeros((attribute.shape[1] + 1, task.shape[1]))
    weights = () if weight is None else (weight,)
    for a, t, *w in blocks(attribute, task, *weights, kind=kind, rows=CACHED):
        a = np.column_stack([a, np.ones(len(a), kind)])  # with a column for everybody: how often each task
        if w:
            a *= w[0][:, None]
        in_attribute += a[:, :-1].sum(axis=0)
        product += a.T @ t
    return in_attribute, product[-1], product[:-1]


def blocks(*arrays: np.ndarray, kind=np.float64, rows: int = ROWS):
    """Yield the arrays' rows in blocks, converted to `kind`."""
    for start in range(0, len(arrays[0]), rows):
        yield tuple(array[start : start + rows].astype(kind, copy=False) for array in arrays)


def indicators(*, probabilities=True, **named) -> dict[str, np.ndarray]:
    """Return the named arrays as n x columns of 0/1, or raise a `ValueError` that names the argument.

    probabilities : whether those that end in "_predicted" may hold probabilities. A vector becomes one column.
    """
    arrays = {
        argument: _matrix(values, argument, probabilities and argument.endswith("_predicted"))
        for argument, values in named.items()
    }
    if len({len(array) for array in arrays.values()}) > 1:
        found = ", ".join(f"{name} {len(array)}" for name, array in arrays.items())
        raise ValueError(f"arrays must have one row per example, found {found} rows")
    return arrays


def _matrix(values, argument: str, probabilities: bool) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype == object:
        try:
            array = np.where(pd.isna(array), np.nan, array).astype(float)
        except (TypeError, ValueError):
            raise ValueError(f"{argument} must be 0 or 1, found {array.ravel()[0]!r} among others") from None
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "buif":
        raise ValueError(f"{argument} must be n x columns of 0/1, found shape {array.shape} of {array.dtype}")
    if array.dtype.kind == "b":
        return array
    for start in range(0, len(array), ROWS):  # in blocks: no temporary of the array's own size
        block = array[start : start + ROWS]
        if (probabilities or array.dtype.kind in "ui") and block.min() >= 0 and block.max() <= 1:
            continue  # the extremes are enough, and cheap
        good = (block >= 0) & (block <= 1) if probabilities else (block == 0) | (block == 1)
        if not good.all():
            allowed = "probabilities in [0, 1]" if probabilities else "0 or 1"
            row = start + int((~good).any(axis=1).argmax())
            raise ValueError(f"{argument} must be {allowed}, found {block[~good][0]} (row {row})")
    return array


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
