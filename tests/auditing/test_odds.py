"""Equalized odds as one number: against loops over rows, and by simulation."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from test_auditing import BINARY, people
from test_metric_claims import model, questions_of

import fairlib
from fairlib.auditing import odds
from fairlib.auditing.odds import equalized_odds
from fairlib.intervals import multiplicity


def largest_gap(frame, group="sex"):
    """The largest difference of any two groups' rates of errors, on rows."""
    gaps = {}
    for label, of_label in frame.groupby("label"):
        rates = (of_label["prediction"] != label).groupby(of_label[group]).mean()
        for one, other in combinations(rates.index, 2):
            more, less = sorted((one, other), key=lambda name: rates[name])[::-1]
            gaps[more, less, label] = rates[more] - rates[less]
    (more, less, label), gap = max(gaps.items(), key=lambda item: item[1])
    return more, less, label, gap


@pytest.mark.parametrize("group", ["sex", "age"])
@pytest.mark.parametrize("seed", range(4))
def test_the_number_is_that_of_a_loop(group, seed):
    frame = people(900, seed=seed, unfair=0.2)
    (row,) = equalized_odds(questions_of(frame, group)).to_dict("records")
    more, less, label, gap = largest_gap(frame, group)
    assert row["value"] == pytest.approx(gap)
    assert (row["group"], row["against"]) == (f"{group} = {more}", f"{group} = {less}")
    assert row["label"] == str(label)
    assert row["rate"] == ("misses" if label == 1 else "false alarms")
    assert row["low"] <= row["value"] <= row["high"]


def test_two_groups_are_two_comparisons_of_an_audit():
    frame = people(900, unfair=0.3)
    report = fairlib.audit(
        frame, group="sex", **BINARY, metrics=["misses", "false alarms"]
    )
    rows = report.to_frame()
    (row,) = equalized_odds(report.questions).to_dict("records")
    assert row["p"] == pytest.approx(2 * rows["p"].min())
    assert row["value"] == pytest.approx(rows["difference"].abs().max())


def test_more_groups_need_less_than_bonferroni_and_more_than_one_comparison():
    frame = model([0.5] * 6, seed=3)
    frame.loc[frame["sex"] == 0, "prediction"] = 1
    rng = np.random.default_rng(0)
    frame["prediction"] = np.where(
        (frame["sex"] == 2) & (rng.random(3000) < 0.08), 0, frame["prediction"]
    )
    (parts,) = odds._compared(questions_of(frame), []).values()
    for part in parts:
        alone = part.contrast.p
        assert (part.p >= alone - 1e-12).all()
        assert (part.p <= np.minimum(15 * alone, 1) + 1e-12).all()
        z = stats.norm.isf(alone / 2)
        expected = stats.studentized_range.sf(np.sqrt(2) * z, 6, np.inf)
        is_usual = expected > 1e-6
        np.testing.assert_allclose(part.p[is_usual], expected[is_usual], rtol=1e-6)


def test_intervals_exclude_0_exactly_where_a_difference_is_shown():
    verdicts = set()
    for seed in range(30):
        frame = people(400, seed=seed, unfair=0.3)
        for group in ("sex", "age"):
            (row,) = equalized_odds(questions_of(frame, group)).to_dict("records")
            assert (row["low"] > 0) == (row["verdict"] == "shown")
            assert (row["p"] <= 0.05) == (row["verdict"] == "shown")
            verdicts.add(row["verdict"])
    assert verdicts == {"shown", "open"}


def test_attributes_share_their_part_of_alpha():
    questions = questions_of(people(900, unfair=0.3), ["sex", "age"])
    rows = equalized_odds(questions, share=0.25)
    expected = multiplicity.holm(rows["p"]) / 0.25
    np.testing.assert_allclose(rows["p_corrected"], np.minimum(expected, 1))
    assert list(rows["attribute"]) == ["sex", "age"]
    with pytest.raises(ValueError, match="share must lie above 0"):
        equalized_odds(questions, share=0)


@pytest.mark.parametrize("rates", [(0.01, 0.99), (0.5, 0.35), (0.2, 0.5, 0.8)])
def test_a_perfect_classifier_has_no_difference(rates):
    frame = model(rates, size=4000)
    frame["prediction"] = frame["label"]
    (row,) = equalized_odds(questions_of(frame)).to_dict("records")
    assert row["value"] == row["low"] == 0
    assert row["p"] == 1 and row["verdict"] == "open"


def test_names_do_not_decide_which_group_is_named_first():
    frame = people(900, unfair=0.3)
    renamed = frame.assign(sex=frame["sex"].replace({"female": "zfemale"}))
    (row,) = equalized_odds(questions_of(frame)).to_dict("records")
    (again,) = equalized_odds(questions_of(renamed)).to_dict("records")
    assert row["group"] == "sex = female" and again["group"] == "sex = zfemale"
    for name in odds.NUMBERS:
        assert again[name] == pytest.approx(row[name])


def test_groups_with_few_cases_of_a_label_are_left_out_and_said():
    frame = people(600)
    frame.loc[(frame["age"] == "old") & (frame.index > 60), "label"] = 0
    rows = equalized_odds(questions_of(frame, "age"))
    assert rows.attrs["notes"] == [
        "By age: 1 group is left out of equalized odds for misses, having fewer than "
        "30 independent cases whose label is ‘1’."
    ]
    assert rows["value"].notna().all()


def test_without_enough_cases_it_is_undefined_with_a_reason():
    rows = equalized_odds(questions_of(people(40)))
    assert rows["verdict"].tolist() == ["undefined"]
    assert rows[["value", "low", "high", "p"]].isna().all(axis=None)
    assert len(rows.attrs["notes"]) == 2


@pytest.mark.parametrize("column", ["within", "weight"])
def test_beside_strata_and_weights_it_is_left_out(column):
    frame = people(600).assign(other=np.random.default_rng(0).choice([1, 2, 3], 600))
    rows = equalized_odds(questions_of(frame, **{column: "other"}))
    assert rows.empty and list(rows.columns) == odds.COLUMNS
    assert "Equalized odds do not take" in rows.attrs["notes"][0]


def test_without_labels_nothing_is_asked():
    report = fairlib.audit(people(300), group="sex", prediction="prediction")
    rows = equalized_odds(report.questions)
    assert rows.empty and rows.attrs["notes"] == []


def three_labels(size=4000, seed=0):
    """Alike label by label; the labels' proportions differ between groups."""
    rng = np.random.default_rng(seed)
    group = np.repeat([0, 1], size)
    chances = np.array([[0.2, 0.2, 0.6], [0.2, 0.6, 0.2]])[group]
    label = (rng.random((2 * size, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    prediction = np.where((label == 2) & (rng.random(2 * size) < 0.4), 0, label)
    return pd.DataFrame({"sex": group, "label": label, "prediction": prediction})


def test_false_alarms_are_compared_label_by_label():
    frame = three_labels()
    (row,) = equalized_odds(questions_of(frame, positive=0)).to_dict("records")
    assert row["verdict"] == "open" and row["value"] < 0.05
    is_confused = (frame["label"] == 1) & (frame["sex"] == 1) & (frame.index % 3 == 0)
    frame.loc[is_confused, "prediction"] = 0
    (row,) = equalized_odds(questions_of(frame, positive=0)).to_dict("records")
    assert row["value"] == pytest.approx(1 / 3, abs=0.05)
    assert (row["rate"], row["label"]) == ("false alarms", "1")
    assert row["verdict"] == "shown" and row["low"] > 0.2


def test_several_measured_classes_are_refused_with_a_note():
    rows = equalized_odds(questions_of(three_labels(500)))
    assert rows.empty
    assert "one class that is named as positive" in rows.attrs["notes"][0]


def test_copies_of_sources_add_nothing():
    frame = people(300, unfair=0.2).assign(person=np.arange(300))
    copies = pd.concat([frame] * 20, ignore_index=True)
    alone = equalized_odds(questions_of(frame, source="person"))
    tied = equalized_odds(questions_of(copies, source="person"))
    for name in odds.NUMBERS:
        assert tied[name][0] == pytest.approx(alone[name][0])


def test_shared_sources_are_corrected_by_bonferroni():
    frame = people(900).assign(person=np.arange(900) // 3)
    (parts,) = odds._compared(questions_of(frame, "age", source="person"), []).values()
    for part in parts:
        assert not part.are_independent
        np.testing.assert_allclose(part.p, np.minimum(3 * part.contrast.p, 1))


@pytest.mark.slow
@pytest.mark.parametrize("groups", [2, 3, 6])
def test_the_interval_holds_the_truth_in_spite_of_the_maximum(groups):
    audits = 150
    missed = 0
    for seed in range(audits):
        frame = model(np.linspace(0.1, 0.9, groups), size=300, seed=seed)
        (row,) = equalized_odds(questions_of(frame)).to_dict("records")
        missed += row["low"] > 0
    assert missed / audits <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / audits)
