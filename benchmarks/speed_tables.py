"""How fast tables are counted and read, beside queries that are written by hand."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as arrow_parquet
from speed_frame import Case, best, memory, seconds

import fairlib
from fairlib import tables
from fairlib.tables.delimited import Delimited

GROUPS = 10
REPLICATES = 1000
FILES = 12
NAMES = ["group", "label", "prediction"]
KINDS = ("whole numbers", "categories", "words")
WORDS = np.array([f"group {number}" for number in range(GROUPS)])
# The gaps between groups in four rates: accuracy, selection, true and false positives
FOUR = ["ParityGap (accuracy)", "ParityGap", "TPRGap", "TNRGap"]

_QUERY = 'SELECT "group", label, prediction, count(*) FROM {} GROUP BY ALL'
_KNOWS_THE_CODES = (
    "the code takes for granted that groups are numbered from 0 to 9, that classes are "
    "0 and 1, and that no value is missing. We look at every column first."
)

duckdb.sql("SET threads = 1")


def predictions(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ten groups, a label and a prediction.

    It is wrong a little more often from group to group.
    """
    rng = np.random.default_rng(n)
    group = rng.integers(GROUPS, size=n)
    label = rng.random(n) < 0.4
    wrong = rng.random(n) < 0.1 + 0.01 * group
    return group, label, label ^ wrong


# --- counting a frame of pandas ---


def counting(n: int = 1_000_000) -> Iterator[Case]:
    """Count groups x labels x predictions, in columns of several kinds."""
    for kind in KINDS:
        frame = frame_with_groups(kind, n)
        expected = sorted(_counts_by_polars(frame)["len"])
        assert sorted(tables.counts(frame, NAMES)[tables.COUNT]) == expected

        peers: dict[str, Callable] = {
            "polars": _counts_by_polars,
            "DuckDB": _counts_by_duckdb,
            "pandas `groupby`": _counts_by_pandas,
        }
        peer, theirs = best(
            {name: partial(counts, frame) for name, counts in peers.items()}
        )
        case = Case(
            question=f"counting 10 × 2 × 2 cells of a pandas frame, {kind}",
            n=n,
            ours=seconds(tables.counts, frame, NAMES),
            memory=_memory_of_a_new_process(_counts_by_fairlib, kind=kind, n=n),
            peer=peer,
            theirs=theirs,
            peer_memory=_memory_of_a_new_process(peers[peer], kind=kind, n=n),
            reason="a part of our time does not depend on the number of rows.",
        )
        yield case
        if kind == "whole numbers":
            yield case._replace(
                peer="NumPy by hand",
                theirs=seconds(_counts_by_numpy, frame),
                peer_memory=_memory_of_a_new_process(_counts_by_numpy, kind=kind, n=n),
                reason=_KNOWS_THE_CODES,
            )


def frame_with_groups(kind: str, n: int) -> pd.DataFrame:
    """Return predictions whose groups are numbers, categories or words."""
    group, label, prediction = predictions(n)
    if kind == "whole numbers":
        column = group
    elif kind == "categories":
        column = pd.Categorical.from_codes(group, WORDS)
    else:
        column = WORDS[group]
    return pd.DataFrame({"group": column, "label": label, "prediction": prediction})


def _counts_by_fairlib(frame: pd.DataFrame) -> pd.DataFrame:
    return tables.counts(frame, NAMES)


def _counts_by_polars(frame: pd.DataFrame) -> pl.DataFrame:
    return pl.from_pandas(frame).group_by(NAMES).len()


def _counts_by_duckdb(frame: pd.DataFrame) -> pd.DataFrame:
    return duckdb.sql(_QUERY.format("frame")).df()


def _counts_by_pandas(frame: pd.DataFrame) -> pd.Series:
    return frame.groupby(NAMES, observed=True).size()


def _counts_by_numpy(frame: pd.DataFrame) -> np.ndarray:
    """Return the counts as an array of groups x labels x predictions."""
    group, label, prediction = (frame[name].to_numpy() for name in NAMES)
    code = (group * 2 + label) * 2 + prediction
    return np.bincount(code, minlength=4 * GROUPS).reshape(GROUPS, 2, 2)


# --- four rates of ten groups ---


def rates(n: int = 1_000_000) -> Iterator[Case]:
    """Measure four gaps of ten groups, and draw them again 1,000 times."""
    columns = [column.astype(int) for column in predictions(n)]
    frame = pd.DataFrame(dict(zip(NAMES, columns, strict=True)))
    measured = fairlib.measure(frame, FOUR, classes=[1])
    gaps = measured.query("group == 'accumulated'")["value"]
    expected = _gaps(_counts_by_numpy(frame))
    np.testing.assert_allclose(gaps, expected, rtol=0, atol=1e-12)

    measure = partial(fairlib.measure, frame, FOUR, classes=[1])
    case = Case(
        question="four gaps between ten groups of a pandas frame",
        n=n,
        ours=seconds(measure),
        memory=memory(measure),
        peer="polars by hand",
        theirs=seconds(_gaps_by_polars, frame),
        peer_memory=_memory_of_a_new_process(_gaps_by_polars, kind=KINDS[0], n=n),
        reason="a part of our time does not depend on the number of rows.",
    )
    yield case
    yield case._replace(
        peer="NumPy by hand",
        theirs=seconds(lambda: _gaps(_counts_by_numpy(frame))),
        peer_memory=memory(_counts_by_numpy, frame),
        reason=_KNOWS_THE_CODES,
    )

    measure = partial(measure, replicates=REPLICATES)
    yield Case(
        question=f"the same with {REPLICATES:,} replicates: intervals, nulls and p",
        n=n,
        ours=seconds(measure),
        memory=memory(measure),
        peer="NumPy `multinomial` by hand, intervals only",
        theirs=seconds(_interval_by_multinomial, frame),
        peer_memory=memory(_interval_by_multinomial, frame),
        other_algorithm=True,
        reason="it draws for the intervals alone. We draw as many tables for the "
        "null too, in which groups exchange their cases within labels and the "
        "margins of each table stay fixed, and we give every group a row.",
    )


def _gaps(counts: np.ndarray) -> np.ndarray:
    """Return the mean distances of pairs of groups in accuracy and three rates."""
    (true_negative, false_positive), (false_negative, true_positive) = np.moveaxis(
        counts.astype(float), (-2, -1), (0, 1)
    )
    total = counts.sum(axis=(-2, -1))
    of_groups = np.stack(
        [
            (true_positive + true_negative) / total,
            (true_positive + false_positive) / total,
            true_positive / (true_positive + false_negative),
            true_negative / (true_negative + false_positive),
        ]
    )
    first, second = np.triu_indices(GROUPS, 1)
    return np.abs(of_groups[..., first] - of_groups[..., second]).mean(axis=-1)


def _gaps_by_polars(frame: pd.DataFrame) -> np.ndarray:
    counted = _counts_by_polars(frame).sort(NAMES)["len"].to_numpy()
    return _gaps(counted.reshape(GROUPS, 2, 2))


def _interval_by_multinomial(frame: pd.DataFrame) -> np.ndarray:
    counts = _counts_by_numpy(frame)
    shares = counts.ravel() / counts.sum()
    drawn = np.random.default_rng(0).multinomial(counts.sum(), shares, REPLICATES)
    gaps = _gaps(drawn.reshape(REPLICATES, GROUPS, 2, 2))
    return np.quantile(gaps, [0.025, 0.975], axis=-1)


# --- files ---


def parquet(n: int = 12_000_000) -> Iterator[Case]:
    """Count a folder of Parquet files by its path."""
    with TemporaryDirectory() as folder:
        for number in range(FILES):
            table = _table_of_words(n // FILES, seed=number)
            arrow_parquet.write_table(table, Path(folder, f"{number}.parquet"))
        yield _of_files(
            "counting a folder of 12 Parquet files by its path",
            n // FILES * FILES,
            folder,
            {
                "fairlib": read_parquet,
                "DuckDB": parquet_by_duckdb,
                "polars": parquet_by_polars,
            },
        )


def csv(n: int = 5_000_000) -> Iterator[Case]:
    """Count a CSV file (about 100 MB)."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "predictions.csv")
        table = _table_of_words(n, seed=0).drop_columns("score")
        table = table.add_column(0, "id", [np.arange(n)])
        arrow_csv.write_csv(table, path)
        yield _of_files(
            "counting a CSV file",
            n,
            str(path),
            {"fairlib": read_csv, "DuckDB": csv_by_duckdb, "polars": csv_by_polars},
        )


def _table_of_words(n: int, *, seed: int) -> pa.Table:
    """Return predictions with groups that are words, and a score."""
    group, label, prediction = predictions(n)
    score = np.random.default_rng(seed).random(n, dtype=np.float32)
    words = pa.array(WORDS).take(pa.array(group))
    return pa.table(
        {
            "group": words,
            "label": label.astype(int),
            "prediction": prediction.astype(int),
            "score": score,
        }
    )


def _of_files(
    question: str, n: int, path: str, readers: dict[str, Callable[[str], list[int]]]
) -> Case:
    """Return the case of reading files, with the memory that a new process needs."""
    first, *others = readers.values()
    for other in others:
        assert other(path) == first(path)

    calls = {name: partial(reader, path) for name, reader in readers.items()}
    ours = seconds(calls.pop("fairlib"))
    peer, theirs = best(calls)
    return Case(
        question=question,
        n=n,
        ours=ours,
        memory=_memory_of_a_new_process(first, path=path),
        peer=peer,
        theirs=theirs,
        peer_memory=_memory_of_a_new_process(readers[peer], path=path),
        reason="it reads and counts inside one compiled engine, a page at a time. We "
        "read batches by Arrow and count them by NumPy. A CSV file is text to us, "
        "because a class `01` is no number.",
    )


def read_parquet(path: str) -> list[int]:
    """Return the sorted counts of a folder, by fairlib."""
    return sorted(tables.counts(path, NAMES)[tables.COUNT])


def parquet_by_duckdb(path: str) -> list[int]:
    """Return the sorted counts of a folder, by DuckDB."""
    return _sorted_counts(_QUERY.format(f"'{path}/*.parquet'"))


def parquet_by_polars(path: str) -> list[int]:
    """Return the sorted counts of a folder, by polars."""
    cells = pl.scan_parquet(f"{path}/*.parquet").group_by(NAMES).len().collect()
    return sorted(cells["len"])


def read_csv(path: str) -> list[int]:
    """Return the sorted counts of a CSV file, by fairlib."""
    return sorted(tables.counts(Delimited(path), NAMES)[tables.COUNT])


def csv_by_duckdb(path: str) -> list[int]:
    """Return the sorted counts of a CSV file, by DuckDB."""
    return _sorted_counts(_QUERY.format(f"'{path}'"))


def csv_by_polars(path: str) -> list[int]:
    """Return the sorted counts of a CSV file, by polars."""
    return sorted(pl.scan_csv(path).group_by(NAMES).len().collect()["len"])


def _sorted_counts(query: str) -> list[int]:
    return sorted(row[-1] for row in duckdb.sql(query).fetchall())


def _memory_of_a_new_process(
    function: Callable, *, path: str = "", kind: str = "", n: int = 0
) -> float:
    """Return by how many bytes a new process grows while it counts files or a frame."""
    options = {"path": path, "kind": kind, "n": n}
    code = (
        "import speed_tables; "
        f"speed_tables.print_growth({function.__name__!r}, **{options!r})"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(answer.stdout)


def print_growth(function: str, *, path: str, kind: str, n: int) -> None:
    """Print by how many bytes this process grows while it counts files or a frame."""
    counts = globals()[function]
    source = path or frame_with_groups(kind, n)
    if kind:
        # What is imported at the first call is not what the rows need.
        counts(source.head(10_000))

    # Linux forgets the largest size so far, for what came before was larger.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = _largest_size()
    counts(source)
    print(_largest_size() - before)


def _largest_size() -> int:
    """Return the most bytes that this process has held at a time (on Linux)."""
    # What `resource` tells includes the size of the process that started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    lines = dict(line.split(":", 1) for line in status.splitlines())
    return int(lines["VmHWM"].split()[0]) * 1024


QUESTIONS = (counting, rates, parquet, csv)
