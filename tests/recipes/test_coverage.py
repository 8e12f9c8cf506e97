"""The laboratory: its coverage by brute force, and the bundled grid.

The grid is compared with a second computation and with what the methods promise.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import fairlib
from fairlib.intervals.disparity import METHODS
from fairlib.intervals.exact import exact_unconditional
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
    assert found["width"] == pytest.approx(width, abs=2e-6)
    assert found["width_error"] == 0


def test_the_width_of_the_exact_interval_is_a_mean_over_tables(grid):
    """It was the width of one table, 0 errors of 5 and 0 of 45, in place of the mean.

    The width of that table is 80 points, and the mean is 66 points.
    """
    n_a, n_b = 5, 45
    p_a, p_b = 0.07, 0.02
    mean_width = 0.0
    for x_a in range(n_a + 1):
        for x_b in range(n_b + 1):
            low, high = exact_unconditional(x_a, n_a, x_b, n_b, alpha=0.05)
            chance_a = stats.binom.pmf(x_a, n_a, p_a)
            chance_b = stats.binom.pmf(x_b, n_b, p_b)
            mean_width += chance_a * chance_b * (high - low)

    computed = coverage.independent("exact_unconditional", n_a, p_a, n_b, p_b)
    assert computed["width"] == pytest.approx(mean_width, abs=2e-6)
    assert computed["width"] == pytest.approx(0.66, abs=0.01)

    design = "n == 50 and gamma == 0.1 and rate == 0.02 and bias == 0.05"
    row = grid.query(f"method == 'exact_unconditional' and {design}").iloc[0]
    assert row["width"] == pytest.approx(mean_width, abs=2e-6)


def test_the_mean_width_of_drawn_tables_is_that_of_all_tables(monkeypatch):
    design = ("exact_unconditional", 20, 0.3, 40, 0.1)
    enumerated = coverage.independent(*design)
    assert enumerated["width_error"] == 0

    monkeypatch.setattr(coverage, "MOST_TABLES", 0)
    monkeypatch.setattr(coverage, "TABLES_DRAWN", 100)
    drawn = [coverage.independent(*design, rng=seed) for seed in range(8)]
    again = coverage.independent(*design, rng=3)
    assert again == drawn[3]

    widths = np.array([result["width"] for result in drawn])
    errors = np.array([result["width_error"] for result in drawn])
    deviations = (widths - enumerated["width"]) / errors
    assert np.abs(deviations).max() < 4
    assert 0.4 < deviations.std() < 1.8
    assert errors.max() < 1e-3
    for result in drawn:
        assert result["coverage"] == enumerated["coverage"]
        assert result["how"] == "enumerated"


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
        if row.width_error == 0:
            assert again["width"] == pytest.approx(row.width, abs=1e-6)


def test_drawn_widths_follow_their_seed(grid):
    is_exact = grid["method"] == "exact_unconditional"
    row = grid[is_exact & (grid["n"] == 500) & (grid["width_error"] > 0)].iloc[0]
    rng = np.random.default_rng([coverage.SEED, int(row["number"])])
    n_a = round(row["n"] * row["gamma"])
    rates = (row["rate"] + row["bias"], row["rate"])
    again = coverage.independent(
        row["method"], n_a, rates[0], row["n"] - n_a, rates[1], rng=rng
    )
    computed = (again["width"], again["width_error"])
    assert computed == pytest.approx((row["width"], row["width_error"]), abs=1e-6)


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


def test_the_exact_interval_is_narrower_than_betting_in_every_design(grid):
    """The docstring of `disparity_interval` and dossier 10a say so."""
    design = ["n", "gamma", "rate", "bias"]
    widths = grid.pivot_table("width", index=design, columns="method")
    errors = grid.pivot_table("width_error", index=design, columns="method")
    gain = widths["betting"] - widths["exact_unconditional"]
    error = np.hypot(errors["betting"], errors["exact_unconditional"])
    assert (gain > 4 * error).all()
    assert errors["exact_unconditional"].max() < 2.5e-4


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
