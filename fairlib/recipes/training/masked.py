"""A masked language model as a filler of blanks for `fairlib.blanks.fill`. Needs torch,
transformers and weights.
"""

from collections.abc import Callable, Sequence

import numpy as np

BATCH = 16

MASK = "[MASK]"
Score = Callable[
    [Sequence[str], Sequence[str]], np.ndarray
]  # sentences with MASK, words -> sentences x words


def masked_model(model, tokenizer) -> Score:
    """Return the score function of a masked language model of `transformers`.

    A word of several pieces is scored by its first one, as FitBERT does: "janitor" by "jan".
    """
    import torch

    def score(sentences: Sequence[str], words: Sequence[str]) -> np.ndarray:
        pieces = [
            tokenizer.convert_tokens_to_ids(tokenizer.tokenize(word)[0])
            for word in words
        ]
        model.eval()
        found = []
        with torch.inference_mode():
            for start in range(0, len(sentences), BATCH):
                blanks = [
                    text.replace(MASK, tokenizer.mask_token)
                    for text in sentences[start : start + BATCH]
                ]
                batch = tokenizer(blanks, return_tensors="pt", padding=True)
                logits = model(**batch).logits[
                    batch["input_ids"] == tokenizer.mask_token_id
                ]
                found.append(torch.softmax(logits.double(), dim=1)[:, pieces].numpy())
        return np.concatenate(found)

    return score


def load(name: str = "bert-base-uncased") -> Score:
    """Return the score function of a masked language model by its name on the hub, or
    from a folder.
    """
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    return masked_model(
        AutoModelForMaskedLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)
    )
