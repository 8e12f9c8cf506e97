"""`fairlib benchmark` on the command line."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from fairlib.__main__ import main


@pytest.fixture
def answers(tmp_path):
    """A file with answers to a benchmark of 10 templates."""
    rng = np.random.default_rng(0)
    path = tmp_path / "answers.csv"
    frame = pd.DataFrame(
        {
            "item": np.arange(400),
            "sex": np.tile(["woman", "man"], 200),
            "outcome": (rng.random(400) < np.tile([0.3, 0.8], 200)).astype(int),
            "cluster": np.arange(400) // 40,
        }
    )
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def card(tmp_path):
    """A card of one's own."""
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\n[clusters]\nwhat = "template"\nnumber = 10\n'
        '[groups]\nnames = ["woman", "man"]\n[score]\nkind = "difference"\n',
        encoding="utf-8",
    )
    return path


def test_benchmarks_are_listed(capsys):
    main(["benchmark"])
    assert "winobias: WinoBias, counted (parts: type_1, type_2)" in (
        capsys.readouterr().out
    )


def test_a_name_is_enough(capsys):
    main(["benchmark", "gap"])
    assert "The smallest bias that GAP (test)" in capsys.readouterr().out


def test_answers_are_scored_and_written(capsys, tmp_path, answers, card):
    output = tmp_path / "report.json"
    words = ["benchmark", str(card), str(answers), "--column", "group=sex"]
    main([*words, "--json", str(output), "--confidence", "0.9"])
    assert "the predictions show a difference" in capsys.readouterr().out
    contents = json.loads(output.read_text(encoding="utf-8"))
    assert contents["score"]["confidence"] == 0.9
    assert contents["conclusion"] == "shown"

    with pytest.raises(SystemExit) as stopped:
        main([*words, "--fail-on-shown"])
    assert stopped.value.code == 1


def test_one_s_own_card_needs_no_name(capsys, answers, card):
    main(["benchmark", "--card", str(card), str(answers), "--column", "group=sex"])
    assert "the predictions show a difference" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing"], "name must be one of .* found 'nothing'"),
        (["winobias", "nowhere.csv"], "predictions 'nowhere.csv' does not exist"),
        (["winobias", "--column", "sex"], "column must be ROLE=COLUMN, found 'sex'"),
        (["winobias", "--power", "2"], "power must be in .0, 1., found 2.0"),
    ],
)
def test_an_error_is_one_line_with_status_2(capsys, words, message):
    with pytest.raises(SystemExit) as stopped:
        main(["benchmark", *words])
    assert stopped.value.code == 2
    printed = capsys.readouterr().err
    assert printed.startswith("fairlib benchmark: ") and printed.count("\n") == 1
    assert re.search(message, printed)
