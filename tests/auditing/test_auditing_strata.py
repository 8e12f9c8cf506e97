"""Groups within strata: against the formula and brute force, and coverage."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from test_auditing import BINARY, people

import fairlib
from fairlib.auditing import comparing
from fairlib.auditing.counts import read
from fairlib.auditing.groups import families
from fairlib.auditing.questions import Question
from fairlib.auditing.rates import RATES
from fairlib.auditing.setting import Columns
from fairlib.auditing.strata import common
from fairlib.auditing.sums import sums_of

# Admitted and rejected at Berkeley in 1973, by department (Bickel, Hammel and
# O'Connell 1975, as R ships it).
BERKELEY = {
    "men": [(512, 313), (353, 207), (120, 205), (138, 279), (53, 138), (22, 351)],
    "women": [(89, 19), (17, 8), (202, 391), (131, 244), (94, 299), (24, 317)],
}
ADMISSIONS = pd.DataFrame(
    [
        (sex, "ABCDEF"[place], admitted, count)
        for sex, rows in BERKELEY.items()
        for place, row in enumerate(rows)
        for admitted, count in zip((1, 0), row, strict=True)
    ],
    columns=["sex", "department", "prediction", "count"],
)
ASKED = {
    "group": "sex",
    "prediction": "prediction",
    "count": "count",
    "metrics": "predicted",
}


def test_admissions_at_berkeley_differ_and_do_not_within_departments():
    alone = fairlib.audit(ADMISSIONS, **ASKED).to_frame().iloc[0]
    assert alone["verdict"] == "shown" and alone["difference"] == pytest.approx(
        0.1416, abs=1e-3
    )
    report = fairlib.audit(ADMISSIONS, **ASKED, within="department")
    row = report.to_frame().iloc[0]
    n = np.array([[sum(side) for side in BERKELEY[sex]] for sex in ("men", "women")])
    p = np.array(
        [[side[0] / sum(side) for side in BERKELEY[sex]] for sex in ("men", "women")]
    )
    weight = n.prod(axis=0) / n.sum(axis=0)
    assert row["difference"] == pytest.approx(weight @ (p[0] - p[1]) / weight.sum())
    variance = (weight**2 * p * (1 - p) / n).sum() / weight.sum() ** 2
    assert row["high"] - row["low"] == pytest.approx(
        2 * 1.96 * np.sqrt(variance), rel=0.06
    )
    assert row["verdict"] == "small" and row["n"] == n[0].sum()
    assert len(report.strata) == 6 and "within the strata of 'department'" in str(
        report
    )
    for stratum, n_men, difference in zip("ABCDEF", n[0], p[0] - p[1], strict=True):
        found = report.strata.set_index("stratum").loc[stratum]
        assert found["n"] == n_men and found["difference"] == pytest.approx(difference)
        assert found["low"] < difference < found["high"]
    assert fairlib.audit(ADMISSIONS, **ASKED).strata is None and report.to_html()


def test_one_stratum_is_none_and_a_stratum_of_one_side_says_nothing():
    frame = people(900, unfair=0.2).assign(where="here")
    asked = {"group": ["sex", "age"], **BINARY, "probability": "score"}
    expected = fairlib.audit(frame, **asked).to_frame()
    found = fairlib.audit(frame, **asked, within="where").to_frame()
    columns = ["n", "value", "value_against", "difference", "units"]
    pd.testing.assert_frame_equal(found[columns], expected[columns])
    np.testing.assert_allclose(
        found[["low", "high"]], expected[["low", "high"]], atol=0.012
    )
    more = pd.concat([frame, people(300).assign(where="women only", sex="female")])
    alone = fairlib.audit(more, group="sex", **BINARY, within="where").to_frame()
    same = fairlib.audit(frame, group="sex", **BINARY, within="where").to_frame()
    # Women alone change the crude rate, but not the comparison.
    crude = ["crude", "crude_against"]
    pd.testing.assert_frame_equal(alone.drop(columns=crude), same.drop(columns=crude))
    assert (alone[crude] != same[crude]).any(axis=None)
    nothing = fairlib.audit(frame, group="sex", **BINARY, within="age").to_html()
    assert "within" in nothing
    apart = frame.assign(where=frame["sex"])
    found = fairlib.audit(apart, group="sex", **BINARY, within="where").to_frame()
    assert set(found["verdict"]) == {"too few"} and (
        found[["n", "units", "units_against"]] == 0
    ).all(axis=None)
    with pytest.raises(ValueError, match="within: no column 'x'"):
        fairlib.audit(frame, group="sex", **BINARY, within="x")


@pytest.mark.parametrize("base", [0.03, 0.3])
def test_intervals_within_strata_cover(base):
    rng, covered, draws, alpha = np.random.default_rng(0), 0, 400, 0.05
    sizes = {
        ("f", "a"): 40,
        ("m", "a"): 60,
        ("f", "b"): 90,
        ("m", "b"): 20,
        ("f", "c"): 25,
        ("m", "c"): 25,
    }
    rates = {"a": base, "b": 2 * base, "c": base / 2}
    rows = [(sex, where, answer) for sex, where in sizes for answer in (0, 1)]
    for _ in range(draws):
        ones = [
            rng.binomial(n, rates[where] + 0.1 * (sex == "f"))
            for (sex, where), n in sizes.items()
        ]
        counts = [
            count
            for one, n in zip(ones, sizes.values(), strict=True)
            for count in (n - one, one)
        ]
        frame = pd.DataFrame(rows, columns=["sex", "where", "prediction"]).assign(
            count=counts
        )
        found = read(
            frame,
            Columns(
                group=("sex",), prediction="prediction", count="count", within="where"
            ),
        )
        (sums,), (family,) = (
            sums_of(found, {"predicted": RATES["predicted"]}),
            families(found, depth=1, reference={}),
        )
        (low,), (high,) = comparing.ends(
            common(Question(sums=sums, family=family, kind="selection"), found.within),
            alpha,
        )
        covered += low <= 0.1 <= high
    assert covered / draws >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / draws)


def test_numbers_of_strata_are_names_and_are_never_put_into_bands():
    """Hospitals 1 to 120 are cut into no bands: a fair model stays fair."""
    rng = np.random.default_rng(0)
    n = 6000
    hospital = rng.integers(1, 121, n)
    first = rng.random(n) < 0.2 + 0.6 * hospital / 120
    wrong = rng.random(n) < 0.1 + 0.3 * hospital / 120
    label = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "g": np.where(first, "a", "b"),
            "hospital": hospital,
            "label": label,
            "prediction": np.where(wrong, 1 - label, label),
        }
    )
    asked = {"group": "g", **BINARY, "within": "hospital"}
    by_number = fairlib.audit(frame, **asked)
    by_text = fairlib.audit(
        frame.assign(hospital=frame["hospital"].map("h{}".format)), **asked
    )
    assert len(by_number.counts.within.names) == 120
    assert not by_number.to_frame()["verdict"].eq("shown").any()
    columns = ["value", "difference", "p", "verdict"]
    pd.testing.assert_frame_equal(
        by_number.to_frame()[columns], by_text.to_frame()[columns]
    )
    # Without the strata, the hospitals make the difference.
    alone = fairlib.audit(frame, group="g", **BINARY).to_frame()
    assert alone["verdict"].eq("shown").any()


def test_groups_that_were_put_into_bands_are_the_first_lines_of_the_page():
    frame = people(3000).assign(district=np.arange(3000) % 75)
    report = fairlib.audit(frame, group="district", **BINARY, metrics="errors")
    page = report.to_html()
    note = "Column &#39;district&#39; holds 75 different numbers."
    assert 0 < page.index(note) < page.index('class="lead"')
    assert report.aside[0].startswith("Column 'district' holds 75 different numbers.")

    chosen = fairlib.audit(
        frame,
        group="district",
        **BINARY,
        metrics="errors",
        bands={"district": [25, 50]},
    )
    groups = chosen.counts.attributes["district"].names
    assert groups == ("0 to 24", "25 to 49", "50 to 74")
    assert "was cut as asked" in chosen.aside[0]
    for bands, words in (
        ({"x": [1]}, "bands: 'x' is no group column"),
        ({"district": [3, 2]}, "cut at increasing numbers"),
        ({"district": []}, "cut at increasing numbers"),
        ([1], "bands must be {column: numbers"),
    ):
        with pytest.raises(ValueError, match=words):
            fairlib.audit(frame, group="district", **BINARY, bands=bands)
    with pytest.raises(ValueError, match="bands: column 'sex' must hold numbers"):
        fairlib.audit(frame, group="sex", **BINARY, bands={"sex": [1]})


def test_crude_and_standardised_rates_are_both_on_the_page():
    """Women are admitted less often at Berkeley, but not within departments."""
    report = fairlib.audit(ADMISSIONS, **ASKED, within="department")
    row = report.to_frame().iloc[0]
    men = ADMISSIONS[ADMISSIONS["sex"] == "men"]
    admitted = men.loc[men["prediction"] == 1, "count"].sum() / men["count"].sum()
    assert row["crude"] == pytest.approx(admitted)
    assert row["crude"] > row["crude_against"] and row["value"] < row["value_against"]

    page = report.to_html()
    assert "all, crude" in page and "all, standardised" in page
    assert page.count(">A<") and "Simpson" in page
    data = json.loads(report.to_json())
    assert {line["stratum"] for line in data["strata"]} == {*"ABCDEF"}
    assert data["metrics"] == [] and not report.metrics.attrs["order"]
    assert "strata" in report.metrics.attrs["notes"][0]


@pytest.mark.parametrize("own", [True, False])
def test_sources_within_strata_against_the_bootstrap(own):
    """The error of the common difference is that of drawing sources again."""
    rng = np.random.default_rng(5)
    sources, size = 60, 8
    source = np.repeat(np.arange(sources), size)
    stratum = np.tile(np.arange(size) % 2, sources)
    is_first = source % 2 == 0 if own else rng.random(len(source)) < 0.5
    rate = np.clip(rng.beta(2, 5, sources)[source] + 0.2 * stratum, 0, 1)
    frame = pd.DataFrame(
        {
            "g": np.where(is_first, "a", "b"),
            "label": 1,
            "prediction": (rng.random(len(source)) > rate).astype(int),
            "stratum": stratum,
            "source": source,
        }
    )
    row = (
        fairlib.audit(
            frame,
            group="g",
            **BINARY,
            within="stratum",
            source="source",
            metrics="misses",
        )
        .to_frame()
        .iloc[0]
    )

    def common_difference(rows):
        total = weights = 0.0
        for _, part in rows.groupby("stratum"):
            first = part.loc[part["g"] == "a", "prediction"]
            other = part.loc[part["g"] == "b", "prediction"]
            weight = len(first) * len(other) / len(part)
            total += weight * (other.mean() - first.mean())
            weights += weight
        return total / weights

    assert row["difference"] == pytest.approx(common_difference(frame))
    parts = dict(list(frame.groupby("source")))
    drawn = [
        common_difference(
            pd.concat([parts[place] for place in rng.integers(0, sources, sources)])
        )
        for _ in range(200)
    ]
    z = stats.norm.ppf(0.5 + row["confidence"] / 2)
    assert (row["high"] - row["low"]) / (2 * z) == pytest.approx(
        np.std(drawn), rel=0.25
    )


def test_one_source_in_strata_is_too_few_and_no_warning():
    frame = people(60).assign(stratum=np.tile([0, 1], 30), source=1)
    report = fairlib.audit(
        frame, group="sex", **BINARY, within="stratum", source="source"
    )
    assert set(report.to_frame()["verdict"]) == {"too few"}
    assert "Nothing can be said" in report.verdict and report.to_html()
