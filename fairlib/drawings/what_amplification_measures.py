"""The drawings of lesson 08: from a picture of four cells to bias amplification."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame, Series

from fairlib import plots

FOUR_CELLS = (
    "An invented archive of 80 pictures, in which 30 women and 10 men paint, and 10 "
    "women and 30 men read. A square is a person. A bar is the share of a group that "
    "paints, minus the share of everybody. Computed from the 80 invented pictures; no "
    "intervals, because these are all pictures."
)
MOVING_SHARES = (
    "Shares in the truth (hollow) and by the model (filled), for two models of an "
    "invented archive of 80 pictures. A hollow dot alone: the model did not move this "
    "share. Upper rows: A→T. Lower rows: T→A. Computed from the 80 invented pictures."
)
COCO_OBJECTS = (
    "Share of men among the training pictures with each of 65 objects, with separate "
    "95 % intervals (Wilson's, a standard one for shares). Squares, in the grey band: "
    "mostly men, but a smaller share of men than in all pictures with a person. Dots: "
    "the other objects. Data: counts recovered from the shares that Zhao et al. (2017) "
    "released, the smallest where several are possible; 22,761 pictures with a person."
)

_OUTSIDE = "0.35"  # the grey of the objects outside the band
# Where the names of some objects stand beside their marks, in points: on a page, and
# on a phone.
_NAMED_OBJECTS = {
    "teddy_bear": ((-32, 34), (-24, 60)),
    "oven": ((112, -24), (62, -18)),
    "laptop": ((72, -12), (36, -12)),
    "motorcycle": ((30, -26), (4, -38)),
    "skateboard": ((-86, -1), (-72, -1)),
}


def four_cells(
    archive: DataFrame, association: Series, *, narrow: bool = False
) -> Figure:
    """Draw everybody in a table of two groups and two tasks, and the associations.

    Parameters
    ----------
    archive : DataFrame
        The number of people: a row for each group, a column for each task.
    association : Series
        For each group, its rate of the first task minus the rate of everybody.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        Two panels.
    """
    figure, (left, right) = plots.page(narrow, panels=(1, 2), heights=(2.9, 5.2))

    colours = plots.COLOURS["orange"], plots.COLOURS["sky"]
    for row, group in enumerate(archive.index):
        for column, number in enumerate(archive.loc[group]):
            _draw_people(
                left, number, corner=(7 * column, -9 * row), colour=colours[row]
            )
            left.text(7 * column + 2, 1 - 9 * row, str(number), ha="center")
    left.set(
        xticks=[2, 9],
        xticklabels=archive.columns,
        yticks=[-2.5, -11.5],
        yticklabels=archive.index,
        title="Three quarters of the painters\nare women",
    )
    left.set_ylim(-15, 2.5)
    left.tick_params(length=0)
    left.spines[:].set_visible(False)

    right.bar(association.index, association, color=colours, width=0.5)
    right.axhline(0, color="black", linewidth=0.8)
    for label in right.bar_label(right.containers[0], fmt="{:+.2f}", padding=3):
        label.set_text(label.get_text().replace("-", "\N{MINUS SIGN}"))
    right.set(
        title="Women paint more often than\npeople overall, men less often",
        ylabel="rate of painting minus\nrate of everybody",
        ylim=(-0.35, 0.35),
    )
    return figure


def _draw_people(
    ax: Axes, number: int, *, corner: tuple[float, float], colour: str
) -> None:
    """Draw a square for each person, five in a row."""
    places = np.arange(number)
    ax.plot(
        corner[0] + places % 5,
        corner[1] - places // 5,
        "s",
        color=colour,
        markersize=6,
    )


def moving_shares(moving: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw an arrow from the true share to the model's share.

    Parameters
    ----------
    moving : DataFrame
        A row for each share, first the shares of A→T; the column "truth", and a column
        for each model.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each model.
    """
    models = [column for column in moving if column != "truth"]
    figure, axes = plots.page(
        narrow, panels=(1, len(models)), heights=(2.4, 4.4), sharey=True, sharex=True
    )
    titles = "changes the person", "changes the task"
    places = np.array([0, 1, 2.6, 3.6])

    for ax, model, title in zip(axes, models, titles, strict=True):
        for place, (_, shares) in zip(places, moving.iterrows(), strict=True):
            ax.plot([shares["truth"], shares[model]], [place, place], color="black")
            if shares[model] != shares["truth"]:
                ax.plot(shares[model], place, "o", color="black")
            ax.plot(shares["truth"], place, "o", color="black", markerfacecolor="white")
        ax.axhline(1.8, color=plots.COLOURS["grey"], linewidth=0.6)
        ax.text(0.5, 0.5, "A→T", ha="center", va="center")
        ax.text(0.5, 3.1, "T→A", ha="center", va="center")
        ax.set(
            title=f"{model} {title}",
            yticks=places,
            yticklabels=moving.index,
            xlim=(0, 1.06),
            ylim=(4.3, -0.7),
        )
        ax.set_xlabel("share (○ truth, ● model)")
        ax.tick_params(labelbottom=True)
    return figure


def coco_objects(
    objects: DataFrame, all_pictures: float, *, narrow: bool = False
) -> Figure:
    """Draw the share of men for each object, beside one half and all pictures.

    Parameters
    ----------
    objects : DataFrame
        A row for each object, sorted by the share of men in the pictures with it:
        "share", and the ends of its interval, "low" and "high".
    all_pictures : float
        The share of men in all pictures.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel, a mark for each object.
    """
    figure, (ax,) = plots.page(narrow, heights=(4.4, 5.8))
    places = Series(np.arange(len(objects)), objects.index)
    share = objects["share"]
    disputed = (share > 0.5) & (share < all_pictures)

    ax.axvspan(0.5, all_pictures, color="0.92", zorder=0)
    for chosen, colour, marker in (
        (~disputed, _OUTSIDE, "o"),
        (disputed, plots.COLOURS["purple"], "s"),
    ):
        ax.hlines(
            places[chosen],
            objects["low"][chosen],
            objects["high"][chosen],
            color=colour,
            linewidth=0.7,
        )
        ax.plot(
            share[chosen],
            places[chosen],
            marker,
            color=colour,
            markersize=4,
        )
    for name, (on_page, on_phone) in _NAMED_OBJECTS.items():
        plots.note(
            name.replace("_", " "),
            (share[name], places[name]),
            offset=on_phone if narrow else on_page,
            arrowprops={"arrowstyle": "-", "color": "black", "linewidth": 0.6},
            ax=ax,
        )
    for line, words in (
        (0.5, "half"),
        (all_pictures, f"all pictures: {all_pictures:.2f}"),
    ):
        ax.axvline(line, color="black", linewidth=0.8)
        ax.text(line + 0.01, 1, words, va="center")
    ax.set(
        title=f"{len(objects[disputed])} of {len(objects)} objects: mostly men,\n"
        "but a smaller share than in all pictures",
        xlabel="share of men in the pictures with the object",
        yticks=[],
        ylabel="objects, sorted",
    )
    return figure
