"""Entity tags: from CoNLL-2003's IOB to BILOU, the score of a tagger, and the most probable valid sequence of tags.

A corpus is flat here: one array of tags, and one of sentence numbers that says where sentences begin. In BILOU a tag
says where its token stands in an entity: Beginning, Inside, Last, Outside, or a Unit of one token.

Reference: Ratinov and Roth (2009), "Design challenges and misconceptions in named entity recognition".
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairlib.metrics import sequences
from fairlib.recipes.suites import fill_slot

ENTITIES = ("LOC", "MISC", "ORG", "PER")
TAGS = ("O", *(f"{place}-{entity}" for entity in ENTITIES for place in "BILU"))
IMPOSSIBLE = (
    -1e9
)  # instead of -inf, which would give NaN where every path is impossible


def bilou_from_iob(tags: Sequence[str], sentence: Sequence[int]) -> np.ndarray:
    """Return BILOU tags for IOB tags of either dialect (B- on every entity, or only on
    one that touches its like).
    """
    if unknown := {tag for tag in tags if tag[:1] not in ("B", "I", "O")}:
        raise ValueError(
            f"tags must begin with B-, I- or be O, found {', '.join(sorted(unknown))}"
        )
    bilou = [sequences.OUTSIDE] * len(tags)
    for start, end, kind in sequences.from_tags(tags, sentence)[
        ["start", "end", "type"]
    ].itertuples(index=False):
        bilou[start:end] = fill_slot(f"U-{kind}", end - start)
    return np.array(bilou)


def span_counts(
    label: Sequence[str], prediction: Sequence[str], sentence: Sequence[int]
) -> pd.DataFrame:
    """Count the gold, the predicted and the correct spans (same place and kind) of every kind of entity.

    F1 = 2 correct / (gold + predicted).
    """
    table = sequences.compare(label, prediction, sentence)
    right = table.loc[table["label"] == table["prediction"], "label"]
    counts = {
        "gold": table["label"],
        "predicted": table["prediction"],
        "correct": right,
    }
    counted = pd.DataFrame(
        {name: values.value_counts() for name, values in counts.items()}
    )
    return (
        counted.reindex(ENTITIES)
        .fillna(0)
        .astype(int)
        .rename_axis("class")
        .reset_index()
    )


def best_sequence(log_probability: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return for each token the tag of the most probable *valid* BILOU sequence of its sentence, as indices into TAGS.

    Tokens are taken as independent, with `log_probability` tokens x tags, sentence after sentence; a sequence is valid
    if every entity that begins also ends. It is the decoding of a conditional random field without learned transitions
    (Viterbi), for all sentences at once; the cost is tokens x tags squared.
    """
    if lengths.sum() != len(log_probability):
        raise ValueError(
            f"lengths must add up to the {len(log_probability)} tokens, found "
            f"{lengths.sum()}"
        )
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
        state = np.where(
            real[:, position], came_from[np.arange(len(state)), position, state], state
        )
    return tags[real]


def _allowed() -> np.ndarray:
    """Return 0 where the tag of the column may follow the tag of the row, else a
    prohibitive penalty.
    """
    place, entity = sequences.split(TAGS)
    opens, continues = np.isin(place, ["B", "I"]), np.isin(place, ["I", "L"])
    goes_on = opens[:, None] & continues & (entity[:, None] == entity)
    return np.where(goes_on | (~opens[:, None] & ~continues), 0.0, IMPOSSIBLE)
