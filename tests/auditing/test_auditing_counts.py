from dataclasses import replace

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from fairlib.auditing import attributes, counts
from fairlib.auditing.setting import Columns

COLUMNS = Columns(
    group=("sex",), label="label", prediction="prediction", probability="score"
)


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 500
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "race": rng.choice(["a", "b", "c"], n),
            "label": rng.integers(0, 2, n),
            "prediction": rng.integers(0, 2, n),
            "score": rng.random(n).round(3),
            "person": rng.integers(0, 90, n),
        }
    )


def sums(counted):
    """What rates are made of, in an order that does not depend on the cells' order."""
    table = pd.DataFrame(
        {name: coded.codes for name, coded in counted.attributes.items()}
    )
    table = table.assign(
        label=counted.label,
        prediction=counted.prediction,
        n=counted.count,
        s=counted.score,
    )
    return table.groupby(list(table.columns[:-2])).sum()


def test_cells_hold_every_case_once(frame):
    counted = counts.read(frame, COLUMNS)
    assert len(counted) == 500
    assert counted.classes == ("0", "1") and counted.positive == (1,)
    for value, name in enumerate(counted.attributes["sex"].names):
        mine = counted.attributes["sex"].codes == value
        assert counted.count[mine].sum() == (frame["sex"] == name).sum()
        assert counted.score[mine].sum() == pytest.approx(
            frame.loc[frame["sex"] == name, "score"].sum()
        )
        assert counted.powers[0, 2][mine].sum() == pytest.approx(
            (frame.loc[frame["sex"] == name, "score"] ** 2).sum()
        )


@pytest.mark.parametrize(
    "convert",
    [pa.Table.from_pandas, nw.from_native, lambda frame: nw.from_native(frame).lazy()],
)
def test_any_frame_gives_the_same_counts(frame, convert):
    pd.testing.assert_frame_equal(
        sums(counts.read(convert(frame), COLUMNS)), sums(counts.read(frame, COLUMNS))
    )


def test_polars_gives_the_same_counts(frame):
    polars = pytest.importorskip("polars")
    for other in (polars.from_pandas(frame), polars.from_pandas(frame).lazy()):
        pd.testing.assert_frame_equal(
            sums(counts.read(other, COLUMNS)), sums(counts.read(frame, COLUMNS))
        )


def test_counts_stand_for_rows(frame):
    rows = ["sex", "label", "prediction", "score"]
    table = frame[rows].value_counts().rename("people").reset_index()
    counted = counts.read(table, replace(COLUMNS, count="people"))
    pd.testing.assert_frame_equal(sums(counted), sums(counts.read(frame, COLUMNS)))


def test_what_has_no_engine_is_read_in_parts_that_add_up(frame, tmp_path, monkeypatch):
    frame.to_parquet(tmp_path / "cases.parquet")
    monkeypatch.setattr("fairlib.tables.opening.ROWS_PER_PART", 77)
    pd.testing.assert_frame_equal(
        sums(counts.read(tmp_path / "cases.parquet", COLUMNS)),
        sums(counts.read(frame, COLUMNS)),
    )


def test_predictions_follow_from_the_threshold(frame):
    decided = frame.assign(prediction=(frame["score"] >= 0.3).astype(int))
    thresholded = counts.read(frame, replace(COLUMNS, prediction=None, threshold=0.3))
    pd.testing.assert_frame_equal(
        sums(thresholded), sums(counts.read(decided, COLUMNS))
    )
    assert "0.3" in thresholded.notes[0]
    turned = counts.read(
        frame, replace(COLUMNS, prediction=None, threshold=0.3), positive=0
    )
    np.testing.assert_array_equal(turned.prediction, 1 - thresholded.prediction)


def test_without_labels_a_threshold_names_two_classes(frame):
    counted = counts.read(frame, replace(COLUMNS, label=None, prediction=None))
    assert counted.label is None and counted.classes == ("below 0.5", "0.5 or more")


def test_labels_that_are_constant_still_have_another_class(frame):
    counted = counts.read(
        frame.assign(label=0), replace(COLUMNS, prediction=None), positive=1
    )
    assert counted.classes == ("0", "1") and set(counted.prediction) == {0, 1}


def test_groups_keep_the_order_of_categories_and_others_are_sorted(frame):
    ordered = frame.assign(sex=pd.Categorical(frame["sex"], ["x", "m", "f"]))
    assert counts.read(ordered, COLUMNS).attributes["sex"].names == ("m", "f")
    numbers = counts.read(
        frame.assign(person=frame["person"] % 12), replace(COLUMNS, group=("person",))
    )
    assert numbers.attributes["person"].names == tuple(map(str, range(12)))


def test_the_missing_and_the_empty_are_groups_that_are_named(frame):
    frame["sex"] = frame["sex"].astype(object)
    frame.loc[:9, "sex"] = None
    frame.loc[10:14, "sex"] = "  "
    frame.loc[15:16, "sex"] = np.nan
    counted = counts.read(frame, COLUMNS)
    assert counted.attributes["sex"].names == (
        attributes.EMPTY,
        "f",
        "m",
        attributes.MISSING,
    )
    assert any("no value in 12 case(s)" in note for note in counted.notes)


def test_values_that_differ_only_in_type_are_kept_apart(frame):
    frame["sex"] = np.array([1, "1", 2.5, "x"] * 125, dtype=object)
    counted = counts.read(frame, COLUMNS)
    assert set(counted.attributes["sex"].names) == {"1", "'1'", "2.5", "x"}
    assert "look alike" in counted.notes[0]


def test_1_and_1_point_0_and_true_are_one_class(frame):
    counted = counts.read(
        frame.assign(prediction=frame["prediction"].astype(float)), COLUMNS
    )
    assert counted.classes == ("0", "1")
    assert counts.read(
        frame.assign(prediction=frame["prediction"] == 1), COLUMNS
    ).classes == ("0", "1")


def test_two_models_are_compared_without_labels(frame):
    columns = replace(COLUMNS, label=None, probability=None, compare="other")
    counted = counts.read(frame.assign(other=1 - frame["prediction"]), columns)
    np.testing.assert_array_equal(counted.compare, 1 - counted.prediction)


def test_another_models_classes_are_those_of_the_probability_too(frame):
    frame, columns = (
        frame.assign(other=["no", "yes"] * 250),
        replace(COLUMNS, label=None, prediction=None),
    )
    columns = replace(columns, compare="other")
    for counted in (
        counts.read(frame, columns),
        counts.by_level(frame, columns, 500)["sex"],
    ):
        assert counted.classes == ("no", "yes") and counted.positive == (1,)
        assert counted.count[counted.compare == 1].sum() == 250
        assert (
            counted.count[counted.prediction == 1].sum()
            == (frame["score"] >= 0.5).sum()
        )


def test_text_beside_numbers_is_one_class_in_whatever_column(frame):
    columns = replace(COLUMNS, probability=None, compare="other")
    text, same = frame["label"].astype(str), counts.read(frame.assign(other=1), columns)
    for change in (
        {"label": text},
        {"prediction": frame["prediction"].astype(str)},
        {"other": "1"},
    ):
        found = counts.read(frame.assign(**{"other": 1, **change}), columns)
        assert found.classes == ("0", "1") and "read as one class" in found.notes[0]
        np.testing.assert_array_equal(np.sort(found.count), np.sort(same.count))


def test_several_classes_are_all_measured_unless_one_is_asked_for(frame):
    frame["label"] = np.array(["x", "y", "z", "x"] * 125)
    frame["prediction"] = np.array(["y", "y", "z", "x"] * 125)
    columns = replace(COLUMNS, probability=None)
    assert counts.read(frame, columns).positive == (0, 1, 2)
    assert counts.read(frame, columns, positive="y").positive == (1,)


@pytest.mark.parametrize(
    ("change", "columns", "says"),
    [
        (
            {},
            replace(COLUMNS, group=("gender",)),
            "group: no column 'gender'; the columns are 'sex', 'race'",
        ),
        ({}, replace(COLUMNS, label="y"), "label: no column 'y'"),
        ({}, replace(COLUMNS, source="y"), "source: no column 'y'"),
        ({}, replace(COLUMNS, count="score"), "column 'score' must hold counts"),
        (
            {"score": 1.5},
            COLUMNS,
            r"column 'score' must lie in \[0, 1\], found 1.5 to 1.5",
        ),
        ({"score": "high"}, COLUMNS, "probability: column 'score' must hold numbers"),
        ({"score": np.nan}, COLUMNS, r"column 'score' has 500 missing value\(s\)"),
        ({"label": None}, COLUMNS, r"column 'label' has 500 missing value\(s\)"),
        (
            {"prediction": ["a", "b"] * 250},
            COLUMNS,
            "'label' and 'prediction' have no class in common: 'label' holds",
        ),
        (
            {"prediction": range(500)},
            COLUMNS,
            "'prediction' has 500 different values, too many .* name it as probability",
        ),
        (
            {"label": range(500)},
            COLUMNS,
            "'label' has 500 different values, too many for classes",
        ),
        (
            {"label": [0, 1, 2, 3] * 125},
            COLUMNS,
            "probability: column 'score' holds that of one class, and there are 4",
        ),
        (
            {"label": [0, 1, 2, 3] * 125},
            replace(COLUMNS, prediction=None),
            "in 'label': 0, 1, 2, 3; name it as",
        ),
        ({"sex": [[1], [2]] * 250}, COLUMNS, "holds values that cannot be counted"),
    ],
)
def test_errors_name_the_column(frame, change, columns, says):
    with pytest.raises(ValueError, match=says):
        counts.read(frame.assign(**change), columns)


def test_other_bad_input_is_named(frame):
    with pytest.raises(ValueError, match="a table must be a frame .* found list"):
        counts.read([1, 2], COLUMNS)
    with pytest.raises(ValueError, match="no rows"):
        counts.read(frame[:0], COLUMNS)
    with pytest.raises(
        ValueError,
        match="positive: no class 2 in column.s. 'label' and 'prediction'; "
        "they hold '0', '1'",
    ):
        counts.read(frame, COLUMNS, positive=2)
    with pytest.raises(ValueError, match="names of columns must be words, found 7"):
        counts.read(frame.rename(columns={"label": 7}), replace(COLUMNS, label=7))


def test_one_column_may_play_two_parts(frame):
    counted = counts.read(frame, replace(COLUMNS, group=("label",)))
    assert counted.attributes["label"].names == ("0", "1")


def test_many_groups_are_noted(frame):
    many = pd.concat([frame] * 4, ignore_index=True)
    counted = counts.read(many.assign(sex=[f"g{i}" for i in range(2000)]), COLUMNS)
    assert "number rows?" in counted.notes[0]
