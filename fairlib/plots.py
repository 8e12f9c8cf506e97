"""The drawing functions that all figures share, so that they look alike.

Figures are as wide as a page, their type is readable at that width, and their colours
survive colour blindness and grey print. Functions draw on `ax` and return it. `save`
writes a figure with its caption, and writes the same bytes every time.

>>> use_style()
>>> import pandas as pd
>>> axes = heatmap(pd.DataFrame({"a": [0.1], "b": [0.2]}, index=["FPED"]))
>>> [text.get_text() for text in axes.texts]
['0.100', '0.200']
>>> plt.close(axes.figure)
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from textwrap import wrap
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox
from numpy.typing import ArrayLike
from pandas import DataFrame
from seaborn.utils import relative_luminance

from fairlib.data import FIGURES, write_whole

WIDTH = 6.5  # inches: the text width of a page
NARROW = 3.6  # inches: a telephone shows this much at the size of a page

# Okabe and Ito's palette, ordered so that neighbours also differ in grey. MARKERS are a
# second signal beside the colour.
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

_DOTS_PER_INCH = 160
_LETTERS_PER_LINE = 98  # of a caption: at 8 pt, over the width of a page
# The room that `save` adds below the axes, in inches.
_LINE_HEIGHT = 0.15
_CAPTION_MARGINS = 0.12
_LOWER_MARGIN = 0.04
_LABEL_HEIGHT = 0.17

# Text in black or white has a contrast of at least 4.5 on any colour, if it turns white
# on colours that are darker than this luminance.
_DARK = 0.18


def use_style() -> None:
    """Set the look of all figures that follow."""
    sns.set_theme(context="paper", style="ticks", palette=list(COLOURS.values()))
    plt.style.use(Path(__file__).with_suffix(".mplstyle"))


def page(
    narrow: bool,
    *,
    panels: tuple[int, int] = (1, 1),
    heights: tuple[float, float],
    **options: Any,
) -> tuple[Figure, Any]:
    """Return a figure and its axes, for a page or for a phone.

    Parameters
    ----------
    narrow : bool
        Whether the figure is for a phone. Its panels then stand below each other.
    panels : (int, int), default (1, 1)
        Rows and columns of panels on a page.
    heights : (float, float)
        The height of the figure in inches, on a page and on a phone.
    **options
        Further arguments of `matplotlib.pyplot.subplots`.

    Returns
    -------
    Figure
        An empty figure.
    ndarray of Axes
        The panels, in one row.

    Examples
    --------
    >>> figure, (left, right) = page(True, panels=(1, 2), heights=(2.5, 5))
    >>> [float(length) for length in figure.get_size_inches()]
    [3.6, 5.0]
    >>> plt.close(figure)
    """
    rows, columns = panels
    if narrow:
        shape = rows * columns, 1
        size = NARROW, heights[1]
    else:
        shape = panels
        size = WIDTH, heights[0]

    figure, axes = plt.subplots(*shape, figsize=size, squeeze=False, **options)
    return figure, axes.ravel()


def save(figure: Figure, name: str, *, caption: str) -> Figure:
    """Write a figure to `figures/`, as PNG and as SVG, and close it.

    The PNG shows the caption below the axes. The SVG carries the caption as its
    description, for pages that print the caption as text, and the finding above the
    figure as its title, which pages give in place of the picture. A figure that shows
    simulated or invented data says so in the SVG too, in a short label below the axes.

    Parameters
    ----------
    figure : Figure
        A figure with a constrained layout, which is the default after `use_style`.
    name : str
        The files are called `figures/<name>.png` and `figures/<name>.svg`. A variant
        of a figure for telephones is `NARROW` inches wide, and its name ends in
        "_narrow".
    caption : str
        What data the figure shows, what the intervals are, and n.

    Returns
    -------
    Figure
        The same figure.
    """
    width, height = figure.get_size_inches()
    lines = wrap(caption, int(_LETTERS_PER_LINE * width / WIDTH))
    added = _LINE_HEIGHT * len(lines) + _CAPTION_MARGINS
    total_height = height + added

    # The figure grows by the room for the caption; the axes keep their size.
    figure.set_size_inches(width, total_height)
    share = added / total_height
    layout = figure.get_layout_engine()
    if not isinstance(layout, ConstrainedLayoutEngine):
        raise ValueError(
            f"figure must have a constrained layout, found {type(layout).__name__}"
        )
    layout.set(rect=(0, share, 1, 1 - share))
    layout.execute(figure)
    figure.set_layout_engine("none")

    # The layout's last digits differ between runs, and the SVG would show them.
    for axes in figure.axes:
        axes.set_position(np.round(axes.get_position(original=True).bounds, 6))

    # The SVG is the figure without the caption, cut off below the label. It carries the
    # finding and the caption as text, for those who cannot see it.
    facts = {"Date": None, "Description": caption}
    if figure.get_suptitle():
        facts["Title"] = " ".join(figure.get_suptitle().split())
    label = _label_of(caption)
    label_height = _LABEL_HEIGHT if label else 0
    text = figure.text(
        0.01,
        (added - label_height + _LOWER_MARGIN) / total_height,
        label,
        fontsize=8,
        va="bottom",
        linespacing=1.3,
    )
    write_svg = partial(
        figure.savefig,
        format="svg",
        metadata=facts,
        dpi=_DOTS_PER_INCH,
        bbox_inches=Bbox.from_bounds(
            0, added - label_height, width, height + label_height
        ),
    )
    write_whole(FIGURES / f"{name}.svg", write_svg)

    # In the PNG the caption takes the label's place.
    text.set(text="\n".join(lines), y=_LOWER_MARGIN / total_height)
    write_png = partial(figure.savefig, format="png", dpi=_DOTS_PER_INCH)
    write_whole(FIGURES / f"{name}.png", write_png)

    # A notebook would show an open figure twice: once more as the value of its cell.
    plt.close(figure)
    return figure


def show(figure: Figure) -> None:
    """Show a figure at once, and close it: what the function of a widget does.

    Parameters
    ----------
    figure : Figure
        The figure that the controls of the widget describe.
    """
    # Only notebooks show figures, so only they need IPython.
    from IPython import display

    display.display(figure)
    plt.close(figure)


def intervals(
    places: ArrayLike,
    estimate: Iterable[Any],
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    colour: str = "blue",
    marker: str = "o",
    horizontal: bool = False,
    **options: Any,
) -> Axes:
    """Draw estimates with their intervals, and return the axes.

    Parameters
    ----------
    places : array_like
        Where the estimates stand along x, or along y if `horizontal`.
    estimate : iterable of float or of Interval
        Numbers need `low` and `high`. Intervals bring their own ends.
    low, high : array_like of float, optional
        The ends of the intervals.
    ax : Axes, optional
        Where to draw; by default on the current axes.
    colour : str, default "blue"
        A name in `COLOURS`, or any colour that matplotlib knows.
    marker : str, default "o"
        The mark at the estimate.
    horizontal : bool, default False
        Whether the intervals lie along x.
    **options
        Further arguments of `Axes.errorbar`.

    Returns
    -------
    Axes
        Where the intervals were drawn.
    """
    axes = _axes_or_current(ax)

    if low is None:
        ends = [
            (interval.estimate, interval.low, interval.high) for interval in estimate
        ]
        middles, lows, highs = np.array(ends, dtype=float).T
    else:
        middles, lows, highs = (
            np.asarray(values, dtype=float) for values in (estimate, low, high)
        )
    lengths = np.clip(np.stack([middles - lows, highs - middles]), 0, None)

    draw = partial(
        axes.errorbar,
        fmt=marker,
        color=COLOURS.get(colour, colour),
        capsize=2,
        elinewidth=1,
        **options,
    )
    if horizontal:
        draw(x=middles, y=places, xerr=lengths)
    else:
        draw(x=places, y=middles, yerr=lengths)
    return axes


def heatmap(
    values: DataFrame,
    *,
    shade: DataFrame | None = None,
    ax: Axes | None = None,
    digits: int = 3,
    signed: bool = False,
) -> Axes:
    """Draw a table as a heatmap with its values printed in the cells.

    Cells without a value stay white, and so do cells without a shade (an infinite ratio
    has none).

    Parameters
    ----------
    values : DataFrame
        The numbers that the cells print; NaN is printed as "n/a".
    shade : DataFrame, optional
        What the colour shows, in [0, 1] or, if `signed`, in [-1, 1]. By default each
        row of `values`, divided by its largest absolute value.
    ax : Axes, optional
        Where to draw; by default on the current axes.
    digits : int, default 3
        How many digits of a value are printed after the point.
    signed : bool, default False
        Whether negative and positive shades have colours of their own.

    Returns
    -------
    Axes
        Where the table was drawn.
    """
    axes = _axes_or_current(ax)

    shades = shade
    if shades is None:
        largest = values.abs().max(axis=1).replace(0, 1)
        shades = values.div(largest, axis=0)
    shades = shades.where(values.notna().to_numpy())

    if signed:
        palette = "PuOr_r"
        lowest = -1
    else:
        palette = "Blues"
        lowest = 0
    # seaborn's own heatmap draws the whole figure once more for each table in it.
    axes.pcolormesh(
        np.ma.masked_invalid(shades.to_numpy(dtype=float)),
        cmap=palette,
        vmin=lowest,
        vmax=1,
        linewidths=0.5,
        edgecolor="white",
    )
    rows, columns = shades.shape
    axes.set(xlim=(0, columns), ylim=(rows, 0))
    axes.set_xticks(np.arange(columns) + 0.5, list(map(str, shades.columns)))
    axes.set_yticks(
        np.arange(rows) + 0.5,
        list(map(str, shades.index)),
        verticalalignment="center",
    )
    sns.despine(ax=axes, left=True, bottom=True)

    colour_of = mpl.colormaps[palette].with_extremes(bad="white")
    shaded_cells = np.argwhere(shades.notna()).tolist()
    white_cells = np.argwhere(shades.isna()).tolist()
    for row, column in shaded_cells + white_cells:
        value = values.iat[row, column]
        background = colour_of((shades.iat[row, column] - lowest) / (1 - lowest))
        axes.text(
            column + 0.5,
            row + 0.5,
            "n/a" if np.isnan(value) else f"{value:.{digits}f}",
            color="black" if relative_luminance(background) > _DARK else "white",
            ha="center",
            va="center",
        )

    axes.set(xlabel="", ylabel="")
    axes.tick_params(length=0)
    return axes


def curves(
    x: ArrayLike,
    lines: Mapping[str, ArrayLike] | DataFrame,
    *,
    looks: Iterable[tuple[str, str]] = (
        ("-", "blue"),
        ("--", "vermillion"),
        ("-.", "green"),
        (":", "black"),
    ),
    ax: Axes | None = None,
) -> Axes:
    """Draw several lines over the same `x`, and return the axes.

    Parameters
    ----------
    x : array_like
        The points that all lines share.
    lines : mapping or DataFrame
        The name of each line and its values at `x`.
    looks : iterable of (style, colour)
        How the lines look, one after the other; they start again when the looks run
        out. Lines with the looks of the default can be told apart in grey print too.
    ax : Axes, optional
        Where to draw; by default on the current axes.

    Returns
    -------
    Axes
        Where the lines were drawn.
    """
    axes = _axes_or_current(ax)
    for (name, values), (style, colour) in zip(
        lines.items(), cycle(looks), strict=False
    ):
        axes.plot(x, values, style, color=COLOURS[colour], label=name)
    return axes


def intervals_by_name(
    tables: Mapping[str, DataFrame],
    *,
    spread: float = 0.34,
    colours: Sequence[str] = tuple(COLOURS),
    horizontal: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the estimates of several tables side by side at the names of their rows.

    Each table has a colour and a mark of its own.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        A label and a table for each series. The first three columns of a table are the
        estimate and the two ends. All tables have the same rows.
    spread : float, default 0.34
        How far apart the tables stand at a name; the distance between two names is 1.
    colours : sequence of str
        The colours of the tables, names in `COLOURS`.
    horizontal : bool, default True
        Whether the names stand along y, with the first table at the bottom.
    ax : Axes, optional
        Where to draw; by default on the current axes.

    Returns
    -------
    Axes
        Where the intervals were drawn.
    """
    axes = _axes_or_current(ax)
    names = next(iter(tables.values())).index
    places = np.arange(len(names))

    for number, (label, table) in enumerate(tables.items()):
        estimate, low, high = table.iloc[:, :3].to_numpy().T
        intervals(
            places + spread * (number - (len(tables) - 1) / 2),
            estimate,
            low=low,
            high=high,
            ax=axes,
            colour=colours[number],
            marker=MARKERS[number],
            label=label,
            horizontal=horizontal,
        )

    if horizontal:
        axes.set(yticks=places, yticklabels=names)
    else:
        axes.set(xticks=places, xticklabels=names)
    return axes


def sensitivity(
    choices: DataFrame, *, limit: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw what a statement comes to under several choices, and return the axes.

    A filled circle marks a choice under which the statement holds, a hollow square one
    under which it does not. If a picture has both, the choice decides, not the data.

    Parameters
    ----------
    choices : DataFrame
        One row per choice, named by the index: `value`, optionally its interval from
        `low` to `high`, and `holds`, whether the statement holds under this choice.
    limit : float, optional
        The value at which the answer turns, drawn as a dashed line.
    ax : Axes, optional
        Where to draw; by default on the current axes.

    Returns
    -------
    Axes
        Where the choices were drawn, the first on top.
    """
    axes = _axes_or_current(ax)
    places = np.arange(len(choices))
    low = choices.get("low", choices["value"])
    high = choices.get("high", choices["value"])
    holds = choices["holds"].to_numpy(dtype=bool)

    for is_shown, label, colour, marker, fill in (
        (holds, "holds", "blue", "o", "full"),
        (~holds, "does not hold", "vermillion", "s", "none"),
    ):
        if is_shown.any():
            intervals(
                places=places[is_shown],
                estimate=choices["value"][is_shown],
                low=low[is_shown],
                high=high[is_shown],
                ax=axes,
                colour=colour,
                marker=marker,
                horizontal=True,
                fillstyle=fill,
                label=label,
            )

    if limit is not None:
        axes.axvline(limit, color="black", linewidth=0.8, linestyle="--")
    axes.set_yticks(places, [str(choice) for choice in choices.index])
    axes.set_ylim(len(choices) - 0.5, -0.5)
    return axes


def log_axis(
    ticks: ArrayLike,
    *,
    axis: str = "y",
    written: str = "{x:,.0f}",
    ax: Axes | None = None,
) -> Axes:
    """Make an axis logarithmic, with ticks and numbers at the given places only.

    Parameters
    ----------
    ticks : array_like of float
        Where the ticks are.
    axis : "x" or "y", default "y"
        Which axis.
    written : str, default "{x:,.0f}"
        How a tick `x` is written, as a format string.
    ax : Axes, optional
        Where to draw; by default on the current axes.

    Returns
    -------
    Axes
        The axes that were changed.
    """
    axes = _axes_or_current(ax)
    axes.set(**{f"{axis}scale": "log", f"{axis}ticks": ticks})
    getattr(axes, f"{axis}axis").set_major_formatter(written)
    axes.minorticks_off()
    return axes


def note(
    text: str,
    at: tuple[float, float],
    *,
    offset: tuple[float, float] = (4, 4),
    edge: bool = False,
    ax: Axes | None = None,
    **options: Any,
) -> Axes:
    """Write a note beside a point, and return the axes.

    Parameters
    ----------
    text : str
        The note.
    at : (float, float)
        The point that the note is about.
    offset : (float, float), default (4, 4)
        How far from the point the note stands, in points of type.
    edge : bool, default False
        Whether the letters have a white edge, so that they can be read on anything.
    ax : Axes, optional
        Where to draw; by default on the current axes.
    **options
        Further arguments of `Axes.annotate`.

    Returns
    -------
    Axes
        Where the note was written.
    """
    axes = _axes_or_current(ax)
    annotation = axes.annotate(
        text, at, xytext=offset, textcoords="offset points", **options
    )
    if edge:
        annotation.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    return axes


def _axes_or_current(ax: Axes | None) -> Axes:
    """Return the axes that a caller names, or else the current ones."""
    return plt.gca() if ax is None else ax


def _label_of(caption: str) -> str:
    """Return what a figure says of data that nobody measured; "" of measured data."""
    words = caption.lower()
    if "simulat" in words:
        return "In part simulated" if "enumerated" in words else "Simulation"
    if "invented" in words:
        return "Invented example"
    return ""
