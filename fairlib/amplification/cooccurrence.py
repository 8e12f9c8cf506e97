"""How often attributes and tasks occur, alone and together: all that bias amplification needs to know of a data set.

Arrays have one row per example and hold 0 or 1 (predictions may hold probabilities), so that several attributes or
tasks may be there at once; they are read in blocks, without a copy. Columns of a table are summed by its engine.
"""

import warnings
from contextlib import suppress
from dataclasses import dataclass

import narwhals as nw
import numpy as np
import pandas as pd

from fairlib import tables
from fairlib.checks import checked

ALLOWED = {False: "0 or 1", True: "probabilities in [0, 1]"}
LABELS = ("task", "attribute")
ROWS = 1 << 12  # examples read at a time: they stay in the processor's cache, and their float32 counts are exact


@dataclass(frozen=True)
class Counts:
    """How many of `n` examples have each attribute (|A|), each task (|T|), and both at once (|A| x |T|).

    Counts may be sums of weights or of probabilities, or rates: with `joint` P(T = 1 | A = 1), `attribute` is all ones.
    `attributes` and `tasks` are names, by default numbers.

    >>> women_and_men = Counts(n=100, attribute=[40, 60], task=[50], joint=[[30], [20]], tasks=["painting"])
    >>> women_and_men.task_given_attribute.tolist()
    [[0.75], [0.3333333333333333]]
    """

    n: float
    attribute: np.ndarray
    task: np.ndarray
    joint: np.ndarray
    attributes: tuple = ()
    tasks: tuple = ()

    def __post_init__(self) -> None:
        for name in ("attribute", "task", "joint"):
            values = checked(name, getattr(self, name), "counts of at least 0", lambda count: count >= 0)
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


def count(task, attribute, *, named=LABELS, probabilities=True) -> Counts:
    """Count how often each attribute and task occurs, alone and together. One matrix product, O(n |A| |T|).

    task, attribute : n x |T| and n x |A| of 0/1; a data frame lends its columns' names.
    named : what errors call them. probabilities : as in `indicators`.

    >>> count(task=[1, 1, 0], attribute=[[1, 0], [0, 1], [0, 1]]).joint.tolist()
    [[1.0], [1.0]]
    """
    tasks, attributes = (tuple(getattr(values, "columns", ())) for values in (task, attribute))
    both = dict(zip(named, (task, attribute), strict=True))
    task, attribute = indicators(probabilities=probabilities, **both).values()
    kind = np.float32 if task.dtype.kind in "bui" and attribute.dtype.kind in "bui" else np.float64
    in_attribute, product = np.zeros(attribute.shape[1]), np.zeros((attribute.shape[1] + 1, task.shape[1]))
    for a, t in blocks(attribute, task, kind=kind):
        in_attribute += a.sum(axis=0)
        product += np.column_stack([a, np.ones(len(a), kind)]).T @ t  # the last row: how often each task
    return Counts(len(task), in_attribute, product[-1], product[:-1], attributes, tasks)


def count_columns(table, task, attribute, *, named=LABELS, count=None) -> Counts:
    """Count columns of any table that `tables` reads: one row per combination of labels leaves its engine.

    task, attribute : names of columns of 0/1; in `named` as in `count`, "_predicted" ones may hold probabilities.
    count : column with the number of examples that a row stands for.
    """
    columns = [[names] if isinstance(names, str) else list(names) for names in (task, attribute)]
    known = tables.schema(table)
    for role, name in ((role, name) for role, names in zip(named, columns, strict=True) for name in names):
        tables.check_is_number(known, role, name, besides=(nw.Boolean, nw.Object))
    given = 0 if named[1].endswith("_predicted") else 1  # the tasks, or else the attributes
    labels, summed, probabilities = columns[given], columns[1 - given], named != LABELS
    weight = nw.lit(1.0) if count is None else nw.col(count).cast(nw.Float64)
    totals = {tables.COUNT: tables.cases(count)}
    for name in summed:
        number = nw.col(name).cast(nw.Float64)
        value = nw.when(_good(number, probabilities)).then(number * weight).otherwise(np.inf)  # the sum will tell
        totals[f"sum of {name}"] = tables.Total(value)
    with warnings.catch_warnings():  # narwhals makes a wide frame of pandas column by column
        warnings.simplefilter("ignore", pd.errors.PerformanceWarning)
        found = tables.reduce(table, labels, totals, uses=summed, count=count)
    if found.empty:
        raise ValueError("the table has no rows, or all of them stand for 0 examples")
    n, sums = found[tables.COUNT].to_numpy(dtype=float), found[[f"sum of {name}" for name in summed]].to_numpy()
    if wrong := [name for name, total in zip(summed, sums.sum(axis=0), strict=True) if total == np.inf]:
        raise ValueError(f"column {wrong[0]!r} must hold {ALLOWED[probabilities]}, found other or missing values")
    label = _matrix(named[given], found[labels], False).astype(float)
    if given:
        return Counts(n.sum(), n @ label, sums.sum(axis=0), label.T @ sums, *columns[::-1])
    return Counts(n.sum(), sums.sum(axis=0), n @ label, sums.T @ label, *columns[::-1])


def indicators(*, probabilities=True, **named) -> dict[str, np.ndarray]:
    """Return the named arrays as n x columns of 0/1, or raise a `ValueError` that names the argument.

    probabilities : whether those that end in "_predicted" may hold probabilities. A vector becomes one column.
    """
    arrays = {name: _matrix(name, values, probabilities) for name, values in named.items()}
    if len({len(array) for array in arrays.values()}) > 1:
        found = ", ".join(f"{name} {len(array)}" for name, array in arrays.items())
        raise ValueError(f"arrays must have one row per example, found {found} rows")
    return arrays


def blocks(*arrays: np.ndarray, kind=np.float64):
    """Yield the arrays' rows in blocks, converted to `kind`."""
    for start in range(0, len(arrays[0]), ROWS):
        yield tuple(array[start : start + ROWS].astype(kind, copy=False) for array in arrays)


def _matrix(name: str, values, probabilities: bool) -> np.ndarray:
    array, probabilities = np.asarray(values), probabilities and name.endswith("_predicted")
    if array.dtype == object:  # columns of several types
        with suppress(TypeError, ValueError):
            array = array.astype(float)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "buif":
        raise ValueError(f"{name} must be n x columns of 0/1, found shape {array.shape} of {array.dtype}")
    for start in range(0, len(array), ROWS) if array.dtype.kind != "b" else ():  # in blocks, to need no large temporary
        block = array[start : start + ROWS]
        if not (good := _good(block, probabilities)).all():
            row = start + int((~good).any(axis=1).argmax())
            raise ValueError(f"{name} must be {ALLOWED[probabilities]}, found {block[~good][0]} (row {row})")
    return array


def _good(values, probabilities: bool):
    return (values >= 0) & (values <= 1) if probabilities else (values == 0) | (values == 1)


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
