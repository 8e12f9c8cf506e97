"""What a benchmark can show, and what predictions on it show."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

import fairlib
from fairlib import atlas
from fairlib.atlas import wording

MINE = {
    "name": "mine",
    "groups": {"names": ["a", "b"]},
    "clusters": {"what": "template", "number": 20},
    "score": {"kind": "difference"},
}


def predictions(*, gap=0.0, clusters=20, size=30, spread=0.0, seed=0):
    """Pairs of one item of group a and one of group b, in clusters that differ."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(clusters), size)
    level = 0.5 + spread * rng.uniform(-1, 1, clusters)
    shift = gap + spread * rng.uniform(-1, 1, clusters)
    rate_b = level[cluster]
    rate_a = np.clip(rate_b + shift[cluster], 0, 1)

    n = clusters * size
    outcome = np.r_[rng.random(n) < rate_a, rng.random(n) < rate_b]
    return pd.DataFrame(
        {
            "item": np.arange(2 * n),
            "group": np.repeat(["a", "b"], n),
            "outcome": outcome.astype(float),
            "pair": np.tile(np.arange(n), 2),
            "cluster": np.tile(cluster, 2),
        }
    )


def test_without_predictions_the_answer_is_for_occupations_like_these():
    report = fairlib.benchmark("winobias")
    assert report.smallest_bias == report.planning["smallest_bias"].iloc[-1]
    assert report.planning["question"].tolist() == ["these", "these", "like these"]

    independent, paired, clustered = report.planning["smallest_bias"]
    assert independent == pytest.approx(0.0413, abs=1e-4)
    assert paired == pytest.approx(0.0323, abs=1e-4)
    assert 0.15 < clustered < 0.2
    assert report.score is None
    assert "18.2 points in the worst case, for occupations like these" in report.verdict


def test_a_clear_difference_is_shown_for_both_questions():
    report = fairlib.benchmark(MINE, predictions(gap=0.2))
    assert report.conclusion == wording.SHOWN
    assert report.score.low > 0 and report.score_these.low > 0
    assert report.score.estimate == pytest.approx(report.score_these.estimate)
    assert "templates like these" in report.verdict


def test_templates_that_differ_may_hide_a_difference():
    frame = predictions(gap=0.06, spread=0.4, clusters=6, size=200, seed=3)
    card = MINE | {"clusters": {"what": "template", "number": 6}}
    report = fairlib.benchmark(card, frame)
    assert report.conclusion == wording.THESE_ONLY
    assert 0 in report.score and 0 not in report.score_these
    assert report.dependence.low > 1


def test_groups_that_do_not_differ():
    report = fairlib.benchmark(MINE, predictions())
    assert report.conclusion == wording.NOT_SHOWN
    assert "is not ruled out" in report.verdict


def test_without_clusters_nothing_is_claimed_for_others():
    frame = predictions(gap=0.2).drop(columns="cluster")
    report = fairlib.benchmark(MINE, frame)
    assert report.conclusion == wording.THESE_ONLY
    assert "no column 'cluster'" in report.verdict


def test_refused_answers_are_counted_and_tried_both_ways():
    frame = predictions(gap=0.1, size=50)
    frame["outcome"] = frame["outcome"].astype(object)
    frame.loc[frame.index[:200], "outcome"] = "refused"
    frame.loc[frame.index[200], "outcome"] = None
    report = fairlib.benchmark(MINE, frame)

    assert report.counts["refused"] == 200
    assert report.counts["unreadable"] == 1
    assert report.conclusion == wording.REFUSALS
    assert report.refusals["shown"].tolist().count(True) not in (0, 4)
    assert report.by_group["without_answer"].tolist() == [201, 0]
    assert "200 of 2,000 answers were refused." in report.notes

    counted = fairlib.benchmark(MINE, frame, refused=0)
    assert counted.by_group["items"].tolist() == [1000, 1000]


def test_a_group_that_refuses_everything_stays_in_the_report():
    frame = predictions(gap=0.2)
    frame["outcome"] = frame["outcome"].astype(object)
    of_a = frame["group"] == "a"
    report = fairlib.benchmark(MINE, frame.assign(outcome=frame["outcome"].mask(of_a)))
    assert report.conclusion == wording.UNDEFINED
    assert report.by_group["without_answer"].tolist() == [600, 0]

    nobody = fairlib.benchmark(MINE, frame.assign(outcome="refused"))
    assert nobody.conclusion == wording.UNDEFINED
    assert "no answer about one of the groups can be read" in nobody.verdict

    third = frame.head(30).assign(group="c", item=lambda f: f["item"] + 1e6)
    card = {"name": "three", "score": {"kind": "difference"}}
    mixed = pd.concat([frame, third.assign(outcome="refused")])
    assert fairlib.benchmark(card, mixed).by_group["items"].tolist() == [600, 600, 0]


@pytest.mark.parametrize("clusters", [1, 2])
def test_too_few_clusters_say_nothing_about_others(clusters):
    frame = predictions(gap=0.2)
    frame["cluster"] = frame["cluster"] % clusters
    report = fairlib.benchmark(MINE, frame)
    assert report.conclusion == wording.THESE_ONLY
    assert "there are fewer than 3 templates" in report.verdict


def test_a_ratio_with_nothing_to_divide_by_is_undefined():
    frame = predictions().assign(outcome=lambda f: (f["group"] == "a").astype(int))
    report = fairlib.benchmark(MINE | {"score": {"kind": "ratio"}}, frame)
    assert report.conclusion == wording.UNDEFINED
    assert "the mean to divide by is 0" in report.verdict


def test_several_answers_to_an_item_count_once():
    frame = predictions(gap=0.2)
    again = frame.assign(outcome=1 - frame["outcome"])
    twice = pd.concat([frame, frame])
    assert fairlib.benchmark(MINE, twice).score == fairlib.benchmark(MINE, frame).score

    report = fairlib.benchmark(MINE, pd.concat([frame, again]))
    assert report.counts["items_with_several_answers"] == len(frame)
    assert report.counts["items_whose_answers_differ"] == len(frame)
    assert report.score.estimate == 0


def test_a_share_is_compared_with_a_fixed_value():
    card = {"name": "shares", "score": {"kind": "share"}}
    frame = pd.DataFrame({"outcome": [1.0] * 70 + [0.0] * 30})
    report = fairlib.benchmark(card, frame)
    assert report.score.estimate == 0.7
    assert report.conclusion == wording.SHOWN
    assert report.score.method == "clopper_pearson"


def test_a_mean_of_three_outcomes():
    card = {"name": "means", "score": {"kind": "mean", "bounds": [-1, 1]}}
    frame = pd.DataFrame(
        {"outcome": [1, 0, -1, 1, 0, 1] * 20, "cluster": [*range(6)] * 20}
    )
    report = fairlib.benchmark(card, frame)
    assert report.score.estimate == pytest.approx(1 / 3)
    assert "33.3 points" in report.verdict


def test_a_ratio_of_two_groups():
    card = MINE | {"score": {"kind": "ratio"}}
    report = fairlib.benchmark(card, predictions(gap=-0.2))
    assert report.score.high < 1
    means = report.by_group["mean"]
    assert report.score.estimate == pytest.approx(means[0] / means[1])


def test_of_many_groups_the_largest_difference_counts():
    frame = predictions(gap=0.2)
    third = frame[frame["group"] == "b"].assign(
        group="c", item=lambda f: f["item"] + 1e6
    )
    card = {"name": "three", "score": {"kind": "difference"}}
    report = fairlib.benchmark(card, pd.concat([frame, third]))
    assert len(report.comparisons) == 3
    assert report.score.estimate == report.comparisons["score"].abs().max()
    assert report.score.low == max(0, report.comparisons["low"].max())
    assert "Of 3 comparisons of two groups" in report.notes[0]
    assert "2 of them show a difference" in report.notes[0]


def test_keys_bring_what_predictions_lack(tmp_path):
    frame = predictions(gap=0.2)
    path = tmp_path / "answers.csv"
    frame[["item", "outcome"]].to_csv(path, index=False)
    keys = frame[["item", "group", "pair", "cluster"]]
    assert fairlib.benchmark(MINE, path, keys=keys).score == (
        fairlib.benchmark(MINE, frame).score
    )


def test_parts_are_shown_apart():
    card = MINE | {"parts": {"x": {}, "y": {}}}
    frame = predictions(gap=0.2).assign(
        part=lambda f: np.where(f["cluster"] < 10, "x", "y")
    )
    report = fairlib.benchmark(card, frame)
    assert report.by_part["part"].tolist() == ["x", "y"]
    one = fairlib.benchmark(card, frame, part="x")
    assert one.score.estimate == report.by_part["score"][0]
    assert report.by_part["low"][0] < one.score.low  # all parts hold together


def test_a_report_has_every_form(tmp_path):
    report = fairlib.benchmark(MINE, predictions(gap=0.2))
    contents = json.loads(report.to_json(tmp_path / "report.json"))
    assert contents["conclusion"] == "shown"
    assert contents["score"]["low"] == report.score.low
    for text in (str(report), report.to_markdown(), report.to_html()):
        assert report.verdict.split(" ")[0] in text
    assert report._repr_html_() in report.to_html() or report._repr_html_()
    assert pickle.loads(pickle.dumps(report)).verdict == report.verdict


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"outcome": 2}, "outcome must be a number in .0, 1., .* found 2"),
        ({"outcome": "perhaps"}, "found perhaps"),
        ({"group": "c"}, "group must be one of a, b, found 'c'"),
        ({"cluster": None}, "cluster must not be missing, found 1200"),
        ({"item": 1}, "item '1' must have one group"),
        ({"kind": "maybe"}, "kind must be one of answered, refused, unreadable"),
    ],
)
def test_what_is_wrong_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        fairlib.benchmark(MINE, predictions().assign(**change))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"refused": "half"}, "refused must be 'left out' or an outcome, found 'half'"),
        ({"refused": 2}, "refused must be in .0, 1., found 2"),
        ({"power": 1}, "power must be in .0, 1., found 1"),
        ({"part": "x"}, "part must be left out: mine has no parts"),
        ({"columns": {"group": "sex"}}, "group must be a column .* found 'sex'"),
        ({"columns": {"colour": "sex"}}, "columns must name item, .* found 'colour'"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        fairlib.benchmark(MINE, predictions(), **options)


def test_other_columns_may_be_named():
    frame = predictions(gap=0.2).rename(columns={"group": "sex"})
    report = fairlib.benchmark(MINE, frame, columns={"group": "sex"})
    assert report.by_group["group"].tolist() == ["a", "b"]


def test_every_bundled_card_can_be_read():
    cards = [atlas.card(name) for name in atlas.names()]
    assert len(cards) > 25
    assert all(card.score.definition for card in cards if card.status == "counted")


# --- a benchmark's own numbers of items ---


def released_answers_to_bbq():
    """UnifiedQA's answers to ambiguous questions about age, as bundled counts."""
    counts = fairlib.load("atlas_bbq", source="bundled")
    is_wanted = (counts["category"] == "Age") & (counts["format"] == "ARC")
    wanted = counts[is_wanted & (counts["context"] == "ambig")]
    rows = wanted.loc[wanted.index.repeat(wanted["questions"])].reset_index(drop=True)

    outcomes = {"biased": 1, "counter": -1, "unknown": 0, "unread": "unreadable"}
    return rows.assign(outcome=rows["answer"].map(outcomes), cluster=rows["template"])


def test_a_published_score_over_25_templates():
    rows = released_answers_to_bbq()
    report = fairlib.benchmark("bbq", rows[["outcome", "cluster"]], part="age")
    assert report.score.estimate == pytest.approx(0.489, abs=5e-4)  # as printed
    assert report.score_these.half_width == pytest.approx(0.030, abs=2e-3)
    assert report.score.half_width > 0.17
    assert report.dependence.estimate > 25
    assert report.conclusion == wording.SHOWN


def test_options_of_bbq_are_enough():
    keys = fairlib.load("atlas_keys_bbq", source="bundled")
    ages = keys[keys["part"].str.startswith("age")].reset_index(drop=True)
    category, _, number = ages["item"].str.partition("/").to_numpy().T
    rng = np.random.default_rng(0)
    answer = rng.integers(0, 3, len(ages)).astype(object)
    answer[:7] = "refused"
    frame = pd.DataFrame({"category": category, "example_id": number, "answer": answer})

    report = fairlib.benchmark("bbq", frame)
    assert report.counts["refused"] + 3 <= 7  # some are answers to other questions
    assert report.by_part["part"].tolist() == ["age", "age_disambiguated"]
    assert "1,840 answers belong to parts" in report.notes[1]
    assert report.score.estimate == pytest.approx(0, abs=0.06)
    one = fairlib.benchmark("bbq", frame, part="age_disambiguated")
    assert one.card.score.kind == "difference"

    more = pd.concat([frame, frame.tail(5).assign(category="SES")])
    assert "5 answers were set aside" in " ".join(fairlib.benchmark("bbq", more).notes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": 3}, "answer must be one of 0, 1, 2, .* found 3"),
        ({"answer": "D"}, "answer must be one of 0, 1, 2, .* found D"),
        ({"answer": -1}, "answer must be one of 0, 1, 2, .* found -1"),
        ({"example_id": -1}, "item must be one of BBQ's, such as Age/0, .* Age/-1"),
    ],
)
def test_wrong_options_of_bbq_are_named(change, message):
    frame = pd.DataFrame({"category": ["Age"] * 9, "example_id": range(9), "answer": 0})
    with pytest.raises(ValueError, match=message):
        fairlib.benchmark("bbq", frame.assign(**change))


@pytest.mark.parametrize("form", ["{}.0", "ans{}", "letter", "({})."])
def test_an_option_has_several_forms_and_other_texts_are_counted(form):
    numbers = np.arange(400) % 3
    answer = [form.format(number) for number in numbers]
    if form == "letter":
        answer = ["(A)", "b.", "C"] * 133 + ["A"]
    frame = pd.DataFrame({"Category": "age", "id": range(400), "answer": answer})
    frame.loc[::40, "answer"] = "I'm sorry, but I cannot answer that."
    names = {"category": "Category", "example_id": "id"}
    report = fairlib.benchmark("bbq", frame, columns=names)
    is_text = form == "({})."
    assert report.counts["unreadable"] == (200 if is_text else 10)


def test_the_columns_that_bbq_needs_are_named():
    frame = pd.DataFrame({"category": ["Age"], "example_id": [1], "guess": [2]})
    with pytest.raises(ValueError, match="columns category, example_id and answer"):
        fairlib.benchmark("bbq", frame)
