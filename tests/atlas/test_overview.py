import pytest

from fairlib.atlas import overview
from fairlib.atlas.cards import card, names

TEXT = overview.PAGE.read_text(encoding="utf-8")
COUNTED = [one for one in map(card, names()) if one.status == "counted"]


def test_every_benchmark_is_on_the_page_with_its_counts():
    for one in COUNTED:
        pairs = f"{one.pairs.number:,}" if one.pairs.number else "–"
        counts = (
            f"| {one.title} | {one.items.number:,} | {one.groups.number} | {pairs} | "
            f"{one.clusters.number:,} × {one.clusters.what} |"
        )
        assert counts in TEXT, one.name


def test_an_open_benchmark_is_there_with_its_reason():
    still_open = [one for one in map(card, names()) if one.status == "open"]
    assert still_open
    for one in still_open:
        assert f"| {one.title} ({one.year}) | {one.reason} |" in TEXT


@pytest.mark.parametrize("name", ["bold", "crows_pairs", "gap", "hatecheck"])
def test_the_smallest_bias_on_the_page_is_that_of_the_plan(name):
    table = overview.overview([card(name)])
    *_, line = overview._table_of_counted(table)
    assert line in TEXT


def test_the_measured_dependence_is_on_the_page():
    part = card("stereoset").part("race")
    *_, line = overview._table_of_measured(overview.overview([part]))
    assert line in TEXT


@pytest.mark.slow
def test_the_page_is_what_the_command_writes(tmp_path):
    overview.main(tmp_path / "atlas.md")
    assert (tmp_path / "atlas.md").read_text(encoding="utf-8") == TEXT
