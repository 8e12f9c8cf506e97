"""The paper's trainings on photographs from disk to the bundled tables, on generated
folders with a tiny network.
"""

import json
import os
import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix

import fairlib
from fairlib import data
from fairlib.amplification import measures as amp
from fairlib.data import DataError
from fairlib.recipes import originals, photographs
from fairlib.recipes.training import image_sets, images
from fairlib.recipes.training.tabular import majority
from fairlib.recipes.training.tallies import cross_entropy, tally

pil = pytest.importorskip("PIL.Image")
SIDE = 24
CATEGORIES = [
    {"id": 1, "name": "person"},
    {"id": 27, "name": "backpack"},
    {"id": 70, "name": "toilet"},
]


def square(x, y, size):
    return [[x, y, x + size, y, x + size, y + size, x, y + size]]


@pytest.fixture(scope="module")
def originals_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("originals")


@pytest.fixture(scope="module")
def coco_folder(originals_folder):
    """90 images: women red, men blue; a backpack (green) lies over the person, a toilet
    (white) beside.
    """
    folder = originals_folder / "coco"
    folder.mkdir()
    rng = np.random.default_rng(0)
    released = {"train": [], "dev": [], "test": []}
    for part, splits in {
        "train2014": ["train"] * 40,
        "val2014": ["dev"] * 25 + ["test"] * 25,
    }.items():
        (folder / part).mkdir()
        content = {"categories": CATEGORIES, "images": [], "annotations": []}
        for number, split in enumerate(splits):
            image = number + (1000 if part == "val2014" else 0)
            man, backpack, toilet = (
                rng.random() < 0.6,
                rng.random() < 0.5,
                rng.random() < 0.4,
            )
            pixels = rng.integers(60, 90, (SIDE, SIDE, 3), dtype=np.uint8)
            pixels[4:21, 4:13] = (30, 30, 220) if man else (220, 30, 30)
            marks = [(1, square(4, 4, 8)), (1, [[4, 12, 12, 12, 12, 20, 4, 20]])]
            if backpack:
                pixels[6:11, 6:11] = (20, 230, 20)
                marks.append((27, square(6, 6, 4)))
            if toilet:
                pixels[15:21, 15:21] = 250
                marks.append((70, square(15, 15, 5)))
            name = f"COCO_{part}_{image:012d}.png"
            pil.fromarray(pixels).save(folder / part / name)
            content["images"].append(
                {"id": image, "file_name": name, "width": SIDE, "height": SIDE}
            )
            content["annotations"] += [
                {"image_id": image, "category_id": c, "segmentation": s}
                for c, s in marks
            ]
            released[split].append(
                {
                    "img": name,
                    "annotation": np.array([man, not man, *[0] * 320], dtype=float),
                }
            )
        (folder / "annotations").mkdir(exist_ok=True)
        (folder / "annotations" / f"instances_{part}.json").write_text(
            json.dumps(content)
        )
    for split, content in released.items():
        (folder / f"{split}.data").write_bytes(pickle.dumps(content))
    return folder


@pytest.fixture(scope="module")
def celeba_folder(originals_folder):
    folder = originals_folder / "celeba"
    (folder / "img_align_celeba").mkdir(parents=True)
    rng = np.random.default_rng(1)
    lines, split = [], []
    for number in range(60):
        young, male, nose = (1 if rng.random() < 0.5 else -1 for _ in range(3))
        pixels = np.full((20, 16, 3), 200 if young == 1 else 40, dtype=np.uint8)
        pil.fromarray(pixels).save(folder / "img_align_celeba" / f"{number:06d}.png")
        lines.append(f"{number:06d}.png {male:2d} {young:2d} {nose:2d}")
        split.append(f"{number:06d}.png {number % 3}")
    (folder / "list_attr_celeba.txt").write_text(
        "\n".join(["60", "Male Young Big_Nose", *lines]) + "\n"
    )
    (folder / "list_eval_partition.txt").write_text("\n".join(split) + "\n")
    return folder


def test_coco_is_read_with_labels_and_outlines(coco_folder):
    sets = image_sets.coco(coco_folder, ("toilet", "backpack"))
    # 9 of 40: the released share of validation images
    assert {name: len(some.paths) for name, some in sets.items()} == {
        "training": 31,
        "validation": 9,
        "test": 25,
    }
    parts = {name: {path.name for path in some.paths} for name, some in sets.items()}
    assert not parts["training"] & parts["validation"]
    assert all("train2014" in name for name in parts["training"] | parts["validation"])
    assert parts["test"] == {
        f"COCO_val2014_{1000 + number:012d}.png" for number in range(25)
    }  # dev, not test
    for some in sets.values():
        for index, path in enumerate(some.paths):
            pixels = np.asarray(pil.open(path))
            assert some.man[index] == (pixels[18, 5, 2] > 200)
            assert some.task[index].tolist() == [
                bool(pixels[17, 17].min() > 240),
                bool(pixels[8, 8, 1] > 200),
            ]
    again = image_sets.coco(coco_folder, ("toilet", "backpack"))
    assert again["validation"].paths == sets["validation"].paths


# What Python 2 writes for a list with the dictionary
# {"img": "COCO_val2014_000000000042.jpg", "annotation": numpy.array([1.0, 0.0])}.
PYTHON2 = (
    b"(lp0\n(dp1\nS'img'\np2\nS'COCO_val2014_000000000042.jpg'\np3\nsS'annotation'\np4\n"
    b"cnumpy.core.multiarray\n_reconstruct\np5\n(cnumpy\nndarray\np6\n(I0\ntp7\nS'b'\np8\ntp9\nRp10\n"
    b"(I1\n(I2\ntp11\ncnumpy\ndtype\np12\n(S'f8'\np13\nI0\nI1\ntp14\nRp15\n"
    b"(I3\nS'<'\np16\nNNNI-1\nI-1\nI0\ntp17\nbI00\n"
    b"S'\\x00\\x00\\x00\\x00\\x00\\x00\\xf0?\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00'\np18\ntp19\nbsa."
)


def test_genders_are_taken_as_released(tmp_path):
    woman = [{"img": "COCO_train2014_000000000007.jpg", "annotation": [0, 1]}]
    (tmp_path / "train.data").write_bytes(pickle.dumps(woman, protocol=0))
    (tmp_path / "dev.data").write_bytes(PYTHON2)
    with pytest.raises(
        DataError,
        match=r"test.data is not there; it is in github.com/uclanlp/reducingbias",
    ):
        image_sets.genders(tmp_path)
    (tmp_path / "test.data").write_bytes(pickle.dumps([]))
    found = image_sets.genders(tmp_path)
    assert found.to_numpy().tolist() == [["train", 7, "woman"], ["dev", 42, "man"]]


@pytest.mark.parametrize(
    "content",
    [
        b"csubprocess\ncall\n(S'true'\ntR.",
        pickle.dumps([{"img": "a_1.jpg"}]),
        b"text",
        b"",
    ],
)
def test_a_file_of_genders_that_is_none_is_refused(tmp_path, content):
    (tmp_path / "train.data").write_bytes(content)
    with pytest.raises(
        DataError, match="train.data is not one of the released lists of images"
    ):
        image_sets.genders(tmp_path)


def test_masks_hide_people_but_not_what_lies_over_them(coco_folder):
    some = image_sets.coco(coco_folder, ("toilet", "backpack"))["test"]
    index = int(np.flatnonzero(some.task[:, 1])[0])
    plain, full = (some.load(index, side=SIDE, mask=mask) for mask in ("none", "full"))
    people, objects = some.regions(index, (SIDE, SIDE))
    hidden = people & ~objects
    assert people[5, 5] and people[18, 8] and objects[8, 8] and not people[2, 2]
    assert (full[:, hidden] == 0).all() and np.array_equal(
        full[:, ~hidden], plain[:, ~hidden]
    )
    assert plain[1, 8, 8] == full[1, 8, 8] > 0.8
    noisy = some.load(index, side=SIDE, mask="noisy", rng=3)
    assert 0.3 < (noisy[:, hidden] == 0).all(axis=0).mean() < 0.7
    assert np.array_equal(noisy, some.load(index, side=SIDE, mask="noisy", rng=3))


def test_outlines_from_polygons_and_run_lengths_agree():
    polygon = image_sets.outline(square(2, 3, 4), (10, 8))
    runs, down = [], polygon.T.ravel()
    current, length = False, 0
    for value in down:
        if value != current:
            runs.append(length)
            current, length = value, 0
        length += 1
    encoded = {"counts": [*runs, length], "size": [8, 10]}
    assert (
        np.array_equal(image_sets.outline(encoded, (10, 8)), polygon)
        and polygon.sum() == 25
    )
    with pytest.raises(ValueError, match="found compressed run lengths"):
        image_sets.outline({"counts": "abc", "size": [8, 10]}, (10, 8))


def test_bad_folders_and_masks_are_named(coco_folder, celeba_folder):
    with pytest.raises(
        ValueError, match="objects must be categories of COCO, found teapot"
    ):
        image_sets.coco(coco_folder, ("teapot",))
    some = image_sets.celeba(celeba_folder, ("Young",))["test"]
    with pytest.raises(
        ValueError, match="mask must be none for images without outlines"
    ):
        some.load(0, side=8, mask="full")
    with pytest.raises(
        ValueError, match="mask must be one of none, noisy, full, found 'half'"
    ):
        some.load(0, side=8, mask="half")


def test_tally_is_what_the_metrics_count():
    rng = np.random.default_rng(2)
    task, man = rng.random((200, 3)) < 0.4, rng.random(200) < 0.6
    labels = SimpleNamespace(task=task, man=man)
    scores = rng.random((200, 4))
    found = (
        scores
        >= np.sort(scores, axis=0)[
            200 - np.append(task.sum(axis=0), man.sum()), range(4)
        ]
    )
    found, called = found[:, :3], found[:, 3]
    split = {"training": labels, "test": labels}
    table = tally(
        split, {"validation": scores, "test": scores}, tasks=("a", "b", "c"), seed=5
    )
    joint = {
        name: table.pivot(index="gender", columns="object", values=name)
        for name in ("named", "there_called")
    }
    assert joint["named"].loc["woman", "b"] == (found[:, 1] & ~man).sum()
    assert joint["there_called"].loc["man", "c"] == (task[:, 2] & called).sum()
    assert (
        table["called"].unique().tolist() == [called.sum(), (~called).sum()]
        and (table["seed"] == 5).all()
    )
    assert table["gender_accuracy"].unique() == [(called == man).mean()]
    for (gender, rows), who in zip(table.groupby("gender"), (man, ~man), strict=True):
        tn, fp, fn, tp = np.transpose(
            [confusion_matrix(task[who, t], found[who, t]).ravel() for t in range(3)]
        )
        assert rows["there_named"].tolist() == tp.tolist(), gender
        assert (rows["named"] - rows["there_named"]).tolist() == fp.tolist()
        assert (rows["there"] - rows["there_named"]).tolist() == fn.tolist()
        assert (
            rows["images"] - rows["there"] - rows["named"] + rows["there_named"]
        ).tolist() == tn.tolist()
        assert rows["called_right"].unique() == (called == man)[who].sum()
    halves = {
        "training": SimpleNamespace(task=task[:9], man=man[:9]),
        "validation": labels,
        "test": labels,
    }
    again = tally(
        halves,
        {"validation": scores, "test": scores},
        tasks=("a", "b", "c"),
        calibrate="validation",
    )
    # Whatever the share in training.
    assert again["named"].tolist() == table["named"].tolist()
    only_tasks = tally(
        split,
        {"validation": scores[:, :3], "test": scores[:, :3]},
        tasks=("a", "b", "c"),
    )
    assert (only_tasks["named_called"] == only_tasks["named"]).all() and only_tasks[
        "gender_accuracy"
    ].isna().all()


def test_cross_entropy_is_the_mean_over_images_and_labels():
    label, chance = np.array([[1, 0], [1, 1]]), np.array([[0.5, 0.25], [0.8, 1.0]])
    assert cross_entropy(label, chance) == pytest.approx(
        -np.log([0.5, 0.75, 0.8, 1 - 1e-7]).mean()
    )


def tiny(network, outputs, weights=None):
    from torch import nn

    layers = [
        nn.Conv2d(3, 8, 5, stride=2),
        nn.ReLU(),
        nn.Conv2d(8, 16, 5, stride=2),
        nn.ReLU(),
    ]
    return nn.Sequential(
        *layers, nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(256, outputs)
    )


def shrink(setattr, bundled):
    """Put a tiny network for one epoch and two objects in the paper's place, and
    bundled tables that may be written.
    """
    released, load = images.setting_of, images.load
    fast = {"side": 14, "epochs": 1, "workers": 2, "rate": 0.05}
    setattr(
        images,
        "setting_of",
        lambda which, training: replace(released(which, training), **fast),
    )
    setattr(images, "build", tiny)
    for name in photographs.TABLES.values():
        shutil.copytree(data.BUNDLED / name, bundled / name)
    for module in (data, originals):
        setattr(module, "BUNDLED", bundled)
    objects = pd.DataFrame({"object": ["toilet", "backpack"]})
    setattr(
        images,
        "load",
        lambda name, source: objects if name == "coco_mals" else load(name, source),
    )


@pytest.fixture
def small(originals_folder, coco_folder, celeba_folder, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setenv("FAIRLIB_DATA", str(originals_folder))
    shrink(monkeypatch.setattr, tmp_path)
    yield originals_folder
    for which in photographs.TABLES:
        shutil.rmtree(originals_folder / which / "runs", ignore_errors=True)


def test_trainings_are_the_released_ones():
    assert {
        which: len(trainings) for which, trainings in photographs.TRAININGS.items()
    } == {"coco": 15, "celeba": 80}
    paths = [
        photographs.path_of(which, one)
        for which, some in photographs.TRAININGS.items()
        for one in some
    ]
    assert len(set(paths)) == 95
    assert [path.name for path in paths[:2]] == ["none_0.csv", "none_1.csv"]
    assert (
        paths[-1].name == "young_resnet18_weights_2.5_4.csv"
        and paths[15].name == "big_nose_vgg16_0.csv"
    )
    coco = images.setting_of("coco", {"mask": "full", "seed": 0})
    assert coco == images.Setting(
        network="VGG16",
        rate=0.05,
        momentum=0.5,
        decay=0.0,
        batch=64,
        epochs=12,
        mask="full",
    )
    settings = [
        images.setting_of("celeba", one) for one in photographs.TRAININGS["celeba"]
    ]
    assert {(one.network, one.rate) for one in settings if one.ratio is None} == set(
        images.RATES.items()
    )
    assert {(one.network, one.rate) for one in settings if one.ratio} == {
        ("ResNet18", 0.00014)
    }
    assert {
        (one.momentum, one.decay, one.batch, one.epochs, one.two_logits)
        for one in settings
    } == {(0.9, 0.0005, 64, 10, True)}


def test_runs_join_the_stand_ins_when_all_are_finished(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))
    stand_ins = pd.DataFrame(
        {"seed": [0, 1], "inputs": "attributes", "share": [0.1, 0.2]}
    )
    paths = [
        photographs.path_of("celeba", training)
        for training in photographs.TRAININGS["celeba"]
    ]
    paths[0].parent.mkdir(parents=True)
    for number, path in enumerate(paths):
        assert photographs.with_photographs(stand_ins, "celeba").equals(stand_ins)
        path.write_text(f"inputs,share,more,seed\nphotographs,0.5,x,{number}\n")
    found = photographs.with_photographs(stand_ins, "celeba")
    assert found.columns.tolist() == ["seed", "inputs", "share"]
    assert (
        found["seed"].tolist() == [0, 1, *range(80)]
        and found["inputs"].value_counts()["photographs"] == 80
    )
    # Again: not twice.
    assert photographs.with_photographs(found, "celeba").equals(found)


@pytest.mark.parametrize("n", [1, 8, 9, 40, 90])
def test_batches_are_all_images_in_order_whatever_is_read_ahead(n):
    some = SimpleNamespace(
        load=lambda index, side, mask, rng: np.full((3, 1, 1), index, dtype=np.float32)
    )
    order = np.random.default_rng(n).permutation(n)
    batches = list(images._batches(some, order, images.Setting(batch=8), 0))
    assert [len(rows) for rows, _ in batches] == [8] * (n // 8) + [n % 8] * (n % 8 > 0)
    rows, pixels = (np.concatenate(part) for part in zip(*batches, strict=True))
    assert rows.tolist() == order.tolist()
    shown = pixels * images.DEVIATION[:, None, None] + images.MEAN[:, None, None]
    assert shown[:, 1, 0, 0] == pytest.approx(order, abs=1e-4)


def test_two_logits_are_a_softmax_to_the_gradient_too():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    pixels, label = torch.randn(50, 6), torch.randint(0, 2, (50,))
    networks = [torch.nn.Linear(6, 2) for _ in range(2)]
    networks[1].load_state_dict(networks[0].state_dict())
    logits = images._logits(
        networks[0], pixels.numpy(), images.Setting(two_logits=True)
    )
    ours = torch.nn.functional.binary_cross_entropy_with_logits(
        logits[:, 0], label.float()
    )
    theirs = torch.nn.functional.cross_entropy(networks[1](pixels), label)
    for loss in (ours, theirs):
        loss.backward()
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-6)
    torch.testing.assert_close(networks[0].weight.grad, networks[1].weight.grad)


def test_weights_set_the_ratio_in_training_and_carry_over():
    rng = np.random.default_rng(4)
    man = rng.random(3000) < 0.4
    task = (rng.random(3000) < np.where(man, 0.6, 0.2))[:, None]
    sets = {
        name: SimpleNamespace(task=task[rows], man=man[rows])
        for name, rows in {
            "training": slice(2000),
            "validation": slice(2000, None),
        }.items()
    }
    weights = images._weights(sets, 1.5)
    major = task[:, 0] == man
    assert weights["training"].mean() == pytest.approx(1, abs=1e-5)
    parts = [weights["training"][rows[:2000]].sum() for rows in (major, ~major)]
    assert parts[0] / parts[1] == pytest.approx(1.5, rel=1e-4)
    assert set(weights["validation"][major[2000:]]) == {
        weights["training"][major[:2000]][0]
    }
    assert (images._weights(sets, None)["validation"] == 1).all()


def test_thresholds_mark_as_many_validation_images_as_have_the_label(monkeypatch):
    rng = np.random.default_rng(6)
    rates = {"training": 0.2, "validation": 0.5, "test": 0.8}
    sets = {
        name: image_sets.ImageSet(
            paths=[name] * 200,
            task=rng.random((200, 2)) < rate,
            man=rng.random(200) < 0.6,
            tasks=("Young", "Big_Nose"),
        )
        for name, rate in rates.items()
    }
    # The same images twice: what is marked in validation is marked in the test.
    scores = rng.random((200, 3))
    monkeypatch.setattr(
        images, "train", lambda *_, **__: {"validation": scores, "test": scores}
    )
    table = images.run(sets, "coco", {"mask": "none", "seed": 0}, images.Setting())
    wanted = sets["validation"].task.sum(axis=0).tolist()
    assert table.groupby("object", sort=False)["named"].sum().tolist() == wanted
    assert table["called"].iloc[0] == sets["validation"].man.sum()
    row = images.run(
        sets, "celeba", {"task": "Young", "seed": 0}, images.Setting()
    ).iloc[0]
    assert row.filter(regex="(true|false)_positive").sum() == wanted[0]


def test_a_ratio_weighs_the_loss(small, celeba_folder):
    sets = {
        name: some.only("Young")
        for name, some in image_sets.celeba(celeba_folder, photographs.TASKS).items()
    }
    setting = images.Setting(
        side=14, epochs=1, rate=0.05, two_logits=True, predict_attribute=False, batch=20
    )
    major = majority(sets["training"].task[:, 0], sets["training"].man)
    natural = major.sum() / (~major).sum()
    plain, same, other = (
        images.train(sets, setting=replace(setting, ratio=ratio), seed=0)["test"]
        for ratio in (None, natural, 9 * natural)
    )
    assert plain == pytest.approx(same, abs=1e-5) and np.abs(plain - other).max() > 1e-3


def test_coco_from_photographs_to_the_bundled_table(small, monkeypatch, capsys):
    stand_ins = fairlib.load("masking_runs")
    runs = small / "coco" / "runs"
    left = iter(range(4))

    def interrupted(network, outputs):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return tiny(network, outputs)

    monkeypatch.setattr(images, "build", interrupted)
    with pytest.raises(KeyboardInterrupt):
        images.train_all("coco")
    assert sorted(path.name for path in runs.iterdir()) == [
        f"none_{seed}.csv" for seed in range(4)
    ]
    # Nothing half done.
    pd.testing.assert_frame_equal(fairlib.load("masking_runs"), stand_ins)
    kept = (runs / "none_3.csv").stat().st_mtime_ns
    monkeypatch.setattr(images, "build", tiny)
    images.train_all("coco")
    assert (runs / "none_3.csv").stat().st_mtime_ns == kept and len(
        list(runs.iterdir())
    ) == 15
    monkeypatch.delattr(images, "build")
    images.train_all("coco")  # trains nothing
    assert capsys.readouterr().out.count("minutes") == 15
    table = fairlib.load("masking_runs")
    real = table[table["inputs"] == photographs.PHOTOGRAPHS]
    pd.testing.assert_frame_equal(table[: len(stand_ins)], stand_ins, check_dtype=False)
    assert len(real) == 15 * 2 * 2 and real["objects"].unique() == ["photographed"]
    assert (
        real.groupby(["mask", "seed"]).size().eq(4).all()
        and len(real.groupby(["mask", "seed"])) == 15
    )
    assert not real.drop(columns="gender_accuracy").isna().to_numpy().any()
    assert (real["there_named"] <= real[["there", "named"]].min(axis=1)).all()
    for _, rows in real.groupby(["mask", "seed"]):
        assert rows["images"].unique().sum() == rows["called"].unique().sum() == 25
        cells = {
            name: rows.pivot(index="gender", columns="object", values=name).to_numpy()
            for name in rows
        }
        labels, named = (
            amp.Counts(25, cells["images"][:, 0], cells[n].sum(axis=0), cells[n])
            for n in ("there", "named")
        )
        assert -1 < amp.from_counts("A->T", labels, named) < 1


def test_make_images_trains_everything(small, tmp_path):
    """The command itself, but for the installation and the size of the network."""
    stand_ins = fairlib.load("celeba_runs")
    (tmp_path / "bin").mkdir()
    driver = (
        "import sys, test_training_images as t; from pathlib import Path; "
        "assert sys.argv[1] == '-m'; "
        f"t.shrink(setattr, Path('{tmp_path}/made')); "
        "assert sys.argv[2] == t.images.__name__; t.images.main()"
    )
    shell = f'#!/bin/sh\n[ "$2" = pip ] || exec {sys.executable} -c "{driver}" "$@"\n'
    (tmp_path / "bin" / "python").write_text(shell)
    (tmp_path / "bin" / "python").chmod(0o755)
    (tmp_path / ".installed").touch()
    where = os.environ | {
        "PYTHONPATH": f"{data.ROOT}:{data.ROOT / 'tests' / 'recipes'}"
    }
    said = subprocess.check_output(
        ["make", "images", f"VENV={tmp_path}"], cwd=data.ROOT, env=where, text=True
    )
    assert said.count("minutes") == 95 and "all 80 trainings are in" in said
    table = pd.read_csv(tmp_path / "made" / "celeba_runs" / "celeba_runs.csv")
    pd.testing.assert_frame_equal(table[: len(stand_ins)], stand_ins)
    real = table[table["inputs"] == photographs.PHOTOGRAPHS]
    assert (
        len(real) == 80
        and not real.duplicated(["task", "model", "ratio", "seed"]).any()
    )
    assert set(real["task"]) == set(stand_ins["task"]) and set(real["balance"]) == {
        "as is",
        "weights",
    }
    assert real.filter(regex="^(women|men)_").sum(axis=1).eq(20).all()
    assert not real.drop(columns="ratio").isna().to_numpy().any()
    masks = pd.read_csv(tmp_path / "made" / "masking_runs" / "masking_runs.csv")[
        "inputs"
    ]
    assert masks.eq(photographs.PHOTOGRAPHS).sum() == 15 * 2 * 2


def test_a_network_learns_what_is_to_be_seen(small, coco_folder, celeba_folder):
    setting = images.Setting(
        side=16,
        epochs=15,
        rate=0.05,
        momentum=0.9,
        two_logits=True,
        predict_attribute=False,
        batch=10,
    )
    one = {
        "task": "Young",
        "model": "tiny",
        "balance": "as is",
        "ratio": None,
        "seed": 0,
    }
    sets = image_sets.celeba(celeba_folder, photographs.TASKS)
    found = images.run(sets, "celeba", one, setting).iloc[0]
    assert found["average_precision"] > 0.9 and found["task"] == "young"
    assert (
        found["women_true_positive"] + found["men_true_positive"]
        == sets["test"].task[:, 1].sum()
    )
    sets = image_sets.coco(coco_folder, ("toilet", "backpack"))
    setting = images.Setting(side=24, epochs=30, rate=0.1, momentum=0.9, batch=8)
    found = images.run(sets, "coco", {"mask": "none", "seed": 0}, setting)
    assert (
        found["mean_precision"].iloc[0] > 0.8 and found["gender_accuracy"].iloc[0] > 0.8
    )
    with pytest.raises(ValueError, match="setting must let the loss fall"):
        images.train(sets, setting=replace(setting, rate=np.inf, epochs=2), seed=0)


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))
    with pytest.raises(
        DataError, match=r"no photographs found: put COCO 2014 \(train2014/.*CelebA"
    ):
        images.main()


def test_the_papers_networks_get_a_new_last_layer():
    pytest.importorskip("torchvision")
    for name in ("AlexNet", "ResNet18"):  # VGG16's last layer is where AlexNet's is
        assert list(images.build(name, 67, weights=None).parameters())[-1].shape == (
            67,
        )
