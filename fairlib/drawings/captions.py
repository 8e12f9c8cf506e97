"""The drawings of lesson 22: what six captioners amplify, and four shares of men."""

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots

LEVELS = (
    "Bias amplification of the Baseline, Equalizer and four more captioners of the "
    "same authors, in both directions, on 10,840 COCO pictures and 52 objects. The "
    "excess is the distance from the blind part to the value. Each panel has its own "
    "scale. 95 % intervals over pictures. "
    "Data: captions released with Hendricks et al. (2018), labels of COCO."
)
SHARES = (
    "Change from the Baseline to Equalizer, for four shares of men among the training "
    "pictures. First row: the share that the lesson uses. Second and third row: the "
    "ends of what fits the paper's numbers about ovens. Last row: the file of Lesson "
    "08. Each panel has its own scale. 95 % intervals over 10,840 pictures, 52 "
    "objects. Data: captions released with Hendricks et al. (2018), labels of COCO."
)

_NORMAL = 1.959964  # a normal variable stays within ± this in 95 % of cases
_SHARES = ("used above", "ovens", "ovens", "Lesson 08")  # where they come from
_CAPTIONERS = {
    "baseline_ft": "Baseline",
    "equalizer": "Equalizer",
    "balanced": "Balanced",
    "upweight": "UpWeight",
    "confusion": "Confusion",
    "confident": "Confident",
}


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
    figure, axes = plots.page(narrow, panels=(1, 2), heights=(3.1, 5.6))
    titles = {
        "A→T": "A→T: below zero, above its blind part",
        "T→A": "T→A: near zero, far above its blind part",
    }
    places = np.array([0, 1, 2.6, 3.6, 4.6, 5.6])

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
            (values, "blue", "o", plots.COLOURS["blue"], "as defined"),
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
            ylim=(6.2, -0.6),
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
        Columns `change` and `margin`, by measure and share of men.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each measure, a row for each share.
    """
    figure, axes = plots.page(narrow, panels=(2, 2), heights=(3.8, 6.4), sharey=True)
    titles = {
        "A→T": "A→T: rises with each share",
        "T→A": "T→A: a rise with three of four",
        "T→A excess": "T→A excess: falls with each share",
        "T→A excess per error": "Excess per error: no change shown",
    }

    bottom = axes[-1:] if narrow else axes[-2:]

    for ax, (measure, title) in zip(axes, titles.items(), strict=True):
        rows = change.loc[measure]
        places = np.arange(len(rows))
        shares_of_men = zip(_SHARES, rows.index, strict=True)
        plots.intervals(
            places=places,
            estimate=rows["change"],
            low=rows["change"] - rows["margin"],
            high=rows["change"] + rows["margin"],
            ax=ax,
            colour="blue",
            horizontal=True,
        )
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set(
            title=title,
            yticks=places,
            yticklabels=[f"{source}: {share:.4f}" for source, share in shares_of_men],
            ylim=(len(rows) - 0.5, -0.5),
        )
        if ax in bottom:
            ax.set_xlabel("change, Equalizer minus Baseline")
        if narrow or ax in axes[::2]:
            ax.set_ylabel("share of men")
        ax.locator_params(axis="x", nbins=4, steps=[1, 2, 5, 10])
    return figure
