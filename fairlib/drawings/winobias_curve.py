"""The figures of lesson 02: how many sentences a claim of bias needs."""

from collections.abc import Iterable, Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._findings import write_finding

CLAIM = (
    "The interval of the paper around an observed bias of 0.05, for five numbers of "
    "sentences. Grey: it contains zero. Green: it excludes zero, and the claim is "
    "supported. At 11,903 sentences it excludes zero only just. Computed from "
    "equation 3 of the paper. No data are involved."
)
CURVE = (
    "Sentences needed before the 95 % interval around an observed bias excludes "
    "zero, for two groups of equal size. Blue: the curve of the paper's Figure 2. "
    "Orange: the same formula after one half is subtracted from every cost. Black "
    "dot: our exact interval, at error rates near one half. Circle: the exact interval "
    "at supposed error rates of 0.25 and 0.20. Black line: the 3,160 sentences of "
    "WinoBias. Computed from equation 4 of the paper and from binomial probabilities. "
    "No data are involved."
)


def claim(intervals: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw intervals around one observed bias, for several numbers of sentences.

    Parameters
    ----------
    intervals : DataFrame
        One row per number of sentences, which is the index, with `low` and `high`.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One interval per number of sentences, and the line at zero.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.2, 2.6))
    places = np.arange(len(intervals))
    excludes_zero = (intervals["low"] > 0).to_numpy()
    middle = (intervals["low"] + intervals["high"]) / 2

    for chosen, colour in ((~excludes_zero, "grey"), (excludes_zero, "green")):
        plots.intervals(
            places[chosen],
            middle[chosen],
            low=intervals["low"][chosen],
            high=intervals["high"][chosen],
            colour=colour,
            horizontal=True,
            ax=ax,
        )

    # Behind the intervals: one of them ends just above zero.
    ax.axvline(0, color="black", linewidth=0.8, zorder=0)
    ax.set_yticks(places, [f"{n:,} sentences" for n in intervals.index])
    ax.set_ylim(len(intervals) - 0.5, -0.5)
    ax.set_xlabel("bias")
    write_finding(figure, "A claim is supported once the interval excludes zero")
    return figure


def curve(
    bias: ArrayLike,
    needed: Mapping[str, ArrayLike],
    *,
    available: int,
    at: float,
    counts: Iterable[int],
    narrow: bool = False,
) -> Figure:
    """Draw how many sentences an observed bias needs before it can be claimed.

    Parameters
    ----------
    bias : array_like of float
        The observed biases.
    needed : mapping of str to array_like
        The numbers of sentences, for each way to compute them.
    available : int
        The number of sentences that there are.
    at : float
        A bias at which the numbers of sentences are written.
    counts : iterable of int
        These four numbers: one per curve, the most that the exact interval needs, and
        what it needs at other error rates.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One curve per way and two dots for the exact interval, over a logarithmic axis.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.4, 3.8))
    plots.curves(bias, needed, looks=[("-", "blue"), ("--", "orange")], ax=ax)
    ax.axhline(available, color="black", linewidth=0.8)
    right = np.max(bias)
    name = f"WinoBias: {available:,}"
    plots.note(name, (right, available), offset=(0, 3), ha="right", ax=ax)

    paper, centred, most, least = counts
    ax.plot(at, paper, "o", color=plots.COLOURS["blue"], markersize=5)
    ax.plot(at, centred, "o", color=plots.COLOURS["orange"], markersize=5)
    name = "exact, near one half"
    ax.plot(at, most, "o", color="black", markersize=5, label=name)
    name = "exact, 0.25 and 0.20"
    ax.plot(at, least, "o", color="black", markersize=5, fillstyle="none", label=name)
    plots.note(f"{paper:,}", (at, paper), offset=(7, 3), ax=ax)
    # Left of the dots, below the line: other curves are to the right.
    for count, text, drop in (
        (centred, f"{centred:,}" if narrow else f"{centred:,} < {available:,}", -6),
        (most, f"{most:,}", 0),
        (least, f"{least:,}", 0),
    ):
        plots.note(text, (at, count), offset=(-6, drop), ha="right", va="center", ax=ax)

    plots.log_axis([300, 1000, 3000, 10_000, 30_000, 100_000], ax=ax)
    ax.set_ylim(150, 200_000)
    ax.set_xlim(0, right)
    ax.set_xticks([0, 0.05, 0.1, 0.15, 0.2])
    ax.set(xlabel="observed bias", ylabel="sentences needed")
    ax.legend()
    finding = "The same promise needs about a quarter of the sentences, or fewer"
    write_finding(figure, finding)
    return figure
