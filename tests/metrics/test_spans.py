"""BILOU tags and spans: invalid tags, filled slots, and exact matching against sets."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlib.metrics import sequences
from fairlib.recipes.suites import fill_slot

TAGS = [sequences.OUTSIDE] + [
    f"{position}-{kind}" for position in "BILU" for kind in ("LOC", "PER")
]


@st.composite
def sentences(draw):
    """Return well-formed tags of one sentence, and its spans."""
    tags, found = [], []
    for kind, length in draw(
        st.lists(
            st.tuples(st.sampled_from(["O", "LOC", "PER"]), st.integers(1, 4)),
            max_size=6,
        )
    ):
        if kind != "O":
            found.append((len(tags), len(tags) + length, kind))
        tags += fill_slot("O" if kind == "O" else f"U-{kind}", length)
    return tags, found


@settings(max_examples=25, deadline=None)
@given(sentences())
def test_well_formed_tags_give_their_spans_back(sentence):
    tags, expected = sentence
    found = sequences.from_tags(tags, [0] * len(tags), strict=True)
    assert (
        list(found[["start", "end", "type"]].itertuples(index=False, name=None))
        == expected
    )


@settings(max_examples=25, deadline=None)
@given(st.lists(sentences(), min_size=1, max_size=4))
def test_a_sentence_ends_its_spans(some):
    tags = [tag for sentence, _ in some for tag in sentence]
    number = [i for i, (sentence, _) in enumerate(some) for _ in sentence]
    found = sequences.from_tags(tags, number)
    assert found.groupby("sentence").size().to_dict() == {
        i: len(s) for i, (_, s) in enumerate(some) if s
    }


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(TAGS), max_size=12))
def test_whatever_a_model_predicts_every_tagged_token_is_in_one_span(tags):
    found = sequences.from_tags(tags, [0] * len(tags))
    covered = np.zeros(len(tags), dtype=int)
    for start, end, kind in found[["start", "end", "type"]].itertuples(index=False):
        covered[start:end] += 1
        assert {tag[2:] for tag in tags[start:end]} == {kind}
    assert covered.tolist() == [int(tag != "O") for tag in tags]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["I-LOC", "L-LOC"], [(0, 2)]),  # begins without B
        (["B-LOC", "I-LOC"], [(0, 2)]),  # never ends
        (["B-LOC", "B-LOC"], [(0, 1), (1, 2)]),
        (["L-LOC", "I-LOC"], [(0, 1), (1, 2)]),
        (["B-LOC", "L-PER"], [(0, 1), (1, 2)]),
        (["U-LOC", "U-LOC"], [(0, 1), (1, 2)]),
    ],
)
def test_tags_out_of_place_are_read_one_way_or_refused(tags, expected):
    assert (
        list(
            sequences.from_tags(tags, [0, 0])[["start", "end"]].itertuples(
                index=False, name=None
            )
        )
        == expected
    )
    if tags != ["U-LOC", "U-LOC"]:
        with pytest.raises(ValueError, match="tags must follow BILOU, but token"):
            sequences.from_tags(tags, [0, 0], strict=True)


def test_a_filled_slot_takes_its_tags_along():
    assert fill_slot("U-LOC", 1) == ["U-LOC"]
    assert fill_slot("U-LOC", 2) == ["B-LOC", "L-LOC"]
    assert fill_slot("U-LOC", 4) == ["B-LOC", "I-LOC", "I-LOC", "L-LOC"]
    assert fill_slot("O", 2) == ["O", "O"]
    # A slot in a longer name, such as University of {country} or {country} Airlines.
    assert fill_slot("L-ORG", 2) == ["I-ORG", "L-ORG"]
    assert fill_slot("B-ORG", 2) == ["B-ORG", "I-ORG"]
    assert fill_slot("I-ORG", 2) == ["I-ORG", "I-ORG"]


def test_matching_is_exact():
    gold = ["U-LOC", "O", "B-LOC", "L-LOC", "O", "U-LOC"]
    predicted = ["U-LOC", "O", "U-LOC", "O", "U-PER", "U-PER"]
    found = sequences.compare(gold, predicted, [0] * 6)[
        ["start", "end", "label", "prediction"]
    ]
    assert sorted(found.itertuples(index=False, name=None)) == [
        (0, 1, "LOC", "LOC"),
        (2, 3, "O", "LOC"),  # half of a name is none
        (2, 4, "LOC", "O"),
        (4, 5, "O", "PER"),
        (5, 6, "LOC", "PER"),  # seen, but as something else
    ]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(sentences(), st.lists(st.sampled_from(TAGS), max_size=24)),
        min_size=1,
        max_size=3,
    )
)
def test_matches_are_intersections_of_sets(pairs):
    gold, predicted, number = [], [], []
    for i, ((tags, _), guess) in enumerate(pairs):
        gold += tags
        predicted += (guess + ["O"] * len(tags))[: len(tags)]
        number += [i] * len(tags)
    found = sequences.compare(gold, predicted, number)
    sets = [
        set(sequences.from_tags(tags, number).itertuples(index=False, name=None))
        for tags in (gold, predicted)
    ]
    hits = (found["label"] == found["prediction"]).sum()
    assert hits == len(sets[0] & sets[1])
    assert (found["label"] != "O").sum() == len(sets[0]) and (
        found["prediction"] != "O"
    ).sum() == len(sets[1])


@pytest.mark.parametrize(
    "tag", ["LOC", "X-LOC", "B-", "B-O", "BLOC", "O-LOC", 3, None, np.nan, pd.NA]
)
def test_what_is_no_tag_is_refused(tag):
    with pytest.raises(ValueError, match="tags must be O or one of"):
        sequences.from_tags(["U-LOC", tag], [0, 0])


def test_other_errors_say_what_is_wrong():
    with pytest.raises(ValueError, match="one entry per tag, found 1 for 2"):
        sequences.from_tags(["O", "O"], [0])
    with pytest.raises(ValueError, match="one entry per tag, found 2 for 1"):
        sequences.compare(["O", "U-LOC"], ["O"], [0, 0])
    with pytest.raises(ValueError, match="tokens must be at least 1"):
        fill_slot("U-LOC", 0)
