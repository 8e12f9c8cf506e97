"""What `clusters` is given: checked, and put on a scale from 0 to 1."""

import numpy as np
import pandas as pd
from numpy import ndarray
from numpy.typing import ArrayLike

from fairlib.checks import checked, shown

Ends = tuple[ndarray, ndarray]


def checked_sums(
    n: ArrayLike,
    k: ArrayLike,
    *,
    names: tuple[str, str],
    bounds: tuple[float, float],
) -> tuple[ndarray, ndarray]:
    """Return sizes, and sums on a scale from 0 to 1."""
    name_n, name_k = names
    lowest, highest = checked_bounds(bounds)
    sizes = checked(name_n, n, "finite and at least 0", lambda size: size >= 0)
    sums = checked(name_k, k, "finite", np.isfinite)
    if sizes.ndim == 0 or sizes.shape != sums.shape:
        raise ValueError(
            f"{name_n} and {name_k} must be arrays of one shape, with an axis for the "
            f"clusters, found shapes {sizes.shape} and {sums.shape}"
        )

    # Sums of many floats are known up to rounding.
    scaled = (sums - lowest * sizes) / (highest - lowest)
    slack = 1e-9 * np.maximum(sizes, 1e-3)
    is_possible = (scaled >= -slack) & (scaled <= sizes + slack)
    if not is_possible.all():
        raise ValueError(
            f"{name_k} must be sums of {name_n} values in [{lowest:g}, {highest:g}], "
            f"found {shown(sums[~is_possible])} for {shown(sizes[~is_possible])} values"
        )
    return sizes, np.clip(scaled, 0, sizes)


def checked_bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the lowest and the highest possible value."""
    ends = checked("bounds", bounds, "two finite numbers", np.isfinite)
    if ends.shape != (2,) or ends[0] >= ends[1]:
        raise ValueError(
            f"bounds must be two numbers, the lower one first, found {bounds!r}"
        )
    return float(ends[0]), float(ends[1])


def on_scale(ends: ndarray, bounds: tuple[float, float]) -> ndarray:
    """Return ends on the scale of the values, from ends on a scale from 0 to 1."""
    lowest, highest = bounds
    return lowest + (highest - lowest) * ends


def examples(
    values: ArrayLike, clusters: ArrayLike, bounds: tuple[float, float]
) -> tuple[ndarray, ndarray]:
    """Return the values, and the number of the cluster of each."""
    for name, column in (("values", values), ("clusters", clusters)):
        if np.ndim(column) != 1:
            raise ValueError(
                f"{name} must be a list with one entry for each example, "
                f"found shape {np.shape(column)}"
            )

    # pandas knows all that stands for a missing value: None, NaN, NA, and masks.
    columns = {"values": pd.Series(values), "clusters": pd.Series(clusters)}
    lengths = [len(column) for column in columns.values()]
    if lengths[0] != lengths[1]:
        raise ValueError(
            "values and clusters must have one length, "
            f"found {lengths[0]} and {lengths[1]}"
        )

    for name, column in columns.items():
        missing = int(column.isna().sum())
        if missing > 0:
            raise ValueError(
                f"{name} must not be missing, found {missing} missing of {lengths[0]}"
            )

    if not columns["values"].index.equals(columns["clusters"].index):
        raise ValueError(
            "values and clusters must have the same index, "
            "found two Series whose indexes differ"
        )

    lowest, highest = checked_bounds(bounds)
    value = checked(
        "values",
        columns["values"],
        f"in [{lowest:g}, {highest:g}]",
        lambda value: (value >= lowest) & (value <= highest),
    )
    codes, _ = pd.factorize(columns["clusters"])
    return value, codes
