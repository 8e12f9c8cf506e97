"""The drawings of lesson 19: pairs of letters, and their calls."""

import numpy as np
from matplotlib.figure import Figure
from numpy import ndarray
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._findings import write_finding

PAIRS = (
    "Ten employers, each with one letter of either name; a filled mark is a call. "
    "Invented example. No data of real employers."
)
ADVERTISEMENTS = (
    "220 advertisements with at least one call; another 1,103 had none. Data: counts "
    "printed by Bertrand and Mullainathan (2004), Boston and Chicago."
)


def pairs(first: ndarray, second: ndarray, *, narrow: bool = False) -> Figure:
    """Draw for each employer who was called, and the difference.

    Parameters
    ----------
    first, second : ndarray of int
        Whether each employer called the letter with the first and the second name.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A row of marks for each name, and the differences below.
    """
    figure, (ax,) = plots.page(narrow, heights=(1.9, 2.1))
    rows = (
        (first, 2, "blue", "o"),
        (second, 1, "vermillion", "s"),
    )
    places = np.arange(len(first))

    for calls, height, colour, marker in rows:
        for place, is_called in zip(places, calls, strict=True):
            ax.plot(
                place,
                height,
                marker,
                ms=10,
                color=plots.COLOURS[colour],
                fillstyle="full" if is_called else "none",
            )

    for place, difference in zip(places, first - second, strict=True):
        sign = "+1" if difference > 0 else "\N{MINUS SIGN}1"
        ax.text(place, 0.1, sign if difference else "0", ha="center", va="center")

    ax.set(
        xticks=places,
        xticklabels=[str(place + 1) for place in places],
        xlabel="employer",
        yticks=[2, 1, 0.1],
        yticklabels=["Emily", "Lakisha", "difference"],
        ylim=(-0.3, 2.5),
        xlim=(-0.5, len(first) - 0.5),
    )
    ax.tick_params(length=0)
    ax.spines[["left", "bottom"]].set_visible(False)
    write_finding(
        figure, "Only employers who treat the two names differently make a gap"
    )
    return figure


def advertisements(counts: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw how many advertisements favoured whom, by how many calls.

    Parameters
    ----------
    counts : DataFrame
        Columns `white` and `black` (calls) and `advertisements`.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A bar for each outcome with a call.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.9, 3.2))
    with_calls = counts[counts["white"] + counts["black"] > 0]
    difference = with_calls["white"] - with_calls["black"]
    names = {-1: "vermillion", 0: "grey", 1: "blue"}
    colours = [plots.COLOURS[names[int(np.sign(value))]] for value in difference]

    places = np.arange(len(with_calls))[::-1]
    bars = ax.barh(places, with_calls["advertisements"], color=colours, height=0.7)
    ax.bar_label(bars, padding=2)
    labels = [
        f"{white} white, {black} black"
        for white, black in zip(with_calls["white"], with_calls["black"], strict=True)
    ]
    ax.set_yticks(places, labels)
    ax.set(xlabel="advertisements", ylabel="calls", xlim=(0, 85))

    sides = {
        "treated equally": ("grey", 6.5),
        "white names favoured": ("blue", 3.4),
        "African-American names favoured": ("vermillion", 0.4),
    }
    for text, (colour, height) in sides.items():
        ax.text(
            84,
            height,
            text.replace("American names", "American\nnames") if narrow else text,
            ha="right",
            va="center",
            color="#595959" if colour == "grey" else plots.COLOURS[colour],
        )
    write_finding(figure, "111 advertisements favour white names, and 46 the others")
    return figure
