"""Probabilities by group, and custom rates: against other libraries and loops."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from test_auditing import BINARY, people

import fairlib
from fairlib.__main__ import main
from fairlib.auditing import summary
from fairlib.auditing.rates import custom_rate


def scored(n=3000, **columns):
    """Cases whose label comes with their probability, in two groups."""
    rng = np.random.default_rng(0)
    odds = rng.normal(0, 1.3, n)
    label = rng.random(n) < 1 / (1 + np.exp(-odds))
    frame = {
        "g": rng.choice(["a", "b"], n),
        "y": label.astype(int),
        "p": (1 / (1 + np.exp(-odds))).round(3),
    }
    return pd.DataFrame(frame | columns)


ASKED = {"group": "g", "label": "y", "probability": "p", "metrics": "errors"}


def test_bins_are_counted_as_by_hand_and_hold_clopper_and_pearsons_limits():
    frame = scored()
    found = fairlib.audit(frame, **ASKED).calibration
    assert (
        found.groupby("group")["n"].sum().to_list()
        == frame["g"].value_counts().sort_index().to_list()
    )
    total = found.groupby("group", sort=False)["n"].transform("size")
    assert (total == 10).all() and found.groupby(np.arange(20) % 10)["n"].sum().between(
        270, 330
    ).all()
    edges = found.groupby("group")["probability"]
    assert edges.apply(lambda own: own.is_monotonic_increasing).all()
    mean = (found["n"] * found["observed"]).groupby(
        found["group"]
    ).sum() / found.groupby("group")["n"].sum()
    assert mean.to_list() == pytest.approx(frame.groupby("g")["y"].mean().to_list())
    for row in found.to_dict("records"):
        exact = stats.binomtest(
            round(row["n"] * row["observed"]), row["n"]
        ).proportion_ci(0.95)
        assert (row["low"], row["high"]) == pytest.approx((exact.low, exact.high))
    five = fairlib.audit(
        frame.assign(p=(frame["p"] * 4).round() / 4), **ASKED
    ).calibration
    for row in five.to_dict(
        "records"
    ):  # probabilities of few values are bins by themselves
        mine = frame[
            (frame["g"] == row["group"][-1])
            & ((frame["p"] * 4).round() / 4 == round(row["probability"], 2))
        ]
        assert row["n"] == len(mine) and row["observed"] == pytest.approx(
            mine["y"].mean()
        )
    one = fairlib.audit(frame.assign(p=0.25), **ASKED).calibration
    assert len(one) == 2 and (one["probability"] == 0.25).all()


def test_bins_by_source_are_worth_no_more_than_their_sources():
    frame = scored(500)
    alone = fairlib.audit(frame, **ASKED).calibration
    threes = frame.loc[frame.index.repeat(3)].assign(s=np.repeat(np.arange(500), 3))
    tied = fairlib.audit(threes, **ASKED, source="s").calibration
    np.testing.assert_allclose(tied["observed"], alone["observed"])
    ratio = (tied["high"] - tied["low"]) / (alone["high"] - alone["low"])
    assert ratio.mean() == pytest.approx(1, abs=0.1)


def test_too_many_cases_to_tell_sources_apart_have_no_intervals(monkeypatch):
    monkeypatch.setattr("fairlib.auditing.counts.MOST_TIED_CASES", 100)
    report = fairlib.audit(scored(300, s=np.arange(300) // 3), **ASKED, source="s")
    assert (
        report.calibration[["low", "high"]].isna().all(axis=None)
        and report.calibration["observed"].notna().all()
    )


def test_thresholds_are_those_of_a_loop():
    frame = scored()
    report = fairlib.audit(frame, **ASKED)
    for row in report.thresholds.to_dict("records")[::7]:
        mine = frame[frame["g"] == row["group"][-1]]
        reached = mine["p"] >= row["threshold"]
        near = (
            (mine["p"] - row["threshold"]).abs().lt(0.003).mean()
        )  # levels are a hundredth of the log odds wide
        assert row["predicted"] == pytest.approx(reached.mean(), abs=near + 1e-9)
        assert row["hits"] == pytest.approx(
            reached[mine["y"] == 1].mean(), abs=3 * near + 1e-9
        )
        assert row["false alarms"] == pytest.approx(
            reached[mine["y"] == 0].mean(), abs=3 * near + 1e-9
        )
    unlabelled = fairlib.audit(frame, group="g", probability="p", positive="1")
    assert unlabelled.calibration is None and "hits" not in unlabelled.thresholds
    np.testing.assert_array_equal(
        unlabelled.thresholds["predicted"], report.thresholds["predicted"]
    )
    plain = fairlib.audit(frame.assign(q=0), group="g", label="y", prediction="q")
    assert plain.thresholds is None and "what they say" not in plain.to_html()


def test_a_column_of_one_group_and_one_of_many(monkeypatch):
    monkeypatch.setattr(summary, "REPLICATES", 19)
    monkeypatch.setattr(summary, "FEWEST_REPLICATES", 19)
    report = fairlib.audit(
        scored(c="one", m=np.arange(3000) % 60),
        **ASKED | {"group": ["g", "c", "m"], "depth": 1},
    )
    found = report.calibration.groupby(["attribute", "group"])["n"].sum().reset_index()
    assert (
        found["attribute"].value_counts().to_dict() == {"m": 25, "g": 2, "c": 1}
        and (found["n"] == 50).sum() == 25
    )
    assert "probabilities mean what they say" in report.to_html()


def test_what_probabilities_say_is_drawn(tmp_path):
    frame = scored(g2=np.random.default_rng(1).choice(list("stuvwxyz"), 3000))
    report = fairlib.audit(frame, **ASKED | {"group": ["g", "g2"]})
    assert (
        len(report.plot("calibration").axes) == 2
        and len(report.plot("thresholds").axes) == 6
    )
    legend = report.plot("calibration").axes[1].get_legend()
    assert (
        len(legend.get_texts()) == 6
        and legend.get_title().get_text() == "g2: the largest"
    )
    with pytest.raises(
        ValueError,
        match="kind must be one of comparisons, calibration, thresholds, found 'pie'",
    ):
        report.plot("pie")
    with pytest.raises(
        ValueError, match="nothing to draw without a column of probabilities"
    ):
        fairlib.audit(frame.assign(q=0), group="g", label="y", prediction="q").plot(
            "calibration"
        )
    frame.to_csv(tmp_path / "p.csv", index=False)
    asked = [
        "audit",
        str(tmp_path / "p.csv"),
        "--group",
        "g",
        "--label",
        "y",
        "--probability",
        "p",
    ]
    main(
        [
            *asked,
            "--calibration",
            str(tmp_path / "c.svg"),
            "--thresholds",
            str(tmp_path / "t.png"),
        ]
    )
    assert (tmp_path / "c.svg").stat().st_size > 5000 and (
        tmp_path / "t.png"
    ).stat().st_size > 5000


def test_rates_of_ones_own_are_shares_of_outcomes():
    frame = people(900, unfair=0.25)
    mine = {
        "wrongly approved": "FP / TP FP FN TN",
        "lost {x}": "FN / FN TP",
        "wrong": "FP FN / TN FN FP TP",
    }
    report = fairlib.audit(frame, group="sex", **BINARY, rates=mine)
    found = report.to_frame().set_index("rate")
    numbers = ["n", "value", "value_against", "difference", "p"]
    ours = fairlib.audit(frame, group="sex", **BINARY).to_frame().set_index("rate")
    np.testing.assert_allclose(
        found.loc["lost {x}", numbers].astype(float),
        ours.loc["misses", numbers].astype(float),
    )
    assert "misses" not in found.index  # which would be one question asked twice
    np.testing.assert_allclose(
        found.loc["wrong", numbers].astype(float),
        found.loc["errors", numbers].astype(float),
    )
    women = frame[frame["sex"] == "female"]
    expected = ((women["prediction"] == 1) & (women["label"] == 0)).mean()
    assert (
        found.loc["wrongly approved", "value"] == pytest.approx(expected)
        and len(found) == len(ours) - 1 + 3
    )
    text = str(report)
    assert re.search(
        r"of \d+ cases that are FN or TP of ‘1’, [\d.]+% are lost {x}, against", text
    ), text
    assert "wrongly approved (FP / TP FP FN TN, of ‘1’)" in report.to_html()
    some = fairlib.audit(
        frame, group="sex", **BINARY, rates=mine, metrics=["misses"]
    ).to_frame()
    assert [*some["rate"]] == ["misses", *mine]
    with pytest.raises(ValueError, match="metrics: 'lost {x}' needs a label column"):
        fairlib.audit(
            frame,
            group="sex",
            prediction="prediction",
            rates={"lost {x}": "FN / FN TP"},
        )
    perfect = frame.assign(other=frame["label"])
    other = fairlib.audit(
        perfect, group="sex", **BINARY, rates=mine, compare="other"
    ).changes
    assert (
        set(other["rate"]) >= set(mine)
        and other.set_index("rate").loc["wrong", "after"].eq(0).all()
    )


@pytest.mark.parametrize(
    "share",
    [
        "FN",
        "FN / TP",
        "XX / TP XX",
        " / TP",
        "TP / TP",
        "FN / TP FN / TN",
        3,
        ("FN", "TP"),
    ],
)
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(
        ValueError,
        match="rates: 'a' must be a new name with a share, as in 'FN / TP FN'",
    ):
        custom_rate("a", share)
    with pytest.raises(ValueError, match="rates: 'misses' must be a new name"):
        fairlib.audit(
            people(100), group="sex", **BINARY, rates={"misses": "FN / TP FN"}
        )


def test_the_command_takes_every_parameter_of_the_call(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    for name, parameter in inspect.signature(fairlib.audit).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY and name != "progress":
            assert re.search(rf"--{name}\b", said), name
    frame = people(900, unfair=0.3).assign(
        place=lambda f: np.where(f.index % 3, "here", "there"), other=1
    )
    frame.to_csv(tmp_path / "p.csv", index=False)
    asked = [
        "audit",
        str(tmp_path / "p.csv"),
        "--group",
        "sex",
        "--label",
        "label",
        "--prediction",
        "prediction",
    ]
    main(
        [
            *asked,
            "--within",
            "place",
            "--compare",
            "other",
            "--rates",
            "a = b=FN / TP FN",
            "--metrics",
            "misses",
        ]
    )
    said = capsys.readouterr().out
    assert "within the strata of 'place'" in said and "Both differences tested" in said
    with pytest.raises(SystemExit):
        main([*asked, "--rates", "nothing"])
    assert "rates: '' must be a new name" in capsys.readouterr().err


def test_intervals_are_nearly_those_of_disparity_interval():
    """The docstring of `audit` says why two defaults differ; this is by how much."""
    rng, widths = np.random.default_rng(0), []
    for n, p in (
        ((30, 30), (0.05, 0.05)),
        ((30, 100), (0.1, 0.3)),
        ((100, 100), (0.5, 0.5)),
        ((40, 900), (0.02, 0.2)),
    ):
        for k in rng.binomial(n, p, (3, 2)):
            costs = [
                np.repeat([1.0, 0.0], [wrong, size - wrong])
                for wrong, size in zip(k, n, strict=True)
            ]
            exact = fairlib.disparity_interval(*costs)
            wrong = np.concatenate(costs)
            found = fairlib.audit(
                0 * wrong, wrong, np.repeat(["a", "b"], n), metrics="errors"
            )
            row = found.to_frame().iloc[0]
            widths.append((row["high"] - row["low"]) / (2 * exact.half_width))
            assert (
                abs(row["low"] - exact.low) + abs(row["high"] - exact.high)
                < 0.35 * 2 * exact.half_width
            )
    assert 1 < np.mean(widths) < 1.08 and min(widths) > 0.95 and max(widths) < 1.12


def test_the_page_prints_what_is_folded():
    html = fairlib.audit(people(300), group="sex", **BINARY).to_html()
    printed = html[
        html.index("@media print") : html.index("</style>", html.index("@media print"))
    ]
    assert "::details-content" in printed and "content-visibility: visible" in printed
    assert (
        'class="note paper">Unfold the parts below before printing' in html
    )  # where a browser cannot
