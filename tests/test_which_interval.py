"""benchmarks/which_interval.md has what the study computes; its intervals are right."""

import re
import sys

import numpy as np
import pytest
from scipy import stats

from fairlib.data import ROOT

PAGE = (ROOT / "benchmarks" / "which_interval.md").read_text(encoding="utf-8")


@pytest.fixture
def study(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import which_interval

    yield which_interval
    sys.modules.pop("which_interval")


def cells(method):
    """Return the cells of the rows of a method, without the time."""
    rows = re.findall(rf"^\| {re.escape(method)} \| (.*) \|$", PAGE, re.MULTILINE)
    return [row.split(" | ")[:-1] for row in rows]


def test_the_page_has_the_coverage_and_width_that_are_computed(study):
    for method in ("Wald (textbooks)", "Newcombe", "Agresti-Caffo", "Hoeffding"):
        function = study.OF_GROUPS[method]
        computed = [
            study.cell(study.of_groups(world, function)) for world in study.GROUPS
        ]
        assert cells(method)[0] == computed
    for method in ("Wald (textbooks)", "Hoeffding", "exact McNemar"):
        function = study.OF_PAIRS[method]
        computed = [
            study.cell(study.of_pairs(world, function)) for world in study.PAIRS
        ]
        assert cells(method)[-1] == computed
    for sizes, gap in (("equal", 0.0), ("unequal", 0.0), ("equal", 0.1)):
        assert study.table_of_gaps(sizes=sizes, gap=gap) in PAGE


def test_over_few_clusters_ours_covers_and_independent_items_do_not(study):
    ours = cells("clusters.interval (fairlib)")[0]
    naive = cells("items as if independent (Wald)")[0]
    assert not [one for one in ours if one.startswith("**")]
    assert all(one.startswith("**") for one in naive)
    world = study.CLUSTERS[2]
    coverage, _ = study.of_clusters(world, study.as_if_independent)
    printed = float(naive[2].strip("*").partition("*")[0])
    assert 100 * coverage == pytest.approx(printed, abs=3)


def test_the_bootstraps_agree_with_those_of_scipy(study):
    samples = ([1] * 12 + [0] * 38, [1] * 20 + [0] * 30)
    for kind in ("percentile", "BCa"):
        rng = np.random.default_rng(0)
        low, high = study.bootstrap([12], 50, [20], 50, alpha=0.05, kind=kind, rng=rng)
        expected = stats.bootstrap(
            samples,
            lambda a, b, axis=-1: a.mean(axis=axis) - b.mean(axis=axis),
            method=kind,
            n_resamples=2000,
            rng=rng,
        ).confidence_interval
        assert (low[0], high[0]) == pytest.approx(expected, abs=0.03)
