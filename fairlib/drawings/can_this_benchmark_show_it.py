"""The drawings of lesson 20: when a bias is shown, and benchmarks on one axis."""

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots

POWER = (
    "How the observed bias varies over many samples, for two true biases. Shaded: "
    "samples whose 95 % interval excludes zero. Orange: the true bias. Computed from "
    "the normal distribution."
)
AXIS = (
    "Smallest bias that a benchmark shows in 80 % of samples, at 95 % confidence, "
    "under three assumptions (plans of fairlib). Dotted: five points. Diamond: the "
    "bound of Ethayarajh (2020) for WinoBias, which asks for an observed bias. A mark "
    "is missing if a benchmark has no pairs, or is planned in pairs only. HateCheck's "
    "clusters are 22 kinds of templates. Data: counts on the cards of the atlas; "
    "error rates of 20 %, and 20 % of pairs that are answered differently, are assumed."
)
_LOOKS = {
    "items_alone": ("blue", "o", "items are independent"),
    "paired": ("green", "s", "pairs are compared"),
    "worst": ("vermillion", "^", "worst case for clusters"),
}


def power(shown: dict[float, str], *, narrow: bool = False) -> Figure:
    """Draw how often a true bias is shown.

    Parameters
    ----------
    shown : dict
        For each true bias, in standard errors: the share of samples that show it, in
        words.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each true bias.
    """
    figure, panels = plots.page(
        narrow, panels=(1, len(shown)), heights=(2.5, 4.2), sharey=True
    )
    observed = np.linspace(-1.5, 6.5, 401)

    for ax, (true_bias, share) in zip(panels, shown.items(), strict=True):
        density = np.exp(-((observed - true_bias) ** 2) / 2)
        ax.plot(observed, density, color=plots.COLOURS["blue"])
        ax.fill_between(
            observed,
            density,
            where=(observed >= 1.96).tolist(),
            color=plots.COLOURS["blue"],
            alpha=0.3,
        )
        ax.axvline(1.96, color="black", linewidth=0.8, linestyle=":")
        ax.axvline(true_bias, ymax=0.06, color=plots.COLOURS["vermillion"], linewidth=3)

        ax.set(
            title=f"True bias {true_bias:g}: shown in {share}",
            xlabel="observed bias (standard errors)",
            xticks=[0, 1.96, 4, 6],
            xticklabels=["0", "1.96", "4", "6"],
            yticks=[],
            ylim=(0, 1.1),
        )
    return figure


def axis(smallest: DataFrame, bound: float, *, narrow: bool = False) -> Figure:
    """Draw the smallest bias of each benchmark under three assumptions.

    Parameters
    ----------
    smallest : DataFrame
        A row for each benchmark; columns title, items, items_alone, paired and worst,
        the last three in points, NaN if there is none.
    bound : float
        The smallest bias of WinoBias by the first paper's bound, in points.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel, a row for each benchmark.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.6, 4.6))
    places = np.arange(len(smallest))
    marks = smallest[[*_LOOKS]]
    ax.hlines(
        places,
        marks.min(axis=1),
        marks.max(axis=1),
        color=plots.COLOURS["grey"],
        linewidth=0.8,
        zorder=0,
    )

    for column, (colour, marker, label) in _LOOKS.items():
        ax.plot(
            smallest[column],
            places,
            marker,
            color=plots.COLOURS[colour],
            label=label,
        )

    own_place = list(smallest["title"]).index("WinoBias")
    ax.plot(bound, own_place, "D", color="black", markerfacecolor="white")
    ax.axvline(5, color="black", linewidth=0.8, linestyle=":")
    names = [
        title if narrow else f"{title} ({items:,})"
        for title, items in zip(smallest["title"], smallest["items"], strict=True)
    ]
    ax.set(
        title="Two of eight show five points, in the best case",
        xlabel="smallest bias (points)",
        ylabel="" if narrow else "benchmark (number of items)",
        xscale="log",
        xticks=[2, 5, 10, 20, 50],
        xticklabels=["2", "5", "10", "20", "50"],
        xlim=(2, 70),
        yticks=places,
        yticklabels=names,
    )
    if narrow:
        ax.set(title="Few can show five points")
    ax.minorticks_off()
    figure.legend(loc="outside upper center", ncols=1 if narrow else 3)
    return figure
