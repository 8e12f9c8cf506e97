"""The figures of lesson 01: genres of MNLI, and the interval around a bias."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from pandas import DataFrame, Series

from fairlib import plots
from fairlib.drawings._findings import write_finding

DEFINITION = (
    "How the costs of all pairs are distributed (top), and their means (bottom). n "
    "= 2,000 pairs of government and 18,000 of other genres. Data: {}."
)
ESTIMATES = (
    "10,000 simulated samples of 500 pairs, half of them from government. Blue: the "
    "middle 95 % of the estimates. Orange: the true bias, plus and minus the mean "
    "half-width of the intervals. Data: {}."
)
BOUNDS = (
    "Estimates with their 95 % intervals, one simulated sample each, after Figure 1 "
    "of the paper, which shows government only. Dashed: the true bias. Left: a "
    "tenth of each sample is from the genre. Right: each sample has 500 pairs. "
    "Data: {}."
)

# With 250 pairs in each group, estimates are 0.2 / 250 apart. Bars span a whole
# number of these steps, or they would be high and low in turn.
_STEP = 0.2 / 250
_BAR = 5 * _STEP
_TRUTH = "#C00000"  # the red line of the paper's Figure 1


def definition(shares: DataFrame, means: Series, *, narrow: bool = False) -> Figure:
    """Draw the costs of two groups, and the bias as the distance of their means.

    Parameters
    ----------
    shares : DataFrame
        One row per group and one column per cost: the share of examples with it.
    means : Series
        The mean cost of each group, in the same order.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        Bars of the shares, and below them the two means with the distance between.
    """
    figure, (bars, dots) = plots.page(
        narrow, panels=(2, 1), heights=(3.4, 3.6), height_ratios=[2, 1]
    )
    places = np.arange(shares.shape[1])
    colours = ("blue", "orange")

    for number, group in enumerate(shares.index):
        colour = plots.COLOURS[colours[number]]
        bars.bar(
            places + 0.38 * (number - 0.5),
            100 * shares.loc[group],
            width=0.36,
            color=colour,
            label=group,
        )
        dots.plot(means[group], -number, plots.MARKERS[number], color=colour, ms=7)

    bars.set_xticks(places, [f"{cost:g}" for cost in shares.columns])
    bars.set(xlabel="cost of a pair", ylabel="share of pairs (%)")
    bars.legend()
    write_finding(figure, "The bias is the distance between two mean costs")

    low, high = sorted(means)
    dots.plot([low, high], [-0.5, -0.5], "|-", color="black", ms=8, linewidth=1)
    plots.note(f"bias: {high - low:.4f}", (high, -0.5), offset=(10, -3), ax=dots)
    dots.set_yticks([0, -1], list(means.index))
    dots.set(ylim=(-1.6, 0.6), xlim=(0.1, 0.2), xlabel="mean cost")
    return figure


def estimates(
    bias: ArrayLike,
    truth: float,
    *,
    middle: Sequence[float],
    reach: float,
    narrow: bool = False,
) -> Figure:
    """Draw a histogram of estimates, and on top how far a bound lets them stray.

    Parameters
    ----------
    bias : array_like of float
        The estimates of many samples.
    truth : float
        The bias of the population.
    middle : (float, float)
        The ends between which 95 % of the estimates lie.
    reach : float
        The half width of the interval: what the bound allows.
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
        "95 % of the estimates": tuple(middle),
        "what the bound allows": (truth - reach, truth + reach),
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
    write_finding(figure, "The bound allows twice what the estimates need")

    edges = np.arange(np.min(bias) - 0.5 * _STEP, np.max(bias) + _BAR, _BAR)
    bottom.hist(np.asarray(bias), bins=edges, color=plots.COLOURS["sky"])
    bottom.axvline(truth, color=_TRUTH, linestyle="--", label="true bias")
    bottom.axvline(0, color="black", linewidth=0.8, label="no bias")
    bottom.set(xlabel="estimated bias against government", ylabel="samples")
    bottom.legend(loc="upper left")
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
    plots.log_axis([250, 2000] if narrow else [250, 500, 1000, 2000], axis="x", ax=left)
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
