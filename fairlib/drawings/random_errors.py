"""The drawings of lesson 23: errors that ignore the objects, and the blind line."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame, Series

from fairlib import plots
from fairlib.drawings._findings import write_finding

PEOPLE = (
    "Three times 100 people. Crosses: called by the wrong gender. Among 100 people of "
    "all pictures, 5 of the 71 men and 5 of the 29 women are wrong. Beside an object "
    "the shares are the same, rounded to whole people. Computed from these shares; 71, "
    "97 and 44 are the percentages of men in 10,840 pictures of COCO."
)
SIMULATION = (
    "T→A of simulated networks that call as many women as men by the wrong gender, "
    "whatever the object: 30 networks for each share of errors, set side by side so "
    "that each can be seen (without errors, all are at zero). Dashed, the blind line: "
    "straight from zero to the mean at 20 %. Computed by simulation on the labels of "
    "10,840 COCO pictures and 65 objects, one object at a time."
)
PULL = (
    "Share of people who are called men, against their true share among the pictures "
    "with an object, for networks whose errors ignore the objects and hit as many "
    "women as men. Arrows: one error in ten, for the 97 and 44 men in 100 of the "
    "figure above. Computed from the formula; the share of men in all pictures is that "
    "of 10,840 pictures of COCO."
)
BLIND_LINE = (
    "Left: T→A if errors ignore the objects. Dashed, the blind line: as many women as "
    "men are wrong. Dotted: only men are wrong. Computed from the labels of 10,840 "
    "COCO pictures, 65 objects, with the signs of Lesson 08. Right: printed means of 5 "
    "runs, with 95 % t intervals over runs, each on its own; the hollow dot, none, is "
    "open: among nine means it is not shown to lie above zero. The printed means are "
    "of 66 rows, with person, on the dev half of the pictures (dossiers 07a and 13). "
    "Data: Wang and Russakovsky (2021), Table 1; COCO."
)

_ARROW = {"color": "black", "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0}


def people(crowds: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw a hundred people for each row, with crosses on those called wrongly.

    Parameters
    ----------
    crowds : DataFrame
        Whole numbers of `men`, of `men called women` and of `women called men` among
        100 people: a row for each crowd, named by the index.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each row.
    """
    figure, axes = plots.page(narrow, panels=(1, 3), heights=(2.9, 7.6))
    for ax, (name, crowd) in zip(axes, crowds.iterrows(), strict=True):
        men = crowd["men"]
        lost = crowd["men called women"]
        gained = crowd["women called men"]
        _draw_crowd(ax, np.arange(men), colour="sky", marker="s")
        _draw_crowd(ax, np.arange(men, 100), colour="orange", marker="o")
        for wrong in (np.arange(men - lost, men), np.arange(100 - gained, 100)):
            _draw_crowd(ax, wrong, colour="black", marker="x", size=3.5)
        ax.set(
            title=f"{name}: {men} men,\n{men - lost + gained} called men",
            xlim=(-0.7, 9.7),
            ylim=(-9.7, 0.7),
            aspect="equal",
            xticks=[],
            yticks=[],
        )
        ax.spines[:].set_visible(False)

    below = axes[-1] if narrow else axes[1]
    below.set_xlabel("■ man   ● woman   × called by the wrong gender")
    finding = "Random errors that hit as many women as men pull both objects towards "
    write_finding(figure, f"{finding}71 % men")
    return figure


def _draw_crowd(
    ax: Axes, numbers: np.ndarray, *, colour: str, marker: str, size: float = 6.5
) -> None:
    """Draw the people with these numbers, ten in a row."""
    ax.plot(
        numbers % 10,
        -(numbers // 10),
        marker,
        color=plots.COLOURS[colour],
        markersize=size,
    )


def simulation(networks: DataFrame, end: float, *, narrow: bool = False) -> Figure:
    """Draw T→A of simulated networks against their share of errors.

    Parameters
    ----------
    networks : DataFrame
        T→A: a row for each network, a column for each share of errors.
    end : float
        Where the straight line from zero ends, at the largest share of errors.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A dot for each network.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.0, 3.5))
    beside = np.linspace(-0.8, 0.8, len(networks))
    for share, values in networks.items():
        # Without errors all networks are at zero, so one dot is enough.
        shown = slice(None) if share else slice(1)
        ax.plot(
            100 * float(share) + (beside[shown] if share else 0),
            values[shown],
            "o",
            color=plots.COLOURS["blue"],
            markersize=2.5,
            fillstyle="none",
            markeredgewidth=0.7,
        )

    ax.plot([0, 100 * max(networks)], [0, end], "--", color="black")
    ax.axhline(0, color="black", linewidth=0.8)
    middle = 100 * max(networks) / 2
    plots.note("blind line", (middle, end / 2), offset=(20, 9), ax=ax)
    ax.set(
        xlabel="people called by the wrong gender (%)",
        ylabel="T→A",
        xticks=[0, 5, 10, 15, 20],
        ylim=(-0.08, 0.015),
    )
    finding = "Random errors that hit as many women as men put T→A below zero"
    write_finding(figure, finding)
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
    figure, (ax,) = plots.page(narrow, heights=(3.2, 3.8))
    lines = {f"{100 * error:.0f} % wrong": called[error] for error in called}
    plots.curves(called.index, lines, ax=ax)

    ax.plot(q, q, "o", color="black")
    plots.note("all pictures", (q, q), offset=(5, -12), ax=ax)
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
            f"{str(name).lower()}: {share:.2f} to {end:.2f}",
            (share, share),
            offset=(3, -11) if rises else (-2, 6),
            ha="left" if rises else "right",
            ax=ax,
        )

    ax.set(
        xlabel="true share of men with an object",
        ylabel="share called men",
        xlim=(0, 1),
        ylim=(0, 1.08),
    )
    ax.legend(loc="lower right")
    finding = "Random errors that hit as many women as men pull every object towards "
    write_finding(figure, f"{finding}{100 * q:.0f} % men")
    return figure


def blind_line(
    printed: DataFrame, random_errors: DataFrame, *, narrow: bool = False
) -> Figure:
    """Draw printed values of T→A beside those of networks that ignore the objects.

    Parameters
    ----------
    printed : DataFrame
        `mean`, `low` and `high` of T→A, with none, half and the whole of each person
        hidden.
    random_errors : DataFrame
        T→A of networks that ignore the objects, a row for each share of errors. The
        columns are `blind line` and `men only`.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        Random errors on the left, the printed values on the right, on one scale.
    """
    # Both panels share the scale of T→A, so they stay side by side on a phone.
    figure, (left, right) = plots.page(
        False,
        panels=(1, 2),
        heights=(3.3, 3.3),
        sharey=True,
        width_ratios=[4, 3] if narrow else [5, 3],
    )
    if narrow:
        figure.set_size_inches(plots.NARROW, 4.1)

    per_cent = 100 * random_errors.index
    left.plot(per_cent, random_errors["blind line"], "--", color="black")
    left.plot(per_cent, random_errors["men only"], ":", color="black")
    end = (20, random_errors["men only"].iloc[-1])
    plots.note("men only", end, offset=(-2, 5), ha="right", ax=left)
    middle = (10, random_errors["blind line"].iloc[-1] / 2)
    plots.note("blind line", middle, offset=(6, 5), ax=left)

    plots.intervals(
        range(len(printed)),
        printed["mean"],
        low=printed["low"],
        high=printed["high"],
        ax=right,
    )
    # Whether none lies above zero is open.
    right.plot(0, printed["mean"].iloc[0], "o", color="white", markersize=3, zorder=5)
    for ax in (left, right):
        ax.axhline(0, color="grey", linewidth=0.6)
    left.set(
        title="Random errors",
        xlabel="people called by\nthe wrong gender (%)",
        ylabel="T→A",
        xticks=[0, 5, 10, 15, 20],
        xlim=(0, 20),
        ylim=(-0.08, 0.075),
    )
    right.set(
        title="Printed T→A",
        xlabel="part of each\nperson hidden",
        xticks=range(len(printed)),
        xticklabels=list(printed.index),
        xlim=(-0.6, 2.6),
    )
    finding = "With half or the whole person hidden, T→A lies above the blind line"
    write_finding(figure, finding)
    return figure
