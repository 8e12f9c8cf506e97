"""A table of counts says the same as its rows, whoever counted them."""

import pickle
from types import SimpleNamespace

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings

import fairlib
from fairlib import tables
from fairlib.tables import counting, opening
from fairlib.tables.parquet import ParquetFiles

rows = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 1), st.integers(0, 1)),
    min_size=1,
    max_size=40,
)


def predictions(n=3000, seed=0, digits=2):
    """Three groups, two classes, and scores with few digits, so that rows repeat."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], size=n, p=[0.6, 0.3, 0.1])
    label = rng.choice(["neg", "pos"], size=n)
    score = np.clip(
        rng.normal(np.where(label == "pos", 0.65, 0.4) + (group == "c") * 0.1, 0.2),
        0,
        1,
    ).round(digits)
    prediction = np.where(score >= 0.5, "pos", "neg")
    return pd.DataFrame(
        {"group": group, "label": label, "prediction": prediction, "p_pos": score}
    )


def counted(frame):
    """The same table as counts, with a row that stands for nobody."""
    found = frame.value_counts().rename("people").reset_index()
    return pd.concat([found, found.head(1).assign(people=0)], ignore_index=True)


@given(rows)
@settings(deadline=None)
def test_counts_are_those_of_a_loop(rows):
    frame = pd.DataFrame(rows, columns=["group", "label", "prediction"])
    found = tables.counts(frame, ["group", "label", "prediction"])
    expected = {}
    for row in rows:
        expected[row] = expected.get(row, 0) + 1
    assert {
        tuple(row[:-1]): row[-1] for row in found.itertuples(index=False)
    } == expected


@pytest.mark.parametrize("metrics", [None, ["FPED", "TPRGap"], ["AvgGF", "PosAvgEG"]])
def test_measure_takes_counts_for_rows(metrics):
    frame = predictions()
    by_row = fairlib.measure(frame, metrics)
    by_count = fairlib.measure(counted(frame), metrics, count="people")
    pd.testing.assert_frame_equal(by_row, by_count, rtol=0, atol=1e-12)


def test_what_is_measured_does_not_depend_on_how_many_rows_are_alike():
    """Where hardly any two rows are alike they stay rows; the values are the same."""
    frame = predictions(n=400, digits=17)
    rounded = pd.concat([frame] * 3)
    pd.testing.assert_frame_equal(
        fairlib.measure(frame), fairlib.measure(rounded), rtol=0, atol=1e-12
    )


def test_auc_takes_counts_for_rows():
    frame = predictions()
    columns = ["group", "label", "p_pos"]
    expected, found = (
        fairlib.auc(frame[columns]),
        fairlib.auc(counted(frame[columns]), count="people"),
    )
    pd.testing.assert_frame_equal(expected, found, rtol=0, atol=1e-12)


def test_templates_take_counts_for_rows():
    """Sources and terms stay together when rows are counted, so the draws are alike."""
    rng = np.random.default_rng(1)
    keys = pd.MultiIndex.from_product(
        [range(6), ["a", "b"], range(3)], names=["source", "group", "term"]
    )
    frame = keys.to_frame(index=False).assign(p_pos=rng.random(36).round(2))
    frame = frame.assign(
        label=frame["source"] % 2, prediction=(frame["p_pos"] > 0.5).astype(int)
    )
    frame = frame.rename(columns={"p_pos": "p_1"})
    several = pd.concat([frame] * 3, ignore_index=True)
    expected = fairlib.measure(several, replicates=20)
    found = fairlib.measure(frame.assign(people=3), count="people", replicates=20)
    pd.testing.assert_frame_equal(expected, found, rtol=0, atol=1e-12)
    pd.testing.assert_frame_equal(
        expected[["value"]], fairlib.measure(frame)[["value"]], rtol=0, atol=1e-12
    )


def test_binned_scores_keep_their_bound():
    frame = predictions(digits=17)
    exact = fairlib.measure(frame, ["AvgGF", "AvgGF (TC)"])
    for bins in (10, 100, 1000):
        found = fairlib.measure(frame, ["AvgGF", "AvgGF (TC)"], bins=bins)
        assert np.abs(found["value"] - exact["value"]).max() <= 1 / bins
    with pytest.raises(
        ValueError, match="bins must be a whole number from 2 on, found 1"
    ):
        fairlib.measure(frame, bins=1)


def test_a_binned_equality_gap_keeps_its_bound():
    """It changes by at most half the chance that two scores share a bin.

    One is a score of the group, the other one of the background.
    """
    frame = predictions(digits=17)
    exact = fairlib.measure(frame, "PosAvgEG").set_index(["class", "group"])["value"]
    found = fairlib.measure(frame, "PosAvgEG", bins=20).set_index(["class", "group"])[
        "value"
    ]
    positives = frame[frame["label"] == "pos"]
    share = pd.crosstab(
        positives["group"],
        np.minimum(np.floor(positives["p_pos"] * 20), 19),
        normalize="index",
    )
    for group in "abc":
        others = positives[positives["group"] != group]["p_pos"]
        background = np.histogram(others, bins=20, range=(0, 1))[0] / len(others)
        own = share.loc[group].reindex(range(20), fill_value=0).to_numpy()
        assert abs(found["pos", group] - exact["pos", group]) <= 0.5 * own @ background
    assert (
        np.abs(found - exact).max() > 1e-6
    )  # so that the bound is a bound of something


def test_costs_of_two_groups_are_counted():
    frame = pd.DataFrame({"sex": list("ffmmmx"), "wrong": [1, 0, 1, 1, 0, 1]})
    women, men = tables.costs(frame, cost="wrong", group="sex", between=("f", "m"))
    assert dict(zip(*women, strict=True)) == {0: 1, 1: 1}
    assert dict(zip(*men, strict=True)) == {0: 1, 1: 2}


def test_costs_that_are_no_0_or_1_are_counted_too():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"group": rng.choice(["a", "b"], 500), "cost": rng.integers(0, 9, 500) / 2}
    )
    lists = [frame.loc[frame["group"] == name, "cost"] for name in "ab"]
    counted = tables.costs(frame, cost="cost", group="group", between=("a", "b"))
    for method in ("hoeffding", "empirical_bernstein", "welch"):
        found, expected = (
            fairlib.disparity_interval(*costs, method=method, max_cost=4)
            for costs in (counted, lists)
        )
        assert (found.low, found.high) == pytest.approx(
            (expected.low, expected.high), abs=1e-12
        )


def test_a_billion_examples_cost_no_more_than_their_counts():
    rare, common = (
        tables.Counted(np.array([0, 1]), np.array([10**9 - k, k]))
        for k in (10_000_000, 10_010_000)
    )
    found = fairlib.disparity_interval(common, rare, method="newcombe")
    assert found.estimate == pytest.approx(1e-5) and found.excludes(0)


def test_a_table_is_no_list_of_costs():
    with pytest.raises(
        ValueError, match="cost_a must be a list of at least one cost, found shape"
    ):
        fairlib.disparity_interval(
            pd.DataFrame({"cost": [0, 1], "count": [1, 0]}), [0, 1]
        )


@pytest.fixture
def folder(tmp_path):
    frame = predictions()
    for part, rows in frame.groupby(np.arange(len(frame)) % 3):
        parquet.write_table(
            pa.Table.from_pandas(rows, preserve_index=False),
            tmp_path / f"{part}.parquet",
        )
    return tmp_path


def test_a_folder_of_parquet_files_is_read_in_parts(folder, monkeypatch):
    monkeypatch.setattr(opening, "ROWS_PER_PART", 100)
    monkeypatch.setattr(counting, "_MOST_PENDING_ROWS", 200)
    for path in (folder, str(folder), folder / "0.parquet"):
        expected = pd.read_parquet(path)
        pd.testing.assert_frame_equal(
            fairlib.measure(path), fairlib.measure(expected), rtol=0, atol=1e-12
        )


def test_a_folder_whose_files_differ_is_read_as_arrow_reads_it(tmp_path):
    files = {
        "year=2025/a": {"group": ["x", "y"], "label": [1, 0], "extra": [1.5, 2.5]},
        "year=2025/b": {"label": [0, 1, 1], "group": ["x", None, "z"]},
        "year=2026/c": {"group": ["y"], "label": pa.array([1], pa.int32())},
        "year=2026/d": {"label": [0]},
    }
    for name, columns in files.items():
        path = tmp_path / f"{name}.parquet"
        path.parent.mkdir(exist_ok=True)
        parquet.write_table(pa.table(columns), path)

    names = ["year", "label", "group"]
    expected = ds.dataset(tmp_path, partitioning="hive").to_table(columns=names)
    for table in (ParquetFiles(tmp_path), ParquetFiles(str(tmp_path))):
        for read in (table.to_batches, table.to_encoded_batches):
            batches = read(columns=names, batch_size=2)
            rows = [row for batch in batches for row in batch.to_pylist()]
            assert rows == expected.to_pylist()
    years = tables.counts(tmp_path, ["year"])
    assert dict(zip(years["year"], years[tables.COUNT], strict=True)) == {
        2025: 5,
        2026: 2,
    }


def test_the_memory_for_a_folder_does_not_grow_with_its_files(tmp_path):
    numbers = np.arange(500_000)
    table = pa.table({"group": numbers % 7, "label": numbers % 2})
    for name in "ab":
        parquet.write_table(table, tmp_path / f"{name}.parquet")

    before = pa.total_allocated_bytes()
    rows = 0
    most = 0
    for batch in ParquetFiles(tmp_path).to_batches(
        columns=["group", "label"], batch_size=10_000
    ):
        rows += len(batch)
        most = max(most, pa.total_allocated_bytes() - before)
    assert rows == 1_000_000
    assert most < table.nbytes / 2  # a row group is as large as the table


def test_a_dataset_is_read_in_parts(monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(opening, "ROWS_PER_PART", 100)
    frame = predictions()
    dataset = (
        datasets.Dataset.from_pandas(frame)
        .filter(lambda row: row["group"] != "b")
        .shuffle(seed=1)
    )
    expected = fairlib.measure(frame[frame["group"] != "b"])
    pd.testing.assert_frame_equal(
        fairlib.measure(dataset), expected, rtol=0, atol=1e-12
    )


def test_parts_without_rows_change_nothing(folder):
    """Engines write such parts into a folder; a filter may leave no rows at all."""
    datasets = pytest.importorskip("datasets")
    frame = pd.read_parquet(folder).assign(women=1, right=0)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for name, rows in {"0": table[:0], "1": table, "2": table[:0]}.items():
        parquet.write_table(rows, folder / f"{name}.parquet")
    pd.testing.assert_frame_equal(
        fairlib.measure(folder), fairlib.measure(frame), rtol=0, atol=1e-12
    )
    columns = {
        "task": "right",
        "attribute": "women",
        "predicted": "p_pos",
        "pairs": True,
    }
    found = fairlib.amplification.from_table("A->T", folder, **columns)
    assert found["n"].tolist() == [len(frame)]
    with pytest.raises(ValueError, match="predictions has no rows"):
        fairlib.measure(datasets.Dataset.from_pandas(frame[:0]))


def test_everything_else_reads_folders_and_datasets_too(folder):
    datasets = pytest.importorskip("datasets")
    frame = pd.read_parquet(folder)
    frame = frame.assign(
        women=(frame["group"] == "a").astype(int),
        right=(frame["label"] == "pos").astype(int),
    )
    parquet.write_table(
        pa.Table.from_pandas(frame, preserve_index=False), folder / "all.parquet"
    )
    columns = {"task": "right", "attribute": "women", "predicted": "p_pos"}
    asked = {"group": "group", "label": "label", "prediction": "prediction"}
    for table in (folder / "all.parquet", datasets.Dataset.from_pandas(frame)):
        found = fairlib.amplification.from_table("A->T", table, **columns)
        expected = fairlib.amplification.attribute_to_task(
            frame["right"], frame["women"], frame["p_pos"]
        )
        assert found == pytest.approx(expected, abs=1e-12)
        found, expected = (
            fairlib.audit(rows, **asked).to_frame() for rows in (table, frame)
        )
        pd.testing.assert_frame_equal(found, expected, rtol=0, atol=1e-12)
        costs = tables.costs(table, cost="right", group="group", between=("a", "b"))
        found = fairlib.disparity_interval(*costs, method="newcombe")
        lists = [frame.loc[frame["group"] == name, "right"] for name in "ab"]
        expected = fairlib.disparity_interval(*lists, method="newcombe")
        assert (found.low, found.high) == pytest.approx(
            (expected.low, expected.high), abs=1e-12
        )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: fairlib.measure(d, count="people"), "no column 'people'"),
        (
            lambda d: fairlib.measure(d.assign(people=-1), count="people"),
            r"'people' must hold counts .* found -1 to -1",
        ),
        (
            lambda d: fairlib.measure(d.assign(people=0.5), count="people"),
            "'people' must hold counts .* found a fraction",
        ),
        (
            lambda d: fairlib.measure(d.assign(people=np.nan), count="people"),
            r"'people' has 3000 missing value\(s\)",
        ),
        (
            lambda d: fairlib.measure(d.assign(people="1"), count="people"),
            "'people' must hold numbers, found .* String",
        ),
        (lambda d: fairlib.measure(d.assign(people=0), count="people"), "no rows"),
        (lambda d: fairlib.measure(d.assign(p_pos="1")), "'p_pos' must hold numbers"),
        (
            lambda d: fairlib.measure(d.assign(p_pos=d["p_pos"] + 1), bins=9),
            r"'p_pos' must lie in \[0, 1\], found 1",
        ),
        (
            lambda d: fairlib.measure(pd.concat([d, d["label"]], axis=1)),
            "'label' 2 times",
        ),
        (
            lambda d: fairlib.measure({"group": [1]}),
            "a table must be a frame .* found dict",
        ),
        (
            lambda d: fairlib.measure(pa.table({"group": [[1], [2]]})),
            "'group' must hold one value per row, found .* List",
        ),
        (
            lambda d: fairlib.measure(d.assign(group=[[1]] * len(d))),
            "'group', .* cannot be counted: unhashable type: 'list'",
        ),
        (
            lambda d: fairlib.measure(
                SimpleNamespace(features=None, with_format=0, iter=0)
            ),
            "must be a frame",
        ),
        (
            lambda d: fairlib.measure("no such folder"),
            "there is no file or folder 'no such folder'",
        ),
        (
            lambda d: tables.counts(d, ["race"]),
            "no column 'race'; the columns are 'group', 'label'",
        ),
        (lambda d: tables.counts(d, []), "by must name at least one column"),
        (
            lambda d: tables.costs(d, cost="p_pos", group="group", between=("a", "z")),
            "'group' has no group 'z'; it hold",
        ),
        (
            lambda d: tables.costs(d, cost="p_pos", group="group", between=("a", "a")),
            "between must be two groups",
        ),
    ],
)
def test_wrong_tables_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(predictions())


@pytest.mark.parametrize(
    "option",
    [
        {"within": "label"},
        {"compare": "label"},
        {"threshold": 0.3},
        {"cost": "c"},
        {"weight": "w"},
    ],
)
def test_what_only_audits_ask_for_is_refused(option):
    (name,) = option
    with pytest.raises(TypeError, match=f"measure\\(\\) got .* argument '{name}'"):
        fairlib.measure(predictions(), **option)


# --- counting what pandas holds ---

COLUMNS = {
    "small": lambda draw, n: np.array(
        draw(st.lists(st.integers(-128, 127), min_size=n, max_size=n)), dtype=np.int8
    ),
    "unsigned": lambda draw, n: np.array(
        draw(st.lists(st.integers(0, 255), min_size=n, max_size=n)), dtype=np.uint8
    ),
    "far": lambda draw, n: np.array(
        draw(st.lists(st.sampled_from([-70_000, -69_990]), min_size=n, max_size=n))
    ),
    "huge": lambda draw, n: np.array(
        draw(st.lists(st.sampled_from([2**64 - 4, 2**64 - 1]), min_size=n, max_size=n)),
        dtype=np.uint64,
    ),
    "flag": lambda draw, n: np.array(
        draw(st.lists(st.booleans(), min_size=n, max_size=n))
    ),
    "word": lambda draw, n: draw(
        st.lists(st.sampled_from(["a", "b", None]), min_size=n, max_size=n)
    ),
    "object": lambda draw, n: pd.Series(
        draw(st.lists(st.sampled_from(["a", "b", None]), min_size=n, max_size=n)),
        dtype=object,
    ),
    "mixed": lambda draw, n: np.array(
        draw(st.lists(st.sampled_from([1, "1", "ä"]), min_size=n, max_size=n)),
        dtype="O",
    ),
    "category": lambda draw, n: pd.Categorical(
        draw(st.lists(st.sampled_from(["x", "y", None]), min_size=n, max_size=n)),
        categories=["z", "y", "x"],
    ),
}


@given(st.data())
@settings(deadline=None)
def test_counts_are_those_of_a_group_by(data):
    n = data.draw(st.integers(1, 30))
    kinds = data.draw(
        st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=3, unique=True)
    )
    frame = pd.DataFrame({kind: COLUMNS[kind](data.draw, n) for kind in kinds})
    found = tables.counts(frame, kinds).rename(columns={tables.COUNT: "n"})
    kept = [
        kind for kind in kinds if kind not in ("mixed", "object")
    ]  # of objects that are all numbers, numbers
    typed = [
        kind for kind in kept if frame[kind].notna().any()
    ]  # what is missing throughout has no type
    pd.testing.assert_series_equal(found[typed].dtypes, frame[typed].dtypes)
    expected = frame.astype(object).groupby(kinds, dropna=False, sort=False).size()
    as_dict = {
        tuple(None if pd.isna(v) else v for v in row[:-1]): row[-1]
        for row in found.itertuples(index=False)
    }
    keys = [key if isinstance(key, tuple) else (key,) for key in expected.index]
    assert as_dict == {
        tuple(None if pd.isna(v) else v for v in key): size
        for key, size in zip(keys, expected, strict=True)
    }


def test_what_a_column_must_hold_is_checked_in_the_same_pass():
    frame = pd.DataFrame({"sex": ["f", "m", "f"], "hours": [3.5, -1.0, 40.0]})
    limits = {"hours": tables.Limits("cost", "lie in [-1, 40]", -1, 40)}
    cells = tables.counts(frame, ["sex"], limits=limits)
    assert cells.attrs == {"hours": (-1.0, 40.0)}
    assert cells.columns.tolist() == ["sex", tables.COUNT]

    limits = {"hours": tables.Limits("cost", "be positive", 0, np.inf)}
    with pytest.raises(ValueError, match="'hours' must be positive, found -1 to 40"):
        tables.counts(frame, ["sex"], limits=limits)


def test_what_is_counted_can_be_pickled():
    first, _ = tables.costs(
        pd.DataFrame({"sex": ["f", "m"], "wrong": [1, 0]}),
        cost="wrong",
        group="sex",
        between=("f", "m"),
    )
    assert pickle.loads(pickle.dumps(first)).count.tolist() == [1]
    limits = tables.Limits("cost", "be positive", 0, np.inf)
    assert pickle.loads(pickle.dumps(limits)) == limits


def test_dictionaries_of_arrow_keep_their_order_whatever_stands_beside_them():
    codes = pa.DictionaryArray.from_arrays(
        pa.array([1, 0, 1]), pa.array(["small", "large"])
    )
    frame = pd.DataFrame(
        {
            "size": pd.Series(pd.arrays.ArrowExtensionArray(codes)),
            "mixed": [1, "one", {}],
        }
    )
    found = tables.counts(frame, ["size"])
    assert found["size"].cat.categories.tolist() == ["small", "large"]
    assert dict(zip(found["size"], found[tables.COUNT], strict=True)) == {
        "small": 1,
        "large": 2,
    }
