"""Entity tags: from CoNLL-2003's IOB to BILOU, the spans that tags mean, and the best valid sequence of tags.

A corpus is flat here: one array of tags, and one of sentence numbers that says where sentences begin. In BILOU a tag
says where its token stands in an entity: Beginning, Inside, Last, Outside, or a Unit of one token.

Reference: Ratinov and Roth (2009), "Design challenges and misconceptions in named entity recognition".
"""

from __future__ import annotations

import numpy as np
import pandas as pd

ENTITIES = ("LOC", "MISC", "ORG", "PER")
TAGS = ("O", *(f"{place}-{entity}" for entity in ENTITIES for place in "BILU"))
IMPOSSIBLE = -1e9  # instead of -inf, which would give NaN where every path is impossible


def bilou_from_iob(tags: np.ndarray, sentence: np.ndarray) -> np.ndarray:
    """Return BILOU tags for IOB tags of either dialect (B- on every entity, or only on one that touches its like)."""
    place, entity = _split(tags)
    if unknown := set(place) - set("BIO"):
        raise ValueError(f"tags must begin with B-, I- or be O, found {', '.join(sorted(unknown))}")
    inside = place != "O"
    joined = np.zeros(len(place), dtype=bool)  # to the token before
    joined[1:] = inside[1:] & (entity[1:] == entity[:-1]) & inside[:-1] & (place[1:] == "I")
    joined[1:] &= sentence[1:] == sentence[:-1]
    starts, ends = inside & ~joined, inside.copy()
    ends[:-1] &= ~joined[1:]
    letter = np.select([~inside, starts & ends, starts, ends], ["O", "U", "B", "L"], "I")
    return np.where(inside, np.char.add(np.char.add(letter, "-"), entity), "O")


def spans(tags: np.ndarray, sentence: np.ndarray) -> pd.DataFrame:
    """Return one row (start, end, entity) per well-formed entity: a U, or a B, any I of its kind, and an L."""
    place, entity = _split(tags)
    joined = np.zeros(len(place), dtype=bool)
    joined[1:] = np.isin(place[1:], ["I", "L"]) & np.isin(place[:-1], ["B", "I"])
    joined[1:] &= (entity[1:] == entity[:-1]) & (sentence[1:] == sentence[:-1])
    start = np.maximum.accumulate(np.where(joined, 0, np.arange(len(place))))
    last = (place == "U") | ((place == "L") & (place[start] == "B"))
    end = np.flatnonzero(last)
    return pd.DataFrame({"start": start[end], "end": end, "entity": entity[end]})


def span_counts(label: np.ndarray, prediction: np.ndarray, sentence: np.ndarray) -> pd.DataFrame:
    """Count the gold, the predicted and the correct spans (same place and kind) of every kind of entity.

    F1 = 2 correct / (gold + predicted).
    """
    gold, predicted = spans(label, sentence), spans(prediction, sentence)
    tables = {"gold": gold, "predicted": predicted, "correct": gold.merge(predicted)}
    counts = {name: table["entity"].value_counts() for name, table in tables.items()}
    return pd.DataFrame(counts).reindex(ENTITIES).fillna(0).astype(int).rename_axis("class").reset_index()


def best_sequence(log_probability: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return for each token the tag of the most probable *valid* BILOU sequence of its sentence, as indices into TAGS.

    Tokens are taken as independent, with `log_probability` tokens x tags, sentence after sentence; a sequence is valid
    if every entity that begins also ends. It is the decoding of a conditional random field without learned transitions
    (Viterbi), for all sentences at once; the cost is tokens x tags squared.
    """
    if lengths.sum() != len(log_probability):
        raise ValueError(f"lengths must add up to the {len(log_probability)} tokens, found {lengths.sum()}")
    allowed = _allowed()
    ends = np.where([tag[0] in "OLU" for tag in TAGS], 0.0, IMPOSSIBLE)
    begins = np.where([tag[0] in "OBU" for tag in TAGS], 0.0, IMPOSSIBLE)
    real = np.arange(lengths.max()) < lengths[:, None]
    scores = np.zeros((*real.shape, len(TAGS)))
    scores[real] = log_probability
    best = scores[:, 0] + begins
    came_from = np.zeros(scores.shape, dtype=int)
    for position in range(1, real.shape[1]):  # over positions, not over sentences
        paths = best[:, :, None] + allowed
        came_from[:, position] = paths.argmax(axis=1)
        ahead = paths.max(axis=1) + scores[:, position]
        best = np.where(real[:, position, None], ahead, best)
    tags = np.zeros(real.shape, dtype=int)
    state = (best + ends).argmax(axis=1)
    for position in range(real.shape[1] - 1, -1, -1):
        tags[:, position] = state
        state = np.where(real[:, position], came_from[np.arange(len(state)), position, state], state)
    return tags[real]


def _allowed() -> np.ndarray:
    """Return 0 where the tag of the column may follow the tag of the row, else a prohibitive penalty."""
    place, entity = _split(np.array(TAGS))
    opens, continues = np.isin(place, ["B", "I"]), np.isin(place, ["I", "L"])
    goes_on = opens[:, None] & continues & (entity[:, None] == entity)
    return np.where(goes_on | (~opens[:, None] & ~continues), 0.0, IMPOSSIBLE)


def _split(tags: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the place (B, I, L, O, U) and the kind of entity ("" for O) of each tag."""
    tags = np.asarray(tags, dtype=str)
    return tags.astype("U1"), np.array([tag[2:] for tag in tags.tolist()], dtype=str)
