"""The figures of lesson 16: counts in place of rows, and what more rows buy."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._findings import write_finding

CELLS = (
    "How many people there are of each kind: by race as the county wrote it, by "
    "whether they were charged again within two years, and by whether their score was "
    "5 or more (flagged). Darker: more people. Data: COMPAS scores of 7,214 people "
    "(bundled counts)."
)
PRECISION = (
    "Half-width of the 95 % interval for a difference between two groups of equal "
    "size, by the number of people in both. Computed from the normal approximation at "
    "the false alarm rate of COMPAS, 32 %."
)
COPIES = (
    "False alarm rates with 95 % intervals (Wilson). Blue circles: the real people; "
    "their number is written at each group. Orange squares: a million people drawn "
    "from the shares of the real ones, a simulation. Data: COMPAS scores of 7,214 "
    "people (bundled counts)."
)

_KINDS = ("not charged,\nnot flagged", "not charged,\nflagged")
_OTHER_KINDS = ("charged,\nnot flagged", "charged,\nflagged")


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
    figure, (ax,) = plots.page(narrow, heights=(2.5, 2.7))
    kinds = [*_KINDS, *_OTHER_KINDS]
    if narrow:
        kinds = [kind.replace("not ", "not\n") for kind in kinds]
    table = counts.set_axis(kinds, axis=1)

    shade = table / table.to_numpy().max()
    plots.heatmap(table, shade=shade, digits=0, ax=ax)
    write_finding(figure, "For an audit, 7,214 people are 24 numbers")
    return figure


def precision(
    sizes: ArrayLike,
    half_width: ArrayLike,
    marks: Mapping[int, float],
    *,
    narrow: bool = False,
) -> Figure:
    """Draw how the half-width of an interval falls with the number of people.

    Parameters
    ----------
    sizes, half_width : array_like of float
        The numbers of people, and the half-widths in percentage points.
    marks : mapping of int to float
        Numbers of people at which the half-width is written.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        A line over two logarithmic axes, and the line at five points.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.5, 2.7))
    ax.plot(sizes, half_width, color=plots.COLOURS["blue"])
    for n, value in marks.items():
        ax.plot(n, value, "o", color="black")
        plots.note(f"± {value:.2g}", (n, value), offset=(4, 5), ax=ax)

    ax.axhline(5, color=plots.COLOURS["vermillion"], linestyle="--")
    plots.note(
        "five points",
        (np.max(sizes), 5),
        offset=(0, 3),
        ha="right",
        color=plots.COLOURS["vermillion"],
        ax=ax,
    )
    plots.log_axis([0.01, 0.1, 1, 10], written="{x:g}", ax=ax)
    plots.log_axis([10**3, 10**6, 10**9], axis="x", ax=ax)
    ax.set_xticks([10**3, 10**6, 10**9], ["a thousand", "a million", "a billion"])
    ax.set(
        xlabel="people in both groups", ylabel="± percentage points", ylim=(0.003, 20)
    )
    ax.set_xlim(right=1e10 if narrow else 4e9)
    write_finding(figure, "A hundred times the rows buy one tenth of the width")
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
    ax.legend(loc="upper right")
    write_finding(figure, "A million rows look certain about eight people")
    return figure
