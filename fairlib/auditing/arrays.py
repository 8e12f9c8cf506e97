"""Arrays as a table: `audit(y_true, y_pred, groups)` is read like any other table."""

from collections.abc import Mapping

import numpy as np
from pandas import DataFrame, Series

from fairlib.auditing.setting import ROLES, Columns


def table_of_arrays(
    groups, parts: Mapping[str, object], *, threshold: float
) -> tuple[DataFrame, Columns]:
    """Return a table that holds arrays, and which of its columns plays which part.

    Parameters
    ----------
    groups : array_like, DataFrame or mapping of str to array_like
        One array of groups, or several by name.
    parts : mapping of str to array_like or None
        The arrays that play the other parts.
    threshold : float
        From which probability on the class is predicted.

    Raises
    ------
    ValueError
        If the arrays differ in length, or one has not one dimension.
    """
    group_names = groups if isinstance(groups, Mapping) else ()
    group_names = getattr(groups, "columns", group_names)
    arrays = {str(name): groups[name] for name in group_names}
    if not arrays:
        arrays = {str(getattr(groups, "name", None) or "group"): groups}
    group = tuple(arrays)

    # A group may have the name of a part.
    names = {
        role: f"the {role}" if role in group else role
        for role in ROLES
        if parts.get(role) is not None
    }
    for role, name in names.items():
        arrays[name] = parts[role]

    _check_shapes(arrays)
    series = {name: _as_series(values) for name, values in arrays.items()}
    columns = Columns(group=group, threshold=threshold, **names)  # type: ignore[arg-type]
    return DataFrame(series), columns


def _check_shapes(arrays: Mapping) -> None:
    """Raise unless all arrays are of one length, and have one dimension."""
    if len({len(values) for values in arrays.values()}) > 1:
        lengths = ", ".join(
            f"{len(values):,} of {name}" for name, values in arrays.items()
        )
        raise ValueError(f"arrays must be of one length, found {lengths}")

    for name, values in arrays.items():
        if np.ndim(values) != 1:
            raise ValueError(
                f"{name}: an array must have one dimension, found {np.ndim(values)}"
            )


def _as_series(values) -> Series:
    """Return an array as a series of pandas whose index counts rows."""
    if hasattr(values, "to_pandas"):
        return Series(values.to_pandas()).reset_index(drop=True)
    return Series(values).reset_index(drop=True)
