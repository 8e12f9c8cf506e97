"""Inputs that an audit must refuse, and inputs that look odd and must pass."""

import numpy as np
import pandas as pd
import pytest
from test_auditing import BINARY, people
from timing import quicker_than

import fairlib
from fairlib.__main__ import main
from fairlib.auditing.attributes import label_text
from fairlib.tables.delimited import Delimited


def frame_of(label, prediction, n=400, **more):
    """Return cases whose classes are drawn from the two lists; each class occurs."""
    rng = np.random.default_rng(0)

    def drawn(values):
        values = list(values)
        return values + [
            values[i] for i in rng.integers(0, len(values), n - len(values))
        ]

    outcomes = {"label": drawn(label), "prediction": drawn(prediction)}
    outcomes |= {name: drawn(values) for name, values in more.items()}
    return pd.DataFrame({"sex": ["f", "m"] * (n // 2), **outcomes})


def audited(frame, **options):
    return fairlib.audit(frame, group="sex", **BINARY, **options)


# --- codings that do not match ---

WRITING = "differ only in how they are written"
MISMATCHES = [
    (["1", "2", "x"], ["1.0", "2", "x"], WRITING),
    (["01", "02", "x"], ["1", "2", "x"], WRITING),
    ([-1, 1], [0, 1], "two classes each, but not the same two"),
    ([0, 1], [1, 2], "two classes each, but not the same two"),
    ([False, True], [1, 2], "two classes each, but not the same two"),
    ([0, 1], [0, 100], "two classes each, but not the same two"),
    (["0", "1"], ["-1", "1"], "two classes each, but not the same two"),
    ([0, 1], ["-1", "1"], "two classes each, but not the same two"),
    (["no", "yes"], ["no", "y"], "two classes each, but not the same two"),
    (["Yes", "No"], ["yes", "no"], WRITING),
    (["yes", "no"], ["yes ", "no"], WRITING),
    (["yes", "no"], ["YES", "no", "maybe"], WRITING),
    (
        ["no show", "show"],
        ["no\u00a0show", "show"],
        WRITING,
    ),
    ([True, False], ["true", "false"], WRITING),
    (["a", "b"], ["c", "d"], "no class in common"),
    ([0, 1], ["no", "yes"], "no class in common"),
    ([-1, 1], [0], "no class in common"),
    ([0], ["no"], "no class in common"),
    ([0, 1, 2], [1, 2, 3], "the same whole numbers, but shifted"),
    (["1", "2", "3", "4"], ["0", "1", "2", "3"], "the same whole numbers, but shifted"),
]


@pytest.mark.parametrize(("label", "prediction", "reason"), MISMATCHES)
def test_codings_that_do_not_match_are_refused(label, prediction, reason):
    frame = frame_of(label, prediction)
    with pytest.raises(ValueError, match=reason) as caught:
        audited(frame)
    assert "'label' holds" in str(caught.value)
    assert "'prediction' holds" in str(caught.value)

    # The other way round, and for another model's predictions.
    with pytest.raises(ValueError, match=reason):
        audited(frame_of(prediction, label))
    with pytest.raises(ValueError, match=f"'label' and 'other' .*{reason}"):
        audited(frame_of(label, label, other=prediction), compare="other")


@pytest.mark.parametrize(
    ("label", "prediction"),
    [
        ([0, 1], [0]),
        ([0, 1], [1]),
        ([0], [1]),
        ([0, 1], [False, True]),
        ([0, 1], [0.0, 1.0]),
        ([0, 1], ["0", "1"]),
        ([-1, 1], [-1, 1]),
        ([-1, 1], [1]),
        ([0, 1, 2], [0, 1]),
        ([0, 1], [0, 1, 2]),
        ([-1, 1], [-1, 0, 1]),
        (["no", "yes", "maybe"], ["no", "yes"]),
        (["a", "b", "c", "d"], ["a", "b", "c", "e"]),
        (["a", "A", "b"], ["a", "b"]),
        (["q", "Q"], ["q", "Q"]),
        ([1, 2, 4, 5], [1, 2, 3, 5]),
    ],
)
def test_odd_codings_that_match_pass(label, prediction):
    report = audited(frame_of(label, prediction), metrics="errors")
    assert len(report.to_frame())


def test_categories_say_that_there_are_more_classes():
    frame = frame_of(["a", "b"], ["b", "c"])
    with pytest.raises(ValueError, match="pandas categories that list all of them"):
        audited(frame)
    kind = pd.CategoricalDtype(["a", "b", "c"])
    report = audited(frame.astype(dict.fromkeys(BINARY.values(), kind)))
    assert report.counts.classes == ("a", "b", "c")


def test_a_class_that_no_label_has_is_named():
    report = audited(frame_of(["no", "yes"], ["no", "yes", "abstain"]))
    assert (
        "Column 'prediction' holds 'abstain', which column 'label' never does."
        in report.aside
    )
    for label in ([0, 1], [0]):
        assert "never does" not in str(audited(frame_of(label, [0, 1])))


@pytest.mark.parametrize(
    "positive", ["2", "-1", "1.5", "True", "false", "nan", "", 2, 0.5]
)
def test_positive_that_does_not_occur_is_no_name(positive):
    with pytest.raises(ValueError, match="positive: no class .*they hold '0', '1'"):
        audited(frame_of([0, 1], [0, 1]), positive=positive)


def test_positive_that_does_not_occur_is_refused_by_the_command(tmp_path, capsys):
    path = tmp_path / "p.csv"
    frame_of([0, 1], [0, 1]).to_csv(path, index=False)
    roles = ["--group", "sex", "--label", "label", "--prediction", "prediction"]
    with pytest.raises(SystemExit) as stopped:
        main(["audit", str(path), *roles, "--positive", "2"])
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert "no class '2'" in error and "they hold '0', '1'" in error

    main(["audit", str(path), *roles, "--positive", "hired"])
    capsys.readouterr()


# --- sources, weights and the order of values ---


def sources_frame(n=400):
    frame = frame_of([0, 1], [0, 1], n)
    frame["person"] = np.random.default_rng(1).permutation(n // 2).repeat(2)
    # Each person is in one group, so that groups can be exchanged.
    frame["sex"] = np.where(frame["person"] % 2, "f", "m")
    frame["site"] = 7 + frame["person"] % 5
    return frame


def test_metrics_with_sources_are_the_same_for_a_frame_and_its_csv(tmp_path):
    frame = sources_frame()
    frame.to_csv(tmp_path / "p.csv", index=False)
    columns = {"group": ["sex", "site"], **BINARY, "source": "person", "depth": 1}
    file = Delimited(tmp_path / "p.csv")
    of_frame, of_file = (
        fairlib.audit(table, **columns, metrics=["TPRGap", "FPED"])
        for table in (frame, file)
    )
    assert of_frame.metrics[["low", "p"]].notna().all().all()
    pd.testing.assert_frame_equal(of_frame.metrics, of_file.metrics)
    pd.testing.assert_frame_equal(of_frame.to_frame(), of_file.to_frame())


def test_groups_that_are_numbers_are_in_their_order():
    frame = frame_of([0, 1], [0, 1]).assign(site=["10", "9"] * 200)
    report = fairlib.audit(frame, group="site", **BINARY)
    assert report.counts.attributes["site"].names == ("9", "10")
    zeros = frame.replace({"site": {"9": "09"}})
    report = fairlib.audit(zeros, group="site", **BINARY)
    assert report.counts.attributes["site"].names == ("09", "10")


@pytest.mark.parametrize("missing", [np.nan, None])
def test_a_case_without_source_is_refused_with_the_count(missing):
    frame = sources_frame().astype({"person": object})
    frame.loc[frame.index[:3], "person"] = missing
    with pytest.raises(ValueError, match="'person' has 3 missing value"):
        audited(frame, source="person")


@pytest.mark.parametrize("scale", [1e-200, 1e-310, 1e-9, 3.7, 1e90, 1e299])
@pytest.mark.parametrize("is_constant", [False, True])
def test_the_scale_of_weights_does_not_matter(scale, is_constant):
    frame = frame_of([0, 1], [0, 1])
    rng = np.random.default_rng(0)
    frame["weight"] = 1.0 if is_constant else rng.uniform(0, 5, len(frame))
    frame["cost"] = rng.normal(size=len(frame))
    options = {"weight": "weight", "cost": "cost"}
    expected = audited(frame, **options)
    report = audited(frame.assign(weight=frame["weight"] * scale), **options)
    pd.testing.assert_frame_equal(report.to_frame(), expected.to_frame(), rtol=1e-7)
    assert report.aside == expected.aside and "nan" not in str(report)


def test_weights_of_0_alone_are_refused():
    with pytest.raises(ValueError, match="'weight' holds nothing but 0"):
        audited(frame_of([0, 1], [0, 1]).assign(weight=0), weight="weight")


# --- parts that exclude each other ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group": "label"}, "label: column 'label' .*group and label"),
        ({"group": ["sex", "prediction"]}, "prediction: column 'prediction' .*group"),
        ({"prediction": "label"}, "label: column 'label' .*label and prediction"),
        ({"source": "label"}, "label: column 'label' .*label and source"),
    ],
)
def test_a_column_plays_one_part(options, message):
    columns = {"group": "sex", **BINARY, **options}
    with pytest.raises(ValueError, match=message):
        fairlib.audit(frame_of([0, 1], [0, 1]), **columns)


def test_a_perfect_prediction_in_a_column_of_its_own_passes():
    frame = frame_of([0, 1], [0, 1]).assign(prediction=lambda f: f["label"])
    assert (audited(frame, metrics="errors").to_frame()["value"] == 0).all()


@pytest.mark.parametrize("rates", ["FP / TP FP", ["FP / TP FP"], 3, {1: "FP / TP FP"}])
def test_rates_of_a_wrong_type_are_refused(rates):
    with pytest.raises(ValueError, match="rates"):
        audited(frame_of([0, 1], [0, 1]), rates=rates)


def test_rates_are_read_before_the_table():
    with pytest.raises(ValueError, match="rates: 'x' must be a new name"):
        fairlib.audit("nowhere.parquet", group="sex", **BINARY, rates={"x": "FP"})


# --- arrays ---


def arrays_of(frame):
    return frame["label"], frame["prediction"], frame["sex"]


def test_arrays_are_audited_by_name():
    y_true, y_pred, groups = arrays_of(frame_of([0, 1], [0, 1]))
    expected = fairlib.audit(y_true, y_pred, groups).to_frame()
    by_name = fairlib.audit(y_true=y_true, y_pred=y_pred, groups=groups)
    pd.testing.assert_frame_equal(by_name.to_frame(), expected)
    mixed = fairlib.audit(y_true, y_pred=y_pred, groups=groups)
    pd.testing.assert_frame_equal(mixed.to_frame(), expected)
    unlabelled = fairlib.audit(y_pred=y_pred, groups=groups)
    assert unlabelled.counts.label is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "frame: there is nothing to audit"),
        ({"y_true": [0], "y_pred": [0]}, "groups: arrays of classes need"),
        ({"frame": [0], "y_pred": [0]}, "groups: arrays of classes need"),
        ({"frame": [0], "y_true": [0], "groups": ["a"]}, "y_true: give a table or"),
        ({"y_pred": [0], "groups": ["a"], "label": "y"}, "label: this names a column"),
        ({"y_pred": [0], "groups": ["a"], "group": "g"}, "group: this names a column"),
        ({"y_pred": [0], "groups": "sex"}, "group must be an array .*found 'sex'"),
        ({"y_pred": 1, "groups": ["a"]}, "prediction must be an array .*found 1"),
    ],
)
def test_a_table_and_arrays_exclude_each_other(options, message):
    with pytest.raises(ValueError, match=message):
        fairlib.audit(**options)


def test_series_with_the_same_index_in_another_order_are_refused():
    frame = frame_of([0, 1], [0, 1]).assign(age=1)
    y_true, y_pred, groups = arrays_of(frame)
    shuffled = frame.sample(frac=1, random_state=0)
    message = "have the same index in another order; align them by .*reindex"
    with pytest.raises(ValueError, match=f"prediction {message}"):
        fairlib.audit(y_true, shuffled["prediction"], groups)
    with pytest.raises(ValueError, match=f"sex and label {message}"):
        fairlib.audit(y_true, y_pred, shuffled[["sex"]])
    with pytest.raises(ValueError, match=f"sex and source {message}"):
        fairlib.audit(y_true, y_pred, groups, source=shuffled["age"])
    with pytest.raises(ValueError, match=f"prediction {message}"):
        fairlib.audit(shuffled["label"], y_pred.reset_index(drop=True), list(groups))


def test_series_with_other_indexes_are_refused_and_the_error_says_what_to_do():
    test_part = frame_of([0, 1], [0, 1], 800).sample(300, random_state=0)
    y_true, y_pred, groups = arrays_of(test_part)
    predicted = pd.Series(y_pred.to_numpy(), name="prediction")
    with pytest.raises(ValueError, match=r"prediction\.reset_index\(drop=True\)"):
        fairlib.audit(y_true, predicted, groups)
    with pytest.raises(ValueError, match="series with different indexes"):
        fairlib.audit(y_true.set_axis(["a"] * 300), y_pred, groups)

    # What the error says works, and so do arrays without an index.
    expected = fairlib.audit(y_true, y_pred, groups).to_frame()
    for prediction in (predicted.to_numpy(), predicted.tolist(), y_pred.copy()):
        report = fairlib.audit(y_true, prediction, groups)
        pd.testing.assert_frame_equal(report.to_frame(), expected)
    anew = [one.reset_index(drop=True) for one in (y_true, groups)]
    report = fairlib.audit(anew[0], predicted, anew[1])
    pd.testing.assert_frame_equal(report.to_frame(), expected)
    twice = [one.set_axis(["a"] * 300) for one in (y_true, y_pred, groups)]
    pd.testing.assert_frame_equal(fairlib.audit(*twice).to_frame(), expected)


@pytest.mark.parametrize(
    ("values", "as_list"),
    [
        (("a", "b"), False),
        ((1, 2), False),
        ((2**60, 2**60 + 1), False),
        ((0.5, 1), False),
        (("a", "b"), True),
        ((1, 2), True),
        ((0.5, 1), True),
    ],
)
def test_masked_values_are_missing(values, as_list):
    y_true, y_pred, _ = arrays_of(frame_of([0, 1], [0, 1], 300))
    is_masked = np.arange(300) % 3 == 0
    groups = np.ma.array(np.array(values)[np.arange(300) % 2], mask=is_masked)
    report = fairlib.audit(y_true, y_pred, list(groups) if as_list else groups)
    names = [*map(label_text, values)]
    assert report.counts.attributes["group"].names == (*names, "(missing)")
    assert "Column 'group' has no value in 100 case(s) (33.3%): set aside." in str(
        report
    )


@pytest.mark.parametrize("part", ["label", "prediction", "source", "weight"])
def test_masked_values_are_refused_where_each_case_needs_one(part):
    y_true, y_pred, groups = arrays_of(frame_of([0, 1], [0, 1], 300))
    arrays = {"label": y_true, "prediction": y_pred, "source": np.arange(300)}
    hidden = np.ma.array(arrays.get(part, np.ones(300)), mask=np.arange(300) % 3 == 0)
    more = {part: hidden} if part in ("source", "weight") else {}
    y_true, y_pred = (
        {**arrays, part: hidden}[name] for name in ("label", "prediction")
    )
    with pytest.raises(ValueError, match=f"'{part}' has 100 missing value"):
        fairlib.audit(y_true, y_pred, groups, **more)


# --- a confidence that would take too many draws ---


@pytest.mark.parametrize("confidence", [0.9999999, 1 - 1e-15])
def test_a_confidence_of_nearly_1_answers_in_seconds_and_says_what_is_left_out(
    confidence,
):
    frame = people(2000, unfair=0.3)
    options = {"group": ["sex", "age"], **BINARY, "confidence": confidence}
    report = fairlib.audit(frame, **options)
    page = report.to_html()
    assert quicker_than(15, lambda: fairlib.audit(frame, **options).to_html())
    assert report.metrics[["low", "p", "p_corrected"]].isna().all().all()
    assert report.metrics["value"].notna().any()
    (note, _) = report.metrics.attrs["notes"]
    assert "draws, more than the 15,984 that are made" in note
    assert "these metrics have no intervals and are not tested" in page


def test_a_confidence_that_draws_can_show_is_tested():
    frame = people(2000, unfair=0.3)
    report = fairlib.audit(frame, group="sex", **BINARY, confidence=0.999)
    assert report.metrics[["low", "p", "p_corrected"]].notna().any().all()
    assert not report.metrics.attrs["notes"]


def test_groups_that_are_the_labels_are_refused():
    y_true, y_pred, _ = arrays_of(frame_of([0, 1], [0, 1]))
    with pytest.raises(ValueError, match="groups: 'label' is the array of the label"):
        fairlib.audit(y_true, y_pred, y_true)
    with pytest.raises(ValueError, match="'x' is the array of the prediction"):
        fairlib.audit(y_true, y_pred, {"x": y_pred})


def test_a_constant_column_of_text_goes_with_numbers():
    frame = frame_of([0, 1], [0], other=["1"])
    report = audited(frame, compare="other")
    assert report.counts.classes == ("0", "1") and report.changes is not None
