"""Checks of arguments that every room uses, with error messages of one form.

An error names the argument, says what is allowed and shows what was found.
"""

from collections.abc import Callable, Collection

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

_MOST_SHOWN = 3  # values in an error message


def checked(
    name: str,
    values: ArrayLike,
    allowed: str,
    test: Callable[[ndarray], ArrayLike],
) -> ndarray:
    """Return values as an array of floats, after a check of every one of them.

    Parameters
    ----------
    name : str
        The name of the argument, for error messages.
    values : array_like of float
        The values to check. They must be finite, so NaN is always refused.
    allowed : str
        What the test asks for, in words that follow "must be".
    test : callable
        Maps an array of floats to truth values of the same shape.

    Returns
    -------
    ndarray of float
        The values, in their own shape.

    Raises
    ------
    ValueError
        If a value is not a number, is not finite, or fails the test.

    Examples
    --------
    >>> checked("gamma", [0.2, 0.5], "positive", lambda gamma: gamma > 0).tolist()
    [0.2, 0.5]
    >>> checked("gamma", [0.2, -1], "positive", lambda gamma: gamma > 0)
    Traceback (most recent call last):
    ValueError: gamma must be positive, found -1.0
    """
    try:
        numbers = np.asarray(values, dtype=float)
        is_allowed = np.isfinite(numbers) & test(numbers)
    except (TypeError, ValueError):
        # These are not numbers at all: words, say, or None.
        raise ValueError(f"{name} must be {allowed}, found {shown(values)}") from None

    refused = numbers[~is_allowed]
    if refused.size > 0:
        raise ValueError(f"{name} must be {allowed}, found {shown(refused)}")
    return numbers


def one_number(
    name: str,
    value: float,
    allowed: str,
    test: Callable[[ndarray], ArrayLike],
) -> float:
    """Return a value as a float, after a check that it is one number.

    Parameters
    ----------
    name : str
        The name of the argument, for error messages.
    value : float
        The value to check, which must be finite.
    allowed : str
        What the test asks for, in words that follow "must be".
    test : callable
        Maps an array of floats to truth values of the same shape.

    Returns
    -------
    float
        The value.

    Raises
    ------
    ValueError
        If the value is a list or a word, is not finite, or fails the test.

    Examples
    --------
    >>> one_number("max_cost", [1, 2], "positive", lambda cost: cost > 0)
    Traceback (most recent call last):
    ValueError: max_cost must be one number, found shape (2,)
    """
    if isinstance(value, str):
        raise ValueError(f"{name} must be one number, found the word {value!r}")
    if np.ndim(value) > 0:
        raise ValueError(f"{name} must be one number, found shape {np.shape(value)}")
    return float(checked(name, value, allowed, test))


def check_word(name: str, word: str, allowed: Collection[str]) -> None:
    """Raise an error unless a word is one of the words that are allowed.

    Parameters
    ----------
    name : str
        The name of the argument, for error messages.
    word : str
        The word to check.
    allowed : collection of str
        The words that are allowed; the error lists them in this order.

    Raises
    ------
    ValueError
        If the word is not among them.
    """
    if word not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, found {word!r}")


def shown(values: ArrayLike) -> str:
    """Write the first three values of an array for an error message.

    Parameters
    ----------
    values : array_like
        The values, of any type and shape.

    Returns
    -------
    str
        The first values, and dots if there are more.

    Examples
    --------
    >>> shown([1, 2, 3, 4])
    '1, 2, 3, ...'
    """
    first = ", ".join(map(str, np.ravel(values)[:_MOST_SHOWN]))
    if np.size(values) > _MOST_SHOWN:
        return f"{first}, ..."
    return first


def check_confidence(confidence: float) -> None:
    """Raise an error unless a confidence lies between 0 and 1, both excluded.

    Parameters
    ----------
    confidence : float
        The share of samples in which an interval must contain the true value.

    Raises
    ------
    ValueError
        If no interval has this confidence.
    """
    one_number(
        "confidence", confidence, "in (0, 1)", lambda level: (level > 0) & (level < 1)
    )


def largest_cost(max_cost: float) -> float:
    """Return the largest possible cost as a float, after a check.

    Parameters
    ----------
    max_cost : float
        The largest cost that an example can have.

    Returns
    -------
    float
        The same number.

    Raises
    ------
    ValueError
        If it is not one positive number.
    """
    return one_number(
        "max_cost", max_cost, "positive and finite", lambda cost: cost > 0
    )


def costs(name: str, values: ArrayLike, max_cost: float | None = None) -> ndarray:
    """Return a list of costs as an array, after a check.

    Parameters
    ----------
    name : str
        The name of the argument, for error messages.
    values : array_like of float
        The cost of each example, from 0 to `max_cost`.
    max_cost : float, optional
        The largest cost that an example can have; by default there is no limit.

    Returns
    -------
    ndarray of float
        The costs, one per example.

    Raises
    ------
    ValueError
        If a cost lies outside its limits, if there is no cost at all, or if `max_cost`
        is not one positive number.
    """
    limit = np.inf if max_cost is None else largest_cost(max_cost)
    cost = checked(
        name,
        values,
        f"in [0, max_cost={limit:g}]",
        lambda cost: (cost >= 0) & (cost <= limit),
    )

    if cost.ndim != 1 or cost.size == 0:
        raise ValueError(
            f"{name} must be a list of at least one cost, found shape {cost.shape}"
        )
    return cost


def examples(
    cost: ArrayLike,
    group: ArrayLike,
    *,
    max_cost: float | None = None,
    name: str = "membership",
) -> tuple[ndarray, ndarray]:
    """Return the cost and the group of each example as arrays, after a check.

    Parameters
    ----------
    cost : array_like of float
        The cost of each example, from 0 to `max_cost`.
    group : array_like of int
        The group of each example: +1 in group A, -1 in group B, 0 in neither.
    max_cost : float, optional
        The largest cost that an example can have; by default there is no limit.
    name : str, default "membership"
        The name of the argument `group`, for error messages.

    Returns
    -------
    cost : ndarray of float
        The cost of each example.
    group : ndarray of int
        The group of each example.

    Raises
    ------
    ValueError
        If a value is not allowed, the lengths differ, or a group has no example.
    """
    cost_of_example = costs("cost", cost, max_cost)
    side = checked(name, group, "-1, 0 or +1", lambda side: np.isin(side, [-1, 0, 1]))

    if cost_of_example.shape != side.shape:
        raise ValueError(
            f"cost and {name} must have one length, "
            f"found shapes {cost_of_example.shape} and {side.shape}"
        )
    if not np.isin([-1, 1], side).all():
        raise ValueError(
            f"{name} must name both groups, +1 and -1, found {shown(np.unique(side))}"
        )
    return cost_of_example, side.astype(int)
