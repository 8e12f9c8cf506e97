"""What metrics claim: which question they answer, in which share of alpha."""

import numpy as np
import pandas as pd
import pytest
from test_auditing import BINARY, people

import fairlib
from fairlib.auditing import claims, literature
from fairlib.auditing.summary import summarize
from fairlib.intervals import multiplicity

ERRORS = {
    "FPED",
    "FNED",
    "FPED*",
    "FNED*",
    "FPRRatio",
    "FNRRatio",
    "PosAvgEG",
    "NegAvgEG",
    "TPRGap",
    "TNRGap",
    "TPRDifference",
    "RecallDifference",
    "AvgGF (TC)",
    "SubgroupAUCGap",
    "BPSNGap",
    "BNSPGap",
}
SELECTION = {"ParityGap", "AvgGF"}
# Those that look only at cases of the class.
ERRORS_OF_MANY_CLASSES = {
    "FNED",
    "FNED*",
    "FNRRatio",
    "PosAvgEG",
    "TPRGap",
    "TPRDifference",
    "RecallDifference",
    "AvgGF (TC)",
}


def questions_of(frame, group="sex", **options):
    return fairlib.audit(frame, group=group, **BINARY, **options).questions


def model(base_rates, *, size=500, hits=0.8, false_alarms=0.15, seed=0):
    """A model with equal rates of errors in groups of these base rates."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(base_rates)), size)
    label = (rng.random(len(group)) < np.array(base_rates)[group]).astype(int)
    chance = np.where(label == 1, hits, false_alarms)
    score = np.clip(rng.beta(2, 2, len(group)) / 2 + 0.5 * (label == 1), 0, 1)
    return pd.DataFrame(
        {
            "sex": group,
            "label": label,
            "prediction": (rng.random(len(group)) < chance).astype(int),
            "score": score.round(2),
        }
    )


def test_every_metric_answers_one_question():
    by_question = {}
    for name in literature.SUMMARY:
        question = literature.question_of(name, classes=2)
        by_question.setdefault(question, set()).add(name)
    assert by_question["errors"] == ERRORS
    assert by_question["selection"] == SELECTION
    assert {"AccuracyDifference", "F1Difference", "DisparityScore"} <= (
        by_question["mix"]
    )
    assert by_question.keys() == {"errors", "selection", "mix"}


def test_with_more_classes_false_alarms_are_a_mix():
    names = {
        name
        for name in literature.SUMMARY
        if literature.question_of(name, classes=3) == "errors"
    }
    assert names == ERRORS_OF_MANY_CLASSES
    assert literature.question_of(literature.SUMMARY["FPED"], classes=3) == "mix"


def test_the_mix_of_other_labels_moves_false_alarms_but_not_errors():
    """Both groups are treated alike, label by label; only the mix of labels differs."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 4000)
    chances = np.array([[0.2, 0.2, 0.6], [0.2, 0.6, 0.2]])[group]
    label = (rng.random((8000, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    # Class 2 is often taken for class 0, class 1 never.
    prediction = np.where((label == 2) & (rng.random(8000) < 0.4), 0, label)
    frame = pd.DataFrame({"sex": group, "label": label, "prediction": prediction})
    rows = summarize(questions_of(frame, positive=0)).set_index("metric")
    assert rows.loc["TNRGap", "value"] > 0.1
    assert rows.loc["TNRGap", "question"] == "mix"
    claimed = rows[(rows["question"] == "errors") & (rows["verdict"] == "shown")]
    assert claimed.empty


def test_rows_have_a_question_and_a_verdict():
    frame = people(3000, unfair=0.3)
    rows = summarize(questions_of(frame, probability="score"))
    for row in rows.itertuples():
        assert row.question == literature.question_of(row.metric, classes=2)
    assert set(rows["verdict"]) <= {"shown", "open", "undefined"}
    shown = rows["verdict"] == "shown"
    assert shown.any()
    assert (shown == (rows["p_corrected"] <= 0.05)).all()
    assert ((rows["verdict"] == "undefined") == rows["p"].isna()).all()


@pytest.mark.parametrize("seed", range(4))
def test_an_interval_excludes_no_difference_exactly_where_one_is_shown(seed):
    frame = people(500, seed=seed, unfair=0.15)
    rows = summarize(questions_of(frame, probability="score"))
    rows = rows[rows["low"].notna()]
    neutral = rows["metric"].map(lambda name: literature.SUMMARY[name].neutral)
    is_off = (rows["low"] > neutral) | (rows["high"] < neutral)
    assert (is_off == (rows["verdict"] == "shown")).all()


def test_a_smaller_share_claims_less_and_still_can():
    questions = questions_of(people(3000, unfair=0.35))
    whole = summarize(questions)
    part = summarize(questions, share=0.1)
    assert (part["p_corrected"] >= whole["p_corrected"] - 1e-12).all()
    assert (part["verdict"] == "shown").any()
    pd.testing.assert_series_equal(part["value"], whole["value"])


@pytest.mark.parametrize("share", [0, -1, 1.01])
def test_a_share_is_a_part_of_alpha(share):
    with pytest.raises(ValueError, match="share must lie above 0 and be at most 1"):
        summarize(questions_of(people(200)), share=share)


@pytest.mark.parametrize("rates", [(0.01, 0.99), (0.5, 0.35), (0.02, 0.5, 0.98)])
def test_a_perfect_classifier_is_never_accused_of_errors(rates):
    frame = model(rates)
    frame["prediction"] = frame["label"]
    rows = summarize(questions_of(frame))
    shown = rows[rows["verdict"] == "shown"]
    assert "ParityGap" in set(shown["metric"])
    assert not (shown["question"] == "errors").any()


def test_areas_take_part():
    """AUC is high in one group and low in the other."""
    frame = model([0.5, 0.5], seed=1)
    is_first = frame["sex"] == 0
    frame["score"] = frame["score"].where(is_first, 1 - frame["score"])
    rows = summarize(questions_of(frame, probability="score")).set_index("metric")
    assert (rows.loc["SubgroupAUCGap", "verdict"] == "shown").all()
    assert (rows.loc["SubgroupAUCGap", "question"] == "errors").all()


@pytest.mark.parametrize("column", ["within", "weight"])
def test_beside_strata_and_weights_metrics_are_left_out_and_a_note_says_so(column):
    values = np.random.default_rng(0).choice([1, 2, 3], 600)
    frame = people(600).assign(other=values)
    rows = summarize(questions_of(frame, **{column: "other"}))
    assert rows.empty and {"question", "verdict"} <= {*rows.columns}
    words = {"within": "strata", "weight": "weights"}[column]
    (note,) = rows.attrs["notes"]
    assert note == (
        f"Metrics of the literature do not take {words} into account and are left out."
    )


def test_metrics_of_models_that_are_fair_in_every_stratum_claim_nothing():
    """All cases together look unfair, as the groups apply to different places."""
    rng = np.random.default_rng(0)
    place = rng.integers(0, 2, 4000)
    sex = (rng.random(4000) < np.where(place == 1, 0.9, 0.1)).astype(int)
    wrong = rng.random(4000) < np.where(place == 1, 0.5, 0.1)
    frame = pd.DataFrame({"sex": sex, "place": place, "label": 1})
    frame["prediction"] = np.where(wrong, 0, 1)
    assert summarize(questions_of(frame, within="place")).empty
    assert (summarize(questions_of(frame))["verdict"] == "shown").any()


# --- claims ---


def test_claims_are_decided_by_holm_within_their_share():
    p = np.array([0.001, 0.02, np.nan, 0.012, 1.0])
    for share in (1.0, 0.4):
        rows = claims.decide(p, alpha=0.05, share=share)
        expected = np.minimum(multiplicity.holm(p) / share, 1)
        np.testing.assert_allclose(rows["p_corrected"], expected)
        assert rows["verdict"][2] == "undefined"
        assert ((rows["verdict"] == "shown") == (expected <= 0.05)).all()
    joint = claims.decide(p, alpha=0.05, joint=p, share=0.5)
    np.testing.assert_allclose(joint["p_corrected"], np.minimum(p / 0.5, 1))
    assert claims.decide([], alpha=0.05).empty


def test_what_holm_shows_is_shown_at_the_level_of_the_intervals():
    rng = np.random.default_rng(0)
    for _ in range(200):
        p = rng.random(rng.integers(1, 8)) ** 4
        rows = claims.decide(p, alpha=0.05)
        level = claims.level_of_intervals(rows["verdict"], alpha=0.05)
        assert (p[rows["verdict"] == "shown"] <= level).all()


def test_intervals_are_mended_towards_the_verdict():
    low, high = claims.agreeing(
        [0.1, 0.1, -0.1, 0.3],
        ([-0.01, 0.02, -0.2, 0.2], [0.2, 0.2, 0.01, 0.4]),
        p=[0.04, 0.2, 0.01, 0.01],
        level=0.05,
        is_shown=[True, False, True, True],
    )
    assert 0 < low[0] < 0.1 and high[0] == 0.2
    assert (low[1], high[1]) == (0, 0.2)
    assert low[2] == -0.2 and -0.1 < high[2] < 0
    assert (low[3], high[3]) == (0.2, 0.4)


# --- simulations ---


@pytest.mark.slow
@pytest.mark.parametrize("rates", [(0.03, 0.9), (0.1, 0.5, 0.9)])
def test_base_rates_alone_are_no_claim_about_errors(rates):
    audits = 60
    accused = 0
    for seed in range(audits):
        frame = model(rates, size=300, seed=seed)
        rows = summarize(questions_of(frame, metrics=["errors", *sorted(ERRORS)]))
        assert (rows["question"] == "errors").all()
        accused += (rows["verdict"] == "shown").any()
    assert accused / audits <= 0.05 + 2.3 * np.sqrt(0.05 * 0.95 / audits)
