"""The figures of lesson 16: counts in place of rows, and what copies cannot buy."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._findings import write_finding

CELLS = (
    "How many people there are of each kind: by race as the county wrote it, by "
    "whether they were charged again within two years, and by whether their score was "
    "5 or more (flagged). False alarm rates need the two columns in the frame. Darker: "
    "more people. Data: COMPAS scores of 7,214 people (bundled counts)."
)
COPIES = (
    "False alarm rates with 95 % intervals (Wilson): for a small group, the interval "
    "from a million rows drawn from real people is much shorter than the interval from "
    "the real people. Blue circles: the real people; in brackets, the number of those "
    "not charged again. Orange squares: the million rows, a simulation; where no "
    "orange line is seen, it is shorter than the mark. Data: COMPAS scores of 7,214 "
    "people (bundled counts)."
)

_OUTCOMES = ("not charged again", "charged again")
_DECISIONS = ("not flagged", "flagged")


def cells(counts: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the counts of all kinds of people as a table with shades.

    Parameters
    ----------
    counts : DataFrame
        One row per race; the columns are outcome (not charged, charged) by decision
        (not flagged, flagged).
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        A heatmap with the counts in its cells.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.6, 2.7))
    shade = counts / counts.to_numpy().max()
    plots.heatmap(counts, shade=shade, digits=0, ax=ax)
    for printed in ax.texts:
        printed.set_text(f"{int(printed.get_text()):,}")
    not_charged_again = Rectangle(
        (0, 0),
        len(_DECISIONS),
        len(counts),
        fill=False,
        edgecolor="black",
        linewidth=1.5,
        clip_on=False,
        zorder=3,
    )
    ax.add_patch(not_charged_again)

    decisions = [name.replace(" ", "\n") if narrow else name for name in _DECISIONS]
    ax.set_xticks(ax.get_xticks(), decisions * len(_OUTCOMES))
    above = ax.get_xaxis_transform()  # columns to the right, heights of the panel up
    for number, outcome in enumerate(_OUTCOMES):
        left = number * len(_DECISIONS)
        right = left + len(_DECISIONS)
        ends = [left + 0.05, right - 0.05]
        ax.plot(ends, [1.02, 1.02], "k", linewidth=1, transform=above, clip_on=False)
        ax.text(
            (left + right) / 2,
            1.04,
            outcome,
            transform=above,
            horizontalalignment="center",
            verticalalignment="bottom",
        )
    write_finding(figure, "7,214 people are 24 numbers; false alarm rates need 12")
    return figure


def certainty(rates: Mapping[str, DataFrame], *, narrow: bool = False) -> Figure:
    """Draw false alarm rates of real people and of many drawn from them.

    Parameters
    ----------
    rates : mapping of str to DataFrame
        For each table, one row per group with `rate`, `low`, `high` and `n`; the real
        people come first.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        Two intervals per group, side by side.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.9, 3.8))
    real = next(iter(rates.values()))
    plots.intervals_by_name(
        rates, spread=0.3, colours=("blue", "orange"), horizontal=True, ax=ax
    )

    names = [f"{name} ({n:,})" for name, n in zip(real.index, real["n"], strict=True)]
    if narrow:
        names = [name.replace(" (", "\n(") for name in names]
    ax.set_yticks(np.arange(len(real)), names)
    ax.set(xlabel="false alarm rate", xlim=(0, 0.8))
    ax.invert_yaxis()  # from the top, as in the tables
    ax.legend(loc="lower right")
    write_finding(figure, "A million rows look certain about eight people")
    return figure
