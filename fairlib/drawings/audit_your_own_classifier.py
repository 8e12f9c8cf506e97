"""The figure of lesson 15: what an audit answered."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._findings import write_finding

COMPARISONS = (
    "Each age group compared with all other patients. The solid intervals have a "
    "level of 99.2\u00a0%, to allow for all six comparisons. The dashed 95\u00a0% "
    "interval is for this comparison alone; at 99.2\u00a0% it would contain zero. "
    "Grey band: differences below five points, up or down. Below each group: how many "
    "of its patients, and of all others, count for the rate. Data: 442 diabetes "
    "patients (shipped with scikit-learn), predictions by cross-validation."
)

_LOOKS = {
    "shown": ("vermillion", "o"),
    "hint": ("black", "s"),
    "open": ("blue", "^"),
    "small": ("green", "D"),
}
_WORDS = {
    "shown": "strong evidence",
    "hint": "some evidence",
    "open": "too weak to tell",
    "small": "ruled out",
}


def comparisons(frame: DataFrame, *, margin: float, narrow: bool = False) -> Figure:
    """Draw the differences of an audit, one panel for each rate.

    Parameters
    ----------
    frame : DataFrame
        One row per comparison: `rate`, `group`, `n`, `n_against`, `difference`, `low`,
        `high` and `verdict`, as `Report.to_frame` returns them.
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
        narrow, panels=(1, len(rates)), heights=(2.4, 4.4), sharex=True, sharey=False
    )
    for ax, rate in zip(axes, rates, strict=True):
        rows = frame[frame["rate"] == rate]
        _draw_margin(ax, 100 * margin)
        for place, row in enumerate(rows.itertuples()):
            ends = [100 * row.difference, 100 * row.low, 100 * row.high]
            _draw_interval(ax, place, row.verdict, ends)

        names = [
            f"{row.group.removeprefix('age = ')}\n{row.n} | {row.n_against} others"
            for row in rows.itertuples()
        ]
        ax.set_yticks(np.arange(len(rows)), names)
        ax.set(title=rate, ylim=(len(rows) - 0.5, -0.5))
        ax.tick_params(labelbottom=True)
    axes[0].set_xlim(100 * frame["low"].min() - 20, 100 * frame["high"].max() + 5)

    for ax in axes[-1:] if narrow else axes:
        ax.set_xlabel("points above (+) or below (−) others")
    young = frame.set_index(["rate", "group"]).loc[("misses", "age = under 40")]
    write_finding(
        figure,
        "The model misses young patients more often than others, "
        f"by {100 * young['low']:.0f} to {100 * young['high']:.0f} points",
    )
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

    ax.annotate(
        _WORDS[verdict],
        (low if estimate > 0 else high, place),
        xytext=(0, 5),
        textcoords="offset points",
        horizontalalignment="left" if estimate > 0 else "right",
        color=plots.COLOURS[colour],
        fontsize=8,
    )
    if verdict == "hint":
        ax.collections[-1].set_linestyle("--")  # an interval for itself alone
