"""Corrected metrics: 0 on average for fair models, the truth for unfair ones, and the same as the formula by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest
from simulated_models import UNSIGNED, independent, model

import fairlib
from fairlib import METRICS, Metric
from fairlib.metrics import corrected as splitting
from fairlib.metrics import draws, scores
from fairlib.metrics.examples import read

MANY = [name for name in UNSIGNED if METRICS[name].fairness == "group"]


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


def test_halves_are_complements_and_split_every_group(monkeypatch):
    monkeypatch.setattr(draws, "MEMORY", 1)  # a batch is one split
    sizes = {"a": 7, "b": 6, "c": 2}
    terms = [(group, f"{group}{i}") for group, size in sizes.items() for i in range(size)]
    frame = pd.DataFrame(terms, columns=["group", "term"]).assign(label=1, prediction=1)
    examples = read(pd.concat([frame.assign(source=source) for source in range(3)]))
    by, halves = draws.halves(examples, 40, np.random.default_rng(0))
    seen = set()
    for some in halves:
        (one,), (other,) = np.split(some.term_weight, 2)
        assert by == "terms" and set(one) == {0, 1} and (some.source_weight == 1).all()
        np.testing.assert_array_equal(one + other, 1)
        assert np.abs(np.bincount(examples.term_group, one - other)).max() <= 1
        seen.add(tuple(one))
    assert len(seen) > 30  # and they differ from split to split
    assert {row[13] for row in seen} == {0.0, 1.0}


def test_halves_of_sources_have_every_class():
    frame = pd.DataFrame({"source": range(6), "label": [0, 1, 0, 1, 2, 2], "prediction": 0})
    examples = read(pd.concat([frame.assign(group=group) for group in "ab"]))
    by, halves = draws.halves(examples, 5, np.random.default_rng(0))
    (some,) = halves
    for label in range(3):
        np.testing.assert_array_equal(some.source_weight[:, frame["label"] == label].sum(axis=1), 1)
    assert by == "sources" and (some.term_weight == 1).all()


def test_by_hand_with_two_examples_a_group():
    """Each half has one example of each group, and knows nothing that the other half confirms."""
    frame = pd.DataFrame({"group": list("aabb"), "label": 1, "prediction": [1, 0, 0, 0]})
    found = accumulated(frame, ["TPRGap"], classes=[1])
    # One half sees rates (1, 0), the other (0, 0): sign(1) * 0 and sign(0) * 1 are both 0. The plug-in says 1/2.
    assert found.loc["TPRGap"].tolist() == [0.5, 0.0]


def test_halves_that_agree_give_the_plain_comparison_and_halves_that_contradict_its_negative():
    x, y = np.random.default_rng(0).normal(size=(2, 1, 3, 4))  # halves, units, groups
    for sign in (1, -1):
        found = splitting.absolute_difference(np.concatenate([x, sign * x]), np.concatenate([y, sign * y]))
        assert found == pytest.approx(sign * np.abs(np.concatenate([x - y, x - y])))


@pytest.mark.parametrize("memory", [400, 10**9])
def test_against_a_loop_over_all_halves(memory, monkeypatch):
    """Two groups of four terms: 6 x 6 ways to halve them; batches large or small."""
    monkeypatch.setattr(draws, "MEMORY", memory)
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
    found = accumulated(frame, ["TPRGap"], classes=[1], splits=500).loc["TPRGap"]
    assert found["value"] == pytest.approx(abs(rate[:4].mean() - rate[4:].mean()))
    assert found["corrected"] == pytest.approx(np.mean(expected), abs=4 * np.std(expected) / np.sqrt(500) + 1e-9)
    assert np.std(expected) > 0


# --- what it is for ---------------------------------------------------------------------------------------------------


def test_six_identical_groups_get_nothing():
    """10 % errors, 60 examples each: the plug-in values .043 and .169 are pure noise."""
    frames = [independent(seed, rates=[0.1] * 6, size=60) for seed in range(80)]
    found = averages(frames, ["TPRGap", "FNED"], classes=[1], splits=10)
    assert found["value"].tolist() == pytest.approx([0.169, 0.043], abs=0.015)
    assert (found["corrected"].abs() < 3.5 * found["error"]).all()
    assert (found["corrected"].abs() < 0.15 * found["value"]).all()


def test_a_real_gap_stays():
    rates = [0.1, 0.3, 0.5]
    frames = [independent(seed, rates=rates, size=400) for seed in range(30)]
    found = averages(frames, ["TPRGap"], classes=[1], splits=10).loc["TPRGap"]
    assert found["corrected"] == pytest.approx((0.2 + 0.2 + 0.4) / 3, abs=3.5 * found["error"])


def test_a_gap_within_the_noise_is_not_made_larger():
    frames = [independent(seed, rates=[0.1, 0.13], size=60) for seed in range(80)]
    found = averages(frames, ["TPRGap"], classes=[1], splits=10).loc["TPRGap"]
    assert found["value"] > 0.045 and -0.01 < found["corrected"] < 0.03 + 3.5 * found["error"]


@pytest.mark.slow
def test_every_metric_is_zero_on_average_for_a_fair_model_whose_terms_differ():
    frames = [model(seed, effect=[0, 0, 0]) for seed in range(80)]
    found = averages(frames, MANY, splits=8)
    assert set(found.index) == set(MANY)
    off = found["corrected"].abs() / found["error"]
    assert (off < 3.7).all(), found[off >= 3.7]  # 11 metrics at once
    assert (found["corrected"].abs() < 0.25 * found["value"]).all()


@pytest.mark.slow
def test_every_metric_sees_a_large_effect():
    frames = [model(seed, effect=[-3, 0, 3], sources=20, terms=6, term_spread=0.3) for seed in range(10)]
    found = averages(frames, MANY, splits=8).drop("ParityGap")  # being right more often on both classes is parity
    assert (found["corrected"] > 0.6 * found["value"]).all()
    assert (found["corrected"] < 1.02 * found["value"]).all()


@pytest.mark.slow
def test_halving_sources_takes_the_terms_for_the_groups():
    """With one term per group nothing tells terms from groups; with several, whole terms must be halved."""
    one = averages([model(seed, effect=[0] * 4, terms=1, term_spread=1.0) for seed in range(30)], ["TPRGap"], splits=10)
    several = averages(
        [model(seed, effect=[0] * 4, terms=4, term_spread=1.0) for seed in range(20)], ["TPRGap"], splits=20
    )
    assert one.loc["TPRGap", "corrected"] > 0.1 and several.loc["TPRGap", "corrected"] < 0.05


# --- details ----------------------------------------------------------------------------------------------------------


def test_signed_metrics_and_ratios_stay_as_they_are():
    frame = model(0, effect=[0, 1])
    names = [name for name in METRICS if name not in UNSIGNED]
    found = fairlib.corrected(frame, names, splits=2)
    pd.testing.assert_series_equal(found["value"], found["corrected"], check_names=False)


def test_values_are_those_of_measure():
    frame = model(1, effect=[0, 1, 0])
    found = fairlib.corrected(frame, splits=2)
    plain = fairlib.measure(frame, found["metric"].unique())
    pd.testing.assert_frame_equal(found[["metric", "class", "group"]], plain[["metric", "class", "group"]])
    np.testing.assert_allclose(found["value"], plain["value"])
    assert set(found.attrs["not measured"]) == {name for name, metric in METRICS.items() if metric.two_groups} - {
        "AvgScoreDifference"
    }


def test_the_seed_decides():
    frame = model(2, effect=[0, 2])
    first, again, other = (accumulated(frame, ["FNED", "AvgGF"], rng=rng) for rng in (5, 5, 6))
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


def test_a_comparison_without_a_split_version_is_refused_by_name():
    def squared(x, y):
        return (x - y) ** 2

    with pytest.raises(ValueError, match="metric 'mine' has no split version: group metrics of absolute_diff"):
        fairlib.corrected(model(5, effect=[0, 0]), {"mine": Metric("PCM", scores.accuracy, squared, per_class=False)})
    with pytest.raises(ValueError, match="splits must be positive, found 0"):
        fairlib.corrected(model(5, effect=[0, 0]), splits=0)
    with pytest.raises(ValueError, match="two or more examples"):
        fairlib.corrected(pd.DataFrame({"group": ["a", "b"], "label": [1, 1], "prediction": [0, 1]}), ["FNED"])


# --- real predictions -------------------------------------------------------------------------------------------------


def test_every_group_metric_of_real_predictions_is_corrected_or_says_why_not():
    """Six groups of one to three terms, so that whole sources are halved."""
    outputs = fairlib.load("suite_predictions", source="bundled")
    one = outputs[(outputs["attribute"] == "race") & (outputs["classes"] == 3) & (outputs["seed"] == 0)]
    frame = one[one["model"] == one["model"].iloc[0]].astype(
        dict.fromkeys(("group", "term", "label", "prediction"), str)
    )
    found = fairlib.corrected(frame, splits=10)
    reasons = {(row["metric"], row["class"], row["group"]) for row in found.attrs["undefined"]}
    undefined = found[found[["value", "corrected"]].isna().any(axis=1)]
    assert found.attrs["halved by"] == "sources" and set(found["metric"]) == {
        *MANY,
        "FPRRatio",
        "FNRRatio",
        "PosAvgEG",
        "NegAvgEG",
    }
    assert {tuple(row) for row in undefined[["metric", "class", "group"]].to_numpy()} <= reasons
    assert found.loc[found["metric"].isin(MANY), "corrected"].notna().all()
