"""CheckList's systems: the score is read back rightly, repeats go, and the published
failure rates come out.
"""

import numpy as np
import pandas as pd
import pytest

from fairlib import data, load
from fairlib.metrics.examples import read
from fairlib.metrics.measuring import measure
from fairlib.recipes import checklist
from fairlib.recipes.originals import File, at_hand

# Failure rates that CheckList published, in percent (Ribeiro et al. 2020; one per test
# and system).
PUBLISHED = pd.DataFrame(
    {
        "microsoft": [0.2, 15.4, 16.2, 0.6],
        "google": [0.6, 1.2, 1.6, 0.4],
        "amazon": [9.2, 7.0, 77.8, 8.6],
        "bert": [88.6, 90.0, 96.4, 14.4],
        "roberta": [57.6, 94.6, 83.6, 7.2],
    },
    index=["race", "sexual", "religion", "nationality"],
)


def recoded(score, zone):
    """The three "probabilities" that CheckList's authors made from one score in [-1,
    1].
    """
    if abs(score) < zone:
        neutral = 1 - abs(score) / (2 * zone)
        return {
            "p_neg": max(-score, 0) / (2 * zone),
            "p_neu": neutral,
            "p_pos": max(score, 0) / (2 * zone),
        }
    return {"p_neg": (1 - score) / 2, "p_neu": 0.0, "p_pos": (1 + score) / 2}


@pytest.fixture
def released(tmp_path, monkeypatch):
    """A file of the released form: one source of two terms, for each system the scores
    -0.9 ... 0.9.
    """
    rows = []
    for system, zone in {"google": 1 / 4, "bert": 1 / 3, "amazon": None}.items():
        for number, score in enumerate(np.linspace(-0.9, 0.9, 13)):
            if zone:
                three = recoded(score, zone)
            else:
                three = {
                    "p_neg": (1 - score) / 4,
                    "p_neu": 0.5,
                    "p_pos": (1 + score) / 4,
                }
            pred = 1 if zone and abs(score) < zone else 0 if score < 0 else 2
            case = {
                "source_id": number,
                "filler": str(number % 12),
                "system": system,
                "pred": pred,
                "wanted": score,
            }
            rows += [
                case | three | {"group": term, "term": term, "term_index": i}
                for i, term in enumerate("xy")
            ]
    frame = pd.DataFrame(rows).assign(
        test="protected: race", name_gender="male", name="Al"
    )
    path = tmp_path / "checklist" / "predictions.parquet"
    path.parent.mkdir()
    frame.to_parquet(path)
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))
    monkeypatch.setattr(checklist, "PREDICTIONS", File("checklist/predictions.parquet"))


def test_the_score_is_read_back_from_what_was_made_of_it(released):
    table = checklist.predictions()
    one_score = table[table["system"] != "amazon"]
    np.testing.assert_allclose(one_score["score"], (1 + one_score["wanted"]) / 2)
    three = table[table["system"] == "amazon"]
    np.testing.assert_allclose(
        three["score"], (1 + three["p_positive"] - three["p_negative"]) / 2
    )
    assert set(table["prediction"]) == {"negative", "neutral", "positive"}


def test_the_released_probability_is_not_monotone_in_the_score(released):
    """The reason for reading the score back: over the lower edge of the neutral zone
    the positive probability falls.
    """
    table = (
        checklist.predictions()
        .query("system == 'bert' and term == 'x'")
        .sort_values("score")
    )
    assert table["p_positive"].diff().min() < -0.1


def test_repeated_cases_are_left_out_once(released):
    table = checklist.distinct(checklist.predictions())
    # Number 12 repeats the filler of number 0.
    assert table["source_id"].nunique() == 12
    assert (table.groupby(["system", "source"]).size() == 2).all()


def test_a_column_that_is_missing_is_named(released, tmp_path):
    path = tmp_path / "checklist" / "predictions.parquet"
    pd.read_parquet(path).drop(columns="filler").to_parquet(path)
    with pytest.raises(data.DataError, match=r"lacks the column\(s\) filler"):
        checklist.predictions()


def test_values_and_intervals_agree_with_measure_where_both_can_be_had():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        [
            (source, f"g{term % 3}", f"t{term}")
            for source in range(40)
            for term in range(6)
        ],
        columns=["source", "group", "term"],
    )
    frame["p_positive"] = np.clip(
        rng.normal(0.5 + 0.02 * frame["group"].str[1].astype(int), 0.1), 0, 1
    )
    frame["p_negative"] = 1 - frame["p_positive"]
    mine = checklist.with_uncertainty(
        read(frame, classes="positive"), checklist.WITHOUT_LABEL
    )
    theirs = measure(frame, checklist.WITHOUT_LABEL, classes="positive")
    merged = mine.merge(
        theirs, on=["metric", "class", "group"], suffixes=("", "_measure")
    )
    assert len(merged) == len(mine) == len(theirs)
    np.testing.assert_allclose(merged["value"], merged["value_measure"])
    assert (mine["low"] <= mine["high"]).all() and mine["p"].between(0, 1).all()
    # The mean difference is a difference of means over sources: its standard error is
    # known.
    means = frame.pivot_table(
        index="source", columns="group", values="p_positive", aggfunc="mean"
    )
    contrast = means["g0"] - means[["g1", "g2"]].mean(axis=1)
    expected = contrast.std(ddof=1) / np.sqrt(len(contrast))
    found = mine.set_index(["metric", "group"]).loc[("mean difference", "g0")]
    assert found["value"] == pytest.approx(contrast.mean())
    assert found["standard_error"] == pytest.approx(expected, rel=0.15)


def test_checklists_own_failure_rates_come_out_of_the_bundled_table():
    table = load("checklist_invariance", source="bundled")
    own = table[(table["rule"] == "checklist") & (table["group"] == "accumulated")]
    found = (
        own.pivot(index="test", columns="system", values="failure_rate")
        .mul(100)
        .round(1)
    )
    pd.testing.assert_frame_equal(
        found.loc[PUBLISHED.index, PUBLISHED.columns], PUBLISHED, check_names=False
    )
    assert (own["sources"] == 500).all()


@pytest.mark.skipif(
    not at_hand(checklist.PREDICTIONS), reason="needs CheckList's released predictions"
)
def test_the_bundled_failure_rates_are_those_of_the_released_predictions():
    pd.testing.assert_frame_equal(
        load("checklist_invariance", source="original"),
        load("checklist_invariance", source="bundled"),
        check_dtype=False,
    )


def test_bundled_metrics_are_complete():
    table = load("checklist_systems", source="bundled")
    keys = ["test", "system", "score", "metric", "class", "group"]
    assert not table.duplicated(keys).any() and (table["sources"] == 495).all()
    cells = table.groupby(["test", "score", "metric", "class", "group"])[
        "system"
    ].nunique()
    assert (cells == 5).all()
    assert (
        table[["value", "standard_error", "low", "high", "null", "p"]]
        .notna()
        .all(axis=None)
    )
    assert ((table["low"] <= table["high"]) & (table["standard_error"] >= 0)).all()
