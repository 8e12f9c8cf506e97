import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import fairlib
from fairlib import auditing
from fairlib.auditing import rates
from fairlib.auditing.crossings import interaction
from fairlib.auditing.wording import counted, percent

BINARY = {"label": "label", "prediction": "prediction"}


def people(n=2000, *, seed=0, unfair=0.0):
    """Cases of a model that errs equally often, but `unfair` more with old women."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["female", "male"], n),
            "age": rng.choice(["old", "young", "child"], n),
        }
    )
    wrong = rng.random(n) < 0.2 + unfair * (
        (frame["sex"] == "female") & (frame["age"] == "old")
    )
    frame["label"] = rng.integers(0, 2, n)
    frame["prediction"] = np.where(wrong, 1 - frame["label"], frame["label"])
    frame["score"] = np.clip(
        0.5 + 0.3 * (2 * frame["prediction"] - 1) + rng.normal(0, 0.1, n), 0, 1
    ).round(3)
    return frame


def brute_force(frame, rate, c):
    """Each rate as its definition says, on rows."""
    y, yhat, p = frame["label"], frame["prediction"], frame["score"]
    return {
        "errors": lambda: (y != yhat).mean(),
        "misses": lambda: (yhat != c)[y == c].mean(),
        "false alarms": lambda: (yhat == c)[y != c].mean(),
        "predicted": lambda: (yhat == c).mean(),
        "unreliable": lambda: (y != c)[yhat == c].mean(),
        "mean probability": lambda: p.mean(),
        "overestimation": lambda: (p - (y == c)).mean(),
    }[rate]()


def qualifying(frame, rate):
    """How many cases have an outcome that qualifies; all of them for means."""
    if not rate.share or not rate.per_class:
        return len(frame)
    _, qualify = rate.outcomes
    outcome = np.where(frame["label"] == frame["prediction"], "T", "F")
    outcome = pd.Series(outcome) + np.where(frame["prediction"] == 1, "P", "N")
    return outcome.isin(qualify).sum()


def test_every_rate_of_every_group_and_crossing_is_what_its_definition_says():
    frame = people()
    found = fairlib.audit(
        frame, group=["sex", "age"], **BINARY, probability="score"
    ).to_frame()
    assert set(found["rate"]) == set(rates.RATES) - {"cost"}
    assert set(found["attribute"]) == {"sex", "age", "sex × age"}
    assert len(found) == (len(rates.RATES) - 1) * (1 + 3 + 6)
    for row in found.to_dict("records"):
        named = dict(part.split(" = ") for part in row["group"].split(", "))
        mine = np.logical_and.reduce(
            [frame[column] == value for column, value in named.items()]
        )
        assert row["value"] == pytest.approx(brute_force(frame[mine], row["rate"], 1))
        assert row["value_against"] == pytest.approx(
            brute_force(frame[~mine], row["rate"], 1)
        )
        assert row["difference"] == pytest.approx(row["value"] - row["value_against"])
        assert row["low"] <= row["difference"] <= row["high"]
        assert row["n"] == qualifying(frame[mine], rates.RATES[row["rate"]])


def test_several_classes_are_each_measured_against_the_rest():
    rng = np.random.default_rng(1)
    frame = people().assign(
        label=rng.choice(list("xyz"), 2000), prediction=rng.choice(list("xyz"), 2000)
    )
    found = fairlib.audit(frame, group="age", **BINARY).to_frame()
    assert found.groupby("rate")["class"].unique().map(list).to_dict()["misses"] == [
        "x",
        "y",
        "z",
    ]
    for row in found.to_dict("records"):
        mine = frame[frame["age"] == row["group"].removeprefix("age = ")]
        assert row["value"] == pytest.approx(
            brute_force(mine, row["rate"], row["class"])
        )


def test_rows_may_come_in_any_order_and_from_any_library():
    frame = people(unfair=0.2)
    first = fairlib.audit(frame, group=["sex", "age"], **BINARY)
    for other in (frame.sample(frac=1, random_state=1), pa.Table.from_pandas(frame)):
        again = fairlib.audit(other, group=["sex", "age"], **BINARY)
        pd.testing.assert_frame_equal(first.to_frame(), again.to_frame())
        assert list(map(str, first.findings)) == list(map(str, again.findings))
        pd.testing.assert_frame_equal(first.metrics, again.metrics)
    counts = (
        frame.value_counts(["sex", "age", "label", "prediction"])
        .rename("people")
        .reset_index()
    )
    counted = fairlib.audit(counts, group=["sex", "age"], **BINARY, count="people")
    pd.testing.assert_frame_equal(first.to_frame(), counted.to_frame())


def test_the_mirror_of_two_groups_is_told_once_and_a_reference_is_not_compared():
    frame = people()
    two = fairlib.audit(frame, group="sex", **BINARY, metrics="errors").to_frame()
    assert two[["group", "against"]].to_numpy().tolist() == [
        ["sex = female", "sex = male"]
    ]
    three = fairlib.audit(
        frame, group="age", **BINARY, metrics="errors", reference="child"
    ).to_frame()
    assert three["group"].tolist() == ["age = old", "age = young"] and set(
        three["against"]
    ) == {"age = child"}
    crossed = fairlib.audit(
        frame,
        group=["sex", "age"],
        **BINARY,
        metrics="errors",
        reference={"sex": "male", "age": "child"},
    ).to_frame()
    assert (
        crossed.groupby("attribute")["against"].first()["sex × age"]
        == "sex = male, age = child"
    )
    other = frame[(frame["sex"] == "male") & (frame["age"] == "child")]
    assert crossed["value_against"].iloc[-1] == pytest.approx(
        (other["label"] != other["prediction"]).mean()
    )


def test_depth_says_how_many_attributes_are_crossed():
    frame = people().assign(third=lambda f: f["label"].map({0: "n", 1: "y"}))
    for depth, most in ((1, 1), (2, 2), (3, 3), (9, 3)):
        found = fairlib.audit(
            frame,
            group=["sex", "age", "third"],
            **BINARY,
            depth=depth,
            metrics="errors",
        ).to_frame()
        expected = sum(
            len(list(itertools.combinations("abc", size)))
            for size in range(1, most + 1)
        )
        assert found["attribute"].nunique() == expected


def test_a_planted_difference_is_found_where_it_is_and_said_in_words():
    report = fairlib.audit(people(3000, unfair=0.25), group=["sex", "age"], **BINARY)
    shown = report.to_frame().query("verdict == 'shown'")
    assert (
        shown.loc[shown["difference"].abs().idxmax(), "group"]
        == "sex = female, age = old"
    )
    (said,) = [
        f
        for f in report.findings
        if f.subject == "sex = female, age = old" and "prediction is wrong" in f.text
    ]
    row = shown[(shown["group"] == said.subject) & (shown["rate"] == "errors")].iloc[0]
    for words in (
        f"{100 * row['difference']:.1f} points more",
        f"[{100 * row['low']:.1f} to ",
        "everyone else",
    ):
        assert words in said.text
    assert "audits" in said.chance and said.chance in str(said)
    assert str(report).count("\n- ") == len(report.findings) == 5


@pytest.mark.slow
def test_audits_of_a_fair_model_hardly_ever_claim_anything():
    audits = 60
    claims = hints = 0
    for seed in range(audits):
        found = fairlib.audit(
            people(600, seed=seed), group=["sex", "age"], **BINARY
        ).to_frame()
        claims += (found["verdict"] == "shown").any()
        hints += found["verdict"].isin(["shown", "hint"]).any()
    assert claims / audits <= 0.05 + 2.3 * np.sqrt(0.05 * 0.95 / audits)
    assert (
        hints / audits > 0.2
    )  # without the correction, fair models would be accused all the time


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"source": "person"},
        {"probability": "score"},
        {"reference": {"sex": "male"}},
    ],
)
def test_interval_and_test_never_disagree(options):
    for seed in range(6):
        frame = people(700, seed=seed, unfair=0.04 * seed).assign(
            person=lambda rows: rows.index // 2
        )
        found = fairlib.audit(
            frame, group=["sex", "age"], **BINARY, **options
        ).to_frame()
        off_zero = (found["low"] > 0) | (found["high"] < 0)
        assert (off_zero == (found["p"] <= 1 - found["confidence"])).all()
        shown, small = found["verdict"] == "shown", found["verdict"] == "small"
        assert (shown == (found["p_corrected"] <= 0.05)).all() and off_zero[shown].all()
        assert ((found["low"] > -0.05) & (found["high"] < 0.05))[small].all()
        said, tested = (shown | small).sum(), found["p_corrected"].notna().sum()
        hint = found["verdict"] == "hint"
        decided = 1 - 0.05 * max(said, 1) / tested
        assert found.loc[shown | small, "confidence"].to_numpy() == pytest.approx(
            decided
        )
        # What stays open has an interval that includes 0.
        is_open = found["verdict"] == "open"
        assert found.loc[is_open, "confidence"].to_numpy() == pytest.approx(
            1 - 0.05 / tested
        )
        assert not off_zero[is_open].any()
        assert (found.loc[hint, "confidence"] == 0.95).all()


def test_findings_hold_after_selection():
    """Of the intervals of findings about twenty groups, at most 5 % miss the truth."""
    rng, missed, plain = np.random.default_rng(8), [], []
    for _ in range(60):
        rates_ = rng.normal(0.2, 0.05, 20)
        wrong = rng.binomial(300, rates_)
        counts = np.stack([wrong, 300 - wrong], axis=1).ravel()
        cells = pd.DataFrame(
            {
                "group": np.repeat(range(20), 2),
                "label": 1,
                "prediction": [0, 1] * 20,
                "n": counts,
            }
        )
        found = fairlib.audit(
            cells, group="group", **BINARY, count="n", positive=1, metrics="misses"
        ).to_frame()
        code = found["group"].str.removeprefix("group = ").astype(int).to_numpy()
        truth = rates_[code] - (rates_.sum() - rates_[code]) / 19
        said = found["verdict"].isin(["shown", "small"])
        outside = (found["low"] > truth) | (found["high"] < truth)
        missed.append((outside & said).sum() / max(1, said.sum()))
        error = np.sqrt(found["value"] * (1 - found["value"]) / 300)
        plain.append(
            ((np.abs(found["difference"] - truth) > 1.96 * error) & said).sum()
            / max(1, said.sum())
        )
    assert np.mean(missed) <= 0.05 + 2 * np.std(missed) / np.sqrt(60) and np.mean(
        plain
    ) > 2 * np.mean(missed)


def test_corrected_chances_are_at_least_the_plain_ones_and_too_few_are_not_tested():
    report = fairlib.audit(people(400), group=["sex", "age"], **BINARY, minimum=40)
    found = report.to_frame()
    tested = found["p_corrected"].notna()
    assert (found.loc[tested, "p_corrected"] >= found.loc[tested, "p"]).all()
    few = found[["n", "n_against"]].min(axis=1) < 40
    assert (
        few.any()
        and (found["verdict"].eq("too few") == few).all()
        and not tested[few].any()
    )


def test_too_small_groups_are_named_with_their_size():
    frame = people(500)
    frame.loc[:6, "age"] = "very old"
    (_, small) = fairlib.audit(frame, group="age", **BINARY).aside
    assert (
        small
        == "Groups with fewer than 30 cases are too small to test: age = very old (7)."
    )


def test_a_reference_that_is_too_small_is_named_once():
    frame = people(500).assign(group=np.repeat(list("abc"), [485, 5, 10]))
    (said,) = fairlib.audit(
        frame, group="group", **BINARY, reference="b", metrics="errors"
    ).aside
    assert (
        said
        == "Groups with fewer than 30 cases are too small to test: group = c (10); "
        "group = b (5)."
    )


def test_of_groups_with_few_sources_the_sources_are_counted():
    frame = people(500).assign(
        person=lambda rows: np.where(
            rows["sex"] == "female", rows.index % 5, rows.index
        )
    )
    report = fairlib.audit(
        frame, group="sex", **BINARY, source="person", metrics="misses"
    )
    assert "fewer than 5 sources are too small to test: sex = female (4)." in str(
        report
    )


def test_numbers_read_as_what_they_are():
    assert percent(0.0) == "0%" and percent(1.0) == "100%"
    assert percent(0.99997) == "99.997%" and percent(0.0001) == "0.01%"
    assert percent(0.5) == "50.0%" and percent(np.nan) == "undefined"
    assert counted(1, "cases") == "1 case" and counted(1200, "cases") == "1,200 cases"


@pytest.mark.parametrize("seed", [2, 27, 44])
def test_a_hint_is_expected_less_than_once_among_all_comparisons(seed):
    """p times the number of comparisons is at most 1; some here have 1.01 to 1.48."""
    rng = np.random.default_rng(seed)
    group = rng.choice(list("abcdef"), 600)
    label = rng.integers(0, 2, 600)
    prediction = np.where(rng.random(600) < 0.3, 1 - label, label)
    rows = fairlib.audit(label, prediction, group).to_frame()
    rare = rows[(rows["p"] <= 0.05) & (rows["p_corrected"] > 0.05)]
    expected = rare["p"] * rows["p_corrected"].count()
    assert (expected <= 1).any() and ((expected > 1) & (expected < 2)).any()
    assert rare["verdict"].tolist() == np.where(expected <= 1, "hint", "open").tolist()


def test_what_is_told_as_a_hint_has_a_small_chance_too():
    for seed in range(8):
        found = fairlib.audit(
            people(300, seed=seed), group=["sex", "age"], **BINARY
        ).to_frame()
        told = found[found["verdict"].isin(["shown", "hint"])]
        assert (told["p"] <= 0.05).all() and (
            (told["low"] > 0) | (told["high"] < 0)
        ).all()


def test_what_would_settle_a_difference_is_said_for_its_own_size():
    report = fairlib.audit(
        people(300, unfair=0.35),
        group="sex",
        **BINARY,
        metrics="errors",
        confidence=0.999,
    )
    (row,) = report.to_frame().to_dict("records")
    (finding,) = report.findings
    assert (
        finding.evidence == "too weak to tell"
        and abs(row["difference"]) > row["margin"]
    )
    assert (
        f"A clear answer needs about {row['settled_growth']:.1f} times as many cases "
        "in all groups." in finding.needed
    )
    lopsided = people(3000, unfair=0.15).assign(
        sex=lambda f: np.where(np.arange(3000) < 80, f["sex"], "many")
    )
    for finding in fairlib.audit(
        lopsided, group="sex", **BINARY, reference="many"
    ).findings:
        rows = lopsided[lopsided["sex"] == finding.subject.removeprefix("sex = ")]
        assert finding.verdict == "shown" or (
            "more cases" in finding.needed and len(rows) < 80
        )
    settled = fairlib.audit(
        people(20_000), group="sex", **BINARY, metrics="errors", margin=0.1
    )
    assert settled.findings == [] and settled.verdict.startswith(
        "No difference in rates of wrong predictions of 10 points or more: the data "
        "rule out so large a difference in the one comparison."
    )
    assert settled.to_frame()["settled_by"].iloc[0] == 0


def test_crossings_are_told_only_where_they_add_to_their_margins():
    rng = np.random.default_rng(3)
    frame = people(8000).assign(
        sex=rng.choice(["f", "m"], 8000), age=rng.choice(["old", "young"], 8000)
    )
    woman, old = frame["sex"] == "f", frame["age"] == "old"
    added = {
        "added up": 0.1 + 0.2 * woman + 0.2 * old,
        "more than that": 0.1 + 0.1 * woman + 0.3 * (woman & old),
    }
    told = {}
    for name, chance in added.items():
        wrong = rng.random(8000) < chance
        found = frame.assign(
            prediction=np.where(wrong, 1 - frame["label"], frame["label"])
        )
        report = fairlib.audit(found, group=["sex", "age"], **BINARY, metrics="errors")
        shown = report.to_frame().query("verdict == 'shown'")["group"]
        assert "sex = f, age = old" in set(shown)  # it is in the table
        told[name] = {finding.subject for finding in report.findings}
    assert told["added up"] == {"sex = f", "age = old"}
    assert "sex = f, age = old" in told["more than that"]


@pytest.mark.parametrize("source", [None, "person"])
def test_interactions_are_found_as_often_as_chance_has_it(source):
    rng, p = np.random.default_rng(4), []
    for _ in range(150):
        n = 600
        frame = pd.DataFrame(
            {"a": rng.integers(0, 2, n), "b": rng.integers(0, 2, n), "label": 1}
        )
        frame["person"] = np.arange(n) // 3
        tendency = np.repeat(rng.normal(0, 0.15, n // 3), 3) if source else 0.0
        frame["prediction"] = (
            rng.random(n) < 0.3 + 0.2 * frame["a"] + 0.2 * frame["b"] + tendency
        ).astype(int)
        report = fairlib.audit(
            frame, group=["a", "b"], **BINARY, metrics="misses", source=source
        )
        question = report.questions.questions[-1]
        p.append(interaction(report.counts, question, 0)[1])
    assert np.mean(np.array(p) < 0.05) <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 150)
    assert np.mean(p) == pytest.approx(0.5, abs=0.08)


def test_mirrored_comparisons_are_told_once():
    rng = np.random.default_rng(5)
    frame = people(3000).assign(
        sex=rng.choice(["f", "m", "x"], 3000, p=[0.49, 0.49, 0.02])
    )
    frame["prediction"] = np.where(
        (rng.random(3000) < 0.3) & (frame["sex"] == "f"), 0, frame["label"]
    )
    report = fairlib.audit(frame, group="sex", **BINARY, metrics=["errors", "misses"])
    assert (report.to_frame()["verdict"] == "shown").sum() >= 4
    told = [
        finding.subject for finding in report.findings if finding.subject != "sex = x"
    ]
    assert sorted(told) in (["sex = f"] * 2, ["sex = m"] * 2)


def test_missing_values_are_set_aside_and_counted():
    frame = people(2000, unfair=0.2)
    frame.loc[::10, "age"] = None
    report = fairlib.audit(
        frame, group=["sex", "age"], **BINARY, metrics=["errors", "FPED"]
    )
    assert (
        "Column 'age' has no value in 200 case(s) (10.0%): set aside." in report.aside
    )
    found = report.to_frame()
    assert not found["group"].str.contains("missing").any()
    known = fairlib.audit(
        frame.dropna(), group=["sex", "age"], **BINARY, metrics=["errors"]
    ).to_frame()
    for attribute in ("age", "sex × age"):
        mine, theirs = (rows[rows["attribute"] == attribute] for rows in (found, known))
        columns = ["group", "against", "n", "n_against", "value", "value_against", "p"]
        pd.testing.assert_frame_equal(
            mine[columns].reset_index(drop=True), theirs[columns].reset_index(drop=True)
        )
    assert (
        found.set_index("attribute").loc["sex", ["n", "n_against"]].sum() == 2000
    )  # but not where they have a value
    frame["two"] = frame["age"].where(frame["age"] != "child")
    two = fairlib.audit(frame, group="two", **BINARY, metrics="errors").to_frame()
    assert two[["group", "against"]].to_numpy().tolist() == [
        ["two = old", "two = young"]
    ]


def test_sources_make_claims_harder_where_cases_are_alike():
    copies = pd.concat(
        [people(120).assign(person=range(120))] * 50
    )  # a fair model, looked at fifty times
    assert (
        fairlib.audit(copies, group="sex", **BINARY)
        .to_frame()["verdict"]
        .eq("shown")
        .any()
    )
    honest = fairlib.audit(copies, group="sex", **BINARY, source="person")
    assert len(np.unique(honest.counts.source)) == 120
    assert not honest.to_frame()["verdict"].eq("shown").any()


# --- Hostile input: a report or a clear error -----------------------------------------


def test_constant_predictions_and_labels_give_a_report():
    for change in (
        {"prediction": 0},
        {"prediction": 1},
        {"label": 0, "prediction": 0},
        {"label": 1, "prediction": 0},
    ):
        report = fairlib.audit(people(200).assign(**change), group="sex", **BINARY)
        assert report.verdict and report.to_html()
        assert not report.to_frame()["verdict"].eq("shown").any()
    by_source = fairlib.audit(
        people(200).assign(prediction=1, s=range(200)),
        group="sex",
        **BINARY,
        source="s",
    )
    assert set(by_source.to_frame().query("rate == 'predicted'")["verdict"]) <= {
        "open",
        "small",
    }
    assert by_source.to_html()


def test_a_probability_that_never_varies_gives_a_report():
    report = fairlib.audit(
        people(200).assign(score=0.3), group="sex", **BINARY, probability="score"
    )
    assert (
        report.to_frame().set_index("rate").loc["mean probability", "verdict"]
        == "small"
    )
    assert report.to_html()


def test_a_group_of_one_and_groups_of_one_each():
    frame = people(100)
    frame.loc[0, "sex"] = "other"
    assert fairlib.audit(frame, group="sex", **BINARY).to_html()
    alone = fairlib.audit(frame.assign(sex=range(100)), group="sex", **BINARY)
    assert set(alone.to_frame()["verdict"]) == {"too few"} and alone.to_html()
    with pytest.raises(ValueError, match="column 'sex' holds one group only, 'f'"):
        fairlib.audit(frame.assign(sex="f"), group="sex", **BINARY)
    one_row = fairlib.audit(
        pd.DataFrame({"sex": ["f", "m"], "label": [0, 1], "prediction": [0, 0]}),
        group="sex",
        **BINARY,
    )
    assert one_row.to_html()


def test_unicode_mixed_types_and_empty_names():
    names = [
        "ü",
        "女",
        "عربي",
        "a\u202eb",
        "\x00",
        "",
        " ",
        3,
        2.5,
        True,
        None,
        ("x", 1),
        "🦉" * 50,
        "x" * 3000,
    ]
    frame = people(140).assign(
        sex=np.array([*names, None], dtype=object)[np.arange(140) % len(names)]
    )
    report = fairlib.audit(frame, group="sex", **BINARY, minimum=2)
    assert (
        report.to_frame()["group"].nunique() == len(names) - 1
    )  # all of them kept apart, the missing set aside
    html = report.to_html()
    html.encode("utf-8")
    assert "\x00" not in html and "\u202e" not in html


def test_ten_thousand_groups():
    frame = people(20_000).assign(sex=[f"g{i % 10_000}" for i in range(20_000)])
    report = fairlib.audit(
        frame,
        group=["sex", "age"],
        **BINARY,
        depth=1,
        metrics=["errors", "misses", "ParityGap"],
    )
    assert len(report.to_frame()) == 2 * (10_000 + 3)
    assert len(report.to_html()) < 2_000_000 and len(str(report)) < 100_000
    frame = pd.DataFrame(
        {
            "sex": [f"g{i}" for i in range(51_000)],
            "row": np.arange(51_000) % 10,
            "label": 0,
            "prediction": 1,
        }
    )
    with pytest.raises(
        ValueError,
        match="51,000 groups by 'sex', more than 50,000; put values into classes",
    ):
        fairlib.audit(frame, group="sex", **BINARY)
    frame["sex"] = frame["sex"].str[:-1]
    with pytest.raises(
        ValueError, match="51,000 groups by 'sex' and 'row', .* one by one"
    ):
        fairlib.audit(frame, group=["sex", "row"], **BINARY)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"group": []}, "group must be the name of a column"),
        ({"group": ["sex", "sex"]}, "group: a column is named twice"),
        ({"group": "sex", "margin": 0}, "margin must lie between 0 and 1, found 0"),
        (
            {"group": "sex", "margin": "5 %"},
            "margin must lie between 0 and 1, found '5 %'",
        ),
        (
            {"group": "sex", "confidence": 95},
            "confidence must lie between 0 and 1, found 95",
        ),
        (
            {"group": "sex", "minimum": 1},
            "minimum must be a whole number from 2 on, found 1",
        ),
        (
            {"group": "sex", "depth": 0},
            "depth must be a whole number from 1 on, found 0",
        ),
        (
            {"group": "sex", "reference": "x"},
            "reference: column 'sex' has no group 'x'; it holds 'female', 'male'",
        ),
        (
            {"group": "sex", "reference": {"race": "x"}},
            "reference: 'race' is no group column",
        ),
        (
            {"group": ["sex", "age"], "reference": "x"},
            "reference must be {column: group}",
        ),
        (
            {"group": "sex", "metrics": "bias"},
            "metrics must be among 'errors', .* found 'bias'",
        ),
        (
            {"group": "sex", "metrics": "mean probability"},
            "'mean probability' needs a probability column",
        ),
    ],
)
def test_bad_settings_are_named(options, says):
    with pytest.raises(ValueError, match=says):
        fairlib.audit(people(100), **BINARY, **options)


def test_without_predictions_there_is_nothing_to_audit():
    with pytest.raises(
        ValueError,
        match="prediction: name a column of predictions, or one of probabilities",
    ):
        fairlib.audit(people(100), group="sex", label="label")
    with pytest.raises(ValueError, match="'errors' needs a label column"):
        fairlib.audit(
            people(100), group="sex", prediction="prediction", metrics="errors"
        )


def test_the_name_is_the_function_also_after_the_module_was_imported():
    assert (
        callable(fairlib.audit)
        and fairlib.auditing is auditing
        and fairlib.audit is auditing.audit
    )
