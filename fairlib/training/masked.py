"""Filling a blank: which pronoun goes with an occupation, and which occupation with a pronoun (Table 2, Figure 5).

`fill` asks anything that can score words for a blank. `load` gives it a masked language model by name, such as the
paper's `bert-base-uncased`; `train` makes one of an encoder whose language-model head was thrown away. Only these two
need torch and transformers (the extra `models`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import product

import numpy as np
import pandas as pd

PRONOUNS = ("he", "she", "they")
VERBS = ("is", "was")
ADJECTIVES = ("new", "known", "single", "large", "small", "major", "French", "old", "short", "good")  # appendix A.3
TEMPLATES = tuple(
    f"{{pronoun}} {verb} {'an' if adjective[0] in 'aeiou' else 'a'} {adjective} {{occupation}}."
    for verb, adjective in product(VERBS, ADJECTIVES)
)
MASK = "[MASK]"
MASKED = 0.2  # share of the tokens that training asks for
BLOCK = 62  # tokens of a training example, without its two marks
BATCH = 16

Score = Callable[[Sequence[str], Sequence[str]], np.ndarray]  # sentences with MASK, words -> sentences x words


def fill(score: Score, occupations: Sequence[str], *, pronouns: Sequence[str] = PRONOUNS) -> pd.DataFrame:
    """Fill the 20 templates in both directions; one row per template, occupation and pronoun.

    p_pronoun is P(pronoun | occupation), the blank in the pronoun's place, over these pronouns; p_occupation is
    P(occupation | pronoun), over these occupations. Probabilities, not the likeliest word, as in appendix A.3.
    """
    frames = []
    for number, template in enumerate(TEMPLATES):
        blanks = [template.format(pronoun=MASK, occupation=occupation) for occupation in occupations]
        p_pronoun = _shares(score(blanks, pronouns))  # occupations x pronouns
        blanks = [template.format(pronoun=pronoun, occupation=MASK) for pronoun in pronouns]
        p_occupation = _shares(score(blanks, occupations))  # pronouns x occupations
        keys = pd.MultiIndex.from_product(
            [[number], occupations, pronouns], names=["template", "occupation", "pronoun"]
        )
        values = {"p_pronoun": p_pronoun.ravel(), "p_occupation": p_occupation.T.ravel()}
        frames.append(pd.DataFrame(values, index=keys))
    return pd.concat(frames).reset_index()


def scorer(model, tokenizer) -> Score:
    """Return the function that scores words for a blank with a masked language model of `transformers`.

    A word of several pieces is scored by its first one, as FitBERT does: "janitor" by "jan".
    """
    import torch

    def score(sentences: Sequence[str], words: Sequence[str]) -> np.ndarray:
        pieces = [tokenizer.convert_tokens_to_ids(tokenizer.tokenize(word)[0]) for word in words]
        model.eval()
        found = []
        with torch.inference_mode():
            for start in range(0, len(sentences), BATCH):
                blanks = [text.replace(MASK, tokenizer.mask_token) for text in sentences[start : start + BATCH]]
                batch = tokenizer(blanks, return_tensors="pt", padding=True)
                logits = model(**batch).logits[batch["input_ids"] == tokenizer.mask_token_id]
                found.append(torch.softmax(logits.double(), dim=1)[:, pieces].numpy())
        return np.concatenate(found)

    return score


def load(name: str = "bert-base-uncased") -> Score:
    """Return the score function of a masked language model by its name on the hub, or from a folder."""
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    return scorer(AutoModelForMaskedLM.from_pretrained(name), AutoTokenizer.from_pretrained(name))


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a WikiText file as running text: no headings, no spaces around joined tokens."""
    lines = [line.strip() for line in text.splitlines()]
    joined = re.compile(r" @([-,.])@ ")
    return [joined.sub(r"\1", line).replace("<unk>", "[UNK]") for line in lines if line and not line.startswith("=")]


def train(folder, texts: Iterable[str], *, epochs: int = 2, learning_rate: float = 2e-4, rng=None):
    """Give the BERT encoder in `folder` a language-model head, and train both to fill blanks in `texts`.

    The head starts as the identity onto the encoder's own word vectors, which stay as they are. No dropout, so that
    `rng`, which draws order and blanks, decides the run. Returns (model, tokenizer). About 12 minutes per epoch and
    half a million tokens on one core for an encoder of 22 million parameters.
    """
    import torch
    from tqdm.auto import tqdm
    from transformers import AutoTokenizer, BertForMaskedLM

    rng = np.random.default_rng(rng)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = BertForMaskedLM.from_pretrained(folder)
    _identity_head(model)
    blocks = _blocks(tokenizer, texts)
    head = [*model.cls.predictions.transform.parameters(), model.cls.predictions.bias]
    groups = [{"params": list(model.bert.encoder.parameters()), "lr": learning_rate}, {"params": head, "lr": 1e-3}]
    model.requires_grad_(False)
    for group in groups:
        for parameter in group["params"]:
            parameter.requires_grad_(True)
    optimizer = torch.optim.AdamW(groups)
    steps = epochs * -(-len(blocks) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, 10 * step / steps, 1 - step / steps))
    model.eval()  # no dropout
    progress = tqdm(total=steps, unit="batch")
    for _ in range(epochs):
        order = rng.permutation(len(blocks))
        for start in range(0, len(order), BATCH):
            loss = blank_loss(model, tokenizer, blocks[order[start : start + BATCH]], rng=rng)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
            progress.update()
            progress.set_postfix(loss=f"{loss.item():.2f}")
    return model, tokenizer


def blank_loss(model, tokenizer, blocks: np.ndarray, *, rng):
    """Return the mean cross entropy of tokens that are blanked out at random, as a tensor."""
    import torch

    special = np.isin(blocks, [tokenizer.pad_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id])
    blank = (rng.random(blocks.shape) < MASKED) & ~special & (blocks != tokenizer.unk_token_id)
    ids = torch.from_numpy(np.where(blank, tokenizer.mask_token_id, blocks))
    hidden = model.bert(ids, attention_mask=(ids != tokenizer.pad_token_id).long()).last_hidden_state
    wanted = torch.from_numpy(blocks[blank])
    return torch.nn.functional.cross_entropy(model.cls(hidden[torch.from_numpy(blank)]), wanted)


def _identity_head(model) -> None:
    import torch

    transform = model.cls.predictions.transform
    with torch.no_grad():
        transform.dense.weight.copy_(torch.eye(len(transform.dense.weight)))
        for zero in (transform.dense.bias, transform.LayerNorm.bias, model.cls.predictions.bias):
            zero.zero_()
        transform.LayerNorm.weight.fill_(1.0)


def _blocks(tokenizer, texts: Iterable[str]) -> np.ndarray:
    """Cut each text's tokens into blocks of equal length, filled up at its end."""
    rows = []
    for text in texts:
        ids = tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text))
        for start in range(0, len(ids), BLOCK):
            part = ids[start : start + BLOCK]
            filled = [tokenizer.pad_token_id] * (BLOCK - len(part))
            rows.append([tokenizer.cls_token_id, *part, tokenizer.sep_token_id, *filled])
    return np.array(rows, dtype=np.int64)


def _shares(values: np.ndarray) -> np.ndarray:
    return values / values.sum(axis=1, keepdims=True)
