"""A masked language model as a filler of blanks for `fairlib.recipes.blanks.fill`.

It needs torch, transformers and the model's weights.
"""

from collections.abc import Callable, Sequence

import numpy as np

_SENTENCES_AT_A_TIME = 16

MASK = "[MASK]"

# Of sentences with MASK, and words: the probability of each, sentences x words.
Score = Callable[[Sequence[str], Sequence[str]], np.ndarray]


def masked_model(model, tokenizer) -> Score:
    """Return the score function of a masked language model of `transformers`.

    A word of several pieces is scored by its first piece, as FitBERT does: "janitor" by
    "jan".

    Parameters
    ----------
    model, tokenizer
        Of the package `transformers`.

    Returns
    -------
    callable
        See `Score`.
    """
    import torch

    def score(sentences: Sequence[str], words: Sequence[str]) -> np.ndarray:
        pieces = [
            tokenizer.convert_tokens_to_ids(tokenizer.tokenize(word)[0])
            for word in words
        ]

        model.eval()
        probabilities = []
        with torch.inference_mode():
            for start in range(0, len(sentences), _SENTENCES_AT_A_TIME):
                part = sentences[start : start + _SENTENCES_AT_A_TIME]
                blanks = [text.replace(MASK, tokenizer.mask_token) for text in part]
                batch = tokenizer(blanks, return_tensors="pt", padding=True)
                is_blank = batch["input_ids"] == tokenizer.mask_token_id
                logits = model(**batch).logits[is_blank]
                of_words = torch.softmax(logits.double(), dim=1)[:, pieces]
                probabilities.append(of_words.numpy())
        return np.concatenate(probabilities)

    return score


def load(name: str = "bert-base-uncased") -> Score:
    """Return the score function of a masked language model.

    Parameters
    ----------
    name : str, default "bert-base-uncased"
        Its name on the hub, or its folder.

    Returns
    -------
    callable
        See `Score`.
    """
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    model = AutoModelForMaskedLM.from_pretrained(name)
    return masked_model(model, AutoTokenizer.from_pretrained(name))
