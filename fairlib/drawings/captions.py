"""The drawings of lesson 22: what 52 objects add to the T→A of two captioners."""

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._findings import write_finding

CALLED_MEN = (
    "T→A of two captioners beside each of 52 objects, on the 6,732 common pictures "
    "(both captions name one gender). Blue circles: objects that go with men in the "
    "training pictures. Orange squares: with women. Up: sign × step, so an orange "
    "square is low if too many people are called men. Dashed lines, in the objects' "
    "colours: what errors that ignore the objects would give, at the captioner's two "
    "rates. The larger a mark, the more pictures show the object. Arrows: the excess "
    "of two objects (black edges); pale bars: the 95 % interval of their T→A. Data: "
    "captions released with Hendricks et al. (2018), labels of COCO."
)
MEANS = (
    "Means over the 19 objects that go with men, the 33 that go with women, and all, "
    "on the 6,732 common pictures. Open circle: Baseline. Filled, drawn lower to be "
    "seen: Equalizer. At the right: the change with its 95 % margin (for the two "
    "groups slightly too wide). T→A is the blind part plus the excess. Data: captions "
    "released with Hendricks et al. (2018), labels of COCO; share of men in training "
    ".7103."
)

_KINDS = {
    1: ("blue", "o", "go with men"),
    -1: ("orange", "s", "go with women"),
}
_HIGHLIGHTED = {"motorcycle": (0, -20), "cell_phone": (-4, -26)}


def called_men(
    by_object: dict[str, DataFrame],
    *,
    sign: np.ndarray,
    rates: dict[str, DataFrame],
    t_to_a: dict[str, float],
    narrow: bool = False,
) -> Figure:
    """Draw what each object adds to the T→A of two captioners.

    Parameters
    ----------
    by_object : dict of DataFrame
        For each captioner, a row for each object. Columns "true" (the share of men),
        "step" (the share called men minus the true share), "wrong" (the share called
        by the wrong gender) and "people" (how many there are).
    sign : ndarray
        1 for an object that goes with men, -1 for one that goes with women.
    rates : dict of DataFrame
        For each captioner, the shares of labelled men and women (rows) whom it calls
        men and women over all pictures, in "man (share)" and "woman (share)".
    t_to_a : dict of float
        For each captioner, the mean of sign times step over all objects.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each captioner.
    """
    figure, axes = plots.page(
        narrow, panels=(1, 2), heights=(3.6, 6.6), sharex=True, sharey=True
    )
    names = {"baseline_ft": "Baseline", "equalizer": "Equalizer"}
    for ax, (model, title) in zip(axes, names.items(), strict=True):
        _draw_captioner(ax, by_object[model], sign, rates[model])
        mean = _written(f"{t_to_a[model]:.3f}")
        # Empty lines for the legend, between the finding and the panels' titles.
        space = "\n"
        if narrow:
            space = "\n\n" if ax is axes[0] else ""
        ax.set_title(f"{space}{title}: mean T→A {mean}")
        ax.tick_params(labelbottom=True)
        if narrow or ax is axes[0]:
            ax.set_ylabel("T→A beside the object")
        ax.set_xlabel("true share of men beside the object")

    axes[0].set(xlim=(0.3, 1.01), ylim=(-0.27, 0.27), xticks=[0.4, 0.6, 0.8, 1.0])
    line = {"color": "0.4", "linewidth": 2}
    axes[0].plot([], [], "--", **line, label="errors that ignore objects")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside upper center",
        ncols=1 if narrow else 3,
        frameon=False,
        borderaxespad=3.4 if narrow else 2.0,
    )
    write_finding(
        figure,
        "Beside nearly every object, T→A falls if it goes with men and rises otherwise",
    )
    return figure


def _draw_captioner(ax, beside, sign, rates):
    """Draw one captioner's objects, and what errors that ignore them would give."""
    ax.axhline(0, color="black", linewidth=0.8)
    true = beside["true"]
    signed = sign * beside["step"]
    # The step is a mean of numbers: 1 or -1 for a wrong gender, 0 for a right one.
    variance = beside["wrong"] - beside["step"] ** 2
    margin = 1.96 * np.sqrt(variance / beside["people"])
    women_called_men = (1 - true) * rates.loc["woman", "man (share)"]
    men_called_women = true * rates.loc["man", "woman (share)"]
    blind = sign * (women_called_men - men_called_women)

    for kind, (name, marker, label) in _KINDS.items():
        rows = sign == kind
        colour = plots.COLOURS[name]
        mark = {
            "marker": marker,
            "color": colour,
            "linewidth": 0.5,
            "edgecolor": "white",
        }
        area = 10 + beside["people"][rows] / 18
        ax.scatter(true[rows], signed[rows], s=area, **mark)
        words = f"{np.count_nonzero(rows)} objects {label}"
        ax.plot([], [], marker, markersize=4, color=colour, label=words)
        ends = true[rows].sort_values().index[[0, -1]]
        ax.plot(true[ends], blind[ends], "--", color=colour, linewidth=2)

    for name, offset in _HIGHLIGHTED.items():
        kind = sign[beside.index.get_loc(name)]
        colour, marker, _ = _KINDS[kind]
        point = true[name], signed[name]
        start = true[name], blind[name]
        highlight = {"markersize": 6, "markeredgecolor": "black", "zorder": 4}
        interval = {"elinewidth": 5, "alpha": 0.45, "zorder": 1}
        ax.errorbar(*point, yerr=margin[name], color=plots.COLOURS[colour], **interval)
        ax.plot(*point, marker, color=plots.COLOURS[colour], **highlight)
        arrow = {"arrowstyle": "->", "color": "black", "shrinkA": 0, "shrinkB": 3}
        ax.annotate("", point, xytext=start, arrowprops=arrow, zorder=5)
        label = name.replace("_", " ")
        plots.note(label, start, offset=offset, edge=True, ax=ax, ha="center")


def means(groups: DataFrame, over_all: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw how means change from one captioner to the other.

    Parameters
    ----------
    groups : DataFrame
        For objects that "go with men" and "go with women" (rows), the mean of sign
        times step of "baseline_ft" and "equalizer", its "change", and in "margin"
        that of the change.
    over_all : DataFrame
        The same for all objects, of "T->A", its "T->A blind" and its
        "T->A excess" (rows).
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel with an arrow for each mean.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.4, 2.9))
    ax.axvline(0, color="black", linewidth=0.8)
    rows = [
        ("T→A, with men", groups.loc["go with men"]),
        ("T→A, with women", groups.loc["go with women"]),
        ("T→A, all", over_all.loc["T->A"]),
        ("blind part, all", over_all.loc["T->A blind"]),
        ("excess, all", over_all.loc["T->A excess"]),
    ]
    colour = plots.COLOURS["blue"]
    circle = {"color": colour, "markersize": 6}
    for place, (_, row) in enumerate(rows):
        arrow = {"arrowstyle": "->", "color": colour, "shrinkA": 4, "shrinkB": 3}
        before = (row["baseline_ft"], place - 0.14)
        after = (row["equalizer"], place + 0.14)
        ax.annotate("", after, xytext=before, arrowprops=arrow)
        ax.plot(*before, "o", markerfacecolor="white", **circle)
        ax.plot(*after, "o", **circle)
        words = _written(f"{row['change']:+.3f} ± {row['margin']:.3f}")
        plots.note(words, (0.105, place), offset=(0, 0), ax=ax, va="center")

    ax.set_yticks(range(len(rows)), [name for name, _ in rows])
    ax.set_xticks([-0.05, 0, 0.05, 0.1])
    ax.set(xlim=(-0.09, 0.22 if narrow else 0.15), ylim=(len(rows) - 0.5, -0.5))
    ax.set_xlabel("mean over objects")
    write_finding(
        figure, "Mean T→A rises with its blind part; its excess is not shown to change"
    )
    return figure


def _written(shares: str) -> str:
    """Return shares as they are printed: with a minus, and without the zero."""
    return shares.replace("-", "−").replace("0.", ".")
