"""Gaps of metrics' scores when terms and sources vary: values by hand, and coverage of no gap and of real gaps."""

import numpy as np
import pandas as pd
import pytest
from simulated_models import independent, model

import fairlib
from fairlib import METRICS, Metric, comparisons, gaps
from fairlib.score_gaps import limits, widening

# --- values -----------------------------------------------------------------------------------------------------------


def test_scores_by_hand():
    frame = model(0, effect=[0, 0.5, 1])
    found = fairlib.metric_gap(frame, ["TPRGap", "CFGap", "AvgGF"], classes=[1], replicates=100).set_index("metric")
    rates = frame[frame["label"] == 1].groupby("group")["prediction"].mean()
    means = frame.groupby("group")["p_1"].mean()
    assert found.loc["TPRGap", "value"] == pytest.approx(rates.max() - rates.min())
    assert found.loc["TPRGap", ["highest", "lowest"]].tolist() == [rates.idxmax(), rates.idxmin()]
    assert found.loc[["CFGap", "AvgGF"], "value"].tolist() == pytest.approx([means.max() - means.min()] * 2)
    pairs = fairlib.metric_gap(frame, "TPRGap", classes=[1], replicates=100, statistic="mean difference")
    assert pairs["value"].item() == pytest.approx(np.abs(np.subtract.outer(*[rates.to_numpy()] * 2)).sum() / 6)


def test_every_metric_has_a_gap():
    frame = model(1, effect=[0, 1])
    found = fairlib.metric_gap(frame, list(METRICS), replicates=100)
    assert set(found["metric"]) == set(METRICS) and found[["value", "low", "high", "p"]].notna().all(axis=None)
    assert (found["low"] <= found["value"] + 1e-12).all() and (found["value"] <= found["high"]).all()
    assert (found["high"] <= 1).all()


def test_a_metric_of_one_s_own_may_have_any_units():
    def pounds(cells):
        return 1000 * cells.share(cells.correct)

    mine = {"cost": Metric("PCM", pounds, comparisons.absolute_difference, per_class=False)}
    frame = model(2, effect=[-1, 1])
    own, rate = (fairlib.metric_gap(frame, m, replicates=100) for m in (mine, ["ParityGap (accuracy)"]))
    assert own[["value", "low"]].to_numpy() == pytest.approx(1000 * rate[["value", "low"]].to_numpy())


def test_independent_examples_agree_with_the_exact_interval():
    frame = independent(3, rates=[0.2, 0.3, 0.5], size=400)
    found = fairlib.metric_gap(frame, "FNED", classes=[1], replicates=2000).iloc[0]
    errors = 400 - frame.groupby("group")["prediction"].sum()
    exact = gaps.interval(errors, errors * 0 + 400)
    assert found["value"] == pytest.approx(exact.estimate)
    assert found["low"] == pytest.approx(exact.low, abs=0.03) and found["high"] == pytest.approx(exact.high, abs=0.03)
    assert exact.low < found["low"] and found["p"] < 0.01


def test_limits_by_hand():
    """Two groups, differences drawn as -1, 1, ...: standard error 1, and the largest is always one standard error."""
    score, drawn = np.array([5.0, 2.0]), np.array([[5.0, 2], [6, 2], [4, 2], [5, 2]])[1:3]
    assert limits(score, drawn, statistic="range", confidence=0.9) == (2.0, 4.0)
    assert limits(score, drawn, statistic="range", confidence=0.9, widened=2) == (1.0, 5.0)
    assert limits(score, drawn, statistic="range", confidence=0.9, widened=4) == (0.0, 7.0)
    assert np.isnan(limits(np.array([np.nan, 1]), drawn, statistic="range", confidence=0.9)).all()
    assert limits(np.array([1.0, 1.0]), np.ones((5, 2)), statistic="range", confidence=0.9) == (0, 0)


def test_few_terms_widen_as_student_s_t_does():
    assert widening(2, 2, 0.95) == pytest.approx(np.sqrt(3) * 4.3027 / 1.95996, rel=1e-3)  # t with 2 degrees of freedom
    assert widening(1000, 5, 0.95) == pytest.approx(1, abs=2e-3)
    assert widening(1, 2, 0.95) == np.inf
    assert widening(4, 3, 0.95) > widening(8, 3, 0.95) > 1


# --- coverage ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "terms"), [(2, 6), (5, 4), (5, 10)])
def test_no_gap_is_covered_whatever_the_terms_do(groups, terms):
    """Terms differ, groups do not. Of many groups, percentiles of a bootstrap of terms cover "no gap" hardly ever."""
    outside, percentiles, sets = 0, 0, 120
    for seed in range(sets):
        frame = model(seed, effect=[0] * groups, sources=10, terms=terms, term_spread=0.8)
        found = fairlib.metric_gap(frame, ["TPRGap", "CFGap"], classes=[1], replicates=150, rng=seed)
        outside += (found["low"] > 0).to_numpy()
        rates = frame[frame["label"] == 1].groupby(["group", "term"])["prediction"].mean()
        drawn = np.random.default_rng(seed).integers(terms, size=(200, groups, terms))
        means = np.take_along_axis(rates.to_numpy().reshape(1, groups, terms), drawn, axis=2).mean(axis=2)
        percentiles += np.quantile(means.max(axis=1) - means.min(axis=1), 0.025) <= 1e-12
    assert (outside / sets <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / sets)).all()
    assert groups == 2 or percentiles / sets < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("terms", [3, 10])
def test_real_gaps_are_covered_even_with_few_terms(terms):
    effect = [-1.5, 0, 0, 0.5]
    endless = model(999, effect=effect, sources=2000, terms=60, term_spread=0.8)
    truth = np.array(
        [endless[endless["label"] == 1].groupby("group")[name].mean().pipe(np.ptp) for name in ("prediction", "p_1")]
    )
    inside, sets = 0, 100
    for seed in range(sets):
        frame = model(seed, effect=effect, sources=30, terms=terms, term_spread=0.8)
        found = fairlib.metric_gap(frame, ["TPRGap", "CFGap (TC)"], classes=[1], replicates=200, rng=seed)
        inside += ((found["low"] <= truth) & (found["high"] >= truth)).to_numpy()
    assert (inside / sets >= 0.95 - 2.5 * np.sqrt(0.05 * 0.95 / sets)).all()


# --- details ----------------------------------------------------------------------------------------------------------


def test_where_nothing_can_be_exchanged_p_is_nan_and_the_interval_remains():
    frame = model(5, effect=[0, 2]).query("(source % 4 < 2) == (group == 0)")
    found = fairlib.metric_gap(frame, "FNED", classes=[1], replicates=100).iloc[0]
    assert np.isnan(found["p"]) and np.isfinite(found["low"]) and np.isfinite(found["high"])


def test_a_group_without_a_score_has_no_gap_and_the_result_says_so():
    frame = model(6, effect=[0, 0, 0])
    frame = frame[(frame["group"] != 1) | (frame["label"] == 0)]
    found = fairlib.metric_gap(frame, ["FNED", "FPED"], classes=[1], replicates=100).set_index("metric")
    assert found.loc["FNED", ["value", "low", "high"]].isna().all() and np.isfinite(found.loc["FPED", "low"])
    assert found.attrs["undefined"] == [
        {"metric": "FNED", "class": 1, "reason": "a group has no score, in the data or in a draw"}
    ]


def test_the_seed_decides():
    frame = model(7, effect=[0, 1])
    first, again, other = (fairlib.metric_gap(frame, "FNED", replicates=100, rng=rng) for rng in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert not first["high"].equals(other["high"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"statistic": "max"}, "found 'max'"),
        ({"confidence": 1}, "between 0 and 1, found 1"),
        ({"replicates": 10}, "at least 100, found 10"),
        ({"metrics": "Gap"}, "found 'Gap'"),
        ({"metrics": "CFGap", "source": "label"}, "cannot be measured|lacks|no column"),
    ],
)
def test_wrong_input_is_named(options, message):
    frame = model(8, effect=[0, 0]).drop(columns=["p_0", "p_1"])
    with pytest.raises(ValueError, match=message):
        fairlib.metric_gap(frame, **({"metrics": "FNED"} | options))
