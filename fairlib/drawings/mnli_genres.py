"""The figures of lesson 01: genres of MNLI, and the interval around a bias."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame, Series

from fairlib import plots
from fairlib.drawings._findings import write_finding

DEFINITION = (
    "Amortized disparities if half of the pairs are from government: 2,000 pairs of "
    "government and 18,000 of other genres, weighted to one half each. Line: the mean "
    "of all values. Data: {}."
)
ESTIMATES = (
    "10,000 simulated samples of 500 pairs, half of them from government. Upper span: "
    "the true bias, plus and minus the mean half-width of the intervals. Lower span: "
    "where 95 % of the estimates lie, counted from the true bias. Data: {}."
)
POWER = (
    "The 10,000 simulated samples once more: their estimates are shifted so that their "
    "centre is the bias that one sample could have shown. Left arrow and colours: the "
    "mean half-width. The bias uses our sample's half-width, which is a little below "
    "average, hence 78 %. The printed shares compare each estimate with its own "
    "half-width. Data: {}."
)
BOUNDS = (
    "Estimates with their 95 % intervals, one simulated sample each, after Figure 1 of "
    "the paper, which shows government only. Thin line: no bias. Left: samples of 250, "
    "500, 1,000, 1,500 and 2,000 pairs, a tenth of them from the genre. Right: samples "
    "of 500 pairs, with shares of 0.1, 0.2, 0.3, 0.4 and 0.5. With 500 pairs and a "
    "share of 0.1, left and right show two samples of the same setting. Data: {}."
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

    ticks = [-2, -0.8, -0.4, 0, 0.4, 0.8, 2]
    labels = [f"{tick:g}".replace("-", "−") for tick in ticks]
    if narrow:  # neighbours would touch: two of them are written a line lower
        labels[2] = f"\n{labels[2]}"
        labels[4] = f"\n{labels[4]}"
    ax.set_xticks(ticks, labels)
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
    half_width: float,
    narrow: bool = False,
) -> Figure:
    """Draw a histogram of estimates, and above it how far they and the intervals reach.

    Parameters
    ----------
    bias : array_like of float
        The estimates of many samples.
    truth : float
        The bias of the population.
    near : float
        How far from the truth 95 % of the estimates are at most.
    half_width : float
        The mean half-width of the intervals.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        The histogram, and two spans above it.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.2, 3.2))
    heights, _, _ = ax.hist(
        np.asarray(bias), bins=_edges(bias), color=plots.COLOURS["grey"]
    )
    top = float(np.max(heights))

    spans = {
        "95 % of the estimates": (1.35 * top, near),
        "true bias ± mean half-width": (1.65 * top, half_width),
    }
    for label, (height, distance) in spans.items():
        ends = [truth - distance, truth + distance]
        ax.plot(ends, [height, height], color="black", marker="|", markersize=9)
        plots.note(label, (truth, height), offset=(0, 4), ha="center", ax=ax)

    ax.plot([truth, truth], [0, 1.28 * top], color=_TRUTH, linestyle="--")
    ax.plot([0, 0], [0, 1.28 * top], color="black", linewidth=0.8)
    place = 1.13 * top
    plots.note("no bias", (0, place), offset=(-5, 0), ha="right", ax=ax)
    plots.note("true bias", (truth, place), offset=(5, 0), color=_TRUTH, ax=ax)

    ax.set(
        ylim=(0, 1.9 * top),
        yticks=np.arange(0, top, 200),
        xlabel="estimated bias against government",
        ylabel="samples",
    )
    ax.spines["left"].set_bounds(0, top)
    write_finding(figure, "The half-width is almost twice what these estimates need")
    return figure


def power(
    estimates: ArrayLike,
    *,
    bias: float,
    half_width: float,
    share: float,
    narrow: bool = False,
) -> Figure:
    """Draw which samples would show a larger bias.

    Parameters
    ----------
    estimates : array_like of float
        The estimates of many samples if the true bias were `bias`.
    bias : float
        The true bias.
    half_width : float
        The mean half-width of the samples.
    share : float
        The share of the samples that show the bias.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        A histogram in two colours, and the two terms of the bias above it.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.9, 3.2))
    values = np.asarray(estimates)
    # The bars begin at the half-width, so that each of them has one colour.
    first = np.floor((np.min(values) - half_width) / _BAR)
    last = np.ceil((np.max(values) - half_width) / _BAR)
    edges = half_width + _BAR * np.arange(first, last + 1)
    is_above = values > half_width
    heights, _, _ = ax.hist(
        [values[is_above], values[~is_above]],
        bins=edges,
        stacked=True,
        color=[plots.COLOURS["green"], "#D0D0D0"],
        linewidth=0,  # white edges would cover the lowest bars
    )
    top = float(np.max(heights))
    ax.text(bias + 0.022, 0.75 * top, f"{100 * share:.0f} %\nshow the bias")
    ax.text(
        half_width - 0.026,
        0.27 * top,
        f"{100 * (1 - share):.0f} %\ndo not",
        horizontalalignment="right",
    )

    line_height = 1.28 * top
    ax.plot([bias, bias], [0, line_height], color=_TRUTH, linestyle="--")
    for place in (0, half_width):
        ax.plot([place, place], [0, line_height], color="black", linewidth=0.8)
    height = 1.18 * top
    for start, end in ((0, half_width), (half_width, bias)):
        ax.annotate(
            "",
            (end, height),
            xytext=(start, height),
            arrowprops={
                "arrowstyle": "<->",
                "color": "black",
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )
    middle = half_width / 2
    plots.note("half-width", (middle, height), offset=(0, 4), ha="center", ax=ax)
    step = "0.84 standard errors"
    plots.note(step, (half_width, line_height), offset=(-5, 3), ax=ax)
    note = f"bias {bias:.3f}"
    plots.note(note, (bias, height), offset=(5, -3), color=_TRUTH, ax=ax)

    ax.set(
        ylim=(0, 1.45 * top),
        yticks=np.arange(0, top, 200),
        xlabel="estimated bias against government",
        ylabel="samples",
    )
    ax.spines["left"].set_bounds(0, top)
    percent = f"{100 * share:.0f} %"
    write_finding(
        figure, f"If the bias were {bias:.3f}, {percent} of samples would show it"
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
        figsize=(plots.NARROW if narrow else plots.WIDTH, 4.6),
        sharey=True,
        sharex="col",
    )

    for genre, pair in zip(genres, axes, strict=True):
        of_genre = intervals[intervals["genre"] == genre]
        for ax, panel in zip(pair, ("n", "gamma"), strict=True):
            shown = of_genre[of_genre["panel"] == panel]
            _intervals_and_truth(ax, shown, x=panel, truth=truth[genre])
            _name_truth(ax, between=shown[panel].iloc[-2:], truth=truth[genre])
        pair[0].set_ylabel(f"bias against\n{genre}")

    left, right = axes[-1]
    sizes = [250, 500, 1000, 1500, 2000]
    written = [250, 1000, 2000] if narrow else sizes  # others would touch on a phone
    labels = [f"{size:,}" if size in written else "" for size in sizes]
    left.set_xticks(sizes, labels)
    left.set_xlabel("annotated pairs n")
    right.set_xlabel("share of the genre")
    right.set_xticks([0.1, 0.2, 0.3, 0.4, 0.5])

    write_finding(
        figure, "Every one of these intervals contains the true bias and zero"
    )
    return figure


def _edges(bias: ArrayLike) -> NDArray:
    """Return the edges of the bars of a histogram of estimates."""
    return np.arange(np.min(bias) - 0.5 * _STEP, np.max(bias) + _BAR, _BAR)


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


def _name_truth(ax: Axes, *, between: Series, truth: float) -> None:
    """Write "true bias" at the line of the true bias, between the last two intervals.

    The words stand above the intervals if the bias is positive, and else below them.
    """
    before, last = between
    ax.annotate(
        "true bias",
        ((before + last) / 2, truth),
        xytext=(last, 0.18 if truth > 0 else -0.18),
        horizontalalignment="right",
        verticalalignment="center",
        color=_TRUTH,
        arrowprops={"arrowstyle": "-", "color": _TRUTH, "linewidth": 0.8},
    )
