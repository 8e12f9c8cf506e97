"""Tests of filling blanks; those that need torch and transformers run where the extra `models` is installed."""

import numpy as np
import pytest

from fairlib.training import masked
from fairlib.training.masked import MASK, TEMPLATES, fill, paragraphs

VOCABULARY = "[PAD] [UNK] [CLS] [SEP] [MASK] he she they is was a an . nurse cook sher ##iff"
JOBS = ["nurse", "cook", "sheriff"]


def test_twenty_templates_as_the_appendix_has_them():
    assert len(set(TEMPLATES)) == 20
    assert "{pronoun} was an old {occupation}." in TEMPLATES
    assert "{pronoun} is a French {occupation}." in TEMPLATES
    assert all(text.count(MASK) == 1 for text in (t.format(pronoun=MASK, occupation="cook") for t in TEMPLATES))


def test_fill_asks_each_blank_and_keeps_answers_with_their_words():
    asked = []

    def score(sentences, words):
        asked.extend(sentences)
        return np.array(
            [[len(sentence) + 10 * len(word) + word.count("e") for word in words] for sentence in sentences]
        )

    table = fill(score, JOBS)
    assert len(table) == 20 * 3 * 3 and not table.isna().any(axis=None)
    assert len(asked) == len(set(asked)) == 20 * (3 + 3)
    for row in table.sample(40, random_state=0).itertuples():
        template = TEMPLATES[row.template]
        blank = template.format(pronoun=MASK, occupation=row.occupation)
        answers = {word: score([blank], [word])[0, 0] for word in masked.PRONOUNS}
        assert row.p_pronoun == pytest.approx(answers[row.pronoun] / sum(answers.values()))
        blank = template.format(pronoun=row.pronoun, occupation=MASK)
        answers = {word: score([blank], [word])[0, 0] for word in JOBS}
        assert row.p_occupation == pytest.approx(answers[row.occupation] / sum(answers.values()))
    assert np.allclose(table.groupby(["template", "occupation"])["p_pronoun"].sum(), 1)
    assert np.allclose(table.groupby(["template", "pronoun"])["p_occupation"].sum(), 1)


def test_paragraphs_reads_wikitext_as_running_text():
    text = " \n = A heading = \n\n A state @-@ owned firm of 1 @,@ 500 made a <unk> . \n = = Below = = \n He left . \n"
    assert paragraphs(text) == ["A state-owned firm of 1,500 made a [UNK] .", "He left ."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A BERT of two layers with random weights, and a vocabulary of the words of a few sentences."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    place = tmp_path_factory.mktemp("encoder")
    words = [*VOCABULARY.split(), *(word.lower() for word in masked.ADJECTIVES)]
    (place / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    tokenizer = transformers.BertTokenizerFast(str(place / "vocab.txt"))
    tokenizer.save_pretrained(place)
    sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.BertModel(transformers.BertConfig(vocab_size=len(words), **sizes))
        torch.nn.init.normal_(model.embeddings.word_embeddings.weight, std=0.5)  # words apart, as pretraining has them
    model.save_pretrained(place)
    return str(place)


TEXTS = [t.format(pronoun=p, occupation=o) for t in TEMPLATES for p, o in (("she", "nurse"), ("he", "cook"))] * 2


@pytest.mark.slow
def test_training_learns_what_the_texts_say(folder):
    model, tokenizer = masked.train(folder, TEXTS, epochs=40, learning_rate=3e-3, rng=0)
    table = fill(masked.scorer(model, tokenizer), JOBS).groupby(["occupation", "pronoun"])["p_pronoun"].mean()
    assert table["nurse", "she"] > 0.5 > table["nurse", "he"]
    assert table["cook", "he"] > 0.5 > table["cook", "she"]


def test_a_seed_decides_the_training(folder):
    first, second, other = (masked.train(folder, TEXTS, epochs=1, rng=seed)[0].state_dict() for seed in (0, 0, 1))
    assert all((first[name] == second[name]).all() for name in first)
    assert any((first[name] != other[name]).any() for name in first)


def test_a_word_of_several_pieces_is_scored_by_its_first(folder):
    import torch
    from transformers import AutoTokenizer, BertForMaskedLM

    model, tokenizer = BertForMaskedLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    sentence = f"he is a new {MASK}."
    found = masked.scorer(model, tokenizer)([sentence, f"they is {MASK}."], ["sheriff", "nurse"])
    ids = tokenizer(sentence, return_tensors="pt")
    with torch.no_grad():
        logits = model(**ids).logits[0, ids["input_ids"][0].tolist().index(tokenizer.mask_token_id)].double()
    expected = torch.softmax(logits, 0)[[tokenizer.vocab["sher"], tokenizer.vocab["nurse"]]]
    assert found[0] == pytest.approx(expected.numpy(), rel=1e-5)
