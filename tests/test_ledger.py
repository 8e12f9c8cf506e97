import csv
import re

import pandas as pd
import pytest

from fairlib import ledger
from fairlib.data import ROOT
from fairlib.ledger import page as page_module

COLUMNS = [
    "id",
    "experiment",
    "place",
    "quantity",
    "kind",
    "printed",
    "error",
    "unit",
    "notebook",
]
COLUMNS += ["basis", "apart", "note"]
KINDS = ("number", "threshold", "interval", "statement")

CLAIMS = [
    [
        "demo/rate",
        "one",
        "Table 1",
        "a rate",
        "number",
        "0.116",
        "",
        "",
        "01_one",
        "formula",
        "",
        "",
    ],
    [
        "demo/share",
        "one",
        "Section 2",
        "a share",
        "number",
        "100",
        "",
        "%",
        "01_one",
        "original",
        "",
        "",
    ],
    [
        "demo/p",
        "two",
        "Table 2",
        "a p-value",
        "number",
        "8.72e-1",
        "",
        "",
        "02_two",
        "substitute",
        "",
        "a stand-in: {}",
    ],
    [
        "demo/mean",
        "two",
        "Table 3",
        "a mean with its error",
        "number",
        "0.50",
        "0.10",
        "",
        "02_two",
        "substitute",
        "",
        "a stand-in",
    ],
    [
        "demo/range",
        "two",
        "Section 3",
        "an interval",
        "interval",
        "(0.0, 0.12)",
        "",
        "",
        "02_two",
        "open",
        "",
        "needs images; make models",
    ],
    [
        "demo/said",
        "one",
        "Section 4",
        "a statement",
        "statement",
        "stated",
        "",
        "",
        "01_one",
        "input",
        "",
        "",
    ],
    [
        "demo/enough",
        "one",
        "Section 4",
        "a bias that suffices",
        "threshold",
        "0.0975",
        "",
        "",
        "01_one",
        "formula",
        "",
        "",
    ],
    [
        "demo/three",
        "one",
        "Section 5",
        "a count",
        "number",
        "3",
        "",
        "",
        "01_one",
        "formula",
        "definition",
        "",
    ],
]
EXPERIMENTS = [
    ["experiment", "title", "kind", "data", "model", "suite", "code", "stand_in"],
    [
        "demo/two",
        "The second",
        "trained models",
        "original",
        "stand-in",
        "-",
        "original",
        "a small model",
    ],
    ["demo/one", "The first", "formula", "original", "-", "-", "original", ""],
]


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A ledger of its own: eight claims of one paper, two notebooks."""
    for name in ("published", "build/ledger", "figures", "notebooks"):
        (tmp_path / name).mkdir(parents=True)
    write_claims(tmp_path / "published" / "demo.csv", CLAIMS)
    for name in ("01_one", "02_two"):
        (tmp_path / "notebooks" / f"{name}.ipynb").touch()
    monkeypatch.setattr(ledger, "PUBLISHED", tmp_path / "published")
    monkeypatch.setattr(ledger, "PARTS", tmp_path / "build" / "ledger")
    monkeypatch.setattr(page_module, "FIGURES", tmp_path / "figures")
    with (tmp_path / "published" / "experiments.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(EXPERIMENTS)
    ledger.published.cache_clear()
    yield tmp_path
    ledger.published.cache_clear()


def write_claims(path, rows):
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([COLUMNS, *rows])


@pytest.mark.parametrize(
    ("claim", "value", "basis", "status"),
    [
        ("demo/rate", 0.11649, "formula", "reproduced"),
        ("demo/rate", 0.1165, "original", "reproduced"),  # a tie may round either way
        ("demo/rate", 0.1166, "original", "differs"),
        ("demo/rate", 0.1162, "substitute", "consistent"),
        ("demo/rate", 0.2, "substitute", "inconclusive"),
        (
            "demo/rate",
            None,
            "substitute",
            "inconclusive",
        ),  # 0/0: the rule cannot decide
        ("demo/rate", None, "formula", "inconclusive"),
        ("demo/rate", None, "check", "inconclusive"),
        ("demo/rate", 0.116, "check", "checked"),
        ("demo/rate", 0.117, "check", "differs"),
        ("demo/rate", 0.116, "input", "input"),
        # What suffices may only be rounded up.
        ("demo/enough", 0.09742, "formula", "reproduced"),
        ("demo/enough", 0.0975, "formula", "reproduced"),
        ("demo/enough", 0.09751, "formula", "differs"),
        ("demo/enough", 0.0974, "formula", "differs"),
        ("demo/share", 100, "formula", "reproduced"),
        ("demo/share", 99.4, "formula", "differs"),
        ("demo/p", 0.8718, "formula", "reproduced"),
        ("demo/p", 0.86, "formula", "differs"),
        ("demo/mean", 0.41, "substitute", "consistent"),  # inside the printed ±
        ("demo/mean", 0.39, "substitute", "inconclusive"),
        (
            "demo/mean",
            0.41,
            "original",
            "differs",
        ),  # the same data must give the same number
        ("demo/range", (-0.02, 0.118), "formula", "reproduced"),
        ("demo/range", (-0.06, 0.118), "formula", "differs"),
        ("demo/said", True, "substitute", "consistent"),
        ("demo/said", False, "formula", "differs"),
    ],
)
def test_status_follows_from_value_and_basis(desk, claim, value, basis, status):
    found = ledger.check(claim, value, basis=basis, detail="5")
    assert found.status == status
    assert found.computed


def test_printed_shows_error_and_unit(desk):
    assert ledger.check("demo/mean", 0.5).printed == "0.50 ± 0.10"
    assert ledger.check("demo/share", 100).printed == "100%"


def test_bad_calls_are_refused(desk):
    with pytest.raises(
        ValueError, match="claim_id must be an id in data/published/, found 'demo/none'"
    ):
        ledger.check("demo/none", 1)
    with pytest.raises(ValueError, match="basis must be one of .* found 'guess'"):
        ledger.check("demo/rate", 1, basis="guess")
    with pytest.raises(
        ValueError,
        match="detail must say what the note of 'demo/p' leaves open, 'a stand-in: {}'",
    ):
        ledger.check("demo/p", 1)
    with pytest.raises(
        ValueError,
        match="must be finite, 2 for an interval, None if undecided, found nan",
    ):
        ledger.check("demo/rate", float("nan"))
    with pytest.raises(
        ValueError, match="must be None while its basis is 'open', found 0.3"
    ):
        ledger.check("demo/range", 0.3)
    for claim, value in (("demo/rate", (1, 2)), ("demo/range", 0.5)):
        with pytest.raises(ValueError, match="must be finite, 2 for an interval"):
            ledger.check(claim, value, basis="formula")


ONE = {"rate": 0.116, "share": 100, "enough": 0.0975, "three": 3}
TWO = {"p": 0.872, "mean": 0.7}


def test_a_notebook_answers_all_its_claims_and_no_others(desk):
    with pytest.raises(
        ValueError,
        match="notebook must be one that the published tables name, found '03_three'",
    ):
        ledger.record("03_three", {})
    with pytest.raises(
        ValueError, match="must name claims that 01_one answers, found 'p'"
    ):
        ledger.record("01_one", ONE | {"p": 0.9})
    with pytest.raises(ValueError, match="and basis must name claims .* found 'p'"):
        ledger.record("01_one", ONE, basis={"p": "original"})
    with pytest.raises(
        ValueError,
        match=r"values lacks 3 claim\(s\) that 01_one answers: share, enough",
    ):
        ledger.record("01_one", {"rate": 0.116})
    table = ledger.record(
        "02_two", TWO, details={"p": "of 7 seeds"}, basis={"mean": "original"}
    ).set_index("id")
    assert table.loc["demo/p", ["status", "note"]].tolist() == [
        "consistent",
        "a stand-in: of 7 seeds",
    ]
    assert table.loc["demo/mean", ["status", "basis", "note"]].tolist() == [
        "differs",
        "original",
        "",
    ]
    assert table.loc["demo/range", ["status", "computed", "note"]].tolist() == [
        "open",
        "",
        "needs images; make models",
    ]
    # trained again after all: another training stands in for the paper's
    answers, said = (
        TWO | {"range": (0.0, 0.12)},
        {"p": "of 7 seeds", "range": "five trainings"},
    )
    table = ledger.record(
        "02_two", answers, details=said, basis={"range": "substitute"}
    ).set_index("id")
    assert table.loc["demo/range", ["status", "note"]].tolist() == [
        "consistent",
        "five trainings",
    ]


def test_inputs_are_used_as_printed_unless_a_value_is_given(desk):
    assert (
        ledger.record("01_one", ONE).set_index("id").loc["demo/said", "computed"]
        == "holds"
    )
    assert ledger.check("demo/rate", basis="input").computed == "0.116"
    assert ledger.check("demo/range", basis="input").computed == "(0, 0.12)"
    assert ledger.check("demo/rate", 0.1162, basis="input").computed == "0.1162"


def test_assembly_wants_every_claim_answered(desk):
    with pytest.raises(
        ValueError, match="lacks what 01_one, 02_two recorded; run `make reproduce`"
    ):
        ledger.assemble()
    ledger.record("01_one", ONE)
    ledger.record("02_two", TWO, details={"p": "x"})
    table = ledger.assemble()
    assert table["id"].tolist() == [
        row[0] for row in CLAIMS
    ]  # in the order of the paper
    assert table.set_index("id").loc["demo/p", "notebook"] == "02_two"
    write_claims(
        desk / "published" / "demo.csv", [*CLAIMS, ["demo/new", *CLAIMS[0][1:]]]
    )
    ledger.published.cache_clear()
    with pytest.raises(
        ValueError, match=r"1 printed claim\(s\) that no notebook answers: demo/new"
    ):
        ledger.assemble()


def test_pages_are_written_and_the_same_twice(desk, monkeypatch):
    monkeypatch.setattr("fairlib.plots.FIGURES", desk / "figures")
    ledger.record("01_one", ONE)
    ledger.record("02_two", TWO, details={"p": "x"})
    page_module.main([])
    names = ["ledger.csv", "ledger.md", "ledger.png", "ledger.svg"]
    first = {name: (desk / "figures" / name).read_bytes() for name in names}
    page_module.main([])
    assert first == {name: (desk / "figures" / name).read_bytes() for name in names}
    page = first["ledger.md"].decode()
    # The second has three statuses, each once, so the worst of them is its verdict.
    headline = "1 of 2 experiments reproduced, none of them with a trained model"
    assert f"{headline}; 1 open." in page
    # A formula comes before trained models, in whatever order they are listed.
    assert page.index("### Formula") < page.index("| demo/one |")
    assert page.index("| demo/one |") < page.index("### Trained models")
    assert page.index("### Trained models") < page.index("| demo/two |")
    row = "| demo/one | The first | original | - | - | original |  | reproduced "
    assert f"{row}| 3 reproduced |" in page
    assert re.findall(r"^- \*\*(\w+)\*\*: .", page, flags=re.MULTILINE) == [
        *ledger.STATUSES
    ]
    assert page.index("## Definitions and counts that cannot fail") < page.index(
        "a count"
    )


@pytest.mark.parametrize(
    ("statuses", "stand_in", "verdict"),
    [
        (["input"], "", "input"),
        ([], "", "definition"),  # nothing is left that could have failed
        (["reproduced", "reproduced", "differs"], "", "reproduced"),
        (["reproduced", "differs"], "", "differs"),  # as many of each: the worse
        (
            ["open", "consistent", "consistent", "inconclusive"],
            "a small model",
            "consistent",
        ),
        (["reproduced", "checked"], "", "checked"),
        (["reproduced"], "a small model", "consistent"),  # at best
    ],
)
def test_the_verdict_is_what_most_have(
    monkeypatch, tmp_path, statuses, stand_in, verdict
):
    monkeypatch.setattr(ledger, "PUBLISHED", tmp_path)
    recorded = {"experiment": ["demo/one"], "kind": "formula", "stand_in": stand_in}
    pd.DataFrame(recorded).to_csv(tmp_path / "experiments.csv")
    kinds = pd.DataFrame(
        {"kind": "number", "basis": "formula"},
        index=[f"demo/{place}" for place in range(len(statuses))],
    )
    monkeypatch.setattr(ledger, "published", lambda: kinds)
    facts = {"experiment": "demo/one", "basis": "formula"}
    table = pd.DataFrame({"id": kinds.index, "status": statuses, "apart": ""} | facts)
    assert ledger.verdicts(table)["verdict"].tolist() == [verdict]
    # What stands apart does not judge; and where there are statements, numbers do not.
    told = pd.DataFrame(
        {"id": ["demo/s", "demo/t"], "status": "differs", "apart": ["", "ours"]} | facts
    )
    stated = pd.DataFrame({"kind": "statement", "basis": "formula"}, index=told["id"])
    monkeypatch.setattr(ledger, "published", lambda: pd.concat([kinds, stated]))
    assert ledger.verdicts(pd.concat([table, told[1:]]))["verdict"].tolist() == [
        verdict
    ]
    assert ledger.verdicts(pd.concat([table, told]))["verdict"].tolist() == ["differs"]


@pytest.mark.parametrize(
    ("kinds", "headline"),
    [
        (["formula", "counting"], "2 of 3 experiments reproduced, none of them with"),
        (
            ["formula", "trained models"],
            "2 of 3 experiments reproduced, 1 of them with",
        ),
        (["released predictions"], "1 of 2 experiments reproduced, 1 of them with"),
    ],
)
def test_the_headline_counts_trained_models_among_what_is_reproduced(kinds, headline):
    verdict = ["reproduced"] * len(kinds) + ["consistent"]
    table = pd.DataFrame({"kind": [*kinds, "trained models"], "verdict": verdict})
    assert ledger.sentence(table) == f"{headline} a trained model; 1 consistent"


def test_an_unknown_kind_of_experiment_is_refused(desk):
    path = desk / "published" / "experiments.csv"
    path.write_text(path.read_text().replace("trained models", "guesses"))
    ledger.record("01_one", ONE)
    ledger.record("02_two", TWO, details={"p": "x"})
    with pytest.raises(ValueError, match="kind must be one of .* found 'guesses'"):
        ledger.verdicts(ledger.assemble())


def test_every_experiment_has_a_kind_and_every_kind_an_experiment():
    experiments = pd.read_csv(ledger.PUBLISHED / "experiments.csv")
    assert set(experiments["kind"]) == set(ledger.KINDS)


def test_nothing_stands_in_where_genuine_files_took_every_place(desk):
    ledger.record("01_one", ONE)
    for original, stand_in, model, verdict in [
        (["range"], "a small model", "stand-in", "consistent"),
        (
            ["range", "mean"],
            "a small model",
            "stand-in",
            "consistent",
        ),  # one substitute is left
        (["range", "mean", "p"], "", "original", "reproduced"),
    ]:
        basis, answers = (
            dict.fromkeys(original, "original"),
            {"p": 0.872, "mean": 0.5, "range": (0.0, 0.12)},
        )
        ledger.record("02_two", answers, details={"p": "x"}, basis=basis)
        row = ledger.verdicts(ledger.assemble()).loc["demo/two"]
        assert row[["stand_in", "model", "verdict"]].tolist() == [
            stand_in,
            model,
            verdict,
        ]


def broken(folder):
    """Name the rules that a folder's files break, and the first claim that does so."""
    found, ids = [], []
    experiments = pd.read_csv(folder / "experiments.csv")["experiment"].tolist()
    for path in set(folder.glob("*.csv")) - {folder / "experiments.csv"}:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        if list(table.columns) != COLUMNS:
            found.append(("columns", path.stem))
            continue
        ids += table["id"].tolist()
        wrong = {
            "id": ~table["id"].str.startswith(path.stem + "/"),
            "experiment": ~(path.stem + "/" + table["experiment"]).isin(experiments),
            "kind": ~table["kind"].isin(KINDS),
            "basis": ~table["basis"].isin(ledger.BASES),
            "apart": ~table["apart"].isin(ledger.APART),
            "note": table["basis"].isin(["substitute", "open"]) & (table["note"] == ""),
        }
        found += [
            (rule, table["id"][rows].iloc[0])
            for rule, rows in wrong.items()
            if rows.any()
        ]
    return found + [("twice", name) for name in sorted(set(ids)) if ids.count(name) > 1]


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        (
            ["other/x", "one", "", "", "number", "1", "", "", "", "formula", "", ""],
            "id",
        ),
        (
            ["demo/rate", "one", "", "", "number", "1", "", "", "", "formula", "", ""],
            "twice",
        ),
        (
            ["demo/x", "one", "", "", "guess", "1", "", "", "", "formula", "", ""],
            "kind",
        ),
        (
            ["demo/x", "one", "", "", "number", "1", "", "", "", "guess", "", ""],
            "basis",
        ),
        (
            ["demo/x", "one", "", "", "number", "1", "", "", "", "formula", "x", ""],
            "apart",
        ),
        (
            ["demo/x", "x", "", "", "number", "1", "", "", "", "formula", "", ""],
            "experiment",
        ),
        (["demo/x", "one", "", "", "number", "1", "", "", "", "open", "", ""], "note"),
    ],
)
def test_each_rule_of_the_published_files_can_be_broken(desk, row, rule):
    assert broken(desk / "published") == []
    write_claims(desk / "published" / "demo.csv", [*CLAIMS, row])
    assert broken(desk / "published") == [(rule, row[0])]


# --- the real ledger ---


def test_the_published_files_break_no_rule():
    assert broken(ledger.PUBLISHED) == []


def test_every_printed_number_stands_in_the_committed_ledger():
    """The committed ledger answers exactly the claims of data/published/."""
    table = pd.read_csv(
        ROOT / "figures" / "ledger.csv", dtype=str, keep_default_na=False
    )
    assert table["id"].tolist() == ledger.published().index.tolist()
    assert set(table["status"]) <= set(ledger.STATUSES)
    claimed = table["status"] != "open"
    assert (table.loc[claimed, "computed"] != "").all()
    assert (table.loc[~claimed, "note"].str.startswith("needs ")).all()
    assert (table.loc[table["basis"] == "substitute", "note"] != "").all()


def test_the_front_page_says_what_the_ledger_says():
    table = pd.read_csv(
        ROOT / "figures" / "ledger.csv", dtype=str, keep_default_na=False
    )
    said = f"{ledger.sentence(ledger.verdicts(table))}."
    assert f"**{said}**" in (ROOT / "README.md").read_text()
    assert said in (ROOT / "figures" / "ledger.md").read_text()
    assert {
        "reproduced",
        "checked",
        "consistent",
        "differs",
        "inconclusive",
        "input",
        "open",
    } == set(table["status"])


def test_printed_numbers_can_be_read():
    for claim, row in ledger.published().iterrows():
        if (row["basis"], row["printed"]) == ("open", "in a picture"):
            continue  # a heatmap whose values are not in the text
        if row["kind"] in ("number", "threshold"):
            float(row["printed"])
            float(row["error"] or 0)
        elif row["kind"] == "interval":
            assert len(row["printed"].strip("()[]").split(",")) == 2, claim
        else:
            assert row["printed"] == "stated", claim


def test_the_first_paper_is_there_in_full():
    claims = ledger.published()
    ids = claims.index[claims.index.str.startswith("ethayarajh2020/")]
    assert len(ids[ids.str.contains("/table1/")]) == 30
    printed = set(claims.loc[ids, "printed"])
    assert {
        "11903",
        "3.8",
        "0.0975",
        "3160",
        "100",
        "(0.0, 0.12)",
        "0.05",
        "500",
        "20",
    } <= printed


def test_choices_are_written_with_the_claim_that_they_concern(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "FIGURES", tmp_path)
    table = pd.DataFrame({"value": [1.0], "holds": [True]}, index=["a seed"])
    written = ledger.record_choices("01_mnli_genres", {"mnli/coverage": table})
    assert written["claim"].tolist() == ["ethayarajh2020/mnli/coverage"]
    stored = pd.read_csv(tmp_path / "dossier" / "01_choices.csv")
    assert stored["choice"].tolist() == ["a seed"]
    with pytest.raises(ValueError, match="choices must be of claims that one paper"):
        ledger.record_choices("01_mnli_genres", {"nothing": table})
