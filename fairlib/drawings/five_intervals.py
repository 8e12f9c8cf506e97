"""The figures of lesson 13: how often intervals cover, and how wide they are."""

import numpy as np
from matplotlib.figure import Figure
from numpy import ndarray
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._findings import write_finding

FORTY = (
    "Welch's 95 % intervals in forty samples from an imagined town: 5 people of a "
    "small group, 7 % of whom receive a false alarm, and 45 people of a large group, "
    "with 2 %. Difference: small minus large group. Black line: the true difference. "
    "Blue circles: the interval contains it. Orange squares: it does not. Simulation. "
    "No data of real people are involved."
)
RESULTS = (
    "How probable each number of false alarms in the small group is, in an imagined "
    "town with 5 people of this group, 7 % of whom receive one, and 45 of the large "
    "group, with 2 %. Blue: Welch's 95 % interval contains the true difference. "
    "Orange, hatched: it misses. Three has a probability of 3 in 1,000, too little to "
    "be seen; four and five are rarer still, and are not drawn. Computed by listing "
    "all possible results."
)
SCATTER = (
    "Five 95 % intervals for a difference between two rates. To the right: the width "
    "on ordinary data, 50 false alarms among 200 people and 40 among 200. Up: the "
    "lowest coverage in 96 imagined towns where 50 to 1,000 people are drawn. Computed "
    "by listing all possible results; no sampling error."
)

# Where the name of a method stands beside its mark, in points of type, and which side
# of the name is at the mark. The marks of the last three are close to each other.
_BESIDE = {
    "Bernstein": ((15, 8), "right"),
    "exact": ((-7, 3), "right"),
    "Newcombe": ((6, -6), "left"),
    "Welch": ((7, -3), "left"),
}


def forty(samples: DataFrame, *, truth: float, narrow: bool = False) -> Figure:
    """Draw the intervals of many samples, and whether each contains the truth.

    Parameters
    ----------
    samples : DataFrame
        One row per sample, with `estimate`, `low` and `high`.
    truth : float
        The true difference.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One interval per sample, side by side.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.6, 2.8))
    places = np.arange(1, len(samples) + 1)
    contains = (samples["low"] <= truth) & (truth <= samples["high"])

    looks = ((contains, "blue", "o", "contain"), (~contains, "orange", "s", "miss"))
    for chosen, colour, marker, verb in looks:
        plots.intervals(
            places[chosen],
            samples["estimate"][chosen],
            low=samples["low"][chosen],
            high=samples["high"][chosen],
            colour=colour,
            marker=marker,
            markersize=3,
            label=f"{np.count_nonzero(chosen)} {verb} it",
            ax=ax,
        )

    ax.axhline(truth, color="black", linewidth=1)
    ax.set(xlabel="sample", ylabel="difference in points", ylim=(-0.5, 1.4))
    ax.set_yticks([-0.5, 0, 0.5, 1], labels=["-50", "0", "50", "100"])
    ax.legend(loc="upper right", ncols=2)
    write_finding(figure, "Most of these 95 % intervals miss the true difference")
    return figure


def results(
    right: ndarray, wrong: ndarray, coverage: float, *, narrow: bool = False
) -> Figure:
    """Draw how probable each number of errors is, and whether intervals are right.

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
    shown = np.flatnonzero(right + wrong > 0.0005)
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
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_ylim(0, 1.4 * (right + wrong).max())
    ax.legend(loc="upper right", ncols=1 if narrow else 2)
    write_finding(
        figure, f"Welch's interval is right in {100 * coverage:.0f} % of samples"
    )
    return figure


def scatter(methods: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the lowest coverage of methods against their width on ordinary data.

    Parameters
    ----------
    methods : DataFrame
        One row per method, named by the index: `lowest coverage` and `width in points`.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One mark per method, and the line at 95 %.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.0, 3.2))
    # A phone has no room for a name and a number in one line.
    separator = "\n" if narrow else ": "
    looks = zip(methods.iterrows(), plots.COLOURS.values(), plots.MARKERS, strict=False)
    for (name, row), colour, marker in looks:
        at = (row["width in points"], 100 * row["lowest coverage"])
        # The title is about the exact interval, so its mark lies above the others.
        layer = 4 if name == "exact" else 3
        ax.plot(*at, marker, color=colour, markersize=5, zorder=layer)
        offset, side = _BESIDE.get(str(name), ((0, 8), "center"))
        plots.note(
            f"{name}{separator}{at[1]:.1f} %",
            at,
            offset=offset,
            ha=side,
            va="top" if offset[1] < -5 else "bottom",
            ax=ax,
        )

    ax.axhline(95, color="black", linewidth=0.8, linestyle="--")
    plots.note("promised: 95 %", (60, 95), offset=(0, -3), ha="right", va="top", ax=ax)
    ax.set(
        xlim=(0, 60),
        ylim=(20, 118),
        yticks=range(20, 101, 20),
        xlabel="width on ordinary data, in points",
        ylabel="lowest coverage, in %",
    )
    finding = (
        "The exact interval keeps its promise; on ordinary data that costs little width"
    )
    write_finding(figure, finding)
    return figure
