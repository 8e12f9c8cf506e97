"""Another model beside this one: does it narrow the gaps between groups?"""

import json

import numpy as np
import pandas as pd
import pytest
from test_auditing import BINARY

import fairlib


def two_models(n=6000, *, before=0.3, after=0.1, seed=0):
    """Women's cases are missed at a rate that the other model changes."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    label = rng.integers(0, 2, n)
    draw = rng.random(n)
    wrong = draw < np.where(sex == "f", before, 0.1)
    wrong_after = draw < np.where(sex == "f", after, 0.1)
    return pd.DataFrame(
        {
            "sex": sex,
            "label": label,
            "prediction": np.where(wrong, 1 - label, label),
            "other": np.where(wrong_after, 1 - label, label),
            "place": rng.choice(["here", "there"], n),
            "person": np.arange(n) // 2,
        }
    )


def audited(frame, **options):
    return fairlib.audit(frame, group="sex", **BINARY, compare="other", **options)


def test_a_gap_that_becomes_narrower_is_said_so_and_does_not_fail():
    frame = two_models()
    report = audited(frame)
    gaps = report.gap_changes.set_index("rate")
    women = frame[frame["sex"] == "f"]
    men = frame[frame["sex"] == "m"]

    def missed(rows, column):
        return (rows.loc[rows["label"] == 1, column] == 0).mean()

    row = gaps.loc["misses"]
    assert row["gap_before"] == pytest.approx(
        missed(women, "prediction") - missed(men, "prediction")
    )
    assert row["gap_after"] == pytest.approx(
        missed(women, "other") - missed(men, "other")
    )
    assert row["change"] == pytest.approx(row["gap_after"] - row["gap_before"])
    assert row["low"] < -0.2 < row["high"] < 0
    assert row["direction"] == "narrower" and row["verdict"] == "shown"

    assert (
        "The other model narrows 2 gaps of error rates (most clearly misses of ‘1’ by "
        in report.verdict
    )
    data = json.loads(report.to_json())
    assert {line["direction"] for line in data["gap_changes"]} >= {"narrower"}
    assert "gaps with this model and with the other one" in report.to_html()
    # This model treats groups differently, and that is what fails; not the change.
    gone = audited(two_models(before=0.1, after=0.1))
    assert not gone.fails("shown")
    assert (
        "no strong evidence that the other model narrows or widens a gap"
        in gone.verdict
    )


def test_a_gap_that_becomes_wider_fails():
    report = audited(two_models(before=0.1, after=0.3))
    rows = report.to_frame()
    assert not rows.query("question == 'errors'")["verdict"].eq("shown").any()
    assert "The other model widens 2 gaps of error rates" in report.verdict
    assert report.fails("shown")


def test_a_gap_that_changes_its_side_is_no_narrower_one():
    rng = np.random.default_rng(1)
    frame = two_models(before=0.3, after=0.1)
    wrong = rng.random(len(frame)) < np.where(frame["sex"] == "m", 0.4, 0.1)
    frame["other"] = np.where(wrong, 1 - frame["label"], frame["label"])
    gaps = audited(frame).gap_changes.set_index("rate")
    assert gaps.loc["misses", "direction"] == "other sign"


@pytest.mark.parametrize("options", [{"source": "person"}, {"within": "place"}])
def test_sources_and_strata_take_part(options):
    frame = two_models()
    plain = audited(frame).gap_changes.set_index("rate")
    found = audited(frame, **options).gap_changes.set_index("rate")
    for rate in ("misses", "false alarms"):
        assert found.loc[rate, "change"] == pytest.approx(
            plain.loc[rate, "change"], abs=0.01
        )
        width = found.loc[rate, "high"] - found.loc[rate, "low"]
        width_of_plain = plain.loc[rate, "high"] - plain.loc[rate, "low"]
        assert width == pytest.approx(width_of_plain, rel=0.15)


def test_copies_of_a_case_do_not_count_as_cases():
    frame = two_models(1200)
    copies = frame.assign(case=range(len(frame)))
    copies = copies.loc[copies.index.repeat(4)]
    once = audited(frame).changes.set_index(["group", "rate"])
    again = audited(copies, source="case").changes.set_index(["group", "rate"])
    fooled = audited(copies).changes.set_index(["group", "rate"])

    width = again["high"] - again["low"]
    expected = once["high"] - once["low"]
    many = once["more"] + once["fewer"] > 40
    assert many.sum() >= 3
    np.testing.assert_allclose(width[many], expected[many], rtol=0.12)
    assert (fooled["high"] - fooled["low"] < 0.7 * expected)[many].all()


def test_nothing_changes_if_the_models_are_the_same():
    frame = two_models()
    report = audited(frame.assign(other=frame["prediction"]))
    assert (report.changes["change"] == 0).all()
    assert (report.changes["p"] == 1).all()
    assert (report.gap_changes["change"] == 0).all()
    assert not report.gap_changes["verdict"].eq("shown").any()


@pytest.mark.parametrize("options", [{}, {"source": "person"}, {"within": "place"}])
def test_an_interval_excludes_0_exactly_where_there_is_evidence(options):
    for seed in range(4):
        frame = two_models(1500, before=0.15, after=0.1, seed=seed)
        report = audited(frame, **options)
        for table in (report.changes, report.gap_changes):
            excludes = (table["low"] > 0) | (table["high"] < 0)
            has_evidence = table["verdict"].isin(["shown", "hint"])
            assert (excludes == has_evidence).all()
            assert (table["low"] <= table["change"]).all()
            assert (table["change"] <= table["high"]).all()
