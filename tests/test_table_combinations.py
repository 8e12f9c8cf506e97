"""Combinations that are counted by codes are those that a loop finds."""

import datetime
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from fairlib import tables
from fairlib.tables import combinations
from fairlib.tables.delimited import Delimited

ROWS = 400
WORDS = np.array(["a", "b b", "", "é", "a very long word", "0"])
LETTERS = np.array(list("01xyz "))


def columns_of_every_kind(rng):
    """Return columns by name: of numbers, words, categories, dates and objects."""
    code = rng.integers(6, size=ROWS)
    is_missing = rng.random(ROWS) < 0.2
    dates = [datetime.date(2020, 1, 1 + day) for day in code]
    return {
        "whole": pd.Series(code - 2),
        "small": pd.Series(rng.integers(-128, 128, size=ROWS).astype("int8")),
        "huge": pd.Series(np.uint64(2**64 - 1) - code.astype("uint64")),
        "far": pd.Series(rng.choice([-(2**63), 2**63 - 1, 0], size=ROWS)),
        "truth": pd.Series(code > 2),
        "fraction": pd.Series(code / 3),
        "zeros": pd.Series(rng.choice([0.0, -0.0, 1.0], size=ROWS)),
        "holes": pd.Series(code / 3).mask(is_missing),
        "words": pd.Series(WORDS[code]).mask(is_missing),
        "letters": pd.Series(LETTERS[code]),
        "objects": pd.Series(WORDS[code], dtype=object).mask(is_missing, None),
        "mixed": pd.Series([[1, "1", 2.5, None, "b", "c"][i] for i in code]),
        "categories": pd.Series(pd.Categorical(WORDS[code])).mask(is_missing),
        "many": pd.Series(pd.Categorical(rng.integers(300, size=ROWS), range(300))),
        "nullable": pd.Series(code, dtype="Int64").mask(is_missing),
        "maybe": pd.Series(code > 2, dtype="boolean").mask(is_missing),
        "moments": pd.Series(pd.to_datetime(dates)),
        "distinct": pd.Series(rng.permutation(ROWS) * 10**6),
    }


def by_loop(frame):
    """Return how often each row occurs; all missing values are alike."""
    return Counter(
        tuple("missing" if pd.isna(value) else value for value in row)
        for row in frame.itertuples(index=False)
    )


def by_tables(table, names):
    cells = tables.counts(table, names)
    found = Counter()
    for key, count in zip(
        cells[names].itertuples(index=False), cells[tables.COUNT], strict=True
    ):
        found[tuple("missing" if pd.isna(value) else value for value in key)] += count
    return found


@pytest.fixture(scope="module")
def frames():
    """Return frames of one to four random columns, and one frame of each column."""
    rng = np.random.default_rng(0)
    columns = columns_of_every_kind(rng)
    choices = [[name] for name in columns]
    choices += [
        list(rng.choice(list(columns), size=size, replace=False))
        for size in (2, 3, 4)
        for _ in range(6)
    ]
    return [pd.DataFrame({name: columns[name] for name in names}) for names in choices]


def test_cells_of_a_frame_are_those_of_a_loop_in_the_order_of_their_first_rows(frames):
    for frame in frames:
        shuffled = frame.sample(frac=1, random_state=1)
        names = list(frame)
        assert by_tables(shuffled, names) == by_loop(shuffled)

        cells = tables.counts(shuffled, names)[names]
        assert list(by_loop(cells)) == list(by_loop(shuffled))


def test_arrow_and_parquet_files_have_the_same_cells(frames, tmp_path):
    for frame in frames:
        if "mixed" in frame:
            continue
        names = list(frame)
        table = pa.Table.from_pandas(frame, preserve_index=False)
        assert by_tables(table, names) == by_loop(frame)

        chunks = pa.concat_tables([table.slice(0, 100), table.slice(100)])
        assert by_tables(chunks, names) == by_loop(frame)

        parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=150)
        assert by_tables(tmp_path / "rows.parquet", names) == by_loop(frame)


def test_words_of_a_csv_are_tidied_up_however_they_are_counted(tmp_path):
    rng = np.random.default_rng(0)
    groups = rng.choice(["a", " a", "a ", "b", "", "  ", "c"], size=ROWS)
    letters = rng.choice(list("01 x"), size=ROWS)
    frame = pd.DataFrame({"group": groups, "letter": letters})
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)

    tidy = frame.apply(lambda column: column.str.strip()).replace("", None)
    assert by_tables(Delimited(path), ["group", "letter"]) == by_loop(tidy)
    rows = tables.rows(Delimited(path), ["group", "letter"])
    assert by_loop(rows) == by_loop(tidy)


def test_a_letter_of_another_encoding_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"group\n\xe9\n\xe8\n")
    with pytest.raises(ValueError, match=r"is no UTF-8 table separated by ','"):
        tables.counts(Delimited(path), ["group"])
    with pytest.raises(ValueError, match=r"is no UTF-8 table separated by ','"):
        tables.rows(Delimited(path), ["group"])


def test_a_long_first_row_does_not_hide_the_names_of_columns(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(f"group,text\na,{'x' * 200_000}\n")
    assert Delimited(path).schema.names == ["group", "text"]


def test_few_combinations_need_no_look_up_of_rows(monkeypatch):
    """Only the first rows are searched for combinations, if they have them all."""
    searched = []
    unique = pd.unique

    def counted(values):
        searched.append(len(values))
        return unique(values)

    monkeypatch.setattr(combinations.pd, "unique", counted)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.integers(10, size=200_000) for name in "ab"})
    assert len(tables.counts(frame, ["a", "b"])) == 100
    assert sum(searched) < 10_000


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int32", "int64", "uint64"])
@pytest.mark.parametrize("width", [1, 127, 128, 255, 256, 65_535, 65_536])
def test_whole_numbers_at_the_ends_of_their_type_are_themselves(kind, width):
    limits = np.iinfo(kind)
    for lowest in (int(limits.min), int(limits.max) - width):
        highest = lowest + width
        if not limits.min <= lowest < highest <= limits.max:
            continue
        numbers = np.array([highest, lowest, highest, lowest + 1], dtype=kind)
        cells = tables.counts(pd.DataFrame({"number": numbers}), ["number"])
        assert cells["number"].tolist() == list(dict.fromkeys(numbers.tolist()))
        assert cells["number"].dtype == kind
