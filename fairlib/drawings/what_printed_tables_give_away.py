"""The figures of lesson 17: what a printed mean can be, and which orders pass."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from fairlib import plots
from fairlib.drawings._findings import write_finding

RULER = (
    "What a mean of five runs can be (lines), for objects with 111 and with 30 "
    "images. Orange: the means that are printed as 1.33. Computed from the "
    "definition of a mean. Data: printed value of Table 3, row bed; labelled COCO "
    "images, dev set of Zhao et al. 2017 ({} data)."
)
ORDERS = (
    "How many of the 195 testable cells of Table 3 are possible, with the names in "
    "10,000 shuffled orders, as they are printed, and in COCO's order. The shuffled "
    "orders are simulated. Data: printed values; labelled COCO images, dev set of "
    "Zhao et al. 2017 ({} data)."
)


def ruler(
    possible: Mapping[str, ArrayLike],
    printed: tuple[float, float],
    *,
    narrow: bool = False,
) -> Figure:
    """Draw what a mean can be for several objects, and what is printed.

    Parameters
    ----------
    possible : mapping of str to array_like
        For each object the possible means, in per cent.
    printed : (float, float)
        The ends of the means that are printed alike.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One row of lines per object, and a band.
    """
    figure, (ax,) = plots.page(narrow, heights=(1.8, 2.0))
    ax.axvspan(*printed, color=plots.COLOURS["orange"], linewidth=0)
    for place, means in enumerate(possible.values()):
        ax.vlines(
            means, place - 0.3, place + 0.3, color=plots.COLOURS["blue"], linewidth=1.6
        )

    ax.set_yticks(range(len(possible)), list(possible))
    ax.set_ylim(len(possible) - 0.5, -0.5)
    ax.set_xticks([1.25, 1.29, 1.33, 1.37, 1.41, 1.45])
    ax.set_xlabel("mean of five runs (%)")
    write_finding(figure, "1.33 % is not possible with 111 images, but it is with 30")
    return figure


def orders(
    possible: ArrayLike, marked: Mapping[str, int], *, narrow: bool = False
) -> Figure:
    """Draw how many cells are possible in shuffled orders, and in some that are marked.

    Parameters
    ----------
    possible : array_like of int
        The number of possible cells, one per shuffled order.
    marked : mapping of str to int
        Orders with their numbers of cells.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        A histogram with marks.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.4, 2.6))
    counts = np.asarray(possible)
    edges = np.arange(counts.min() - 0.5, counts.max() + 1.5)
    ax.hist(
        counts,
        bins=edges,
        color=plots.COLOURS["sky"],
        linewidth=0,
        label="shuffled orders",
    )

    styles = (("vermillion", ":"), ("black", "--"))
    for (label, count), (colour, style) in zip(marked.items(), styles, strict=True):
        ax.axvline(
            count,
            color=plots.COLOURS[colour],
            linestyle=style,
            label=f"{label}: {count}",
        )

    ax.set(xlim=(0, 200), xlabel="cells that are possible, of 195")
    ax.set_ylabel("shuffled orders")
    ax.legend(loc="upper center")
    finding = "All 195 cells are possible in COCO's order, "
    finding += "but in none of 10,000 shuffled orders"
    write_finding(figure, finding)
    return figure
