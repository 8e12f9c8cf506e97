"""Metrics for sequence labelling: three views of the same tokens, each measured by the code for classification."""

from __future__ import annotations

import narwhals as nw
import numpy as np
import pandas as pd

from fairlib import scores, spans, tables
from fairlib.coding import probability_columns
from fairlib.examples import COLUMNS, Examples, coded
from fairlib.measuring import choose, tabulate
from fairlib.metrics import Metric

# Scores without true negatives: taken on exact spans. All others see each token as a decision of its own (section 5.1).
SPAN_SCORES = (scores.f1, scores.false_negative_rate, scores.true_positive_rate, scores.recall)
NAMES = ("source", "group", "term")


def measure_sequences(
    tokens,
    metrics=None,
    *,
    classes=None,
    replicates: int = 0,
    confidence: float = 0.95,
    combinations: int = 100,
    rng=0,
    position: str = "position",
    slot: str = "slot",
    label: str = "label",
    prediction: str = "prediction",
    source: str = "source",
    group: str = "group",
    term: str = "term",
    probability: str = "p_{}",
) -> pd.DataFrame:
    """Measure fairness metrics of a sequence labeller; parameters and result as in `measure`, and what follows.

    tokens : any table that `fairlib.tables` knows; what follows what matters, so its rows are brought into memory. One
        row per token of a sentence, which is a (source, group, term). `position` orders the tokens of a sentence;
        `slot` is true on those of the identity term; labels and predictions are BILOU tags; probabilities, if any, have
        a column per tag (`p_U-LOC`).
    classes : entity types; by default those that occur as labels.

    F1, recall and false negative rates are on exact spans; other scores of predictions see every token as a decision.
    The probability of a type is summed over its B, I, L and U. Metrics that do not restrict themselves to the class
    include the tokens of the context, so they depend on the length of sentences. Counterfactual metrics follow each
    token of a source across groups, with the tokens of the term averaged into one; a token that not every variation of
    the source has, such as an article before the term, is left out of them: `result.attrs["not aligned"]` counts these.
    """
    columns = {
        "source": source, "group": group, "term": term, "position": position, "slot": slot, "label": label,
        "prediction": prediction,
    }  # fmt: skip
    chosen, explicit = choose(metrics)
    parts, not_aligned = views(_in_memory(tokens), columns, probability, classes)
    by_view: dict[str, dict[str, Metric]] = {view: {} for view in parts}
    for name, metric in chosen.items():
        on_spans = metric.score in SPAN_SCORES
        view = "aligned" if metric.fairness == "counterfactual" else "spans" if on_spans else "tokens"
        by_view[view][name] = metric
    result = tabulate(
        [(parts[view], wanted) for view, wanted in by_view.items() if wanted],
        explicit, replicates, confidence=confidence, combinations=combinations, rng=rng,
    )  # fmt: skip
    attributes = result.attrs | {"not aligned": not_aligned}
    place = {name: index for index, name in enumerate(chosen)}
    result = result.sort_values("metric", key=lambda names: names.map(place), kind="stable", ignore_index=True)
    result.attrs = attributes
    return result


def _in_memory(table) -> pd.DataFrame:
    if isinstance(table, pd.DataFrame):
        return table
    parts = tables.parts(table, tables.columns(table))
    collected = [part.collect() if isinstance(part, nw.LazyFrame) else part for part in parts]
    return pd.concat([part.to_pandas() for part in collected], ignore_index=True)


def views(tokens: pd.DataFrame, columns: dict[str, str], pattern: str, classes) -> tuple[dict[str, Examples], int]:
    """Return the tokens, the spans and the aligned tokens as examples, and how many tokens could not be aligned."""
    if missing := [f"{role} ({name!r})" for role, name in columns.items() if name not in tokens.columns]:
        raise ValueError(
            f"tokens lacks the column(s) {', '.join(missing)}; it has {', '.join(map(repr, tokens.columns))}"
        )
    frame = tokens[list(columns.values())].set_axis(list(columns), axis=1)
    frame["position"] = pd.to_numeric(frame["position"].astype(object), errors="coerce")  # as text, 10 is before 2
    if empty := [name for name in frame if frame[name].isna().any()]:
        raise ValueError(
            f"column(s) {', '.join(columns[name] for name in empty)} of tokens have missing values, or no number"
        )
    if not (known := frame["slot"].isin([True, False])).all():
        raise ValueError(f"column {columns['slot']!r} must be true or false, found {frame['slot'][~known].iloc[0]!r}")
    keys = [pd.factorize(frame[name])[0] for name in NAMES]
    order = np.lexsort([frame["position"], *keys])  # sentence by sentence, token by token
    frame = frame.iloc[order].reset_index(drop=True)
    sentence = frame.groupby(list(NAMES), sort=False, observed=True).ngroup().to_numpy()
    if frame.assign(sentence=sentence).duplicated(["sentence", "position"]).any():
        raise ValueError(
            f"column {columns['position']!r} must number the tokens of a sentence, found a number twice in one"
        )
    gold, predicted = frame["label"].to_numpy(), frame["prediction"].to_numpy()
    matched = spans.compare(gold, predicted, sentence)

    kinds = pd.DataFrame({"label": spans.split(gold)[1], "prediction": spans.split(predicted)[1]})
    by_token = pd.concat([frame[[*NAMES, "slot"]], kinds, _by_type(tokens, pattern, order)], axis=1)
    sentences = frame.loc[~pd.Series(sentence).duplicated(), list(NAMES)].reset_index(drop=True)
    by_span = pd.concat(
        [sentences.iloc[matched["sentence"]].reset_index(drop=True), matched[["label", "prediction"]]], axis=1
    )

    known = sorted((set(by_token["label"]) | set(by_token["prediction"])) - {spans.OUTSIDE})
    occurring = sorted(set(by_token["label"]) - {spans.OUTSIDE})
    wanted = occurring if classes is None else [classes] if isinstance(classes, str) else list(classes)
    if strange := [name for name in wanted if name not in known]:
        raise ValueError(f"classes must be entity types of the tags, {', '.join(known)}, found {strange[0]!r}")
    aligned, left_out = _aligned(by_token, sentence)
    found = {
        view: coded(
            frame, COLUMNS, probability_columns("p_{}", frame), classes=wanted, unit="unit" if "unit" in frame else None
        )
        for view, frame in {"tokens": by_token, "spans": by_span, "aligned": aligned}.items()
    }
    if without := set(found["tokens"].groups) - set(found["spans"].groups):
        raise ValueError(f"group(s) {', '.join(map(repr, without))} have neither a labelled nor a predicted span")
    return found, left_out


def _by_type(tokens: pd.DataFrame, pattern: str, order: np.ndarray) -> pd.DataFrame:
    """Sum the probabilities of the tags of each type: columns p_<type>."""
    before, after = pattern.split("{}") if pattern.count("{}") == 1 else (None, None)
    if before is None or not before + after:
        raise ValueError(f"probability must be a pattern such as 'p_{{}}', found {pattern!r}")
    sums: dict[str, np.ndarray] = {}
    for name in tokens.columns:
        tag = str(name)[len(before) : len(str(name)) - len(after)]
        if str(name) == before + tag + after and (tag == spans.OUTSIDE or tag[:2] in ("B-", "I-", "L-", "U-")):
            kind = f"p_{spans.split([tag])[1][0]}"
            values = tokens[name].to_numpy(dtype=float)[order]
            if not np.isfinite(values).all() or values.min() < 0:  # before a sum could hide it
                raise ValueError(f"probabilities must lie in [0, 1]; column {name!r} holds others or missing values")
            sums[kind] = sums.get(kind, 0.0) + values
    return pd.DataFrame(sums)


def _aligned(by_token: pd.DataFrame, sentence: np.ndarray) -> tuple[pd.DataFrame, int]:
    """Average the tokens of each filled slot into one, and give the same unit to the same place of every variation.

    Tokens are counted within their stretch between slots, so that an article before the slot shifts nothing behind it.
    Such tokens, which not every variation of a source has, are left out; how many comes second.
    """
    slot = by_token["slot"].to_numpy(dtype=bool)
    first = np.r_[True, sentence[1:] != sentence[:-1]]
    piece = np.cumsum(first | ~slot | np.r_[True, ~slot[:-1]]) - 1  # tokens of one slot share a number
    probabilities = [name for name in by_token.columns if name.startswith("p_")]
    rules = dict.fromkeys((*NAMES, "slot", "label", "prediction"), "first") | dict.fromkeys(probabilities, "mean")
    merged = by_token.groupby(piece).agg(rules)
    number = sentence[np.flatnonzero(np.r_[True, piece[1:] != piece[:-1]])]
    filled = merged["slot"].astype(int).to_numpy()
    stretch = 2 * merged["slot"].astype(int).groupby(number).cumsum().to_numpy() - filled
    place = merged.groupby([number, stretch]).cumcount().to_numpy()
    unit = merged.assign(stretch=stretch, place=place).groupby(["source", "stretch", "place"], observed=True).ngroup()
    variations = pd.Series(number).groupby(pd.factorize(merged["source"])[0]).transform("nunique").to_numpy()
    everywhere = unit.groupby(unit).transform("size").to_numpy() == variations
    return merged.assign(unit=unit)[everywhere], int((~everywhere).sum())
