"""Measure sequence labellers: BILOU tags, the spans that they mark, and metrics.

A tag says where in a span a token stands and what type the span has. B-LOC I-LOC L-LOC
(begin, inside, last) marks one place of three tokens, U-LOC (unit) a place of one
token, and O (outside) a token in no span. Metrics use the code for classification on
three views of the same tokens: the tokens, the spans, and tokens that are aligned
across groups.
"""

from collections.abc import Hashable, Iterable, Mapping

import numpy as np
import pandas as pd
from numpy import ndarray
from pandas import DataFrame, Series

from fairlib import tables
from fairlib.metrics import scores
from fairlib.metrics.examples import ROLES, Examples, coded, probability_columns
from fairlib.metrics.measuring import choose, tabulate
from fairlib.metrics.table2 import Metric

# These scores have no true negatives, so they compare exact spans. All other scores
# take each token as a decision of its own (section 5.1).
_SPAN_SCORES = (
    scores.f1,
    scores.false_negative_rate,
    scores.true_positive_rate,
    scores.recall,
)
_SENTENCE = ["source", "group", "term"]
_COLUMNS_OF_ROLES = {role: role for role in ROLES}
OUTSIDE = "O"


def measure_sequences(
    tokens: object,
    metrics: str | Iterable[str] | Mapping[str, Metric] | None = None,
    *,
    classes: Hashable | Iterable | None = None,
    position: str = "position",
    slot: str = "slot",
    group: str = "group",
    label: str = "label",
    prediction: str = "prediction",
    source: str = "source",
    term: str = "term",
    probability: str = "p_{}",
    replicates: int = 0,
    confidence: float = 0.95,
    rng: np.random.Generator | int = 0,
) -> DataFrame:
    """Measure fairness metrics of a model that labels every token of a sentence.

    F1, recall and false negative rates compare exact spans. Other scores of predictions
    take every token as a decision. The probability of a type is the sum of the
    probabilities of its B, I, L and U. A metric that is not restricted to examples of
    the class includes the tokens of the context, so it depends on the length of
    sentences.

    Counterfactual metrics follow each token of a source across groups. The tokens of
    the identity term are averaged into one. If a token does not occur in all variations
    of its source, such as an article before the term, counterfactual metrics leave it
    out.

    Parameters
    ----------
    tokens : frame, path or dataset
        Any table that `fairlib.tables` reads, with one row per token. The rows are
        brought into memory. A sentence consists of the tokens with one source, group
        and term.
    metrics
        As for `measure`.
    classes : str or iterable of str, optional
        The types of spans to measure. By default all that occur as labels.
    position : str
        The column of numbers that order the tokens of a sentence.
    slot : str
        The column that is true for the tokens of the identity term.
    label, prediction : str
        The columns of the true and the predicted BILOU tag.
    probability : str
        Pattern of the columns of probabilities; ``{}`` stands for a tag ("p_U-LOC") or
        a type ("p_LOC").
    group, source, term, replicates, confidence, rng
        As for `measure`.

    Returns
    -------
    DataFrame
        As from `measure`. `result.attrs["not aligned"]` counts the tokens that
        counterfactual metrics leave out.

    Raises
    ------
    ValueError
        If a column is missing or holds something else than its role needs.

    Examples
    --------
    >>> tokens = pd.DataFrame({"group": list("aabb"), "term": list("xxyy")})
    >>> tokens["source"] = 1
    >>> tokens["position"] = [0, 1, 0, 1]
    >>> tokens["slot"] = [False, True, False, True]
    >>> tokens["label"] = ["O", "U-LOC", "O", "U-LOC"]
    >>> tokens["prediction"] = ["O", "U-LOC", "O", "O"]
    >>> measure_sequences(tokens, "FNED")
      metric class        group  value
    0   FNED   LOC            a    0.5
    1   FNED   LOC            b    0.5
    2   FNED   LOC  accumulated    1.0
    """
    chosen = choose(metrics)
    frame, tag_columns = _read(
        tokens,
        {
            "group": group,
            "label": label,
            "prediction": prediction,
            "source": source,
            "term": term,
            "position": position,
            "slot": slot,
        },
        probability,
    )
    views, not_aligned = _views(frame, tag_columns, classes)

    metrics_of_view: dict[str, dict[str, Metric]] = {view: {} for view in views}
    for name, metric in chosen.items():
        metrics_of_view[_view_of(metric)][name] = metric
    parts = [
        (views[view], metrics_to_measure)
        for view, metrics_to_measure in metrics_of_view.items()
        if metrics_to_measure
    ]
    result = tabulate(
        parts,
        explicit=metrics is not None,
        replicates=replicates,
        confidence=confidence,
        rng=rng,
    )

    result.attrs["not aligned"] = not_aligned
    place = {name: index for index, name in enumerate(chosen)}
    return result.sort_values(
        "metric", key=lambda names: names.map(place), kind="stable", ignore_index=True
    )


def _view_of(metric: Metric) -> str:
    """Return the name of the view on which a metric is measured."""
    if metric.fairness == "counterfactual":
        return "aligned"
    return "spans" if metric.score in _SPAN_SCORES else "tokens"


def _read(
    tokens: object, names: dict[str, str], probability: str
) -> tuple[DataFrame, dict[str, str]]:
    """Return checked and sorted tokens, and the names of their probabilities by tag.

    Columns get the names of their roles; probabilities are called p_<tag>.
    """
    tag_columns = probability_columns(probability, tables.schema(tokens))
    columns = dict(names)
    for tag, name in tag_columns.items():
        columns[f"p_{tag}"] = name

    # A column may play two roles, but it is read once.
    rows = tables.rows(tokens, list(dict.fromkeys(columns.values())))
    frame = rows[list(columns.values())].set_axis(list(columns), axis=1)
    if frame.empty:
        raise ValueError("tokens has no rows")
    # As text, position 10 would come before position 2.
    frame["position"] = pd.to_numeric(frame["position"].astype(object), errors="coerce")

    incomplete = [columns[name] for name in frame if frame[name].isna().any()]
    if incomplete:
        raise ValueError(
            f"column(s) {', '.join(incomplete)} of tokens have missing values, "
            "or no number"
        )
    is_truth = frame["slot"].isin([True, False])
    if not is_truth.all():
        raise ValueError(
            f"column {columns['slot']!r} must be true or false, "
            f"found {frame['slot'][~is_truth].iloc[0]!r}"
        )
    if frame.duplicated([*_SENTENCE, "position"]).any():
        raise ValueError(
            f"column {columns['position']!r} must number the tokens of a sentence, "
            "found a number twice"
        )

    sentence_codes = [pd.factorize(frame[name])[0] for name in _SENTENCE]
    order = np.lexsort([frame["position"], *sentence_codes])
    return frame.iloc[order].reset_index(drop=True), tag_columns


def _views(
    frame: DataFrame,
    tag_columns: dict[str, str],
    classes: Hashable | Iterable | None,
) -> tuple[dict[str, Examples], int]:
    """Return three views of tokens, and how many tokens could not be aligned."""
    sentence = frame.groupby(_SENTENCE, sort=False, observed=True).ngroup().to_numpy()
    by_span = _spans(frame, sentence)

    _, label_types = split(frame["label"])
    _, predicted_types = split(frame["prediction"])
    types = {*label_types, *predicted_types} - {OUTSIDE}
    by_token = frame[[*_SENTENCE, "slot"]].assign(
        label=label_types,
        prediction=predicted_types,
        **_probability_of_types(frame, tag_columns, types),
    )
    by_aligned_token, not_aligned = _aligned(by_token, sentence)

    wanted = sorted({*label_types} - {OUTSIDE}) if classes is None else classes
    views = {
        "tokens": _coded(by_token, wanted),
        "spans": _coded(by_span, wanted),
        "aligned": _coded(by_aligned_token, wanted, unit="unit"),
    }
    groups_without_spans = set(views["tokens"].groups) - set(views["spans"].groups)
    if groups_without_spans:
        raise ValueError(
            f"group(s) {', '.join(map(repr, groups_without_spans))} have neither a "
            "labelled nor a predicted span"
        )
    return views, not_aligned


def _coded(
    frame: DataFrame, classes: Hashable | Iterable, unit: str | None = None
) -> Examples:
    """Code a view, whose columns have the names of their roles."""
    return coded(
        frame,
        _COLUMNS_OF_ROLES,
        probability_columns("p_{}", frame),
        classes=classes,
        unit=unit,
    )


def _spans(frame: DataFrame, sentence: ndarray) -> DataFrame:
    """Return one row per true or predicted span, with its source, group and term."""
    matched = compare(frame["label"], frame["prediction"], sentence)
    of_sentence = frame.loc[~Series(sentence).duplicated(), _SENTENCE]
    of_span = of_sentence.iloc[matched["sentence"]].reset_index(drop=True)
    return matched[["label", "prediction"]].join(of_span)


def _probability_of_types(
    frame: DataFrame, tag_columns: dict[str, str], types: set[str]
) -> dict[str, ndarray]:
    """Sum the probabilities of the tags of each type: columns p_<type>."""
    sums: dict[str, ndarray] = {}
    for tag, name in tag_columns.items():
        if tag.startswith(("B-", "I-", "L-", "U-")):
            kind = tag[2:]
        elif tag == OUTSIDE or tag in types:
            kind = tag
        else:
            continue

        values = frame[f"p_{tag}"].to_numpy(dtype=float)
        # In a sum, a negative probability could go unnoticed.
        if values.min() < 0:
            raise ValueError(
                f"probabilities must lie in [0, 1]; column {name!r} holds others"
            )
        sums[f"p_{kind}"] = sums.get(f"p_{kind}", 0.0) + values
    return sums


def _aligned(by_token: DataFrame, sentence: ndarray) -> tuple[DataFrame, int]:
    """Return the tokens that all variations of a source share, and count the others.

    The column `unit` has the same number for the same token of all variations.
    """
    pieces, sentence_of_piece = _pieces(by_token, sentence)

    # Stretch 0 is what stands before the first slot, 1 the slot, 2 what follows it, and
    # so on. Tokens are counted within stretches, so that an article before a slot
    # shifts no token behind it.
    is_slot = pieces["slot"].astype(int)
    stretch = 2 * is_slot.groupby(sentence_of_piece).cumsum() - is_slot
    place = pieces.groupby([sentence_of_piece, stretch]).cumcount()
    unit = (
        pieces.assign(stretch=stretch, place=place)
        .groupby(["source", "stretch", "place"], observed=True)
        .ngroup()
    )

    # A unit is complete if every variation, which is a sentence, of its source has it.
    source_of_piece = pd.factorize(pieces["source"])[0]
    sentences = Series(sentence_of_piece).groupby(source_of_piece)
    variations = sentences.transform("nunique").to_numpy()
    complete = unit.groupby(unit).transform("size").to_numpy() == variations
    return pieces.assign(unit=unit)[complete], int((~complete).sum())


def _pieces(by_token: DataFrame, sentence: ndarray) -> tuple[DataFrame, ndarray]:
    """Average the tokens of each slot into one piece, and return the pieces' sentences.

    Every token outside of slots is a piece of its own.
    """
    slot = by_token["slot"].to_numpy(dtype=bool)
    new_sentence = np.r_[True, sentence[1:] != sentence[:-1]]
    after_other_token = np.r_[True, ~slot[:-1]]
    begins = new_sentence | ~slot | after_other_token

    # Only the probabilities of the tokens of a slot differ.
    rules = {
        name: "mean" if name.startswith("p_") else "first" for name in by_token.columns
    }
    pieces = by_token.groupby(np.cumsum(begins) - 1).agg(rules)
    return pieces, sentence[begins]


def from_tags(
    tags: Iterable[str], sentence: Iterable, *, strict: bool = False
) -> DataFrame:
    """Find the spans that BILOU tags mark.

    A model may predict sequences of tags that BILOU does not allow. Every tagged token
    then still belongs to exactly one span: a span begins at B and U, after L and U, and
    wherever the type or the sentence changes; it ends before the next one begins.

    Parameters
    ----------
    tags : iterable of str
        One tag per token, sentence after sentence.
    sentence : iterable
        The sentence of each token.
    strict : bool, default False
        Raise if the tags do not follow BILOU.

    Returns
    -------
    DataFrame
        One row per span, with columns sentence, start, end and type. Start and end
        count all tokens from 0; the token at `end` is no longer in the span.

    Raises
    ------
    ValueError
        If something is no tag, if the lengths differ, or if `strict` tags are out of
        place.

    Examples
    --------
    >>> spans = from_tags(["O", "B-LOC", "L-LOC", "U-PER"], sentence=[7, 7, 7, 8])
    >>> spans[["start", "end", "type"]].values.tolist()
    [[1, 3, 'LOC'], [3, 4, 'PER']]
    """
    position, kind = split(tags)
    sentence_of_token = np.asarray(sentence)
    if len(sentence_of_token) != len(kind):
        raise ValueError(
            f"sentence must have one entry per tag, found {len(sentence_of_token)} "
            f"for {len(kind)} tags"
        )

    # A span cannot go on where the sentence or the type changes, whatever the tags say.
    inside = kind != OUTSIDE
    new_sentence = sentence_of_token[1:] != sentence_of_token[:-1]
    breaks = new_sentence | (kind[1:] != kind[:-1])
    opens = np.isin(position, ("B", "U"))
    closes = np.isin(position, ("L", "U"))
    starts = inside & (opens | np.r_[True, breaks | closes[:-1]])
    ends = inside & (closes | np.r_[breaks | opens[1:], True])

    misplaced = np.flatnonzero(inside & ((starts != opens) | (ends != closes)))
    if strict and len(misplaced):
        first = misplaced[0]
        raise ValueError(
            f"tags must follow BILOU, but token {first} has "
            f"{position[first]}-{kind[first]} out of place"
        )
    start = np.flatnonzero(starts)
    return DataFrame(
        {
            "sentence": sentence_of_token[start],
            "start": start,
            "end": np.flatnonzero(ends) + 1,
            "type": kind[start],
        }
    )


def split(tags: Iterable[str]) -> tuple[ndarray, ndarray]:
    """Split BILOU tags into positions and types.

    Parameters
    ----------
    tags : iterable of str
        Tags such as "B-LOC" or "O".

    Returns
    -------
    position, type : ndarray of object
        The position of each tag in its span (B, I, L or U) and its type. Both are "O"
        for the tag "O".

    Examples
    --------
    >>> position, kind = split(["O", "B-LOC"])
    >>> position.tolist(), kind.tolist()
    (['O', 'B'], ['O', 'LOC'])
    """
    # Each distinct tag is split once.
    values = np.asarray(list(tags), dtype=object)
    codes, distinct_tags = pd.factorize(values, use_na_sentinel=False)
    parts = np.array([_parts(str(tag)) for tag in distinct_tags], dtype=object)
    table = parts.reshape(-1, 2)
    return table[codes, 0], table[codes, 1]


def _parts(tag: str) -> tuple[str, str]:
    """Return the position and the type of a tag."""
    if tag == OUTSIDE:
        return OUTSIDE, OUTSIDE

    position = tag[:1]
    kind = tag[2:]
    marks_place = position in ("B", "I", "L", "U") and tag[1:2] == "-"
    if not marks_place or kind in ("", OUTSIDE):
        raise ValueError(
            f"tags must be O or one of B-, I-, L-, U- and a type, found {tag!r}"
        )
    return position, kind


def compare(
    gold: Iterable[str], predicted: Iterable[str], sentence: Iterable
) -> DataFrame:
    """Match true with predicted spans.

    A true span is matched only by a predicted span with the same start and end. There
    are no true negatives, because nothing can be counted where neither has a span.

    Parameters
    ----------
    gold, predicted : iterable of str
        The true and the predicted BILOU tag of each token, sentence after sentence.
        True tags must follow BILOU.
    sentence : iterable
        The sentence of each token.

    Returns
    -------
    DataFrame
        One row per place that is a true or a predicted span. The columns are sentence,
        start and end as from `from_tags`, and label and prediction: the two types, or
        "O" where there is only one span.

    Examples
    --------
    >>> compare(["U-LOC", "O"], ["O", "O"], sentence=[0, 0])
       sentence  start  end label prediction
    0         0      0    1   LOC          O
    """
    true_spans = from_tags(gold, sentence, strict=True)
    predicted_spans = from_tags(predicted, sentence)

    spans = true_spans.merge(
        predicted_spans,
        how="outer",
        on=["sentence", "start", "end"],
        suffixes=("_gold", "_predicted"),
    )
    spans = spans.rename(columns={"type_gold": "label", "type_predicted": "prediction"})
    return spans.fillna({"label": OUTSIDE, "prediction": OUTSIDE})
