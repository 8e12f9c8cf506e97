"""The cells of heatmaps: numbers without a leading zero, and frames around some."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.patheffects import Normal, withStroke
from numpy.typing import NDArray

from fairlib import plots

# The dashes of an unbroken line
_SOLID = {"dash_offset": 0, "dash_list": None}


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


def frame(framed: NDArray, panel: Axes, *, narrow: bool, dashed: bool = False) -> None:
    """Draw frames with a white edge, which show on light and on dark cells.

    Parameters
    ----------
    framed : ndarray of bool
        Which cells have a frame.
    panel : Axes
        A heatmap.
    narrow : bool
        Whether the figure is for a phone, where cells are small.
    dashed : bool, default False
        Whether the frames are black and dashed, in place of solid orange ones.
    """
    # The white edge reaches the border of the cell, so that no colour shows outside.
    across, down = (0.047, 0.07) if narrow else (0.033, 0.095)
    line = 1.1 if narrow else 1.6

    for row, column in np.argwhere(framed):
        rectangle = Rectangle(
            (column + across, row + down),
            1 - 2 * across,
            1 - 2 * down,
            fill=False,
            linewidth=line,
            **frame_style(dashed=dashed),
        )
        edge = withStroke(linewidth=2 * line, foreground="white", dashes=_SOLID)
        rectangle.set_path_effects([edge, Normal()])
        rectangle.set_in_layout(False)
        panel.add_patch(rectangle)


def frame_style(*, dashed: bool) -> dict[str, Any]:
    """Return the colour and the line of a frame, for frames and for their legend.

    Parameters
    ----------
    dashed : bool
        Whether the frame is dashed.

    Returns
    -------
    dict
        Options of a patch.
    """
    if dashed:
        return {"edgecolor": "black", "linestyle": (0, (2.5, 1.5))}
    return {"edgecolor": plots.COLOURS["vermillion"], "linestyle": "solid"}
