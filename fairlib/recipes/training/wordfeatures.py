"""A second family of models that shares nothing with a pretrained encoder: counts of words and a linear classifier.

Logistic regression has one optimum, so a seed would change nothing: there is one run per task.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline

from fairlib.recipes.training.batches import CASINGS, casing

SENTIMENT = "TF-IDF + logistic regression"
TAGGER = "word features + logistic regression"
WINDOW = (-2, -1, 1, 2)  # the neighbours whose words are features too


def sentiment_model() -> Pipeline:
    """Return TF-IDF of words, word pairs and letter groups with a logistic regression."""
    words = TfidfVectorizer(
        ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"[\w'#@]+|[^\w\s]"
    )
    letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True)
    features = FeatureUnion([("words", words), ("letters", letters)])
    return make_pipeline(features, LogisticRegression(C=10.0, max_iter=1000))


def tagger_model() -> Pipeline:
    """Return hashed features of a word and its neighbours with a multinomial logistic
    regression over tags.
    """
    hasher = FeatureHasher(
        n_features=2**20, input_type="string", alternate_sign=False, dtype=np.float32
    )
    return make_pipeline(hasher, LogisticRegression(C=2.0, max_iter=200, tol=1e-3))


def word_features(sentences: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    """Yield the features of every word: its letters, how it is written, its beginnings
    and endings, its neighbours.
    """
    for words in sentences:
        padded = ["<s>", "<s>", *words, "</s>", "</s>"]
        lower = [word.lower() for word in padded]
        written = [CASINGS[casing(word)][0] for word in padded]
        shouted = all(
            name not in ("lower", "Capitalised") for name in written[2:-2]
        )  # a headline in capitals
        for here in range(2, len(words) + 2):
            word, form = lower[here], written[here]
            neighbours = [f"{step}:{lower[here + step]}" for step in WINDOW]
            forms = [f"{step}~{written[here + step]}" for step in WINDOW]
            affixes = [f"^{word[:size]}" for size in (2, 3, 4)] + [
                f"{word[-size:]}$" for size in (2, 3, 4)
            ]
            pairs = [f"{lower[here - 1]}|{word}", f"{word}|{lower[here + 1]}"]
            place = [
                f"={form}",
                f"={form},first={here == 2},shouted={shouted}",
                f"={written[here - 1]},{form}",
            ]
            yield [
                "bias",
                f"w:{word}",
                f"W:{padded[here]}",
                *neighbours,
                *forms,
                *affixes,
                *pairs,
                *place,
            ]


def log_probabilities(model: Pipeline, examples, classes: Sequence[str]) -> np.ndarray:
    """Return log probabilities with one column per class of `classes`, in that order."""
    values = model.predict_log_proba(examples)
    columns = {name: column for column, name in enumerate(model.classes_)}
    return values[:, [columns[name] for name in classes]]
