"""Sequence labelling: spans, types, terms of several tokens; by hand and in loops."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from toy_predictions import MANY_GROUPS

import fairlib
from fairlib import METRICS
from fairlib.metrics import sequences
from fairlib.recipes.suites import fill_slot

TAGS = ["O"] + [f"{position}-{kind}" for kind in ("LOC", "PER") for position in "BILU"]
TERMS = {
    "near": ["Norway", "New Zealand", "Japan"],
    "far": ["Chad", "Sierra Leone", "Papua New Guinea"],
}


def tokens(sources=4, seed=0, terms=TERMS):
    """Return predictions for 'In {country} lives Ada .'; odd sources have two stops."""
    rng = np.random.default_rng(seed)
    rows = []
    for source, (group, names) in itertools.product(range(sources), terms.items()):
        for term in names:
            words = len(term.split())
            gold = [
                "O",
                *fill_slot("U-LOC", words),
                "O",
                "U-PER",
                *"O" * (1 + source % 2),
            ]
            predicted = list(gold)
            if rng.random() < 0.4:
                predicted[1] = rng.choice(["O", "U-PER", "U-LOC"])
            for position, (label, prediction) in enumerate(
                zip(gold, predicted, strict=True)
            ):
                p = rng.dirichlet(np.ones(len(TAGS)))
                row = {
                    "source": source,
                    "group": group,
                    "term": term,
                    "position": position,
                    "label": label,
                }
                row |= {"slot": 1 <= position <= words, "prediction": prediction}
                rows.append(
                    row | {f"p_{tag}": q for tag, q in zip(TAGS, p, strict=True)}
                )
    return pd.DataFrame(rows)


def measured(frame, names, **options):
    return fairlib.measure_sequences(frame, names, **options).set_index(
        ["metric", "class", "group"]
    )["value"]


def test_f1_and_fnr_are_on_exact_spans():
    frame = tokens(seed=1)
    frame["sentence"] = frame.groupby(["source", "group", "term"], sort=False).ngroup()
    f1, fnr = {}, {}
    for group, part in frame.groupby("group"):
        sets = [
            {
                span
                for span in sequences.from_tags(part[c], part["sentence"]).itertuples(
                    index=False, name=None
                )
                if span[3] == "LOC"
            }
            for c in ("label", "prediction")
        ]
        hits = len(sets[0] & sets[1])
        f1[group] = 2 * hits / (len(sets[0]) + len(sets[1]))
        fnr[group] = 1 - hits / len(sets[0])
    found = measured(
        frame, ["F1Difference", "DisparityScore*", "FNRRatio", "TPRGap"], classes="LOC"
    )
    assert found["F1Difference", "LOC", "accumulated"] == pytest.approx(
        f1["far"] - f1["near"]
    )
    assert found["DisparityScore*", "LOC", "accumulated"] == pytest.approx(
        abs(f1["far"] - f1["near"])
    )
    assert found["TPRGap", "LOC", "accumulated"] == pytest.approx(
        abs(fnr["far"] - fnr["near"])
    )
    assert found["FNRRatio", "LOC", "far"] == pytest.approx(fnr["far"] / fnr["near"])


def test_probabilities_of_a_type_are_sums_over_all_tokens_or_over_those_of_the_class():
    frame = tokens(seed=2)
    location = frame[[f"p_{position}-LOC" for position in "BILU"]].sum(axis=1)
    inside = frame["label"].str.endswith("LOC")
    far = frame["group"] == "far"
    found = measured(frame, ["AvgGF", "AvgGF (TC)", "PosAvgEG"], classes="LOC")
    assert found["AvgGF", "LOC", "far"] == pytest.approx(
        stats.wasserstein_distance(location[far], location)
    )
    assert found["AvgGF (TC)", "LOC", "far"] == pytest.approx(
        stats.wasserstein_distance(location[far & inside], location[inside])
    )
    u = stats.mannwhitneyu(location[far & inside], location[~far & inside]).statistic
    share = u / ((far & inside).sum() * (~far & inside).sum())
    assert found["PosAvgEG", "LOC", "far"] == pytest.approx(share - 0.5)


def test_counterfactual_metrics_average_the_tokens_of_a_term_and_follow_every_token():
    frame = tokens(seed=3)
    frame["LOC"] = frame[[f"p_{position}-LOC" for position in "BILU"]].sum(axis=1)
    true_class, everywhere = [], []
    for _, source in frame.groupby("source"):
        sentences = {}
        for (group, term), sentence in source.groupby(["group", "term"]):
            slot = sentence.loc[sentence["slot"], "LOC"].mean()
            context = sentence.loc[~sentence["slot"], "LOC"].tolist()
            sentences[group, term] = [context[0], slot, *context[1:]]
        near, far = ([sentences[g, t] for t in TERMS[g]] for g in ("near", "far"))
        for place in range(len(near[0])):
            gaps = [abs(x[place] - y[place]) for x in near for y in far]
            everywhere.append(np.mean(gaps))
            if place == 1:
                true_class.append(np.mean(gaps))
    found = measured(frame.drop(columns="LOC"), ["CFGap", "CFGap (TC)"], classes="LOC")
    assert found["CFGap", "LOC", "accumulated"] == pytest.approx(np.mean(everywhere))
    assert found["CFGap (TC)", "LOC", "accumulated"] == pytest.approx(
        np.mean(true_class)
    )


def test_an_article_before_the_term_shifts_nothing_and_is_counted():
    frame = tokens(seed=7)
    norway = frame["term"] == "Norway"
    article = frame[norway & frame["slot"]].assign(
        slot=False, label="O", prediction="O", position=0.5
    )
    longer = pd.concat([frame, article])
    names = [name for name in MANY_GROUPS if METRICS[name].fairness == "counterfactual"]
    found = fairlib.measure_sequences(longer, names)
    expected = fairlib.measure_sequences(frame, names)
    assert found["value"].to_numpy() == pytest.approx(expected["value"].to_numpy())
    assert found.attrs["not aligned"] == 4 and expected.attrs["not aligned"] == 0


def test_the_order_of_rows_and_the_names_of_columns_do_not_matter():
    frame = tokens(seed=4)
    other = frame.sample(frac=1, random_state=0).rename(
        columns={"label": "gold", "slot": "filled", "position": "i"}
    )
    options = {"label": "gold", "slot": "filled", "position": "i"}
    pd.testing.assert_series_equal(
        measured(frame, MANY_GROUPS), measured(other, MANY_GROUPS, **options)
    )


def test_positions_that_are_text_are_numbers():
    # The positions are 8 to 11. As text, 10 would come first.
    frame = tokens().assign(position=lambda d: d["position"] + 8)
    text = frame.assign(position=frame["position"].astype(str))
    pd.testing.assert_frame_equal(
        fairlib.measure_sequences(text), fairlib.measure_sequences(frame)
    )


def test_all_metrics_in_the_order_asked_for_with_their_uncertainty():
    found = fairlib.measure_sequences(tokens(seed=5), replicates=20)
    assert list(found["metric"].unique()) == list(METRICS)
    assert set(found["class"]) == {"LOC", "PER", "all"}
    assert found.loc[
        np.isfinite(found["value"]) & (found["low"] > found["value"])
    ].empty
    # Terms of one token and of three may be exchanged: they occur in the same sources.
    assert found.attrs["no null"] == "" and found["p"].notna().any()


def test_context_that_differs_only_in_length_changes_only_metrics_without_true_class():
    frame = tokens(sources=2, seed=6)
    longer = pd.concat(
        [
            frame,
            frame[frame["label"] == "O"].assign(position=lambda d: d["position"] + 100),
        ]
    )
    before, after = (
        measured(d, ["ParityGap", "CFGap (TC)", "FNED"], classes="LOC")
        for d in (frame, longer)
    )
    assert before["CFGap (TC)"].to_numpy() == pytest.approx(
        after["CFGap (TC)"].to_numpy()
    )
    assert before["FNED"].to_numpy() == pytest.approx(after["FNED"].to_numpy())
    assert before["ParityGap", "LOC", "accumulated"] != pytest.approx(
        after["ParityGap", "LOC", "accumulated"]
    )


@pytest.mark.parametrize(
    ("spoil", "options", "message"),
    [
        (lambda d: d.drop(columns="slot"), {}, "slot"),
        (lambda d: d.iloc[:0], {}, "^tokens has no rows"),
        (lambda d: d.assign(label="LOC"), {}, "tags must be O or one of"),
        (lambda d: d.assign(label="I-LOC"), {}, "tags must follow BILOU"),
        (lambda d: d.assign(position=1), {}, "'position' must number the tokens"),
        (lambda d: d.assign(prediction=None), {}, "missing values"),
        (
            lambda d: d.assign(position="first"),
            {},
            "position of tokens have missing values, or no number",
        ),
        (
            lambda d: d.assign(slot=d["slot"].astype(str)),
            {},
            "column 'slot' must be true or false, found 'False'",
        ),
        (
            lambda d: d,
            {"classes": "ORG"},
            "classes: 'ORG' found, but the classes of the table are",
        ),
        (lambda d: d, {"probability": "p_"}, "probability must be a pattern"),
        (lambda d: d.assign(**{"p_B-LOC": -0.1}), {}, "'p_B-LOC' holds others"),
        (lambda d: d.assign(**{"p_B-LOC": 0.0}), {}, "must sum to 1"),
        (lambda d: d[d["group"] == "far"], {}, "one group only"),
    ],
)
def test_wrong_tables_are_refused(spoil, options, message):
    with pytest.raises(ValueError, match=message):
        fairlib.measure_sequences(spoil(tokens()), **options)


def test_probabilities_by_type_are_as_good_as_by_tag():
    frame = tokens(seed=8)
    tags = frame.filter(like="p_")
    kinds = tags.columns.str.split("_").str[1].str.split("-").str[-1]
    by_type = tags.T.groupby("p_" + kinds).sum().T
    assert {"p_O", "p_LOC"} <= set(by_type) and by_type.shape[1] < tags.shape[1]
    found = measured(frame.drop(columns=tags.columns).join(by_type), MANY_GROUPS)
    pd.testing.assert_series_equal(found, measured(frame, MANY_GROUPS))
