"""The cells of heatmaps: numbers without a leading zero, and frames around some."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.patheffects import Normal, withStroke
from numpy.typing import NDArray

from fairlib import plots


def shorten_numbers(panel: Axes) -> None:
    """Print .040 in place of 0.040, so that cells stay readable.

    Parameters
    ----------
    panel : Axes
        A heatmap.
    """
    for text in panel.texts:
        number = text.get_text()
        digits = number.removeprefix("-")
        is_negative = number.startswith("-") and digits.strip("0.") != ""
        if digits.startswith("0."):
            digits = digits.removeprefix("0")
        text.set_text(f"\N{MINUS SIGN}{digits}" if is_negative else digits)
        text.set_fontsize(8)
        # Numbers lie inside their cells; the layout need not measure each of them.
        text.set_in_layout(False)


def frame(framed: NDArray, panel: Axes, *, narrow: bool) -> None:
    """Draw frames with a white edge, which show on light and on dark cells.

    Parameters
    ----------
    framed : ndarray of bool
        Which cells have a frame.
    panel : Axes
        A heatmap.
    narrow : bool
        Whether the figure is for a phone, where cells are small.
    """
    margin = 0.04 if narrow else 0.07
    line = 1.1 if narrow else 1.6

    for row, column in np.argwhere(framed):
        rectangle = Rectangle(
            (column + margin, row + margin),
            1 - 2 * margin,
            1 - 2 * margin,
            fill=False,
            linewidth=line,
            edgecolor=plots.COLOURS["vermillion"],
        )
        edge = withStroke(linewidth=2 * line, foreground="white")
        rectangle.set_path_effects([edge, Normal()])
        rectangle.set_in_layout(False)
        panel.add_patch(rectangle)
