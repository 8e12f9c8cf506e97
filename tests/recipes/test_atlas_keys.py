"""Keys of BBQ's questions, from a tiny invented release."""

import json

from fairlib.data import load
from fairlib.recipes import atlas_keys


def question(number, *, ambiguous, negative, label):
    return {
        "category": "Age",
        "example_id": number,
        "question_index": "4",
        "context_condition": "ambig" if ambiguous else "disambig",
        "question_polarity": "neg" if negative else "nonneg",
        "label": label,
        "answer_info": {
            "ans0": ["one person", "Tall"],
            "ans1": ["cannot say", "unknown"],
            "ans2": ["another person", "short"],
        },
        "additional_metadata": {"stereotyped_groups": ["tall"]},
    }


def test_outcomes_of_options(tmp_path, monkeypatch):
    lines = [
        question(0, ambiguous=True, negative=True, label=1),
        question(1, ambiguous=True, negative=False, label=1),
        question(2, ambiguous=False, negative=True, label=0),
        question(3, ambiguous=False, negative=False, label=0),
    ]
    folder = tmp_path / "atlas" / "nyu-mll+BBQ" / "data"
    folder.mkdir(parents=True)
    for category in atlas_keys.BBQ_CATEGORIES:
        text = "\n".join(map(json.dumps, lines)) if category == "Age" else ""
        (folder / f"{category}.jsonl").write_text(text, encoding="utf-8")
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))

    keys = atlas_keys.atlas_keys_bbq()
    assert keys["item"].tolist() == ["Age/0", "Age/1", "Age/2", "Age/3"]
    assert keys["part"].tolist() == ["age", "age", *["age_disambiguated"] * 2]
    assert keys["group"].tolist() == ["age", "age", "agrees", "disagrees"]
    assert keys["cluster"].unique().tolist() == ["age/4"]
    outcomes = keys[[f"outcome_{option}" for option in range(3)]].to_numpy().tolist()
    assert outcomes == [[1, 0, -1], [-1, 0, 1], [1, 0, 0], [1, 0, 0]]


def test_the_bundled_keys_hold_numbers_only():
    keys = load("atlas_keys_bbq", source="bundled")
    assert keys["item"].is_unique
    assert keys["item"].str.fullmatch(r"[A-Z]\w+/\d+").all()
    assert keys["cluster"].str.fullmatch(r"[a-z]\w+/\d+").all()
