"""docs/checked_against.md has what benchmarks/validation.py computes; examples run."""

import doctest
import re
import sys

import pandas as pd
import pytest

from fairlib.data import ROOT

PAGE = ROOT / "docs" / "checked_against.md"
ROWS = [
    line
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if re.match(r"\|.*\| \d+ \| \d+ \|", line)
]


@pytest.fixture
def validation(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import validation

    yield validation
    for name in ("validation", "validation_peers"):
        sys.modules.pop(name)


def test_the_page_has_the_lines_that_need_no_file(validation):
    computed = [validation.written(source()) for source in validation.ALWAYS.values()]
    assert [
        line[: len(found)] for line, found in zip(ROWS, computed, strict=False)
    ] == computed
    assert len(ROWS) == len(validation.ALWAYS | validation.ON_REQUEST)


def test_a_value_that_is_wrong_by_a_digit_does_not_agree(validation):
    rows = validation.PUBLISHED[
        validation.PUBLISHED["source"] == "aequitas, race"
    ].head(3)
    assert (
        validation.printed("a", "b", lambda *_: 805.0, rows).agree
        == (rows["printed"] == "805").sum()
    )
    rate = pd.DataFrame({"case": ["g"], "quantity": ["fpr"], "printed": ["0.45"]})
    assert validation.printed("a", "b", lambda *_: 0.4551, rate).agree == 0
    assert validation.printed("a", "b", lambda *_: 0.4549, rate).agree == 1
    assert validation.compared("a", "b", [float("nan")], [float("nan")]).agree == 0


def test_no_published_value_is_left_out(validation):
    from_files = {"aequitas, sex": 60, "aequitas, age_cat": 90}
    carried = sum(
        source().values for name, source in list(validation.ALWAYS.items())[:5]
    )
    assert carried + sum(from_files.values()) == len(validation.PUBLISHED)


def test_without_the_public_files_the_script_says_which_it_needs(
    validation, monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))
    monkeypatch.setattr(validation, "ALWAYS", {})
    validation.main()
    said = capsys.readouterr().out
    for name in (
        "unintended-ml-bias-analysis at 6a62fab",
        "examples/data/compas_for_aequitas.csv",
    ):
        assert name in said


def test_perspectives_lines_are_computed_from_its_files(
    validation, monkeypatch, tmp_path
):
    """Made-up sentences with known areas: the term's toxic ones score highest."""
    folder = tmp_path / "validation" / "perspective"
    folder.mkdir(parents=True)
    scores = [0.1, 0.9, 0.2, 0.3, 0.25]
    sentences = pd.DataFrame(
        {
            "phrase": ["a gay man", "Gay!", "gaylord", "they", "you"],
            "toxicity": ["nontoxic", "toxic", "nontoxic", "toxic", "nontoxic"],
            "TOXICITY@1": scores,
            "TOXICITY@6": scores,
        }
    )
    areas = {
        "subgroup_auc": 1,
        "negative_cross_auc": 1,
        "positive_cross_auc": 1,
        "positive_aeg": 0.5,
    }
    areas["negative_aeg"] = -0.5
    wanted = {
        f"TOXICITY@{one}_{name}": value
        for one in (1, 6)
        for name, value in areas.items()
    }
    sentences.to_csv(folder / "intersectional_madlibs_scored.csv", index=False)
    for name in ("unitary_results", "intersectional_results"):
        pd.DataFrame([{"subgroup": "gay"} | wanted]).to_csv(folder / f"{name}.csv")
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))
    assert validation.perspective()[2:4] == (20, 20)


@pytest.mark.filterwarnings("ignore")  # of other libraries
def test_the_differences_come_out_as_the_page_says():
    ran = doctest.testfile(
        str(PAGE),
        module_relative=False,
        encoding="utf-8",
        optionflags=doctest.NORMALIZE_WHITESPACE,
    )
    assert ran.attempted > 10 and ran.failed == 0
