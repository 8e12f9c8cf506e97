"""The drawings of lesson 21: answers by template, and opposite gaps."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots

ANSWERS = (
    "The answers of two imagined models to four questions from each of five templates. "
    "Filled: the answer follows the stereotype. No data were used: all answers are "
    "made up."
)
FINDINGS = {
    "first model": "each template is mixed",
    "second model": "templates nearly decide",
}
TEMPLATES = (
    "Bias score of each of the 25 templates about age, and the mean of all questions "
    "with two 95\u00a0% intervals. A template has 16 to 168 questions, and a large one "
    "counts more in the mean. Data: UnifiedQA (ARC format) on BBQ's 1,839 ambiguous "
    "questions about age with a readable answer, as released."
)
OPPOSITE = (
    "Perspective on HateCheck: error rates with 95\u00a0% intervals (Clopper and "
    "Pearson, for independent templates), in 96 harmless and 325 hateful templates of "
    "each group. Of all 421 templates, 80 to 81\u00a0% are right for each group. Data: "
    "predictions released by Röttger et al. (2021)."
)


def answers(
    follows: Mapping[str, list[int]], questions: int, *, narrow: bool = False
) -> Figure:
    """Draw which answers follow a stereotype, a column of squares for each template.

    Parameters
    ----------
    follows : mapping
        For the "first model" and the "second model": how many answers of each template
        follow the stereotype.
    questions : int
        The number of questions of each template.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each model.
    """
    figure, panels = plots.page(narrow, panels=(1, len(follows)), heights=(2.4, 4.4))

    for ax, (model, counts) in zip(panels, follows.items(), strict=True):
        for template, count in enumerate(counts):
            for question in range(questions):
                is_so = question < count
                ax.plot(
                    template,
                    question,
                    "s",
                    markersize=14,
                    color=plots.COLOURS["vermillion"] if is_so else "white",
                    markeredgecolor=plots.COLOURS["grey"],
                )

        ax.set(
            title=f"{model}: {FINDINGS[model]}",
            xlabel="template",
            xticks=range(len(counts)),
            xticklabels=[chr(ord("A") + place) for place in range(len(counts))],
            xlim=(-0.7, len(counts) - 0.3),
            yticks=[],
            ylim=(-0.7, questions - 0.3),
        )
    return figure


def templates(scores: DataFrame, means: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the score of each template, and a mean with two intervals.

    Parameters
    ----------
    scores : DataFrame
        A row for each template, sorted; column score, in points.
    means : DataFrame
        Two rows, by what is assumed; columns estimate, low and high, in points.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel, the templates along x.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.0, 3.4))
    places = np.arange(len(scores))
    ax.plot(places, scores["score"], "o", color=plots.COLOURS["grey"], label="template")

    for number, (label, row) in enumerate(means.iterrows()):
        plots.intervals(
            np.array([len(scores) + 1.5 + 2.5 * number]),
            np.array([row["estimate"]]),
            low=np.array([row["low"]]),
            high=np.array([row["high"]]),
            ax=ax,
            colour=("blue", "vermillion")[number],
            marker="os"[number],
            label=str(label),
        )
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set(
        title="The 25 templates disagree widely",
        xlabel="templates, from the lowest score to the highest",
        ylabel="bias score (points)",
        xticks=[],
        ylim=(-105, 105),
    )
    if narrow:
        ax.set(xlabel="templates, by score")
    figure.legend(loc="outside upper center", ncols=1 if narrow else 3)
    return figure


def opposite(rates: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the two kinds of errors of each group.

    Parameters
    ----------
    rates : DataFrame
        A row for each group; columns accuracy, and for "harmless" and "hateful" the
        error rate and its two ends (for example hateful, hateful_low, hateful_high), in
        per cent.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel, a row for each group.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.2, 3.8))

    looks = {
        "hateful text that is missed": ("hateful", "blue"),
        "harmless text that is called hateful": ("harmless", "vermillion"),
    }
    plots.intervals_by_name(
        {
            label: rates[[kind, f"{kind}_low", f"{kind}_high"]]
            for label, (kind, _) in looks.items()
        },
        colours=[colour for _, colour in looks.values()],
        spread=0.2,
        ax=ax,
    )

    ax.set(
        title="Almost equal accuracy, opposite gaps",
        xlabel="errors (per cent)",
        xlim=(0, 100),
        yticklabels=[
            group if narrow else f"{group} ({accuracy:.1f} % right)"
            for group, accuracy in rates["accuracy"].items()
        ],
    )
    figure.legend(loc="outside upper center", ncols=1 if narrow else 2)
    return figure
