"""A second family of models: counts of words and a linear classifier.

It shares nothing with a pretrained encoder. Logistic regression has one optimum, so a
seed would change nothing: there is one run per task.
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
_WINDOW = (-2, -1, 1, 2)  # the neighbours whose words are features too


def sentiment_model() -> Pipeline:
    """Return logistic regression on TF-IDF of words, word pairs and letter groups."""
    words = TfidfVectorizer(
        ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"[\w'#@]+|[^\w\s]"
    )
    letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True)
    features = FeatureUnion([("words", words), ("letters", letters)])
    return make_pipeline(features, LogisticRegression(C=10.0, max_iter=1000))


def tagger_model() -> Pipeline:
    """Return logistic regression over tags on hashed features of a word."""
    hasher = FeatureHasher(
        n_features=2**20, input_type="string", alternate_sign=False, dtype=np.float32
    )
    return make_pipeline(hasher, LogisticRegression(C=2.0, max_iter=200, tol=1e-3))


def word_features(sentences: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    """Yield the features of every word.

    They are its letters, how it is written, its beginnings and endings, and its
    neighbours.

    Parameters
    ----------
    sentences : sequence of sequences of str
        The words.

    Yields
    ------
    list of str
        The features of one word, sentence after sentence.
    """
    for words in sentences:
        padded = ["<s>", "<s>", *words, "</s>", "</s>"]
        lower = [word.lower() for word in padded]
        written = [CASINGS[casing(word)][0] for word in padded]
        # A headline is written in capitals.
        shouted = not {"lower", "Capitalised"} & set(written[2:-2])
        for here in range(2, len(words) + 2):
            letters = ["bias", f"w:{lower[here]}", f"W:{padded[here]}"]
            yield letters + _features(lower, written, here, shouted)


def _features(
    lower: list[str], written: list[str], here: int, shouted: bool
) -> list[str]:
    """Return the features of a word other than the word itself."""
    word = lower[here]
    form = written[here]

    return [
        *(f"{step}:{lower[here + step]}" for step in _WINDOW),
        *(f"{step}~{written[here + step]}" for step in _WINDOW),
        *(f"^{word[:size]}" for size in (2, 3, 4)),
        *(f"{word[-size:]}$" for size in (2, 3, 4)),
        f"{lower[here - 1]}|{word}",
        f"{word}|{lower[here + 1]}",
        f"={form}",
        f"={form},first={here == 2},shouted={shouted}",
        f"={written[here - 1]},{form}",
    ]


def log_probabilities(model: Pipeline, examples, classes: Sequence[str]) -> np.ndarray:
    """Return log probabilities of classes.

    Parameters
    ----------
    model : sklearn.pipeline.Pipeline
        A fitted model.
    examples : iterable
        What the model reads.
    classes : sequence of str
        The classes.

    Returns
    -------
    numpy.ndarray
        One column per class, in the order of `classes`.
    """
    values = model.predict_log_proba(examples)
    columns = {name: column for column, name in enumerate(model.classes_)}
    return values[:, [columns[name] for name in classes]]
