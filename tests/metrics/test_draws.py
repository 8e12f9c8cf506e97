"""Whole sources and terms are drawn; intervals cover, and the null has its size."""

import numpy as np
import pandas as pd
import pytest
from toy_predictions import MANY_GROUPS, suite, value

import fairlib
from fairlib.metrics import draws, uncertainty
from fairlib.metrics.evaluation import Evaluation, combinations
from fairlib.metrics.examples import read
from fairlib.metrics.measuring import interval, over_draws, p_value
from fairlib.metrics.table2 import METRICS


@pytest.mark.parametrize("name", MANY_GROUPS)
def test_draws_that_change_nothing_give_the_value_itself(name):
    """The path of replicates, with weights of one, against the path without any."""
    examples = read(suite(sources=6, terms=1, seed=1))
    ones = draws.Draws(
        np.ones((2, 6)),
        np.ones((2, len(examples.term_group))),
        np.tile(examples.term_group, (2, 1)),
    )
    target = 0 if METRICS[name].per_class else None
    plain, drawn = (
        Evaluation(examples, some, np.random.default_rng(0)).rows(METRICS[name], target)
        for some in (None, ones)
    )
    assert plain.keys() == drawn.keys()
    for group in plain:
        assert drawn[group] == pytest.approx(np.repeat(plain[group], 2), nan_ok=True)


def test_a_source_s_weight_counts_in_every_kind_of_metric():
    """One source with weight 3 is three copies of it."""
    frame = suite(sources=5, terms=1, seed=2)
    copies = [frame[frame["source"] == 0].assign(source=100 + i) for i in range(2)]
    examples, written = read(frame), pd.concat([frame, *copies])
    weights = np.array([[3.0, 1, 1, 1, 1]])
    thrice = draws.Draws(
        weights, np.ones((1, len(examples.term_group))), examples.term_group[None, :]
    )
    names = [name for name in MANY_GROUPS if METRICS[name].per_class]
    evaluation = Evaluation(examples, thrice, np.random.default_rng(0))
    for name in names:
        expected = fairlib.measure(written, name, classes="neg").set_index("group")[
            "value"
        ]
        for group, found in evaluation.rows(METRICS[name], 0).items():
            assert found.item() == pytest.approx(expected[group], nan_ok=True), name


def test_exchanged_terms_keep_every_source_s_number_of_variations(monkeypatch):
    monkeypatch.setattr(draws, "NUMBERS_PER_BATCH", 1)  # a batch is one draw
    frame = suite(sources=6, terms=4, seed=3)
    adjective = frame["term"].str.endswith(
        ("0", "1")
    )  # half of the terms fit half of the sources only
    frame = frame[adjective == (frame["source"] % 2 == 0)]
    examples = read(frame)
    before = pd.crosstab(examples.source, examples.group).to_numpy()
    kinds = np.array(
        ["01".find(name[-1]) >= 0 for name in sorted(frame["term"].unique())]
    )
    changed = False
    for some in draws.exchanged(examples, 20, np.random.default_rng(0)):
        assert (some.source_weight == 1).all() and (some.term_weight == 1).all()
        for groups in some.term_group:
            after = pd.crosstab(examples.source, groups[examples.term]).to_numpy()
            np.testing.assert_array_equal(after, before)
            np.testing.assert_array_equal(
                np.bincount(groups[kinds]), np.bincount(examples.term_group[kinds])
            )
            changed |= bool((groups != examples.term_group).any())
    assert changed


def test_draws_come_in_batches_with_the_number_asked_for(monkeypatch):
    examples = read(suite())
    numbers_per_draw = len(examples) * len(examples.groups)
    monkeypatch.setattr(draws, "NUMBERS_PER_BATCH", 4 * numbers_per_draw)
    rng = np.random.default_rng(0)
    assert [len(some.source_weight) for some in draws.bootstrap(examples, 10, rng)] == [
        4,
        4,
        2,
    ]


def test_small_batches_are_measured_together_and_give_the_same_values(monkeypatch):
    """With many groups a batch is one draw, but a draw is only a weight per row."""
    rng = np.random.default_rng(2)
    people = pd.DataFrame(rng.integers([9, 2, 2], size=(400, 3)))
    people.columns = ["group", "label", "prediction"]
    measured = []

    def counted(examples, batch, rng):
        measured.append(len(batch.term_group))
        return Evaluation(examples, batch, rng)

    monkeypatch.setattr(uncertainty, "Evaluation", counted)
    results = []
    for numbers in (36, 36 * 9):
        monkeypatch.setattr(draws, "NUMBERS_PER_BATCH", numbers)
        results.append(
            fairlib.measure(people, ["TPRGap", "ParityGap"], replicates=20, rng=3)
        )

    # The bootstrap, and the nulls of metrics given the label and of the others
    assert measured == [1] * 60 + [9, 9, 2] * 3
    pd.testing.assert_frame_equal(*results, check_exact=True)


def test_more_groups_than_an_array_has_axes_are_combined():
    sizes = np.ones((3, 70))
    sizes[1, 5] = 2
    quantiles, real = combinations(sizes, limit=100, rng=np.random.default_rng(0))
    assert real.tolist() == [[True, False], [True, True], [True, False]]
    assert quantiles[1, 5].tolist() == [0.25, 0.75]


@pytest.mark.parametrize("column", ["source", "term"])
def test_terms_are_exchanged_for_terms_of_about_as_many_examples(column):
    """A rate of ten large terms is steadier than a rate of ten small ones.

    An author whose texts all belong to one group is a term, too.
    """
    sizes = {"a-1": 40, "a-2": 50, "a-3": 3, "b-1": 60, "b-2": 2, "b-3": 3}
    frame = pd.DataFrame({column: np.repeat(list(sizes), list(sizes.values()))})
    frame["group"] = frame[column].str[0]
    frame["prediction"] = np.arange(len(frame)) % 2
    examples = read(frame)
    size_of_term = np.bincount(examples.term, examples.count)
    assert sorted(size_of_term) == sorted(sizes.values())

    large = size_of_term >= 32
    (batch,) = draws.exchanged(examples, 50, np.random.default_rng(0))
    for groups in batch.term_group:
        assert np.bincount(groups[large]).tolist() == [2, 1]
        assert np.bincount(groups[~large]).tolist() == [1, 2]

    # And within those sizes every term changes its group sometimes.
    assert (batch.term_group != examples.term_group).any(axis=0).all()


def test_where_no_term_can_change_its_group_there_is_no_null_and_the_result_says_why():
    frame = suite(groups=("a", "b"), sources=8, seed=4)
    frame = frame[
        (frame["group"] == "a") == (frame["source"] % 2 == 0)
    ]  # each source speaks of one group only
    found = fairlib.measure(frame, "FPED", replicates=10)
    assert (
        found["p"].isna().all()
        and found["null"].isna().all()
        and found["low"].notna().all()
    )
    assert "none can be exchanged" in found.attrs["no null"]
    with pytest.raises(draws.NothingToExchange, match="none can be exchanged"):
        next(draws.exchanged(read(frame), 1, np.random.default_rng(0)))


def test_with_one_term_per_group_nothing_can_be_told():
    """Exchanging whole groups only renames them: the aggregate is its own null."""
    found = fairlib.measure(suite(terms=1, seed=5), ["FPED", "AvgIF"], replicates=20)
    total = found[found["group"] == "accumulated"]
    assert (
        total["null"].to_numpy() == pytest.approx(total["value"].to_numpy())
        and (total["p"] == 1).all()
    )
    assert (
        found["low"] >= 0
    ).all()  # what cannot be negative has no interval that says otherwise


def test_without_sources_and_terms_examples_vary_on_their_own():
    frame = suite(groups=("a", "b"), sources=100, terms=1, seed=6).drop(
        columns=["source", "term"]
    )
    found = fairlib.measure(frame, "TPRDifference", classes="pos", replicates=400).iloc[
        -1
    ]
    rates = (
        frame[frame["label"] == "pos"]
        .groupby("group")
        .apply(lambda d: (d["prediction"] == "pos").mean())
    )
    n = (frame["label"] == "pos").groupby(frame["group"]).sum()
    error = np.sqrt((rates * (1 - rates) / n).sum())
    assert (found["high"] - found["low"]) / 2 == pytest.approx(1.96 * error, rel=0.15)
    assert found["low"] <= found["value"] <= found["high"]


def test_intervals_by_hand():
    signed, unsigned, ratio = (
        METRICS["TPRDifference"],
        METRICS["TPRGap"],
        METRICS["F1Ratio"],
    )
    assert interval(signed, 1.0, np.array([0.5, 1.0, 1.2, 1.1]), 0.9) == (0.5, 1.5)
    assert interval(signed, 0.1, np.array([0.5]), 0.9) == pytest.approx((-0.3, 0.5))
    assert interval(unsigned, 0.1, np.array([0.5]), 0.9) == (0.0, 0.5)
    assert interval(ratio, 2.0, np.array([4.0]), 0.9) == pytest.approx((1.0, 4.0))
    for far in (np.nan, np.inf):
        assert interval(signed, 0.1, np.array([far]), 0.9) == (-np.inf, np.inf)
        assert interval(ratio, 0.1, np.array([far]), 0.9) == (0, np.inf)
    assert np.isnan(interval(signed, np.nan, np.array([0.5]), 0.9)).all()
    assert np.isnan(interval(ratio, 0.0, np.array([0.5]), 0.9)).all()
    assert p_value(0.3, np.array([0.1, 0.2, 0.3])) == 0.5
    assert p_value(0.3, np.array([0.1, np.nan])) == pytest.approx(2 / 3)
    assert np.isnan(p_value(np.nan, np.array([0.1])))


def test_replicates_repeat_with_the_seed():
    frame = suite(seed=7)
    first, again, other = (
        fairlib.measure(frame, ["FPED", "PertSD"], replicates=20, rng=rng)
        for rng in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(first, again)
    assert not first["low"].equals(other["low"]) or not first["p"].equals(other["p"])


# --- does it do what it says: simulated models whose terms differ, and perhaps groups -


def simulated(rng, *, effect, sources=20, terms=6):
    """Return predictions of a model that is more sure of some sources and terms.

    And, by `effect`, of some groups.
    """
    shape = (sources, len(effect), terms)
    sure = (
        2 + rng.normal(0, 0.8, sources)[:, None, None] + rng.normal(0, 0.4, shape[1:])
    )
    sure = sure + np.asarray(effect)[None, :, None] + rng.logistic(0, 0.5, shape)
    source, group, term = np.indices(shape).reshape(3, -1)
    p = 1 / (1 + np.exp(-sure.ravel()))
    frame = pd.DataFrame(
        {
            "source": source,
            "group": group,
            "term": group * terms + term,
            "label": 1,
            "p_1": p,
        }
    )
    return frame.assign(prediction=(p > 0.5).astype(int), p_0=1 - p)


METHODS = ["FNED", "TPRGap", "AvgGF", "CFGap", "PertSR"]


def mean_p(frames, metrics):
    found = [
        fairlib.measure(frame, metrics, classes=[1], replicates=39, rng=seed)
        for seed, frame in enumerate(frames)
    ]
    return (
        pd.concat(found).query("group == 'accumulated'").groupby("metric")["p"].mean()
    )


@pytest.mark.slow
def test_the_null_of_whole_terms_has_the_size_it_claims_and_that_of_sentences_has_not():
    """A p-value of the right size is uniform on 1/40, ..., 1.

    A test that finds too much has p-values whose mean is too low.
    """
    fair = [
        simulated(np.random.default_rng(seed), effect=[0] * 5) for seed in range(12)
    ]
    values = np.arange(1, 41) / 40
    least = values.mean() - 3 * values.std() / np.sqrt(len(fair))
    assert mean_p(fair, METHODS).min() > least
    # Every sentence is a term of its own, as if those around one term shared nothing.
    sentences = [
        frame.drop(columns="source").assign(term=range(len(frame))) for frame in fair
    ]
    assert mean_p(sentences, ["AvgGF"]).item() < least


@pytest.mark.slow
def test_intervals_cover_what_endless_sources_and_terms_would_give():
    effect = [-1.5, -0.5, 0, 0, 0.5]
    endless = simulated(
        np.random.default_rng(999), effect=effect, sources=400, terms=40
    )
    truth = {
        name: value(endless, name, (METRICS[name].per_class and 1) or "all")
        for name in METHODS
    }
    inside = dict.fromkeys(METHODS, 0)
    for seed in range(25):
        frame = simulated(np.random.default_rng(seed), effect=effect)
        found = fairlib.measure(
            frame, METHODS, classes=[1], replicates=99, rng=seed
        ).query("group == 'accumulated'")
        for row in found.itertuples():
            inside[row.metric] += row.low <= truth[row.metric] <= row.high
    assert (
        min(inside.values()) >= 20
    )  # of 25 at 95%: fewer in 1 of 1,000 tests of one metric


@pytest.mark.slow
def test_plug_in_gaps_of_a_perfectly_fair_model_are_not_zero():
    """Six identical groups, 10% errors, 60 templates with one term each.

    Then about .04 is found between pairs, and .17 for FNED.
    """
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(80):
        wrong = rng.random((60, 6)) < 0.1
        group = np.tile(np.arange(6), 60)
        frame = pd.DataFrame(
            {"group": group, "label": 1, "prediction": 1 - wrong.ravel().astype(int)}
        )
        found = fairlib.measure(frame, ["TPRGap", "FNED"], classes=[1])
        rows.append(found[found["group"] == "accumulated"]["value"].to_numpy())
    pairs, fned = np.mean(rows, axis=0)
    assert pairs == pytest.approx(0.043, abs=0.005) and fned == pytest.approx(
        0.169, abs=0.02
    )


def redrawn_gaps(rng, *, sources, terms, noise, reactions, worlds):
    """Return suites of two groups, and their differences in mean score.

    `noise` is that of single sentences, `reactions` that of what a source makes of the
    second group.
    """
    shape = (worlds, sources, 2, terms)
    p = 0.5 + rng.normal(0, noise, shape)
    p[:, :, 1] += rng.normal(0, reactions, (worlds, sources, 1))
    return p, p[:, :, 0].mean(axis=(1, 2)) - p[:, :, 1].mean(axis=(1, 2))


@pytest.mark.parametrize(
    ("noise", "reactions", "times"), [(0.05, 0.0, 3), (0.002, 0.05, 1)]
)
def test_a_bootstrap_of_sources_and_terms_counts_the_noise_of_sentences_three_times(
    noise, reactions, times
):
    rng = np.random.default_rng(8)
    worlds, gaps = redrawn_gaps(
        rng, sources=40, terms=30, noise=noise, reactions=reactions, worlds=400
    )
    metric = {"AvgScoreDifference": METRICS["AvgScoreDifference"]}
    variances = []
    for p in worlds[:10]:
        source, group, term = np.indices(p.shape).reshape(3, -1)
        frame = pd.DataFrame({"source": source, "group": group})
        frame["term"] = group * p.shape[2] + term
        frame["p_1"] = p.ravel()
        frame["p_0"] = 1 - frame["p_1"]
        examples = read(frame, classes="1")
        drawn = draws.bootstrap(examples, 400, rng)
        keys = [("AvgScoreDifference", "1", group) for group in (0, 1, "accumulated")]
        values = over_draws(examples, drawn, metric, keys=keys, rng=rng)
        variances.append(values[keys[-1]].var())
    assert np.mean(variances) / gaps.var() == pytest.approx(times, rel=0.25)
