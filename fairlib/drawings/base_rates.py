"""The drawing of lesson 12: arrows from base rates to a model's answers."""

from textwrap import fill

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame, concat

from fairlib import plots

ARROWS = (
    "Thirteen occupations and the means of the two kinds: share of men at work "
    '(hollow) and BERT\'s probability of "he" (filled). Dotted: one half. Data: U.S. '
    "labor statistics of 2016, as in Wang and Russakovsky (2021); BERT's answers from "
    "Kurita et al. (2019), n = 13 occupations."
)


def arrows(occupations: DataFrame, means: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw for each occupation an arrow from the base rate to the model's answer.

    Parameters
    ----------
    occupations : DataFrame
        A row for each occupation, with the columns "men at work" and "BERT says he",
        in the order in which they are drawn from below.
    means : DataFrame
        The same columns, with a row for the women's jobs and one for the men's jobs.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel, a row for each mean and, above these, one for each occupation.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.9, 4.8))
    rows = concat([means, occupations])
    men = rows["men at work"]
    p_he = rows["BERT says he"]
    is_occupation = np.arange(len(rows)) >= len(means)
    places = np.arange(len(rows)) + 0.4 * is_occupation

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
    ax.axhline(len(means) - 0.3, color="black", linewidth=0.8)
    title = (
        "On average, men's and women's jobs lie closer together "
        "in BERT's answers than at work"
    )
    ax.set(
        title=fill(title, 36) if narrow else title,
        xlabel="men at work (hollow), BERT says he (filled)",
        xlim=(0, 1),
        yticks=places,
        yticklabels=["mean", "mean", *occupations.index],
    )
    figure.legend(loc="outside upper center", ncols=1 if narrow else 2)
    return figure
