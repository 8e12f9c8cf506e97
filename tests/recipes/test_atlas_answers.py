"""Answers to bias benchmarks: what is read, and that the counts add up."""

import json
import os
import pickle

import pytest

from fairlib.data import DataError, load
from fairlib.recipes import atlas_answers


def _question(**changes):
    """Return an invented question in the form of BBQ."""
    question = {
        "category": "Age",
        "question_index": "7",
        "question_polarity": "neg",
        "context_condition": "ambig",
        "answer_info": {
            "ans0": ["baker Ann", "old"],
            "ans1": ["Not known", "unknown"],
            "ans2": ["baker Bob", "nonOld"],
        },
        "additional_metadata": {"stereotyped_groups": ["old"]},
        "ans0": "The baker Ann.",
        "ans1": "Not known",
        "ans2": "The baker Bob",
        "label": 1,
    }
    return question | changes


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("the baker ann", 0),
        ("Not known.", 1),
        ("I think it was baker bob who did it", 2),
        ("both of them", None),
    ],
)
def test_an_answer_names_an_option_by_the_rules_of_the_script(text, option):
    assert atlas_answers._option_given(_question(), text) == option


@pytest.mark.parametrize(
    ("polarity", "given", "kind"),
    [
        ("neg", 0, "biased"),
        ("neg", 2, "counter"),
        ("nonneg", 0, "counter"),
        ("nonneg", 2, "biased"),
        ("neg", 1, "unknown"),
        ("neg", None, "unread"),
    ],
)
def test_the_other_person_is_the_biased_answer_to_a_friendly_question(
    polarity, given, kind
):
    question = _question(question_polarity=polarity)
    target = atlas_answers._stereotyped(question)
    assert atlas_answers._kind_of_answer(question, given, target) == kind


def test_nobody_is_guessed_where_both_people_may_be_meant():
    groups = {"stereotyped_groups": ["old", "nonOld"]}
    question = _question(additional_metadata=groups)
    assert atlas_answers._stereotyped(question) is None
    assert atlas_answers._kind_of_answer(question, 0, None) == "unclear"


def test_a_row_says_whether_the_right_answer_agrees_with_the_stereotype():
    question = _question(context_condition="disambig", label=2)
    row = atlas_answers._bbq_row(question, "ARC", "the baker bob", 0)
    assert (row["aligned"], row["answer"], row["right"]) == ("no", "counter", 1)


def test_a_pickle_runs_no_code(tmp_path):
    class Harmful:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "made"),)

    path = tmp_path / "frame.pkl"
    path.write_bytes(pickle.dumps(Harmful()))
    with path.open("rb") as stream:
        atlas_answers._Unpickler(stream).load()
    assert not (tmp_path / "made").exists()


def test_the_table_of_a_log_is_read(tmp_path, monkeypatch):
    folder = tmp_path / "atlas" / "gabrielStanovsky+mt_gender" / "logs" / "google"
    folder.mkdir(parents=True)
    (folder / "es.log").write_text(
        "defaultdict(<function f at 0x1>,\n"
        "  {<GENDER.male: 0>: defaultdict(<function g at 0x2>,\n"
        "     {<GENDER.male: 0>: 14,\n      <GENDER.female: 1>: 3}),\n"
        "   <GENDER.female: 1>: defaultdict(<function g at 0x3>,\n"
        "     {<GENDER.male: 0>: 9})})\n"
    )
    (folder / "fr.log").write_text("nothing")
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))

    cells = atlas_answers._cells_of_log("google", "es")
    assert cells == [("male", "male", 14), ("male", "female", 3), ("female", "male", 9)]
    with pytest.raises(DataError, match="no table of genders"):
        atlas_answers._cells_of_log("google", "fr")


def test_answers_in_words():
    answer = {"choices": [{"message": {"content": " Yes. "}}]}
    assert atlas_answers._yes_or_no(json.loads(json.dumps(answer))) == "yes"
    answer["choices"][0]["message"]["content"] = "It depends"
    assert atlas_answers._yes_or_no(answer) == "other"


def test_a_missing_clone_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))
    with pytest.raises(DataError, match="git clone https://github.com/nyu-mll/BBQ"):
        atlas_answers.atlas_bbq()


def test_counts_of_hatecheck_add_up():
    templates = load("atlas_hatecheck", source="bundled")
    assert (templates.groupby("system")["templates"].sum() == 421).all()
    assert templates["errors"].str.fullmatch("[.x]{7}").all()
    totals = load("atlas_hatecheck_totals", source="bundled")
    assert (totals.groupby("system")["cases"].sum() == 3_728).all()


def test_counts_of_the_other_benchmarks_add_up():
    questions = load("atlas_bbq", source="bundled")
    assert questions.groupby("category")["template"].nunique().eq(25).all()
    assert questions["questions"].sum() == 2 * 11_956

    items = load("atlas_stereoset", source="bundled").groupby("domain")
    assert items["items"].sum().to_dict() == {
        "gender": 255,
        "race": 962,
        "religion": 79,
    }
    assert items["term"].nunique().to_dict() == {
        "gender": 10,
        "race": 36,
        "religion": 3,
    }

    systems = load("atlas_winomt", source="bundled").groupby(["system", "language"])
    assert systems["sentences"].sum().tolist() == [3_888] * 18
    assert load("atlas_income", source="bundled")["people"].sum() == 200

    answers = load("atlas_statements", source="bundled")
    assert (answers.groupby(["model", "prompt"])["answers"].sum() == 28_800).all()
    assert answers["statement"].nunique() == 48
