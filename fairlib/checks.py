"""What every room asks of its arguments, said once: an error names the argument, what was found and what is allowed."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike


def checked(
    name: str, values, allowed: str, test: Callable[[np.ndarray], ArrayLike]
) -> np.ndarray:
    """Return `values` as floats if all are finite and pass the test; NaN never does."""
    try:
        numbers = np.asarray(values, dtype=float)
        wrong = numbers[~(np.isfinite(numbers) & test(numbers))]
    except (TypeError, ValueError):
        wrong = values
    if np.size(wrong):
        raise ValueError(f"{name} must be {allowed}, found {shown(wrong)}") from None
    return numbers


def check_word(name: str, word: str, allowed: Iterable[str]) -> None:
    """Raise unless a word is one of those that are allowed."""
    if word not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, found {word!r}")


def shown(values) -> str:
    """Return the first of some values, as errors show them."""
    return ", ".join(map(str, np.ravel(values)[:3])) + (
        ", ..." if np.size(values) > 3 else ""
    )


def check_confidence(confidence: float) -> None:
    """Raise unless an interval can be made at this confidence."""
    checked(
        "confidence", confidence, "in (0, 1)", lambda level: (level > 0) & (level < 1)
    )


def costs(name: str, values, max_cost: float | None = None) -> np.ndarray:
    """Return a list of costs, from 0 to the largest that there is."""
    most = (
        np.inf
        if max_cost is None
        else checked("max_cost", max_cost, "positive and finite", lambda cost: cost > 0)
    )
    cost = checked(
        name,
        values,
        f"in [0, max_cost={most:g}]",
        lambda cost: (cost >= 0) & (cost <= most),
    )
    if cost.ndim != 1 or not cost.size:
        raise ValueError(
            f"{name} must be a list of at least one cost, found shape {cost.shape}"
        )
    return cost


def examples(
    cost, group, *, max_cost: float | None = None, name: str = "membership"
) -> tuple[np.ndarray, np.ndarray]:
    """Return a cost per example and its group: +1 in A, -1 in B, 0 in neither."""
    cost = costs("cost", cost, max_cost)
    group = checked(name, group, "-1, 0 or +1", lambda side: np.isin(side, [-1, 0, 1]))
    if cost.shape != group.shape:
        raise ValueError(
            f"cost and {name} must have one length, found shapes {cost.shape} and {group.shape}"
        )
    if not np.isin([-1, 1], group).all():
        raise ValueError(
            f"{name} must name both groups, +1 and -1, found {shown(np.unique(group))}"
        )
    return cost, group.astype(int)
