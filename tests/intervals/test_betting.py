"""The betting interval: its guarantee, its ends by brute force, and its speed."""

import io
import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats
from timing import quicker_than

from fairlib import disparity_interval
from fairlib.intervals import betting

ALPHA = 0.025


def sequences(support, rounds):
    """Return every sequence of `rounds` values, one per column."""
    return np.array(list(itertools.product(support, repeat=rounds))).T


def mean_interval(values, alpha):
    (low,), (high,) = betting.ends([values], alpha=alpha)
    return low, high


# --- the guarantee ---


@pytest.mark.parametrize("rounds", [1, 2, 5, 9])
@pytest.mark.parametrize("rate", [0.001, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 0.999])
@pytest.mark.parametrize("alpha", [0.3, 0.05])
def test_a_true_mean_is_rejected_at_most_as_often_as_promised_by_enumeration(
    rounds, rate, alpha
):
    """Over all 2^m sequences of 0 and 1 with their exact probabilities."""
    z = sequences([0.0, 1.0], rounds)
    probability = np.prod(np.where(z == 1, rate, 1 - rate), axis=0)
    assert probability[betting.rejects(z, rate, alpha=alpha)].sum() <= alpha + 1e-12


@pytest.mark.parametrize(
    "weights", [(0.5, 0.0, 0.5), (0.05, 0.9, 0.05), (0.01, 0.97, 0.02), (0.6, 0.3, 0.1)]
)
def test_the_same_for_differences_of_matched_costs(weights):
    z = sequences([0.0, 0.5, 1.0], 7)
    probability = np.prod(
        np.select([z == 0, z == 0.5], weights[:2], weights[2]), axis=0
    )
    mean = 0.5 * weights[1] + weights[2]
    for alpha in (0.3, 0.05):
        for values, truth in ((z, mean), (1 - z, 1 - mean)):
            assert (
                probability[betting.rejects(values, truth, alpha=alpha)].sum()
                <= alpha + 1e-12
            )


HARD = {
    "rare": (0.01, lambda rng, shape: rng.random(shape) < 0.01),
    "common": (0.99, lambda rng, shape: rng.random(shape) < 0.99),
    "skewed": (0.05 / 1.05, lambda rng, shape: rng.beta(0.05, 1.0, shape)),
    "matched": (
        0.5,
        lambda rng, shape: (
            (1 + (rng.random(shape) < 0.05) - (rng.random(shape) < 0.05)) / 2
        ),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [3, 30, 300])
@pytest.mark.parametrize("case", HARD)
def test_coverage_by_simulation(rounds, case):
    mean, draw = HARD[case]
    z = draw(np.random.default_rng(11), (rounds, 5000)).astype(float)
    for values, truth in ((z, mean), (1 - z, 1 - mean)):
        missed = betting.rejects(values, truth, alpha=ALPHA).mean()
        assert missed <= ALPHA + 4 * np.sqrt(ALPHA * (1 - ALPHA) / 5000)


def test_bundles_keep_the_guarantee(monkeypatch):
    """Games of 400 rounds count as long here, so that they are played in bundles."""
    monkeypatch.setattr(betting, "_LONG_GAME", 50)
    rng = np.random.default_rng(13)
    missed, runs = 0, 200
    for _ in range(runs):
        z = (1 + (rng.random(400) < 0.3) - (rng.random(400) < 0.3)) / 2
        sums, sizes, paces = betting._bundled([z])
        assert len(sums) < 400 and sizes.sum() == 400
        share = ALPHA
        for drawn, size, factor in zip(
            sums[:, 0], sizes[:, 0], paces[:, 0], strict=True
        ):
            share = betting.next_share(share, drawn, factor, 0.5, size=size)
        missed += share >= 1
    assert missed <= stats.binom.ppf(0.9999, runs, ALPHA)


# --- one interval ---

numbers = st.lists(
    st.sampled_from([0.0, 0.2, 0.5, 0.6, 1.0]) | st.floats(0, 1),
    min_size=1,
    max_size=40,
)


@given(numbers, st.floats(0.01, 0.4))
@settings(max_examples=60, deadline=None)
def test_a_test_that_rejects_a_mean_rejects_all_smaller_ones(values, alpha):
    """The bisection is right only if the rejected means have no gap."""
    grid = np.linspace(0.001, 1, 400)
    rejected = betting.rejects(
        np.repeat(np.array(values)[:, None], len(grid), axis=1), grid, alpha=alpha
    )
    assert np.all(np.diff(rejected.astype(int)) <= 0)


@given(numbers, st.floats(0.01, 0.4))
@example(values=[0.2, 0.6, 1.0, 0.0, 0.0], alpha=0.375)
@settings(max_examples=40, deadline=None)
def test_ends_agree_with_a_search_by_brute_force(values, alpha):
    values = np.array(values)
    low, high = mean_interval(values, alpha)
    grid = np.linspace(0.0005, 1, 2000)
    columns = np.repeat(values[:, None], len(grid), axis=1)
    # We search for no end beyond the average, which a game at 60 % confidence may
    # reject.
    by_search = min(
        np.max(grid[betting.rejects(columns, grid, alpha=alpha)], initial=0),
        values.mean(),
    )
    above = 1 - min(
        np.max(grid[betting.rejects(1 - columns, grid, alpha=alpha)], initial=0),
        1 - values.mean(),
    )
    assert low == pytest.approx(min(by_search, above), abs=1.1e-3)
    assert high == pytest.approx(max(by_search, above), abs=1.1e-3)


@given(numbers)
@settings(max_examples=25, deadline=None)
def test_mirrored_numbers_have_the_mirrored_interval(values):
    values = np.array(values)
    low, high = mean_interval(values, ALPHA)
    mirrored = mean_interval(1 - values, ALPHA)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-3)


def test_many_games_at_once_are_the_same_game():
    z = np.random.default_rng(3).random((60, 25)) ** 3
    low = np.array([mean_interval(column, ALPHA)[0] for column in z.T])
    assert betting.rejects(z, low, alpha=ALPHA).all()
    assert not betting.rejects(
        z, low + 2e-4 * (z.mean(axis=0) - low), alpha=ALPHA
    ).any()


def test_stakes_are_concave_and_nothing_is_staked_of_nothing():
    assert betting.STAKES[0] == 0
    # With a last stake of 0, the goal would be approached and never reached.
    assert 0 < betting.STAKES[-1] < betting.STAKES[-2]
    assert np.all(np.diff(betting.STAKES, 2) < 1e-12)
    p = np.arange(1, betting.KNOTS) / betting.KNOTS
    digital, star = stats.norm.pdf(stats.norm.ppf(p)), p * np.sqrt(2 * np.log(1 / p))
    assert betting.STAKES[1:-1] == pytest.approx((digital + star) / 2)


# --- degenerate cases ---


def test_one_number_says_nothing():
    assert mean_interval(np.array([0.4]), ALPHA) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("value", "low", "high"), [(0.0, 0.0, 0.1), (1.0, 0.9, 1.0), (0.5, 0.45, 0.55)]
)
def test_constant_numbers(value, low, high):
    found = mean_interval(np.full(60, value), ALPHA)
    assert low <= found[0] <= value <= found[1] <= high


def test_blocks_leave_none_out():
    cost_a, cost_b = np.array([1.0, 0.0, 0.5]), np.arange(11) / 10
    z = betting.matched_blocks(cost_a, cost_b, rng=5)
    assert z.shape == (3,)
    assert z.mean() == pytest.approx((1 + cost_a.mean() - cost_b.mean()) / 2, abs=0.05)
    means = betting.block_means(cost_b, 3)
    parts = [cost_b[start:stop] for start, stop in ((0, 3), (3, 7), (7, 11))]
    np.testing.assert_allclose(means, [part.mean() for part in parts])
    assert {len(part) for part in parts} == {3, 4}


def test_swapping_the_groups_mirrors_the_blocks():
    rng = np.random.default_rng(0)
    small, large = rng.random(20), rng.random(90)
    one, other = (
        betting.matched_blocks(*pair, rng=1)
        for pair in ((small, large), (large, small))
    )
    assert len(one) == len(other) == 20
    assert one.mean() == pytest.approx(1 - other.mean(), abs=0.02)


# --- cost ---

COSTS = {
    **{
        f"error {rate:%}": lambda rng, n, rate=rate: (rng.random(n) < rate).astype(
            float
        )
        for rate in (0.2, 0.001, 1e-5)
    },
    "no error": lambda rng, n: np.zeros(n),
    "skewed": lambda rng, n: rng.beta(0.05, 10, n),
    "nearly constant": lambda rng, n: 0.5 + 0.001 * rng.random(n),
}


@pytest.mark.parametrize("kind", COSTS)
def test_it_is_quick_and_not_wide(kind):
    rng, n, gamma = np.random.default_rng(1), 3160, 0.3
    cost_a, cost_b = (
        COSTS[kind](rng, round(gamma * n)),
        COSTS[kind](rng, n - round(gamma * n)),
    )
    intervals = []
    assert quicker_than(
        3,
        lambda: intervals.append(disparity_interval(cost_a, cost_b, confidence=0.9999)),
    )
    assert 0 in intervals[0]
    assert intervals[0].half_width < 40 / (gamma * n) + 9 * np.sqrt(
        (cost_a.var() / gamma + cost_b.var() / (1 - gamma)) / n
    )


@pytest.mark.parametrize("kind", ["error 0.001000%", "nearly constant"])
def test_a_million_examples_are_played_in_not_too_many_rounds(kind):
    """A bundle takes as long as a round, so that few bundles take little time."""
    z = COSTS[kind](np.random.default_rng(1), 1_000_000)
    sums, sizes, paces = betting._bundled([z])
    assert len(sums) <= betting._MOST_BUNDLES and (paces > 0).all()
    assert sizes.sum() == len(z) and sums.sum() == pytest.approx(z.sum())


@pytest.mark.parametrize(
    "kind", ["error 20.000000%", "no error", "skewed", "nearly constant"]
)
def test_bundles_and_games_of_other_lengths_make_no_interval_wider(kind, monkeypatch):
    z = COSTS[kind](np.random.default_rng(2), 1000)
    z = (1 + z - z[::-1]) / 2
    shuffled = [np.random.default_rng(seed).permutation(z) for seed in range(4)]
    monkeypatch.setattr(betting, "_LONG_GAME", 1000)
    low, high = betting.ends(shuffled, alpha=ALPHA)
    one_by_one = np.mean(high - low)
    monkeypatch.setattr(betting, "_LONG_GAME", 200)
    low, high = betting.ends(shuffled, alpha=ALPHA)
    assert np.mean(high - low) <= 1.02 * one_by_one + 1e-6
    low, high = betting.ends([z, z[:100], z], alpha=ALPHA)
    assert (low[0], high[0]) == (low[2], high[2])
    assert (low[1], high[1]) == pytest.approx(mean_interval(z[:100], ALPHA), abs=1e-9)


# --- the progress bar ---


class _Screen(io.StringIO):
    """A stream that is a terminal, or is none."""

    def __init__(self, *, is_terminal):
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal


@pytest.mark.parametrize("progress", [True, False])
@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_bar_counts_all_steps_on_a_terminal_if_asked(
    progress, is_terminal, monkeypatch
):
    screen = _Screen(is_terminal=is_terminal)
    bar_of_betting = betting.tqdm
    asked = {}

    def bar_without_delay(**options):
        asked.update(options)
        at_once = {"delay": 0, "mininterval": 0, "leave": True, "file": screen}
        return bar_of_betting(**options | at_once)

    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    monkeypatch.setattr(betting, "tqdm", bar_without_delay)
    betting.ends([np.tile([0.2, 0.4], 10)], alpha=ALPHA, progress=progress)

    assert asked["delay"] == 2  # a quick interval shows no bar
    drawn = screen.getvalue()
    if progress and is_terminal:
        steps = betting._BISECTION_STEPS
        assert drawn.startswith("\rbetting interval:   0%")
        assert "100%|" in drawn
        assert f"{steps}/{steps}" in drawn
    else:
        assert drawn == ""
