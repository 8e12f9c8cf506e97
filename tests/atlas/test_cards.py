"""A card is checked field by field; an error names the field."""

import pytest

from fairlib import atlas

CARD = {
    "name": "mine",
    "title": "Mine",
    "items": {"what": "question", "number": 100},
    "groups": {"number": 2, "sizes": {"a": 50, "b": 50}},
    "clusters": {"what": "template", "number": 10, "smallest": 5, "largest": 20},
    "score": {"kind": "difference", "fixed": 0, "bounds": [0, 1]},
    "dependence": {"design_effect": 3.0, "low": 2.0, "high": 5.0, "from": "a model"},
    "parts": {"young": {"items": {"number": 40}, "title": "Mine, the young"}},
}


def test_a_card_from_a_dictionary_and_from_a_file(tmp_path):
    card = atlas.card(CARD)
    assert card.dependence.origin == "a model"
    assert card.groups.sizes == {"a": 50, "b": 50}
    assert atlas.card(card) is card

    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\n[score]\nkind = "share"\n', encoding="utf-8")
    assert atlas.card(path).score.fixed == 0.5
    assert atlas.card(str(path)).title == "mine"


def test_a_part_inherits_words_but_no_counts_and_no_dependence():
    part = atlas.card(CARD).part("young")
    assert part.items.number == 40
    assert part.items.what == "question"
    assert part.title == "Mine, the young"
    assert part.clusters.number == 10
    assert part.dependence is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"colour": "red"},
            "card mine has an unknown field 'colour'; allowed are name",
        ),
        ({"score": {}}, r"card mine: \[score\]: kind is missing"),
        (
            {"score": {"kind": "odds"}},
            r"\[score\] kind must be one of share, .* 'odds'",
        ),
        ({"score": {"kind": "share", "fixed": 2}}, "fixed must lie in bounds, found 2"),
        ({"score": {"kind": "share", "bounds": [1, 0]}}, "begin with the lower"),
        ({"score": {"kind": "share", "bounds": 1}}, "bounds must be two numbers"),
        ({"items": {"number": -1}}, r"\[items\] number must be a count, found -1"),
        ({"items": {"number": 1.5}}, r"\[items\] number must be a count, found 1.5"),
        ({"items": {"numbr": 1}}, r"\[items\] has an unknown field 'numbr'"),
        ({"items": 3}, r"\[items\] must be a table, found 3"),
        ({"groups": {"number": 3, "sizes": {"a": 1}}}, "number is 3, but sizes has 1"),
        ({"pairs": {"discordant": 2}}, r"\[pairs\] discordant must be in .0, 1."),
        (
            {"pairs": {"number": 3, "sizes": [2, 1]}},
            r"\[pairs\] sizes must have one number for each cluster, found 2 for 10",
        ),
        (
            {"pairs": {"number": 11, "sizes": [1] * 10}},
            r"\[pairs\] sizes must add up to number, 11, found 10",
        ),
        ({"clusters": {"shared": 1}}, r"\[clusters\] shared must be true or false"),
        ({"dependence": {"low": 1}}, r"\[dependence\]: design_effect is missing"),
        ({"status": "open"}, "an open card needs a reason"),
        ({"status": "lost"}, "status must be one of counted, open, found 'lost'"),
        ({"year": "2020"}, "year must be a count"),
        ({"name": 3}, "name must be a text, found 3"),
        ({"source": {"paths": 3}}, "paths must be a list of texts"),
    ],
)
def test_a_wrong_field_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        atlas.card(CARD | change)


def test_a_card_that_does_not_exist():
    with pytest.raises(ValueError, match="name must be one of .*winobias.*found 'x'"):
        atlas.card("x")
    with pytest.raises(ValueError, match=r"card 'x\.toml' does not exist"):
        atlas.card("x.toml")
    with pytest.raises(ValueError, match="card must be a name, .* found int"):
        atlas.card(3)
    with pytest.raises(ValueError, match="part must be one of young, found 'old'"):
        atlas.card(CARD).part("old")
