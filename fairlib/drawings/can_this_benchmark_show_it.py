"""The drawings of lesson 20: when a bias is shown, and benchmarks on one axis."""

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._findings import write_finding

POWER = (
    "How the observed bias varies over many samples, for two true biases. Dotted: 1.96 "
    "standard errors. Shaded: samples beyond, whose 95 % interval excludes zero. "
    "(Samples whose whole interval is below zero are too rare to be seen.) Orange: "
    "the true bias. Computed from the normal distribution."
)
AXIS = (
    "Smallest bias of four benchmarks (shown in 80 % of samples), as planned by "
    "fairlib if 20 % of pairs are unequal. Squares: pairs are independent. Triangles: "
    "pairs of a cluster repeat each other. The axis is logarithmic. Clusters are "
    "occupations (WinoBias, Winogender), queries (Grep-BiasIR) or templates (identity "
    "suite of gender). Data: counts on the cards of the atlas."
)
_LOOKS = {
    "paired": ("green", "s", "independent"),
    "worst": ("vermillion", "^", "worst case"),
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
        narrow, panels=(1, len(shown)), heights=(2.8, 4.5), sharey=True
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

        ax.text(1.9, 1.14, "1.96", ha="right", va="top")
        if true_bias == 1.96:
            ax.text(true_bias + 0.2, 0.02, "true bias")
        else:
            ax.text(true_bias, 0.1, f"{true_bias:g}", ha="center")
            arrow = {"arrowstyle": "<->", "color": "black", "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", (1.96, 0.4), (true_bias, 0.4), arrowprops=arrow)
            middle = (1.96 + true_bias) / 2
            ax.text(middle, 0.48, f"{true_bias - 1.96:.2f}", ha="center")
        title = f"True bias of {true_bias:g} standard errors:\n"
        title += f"shown in {share} of samples"
        ax.set(
            title=title,
            xlabel="observed bias (standard errors)",
            xticks=[0, 2, 4, 6],
            yticks=[],
            ylim=(0, 1.15),
        )
        ax.spines["left"].set_visible(False)
    write_finding(
        figure, "To be shown in 80 % of samples, a true bias takes 2.8 standard errors"
    )
    return figure


def axis(smallest: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the smallest bias of each benchmark, from the best to the worst case.

    Parameters
    ----------
    smallest : DataFrame
        A row for each benchmark; columns title, pairs, unit (of a pair), clusters, and
        in points paired and worst.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel, a row for each benchmark.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.6, 4.2))
    places = np.arange(len(smallest))
    ax.hlines(
        places,
        smallest["paired"],
        smallest["worst"],
        color=plots.COLOURS["grey"],
        linewidth=0.8,
        zorder=0,
    )

    # A line above the highest row says what the marks are.
    top = places[-1] + (0.85 if narrow else 0.35)
    for column, (colour, marker, label) in _LOOKS.items():
        ax.plot(smallest[column], places, marker, color=plots.COLOURS[colour])
        ax.text(smallest[column].iloc[-1], top, label, ha="center")

    ax.text(5.3, top, "five points")
    ax.axvline(5, color="black", linewidth=0.8, linestyle=":", zorder=0)
    ax.set(
        xlabel="smallest bias (points)",
        xscale="log",
        xticks=[2, 5, 10, 20],
        xticklabels=["2", "5", "10", "20"],
        xlim=(2, 28),
        yticks=places,
        ylim=(-0.6, len(smallest) - 0.25),
    )
    facts = smallest[["title", "pairs", "unit", "clusters"]].itertuples(index=False)
    figure.set_layout_engine("constrained", w_pad=0.1)
    if narrow:
        # Names stand above their rows, so that the marks have the whole width, and to
        # the right of the dotted line.
        ax.set(yticks=[], ylim=(-0.6, len(smallest) + 0.2))
        ax.spines["left"].set_visible(False)
        for place, (title, pairs, unit, clusters) in zip(places, facts, strict=True):
            name = f"{title}\n{pairs:,} {unit}, {clusters} clusters"
            ax.text(5.3, place + 0.2, name)
    else:
        ax.set_yticklabels(
            f"{title}\n{pairs:,} {unit}, {clusters} clusters"
            for title, pairs, unit, clusters in facts
        )
    ax.minorticks_off()
    write_finding(
        figure, "If 20 % of pairs are unequal, only WinoBias could show five points"
    )
    return figure
