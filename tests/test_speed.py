"""What the benchmark writes is what it measured."""

import sys

import numpy as np
import pytest

from fairlib.data import ROOT

MODULES = (
    "speed",
    "speed_frame",
    "speed_intervals",
    "speed_peers",
    "speed_tables",
)


@pytest.fixture
def speed(monkeypatch):
    pytest.importorskip("duckdb")
    pytest.importorskip("polars")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import speed

    monkeypatch.setattr("speed_frame.BUDGET", 0.0)
    yield speed
    for name in MODULES:
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    "question",
    [
        "metrics",
        "difference",
        "amplified",
        "speed_tables.counting",
        "speed_tables.rates",
        "speed_tables.parquet",
        "speed_tables.csv",
    ],
)
def test_every_question_is_answered_and_ours_agrees_with_the_peer(
    speed, question, monkeypatch
):
    # A new process takes seconds to start.
    monkeypatch.setattr("speed_tables._memory_of_a_new_process", lambda *_, **__: 1.0)
    *module, name = question.split(".")
    for case in getattr(speed.speed_tables if module else speed, name)(2040):
        assert 0 < case.ours < 30
        assert case.theirs > 0
        assert case.memory > 0
        assert case.n == 2040


def test_the_table_gives_ratios_and_marks_what_is_extrapolated(speed):
    case = speed.Case("counting", 1_000_000, 0.002, 1.5e6, "pandas", 0.05)
    lines = speed.written(
        [
            case,
            case._replace(theirs=7200.0, extrapolated=True, other_algorithm=True),
            case._replace(theirs=0.001, peer_memory=2e6, reason="it looks at less."),
        ]
    ).splitlines()
    ours = "| counting | 1,000,000 | 2 ms | 1.5 MB | pandas | another"
    assert lines[2] == f"{ours} implementation | 50 ms |  | **25** |"
    assert lines[3] == f"{ours} algorithm | 7,200 s \\* |  | **3,600,000** |"
    assert lines[4] == f"{ours} implementation | 1 ms | 2.0 MB | **0.5** |"
    assert lines[-1] == "- counting, beside pandas: it looks at less."


def test_memory_is_the_most_that_is_allocated_at_a_time(speed):
    assert speed.memory(lambda: np.ones(1_000_000).sum()) == pytest.approx(8e6, rel=0.1)


def test_the_questions_about_intervals_are_answered(speed):
    import speed_intervals

    # A plan takes as long whatever its size, and has tests of its own.
    for question in set(speed_intervals.QUESTIONS) - {speed_intervals.planned}:
        for case in question(200):
            assert case.ours > 0
            assert case.theirs > 0
            assert case.memory > 0


def test_packages_that_are_not_installed_are_named_and_not_measured(speed, monkeypatch):
    import speed_peers

    monkeypatch.setattr(speed_peers, "find_spec", lambda name: None)
    assert speed_peers.not_installed() == ["Aequitas", "AIF360", "ppi_py", "confseq"]
    assert "not in the table: Aequitas, AIF360, ppi_py, confseq." in speed.machine()
    for question in (speed_peers.audited, speed_peers.annotated):
        assert list(question(200)) == []


def test_a_process_is_measured_with_its_memory(speed):
    import speed_peers

    taken, size = speed_peers._new_process(["-c", "held = bytearray(50_000_000)"])
    assert taken > 0
    assert 50e6 < size < 100e6
