"""The rows of the site's table of benchmarks, from the cards of the atlas."""

import math

from fairlib import atlas
from fairlib.atlas import planning
from fairlib.atlas.cards import Card


def rows() -> list[dict[str, str]]:
    """Return one row per benchmark, with what it can show."""
    cards = [atlas.card(name) for name in atlas.names()]
    return [_row(card) for card in sorted(cards, key=lambda card: card.title.lower())]


def _row(card: Card) -> dict[str, str]:
    """Return what the table says about a benchmark."""
    plan = planning.plan(card, planning.Setting())
    clusters = card.clusters
    return {
        "name": card.name,
        "title": card.title,
        "year": str(card.year or ""),
        "concerns": card.concerns,
        "status": card.status,
        "reason": card.reason,
        "items": _counted(card.items.number, card.items.what),
        "groups": _number(card.groups.number),
        "pairs": "" if card.status == "open" else _number(card.pairs.number),
        "clusters": _counted(clusters.number, clusters.what),
        "these": _bias(planning.if_independent(plan), card),
        "like_these": _bias(planning.smallest_bias(plan), card),
        "repository": card.source.repository,
        "licence": card.source.licence,
    }


def _number(value: int | None) -> str:
    """Return a count as it is printed; empty if it is not known."""
    return "" if value is None else f"{value:,}"


def _counted(value: int | None, what: str) -> str:
    """Return a count and what was counted."""
    return "" if value is None else f"{value:,} × {what}"


def _bias(value: float, card: Card) -> str:
    """Return the smallest bias in the unit of the score."""
    if card.status == "open":
        return ""
    if math.isnan(value):
        return "none"
    if card.score.unit == "points":
        return f"{100 * value:.1f}"
    return f"{value:.2f} ({card.score.kind})"
