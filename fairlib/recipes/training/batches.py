"""Batches of sequences of similar length, and how words are written.

Padding is wasted work, and on a processor most of the cost. How a word is written helps
a tagger whose encoder sees only lower case.
"""

import re
from collections.abc import Sequence

import numpy as np

# The ways to write a word, in the order in which they are tried. The feature of a word
# is the number of the first pattern that matches.
CASINGS = (
    ("lower", r"[^\W\d_A-Z]+"),
    ("Capitalised", r"[A-Z][^\W\d_A-Z]+"),
    ("UPPER", r"[A-Z]{2,}"),
    ("Letter", r"[A-Z]\.?"),
    ("number", r"[\d.,:/-]*\d[\d.,:/-]*"),
    ("letters and digits", r".*\d.*"),
    ("miXed", r".*[A-Z].*"),
    ("other", r".*"),
)
_PATTERNS = [re.compile(pattern, re.DOTALL) for _, pattern in CASINGS]


def casing(word: str) -> int:
    """Return how a word is written, as an index into CASINGS.

    Parameters
    ----------
    word : str
        A word, or another token.

    Returns
    -------
    int
        An index into CASINGS.

    Examples
    --------
    >>> [CASINGS[casing(word)][0] for word in ("rose", "Rose", "UN", "J.")]
    ['lower', 'Capitalised', 'UPPER', 'Letter']
    >>> [CASINGS[casing(word)][0] for word in ("1996-08-22", "F-16", "McRose", "%")]
    ['number', 'letters and digits', 'miXed', 'other']
    """
    return next(
        number for number, pattern in enumerate(_PATTERNS) if pattern.fullmatch(word)
    )


def length_batches(
    lengths: Sequence[int], *, tokens: int, rng=None
) -> list[np.ndarray]:
    """Return batches of sequences of similar length, as indices.

    Sequences are sorted by length and cut where a batch is full.

    Parameters
    ----------
    lengths : sequence of int
        Number of tokens of each sequence.
    tokens : int
        Most tokens in a batch, padding included. A longer sequence is a batch by
        itself.
    rng : numpy.random.Generator or int, optional
        Random numbers. With them, sequences of equal length change places and the
        batches come in random order. Without them, the longest sequences come first, so
        that a sequence that is too long for the memory fails at once.

    Returns
    -------
    list of numpy.ndarray
        Indices of the sequences of each batch.
    """
    sizes = np.asarray(lengths)
    if tokens < 1:
        raise ValueError(f"tokens must be at least 1, found {tokens}")
    if len(sizes) == 0:
        return []

    if rng is None:
        return _full_batches(sizes, np.zeros(len(sizes)), tokens)
    generator = np.random.default_rng(rng)
    batches = _full_batches(sizes, generator.random(len(sizes)), tokens)
    return [batches[place] for place in generator.permutation(len(batches))]


def _full_batches(
    lengths: np.ndarray, ties: np.ndarray, tokens: int
) -> list[np.ndarray]:
    """Return batches in descending order of length; `ties` orders equal lengths."""
    order = np.lexsort((ties, lengths))[::-1]

    # The first sequence of a batch is its longest: all are padded to its length.
    starts = []
    start = 0
    while start < len(order):
        starts.append(start)
        longest = max(1, lengths[order[start]])
        start += max(1, tokens // longest)
    return np.split(order, starts[1:])


def padded(sequences: Sequence[Sequence[int]], *, fill: int) -> np.ndarray:
    """Return sequences of any lengths as one matrix.

    Parameters
    ----------
    sequences : sequence of sequences of int
        The rows.
    fill : int
        Fills the end of shorter rows.

    Returns
    -------
    numpy.ndarray of int64
        One row per sequence.
    """
    lengths = np.array([len(sequence) for sequence in sequences])
    longest = lengths.max(initial=1)
    matrix = np.full((len(sequences), longest), fill, dtype=np.int64)
    values = [np.asarray(sequence, int) for sequence in sequences]
    matrix[np.arange(longest) < lengths[:, None]] = np.concatenate(values)
    return matrix
