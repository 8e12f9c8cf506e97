"""The chain Counts -> Questions -> Compared -> Parts -> Conclusions -> Report."""

import dataclasses
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from test_auditing import BINARY, people

import fairlib
from fairlib.auditing.command import OUTPUTS, main
from fairlib.auditing.compared import Compared
from fairlib.auditing.conclusions import Conclusions
from fairlib.auditing.counts import Counts
from fairlib.auditing.findings import Finding
from fairlib.auditing.headlines import Headline
from fairlib.auditing.options import OPTIONS
from fairlib.auditing.parts import Parts
from fairlib.auditing.questions import Question, Questions
from fairlib.auditing.setting import ROLES, Columns, Setting
from fairlib.data import ROOT

HEAVY = ("numpy", "pandas", "scipy", "narwhals", "pyarrow", "jinja2", "tqdm")
TABLES = (
    "metrics",
    "odds",
    "outcomes",
    "groups",
    "selection",
    "strata",
    "changes",
    "gap_changes",
    "calibration",
    "calibration_test",
    "thresholds",
)


@pytest.fixture
def report():
    frame = people(600)
    frame["score"] = np.linspace(0, 1, len(frame))
    return fairlib.audit(
        frame, group=["sex", "age"], **BINARY, probability="score", positive=1
    )


def test_each_step_holds_the_one_before(report):
    chain = [
        report.conclusions,
        report.conclusions.parts,
        report.conclusions.parts.compared,
        report.conclusions.parts.compared.questions,
        report.conclusions.parts.compared.questions.counts,
    ]
    steps = [Conclusions, Parts, Compared, Questions, Counts]
    assert [type(step) for step in chain] == steps
    assert report.questions is chain[3] and report.counts is chain[4]
    assert report.rows is chain[2].rows
    assert len(report.rows) == len(chain[2].contrast.difference)
    assert report.verdict == chain[0].verdict and report.summary == chain[0].summary
    assert report.findings == list(chain[0].findings)
    assert report.headlines == list(chain[0].headlines)
    assert report.aside == list(chain[0].aside)
    assert isinstance(report.findings[0], Finding)
    assert isinstance(report.headlines[0], Headline)
    assert isinstance(chain[3].questions[0], Question)


@pytest.mark.parametrize(
    "step",
    [Columns, Setting, Counts, Question, Questions, Compared, Parts, Conclusions],
)
def test_steps_are_frozen_and_made_by_name(step):
    assert step.__dataclass_params__.frozen
    assert all(field.kw_only for field in dataclasses.fields(step))


def test_a_report_survives_a_pickle(report):
    html = report.to_html()
    again = pickle.loads(pickle.dumps(report))
    assert str(again) == str(report) and repr(again) == repr(report)
    assert again.to_html() == html and again.to_json() == report.to_json()
    pd.testing.assert_frame_equal(again.to_frame(), report.to_frame())
    assert again.setting == report.setting


def test_tables_of_a_pickled_report_are_those_of_the_report(report):
    again = pickle.loads(pickle.dumps(report))
    for name in TABLES:
        expected = getattr(report, name)
        if expected is None:
            assert getattr(again, name) is None, name
        else:
            pd.testing.assert_frame_equal(getattr(again, name), expected)


def test_options_of_the_command_are_those_of_the_call():
    parameters = inspect.signature(fairlib.audit).parameters.values()
    expected = {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.name != "progress"
    }
    assert {option.name: option.default for option in OPTIONS} == expected
    assert [option.name for option in OPTIONS] == list(expected)


def test_options_have_the_types_of_their_defaults_and_one_sentence_each():
    for option in OPTIONS:
        assert option.default is None or type(option.default) is option.type
        assert option.help and not option.help.endswith(".")
        assert option.help[0].islower(), option.name
    assert {*ROLES} < {option.name for option in OPTIONS}
    assert not {option.name for option in OPTIONS} & {*OUTPUTS}


def test_the_help_lists_every_option_and_output(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    words = " ".join(capsys.readouterr().out.split())
    for option in OPTIONS:
        value = "" if option.default is False else f" {option.metavar}"
        assert f"--{option.name}{value}" in words
        assert option.help.split()[0] in words
    for name, contents in OUTPUTS.items():
        assert f"--{name} FILE" in words and contents in words
    assert "(default: 0.05)" in words and "(default: Audit)" not in words


def modules_after(code):
    """The modules that Python has loaded after some code."""
    code = f"{code}\nimport sys; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    return done.stderr.split()


@pytest.mark.parametrize(
    "code",
    [
        "import fairlib.auditing",
        "import fairlib.auditing.command",
        "import fairlib; fairlib.auditing",
        "import contextlib, fairlib.__main__\n"
        "with contextlib.suppress(SystemExit): "
        "fairlib.__main__.main(['audit', '--help'])\n"
        "1",
    ],
)
def test_the_help_of_the_command_loads_nothing_heavy(code):
    loaded = modules_after(code)
    assert "fairlib.auditing" in loaded
    assert not {name.partition(".")[0] for name in loaded} & {*HEAVY}
    assert "fairlib.data" not in loaded


def test_the_door_opens_when_it_is_used():
    code = """
import fairlib
fairlib.auditing.rates.RATES["misses"], fairlib.auditing.summary.SUMMARY["TPRGap"]
assert fairlib.auditing.report.audit is fairlib.auditing.audit is fairlib.audit
from fairlib.auditing import *
Report, audit
"""
    assert "fairlib.auditing.rates" in modules_after(code)


def test_the_door_knows_what_it_has_not():
    assert {"Report", "audit"} <= {*dir(fairlib.auditing)}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = fairlib.auditing.nothing
