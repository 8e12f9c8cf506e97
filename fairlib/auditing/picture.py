"""The findings as one picture, drawn as SVG inside the page.

Each finding is a dot with its interval, under a line that names it. The picture has
text that a screen reader reads, and is as wide as its page, down to a telephone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from fairlib.auditing.findings import EVIDENCE, Finding
from fairlib.auditing.rates import COST
from fairlib.auditing.setting import Setting
from fairlib.auditing.wording import amount, safe

WIDTH = 340  # of the picture, in its own units: the width of a telephone
_ROW = 44  # the height of a finding
_EDGE = 14  # on either side
_LONGEST_LABEL = 48
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)


@dataclass(frozen=True, kw_only=True)
class _Axis:
    """Where differences lie in a picture: from -reach to reach."""

    reach: float

    def place(self, value: float) -> float:
        """Return how far to the right a value lies."""
        share = min(max(value / self.reach, -1.0), 1.0)
        return round(WIDTH / 2 + share * (WIDTH / 2 - _EDGE), 1)


def picture(findings: Sequence[Finding], setting: Setting) -> str:
    """Return the findings as SVG, or nothing if there are none to be drawn.

    Parameters
    ----------
    findings : sequence of Finding
        The findings. Costs have their own units, so they get a picture of their own.
    setting : Setting
        How groups are compared.
    """
    of_costs = [finding for finding in findings if finding.rate == COST]
    of_rates = [finding for finding in findings if finding.rate != COST]
    pictures = []
    if of_rates:
        unit = "percentage points"
        pictures.append(_drawn(of_rates, margin=setting.margin, scale=100, unit=unit))
    if of_costs:
        unit = f"units of {setting.columns.cost}"
        margin = setting.cost_margin or 0.0
        pictures.append(_drawn(of_costs, margin=margin, scale=1, unit=unit))
    return "\n".join(pictures)


def _drawn(
    findings: Sequence[Finding], *, margin: float, scale: float, unit: str
) -> str:
    """Draw findings of one unit."""
    farthest = max(
        max(abs(finding.low), abs(finding.high), margin) for finding in findings
    )
    axis = _Axis(reach=1.05 * farthest)
    height = _ROW * len(findings) + 40
    words = "; ".join(_words(finding, scale) for finding in findings)
    bottom = height - 34

    parts = [
        f'<svg class="findings" role="img" viewBox="0 0 {WIDTH} {height}" '
        f'aria-label="{escape(safe(f"Differences in {unit}: {words}"), quote=True)}">'
    ]
    if margin:
        left = axis.place(-margin)
        width = round(axis.place(margin) - left, 1)
        parts.append(
            f'<rect class="band" x="{left}" y="0" width="{width}" height="{bottom}"/>'
        )
    zero = axis.place(0)
    parts.append(f'<line class="zero" x1="{zero}" x2="{zero}" y1="0" y2="{bottom}"/>')
    for place, finding in enumerate(findings):
        parts += _row(finding, axis, top=place * _ROW)
    parts += _ticks(axis, scale=scale, unit=unit, top=bottom)
    parts.append("</svg>")
    return "\n".join(parts)


def _row(finding: Finding, axis: _Axis, *, top: int) -> list[str]:
    """Draw one finding: its name, and below it the interval with a dot."""
    name = f"{finding.subject}: {finding.rate}"
    if finding.class_name and finding.rate != COST:
        name += f" ({finding.class_name})"
    if len(name) > _LONGEST_LABEL:
        name = f"{name[: _LONGEST_LABEL - 1]}…"

    return drawn_interval(
        name,
        places=(
            axis.place(finding.low),
            axis.place(finding.difference),
            axis.place(finding.high),
        ),
        kind=finding.verdict,
        top=top,
    )


def drawn_interval(
    label: str, *, places: tuple[float, float, float], kind: str, top: int
) -> list[str]:
    """Draw one interval under its name; its dot is filled if something is shown.

    Parameters
    ----------
    label : str
        The name, which is written above the interval.
    places : tuple of float
        How far to the right the lower end, the dot and the upper end lie.
    kind : str
        "shown", or another class of the page's style, which gives the colour.
    top : int
        How far down the name begins.

    Returns
    -------
    list of str
        Elements of an SVG picture.
    """
    low, dot, high = places
    y = top + 32
    fill = "currentColor" if kind == "shown" else "var(--ground)"
    return [
        f'<text x="{WIDTH / 2}" y="{top + 17}" text-anchor="middle">'
        f"{escape(safe(label))}</text>",
        f'<g class="{kind}" stroke="currentColor" stroke-width="2">',
        f'<line x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>',
        f'<line x1="{low}" x2="{low}" y1="{y - 4}" y2="{y + 4}"/>',
        f'<line x1="{high}" x2="{high}" y1="{y - 4}" y2="{y + 4}"/>',
        f'<circle cx="{dot}" cy="{y}" r="4.5" fill="{fill}"/></g>',
    ]


def _ticks(axis: _Axis, *, scale: float, unit: str, top: int) -> list[str]:
    """Write the numbers of the axis and its unit below the picture."""
    end = max([tick for tick in _TICKS if tick <= axis.reach], default=axis.reach)
    if scale == 1:
        end = float(f"{0.9 * axis.reach:.1g}")

    parts = []
    for value in (-end, 0.0, end):
        label = f"{scale * value:+g}" if scale != 1 else amount(value)
        label = label.replace("-", "−") if value else "0"
        parts.append(
            f'<text x="{axis.place(value)}" y="{top + 13}" text-anchor="middle">'
            f"{label}</text>"
        )
    parts.append(
        f'<text x="{WIDTH / 2}" y="{top + 29}" text-anchor="middle">'
        f"{escape(safe(unit))}, more (+) or less (−)</text>"
    )
    return parts


def _words(finding: Finding, scale: float) -> str:
    """Say in words what the dot of a finding shows."""
    numbers = [scale * finding.difference, scale * finding.low, scale * finding.high]
    difference, low, high = (f"{number:+.3g}" for number in numbers)
    return (
        f"{finding.subject}, {finding.rate}: {difference}, interval {low} to {high}, "
        f"{EVIDENCE[finding.verdict]}"
    )
