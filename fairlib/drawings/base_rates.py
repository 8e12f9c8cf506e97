"""The drawing of lesson 12: arrows from base rates to a model's answers."""

import numpy as np
from matplotlib.figure import Figure
from pandas import Series

from fairlib import plots

ARROWS = (
    "Thirteen occupations: share of men at work (hollow) and BERT's probability of "
    '"he" (filled). Dotted: one half. Data: U.S. labor statistics of 2016, as in Wang '
    "and Russakovsky (2021); BERT's answers from Kurita et al. (2019), "
    "n = 13 occupations."
)


def arrows(men: Series, p_he: Series, *, narrow: bool = False) -> Figure:
    """Draw for each occupation an arrow from the base rate to the model's answer.

    Parameters
    ----------
    men : Series
        The share of men at work, by occupation.
    p_he : Series
        The model's probability of "he", of the same occupations in the same order.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel, a row for each occupation.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.4, 4.2))
    places = np.arange(len(men))

    for place, start, end in zip(places, men, p_he, strict=True):
        ax.annotate(
            "",
            (end, place),
            (start, place),
            arrowprops={"arrowstyle": "-|>", "color": "black", "shrinkA": 4},
        )
    womens_job = men < 0.5
    for chosen, colour, marker, label in (
        (~womens_job, "blue", "o", "men's jobs"),
        (womens_job, "orange", "s", "women's jobs"),
    ):
        style_of_marks = {
            "color": plots.COLOURS[colour],
            "marker": marker,
            "linestyle": "none",
        }
        ax.plot(men[chosen], places[chosen], markerfacecolor="white", **style_of_marks)
        ax.plot(p_he[chosen], places[chosen], label=label, **style_of_marks)

    ax.axvline(0.5, color="black", linewidth=0.8, linestyle=":")
    line_end = "\n" if narrow else " "
    ax.set(
        title=f"BERT's answers lie closer together{line_end}than the shares at work",
        xlabel="men at work (hollow), BERT says he (filled)",
        xlim=(0, 1),
        yticks=places,
        yticklabels=men.index,
    )
    figure.legend(loc="outside upper center", ncols=1 if narrow else 2)
    return figure
