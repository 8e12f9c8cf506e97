"""Random tables are those of SciPy, wherever the function comes from."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import random_table

from fairlib.data import ROOT
from fairlib.metrics import random_tables

MARGINS = [
    ([5, 7], [6, 6]),
    ([1, 0, 9, 40], [30, 20]),
    ([200, 300, 50], [100, 100, 350]),
    ([250_000, 260_000], [500_000, 10_000]),
]


@pytest.mark.parametrize(("of_rows", "of_columns"), MARGINS)
@pytest.mark.parametrize("has_compiled", [True, False])
def test_the_same_random_numbers_give_the_tables_of_scipy(
    of_rows, of_columns, has_compiled, monkeypatch
):
    if not has_compiled:
        monkeypatch.setattr(random_tables, "_compiled_function", lambda: None)

    rng = np.random.default_rng(1)
    drawn = random_tables.tables_with_margins(of_rows, of_columns, 20, rng)
    after = rng.random()

    rng = np.random.default_rng(1)
    margins = random_table(of_rows, of_columns)
    expected = margins.rvs(20, method="patefield", random_state=rng)
    np.testing.assert_array_equal(drawn, expected)
    assert rng.random() == after


def test_the_function_is_loaded_alone_and_scipy_uses_the_same_one_later():
    code = """
import sys
from fairlib.metrics import random_tables
draw = random_tables._compiled_function()
assert draw is not None
assert "scipy.stats" not in sys.modules
from scipy.stats._rcont import rvs_rcont2
assert rvs_rcont2 is draw
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=ROOT, check=True)


def test_a_scipy_that_keeps_it_elsewhere_is_asked_by_its_public_name(monkeypatch):
    monkeypatch.delitem(sys.modules, random_tables._COMPILED, raising=False)
    monkeypatch.setattr(random_tables.PathFinder, "find_spec", lambda *_: None)
    assert random_tables._compiled_function.__wrapped__() is None
