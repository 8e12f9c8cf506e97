"""How often attributes and tasks occur, alone and together.

These counts are all that bias amplification needs to know of a data set. Arrays have
one row per example and hold 0 or 1; one array of predictions may hold probabilities
instead. Several attributes or tasks may be 1 at once. Arrays are read in blocks,
without a copy of the whole.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike, DTypeLike

from fairlib.checks import checked

# A block of this size stays in the processor's cache, and its counts are exact in
# float32.
_ROWS_PER_BLOCK = 1 << 12


@dataclass(frozen=True)
class Counts:
    """How many examples have each attribute, each task, and both at once.

    Counts may also be sums of weights or of probabilities. They may be rates: with `n`
    and `attribute` equal to 1, `joint` is P(T = 1 | A = 1).

    Parameters
    ----------
    n : float
        Number of examples.
    attribute : array_like of float, |A|
        Number of examples with each attribute.
    task : array_like of float, |T|
        Number of examples with each task.
    joint : array_like of float, |A| x |T|
        Number of examples with each attribute and task at once.
    attributes, tasks : tuple, optional
        Names of the attributes and of the tasks, by default numbers.

    Examples
    --------
    >>> women_and_men = Counts(
    ...     n=100,
    ...     attribute=[40, 60],
    ...     task=[50],
    ...     joint=[[30], [20]],
    ...     tasks=["painting"],
    ... )
    >>> women_and_men.task_given_attribute.tolist()
    [[0.75], [0.3333333333333333]]
    """

    n: float
    attribute: ndarray
    task: ndarray
    joint: ndarray
    attributes: tuple = ()
    tasks: tuple = ()

    def __post_init__(self) -> None:
        for field in ("attribute", "task", "joint"):
            values = checked(
                field,
                getattr(self, field),
                "counts of at least 0",
                lambda count: count >= 0,
            )
            object.__setattr__(self, field, values)

        shape = (self.attribute.size, self.task.size)
        if self.joint.shape != shape:
            raise ValueError(
                f"joint must have the shape |A| x |T| = {shape}, "
                f"found {self.joint.shape}"
            )

        for field, size in zip(("attributes", "tasks"), shape, strict=True):
            names = tuple(getattr(self, field)) or tuple(range(size))
            if len(names) != size:
                raise ValueError(
                    f"{field} must name {size} columns, found {len(names)} names"
                )
            object.__setattr__(self, field, names)

    @property
    def task_given_attribute(self) -> ndarray:
        """P(T_t = 1 | A_a = 1), |A| x |T|; NaN where an attribute never occurs."""
        return _ratio(self.joint, self.attribute[:, None])

    @property
    def attribute_given_task(self) -> ndarray:
        """P(A_a = 1 | T_t = 1), |A| x |T|; NaN where a task never occurs."""
        return _ratio(self.joint, self.task[None, :])


def count(
    task: ArrayLike,
    attribute: ArrayLike,
    *,
    named: tuple[str, str] = ("task", "attribute"),
    weight: ArrayLike | None = None,
) -> Counts:
    """Count how often each attribute and each task occurs, alone and together.

    Parameters
    ----------
    task : array_like, n x |T|
        0 or 1 per example and task. A data frame also names its columns.
    attribute : array_like, n x |A|
        0 or 1 per example and attribute. A data frame also names its columns.
    named : (str, str), default ("task", "attribute")
        What errors call the two arrays. An array whose name ends in "_predicted" may
        hold probabilities, unless both names do.
    weight : array_like of float, optional
        How many examples each row stands for, by default 1.

    Returns
    -------
    Counts
        The counts, with the names of the columns.

    Notes
    -----
    The cost is that of one matrix product, O(n |A| |T|).

    Examples
    --------
    >>> woman_or_man = [[1, 0], [0, 1], [0, 1]]
    >>> count(task=[1, 1, 0], attribute=woman_or_man, weight=[5, 1, 1]).joint.tolist()
    [[5.0], [1.0]]
    """
    tasks, attributes = indicators(dict(zip(named, (task, attribute), strict=True)))

    # Whole numbers below 2^24 are exact in float32, and so are the counts of a block.
    all_whole = tasks.dtype.kind in "bui" and attributes.dtype.kind in "bui"
    if weight is None:
        weights = np.ones(len(tasks))
        kind = np.float32 if all_whole else np.float64
    else:
        weights = np.asarray(weight)
        kind = np.float64

    # The last row of the sums is about any example, whatever its attributes.
    rows = attributes.shape[1] + 1
    sums = np.zeros(rows)
    products = np.zeros((rows, tasks.shape[1]))
    for w, a, t in blocks(weights, attributes, tasks, kind=kind):
        weighted = np.column_stack([a * w[:, None], w])
        sums += weighted.sum(axis=0)
        products += weighted.T @ t

    return Counts(
        n=sums[-1],
        attribute=sums[:-1],
        task=products[-1],
        joint=products[:-1],
        attributes=tuple(getattr(attribute, "columns", ())),
        tasks=tuple(getattr(task, "columns", ())),
    )


def indicators(named: Mapping[str, ArrayLike]) -> list[ndarray]:
    """Return arrays of 0 and 1 as matrices, or raise an error that names the array.

    Parameters
    ----------
    named : mapping of str to array_like
        The arrays by the names that errors give them. If exactly one name ends in
        "_predicted", that array may hold probabilities: their products with 0 and 1
        have a meaning, which products of two probabilities have not.

    Returns
    -------
    list of ndarray
        The arrays in the same order, n x columns. A vector becomes one column.

    Raises
    ------
    ValueError
        If an array holds anything else, or if the arrays differ in their rows.
    """
    predicted = [name for name in named if name.endswith("_predicted")]
    matrices = [
        _matrix(name, values, probabilities=predicted == [name])
        for name, values in named.items()
    ]

    lengths = {name: len(matrix) for name, matrix in zip(named, matrices, strict=True)}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"arrays must have one row per example, found {listed} rows")
    return matrices


def blocks(
    *arrays: ndarray, kind: DTypeLike = np.float64
) -> Iterator[tuple[ndarray, ...]]:
    """Yield the rows of the arrays in blocks, converted to the type `kind`."""
    for start in range(0, len(arrays[0]), _ROWS_PER_BLOCK):
        end = start + _ROWS_PER_BLOCK
        yield tuple(array[start:end].astype(kind, copy=False) for array in arrays)


def _matrix(name: str, values: ArrayLike, *, probabilities: bool) -> ndarray:
    """Return an array as a matrix that holds 0 and 1, or probabilities."""
    array = np.asarray(values)

    # Columns of several types make an array of objects, which may all be numbers.
    if array.dtype == object:
        with suppress(TypeError, ValueError):
            array = array.astype(float)

    matrix = array[:, None] if array.ndim == 1 else array
    if matrix.ndim != 2 or 0 in matrix.shape or matrix.dtype.kind not in "buif":
        raise ValueError(
            f"{name} must be n x columns of 0/1, "
            f"found shape {matrix.shape} of {matrix.dtype}"
        )

    if matrix.dtype.kind != "b":
        columns = getattr(values, "columns", None)
        _check_range(name, matrix, columns, probabilities=probabilities)
    return matrix


def _check_range(
    name: str, matrix: ndarray, columns: Sequence | None, *, probabilities: bool
) -> None:
    """Raise an error for the first value that is not 0, 1 or a probability."""
    allowed = "probabilities in [0, 1]" if probabilities else "0 or 1"

    # One block after the other needs no large temporary array.
    for start in range(0, len(matrix), _ROWS_PER_BLOCK):
        block = matrix[start : start + _ROWS_PER_BLOCK]
        if probabilities:
            good = (block >= 0) & (block <= 1)
        else:
            good = (block == 0) | (block == 1)

        if not good.all():
            row, column = np.argwhere(~good)[0]
            place = f"row {start + row}"
            if columns is not None:
                place = f"column {columns[column]!r}"
            raise ValueError(
                f"{name} must be {allowed}, found {block[row, column]} ({place})"
            )


def _ratio(part: ndarray, whole: ndarray) -> ndarray:
    """Divide; where the whole is 0, the ratio is NaN."""
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)


def calibrated_threshold(scores: ArrayLike, positive_rate: float) -> float:
    """Return the threshold that marks the right share of examples as positive.

    `scores >= threshold` marks the N p highest of N scores. Where equal scores make
    that number impossible, it marks the number that comes nearest.

    Parameters
    ----------
    scores : array_like of float
        The scores, of validation data.
    positive_rate : float
        p, the share to mark: that of the positive labels in the training data.

    Returns
    -------
    float
        The threshold; infinity if nothing is to be marked.

    Notes
    -----
    The cost is that of sorting, O(N log N).

    References
    ----------
    Wang and Russakovsky (2021), section 3.3.

    Examples
    --------
    >>> calibrated_threshold([0.1, 0.9, 0.4, 0.8], positive_rate=0.5)
    0.8
    """
    numbers = np.asarray(scores, dtype=float)
    if numbers.ndim != 1 or numbers.size == 0 or np.isnan(numbers).any():
        raise ValueError(
            "scores must be a non-empty vector without NaN, "
            f"found shape {numbers.shape}"
        )
    checked(
        "positive_rate",
        positive_rate,
        "in [0, 1]",
        lambda rate: (rate >= 0) & (rate <= 1),
    )

    # A threshold at each distinct score, and one above them all that marks nothing.
    values, counts = np.unique(numbers, return_counts=True)
    thresholds = np.append(values, np.inf)
    marked = np.append(np.cumsum(counts[::-1])[::-1], 0)

    wanted = round(positive_rate * numbers.size)
    nearest = np.abs(marked - wanted).argmin()
    return float(thresholds[nearest])
