"""Selection rates against the most favourable one, and Local Law 144."""

import numpy as np
import pandas as pd
import pytest
from test_auditing import BINARY, people

import fairlib
from fairlib.auditing import comparing, local_law_144, selection
from fairlib.auditing.every_pair import contrast_of_pairs

COLUMNS = [
    "attribute",
    "group",
    "class",
    "n",
    "base_rate",
    "rate",
    "low",
    "high",
    "ratio",
    "ratio_low",
    "ratio_high",
    "best",
    "four_fifths",
]


def selected(rates, *, size=1000, favourable=None, **options):
    """An audit of counted groups that are selected at these rates."""
    rows = [
        (name, prediction, round(size * share))
        for name, rate in rates.items()
        for prediction, share in ((1, rate), (0, 1 - rate))
    ]
    table = pd.DataFrame(rows, columns=["g", "prediction", "n"])
    return fairlib.audit(
        table,
        group="g",
        prediction="prediction",
        count="n",
        favourable=favourable,
        **options,
    )


def test_groups_are_compared_with_the_most_favourable_rate():
    table = selected({"a": 0.3, "b": 0.5, "c": 0.42}).selection
    assert [*table.columns] == COLUMNS
    assert set(table["best"]) == {"g = b"}
    np.testing.assert_allclose(table["ratio"], [0.6, 1.0, 0.84])
    assert table["four_fifths"].tolist() == ["under", "within", "undecided"]
    assert ((table["ratio_low"] <= table["ratio"]) & (table["ratio_high"] <= 1)).all()


def test_a_favoured_group_is_never_marked_as_disadvantaged():
    """Where the unwanted class is measured, the group that gets it least is best."""
    report = selected({"a": 0.2, "b": 0.5}, favourable=0)
    table = report.selection.set_index("group")
    assert table["class"].unique() == ["0"]
    assert table.loc["g = a", "rate"] == pytest.approx(0.8)
    assert table.loc["g = a", "four_fifths"] == "within"
    assert table.loc["g = b", "four_fifths"] == "under"
    assert report.findings[0].subject == "g = b"
    assert "The favourable prediction is ‘0’." in report.aside
    with pytest.raises(ValueError, match="favourable: no class 'x'; the classes are"):
        selected({"a": 0.3, "b": 0.5}, favourable="x")


def test_there_is_a_table_for_each_attribute_and_each_crossing():
    report = fairlib.audit(people(3000), group=["sex", "age"], **BINARY)
    table = report.selection
    assert [*table["attribute"].unique()] == ["sex", "age", "sex × age"]
    base = people(3000).groupby("sex")["label"].mean()
    of_sex = table[table["attribute"] == "sex"].set_index("group")["base_rate"]
    assert of_sex["sex = female"] == pytest.approx(base["female"])


def test_several_classes_have_no_favourable_one_until_it_is_named():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"g": rng.choice(["a", "b"], 900), "prediction": rng.integers(0, 3, 900)}
    )
    asked = {"group": "g", "prediction": "prediction"}
    without = fairlib.audit(frame, **asked)
    assert without.selection is None
    assert any("Name it with favourable=" in note for note in without.aside)
    named = fairlib.audit(frame, **asked, favourable=2).selection
    assert set(named["class"]) == {"2"}


def test_groups_that_are_too_small_have_no_rate_and_no_ratio():
    rows = selected({"a": 0.5, "b": 0.4}, minimum=2000).selection
    assert rows["rate"].isna().all() and set(rows["four_fifths"]) == {"too few"}
    # Nobody is selected but one case of a group that is too small.
    table = pd.DataFrame(
        {"g": ["a", "b", "c"], "prediction": [0, 0, 1], "n": [500, 500, 1]}
    )
    asked = {"group": "g", "prediction": "prediction", "count": "n"}
    nobody = fairlib.audit(table, **asked).selection
    assert nobody["four_fifths"].tolist() == ["undefined", "undefined", "too few"]


def test_too_many_groups_have_rates_and_no_intervals_of_ratios(monkeypatch):
    monkeypatch.setattr(selection, "MOST_GROUPS", 2)
    table = selected({"a": 0.3, "b": 0.5, "c": 0.45}).selection
    assert table["ratio"].notna().all() and table["ratio_low"].isna().all()


@pytest.mark.parametrize("groups", [2, 6, 12])
def test_intervals_hold_although_the_data_pick_the_best_group(groups):
    """A naive interval excludes a ratio of 1 in a third of these audits and more."""
    rng = np.random.default_rng(groups)
    audits, excluded, naive = 120, 0, 0
    for _ in range(audits):
        counts = rng.binomial(300, 0.3, groups)
        rates = {f"g{place}": count / 300 for place, count in enumerate(counts)}
        table = selected(rates, size=300).selection
        excluded += (table["ratio_high"] < 1).any()
        share = counts / 300
        error = np.sqrt((1 / share - 1) / 300)
        worst = np.log(share.max() / share)
        margin = 1.96 * np.sqrt(error**2 + error[share.argmax()] ** 2)
        naive += (worst > margin).any()
    assert excluded / audits <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / audits)
    if groups > 2:
        assert naive / audits > 0.2


def test_local_law_144_by_hand():
    """Rates, ratios, small categories and unknown ones, as the rules of the law say."""
    rows = [
        ("m", "x", 1, 480),
        ("m", "x", 0, 520),
        ("f", "x", 1, 240),
        ("f", "x", 0, 560),
        ("f", "y", 1, 60),
        ("f", "y", 0, 140),
        ("d", "y", 1, 10),
        ("d", "y", 0, 10),
        (None, "y", 1, 7),
    ]
    table = pd.DataFrame(rows, columns=["sex", "race", "prediction", "n"])
    asked = {"group": ["sex", "race"], "prediction": "prediction", "count": "n"}
    assert fairlib.audit(table, **asked).local_law_144 is None

    report = fairlib.audit(table, **asked, local_law_144=True)
    rates = report.local_law_144
    assert [*rates["attribute"].unique()] == ["sex", "race", "sex × race"]
    of_sex = rates[rates["attribute"] == "sex"].set_index("group")
    assert of_sex.loc["sex = f", "n"] == 1000
    assert of_sex.loc["sex = f", "rate"] == pytest.approx(0.3)
    assert of_sex.loc["sex = f", "impact_ratio"] == pytest.approx(0.3 / 0.48)
    # Less than 2 % of the data: count and rate are reported, the ratio is left out.
    assert of_sex.loc["sex = d", "n"] == 20 and of_sex.loc["sex = d", "rate"] == 0.5
    assert np.isnan(of_sex.loc["sex = d", "impact_ratio"])
    assert "less than 2%" in of_sex.loc["sex = d", "note"]
    assert local_law_144.unknown_categories(report.questions) == {"sex": 7, "race": 0}
    page = report.to_html()
    assert "In 7 cases the sex is unknown" in page
    assert "not legal advice" in page and "not the independent audit" in page


def test_scoring_rates_are_shares_above_the_median():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 2001)})
    frame["score"] = rng.beta(np.where(frame["sex"] == "f", 2, 3), 3)
    report = fairlib.audit(frame, group="sex", probability="score", local_law_144=True)
    assert report.local_law_144["kind"].eq("scoring").sum() == 2
    rates = report.local_law_144.set_index(["kind", "group"])["rate"]
    above = frame["score"] > frame["score"].median()
    for name in ("f", "m"):
        expected = above[frame["sex"] == name].mean()
        assert rates["scoring", f"sex = {name}"] == pytest.approx(expected, abs=0.01)

    # The law asks for the crossing of sex and race as well.
    frame["race"] = rng.choice(["x", "y"], len(frame))
    crossed = fairlib.audit(
        frame, group=["sex", "race"], probability="score", local_law_144=True
    ).local_law_144
    scoring = crossed[crossed["kind"] == "scoring"]
    assert [*scoring["attribute"].unique()] == ["sex", "race", "sex × race"]
    of_both = scoring.set_index("group")["rate"]
    chosen = (frame["sex"] == "f") & (frame["race"] == "y")
    assert of_both["sex = f, race = y"] == pytest.approx(above[chosen].mean(), abs=0.01)


def test_the_command_makes_the_tables_of_the_law(tmp_path, capsys):
    from fairlib.__main__ import main

    people(600).to_csv(tmp_path / "p.csv", index=False)
    asked = ["audit", str(tmp_path / "p.csv"), "--group", "sex", "--label", "label"]
    asked += ["--prediction", "prediction", "--favourable", "1"]
    main([*asked, "--local-law-144", "--html", str(tmp_path / "r.html")])
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Impact ratios as defined by Local Law 144" in page
    with pytest.raises(ValueError, match="local_law_144 must be True or False"):
        fairlib.audit(people(300), group="sex", **BINARY, local_law_144=1)


@pytest.mark.parametrize("options", [{}, {"source": "person"}, {"weight": "w"}])
def test_pairs_at_once_are_pairs_one_by_one(options):
    rng = np.random.default_rng(2)
    frame = people(900).assign(
        person=rng.integers(0, 120, 900), w=rng.integers(1, 4, 900)
    )
    report = fairlib.audit(frame, group="age", **BINARY, **options, metrics="predicted")
    (question,) = report.questions.questions
    first, second = np.array([0, 1, 2, 0]), np.array([1, 2, 0, 2])
    found = contrast_of_pairs(
        question.sums, question.family, first=first, second=second
    )
    low, high = comparing.ratio_ends(found, 0.05)
    for place, (one, other) in enumerate(zip(first, second, strict=True)):
        against = question.family.compared_with(int(other), kept=np.sort([one, other]))
        expected = comparing.contrast(question.sums, against)
        ends = comparing.ratio_ends(expected, 0.05)
        assert [low[place], high[place]] == pytest.approx([ends[0][0], ends[1][0]])
        assert found.correlation[place] == pytest.approx(expected.correlation[0])
