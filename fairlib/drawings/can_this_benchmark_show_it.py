"""The drawings of lesson 20: benchmarks on one axis, templates, and opposite gaps."""

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots

AXIS = (
    "Smallest bias that a benchmark shows in 80 % of samples, at 95 % confidence, "
    "under three assumptions. Dotted: five points. Diamond: the bound of Ethayarajh "
    "(2020) for WinoBias. Data: counts on the cards of the atlas; error rates of 20 %, "
    "and 20 % of pairs that differ, are assumed."
)
TEMPLATES = (
    "Bias score of each of the 25 templates of one category, and the mean of all "
    "questions with two 95 % intervals. Data: UnifiedQA (ARC format) on BBQ's 1,839 "
    "ambiguous questions about age with a readable answer, as released."
)
OPPOSITE = (
    "Perspective on HateCheck: error rates with 95 % intervals (Clopper and Pearson) "
    "for 96 harmless and 325 hateful templates of each group. Data: predictions "
    "released by Röttger et al. (2021)."
)
_LOOKS = {
    "independent": ("blue", "o", "all items are independent"),
    "paired": ("green", "s", "pairs are compared"),
    "clustered": ("vermillion", "^", "items of a cluster repeat each other"),
}


def axis(smallest: DataFrame, bound: float, *, narrow: bool = False) -> Figure:
    """Draw the smallest bias of each benchmark under three assumptions.

    Parameters
    ----------
    smallest : DataFrame
        A row for each benchmark, by its title; columns items, independent, paired and
        clustered, the last three in points.
    bound : float
        The smallest bias of WinoBias by the first paper's bound, in points.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel, a row for each benchmark.
    """
    figure, (ax,) = plots.page(narrow, heights=(4.6, 5.6))
    places = np.arange(len(smallest))

    for column, (colour, marker, label) in _LOOKS.items():
        ax.plot(
            smallest[column],
            places,
            marker,
            color=plots.COLOURS[colour],
            label=label,
        )
    ax.hlines(
        places,
        smallest["independent"],
        smallest["clustered"],
        color=plots.COLOURS["grey"],
        linewidth=0.8,
        zorder=0,
    )

    own_place = list(smallest.index).index("WinoBias")
    ax.plot(bound, own_place, "D", color="black", markerfacecolor="white")
    ax.axvline(5, color="black", linewidth=0.8, linestyle=":")
    names = [
        title if narrow else f"{title} ({items:,})"
        for title, items in smallest["items"].items()
    ]
    ax.set(
        title="Pairs help, templates hurt",
        xlabel="smallest bias (points)",
        ylabel="" if narrow else "benchmark (number of items)",
        xscale="log",
        xticks=[2, 5, 10, 20, 50],
        xticklabels=["2", "5", "10", "20", "50"],
        xlim=(1, 100),
        yticks=places,
        yticklabels=names,
    )
    ax.minorticks_off()
    figure.legend(loc="outside upper center", ncols=1 if narrow else 3)
    return figure


def templates(scores: DataFrame, means: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the score of each template, and a mean with two intervals.

    Parameters
    ----------
    scores : DataFrame
        A row for each template, sorted; column score, in points.
    means : DataFrame
        Two rows, by what is assumed; columns estimate, low and high, in points.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel, the templates along x.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.0, 3.4))
    places = np.arange(len(scores))
    ax.plot(places, scores["score"], "o", color=plots.COLOURS["grey"], label="template")

    for number, (label, row) in enumerate(means.iterrows()):
        plots.intervals(
            np.array([len(scores) + 1.5 + 2.5 * number]),
            np.array([row["estimate"]]),
            low=np.array([row["low"]]),
            high=np.array([row["high"]]),
            ax=ax,
            colour=("blue", "vermillion")[number],
            marker="os"[number],
            label=str(label),
        )
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set(
        title="25 templates disagree more than 1,839 questions can tell",
        xlabel="templates, from the lowest score to the highest",
        ylabel="bias score (points)",
        xticks=[],
        ylim=(-105, 105),
    )
    if narrow:
        ax.set(title="25 templates disagree widely", xlabel="templates, by score")
    figure.legend(loc="outside upper center", ncols=1 if narrow else 3)
    return figure


def opposite(rates: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the two kinds of errors of each group.

    Parameters
    ----------
    rates : DataFrame
        A row for each group; columns accuracy, and for "harmless" and "hateful" the
        error rate and its two ends (for example hateful, hateful_low, hateful_high), in
        per cent.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel, a row for each group.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.2, 3.8))

    looks = {
        "hateful text that is missed": ("hateful", "blue"),
        "harmless text that is called hateful": ("harmless", "vermillion"),
    }
    plots.intervals_by_name(
        {
            label: rates[[kind, f"{kind}_low", f"{kind}_high"]]
            for label, (kind, _) in looks.items()
        },
        colours=[colour for _, colour in looks.values()],
        spread=0.2,
        ax=ax,
    )

    ax.set(
        title="Equal accuracy, opposite gaps",
        xlabel="errors (per cent)",
        xlim=(0, 100),
        yticklabels=[
            group if narrow else f"{group} ({accuracy:.1f} % right)"
            for group, accuracy in rates["accuracy"].items()
        ],
    )
    figure.legend(loc="outside upper center", ncols=1 if narrow else 2)
    return figure
