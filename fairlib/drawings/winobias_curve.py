"""The figures of lesson 02: how many sentences a claim of bias needs."""

from collections.abc import Iterable, Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._findings import write_finding

CLAIM = (
    "The interval of the paper around an observed bias of 0.05, for four numbers of "
    "sentences. Blue: it contains zero. Orange: it excludes zero, and the claim is "
    "supported. Computed from equation 3 of the paper. No data are involved."
)
CENTRING = (
    "The amortized disparity of a sentence against the stereotype or with it, for a "
    "wrong and for a right answer. The groups have equal sizes. Blue: a wrong answer "
    "costs 1. Orange: one half is subtracted from every cost. Computed from the "
    "definition. No data are involved."
)
CURVE = (
    "Sentences needed before the 95 % interval around an observed bias excludes "
    "zero, for two groups of equal size. Blue: Figure 2 of the paper. Orange: the "
    "same formula after one half is subtracted from every cost. Black: the 3,160 "
    "sentences of WinoBias. The vertical axis is logarithmic. Computed from equation "
    "4 of the paper. No data are involved."
)
REAL = (
    "The bias of one language model on 395 pairs of sentences (error rate against "
    "the stereotype, minus error rate with it), with its 95 % interval by three "
    "methods. All treat the 790 sentences as independent. Data: {}; here the first "
    "trial. Type 1 is the form of the pair about the carpenter."
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

    for chosen, colour in ((~excludes_zero, "blue"), (excludes_zero, "orange")):
        plots.intervals(
            places[chosen],
            middle[chosen],
            low=intervals["low"][chosen],
            high=intervals["high"][chosen],
            colour=colour,
            horizontal=True,
            ax=ax,
        )

    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(places, [f"{n:,} sentences" for n in intervals.index])
    ax.set_ylim(len(intervals) - 0.5, -0.5)
    ax.set_xlabel("bias")
    write_finding(figure, "A claim is supported once the interval excludes zero")
    return figure


def centring(values: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the amortized disparity of four kinds of sentences as bars.

    Parameters
    ----------
    values : DataFrame
        One row per kind of sentence and one column per way to count the cost.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One panel per column, with the bars side by side.
    """
    figure, axes = plots.page(
        narrow, panels=(1, 2), heights=(2.4, 4.2), sharey=True, sharex=True
    )
    places = np.arange(len(values))

    for ax, name, colour in zip(axes, values.columns, ("blue", "orange"), strict=True):
        ax.bar(places, values[name], color=plots.COLOURS[colour], width=0.6)
        ax.axhline(0, color="black", linewidth=0.8)
        ax.set_title(name)
        ax.set_ylabel("amortized disparity")
        ax.set_xticks(places, values.index)
        for place, value in zip(places, values[name], strict=True):
            if value == 0:  # Without a number, the bar would seem to be missing.
                plots.note("0", (float(place), 0), offset=(0, 3), ha="center", ax=ax)

    write_finding(
        figure,
        "Centred values are 1 or −1: the largest possible variance falls from 4 to 1",
    )
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
        These numbers, one per curve.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One curve per way, over a logarithmic axis.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.2, 3.2))
    plots.curves(bias, needed, looks=[("-", "blue"), ("--", "orange")], ax=ax)

    ax.axhline(available, color="black", linewidth=0.8)
    plots.note(
        f"WinoBias: {available:,}",
        (np.max(bias), available),
        offset=(0, 3),
        ha="right",
        ax=ax,
    )
    for count in counts:
        ax.plot(at, count, "o", color="black")
        # Outside of the two curves: between them, a curve would cross the number.
        on_top = count > available
        offset = (7, 3) if on_top else (-2, -13)
        side = "left" if on_top else "right"
        plots.note(f"{count:,}", (at, count), offset=offset, ha=side, ax=ax)

    plots.log_axis([30, 100, 300, 1000, 3000, 10_000, 30_000], ax=ax)
    ax.set(xlabel="observed bias", ylabel="sentences needed")
    ax.legend()
    write_finding(figure, "Centred costs need about a quarter of the sentences")
    return figure


def real(intervals: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the intervals of one system by several methods.

    Parameters
    ----------
    intervals : DataFrame
        One row per method, with `estimate`, `low` and `high`.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One interval per method, and the line at zero.
    """
    figure, (ax,) = plots.page(narrow, heights=(1.9, 2.1))
    plots.intervals(
        np.arange(len(intervals)),
        intervals["estimate"],
        low=intervals["low"],
        high=intervals["high"],
        horizontal=True,
        ax=ax,
    )

    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(np.arange(len(intervals)), list(intervals.index))
    ax.set_ylim(len(intervals) - 0.5, -0.5)
    ax.set_xlabel("bias")
    write_finding(figure, "All three intervals show the bias of this language model")
    return figure
