"""Read the logs that evaluation programs write, one row for each answer.

Three forms are known: the ``.eval`` and ``.json`` logs of Inspect, the
``samples_*.jsonl`` files of lm-evaluation-harness, and the per-item lines of the
schema "Every Eval Ever" (``.jsonl``). A log rarely says which items form a pair or come
from one template. What it says of an item (Inspect's metadata, the harness's document)
becomes columns, so that they can be named as group, pair or cluster.
"""

import io
import json
import struct
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow
from pandas import DataFrame

SUFFIXES = (".eval", ".json", ".jsonl")
_ZSTANDARD = 93  # the number of this compression in zip files
_SIZE_OF_HEADER = 30  # bytes before the name of a member of a zip file
REFUSED = "refused"
UNREADABLE = "unreadable"
# What Inspect's scorers write for correct, incorrect, partly correct and no answer
_INSPECT_WORDS: dict[str, float | str] = {
    "C": 1.0,
    "I": 0.0,
    "P": 0.5,
    "N": REFUSED,
}
# What the harness writes about every answer that is no metric
_HARNESS_FIELDS = frozenset(
    [
        "doc_id",
        "doc",
        "target",
        "arguments",
        "resps",
        "filtered_resps",
        "filter",
        "metrics",
        "doc_hash",
        "prompt_hash",
        "target_hash",
    ]
)

_OPTIONS_OF_BBQ = ("ans0", "ans1", "ans2")

Record = dict[str, Any]


def read_log(path: str | Path) -> DataFrame:
    """Return the answers in a log of an evaluation program.

    Parameters
    ----------
    path : str or Path
        A file that ends in ``.eval``, ``.json`` or ``.jsonl``.

    Returns
    -------
    DataFrame
        One row for each answer, with the column item, and what the log says of the
        items. If there is one metric, the column outcome has it; with several, each has
        a column of its own. An outcome is a number, "refused" or "unreadable". An item
        that was asked several times has several rows.

    Raises
    ------
    ValueError
        If the file does not exist, has another form, or has no answer.
    """
    log = Path(path)
    if not log.is_file():
        raise ValueError(f"predictions {str(log)!r} does not exist")
    try:
        records = list(_records(log))
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"predictions {str(log)!r} is not a log that can be read: {error}"
        ) from None
    if not records:
        raise ValueError(f"predictions {str(log)!r} must have an answer, found none")

    # An answer that failed has no score at all, but the other answers name the metrics.
    metrics = list(dict.fromkeys(name for one in records for name in one["scores"]))
    return DataFrame([_row(record, metrics or ["outcome"]) for record in records])


def _records(log: Path) -> Iterator[Record]:
    """Return one record for each answer: item, scores by metric, and what is known."""
    if log.suffix == ".eval":
        with zipfile.ZipFile(log) as archive:
            members = [one for one in archive.infolist() if _is_sample(one.filename)]
            for member in members:
                yield _of_inspect(json.loads(_content(archive, log, member)))
        return

    text = log.read_text(encoding="utf-8")
    if log.suffix == ".json":
        for sample in json.loads(text)["samples"]:
            yield _of_inspect(sample)
        return

    for line in text.splitlines():
        if line.strip():
            yield _of_line(json.loads(line))


def _content(archive: zipfile.ZipFile, log: Path, member: zipfile.ZipInfo) -> bytes:
    """Return a member of an archive.

    Inspect compresses its logs with Zstandard, which `zipfile` reads only from Python
    3.14 on. So we find the bytes of the member ourselves.
    """
    if member.compress_type != _ZSTANDARD:
        return archive.read(member)

    with log.open("rb") as file:
        file.seek(member.header_offset)
        header = file.read(_SIZE_OF_HEADER)
        # The last two numbers of a header are the lengths of what follows it.
        of_name, of_extra = struct.unpack("<HH", header[-4:])
        file.seek(of_name + of_extra, io.SEEK_CUR)
        compressed = file.read(member.compress_size)
    with pyarrow.CompressedInputStream(pyarrow.BufferReader(compressed), "zstd") as one:
        return one.read()


def _is_sample(name: str) -> bool:
    """Return whether a member of an Inspect log is the record of an answer."""
    return name.startswith("samples/") and name.endswith(".json")


def _of_line(line: Record) -> Record:
    """Return a record of the harness or of the shared schema."""
    if "doc_id" in line:
        return _of_harness(line)
    if "sample_id" in line and "evaluation" in line:
        return _of_shared_schema(line)
    raise KeyError("a line must have doc_id, or sample_id and evaluation")


def _of_inspect(sample: Record) -> Record:
    """Return a sample of Inspect; several epochs are several answers to one item."""
    of_sample = sample.get("scores") or {}
    scores = {name: _inspect_value(score) for name, score in of_sample.items()}
    known = _scalars(sample.get("metadata") or {})
    if len(of_sample) == 1:
        # With one scorer, there is one answer that it found.
        (score,) = of_sample.values()
        known |= _scalars({"answer": score.get("answer")})

    return {
        "item": str(sample["id"]),
        "scores": scores,
        "is_failed": bool(sample.get("error")),
        "known": known,
    }


def _inspect_value(score: Record) -> object:
    """Return the value of a score, with Inspect's letters as numbers.

    A scorer that finds no answer in what the model wrote counts it as wrong, and notes
    an empty answer. Here it is an answer that cannot be read.
    """
    value = score["value"]
    if score.get("answer") == "":
        return UNREADABLE
    if isinstance(value, str):
        return _INSPECT_WORDS.get(value, value)
    return value


def _of_harness(line: Record) -> Record:
    """Return a line of lm-evaluation-harness."""
    named = line.get("metrics")
    metrics = named or [name for name in line if name not in _HARNESS_FIELDS]
    document = line.get("doc")
    known = _scalars(document if isinstance(document, Mapping) else {})
    return {
        "item": str(line["doc_id"]),
        "scores": {name: line[name] for name in metrics if name in line},
        "is_failed": False,
        "known": known | _option_of_bbq(line) | {"filter": line.get("filter")},
    }


def _option_of_bbq(line: Record) -> Record:
    """Return which option of a question of BBQ is the likeliest, as its number.

    The harness replaces the option "unknown" by several wordings, so that the place of
    a choice is not the number of an option.
    """
    document = line.get("doc")
    choices = line.get("filtered_resps")
    if not isinstance(document, Mapping) or not {*_OPTIONS_OF_BBQ} <= {*document}:
        return {}
    if not choices or not all(isinstance(choice, list) for choice in choices):
        return {}  # a text, from which the harness read no option

    likelihoods = [float(choice[0]) for choice in choices]
    place = likelihoods.index(max(likelihoods))
    chosen = str(line["arguments"][f"gen_args_{place}"]["arg_1"]).strip()
    texts = [document[name].strip() for name in _OPTIONS_OF_BBQ]
    if chosen in texts:
        return {"answer": str(texts.index(chosen))}
    kinds = [document["answer_info"][name][1] for name in _OPTIONS_OF_BBQ]
    return {"answer": str(kinds.index("unknown"))}


def _of_shared_schema(line: Record) -> Record:
    """Return a line of the schema "Every Eval Ever"."""
    return {
        "item": str(line["sample_id"]),
        "scores": {"score": line["evaluation"]["score"]},
        "is_failed": bool(line.get("error")),
        "known": _scalars(line.get("metadata") or {}),
    }


def _scalars(known: Mapping[str, object]) -> Record:
    """Return what can be a column: words and numbers, no lists."""
    return {
        str(name): value
        for name, value in known.items()
        if isinstance(value, str | int | float | bool)
    }


def _row(record: Record, metrics: list[str]) -> Record:
    """Return a row of the table of answers."""
    columns = metrics if len(metrics) > 1 else ["outcome"]
    outcomes = {
        column: _outcome(record, metric)
        for column, metric in zip(columns, metrics, strict=True)
    }
    taken = {"item", *columns}
    known = {
        name: value
        for name, value in record["known"].items()
        if value is not None and name not in taken
    }
    return {"item": record["item"]} | outcomes | known


def _outcome(record: Record, metric: str) -> float | str:
    """Return the outcome of an answer, or why it has none."""
    value = record["scores"].get(metric)
    if record["is_failed"] or value is None:
        return UNREADABLE
    if value == REFUSED:
        return REFUSED
    if isinstance(value, int | float) and not pd.isna(value):
        return float(value)
    return UNREADABLE
