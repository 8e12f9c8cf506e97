"""Adjusted p-values: against statsmodels and loops, and the family-wise error that they promise."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_models import model
from statsmodels.stats.multitest import multipletests

import fairlib
from fairlib import multiplicity
from fairlib.examples import read

p_lists = st.lists(st.floats(0, 1), min_size=1, max_size=12)


# --- Holm and others --------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(p_lists)
def test_holm_against_its_definition(p):
    order, expected, largest = np.argsort(p, kind="stable"), np.empty(len(p)), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        expected[i] = largest
    np.testing.assert_allclose(multiplicity.adjust(p), expected)


@settings(deadline=None)
@given(p_lists, st.sampled_from(sorted(multiplicity.METHODS)))
def test_undefined_questions_are_no_questions(p, method):
    with_nan = pd.Series([np.nan, *p], index=[f"m{i}" for i in range(len(p) + 1)])
    found = multiplicity.adjust(with_nan, method=method)
    assert np.isnan(found["m0"]) and list(found.index) == list(with_nan.index)
    np.testing.assert_allclose(found.iloc[1:], multipletests(p, method=multiplicity.METHODS[method][0])[1])


def test_nothing_to_adjust():
    assert len(multiplicity.adjust([])) == 0 and np.isnan(multiplicity.adjust([np.nan])).all()


# --- max-T ------------------------------------------------------------------------------------------------------------


def by_loop(observed, null, step_down):
    """Westfall and Young's step-down, literally, without scaling."""
    every = np.vstack([observed, null])
    order, result, largest = np.argsort(-observed, kind="stable"), np.empty(len(observed)), 0.0
    for rank, i in enumerate(order):
        left = order[rank:] if step_down else order
        largest = max(largest, np.mean([max(draw[left]) >= observed[i] - 1e-12 for draw in every]))
        result[i] = largest
    return result


@pytest.mark.parametrize("step_down", [True, False])
def test_max_t_against_a_loop(step_down):
    rng = np.random.default_rng(0)
    observed, null = rng.normal(size=6).round(1), rng.normal(size=(50, 6)).round(1)  # with ties
    found = multiplicity.max_t(observed, null, scale="none", step_down=step_down)
    np.testing.assert_allclose(found, by_loop(observed, null, step_down))


def test_units_matter_only_without_a_scale():
    rng = np.random.default_rng(1)
    observed, null = rng.normal(1, 1, size=5), rng.normal(size=(200, 5))
    units, zero = np.array([1, 10, 100, 0.1, 3.0]), np.array([0, 5, -3, 100, 1.0])
    for scale in ("deviation", "rank"):
        plain = multiplicity.max_t(observed, null, scale=scale)
        np.testing.assert_allclose(plain, multiplicity.max_t(observed * units + zero, null * units + zero, scale=scale))
    assert not np.allclose(
        multiplicity.max_t(observed, null, scale="none"),
        multiplicity.max_t(observed * units, null * units, scale="none"),
    )


def test_questions_that_are_the_same_cost_nothing_and_independent_ones_cost_what_sidak_says():
    rng = np.random.default_rng(2)
    one = rng.normal(size=(20_000, 1))
    same = multiplicity.max_t(np.full(10, 2.5), np.repeat(one, 10, axis=1))
    assert same == pytest.approx((1 + (one >= 2.5).sum()) / 20_001, abs=2e-4)
    free = multiplicity.max_t(np.full(10, 2.5), rng.normal(size=(20_000, 10)), scale="none")
    assert free[0] == pytest.approx(1 - (1 - 0.00621) ** 10, abs=0.006)


def test_one_question_is_an_ordinary_permutation_test():
    null = np.arange(99.0)[:, None]
    for scale in multiplicity.SCALES:
        assert multiplicity.max_t([95.0], null, scale=scale).tolist() == [0.05]


def test_undefined_and_infinite_statistics():
    null = np.array([[0.1, np.nan, 1.0], [0.2, 5.0, np.inf], [0.3, 1.0, 2.0]])
    for scale in multiplicity.SCALES:
        p = multiplicity.max_t([np.nan, 2.0, np.inf], null, scale=scale)
        assert np.isnan(p[0]) and p[1] >= 0.5 and p[2] == 0.75  # two of three draws are as far, on some question
        assert multiplicity.max_t([np.inf], np.full((3, 1), np.inf), scale=scale) == 1
    assert np.isnan(multiplicity.max_t([np.nan], np.ones((3, 1)))).all()


@pytest.mark.parametrize("scale", multiplicity.SCALES)
def test_family_wise_error_is_at_most_the_level_under_permutation(scale):
    """The data are one of the draws: exchangeable, whatever the statistics' distribution and number of draws."""
    rng, errors = np.random.default_rng(3), 0
    for _ in range(2000):
        common = rng.normal(size=(20, 1))
        every = np.exp(common + rng.normal(size=(20, 8))) * np.arange(1, 9)
        errors += (multiplicity.max_t(every[0], every[1:], scale=scale) <= 0.05).any()
    assert errors / 2000 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)


# --- a family of metrics ----------------------------------------------------------------------------------------------


def test_family_agrees_with_measure_and_with_its_parts():
    frame = model(0, effect=[0, 1.0, 0], sources=10)
    names = ["FPED", "FNED", "CFGap", "PertSR"]
    found = fairlib.multiplicity.family(frame, names, replicates=199, rng=0)
    plain = fairlib.measure(frame, names, replicates=199, rng=1)
    pd.testing.assert_frame_equal(
        found[["metric", "class", "group", "value"]], plain[["metric", "class", "group", "value"]]
    )
    np.testing.assert_allclose(found["p"], plain["p"], atol=0.12)
    np.testing.assert_allclose(found["null"], plain["null"], atol=0.03)
    np.testing.assert_allclose(found["p_holm"], multiplicity.adjust(found["p"]))
    assert (found["p_max_t"] >= found["p"].min()).all()
    only = fairlib.multiplicity.family(frame, names, rows="accumulated", replicates=99)
    assert set(only["group"]) == {"accumulated"}
    assert "accumulated" not in set(fairlib.multiplicity.family(frame, ["FPED"], rows="groups", replicates=1)["group"])


def test_the_group_that_differs_is_found_and_the_others_are_not():
    frame = model(1, effect=[0, 0, 0, -3], sources=30, terms=8, term_spread=0.3)
    names = ["TPRGap", "TNRGap", "AvgGF (TC)", "PosAvgEG", "NegAvgEG"]
    found = fairlib.multiplicity.family(frame, names, rows="groups", replicates=399).set_index(
        ["metric", "class", "group"]
    )
    worst = found.xs(3, level="group")
    assert (worst["p_max_t"] <= 0.05).mean() > 0.9
    signed = found.loc[["PosAvgEG", "NegAvgEG"]].drop(3, level="group")
    assert (signed["p_max_t"] > 0.05).all()
    assert (found["p_max_t"] <= 0.05).sum() >= (found["p_holm"] <= 0.05).sum()


FAMILY = ["FNED", "FPED", "TPRGap", "CFGap", "PosAvgEG", "FPRRatio"]


def sizes(frames):
    """Return how often some question of the family is answered with p <= .05, by kind of p."""
    found = []
    for seed, frame in enumerate(frames):
        table = fairlib.multiplicity.family(frame, FAMILY, classes=[1], replicates=99, rng=seed)
        found.append((table[["p", "p_holm", "p_max_t"]] <= 0.05).any())
    return pd.concat(found, axis=1).mean(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("term_spread", [0.0, 0.8])
def test_family_wise_error_of_a_fair_model_with_or_without_term_effects(term_spread):
    """B7: whole terms are exchanged, so that terms that are unlike others are not mistaken for groups."""
    frames = [model(seed, effect=[0] * 4, sources=10, terms=5, term_spread=term_spread) for seed in range(100)]
    found = sizes(frames)
    limit = 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)
    assert found["p_max_t"] <= limit and found["p_holm"] <= limit
    assert found["p"] > 0.3  # without adjustment


@pytest.mark.slow
def test_exchanging_sentences_calls_a_fair_model_unfair():
    frames = [model(seed, effect=[0] * 4, sources=30, terms=5, term_spread=0.8) for seed in range(20)]
    sentences = [frame.assign(term=np.arange(len(frame))) for frame in frames]  # exchanged within each source
    assert sizes(sentences)["p_max_t"] > 0.5


@pytest.mark.slow
def test_sources_that_belong_to_a_group_stay_together():
    """Texts of authors, who differ; each author has one group. Exchanging texts would find what is not there."""
    wrong = {"authors": 0, "texts": 0}
    for seed in range(100):
        rng = np.random.default_rng(seed)
        author = np.repeat(np.arange(24), 15)
        right = rng.random(len(author)) < 1 / (1 + np.exp(-1 - rng.normal(0, 0.8, 24)[author]))
        frame = pd.DataFrame({"source": author, "group": author % 2, "label": 1, "prediction": right.astype(int)})
        assert read(frame).resampled == "sources"
        for name, table in {"authors": frame, "texts": frame.drop(columns="source")}.items():
            p = fairlib.measure(table, "TPRGap", classes=[1], replicates=99, rng=seed)["p"].iloc[-1]
            wrong[name] += p <= 0.05
    assert wrong["authors"] <= 100 * (0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)) and wrong["texts"] > 20


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: multiplicity.adjust([0.1], method="tukey"), "one of 'holm', 'bonferroni', .* found 'tukey'"),
        (lambda: multiplicity.adjust([1.1]), r"numbers in \[0, 1\]"),
        (lambda: multiplicity.adjust([[0.1]]), "must be a list"),
        (lambda: multiplicity.max_t([1.0], np.ones((5, 2))), r"must be \(draws, 1\) for 1 statistics, found \(5, 2\)"),
        (lambda: multiplicity.max_t([1.0], np.ones((0, 1))), r"found \(0, 1\)"),
        (lambda: multiplicity.max_t([1.0], np.ones((5, 1)), scale="t"), "found 't'"),
        (lambda: multiplicity.family(model(0, effect=[0, 0]), rows="some"), "found 'some'"),
        (lambda: multiplicity.family(model(0, effect=[0, 0]), replicates=0), "replicates must be positive, found 0"),
        (
            lambda: multiplicity.family(model(0, effect=[0, 0]), ["FPRRatio"], rows="accumulated"),
            "no rows 'accumulated'",
        ),
        (
            lambda: multiplicity.family(model(0, effect=[0, 0]).query("(source % 2 == 0) == (group == 0)"), ["FNED"]),
            "no null: term: no two terms",
        ),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
