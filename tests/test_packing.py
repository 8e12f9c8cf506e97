"""Counting by codes gives what a group-by gives, for columns of every kind."""

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from fairlib import packing

COLUMNS = {
    "small": lambda draw, n: np.array(draw(st.lists(st.integers(-128, 127), min_size=n, max_size=n)), dtype=np.int8),
    "unsigned": lambda draw, n: np.array(draw(st.lists(st.integers(0, 255), min_size=n, max_size=n)), dtype=np.uint8),
    "far": lambda draw, n: np.array(draw(st.lists(st.sampled_from([-70_000, -69_990]), min_size=n, max_size=n))),
    "huge": lambda draw, n: np.array(
        draw(st.lists(st.sampled_from([0, 3, 2**64 - 1]), min_size=n, max_size=n)), dtype=np.uint64
    ),
    "flag": lambda draw, n: np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n))),
    "word": lambda draw, n: draw(st.lists(st.sampled_from(["a", "b", None]), min_size=n, max_size=n)),
    "object": lambda draw, n: pd.Series(
        draw(st.lists(st.sampled_from(["a", "b", None]), min_size=n, max_size=n)), dtype=object
    ),
    "mixed": lambda draw, n: np.array(
        draw(st.lists(st.sampled_from([1, "1", "ä"]), min_size=n, max_size=n)), dtype="O"
    ),
    "category": lambda draw, n: pd.Categorical(
        draw(st.lists(st.sampled_from(["x", "y", None]), min_size=n, max_size=n)), categories=["z", "y", "x"]
    ),
}


@given(st.data())
@settings(deadline=None)
def test_counts_are_those_of_a_group_by(data):
    n = data.draw(st.integers(1, 30))
    kinds = data.draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=3, unique=True))
    frame = pd.DataFrame({kind: COLUMNS[kind](data.draw, n) for kind in kinds})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "BLOCK", 8)
        patch.setattr(packing, "LOOK", 4)
        found = packing.counts(frame, kinds, "n")
    pd.testing.assert_series_equal(found[kinds].dtypes, frame.dtypes)
    expected = frame.astype(object).groupby(kinds, dropna=False, sort=False).size()
    as_dict = {tuple(None if pd.isna(v) else v for v in row[:-1]): row[-1] for row in found.itertuples(index=False)}
    keys = [key if isinstance(key, tuple) else (key,) for key in expected.index]
    assert as_dict == {
        tuple(None if pd.isna(v) else v for v in key): size for key, size in zip(keys, expected, strict=True)
    }


@pytest.mark.parametrize(
    "values",
    [
        [0.5, 1.0],
        [0, 2**40],
        [2**63 - 2, 2**63 - 1],
        [-(2**63), 1 - 2**63],
        pd.to_datetime(["2020-01-01", "2020-01-02"]),
        [[1], [2]],
        np.array([], dtype=int),
    ],
)
def test_columns_without_few_codes_are_left_to_a_group_by(values):
    assert packing.counts(pd.DataFrame({"column": values}), ["column"], "n") is None


def test_values_that_the_first_rows_lack_are_counted_too():
    """Sorted by group, the first block of rows says nothing about the others."""
    n = 3 * packing.BLOCK
    frame = pd.DataFrame({"group": np.arange(n) // packing.BLOCK - 1, "wrong": np.arange(n) % 2 == 1})
    found = packing.counts(frame, ["group", "wrong"], "n").set_index(["group", "wrong"])["n"]
    assert found.to_dict() == {(group, wrong): packing.BLOCK // 2 for group in (-1, 0, 1) for wrong in (False, True)}
    first_zero = frame.assign(group=(frame["group"] + 1) * -1)  # 0, then negative numbers
    assert packing.counts(first_zero, ["group"], "n").set_index("group")["n"].to_dict() == dict.fromkeys(
        (0, -1, -2), packing.BLOCK
    )
    too_many = pd.DataFrame({"column": np.arange(2 * packing.MOST_VALUES)})
    assert packing.counts(too_many, ["column"], "n") is None


@pytest.mark.parametrize("size", [127, 128, 129, 255, 256, 257, 32_768])
@pytest.mark.parametrize("kind", [np.uint16, np.int64])
def test_codes_fit_in_the_type_that_they_are_calculated_in(size, kind):
    constant, varied = np.full(size, 3, dtype=np.int8), np.arange(size).astype(kind)
    found = packing.counts(pd.DataFrame({"constant": constant, "varied": varied}), ["constant", "varied"], "n")
    assert (found["constant"] == 3).all() and (found["n"] == 1).all()
    np.testing.assert_array_equal(found["varied"], varied)


@pytest.mark.parametrize("lowest", [-33, -32, -31, -8_200, -1])
@pytest.mark.parametrize("highest", [0, 31, 8_200])
def test_codes_below_zero_fit_once_they_are_moved_above_it(lowest, highest):
    """Numbers from -65 to 66 fit in a byte; the same moved up, 0 to 131, do not."""
    category = pd.Categorical(["x", None, "z"], categories=["z", "y", "x"])
    frame = pd.DataFrame({"category": category, "number": [highest, lowest, highest]})
    for kind in (np.int16, np.int64):
        for by in (["category", "number"], ["number", "category"]):
            found = packing.counts(frame.astype({"number": kind}), by, "n")
            rows = {(str(row.category), row.number, row.n) for row in found.itertuples()}
            assert rows == {("x", highest, 1), ("nan", lowest, 1), ("z", highest, 1)}
