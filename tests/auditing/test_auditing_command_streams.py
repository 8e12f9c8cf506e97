"""The command between other programs: pipes, full disks, closed streams, status."""

import gzip
import io
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest
from locales import needs_more_than_ascii
from test_auditing import people
from tqdm import tqdm

from fairlib.__main__ import main
from fairlib.auditing import compared, summary

ROLES = ["--group", "sex", "--label", "label", "--prediction", "prediction"]
COMMAND = [sys.executable, "-m", "fairlib", "audit"]


@pytest.fixture
def frame():
    return people(600, unfair=0.4)


@pytest.fixture
def path(frame, tmp_path):
    frame.to_csv(tmp_path / "p.csv", index=False)
    return tmp_path / "p.csv"


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Return an empty folder in which temporary files are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def in_shell(script, **variables):
    """Run a script of bash, where "$@" is the command; return what it leaves."""
    return subprocess.run(
        ["bash", "-c", script, "bash", *COMMAND],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **{name: str(value) for name, value in variables.items()}},
        check=False,
    )


def fails(capsys, *arguments):
    """Return what the command says on the error stream, where its exit status is 2."""
    with pytest.raises(SystemExit) as stopped:
        main(["audit", *map(str, arguments)])
    assert stopped.value.code == 2
    return capsys.readouterr().err


# --- exit status 1 is for findings alone ---

WORDS = " ".join(ROLES)


@pytest.mark.parametrize(
    ("script", "error"),
    [
        (f'"$@" "$file" {WORDS} --fail-on shown > /dev/full', "No space left"),
        (f'"$@" "$file" {WORDS} --fail-on shown >&-', "standard output is closed"),
        (f'"$@" "$file" {WORDS} --html /dev/full', "No space left"),
        (f'"$@" "$file" {WORDS} --table /dev/full', "No space left"),
        (
            f'set -o pipefail; "$@" "$file" {WORDS} --fail-on shown '
            "| python3 -c 'import os; os.close(0)'",
            "Broken pipe",
        ),
    ],
)
def test_output_that_cannot_be_written_is_status_2(path, script, error):
    if "/dev/full" in script and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    result = in_shell(script, file=path)
    assert result.returncode == 2
    assert error in result.stderr
    assert "Traceback" not in result.stderr and "Exception ignored" not in result.stderr


def test_a_finding_is_status_1_even_if_nobody_reads_errors(path):
    for streams in ("", "2>&-", "2>/dev/null", "2>/dev/full"):
        script = f'"$@" "$file" {WORDS} --html /dev/null --fail-on shown {streams}'
        result = in_shell(script, file=path)
        assert result.returncode == 1, streams
        assert "written" not in result.stdout


@needs_more_than_ascii
def test_an_error_that_nobody_foresaw_is_status_2(path, capsys, monkeypatch):
    def broken(*_, **__):
        raise AssertionError("a defect")

    monkeypatch.setattr("fairlib.auditing.report.audit", broken)
    error = fails(capsys, path, *ROLES)
    assert "Traceback" in error and "AssertionError: a defect" in error

    def exhausted(*_, **__):
        raise MemoryError

    monkeypatch.setattr("fairlib.auditing.report.audit", exhausted)
    assert fails(capsys, path, *ROLES) == "fairlib audit: MemoryError\n"


def test_the_help_says_how_often_a_hint_fails_a_fair_model(capsys):
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "in 29% to 39% of audits with 15 comparisons" in text
    assert "fails 'shown' in at most 5% of audits" in text
    assert (
        "0 with a report, 1 if a difference has the verdict" in text
        and "2 with an error" in text
    )


# --- what can be read only once ---


def output_of(capsys, *arguments):
    main(["audit", *map(str, arguments)])
    return capsys.readouterr().out


def bytes_of(frame, kind, folder):
    path = Path(folder, "of_kind")
    if kind == "parquet":
        frame.to_parquet(path)
    elif kind == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    else:
        frame.to_csv(path, index=False)
    content = path.read_bytes()
    path.unlink()
    return gzip.compress(content) if kind == "gz" else content


@pytest.mark.parametrize("kind", ["csv", "tsv", "gz", "parquet"])
def test_the_standard_input_is_read(kind, path, temporary, capsys, monkeypatch):
    frame = pd.read_csv(path)
    # With a column of costs the table is read twice.
    more = ["--cost", "score"]
    expected = output_of(capsys, path, *ROLES, *more, "--title", "x")
    content = bytes_of(frame, kind, temporary)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert output_of(capsys, "-", *ROLES, *more, "--title", "x") == expected
    assert not [*temporary.iterdir()]


@pytest.mark.parametrize("name", ["pipe", "pipe.tsv", "pipe.csv.gz"])
def test_named_pipes_are_read(name, frame, path, temporary, capsys):
    expected = output_of(capsys, path, *ROLES, "--title", "x")
    pipe = temporary.parent / name
    os.mkfifo(pipe)
    kind = {"pipe": "csv", "pipe.tsv": "tsv", "pipe.csv.gz": "gz"}[name]
    content = bytes_of(frame, kind, temporary)
    writer = threading.Thread(target=pipe.write_bytes, args=[content])
    writer.start()
    assert output_of(capsys, pipe, *ROLES, "--title", "x") == expected
    writer.join(timeout=10)
    assert pipe.is_fifo() and not [*temporary.iterdir()]


@needs_more_than_ascii
def test_the_output_of_a_command_is_read(path, temporary, capsys):
    expected = output_of(capsys, path, *ROLES).partition(":")[2]
    for script, name in (
        (f'"$@" <(cat "$file") {WORDS}', "the output of a command"),
        (f'cat "$file" | "$@" - {WORDS}', "the standard input"),
        (f'cat "$file" | "$@" /dev/stdin {WORDS}', "the standard input"),
        (f'"$@" - {WORDS} < "$file"', "the standard input"),
    ):
        result = in_shell(f"{script} --html $TMPDIR/page.html", file=path)
        assert result.returncode == 0, result.stderr
        assert result.stdout == f"Audit of {name}:{expected}"
        page = temporary / "page.html"
        assert f"Audit of {name}" in page.read_text(encoding="utf-8")
        page.unlink()
        assert not [*temporary.iterdir()]


@pytest.mark.parametrize("stop", [False, True])
def test_a_copy_is_removed_after_errors_and_interrupts(
    stop, temporary, capsys, monkeypatch
):
    content = b"sex,label,prediction\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    if stop:

        def interrupted(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr("fairlib.auditing.report.audit", interrupted)
        with pytest.raises(SystemExit):
            main(["audit", "-", *ROLES])
    else:
        assert "no rows" in fails(capsys, "-", *ROLES)
    assert not [*temporary.iterdir()]


def test_errors_name_the_input_and_not_its_copy(temporary, capsys, monkeypatch):
    for content in (b"", b"a\xff\nx\n", b"PAR1 and no more", b"\x1f\x8b"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        error = fails(capsys, "-", *ROLES)
        assert "the standard input" in error and str(temporary) not in error, content
    monkeypatch.setattr(sys, "stdin", None)
    assert "the standard input is closed" in fails(capsys, "-", *ROLES)


def test_a_terminated_audit_leaves_no_copy(temporary):
    process = subprocess.Popen(
        [*COMMAND, "-", *ROLES], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    process.stdin.write(b"sex,label,prediction\n")
    process.stdin.flush()
    while not [*temporary.glob("*/*")]:
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    status = process.wait(timeout=20)
    process.stdin.close()
    assert status in (-signal.SIGTERM, 128 + signal.SIGTERM)
    assert not [*temporary.iterdir()]


# --- hints ---


def test_utf_16_is_named(frame, tmp_path, capsys):
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        path = tmp_path / f"{encoding}.csv"
        frame.to_csv(path, index=False, encoding=encoding)
        error = fails(capsys, path, *ROLES)
        assert "it looks like UTF-16" in error and "iconv -f UTF-16" in error


@pytest.mark.parametrize("sign", ["|", ":", ";", ","])
def test_another_separator_is_named(sign, frame, tmp_path, capsys):
    path = tmp_path / "p.csv"
    frame.to_csv(path, index=False, sep=sign)
    wrong = ["--separator", "/"] if sign in ",;" else []
    error = fails(capsys, path, *ROLES, *wrong)
    assert (
        f"the fields seem to be separated by '{sign}' (--separator '{sign}')" in error
    )

    # What the hint says works.
    main(["audit", str(path), *ROLES, "--separator", sign, "--decimal", "."])
    assert "differences tested" in capsys.readouterr().out


@pytest.mark.parametrize("separator", ["||", r"\t", "é"])
def test_a_separator_is_one_character(separator, path, capsys):
    error = fails(capsys, path, *ROLES, "--separator", separator)
    assert f"separator must be one character of ASCII, found {separator!r}" in error


def test_a_file_of_several_columns_gets_no_hint(path, capsys):
    error = fails(capsys, path, "--group", "race", *ROLES[2:])
    assert "no column 'race'" in error and "seem to be separated" not in error


# --- outputs are checked before work begins ---


@pytest.mark.parametrize(
    ("more", "error"),
    [
        (["--plot", "{folder}/p.xyz"], "--plot: .*p.xyz' must end in one of .*.png"),
        (["--plot", "{folder}/plot"], "--plot: .*plot' must end in one of"),
        (["--calibration", "{folder}/c.png"], "--calibration: nothing to draw without"),
        (["--thresholds", "{folder}/t.png"], "--thresholds: nothing .* --probability"),
        (["--html", "{folder}"], "--html: .* cannot be written"),
        (["--html", "{folder}/p.csv/.."], "--html: .* cannot be written"),
        (["--html", "/"], "--html: '/' cannot be written"),
        (["--json", "{folder}/p.csv/x.json"], "--json: .* would overwrite the data"),
    ],
)
def test_outputs_are_checked_before_the_table_is_read(
    more, error, path, capsys, monkeypatch
):
    def unexpected(*_, **__):
        raise AssertionError("the audit began")

    monkeypatch.setattr("fairlib.auditing.report.audit", unexpected)
    page = path.parent / "page.html"
    words = [word.format(folder=path.parent) for word in more]
    more_outputs = [] if "--html" in more else ["--html", page]
    text = fails(capsys, path, *ROLES, *words, *more_outputs)
    assert re.search(error, text), text
    assert not page.exists()


def test_an_input_pipe_is_no_output(tmp_path, capsys):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "is in use already" in fails(capsys, pipe, *ROLES, "--html", pipe)


def test_costs_alone_are_drawn(path, capsys):
    plot = path.parent / "costs.svg"
    main(["audit", str(path), "--group", "sex", "--cost", "score", "--plot", str(plot)])
    assert "<svg" in plot.read_text(encoding="utf-8")
    assert capsys.readouterr().err == f"written: {plot}\n"


def test_a_figure_that_cannot_be_drawn_leaves_no_other_output(path, capsys):
    few = pd.read_csv(path)[:20]
    few.to_csv(path, index=False)
    page = path.parent / "page.html"
    plot = path.parent / "p.png"
    error = fails(capsys, path, *ROLES, "--html", page, "--plot", plot)
    assert "nothing to draw" in error
    assert not page.exists() and not plot.exists()


def test_a_slow_audit_shows_no_bar_where_no_terminal_is(path, monkeypatch, capsys):
    def impatient(*arguments, **options):
        return tqdm(*arguments, **{**options, "delay": 0, "mininterval": 0})

    monkeypatch.setattr(compared, "tqdm", impatient)
    monkeypatch.setattr(summary, "tqdm", impatient)
    main(["audit", str(path), *ROLES])
    assert capsys.readouterr().err == ""
