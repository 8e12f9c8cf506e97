"""Ratios of two means over clusters: coverage, agreement and limits."""

import numpy as np
import pytest

from fairlib.intervals import cluster_ratios, clusters


def drawn(ratio, *, number, shared, worlds=3000, size=30, rate=0.6, seed=5):
    """Sums of two groups whose cluster means vary, together or apart."""
    rng = np.random.default_rng(seed)
    level = rng.beta(6 * rate, 6 * (1 - rate), (worlds, number))
    other = level if shared else rng.beta(6 * rate, 6 * (1 - rate), (worlds, number))
    n = np.full((worlds, number), size)
    return n, rng.binomial(size, ratio * level), n, rng.binomial(size, other)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("number", [5, 20])
def test_the_interval_contains_the_ratio(number, shared):
    low, high = cluster_ratios.from_sums(*drawn(0.8, number=number, shared=shared))
    assert np.mean((low <= 0.8) & (high >= 0.8)) > 0.94


def test_clusters_that_both_groups_share_say_more():
    widths = []
    for shared in (True, False):
        low, high = cluster_ratios.from_sums(*drawn(0.8, number=20, shared=shared))
        widths.append(np.median(high - low))
    assert widths[0] < 0.7 * widths[1]


def test_a_ratio_excludes_1_where_the_difference_excludes_0():
    sides = drawn(0.85, number=20, shared=True)
    low, high = cluster_ratios.from_sums(*sides)
    low_difference, high_difference = clusters.difference_from_sums(*sides)
    of_ratio = (low > 1) | (high < 1)
    of_difference = (low_difference > 0) | (high_difference < 0)
    assert np.mean(of_ratio == of_difference) > 0.99


def test_a_turned_ratio_has_turned_ends():
    n_a, k_a, n_b, k_b = drawn(0.8, number=10, shared=True, worlds=50)
    low, high = cluster_ratios.from_sums(n_a, k_a, n_b, k_b)
    turned_low, turned_high = cluster_ratios.from_sums(n_b, k_b, n_a, k_a)
    np.testing.assert_allclose(turned_low, 1 / high)
    np.testing.assert_allclose(turned_high, 1 / low)


def test_the_scale_does_not_matter():
    n_a, k_a, n_b, k_b = drawn(0.8, number=10, shared=True, worlds=20)
    plain = cluster_ratios.from_sums(n_a, k_a, n_b, k_b)
    longer = cluster_ratios.from_sums(n_a, 5 * k_a, n_b, 5 * k_b, largest=5)
    np.testing.assert_allclose(longer, plain)


def test_nothing_in_one_group():
    n = [20] * 6
    low, high = cluster_ratios.from_sums(n, [0] * 6, n, [10, 8, 9, 12, 7, 11])
    assert low == 0 and 0 < high < 1.2
    low, high = cluster_ratios.from_sums(n, [10, 8, 9, 12, 7, 11], n, [0] * 6)
    assert low > 1 and np.isinf(high)
    low, high = cluster_ratios.from_sums([5, 5], [1, 2], [5, 5], [1, 2])
    assert np.isnan(low) and np.isnan(high)
