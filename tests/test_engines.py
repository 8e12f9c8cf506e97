"""Every engine that holds the rows gives the same numbers, to 1e-12."""

import datetime
import shutil
import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from test_sequences import tokens
from test_tables import predictions
from toy_predictions import MANY_GROUPS

import fairlib
from fairlib import tables
from fairlib.amplification import measures as amplification
from fairlib.intervals.disparity import METHODS

ENGINES = [
    "polars",
    "polars lazy",
    "arrow",
    "duckdb",
    "dask",
    pytest.param("spark", marks=pytest.mark.slow),
]
TASKS, PREDICTED, ATTRIBUTES = (
    ["painting", "cooking"],
    ["p_painting", "p_cooking"],
    ["woman", "man"],
)


@pytest.fixture(scope="session")
def spark():
    sql = pytest.importorskip(
        "pyspark.sql", reason="pyspark is not installed (extra `spark`)"
    )
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not here")
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "ERROR",
    }
    session = (
        sql.SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(params=ENGINES)
def held_by(request):
    """A function that hands a pandas frame to the engine."""
    if request.param == "spark":
        session = request.getfixturevalue("spark")
        return lambda frame: session.createDataFrame(
            pa.Table.from_pandas(frame, preserve_index=False)
        )
    if request.param == "arrow":
        return lambda frame: pa.Table.from_pandas(frame, preserve_index=False)
    if request.param == "duckdb":
        return pytest.importorskip("duckdb").from_df
    if request.param == "dask":
        dask = pytest.importorskip("dask.dataframe")
        return lambda frame: dask.from_pandas(frame, npartitions=3)
    polars = pytest.importorskip("polars")
    return (
        polars.from_pandas
        if request.param == "polars"
        else lambda frame: polars.from_pandas(frame).lazy()
    )


@pytest.fixture(scope="module")
def frame():
    return predictions()


def same(found, expected):
    pd.testing.assert_frame_equal(found, expected, rtol=0, atol=1e-12)


def test_measure(held_by, frame):
    same(fairlib.measure(held_by(frame)), fairlib.measure(frame))


def test_measure_sequences(held_by):
    frame = tokens(seed=3)
    same(
        fairlib.measure_sequences(held_by(frame), MANY_GROUPS),
        fairlib.measure_sequences(frame, MANY_GROUPS),
    )


def test_measure_with_replicates_and_bins(held_by, frame):
    options = {"metrics": ["FPED", "AvgGF"], "replicates": 20, "bins": 50}
    same(fairlib.measure(held_by(frame), **options), fairlib.measure(frame, **options))


def test_replicates_where_hardly_any_two_rows_are_alike(held_by):
    frame, options = (
        predictions(n=300, digits=17),
        {"metrics": ["FPED", "AvgGF"], "replicates": 20},
    )
    same(fairlib.measure(held_by(frame), **options), fairlib.measure(frame, **options))


def test_templates(held_by):
    keys = pd.MultiIndex.from_product(
        [range(6), ["a", "b"], range(3)], names=["source", "group", "term"]
    )
    frame = keys.to_frame(index=False).assign(p_1=np.random.default_rng(1).random(36))
    frame = frame.assign(
        label=frame["source"] % 2, prediction=(frame["p_1"] > 0.5).astype(int)
    )
    same(
        fairlib.measure(held_by(frame), replicates=20),
        fairlib.measure(frame, replicates=20),
    )


def test_measure_on_a_table_of_counts(held_by, frame):
    counts = frame.value_counts().rename("people").reset_index()
    same(fairlib.measure(held_by(counts), count="people"), fairlib.measure(frame))


@pytest.mark.parametrize("kind", ["int8", "int32", "float32"])
def test_counts_in_a_small_type_add_up_to_large_ones(held_by, kind):
    largest = 2**24 if kind == "float32" else int(np.iinfo(kind).max)
    counts = pd.DataFrame(
        {"group": ["a", "a", "b"], "people": np.array([largest, 3, 1], dtype=kind)}
    )
    found = tables.counts(held_by(counts), ["group"], count="people").set_index(
        "group"
    )[tables.COUNT]
    assert found.to_dict() == {"a": largest + 3, "b": 1}


def test_names_of_columns_may_hold_dots_and_quotes():
    """DuckDB would take what comes before the dot for a table's name."""
    frame = pd.DataFrame({"p_a.b": [0.25, 0.25], 'a "b"': [1, 1]})
    duckdb = pytest.importorskip(
        "duckdb", minversion="2.0"
    )  # older ones, or older narwhals, do not quote such names
    found = tables.counts(duckdb.from_df(frame), ["p_a.b", 'a "b"'])
    assert found.to_numpy().tolist() == [[0.25, 1, 2]]


def test_a_column_may_be_asked_for_twice(held_by):
    found = tables.counts(held_by(pd.DataFrame({"cost": [1, 0, 1]})), ["cost", "cost"])
    assert dict(found.itertuples(index=False)) == {0: 1, 1: 2}


WRONG = [0, 1, 1, 0, 0, 1]
SMALL = pd.DataFrame(
    {"group": ["f", "m"] * 3, "label": WRONG, "prediction": WRONG[::-1], "p_1": 0.5}
)


def groups_of(table):
    """Return the order of groups for the metrics, which is that of an audit too."""
    audited = fairlib.audit(
        table, group="group", label="label", prediction="prediction", probability="p_1"
    ).counts
    found = fairlib.measure(table, "TPRGap").attrs["groups"]
    assert audited.attributes["group"].names == tuple(str(name) for name in found)
    return found


def test_groups_keep_the_order_of_their_categories():
    ordered = SMALL.assign(group=pd.Categorical(SMALL["group"], ["x", "m", "f"]))
    arrow = pa.Table.from_pandas(ordered)
    tables = [ordered, arrow, arrow.to_pandas(types_mapper=pd.ArrowDtype)]
    tables += [
        library.from_pandas(ordered, npartitions=2)
        for library in [pytest.importorskip("dask.dataframe")]
    ]
    tables += [pytest.importorskip("duckdb").from_df(ordered)]
    for table in tables:
        assert groups_of(table) == ["m", "f"], type(table)


def test_arrays_keep_the_order_of_their_categories():
    category = pd.Categorical(SMALL["group"], ["x", "m", "f"])
    polars = pytest.importorskip("polars")
    enum = polars.Series(
        "sex", SMALL["group"].to_list(), dtype=polars.Enum(["x", "m", "f"])
    )
    for groups in (category, pd.Series(category, index=SMALL.index), enum):
        report = fairlib.audit(SMALL["label"], SMALL["prediction"], groups)
        (found,) = report.counts.attributes.values()
        assert found.names == ("m", "f"), type(groups)


def test_an_enum_of_polars_has_an_order_and_its_categories_have_none():
    """The codes of categories depend on what the process met before.

    Newer versions of polars sort categories by name themselves.
    """
    polars = pytest.importorskip("polars")
    kept = polars.Series(["m", "f"]).cast(
        polars.Categorical
    )  # as long as they live, m may come before f
    assert kept.to_list() == ["m", "f"]
    for kind, expected in (
        (polars.Categorical, ["f", "m"]),
        (polars.Enum(["x", "m", "f"]), ["m", "f"]),
    ):
        table = polars.from_pandas(SMALL).with_columns(polars.col("group").cast(kind))
        for held in (table, table.lazy()):
            assert groups_of(held) == expected


def test_dates_are_dates(held_by):
    days = [datetime.date(2021, 1, 1), datetime.date(2020, 1, 1)] * 3
    typed = SMALL.assign(
        group=pd.array(days, pd.ArrowDtype(pa.date32()))
    )  # else Dask makes words of them
    for table in (SMALL.assign(group=days), typed, held_by(typed)):
        assert groups_of(table) == [days[1], days[0]]


def test_columns_of_arrow_are_columns(frame):
    """In a pandas frame: text, numbers, booleans and counts."""
    frame = frame.assign(
        label=frame["label"] == "pos", prediction=frame["prediction"] == "pos", people=2
    )
    frame = frame.rename(columns={"p_pos": "p_True"})
    arrow = pa.Table.from_pandas(frame).to_pandas(types_mapper=pd.ArrowDtype)
    same(fairlib.measure(arrow, count="people"), fairlib.measure(frame, count="people"))
    how = {
        "group": "group",
        "label": "label",
        "prediction": "prediction",
        "probability": "p_True",
        "count": "people",
    }
    same(fairlib.audit(arrow, **how).to_frame(), fairlib.audit(frame, **how).to_frame())


def test_amplification(held_by):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        rng.integers(0, 2, size=(500, 4)), columns=[*TASKS, *ATTRIBUTES]
    )
    frame[PREDICTED] = rng.random((500, 2))
    train = frame.sample(300, random_state=0).reset_index(drop=True)
    columns = {"task": TASKS, "attribute": ATTRIBUTES, "predicted": PREDICTED}
    expected = amplification.attribute_to_task(
        frame[TASKS],
        frame[ATTRIBUTES],
        frame[PREDICTED],
        train=(train[TASKS], train[ATTRIBUTES]),
    )
    found = amplification.from_table(
        "A->T", held_by(frame), **columns, train=held_by(train)
    )
    assert found == pytest.approx(expected, abs=1e-12)
    rows = frame.assign(people=rng.integers(0, 4, size=500))
    several = rows.loc[rows.index.repeat(rows["people"])]
    expected = amplification.attribute_to_task(
        several[TASKS], several[ATTRIBUTES], several[PREDICTED]
    )
    found = amplification.from_table("A->T", held_by(rows), **columns, count="people")
    assert found == pytest.approx(expected, abs=1e-12)
    expected = amplification.attribute_to_task(
        frame[TASKS],
        frame[ATTRIBUTES],
        frame[PREDICTED],
        train=(several[TASKS], several[ATTRIBUTES]),
    )
    options = {"train": held_by(rows), "count": "people"}
    found = amplification.from_table(
        "A->T", held_by(frame.assign(people=1)), **columns, **options
    )
    assert found == pytest.approx(expected, abs=1e-12)


def test_amplification_refuses_what_is_no_label(held_by):
    frame = pd.DataFrame({"task": [0.0, 1.0, 0.5], "attribute": [1, 0, 1]})
    with pytest.raises(ValueError, match=r"must (hold|be) 0 or 1"):
        amplification.from_table(
            "A->T", held_by(frame), task="task", attribute="attribute", predicted="task"
        )
    with pytest.raises(
        ValueError,
        match="task: no column 'cooking'; the columns are 'task', 'attribute'",
    ):
        amplification.from_table(
            "A->T",
            held_by(frame),
            task="cooking",
            attribute="attribute",
            predicted="task",
        )


@pytest.mark.parametrize(
    "values", [["0", "1", "x"], pd.to_datetime(["2020-01-01"] * 3)]
)
def test_what_is_no_number_is_named(held_by, values):
    table = held_by(pd.DataFrame({"task": values, "attribute": [1, 0, 1]}))
    with pytest.raises(ValueError, match="column 'task' must hold numbers"):
        amplification.from_table(
            "A->T", table, task="task", attribute="attribute", predicted="task"
        )
    with pytest.raises(ValueError, match="column 'task' must hold numbers"):
        tables.costs(table, cost="task", group="attribute", between=(0, 1))


def test_amplification_without_rows_is_refused(held_by):
    table = held_by(pd.DataFrame({"task": [1, 0], "attribute": [1, 0]})[:0])
    with pytest.raises(ValueError, match="the table has no rows"):
        amplification.from_table(
            "A->T", table, task="task", attribute="attribute", predicted="task"
        )


@pytest.mark.parametrize(
    "columns",
    [{"prediction": "prediction"}, {"probability": "p_pos", "positive": "pos"}],
)
def test_audit(held_by, frame, columns):
    how = {"group": "group", "label": "label"} | columns
    same(
        fairlib.audit(held_by(frame), **how).to_frame(),
        fairlib.audit(frame, **how).to_frame(),
    )


def test_audit_of_costs_and_weights(held_by, frame):
    numbers = np.random.default_rng(0).gamma(4, 10, (2, len(frame)))
    frame = frame.assign(minutes=numbers[0], weight=numbers[1])
    how = {
        "group": "group",
        "label": "label",
        "prediction": "prediction",
        "cost": "minutes",
        "weight": "weight",
    }
    found, expected = (
        fairlib.audit(table, **how).to_frame() for table in (held_by(frame), frame)
    )
    pd.testing.assert_frame_equal(found, expected, rtol=1e-7)  # sums in another order


@pytest.mark.parametrize(
    "method", [name for name, method in METHODS.items() if not method.paired]
)
def test_disparity_interval(held_by, frame, method):
    """From the costs of two groups counted in the engine, as from two lists."""
    frame = frame.assign(wrong=(frame["label"] != frame["prediction"]).astype(int))[
        :400
    ]
    costs = [frame.loc[frame["group"] == name, "wrong"] for name in ("a", "b")]
    expected = fairlib.disparity_interval(*costs, method=method)
    counted = tables.costs(
        held_by(frame[["group", "wrong"]]),
        cost="wrong",
        group="group",
        between=("a", "b"),
    )
    found = fairlib.disparity_interval(*counted, method=method)
    ends = expected.estimate, expected.low, expected.high
    assert (found.estimate, found.low, found.high) == pytest.approx(ends, abs=1e-12)


def test_missing_values_are_named(held_by, frame):
    lacking = frame.assign(label=frame["label"].where(frame.index > 4, None))
    with pytest.raises(ValueError, match=r"column 'label' has 5 missing value\(s\)"):
        fairlib.measure(held_by(lacking))


def test_dask_is_read_without_the_announcement_of_narwhals(frame, monkeypatch):
    """Since 2.29 narwhals announces a package of its own for Dask at every call."""
    dask = pytest.importorskip("dask.dataframe")
    from_native = nw.from_native

    def announcing(table):
        warnings.warn("Dask support is moving out of Narwhals", FutureWarning, 2)
        return from_native(table)

    monkeypatch.setattr(nw, "from_native", announcing)
    parts = dask.from_pandas(frame, npartitions=2)
    assert "group" in tables.opening.schema(parts)


def test_a_narwhals_that_no_longer_reads_dask_is_named(frame, monkeypatch):
    dask = pytest.importorskip("dask.dataframe")

    def unable(table):
        raise TypeError(f"unsupported: {type(table)}")

    monkeypatch.setattr(nw, "from_native", unable)
    with pytest.raises(ValueError, match="run pip install narwhals-dask"):
        fairlib.measure(dask.from_pandas(frame, npartitions=2))
    with pytest.raises(ValueError, match="must be a frame that narwhals knows"):
        fairlib.measure(dask.from_pandas(frame, npartitions=2)["group"])


@pytest.mark.slow
def test_a_cluster_of_dask_workers(frame):
    """Real worker processes, each of which counts its own parts."""
    distributed, dask = (
        pytest.importorskip("distributed"),
        pytest.importorskip("dask.dataframe"),
    )
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        assert len(client.scheduler_info()["workers"]) == 2
        parts = dask.from_pandas(frame, npartitions=8)
        same(fairlib.measure(parts), fairlib.measure(frame))
        how = {"group": "group", "label": "label", "prediction": "prediction"}
        same(
            fairlib.audit(parts, **how).to_frame(),
            fairlib.audit(frame, **how).to_frame(),
        )


@pytest.mark.slow
def test_a_file_larger_than_the_memory_that_duckdb_may_take(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path, limit, n = tmp_path / "large.parquet", 64, 10_000_000
    engine = duckdb.connect(
        config={
            "memory_limit": f"{limit}MB",
            "threads": 1,
            "temp_directory": str(tmp_path),
        }
    )
    engine.sql(f"""
        COPY (
            SELECT i % 7 AS "group", i % 2 AS label, hash(i) % 3 = 0 AS hit,
                   hash(i) / 18446744073709551616 AS p_1
            FROM range({n}) AS rows(i)
        ) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 50000)""")
    assert path.stat().st_size > limit * 2**20
    rows = engine.sql(
        "SELECT *, CASE WHEN hit THEN label ELSE 1 - label END AS prediction "
        f"FROM read_parquet('{path}')"
    )
    found = fairlib.measure(rows, ["TPRGap", "AvgGF"], bins=100)
    assert tables.counts(rows, ["group"])[tables.COUNT].sum() == n
    direct = engine.sql(
        'SELECT "group", avg(hit::INT) AS rate FROM rows WHERE label = 1 GROUP BY 1'
    ).df()["rate"]
    expected = np.abs(np.subtract.outer(*[direct.to_numpy()] * 2)).sum() / (7 * 6)
    value = found.query(
        "metric == 'TPRGap' and `class` == 1 and group == 'accumulated'"
    )["value"].item()
    assert value == pytest.approx(expected, abs=1e-12)
