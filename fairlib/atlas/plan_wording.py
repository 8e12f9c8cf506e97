"""What is said of the plan of a benchmark: what it can show without any answers."""

import math

from fairlib.atlas.cards import Card
from fairlib.atlas.wording import clusters_of, distance, noun
from fairlib.intervals.cluster_power import MOST_CLUSTERS, SPREAD


def can_show(
    card: Card, *, smallest: float, independent: float, levels: tuple[float, float]
) -> str:
    """Return what a benchmark can show, without any predictions.

    Parameters
    ----------
    card : Card
        The benchmark.
    smallest : float
        The smallest bias for clusters like these.
    independent : float
        The smallest bias if all items, or pairs, are independent.
    levels : tuple of float
        Confidence and power.

    Returns
    -------
    str
        Two sentences.
    """
    if card.status == "open":
        reason = card.reason.rstrip(".")
        return f"The items of {card.title} could not be counted: {reason}."
    if card.items.number is None:
        return f"The card of {card.title} does not say how many items there are."

    confidence, power = levels
    meaning = (
        f"A bias of this size is shown in {power:.0%} of samples, "
        f"at {confidence:.0%} confidence."
    )
    clusters = clusters_of(card)
    if math.isnan(smallest):
        return (
            f"In the worst case, {card.title} shows no bias for {clusters} like these, "
            f"however large the bias is. It can show {distance(card, independent)} for "
            f"these {clusters}. {meaning}"
        )
    if not is_assumed(card, smallest, independent):
        return (
            f"The smallest bias that {card.title} can show is "
            f"{distance(card, smallest)}, for {clusters} like these. {meaning}"
        )
    return (
        f"The smallest bias that {card.title} can show is {distance(card, smallest)} "
        f"in the worst case, for {clusters} like these. {meaning} It would be "
        f"{distance(card, independent)} if items of the same "
        f"{noun(card.clusters.what)} did not resemble each other."
    )


def is_assumed(card: Card, smallest: float, independent: float) -> bool:
    """Return whether the smallest bias rests on the worst case.

    Parameters
    ----------
    card : Card
        The benchmark.
    smallest, independent : float
        The smallest bias for clusters like these, and for independent items.

    Returns
    -------
    bool
        True if clusters matter, and nobody has measured how much.
    """
    is_measured = card.dependence is not None
    return bool(card.clusters.number) and not is_measured and smallest > independent


def caution(card: Card) -> str:
    """Return what the smallest bias assumes about clusters; empty if nothing.

    Parameters
    ----------
    card : Card
        The benchmark.

    Returns
    -------
    str
        One or two sentences.
    """
    if not card.clusters.number:
        return ""
    same = f"items of the same {noun(card.clusters.what)}"
    if card.dependence is None:
        return (
            f"It is not known how much {same} resemble each other. So the smallest "
            "bias assumes the worst: that they repeat one another."
        )

    origin = card.dependence.origin or "released predictions"
    return (
        f"How much {same} resemble each other was measured on {origin}. Another model "
        "may differ."
    )


def of_plan(card: Card, smallest: float) -> tuple[str, ...]:
    """Return what has to be known of the plan of a benchmark.

    Parameters
    ----------
    card : Card
        The benchmark.
    smallest : float
        The smallest bias for clusters like these; NaN if there is none.

    Returns
    -------
    tuple of str
        The assumption about clusters, and how exact the number is.
    """
    exactness = "" if math.isnan(smallest) else simulated(card)
    return tuple(text for text in (caution(card), exactness) if text)


def simulated(card: Card) -> str:
    """Return how exact the smallest bias is, if it was found by simulation.

    Parameters
    ----------
    card : Card
        The benchmark.

    Returns
    -------
    str
        One or two sentences; empty if nothing was simulated.
    """
    clusters = card.clusters.number
    if not clusters or clusters > MOST_CLUSTERS:
        return ""
    return (
        f"The smallest bias for {clusters_of(card)} like these was found by "
        f"simulation. Other draws would move it by about {SPREAD:.0%} of its value, "
        f"and seldom by more than {2 * SPREAD:.0%}."
    )
