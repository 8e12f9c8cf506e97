import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import fairlib
from fairlib.auditing import markup

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</td></table><h1>",
    "' onmouseover='alert(1)",
    "&lt;b&gt; & <b>",
    "</style><script>",
    "<!-- ",
    "javascript:alert(1)",
]
ELEMENTS = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "main",
    "div",
    "h1",
    "h2",
    "h3",
    "p",
    "ul",
    "li",
    "dl",
    "dt",
}
ELEMENTS |= {
    "dd",
    "strong",
    "span",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "svg",
    "text",
    "rect",
    "line",
}
ELEMENTS |= {"polyline", "circle"}
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Page(HTMLParser):
    """What a browser would see: elements, nested properly, and the text between them."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open, self.text = [], [], []
        self.feed(html)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def hostile_report(**options):
    rng = np.random.default_rng(0)
    n = 1600
    group = np.array(HOSTILE)[np.arange(n) % len(HOSTILE)]
    label = np.array(["<i>no</i>", "<i>yes</i>"])[rng.integers(0, 2, n)]
    wrong = rng.random(n) < 0.1 + 0.4 * (group == HOSTILE[0])
    prediction = np.where(wrong, np.where(label == "<i>no</i>", "<i>yes</i>", "<i>no</i>"), label)
    frame = pd.DataFrame({"<b>group</b>": group, "a&b": rng.choice(["<u>", "v"], n), "y": label, "ŷ": prediction})
    names = {"group": ["<b>group</b>", "a&b"], "label": "y", "prediction": "ŷ"}
    frame["p"] = np.where(frame["ŷ"] == "<i>yes</i>", 0.8, 0.3) + rng.integers(0, 9, n) / 100
    names |= {"probability": "p", "positive": "<i>yes</i>"}
    return fairlib.audit(frame, **names, title="<h1>Title</h1> & more", **options)


@pytest.fixture(scope="module")
def report():
    return hostile_report()


@pytest.fixture(scope="module")
def page(report):
    return Page(report.to_html())


def test_no_name_becomes_an_element(report, page):
    assert {tag for tag, _ in page.elements} <= ELEMENTS
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")], (tag, attributes)
    text = "".join(page.text)
    assert "class=" not in text and "</td>" not in text.replace(HOSTILE[2], "")  # and no element became text
    for name in HOSTILE:  # nothing is lost either: the reader sees the name as it is
        assert name in text, name
    assert "<i>yes</i>" in text and "<h1>Title</h1> & more" in text


def test_nothing_is_fetched(report):
    html = report.to_html()
    assert "default-src 'none'" in html.replace("&#x27;", "'")
    for tag, attributes in Page(html).elements:
        assert not {"src", "href", "xlink:href", "srcset", "action", "data", "background"} & set(attributes), (
            tag,
            attributes,
        )
        assert "url(" not in attributes.get("style", "")
    assert "@import" not in html and "url(" not in re.search("<style>.*?</style>", html, re.DOTALL)[0]


def test_it_reads_well_by_ear(page):
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("h1")) == 1 and len(page.all("title")) >= 1 and len(page.all("main")) == 1
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))  # no level is left out
    for picture in page.all("svg"):
        assert picture["role"] == "img" and len(picture["aria-label"]) > 10
    assert page.all("svg")
    assert len(page.all("caption")) == len(page.all("table")) > 5
    assert all("scope" in attributes for attributes in page.all("th"))
    regions = [attributes for attributes in page.all("div") if attributes.get("role") == "region"]
    names = [region["aria-label"] for region in regions]
    assert len(set(names)) == len(names) == len(page.all("table")) and any("<b>group</b>" in name for name in names)
    assert all(region["tabindex"] == "0" for region in regions)  # what scrolls can be reached by keyboard


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return np.dot([0.2126, 0.7152, 0.0722], linear)


def contrast(one, other):
    light, dark = sorted([luminance(one), luminance(other)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_every_text_stands_out_from_its_ground():
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", markup.stylesheet())
    looked_at = 0
    for selector, body in rules:
        look = dict(re.findall(r"([a-z-]+): *(#[0-9a-f]{6})", body))
        if "color" in look:
            looked_at += 1
            assert contrast(look["color"], look.get("background", "#ffffff")) >= 4.5, selector
    assert looked_at >= 8
    for colour in markup.COLOURS.values():
        assert contrast(colour, "#ffffff") >= 4.5 and contrast(colour, "#e8edf2") >= 3  # the band behind a picture


def test_verdicts_are_told_by_words_and_shape_and_not_by_colour_alone(report, page):
    text = "".join(page.text)
    assert "difference shown" in text and "open" in text
    drawn = {
        verdict: markup.interval(0.1, 0.05, 0.15, limit=0.5, margin=0.05, verdict=verdict, words="a: 10 points")
        for verdict in ("shown", "open")
    }
    assert 'fill="#ffffff" stroke="#404040"' in drawn["open"] and 'fill="#a33600"' in drawn["shown"]


def test_it_is_the_same_every_time(report, tmp_path):
    assert hostile_report().to_html() == report.to_html()
    written = report.to_html(tmp_path / "sub" / "report.html")
    assert (tmp_path / "sub" / "report.html").read_text(encoding="utf-8") == written
    assert [path.name for path in (tmp_path / "sub").iterdir()] == ["report.html"]


def test_a_notebook_gets_the_same_without_the_frame(report):
    fragment = report._repr_html_()
    assert "<html" not in fragment and "<body" not in fragment
    assert fragment in report.to_html()


def test_rates_of_too_few_are_not_given_away():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"g": ["a"] * 100 + ["b"] * 100 + ["rare"] * 3, "y": 1, "ŷ": rng.integers(0, 2, 203)})
    frame.loc[200:, "ŷ"] = [0, 0, 1]
    html = fairlib.audit(frame, group="g", label="y", prediction="ŷ").to_html()
    assert "66.7" not in html and "33.3" not in html and "rare" in html


def test_long_lists_are_cut_and_counted():
    rng = np.random.default_rng(0)
    n = 20_000
    frame = pd.DataFrame({"g": rng.integers(0, 200, n), "y": rng.integers(0, 2, n), "ŷ": rng.integers(0, 2, n)})
    page = Page(fairlib.audit(frame, group="g", label="y", prediction="ŷ").to_html())
    assert "(25 of 200 groups, those whose differences are clearest)" in "".join(page.text)
    assert len(page.all("svg")) <= 5 * 26


@pytest.mark.parametrize("limit", [0.05, 0.5])
def test_intervals_lie_where_they_say(limit):
    drawn = markup.interval(0.02, -0.01, 0.9, limit=limit, margin=0.01, verdict="open", words="x: 2 points")
    line = re.findall(r'<line x1="([0-9.]+)" x2="([0-9.]+)" y1="11', drawn)[0]
    half = markup.WIDTH / 2
    assert float(line[0]) == pytest.approx(half - 0.01 / limit * (half - markup.EDGE), abs=0.06)
    assert float(line[1]) == pytest.approx(markup.WIDTH - markup.EDGE, abs=0.06)  # cut off at the edge, with an arrow
    assert "polyline" in drawn
