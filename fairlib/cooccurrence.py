"""How often attributes and tasks occur, alone and together: all that bias amplification needs to know of a data set.

Arrays have one row per example and hold 0 or 1 (predictions may hold probabilities), so that several attributes or
tasks may be there at once. Examples are read in blocks: no copy of the input is ever made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ROWS = 1 << 15  # examples converted at a time: bounds the memory, and keeps float32 counts exact


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
    whole = task.dtype.kind in "bui" and attribute.dtype.kind in "bui"
    kind = np.float32 if whole else np.float64
    in_attribute, in_task = np.zeros(attribute.shape[1]), np.zeros(task.shape[1])
    joint = np.zeros((attribute.shape[1], task.shape[1]))
    for a, t in blocks(attribute, task, kind=kind):
        in_attribute += a.sum(axis=0)
        in_task += t.sum(axis=0)
        joint += a.T @ t
    tasks, attributes = (tuple(getattr(values, "columns", ())) for values in named.values())
    return Counts(len(task), in_attribute, in_task, joint, attributes=attributes, tasks=tasks)


def blocks(*arrays: np.ndarray, kind=np.float64):
    """Yield the arrays' rows in blocks, converted to `kind`."""
    for start in range(0, len(arrays[0]), ROWS):
        yield tuple(array[start : start + ROWS].astype(kind, copy=False) for array in arrays)


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
            array = array.astype(float)
        except (TypeError, ValueError):
            raise ValueError(f"{argument} must be 0 or 1, found {array.ravel()[0]!r} among others") from None
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "buif":
        raise ValueError(f"{argument} must be n x columns of 0/1, found shape {array.shape} of {array.dtype}")
    if array.dtype.kind == "b":
        return array
    for start in range(0, len(array), ROWS):  # in blocks: no temporary of the array's own size
        block = array[start : start + ROWS]
        good = (block >= 0) & (block <= 1) if probabilities else (block == 0) | (block == 1)
        if not good.all():
            allowed = "probabilities in [0, 1]" if probabilities else "0 or 1"
            row = start + int((~good).any(axis=1).argmax())
            raise ValueError(f"{argument} must be {allowed}, found {block[~good][0]} (row {row})")
    return array


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
