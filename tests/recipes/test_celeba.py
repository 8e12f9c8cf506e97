"""CelebA: how its tables are computed, and that what is bundled hangs together."""

import numpy as np
import pandas as pd
import pytest

import fairlib
from fairlib.data import DataError
from fairlib.recipes import celeba
from fairlib.recipes.originals import at_hand

CELLS = ("true_negative", "false_positive", "false_negative", "true_positive")


@pytest.fixture
def released(tmp_path, monkeypatch):
    """The two text files of CelebA's release, with three images."""
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))
    folder = tmp_path / "celeba"
    folder.mkdir()
    labels = (
        "3\nBig_Nose Male Young \n"
        "000001.jpg  1 -1  1\n000002.jpg -1 -1 -1\n000003.jpg  1  1 -1\n"
    )
    (folder / "list_attr_celeba.txt").write_text(labels)
    (folder / "list_eval_partition.txt").write_text(
        "000001.jpg 0\n000002.jpg 2\n000003.jpg 1\n"
    )
    return folder


def test_the_released_text_files_are_read(released):
    table = celeba.read_released(
        released / "list_attr_celeba.txt", released / "list_eval_partition.txt"
    )
    assert table["image_id"].tolist() == ["000001.jpg", "000002.jpg", "000003.jpg"]
    assert table["split"].tolist() == ["train", "test", "valid"]
    assert table["Big_Nose"].tolist() == [1, 0, 1] and table["Young"].tolist() == [
        1,
        0,
        0,
    ]


def test_files_that_do_not_fit_are_refused(released):
    with pytest.raises(DataError, match="lacks the column.*Wearing_Lipstick"):
        celeba.attributes()
    labels = (
        (released / "list_attr_celeba.txt")
        .read_text()
        .replace("Big_Nose", "Wearing_Lipstick Big_Nose")
    )
    (released / "list_attr_celeba.txt").write_text(labels.replace(".jpg ", ".jpg  1 "))
    with pytest.raises(
        DataError, match="40 attributes and .*162770.* images, found 4 and .*'train': 1"
    ):
        celeba.attributes()
    (released / "list_eval_partition.txt").write_text(
        "000001.jpg 0\n000009.jpg 2\n000003.jpg 1\n"
    )
    with pytest.raises(DataError, match="same images"):
        celeba.attributes()


def test_without_any_file_the_reader_is_told_what_to_fetch(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))
    with pytest.raises(DataError, match="list_attr_celeba.txt"):
        celeba.celeba_counts()


def test_bundled_runs_count_the_test_images_of_the_bundled_counts():
    runs, counts = (
        fairlib.load("celeba_runs", source="bundled"),
        fairlib.load("celeba_counts", source="bundled"),
    )
    assert counts["count"].sum() == 202_599
    assert counts.groupby("split")["count"].sum().to_dict() == celeba.SIZES
    assert (
        runs["inputs"].eq("attributes").sum() == 130
        and not runs.duplicated(["task", "model", "balance", "ratio", "seed"]).any()
    )
    assert (
        runs.groupby(["task", "model", "balance", "ratio"], dropna=False)["seed"]
        .agg(list)
        .map(len)
        .eq(5)
        .all()
    )
    test = counts[counts["split"] == "test"]
    for task, part in runs.groupby("task"):
        for male, who in enumerate(("women", "men")):
            for label, (right, wrong) in enumerate(
                [(CELLS[0], CELLS[1]), (CELLS[3], CELLS[2])]
            ):
                n = test.loc[
                    (test["male"] == male) & (test[task] == label), "count"
                ].sum()
                assert (part[f"{who}_{right}"] + part[f"{who}_{wrong}"] == n).all()
        # Positives are as frequent as in training, give or take: the threshold was
        # calibrated for that.
        train = counts[counts["split"] == "train"]
        share = train.loc[train[task] == 1, "count"].sum() / train["count"].sum()
        positive = part.filter(regex="_(true|false)_positive").sum(axis=1) / 19_962
        assert np.abs(positive - share).max() < 0.03


@pytest.mark.slow
@pytest.mark.skipif(
    not at_hand(celeba.ATTRIBUTES), reason="the CelebA attribute table is not at hand"
)
def test_a_bundled_run_is_what_training_gives():
    from fairlib.recipes.training.tabular import run, split

    data = split(
        celeba.attributes().drop(columns="image_id"), task="Young", group="Male"
    )
    found = run(data, model="logistic regression", rng=2)
    runs = fairlib.load("celeba_runs", source="bundled")
    bundled = runs[
        (runs["task"] == "young")
        & (runs["model"] == "logistic regression")
        & (runs["seed"] == 2)
    ].iloc[0]
    assert found["average_precision"] == pytest.approx(
        bundled["average_precision"], abs=1e-4
    )
    for group, who in enumerate(("women", "men")):
        for cell in (
            CELLS
        ):  # another processor may add in another order, and a few images change sides
            assert abs(found[f"{group}_{cell}"] - bundled[f"{who}_{cell}"]) <= 20
    pd.testing.assert_frame_equal(
        celeba.celeba_counts(),
        fairlib.load("celeba_counts", source="bundled"),
        check_dtype=False,
    )
