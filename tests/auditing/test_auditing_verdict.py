"""One verdict: what the headline says, and that nothing on the page is against it."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest
from test_auditing import BINARY, people

import fairlib
from fairlib.auditing import summary
from fairlib.auditing.conclusions import FAILING_VERDICTS
from fairlib.auditing.questions import kind_of
from fairlib.auditing.rates import RATES, custom_rate
from fairlib.auditing.shares import shares_of_alpha
from fairlib.auditing.wording import plain

CELLS = {"group": "g", "label": "label", "prediction": "prediction", "count": "n"}


def cells(base_rates, *, tpr, fpr, size=10_000):
    """Counted cases of groups with these base rates and the same two error rates."""
    rows = []
    for name, base in base_rates.items():
        positives = round(base * size)
        for label, number, rate in ((1, positives, tpr), (0, size - positives, fpr)):
            predicted = round(number * rate)
            rows.append((name, label, 1, predicted))
            rows.append((name, label, 0, number - predicted))
    return pd.DataFrame(rows, columns=["g", "label", "prediction", "n"])


@pytest.fixture
def few_replicates(monkeypatch):
    """Make the metrics of the literature fast: what they say is not the point here."""
    monkeypatch.setattr(summary, "REPLICATES", 199)
    monkeypatch.setattr(summary, "FEWEST_REPLICATES", 199)


@pytest.mark.parametrize("base", [0.01, 0.05, 0.2, 0.35, 0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize(("tpr", "fpr"), [(1.0, 0.0), (0.8, 0.2), (0.6, 0.1)])
def test_base_rates_alone_are_no_difference_of_errors(base, tpr, fpr, few_replicates):
    table = cells({"a": base, "b": 0.5}, tpr=tpr, fpr=fpr)
    report = fairlib.audit(table, **CELLS)

    assert not report.fails("shown") and not report.fails("hint")
    assert "Error rates differ" not in report.verdict
    assert "treats groups differently" not in report.to_html()
    of_errors = [line for line in report.findings if line.question == "errors"]
    assert of_errors == []
    is_error = report.parts.claims["question"] == "errors"
    assert not report.parts.claims[is_error]["verdict"].eq("shown").any()

    if base != 0.5:
        assert "Selection rates differ" in report.verdict
        assert "Outcomes differ, too: the base rates by g are " in report.verdict


def test_a_perfect_classifier_of_compas_makes_no_errors_and_outcomes_differ():
    scores = fairlib.load("compas_scores", source="bundled")
    columns = {"group": "race", "count": "count", "label": "two_year_recid"}
    report = fairlib.audit(
        scores.assign(perfect=scores["two_year_recid"]), **columns, prediction="perfect"
    )
    assert report.verdict.startswith(
        "Errors do not differ between groups: there are none."
    )
    assert (
        "Outcomes differ, too: the base rates by race are 51.4% and 38.4%."
        in report.verdict
    )
    assert not report.fails("hint") and not report.fails("open")
    answer = report.by_attribute["answer"].item()
    assert answer.startswith(
        "no strong evidence that error rates differ; predictions of ‘"
    )


@pytest.mark.parametrize(
    ("size", "weak"),
    [
        (150, ["some evidence", "too weak to tell"]),
        (2_000, []),
    ],
)
def test_a_weak_finding_says_that_its_p_value_is_of_one_comparison(
    size, weak, few_replicates
):
    """Only a shown difference has a p-value that allows for all comparisons."""
    table = pd.concat(
        [
            cells({"a": 0.5}, tpr=0.8, fpr=0.2, size=size),
            cells({"b": 0.5}, tpr=0.6, fpr=0.3, size=size),
        ]
    )
    report = fairlib.audit(table, **CELLS)

    alone = "in one comparison alone, chance leads to such a difference in at most "
    for finding in report.findings:
        of_one = finding.verdict != "shown"
        assert (alone in str(finding)) == of_one, str(finding)
        if finding.verdict == "hint":
            sentence = alone[0].upper() + alone[1:]
            assert sentence in html.unescape(report.to_html())
    is_weak = [line.evidence for line in report.findings if line.verdict != "shown"]
    assert sorted(set(is_weak)) == weak


def test_metrics_alone_decide_the_verdict_and_the_exit_status():
    """The AUC is .9 in one group and .1 in the other; no rate of errors differs."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 4000)
    group = rng.integers(0, 2, 4000)
    right = rng.beta(4, 2, 4000)
    score = np.where(label == 1, right, 1 - right)
    score = np.where(group == 1, 1 - score, score) / 2.01
    frame = pd.DataFrame({"g": group, "label": label, "score": score})
    report = fairlib.audit(frame, group="g", label="label", probability="score")

    rows = report.to_frame()
    errors = rows[rows["question"] == "errors"]
    assert not errors["verdict"].isin(["shown", "hint"]).any()
    auc = report.metrics.query("metric.str.contains('AUC')")
    assert (auc["verdict"] == "shown").any()
    assert report.verdict.startswith("Error rates differ between groups: ")
    assert report.fails("shown")
    assert "The same probability does not mean the same" in report.verdict


def test_selection_decides_only_if_it_is_asked_for_or_there_are_no_labels():
    table = cells({"a": 0.3, "b": 0.6}, tpr=0.9, fpr=0.1)
    assert not fairlib.audit(table, **CELLS).fails("shown")
    assert fairlib.audit(table, **CELLS, metrics="predicted").fails("shown")
    assert fairlib.audit(table, **CELLS, metrics="ParityGap").fails("shown")

    unlabelled = {name: CELLS[name] for name in CELLS if name != "label"}
    alone = fairlib.audit(table, **unlabelled)
    assert alone.fails("shown")
    assert (
        "Without labels, this audit cannot tell whether outcomes differ"
        in alone.verdict
    )


def test_fails_knows_its_verdicts():
    report = fairlib.audit(people(300), group="sex", **BINARY, metrics="errors")
    with pytest.raises(ValueError, match="verdict must be among shown, hint, open"):
        report.fails("small")


def test_every_rate_answers_one_question():
    questions = {name: kind_of(rate, 2) for name, rate in RATES.items()}
    assert (
        questions.items()
        >= {
            "errors": "mix",
            "misses": "errors",
            "false alarms": "errors",
            "predicted": "selection",
            "unreliable": "mix",
            "mean probability": "selection",
            "overestimation": "mix",
            "cost": "cost",
        }.items()
    )
    assert kind_of(RATES["false alarms"], 3) == "mix"
    assert kind_of(RATES["misses"], 3) == "errors"
    for share, question in {
        "FN / TP FN": "errors",
        "TN / FP TN": "errors",
        "TP FP / TP FP FN TN": "selection",
        "FP / TP FP FN TN": "mix",
        "FP / TP FP": "mix",
    }.items():
        assert kind_of(custom_rate("mine", share), 2) == question, share


def test_all_parts_of_an_audit_share_one_promise():
    frame = people(600)
    for options in ({}, {"compare": "label"}, {"within": "age"}, {"label": None}):
        columns = BINARY | options
        if options.get("compare"):
            columns["compare"] = "other"
        report = fairlib.audit(
            frame.assign(other=frame["prediction"]), group="sex", **columns
        )
        shares = shares_of_alpha(report.counts)
        assert sum(shares.values()) == pytest.approx(1)
        assert (shares["gap_changes"] > 0) == ("compare" in options)
        assert (shares["odds"] > 0) == (not {"within", "label"} & {*options})


@pytest.mark.parametrize("names", [("women", "men"), ("awomen", "men")])
def test_the_subject_does_not_depend_on_how_groups_are_spelled(names):
    frame = people(4000, unfair=0.3).assign(
        sex=lambda rows: np.where(np.arange(4000) < 1000, *names)
    )
    wrong = np.random.default_rng(1).random(4000) < np.where(
        frame["sex"] == names[0], 0.4, 0.1
    )
    frame["prediction"] = np.where(wrong, 1 - frame["label"], frame["label"])
    report = fairlib.audit(frame, group="sex", **BINARY)
    assert report.verdict.count(f"sex = {names[0]}") >= 1
    subjects = {line.subject for line in report.findings if line.question == "errors"}
    assert subjects == {f"sex = {names[0]}"}
    assert set(report.to_frame()["more_of"]) == {f"sex = {names[0]}"}

    spelled = str(report).replace(names[0], "women")
    other = frame.assign(sex=frame["sex"].replace(names[0], "women"))
    assert spelled == str(fairlib.audit(other, group="sex", **BINARY))


def test_mirror_images_are_one_finding():
    frame = people(6000).assign(sex=lambda rows: np.tile(["f", "m", "x"], 2000))
    wrong = np.random.default_rng(1).random(6000) < np.where(
        frame["sex"] == "f", 0.4, 0.1
    )
    frame["prediction"] = np.where(wrong, 1 - frame["label"], frame["label"])
    report = fairlib.audit(frame, group="sex", **BINARY)
    topics = [(line.attribute, line.rate, line.class_name) for line in report.findings]
    assert len(topics) == len(set(topics))
    of_errors = [line for line in report.findings if line.question == "errors"]
    assert {line.subject for line in of_errors} == {"sex = f"}
    assert all("Also different: " in line.text for line in of_errors)


def test_a_rare_outcome_is_small_in_points_and_large_as_a_ratio_and_both_are_said():
    table = pd.DataFrame(
        {
            "g": ["a", "a", "b", "b"],
            "prediction": [1, 0, 1, 0],
            "n": [900, 29_100, 450, 29_550],
        }
    )
    asked = {"group": "g", "prediction": "prediction", "count": "n"}
    report = fairlib.audit(table, **asked)
    row = report.to_frame().iloc[0]
    assert row["size"] == "within" and row["ratio_size"] == "beyond"
    (finding,) = report.findings
    assert (
        "The difference is less than 5 points. As a ratio it is large: 0.50 ["
        in finding.text
    )
    lenient = fairlib.audit(table, **asked, ratio_margin=0.3)
    assert "As a ratio" not in lenient.findings[0].text
    with pytest.raises(ValueError, match="ratio_margin must lie between 0 and 1"):
        fairlib.audit(table, **asked, ratio_margin=1.2)


def random_audit(rng):
    """A random table of counts with random groups, sizes and differences, audited."""
    attributes = ["g", "h"] if rng.random() < 0.25 else ["g"]
    rows = []
    base, wrong = rng.uniform(0.02, 0.98), rng.uniform(0, 0.4)
    for first in range(rng.integers(2, 5)):
        for second in range(rng.integers(1, 4)):
            size = int(10 ** rng.uniform(1, 3.5))
            own_base = np.clip(base + rng.choice([0, 0.1, -0.2]), 0.01, 0.99)
            own_wrong = np.clip(wrong + rng.choice([0, 0, 0.02, 0.15]), 0, 1)
            label = rng.random(size) < own_base
            prediction = label ^ (rng.random(size) < own_wrong)
            for pair in ((0, 0), (0, 1), (1, 0), (1, 1)):
                number = int(((label == pair[0]) & (prediction == pair[1])).sum())
                rows.append((f"x{first}", f"y{second}", *pair, number))
    table = pd.DataFrame(rows, columns=["g", "h", "label", "prediction", "n"])
    options = {"group": attributes, "prediction": "prediction", "count": "n"}
    if rng.random() < 0.8:
        options["label"] = "label"
    if rng.random() < 0.3:
        options["margin"] = float(rng.choice([0.01, 0.1]))
    return fairlib.audit(table, **options)


def text_of(page):
    """The words of a page, without its style."""
    body = re.sub("<style>.*?</style>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", body)).split())


ALL_ARE_LARGE = re.compile("strong evidence and (is|are) at least")


@pytest.mark.slow
@pytest.mark.parametrize("quarter", range(4))
def test_no_form_of_a_thousand_random_audits_contradicts_another(quarter, monkeypatch):
    monkeypatch.setattr(summary, "REPLICATES", 19)
    monkeypatch.setattr(summary, "FEWEST_REPLICATES", 19)
    rng = np.random.default_rng([2026, quarter])
    kinds = set()
    all_large = 0
    for _ in range(250):
        report = random_audit(rng)
        page, data = text_of(report.to_html()), json.loads(report.to_json())
        check_forms_agree(report, page, data)
        kinds |= {line["verdict"] for line in data["headlines"]}
        all_large += bool(ALL_ARE_LARGE.search(data["headlines"][0]["text"]))
    assert kinds >= {"shown", "open", "small"}
    assert all_large > 0  # or a check of sizes would never run


def check_forms_agree(report, page, data):
    """Hold what the page, JSON, Markdown and the exit status say against each other."""
    rows = pd.DataFrame(data["comparisons"])
    markdown = report.to_markdown().replace("\\", "")

    # One verdict everywhere, and one answer for each attribute.
    assert data["verdict"] == report.verdict
    assert plain(report.verdict) in markdown
    for line in data["headlines"]:
        assert plain(line["text"]) in page
    for answer in data["by_attribute"]:
        assert f"{answer['attribute']} : {answer['answer']}." in page
        assert answer["answer"] in markdown
    assert len(data["by_attribute"]) == len(report.setting.columns.group)

    # What is counted in words is what the comparisons hold.
    number = rows["verdict"].value_counts()
    for verdict, words in (("shown", "strong"), ("hint", "some")):
        for count in re.findall(rf"([\d,]+) with {words} evidence", data["summary"]):
            assert int(count.replace(",", "")) == number[verdict]
    check_sizes(data, rows)
    check_findings(report, page, data)

    # Errors are said to differ exactly if a claim about errors is made.
    claims = report.parts.claims
    for question, words in (
        ("errors", "Error rates"),
        ("selection", "Selection rates"),
    ):
        is_shown = (claims["question"] == question) & (claims["verdict"] == "shown")
        assert is_shown.any() == (f"{words} differ" in data["verdict"])

    # The exit status is that of the claims that are looked at.
    looked_at = {"errors", "cost", "calibration"}
    if data["setting"]["label"] is None:
        looked_at |= {"selection", "mix"}
    is_looked_at = claims["question"].isin(looked_at)
    for place, verdict in enumerate(FAILING_VERDICTS):
        failing = claims["verdict"].isin(FAILING_VERDICTS[: place + 1])
        failing &= (claims["verdict"] != "open") | (claims["part"] == "comparisons")
        assert data["fails"][verdict] == bool((failing & is_looked_at).any())
        assert data["fails"][verdict] == report.fails(verdict)

    # The four-fifths table never marks the group with the best rate.
    for row in data["selection"] or ():
        assert not (row["four_fifths"] == "under" and row["group"] == row["best"])
        if row["four_fifths"] == "under":
            assert row["ratio_high"] < 0.8 and row["ratio"] < 0.8
    under = [row for row in data["selection"] or () if row["four_fifths"] == "under"]
    in_tables = page.count("under 4/5") - page.count("ratios under 4/5")
    assert in_tables == len(under)


def check_sizes(data, rows):
    """Sizes are counted by what intervals support."""
    if ALL_ARE_LARGE.search(data["headlines"][0]["text"]):
        kind = data["headlines"][0]["question"]
        shown = rows[(rows["question"] == kind) & (rows["verdict"] == "shown")]
        nearest = shown[["low", "high"]].abs().min(axis=1)
        assert (nearest >= shown["margin"]).all()
    small = rows[rows["verdict"] == "small"]
    assert (small[["low", "high"]].abs().max(axis=1) < small["margin"]).all()
    shown = rows[rows["verdict"] == "shown"]
    assert ((shown["low"] > 0) | (shown["high"] < 0)).all()
    weak = rows[rows["verdict"] == "open"]
    assert ((weak["low"] <= 0) & (weak["high"] >= 0)).all()


def check_findings(report, page, data):
    """Findings are on the page, name who is worse off, and hedge what is weak."""
    assert "About 0 more" not in page and "About 0 times" not in page
    topics = [
        (line["attribute"], line["rate"], line["class_name"])
        for line in data["findings"]
    ]
    assert len(topics) == len(set(topics)) <= 5
    for finding, line in zip(report.findings, data["findings"], strict=True):
        assert plain(finding.text) in page and line["text"] == finding.text
        if finding.verdict == "open":
            assert finding.low <= 0 <= finding.high
        if finding.verdict == "hint":
            assert "each interval here is for one of them alone" in page
        pairs = {f.attribute for f in report.questions.families if f.is_pair}
        if finding.question == "errors" and finding.attribute in pairs:
            assert finding.difference > 0
