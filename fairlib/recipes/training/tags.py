"""Entity tags: reading, scoring and decoding them.

The module turns CoNLL-2003's IOB tags into BILOU tags, counts what a tagger gets right,
and finds the most probable valid sequence of tags. A corpus is flat here: one array of
tags, and one array of sentence numbers that says where sentences begin. In BILOU a tag
says which part of an entity a token is: Beginning, Inside, Last, Outside, or a Unit of
one token.

Reference: Ratinov and Roth (2009), "Design challenges and misconceptions in named
entity recognition".
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairlib.metrics import sequences
from fairlib.recipes.suites import fill_slot

ENTITIES = ("LOC", "MISC", "ORG", "PER")
TAGS = ("O", *(f"{place}-{entity}" for entity in ENTITIES for place in "BILU"))
# Instead of -inf, which would give NaN where every path is impossible.
_IMPOSSIBLE = -1e9


def bilou_from_iob(tags: Sequence[str], sentence: Sequence[int]) -> np.ndarray:
    """Return BILOU tags for IOB tags of either dialect.

    Parameters
    ----------
    tags : sequence of str
        IOB tags; with B- on every entity, or only on an entity that touches another of
        the same type.
    sentence : sequence of int
        Number of the sentence of each token.

    Returns
    -------
    numpy.ndarray of str
        BILOU tags.
    """
    unknown = {tag for tag in tags if tag[:1] not in ("B", "I", "O")}
    if unknown:
        raise ValueError(
            f"tags must begin with B-, I- or be O, found {', '.join(sorted(unknown))}"
        )

    bilou = [sequences.OUTSIDE] * len(tags)
    spans = sequences.from_tags(tags, sentence)[["start", "end", "type"]]
    for start, end, kind in spans.itertuples(index=False):
        bilou[start:end] = fill_slot(f"U-{kind}", end - start)
    return np.array(bilou)


def span_counts(
    label: Sequence[str], prediction: Sequence[str], sentence: Sequence[int]
) -> pd.DataFrame:
    """Count the gold, the predicted and the correct spans of every kind of entity.

    A span is correct if its place and its kind are. F1 = 2 correct / (gold +
    predicted).

    Parameters
    ----------
    label, prediction : sequence of str
        BILOU tags.
    sentence : sequence of int
        Number of the sentence of each token.

    Returns
    -------
    pandas.DataFrame
        Columns class, gold, predicted, correct.
    """
    spans = sequences.compare(label, prediction, sentence)
    is_right = spans["label"] == spans["prediction"]
    counts = pd.DataFrame(
        {
            "gold": spans["label"].value_counts(),
            "predicted": spans["prediction"].value_counts(),
            "correct": spans.loc[is_right, "label"].value_counts(),
        }
    )
    of_entities = counts.reindex(ENTITIES).fillna(0).astype(int)
    return of_entities.rename_axis("class").reset_index()


def best_sequence(log_probability: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the tags of the most probable *valid* BILOU sequence of each sentence.

    A sequence is valid if every entity that begins also ends. Tokens are taken as
    independent.

    Parameters
    ----------
    log_probability : numpy.ndarray
        tokens x tags, sentence after sentence.
    lengths : numpy.ndarray of int
        Number of tokens of each sentence.

    Returns
    -------
    numpy.ndarray of int
        For each token an index into TAGS.

    Notes
    -----
    This is the decoding of a conditional random field without learned transitions
    (Viterbi), for all sentences at once. The cost is tokens x tags squared.
    """
    if lengths.sum() != len(log_probability):
        raise ValueError(
            f"lengths must add up to the {len(log_probability)} tokens, found "
            f"{lengths.sum()}"
        )

    may_follow = _allowed()
    may_end = np.where([tag[0] in "OLU" for tag in TAGS], 0.0, _IMPOSSIBLE)
    may_begin = np.where([tag[0] in "OBU" for tag in TAGS], 0.0, _IMPOSSIBLE)

    # Sentences x positions x tags; shorter sentences leave places empty.
    is_token = np.arange(lengths.max()) < lengths[:, None]
    scores = np.zeros((*is_token.shape, len(TAGS)))
    scores[is_token] = log_probability

    # Forwards: the best path that ends with each tag.
    best = scores[:, 0] + may_begin
    came_from = np.zeros(scores.shape, dtype=int)
    for position in range(1, is_token.shape[1]):
        paths = best[:, :, None] + may_follow
        came_from[:, position] = paths.argmax(axis=1)
        ahead = paths.max(axis=1) + scores[:, position]
        best = np.where(is_token[:, position, None], ahead, best)

    # Backwards: the tags of the best of these paths.
    tags = np.zeros(is_token.shape, dtype=int)
    tag = (best + may_end).argmax(axis=1)
    rows = np.arange(len(tag))
    for position in range(is_token.shape[1] - 1, -1, -1):
        tags[:, position] = tag
        tag_before = came_from[rows, position, tag]
        tag = np.where(is_token[:, position], tag_before, tag)
    return tags[is_token]


def _allowed() -> np.ndarray:
    """Return 0 where the tag of the column may follow the tag of the row.

    Elsewhere the result is a prohibitive penalty.
    """
    place, entity = sequences.split(TAGS)
    opens = np.isin(place, ["B", "I"])
    continues = np.isin(place, ["I", "L"])

    within_entity = opens[:, None] & continues & (entity[:, None] == entity)
    between_entities = ~opens[:, None] & ~continues
    return np.where(within_entity | between_entities, 0.0, _IMPOSSIBLE)
