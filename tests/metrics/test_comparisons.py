"""Comparisons of samples against SciPy and against all pairs, one by one."""

import itertools
import statistics
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fairlib.metrics import comparisons
from fairlib.metrics.cells import Cells
from fairlib.metrics.examples import read

numbers = st.lists(
    st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.9, 1.0]), min_size=1, max_size=6
)


def sample_of(*groups):
    """Return a Sample of one unit with these values as its groups."""
    rows = [(f"g{i}", value) for i, values in enumerate(groups) for value in values]
    frame = pd.DataFrame(rows, columns=["group", "p_1"]).assign(label=1, prediction=0)
    return Cells(read(frame), 1, by_unit=False).sample("probability")


@settings(max_examples=30, deadline=None)
@given(x=numbers, y=numbers)
def test_two_samples_against_scipy_and_against_all_pairs(x, y):
    both = sample_of(x, y)
    first, second = both[..., :1], both[..., 1:]
    pairs = list(itertools.product(x, y))
    expected = {
        comparisons.wasserstein: stats.wasserstein_distance(x, y),
        comparisons.superiority: stats.mannwhitneyu(x, y).statistic / len(pairs),
        comparisons.equality_gap: 0.5 - stats.mannwhitneyu(x, y).statistic / len(pairs),
    }
    for compare, value in expected.items():
        assert compare(first, second).item() == pytest.approx(value, abs=1e-12), (
            compare.__name__
        )
    mean = np.mean([abs(a - b) for a, b in pairs])
    assert comparisons.sums_of_mean_distances(both).ravel() == pytest.approx(
        [mean, mean], abs=1e-12
    )


@settings(max_examples=20, deadline=None)
@given(groups=st.lists(numbers, min_size=2, max_size=4))
def test_the_mean_range_is_that_of_all_combinations(groups):
    expected = np.mean([np.ptp(world) for world in itertools.product(*groups)])
    assert comparisons.mean_range(sample_of(*groups)).item() == pytest.approx(
        expected, abs=1e-12
    )


def one_by_one(compare, score, groups):
    """Return, for each group, the sum over all pairs of which it is a part."""
    sums = [0.0] * groups
    for i, j in itertools.combinations(range(groups), 2):
        value = compare(score[..., [i]], score[..., [j]]).item()
        sums[i] += value
        sums[j] += value
    return sums


@settings(max_examples=20, deadline=None)
@given(groups=st.lists(numbers, min_size=2, max_size=5))
def test_sums_over_pairs_of_samples_are_those_of_the_pairs_one_by_one(groups):
    sample = sample_of(*groups)
    for compare in (comparisons.wasserstein, comparisons.equality_gap):
        expected = one_by_one(compare, sample, len(groups))
        sums = comparisons.sums_over_pairs(compare, sample)
        assert sums.ravel() == pytest.approx(expected, abs=1e-12), compare.__name__

    def mean_distance(x, y):
        values = [
            x.values[0, 0][weight[0, 0, 0] > 0] for weight in (x.weights, y.weights)
        ]
        shares = [
            weight[weight > 0] / weight.sum() for weight in (x.weights, y.weights)
        ]
        return shares[0] @ abs(values[0][:, None] - values[1]) @ shares[1]

    assert comparisons.sums_of_mean_distances(sample).ravel() == pytest.approx(
        one_by_one(mean_distance, sample, len(groups)), abs=1e-12
    )


SCORES = st.sampled_from([0.0, 1e-9, 0.1, 0.1 + 1e-16, 0.3, 0.5, 1.0, np.nan, np.inf])


@settings(max_examples=60, deadline=None)
@given(scores=st.lists(SCORES, min_size=2, max_size=9), random=st.randoms())
def test_sums_over_pairs_of_numbers_are_those_of_the_pairs_in_any_order(scores, random):
    compare = comparisons.absolute_difference
    place = list(range(len(scores)))
    random.shuffle(place)
    array = np.array(scores)
    with np.errstate(invalid="ignore"):
        expected = one_by_one(compare, array, len(scores))
        sums = comparisons.sums_over_pairs(compare, array)
        shuffled = comparisons.sums_over_pairs(compare, array[place])

    # Relative to the value: also a sum of tiny distances is right to twelve digits.
    np.testing.assert_allclose(sums, expected, rtol=1e-12)
    if np.isfinite(array).all():
        np.testing.assert_array_equal(shuffled, sums[place])


def test_a_thousand_groups_are_compared_without_a_number_for_each_pair():
    """Half a million pairs in 20 draws would be 80 MB."""
    scores = np.random.default_rng(0).random((20, 1, 1000))
    tracemalloc.start()
    sums = comparisons.sums_over_pairs(comparisons.absolute_difference, scores)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * scores.nbytes

    expected = np.abs(scores[0, 0, :, None] - scores[0, 0]).sum(axis=1)
    np.testing.assert_allclose(sums[0, 0], expected, rtol=1e-12)


def test_superiority_is_one_half_for_equal_samples_and_one_without_overlap():
    both = sample_of([0.1, 0.2], [0.1, 0.2])
    assert comparisons.superiority(both[..., :1], both[..., 1:]).item() == 0.5
    apart = sample_of([0.8, 0.9], [0.1, 0.2])
    assert comparisons.superiority(apart[..., :1], apart[..., 1:]).item() == 1


def test_ratios_over_nothing():
    x, y = np.array([0.0, 0.0, 0.2]), np.array([0.0, 0.1, 0.1])
    found = comparisons.ratio_to_background(x, y)
    assert np.isnan(found[0]) and np.isinf(found[1]) and found[2] == 0.5
    assert comparisons.ratio(y, x)[2] == 0.5


def test_all_groups_at_once_are_those_of_each_cell_on_its_own():
    scores = np.random.default_rng(0).random((2, 3, 4))
    for compare, alone in (
        (comparisons.standard_deviation, statistics.pstdev),
        (comparisons.score_range, np.ptp),
    ):
        assert compare(scores) == pytest.approx(
            np.array([[alone(cell) for cell in unit] for unit in scores])
        )
