"""The figures of lesson 14: many groups, early looks and guessed groups."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._findings import write_finding

COVERAGE = (
    "How often 95 % intervals for the highest minus the lowest rate contain the true "
    "gap, which is zero. Groups of 200 people, each with the true rate 10 %. A mark "
    "rests on 400 imagined tests, so it can differ a little from the 10,000 tests of "
    "the text. The short vertical bars show how exact it is (95 %). Simulation. No "
    "data of real people are involved."
)
SEQUENCE = (
    "African-American minus Caucasian false alarm rate, by the number of defendants "
    "annotated so far, in one shuffled order of {people:,} people who were not charged "
    "again. Blue band: the 95 % confidence sequence, cut off below −0.5. It can only "
    "shrink, so its edge is flat in places. The band uses pairs only, and the estimate "
    "uses all people, so it need not lie in the middle. Thin lines: the ends of the "
    "ordinary 95 % interval, made for a single look. Dashed line: the difference when "
    "all these people are counted. Data: {data}."
)
WAYS = (
    "African-American minus Caucasian false alarm rate of {people:,} people who were "
    "not charged again, with 95 % intervals: from the guessed groups of all, from the "
    "guessed and the true groups of 300 annotated people, and from all of these "
    "together (prediction-powered). The guesses are simulated, and right in 90 %. "
    "Data: {data}."
)

# The methods that are drawn, as the bundled table `gap_coverage` names them
_NAMES = {"largest pair": "ordinary interval", "gaps.interval": "interval for the gap"}


def coverage_by_groups(coverage: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw how often intervals contain the true gap, by the number of groups.

    Parameters
    ----------
    coverage : DataFrame
        One row per method and number of groups: `method`, `groups`, `coverage` and
        `error`, the standard error of the simulation. Methods that this lesson leaves
        out are not drawn.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One line per method, and the line at 95 %.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.6, 2.8))
    looks = (("orange", "s", "--"), ("blue", "o", "-"))
    shifts = (-0.2, 0.2)  # so that marks of the same height lie beside each other
    for (method, name), (colour, marker, line), shift in zip(
        _NAMES.items(), looks, shifts, strict=True
    ):
        one = coverage[coverage["method"] == method].sort_values("groups")
        ax.errorbar(
            one["groups"] + shift,
            100 * one["coverage"],
            yerr=196 * one["error"],
            color=plots.COLOURS[colour],
            marker=marker,
            linestyle=line,
            capsize=2,
            label=name,
        )

    ax.axhline(95, color="black", linewidth=0.8, linestyle=":", label="promise: 95 %")
    ax.set_xticks(sorted(coverage["groups"].unique()))
    ax.set(xlabel="number of groups", ylabel="coverage, in %", ylim=(0, 105))
    ax.set_xlim(0, 21)
    ax.legend(loc="upper right", bbox_to_anchor=(1, 0.88))
    finding = (
        "If no group differs, the ordinary interval fails more often with more groups"
    )
    write_finding(figure, finding)
    return figure


def sequence(
    looks: DataFrame,
    single: Sequence[Any],
    stop: int,
    truth: float,
    *,
    narrow: bool = False,
) -> Figure:
    """Draw a confidence sequence over a growing audit.

    Parameters
    ----------
    looks : DataFrame
        One row per look: `n`, `estimate`, `low`, `high`.
    single : sequence of Interval
        The ordinary interval, made for a single look, at each look.
    stop : int
        Where the sequence first excludes zero.
    truth : float
        The difference between all people, which the sequence should contain.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        A band, the estimate, the ends of the ordinary interval, and the line of the
        truth.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.9, 3.2))
    ax.fill_between(
        looks["n"],
        looks["low"],
        looks["high"],
        color=plots.COLOURS["sky"],
        alpha=0.6,
        linewidth=0,
        label="confidence sequence",
    )
    ax.plot(looks["n"], looks["estimate"], color="black", label="estimate")
    ax.plot(
        looks["n"],
        [(interval.low, interval.high) for interval in single],
        color=plots.COLOURS["blue"],
        linewidth=0.8,
        label=["ordinary interval", None],
    )
    ax.axhline(
        truth,
        color=plots.COLOURS["vermillion"],
        linewidth=1.2,
        linestyle="--",
        label="true difference",
    )

    ax.axhline(0, color="black", linewidth=0.8)
    # The line ends above the legend.
    ax.vlines(stop, 0, 0.65, color="black", linestyle=":", linewidth=1)
    plots.note(f"stop at {stop}", (stop, 0.6), offset=(4, 0), ax=ax)
    ax.set(
        xlabel="defendants annotated",
        ylabel="difference in false alarm rate",
        xlim=(0, looks["n"].max()),
        ylim=(-0.5, 0.75),
    )
    ax.legend(loc="lower right")
    write_finding(
        figure, f"After {stop} defendants zero is excluded, and the audit may stop"
    )
    return figure


def ways(intervals: Mapping[str, Any], *, truth: float, narrow: bool = False) -> Figure:
    """Draw the same difference as it is estimated in several ways.

    Parameters
    ----------
    intervals : mapping of str to Interval
        The interval of each way.
    truth : float
        The difference between the true groups.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One interval per way, and lines at zero and at the truth.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.3, 2.8))
    places = np.arange(len(intervals))
    plots.intervals(places, intervals.values(), horizontal=True, ax=ax)

    names = [fill(name, 15) if narrow else name for name in intervals]
    ax.axvline(truth, color="black", linewidth=1.2)
    label = fill("true difference", 12) if narrow else "true difference"
    plots.note(label, (truth, -0.5), offset=(4, -2), ax=ax, va="top")
    ax.axvline(0, color=plots.COLOURS["grey"], linewidth=0.8)
    ax.set_yticks(places, names)
    ax.set(ylim=(len(intervals) - 0.5, -0.5), xlabel="difference in false alarm rate")
    write_finding(figure, "These guesses make the difference look smaller than it is")
    return figure
