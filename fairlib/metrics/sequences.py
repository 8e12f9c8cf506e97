"""Sequence labelling: BILOU tags, the spans they stand for, and metrics of both by the code for classification.

B-LOC I-LOC L-LOC is one place of three tokens, U-LOC one of one token. Metrics have three views of the same tokens.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from fairlib import tables
from fairlib.metrics import scores
from fairlib.metrics.examples import (
    ROLES,
    Columns,
    Examples,
    coded,
    probability_columns,
)
from fairlib.metrics.measuring import choose, tabulate

# Scores without true negatives: taken on exact spans. All others see each token as a decision of its own (section 5.1).
SPAN_SCORES = (
    scores.f1,
    scores.false_negative_rate,
    scores.true_positive_rate,
    scores.recall,
)
SENTENCE = ["source", "group", "term"]
OUTSIDE = "O"


def measure_sequences(
    tokens, metrics=None, *, classes=None, position="position", slot="slot", **options
) -> pd.DataFrame:
    """Measure fairness metrics of a sequence labeller; parameters and result as in `measure`, and what follows.

    tokens : any table that `fairlib.tables` knows; its rows are brought into memory. One row per token of a sentence,
        which is a (source, group, term). `position` orders the tokens of a sentence; `slot` is true on those of the
        identity term; labels and predictions are BILOU tags; probabilities have a column per tag (`p_U-LOC`) or type.
    classes : entity types; by default those that occur as labels.

    F1, recall and false negative rates are on exact spans; other scores of predictions see every token as a decision.
    The probability of a type is summed over its B, I, L and U. Metrics that do not restrict themselves to the class
    include the tokens of the context, so they depend on the length of sentences. Counterfactual metrics follow each
    token of a source across groups, with the tokens of the term averaged into one; a token that not every variation of
    the source has, such as an article before the term, is left out of them: `result.attrs["not aligned"]` counts these.

    >>> tokens = {"source": [1] * 4, "group": list("aabb"), "term": list("xxyy"), "position": [0, 1] * 2}
    >>> tokens |= {"slot": [False, True] * 2, "label": ["O", "U-LOC"] * 2, "prediction": ["O", "U-LOC", "O", "O"]}
    >>> measure_sequences(pd.DataFrame(tokens), "FNED")
      metric class        group  value
    0   FNED   LOC            a    0.5
    1   FNED   LOC            b    0.5
    2   FNED   LOC  accumulated    1.0
    """
    chosen, explicit = choose(metrics)
    names = Columns(
        **{
            name: options.pop(name)
            for name in (*ROLES, "probability")
            if name in options
        }
    )
    views, not_aligned = _views(
        tokens, names, {"position": position, "slot": slot}, classes
    )
    metrics_of: dict[str, dict] = {view: {} for view in views}
    for name, metric in chosen.items():
        of_predictions = "spans" if metric.score in SPAN_SCORES else "tokens"
        metrics_of[
            "aligned" if metric.fairness == "counterfactual" else of_predictions
        ][name] = metric
    parts = [(views[view], wanted) for view, wanted in metrics_of.items() if wanted]
    result = tabulate(parts, explicit, **options)
    result.attrs["not aligned"] = not_aligned
    place = {name: index for index, name in enumerate(chosen)}
    return result.sort_values(
        "metric", key=lambda names: names.map(place), kind="stable", ignore_index=True
    )


def _views(
    tokens, names: Columns, own: dict, classes
) -> tuple[dict[str, Examples], int]:
    """Return the tokens, the spans and the aligned tokens as examples, and how many tokens could not be aligned."""
    roles = {role: getattr(names, role) for role in ROLES} | own
    tags = probability_columns(names.probability, tables.schema(tokens))
    columns = roles | {f"p_{tag}": name for tag, name in tags.items()}
    frame = _sorted(tables.rows(tokens, list(dict.fromkeys(columns.values()))), columns)
    sentence = frame.groupby(SENTENCE, sort=False, observed=True).ngroup().to_numpy()
    if frame.duplicated([*SENTENCE, "position"]).any():
        raise ValueError(
            f"column {own['position']!r} must number the tokens of a sentence, found a number twice"
        )
    matched = compare(frame["label"], frame["prediction"], sentence)
    first = frame.loc[~pd.Series(sentence).duplicated(), SENTENCE]
    by_span = matched[["label", "prediction"]].join(
        first.iloc[matched["sentence"]].reset_index(drop=True)
    )
    types = {name: split(frame[name])[1] for name in ("label", "prediction")}
    known, occurring = (
        sorted({*kinds} - {OUTSIDE})
        for kinds in (np.r_[*types.values()], types["label"])
    )
    by_token = frame[[*SENTENCE, "slot"]].assign(
        **types, **_probability_of_types(frame, tags, known)
    )
    wanted = occurring if classes is None else classes
    aligned, left_out = _aligned(by_token, sentence)
    found = {
        view: coded(
            some,
            Columns(),
            probability_columns("p_{}", some),
            classes=wanted,
            unit=unit,
        )
        for view, some, unit in (
            ("tokens", by_token, None),
            ("spans", by_span, None),
            ("aligned", aligned, "unit"),
        )
    }
    if without := set(found["tokens"].groups) - set(found["spans"].groups):
        raise ValueError(
            f"group(s) {', '.join(map(repr, without))} have neither a labelled nor a predicted span"
        )
    return found, left_out


def _sorted(tokens: pd.DataFrame, columns: dict[str, str]) -> pd.DataFrame:
    """Return the columns under the names of their roles, sentence by sentence and token by token."""
    frame = tokens[list(columns.values())].set_axis(list(columns), axis=1)
    frame["position"] = pd.to_numeric(
        frame["position"].astype(object), errors="coerce"
    )  # as text, 10 is before 2
    if empty := [columns[name] for name in frame if frame[name].isna().any()]:
        raise ValueError(
            f"column(s) {', '.join(empty)} of tokens have missing values, or no number"
        )
    if not (known := frame["slot"].isin([True, False])).all():
        raise ValueError(
            f"column {columns['slot']!r} must be true or false, found {frame['slot'][~known].iloc[0]!r}"
        )
    order = np.lexsort(
        [frame["position"], *(pd.factorize(frame[name])[0] for name in SENTENCE)]
    )
    return frame.iloc[order].reset_index(drop=True)


def _probability_of_types(
    tokens: pd.DataFrame, tags: dict[str, str], known: list[str]
) -> dict:
    """Sum the probabilities of the tags of each type: columns p_<type>."""
    sums: dict[str, np.ndarray] = {}
    for tag, name in tags.items():
        if (of_position := tag[:2] in ("B-", "I-", "L-", "U-")) or tag in (
            OUTSIDE,
            *known,
        ):
            values = tokens[f"p_{tag}"].to_numpy(dtype=float)
            if values.min() < 0:  # before a sum could hide it
                raise ValueError(
                    f"probabilities must lie in [0, 1]; column {name!r} holds others"
                )
            kind = f"p_{tag[2:] if of_position else tag}"
            sums[kind] = sums.get(kind, 0.0) + values
    return sums


def _aligned(by_token: pd.DataFrame, sentence: np.ndarray) -> tuple[pd.DataFrame, int]:
    """Average the tokens of each slot into one; number the places that all variations share; count what is left out."""
    slot = by_token["slot"].to_numpy(dtype=bool)
    first = np.r_[True, sentence[1:] != sentence[:-1]]
    piece = (
        np.cumsum(first | ~slot | np.r_[True, ~slot[:-1]]) - 1
    )  # tokens of one slot share a number
    rules = {
        name: "mean" if name.startswith("p_") else "first" for name in by_token.columns
    }
    merged = by_token.groupby(piece).agg(rules)
    number = sentence[np.flatnonzero(np.r_[True, piece[1:] != piece[:-1]])]
    filled = merged["slot"].astype(int)
    # Tokens are counted between slots, so that an article before the slot shifts nothing behind it.
    stretch = 2 * filled.groupby(number).cumsum() - filled
    place = merged.groupby([number, stretch]).cumcount()
    unit = (
        merged.assign(stretch=stretch, place=place)
        .groupby(["source", "stretch", "place"], observed=True)
        .ngroup()
    )
    variations = (
        pd.Series(number)
        .groupby(pd.factorize(merged["source"])[0])
        .transform("nunique")
        .to_numpy()
    )
    everywhere = unit.groupby(unit).transform("size").to_numpy() == variations
    return merged.assign(unit=unit)[everywhere], int((~everywhere).sum())


def from_tags(
    tags: Iterable[str], sentence: Iterable, *, strict: bool = False
) -> pd.DataFrame:
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
        raise ValueError(
            f"sentence must have one entry per tag, found {len(sentence)} for {len(kind)} tags"
        )
    inside = kind != OUTSIDE
    edge = np.r_[
        True, (sentence[1:] != sentence[:-1]) | (kind[1:] != kind[:-1])
    ]  # between a token and the one before
    opens, closes = np.isin(position, ("B", "U")), np.isin(position, ("L", "U"))
    starts = inside & (edge | opens | np.r_[True, closes[:-1]])
    ends = inside & (np.r_[edge[1:], True] | closes | np.r_[opens[1:], True])
    if (
        strict
        and (
            wrong := np.flatnonzero(inside & ((starts != opens) | (ends != closes)))
        ).size
    ):
        found = f"{position[wrong[0]]}-{kind[wrong[0]]}"
        raise ValueError(
            f"tags must follow BILOU, but token {wrong[0]} has {found} out of place"
        )
    first, last = np.flatnonzero(starts), np.flatnonzero(ends)
    return pd.DataFrame(
        {
            "sentence": sentence[first],
            "start": first,
            "end": last + 1,
            "type": kind[first],
        }
    )


def split(tags: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the position (B, I, L, U, or O) and the type (or O) of each tag."""
    codes, names = pd.factorize(
        np.asarray(list(tags), dtype=object), use_na_sentinel=False
    )
    names = [str(name) for name in names]
    parts = [
        (name, name) if name == OUTSIDE else (name[:1], name[2:]) for name in names
    ]
    for name, (position, kind) in zip(names, parts, strict=True):
        if name != OUTSIDE and (
            position not in (*"BILU",) or name[1:2] != "-" or kind in ("", OUTSIDE)
        ):
            raise ValueError(
                f"tags must be O or one of B-, I-, L-, U- and a type, found {name!r}"
            )
    table = np.array(parts, dtype=object).reshape(-1, 2)
    return table[codes, 0], table[codes, 1]


def compare(
    gold: Iterable[str], predicted: Iterable[str], sentence: Iterable
) -> pd.DataFrame:
    """Match gold with predicted spans exactly: one row per span of either, with `label` and `prediction`, or "O".

    A span counts as found only with both ends right; with right ends and another type it is one row with two types.
    Columns sentence, start, end, label, prediction. There are no true negatives.

    >>> compare(["U-LOC", "O"], ["O", "O"], sentence=[0, 0])
       sentence  start  end label prediction
    0         0      0    1   LOC          O
    """
    found = from_tags(gold, sentence, strict=True).merge(
        from_tags(predicted, sentence),
        how="outer",
        on=["sentence", "start", "end"],
        suffixes=("_gold", "_predicted"),
    )
    found = found.rename(columns={"type_gold": "label", "type_predicted": "prediction"})
    return found.fillna({"label": OUTSIDE, "prediction": OUTSIDE})
