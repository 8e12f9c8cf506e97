"""Scores with their intervals as one picture, drawn as SVG inside the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from fairlib.auditing.picture import WIDTH, drawn_interval
from fairlib.auditing.wording import safe

_ROW = 44  # the height of an interval with its name
_EDGE = 20  # on either side
_MOST_TICKS = 6


@dataclass(frozen=True, kw_only=True)
class Row:
    """One interval of a picture, in the unit that the picture shows.

    Attributes
    ----------
    label : str
        Its name.
    estimate, low, high : float
        The dot, and the ends of the interval.
    is_shown : bool
        Whether the interval excludes the value of a model without bias.
    """

    label: str
    estimate: float
    low: float
    high: float
    is_shown: bool


def picture(rows: Sequence[Row], *, fixed: float, unit: str) -> str:
    """Return intervals as SVG, beside the value of a model without bias.

    Parameters
    ----------
    rows : sequence of Row
        The intervals. Those that are not known are left out.
    fixed : float
        The value of a model without bias, in the unit of the rows.
    unit : str
        What is written below the axis.

    Returns
    -------
    str
        The picture; nothing, if no interval is known.
    """
    known = [row for row in rows if np.isfinite([row.low, row.high]).all()]
    if not known:
        return ""

    left = min(fixed, *(row.low for row in known))
    right = max(fixed, *(row.high for row in known))
    bottom = _ROW * len(known) + 6
    words = "; ".join(_words(row) for row in known)
    zero = _place(fixed, left, right)

    parts = [
        f'<svg class="scores" role="img" viewBox="0 0 {WIDTH} {bottom + 34}" '
        f'aria-label="{escape(safe(f"In {unit}: {words}"), quote=True)}">',
        f'<line class="zero" x1="{zero}" x2="{zero}" y1="0" y2="{bottom}"/>',
    ]
    for number, row in enumerate(known):
        ends = (row.low, row.estimate, row.high)
        low, dot, high = (_place(value, left, right) for value in ends)
        parts += drawn_interval(
            row.label,
            places=(low, dot, high),
            kind="shown" if row.is_shown else "open",
            top=number * _ROW,
        )
    parts += _axis(left, right, unit=unit, top=bottom)
    parts.append("</svg>")
    return "\n".join(parts)


def _place(value: float, left: float, right: float) -> float:
    """Return how far to the right a value lies in the picture."""
    share = (value - left) / (right - left) if right > left else 0.5
    return round(_EDGE + share * (WIDTH - 2 * _EDGE), 1)


def _axis(left: float, right: float, *, unit: str, top: int) -> list[str]:
    """Write the numbers of the axis and its unit."""
    parts = []
    for value in _ticks(left, right):
        place = _place(value, left, right)
        parts.append(
            f'<text x="{place}" y="{top + 13}" text-anchor="middle">'
            f"{signed(value)}</text>"
        )
    parts.append(
        f'<text x="{WIDTH / 2}" y="{top + 29}" text-anchor="middle">'
        f"{escape(safe(unit))}</text>"
    )
    return parts


def _ticks(left: float, right: float) -> list[float]:
    """Return a few round numbers between two ends."""
    span = max(right - left, 1e-9)
    power = 10.0 ** np.floor(np.log10(span / _MOST_TICKS))
    step = next(
        power * size
        for size in (1, 2, 5, 10, 20)
        if span / (power * size) <= _MOST_TICKS
    )
    first = np.ceil(left / step - 1e-9)
    last = np.floor(right / step + 1e-9)
    return [float(step * number) for number in np.arange(first, last + 1)]


def signed(value: float) -> str:
    """Write a number with a real minus.

    Parameters
    ----------
    value : float
        The number.

    Returns
    -------
    str
        At most six digits.

    Examples
    --------
    >>> signed(-0.5), signed(20.0)
    ('−0.5', '20')
    """
    rounded = float(f"{value:.6g}") + 0.0
    return f"{rounded:g}".replace("-", "−")


def _words(row: Row) -> str:
    """Say in words what an interval shows."""
    estimate, low, high = (f"{x:.3g}" for x in (row.estimate, row.low, row.high))
    return f"{row.label}: {estimate}, interval {low} to {high}"
