"""Plans with clusters: against formulas, against simulation, and at their limits."""

import numpy as np
import pytest
from scipy import stats

from fairlib.intervals import clusters
from fairlib.intervals.cluster_planning import (
    freedom_of,
    largest_design_effect,
    largest_ratio,
    least_equal_sizes,
    smallest_change,
    smallest_difference,
    smallest_share,
)
from fairlib.intervals.cluster_power import Worlds, refined

QUANTILES = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)


def test_independent_examples_follow_the_textbook():
    effect = smallest_share(1000)
    rate = 0.5 + effect
    assert effect == pytest.approx(QUANTILES * np.sqrt(rate * (1 - rate) / 1000), 1e-6)

    effect = smallest_change(1000, discordant=0.3)
    assert effect == pytest.approx(QUANTILES * np.sqrt((0.3 - effect**2) / 1000), 1e-6)


def test_with_one_independent_example_a_cluster_nothing_changes():
    assert smallest_share([1] * 500) == pytest.approx(smallest_share(500), rel=0.01)
    assert smallest_difference([1] * 500, [1] * 500) == pytest.approx(
        smallest_difference(500, 500), rel=0.01
    )


@pytest.mark.parametrize("clusters_in_all", [5, 20, 100])
def test_a_share_is_shown_as_often_as_planned(clusters_in_all):
    size, design_effect = 30, 2.0
    effect = smallest_share([size] * clusters_in_all, design_effect=design_effect)
    rng = np.random.default_rng(11)
    worlds = 3000

    concentration = (size - 1) / (design_effect - 1) - 1
    rate = 0.5 + effect
    means = rng.beta(
        rate * concentration, (1 - rate) * concentration, (worlds, clusters_in_all)
    )
    n = np.full((worlds, clusters_in_all), size)
    low, _ = clusters.from_sums(n, rng.binomial(size, means))
    assert np.mean(low > 0.5) == pytest.approx(0.8, abs=0.05)


def test_more_clusters_of_the_same_items_show_more():
    effects = [
        smallest_change([600 // number] * number, design_effect=3.0)
        for number in (6, 12, 25, 50)
    ]
    assert effects == sorted(effects, reverse=True)


def test_dependence_hides_a_bias():
    sizes = [20] * 80
    effects = [smallest_share(sizes, design_effect=d) for d in (1.0, 3.0, 20.0)]
    assert effects == sorted(effects)
    assert effects[2] == pytest.approx(smallest_share([1] * 80), rel=0.05)


def test_a_ratio_is_shown_where_its_difference_is():
    ratio = largest_ratio(400, 300, rate=0.6)
    difference = smallest_difference(300, 400, error=0.4)
    assert ratio == pytest.approx(1 - difference / 0.6, abs=0.01)


def test_the_degrees_of_freedom_are_those_of_the_interval():
    assert freedom_of([7] * 12) == pytest.approx(11)
    assert freedom_of([7] * 12 + [0]) == pytest.approx(11)
    sizes = np.array([50, 5, 5, 5, 20])
    side = clusters._side(sizes, sizes / 2, names=("n", "k"), bounds=(0, 1))
    assert freedom_of(sizes) == pytest.approx(float(side.freedom))
    assert np.isnan(freedom_of([5, 5]))


def test_two_clusters_show_nothing():
    assert np.isnan(smallest_share([100, 100]))
    assert np.isnan(smallest_difference([10, 10], [10, 10]))
    assert np.isnan(smallest_share([40] * 3, design_effect=30.0))


def test_the_largest_design_effect_is_that_of_copies():
    assert largest_design_effect([8] * 5) == pytest.approx(8)
    sizes = np.array([1, 2, 3, 10])
    rng = np.random.default_rng(0)
    copies = rng.integers(0, 2, (20_000, 4)) @ sizes / sizes.sum()
    assert copies.var() / (0.25 / 16) == pytest.approx(
        largest_design_effect(sizes), rel=0.05
    )


@pytest.mark.parametrize(
    ("n", "number", "smallest", "largest"),
    [(100, 10, 5, 20), (100, 10, 10, 10), (30, 10, 5, 20), (400, 10, 5, 20)],
)
def test_sizes_lie_between_the_extremes(n, number, smallest, largest):
    sizes = least_equal_sizes(n, number, smallest, largest)
    assert len(sizes) == number
    assert sizes.min() >= smallest and sizes.max() <= largest
    assert sizes.sum() == np.clip(n, number * smallest, number * largest)


def test_groups_with_clusters_of_their_own():
    n_a = [20] * 40 + [0] * 40
    n_b = [0] * 40 + [20] * 40
    apart = smallest_difference(n_a, n_b, design_effect=2.0)
    shared = smallest_difference([20] * 40, [20] * 40, design_effect=2.0)
    assert apart == pytest.approx(shared, rel=0.1)


def test_the_search_ends_where_power_never_suffices():
    assert np.isnan(refined(lambda effect: 0.5, 0.1, most=1.0, power=0.8))
    effect = refined(lambda effect: effect, np.nan, most=1.0, power=0.3)
    assert effect == pytest.approx(0.3, rel=0.03)


def test_a_simulation_repeats_itself():
    worlds = Worlds(design_effect=2.0, confidence=0.95)
    sizes = np.full(10, 20.0)
    first = worlds.share(0.2, sizes=sizes, fixed=0.5)
    assert first == worlds.share(0.2, sizes=sizes, fixed=0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: smallest_share(0), "sizes must be at least 1 in all, found 0"),
        (lambda: smallest_share([-1, 3]), "sizes must be at least 0, found -1"),
        (lambda: smallest_share(10, fixed=2), "fixed must be in .0, 1., found 2"),
        (lambda: smallest_share(10, power=1), "power must be in .0, 1., found 1"),
        (lambda: smallest_share(10, design_effect=0), "design_effect must be positive"),
        (lambda: smallest_difference(10, 10, error=1), "error must be in .0, 1."),
        (lambda: smallest_difference([9] * 3, [9] * 4), "one length, found 3 and 4"),
        (lambda: smallest_change(10, discordant=2), "discordant must be in .0, 1."),
        (lambda: largest_ratio(10, 10, rate=0), "rate must be in .0, 1., found 0"),
    ],
)
def test_what_is_wrong_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
