"""BBQ's other categories are read from the user's own copy."""

import json

import numpy as np
import pandas as pd
import pytest

import fairlib
from fairlib.recipes import atlas_keys


def question(number, *, is_ambiguous, polarity):
    """Return an invented question, whose third option is "unknown"."""
    return {
        "example_id": number,
        "question_index": str(number // 8),
        "question_polarity": polarity,
        "context_condition": "ambig" if is_ambiguous else "disambig",
        "category": "SES",
        "answer_info": {
            "ans0": ["the baker", "poor"],
            "ans1": ["the miller", "rich"],
            "ans2": ["unknown", "unknown"],
        },
        "additional_metadata": {"stereotyped_groups": ["low"]},
        "label": 2 if is_ambiguous else number % 2,
    }


@pytest.fixture
def copy(tmp_path):
    """A copy of BBQ with one category; the last question has no target."""
    questions = [
        question(
            number,
            is_ambiguous=number % 4 < 2,
            polarity="neg" if number % 8 < 4 else "nonneg",
        )
        for number in range(160)
    ]
    (tmp_path / "data").mkdir()
    lines = "\n".join(map(json.dumps, questions)) + "\n"
    (tmp_path / "data" / "SES.jsonl").write_text(lines, encoding="utf-8")
    targets = np.where(np.arange(160) % 8 < 4, 0.0, 1.0)
    targets[-1] = np.nan
    metadata = pd.DataFrame(
        {"category": "SES", "example_id": range(160), "target_loc": targets}
    )
    (tmp_path / "supplemental").mkdir()
    metadata.to_csv(tmp_path / "supplemental" / "additional_metadata.csv", index=False)
    return tmp_path


def answers(option):
    return pd.DataFrame({"category": "SES", "example_id": range(160), "answer": option})


def test_answers_to_other_categories_count_with_a_copy(copy):
    targets = np.where(np.arange(160) % 8 < 4, "A", "ans1")
    report = fairlib.benchmark("bbq", answers(targets), keys=copy)
    assert report.score.estimate == 1
    assert report.by_part["part"].tolist() == ["ses", "ses_disambiguated"]
    assert any("1 answers were set aside" in note for note in report.notes)

    unknown = fairlib.benchmark("bbq", answers(2.0), keys=str(copy))
    assert unknown.score.estimate == 0
    part = fairlib.benchmark(
        "bbq", answers(["0", "1"] * 80), keys=copy, part="ses_disambiguated"
    )
    assert part.card.title == "BBQ, ses, disambiguated"
    assert part.score.estimate == 0


def test_without_a_copy_the_way_is_named():
    ages = pd.DataFrame({"category": "Age", "example_id": range(400), "answer": 0})
    both = pd.concat([ages, answers(0)])
    notes = " ".join(fairlib.benchmark("bbq", both).notes)
    assert "160 answers were set aside" in notes
    assert "the folder of your copy of nyu-mll/BBQ" in notes


def test_a_folder_that_is_no_copy_is_named(copy, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ValueError, match="found no file additional_metadata.csv"):
        fairlib.benchmark("bbq", answers(0), keys=empty)
    with pytest.raises(ValueError, match="copies of WinoBias cannot be read"):
        fairlib.benchmark("winobias", answers(0), keys=copy)
    (copy / "data" / "SES.jsonl").unlink()
    with pytest.raises(ValueError, match="found no question in"):
        fairlib.benchmark("bbq", answers(0), keys=copy)


def test_the_bundled_keys_follow_the_same_rule():
    negative = question(0, is_ambiguous=True, polarity="neg")
    row = atlas_keys.key(negative, 0)
    assert [row[f"outcome_{option}"] for option in range(3)] == [1, -1, 0]
    row = atlas_keys.key(negative | {"question_polarity": "nonneg"}, 1)
    assert [row[f"outcome_{option}"] for option in range(3)] == [-1, 1, 0]


def test_a_comparison_says_which_answers_do_not_count():
    ages = pd.DataFrame({"category": "Age", "example_id": range(400), "answer": 0})
    both = pd.concat([ages, answers(0)])
    comparison = fairlib.atlas.compare("bbq", both, ages.assign(answer=1))
    notes = " ".join(comparison.notes)
    assert "The score is about 200 of the 29,246 items" in notes
    assert "Of the first model, 160 answers were set aside" in notes
    assert "Of the second model, 200 answers belong to parts" in notes
    assert notes in " ".join(str(comparison).split("\n"))
