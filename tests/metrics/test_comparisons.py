"""Comparisons of samples against SciPy and against all pairs, one by one."""

import itertools
import statistics

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
    assert comparisons.mean_absolute_difference(both).item() == pytest.approx(
        mean, abs=1e-12
    )


@settings(max_examples=20, deadline=None)
@given(groups=st.lists(numbers, min_size=2, max_size=4))
def test_the_mean_range_is_that_of_all_combinations(groups):
    expected = np.mean([np.ptp(world) for world in itertools.product(*groups)])
    assert comparisons.mean_range(sample_of(*groups)).item() == pytest.approx(
        expected, abs=1e-12
    )


@settings(max_examples=20, deadline=None)
@given(groups=st.lists(numbers, min_size=2, max_size=4))
def test_all_pairs_at_once_are_the_pairs_one_by_one(groups):
    sample, pairs = (
        sample_of(*groups),
        list(itertools.combinations(range(len(groups)), 2)),
    )
    distances = [
        comparisons.wasserstein(sample[..., [i]], sample[..., [j]]).item()
        for i, j in pairs
    ]
    assert comparisons.of_pairs(
        comparisons.wasserstein, sample
    ).ravel() == pytest.approx(distances, abs=1e-12)
    means = [
        comparisons.mean_absolute_difference(sample[..., pair]).item() for pair in pairs
    ]
    assert comparisons.mean_absolute_difference(sample).ravel() == pytest.approx(
        means, abs=1e-12
    )


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
