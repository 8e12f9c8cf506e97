"""The laboratory: its coverage by brute force, and the bundled grid.

The grid is compared with a second computation and with what the methods promise.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import fairlib
from fairlib.intervals.disparity import METHODS
from fairlib.recipes import coverage

COUNTED = [
    name for name, method in METHODS.items() if method.counts and not method.paired
]


@pytest.fixture(scope="module")
def grid():
    return fairlib.load("coverage", source="bundled")


@pytest.mark.parametrize("method", COUNTED)
@pytest.mark.parametrize(("n_a", "n_b"), [(4, 4), (3, 7)])
def test_coverage_is_the_sum_over_all_tables(method, n_a, n_b):
    p_a, p_b = 0.4, 0.1
    expected = width = 0.0
    for x_a in range(n_a + 1):
        for x_b in range(n_b + 1):
            low, high = METHODS[method].counts(x_a, n_a, x_b, n_b, alpha=0.05)
            probability = stats.binom.pmf(x_a, n_a, p_a) * stats.binom.pmf(
                x_b, n_b, p_b
            )
            expected += probability * (low <= p_a - p_b <= high)
            width += probability * (high - low)
    found = coverage.independent(method, n_a, p_a, n_b, p_b)
    assert found["coverage"] == pytest.approx(expected, abs=1e-6)
    if method != "exact_unconditional":  # whose width is that of the middle table
        assert found["width"] == pytest.approx(width, abs=5e-3)


@pytest.mark.parametrize("method", ["mcnemar", "tango", "hoeffding_pairs"])
def test_coverage_of_pairs_is_the_sum_over_all_tables(method):
    n, bias, discordant = 9, 0.2, 0.5
    expected = 0.0
    for only_a in range(n + 1):
        for only_b in range(n + 1 - only_a):
            low, high = METHODS[method].counts(only_a, only_b, n, alpha=0.05)
            probability = stats.multinomial.pmf(
                [only_a, only_b, n - only_a - only_b], n, [0.35, 0.15, 0.5]
            )
            expected += probability * (low <= bias <= high)
    assert coverage.paired(method, n, bias, discordant)["coverage"] == pytest.approx(
        expected, abs=1e-9
    )


def test_simulated_rows_follow_their_seed_and_know_their_error(grid):
    row = grid[(grid["method"] == "betting") & (grid["n"] == 50)].iloc[5]
    rng = np.random.default_rng([coverage.SEED, int(row["number"])])
    n_a = round(row["n"] * row["gamma"])
    again = coverage.independent(
        "betting", n_a, row["rate"] + row["bias"], 50 - n_a, row["rate"], rng=rng
    )
    assert (again["coverage"], again["width"]) == pytest.approx(
        (row["coverage"], row["width"]), abs=1e-6
    )
    assert row["error"] == pytest.approx(
        np.sqrt(row["coverage"] * (1 - row["coverage"]) / 10_000), abs=1e-6
    )


def test_some_enumerated_rows_come_out_again(grid):
    rows = grid[(grid["how"] == "enumerated") & (grid["n"] <= 100)].sample(
        25, random_state=3
    )
    for row in rows.itertuples():
        if METHODS[row.method].paired:
            again = coverage.paired(row.method, row.n, row.bias, row.discordant)
        else:
            n_a = round(row.n * row.gamma)
            again = coverage.independent(
                row.method, n_a, row.rate + row.bias, row.n - n_a, row.rate
            )
        assert again["coverage"] == pytest.approx(row.coverage, abs=1e-6)


def test_the_grid_is_whole(grid):
    cells = grid.groupby("method").size()
    assert set(cells.index) == set(METHODS)
    sizes = {True: 4 * 2 * 3, False: 4 * 3 * 4 * 2}
    assert all(cells[name] == sizes[method.paired] for name, method in METHODS.items())
    assert grid["number"].is_unique


def test_what_promises_keeps_the_promise(grid):
    """Beyond the Monte-Carlo error, and that of 144 looks at it."""
    promised = grid["method"].map(lambda name: METHODS[name].guarantee != "asymptotic")
    assert (grid["coverage"] + 3.9 * grid["error"] >= 0.95)[promised].all()


def test_the_asymptotic_ones_fail_somewhere(grid):
    worst = grid.groupby("method")["coverage"].min()
    assert worst["welch"] < 0.5
    assert worst["miettinen_nurminen"] < 0.94
    assert worst["newcombe"] < 0.94


def test_betting_is_hardly_wider_than_what_promises_nothing(grid):
    at = grid[(grid["n"] == 1000) & (grid["gamma"] == 0.5) & (grid["rate"] == 0.2)]
    widths = at.groupby("method")["width"].mean()
    assert widths["betting"] < 1.06 * widths["newcombe"]
    assert widths["betting"] < 0.75 * widths["hoeffding"]


def test_five_points_come_out_again():
    """Observed differences of exactly .05, and 80 % power.

    The last three results are what a reader remembers.
    """
    table = fairlib.load("five_points", source="bundled")
    quick = ["bernstein_maximal", "newcombe", "hoeffding", "tango"]
    for row in table[table["method"].isin(quick)].itertuples():
        truth = (
            {"error": row.error}
            if pd.isna(row.discordant)
            else {"error": 0.3, "discordant": row.discordant}
        )
        if pd.isna(row.power):
            assert coverage.observed_size(row.method, **truth) == row.n
        else:
            assert (
                fairlib.planning.sample_size(0.05, method=row.method, **truth) == row.n
            )
    observed = table[table["power"].isna()].set_index("method")["n"]
    assert (observed["bernstein_maximal"] == 11903).all()
    assert observed["betting"].tolist() == [520, 1200, 1680]
    assert observed["exact_unconditional"].tolist() == [440, 1080, 1600]
    assert [
        coverage.observed_size(name, error=0.05)
        for name in ("betting", "exact_unconditional")
    ] == [520, 440]
