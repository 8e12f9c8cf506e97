"""Every recipe of paper 1 on a small file of the same format."""

import hashlib
import json
from dataclasses import replace

import nbformat
import pandas as pd
import pytest

import fairlib
from fairlib import data, ledger
from fairlib.__main__ import main
from fairlib.recipes import compas
from fairlib.recipes import ethayarajh2020 as paper


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Return a function that writes a small stand-in for a genuine file and makes its
    recipe expect it.
    """
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
        small = replace(
            file, sha256=hashlib.sha256(content).hexdigest(), size=len(content)
        )
        if at is None:
            monkeypatch.setattr(module, name, small)
        else:
            monkeypatch.setitem(getattr(module, name), at, small)

    return write


def jsonl(*rows):
    return "".join(
        json.dumps(
            dict(zip(("genre", "gold_label", "annotator_labels"), row, strict=True))
        )
        + "\n"
        for row in rows
    )


def test_costs_are_counted_from_annotations(put):
    e, c, n = "entailment", "contradiction", "neutral"
    put(
        paper,
        "MATCHED",
        jsonl(
            ("slate", e, [e, e, e, e, e]),
            ("slate", e, [e, e, e, n, c]),
            ("slate", "-", [e, e, n, n, c]),
        ),
    )
    put(
        paper,
        "MISMATCHED",
        jsonl(("oup", n, [n, n, n, n, c]), ("oup", n, [n, c, n, n, n])),
    )
    frame = fairlib.load("mnli_costs", source="original")
    assert frame.attrs["source"] == "original"
    assert frame.values.tolist() == [
        ["oup", 0.2, 2],
        ["slate", 0.0, 1],
        ["slate", 0.4, 1],
        ["slate", 1.0, 1],
    ]
    # Auto takes what is at hand.
    assert fairlib.load("mnli_costs").attrs["source"] == "original"
    bundled = fairlib.load("mnli_costs", source="bundled")
    assert list(bundled.columns) == list(frame.columns)


def multinli(counts):
    """Return lines in the format of MultiNLI with these counts of pairs by genre and
    cost, for its two dev sets.
    """
    e, c, n = "entailment", "contradiction", "neutral"
    votes = {
        0.0: (e, [e] * 5),
        0.2: (e, [e, e, n, e, e]),
        0.4: (n, [n, c, n, e, n]),
        1.0: ("-", [e, n, c, e, n]),
    }
    lines = {cost: jsonl(("GENRE", *votes[cost])) for cost in votes}
    matched = set(fairlib.load("mnli_known_counts", source="bundled")["genre"])
    texts = {True: "", False: ""}
    for genre, cost, count in counts.itertuples(index=False):
        texts[genre in matched] += lines[cost].replace("GENRE", genre) * count
    return texts[True], texts[False]


def run_notebook(name, changes):
    """Run the cells of a notebook that draw no figure and need no Jupyter, and return
    what they leave behind.
    """
    path = data.ROOT / "notebooks" / "dossier" / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    left = {}
    for cell in notebook.cells:
        left_out = {"hosted", "widget"}.intersection(
            cell.metadata.get("tags", [])
        ) or "plots.save" in cell.source
        if cell.cell_type == "code" and not left_out:
            source = cell.source
            for old, new in changes.items():
                source = source.replace(old, new)
            exec(compile(source, cell.id, "exec"), left)
    return left


@pytest.mark.slow
def test_genuine_files_turn_table_1_from_open_into_reproduced_or_differs(
    put, monkeypatch, tmp_path
):
    monkeypatch.setattr(ledger, "PARTS", tmp_path / "ledger")
    counts = fairlib.load("mnli_costs", source="bundled")
    altered = counts.assign(
        count=counts["count"]
        + (counts["genre"] == "oup") * counts["cost"].map({0.0: 9, 0.4: -9}).fillna(0)
    )
    found = {}
    for name, pairs in {
        "open": None,
        "reproduced": counts,
        "differs": altered.astype({"count": int}),
    }.items():
        if pairs is not None:
            for file, text in zip(
                ("MATCHED", "MISMATCHED"), multinli(pairs), strict=True
            ):
                put(paper, file, text)
        run_notebook("01_mnli_genres", {"RUNS = 10_000": "RUNS = 50"})
        part = pd.read_csv(
            tmp_path / "ledger" / "01_mnli_genres.csv", keep_default_na=False
        )
        found[name] = part.assign(
            id=part["id"].str.removeprefix("ethayarajh2020/")
        ).set_index("id")
    table = {
        name: part[part.index.str.startswith("table1/")]["status"]
        for name, part in found.items()
    }
    judged = {
        name: ledger.verdicts(part.assign(id="ethayarajh2020/" + part.index))
        for name, part in found.items()
    }
    shown = {
        name: table.loc["ethayarajh2020/table1", ["data", "verdict"]].tolist()
        for name, table in judged.items()
    }
    assert shown["open"] == ["stand-in", "checked"]
    assert shown["reproduced"] == ["original", "reproduced"]
    # Without them the other 20 numbers are held against the ten in-genre costs.
    inside = table["open"].index.str.endswith("/in")
    assert table["open"][inside].tolist() == ["open"] * 10
    assert table["open"][~inside].tolist() == ["checked"] * 20
    assert found["open"].loc["table1/oup/in", "note"].startswith("needs ")
    assert table["reproduced"].tolist() == ["reproduced"] * 30
    assert table["differs"]["table1/oup/in"] == "differs"
    assert table["differs"]["table1/government/in"] == "reproduced"
    # What is drawn from the counts goes with them; where the paper shows one draw, ours
    # are others all the same.
    assert (
        found["reproduced"]
        .loc[["mnli/coverage", "figure1/tighter_with_n"], "basis"]
        .tolist()
        == ["original"] * 2
    )
    assert found["reproduced"].loc["figure1/government_claim", "basis"] == "substitute"
    assert (
        "genuine counts" in found["reproduced"].loc["figure1/government_claim", "note"]
    )
    assert found["open"].loc["mnli/coverage", "basis"] == "substitute"
    assert (
        found["open"]
        .loc["mnli/coverage", "note"]
        .startswith("counts reconstructed from Table 1; at n = 100 all 200 intervals")
    )


def test_genuine_files_are_fetched_by_name(put, monkeypatch, tmp_path, capsys):
    put(paper, "MATCHED", jsonl(("slate", "-", ["neutral"])))
    put(paper, "MISMATCHED", jsonl(("oup", "-", ["neutral"])))
    monkeypatch.setattr(
        paper,
        "mnli_costs",
        replace(paper.mnli_costs, files=(paper.MATCHED, paper.MISMATCHED)),
    )
    main(["data", "fetch", "mnli_costs"])
    assert capsys.readouterr().out.splitlines() == [
        str(tmp_path / file.path) for file in paper.mnli_costs.files
    ]
    with pytest.raises(
        SystemExit, match="fairlib data: name must be one of .*, found 'nothing'"
    ):
        main(["data", "fetch", "nothing"])


def test_annotations_without_labels_are_refused(put):
    put(
        paper, "MATCHED", json.dumps({"genre": "slate", "gold_label": "neutral"}) + "\n"
    )
    put(paper, "MISMATCHED", jsonl(("oup", "-", ["neutral"])))
    with pytest.raises(
        data.DataError,
        match=r"dev_matched.jsonl lacks the column\(s\) annotator_labels",
    ):
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
    for name, printed in (
        fairlib.ledger.published()["printed"]
        .filter(like="ethayarajh2020/table1/")
        .items()
    ):
        _, _, genre, column = name.split("/")
        assert abs(table.loc[genre, column] - float(printed)) <= 0.0005 + 1e-9


PARTIAL = pd.DataFrame(
    {
        "genre": ["slate", "slate", "travel"],
        "gold_label": ["neutral", "entailment", "contradiction"],
        "annotator_labels_if_3of5": [
            "neutral|neutral|neutral|entailment|entailment",
            None,
            None,
        ],
        "roberta_pred_seed0": [2.0, 1.0, None],
        "roberta_pred_seed1": [2.0, 0.0, None],
        "roberta_pred_seed2": [0.0, 0.0, 1.0],
    }
)


def test_matched_pairs_are_counted(put, monkeypatch):
    monkeypatch.setattr(
        paper, "PARTIAL", replace(paper.PARTIAL, path="mnli/partial.csv")
    )
    put(paper, "PARTIAL", PARTIAL)
    known = paper.mnli_known_counts()
    assert known.values.tolist() == [["slate", 1998, 1], ["travel", 1999, 0]]
    right = paper.mnli_roberta()
    assert right.query("seed == 0").values.tolist() == [
        [0, "slate", 0, 1],
        [0, "slate", 1, 1],
    ]
    assert right.query("seed == 2").values.tolist() == [
        [2, "slate", 0, 1],
        [2, "slate", 1, 1],
        [2, "travel", 1, 1],
    ]


def test_winobias_files_are_counted(put):
    for name in paper.WINOBIAS_FILES:
        put(
            paper,
            "WINOBIAS_FILES",
            "1 [The cook] slept.\n2 [The cook] sang.\n\n",
            at=name,
        )
    frame = paper.winobias_sentences()
    assert len(frame) == 8
    assert (frame["sentences"] == 2).all()


def test_systems_are_counted(put):
    put(
        paper, "LLM", "trial,pair,pro_correct,anti_correct\n1,1,1,0\n1,2,1,0\n1,3,0,0\n"
    )
    assert paper.winobias_llm().values.tolist() == [[1, 0, 0, 1], [1, 1, 0, 2]]
    put(
        paper,
        "WINOMT",
        "system,language,gold,predicted,count\ns,de,male,male,5\ns,de,male,female,2\ns,de,male,unknown,1\n"
        "s,de,neutral,male,9\n",
    )
    assert paper.winomt_systems().values.tolist() == [
        ["s", "de", "male", 0, 3],
        ["s", "de", "male", 1, 5],
    ]


def test_compas_is_counted(put):
    put(
        compas,
        "COMPAS",
        "race,decile_score,two_year_recid,sex\nOther,3,1,F\nOther,3,1,M\nAsian,10,0,F\n",
    )
    assert fairlib.load("compas_scores", source="original").values.tolist() == [
        ["Asian", 10, 0, 1],
        ["Other", 3, 1, 2],
    ]
    put(compas, "COMPAS", "race,decile_score\nOther,3\n")
    with pytest.raises(data.DataError, match="two_year_recid"):
        fairlib.load("compas_scores", source="original")


def test_compas_is_filtered_as_propublica_does(put):
    """One row for each reason to leave somebody out, on either side of it."""
    columns = (
        "race,decile_score,two_year_recid,days_b_screening_arrest,is_recid,"
        "c_charge_degree,score_text\n"
    )
    kept = ["Asian,1,0,-30,0,F,Low", "Asian,1,0,30,1,M,Low"]
    dropped = [
        "Asian,2,0,-31,0,F,Low",
        "Asian,3,0,31,0,F,Low",
        "Asian,4,0,,0,F,Low",
        "Asian,5,0,0,-1,F,Low",
    ]
    dropped += ["Asian,6,0,0,0,O,Low", "Asian,7,0,0,0,F,N/A"]
    put(compas, "COMPAS", columns + "\n".join([*dropped, *kept]) + "\n")
    assert fairlib.load("compas_filtered", source="original").values.tolist() == [
        ["Asian", 1, 0, 2]
    ]


def test_bundled_compas_has_the_known_numbers_of_people():
    people = (
        fairlib.load("compas_filtered", source="bundled").groupby("race")["count"].sum()
    )
    assert people.sum() == 6172
    assert people.nlargest(2).to_dict() == {"African-American": 3175, "Caucasian": 2103}
    everybody = fairlib.load("compas_scores", source="bundled").set_index(
        ["race", "decile_score", "two_year_recid"]
    )
    part = fairlib.load("compas_filtered", source="bundled").set_index(
        everybody.index.names
    )["count"]
    assert (part <= everybody.loc[part.index, "count"]).all()
