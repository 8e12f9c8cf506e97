"""The finding of a figure, written above it as its title."""

from textwrap import fill

from matplotlib.figure import Figure

from fairlib import plots

_LETTERS_PER_INCH = 13


def write_finding(figure: Figure, finding: str) -> None:
    """Write the finding above a figure, in as many lines as its width asks for.

    Parameters
    ----------
    figure : Figure
        A figure for a page or for a phone.
    finding : str
        One short sentence.
    """
    width = figure.get_figwidth()
    figure.suptitle(
        fill(finding, int(_LETTERS_PER_INCH * width)),
        x=0.01,
        horizontalalignment="left",
        fontsize=10 if width >= plots.WIDTH else 9,
    )
