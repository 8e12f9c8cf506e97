"""What is run, on which data: every question has costs, ours and the peers', and a check that their results agree."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import peers
from peers import GROUPS, NAMES
from timing import Cost, cost, scaled

from fairlib import amplification, measure, resampling, tables

SIZES = (10_000, 100_000, 1_000_000)
MANY = 10_000_000
KINDS = ("one byte", "categories", "words", "int64")  # of columns that are counted
FOUR = ["ParityGap (accuracy)", "ParityGap", "TPRGap", "TNRGap"]  # the gaps between groups in the rates of `peers`
REPLICATES = 1000
TASKS = 66
WHOLE = {"uint8": np.uint8, "bool": np.bool_, "int64": np.int64}  # types that hold 0 and 1
LONGEST = 30.0  # seconds that a single case may take
AGREE = {"rtol": 0, "atol": 1e-12}


def predictions(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ten groups, a label, and a prediction that is wrong a little more often from group to group."""
    rng = np.random.default_rng(n)
    group, label = rng.integers(GROUPS, size=n), rng.random(n) < 0.4
    return group, label, label ^ (rng.random(n) < 0.1 + 0.01 * group)


def frame_of(kind: str, group: np.ndarray, label: np.ndarray, prediction: np.ndarray) -> pd.DataFrame:
    """Return the data in columns of one kind: the group in words or categories has two flags beside it."""
    names = np.array([f"group {g}" for g in range(GROUPS)])
    group = {
        "one byte": lambda: group.astype(np.int8),
        "categories": lambda: pd.Categorical.from_codes(group, names),
        "words": lambda: names[group],
        "int64": lambda: group,
    }[kind]()
    flags = {"label": label, "prediction": prediction}
    if kind == "int64":
        flags = {name: values.astype(np.int64) for name, values in flags.items()}
    return pd.DataFrame({"group": group} | flags)


def as_array(counted: pd.DataFrame) -> np.ndarray:
    """Return counts of groups x labels x predictions from a table of counts."""
    group = counted["group"]
    if not pd.api.types.is_integer_dtype(group.dtype):
        group = group.astype(str).str.removeprefix("group ").astype(int)
    array = np.zeros((GROUPS, 2, 2), dtype=np.int64)
    array[group, counted["label"].astype(int), counted["prediction"].astype(int)] = counted[tables.COUNT]
    return array


def rates(counts: np.ndarray) -> np.ndarray:
    """Return replicates x groups x four rates, in the order of `peers.RATES`."""
    (true_negative, false_positive), (false_negative, true_positive) = np.moveaxis(counts, (2, 3), (0, 1))
    negative, positive = true_negative + false_positive, false_negative + true_positive
    both = positive + negative
    found = (true_positive + true_negative) / both, (true_positive + false_positive) / both
    return np.stack([*found, true_positive / positive, false_positive / negative], axis=-1)


# --- 1. Counting ------------------------------------------------------------------------------------------------------


def _by_expert(frame: pd.DataFrame) -> np.ndarray:
    group = frame["group"]
    if isinstance(group.dtype, pd.CategoricalDtype):
        group = group.cat.codes
    codes = group.to_numpy() if pd.api.types.is_integer_dtype(group.dtype) else pd.factorize(group)[0]
    return peers.packed(codes, frame["label"].to_numpy(), frame["prediction"].to_numpy())


def counting(n: int, kind: str) -> dict[str, Cost]:
    """Count groups x labels x predictions of n rows, in columns of one kind."""
    columns = predictions(n)
    code = np.ravel_multi_index([column.astype(np.int64) for column in columns], (GROUPS, 2, 2))
    frame = frame_of(kind, *columns)
    size = int(frame.memory_usage(index=False, deep=True).sum())
    found = {
        "ours": cost(lambda: tables.counts(frame, NAMES)),
        "bincount": cost(lambda: np.bincount(code, minlength=4 * GROUPS)),
        "expert": cost(lambda: _by_expert(frame)),
        "pandas": cost(lambda: peers.group_by(frame)),
        "read": cost(np.sum, prepare=lambda: (np.ones(size // 8, dtype=np.int64),)),
    }
    np.testing.assert_array_equal(as_array(found["ours"].value).ravel(), found["bincount"].value)
    assert sorted(found["expert"].value) == sorted(found["bincount"].value)
    assert found["pandas"].value.sum() == n
    return found


def engines(n: int) -> dict[str, dict[str, Cost]]:
    """Count rows that other engines hold: through `tables.counts`, and as one would ask the engine itself."""
    columns = dict(zip(NAMES, predictions(n), strict=True))

    def polars():
        import polars

        frame = polars.DataFrame(columns)
        return frame, lambda frame: frame.group_by(NAMES).len()

    def arrow():
        import pyarrow

        frame = pyarrow.table(columns)
        return frame, lambda frame: frame.group_by(NAMES).aggregate([([], "count_all")])

    def duckdb():
        import duckdb

        columns = '"group", label, prediction, count(*)'
        return duckdb.from_arrow(arrow()[0]), lambda relation: relation.aggregate(columns).fetchall()

    found, clock = {}, time.perf_counter  # the time on the wall, for they use several threads
    for name, engine in {"polars": polars, "Arrow": arrow, "DuckDB": duckdb}.items():
        found[name] = {
            "ours": cost(lambda frame, _: tables.counts(frame, NAMES), prepare=engine, clock=clock),
            "own": cost(lambda frame, group_by: len(group_by(frame)), prepare=engine, clock=clock),
        }
        assert found[name]["ours"].value[tables.COUNT].sum() == n and found[name]["own"].value == 4 * GROUPS
    return found


# --- 2, 3. Four metrics in ten groups, and how sure one is of them ----------------------------------------------------


def four_metrics(n: int) -> dict[str, Cost]:
    """Return what four metrics cost, and check that fairlearn's rates give the same gaps."""
    frame = frame_of("int64", *predictions(n))
    found = {
        "measure": cost(lambda: measure(frame, FOUR, classes=[1])),
        "count": cost(lambda: tables.counts(frame, NAMES)),
        "counts and rates": cost(lambda: rates(as_array(tables.counts(frame, NAMES))[None])[0]),
        "fairlearn": cost(lambda: peers.metric_frame(frame)),
    }
    theirs = found["fairlearn"].value
    np.testing.assert_allclose(found["counts and rates"].value, theirs, **AGREE)
    gaps = found["measure"].value.query("group == 'accumulated'")["value"]
    first, second = np.triu_indices(GROUPS, 1)
    np.testing.assert_allclose(gaps, np.abs(theirs[first] - theirs[second]).mean(axis=0), **AGREE)
    return found


def resampled(n: int, plain: dict[str, Cost], fewer: dict[str, Cost] | None) -> dict[str, Cost]:
    """Return what 1,000 replicates cost. `plain`: of `four_metrics(n)`; `fewer`: of this for n / 10, if there."""
    columns = predictions(n)
    frame = frame_of("int64", *columns)
    counted = plain["count"].value
    counts = as_array(counted)
    fairlearn = plain["fairlearn"]
    run = 10 if n <= SIZES[0] else 2
    if (1 + run) * fairlearn.seconds < LONGEST:
        few = cost(lambda: peers.metric_frame(frame, replicates=run), repeats=1)
        fairlearn = scaled(few, fairlearn, run=run, wanted=REPLICATES, unit="replicates")
    else:
        few = fewer["fairlearn"]
        fairlearn = Cost(10 * few.seconds, extrapolated=f"{few.extrapolated} at n = {n // 10:,}")
    right = columns[1] == columns[2]
    first, second = right[columns[0] < GROUPS // 2], right[columns[0] >= GROUPS // 2]
    halves = np.array([[half.sum(), (~half).sum()] for half in (first, second)])

    def difference(counts):
        share = counts[:, :, 0] / counts.sum(axis=2)
        return share[:, 0] - share[:, 1]

    run = min(REPLICATES, 50_000_000 // n)
    scipy = cost(lambda: peers.scipy_difference(first, second, resamples=run))
    if run < REPLICATES:
        scipy = scaled(scipy, Cost(0.0), run=run, wanted=REPLICATES, unit="resamples")
    once_more = {"resamples": REPLICATES, "rng": 0}
    found = {
        "count": plain["count"],
        "bootstrap": cost(lambda: resampling.bootstrap(counts, rates, **once_more)),
        "measure": cost(
            lambda: measure(counted, FOUR, classes=[1], count=tables.COUNT, replicates=REPLICATES), budget=3
        ),
        "fairlearn": fairlearn,
        "difference": cost(lambda: resampling.bootstrap(halves, difference, **once_more).ends()),
        "scipy": scipy,
    }
    for name in ("bootstrap", "measure"):
        found[f"count and {name}"] = Cost(found["count"].seconds + found[name].seconds)
    (low, high), theirs = found["difference"].value, scipy.value
    assert abs(low - theirs[0]) + abs(high - theirs[1]) < (high - low)  # no more than chance; the tests are strict
    return found


# --- 4. Bias amplification --------------------------------------------------------------------------------------------


def amplified(n: int, kind: str, fewer: dict[str, Cost] | None) -> dict[str, Cost]:
    """Measure BiasAmp A->T of two attributes and 66 tasks. `fewer`: of this for n / 10, if there."""
    rng = np.random.default_rng(n)
    woman = rng.random(n) < 0.4
    leaning = np.linspace(-0.05, 0.05, TASKS)
    task = rng.random((n, TASKS)) < 0.1 + leaning * np.where(woman, 1, -1)[:, None]
    predicted = task ^ (rng.random((n, TASKS)) < 0.05)
    arrays = tuple(array.astype(WHOLE[kind]) for array in (task, np.stack([woman, ~woman], axis=1), predicted))
    del task, predicted
    found = {
        "ours": cost(lambda: amplification.attribute_to_task(*arrays)),
        "pairs": cost(lambda: peers.loop_over_pairs(*arrays)),
    }
    agree = partial(np.testing.assert_allclose, found["ours"].value, **AGREE)
    agree(found["pairs"].value)
    if fewer is None:
        found["rows"] = cost(peers.loop_over_rows, prepare=lambda: tuple(array.tolist() for array in arrays))
        agree(found["rows"].value)
    else:
        found["rows"] = Cost(10 * fewer["rows"].seconds, extrapolated=f"n = {SIZES[0]:,}")
    return found


# --- 5. Memory --------------------------------------------------------------------------------------------------------


def replicates_in_memory() -> dict[str, dict[str, Cost]]:
    """Return what 1,000 and 10,000 replicates cost beside themselves: memory less that of the numbers returned."""
    counts = np.arange(1, 4 * GROUPS + 1).reshape(GROUPS, 2, 2)
    features = np.random.default_rng(0).random((20_000, 8))
    calls = {
        "`bootstrap(..., batch=250)`": partial(resampling.bootstrap, counts, rates, batch=250, rng=0),
        "`poisson_totals` of 20,000 rows": partial(resampling.poisson_totals, [features], rng=0),
    }
    found: dict[str, dict[str, Cost]] = {}
    for name, call in calls.items():
        for resamples in (1000, 10_000):
            whole = cost(partial(call, resamples=resamples))
            returned = getattr(whole.value, "replicates", whole.value).nbytes
            found.setdefault(name, {})[f"{resamples:,}"] = replace(whole, memory=whole.memory - returned)
    return found


def warm_up() -> None:
    """Run everything once that imports or compiles when it is first used, before processes are forked from here."""
    frame = frame_of("int64", *predictions(1000))
    measure(frame, FOUR, classes=[1], replicates=2)
    peers.metric_frame(frame, replicates=2)
    peers.scipy_difference(np.arange(9.0), np.arange(9.0), resamples=9)
