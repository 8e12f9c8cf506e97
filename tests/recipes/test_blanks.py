"""Tests of filling blanks, and of the model that knows only counts."""

import hashlib
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from notebook_cells import behind_the_ledger, cells

import fairlib
from fairlib import ledger, plots
from fairlib.recipes import blanks
from fairlib.recipes.blanks import (
    ANY,
    MASK,
    TEMPLATES,
    count_model,
    count_together,
    fill,
)
from fairlib.recipes.training import masked

JOBS = ["nurse", "cook", "sheriff"]


def test_twenty_templates_as_the_appendix_has_them():
    assert len(set(TEMPLATES)) == 20
    assert "{pronoun} was an old {occupation}." in TEMPLATES
    assert "{pronoun} is a French {occupation}." in TEMPLATES
    assert all(
        text.count(MASK) == 1
        for text in (t.format(pronoun=MASK, occupation="cook") for t in TEMPLATES)
    )


def test_fill_asks_each_blank_and_keeps_answers_with_their_words():
    asked = []

    def score(sentences, words):
        asked.extend(sentences)
        return np.array(
            [
                [len(sentence) + 10 * len(word) + word.count("e") for word in words]
                for sentence in sentences
            ]
        )

    table = fill(score, JOBS)
    assert len(table) == 20 * 3 * 3 and not table.isna().any(axis=None)
    assert len(asked) == len(set(asked)) == 20 * (3 + 3)
    for row in table.sample(40, random_state=0).itertuples():
        template = TEMPLATES[row.template]
        blank = template.format(pronoun=MASK, occupation=row.occupation)
        answers = {word: score([blank], [word])[0, 0] for word in blanks.PRONOUNS}
        assert row.p_pronoun == pytest.approx(
            answers[row.pronoun] / sum(answers.values())
        )
        blank = template.format(pronoun=row.pronoun, occupation=MASK)
        answers = {word: score([blank], [word])[0, 0] for word in JOBS}
        assert row.p_occupation == pytest.approx(
            answers[row.occupation] / sum(answers.values())
        )
    assert np.allclose(table.groupby(["template", "occupation"])["p_pronoun"].sum(), 1)
    assert np.allclose(table.groupby(["template", "pronoun"])["p_occupation"].sum(), 1)


PARAGRAPHS = [
    "The nurse said she left .",
    "Two cooks; he is new .",
    "His cook was old .",
    "They were French .",
    "Nothing here .",
]


def test_paragraphs_are_counted_as_by_hand():
    counts = count_together(PARAGRAPHS, JOBS).set_index(["word", "other"])["paragraphs"]
    both = {frozenset(pair): number for pair, number in counts.items()}
    # (any), 2 verbs, 10 adjectives, 3 pronouns, 3 occupations.
    assert len(both) == len(counts) == 19 * 20 // 2
    assert both[frozenset({ANY})] == 5
    assert (
        both[frozenset({"he"})] == 2
        and both[frozenset({"cook"})] == 2
        and both[frozenset({"he", "cook"})] == 2
    )
    assert (
        both[frozenset({"she", "nurse"})] == 1 and both[frozenset({"she", "cook"})] == 0
    )
    assert (
        both[frozenset({"they", "French"})] == 1 and both[frozenset({"sheriff"})] == 0
    )


def test_capitals_do_not_matter_and_what_is_no_word_is_refused():
    capital = count_together(PARAGRAPHS, [job.upper() for job in JOBS])
    assert (
        capital["paragraphs"].tolist()
        == count_together(PARAGRAPHS, JOBS)["paragraphs"].tolist()
    )
    with pytest.raises(
        ValueError,
        match="occupations must be single words of letters, found 'police officer'",
    ):
        count_together(PARAGRAPHS, ["cook", "police officer"])


def test_the_count_model_is_the_formula_in_its_docstring():
    counts = count_together(PARAGRAPHS, JOBS)
    score = count_model(counts)
    number = {frozenset(pair): n for *pair, n in counts.itertuples(index=False)}

    def by_hand(word, context):
        value = (number[frozenset({word})] + 1) / (5 + 1)
        for other in context:
            expected = number[frozenset({word})] * number[frozenset({other})] / 5
            value *= (number[frozenset({word, other})] + 1) / (expected + 1)
        return value

    found = score(
        [f"{MASK} was an old cook.", f"{MASK} is a French nurse."], ["he", "she"]
    )
    assert found[0] == pytest.approx(
        [by_hand(word, ["was", "old", "cook"]) for word in ("he", "she")]
    )
    assert found[1] == pytest.approx(
        [by_hand(word, ["is", "French", "nurse"]) for word in ("he", "she")]
    )


def test_the_count_model_knows_nothing_of_what_it_never_saw():
    score = count_model(count_together(PARAGRAPHS, JOBS))
    never, nobody = score(
        [f"{MASK} is a new sheriff.", f"{MASK} is a new."], ["he", "she", "they"]
    )
    assert never == pytest.approx(nobody)
    he, she = score([f"{MASK} is a nurse.", f"{MASK} is a cook."], ["he", "she"]).T
    assert she[0] / he[0] > nobody[1] / nobody[0] > she[1] / he[1]


def test_bad_counts_are_named():
    counts = count_together(PARAGRAPHS, JOBS)
    with pytest.raises(ValueError, match="every pair"):
        count_model(counts.iloc[:-5])
    with pytest.raises(
        ValueError, match="words must be among those that were counted, found 'pilot'"
    ):
        count_model(counts)([f"{MASK} is new."], ["pilot"])
    with pytest.raises(ValueError, match="paragraphs must hold at least one"):
        count_together([], JOBS)


TEXT = """ = The cook = \n
 The nurse said she left . He was a cook . Cookies for his son , said her brother .
 Two nurses and a cook met him . The man and the woman saw a nurse .
 his overcooked rice . The cook and her daughter , a girl , ate .
"""


def test_cooccurrence_by_words():
    counts = blanks.cooccurrence(TEXT, ["nurse", "cook"], matching="words").set_index(
        "occupation"
    )
    assert counts.loc["nurse"].tolist() == [
        "words",
        2,
        0,
        1,
    ]  # the second sentence has both genders
    assert counts.loc["cook"].tolist() == [
        "words",
        2,
        1,
        1,
    ]  # "Two nurses and a cook" names two
    assert counts.loc["(any)", "sentences"] == 7  # not the blank pieces between them
    # "He was", "his overcooked"; "Cookies for his son , said her" has both.
    assert counts.loc["(any)", "he"] == 2


def test_cooccurrence_as_released_looks_inside_words_and_misses_capitals():
    counts = blanks.cooccurrence(
        TEXT, ["nurse", "cook"], matching="as released"
    ).set_index("occupation")
    assert counts.loc["cook"].tolist() == [
        "as released",
        3,
        1,
        1,
    ]  # "He" is missed, "overcooked" is found


def test_bundled_words_and_rates_fit_each_other():
    rates, words = (
        fairlib.load(name, source="bundled")
        for name in ("occupation_rates", "word_cooccurrence")
    )
    assert rates["stereotyped_as"].value_counts().to_dict() == {"men": 16, "women": 16}
    assert ((rates["percent_women"] > 50) == (rates["stereotyped_as"] == "women")).all()
    assert set(rates["occupation"]) < set(words["word"])
    alone = words[words["word"] == words["other"]].set_index("word")["paragraphs"]
    assert (
        words["paragraphs"]
        <= np.minimum(alone[words["word"]].to_numpy(), alone[words["other"]].to_numpy())
    ).all()
    sentences = fairlib.load("occupation_cooccurrence", source="bundled")
    assert (sentences["he"] + sentences["she"] <= sentences["sentences"]).all()
    # An occupation that no paragraph holds is in no sentence.
    whole = sentences[sentences["matching"] == "words"].set_index("occupation")[
        "sentences"
    ]
    assert ((whole[rates["occupation"]] > 0) <= (alone[rates["occupation"]] > 0)).all()


def test_bert_is_read_from_titles(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))
    files = {
        "BERT_TITLES": "title,log_odds_he_she\nNurse,-1\nhead nurse,0\nnurses "
        "aide,1\nnursery,9\ncook ii,2\n"
    }
    files["OCCUPATIONS"] = "occupation\nnurse\ncook\nmover\n"
    for name, text in files.items():
        path = tmp_path / getattr(blanks, name).path
        path.parent.mkdir()
        path.write_text(text)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        monkeypatch.setattr(
            blanks,
            name,
            replace(getattr(blanks, name), sha256=digest, size=path.stat().st_size),
        )
    table = blanks.occupation_bert().set_index("occupation")
    assert table.loc["nurse"].tolist() == [
        0.2689,
        3,
        pytest.approx((0.2689 + 0.5 + 0.7311) / 3, abs=1e-4),
    ]
    assert (
        np.isnan(table.loc["cook", "p_he"])
        and table.loc["cook", "p_he_within"] == 0.8808
    )
    assert table.loc["mover", "titles"] == 0 and np.isnan(
        table.loc["mover", "p_he_within"]
    )


def test_bundled_bert_has_the_known_occupations():
    table = fairlib.load("occupation_bert", source="bundled")
    assert (
        table["p_he"].notna().sum() == 13 and table["p_he_within"].notna().sum() == 18
    )
    assert (
        table["occupation"].tolist()
        == fairlib.load("occupation_rates", source="bundled")["occupation"].tolist()
    )


def test_the_papers_model_has_no_card_and_can_be_called(monkeypatch):
    """It is no bundled table: `load` does not know it, and a call says what its table
    is.
    """
    monkeypatch.setattr(
        masked,
        "load",
        lambda name: count_model(fairlib.load("word_cooccurrence", source="bundled")),
    )
    with pytest.raises(ValueError, match="name must be one of"):
        fairlib.load("blanks_bert", source="original")
    table = blanks.blanks_bert()
    assert len(table) == len(TEMPLATES) * 32 * 3
    assert fairlib.data.provenance(table).endswith("bert-base-uncased (original data)")


@pytest.mark.slow
def test_notebook_09_runs_with_the_papers_model(monkeypatch, tmp_path):
    """MODEL = "bert", with another model in BERT's place: the rows of Table 2 are then
    computed, not open.
    """
    monkeypatch.setattr(
        masked,
        "load",
        lambda name: count_model(fairlib.load("word_cooccurrence", source="bundled")),
    )
    monkeypatch.setattr(plots, "FIGURES", tmp_path)
    monkeypatch.setattr(ledger, "PARTS", tmp_path)
    name = "09_where_amplification_misleads"
    judged = behind_the_ledger(name)
    code = "\n".join(
        source
        for cell, source in cells(name).items()
        if cell in judged or "09_base_rates" in source
    )
    assert code.count('MODEL = "counts"') == 1
    exec(code.replace('MODEL = "counts"', 'MODEL = "bert"'), {})
    plots.plt.close("all")
    table = pd.read_csv(tmp_path / f"{name}.csv").set_index("id")
    rows = table.index[
        table.index.str.match(r"wang2021/(table2/.*(uniform|labor)|figure5)")
    ]
    assert len(rows) == 8 and set(table.loc[rows, "status"]) <= {
        "reproduced",
        "differs",
    }
    assert "bert-base-uncased (original data)" in (
        tmp_path / "dossier" / "09_base_rates.svg"
    ).read_text().replace("\n", " ")


def test_two_rows_of_table_2_differ_by_the_base_rates_alone():
    """Whatever the model: uniform minus labor force is what the printed rows say."""
    rates = fairlib.load("occupation_rates", source="bundled")
    constant = (rates["percent_women"] / 100 - 0.5).abs().mean()
    printed = fairlib.ledger.published()["printed"]
    rows = [
        float(printed[f"wang2021/table2/t_to_a/{row}"])
        for row in ("uniform_2", "labor_2")
    ]
    assert constant == pytest.approx(rows[0] - rows[1], abs=1e-4)
