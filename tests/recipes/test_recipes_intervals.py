"""The recipes of dossiers 10a and 10b: occupations in a small file of the same format,
and counts that must agree.
"""

import hashlib
from dataclasses import replace

import pandas as pd

import fairlib
from fairlib.recipes import intervals


def test_answers_are_counted_by_the_occupation_of_the_next_line(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))
    texts = {
        "LLM": "trial,pair,pro_correct,anti_correct\n"
        "1,1,1,0\n1,2,1,0\n1,3,0,0\n2,1,1,1\n",
        "PRO_TEST": "1 [The cook] met the chief.\n2 The chief thanked [an analyst].\n\n"
        "3 [The cook] sang as [he] slept.\n4 The guard saw [the construction "
        "worker].\n",
    }
    for name, text in texts.items():
        file = getattr(intervals, name)
        path = tmp_path / file.path
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        monkeypatch.setattr(
            intervals, name, replace(file, sha256=digest, size=path.stat().st_size)
        )
    assert intervals.winobias_occupations().values.tolist() == [
        [1, "analyst", 1, 0, 1],
        [1, "construction worker", 0, 0, 1],
        [1, "cook", 1, 0, 1],
        [2, "analyst", 1, 1, 1],
    ]


def test_occupations_add_up_to_the_pairs():
    """Two bundled tables of the same answers."""
    by_occupation = fairlib.load("winobias_occupations", source="bundled")
    keys = ["trial", "pro_correct", "anti_correct"]
    summed = by_occupation.groupby(keys, as_index=False)["pairs"].sum()
    pd.testing.assert_frame_equal(
        summed, fairlib.load("winobias_llm", source="bundled"), check_like=True
    )
    assert by_occupation["occupation"].nunique() == 40


def test_simulated_gaps_are_what_their_seeds_give():
    table = fairlib.load("gap_coverage", source="bundled")
    assert table.groupby("seed").size().tolist() == [len(intervals.GAP_METHODS)] * len(
        intervals.DESIGNS
    )
    for seed in (0, 37):
        rows = table[table["seed"] == seed].reset_index(drop=True)
        again = pd.DataFrame(
            intervals.simulated_gaps(*intervals.DESIGNS[seed], seed=seed)
        ).round(5)
        pd.testing.assert_frame_equal(rows, again, check_dtype=False)
    ours = table[table["method"] == "gaps.interval"]
    assert (ours["coverage"] >= 0.95 - 2 * ours["error"]).all()
