"""One look for all figures: page width, readable type, colours that survive colour blindness and grey print.

Functions draw on `ax` and return it; `save` writes the figure with its caption, byte for byte the same every time.
"""

from __future__ import annotations

from textwrap import wrap

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns

from fairlib.data import ROOT, write_whole

WIDTH = 6.5  # inches: the text width of a page
FIGURES = ROOT / "figures"
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
    mpl.rcParams |= {
        "figure.figsize": (WIDTH, 3.2),
        "figure.constrained_layout.use": True,
        "font.family": "DejaVu Sans",  # ships with matplotlib: the same on every machine
        "font.size": 8.5,
        "axes.titlesize": 9,
        "axes.labelsize": 8.5,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "legend.fontsize": 8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "lines.linewidth": 1.4,
        "lines.markersize": 4,
        "svg.hashsalt": "fairlib",  # else every SVG gets random ids
    }


def save(figure: plt.Figure, name: str, *, caption: str) -> plt.Figure:
    """Write `figures/<name>.svg` and `.png` with `caption` below the axes, and return the figure.

    The caption says which data the figure shows, what the intervals are, and n.
    """
    lines = wrap(caption, CAPTION_LETTERS)
    width, height = figure.get_size_inches()
    added = 0.15 * len(lines) + 0.12
    figure.set_size_inches(width, height + added)
    share = added / (height + added)
    figure.get_layout_engine().set(rect=(0, share, 1, 1 - share))
    figure.text(0.01, 0.04 / (height + added), "\n".join(lines), fontsize=8, va="bottom", linespacing=1.3)
    _settle(figure)
    for suffix, metadata in {"svg": {"Date": None}, "png": {}}.items():
        write_whole(
            FIGURES / f"{name}.{suffix}",
            lambda path, kind=suffix, facts=metadata: figure.savefig(path, format=kind, dpi=160, metadata=facts),
        )
    plt.close(figure)  # else a notebook shows it twice: as the cell's value, and because it is still open
    return figure


def _settle(figure: plt.Figure) -> None:
    """Fix the axes where the layout put them, rounded: its last digits differ between runs, and show in the SVG."""
    figure.get_layout_engine().execute(figure)
    figure.set_layout_engine("none")
    for ax in figure.axes:
        ax.set_position(np.round(ax.get_position(original=True).bounds, 6))


def intervals(positions, estimate, low, high, *, ax=None, colour="blue", marker="o", horizontal=False, label=None):
    """Draw estimates with their intervals at `positions` (along y if `horizontal`), and return the axes."""
    ax = plt.gca() if ax is None else ax
    estimate, low, high = (np.asarray(values, dtype=float) for values in (estimate, low, high))
    errors = np.clip(np.stack([estimate - low, high - estimate]), 0, None)
    look = {
        "fmt": marker,
        "color": COLOURS.get(colour, colour),
        "capsize": 2,
        "elinewidth": 1,
        "label": label,
    }
    if horizontal:
        ax.errorbar(estimate, positions, xerr=errors, **look)
    else:
        ax.errorbar(positions, estimate, yerr=errors, **look)
    return ax


def heatmap(values: pd.DataFrame, *, shade: pd.DataFrame | None = None, ax=None, digits: int = 3, signed: bool = False):
    """Draw a table as a heatmap that prints its values, and return the axes.

    shade : what the colour shows, in [0, 1] or, if `signed`, in [-1, 1]; by default each row of `values` divided by its
        largest absolute value. Cells without a value, or without a shade (an infinite ratio has none), stay white.
    """
    ax = plt.gca() if ax is None else ax
    if shade is None:
        shade = values.div(values.abs().max(axis=1).replace(0, 1), axis=0)
    shade = shade.where(values.notna().to_numpy())
    written = values.map(lambda value: "n/a" if np.isnan(value) else f"{value:.{digits}f}")
    colours, lowest = ("PuOr_r", -1) if signed else ("Blues", 0)
    sns.heatmap(shade, annot=written, fmt="", cmap=colours, vmin=lowest, vmax=1, cbar=False, linewidths=0.5, ax=ax)
    for row, column in np.argwhere(shade.isna().to_numpy()):  # seaborn leaves these without a word
        ax.text(column + 0.5, row + 0.5, written.iloc[row, column], ha="center", va="center", color=COLOURS["grey"])
    ax.set(xlabel="", ylabel="")
    ax.tick_params(length=0)
    return ax
