"""The audit of arrays, ratios, and the report in other forms."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.contingency_tables import mcnemar
from test_auditing import BINARY, people

import fairlib
from fairlib.__main__ import main
from fairlib.auditing import comparing


def rows(report):
    return report.to_frame().drop(columns=["attribute"])


def test_arrays_are_audited_as_scikit_learn_users_write_it():
    frame = people(800, unfair=0.2)
    expected = fairlib.audit(frame, group=["sex", "age"], **BINARY).to_frame()
    for groups in (
        frame[["sex", "age"]],
        {name: frame[name].to_numpy() for name in ("sex", "age")},
    ):
        found = fairlib.audit(frame["label"], frame["prediction"].tolist(), groups)
        pd.testing.assert_frame_equal(found.to_frame(), expected)
    one = fairlib.audit(
        frame["label"], frame["prediction"], frame["sex"]
    )  # a Series brings its name
    pd.testing.assert_frame_equal(
        one.to_frame(), fairlib.audit(frame, group="sex", **BINARY).to_frame()
    )
    plain = fairlib.audit(
        frame["label"].to_numpy(),
        frame["prediction"].to_numpy(),
        frame["sex"].to_numpy(),
    )
    assert set(plain.to_frame()["group"]) == {"group = female"}
    scored = fairlib.audit(
        None, None, frame["sex"], probability=frame["score"], source=np.arange(800) // 2
    )
    assert scored.setting.columns.source == "source" and set(
        scored.to_frame()["rate"]
    ) == {
        "predicted",
        "mean probability",
    }
    named = fairlib.audit(
        frame["label"], frame["prediction"], {"label": frame["sex"]}
    )  # a group may be called so
    assert set(named.to_frame()["group"]) == {"label = female"}


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        (
            ([1, 0], [1, 0, 1], ["a", "b"]),
            "arrays must be of one length, "
            "found 2 of group, 2 of label, 3 of prediction",
        ),
        (
            ([1, 0], [[1, 0], [0, 1]], ["a", "b"]),
            "prediction: an array must have one dimension, found 2",
        ),
    ],
)
def test_bad_arrays_are_named(arrays, says):
    with pytest.raises(ValueError, match=says):
        fairlib.audit(*arrays)


def test_ratios_are_ratios_and_agree_with_differences():
    for options in ({}, {"source": "person"}):
        frame = people(900, unfair=0.25).assign(person=np.arange(900) // 3)
        found = fairlib.audit(
            frame, group=["sex", "age"], **BINARY, **options
        ).to_frame()
        np.testing.assert_allclose(
            found["ratio"], found["value"] / found["value_against"]
        )
        assert (
            (found["ratio_low"] <= found["ratio"])
            & (found["ratio"] <= found["ratio_high"])
        ).all()
        away = (found["low"].abs() > 1e-9) & (found["high"].abs() > 1e-9)
        assert ((found["low"] > 0) == (found["ratio_low"] > 1))[away].all() and (
            found["low"] > 0
        ).any()
        assert ((found["high"] < 0) == (found["ratio_high"] < 1))[away].all() and (
            found["high"] < 0
        ).any()
    scores = (
        fairlib.audit(frame, group="sex", **BINARY, probability="score")
        .to_frame()
        .set_index("rate")
    )
    assert (
        np.isnan(scores.loc["overestimation", "ratio_low"])
        and scores.loc["mean probability", "ratio_low"] > 0.8
    )


@pytest.mark.parametrize(
    ("p", "n"),
    [((0.3, 0.3), (50, 80)), ((0.1, 0.2), (40, 400)), ((0.02, 0.02), (100, 30))],
)
def test_intervals_of_ratios_cover(p, n):
    rng, draws = np.random.default_rng(0), 4000
    sizes = np.repeat(np.array(n, dtype=float)[:, None], draws, axis=1)
    value, none = (
        np.stack(
            [rng.binomial(*pair, draws) / pair[0] for pair in zip(n, p, strict=True)]
        ),
        np.zeros(draws),
    )
    compared = comparing.Contrast(
        n=sizes,
        value=value,
        units=sizes,
        worth=sizes,
        freedom=np.full(sizes.shape, np.inf),
        correlation=none,
        span=none + 1,
        variance=none,
        variance_others=none,
        expected=none,
    )
    low, high = comparing.ratio_ends(compared, 0.05)
    known = ~np.isnan(low)
    assert ((low <= p[0] / p[1]) & (p[0] / p[1] <= high))[known].mean() >= 0.95 and (
        low <= high
    )[known].all()


def test_the_four_fifths_line_is_shown_only_where_it_is():
    frame = people(4000).assign(
        prediction=lambda f: np.where(
            f["sex"] == "female", f.index % 3 == 0, f.index % 2 == 0
        )
    )
    report = fairlib.audit(
        frame.astype({"prediction": int}), group=["sex", "age"], **BINARY
    )
    table = report.selection.set_index("group")["four_fifths"]
    assert table["sex = female"] == "under" and table["sex = male"] == "within"
    assert set(table[table.index.str.startswith("age")]) == {"within"}

    told = re.compile(
        r'row">(\w+)</th>(?:<td>[^<]*</td>\s*){4}'
        r'<td class="words">([^<]*4/5|undecided|–)<'
    )
    written = dict(told.findall(report.to_html()))
    assert written["female"] == "under 4/5" and written["male"] == "–"
    assert {written[age] for age in ("child", "old", "young")} == {"within 4/5", "–"}

    few = fairlib.audit(frame[:200].astype({"prediction": int}), group="sex", **BINARY)
    assert dict(told.findall(few.to_html())) == {"female": "undecided", "male": "–"}
    assert "adverse-impact ratio" in report.to_html()


def test_classes_can_be_named_and_written_in_two_ways(tmp_path, capsys):
    frame = people(600, unfair=0.2)
    expected = fairlib.audit(frame, group="sex", **BINARY)
    named = fairlib.audit(frame, group="sex", **BINARY, positive="approved")
    assert str(named) == str(expected).replace("‘1’", "‘approved’")
    assert named.counts.classes == ("not approved", "approved")
    text = fairlib.audit(frame.astype({"label": str}), group="sex", **BINARY)
    assert (
        text.aside[0] == "Columns 'label' and 'prediction' hold text and numbers; "
        "'1' and 1 are read as one class."
    )
    assert text.aside[1:] == expected.aside
    assert text.verdict == expected.verdict
    frame.to_csv(tmp_path / "p.csv", index=False)
    main(
        [
            "audit",
            str(tmp_path / "p.csv"),
            "--group",
            "sex",
            "--label",
            "label",
            "--probability",
            "score",
            "--positive",
            "hired",
        ]
    )
    assert (
        "‘hired’ is predicted where column 'score' is 0.5 or more."
        in capsys.readouterr().out
    )
    with pytest.raises(ValueError, match="positive: no class 'x'"):
        fairlib.audit(
            frame.replace({"label": {0: 2}, "prediction": {0: 2}}),
            group="sex",
            **BINARY,
            positive="x",
        )


def test_the_report_in_other_forms(tmp_path, capsys):
    frame = people(1500, unfair=0.3).replace({"sex": {"female": "fe|male*"}})
    report = fairlib.audit(frame, group=["sex", "age"], **BINARY, title="# Title")
    read = json.loads(report.to_json(tmp_path / "r.json"))
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8")) == read
    assert read["verdict"] == report.verdict and len(read["findings"]) == len(
        report.findings
    )
    assert (
        len(read["comparisons"]) == len(report.to_frame())
        and read["setting"]["label"] == "label"
    )
    assert read["setting"]["rates"] == {} and "every_rate" not in read["setting"]
    section = report.to_markdown(tmp_path / "r.md")
    assert (
        section.startswith("## Fairness: \\# Title\n")
        and f"**{report.verdict[:20]}" in section
    )
    assert r"fe\|male\*" in section and len(
        re.findall(r"^\d\. ", section, re.MULTILINE)
    ) == len(report.findings)
    figure = report.plot()
    assert len(figure.axes[0].get_yticks()) == 5 * 4
    frame.to_csv(tmp_path / "p.csv", index=False)
    asked = [
        "audit",
        str(tmp_path / "p.csv"),
        "--group",
        "sex",
        "age",
        "--label",
        "label",
        "--prediction",
        "prediction",
    ]
    outputs = {
        name: tmp_path / f"out.{name}" for name in ("json", "markdown", "html", "table")
    }
    main(
        [
            *asked,
            "--title",
            "# Title",
            *(
                word
                for name, path in outputs.items()
                for word in (f"--{name}", str(path))
            ),
        ]
    )
    assert outputs["markdown"].read_text(encoding="utf-8") == section
    main([*asked, "--plot", str(tmp_path / "out.png")])
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    capsys.readouterr()
    with pytest.raises(SystemExit) as stopped:
        main([*asked, "--fail-on", "shown"])
    assert (
        stopped.value.code == 1
        and "a difference is shown (--fail-on shown)" in capsys.readouterr().err
    )
    people(300).to_csv(tmp_path / "p.csv", index=False)
    main([*asked, "--fail-on", "shown"])  # nothing is, and the exit status is 0


def test_two_models_are_compared_on_the_same_cases():
    frame = people(2000, unfair=0.0)
    better = np.where(
        (frame["sex"] == "female") & (np.arange(2000) % 3 > 0),
        frame["label"],
        frame["prediction"],
    )
    frame["other"] = better
    report = fairlib.audit(frame, group=["sex", "age"], **BINARY, compare="other")
    assert (
        report.changes["rate"].unique()
        == ["errors", "misses", "false alarms", "predicted"]
    ).all()
    for row in report.changes.to_dict("records"):
        name, value = row["group"].split(" = ")
        mine = frame[frame[name] == value]
        among = {"misses": mine["label"] == 1, "false alarms": mine["label"] == 0}.get(
            row["rate"], mine["label"] >= 0
        )
        truth = 1 if row["rate"] in ("false alarms", "predicted") else mine["label"]
        events = [
            (mine[column] == truth) ^ (row["rate"] in ("errors", "misses"))
            for column in ("prediction", "other")
        ]
        before, after = (event[among] for event in events)
        assert row["n"] == among.sum() and row["change"] == pytest.approx(
            after.mean() - before.mean()
        )
        assert (
            row["more"] == (after & ~before).sum()
            and row["fewer"] == (before & ~after).sum()
        )
        table = [[0, row["more"]], [row["fewer"], 0]]
        if row["method"] == "exact":
            exact = mcnemar(table, exact=True).pvalue
            assert row["p"] == pytest.approx(min(exact / 0.95, 1))
        else:
            # The score test is McNemar's without correction, or a little above it.
            score = mcnemar(table, exact=False, correction=False).pvalue
            assert row["p"] >= score * (1 - 1e-9)
            assert np.log(row["p"]) == pytest.approx(np.log(score), rel=0.4, abs=0.05)
        assert row["low"] <= row["change"] <= row["high"]
    sure = report.changes[report.changes["p_corrected"] <= 0.05]
    assert "sex = female" in set(sure["group"]) and "sex = male" not in set(
        sure["group"]
    )
    assert "What the other model changes" in report.to_html()
    assert fairlib.audit(frame, group="sex", **BINARY).changes is None
    arrays = fairlib.audit(
        frame["label"], frame["prediction"], frame[["sex", "age"]], compare=better
    )
    pd.testing.assert_frame_equal(arrays.changes, report.changes)
    # Sources of one case each say the same, but for the approximation.
    by_source = fairlib.audit(
        frame.assign(s=range(2000)),
        group=["sex", "age"],
        **BINARY,
        compare="other",
        source="s",
    ).changes
    assert (by_source["method"] == "sources").all()
    many = (report.changes["more"] + report.changes["fewer"]) > 60
    np.testing.assert_allclose(
        by_source.loc[many, ["change", "low", "high"]],
        report.changes.loc[many, ["change", "low", "high"]],
        atol=0.01,
    )


def test_many_numbers_are_put_into_named_bands_and_said(tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = people(2000).assign(
        years=rng.integers(18, 91, 2000), code=[f"{i:03}" for i in range(100)] * 20
    )
    report = fairlib.audit(
        frame, group=["years", "code"], **BINARY, metrics="errors", depth=1
    )
    (said,) = [note for note in report.aside if "bands" in note]
    found = report.to_frame().query("attribute == 'years'")
    assert (
        len(found) == 4
        and found["n"].between(450, 550).all()
        and found["n"].sum() == 2000
    )
    for row in found.to_dict("records"):
        low, high = map(int, row["group"].removeprefix("years = ").split(" to "))
        assert (
            row["n"] == frame["years"].between(low, high).sum()
            and row["group"].removeprefix("years = ") in said
        )
    assert (
        report.to_frame()["attribute"] == "code"
    ).sum() == 100  # what has a leading zero is a name
    frame.to_csv(tmp_path / "p.csv", index=False)
    main(
        [
            "audit",
            str(tmp_path / "p.csv"),
            "--group",
            "years",
            "--label",
            "label",
            "--prediction",
            "prediction",
        ]
    )
    assert said in capsys.readouterr().out
    frame["years"] = frame["years"].astype(float).where(frame.index > 99)
    assert (
        len(fairlib.audit(frame, group="years", **BINARY, metrics="errors").to_frame())
        == 4
    )  # the missing set aside
