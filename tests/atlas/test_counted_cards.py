"""Every number on a card of the atlas is in the table of counts."""

import re
import tomllib

import numpy as np
import pandas as pd
import pytest

import fairlib
from fairlib.data import DATA
from fairlib.recipes.atlas_counts import BENCHMARKS

CARDS = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted((DATA / "atlas").glob("*.toml"))
}
COUNTED = [name for name, card in CARDS.items() if card["status"] == "counted"]
# quantity in the table of counts -> table and field of a card
FIELDS = {
    "items": ("items", "number"),
    "groups": ("groups", "number"),
    "pairs": ("pairs", "number"),
    "clusters": ("clusters", "number"),
    "smallest_cluster": ("clusters", "smallest"),
    "largest_cluster": ("clusters", "largest"),
}


@pytest.fixture(scope="module")
def counts():
    table = fairlib.load("atlas_counts", source="bundled")
    return {
        key: dict(zip(rows["quantity"], rows["value"], strict=True))
        for key, rows in table.groupby(["benchmark", "part"])
    }


def numbers(card):
    """Return the numbers of a card under the names of the table of counts."""
    stated = {
        quantity: card[table][field]
        for quantity, (table, field) in FIELDS.items()
        if field in card.get(table, {})
    }
    sizes = card.get("groups", {}).get("sizes", {})
    stated |= {f"group {name}": size for name, size in sizes.items()}
    sizes = card["clusters"].get("sizes", [])
    stated |= {f"cluster {n}": size for n, size in enumerate(sizes, 1)}
    sizes = card["pairs"].get("sizes", [])
    stated |= {f"pairs_of_cluster {n}": size for n, size in enumerate(sizes, 1)}
    if "smallest" in card.get("groups", {}):
        stated["smallest_group"] = card["groups"]["smallest"]
    return stated


def test_enough_benchmarks_were_counted_and_all_of_them_have_a_card():
    assert sorted(COUNTED) == sorted(BENCHMARKS)
    assert len(COUNTED) >= 25


@pytest.mark.parametrize("name", COUNTED)
def test_the_numbers_of_a_card_are_those_that_were_counted(name, counts):
    card = CARDS[name]
    parts = {"whole": card} | card.get("parts", {})
    for part, tables in parts.items():
        stated = numbers(tables)
        assert {*FIELDS} - {"groups"} <= {*stated}, part
        counted = counts[name, part]
        assert stated == {key: counted.get(key) for key in stated}, part
        listed = {
            key for key in counted if re.match("(group|cluster|pairs_of_cluster) ", key)
        }
        assert listed <= {*stated}, part

        several = counted.get("clusters_with_several_groups")
        if several is not None:
            shared = 2 * several >= counted["clusters"]
            assert tables["clusters"]["shared"] == shared, part


@pytest.mark.parametrize("name", CARDS)
def test_a_card_says_who_is_concerned_and_where_the_numbers_come_from(name):
    card = CARDS[name]
    assert card["name"] == name
    assert str(card["year"]) in card["paper"]
    assert " concerns " in card["concerns"]
    assert card["source"]["licence"]
    if card["status"] == "counted":
        commit = card["source"]["commit"]
        assert re.fullmatch("[0-9a-f]{40}", commit)
        commits = {clone.commit for clone in BENCHMARKS[name].clones}
        assert not commits or commit in commits


@pytest.mark.parametrize("name", sorted({*CARDS} - {*COUNTED}))
def test_an_open_card_gives_a_reason_and_no_number(name):
    card = CARDS[name]
    assert card["status"] == "open"
    assert card["reason"]
    assert not {"items", "groups", "pairs", "clusters", "parts"} & {*card}


def test_measured_dependence_is_the_largest_of_the_released_answers():
    table = fairlib.load("atlas_dependence", source="bundled")
    stated = [
        (name, part, tables["dependence"])
        for name, card in CARDS.items()
        for part, tables in card.get("parts", {}).items()
        if "dependence" in tables
    ]
    assert len(stated) >= 15
    for name, part, dependence in stated:
        same = table[table["design_effect"].eq(dependence["design_effect"])]
        (row,) = same.to_dict("records")
        assert row["benchmark"].lower() == name, part
        assert (row["low"], row["high"]) == (dependence["low"], dependence["high"])
        assert row["model"] in dependence["from"], part


@pytest.mark.parametrize(
    ("name", "part", "quantity", "words"),
    [
        ("bold", "all_domains", "items", "{:,} prompts"),
        ("bug_gold", "whole", "items_without_group", "{:,} sentences"),
        ("crows_pairs", "whole", "largest_cluster", "wrote {:,} pairs"),
        ("decodingtrust_stereotypes", "whole", "items", "{:,} prompts"),
        ("equity_evaluation_corpus", "race", "items_without_group", "{:,} sentences"),
        ("grep_biasir", "whole", "items_without_group", "{:,} documents"),
        ("hatecheck", "whole", "pairs", "{:,} templates"),
        ("holistic_bias", "whole", "descriptors", "{:,} descriptors"),
        ("holistic_bias", "whole", "nouns", "{:,} nouns"),
        ("identity_suites", "all_attributes", "items", "{:,} sentences"),
        ("identity_suites", "all_attributes", "clusters", "{:,} templates"),
        ("madlibs", "whole", "items_without_group", "{:,} sentences"),
        ("madlibs", "whole", "largest_cluster", "{:,} of the sentences"),
        ("regard", "whole", "items", "{:,} texts"),
        ("winobias", "whole", "items", "have {:,}"),
        ("winobias", "whole", "pairs_that_differ_elsewhere", "{:,} of the pairs"),
        ("winomt", "whole", "items_without_group", "{:,} sentences"),
    ],
)
def test_numbers_in_words_are_counted_too(name, part, quantity, words, counts):
    notes = " ".join(CARDS[name]["notes"])
    assert words.format(counts[name, part][quantity]) in notes


def test_the_hint_about_winobias_is_what_the_released_answers_give():
    table = fairlib.load("winobias_occupations", source="bundled")
    effects = []
    for _, pairs in table.groupby("trial"):
        rows = pairs.loc[pairs.index.repeat(pairs["pairs"])].reset_index(drop=True)
        rows = rows.rename(columns={"occupation": "cluster"}).assign(pair=rows.index)
        sides = [
            rows.assign(group=side, outcome=rows[f"{side}_correct"])
            for side in ("pro", "anti")
        ]
        both = pd.concat(sides, ignore_index=True).assign(item=lambda f: f.index)
        columns = ["item", "group", "outcome", "pair", "cluster"]
        report = fairlib.benchmark("winobias", both[columns])
        effects.append(report.dependence.estimate)

    # A design effect grows with the number of pairs that resemble each other.
    of_one_trial = table[table["trial"] == table["trial"].iloc[0]]
    answered = of_one_trial.groupby("occupation")["pairs"].sum()
    resemblance = (1.7 - 1) / ((answered**2).sum() / answered.sum() - 1)
    sizes = np.array(CARDS["winobias"]["clusters"]["sizes"]) / 2
    largest = 1 + ((sizes**2).sum() / sizes.sum() - 1) * resemblance
    smallest = fairlib.benchmark("winobias", design_effect=largest).smallest_bias

    note = CARDS["winobias"]["notes"][0]
    assert f"are {min(effects):.1f} to {max(effects):.1f}." in note
    assert f"a design effect of 1.7 becomes about {largest:.1f}" in note
    assert f"about {100 * smallest:.0f} points" in note
