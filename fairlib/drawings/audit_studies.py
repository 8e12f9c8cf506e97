"""The drawings of lesson 19: pairs of letters, and their calls."""

import numpy as np
from matplotlib.figure import Figure
from numpy import ndarray
from pandas import DataFrame, Series

from fairlib import plots
from fairlib.drawings._findings import write_finding

PAIRS = (
    "Ten employers, each with a letter from Emily and one from Lakisha; a filled mark "
    "is a call. Invented example. No data of real employers."
)
ADVERTISEMENTS = (
    "220 employers with at least one call; another 1,103 called nobody. Each "
    "advertisement counts as one employer. Data: counts printed by Bertrand and "
    "Mullainathan (2004), Boston and Chicago."
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
        figure, "Only employers who call just one applicant make the gap differ from 0"
    )
    return figure


def advertisements(
    counts: DataFrame, totals: Series, *, narrow: bool = False
) -> Figure:
    """Draw how many employers called which kind of name more often.

    Parameters
    ----------
    counts : DataFrame
        Columns `white` and `african_american` (calls) and `advertisements`; no row
        without a call.
    totals : Series of int
        How many employers called white names more often (1), less often (-1), or
        both equally often (0).
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A bar for each outcome with a call.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.9, 4.1))
    side = np.sign(counts["white"] - counts["african_american"])
    colours = {
        -1: plots.COLOURS["vermillion"],
        0: plots.COLOURS["grey"],
        1: plots.COLOURS["blue"],
    }

    places = np.arange(len(counts))[::-1]
    bars = ax.barh(
        places, counts["advertisements"], color=side.map(colours), height=0.7
    )
    ax.bar_label(bars, padding=2)
    between = ",\n" if narrow else ", "
    calls = zip(counts["white"], counts["african_american"], strict=True)
    labels = [
        f"{white} white{between}{others} African-American" for white, others in calls
    ]
    ax.set_yticks(places, labels)
    ax.set(xlabel="employers", ylabel="calls", xlim=(0, 85))

    names = (
        (0, "both equally often", 6.4, "#595959"),
        (1, "white names more often", 3.5, colours[1]),
        (-1, "African-American names more often", 0.5, colours[-1]),
    )
    for sign, text, height, colour in names:
        text = f"{text}: {totals[sign]}"
        if narrow:
            text = text.replace("names more", "names\nmore").replace("both ", "both\n")
        ax.text(84, height, text, ha="right", va="center", color=colour)
    write_finding(
        figure,
        "White names got more calls from 111 employers, African-American names from 46",
    )
    return figure
