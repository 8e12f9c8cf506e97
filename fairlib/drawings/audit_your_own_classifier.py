"""The figures of lesson 15: what an audit can answer, and what it answered."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._findings import write_finding

ANSWERS = (
    "Four intervals with their answers: the first two exclude zero, the third is wide "
    "and contains zero, and the last lies within the margin of five points (grey "
    "band). The solid intervals allow for all comparisons, and the dashed one is for "
    "its comparison alone. Invented numbers. No data are involved."
)
COMPARISONS = (
    "Each age group compared with all other patients: only the misses of patients "
    "under 40 have strong evidence (orange circle). Blue triangles: too weak to tell. "
    "The solid intervals allow for all six comparisons. Black square: some evidence; "
    "its dashed 95\u00a0% interval is for this comparison alone, and an interval that "
    "allows for all six would contain zero. Grey band: differences below five points. "
    "n: patients of the group who count for the rate. Data: 442 diabetes patients "
    "(shipped with scikit-learn), predictions by cross-validation."
)

_LOOKS = {
    "shown": ("vermillion", "o"),
    "hint": ("black", "s"),
    "open": ("blue", "^"),
    "small": ("green", "D"),
}


def answers(*, narrow: bool = False) -> Figure:
    """Draw four invented intervals, one for each answer of an audit.

    Parameters
    ----------
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        The intervals, the margin around zero, and the answers as names.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.0, 2.2))
    rows = (
        ("shown", 14, 3, 25),
        ("hint", 9, 1, 17),
        ("open", 4, -7, 15),
        ("small", 1, -2.5, 4.5),
    )
    _draw_margin(ax, 5)
    for place, (verdict, *ends) in enumerate(rows):
        _draw_interval(ax, place, verdict, ends)

    names = ["strong evidence", "some evidence", "too weak to tell", "ruled out"]
    ax.set_yticks(range(4), names)
    ax.set_xticks(range(-5, 30, 5))
    ax.set(ylim=(3.5, -0.5), xlabel="difference, in points")
    write_finding(figure, "The answer depends on what the interval excludes")
    return figure


def comparisons(frame: DataFrame, *, margin: float, narrow: bool = False) -> Figure:
    """Draw the differences of an audit, one panel for each rate.

    Parameters
    ----------
    frame : DataFrame
        One row per comparison: `rate`, `group`, `n`, `difference`, `low`, `high` and
        `verdict`, as `Report.to_frame` returns them.
    margin : float
        The smallest difference that matters.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        Intervals in percentage points, with the margin around zero.
    """
    rates = frame["rate"].unique()
    figure, axes = plots.page(
        narrow, panels=(1, len(rates)), heights=(2.2, 3.4), sharex=True, sharey=False
    )
    for ax, rate in zip(axes, rates, strict=True):
        rows = frame[frame["rate"] == rate]
        _draw_margin(ax, 100 * margin)
        for place, row in enumerate(rows.itertuples()):
            ends = [100 * row.difference, 100 * row.low, 100 * row.high]
            _draw_interval(ax, place, row.verdict, ends)

        groups = rows["group"].str.removeprefix("age = ")
        names = [
            f"{group}\n(n = {n})" for group, n in zip(groups, rows["n"], strict=True)
        ]
        ax.set_yticks(np.arange(len(rows)), names)
        ax.set(title=rate, ylim=(len(rows) - 0.5, -0.5))

    for ax in axes[-1:] if narrow else axes:
        ax.set_xlabel("points above (+) or below (−) others")
    write_finding(figure, "The model misses young patients more often than others")
    return figure


def _draw_margin(ax: Axes, margin: float) -> None:
    """Draw the band of differences that do not matter, and the line at zero."""
    ax.axvspan(-margin, margin, color="#e8edf2", zorder=0)
    ax.axvline(0, color=plots.COLOURS["grey"], linewidth=1, zorder=1)


def _draw_interval(ax: Axes, place: int, verdict: str, ends: list[float]) -> None:
    """Draw one interval in the colour and with the mark of its answer."""
    colour, marker = _LOOKS[verdict]
    estimate, low, high = ends

    plots.intervals(
        [place],
        [estimate],
        low=[low],
        high=[high],
        colour=colour,
        marker=marker,
        horizontal=True,
        ax=ax,
    )

    if verdict == "hint":
        ax.collections[-1].set_linestyle("--")  # an interval for itself alone
