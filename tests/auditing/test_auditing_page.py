import html as html_text
import re
from importlib import resources
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from html_pages import ELEMENTS, HOSTILE, Page

import fairlib
from fairlib.auditing import page as pages
from fairlib.auditing import summary


def hostile_report(**options):
    rng = np.random.default_rng(0)
    n = 800
    group = np.array(HOSTILE)[np.arange(n) % len(HOSTILE)]
    label = np.array(["<i>no</i>", "<i>yes</i>"])[rng.integers(0, 2, n)]
    wrong = rng.random(n) < 0.1 + 0.4 * (group == HOSTILE[0])
    prediction = np.where(
        wrong, np.where(label == "<i>no</i>", "<i>yes</i>", "<i>no</i>"), label
    )
    frame = pd.DataFrame(
        {
            "<b>group</b>": group,
            "a&b": rng.choice(["<u>", "v"], n),
            "y": label,
            "ŷ": prediction,
        }
    )
    names = {"group": ["<b>group</b>", "a&b"], "label": "y", "prediction": "ŷ"}
    frame["p"] = (
        np.where(frame["ŷ"] == "<i>yes</i>", 0.8, 0.3) + rng.integers(0, 9, n) / 100
    )
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
        assert not [name for name in attributes if name.startswith("on")], (
            tag,
            attributes,
        )
    text = "".join(page.text)
    assert "class=" not in text and "</td>" not in text.replace(
        HOSTILE[2], ""
    )  # and no element became text
    for name in HOSTILE:  # nothing is lost either: the reader sees the name as it is
        assert name in text, name
    assert "<i>yes</i>" in text and "<h1>Title</h1> & more" in text


def test_nothing_is_fetched(report):
    html = report.to_html()
    assert html.count("default-src 'none'") == 1
    for tag, attributes in Page(html).elements:
        assert not {
            "src",
            "href",
            "xlink:href",
            "srcset",
            "action",
            "data",
            "background",
        } & set(attributes), (
            tag,
            attributes,
        )
        assert "url(" not in attributes.get("style", "")
    assert (
        "@import" not in html
        and "url(" not in re.search("<style>.*?</style>", html, re.DOTALL)[0]
    )


def test_it_reads_well_by_ear(page):
    assert page.all("html") == [{"lang": "en"}]
    assert (
        len(page.all("h1")) == 1
        and len(page.all("title")) >= 1
        and len(page.all("main")) == 1
    )
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert all(
        after <= before + 1 for before, after in pairwise(levels)
    )  # no level is left out
    for picture in page.all("svg"):
        assert picture["role"] == "img" and len(picture["aria-label"]) > 10
    assert page.all("svg")
    assert len(page.all("caption")) == len(page.all("table")) > 5
    assert all("scope" in attributes for attributes in page.all("th"))
    regions = [
        attributes
        for attributes in page.all("div")
        if attributes.get("role") == "region"
    ]
    names = [region["aria-label"] for region in regions]
    assert len(set(names)) == len(names) == len(page.all("table")) and any(
        "<b>group</b>" in name for name in names
    )
    assert all(
        region["tabindex"] == "0" for region in regions
    )  # what scrolls can be reached by keyboard


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    ]
    return np.dot([0.2126, 0.7152, 0.0722], linear)


def contrast(one, other):
    light, dark = sorted([luminance(one), luminance(other)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_every_text_stands_out_from_its_ground_in_light_and_dark():
    css = (
        resources.files(fairlib.auditing)
        .joinpath("templates/page.css")
        .read_text(encoding="utf-8")
    )
    themes = [
        dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", body))
        for body in re.findall(r"\{ (--ground[^}]*)\}", css)
    ]
    assert len(themes) == 2 and themes[0].keys() == themes[1].keys()
    for theme in themes:
        for name in ("ink", "quiet", "faint", "shown", "hint", "small"):
            assert contrast(theme[name], theme["ground"]) >= 4.5, name
        for verdict in (
            "shown",
            "hint",
            "small",
        ):  # in the table at a glance, and before the band in a picture
            assert contrast(theme[verdict], theme[f"{verdict}-ground"]) >= 4.5
            assert contrast(theme[verdict], theme["band"]) >= 3
    assert not re.search(
        r"#[0-9a-f]{6}", re.sub(r"--[a-z-]+: #[0-9a-f]{6}", "", css)
    )  # nothing else has a colour
    assert {*re.findall(r"var\(--([a-z-]+)\)", css)} <= themes[0].keys()


def unfolded(html):
    """Return the words of a page outside its folded parts."""
    html = re.sub("<(details|style|title)>.*?</\\1>", " ", html, flags=re.DOTALL)
    return html_text.unescape(re.sub("<[^>]+>", " ", html)).split()


@pytest.mark.parametrize("unfair", [0.0, 0.25])
def test_three_attributes_take_fewer_than_350_words_whatever_their_size(
    unfair, monkeypatch
):
    # How many replicates there are makes no difference to the words.
    monkeypatch.setattr(summary, "REPLICATES", 19)
    monkeypatch.setattr(summary, "FEWEST_REPLICATES", 19)
    rng = np.random.default_rng(0)
    for n, several in ((100, 8), (5_000, 8), (40_000, 40)):
        frame = pd.DataFrame(
            {
                name: rng.integers(0, several, n).astype(float)
                for name in ("one", "two", "three")
            }
        )
        frame.loc[rng.random(n) < 0.05, "two"] = np.nan
        frame["label"], frame["p"] = rng.integers(0, 2, n), rng.random(n).round(2)
        wrong = rng.random(n) < 0.2 + unfair * (frame["one"] < several / 2)
        frame["prediction"] = np.where(wrong, 1 - frame["label"], frame["label"])
        names = {
            "group": ["one", "two", "three"],
            "label": "label",
            "prediction": "prediction",
            "probability": "p",
        }
        report = fairlib.audit(
            frame,
            **names,
            metrics=["errors", "misses", "false alarms", "predicted", "FPED"],
        )
        strong = [finding for finding in report.findings if finding.verdict == "shown"]
        assert len(report.findings) <= 5 and (
            n < 1000 or (len(strong) > 2) == bool(unfair)
        )
        assert 30 < len(unfolded(report.to_html())) <= 350, n
        assert len(str(report).split()) < 600


def test_verdicts_are_told_by_words_and_shape_and_not_by_colour_alone(report, page):
    text = "".join(page.text)
    assert "strong evidence" in text and "too weak to tell" in text
    dots = re.findall(
        r'<g class="(\w+)".*?<circle [^>]*fill="([^"]*)"', report.to_html(), re.DOTALL
    )
    assert {verdict for verdict, _ in dots} >= {"shown", "open"}
    assert all(
        (fill == "currentColor") == (verdict == "shown") for verdict, fill in dots
    )


def test_it_is_the_same_every_time(tmp_path):
    first, again = (hostile_report(metrics=["errors", "FPED"]) for _ in range(2))
    written = first.to_html(tmp_path / "sub" / "report.html")
    assert again.to_html() == written
    assert (tmp_path / "sub" / "report.html").read_text(encoding="utf-8") == written
    assert [path.name for path in (tmp_path / "sub").iterdir()] == ["report.html"]


def test_a_notebook_gets_the_same_without_the_frame(report):
    fragment = report._repr_html_()
    assert "<html" not in fragment and "<body" not in fragment
    assert fragment in report.to_html()


def test_rates_of_too_few_are_not_given_away():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "g": ["a"] * 100 + ["b"] * 100 + ["rare"] * 3,
            "y": 1,
            "ŷ": rng.integers(0, 2, 203),
        }
    )
    frame.loc[200:, "ŷ"] = [0, 0, 1]
    html = fairlib.audit(frame, group="g", label="y", prediction="ŷ").to_html()
    assert "66.7" not in html and "33.3" not in html and "rare" in html


def test_long_lists_are_cut_and_counted():
    rng = np.random.default_rng(0)
    n = 8_000
    frame = pd.DataFrame(
        {
            "g": [f"g{i}" for i in rng.integers(0, 200, n)],
            "y": rng.integers(0, 2, n),
            "ŷ": rng.integers(0, 2, n),
        }
    )
    page = Page(fairlib.audit(frame, group="g", label="y", prediction="ŷ").to_html())
    assert "(25 of 200 groups, those whose differences are clearest)" in "".join(
        page.text
    )
    assert len(page.all("svg")) <= 5 * 26


@pytest.mark.parametrize("limit", [1.0, 2.0])
def test_intervals_lie_where_they_say(report, monkeypatch, limit):
    monkeypatch.setattr(pages, "LIMITS", (limit,))
    html = report.to_html()
    assert (
        f'aria-label="axis from -{100 * limit:g} to {100 * limit:g} percentage points"'
        in html
    )
    said = r"<title>[^<]*: (\S+) \[(\S+), (\S+)\] points</title>"
    picture = r'<line x1="(\S+)" x2="(\S+)" y1="11".*?<circle cx="(\S+)"'
    drawn = re.findall(f"{said}.*?{picture}", html.replace("−", "-"), re.DOTALL)
    assert len(drawn) > 100
    values = np.array(drawn, dtype=float)
    half = 110  # of its width; 6 are left free
    expected = half + (half - 6) * np.clip(values[:, :3] / 100 / limit, -1, 1)
    np.testing.assert_allclose(
        values[:, [5, 3, 4]], expected, atol=0.05 + 0.0005 / limit * half
    )
    ends = np.array(
        re.findall(r'<polyline points="(\S+),7 (\S+),11 (\S+),15', html), dtype=float
    )
    np.testing.assert_array_equal(
        ends, np.repeat(values[:, 3:5].reshape(-1, 1), 3, axis=1)
    )
