import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import fairlib
from fairlib.metrics.examples import read
from fairlib.recipes import czarnowska2021, suite_metrics

WORDS = "TF-IDF + logistic regression"


@pytest.fixture(scope="module")
def outputs():
    return fairlib.load("suite_predictions", source="bundled")


@pytest.fixture(scope="module")
def bundled():
    return fairlib.load("suite_metrics", source="bundled")


def test_the_recipe_gives_the_bundled_rows(outputs, bundled):
    keys = {"model": WORDS, "classes": 2, "attribute": "race"}
    suite = outputs[(outputs[list(keys)] == list(keys.values())).all(axis=1)]
    found = suite_metrics.of_suite(suite).reset_index(drop=True)
    stored = bundled[(bundled[list(keys)] == list(keys.values())).all(axis=1)].drop(
        columns=list(keys)
    )
    pd.testing.assert_frame_equal(
        found, stored.reset_index(drop=True), check_dtype=False
    )


def test_every_run_is_there_with_a_value_for_every_metric_and_attribute(
    outputs, bundled
):
    runs = set(
        outputs[["model", "classes", "seed"]]
        .astype(str)
        .drop_duplicates()
        .itertuples(index=False, name=None)
    )
    accumulated = bundled[
        (bundled["group"] == "accumulated") & (bundled["class"] != "negative")
    ]
    cells = (
        accumulated.groupby(["model", "classes", "seed"])
        .size()
        .reset_index()
        .astype(str)
    )
    assert (
        set(
            cells.query("seed != 'all'")[["model", "classes", "seed"]].itertuples(
                index=False, name=None
            )
        )
        == runs
    )
    metrics = len(suite_metrics.TESTED) + len(suite_metrics.SHOWN)
    assert (
        accumulated.groupby(["model", "classes", "seed"]).size() == 8 * metrics
    ).all()
    assert accumulated["value"].notna().all()


def toy(shift):
    """Two groups of two terms in six templates, two seeds; terms of group b score
    higher by `shift`.
    """
    rng = np.random.default_rng(0)
    rows = []
    for seed in (0, 1):
        for source in range(6):
            for group, term in ("a1", "a2", "b1", "b2"):
                positive = np.clip(
                    0.5 + shift * (group == "b") + rng.normal(0, 0.05), 0, 1
                )
                label = ("negative", "positive")[source % 2]
                predicted = "positive" if positive > 0.5 else "negative"
                rows.append(
                    (
                        seed,
                        str(source),
                        group,
                        group + term,
                        label,
                        predicted,
                        1 - positive,
                        positive,
                    )
                )
    columns = [
        "seed",
        "source",
        "group",
        "term",
        "label",
        "prediction",
        "p_negative",
        "p_positive",
    ]
    return pd.DataFrame(rows, columns=columns)


def of_runs(frame, names, **options):
    runs = {
        str(seed): read(run.drop(columns="seed"), classes="positive")
        for seed, run in frame.groupby("seed")
    }
    return suite_metrics.tests(runs, names, **options)


def test_all_seeds_share_their_exchanges():
    found = of_runs(toy(0.1), ("AvgGF", "FPRRatio"), exchanges=99)
    value, _, _, null, *_ = np.mean(
        [found[seed, "AvgGF", "positive", "a"] for seed in "01"], axis=0
    )
    every = found["all", "AvgGF", "positive", "a"]
    np.testing.assert_allclose([every[0], every[3]], [value, null])
    # With terms exchanged alike in both seeds, a third of the exchanges give the very
    # groups back: p is a third, in the mean over seeds too. Exchanged apart, both would
    # do so in a ninth only.
    assert every[4] == pytest.approx(1 / 3, abs=0.1)
    ratios = [found[seed, "FPRRatio", "positive", "b"][0] for seed in ("0", "1", "all")]
    assert ratios[2] == pytest.approx(np.sqrt(ratios[0] * ratios[1]))


@pytest.mark.slow
def test_an_answer_does_not_turn_with_another_seed_of_the_draws(
    outputs, bundled, monkeypatch
):
    monkeypatch.setattr(suite_metrics, "RESAMPLES", 1)  # the intervals play no part
    named = bundled.query(
        "metric == 'AvgGF' and group == 'accumulated' and seed == 'all' "
        "and model != @WORDS"
    )
    named = named.set_index(["attribute", "classes"])["p"].clip(lower=1 / 2000)
    suite = outputs.query(
        "attribute == 'religion' and classes == 2 and label != 'neutral' "
        "and model != @WORDS"
    )
    suite = suite.astype(
        {"source": str, "group": str, "term": str, "label": str, "prediction": str}
    )
    suite = suite[
        [
            "seed",
            "source",
            "group",
            "term",
            "label",
            "prediction",
            "p_negative",
            "p_positive",
        ]
    ]
    question, draws = ("religion", 2), 1999
    often = (
        named[question] * 10_000 - 1
    ) / 9999  # the share of the 9,999 bundled exchanges that reach the value
    p = of_runs(suite, ("AvgGF",), exchanges=draws, rng=1)[
        "all", "AvgGF", "positive", "accumulated"
    ][4]
    # Other draws, the same world.
    assert stats.binomtest(round(p * (draws + 1)) - 1, draws, often).pvalue > 0.001
    answers = set()
    for hits in range(
        *map(int, stats.binom.interval(0.999, draws, often) + np.array([0, 1]))
    ):  # all that may come
        named[question] = (hits + 1) / (draws + 1)
        answers.add(
            pd.Series(fairlib.discoveries(named, draws=draws), named.index)[question]
        )
    assert answers == {"yes"}


def test_names_roberta_reads_the_counts_of_a_printed_notebook(tmp_path, monkeypatch):
    table = (
        "Groups:  all  female  male\nFN:  10.000  {fn}  2.000\n"
        "FP:  1.000  0.000  1.000\nTN:  9.000  4.000  5.000\n"
    )
    printed = (
        "======== CLASS accumulated\nAccuracy:  0.7  0.7  0.7\n======== CLASS 0\n"
        + table.format(fn="1.000")
    )
    printed += (
        "======== CLASS 1\n"
        + table.format(fn="8.000")
        + "TP:  9.000  6.000  3.000\nTPR:  0.9  0.9  0.9\n"
    )
    cells = [
        {"source": ["x = 1\n"], "outputs": [{"text": printed}]},
        {
            "source": ["f(\n", "mname='roberta-semeval-2',\n", ")"],
            "outputs": [{"text": [printed]}, {"data": {}}],
        },
    ]
    (tmp_path / "notebook.ipynb").write_text(json.dumps({"cells": cells}))
    monkeypatch.setattr(
        czarnowska2021, "original", lambda file: tmp_path / "notebook.ipynb"
    )
    found = czarnowska2021.names_roberta()
    assert found.to_dict("list") == {
        "task": ["SemEval-2"] * 2,
        "class": ["positive"] * 2,
        "group": ["female", "male"],
        "tp": [6, 3],
        "fp": [0, 1],
        "fn": [8, 2],
        "tn": [4, 5],
    }


def test_names_roberta_counts_every_sentence_of_its_suite():
    counts = fairlib.load("names_roberta", source="bundled").set_index(
        ["task", "class", "group"]
    )
    totals = counts.sum(axis=1)[["SemEval-2", "SemEval-3"]]
    assert (totals["SemEval-2"] == 4000).all() and (totals["SemEval-3"] == 6000).all()
    assert (counts.loc["SemEval-3", ["tp", "fn"]].sum(axis=1) == 2000).all()
