"""The drawings of lesson 22: what two captioners amplify, and four shares of men."""

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots

LEVELS = (
    "Bias amplification of the Baseline and Equalizer, in both directions, on 10,840 "
    "COCO pictures and 52 objects. The excess is the distance from the blind part to "
    "the value. Each panel has its own scale. 95 % intervals over pictures, for each "
    "model alone; the change is known more exactly, because both models describe the "
    "same pictures. "
    "Data: captions released with Hendricks et al. (2018), labels of COCO."
)
SHARES = (
    "Change from the Baseline to Equalizer, for four shares of men among the training "
    "pictures. First row: the share that the lesson uses first. Second and third row: "
    "the ends of what fits Wang & Russakovsky's numbers about ovens. Last row: the "
    'file of Lesson 08. A→T and the excess per error ("Per error"): 52 objects only. '
    "Each panel has its own scale. 95 % intervals over 10,840 "
    "pictures. "
    "Data: captions released with Hendricks et al. (2018), labels of COCO."
)

_NORMAL = 1.959964  # a normal variable stays within ± this in 95 % of cases
_SHARES = ("used above", "ovens", "ovens", "Lesson 08")  # where they come from
_CAPTIONERS = {"baseline_ft": "Baseline", "equalizer": "Equalizer"}


def levels(public: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw both directions of bias amplification and their blind parts.

    Parameters
    ----------
    public : DataFrame
        Columns `value` and `standard_error`, by measure and model.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each direction, a row for each captioner.
    """
    figure, axes = plots.page(narrow, panels=(1, 2), heights=(2.2, 3.9))
    titles = {
        "A→T": "A→T: rises,\nbut stays below zero",
        "T→A": "T→A: no change shown,\nthough both parts shrink",
    }
    places = np.arange(len(_CAPTIONERS))

    for ax, (direction, title) in zip(axes, titles.items(), strict=True):
        values = public.loc[direction].loc[list(_CAPTIONERS)]
        blind = public.loc[f"{direction} blind"].loc[list(_CAPTIONERS)]
        ax.hlines(
            places,
            blind["value"],
            values["value"],
            color=plots.COLOURS["orange"],
            linewidth=4,
            alpha=0.6,
            label="excess",
        )
        for part, colour, marker, face, label in (
            (blind, "grey", "s", "white", "blind part"),
            (values, "blue", "o", plots.COLOURS["blue"], "value"),
        ):
            reach = _NORMAL * part["standard_error"]
            plots.intervals(
                places=places,
                estimate=part["value"],
                low=part["value"] - reach,
                high=part["value"] + reach,
                ax=ax,
                colour=colour,
                marker=marker,
                markerfacecolor=face,
                label=label,
                horizontal=True,
            )

        ax.axvline(0, color="black", linewidth=0.8)
        ax.set(
            title=title,
            yticks=places,
            yticklabels=_CAPTIONERS.values(),
            ylim=(1.6, -0.6),
            xlabel=direction,
        )
        ax.locator_params(axis="x", nbins=5)

    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=3)
    return figure


def shares(change: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw what changes between two captioners, by the share of men in training.

    Parameters
    ----------
    change : DataFrame
        Columns `change` and `margin`, by measure and share of men. A measure whose
        name ends in ", all objects" is drawn beside the measure of 52 objects.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each measure, a row for each share of men.
    """
    figure, axes = plots.page(narrow, panels=(2, 2), heights=(4.2, 7.2), sharey=True)
    titles = {
        "A→T": "A→T: a rise at all four",
        "T→A": "T→A: a rise shown in 7 of 8",
        "T→A excess": "T→A excess: a fall in all eight",
        "T→A excess per error": "Per error: no change shown",
    }
    sets_of_objects = (
        ("", "blue", "o", -0.15, "52 objects"),
        (", all objects", "orange", "s", 0.15, "all 65 objects"),
    )
    bottom = axes[-1:] if narrow else axes[-2:]

    for ax, (measure, title) in zip(axes, titles.items(), strict=True):
        for ending, colour, marker, shift, label in sets_of_objects:
            if measure + ending not in change.index:
                continue
            rows = change.loc[measure + ending]
            plots.intervals(
                places=np.arange(len(rows)) + shift,
                estimate=rows["change"],
                low=rows["change"] - rows["margin"],
                high=rows["change"] + rows["margin"],
                ax=ax,
                colour=colour,
                marker=marker,
                label=label,
                horizontal=True,
            )

        shares_of_men = change.loc[measure].index
        named = zip(_SHARES, shares_of_men, strict=True)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set(
            title=title,
            yticks=np.arange(len(shares_of_men)),
            yticklabels=[f"{source}: {share:.4f}" for source, share in named],
            ylim=(len(shares_of_men) - 0.5, -0.5),
        )
        if ax in bottom:
            ax.set_xlabel("change, Equalizer minus Baseline")
        if narrow or ax in axes[::2]:
            ax.set_ylabel("share of men")
        ax.locator_params(axis="x", nbins=4, steps=[1, 2, 5, 10])

    handles = axes[1].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=2)
    return figure
