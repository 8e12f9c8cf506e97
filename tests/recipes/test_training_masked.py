"""Tests of the masked language model on a tiny one with random weights; they run where
the extra `models` is.
"""

import pytest

from fairlib.recipes.blanks import ADJECTIVES, MASK, fill
from fairlib.recipes.training.masked import load, masked_model

VOCABULARY = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] he she they is was a an . nurse cook sher ##iff"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A BERT of two layers with random weights, and a vocabulary of the words of a few
    sentences.
    """
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    place = tmp_path_factory.mktemp("encoder")
    words = [*VOCABULARY.split(), *(word.lower() for word in ADJECTIVES)]
    (place / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    tokenizer = transformers.BertTokenizerFast(str(place / "vocab.txt"))
    tokenizer.save_pretrained(place)
    sizes = {
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
    }
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.BertModel(
            transformers.BertConfig(vocab_size=len(words), **sizes)
        )
        # Words apart, as pretraining has them.
        torch.nn.init.normal_(model.embeddings.word_embeddings.weight, std=0.5)
    model.save_pretrained(place)
    return str(place)


def test_a_word_of_several_pieces_is_scored_by_its_first(folder):
    import torch
    from transformers import AutoTokenizer, BertForMaskedLM

    model, tokenizer = (
        BertForMaskedLM.from_pretrained(folder).eval(),
        AutoTokenizer.from_pretrained(folder),
    )
    sentence = f"he is a new {MASK}."
    found = masked_model(model, tokenizer)(
        [sentence, f"they is {MASK}."], ["sheriff", "nurse"]
    )
    ids = tokenizer(sentence, return_tensors="pt")
    with torch.no_grad():
        logits = (
            model(**ids)
            .logits[0, ids["input_ids"][0].tolist().index(tokenizer.mask_token_id)]
            .double()
        )
    expected = torch.softmax(logits, 0)[
        [tokenizer.vocab["sher"], tokenizer.vocab["nurse"]]
    ]
    assert found[0] == pytest.approx(expected.numpy(), rel=1e-5)


def test_a_model_is_loaded_from_a_folder_and_fills_the_templates(folder):
    from transformers import AutoTokenizer, BertForMaskedLM

    BertForMaskedLM.from_pretrained(folder).save_pretrained(folder)
    table = fill(load(folder), ["nurse", "cook", "sheriff"])
    model, tokenizer = (
        BertForMaskedLM.from_pretrained(folder),
        AutoTokenizer.from_pretrained(folder),
    )
    again = fill(masked_model(model, tokenizer), ["nurse", "cook", "sheriff"])
    assert len(table) == 180 and table["p_pronoun"].between(0, 1).all()
    assert table["p_pronoun"].tolist() == pytest.approx(again["p_pronoun"].tolist())
