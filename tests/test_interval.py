import math

import pytest

from fairlib import Interval


def test_prints_as_documented():
    assert str(Interval(0.029, -0.012, 0.070, method="bernstein")) == "0.029 [-0.012, 0.070] (95% bernstein)"


def test_no_interval_says_that_it_is_certain():
    assert str(Interval(0.0, -1.0, 1.0, confidence=1 - 0.05 / 5000)) == "0.000 [-1.000, 1.000] (99.99%)"


def test_membership_and_exclusion_agree():
    interval = Interval(0.2, 0.1, 0.3)
    for value in (0.0, 0.1, 0.2, 0.3, 0.31):
        assert (value in interval) != interval.excludes(value)
    assert interval.half_width == pytest.approx(0.1)


def test_undefined_interval_excludes_nothing():
    undefined = Interval(math.nan, math.nan, math.nan, method="wald")
    assert not undefined.excludes(0.0)
    assert str(undefined) == "undefined (95% wald)"


def test_html_is_escaped():
    assert "<b>" not in Interval(0.1, 0.0, 0.2, method="<b>")._repr_html_()


@pytest.mark.parametrize("bad", [{"low": 2.0, "high": 1.0}, {"confidence": 1.0}, {"confidence": -0.1}])
def test_impossible_intervals_are_refused(bad):
    with pytest.raises(ValueError, match="low|confidence"):
        Interval(**({"estimate": 1.0, "low": 0.0, "high": 2.0} | bad))


def test_is_frozen():
    with pytest.raises(AttributeError):
        Interval(0.1, 0.0, 0.2).low = 1.0
