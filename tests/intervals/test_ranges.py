"""The range of several equal groups, beside SciPy, theory and simulation."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import studentized_range

from fairlib.intervals.ranges import quantile_of_range, tail_of_range


@pytest.mark.parametrize("groups", [2, 3, 8, 60])
def test_tails_are_those_of_scipy(groups):
    width = np.linspace(0.01, 9, 60)
    expected = studentized_range.sf(width, groups, np.inf)
    tail = tail_of_range(width, groups=groups)

    # SciPy subtracts from one, so its own error is absolute.
    np.testing.assert_allclose(tail, expected, rtol=0, atol=1e-13)
    clear = expected > 1e-3
    np.testing.assert_allclose(tail[clear], expected[clear], rtol=1e-12)


@pytest.mark.parametrize("groups", [3, 8, 60])
@pytest.mark.parametrize("tail", [0.2, 0.05, 0.05 / 6, 1e-4])
def test_quantiles_are_those_of_scipy(groups, tail):
    expected = studentized_range.isf(tail, groups, np.inf)
    assert quantile_of_range(tail, groups=groups) == pytest.approx(expected, rel=1e-12)


def test_two_numbers_differ_like_a_normal_number_far_into_the_tail():
    width = np.linspace(0.1, 12, 30)
    np.testing.assert_allclose(
        tail_of_range(width, groups=2), 2 * ndtr(-width / np.sqrt(2)), rtol=1e-12
    )


def test_no_width_an_endless_width_and_no_number():
    tails = tail_of_range([0, np.inf, np.nan], groups=4)
    np.testing.assert_allclose(tails, [1, 0, np.nan], atol=1e-15)
