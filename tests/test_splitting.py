"""Corrected metrics: 0 on average for fair models, the truth for unfair ones, and the same as the formula by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest
from simulated_models import UNSIGNED, independent, model

import fairlib
from fairlib import METRICS, Metric, comparisons, drawing, scores, splitting
from fairlib.examples import read

MANY = [name for name in UNSIGNED if not METRICS[name].two_groups]


def accumulated(frame, metrics, **options):
    found = fairlib.corrected(frame, metrics, **options)
    return found[found["group"] == "accumulated"].groupby("metric")[["value", "corrected"]].mean()


def averages(frames, metrics, **options):
    """Return the mean of values and corrected values over data sets, and the standard error of the latter."""
    found = pd.concat(
        [accumulated(frame, metrics, rng=seed, **options).reset_index() for seed, frame in enumerate(frames)]
    ).groupby("metric")
    return found[["value", "corrected"]].mean().assign(error=found["corrected"].sem())


# --- the halves -------------------------------------------------------------------------------------------------------


def test_halves_are_complements_and_split_every_kind_of_every_group():
    group = np.array([0] * 7 + [1] * 6 + [2] * 2)
    kind = np.array([0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1])
    seen = set()
    for draws in drawing.halved_draws(np.zeros(4, dtype=int), kind, group, by="terms", splits=40, batch=20, rng=0):
        one, other = np.split(draws.term_weight, 2)
        assert len(one) <= 10 and set(np.unique(one)) == {0, 1}
        np.testing.assert_array_equal(one + other, 1)
        np.testing.assert_array_equal(draws.source_weight, 1)
        for g in range(3):
            assert (np.abs((one - other)[:, group == g].sum(axis=1)) <= 1).all()
            for k in range(2):
                assert (np.abs((one - other)[:, (group == g) & (kind == k)].sum(axis=1)) <= 1).all()
        seen |= {tuple(row) for row in one}
    assert len(seen) > 30  # and they differ from split to split
    assert {row[13] for row in seen} == {0.0, 1.0}


def test_halves_of_sources_have_every_class():
    kind = np.array([0, 1, 0, 1, 2, 2])
    (draws,) = drawing.halved_draws(kind, np.zeros(2, dtype=int), np.arange(2), by="sources", splits=5, batch=50, rng=0)
    for k in range(3):
        np.testing.assert_array_equal(draws.source_weight[:, kind == k].sum(axis=1), 1)
    np.testing.assert_array_equal(draws.term_weight, 1)


def test_by_hand_with_two_examples_a_group():
    """Each half has one example of each group, and knows nothing that the other half confirms."""
    frame = pd.DataFrame({"group": list("aabb"), "label": 1, "prediction": [1, 0, 0, 0]})
    found = accumulated(frame, ["TPRGap"], classes=[1])
    # One half sees rates (1, 0), the other (0, 0): sign(1) * 0 and sign(0) * 1 are both 0. The plug-in says 1/2.
    assert found.loc["TPRGap"].tolist() == [0.5, 0.0]


def test_halves_that_agree_give_the_plain_comparison_and_halves_that_contradict_its_negative():
    x, y = np.random.default_rng(0).normal(size=(2, 1, 3, 4))  # halves, units, groups
    for plain, split in splitting.CROSSED.items():
        if plain is comparisons.wasserstein:  # of samples, and made of absolute differences
            continue
        for sign in (1, -1):
            whole = (x, y) if plain is comparisons.absolute_difference else (x,)
            halves = [np.concatenate([part, sign * part]) for part in whole]
            expected = plain(*whole)
            assert split(*halves) == pytest.approx(sign * np.concatenate([expected, expected]))


@pytest.mark.parametrize("memory", [400, 10**9])
def test_against_a_loop_over_all_halves(memory, monkeypatch):
    """Two groups of four terms: 6 x 6 ways to halve them; batches large or small."""
    monkeypatch.setattr(splitting, "MEMORY", memory)
    frame = model(3, effect=[0, 0.2], term_spread=1.0)
    hit = frame[frame["label"] == 1].assign(hit=lambda d: d["prediction"] == 1)
    rate = hit.groupby("term")["hit"].mean()  # of each of the 8 terms, on equally many examples
    halves = [list(half) for half in itertools.combinations(range(4), 2)]
    expected = []
    for one, two in itertools.product(halves, halves):
        rest = [[t for t in range(4) if t not in half] for half in (one, two)]
        here = rate[one].mean() - rate[[4 + t for t in two]].mean()
        there = rate[rest[0]].mean() - rate[[4 + t for t in rest[1]]].mean()
        expected.append((np.sign(round(here, 12)) * there + np.sign(round(there, 12)) * here) / 2)
    found = accumulated(frame, ["TPRGap"], classes=[1], splits=2000).loc["TPRGap"]
    assert found["value"] == pytest.approx(abs(rate[:4].mean() - rate[4:].mean()))
    assert found["corrected"] == pytest.approx(np.mean(expected), abs=4 * np.std(expected) / np.sqrt(2000) + 1e-9)
    assert np.std(expected) > 0


# --- what it is for ---------------------------------------------------------------------------------------------------


def test_six_identical_groups_get_nothing():
    """10 % errors, 60 examples each: the plug-in values .043 and .169 are pure noise."""
    frames = [independent(seed, rates=[0.1] * 6, size=60) for seed in range(150)]
    found = averages(frames, ["TPRGap", "FNED"], classes=[1], splits=10)
    assert found["value"].tolist() == pytest.approx([0.169, 0.043], abs=0.015)
    assert (found["corrected"].abs() < 3.5 * found["error"]).all()
    assert (found["corrected"].abs() < 0.12 * found["value"]).all()


def test_a_real_gap_stays():
    rates = [0.1, 0.3, 0.5]
    frames = [independent(seed, rates=rates, size=400) for seed in range(60)]
    found = averages(frames, ["TPRGap"], classes=[1], splits=10).loc["TPRGap"]
    assert found["corrected"] == pytest.approx((0.2 + 0.2 + 0.4) / 3, abs=3.5 * found["error"])


def test_a_gap_within_the_noise_is_not_made_larger():
    frames = [independent(seed, rates=[0.1, 0.13], size=60) for seed in range(300)]
    found = averages(frames, ["TPRGap"], classes=[1], splits=10).loc["TPRGap"]
    assert found["value"] > 0.045 and -0.01 < found["corrected"] < 0.03 + 3.5 * found["error"]


@pytest.mark.slow
def test_every_metric_is_zero_on_average_for_a_fair_model_whose_terms_differ():
    frames = [model(seed, effect=[0, 0, 0]) for seed in range(250)]
    found = averages(frames, MANY, splits=8, combinations=20)
    assert set(found.index) == set(MANY)
    off = found["corrected"].abs() / found["error"]
    assert (off < 3.7).all(), found[off >= 3.7]  # 22 metrics at once
    assert (found["corrected"].abs() < 0.1 * found["value"]).all()


@pytest.mark.slow
def test_every_metric_sees_a_large_effect():
    frames = [model(seed, effect=[-3, 0, 3], sources=20, terms=6, term_spread=0.3) for seed in range(10)]
    found = averages(frames, MANY, splits=8).drop("ParityGap")  # being right more often on both classes is parity
    assert (found["corrected"] > 0.6 * found["value"]).all()
    assert (found["corrected"] < 1.02 * found["value"]).all()


@pytest.mark.slow
def test_halving_sources_takes_the_terms_for_the_groups():
    """With one term per group nothing tells terms from groups; with several, whole terms must be halved."""
    one = averages([model(seed, effect=[0] * 4, terms=1, term_spread=1.0) for seed in range(60)], ["TPRGap"])
    several = averages([model(seed, effect=[0] * 4, terms=4, term_spread=1.0) for seed in range(60)], ["TPRGap"])
    assert one.loc["TPRGap", "corrected"] > 0.05 and several.loc["TPRGap", "corrected"] < 0.02


# --- details ----------------------------------------------------------------------------------------------------------


def test_signed_metrics_and_ratios_stay_as_they_are():
    frame = model(0, effect=[0, 1])
    names = [name for name in METRICS if name not in UNSIGNED]
    found = fairlib.corrected(frame, names, splits=2)
    pd.testing.assert_series_equal(found["value"], found["corrected"], check_names=False)


def test_values_are_those_of_measure():
    frame = model(1, effect=[0, 1, 0])
    found, plain = fairlib.corrected(frame, splits=2), fairlib.measure(frame)
    pd.testing.assert_frame_equal(found[["metric", "class", "group"]], plain[["metric", "class", "group"]])
    np.testing.assert_allclose(found["value"], plain["value"])
    assert found.attrs["not measured"] == plain.attrs["not measured"]


def test_the_seed_decides():
    frame = model(2, effect=[0, 2])
    first, again, other = (accumulated(frame, ["FNED", "PertSR"], rng=rng) for rng in (5, 5, 6))
    pd.testing.assert_frame_equal(first, again)
    assert not first["corrected"].equals(other["corrected"])


def test_what_is_halved():
    frame = model(3, effect=[0, 0])
    halved = lambda f: fairlib.corrected(f, ["FNED"], splits=1).attrs["halved by"]  # noqa: E731
    assert halved(frame) == "terms"
    assert halved(frame.drop(columns="term")) == "sources"
    assert halved(frame.drop(columns=["term", "source"])) == "examples"
    assert halved(frame[frame["term"] % 4 == 0]) == "sources"
    nested = frame.assign(source=frame["source"] * 2 + frame["group"]).drop(columns="term")
    assert halved(nested) == "terms" and read(nested).resampled == "sources"  # a source of one group is its own term


def test_counterfactual_metrics_without_a_second_term_are_undefined_with_the_reason():
    found = fairlib.corrected(model(4, effect=[0, 0], terms=1), ["CFGap", "TPRGap"], splits=3)
    assert found.loc[found["metric"] == "CFGap", "corrected"].isna().all()
    assert found.loc[found["metric"] == "TPRGap", "corrected"].notna().all()
    assert "only one term" in found.attrs["undefined"][0]["reason"]


def test_a_comparison_without_a_split_version_is_refused_by_name():
    def squared(x, y):
        return (x - y) ** 2

    with pytest.raises(
        ValueError, match="metric 'mine': no split version of squared; there are those of absolute_diff"
    ):
        fairlib.corrected(model(5, effect=[0, 0]), {"mine": Metric("PCM", scores.accuracy, squared, per_class=False)})
    with pytest.raises(ValueError, match="splits and combinations must be positive, found 0"):
        fairlib.corrected(model(5, effect=[0, 0]), splits=0)
    with pytest.raises(ValueError, match="two or more examples"):
        fairlib.corrected(pd.DataFrame({"group": ["a", "b"], "label": [1, 1], "prediction": [0, 1]}), ["FNED"])


# --- real predictions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("attribute", "counterfactual"), [("names", True), ("gender", False)])
def test_every_metric_of_real_predictions_is_corrected_tested_and_has_a_gap(attribute, counterfactual):
    """Two groups of twenty names; eight of one to six terms, where no source can be halved: what is NaN says why."""
    outputs = fairlib.load("sentiment_predictions", source="bundled")
    one = outputs[(outputs["attribute"] == attribute) & (outputs["classes"] == 3) & (outputs["seed"] == 0)]
    frame = one[one["model"] == one["model"].iloc[0]].astype(
        dict.fromkeys(("group", "term", "label", "prediction"), str)
    )
    names = [name for name, metric in METRICS.items() if frame["group"].nunique() == 2 or not metric.two_groups]
    corrected = splitting.corrected(frame, names, splits=10)
    family = fairlib.multiplicity.family(frame, names, replicates=49)
    gaps = [fairlib.metric_gap(frame, names, replicates=100, statistic=s) for s in ("range", "mean difference")]
    for found in (corrected, family):
        assert set(found["metric"]) == set(names)
        reasons = {(row["metric"], row["class"], row["group"]) for row in found.attrs["undefined"]}
        undefined = found[found.select_dtypes("number").isna().any(axis=1)]
        assert {tuple(row) for row in undefined[["metric", "class", "group"]].to_numpy()} <= reasons
    fairness = corrected["metric"].map(lambda name: METRICS[name].fairness == "counterfactual")
    plain = ~corrected["metric"].isin(["FPRRatio", "FNRRatio"])
    assert corrected.loc[fairness & plain, "corrected"].notna().all() == counterfactual
    assert corrected.loc[~fairness & plain, "corrected"].notna().all()
    assert all(set(gap["metric"]) == set(names) and gap.notna().all(axis=None) for gap in gaps)
    known = family["p"].notna()
    assert (family["p_max_t"][known] >= family["p"][known] - 1e-12).all()
    assert (family["p_holm"][known] >= family["p"][known] - 1e-12).all()
