"""The drawing of lesson 22: whom two captioners call men beside each object."""

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._findings import write_finding

CALLED_MEN = (
    "Whom two captioners call men beside 52 objects, each on its own pictures (its "
    "caption names one gender); so an object's true share differs between the panels. "
    "Colour and marker: by the training pictures. Across: true share of men in the "
    "tested pictures (so an object that goes with men may lie left of one that goes "
    "with women). Up: the step, which is the share called men minus the true share. "
    "Dashed line: what errors that ignore the objects would give, at the captioner's "
    "two usual rates. "
    "Black edge and arrow: motorcycles and their excess. 95 % intervals for each "
    "object alone, not corrected for their number. Data: captions released with "
    "Hendricks et al. (2018), labels of COCO."
)

_KINDS = {1: ("blue", "o", "with men"), -1: ("orange", "s", "with women")}


def called_men(
    by_object: dict[str, DataFrame],
    *,
    sign: np.ndarray,
    usual: dict[str, DataFrame],
    t_to_a: dict[str, float],
    narrow: bool = False,
) -> Figure:
    """Draw how far two captioners move the share of men beside each object.

    Parameters
    ----------
    by_object : dict of DataFrame
        For each captioner, a row for each object. Columns "true" (the share of men),
        "step" (the share called men minus the true share), "wrong" (the share called
        by the wrong gender) and "people" (how many there are).
    sign : ndarray
        1 for an object that goes with men, -1 for one that goes with women.
    usual : dict of DataFrame
        For each captioner, the shares of labelled men and women (rows) whom it calls
        men and women over all pictures, in "man (share)" and "woman (share)".
    t_to_a : dict of float
        For each captioner, the mean of sign times step, which is its T→A.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each captioner.
    """
    figure, axes = plots.page(
        narrow, panels=(1, 2), heights=(3.4, 6.4), sharex=True, sharey=True
    )
    titles = {
        "baseline_ft": "Baseline: too many men",
        "equalizer": "Equalizer: smaller steps",
    }
    ends = np.array([0.3, 1.0])  # no share of men is smaller

    for ax, (model, title) in zip(axes, titles.items(), strict=True):
        true = by_object[model]["true"]
        step = by_object[model]["step"]
        # The step is a mean of numbers: 1 or -1 for a wrong gender, 0 for a right one.
        variance = by_object[model]["wrong"] - step**2
        margin = 1.96 * np.sqrt(variance / by_object[model]["people"])
        for kind, (colour, marker, label) in _KINDS.items():
            rows = sign == kind
            bars = ax.errorbar(
                true[rows],
                step[rows],
                yerr=margin[rows],
                fmt=marker,
                markersize=3.5,
                color=plots.COLOURS[colour],
                elinewidth=0.7,
                capsize=0,
                label=f"{np.count_nonzero(rows)} objects go {label}",
            )
            for line in bars.lines[2]:
                line.set_alpha(0.35)

        women_called_men = (1 - ends) * usual[model].loc["woman", "man (share)"]
        men_called_women = ends * usual[model].loc["man", "woman (share)"]
        blind = women_called_men - men_called_women
        ax.plot(
            ends,
            blind,
            "--",
            color="black",
            label="errors that ignore objects",
        )
        ax.axhline(0, color="black", linewidth=0.8)

        share = true["motorcycle"]
        point = share, step["motorcycle"]
        start = share, np.interp(share, ends, blind)
        highlight = {"markersize": 6, "markeredgecolor": "black", "zorder": 4}
        ax.plot(*point, "o", color=plots.COLOURS["blue"], **highlight)
        arrow = {"arrowstyle": "->", "color": "black", "shrinkA": 0, "shrinkB": 4}
        ax.annotate("", point, xytext=start, arrowprops=arrow, zorder=4)
        plots.note("motorcycle", start, offset=(0, -24), edge=True, ax=ax, ha="center")

        mean = f"{t_to_a[model]:.3f}".replace("-", "−").replace("0.", ".")
        ax.set_title(f"{title},\nmean T→A {mean}")
        ax.tick_params(labelbottom=True)
        if narrow or ax is axes[0]:
            ax.set_ylabel("step: share called men − true share")
        if not narrow or ax is axes[1]:
            ax.set_xlabel("true share of men beside the object")

    axes[0].set_ylim(-0.28, 0.47)  # room for the legend
    axes[1].legend(loc="upper left")
    write_finding(figure, "Equalizer's steps are smaller, but its mean T→A is higher")
    return figure
