"""Costs and survey weights: against loops, Welch's interval, and sources."""

import json

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import stats

import fairlib
from fairlib.__main__ import main
from fairlib.auditing import comparing, groups, rates
from fairlib.auditing.counts import read
from fairlib.auditing.setting import Columns
from fairlib.auditing.sums import sums_of

LABELLED = {"label": "label", "prediction": "prediction"}
NUMBERS = ["value", "value_against", "difference", "low", "high"]


@pytest.fixture
def frame():
    rng, n = np.random.default_rng(0), 900
    found = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "age": rng.choice(["old", "young", "mid"], n),
        }
    )
    found["minutes"] = rng.gamma(4, 10, n) + 15 * (found["sex"] == "f")
    found["label"], found["prediction"], found["place"] = rng.integers(0, 2, (3, n))
    return found.assign(
        w=rng.uniform(0.2, 3, n),
        person=rng.integers(0, 200, n),
        often=rng.integers(1, 4, n),
    )


def compared(frame, rate="predicted", **roles):
    """The contrast of two groups without a report, and how far costs reach."""
    columns = Columns(group=("g",), **roles)
    cases = read(frame, columns)
    (sums,), (family,) = (
        sums_of(cases, {rate: rates.RATES[rate]}),
        groups.families(cases, depth=1, reference={}),
    )
    return comparing.contrast(sums, family), cases.cost.reach if cases.cost else 1.0


def test_means_of_costs_are_in_their_units_and_intervals_near_welchs(frame):
    report = fairlib.audit(frame, group=["sex", "age"], cost="minutes")
    rows = report.to_frame()
    assert set(rows["rate"]) == {"cost"} and set(rows["class"]) == {"minutes"}
    assert rows[["ratio", "ratio_low", "ratio_high", "margin"]].isna().all(axis=None)
    for row in rows[rows["attribute"] == "age"].to_dict("records"):
        mine = frame["age"] == row["group"].removeprefix("age = ")
        sides = [frame.loc[side, "minutes"] for side in (mine, ~mine)]
        assert [row["value"], row["value_against"]] == pytest.approx(
            [side.mean() for side in sides]
        )
        welch = stats.ttest_ind(*sides, equal_var=False).confidence_interval(
            row["confidence"]
        )
        assert 1 <= (row["high"] - row["low"]) / (welch.high - welch.low) < 1.12
    mean, others = frame.groupby("sex")["minutes"].mean()
    assert (
        f"the mean of ‘minutes’ is {mean:.4g} over 418 cases, "
        f"against {others:.4g} over 482 for" in str(report)
    )
    assert f": {mean - others:.4g} more [" in report.findings[
        0
    ].text and "points" not in str(report)
    assert (
        report.verdict.startswith("Means of ‘minutes’ differ between groups: 7 of 10")
        and report.metrics.empty
    )
    assert (
        report.counts.probability is not None
        and report.changes is None
        and report.calibration is None
    )


@pytest.mark.parametrize(
    ("a", "b"), [(3.0, 0.0), (1e-7, 0.0), (1.0, -70.0), (1.0, 1e7), (-2.0, 5.0)]
)
def test_units_change_nothing_but_units(frame, a, b):
    plain = fairlib.audit(
        frame, group=["sex", "age"], cost="minutes", cost_margin=2
    ).to_frame()
    other = frame.assign(minutes=a * frame["minutes"] + b)
    other = fairlib.audit(
        other, group=["sex", "age"], cost="minutes", cost_margin=2 * abs(a)
    ).to_frame()
    np.testing.assert_allclose(other["p"], plain["p"], rtol=1e-5)
    np.testing.assert_allclose(other["difference"], a * plain["difference"], rtol=1e-6)
    np.testing.assert_allclose(other["value"], a * plain["value"] + b, rtol=1e-9)
    np.testing.assert_allclose(
        np.sort(other[["low", "high"]]), np.sort(a * plain[["low", "high"]]), rtol=1e-5
    )
    assert [*other["verdict"]] == [*plain["verdict"]] and other["margin"].eq(
        2 * abs(a)
    ).all()


def test_a_cost_of_0_and_1_counts_as_a_mean_does_by_source_and_in_strata(frame):
    frame = frame.assign(c=(frame["label"] != frame["prediction"]).astype(float))
    asked = {
        "group": ["sex", "age"],
        **LABELLED,
        "cost": "c",
        "cost_margin": 0.05,
        "metrics": ["errors", "cost"],
    }
    for more in (
        {"source": "person"},
        {"within": "place"},
        {"weight": "w"},
        {"count": "often"},
        {},
    ):
        rows = (
            fairlib.audit(frame, **asked, **more)
            .to_frame()
            .set_index(["rate", "group"])
        )
        errors, costs = (rows.loc[rate] for rate in ("errors", "cost"))
        np.testing.assert_allclose(costs[NUMBERS[:3]], errors[NUMBERS[:3]], atol=1e-12)
        close = {"rtol": 0.08} if more.keys() & {"source", "weight"} else {"rtol": 0.25}
        np.testing.assert_allclose(
            costs["high"] - costs["low"], errors["high"] - errors["low"], **close
        )


def test_strata_of_costs_are_in_units(frame):
    report = fairlib.audit(frame, group="sex", cost="minutes", within="place")
    for row in report.strata.to_dict("records"):
        here = (
            frame[frame["place"] == int(row["stratum"])]
            .groupby("sex")["minutes"]
            .mean()
        )
        assert (
            row["difference"] == pytest.approx(here["f"] - here["m"])
            and row["low"] < 15 < row["high"]
        )


def test_a_margin_of_costs_decides_and_is_said(frame):
    found = fairlib.audit(
        frame, group=["sex", "age"], **LABELLED, cost="minutes", cost_margin=6
    )
    rows = found.to_frame().set_index(["rate", "group"])
    assert (
        rows.loc[("cost", "sex = f"), "verdict"] == "shown"
        and (rows.loc["cost", "verdict"] == "small").any()
    )
    assert "5 points or 6 of ‘minutes’ or more" in found.summary
    assert "at least 6" in found.verdict
    of_costs = [line for line in found.findings if line.question == "cost"]
    assert "The difference is at least 6." in of_costs[0].text
    wide = fairlib.audit(frame, group="sex", cost="minutes", cost_margin=100)
    assert wide.findings[0].text.endswith("The difference is less than 100.")
    page = found.to_html()
    assert (
        "Mean of ‘minutes’" in page
        and "axis from" in page
        and json.loads(found.to_json())["setting"]["cost_margin"] == 6
    )
    found.plot()
    figure = wide.plot()
    (ax,) = figure.axes
    assert figure.get_supxlabel().startswith("units of ‘minutes’ more (+)")
    low, high = ax.get_xlim()
    assert low < -100 and high > 100  # the margin, in minutes


def test_few_skewed_costs_have_no_interval_and_the_page_says_why():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"g": ["a", "b"] * 60, "amount": rng.lognormal(0, 2, 120)})
    report = fairlib.audit(frame, group="g", cost="amount")
    (row,) = report.to_frame().to_dict("records")
    for side in "ab":
        assert 10 * stats.skew(frame.loc[frame["g"] == side, "amount"]) ** 2 > 60
    assert (
        row["verdict"] == "undefined"
        and np.isnan([row["p"], row["low"], row["high"]]).all()
    )
    assert (
        "are not too skewed" in report.verdict
        and "so skewed" in report.to_html()
        and "too skewed" in report.summary
    )


@pytest.mark.parametrize("convert", ["arrow", "lazy", "polars", "file"])
def test_any_table_and_arrays_give_the_same(frame, convert, tmp_path):
    asked = {"group": ["sex", "age"], **LABELLED, "cost": "minutes", "weight": "w"}
    expected = fairlib.audit(frame, **asked).to_frame()
    if convert == "file":
        frame.to_csv(tmp_path / "p.csv", index=False)
        named = [
            "--group",
            "sex",
            "age",
            "--label",
            "label",
            "--prediction",
            "prediction",
            "--cost",
            "minutes",
            "--weight",
            "w",
            "--table",
        ]
        named = "--group sex age --label label --prediction prediction "
        named += "--cost minutes --weight w --table"
        main(
            ["audit", str(tmp_path / "p.csv"), *named.split(), str(tmp_path / "t.csv")]
        )
        found = pd.read_csv(tmp_path / "t.csv")
    elif convert == "polars":
        found = fairlib.audit(
            pytest.importorskip("polars").from_pandas(frame), **asked
        ).to_frame()
    else:
        other = (
            pa.Table.from_pandas(frame)
            if convert == "arrow"
            else nw.from_native(frame).lazy()
        )
        found = fairlib.audit(other, **asked).to_frame()
    np.testing.assert_allclose(found[NUMBERS], expected[NUMBERS], rtol=1e-9, atol=1e-12)
    arrays = frame["label"], frame["prediction"], frame[["sex", "age"]]
    found = fairlib.audit(*arrays, cost=frame["minutes"], weight=frame["w"]).to_frame()
    np.testing.assert_allclose(found[NUMBERS], expected[NUMBERS])


def test_weights_that_are_alike_change_nothing(frame):
    asked = {"group": ["sex", "age"], **LABELLED, "cost": "minutes", "cost_margin": 3}
    for more in ({}, {"source": "person"}, {"count": "often"}):
        plain = fairlib.audit(frame, **asked, **more).to_frame()
        pd.testing.assert_frame_equal(
            fairlib.audit(frame.assign(w=0.37), **asked, **more, weight="w").to_frame(),
            plain,
        )


def test_weighted_rates_are_hajeks_and_cases_are_sources_of_the_size_of_their_weight(
    frame,
):
    whole = frame.assign(
        w=np.random.default_rng(1).integers(1, 6, len(frame)), case=range(len(frame))
    )
    report = fairlib.audit(whole, group=["sex", "age"], **LABELLED, weight="w")
    found = report.to_frame()
    young = whole[whole["age"] == "young"]
    row = found[
        (found["group"] == "age = young") & (found["rate"] == "predicted")
    ].iloc[0]
    assert row["value"] == pytest.approx(
        np.average(young["prediction"], weights=young["w"])
    ) and row["n"] == len(young)
    assert row["units"] == int(young["w"].sum() ** 2 / (young["w"] ** 2).sum())
    copies = whole.loc[whole.index.repeat(whole["w"])]
    sources = fairlib.audit(
        copies, group=["sex", "age"], **LABELLED, source="case"
    ).to_frame()
    same = ["value", "value_against", "difference", "units", "p", "low", "high"]
    np.testing.assert_allclose(found[same], sources[same], rtol=1e-6, atol=1e-12)
    effect = len(whole) * (whole["w"] ** 2).sum() / whole["w"].sum() ** 2
    said = f"900 cases tell as much as {900 / effect:,.0f} of equal weight "
    said += f"(Kish's design effect: {effect:.2f})"
    assert said in report.aside[0] and said.replace("'", "&#39;") in report.to_html()
    assert report.metrics.empty and "do not take weights" in report.aside[1]
    assert "weights" in report.metrics.attrs["notes"][0]
    by_person = fairlib.audit(
        whole, group="sex", **LABELLED, weight="w", source="person"
    ).to_frame()
    repeated = fairlib.audit(
        copies, group="sex", **LABELLED, source="person"
    ).to_frame()
    np.testing.assert_allclose(by_person[same], repeated[same], rtol=1e-6, atol=1e-12)
    assert by_person["n"].le(900).all()


def test_a_weighted_cost_is_the_one_of_its_copies_as_sources(frame):
    whole = frame.assign(
        w=np.random.default_rng(1).integers(1, 6, len(frame)), case=range(len(frame))
    )
    found = fairlib.audit(
        whole, group=["sex", "age"], cost="minutes", weight="w"
    ).to_frame()
    copies = whole.loc[whole.index.repeat(whole["w"])]
    sources = fairlib.audit(
        copies, group=["sex", "age"], cost="minutes", source="case"
    ).to_frame()
    np.testing.assert_allclose(
        found[[*NUMBERS, "p"]], sources[[*NUMBERS, "p"]], rtol=1e-6, atol=1e-9
    )


REFUSED = {
    "cost: not beside a probability": {"cost": "minutes", "probability": "w"},
    "weight: not beside a probability": {"weight": "w", "probability": "minutes"},
    "weight: not beside a within": {"weight": "w", "within": "place"},
    "weight: not beside a compare": {"weight": "w", "compare": "place"},
    "cost_margin must be above 0": {"cost": "minutes", "cost_margin": 0},
    "cost_margin must be above 0, in the units of a cost column, found 2": {
        "cost_margin": 2
    },
    "cost: column 'sex' plays": {"cost": "sex"},
    "cost: column 'age' must hold numbers": {"cost": "age"},
    "column 'lost' has 2 missing": {"cost": "lost"},
    "column 'endless' must hold numbers from": {"cost": "endless"},
    "column 'lost' has 2 missing value": {"weight": "lost"},
    "column 'endless' must hold weights": {"weight": "endless"},
    "column 'below' must hold weights": {"weight": "below"},
    "weight: column 'none' holds nothing but 0": {"weight": "none"},
    "metrics: 'cost' needs a cost column": {"metrics": "cost"},
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_is_refused(frame, words):
    frame["lost"], frame["endless"], frame["below"], frame["none"] = 1.0, 1.0, 1.0, 0.0
    frame.loc[:1, "lost"], frame.loc[3, "endless"], frame.loc[3, "below"] = (
        np.nan,
        np.inf,
        -1,
    )
    with pytest.raises(ValueError, match=words):
        fairlib.audit(frame, group="sex", **LABELLED, **REFUSED[words])


def test_costs_alone_have_no_classes(frame):
    for more, words in (
        ({"label": "label"}, "prediction: name a column"),
        ({"positive": "1"}, "positive: costs alone"),
    ):
        with pytest.raises(ValueError, match=words):
            fairlib.audit(frame, group="sex", cost="minutes", **more)
    flat = fairlib.audit(
        frame.assign(minutes=3), group="sex", cost="minutes"
    ).to_frame()
    both = fairlib.audit(
        frame, group="sex", **LABELLED, cost="minutes", metrics=["cost", "misses"]
    )
    assert "Means of ‘minutes’ differ between groups" in both.verdict
    assert (
        flat["value"].eq(3).all() and not flat["verdict"].isin(["shown", "hint"]).any()
    )
