"""Groups within strata: against the formula and brute force, and coverage."""

import numpy as np
import pandas as pd
import pytest
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
    assert len(report.strata) == 6 and "Compared within 'department'" in str(report)
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
    pd.testing.assert_frame_equal(alone, same)
    nothing = fairlib.audit(frame, group="sex", **BINARY, within="age").to_html()
    assert "within" in nothing
    apart = frame.assign(where=frame["sex"])
    found = fairlib.audit(apart, group="sex", **BINARY, within="where").to_frame()
    assert set(found["verdict"]) == {"too few"} and (
        found[["n", "units", "units_against"]] == 0
    ).all(axis=None)
    with pytest.raises(ValueError, match="within: not beside a source"):
        fairlib.audit(
            frame.assign(s=range(900)),
            group="sex",
            **BINARY,
            source="s",
            within="where",
        )
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
            common(Question(sums=sums, family=family), found.within), alpha
        )
        covered += low <= 0.1 <= high
    assert covered / draws >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / draws)
