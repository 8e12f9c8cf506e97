"""The drawings of lesson 09: hidden people, and the blind line."""

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame, Series

from fairlib import plots

MASKS = (
    "Bias amplification of networks on COCO with none, half and the whole of each "
    "person hidden. Each panel has its own scale. Means of 5 runs with 95 % t "
    "intervals over the runs, computed from the printed means and ±. "
    "Data: Wang and Russakovsky (2021), Table 1."
)
PULL = (
    "Share of people who are called men, against their true share among the pictures "
    "with an object, for networks that err about as many women as men, whatever the "
    "object. Arrows: one error in ten, for two objects. Computed from the formula; the "
    "true shares of the two objects and of all pictures are those of 10,840 pictures "
    "of COCO."
)
BLIND_LINE = (
    "T→A of networks that err about as many women as men, whatever the object (dashed, "
    "computed from the labels of 10,840 COCO pictures and 65 objects). Right, off the "
    "scale of errors: the printed values for none, half and the whole of each person "
    "hidden, with 95 % t intervals over 5 runs. The paper does not print which share "
    "of genders its networks get wrong; the arrows show the excess with nothing hidden "
    "for two shares that we chose. "
    "Data: Wang and Russakovsky (2021), Table 1; labels of COCO."
)

_ARROW = {"color": "black", "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0}


def masks(mean: DataFrame, margin: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw three measures of bias amplification under three masks.

    Parameters
    ----------
    mean, margin : DataFrame
        The means and the half-widths of their intervals: a row for each mask, a column
        for each measure.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each measure.
    """
    figure, axes = plots.page(narrow, panels=(1, 3), heights=(2.7, 6.2))
    titles = {
        "MALS": "MALS: higher means,\nwide intervals",
        "A→T": "A→T: lower means\nif people are hidden",
        "T→A": "T→A: higher means,\nwide intervals",
    }
    places = np.arange(len(mean))

    for ax, (name, title) in zip(axes, titles.items(), strict=True):
        plots.intervals(
            places=places,
            estimate=mean[name],
            low=mean[name] - margin[name],
            high=mean[name] + margin[name],
            ax=ax,
        )
        ax.axhline(0, color="black", linewidth=0.8)
        ax.set(
            title=title,
            xticks=places,
            xticklabels=mean.index,
            xlim=(-0.5, 2.5),
            xlabel="part hidden",
        )
        if narrow or name == "MALS":
            ax.set_ylabel("bias amplification")
    return figure


def pull(
    called: DataFrame, q: float, examples: Series, *, narrow: bool = False
) -> Figure:
    """Draw how blind errors pull the share of men towards that of all pictures.

    Parameters
    ----------
    called : DataFrame
        The share of people called men: a row for each true share, a column for each
        share of errors. The second column is that of the arrows.
    q : float
        The share of men in all pictures.
    examples : Series
        The true shares of men with some objects, by name.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel, a line for each share of errors.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.1, 3.7))
    lines = {f"{100 * error:.0f} % wrong": called[error] for error in called}
    plots.curves(called.index, lines, ax=ax)

    ax.plot(q, q, "o", color="black")
    plots.note("all pictures", (q, q), offset=(-64, 6), ax=ax)
    for name, share in examples.items():
        end = np.interp(share, called.index, called.iloc[:, 1])
        ax.annotate(
            "",
            xy=(share, end),
            xytext=(share, share),
            arrowprops=_ARROW | {"arrowstyle": "->"},
        )
        rises = end > share
        plots.note(
            str(name).replace("_", " "),
            (share, share),
            offset=(3, -11) if rises else (-2, 6),
            ha="left" if rises else "right",
            ax=ax,
        )

    title = "Random errors about as many women as men"
    title += "\n" if narrow else " "
    ax.set(
        title=f"{title}pull objects towards {100 * q:.0f} % men",
        xlabel="true share of men with an object",
        ylabel="share called men",
        xlim=(0, 1),
        ylim=(0, 1.06),
    )
    ax.legend(loc="lower right")
    return figure


def blind_line(
    printed: Series, margin: Series, slope: float, *, narrow: bool = False
) -> Figure:
    """Draw printed values of T→A beside that of networks with blind errors.

    Parameters
    ----------
    printed, margin : Series
        T→A with none, half and the whole of each person hidden, and the half-widths of
        the intervals.
    slope : float
        T→A of a network with blind errors, for each unit of errors.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.2, 3.9))
    ends = np.array([0, 30])
    ax.plot(ends, slope * ends / 100, "--", color="black")
    plots.note("blind line", (25, slope * 0.25), offset=(4, 2), ax=ax)

    right = {"none": ("green", 33), "half": ("vermillion", 39), "whole": ("blue", 45)}
    for mask, (colour, place) in right.items():
        low = printed[mask] - margin[mask]
        high = printed[mask] + margin[mask]
        plots.intervals(
            places=[place],
            estimate=[printed[mask]],
            low=[low],
            high=[high],
            ax=ax,
            colour=colour,
        )
        plots.note(mask, (place, high), offset=(0, 3), ha="center", ax=ax)
    plots.note("part hidden", (39, 0), offset=(0, -13), ha="center", ax=ax)
    ax.hlines(printed["none"], 0, 33, color=plots.COLOURS["green"])
    plots.note("printed, none hidden", (0, printed["none"]), offset=(3, 3), ax=ax)

    for percent in (10, 20):
        bottom = slope * percent / 100
        ax.annotate(
            "",
            xy=(percent, printed["none"]),
            xytext=(percent, bottom),
            arrowprops=_ARROW | {"arrowstyle": "<->"},
        )
        words = f"excess\nat {percent} %"
        plots.note(words, (percent, 0), offset=(5, -4), va="top", ax=ax)

    ax.axhline(0, color="black", linewidth=0.8)
    ax.spines["bottom"].set_bounds(0, 30)
    ax.set(
        title="All three intervals lie above the blind line",
        xlabel="people called by the wrong gender (%)",
        ylabel="T→A",
        xticks=[0, 10, 20, 30],
        xlim=(0, 50),
        ylim=(-0.1, 0.08),
    )
    return figure
