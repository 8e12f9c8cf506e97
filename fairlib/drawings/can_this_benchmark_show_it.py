"""The drawings of lesson 20: when a bias is shown, and benchmarks on one axis."""

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots

POWER = (
    "How the observed bias varies over many samples, for two true biases. Dotted: 1.96 "
    "standard errors. Shaded: samples beyond, whose 95 % interval excludes zero. "
    "Orange: the true bias. Computed from the normal distribution."
)
AXIS = (
    "Smallest bias of five benchmarks (shown in 80 % of samples), as planned by "
    "fairlib if 20 % of pairs differ. For HateCheck's worst case (29 points), "
    "29 % of pairs have to differ, and this is assumed. Dotted: five points. The axis "
    "is logarithmic. A set with versions for more than two groups counts as one pair. "
    "Clusters are occupations (WinoBias, Winogender), queries (Grep-BiasIR), templates "
    "(identity suites) or kinds of templates, called functionalities (HateCheck). "
    "Data: counts on the cards of the atlas."
)
_LOOKS = {
    "paired": ("green", "s", "pairs are independent"),
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

        ticks = sorted({0, 1.96, true_bias, 4, 6})
        title = f"Bias of {true_bias:g} standard errors:\n"
        title += f"shown in {share} of samples"
        ax.set(
            title=title,
            xlabel="observed bias (standard errors)",
            xticks=ticks,
            xticklabels=[f"{tick:g}" for tick in ticks],
            yticks=[],
            ylim=(0, 1.1),
        )
    return figure


def axis(smallest: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the smallest bias of each benchmark under two assumptions.

    Parameters
    ----------
    smallest : DataFrame
        A row for each benchmark; columns title, pairs, clusters, paired and worst, the
        last two in points.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel, a row for each benchmark.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.9, 3.9))
    places = np.arange(len(smallest))
    ax.hlines(
        places,
        smallest["paired"],
        smallest["worst"],
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

    ax.axvline(5, color="black", linewidth=0.8, linestyle=":")
    facts = smallest[["title", "pairs", "clusters"]].itertuples(index=False)
    names = [
        f"{title}\n{pairs:,} pairs, {clusters} clusters"
        for title, pairs, clusters in facts
    ]
    ax.set(
        title="If 20 % of pairs differ, one can show five points, if independent",
        xlabel="smallest bias (points)",
        xscale="log",
        xticks=[2, 5, 10, 20, 40],
        xticklabels=["2", "5", "10", "20", "40"],
        xlim=(2, 40),
        yticks=places,
        yticklabels=names,
        ylim=(-0.5, len(smallest) - 0.5),
    )
    if narrow:
        ax.set_title(
            "If 20 % of pairs differ, one\ncan show five points, if\nindependent"
        )
    ax.minorticks_off()
    figure.legend(loc="outside upper center", ncols=1 if narrow else 2)
    return figure
