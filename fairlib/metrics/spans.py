"""BILOU tags and the spans they stand for: B-LOC I-LOC L-LOC is one place of three tokens, U-LOC one of one token."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

OUTSIDE = "O"


def from_tags(tags: Iterable[str], sentence: Iterable, *, strict: bool = False) -> pd.DataFrame:
    """Return the spans that tags stand for: sentence, start and end (the end excluded, counted over all tokens), type.

    A model may predict what BILOU does not allow. A span then begins where the tag says so, after another type and
    after an end, and ends likewise, so that every tagged token belongs to exactly one span. `strict` refuses such tags.

    tags : one per token, the sentences one after the other. sentence : which one each token belongs to.

    >>> from_tags(["O", "B-LOC", "L-LOC", "U-PER"], [7, 7, 7, 8])[["start", "end", "type"]].values.tolist()
    [[1, 3, 'LOC'], [3, 4, 'PER']]
    """
    position, kind = split(tags)
    sentence = np.asarray(sentence)
    if len(sentence) != len(kind):
        raise ValueError(f"sentence must have one entry per tag, found {len(sentence)} for {len(kind)} tags")
    inside = kind != OUTSIDE
    edge = np.r_[True, (sentence[1:] != sentence[:-1]) | (kind[1:] != kind[:-1])]  # between a token and the one before
    opens, closes = np.isin(position, ("B", "U")), np.isin(position, ("L", "U"))
    starts = inside & (edge | opens | np.r_[True, closes[:-1]])
    ends = inside & (np.r_[edge[1:], True] | closes | np.r_[opens[1:], True])
    if strict and (wrong := np.flatnonzero(inside & ((starts != opens) | (ends != closes)))).size:
        found = f"{position[wrong[0]]}-{kind[wrong[0]]}"
        raise ValueError(f"tags must follow BILOU, but token {wrong[0]} has {found} out of place")
    first, last = np.flatnonzero(starts), np.flatnonzero(ends)
    return pd.DataFrame({"sentence": sentence[first], "start": first, "end": last + 1, "type": kind[first]})


def split(tags: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the position (B, I, L, U, or O) and the type (or O) of each tag."""
    codes, names = pd.factorize(np.asarray(list(tags), dtype=object), use_na_sentinel=False)
    names = [str(name) for name in names]
    parts = [(name, name) if name == OUTSIDE else (name[:1], name[2:]) for name in names]
    for name, (position, kind) in zip(names, parts, strict=True):
        if name != OUTSIDE and (position not in (*"BILU",) or name[1:2] != "-" or kind in ("", OUTSIDE)):
            raise ValueError(f"tags must be O or one of B-, I-, L-, U- and a type, found {name!r}")
    table = np.array(parts, dtype=object).reshape(-1, 2)
    return table[codes, 0], table[codes, 1]


def compare(gold: Iterable[str], predicted: Iterable[str], sentence: Iterable) -> pd.DataFrame:
    """Match gold with predicted spans exactly: one row per span of either, with `label` and `prediction`, or "O".

    A span counts as found only with both ends right; with right ends and another type it is one row with two types.
    Columns sentence, start, end, label, prediction. There are no true negatives.

    >>> compare(["U-LOC", "O"], ["O", "O"], sentence=[0, 0])
       sentence  start  end label prediction
    0         0      0    1   LOC          O
    """
    found = from_tags(gold, sentence, strict=True).merge(
        from_tags(predicted, sentence), how="outer", on=["sentence", "start", "end"], suffixes=("_gold", "_predicted")
    )
    found = found.rename(columns={"type_gold": "label", "type_predicted": "prediction"})
    return found.fillna({"label": OUTSIDE, "prediction": OUTSIDE})
