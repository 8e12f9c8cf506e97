"""The page of a benchmark: nothing is fetched, nothing becomes an element."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from html_pages import ELEMENTS, HOSTILE, Page

import fairlib
from fairlib import atlas
from fairlib.atlas import picture as pictures

CARD = {
    "name": "mine",
    "title": HOSTILE[0],
    "notes": [HOSTILE[1]],
    "score": {"kind": "mean", "bounds": [-1, 1], "definition": HOSTILE[5]},
    "items": {"number": 500},
    "clusters": {"what": "template", "number": 20},
    "source": {"licence": HOSTILE[4]},
}


def answers(seed=0):
    rng = np.random.default_rng(seed)
    items = np.arange(400)
    outcome = rng.integers(-1, 2, 400).astype(object)
    outcome[::50] = "refused"
    return pd.DataFrame(
        {
            "item": items,
            "outcome": outcome,
            "cluster": items % 20,
            "group": np.array(HOSTILE)[items % len(HOSTILE)],
        }
    )


@pytest.fixture(scope="module")
def report():
    return fairlib.benchmark(CARD, answers())


@pytest.fixture(scope="module")
def comparison():
    return atlas.compare(CARD, answers(), answers(1))


@pytest.mark.parametrize("name", ["report", "comparison"])
def test_the_page_is_one_safe_file(name, request):
    html = request.getfixturevalue(name).to_html()
    page = Page(html)
    assert {tag for tag, _ in page.elements} <= ELEMENTS
    assert html.count("default-src 'none'") == 1 and "url(" not in html
    for _, attributes in page.elements:
        assert not {"src", "href"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
    text = "".join(page.text)
    for hostile in (HOSTILE[0], HOSTILE[1], HOSTILE[4], HOSTILE[5]):
        assert hostile in text


@pytest.mark.parametrize("name", ["report", "comparison"])
def test_it_reads_well_by_ear(name, request):
    page = Page(request.getfixturevalue(name).to_html())
    assert len(page.all("h1")) == len(page.all("main")) == 1
    assert page.all("svg")
    assert all(len(picture["aria-label"]) > 10 for picture in page.all("svg"))
    assert len(page.all("caption")) == len(page.all("table"))
    assert all("scope" in attributes for attributes in page.all("th"))
    regions = [one["aria-label"] for one in page.all("div") if "role" in one]
    assert len(set(regions)) == len(page.all("table"))


def test_the_page_has_all_that_the_report_has(report):
    text = re.sub(r"\s+", " ", "".join(Page(report.to_html()).text))
    assert report.verdict in text
    assert "answers that were refused8" in text.replace(" 8", "8").replace("\n", "")
    for words in (
        "templates like these",
        "these templates",
        "all speak against the finding",
        "What the benchmark can show",
        "Licence",
    ):
        assert words in text
    for end in (report.score.low, report.score_these.low):
        assert f"{100 * end:.1f}".replace("-", "−") in text


def test_a_notebook_shows_the_page_without_its_frame(report, comparison):
    for shown in (report, comparison):
        assert shown._repr_html_().startswith('<div class="fairlib-audit">')


def test_every_card_has_a_page():
    for name in ("winobias", "seat", "fairface", "honest"):
        Page(fairlib.benchmark(name).to_html())


def test_a_comparison_is_data_and_markdown(comparison, tmp_path):
    contents = json.loads(comparison.to_json(tmp_path / "one.json"))
    assert json.loads((tmp_path / "one.json").read_text("utf-8")) == contents
    assert contents["difference"]["low"] == pytest.approx(comparison.difference.low)
    assert contents["items"] == comparison.items
    markdown = comparison.to_markdown()
    assert "| for these clusters |" in markdown and "<script>" not in markdown


def test_the_picture_keeps_all_inside():
    rows = [
        pictures.Row(label="a", estimate=3.0, low=2.0, high=4.0, is_shown=True),
        pictures.Row(label="b", estimate=0.0, low=np.nan, high=np.nan, is_shown=False),
    ]
    svg = pictures.picture(rows, fixed=50.0, unit="points")
    places = [float(place) for place in re.findall(r'(?:x1|x2|cx)="([\d.]+)"', svg)]
    assert min(places) >= 0 and max(places) <= pictures.WIDTH
    assert svg.count("<circle") == 1
    assert pictures.picture(rows[1:], fixed=0.0, unit="points") == ""


def test_a_card_without_clusters_speaks_of_those_in_the_answers():
    bare = {name: CARD[name] for name in ("name", "score")}
    with_clusters = fairlib.benchmark(bare, answers())
    assert "for clusters like these" in with_clusters.verdict
    assert with_clusters.card.clusters.number == 20
    without = fairlib.benchmark(bare, answers().drop(columns="cluster"))
    assert "for items like these" in without.verdict
    assert without.to_html().count("<circle") == 1 + len(without.by_group)
