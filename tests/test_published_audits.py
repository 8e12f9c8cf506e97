"""docs/published_audits.md has the bundled numbers, and its examples run."""

import re
import sys

import pytest

from fairlib.__main__ import main
from fairlib.data import ROOT

PAGE = (ROOT / "docs" / "published_audits.md").read_text(encoding="utf-8")


@pytest.fixture
def published_audits(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import published_audits

    yield published_audits
    sys.modules.pop("published_audits")


def test_the_page_is_what_the_bundled_counts_give(published_audits):
    assert published_audits.text() == PAGE


def code(language):
    (block,) = re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)
    return block


def test_the_example_in_python_prints_what_the_page_says(capsys):
    exec(compile(code("python"), "docs/published_audits.md", "exec"), {})
    (promised,) = re.findall(r"print\(.*\)  # (.*)", code("python"))
    assert capsys.readouterr().out.strip() == promised


def test_the_example_of_the_command_writes_the_impact_ratios(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "printed.csv").write_text(code("csv"), encoding="utf-8")
    line = next(line for line in PAGE.splitlines() if line.startswith("fairlib audit"))
    main(line.split()[1:])

    (page,) = tmp_path.glob("*.html")
    text = page.read_text(encoding="utf-8")
    assert "Local Law 144" in text and "0.72" in text
