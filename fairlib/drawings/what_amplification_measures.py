"""The drawings of lesson 08: from a picture of four cells to bias amplification."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame, Series

from fairlib import plots

FOUR_CELLS = (
    "An invented archive of 80 pictures. Left: a square for each person. Right: the "
    "share of each group that paints, minus the share of everybody. Computed from the "
    "80 invented pictures; no intervals, because these are all pictures."
)
MOVING_SHARES = (
    "Shares in the truth (hollow) and by the model (filled), for two models of an "
    "invented archive of 80 pictures. Upper rows: A→T. Lower rows: T→A. Computed from "
    "the 80 invented pictures."
)
SIX_NUMBERS = (
    "Figure 2 of Wang and Russakovsky (2021): six numbers for a model that is right "
    "about all men and sees some share of the women painting. Dashed: the true share; "
    "dots: the share whose values stand in the titles. "
    "Computed from the 80 pictures of the paper's invented example."
)
COCO_OBJECTS = (
    "Share of men among the training pictures with each of 65 objects. Orange: mostly "
    "men, but fewer men than in all pictures with a person. Data: fractions behind the "
    "shares released by Zhao et al. (2017), 22,761 pictures with a person."
)

# Where the names of some objects stand beside their marks, in points.
_NAMED_OBJECTS = {
    "teddy_bear": (-4, 8),
    "oven": (7, -5),
    "laptop": (7, -5),
    "motorcycle": (-62, 7),
    "skateboard": (-66, 3),
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
        title="Women and men, painting or not",
    )
    left.set_ylim(-15, 2.5)
    left.tick_params(length=0)
    left.spines[:].set_visible(False)

    right.bar(association.index, association, color=colours, width=0.5)
    right.axhline(0, color="black", linewidth=0.8)
    right.bar_label(right.containers[0], fmt="{:+.2f}", padding=3)
    right.set(
        title="Women paint more than everybody",
        ylabel="rate minus rate of everybody",
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
    colours = [
        plots.COLOURS[name] for name in ("blue", "blue", "vermillion", "vermillion")
    ]

    for ax, model, title in zip(axes, models, titles, strict=True):
        for place, colour, (_, shares) in zip(
            places, colours, moving.iterrows(), strict=True
        ):
            ax.plot([shares["truth"], shares[model]], [place, place], color=colour)
            if shares[model] != shares["truth"]:
                ax.plot(shares[model], place, "o", color=colour)
            ax.plot(shares["truth"], place, "o", color=colour, markerfacecolor="white")
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
    axes[-1].set_xlabel("share")
    if not narrow:
        axes[0].set_xlabel("share")
    return figure


def six_numbers(six: DataFrame, seen: float, *, narrow: bool = False) -> Figure:
    """Draw six numbers against the share of women that the model sees painting.

    Parameters
    ----------
    six : DataFrame
        A column for each number; the index is the share.
    seen : float
        The share that is marked, with the value of each number.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        Six panels, the numbers that change their sign at the truth in orange.
    """
    if narrow:
        shape = (3, 2)
        size = (plots.NARROW, 5.2)
    else:
        shape = (2, 3)
        size = (plots.WIDTH, 3.9)
    figure, axes = plt.subplots(*shape, figsize=size, sharex=True)
    panels = axes.ravel() if narrow else axes.T.ravel()

    for ax, (name, curve) in zip(panels, six.items(), strict=True):
        signed = name in ("MALS", "A→T")
        ax.plot(
            curve,
            color=plots.COLOURS["vermillion" if signed else "blue"],
            linewidth=2.4 if signed else 1.4,
        )
        ax.axvline(0.75, color="black", linewidth=0.8, linestyle="--")
        ax.axhline(0, color=plots.COLOURS["grey"], linewidth=0.8)
        ax.plot(seen, curve[seen], "o", color="black")
        separator = "\n" if narrow else " "
        title = f"{name}:{separator}{np.round(curve[seen], 3) + 0:+.3f}"
        ax.set(title=title, xticks=[0, 0.5, 1])
    figure.suptitle("Only MALS and A→T change sign at the truth", fontsize=10)
    for ax in axes[-1]:
        ax.set_xlabel("women seen painting")
    return figure


def coco_objects(men: Series, *, narrow: bool = False) -> Figure:
    """Draw the share of men for each object, beside one half and all pictures.

    Parameters
    ----------
    men : Series
        The share of men in the pictures with each object, sorted; "person" stands for
        all pictures with a person.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel, a mark for each object.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.1, 4.4))
    men_in_all_pictures = men["person"]
    objects = men.drop("person")
    places = Series(np.arange(len(objects)), objects.index)
    disputed = (objects > 0.5) & (objects < men_in_all_pictures)

    ax.axvspan(0.5, men_in_all_pictures, color="0.92", zorder=0)
    for chosen, colour, marker in (
        (~disputed, "blue", "o"),
        (disputed, "orange", "s"),
    ):
        ax.plot(objects[chosen], places[chosen], marker, color=plots.COLOURS[colour])
    for name, offset in _NAMED_OBJECTS.items():
        at = (objects[name], places[name])
        plots.note(name.replace("_", " "), at, offset=offset, edge=True, ax=ax)
    for share, words in ((0.5, "half"), (men_in_all_pictures, "all pictures")):
        ax.axvline(share, color="black", linewidth=0.8)
        ax.text(share + 0.01, 1, words, va="center")
    ax.set(
        title=f"{len(objects[disputed])} of {len(objects)} objects: mostly men,\n"
        "and yet fewer men than elsewhere",
        xlabel="share of men in the pictures with the object",
        yticks=[],
        ylabel="objects, sorted",
    )
    return figure
