"""The drawings of lesson 00: ten answers, and twenty intervals."""

from textwrap import fill

from matplotlib.figure import Figure
from numpy import ndarray
from pandas import DataFrame

from fairlib import plots

_LETTERS_PER_INCH = 13


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

    axes.plot(differences, people, "o", color=plots.COLOURS["blue"])
    axes.axvline(truth, color="black", linestyle="--", linewidth=1)
    axes.axvline(0, color="black", linewidth=0.8)

    axes.set(
        xlabel="difference between women and men",
        ylabel="person",
        yticks=[1, 5, 10],
        xlim=(-0.05, 0.5),
    )
    axes.invert_yaxis()
    title = "Ten people check the same system, and their answers differ widely"
    axes.set_title(_wrapped(title, figure), loc="left")
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
    figure, (axes,) = plots.page(narrow, heights=(3.0, 3.4))
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
            label=label,
        )

    axes.axhline(
        truth, color="black", linestyle="--", linewidth=1, label=f"truth: {truth:.3f}"
    )
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set(
        xlabel="person",
        ylabel="difference, with interval",
        xticks=people.index[:: 4 if narrow else 1],
        ylim=(-0.75 if narrow else -0.6, 0.9),
    )
    axes.set_title(_wrapped(title, figure), loc="left")
    axes.legend(ncols=1 if narrow else 3, loc="lower center")
    return figure


def _wrapped(title: str, figure: Figure) -> str:
    """Return a title in as many lines as the figure's width asks for."""
    return fill(title, int(_LETTERS_PER_INCH * figure.get_figwidth()))
