"""Batches of sequences of like length: padding is wasted work, and on a processor most of the cost.

Also what tells a tagger how a word is written where the encoder itself sees lower case only.
"""

import re
from collections.abc import Sequence

import numpy as np

# The ways to write a word, in the order they are tried; the number of the first that
# matches is the feature.
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
PATTERNS = [re.compile(pattern, re.DOTALL) for _, pattern in CASINGS]


def casing(word: str) -> int:
    """Return how a word is written, as an index into CASINGS.

    >>> [CASINGS[casing(word)][0] for word in ("rose", "Rose", "UN", "J.", "1996-08-22", "F-16", "McRose", "%")]
    ['lower', 'Capitalised', 'UPPER', 'Letter', 'number', 'letters and digits', 'miXed', 'other']
    """
    return next(
        number for number, pattern in enumerate(PATTERNS) if pattern.fullmatch(word)
    )


def length_batches(
    lengths: Sequence[int], *, tokens: int, rng=None
) -> list[np.ndarray]:
    """Return batches of indices, each of at most `tokens` tokens with its padding (a longer sequence stands alone).

    Sequences are sorted by length and cut where a batch is full. With `rng`, sequences of equal length change places
    and the batches come in random order; without, the longest come first, so that what does not fit fails at once.
    """
    lengths = np.asarray(lengths)
    if tokens < 1:
        raise ValueError(f"tokens must be at least 1, found {tokens}")
    if len(lengths) == 0:
        return []
    generator = None if rng is None else np.random.default_rng(rng)
    ties = (
        np.zeros(len(lengths)) if generator is None else generator.random(len(lengths))
    )
    order = np.lexsort((ties, lengths))[::-1]
    starts = [0]
    while (
        room := starts[-1] + max(1, tokens // max(1, lengths[order[starts[-1]]]))
    ) < len(order):
        starts.append(room)
    batches = np.split(order, starts[1:])
    return (
        batches
        if generator is None
        else [batches[place] for place in generator.permutation(len(batches))]
    )


def padded(sequences: Sequence[Sequence[int]], *, fill: int) -> np.ndarray:
    """Return sequences of any lengths as one matrix of int64, filled up at the end with
    `fill`.
    """
    lengths = np.array([len(sequence) for sequence in sequences])
    matrix = np.full((len(sequences), lengths.max(initial=1)), fill, dtype=np.int64)
    matrix[np.arange(matrix.shape[1]) < lengths[:, None]] = np.concatenate(
        [np.asarray(s, int) for s in sequences]
    )
    return matrix
