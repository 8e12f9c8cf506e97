"""Arrays as a table: `audit(y_true, y_pred, groups)` is read like any other table."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from pandas import DataFrame, Series
from pandas.api.types import infer_dtype

from fairlib.auditing.setting import ROLES, Columns


def table_of(
    frame, *, y_true, y_pred, groups, group, parts: Mapping[str, object], threshold
) -> tuple[object, Columns]:
    """Return the table of an audit, and which of its columns plays which part.

    Parameters
    ----------
    frame : frame, path or array_like
        A table, or what `y_true` stands for if there are groups.
    y_true, y_pred : array_like or None
        The true and the predicted classes, if there is no table.
    groups : array_like, DataFrame, mapping or None
        The groups, if there is no table.
    group : str, sequence of str or None
        The columns of groups, if there is a table.
    parts : mapping of str to str or array_like
        The columns that play the other parts, or arrays.
    threshold : float
        From which probability on the class is predicted.

    Raises
    ------
    ValueError
        If there is neither a table nor arrays, or both.
    """
    if y_true is None and y_pred is None and groups is None:
        if frame is None:
            raise ValueError(
                "frame: there is nothing to audit; give a table, or arrays as in "
                "audit(y_true, y_pred, groups)"
            )
        names = tuple(group) if isinstance(group, list | tuple) else (group,)
        return frame, Columns(group=names, threshold=threshold, **parts)  # type: ignore[arg-type]

    if y_true is not None and frame is not None:
        raise ValueError("y_true: give a table or an array of labels, not both")
    if groups is None:
        raise ValueError(
            "groups: arrays of classes need an array of groups beside them, as in "
            "audit(y_true, y_pred, groups)"
        )
    names_of_columns = {"group": group} | {
        role: parts[role] for role in ("label", "prediction")
    }
    for role, name in names_of_columns.items():
        if name is not None:
            raise ValueError(
                f"{role}: this names a column of a table, found {name!r} beside arrays"
            )

    label = frame if y_true is None else y_true
    arrays = {**parts, "label": label, "prediction": y_pred}
    return table_of_arrays(groups, arrays, threshold=threshold)


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
        If the arrays differ in length, if one has not one dimension, or if two series
        of pandas have different indexes.
    """
    group_names = groups if isinstance(groups, Mapping) else ()
    group_names = getattr(groups, "columns", group_names)
    arrays = {str(name): groups[name] for name in group_names}
    if not arrays:
        arrays = {str(getattr(groups, "name", None) or "group"): groups}
    group = tuple(arrays)
    for name in group:
        for role in ("label", "prediction"):
            if arrays[name] is parts.get(role):
                raise ValueError(f"groups: {name!r} is the array of the {role}")

    # A group may have the name of a part.
    names = {
        role: f"the {role}" if role in group else role
        for role in ROLES
        if parts.get(role) is not None
    }
    for role, name in names.items():
        arrays[name] = parts[role]

    _check_shapes(arrays)
    _check_indexes(arrays)
    series = {name: _as_series(values) for name, values in arrays.items()}
    columns = Columns(group=group, threshold=threshold, **names)  # type: ignore[arg-type]
    return DataFrame(series), columns


def _check_shapes(arrays: Mapping) -> None:
    """Raise unless all arrays are of one length, and have one dimension."""
    for name, values in arrays.items():
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise ValueError(
                f"{name} must be an array with a value for each case, found {values!r}"
            )

    if len({len(values) for values in arrays.values()}) > 1:
        lengths = ", ".join(
            f"{len(values):,} of {name}" for name, values in arrays.items()
        )
        raise ValueError(f"arrays must be of one length, found {lengths}")

    for name, values in arrays.items():
        # As objects, no value is converted; a masked one could not be.
        is_list = isinstance(values, list | tuple)
        dimensions = np.ndim(np.array(values, dtype=object) if is_list else values)
        if dimensions != 1:
            raise ValueError(
                f"{name}: an array must have one dimension, found {dimensions}"
            )


def _check_indexes(arrays: Mapping) -> None:
    """Raise if two series of pandas have different indexes.

    Their rows are matched by position here, and by index nearly everywhere else. Arrays
    without an index, such as what a model predicts, go by position.
    """
    series = {name: one for name, one in arrays.items() if isinstance(one, Series)}

    for first, second in combinations(series, 2):
        index = series[first].index
        other_index = series[second].index
        if index.equals(other_index):
            continue

        advice = (
            "if both are in the same order already, number their rows anew: "
            f"{first}.reset_index(drop=True), {second}.reset_index(drop=True)"
        )
        if index.is_unique and index.sort_values().equals(other_index.sort_values()):
            raise ValueError(
                f"{first} and {second} have the same index in another order; "
                f"align them by {second}.reindex({first}.index); {advice}"
            )
        raise ValueError(
            f"{first} and {second} are series with different indexes "
            f"({_ends(index)}; {_ends(other_index)}), so that it is not known which "
            f"rows belong together; {advice}"
        )


def _ends(index: pd.Index) -> str:
    """Write the first values of an index for an error message."""
    values = ", ".join(map(repr, index[:3].tolist()))
    return f"{values}, ..." if len(index) > 3 else values


def _as_series(values) -> Series:
    """Return an array as a series of pandas whose index counts rows.

    What a mask of NumPy hides is missing.
    """
    if hasattr(values, "to_pandas"):
        return Series(values.to_pandas()).reset_index(drop=True)
    if isinstance(values, np.ma.MaskedArray) and values.dtype.kind in "iu":
        # As floats, large numbers would be rounded.
        mask = np.ma.getmaskarray(values)
        return Series(pd.arrays.IntegerArray(values.data.copy(), mask.copy()))

    series = Series(values).reset_index(drop=True)
    # A list of masked values holds objects; kinds are told apart without a Python loop.
    if series.dtype == object and infer_dtype(series).startswith("mixed"):
        is_masked = series.map(lambda value: value is np.ma.masked)
        return series.mask(is_masked.astype(bool), None).convert_dtypes()
    return series
