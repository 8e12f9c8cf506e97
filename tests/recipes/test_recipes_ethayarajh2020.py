"""Every recipe of paper 1 on a small file of the same format."""

import hashlib
import json
from dataclasses import replace

import pandas as pd
import pytest

import fairlib
from fairlib import data
from fairlib.recipes import compas
from fairlib.recipes import ethayarajh2020 as paper


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Return a function that writes a small stand-in for a genuine file and makes its recipe expect it."""
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))

    def write(module, name, text, at=None):
        file = getattr(module, name) if at is None else getattr(module, name)[at]
        path = tmp_path / file.path
        path.parent.mkdir(exist_ok=True)
        if isinstance(text, pd.DataFrame):
            text.to_csv(path, index=False)
        else:
            path.write_text(text, encoding="utf-8")
        content = path.read_bytes()
        small = replace(file, sha256=hashlib.sha256(content).hexdigest(), size=len(content))
        if at is None:
            monkeypatch.setattr(module, name, small)
        else:
            monkeypatch.setitem(getattr(module, name), at, small)

    return write


def jsonl(*rows):
    return "".join(
        json.dumps(dict(zip(("genre", "gold_label", "annotator_labels"), row, strict=True))) + "\n" for row in rows
    )


def test_costs_are_counted_from_annotations(put):
    e, c, n = "entailment", "contradiction", "neutral"
    put(
        paper,
        "MATCHED",
        jsonl(("slate", e, [e, e, e, e, e]), ("slate", e, [e, e, e, n, c]), ("slate", "-", [e, e, n, n, c])),
    )
    put(paper, "MISMATCHED", jsonl(("oup", n, [n, n, n, n, c]), ("oup", n, [n, c, n, n, n])))
    frame = fairlib.load("mnli_costs", source="original")
    assert frame.attrs["source"] == "original"
    assert frame.values.tolist() == [["oup", 0.2, 2], ["slate", 0.0, 1], ["slate", 0.4, 1], ["slate", 1.0, 1]]
    assert fairlib.load("mnli_costs").attrs["source"] == "original"  # auto takes what is at hand
    bundled = fairlib.load("mnli_costs", source="bundled")
    assert list(bundled.columns) == list(frame.columns)


def test_annotations_without_labels_are_refused(put):
    put(paper, "MATCHED", json.dumps({"genre": "slate", "gold_label": "neutral"}) + "\n")
    put(paper, "MISMATCHED", jsonl(("oup", "-", ["neutral"])))
    with pytest.raises(data.DataError, match=r"dev_matched.jsonl lacks the column\(s\) annotator_labels"):
        fairlib.load("mnli_costs", source="original")


def test_reconstruction_fits_all_printed_numbers():
    costs = fairlib.load("mnli_costs", source="bundled")
    population = costs.pivot(index="genre", columns="cost", values="count")
    assert (population.sum(axis=1) == paper.PAIRS_PER_GENRE).all()
    assert (population >= 0).all(axis=None)
    known = fairlib.load("mnli_known_counts", source="bundled").set_index("genre")
    assert (population.loc[known.index, 1.0] == known["without_majority"]).all()
    assert (population.loc[known.index, 0.4] == known["three_of_five"]).all()
    total = population @ population.columns
    table = pd.DataFrame({"in": total / 2000, "out": (total.sum() - total) / 18000})
    table["difference"] = table["in"] - table["out"]
    for name, printed in fairlib.ledger.published()["printed"].filter(like="ethayarajh2020/table1/").items():
        _, _, genre, column = name.split("/")
        assert abs(table.loc[genre, column] - float(printed)) <= 0.0005 + 1e-9


PARTIAL = pd.DataFrame(
    {
        "genre": ["slate", "slate", "travel"],
        "gold_label": ["neutral", "entailment", "contradiction"],
        "annotator_labels_if_3of5": ["neutral|neutral|neutral|entailment|entailment", None, None],
        "roberta_pred_seed0": [2.0, 1.0, None],
        "roberta_pred_seed1": [2.0, 0.0, None],
        "roberta_pred_seed2": [0.0, 0.0, 1.0],
    }
)


def test_matched_pairs_are_counted(put, monkeypatch):
    monkeypatch.setattr(paper, "PARTIAL", replace(paper.PARTIAL, path="mnli/partial.csv"))
    put(paper, "PARTIAL", PARTIAL)
    known = paper.mnli_known_counts()
    assert known.values.tolist() == [["slate", 1998, 1], ["travel", 1999, 0]]
    right = paper.mnli_roberta()
    assert right.query("seed == 0").values.tolist() == [[0, "slate", 0, 1], [0, "slate", 1, 1]]
    assert right.query("seed == 2").values.tolist() == [[2, "slate", 0, 1], [2, "slate", 1, 1], [2, "travel", 1, 1]]


def test_winobias_files_are_counted(put):
    for name in paper.WINOBIAS_FILES:
        put(paper, "WINOBIAS_FILES", "1 [The cook] slept.\n2 [The cook] sang.\n\n", at=name)
    frame = paper.winobias_sentences()
    assert len(frame) == 8
    assert (frame["sentences"] == 2).all()


def test_systems_are_counted(put):
    put(paper, "LLM", "trial,pair,pro_correct,anti_correct\n1,1,1,0\n1,2,1,0\n1,3,0,0\n")
    assert paper.winobias_llm().values.tolist() == [[1, 0, 0, 1], [1, 1, 0, 2]]
    put(
        paper,
        "WINOMT",
        "system,language,gold,predicted,count\ns,de,male,male,5\ns,de,male,female,2\ns,de,male,unknown,1\n"
        "s,de,neutral,male,9\n",
    )
    assert paper.winomt_systems().values.tolist() == [["s", "de", "male", 0, 3], ["s", "de", "male", 1, 5]]


def test_compas_is_counted(put):
    put(compas, "COMPAS", "race,decile_score,two_year_recid,sex\nOther,3,1,F\nOther,3,1,M\nAsian,10,0,F\n")
    assert fairlib.load("compas_scores", source="original").values.tolist() == [["Asian", 10, 0, 1], ["Other", 3, 1, 2]]
    put(compas, "COMPAS", "race,decile_score\nOther,3\n")
    with pytest.raises(data.DataError, match="two_year_recid"):
        fairlib.load("compas_scores", source="original")


def test_compas_is_filtered_as_propublica_does(put):
    """One row for each reason to leave somebody out, on either side of it."""
    columns = "race,decile_score,two_year_recid,days_b_screening_arrest,is_recid,c_charge_degree,score_text\n"
    kept = ["Asian,1,0,-30,0,F,Low", "Asian,1,0,30,1,M,Low"]
    dropped = ["Asian,2,0,-31,0,F,Low", "Asian,3,0,31,0,F,Low", "Asian,4,0,,0,F,Low", "Asian,5,0,0,-1,F,Low"]
    dropped += ["Asian,6,0,0,0,O,Low", "Asian,7,0,0,0,F,N/A"]
    put(compas, "COMPAS", columns + "\n".join([*dropped, *kept]) + "\n")
    assert fairlib.load("compas_filtered", source="original").values.tolist() == [["Asian", 1, 0, 2]]


def test_bundled_compas_has_the_known_numbers_of_people():
    people = fairlib.load("compas_filtered", source="bundled").groupby("race")["count"].sum()
    assert people.sum() == 6172
    assert people.nlargest(2).to_dict() == {"African-American": 3175, "Caucasian": 2103}
    everybody = fairlib.load("compas_scores", source="bundled").set_index(["race", "decile_score", "two_year_recid"])
    part = fairlib.load("compas_filtered", source="bundled").set_index(everybody.index.names)["count"]
    assert (part <= everybody.loc[part.index, "count"]).all()
