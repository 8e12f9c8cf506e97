"""Logs of evaluation programs are read as they are.

The logs are written here in the documented forms: Inspect's zip of samples (log version
2), the lines of lm-evaluation-harness (version 0.4), and "Every Eval Ever" (0.2). Logs
that inspect-ai 0.3.285 and lm-eval 0.4.13 wrote themselves were read in the same way.
"""

import json
import zipfile

import pyarrow
import pytest

import fairlib
from fairlib import atlas

MINE = {"name": "mine", "score": {"kind": "share", "fixed": 0.5}}


def inspect_samples():
    """Twenty items, asked twice; the last answers failed, were refused or are words."""
    for item in range(20):
        for epoch in (1, 2):
            yield {
                "id": item,
                "epoch": epoch,
                "scores": {"choice": {"value": "C" if item % 4 else "I"}},
                "metadata": {"template": item % 5, "words": ["a", "list"]},
            }
    base = {"epoch": 1, "metadata": {"template": 0}}
    yield base | {"id": 20, "scores": {}, "error": {"message": "timeout"}}
    yield base | {"id": 21, "scores": {"choice": {"value": "N"}}}
    yield base | {"id": 22, "scores": {"choice": {"value": "odd"}}}


@pytest.fixture(params=["eval", "json"])
def inspect_log(request, tmp_path):
    path = tmp_path / f"log.{request.param}"
    if request.param == "json":
        path.write_text(json.dumps({"version": 2, "samples": [*inspect_samples()]}))
        return path
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", "{}")
        for sample in inspect_samples():
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample))
    return path


def test_an_inspect_log_needs_no_conversion(inspect_log):
    report = fairlib.benchmark(MINE, inspect_log, columns={"cluster": "template"})
    assert report.counts["items"] == 23
    assert report.counts["items_with_several_answers"] == 20
    assert report.counts["refused"] == 1
    assert report.counts["unreadable"] == 2
    assert report.score.estimate == pytest.approx(15 / 20)
    assert report.dependence is not None


def compressed_as_inspect_does(archive, members):
    """Write a zip whose members are compressed with Zstandard."""
    codec = pyarrow.Codec("zstd")
    with zipfile.ZipFile(archive, "w") as file:
        for name, text in members.items():
            file.writestr(name, codec.compress(text.encode()).to_pybytes())
    content = bytearray(archive.read_bytes())
    # The compression is two bytes of both headers of a member: 93 is Zstandard.
    for signature, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        start = content.find(signature)
        while start >= 0:
            content[start + place] = 93
            start = content.find(signature, start + 1)
    archive.write_bytes(bytes(content))


def test_a_compressed_inspect_log_needs_no_other_program(tmp_path):
    path = tmp_path / "log.eval"
    members = {
        f"samples/{sample['id']}_epoch_{sample['epoch']}.json": json.dumps(sample)
        for sample in inspect_samples()
    }
    compressed_as_inspect_does(path, {"header.json": "{}"} | members)
    report = fairlib.benchmark(MINE, path, columns={"cluster": "template"})
    assert report.counts["items"] == 23
    assert report.score.estimate == pytest.approx(15 / 20)


def bbq_log(path, **of_score):
    """Write answers to six questions about age: the one that the stereotype names."""
    keys = fairlib.load("atlas_keys_bbq", source="bundled").iloc[::4][:60]
    options = keys[["outcome_0", "outcome_1", "outcome_2"]].to_numpy(int).argmax(axis=1)
    samples = []
    for item, option in zip(keys["item"], options, strict=True):
        score = {"value": "I", "answer": "ABC"[option]} | of_score
        category, number = item.split("/")
        samples.append(
            {
                "id": f"{category}_{int(number):05d}",
                "scores": {"choice": score},
                "metadata": {"category": category, "source_id": int(number)},
            }
        )
    samples[0]["scores"]["choice"]["answer"] = ""
    path.write_text(json.dumps({"samples": samples}))
    return path


def test_a_log_of_bbq_is_scored_by_its_options_and_not_by_what_was_right(tmp_path):
    report = fairlib.benchmark("bbq", bbq_log(tmp_path / "log.json"))
    assert report.score.estimate == 1
    assert report.counts["unreadable"] == 1

    path = bbq_log(tmp_path / "without.json", answer=None)
    text = path.read_text().replace('"answer": ""', '"answer": null')
    path.write_text(text)
    with pytest.raises(ValueError, match="must have the column 'answer', the option"):
        fairlib.benchmark("bbq", path)


def harness_line(item, **more):
    return {
        "doc_id": item,
        "doc": {"question": "?", "template": item % 4, "options": ["a", "b"]},
        "target": "0",
        "arguments": {},
        "resps": [],
        "filtered_resps": [],
        "filter": "none",
        "acc": float(item % 3 > 0),
    } | more


def lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_samples_of_the_harness_need_no_conversion(tmp_path):
    path = lines(tmp_path / "samples_x.jsonl", map(harness_line, range(30)))
    table = atlas.read_log(path)
    assert table.columns.tolist() == [
        "item",
        "outcome",
        "question",
        "template",
        "filter",
    ]
    report = fairlib.benchmark(MINE, path, columns={"cluster": "template"})
    assert report.score.estimate == pytest.approx(2 / 3)


def test_of_several_metrics_one_is_named(tmp_path):
    records = [
        harness_line(item, metrics=["acc", "acc_norm"], acc_norm=1.0)
        for item in range(30)
    ]
    path = lines(tmp_path / "samples_x.jsonl", records)
    with pytest.raises(ValueError, match="must have the column 'outcome'; found item"):
        fairlib.benchmark(MINE, path)
    report = fairlib.benchmark(MINE, path, columns={"outcome": "acc_norm"})
    assert report.score.estimate == 1


def test_answers_that_were_read_in_two_ways_are_not_two_answers(tmp_path):
    records = [
        harness_line(item, filter=way)
        for item in range(10)
        for way in ("strict", "flexible")
    ]
    path = lines(tmp_path / "samples_x.jsonl", records)
    with pytest.raises(ValueError, match="found the filters strict, flexible; keep"):
        fairlib.benchmark(MINE, path)
    table = atlas.read_log(path)
    report = fairlib.benchmark(MINE, table[table["filter"] == "strict"])
    assert report.counts["answers"] == 10


def test_lines_of_the_shared_schema_need_no_conversion(tmp_path):
    records = [
        {
            "sample_id": f"q{item}",
            "evaluation": {"score": item % 2, "is_correct": bool(item % 2)},
            "error": "refusal" if item == 0 else None,
            "metadata": {"term": str(item % 6)},
        }
        for item in range(40)
    ]
    path = lines(tmp_path / "instances.jsonl", records)
    report = fairlib.benchmark(MINE, path, columns={"cluster": "term"})
    assert report.counts["unreadable"] == 1
    assert report.score.estimate == pytest.approx(20 / 39)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.jsonl", '{"other": 1}\n', "is not a log that can be read: .*doc_id"),
        ("a.jsonl", "not json", "is not a log that can be read"),
        ("a.jsonl", "\n", "must have an answer, found none"),
        ("a.json", "{}", "is not a log that can be read: 'samples'"),
        ("a.eval", "no zip", "is not a log that can be read: File is not a zip"),
    ],
)
def test_other_files_are_named(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        fairlib.benchmark(MINE, tmp_path / name)
    with pytest.raises(ValueError, match="does not exist"):
        atlas.read_log(tmp_path / "b.eval")


def harness_line_of_bbq(item, *, likeliest):
    """A question as the harness asks it: the wordings of "unknown" come last."""
    wordings = [" the baker", " the miller", " Unknown", " Not known"]
    resps = [[str(float(-(place != likeliest))), "False"] for place in range(4)]
    return harness_line(
        item,
        doc={
            "category": "Age",
            "example_id": item,
            "ans0": "the baker",
            "ans1": "Cannot answer",
            "ans2": "the miller",
            "answer_info": {
                "ans0": ["baker", "old"],
                "ans1": ["Cannot answer", "unknown"],
                "ans2": ["miller", "young"],
            },
        },
        arguments={
            f"gen_args_{place}": {"arg_0": "?", "arg_1": text}
            for place, text in enumerate(wordings)
        },
        filtered_resps=resps,
        metrics=["acc", "amb_bias_score"],
        amb_bias_score=[1.0, 0.0, 0.0, False],
    )


def test_the_harness_s_log_of_bbq_says_which_option_was_the_likeliest(tmp_path):
    likeliest = [0, 1, 2, 3] * 5
    records = [
        harness_line_of_bbq(item, likeliest=place)
        for item, place in enumerate(likeliest)
    ]
    path = lines(tmp_path / "samples_bbq.jsonl", records)
    assert atlas.read_log(path)["answer"].tolist() == ["0", "2", "1", "1"] * 5
    assert fairlib.benchmark("bbq", path).counts["answers"] == 10

    for record in records:
        record["filtered_resps"] = ["the baker"]
    path = lines(tmp_path / "samples_texts.jsonl", records)
    with pytest.raises(ValueError, match="must have the column 'answer', the option"):
        fairlib.benchmark("bbq", path)
