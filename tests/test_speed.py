"""What the benchmark writes is what it measured: exponents, extrapolations, tables and units."""

import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def test_the_exponent_is_the_slope_of_the_logarithms():
    from timing import exponent

    sizes = np.array([1e4, 1e5, 1e6])
    assert exponent(sizes, 3e-9 * sizes**1.25) == pytest.approx(1.25)
    assert exponent(sizes, 3e-9 * sizes + 1e-3) < 1


def test_extrapolation_is_a_straight_line_and_says_from_what():
    from timing import Cost, scaled

    found = scaled(Cost(1.5), Cost(0.5), run=10, wanted=1000, unit="replicates")
    assert found.seconds == pytest.approx(100.5) and found.extrapolated == "10 replicates"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the high-water mark of memory is Linux's")
def test_cost_is_the_shortest_time_and_the_most_memory():
    from timing import cost

    size = 8_000_000
    found = cost(lambda array: float(np.ones(size).sum() + array.sum()), prepare=lambda: (np.zeros(size),), repeats=3)
    assert found.value == size and 0 < found.seconds < 10
    # What was prepared before is not counted; pages that the kernel does not let one count are no failure.
    assert np.isnan(found.memory) or found.memory == pytest.approx(8 * size, rel=0.1)
    with pytest.raises(RuntimeError, match="a case did not finish"):
        cost(lambda: sys.exit(3))


@pytest.mark.parametrize(
    ("value", "written"),
    [(5e-6, "5 µs"), (1.2345e-2, "12.3 ms"), (7.0, "7 s"), (119.0, "119 s"), (150.0, "2.5 min"), (7200.0, "2 h")],
)
def test_times_have_a_unit_that_suits_them(value, written):
    from report import seconds
    from timing import Cost

    assert seconds(Cost(value)) == written
    assert seconds(Cost(value, extrapolated="less")) == f"{written} \\*"


def test_tables_are_whole_and_aims_are_judged_by_what_was_measured():
    import report
    from timing import Cost

    assert report.table(["a", "b"], [["x", "1"]]) == "| a | b |\n| :-- | --: |\n| x | 1 |"
    with pytest.raises(ValueError, match="every row must have 2 cells"):
        report.table(["a", "b"], [["x"]])
    costs = {"ours": 3.1, "bincount": 1, "expert": 1, "pandas": 31, "read": 0.1}
    found = {("words", n): {name: Cost(value) for name, value in costs.items()} for n in (1000, 1_000_000)}
    text, (aim,) = report.counting(found)
    assert "| words | 1,000 | 3.1 s | 1 s | **3.1 ×** |" in text and "not measured" in text
    assert not aim.met and aim.found == "3.1 ×" and "1,000,000" in aim.aim


def test_peers_count_and_loop_right():
    import cases
    import peers

    from fairlib import amplification

    columns = cases.predictions(500)
    counts = np.zeros((peers.GROUPS, 2, 2), dtype=np.int64)
    np.add.at(counts, tuple(column.astype(int) for column in columns), 1)
    np.testing.assert_array_equal(peers.packed(*columns), counts.ravel())
    for kind in cases.KINDS:
        frame = cases.frame_of(kind, *columns)
        counted = cases.tables.counts(frame, peers.NAMES)
        np.testing.assert_array_equal(cases.as_array(counted), counts)
    np.testing.assert_allclose(cases.rates(counts[None])[0], peers.metric_frame(frame), atol=1e-12)
    rng = np.random.default_rng(0)
    arrays = [rng.integers(2, size=(200, size)) for size in (3, 2, 3)]
    expected = amplification.attribute_to_task(*arrays)
    assert peers.loop_over_pairs(*arrays) == pytest.approx(expected, abs=1e-12)
    assert peers.loop_over_rows(*(array.tolist() for array in arrays)) == pytest.approx(expected, abs=1e-12)
