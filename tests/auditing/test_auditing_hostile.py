"""Hostile input: a report or a clear ValueError, and nothing unescaped in the page."""

import datetime

import numpy as np
import pandas as pd
import pytest
from html_pages import ELEMENTS, HOSTILE, Page
from test_auditing import BINARY, people

import fairlib

N = 240
rng = np.random.default_rng(0)


def in_turn(*values):
    """These values in turn, of whatever types."""
    return np.array([*values, None], dtype=object)[:-1][np.arange(N) % len(values)]


SURVIVED = {
    "mixed types": {
        "sex": in_turn(1, "1", 2.5, None, True, ("x",), b"x", datetime.date(2020, 1, 1))
    },
    "empty strings": {"sex": in_turn("", " ", "a")},
    "right to left": {"sex": in_turn("עברית", "عربي", "a\u202eb")},
    "line breaks": {"sex": in_turn("a\nb", "a\r\nb", "a\tb")},
    "dates": {
        "sex": pd.to_datetime(["2020-01-01", "2021-01-01"]).to_numpy()[np.arange(N) % 2]
    },
    "dates with a zone": {
        "sex": pd.to_datetime(["2020-01-01", "2021-01-01"]).tz_localize("UTC")[
            np.arange(N) % 2
        ]
    },
    "not numbers": {"sex": np.array([np.nan, np.inf, -np.inf, 1.5])[np.arange(N) % 4]},
    "booleans": {
        name: in_turn(True, False, False).astype(bool)
        for name in ("sex", "label", "prediction")
    },
    "nullable booleans": {
        "sex": pd.array([True, False, None] * (N // 3), dtype="boolean")
    },
    "nullable integers": {
        "sex": pd.array([1, 2, None] * (N // 3), dtype="Int64"),
        "label": pd.array([1, 0] * (N // 2), dtype="Int64"),
        "prediction": pd.array([1, 0, 0, 1] * (N // 4), dtype="Int64"),
    },
    "strings of Arrow": {
        "sex": pd.array(["a", "b", None] * (N // 3), dtype="string[pyarrow]")
    },
    "categories that never occur": {
        "sex": pd.Categorical(["a", "b"] * (N // 2), ["z", "b", "a"]),
        "label": pd.Categorical(["n", "y"] * (N // 2), ["y", "n", "never"]),
        "prediction": pd.Categorical(
            ["n", "y", "y", "n"] * (N // 4), ["y", "n", "never"]
        ),
    },
    "intervals of numbers": {"sex": pd.cut(np.linspace(0, 1, N), 3)},
    "one class": {"label": 1, "prediction": 1},
    "the other class": {"label": 0, "prediction": 1},
    "probabilities of 0 and 1": {"score": np.arange(N) % 2 * 1.0},
    "tiny probabilities": {"score": np.linspace(0, 1e-12, N)},
    "one probability": {"score": 0.3},
    "short floats": {"score": np.linspace(0, 1, N).astype("float32")},
    "reserved names": {"sex": in_turn("accumulated", "all", "everyone else")},
    "HTML": {"sex": in_turn(*HOSTILE)},
    "HTML classes": {
        "label": in_turn(*HOSTILE[:2]),
        "prediction": in_turn(HOSTILE[1], *HOSTILE[:2]),
    },
    "a very long name": {"sex": in_turn("x" * 20_000, "y")},
}


GROUPS = [
    name for name in SURVIVED if [*SURVIVED[name]] == ["sex"]
]  # of which all metrics make the same
FEW = {"probability": "score", "metrics": ["errors", "FPED", "FPRRatio", "BPSNGap"]}
CASES = [(name, FEW) for name in GROUPS]
CASES += [
    (name, {"probability": p})
    for name in SURVIVED
    if name not in GROUPS
    for p in (None, "score")
]


@pytest.mark.parametrize(
    ("name", "options"),
    CASES,
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_report(name, options):
    frame = people(N).assign(**SURVIVED[name])
    html = fairlib.audit(frame, group="sex", **BINARY, **options, minimum=5).to_html()
    page = Page(html)
    assert {tag for tag, _ in page.elements} <= ELEMENTS
    html.encode("utf-8")
    assert len(html) < 300_000
    text = "".join(page.text).replace("nan", "" if name == "not numbers" else "nan")
    assert (
        "nan" not in text
        and "None" not in text.replace("(missing)", "")
        and "Timestamp" not in text
    )


@pytest.mark.parametrize(
    ("change", "options", "says"),
    [
        (
            {"score": np.inf},
            {"probability": "score"},
            r"column 'score' must lie in \[0, 1\], found inf to inf",
        ),
        (
            {"score": "0.5"},
            {"probability": "score"},
            "column 'score' must hold numbers",
        ),
        (
            {"score": in_turn(True, False)},
            {"probability": "score"},
            "column 'score' must hold numbers",
        ),
        ({"sex": None}, {}, "group: column 'sex' has no value in any case"),
        (
            {},
            {"probability": "sex"},
            "probability: column 'sex' plays another part already",
        ),
        ({}, {"count": "label"}, "count: column 'label' plays another part already"),
        (
            {},
            {"group": 0},
            r"group must be the name of a column, or several, found \(0,\)",
        ),
        ({}, {"group": ""}, "group: no column ''"),
        ({}, {"minimum": True}, "minimum must be a whole number from 2 on, found True"),
        (
            {},
            {"threshold": float("nan")},
            "threshold must lie between 0 and 1, found nan",
        ),
    ],
)
def test_a_clear_error(change, options, says):
    with pytest.raises(ValueError, match=says):
        fairlib.audit(
            people(N).assign(**change), **{"group": "sex", **BINARY, **options}
        )


def test_no_name_writes_a_line_of_its_own():
    frame = people(N).assign(sex=in_turn("a\n- b: all is well", "c\x1b[2J", "d"))
    frame["prediction"] = frame["label"].where(frame["sex"] == "d", 1 - frame["label"])
    report = fairlib.audit(frame, group="sex", **BINARY, title="x\r\ny", reference="d")
    answers = len(report.by_attribute)
    lines = 1 + answers + len(report.aside) + len(report.findings)
    assert str(report).count("\n") == lines
    assert "\x1b" not in str(report) and "sex = a - b: all is well" in str(report)


def test_names_that_read_like_another_crossing_are_told_apart():
    frame = people(N).assign(
        sex=in_turn("x, age = y", "x", "u"), age=in_turn("z", "y, age = z", "v")
    )
    report = fairlib.audit(frame, group=["sex", "age"], **BINARY)
    crossed = report.to_frame().query("attribute == 'sex × age'")
    assert crossed["group"].nunique() == 3 and report.to_html()


def test_numbers_of_other_libraries_are_numbers():
    frame = people(N).assign(sex=np.arange(N) % 2 + 1.0)
    found = fairlib.audit(
        frame, group="sex", **BINARY, reference=1.0, minimum=np.int64(20)
    ).to_frame()
    assert set(found["against"]) == {"sex = 1"}


def test_columns_of_the_same_name():
    frame = people(N).set_axis(["sex", "sex", "label", "prediction", "score"], axis=1)
    with pytest.raises(ValueError, match="'sex' 2 times"):
        fairlib.audit(frame, group="sex", **BINARY)


def test_a_column_named_as_metrics_name_theirs_is_a_column():
    frame = people(N)
    found = [
        fairlib.audit(frame.assign(**{name: 2}), group="sex", **BINARY, count=name)
        for name in ("term", "n")
    ]
    pd.testing.assert_frame_equal(*(report.to_frame() for report in found))


def test_more_cases_than_there_are_people():
    report = fairlib.audit(
        people(N).assign(people=10**12),
        group="sex",
        **BINARY,
        probability="score",
        count="people",
    )
    assert len(report.counts) == N * 10**12 and report.to_html()
    assert "too many different cases" in report.metrics.attrs["notes"][0]


def test_a_name_with_braces_is_no_place_to_fill_in():
    frame = people(3000).rename(columns={"score": "wait {min}"})
    names = {"cost": "wait {min}", "cost_margin": 0.3, "title": "{title}"}
    summary = fairlib.audit(frame, group="sex", **names).summary
    assert summary.startswith("{title}: 3,000 cases")
    assert summary.endswith("is ruled out to be 0.3 of ‘wait {min}’ or more.")
