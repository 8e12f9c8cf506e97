"""The invariance test counts what it says."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

from fairlib.intervals.proportions import wilson
from fairlib.recipes import templates

# --- invariance ---


def _predictions(rows):
    """Return tidy predictions from (source, {(group, term): prediction})."""
    return pd.DataFrame(
        [
            (source, *key, value)
            for source, cells in rows
            for key, value in cells.items()
        ],
        columns=["source", "group", "term", "prediction"],
    )


BY_HAND = _predictions(
    [
        ("s1", {("x", "a"): "+", ("x", "b"): "+", ("y", "c"): "+"}),
        ("s2", {("x", "a"): "+", ("x", "b"): "-", ("y", "c"): "-"}),
        ("s3", {("x", "a"): "-", ("x", "b"): "-", ("y", "c"): "+"}),
        ("s4", {("x", "a"): "+", ("x", "b"): "-", ("y", "c"): "-"}),
    ]
)


def test_invariance_by_hand():
    table = templates.invariance(BY_HAND).set_index("group")
    # Most frequent predictions: + - - -. x fails in s2 and s4 (its term a), y in s3.
    assert table["failures"].to_dict() == {"x": 2, "y": 1, "accumulated": 3}
    assert table["changed"].to_dict() == {"x": 2 / 8, "y": 1 / 4, "accumulated": 3 / 12}
    assert table["terms"].to_dict() == {"x": 2, "y": 1, "accumulated": 3}
    with_reference = templates.invariance(BY_HAND, reference="a").set_index("group")
    assert with_reference["failures"].to_dict() == {"x": 2, "y": 3, "accumulated": 3}


def test_categories_are_read_as_what_they_say():
    as_text = templates.invariance(BY_HAND, reference="a")
    for column in ("source", "prediction"):
        categories = sorted(set(BY_HAND[column]), reverse=True)
        frame = BY_HAND.astype({"source": "category", "prediction": "category"})
        frame[column] = pd.Categorical(frame[column], categories=categories)
        pd.testing.assert_frame_equal(
            templates.invariance(frame, reference="a"), as_text
        )
    constant = BY_HAND.assign(
        prediction=BY_HAND["source"].map({"s1": "y", "s2": "x", "s3": "w", "s4": "v"})
    )
    found = templates.invariance(
        constant.astype({"source": "category", "prediction": "category"})
    )
    assert (found["failures"] == 0).all()


def test_a_tolerance_forgives_changes_of_small_probability():
    frame = BY_HAND.assign(
        **{"p_+": [0.6, 0.6, 0.6, 0.6, 0.45, 0.45, 0.1, 0.2, 0.9, 0.6, 0.1, 0.1]}
    )
    frame["p_-"] = 1 - frame["p_+"]
    table = templates.invariance(frame, reference="a", tolerance=0.2).set_index("group")
    # The probability of the reference's class moves in s2 from .6 to .45, in s3 from .9
    # to .1, and in s4 from .6 to .1.
    assert table["failures"].to_dict() == {"x": 1, "y": 2, "accumulated": 2}
    strict = templates.invariance(frame, reference="a", tolerance=0.1).set_index(
        "group"
    )
    assert strict["failures"].to_dict() == {"x": 2, "y": 3, "accumulated": 3}


def test_invariance_of_a_constant_model_is_zero_with_an_interval_that_is_not():
    table = templates.invariance(BY_HAND.assign(prediction="+"))
    assert (table[["failure_rate", "changed", "low", "changed_low"]] == 0).all(
        axis=None
    )
    z2 = norm.ppf(0.975) ** 2
    # Wilson's upper end at 0 of 4.
    np.testing.assert_allclose(table["high"], z2 / (4 + z2))


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_intervals_are_those_of_statsmodels(confidence):
    rng = np.random.default_rng(1)
    sources = pd.Series(rng.integers(1, 600, 2000))
    failures = pd.Series(rng.uniform(0, 1, 2000)) * sources
    failures[:200] = failures[:200].round()
    failures[:20] = 0.0
    failures[20:40] = sources[20:40]
    expected = proportion_confint(
        failures, sources, alpha=1 - confidence, method="wilson"
    )
    for ours, theirs in zip(
        wilson(failures, sources, alpha=1 - confidence), expected, strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-15)


def test_invariance_reports_each_part_separately():
    both = pd.concat(
        [BY_HAND.assign(system="one"), BY_HAND.assign(system="two", prediction="+")]
    )
    table = templates.invariance(both, by="system")
    assert list(table)[:2] == ["system", "group"]
    expected = templates.invariance(BY_HAND)
    pd.testing.assert_frame_equal(
        table[table["system"] == "one"].drop(columns="system"), expected
    )
    assert (table.loc[table["system"] == "two", "failures"] == 0).all()


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from("+-0"), min_size=5, max_size=5), min_size=1, max_size=8
    ),
    st.randoms(),
)
def test_invariance_against_a_loop_and_under_renaming_and_reordering(grid, random):
    keys = [("x", "a"), ("x", "b"), ("y", "c"), ("y", "d"), ("z", "e")]
    frame = _predictions(
        [(index, dict(zip(keys, row, strict=True))) for index, row in enumerate(grid)]
    )
    table = templates.invariance(frame, reference="c").set_index("group")
    for group in "xyz":
        columns = [position for position, key in enumerate(keys) if key[0] == group]
        failed = [any(row[position] != row[2] for position in columns) for row in grid]
        changed = [
            np.mean([row[position] != row[2] for position in columns]) for row in grid
        ]
        assert table.loc[group, "failures"] == sum(failed)
        assert table.loc[group, "changed"] == pytest.approx(np.mean(changed))
    assert table.loc["accumulated", "failures"] == sum(
        len(set(row)) > 1 for row in grid
    )
    order = list(range(len(frame)))
    random.shuffle(order)
    again = templates.invariance(
        frame.iloc[order].rename(columns={"term": "word"}), term="word", reference="c"
    )
    pd.testing.assert_frame_equal(again.set_index("group").loc[table.index], table)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop(columns="term"), r"must have the column\(s\) 'term'"),
        (
            lambda frame: frame.assign(prediction=None),
            "'prediction' must not have missing values",
        ),
        (lambda frame: frame.iloc[:0], "at least one row"),
        (lambda frame: pd.concat([frame, frame.head(1)]), "once, found 1 repeated"),
        (lambda frame: frame.iloc[1:], "1 lack one, among them 's1'"),
        (
            lambda frame: frame.assign(group="accumulated"),
            "must not have the value 'accumulated'",
        ),
    ],
)
def test_invariance_says_what_is_wrong(change, message):
    with pytest.raises(ValueError, match=message):
        templates.invariance(change(BY_HAND))


def test_a_tolerance_needs_a_reference_and_probabilities():
    with pytest.raises(ValueError, match=r"0 without a reference term, found 0.1"):
        templates.invariance(BY_HAND, tolerance=0.1)
    with pytest.raises(ValueError, match=r"must have the column\(s\) 'p_"):
        templates.invariance(BY_HAND, reference="a", tolerance=0.1)


def test_invariance_names_a_reference_that_is_not_one_term():
    with pytest.raises(
        ValueError,
        match="reference must be a value of column 'term' in one group, found 'q' in 0",
    ):
        templates.invariance(BY_HAND, reference="q")
    # Without its reference, every source of a part would count as failed.
    parts = pd.concat(
        [
            BY_HAND.assign(part="one"),
            BY_HAND.assign(part="two", term=BY_HAND["term"].str.upper()),
        ]
    )
    with pytest.raises(ValueError, match="in one group of two, found 'a' in 0"):
        templates.invariance(parts, by="part", reference="a")
    shared = BY_HAND[BY_HAND["term"] != "b"].assign(term="a")
    with pytest.raises(ValueError, match="in one group, found 'a' in 2"):
        templates.invariance(shared, reference="a")
    with pytest.raises(ValueError, match="confidence must be in"):
        templates.invariance(BY_HAND, confidence=95)
