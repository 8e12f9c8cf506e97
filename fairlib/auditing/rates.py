"""What an audit measures in each group, as data: a share of cases, or the mean of a probability, and the words for it.

Every rate is a mean over the cases of a group that qualify, so it follows from three numbers per group: how many cases
qualify, the sum of their values, and the sum of the squares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairlib.auditing.tally import Tally, listed

EVERY_CLASS = ""  # the class of rates that take all classes together


@dataclass(frozen=True)
class Rate:
    """One question to every group: which cases qualify, what is counted among them, and how to say it."""

    title: str
    words: str  # of one group: {value} and {n} are filled in, and {c}, the class
    again: str  # the same for the group that it is compared with
    qualifies: str  # which cases can be used at all, completing "cases ..."
    event: Callable | None = None  # (label, prediction, c) -> what is counted
    among: Callable | None = None  # (label, prediction, c) -> which cases qualify; None for all
    needs: tuple[str, ...] = ("label", "prediction")
    per_class: bool = True
    uses_probability: bool = False
    farthest: int = 1  # that two cases can be apart: 2 for what lies between -1 and 1, which is said in points


RATES: dict[str, Rate] = {
    "errors": Rate(
        "Wrong predictions",
        "the prediction is wrong in {value} of {n} cases",
        "{value} of {n}",
        "",
        event=lambda label, prediction, c: label != prediction,
        per_class=False,
    ),
    "misses": Rate(
        "Missed ({c} is not predicted where it is the label)",
        "of {n} cases whose label is {c}, {value} are missed",
        "{value} of {n}",
        "whose label is {c}",
        event=lambda label, prediction, c: prediction != c,
        among=lambda label, prediction, c: label == c,
    ),
    "false alarms": Rate(
        "False alarms ({c} is predicted where it is not the label)",
        "of {n} cases whose label is not {c}, {value} are predicted {c}",
        "{value} of {n}",
        "whose label is not {c}",
        event=lambda label, prediction, c: prediction == c,
        among=lambda label, prediction, c: label != c,
    ),
    "predicted": Rate(
        "Predicted (how often {c} is predicted, rightly or not)",
        "{c} is predicted in {value} of {n} cases",
        "{value} of {n}",
        "",
        event=lambda label, prediction, c: prediction == c,
        needs=("prediction",),
    ),
    "unreliable": Rate(
        "Unreliable ({c} is predicted and is not the label)",
        "of {n} cases that are predicted {c}, {value} have another label",
        "{value} of {n}",
        "that are predicted {c}",
        event=lambda label, prediction, c: label != c,
        among=lambda label, prediction, c: prediction == c,
    ),
    "mean probability": Rate(
        "Mean probability of {c}",
        "the probability given to {c} is {value} on average over {n} cases",
        "{value} over {n}",
        "",
        needs=("score",),
        uses_probability=True,
    ),
    "overestimation": Rate(
        "Overestimation (the mean probability of {c} less how often {c} is the label)",
        "the probability given to {c} less the truth is {value} on average over {n} cases",
        "{value} over {n}",
        "",
        needs=("score", "label"),
        uses_probability=True,
        farthest=2,
    ),
}


class Sums(NamedTuple):
    """One rate over all cells: how many cases qualify, the sum of their values and of the squares."""

    name: str
    rate: Rate
    class_name: str
    count: np.ndarray
    total: np.ndarray
    square: np.ndarray


def measured(tally: Tally, names=()) -> tuple[str, ...]:
    """Return which rates the tally allows; those asked for by name must be among them."""
    possible = tuple(
        name for name, rate in RATES.items() if all(getattr(tally, part) is not None for part in rate.needs)
    )
    for name in names:
        if name not in RATES:
            raise ValueError(
                f"metrics must be among {listed(RATES)}, or those of fairlib.auditing.summary.SUMMARY, found {name!r}"
            )
        if name not in possible:
            lacking = [part for part in RATES[name].needs if getattr(tally, part) is None]
            spoken = {"score": "a probability"}
            raise ValueError(
                f"metrics: {name!r} needs {', '.join(spoken.get(part, 'a ' + part) for part in lacking)} column"
            )
    return tuple(names) or possible


def sums(tally: Tally, names: tuple[str, ...]) -> Iterator[Sums]:
    """Reduce the tally to one rate after another, for each class that is measured."""
    for name in names:
        rate = RATES[name]
        for c in tally.positive if rate.per_class else (None,):
            class_name = EVERY_CLASS if c is None else tally.classes[c]
            values = _probability(tally, name, c) if rate.uses_probability else _share(tally, rate, c)
            yield Sums(name, rate, class_name, *values)


def _share(tally: Tally, rate: Rate, c: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    among = True if rate.among is None else rate.among(tally.label, tally.prediction, c)
    event = rate.event(tally.label, tally.prediction, c)
    total = tally.count * (event & among)
    return tally.count * among, total, total


def _probability(tally: Tally, name: str, c: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if name == "mean probability":
        return tally.count, tally.score, tally.square
    truth = (
        tally.label == c
    )  # within a cell all labels are alike, so that the square follows: (p - y)² = p² - 2 p y + y
    return tally.count, tally.score - truth * tally.count, tally.square - truth * (2 * tally.score - tally.count)
