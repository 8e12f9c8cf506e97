"""The figures of lesson 01: genres of MNLI, and the interval around a bias."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from pandas import DataFrame, Series

from fairlib import plots
from fairlib.drawings._findings import write_finding

DEFINITION = (
    "Amortized disparities if half of the pairs are from government: 2,000 pairs of "
    "government and 18,000 of other genres, weighted to one half each. Line: the mean "
    "of all values. Data: {}."
)
ESTIMATES = (
    "10,000 simulated samples of 500 pairs, half of them from government. Blue bar: "
    "where 95 % of the estimates lie, counted from the true bias. Orange bar: the true "
    "bias, plus and minus the mean half-width of the intervals. Data: {}."
)
BOUNDS = (
    "Estimates with their 95 % intervals, one simulated sample each, after Figure 1 "
    "of the paper, which shows government only. Dashed: the true bias. Thin line: no "
    "bias. Left: samples of 250, 500, 1,000, 1,500 and 2,000 pairs (logarithmic axis), "
    "a tenth of them from the genre. Right: samples of 500 pairs, with shares of 0.1, "
    "0.2, 0.3, 0.4 and 0.5. Data: {}."
)

# With 250 pairs in each group, estimates are 0.2 / 250 apart. Bars span a whole
# number of these steps, or they would be high and low in turn.
_STEP = 0.2 / 250
_BAR = 5 * _STEP
_TRUTH = "#C00000"  # the red line of the paper's Figure 1


def definition(
    values: ArrayLike, shares: ArrayLike, *, mean: float, narrow: bool = False
) -> Figure:
    """Draw the amortized disparities of two groups, and their small mean.

    Parameters
    ----------
    values : array_like of float
        The values that a pair can have: first those of government, then as many of the
        other genres.
    shares : array_like of float
        The share of all pairs that has each value.
    mean : float
        The mean of all values, which is the bias.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        Bars of the shares, and a line at the mean.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.6, 2.8))
    of_government, of_others = np.split(np.asarray(values), 2)
    heights, other_heights = np.split(100 * np.asarray(shares), 2)

    # Pairs of both groups can have the value 0: there one bar stands on the other.
    below = np.where(of_others == 0, heights, 0)
    ax.bar(of_government, heights, width=0.2, label="government")
    ax.bar(of_others, other_heights, width=0.2, bottom=below, label="other genres")

    ax.axvline(mean, color=_TRUTH, linestyle="--")
    top = float(np.max(heights + other_heights))
    plots.note(
        f"mean: {mean:.4f},\nthe bias",
        (mean, 1.08 * top),
        offset=(5, 0),
        va="bottom",
        color=_TRUTH,
        ax=ax,
    )
    for places, sizes in ((of_government, heights), (of_others, other_heights)):
        plots.note(
            f"{sizes[-1]:.1f} %",
            (places[-1], sizes[-1]),
            offset=(0, 3),
            ha="center",
            ax=ax,
        )

    ticks = [-2, -0.8, 0, 0.8, 2] if narrow else [-2, -0.8, -0.4, 0, 0.4, 0.8, 2]
    ax.set_xticks(ticks, [f"{tick:g}".replace("-", "−") for tick in ticks])
    ax.set_xticks([-0.4, 0.4], minor=True)  # on a phone without numbers
    ax.set(
        ylim=(0, 1.4 * top), xlabel="amortized disparity", ylabel="share of values (%)"
    )
    ax.legend(loc="upper left", frameon=False)
    write_finding(figure, "The bias is a small mean of widely scattered values")
    return figure


def estimates(
    bias: ArrayLike,
    truth: float,
    *,
    near: float,
    reach: float,
    narrow: bool = False,
) -> Figure:
    """Draw a histogram of estimates, and on top how far they and the intervals reach.

    Parameters
    ----------
    bias : array_like of float
        The estimates of many samples.
    truth : float
        The bias of the population.
    near : float
        How far from the truth 95 % of the estimates are at most.
    reach : float
        The mean half-width of the intervals.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        Two bars on top and the histogram below, over the same axis.
    """
    figure, (top, bottom) = plots.page(
        narrow, panels=(2, 1), heights=(3.2, 3.2), height_ratios=[1, 3], sharex=True
    )

    spans = {
        "95 % of the estimates": (truth - near, truth + near),
        "true bias ± mean half-width": (truth - reach, truth + reach),
    }
    for place, (label, ends) in enumerate(spans.items()):
        top.plot(
            ends,
            [place, place],
            color=list(plots.COLOURS.values())[place],
            linewidth=6,
            solid_capstyle="butt",
        )
        plots.note(label, (truth, place), offset=(0, 5), ha="center", ax=top)

    top.set(ylim=(-0.4, 2.1), yticks=[])
    top.tick_params(axis="x", length=0)
    top.spines[["left", "bottom"]].set_visible(False)
    write_finding(figure, "The half-width is almost twice what these estimates need")

    edges = np.arange(np.min(bias) - 0.5 * _STEP, np.max(bias) + _BAR, _BAR)
    heights, _, _ = bottom.hist(
        np.asarray(bias), bins=edges, color=plots.COLOURS["sky"]
    )
    bottom.axvline(truth, color=_TRUTH, linestyle="--")
    bottom.axvline(0, color="black", linewidth=0.8)
    top_of_bars = float(np.max(heights))
    height = 1.1 * top_of_bars
    plots.note("no bias", (0, height), offset=(-5, 0), ha="right", ax=bottom)
    plots.note("true bias", (truth, height), offset=(5, 0), color=_TRUTH, ax=bottom)
    bottom.set(
        ylim=(0, 1.25 * top_of_bars),
        xlabel="estimated bias against government",
        ylabel="samples",
    )
    return figure


def bounds(intervals: DataFrame, truth: Series, *, narrow: bool = False) -> Figure:
    """Draw the intervals of several genres over n and over the protected share.

    Parameters
    ----------
    intervals : DataFrame
        One row per interval, with the columns `genre`, `panel` ("n" or "gamma"), `n`,
        `gamma`, `bias`, `low` and `high`.
    truth : Series
        The true bias of each genre.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One row of axes per genre: n on the left, the protected share on the right.
    """
    genres = intervals["genre"].unique()
    figure, axes = plt.subplots(
        len(genres),
        2,
        figsize=(plots.NARROW if narrow else plots.WIDTH, 4.8),
        sharey=True,
        sharex="col",
    )

    for genre, pair in zip(genres, axes, strict=True):
        of_genre = intervals[intervals["genre"] == genre]
        for ax, panel in zip(pair, ("n", "gamma"), strict=True):
            shown = of_genre[of_genre["panel"] == panel]
            _intervals_and_truth(ax, shown, x=panel, truth=truth[genre])
        pair[0].set_ylabel(f"bias against\n{genre}")

    left, right = axes[-1]
    plots.log_axis([250, 500, 1000, 2000], axis="x", ax=left)
    left.set_xlabel("annotated pairs n")
    right.set_xlabel("share of the genre")
    right.set_xticks([0.1, 0.3, 0.5])

    plots.note(
        "true bias",
        (0.5, truth[genres[0]]),
        offset=(0, 22),
        ha="right",
        color=_TRUTH,
        ax=axes[0, 1],
    )
    write_finding(figure, "Every interval contains the true bias. None excludes zero.")
    return figure


def _intervals_and_truth(ax: Axes, shown: DataFrame, *, x: str, truth: float) -> None:
    """Draw one panel: the intervals, the true bias and zero."""
    plots.intervals(
        shown[x],
        shown["bias"],
        low=shown["low"],
        high=shown["high"],
        ax=ax,
    )
    ax.axhline(truth, color=_TRUTH, linestyle="--")
    ax.axhline(0, color="black", linewidth=0.6)
