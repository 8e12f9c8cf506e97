"""The drawings of lesson 18: scores on two sides of a line, and what the line costs."""

import numpy as np
from matplotlib.figure import Figure
from numpy import ndarray
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._findings import write_finding

DEFINITION = (
    "Scores of 200 people in need (upwards) and of 242 others (downwards); a bar spans "
    "five points of score. Data: 442 people with diabetes, from the table of Efron and "
    "others (2004) that comes with scikit-learn."
)
COSTS = (
    "Cost of each threshold minus the cost of the threshold 17 (dashed), in needless "
    "invitations; a miss costs 5 of them. The line is the sample; the shaded area "
    "holds exact 95 % intervals, with the number of people between the two "
    "thresholds taken as given. Above 60, too, all intervals lie above zero. Data: "
    "442 people with diabetes, Efron and others (2004)."
)

_BINS = np.arange(0, 106, 5)


def definition(
    score: ndarray, in_need: ndarray, *, threshold: int, narrow: bool = False
) -> Figure:
    """Draw the scores of those in need above the axis, and of all others below it.

    Parameters
    ----------
    score : ndarray of int
        The score of each person, from 0 to 100.
    in_need : ndarray of bool
        Who is in need.
    threshold : int
        The line; a multiple of five.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        Bars up and down; the errors have a colour of their own.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.0, 3.4))
    invited = score >= threshold
    missed = in_need & ~invited
    corners = (
        (missed, (2, 27), "vermillion", "missed"),
        (in_need & invited, (102, 27), "sky", "in need, invited"),
        (~in_need & invited, (102, -44), "orange", "invited needlessly"),
        (~in_need & ~invited, (2, -44), "grey", "rightly not invited"),
    )

    for members, (x, y), colour, name in corners:
        counts, _ = np.histogram(score[members], bins=_BINS)
        ax.bar(
            _BINS[:-1],
            np.sign(y) * counts,
            width=4.6,
            align="edge",
            color=plots.COLOURS[colour],
        )
        ax.text(
            x,
            y,
            f"{np.count_nonzero(members)} {name}",
            ha="left" if x < 50 else "right",
            va="center",
        )

    # The line ends below the words, which it would cross at some thresholds.
    line = [threshold - 0.2, threshold - 0.2]
    ax.plot(line, [-39, 24], color="black", linestyle="--")
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set(xlabel="score (%)", ylabel="people", xlim=(0, 104), ylim=(-50, 32))
    ax.yaxis.set_major_formatter(lambda count, _: f"{abs(count):.0f}")
    share = f"{np.count_nonzero(missed)} of {np.count_nonzero(in_need)}"
    write_finding(figure, f"At {threshold}, {share} people in need are missed")
    return figure


def costs(intervals: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw what thresholds cost beyond one of them.

    Parameters
    ----------
    intervals : DataFrame
        A row for each threshold, with its "extra cost" in the sample, and the ends
        "from" and "to" of its interval; the threshold 17 has no row.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A line in a shaded area, in two parts.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.7, 3.0))
    shown = intervals.loc[:60]

    # Two parts, because the threshold 17 is compared with the others, not with itself.
    for part in (shown.loc[:16], shown.loc[18:]):
        ax.fill_between(
            part.index, part["from"], part["to"], color=plots.COLOURS["sky"], alpha=0.6
        )
        ax.plot(part.index, part["extra cost"], color=plots.COLOURS["blue"])
    ax.axhline(0, color="black", linewidth=0.8)
    ax.axvline(17, color="black", linestyle="--", linewidth=0.8)
    ax.set(
        xlabel="threshold (%)",
        ylabel="extra cost (needless invitations)",
        xlim=(0, 60),
    )
    write_finding(
        figure,
        "If a miss costs 5, all thresholds from 35 on are shown to cost more than 17",
    )
    return figure
