"""The figures of lesson 13: how often intervals cover, and how wide they are."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy import ndarray
from pandas import DataFrame, Series

from fairlib import plots
from fairlib.drawings._findings import write_finding

RESULTS = (
    "How probable each number of false alarms in the small group is, in an imagined "
    "town: 5 people of this group, with a rate of 7\u00a0%, and 45 of the large group, "
    "with 2\u00a0%. Blue: Welch's 95\u00a0% interval contains the true difference. "
    "Orange, hatched: "
    "it misses. Three or more (3 in 1,000 samples) are not drawn. Computed by listing "
    "all possible results."
)
COVERAGE_AND_WIDTH = (
    "Five 95\u00a0% intervals for a difference between two rates. First panel: the "
    "share of samples whose interval misses the truth (one minus the coverage), in the "
    "worst of 96 imagined towns where 50 to 1,000 people are drawn. Second panel: the "
    "width on other data, 50 false alarms among 200 people and 40 among 200. The exact "
    "interval is also narrower than Bernstein's two on average in each of the 96 "
    "towns, and up to 20\u00a0% wider than Newcombe's. Computed from the counts; the "
    "coverages by listing all possible results."
)

# How the lesson calls each method of `bounds.METHODS`.
NAMES = {
    "bernstein_maximal": "Bernstein",
    "bernstein_centred": "Bernstein, centred",
    "exact_unconditional": "exact",
    "newcombe": "Newcombe",
    "welch": "Welch",
}
# What the lesson calls the columns of `fairlib.load("coverage")` that describe a town.
COLUMNS = {
    "n": "drawn",
    "gamma": "small_share",
    "rate": "large_rate",
    "bias": "extra",
}
# Numbers are written above bars only if each bar has room for them.
_MOST_NUMBERS = 6


def results(
    right: ndarray, wrong: ndarray, coverage: float, *, narrow: bool = False
) -> Figure:
    """Draw how probable each number of false alarms is, and which intervals are right.

    Parameters
    ----------
    right, wrong : ndarray of float
        For each number of false alarms in the small group, from 0 on, the probability
        of a sample whose interval contains the truth, and of one that misses it.
    coverage : float
        The probability of an interval that contains the truth.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        Bars of two parts.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.4, 2.8))
    probability = right + wrong
    # A bar of less than 1/200 of the tallest one could not be seen.
    shown = np.flatnonzero(probability > probability.max() / 200)
    ax.bar(shown, right[shown], color=plots.COLOURS["blue"], label="contains the truth")
    ax.bar(
        shown,
        wrong[shown],
        bottom=right[shown],
        color=plots.COLOURS["orange"],
        hatch="///",
        edgecolor="white",
        label="misses the truth",
    )

    ax.set(xlabel="false alarms in the small group", ylabel="probability")
    if len(shown) <= _MOST_NUMBERS:
        for place in shown:
            at = (float(place), float(probability[place]))
            plots.note(
                f"{probability[place]:.2f}", at, offset=(0, 3), ha="center", ax=ax
            )
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_ylim(0, 1.15 * probability.max())
    ax.legend(loc="upper right")
    finding = (
        f"In this town Welch's interval is right in {100 * coverage:.0f} % of samples"
    )
    write_finding(figure, finding)
    return figure


def coverage_and_width(methods: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw how often methods miss at most, and their width on ordinary data.

    Parameters
    ----------
    methods : DataFrame
        One row per method, named by the index: `coverage`, the lowest one, and
        `width in points`.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        Two panels with one line per method, and the line at 5 % of misses.
    """
    figure, (left, right) = plots.page(
        narrow, panels=(1, 2), heights=(2.3, 4.8), sharey=True
    )
    _draw_lines(left, 100 * (1 - methods["coverage"]), limit=5)
    left.axvline(5, color="black", linewidth=0.8, linestyle="--", zorder=1)
    left.set(
        xlim=(0, 95),
        xticks=range(0, 81, 20),
        xlabel="misses in the worst of 96 towns, in %\n(dashed: the 5 % allowed)",
    )

    _draw_lines(right, methods["width in points"])
    right.set(
        xlim=(0, 68),
        xticks=range(0, 61, 20),
        xlabel="width in points, on other data\n(50 of 200 people, 40 of 200)",
    )
    left.set_ylim(len(methods) - 0.5, -0.5)
    write_finding(
        figure,
        "Three intervals keep their promise; the exact one is the narrowest of them",
    )
    return figure


def _draw_lines(ax: Axes, values: Series, *, limit: float = 0) -> None:
    """Draw a line from 0 to each value, with a mark at its end and the number.

    The number is to the right of the mark, and of `limit`.
    """
    looks = zip(values.items(), plots.COLOURS.values(), plots.MARKERS, strict=False)
    for (name, value), colour, marker in looks:
        ax.plot([0, value], [name, name], color=colour, linewidth=1)
        ax.plot(
            value, name, marker, color=colour, markersize=5, zorder=3, clip_on=False
        )
        at = (max(value, limit), name)
        plots.note(f"{value:.1f}", at, offset=(8, 0), va="center", ax=ax)
