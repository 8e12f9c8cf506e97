"""Draw the game of the front page as a picture, for the README.

python site/picture.py   (writes docs/bias_or_luck.svg)

The picture shows the game after some sentences were checked. The numbers are computed
here, from the same released outcomes as in the game.
"""

from html import escape

import numpy as np
import play
from numpy import ndarray
from numpy.random import Generator

from fairlib.data import ROOT, write_whole
from fairlib.intervals.sequential import confidence_sequence

TARGET = ROOT / "docs" / "bias_or_luck.svg"
SYSTEM = "Google Translate, English to Hebrew"
CHECKED = 100  # sentences about women, and as many about men
LEVEL = 0  # the gender was exchanged so often that no difference is left
SEED = 30  # chosen for a sample that looks like a difference
COLUMNS = 39
PITCH = 5  # of the dots
WIDTH, HEIGHT = 760, 330
LEFT = {"women": 20, "men": 235}  # of the crowds
TOP = 58
AXIS = (470, 735)  # from FROM to TO, in points
FROM, TO = -30, 50
COLOURS = {"right": "#56b4e9", "wrong": "#b34700"}


def crowd(outcomes: ndarray, left: int, rng: Generator) -> list[str]:
    """Return the dots of one group: closed ones as a pattern, and the checked ones."""
    rows = -(-len(outcomes) // COLUMNS)
    size = f'width="{COLUMNS * PITCH}" height="{rows * PITCH}"'
    shapes = [f'<rect x="{left}" y="{TOP}" {size} fill="url(#closed)"/>']

    places = rng.permutation(len(outcomes))[:CHECKED]
    for place, is_right in zip(places, outcomes[:CHECKED], strict=True):
        x = left + (place % COLUMNS) * PITCH + PITCH / 2
        y = TOP + (place // COLUMNS) * PITCH + PITCH / 2
        shapes.append(f'<rect x="{x - 2.5}" y="{y - 2.5}" width="5" height="5"/>')
        if is_right:
            shapes.append(
                f'<circle cx="{x}" cy="{y}" r="2.1" fill="{COLOURS["right"]}"/>'
            )
        else:
            shapes.append(
                f'<rect x="{x - 2.2}" y="{y - 2.2}" width="4.4" height="4.4" '
                f'fill="{COLOURS["wrong"]}"/>'
            )
    return shapes


def axis(estimate: float, low: float, high: float) -> list[str]:
    """Return the difference, in points, with its interval."""

    def at(points: float) -> float:
        share = (points - FROM) / (TO - FROM)
        return round(AXIS[0] + share * (AXIS[1] - AXIS[0]), 1)

    y = 175
    ticks = [
        f'<text x="{at(tick)}" y="{y + 42}" text-anchor="middle">{tick:+d}</text>'
        for tick in (-20, 20, 40)
    ]
    return [
        f'<rect x="{at(-5)}" y="{y - 24}" width="{at(5) - at(-5):.1f}" height="48" '
        'fill="#009e73" opacity="0.25"/>',
        f'<path d="M{at(0)} {y - 28}V{y + 26}M{AXIS[0]} {y + 26}H{AXIS[1]}" '
        'stroke="#333" fill="none"/>',
        f'<text x="{at(0)}" y="{y + 42}" text-anchor="middle">0</text>',
        *ticks,
        f'<text x="{AXIS[1]}" y="{y + 60}" text-anchor="end">points by which men '
        "are ahead</text>",
        f'<path d="M{at(low)} {y}H{at(high)}" stroke="#0072b2" stroke-width="7" '
        'stroke-linecap="round"/>',
        f'<circle cx="{at(estimate)}" cy="{y}" r="6" fill="white" stroke="#111" '
        'stroke-width="2"/>',
    ]


def picture() -> str:
    """Return the picture as SVG."""
    rng = np.random.default_rng(SEED)
    system = next(
        one for one in play.crowds() if one.system == SYSTEM and one.level == LEVEL
    )
    outcomes = {
        group: rng.permutation(np.repeat([1, 0], [right, number - right]))
        for group, (right, number) in (("women", system.women), ("men", system.men))
    }
    checked = {group: values[:CHECKED] for group, values in outcomes.items()}
    costs = np.ravel(np.column_stack([checked["men"], checked["women"]]))
    sequence = confidence_sequence(costs, np.tile([1, -1], CHECKED))
    last = 100 * sequence[["estimate", "low", "high"]].iloc[-1]

    right = {group: int(values.sum()) for group, values in checked.items()}
    words = [
        f"Right: {right['women']} of {CHECKED} about women,",
        f"{right['men']} of {CHECKED} about men.",
        f"Interval: {last['low']:.0f} to {last['high']:.0f} points.",
    ]
    question = "Is this translation system unfair, or is it luck?"
    description = (
        "The game Bias or luck: two crowds of closed dots, one for sentences about "
        f"women and one for sentences about men. {' '.join(words)} Each open dot is "
        "the outcome of one WinoMT sentence. The gender was exchanged at random in all "
        "sentences, so that in truth nobody is ahead."
    )

    shapes = [
        f'<text x="20" y="32" font-size="21" font-weight="700">{question}</text>',
        *[
            f'<text x="{left}" y="{HEIGHT - 22}">{group}</text>'
            for group, left in LEFT.items()
        ],
        *[
            f'<text x="{AXIS[0]}" y="{72 + 22 * line}" font-size="15">{text}</text>'
            for line, text in enumerate(words)
        ],
        *_buttons(),
        f'<text x="{AXIS[0]}" y="{HEIGHT - 10}" fill="#555">Blue: right gender. '
        "Orange square: wrong.</text>",
    ]
    dots = [
        shape
        for group, left in LEFT.items()
        for shape in crowd(outcomes[group], left, rng)
    ]
    estimates = axis(last["estimate"], last["low"], last["high"])
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" role="img" font-family="sans-serif" '
            'font-size="13" fill="#111">',
            f"<title>{question}</title><desc>{escape(description)}</desc>",
            f'<defs><pattern id="closed" width="{PITCH}" height="{PITCH}" '
            f'patternUnits="userSpaceOnUse" x="{LEFT["women"]}" y="{TOP}">'
            '<circle cx="2.5" cy="2.5" r="1" fill="#999"/></pattern></defs>',
            f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="white"/>',
            *shapes,
            '<g fill="white">',
            *dots,
            "</g>",
            *estimates,
            "</svg>\n",
        ]
    )


def _buttons() -> list[str]:
    """Return the three verdicts that a player may give."""
    shapes = []
    left = AXIS[0]
    for words, width in (("Unfair", 66), ("Fair enough", 98), ("Cannot tell", 92)):
        shapes.append(
            f'<rect x="{left}" y="258" width="{width}" height="34" rx="5" '
            'fill="white" stroke="#111"/>'
            f'<text x="{left + width / 2}" y="280" text-anchor="middle">{words}</text>'
        )
        left += width + 6
    return shapes


if __name__ == "__main__":
    write_whole(TARGET, lambda path: path.write_text(picture(), encoding="utf-8"))
