"""HTML that no name can break: whatever is not `Markup` is escaped, and there is no other way to write an element."""

from __future__ import annotations

import re
from html import escape
from importlib import resources

import numpy as np

# Characters that HTML forbids, that no file can hold, or that make a text read other than written (bidi controls).
UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
WIDTH, HEIGHT, EDGE = 220, 22, 6  # of the picture of one interval
COLOURS = {"shown": "#a33600", "hint": "#6b4e00", "small": "#00573f", "open": "#404040", "too few": "#595959"}


class Markup(str):
    """Text that is HTML already."""


def safe(value: object) -> Markup:
    """Escape everything but `Markup`."""
    if isinstance(value, Markup):
        return value
    return Markup(escape(UNSAFE.sub("\ufffd", str(value)), quote=True))


def plain(text: str) -> str:
    """Write text as one line, in which no name can start a line of its own or steer a terminal."""
    return UNSAFE.sub("\ufffd", " ".join(text.split()))


def element(name: str, *children: object, **attributes: object) -> Markup:
    """Write one element; attributes may end in "_" where Python has the word for itself, "_" inside becomes "-"."""
    written = "".join(f' {key.rstrip("_").replace("_", "-")}="{safe(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{written}>{''.join(map(safe, children))}</{name}>")


def stylesheet() -> Markup:
    """Return the look of the page, which is a file beside this one."""
    return Markup(resources.files(__package__).joinpath("page.css").read_text(encoding="utf-8"))


def table(caption: str, head: list, body: list[list], *, class_: str = "", context: str = "") -> Markup:
    """Write a table whose first column names its rows; a cell that is a td or th already stays as it is.

    context : what tells it from other tables with the same caption, for those who hear the page.
    """

    def cell(value: object, name: str, **attributes: str) -> Markup:
        whole = isinstance(value, Markup) and value.startswith(f"<{name}")
        return value if whole else element(name, value, **attributes)

    header = element("tr", *(cell(value, "th", scope="col") for value in head))
    rows = [
        element("tr", element("th", row[0], scope="row"), *(cell(value, "td") for value in row[1:])) for row in body
    ]
    parts = element("caption", element("span", caption)), element("thead", header), element("tbody", *rows)
    inner = element("table", *parts, class_=class_)
    # A wide table scrolls by itself, also by keyboard, and leaves the page where it is.
    heard = f"{context}: {caption}" if context else caption
    return element("div", inner, class_="wide", tabindex="0", role="region", aria_label=heard)


def scale(limit: float) -> Markup:
    """Draw the axis of the intervals below it, from -limit to limit in percentage points."""
    marks = []
    for value, anchor in ((-limit, "start"), (0.0, "middle"), (limit, "end")):
        marks.append(
            element(
                "text",
                f"{100 * value:+.3g}" if value else "0",
                x=f"{_place(value, limit):.1f}",
                y=15,
                text_anchor=anchor,
            )
        )
    return _picture(f"axis from {-100 * limit:.3g} to {100 * limit:.3g} percentage points", *marks)


def interval(
    difference: float, low: float, high: float, *, limit: float, margin: float, verdict: str, words: str
) -> Markup:
    """Draw one interval: a band for differences that do not matter, a line, and a dot, filled where one is shown."""
    colour = COLOURS.get(verdict, COLOURS["open"])
    left, right = _place(-margin, limit), _place(margin, limit)
    drawn = [
        _rule("rect", x=left, y=0, width=right - left, height=HEIGHT, fill="#e8edf2"),
        _rule("line", x1=WIDTH / 2, x2=WIDTH / 2, y1=0, y2=HEIGHT, stroke="#767676"),
    ]
    if np.isfinite([difference, low, high]).all():
        middle = HEIGHT / 2
        drawn.append(
            _rule(
                "line",
                x1=_place(low, limit),
                x2=_place(high, limit),
                y1=middle,
                y2=middle,
                stroke=colour,
                stroke_width=2,
            )
        )
        for end, sign in ((low, -1), (high, 1)):
            x, beyond = _place(end, limit), abs(end) > limit
            tip = f"{x - 4 * sign:.1f},{middle - 4} {x:.1f},{middle} {x - 4 * sign:.1f},{middle + 4}"
            bar = f"{x:.1f},{middle - 4} {x:.1f},{middle + 4}"
            drawn.append(_rule("polyline", points=tip if beyond else bar, fill="none", stroke=colour, stroke_width=2))
        fill = colour if verdict == "shown" else "#ffffff"
        drawn.append(
            _rule("circle", cx=_place(difference, limit), cy=middle, r=4, fill=fill, stroke=colour, stroke_width=2)
        )
    return _picture(words, *drawn)


def _picture(words: str, *drawn: Markup) -> Markup:
    return element(
        "svg", element("title", words), *drawn, role="img", aria_label=words, width=WIDTH, height=HEIGHT,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
    )  # fmt: skip


def _rule(name: str, **attributes: object) -> Markup:
    return element(name, **{key: f"{v:.1f}" if isinstance(v, float) else v for key, v in attributes.items()})


def _place(value: float, limit: float) -> float:
    return float(WIDTH / 2 + (WIDTH / 2 - EDGE) * np.clip(value / limit, -1, 1))
