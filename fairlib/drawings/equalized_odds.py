"""The figures of lesson 03: three measures of fairness, and whom each one counts."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._findings import write_finding

DEFINITION = (
    "Whom each measure counts, and at what cost, after section 2 of the paper. "
    "Rows: whether a new charge followed. Columns: the score. Computed from the "
    "definitions. No data are involved."
)
RATES = (
    "Share of people with a high score, by race and by what happened within two "
    "years, with exact 95 % intervals. n\u00a0=\u00a0{:,} people. Data: {}."
)
MEASURES = (
    "Difference in the share of wrong scores, African-American minus Caucasian "
    "people. Exact intervals of 98.3 % each, which hold together with at least 95 %. "
    "n\u00a0=\u00a0{:,} people without a new charge, {:,} with one, and {:,} in all. "
    "Data: {}."
)

_FACES = {
    "cost 1": (plots.COLOURS["vermillion"], "black"),
    "cost 0": (plots.COLOURS["sky"], "black"),
    "not counted": ("white", "#555555"),
}


# Rows: no new charge, a new charge. Columns: a high score, a low score.
_QUALIFIED = (("cost 1", "cost 0"), ("not counted", "not counted"))
_SQUARES = {
    "demographic parity": (("cost 1", "cost 0"), ("cost 1", "cost 0")),
    "equal opportunity": _QUALIFIED,
    "equalized odds": _QUALIFIED,
}


def definition(*, narrow: bool = False) -> Figure:
    """Draw whom each measure counts, as squares of two by two.

    Parameters
    ----------
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One square per measure.
    """
    figure, axes = plots.page(narrow, panels=(1, len(_SQUARES)), heights=(2.2, 5.4))
    for ax, (name, rows) in zip(axes, _SQUARES.items(), strict=True):
        _square(ax, rows)
        ax.set_title(name)

    write_finding(
        figure,
        "As printed, equal opportunity and equalized odds are the same measure",
    )
    return figure


def _square(ax: Axes, rows: tuple[tuple[str, str], ...]) -> None:
    """Draw the four kinds of people of one measure."""
    for (row, column), kind in np.ndenumerate(np.array(rows)):
        face, ink = _FACES[kind]
        ax.fill_between(
            [column, column + 1],
            1 - row,
            2 - row,
            facecolor=face,
            edgecolor="black",
            linewidth=0.8,
        )
        ax.text(column + 0.5, 1.5 - row, kind, ha="center", va="center", color=ink)

    ax.set(xlim=(0, 2), ylim=(0, 2))
    ax.set_xticks([0.5, 1.5], ["high score", "low score"])
    ax.set_yticks([1.5, 0.5], ["no new\ncharge", "new\ncharge"])
    ax.tick_params(length=0)


def rates(table: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the share of people with a high score by outcome and race.

    Parameters
    ----------
    table : DataFrame
        One row per race and outcome, with the columns `race`, `outcome`, and in percent
        `share`, `from` and `to`.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        Intervals of the four rates.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.2, 2.6))
    outcomes = list(table["outcome"].unique())

    for number, (race, shown) in enumerate(table.groupby("race", sort=False)):
        places = np.array([outcomes.index(outcome) for outcome in shown["outcome"]])
        plots.intervals(
            places + 0.16 * (number - 0.5),
            shown["share"],
            low=shown["from"],
            high=shown["to"],
            colour=("blue", "orange")[number],
            marker=plots.MARKERS[number],
            horizontal=True,
            ax=ax,
        )
        # The first row names the groups: one above its interval, the other below.
        ax.annotate(
            race,
            (shown["share"].iloc[0], places[0] + 0.16 * (number - 0.5)),
            xytext=(0, (5, -5)[number]),
            textcoords="offset points",
            ha="center",
            va=("bottom", "top")[number],
        )

    ax.set_yticks(range(len(outcomes)), outcomes)
    ax.set(xlim=(0, 100), ylim=(len(outcomes) - 0.5, -0.6))
    ax.set_xlabel("people with a high score (%)")
    write_finding(
        figure,
        "High scores are more frequent for African-American people, "
        "charged again or not",
    )
    return figure


def measures(table: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the differences that several measures find, with their intervals.

    Each interval is also written below the name of its measure.

    Parameters
    ----------
    table : DataFrame
        One row per measure, with `points`, `from` and `to`.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One interval per measure, and the line at zero.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.4, 2.8))
    places = np.arange(len(table))
    plots.intervals(
        places,
        table["points"],
        low=table["from"],
        high=table["to"],
        horizontal=True,
        ax=ax,
    )
    names = [
        f"{name}\n{row['points']:.1f} [{row['from']:.1f}, {row['to']:.1f}]"
        for name, row in table.iterrows()
    ]

    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(places, [name.replace("-", "−") for name in names])
    ax.set(xlim=(-30, 30), ylim=(len(table) - 0.5, -0.5))
    ax.set_xlabel("difference in points,\nAfrican-American minus Caucasian")
    write_finding(
        figure,
        "Two large gaps nearly cancel in the rate of all errors",
    )
    return figure
