"""One look for all figures: page width, readable type, colours that survive colour blindness and grey print.

Functions draw on `ax` and return it; `save` writes the figure with its caption, byte for byte the same every time.

>>> use_style()
>>> axes = heatmap(pd.DataFrame({"a": [0.1], "b": [0.2]}, index=["FPED"]))
>>> [text.get_text() for text in axes.texts]
['0.100', '0.200']
>>> plt.close(axes.figure)
"""

from functools import partial
from itertools import cycle
from pathlib import Path
from textwrap import wrap

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox
from seaborn.utils import relative_luminance

from fairlib.data import FIGURES, write_whole

WIDTH = 6.5  # inches: the text width of a page
CAPTION_LETTERS = 98  # per line, at 8 pt over the width of a page

# Okabe and Ito's palette, ordered so that neighbours also differ in grey; use with MARKERS for a second signal.
COLOURS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "sky": "#56B4E9",
    "vermillion": "#D55E00",
    "purple": "#CC79A7",
    "black": "#000000",
    "grey": "#999999",
}
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def use_style() -> None:
    """Set the look of all figures that follow."""
    sns.set_theme(context="paper", style="ticks", palette=list(COLOURS.values()))
    plt.style.use(Path(__file__).with_suffix(".mplstyle"))


def save(figure: plt.Figure, name: str, *, caption: str) -> plt.Figure:
    """Write `figures/<name>.png` with `caption` below the axes, `.svg` with it as its description; return the figure.

    The caption says which data the figure shows, what the intervals are, and n. A simulation is one in the SVG too.
    """
    lines = wrap(caption, CAPTION_LETTERS)
    width, height = figure.get_size_inches()
    added = 0.15 * len(lines) + 0.12
    figure.set_size_inches(width, height + added)
    share = added / (height + added)
    layout = figure.get_layout_engine()
    layout.set(rect=(0, share, 1, 1 - share))
    layout.execute(figure)
    figure.set_layout_engine("none")
    for ax in figure.axes:  # fixed and rounded: the layout's last digits differ between runs, and show in the SVG
        ax.set_position(np.round(ax.get_position(original=True).bounds, 6))
    said = caption.lower()
    simulated = "In part simulated" if "enumerated" in said else "Simulation"
    label = (
        simulated
        if "simulat" in said
        else "Invented example"
        if "invented" in said
        else ""
    )
    room = 0.17 if label else 0
    low = (added - room + 0.04) / (height + added)
    written = figure.text(0.01, low, label, fontsize=8, va="bottom", linespacing=1.3)
    look = {
        "dpi": 160,
        "bbox_inches": Bbox.from_bounds(0, added - room, width, height + room),
    }
    facts = {"Date": None, "Description": caption}
    write_whole(
        FIGURES / f"{name}.svg",
        partial(figure.savefig, format="svg", metadata=facts, **look),
    )
    written.set(text="\n".join(lines), y=0.04 / (height + added))
    write_whole(FIGURES / f"{name}.png", partial(figure.savefig, format="png", dpi=160))
    plt.close(
        figure
    )  # else a notebook shows it twice: as the cell's value, and because it is still open
    return figure


def intervals(
    places,
    estimate,
    low=None,
    high=None,
    *,
    ax=None,
    colour="blue",
    marker="o",
    horizontal=False,
    **look,
):
    """Draw estimates with their intervals at `places` (along y if `horizontal`), and return the axes.

    estimate : numbers, with `low` and `high`; or an `Interval` per place, with ends of its own.
    look : as `Axes.errorbar` has it.
    """
    ax = plt.gca() if ax is None else ax
    if low is None:
        estimate, low, high = np.array(
            [(one.estimate, one.low, one.high) for one in estimate]
        ).T
    estimate, low, high = (
        np.asarray(values, dtype=float) for values in (estimate, low, high)
    )
    errors = np.clip(np.stack([estimate - low, high - estimate]), 0, None)
    points, along = (
        ((estimate, places), "xerr") if horizontal else ((places, estimate), "yerr")
    )
    look |= {
        "fmt": marker,
        "color": COLOURS.get(colour, colour),
        "capsize": 2,
        "elinewidth": 1,
        along: errors,
    }
    ax.errorbar(*points, **look)
    return ax


def heatmap(
    values: pd.DataFrame,
    *,
    shade: pd.DataFrame | None = None,
    ax=None,
    digits: int = 3,
    signed: bool = False,
):
    """Draw a table as a heatmap that prints its values, and return the axes.

    shade : what the colour shows, in [0, 1] or, if `signed`, in [-1, 1]; by default each row of `values` divided by its
        largest absolute value. Cells without a value, or without a shade (an infinite ratio has none), stay white.
    """
    ax = plt.gca() if ax is None else ax
    if shade is None:
        shade = values.div(values.abs().max(axis=1).replace(0, 1), axis=0)
    shade = shade.where(values.notna().to_numpy())
    colours, lowest = ("PuOr_r", -1) if signed else ("Blues", 0)
    sns.heatmap(
        shade, cmap=colours, vmin=lowest, vmax=1, cbar=False, linewidths=0.5, ax=ax
    )
    look, middle = (
        mpl.colormaps[colours].with_extremes(bad="white"),
        {"ha": "center", "va": "center"},
    )
    for row, column in (
        np.argwhere(shade.notna()).tolist() + np.argwhere(shade.isna()).tolist()
    ):
        value = values.iat[row, column]
        back = look((shade.iat[row, column] - lowest) / (1 - lowest))
        ink = (
            "black" if relative_luminance(back) > 0.18 else "white"
        )  # a contrast of at least 4.5 on any colour
        ax.text(
            column + 0.5,
            row + 0.5,
            "n/a" if np.isnan(value) else f"{value:.{digits}f}",
            color=ink,
            **middle,
        )
    ax.set(xlabel="", ylabel="")
    ax.tick_params(length=0)
    return ax


def curves(
    x,
    lines,
    *,
    looks=(("-", "blue"), ("--", "vermillion"), ("-.", "green"), (":", "black")),
    ax=None,
):
    """Draw a line over `x` for each name in `lines`, a mapping or the columns of a frame, and return the axes.

    looks : (style, colour) of one line after the other; by default they can be told apart in grey print too.
    """
    ax = plt.gca() if ax is None else ax
    for (name, values), (style, colour) in zip(
        lines.items(), cycle(looks), strict=False
    ):
        ax.plot(x, values, style, color=COLOURS[colour], label=name)
    return ax


def intervals_by_name(
    tables, *, spread=0.34, colours=tuple(COLOURS), horizontal=True, ax=None
):
    """Draw estimates with intervals at the names of their index, a colour and mark per table, and return the axes.

    tables : label -> frame whose first three columns are estimate, low and high; all frames have the same rows, which
        stand `spread` apart at each name, from the bottom up if `horizontal`.
    """
    ax = plt.gca() if ax is None else ax
    for k, (label, table) in enumerate(tables.items()):
        places = np.arange(len(table)) + spread * (k - (len(tables) - 1) / 2)
        look = {
            "colour": colours[k],
            "marker": MARKERS[k],
            "label": label,
            "horizontal": horizontal,
        }
        intervals(places, *table.iloc[:, :3].to_numpy().T, ax=ax, **look)
    along = "y" if horizontal else "x"
    ax.set(
        **{f"{along}ticks": np.arange(len(table)), f"{along}ticklabels": table.index}
    )
    return ax


def log_axis(ticks, *, axis="y", written="{x:,.0f}", ax=None):
    """Make an axis logarithmic, with ticks and numbers at `ticks` alone, and return the axes."""
    ax = plt.gca() if ax is None else ax
    ax.set(**{f"{axis}scale": "log", f"{axis}ticks": ticks})
    getattr(ax, f"{axis}axis").set_major_formatter(written)
    ax.minorticks_off()
    return ax


def note(text, at, *, offset=(4, 4), edge=False, ax=None, **look):
    """Write `text` some points of type away from the point `at`, and return the axes.

    edge : give the letters a white edge, so that they read on top of anything. look : as `Axes.annotate` has it.
    """
    ax = plt.gca() if ax is None else ax
    written = ax.annotate(text, at, xytext=offset, textcoords="offset points", **look)
    if edge:
        written.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    return ax
