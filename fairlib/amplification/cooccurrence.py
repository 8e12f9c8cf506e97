"""How often attributes and tasks occur, alone and together: all that bias amplification needs to know of a data set.

Arrays have one row per example and hold 0 or 1 (predictions may hold probabilities), so that several attributes or
tasks may be there at once; they are read in blocks, without a copy.
"""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from fairlib.checks import checked

ROWS = (
    1 << 12
)  # examples read at a time: they stay in the processor's cache, and their float32 counts are exact


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
            values = checked(
                name,
                getattr(self, name),
                "counts of at least 0",
                lambda count: count >= 0,
            )
            object.__setattr__(self, name, values)
        shape = (self.attribute.size, self.task.size)
        if self.joint.shape != shape:
            raise ValueError(
                f"joint must have the shape |A| x |T| = {shape}, found {self.joint.shape}"
            )
        for name, size in zip(("attributes", "tasks"), shape, strict=True):
            names = tuple(getattr(self, name)) or tuple(range(size))
            if len(names) != size:
                raise ValueError(
                    f"{name} must name {size} columns, found {len(names)} names"
                )
            object.__setattr__(self, name, names)

    @property
    def task_given_attribute(self) -> np.ndarray:
        """P(T_t = 1 | A_a = 1), |A| x |T|; NaN where an attribute never occurs."""
        return _ratio(self.joint, self.attribute[:, None])

    @property
    def attribute_given_task(self) -> np.ndarray:
        """P(A_a = 1 | T_t = 1), |A| x |T|; NaN where a task never occurs."""
        return _ratio(self.joint, self.task[None, :])


def count(task, attribute, *, named=("task", "attribute"), weight=None) -> Counts:
    """Count how often each attribute and task occurs, alone and together. One matrix product, O(n |A| |T|).

    task, attribute : n x |T| and n x |A| of 0/1; a data frame lends its columns' names.
    named : what errors call them, as in `indicators`.
    weight : how many examples each row stands for, by default one.

    >>> count(task=[1, 1, 0], attribute=[[1, 0], [0, 1], [0, 1]], weight=[5, 1, 1]).joint.tolist()
    [[5.0], [1.0]]
    """
    tasks, attributes = (
        tuple(getattr(values, "columns", ())) for values in (task, attribute)
    )
    task, attribute = indicators(
        **dict(zip(named, (task, attribute), strict=True))
    ).values()
    exact = (
        weight is None and task.dtype.kind in "bui" and attribute.dtype.kind in "bui"
    )
    weight = np.ones(len(task)) if weight is None else np.asarray(weight)
    sums, products = (
        np.zeros(attribute.shape[1] + 1),
        np.zeros((attribute.shape[1] + 1, task.shape[1])),
    )
    for w, a, t in blocks(
        weight, attribute, task, kind=np.float32 if exact else np.float64
    ):
        weighted = np.column_stack([a * w[:, None], w])  # the last column: any example
        sums += weighted.sum(axis=0)
        products += weighted.T @ t
    return Counts(sums[-1], sums[:-1], products[-1], products[:-1], attributes, tasks)


def indicators(**named) -> dict[str, np.ndarray]:
    """Return the named arrays as n x columns of 0/1, or raise a `ValueError` that names the argument.

    One whose name ends in "_predicted" may hold probabilities, two may not. A vector becomes one column.
    """
    predicted = [name for name in named if name.endswith("_predicted")]
    arrays = {
        name: _matrix(name, values, probabilities=[name] == predicted)
        for name, values in named.items()
    }
    if len({len(array) for array in arrays.values()}) > 1:
        found = ", ".join(f"{name} {len(array)}" for name, array in arrays.items())
        raise ValueError(f"arrays must have one row per example, found {found} rows")
    return arrays


def blocks(*arrays: np.ndarray, kind=np.float64):
    """Yield the arrays' rows in blocks, converted to `kind`."""
    for start in range(0, len(arrays[0]), ROWS):
        yield tuple(
            array[start : start + ROWS].astype(kind, copy=False) for array in arrays
        )


def _matrix(name: str, values, *, probabilities: bool) -> np.ndarray:
    array, allowed = (
        np.asarray(values),
        "probabilities in [0, 1]" if probabilities else "0 or 1",
    )
    if array.dtype == object:  # columns of several types
        with suppress(TypeError, ValueError):
            array = array.astype(float)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "buif":
        raise ValueError(
            f"{name} must be n x columns of 0/1, found shape {array.shape} of {array.dtype}"
        )
    for start in (
        range(0, len(array), ROWS) if array.dtype.kind != "b" else ()
    ):  # in blocks, to need no large temporary
        block = array[start : start + ROWS]
        good = (
            (block >= 0) & (block <= 1)
            if probabilities
            else (block == 0) | (block == 1)
        )
        if not good.all():
            row, column = np.argwhere(~good)[0]
            place = (
                f"column {values.columns[column]!r}"
                if hasattr(values, "columns")
                else f"row {start + row}"
            )
            raise ValueError(
                f"{name} must be {allowed}, found {block[row, column]} ({place})"
            )
    return array


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
