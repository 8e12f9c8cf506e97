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
    assert study.table_of_gaps() in PAGE


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
