"""Filling a blank: which pronoun goes with an occupation, and which occupation with a pronoun (Table 2, Figure 5).

`fill` asks anything that can score words for a blank: `count_model`, which knows only how often two words stand in the
same paragraph, or a masked language model (`fairlib.training.masked`) such as the paper's, bert-base-uncased.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pandas as pd

FORMS = {  # the words that count as a pronoun
    "he": {"he", "him", "his", "himself"},
    "she": {"she", "her", "hers", "herself"},
    "they": {"they", "them", "their", "theirs", "themselves"},
}
PRONOUNS = tuple(FORMS)
VERBS = ("is", "was")
ADJECTIVES = ("new", "known", "single", "large", "small", "major", "French", "old", "short", "good")  # appendix A.3
TEMPLATES = tuple(
    f"{{pronoun}} {verb} {'an' if adjective[0] in 'aeiou' else 'a'} {adjective} {{occupation}}."
    for verb, adjective in product(VERBS, ADJECTIVES)
)
MASK = "[MASK]"
WORD = r"[^\W\d_]+"
ANY = "(any)"  # in counts: every paragraph

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
        names = ["template", "occupation", "pronoun"]
        keys = pd.MultiIndex.from_product([[number], occupations, pronouns], names=names)
        values = {"p_pronoun": p_pronoun.ravel(), "p_occupation": p_occupation.T.ravel()}
        frames.append(pd.DataFrame(values, index=keys))
    return pd.concat(frames).reset_index()


def count_together(paragraphs: Sequence[str], occupations: Sequence[str]) -> pd.DataFrame:
    """Count the paragraphs that hold two words at once, among pronouns, occupations and the templates' words.

    Columns word, other, paragraphs, for each pair once; a word with itself is all its paragraphs, ANY all there are.
    Capitals do not matter; an occupation counts with an s added too, a pronoun in its other cases. O(text + words^2).
    """
    if several := [name for name in occupations if not re.fullmatch(WORD, name)]:
        raise ValueError(f"occupations must be single words of letters, found {several[0]!r}")
    if not len(paragraphs):
        raise ValueError("paragraphs must hold at least one, found none")
    forms = {word: {word.lower()} for word in (*VERBS, *ADJECTIVES)} | FORMS
    forms |= {occupation: {occupation.lower(), f"{occupation.lower()}s"} for occupation in occupations}
    contents = [set(re.findall(WORD, paragraph.lower())) for paragraph in paragraphs]
    there = np.array(
        [[True, *(not words.isdisjoint(form) for form in forms.values())] for words in contents], dtype=int
    )
    both = there.T @ there
    names = np.array([ANY, *forms])
    first, second = np.triu_indices(len(names))
    return pd.DataFrame({"word": names[first], "other": names[second], "paragraphs": both[first, second]})


def count_model(counts: pd.DataFrame, *, smoothing: float = 1.0) -> Score:
    """Return the score function of a model that knows only `count_together`'s counts.

    P(word) times a factor for each known word of the sentence: (paragraphs with both + smoothing) / (expected if the
    two were independent + smoothing). So a word never seen is as likely beside one word as beside another, and a word
    seen once says little.
    """
    if not 0 < smoothing < np.inf:
        raise ValueError(f"smoothing must be positive and finite, found {smoothing}")
    square = counts.pivot(index="word", columns="other", values="paragraphs")
    square = square.fillna(square.T).astype(float)
    if square.isna().any(axis=None):
        raise ValueError("counts must hold every pair of its words")
    place = {word.lower(): number for number, word in enumerate(square.index)}
    both = square.to_numpy()
    alone, everything = np.diag(both), both[place[ANY], place[ANY]]
    prior = (alone + smoothing) / (everything + smoothing)
    lift = (both + smoothing) / (np.outer(alone, alone) / everything + smoothing)

    def score(sentences: Sequence[str], words: Sequence[str]) -> np.ndarray:
        if unknown := [word for word in words if word.lower() not in place]:
            raise ValueError(f"words must be among those that were counted, found {unknown[0]!r}")
        rows = [place[word.lower()] for word in words]
        contexts = [[place[w] for w in re.findall(r"\w+", text.lower()) if w in place] for text in sentences]
        return np.stack([prior[rows] * lift[np.ix_(rows, context)].prod(axis=1) for context in contexts])

    return score


def _shares(values: np.ndarray) -> np.ndarray:
    return values / values.sum(axis=1, keepdims=True)
