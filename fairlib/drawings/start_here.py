"""The drawings of lesson 00: ten answers, and twenty intervals."""

from textwrap import fill

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy import ndarray
from pandas import DataFrame

from fairlib import plots

_LETTERS_PER_INCH = 13
_DIFFERENCE = "difference (women minus men)"

# The first sentence of a caption also stands in place of the picture.
TEN_PEOPLE = (
    "Ten simulated people check a hundred sentences each, and find differences from "
    "0.06 to 0.34; the difference among all 3,648 sentences is 0.227 (dashed). Each "
    "person draws 50 sentences about women and 50 about men. A difference is the share "
    "of women whose gender was lost, as the authors' program reads it, minus the same "
    "share of men. Google, English to Hebrew. Data: {}."
)
TWENTY_PEOPLE = (
    "Twenty simulated people check a hundred sentences each: twelve of their 95 % "
    "intervals lie above 0, and eighteen contain the difference among all 3,648 "
    "sentences (dashed). Each person draws 50 sentences about women and 50 about men. "
    "A difference is the share of women whose gender was lost, as the authors' program "
    "reads it, minus the same share of men. The intervals are Newcombe's. Google, "
    "English to Hebrew. Data: {}."
)


def ten_differences(
    differences: ndarray, *, truth: float, narrow: bool = False
) -> Figure:
    """Draw what each of several people found, beside the truth.

    Parameters
    ----------
    differences : ndarray
        The difference that each person found.
    truth : float
        The difference among all sentences.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        A dot for each person.
    """
    figure, (axes,) = plots.page(narrow, heights=(2.2, 2.6))
    people = range(1, len(differences) + 1)

    axes.plot(differences, people, "o", color=plots.COLOURS["blue"], label="one person")
    _truth_and_zero(axes, truth)
    axes.set(xlabel=_DIFFERENCE, ylabel="person", yticks=people, xlim=(-0.05, 0.5))
    axes.invert_yaxis()
    title = "Ten people check the same system, and their answers differ widely"
    axes.set_title(_wrapped(title, figure), loc="left")
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def twenty_intervals(
    people: DataFrame, *, truth: float, title: str, narrow: bool = False
) -> Figure:
    """Draw the intervals of several people; those without the truth look different.

    Parameters
    ----------
    people : DataFrame
        One row per person: `difference`, `low`, `high`, and `contains`, whether the
        interval contains the truth.
    truth : float
        The difference among all sentences.
    title : str
        The finding.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        An interval for each person.
    """
    figure, (axes,) = plots.page(narrow, heights=(4.2, 4.6))
    for contains, colour, marker, label in (
        (True, "blue", "o", "contains the truth"),
        (False, "vermillion", "s", "misses it"),
    ):
        rows = people[people["contains"] == contains]
        plots.intervals(
            rows.index,
            rows["difference"],
            low=rows["low"],
            high=rows["high"],
            ax=axes,
            colour=colour,
            marker=marker,
            horizontal=True,
            label=label,
        )

    _truth_and_zero(axes, truth)
    axes.set(
        xlabel=_DIFFERENCE,
        ylabel="person",
        yticks=people.index,
        # The same for all settings of the lesson's controls, so that widths compare.
        xlim=(-0.6, 0.9),
    )
    axes.invert_yaxis()
    axes.set_title(_wrapped(title, figure), loc="left")
    figure.legend(loc="outside upper center", ncols=1 if narrow else 3)
    return figure


def _truth_and_zero(axes: Axes, truth: float) -> None:
    """Draw a dashed line at the truth, and a thin one at no difference."""
    label = f"truth: {truth:.3f}"
    axes.axvline(truth, color="black", linestyle="--", linewidth=1, label=label)
    axes.axvline(0, color="black", linewidth=0.8)


def _wrapped(title: str, figure: Figure) -> str:
    """Return a title in as many lines as the figure's width asks for."""
    return fill(title, int(_LETTERS_PER_INCH * figure.get_figwidth()))
