import numpy as np
import pandas as pd
import pytest
from html_pages import Page
from sklearn.metrics import roc_auc_score
from test_auditing import BINARY, people

import fairlib
from fairlib.auditing import summary
from fairlib.auditing.counts import by_level
from fairlib.auditing.setting import Columns
from fairlib.auditing.shares import shares_of_alpha
from fairlib.metrics.table2 import VARIANTS

KEY = ["metric", "class", "group"]


def audited(frame, group="sex", **options):
    return fairlib.audit(frame, group=group, **BINARY, **options).metrics


def as_measured(frame, group="sex"):
    """The table as `measure` wants it, with scores that no level puts together."""
    frame = frame.assign(group=frame[group], score=frame["score"].round(2))
    return frame, frame.rename(columns={"score": "p_1"})[
        ["group", "label", "prediction", "p_1"]
    ]


@pytest.mark.parametrize("group", ["sex", "age"])
def test_values_are_those_of_measure_on_rows(group):
    frame, table = as_measured(people(800, unfair=0.2), group)
    found = audited(frame, group, probability="score").query(
        "metric in @fairlib.METRICS"
    )
    expected = fairlib.measure(
        table, metrics=list(found["metric"].unique()), classes=[1]
    )
    expected["class"] = expected["class"].astype(str)
    both = found.merge(expected, on=KEY, suffixes=("", "_measured"))
    assert len(both) == len(found) >= 16
    np.testing.assert_allclose(both["value"], both["value_measured"], atol=1e-9)


def test_every_group_metric_that_the_columns_allow_is_there():
    frame = people(400)
    predictions, two = audited(frame, "age"), audited(frame, "sex")
    assert {
        "FPED",
        "FNED",
        "TPRGap",
        "ParityGap",
        "FPRRatio",
        "DisparityScore*",
    } <= set(predictions["metric"])
    assert not {"AccuracyDifference", "AvgGF", "SubgroupAUCGap"} & set(
        predictions["metric"]
    )
    assert {"AccuracyDifference", "F1Ratio"} <= set(two["metric"])
    assert set(audited(frame, "sex", probability="score")["metric"]) == set(
        summary.SUMMARY
    )
    only_predicted = fairlib.audit(frame, group="sex", prediction="prediction").metrics
    assert set(only_predicted["metric"]) == {"ParityGap"}


def test_aucs_are_those_of_the_library_and_of_scikit_learn():
    frame, table = as_measured(people(800, unfair=0.2), "age")
    found = audited(frame, "age", probability="score").set_index(["metric", "group"])[
        "value"
    ]
    everybody = roc_auc_score(frame["label"], frame["score"])
    for row in fairlib.auc(table, classes=[1]).to_dict("records"):
        assert found[f"{row['metric']}Gap", row["group"]] + everybody == pytest.approx(
            row["value"]
        )
    old = frame[frame["age"] == "old"]
    alone = roc_auc_score(old["label"], old["score"])
    assert found["SubgroupAUCGap", "old"] + everybody == pytest.approx(alone)


def test_levels_of_probabilities_change_next_to_nothing():
    rng = np.random.default_rng(0)
    frame = people(4000)
    frame["score"] = rng.beta(0.5, 200, 4000) * (
        1 + frame["label"]
    )  # rare, with many digits
    found = audited(frame, "sex", probability="score").set_index(["metric", "group"])[
        "value"
    ]
    alone = frame[frame["sex"] == "male"]
    exact = roc_auc_score(alone["label"], alone["score"]) - roc_auc_score(
        frame["label"], frame["score"]
    )
    assert found["SubgroupAUCGap", "male"] == pytest.approx(exact, abs=2e-3)
    columns = Columns(group=("sex",), **BINARY, probability="score")
    coded = by_level(frame, columns, 4000)["sex"]
    assert np.average(coded.probability(), weights=coded.count) == pytest.approx(
        frame["score"].mean()
    )
    assert len(np.unique(coded.probability(most_levels=50))) <= 50
    assert np.average(
        coded.probability(most_levels=50), weights=coded.count
    ) == pytest.approx(frame["score"].mean())


def test_counts_and_rows_in_any_order_give_the_same():
    frame = people(600, unfair=0.2)
    whole = audited(frame, "age")
    counts = (
        frame.value_counts(["age", "label", "prediction"])
        .rename("people")
        .reset_index()
    )
    pd.testing.assert_frame_equal(audited(counts, "age", count="people"), whole)
    pd.testing.assert_frame_equal(
        audited(frame.sample(frac=1, random_state=0), "age"), whole
    )
    options = {"probability": "score", "source": "person"}
    tied = frame.assign(person=np.arange(600) // 4)
    again = audited(tied.sample(frac=1, random_state=0), "age", **options)
    pd.testing.assert_frame_equal(again, audited(tied, "age", **options))


def test_a_planted_difference_is_found_and_its_size_is_right():
    frame = people(4000, seed=1)
    wrong = (frame["sex"] == "female") & (np.random.default_rng(0).random(4000) < 0.3)
    frame["prediction"] = np.where(wrong, 1 - frame["label"], frame["prediction"])
    found = audited(frame, ["sex", "age"]).set_index(["attribute", "metric"])
    row = found.loc[[("sex", "AccuracyDifference")]].iloc[0]
    truth = (frame["label"] == frame["prediction"]).groupby(frame["sex"]).mean()
    assert row["value"] == pytest.approx(
        truth["female"] - truth["male"]
    )  # in the order of the names
    assert row["low"] < row["value"] < row["high"] < 0
    sure = found[found["p_corrected"] <= 0.05]
    assert {"FPED", "FNED", "TPRGap", "AccuracyDifference"} <= set(
        sure.loc["sex"].index
    )
    assert "age" not in sure.index.get_level_values("attribute")
    assert (found["p_corrected"] >= found["p"] - 1e-12).all()


def test_identical_groups_are_as_near_as_can_be():
    half = people(500).assign(sex="female")
    found = audited(pd.concat([half, half.assign(sex="male")])).set_index(
        ["metric", "group"]
    )
    for name in ("FPED", "TPRGap", "ParityGap"):
        row = found.loc[name, "accumulated"]
        assert row["value"] == 0 < row["null"] and row["p"] == 1


@pytest.mark.slow
def test_fair_models_are_hardly_ever_accused(monkeypatch):
    for name in ("REPLICATES", "FEWEST_REPLICATES"):
        monkeypatch.setattr(summary, name, 99)
    metrics = ["FPED", "TPRGap", "ParityGap", "AccuracyDifference", "AvgGF", "BPSNGap"]
    audits, accused = 40, 0
    for seed in range(audits):
        found = audited(
            people(400, seed=seed), ["sex", "age"], probability="score", metrics=metrics
        )
        accused += (found["p_corrected"] <= 0.05).any()
    assert accused / audits <= 0.05 + 2.3 * np.sqrt(0.05 * 0.95 / audits)


def unequal_base_rates(rates, size, rng, **columns):
    """A model that errs in 15 % everywhere, in groups with these base rates."""
    group = np.repeat(np.arange(len(rates)), size)
    label = (rng.random(len(group)) < np.array(rates)[group]).astype(int)
    wrong = rng.random(len(group)) < 0.15
    return pd.DataFrame(
        {"sex": group, "label": label, "prediction": np.where(wrong, 1 - label, label)}
        | columns
    )


@pytest.mark.slow
@pytest.mark.parametrize("tied", [False, True])
def test_a_model_is_not_accused_of_its_base_rates(tied):
    rng, audits, claims = np.random.default_rng(3), 40, 0
    own = {"metrics": ["FPED", "FNED", "FPRRatio", "TPRGap", "ParityGap"]} | (
        {"source": "person"} if tied else {}
    )
    for _ in range(audits):
        columns = {"person": np.arange(900) // 3} if tied else {}
        found = audited(
            unequal_base_rates([0.1, 0.5, 0.9], 300, rng, **columns), **own
        ).set_index("metric")
        assert found.loc["ParityGap", "p_corrected"] <= 0.05  # this one is truly there
        claims += (found.drop("ParityGap")["p_corrected"] <= 0.05).any()
    assert claims / audits <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / audits)


def test_what_a_metric_conditions_on_stays_as_it_is():
    given = {name: metric.given for name, metric in summary.SUMMARY.items()}
    assert {name for name in given if not given[name]} == {
        "ParityGap",
        "AccuracyDifference",
        "ParityGap (accuracy)",
        "AvgGF",
    }
    assert {given[name] for name in given if name not in VARIANTS} == {"", "label"}
    for name in ("FNRRatio", "AvgGF (TC)", "FPED*", "FNED*", "DisparityScore*"):
        assert given[name] == "label"


@pytest.mark.slow
def test_verdicts_do_not_depend_on_the_seed(monkeypatch):
    scores = fairlib.load("compas_scores", source="bundled")
    scores = scores.assign(
        charged=scores["two_year_recid"], high=(scores["decile_score"] >= 5).astype(int)
    )
    verdicts = set()
    for seed in range(10):
        monkeypatch.setattr(summary, "SEED", seed)
        report = fairlib.audit(
            scores, group="race", label="charged", prediction="high", count="count"
        )
        found = report.metrics
        assert (found["p_error"] <= 0.02).all()
        verdicts.add(tuple(found["verdict"] == "shown"))

        # A p-value that is too close to the limit makes no claim, and that is said.
        is_close = (found["p_corrected"] <= 0.05) & (found["verdict"] == "open")
        notes = [note for note in found.attrs["notes"] if "too close" in note]
        assert len(notes) == is_close.sum()
    # Some are shown, and some are not.
    assert len(verdicts) == 1 and len(set(*verdicts)) == 2


def test_what_is_as_by_chance_has_an_interval_that_says_so(monkeypatch):
    for seed in range(5):
        found = audited(people(400, seed=seed, unfair=0.2), ["sex", "age"])
        neutral = found["metric"].map(lambda name: summary.SUMMARY[name].neutral)
        off = (found["low"] > neutral) | (found["high"] < neutral)
        assert not (off & (found["p_corrected"] > 0.05)).any()


def test_draws_are_enough_for_the_strictest_question(monkeypatch):
    asked = []
    drawn = summary.replicated
    monkeypatch.setattr(summary, "REPLICATES", 99)
    monkeypatch.setattr(summary, "FEWEST_REPLICATES", 99)
    monkeypatch.setattr(
        summary, "replicated", lambda *a, **k: asked.append(k) or drawn(*a, **k)
    )
    found = audited(people(3000, unfair=0.5), confidence=0.99)
    setting = fairlib.audit(people(3000), group="sex", **BINARY)
    shares = shares_of_alpha(setting.counts)
    exchanges = sum(how["replicates"] for how in asked if how["kind"] == "null")
    assert (
        exchanges >= 1 / (shares["metrics"] * 0.01)
        and (found["p_corrected"] <= 0.01).any()
    )


def test_small_groups_are_left_out_and_said():
    frame = people(300)
    frame.loc[:9, "age"] = "rare"
    found = audited(frame, "age")
    assert "rare" not in set(found["group"])
    assert found.attrs["notes"] == [
        "By age: 1 group is left out for having fewer than 30 cases."
    ]
    nobody = audited(people(40), "age")
    assert (
        not len(nobody)
        and "fewer than two groups are large enough" in nobody.attrs["notes"][-1]
    )


def test_whole_sources_are_drawn_and_exchanged():
    frame = people(90).assign(person=range(90))
    copies = pd.concat([frame] * 40, ignore_index=True)
    alone, tied, forgotten = (
        audited(frame),
        audited(copies, source="person"),
        audited(copies),
    )
    width = [
        (found["high"] - found["low"]).iloc[0] for found in (alone, tied, forgotten)
    ]
    assert width[1] == pytest.approx(width[0], rel=0.25) and width[2] < 0.5 * width[0]
    assert tied["null"].iloc[0] == pytest.approx(alone["null"].iloc[0], rel=0.25)
    pairs = people(200).assign(sex=["female", "male"] * 100, person=np.arange(200) // 2)
    mixed = audited(pairs, source="person")
    assert mixed["p"].isna().all() and mixed["low"].notna().any()
    assert "sources hold cases of several groups" in mixed.attrs["notes"][0]


def test_too_many_profiles_get_values_only(monkeypatch):
    monkeypatch.setattr(summary, "WEIGHTS_PER_ATTRIBUTE", 10)
    found = audited(people(300))
    assert found["value"].notna().all() and found[
        ["low", "high", "null", "p"]
    ].isna().all(axis=None)
    assert "too many different cases" in found.attrs["notes"][0]


def test_hundreds_of_groups_are_not_compared_by_pairs():
    frame = people(9000).assign(sex=[f"g{i % 100}" for i in range(9000)])
    found = audited(frame)
    assert not len(found) and "for up to 60 groups, not 100" in found.attrs["notes"][0]


def test_metrics_can_be_asked_for_by_name():
    report = fairlib.audit(
        people(300),
        group="age",
        **BINARY,
        metrics=["errors", "FPED", "AccuracyDifference"],
    )
    assert set(report.to_frame()["rate"]) == {"errors"} and set(
        report.metrics["metric"]
    ) == {"FPED"}
    assert (
        "AccuracyDifference is left out: it compares exactly two groups"
        in report.metrics.attrs["notes"][0]
    )


def test_rates_of_too_few_are_not_given_away():
    frame = people(300)
    frame.loc[(frame["age"] == "old") & (np.arange(300) > 40), "label"] = 1
    found = (
        audited(frame, "age", probability="score").set_index(["metric", "group"]).index
    )
    for name, needs in summary.NEEDS.items():
        assert ((name, "old") in found) == (needs == ("gold",)) and (
            name,
            "young",
        ) in found
    assert set(summary.NEEDS) == {
        name for name, metric in summary.SUMMARY.items() if metric.kind == "VBCM"
    }


@pytest.mark.parametrize("label", [0, 1])
def test_a_label_that_never_varies(label):
    found = audited(people(200).assign(label=label), probability="score").set_index(
        "metric"
    )
    assert found.loc["ParityGap", "value"] >= 0 and "SubgroupAUCGap" not in found.index
    undefined = "FPED" if label else "FNED"
    assert found.loc[undefined, ["value", "low", "null", "p"]].isna().all()


def test_names_that_results_use_themselves_are_names_of_groups_too():
    frame = people(300).assign(
        sex=np.array(["accumulated", "all", "1"])[np.arange(300) % 3]
    )
    found = audited(frame)
    assert (
        found.loc[found["metric"] == "FPRRatio", "group"] == ["1", "accumulated", "all"]
    ).all()
    assert fairlib.audit(frame, group="sex", **BINARY).to_html()


def test_the_page_has_the_chapter_with_words_for_what_is_more_than_chance():
    frame = people(3000, unfair=0.3)
    page = Page(
        fairlib.audit(
            frame, group=["sex", "age"], **BINARY, probability="score"
        ).to_html()
    )
    text = "".join(page.text)
    for words in (
        "Metrics of the literature",
        "(FPED). How often the class is predicted where it is not true: "
        "FP / (FP + TN). How far apart two scores are, ",
        "strong evidence",
        "too weak to tell",
    ):
        assert words in text
    assert "class=" not in text  # no element became text
    assert (
        "Signed differences are female minus male, and ratios are female divided by "
        "male" in text
    )
    assert all("scope" in attributes for attributes in page.all("th"))


@pytest.mark.parametrize("order", ["edcba", "cabed"])
def test_p_values_do_not_depend_on_what_groups_and_classes_are_called(order):
    """The draws are made in the order of counts, not in that of names."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "g": rng.choice(list("abcde"), 900, p=[0.1, 0.15, 0.2, 0.25, 0.3]),
            "label": rng.choice(["no", "yes"], 900),
        }
    )
    frame["prediction"] = np.where(rng.random(900) < 0.75, frame["label"], "no")
    columns = {"group": "g", "label": "label", "prediction": "prediction"}
    key = ["metric", "class", "group"]
    before = fairlib.audit(frame, **columns, positive="yes").metrics

    other_names = frame.assign(g=frame["g"].map(dict(zip("abcde", order, strict=True))))
    other_names = other_names.replace({"no": "z: no"})
    after = fairlib.audit(other_names, **columns, positive="yes").metrics

    # Where a metric has a row for a group, the group has another name now.
    is_of_all = ~before["group"].isin(list("abcde"))
    assert is_of_all.sum() >= 5
    before, after = (
        table[~table["group"].isin(list("abcde"))].set_index(key)[["value", "p"]]
        for table in (before, after)
    )
    after = after.loc[before.index]
    unsigned = np.isclose(before["value"], after["value"])
    assert unsigned.sum() >= 5
    assert before["p"][unsigned].equals(after["p"][unsigned])
