"""What the benchmark writes is what it measured."""

import sys

import numpy as np
import pytest

from fairlib.data import ROOT


@pytest.fixture
def speed(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import speed

    monkeypatch.setattr(speed, "BUDGET", 0.0)
    yield speed
    sys.modules.pop("speed")


@pytest.mark.parametrize("question", ["counting", "metrics", "difference", "amplified"])
def test_every_question_is_answered_and_ours_agrees_with_the_peer(speed, question):
    for case in getattr(speed, question)(2000):
        assert (
            0 < case.ours < 30
            and case.theirs > 0
            and case.memory > 0
            and case.n == 2000
        )


def test_the_table_gives_ratios_and_marks_what_is_extrapolated(speed):
    case = speed.Case("counting", 1_000_000, 0.002, 1.5e6, "pandas", 0.05)
    lines = speed.written(
        [case, case._replace(theirs=7200.0, extrapolated=True)]
    ).splitlines()
    assert (
        lines[2] == "| counting | 1,000,000 | 2 ms | 1.5 MB | pandas | 50 ms | **25** |"
    )
    ours = "| counting | 1,000,000 | 2 ms | 1.5 MB |"
    assert lines[3] == f"{ours} pandas | 7,200 s \\* | **3,600,000** |"


def test_memory_is_the_most_that_is_allocated_at_a_time(speed):
    assert speed.memory(lambda: np.ones(1_000_000).sum()) == pytest.approx(8e6, rel=0.1)
