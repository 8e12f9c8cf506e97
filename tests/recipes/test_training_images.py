"""COCO and CelebA from disk to counts, on tiny generated folders in their formats, with a tiny network."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from fairlib.amplification import measures as amp
from fairlib.recipes.training import image_sets, images
from fairlib.recipes.training.tallies import cross_entropy, tally

pil = pytest.importorskip("PIL.Image")
SIDE = 24
CATEGORIES = [{"id": 1, "name": "person"}, {"id": 27, "name": "backpack"}, {"id": 70, "name": "toilet"}]


def square(x, y, size):
    return [[x, y, x + size, y, x + size, y + size, x, y + size]]


@pytest.fixture(scope="module")
def coco_folder(tmp_path_factory):
    """90 images: women red, men blue; a backpack (green) lies over the person, a toilet (white) beside."""
    folder = tmp_path_factory.mktemp("coco")
    rng = np.random.default_rng(0)
    genders = []
    for part, splits in {"train2014": ["train"] * 40, "val2014": ["dev"] * 25 + ["test"] * 25}.items():
        (folder / part).mkdir()
        content = {"categories": CATEGORIES, "images": [], "annotations": []}
        for number, split in enumerate(splits):
            image = number + (1000 if part == "val2014" else 0)
            man, backpack, toilet = rng.random() < 0.6, rng.random() < 0.5, rng.random() < 0.4
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
            content["images"].append({"id": image, "file_name": name, "width": SIDE, "height": SIDE})
            content["annotations"] += [{"image_id": image, "category_id": c, "segmentation": s} for c, s in marks]
            genders.append((split, image, "man" if man else "woman"))
        (folder / "annotations").mkdir(exist_ok=True)
        (folder / "annotations" / f"instances_{part}.json").write_text(json.dumps(content))
    pd.DataFrame(genders, columns=["split", "image_id", "gender"]).to_csv(folder / "gender.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def celeba_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("celeba")
    (folder / "img_align_celeba").mkdir()
    rng = np.random.default_rng(1)
    lines, split = [], []
    for number in range(60):
        young, male = (1 if rng.random() < 0.5 else -1 for _ in range(2))
        pixels = np.full((20, 16, 3), 200 if young == 1 else 40, dtype=np.uint8)
        pil.fromarray(pixels).save(folder / "img_align_celeba" / f"{number:06d}.png")
        lines.append(f"{number:06d}.png {male:2d} {young:2d}")
        split.append(f"{number:06d}.png {number % 3}")
    (folder / "list_attr_celeba.txt").write_text("\n".join(["60", "Male Young", *lines]) + "\n")
    (folder / "list_eval_partition.txt").write_text("\n".join(split) + "\n")
    return folder


def test_coco_is_read_with_labels_and_outlines(coco_folder):
    sets = image_sets.coco(coco_folder, ["toilet", "backpack"])
    assert {name: len(some.paths) for name, some in sets.items()} == {"training": 40, "validation": 25, "test": 25}
    some = sets["test"]
    for index in range(len(some.paths)):
        pixels = np.asarray(pil.open(some.paths[index]))
        assert some.man[index] == (pixels[18, 5, 2] > 200)
        assert some.task[index].tolist() == [bool(pixels[17, 17].min() > 240), bool(pixels[8, 8, 1] > 200)]


def test_masks_hide_people_but_not_what_lies_over_them(coco_folder):
    some = image_sets.coco(coco_folder, ["toilet", "backpack"])["test"]
    index = int(np.flatnonzero(some.task[:, 1])[0])
    plain, full = (some.load(index, side=SIDE, mask=mask) for mask in ("none", "full"))
    people, objects = some.regions(index, (SIDE, SIDE))
    hidden = people & ~objects
    assert people[5, 5] and people[18, 8] and objects[8, 8] and not people[2, 2]
    assert (full[:, hidden] == 0).all() and np.array_equal(full[:, ~hidden], plain[:, ~hidden])
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
    assert np.array_equal(image_sets.outline(encoded, (10, 8)), polygon) and polygon.sum() == 25
    with pytest.raises(ValueError, match="found compressed run lengths"):
        image_sets.outline({"counts": "abc", "size": [8, 10]}, (10, 8))


def test_bad_folders_and_settings_are_named(coco_folder, celeba_folder):
    with pytest.raises(ValueError, match="objects must be categories of COCO, found teapot"):
        image_sets.coco(coco_folder, ["teapot"])
    some = image_sets.celeba(celeba_folder, ["Young"])["test"]
    with pytest.raises(ValueError, match="mask must be none for images without outlines"):
        some.load(0, side=8, mask="full")
    with pytest.raises(ValueError, match="mask must be one of none, noisy, full, found 'half'"):
        some.load(0, side=8, mask="half")
    with pytest.raises(ValueError, match="network must be one of vgg16, alexnet, resnet18, tiny, found 'vgg19'"):
        images.Setting(network="vgg19")


def test_tally_is_what_the_metrics_count():
    rng = np.random.default_rng(2)
    task, man = rng.random((200, 3)) < 0.4, rng.random(200) < 0.6
    labels = SimpleNamespace(task=task, man=man)
    scores = rng.random((200, 4))
    found = scores >= np.sort(scores, axis=0)[200 - np.append(task.sum(axis=0), man.sum()), range(4)]
    found, called = found[:, :3], found[:, 3]
    split = {"training": labels, "test": labels}
    table = tally(split, {"validation": scores, "test": scores}, tasks=("a", "b", "c"), seed=5)
    joint = {name: table.pivot(index="gender", columns="object", values=name) for name in ("named", "there_called")}
    assert joint["named"].loc["woman", "b"] == (found[:, 1] & ~man).sum()
    assert joint["there_called"].loc["man", "c"] == (task[:, 2] & called).sum()
    assert table["called"].unique().tolist() == [called.sum(), (~called).sum()] and (table["seed"] == 5).all()
    assert table["gender_accuracy"].unique() == [(called == man).mean()]
    only_tasks = tally(split, {"validation": scores[:, :3], "test": scores[:, :3]}, tasks=("a", "b", "c"))
    assert (only_tasks["named_called"] == only_tasks["named"]).all() and only_tasks["gender_accuracy"].isna().all()


def test_cross_entropy_is_the_mean_over_images_and_labels():
    label, chance = np.array([[1, 0], [1, 1]]), np.array([[0.5, 0.25], [0.8, 1.0]])
    assert cross_entropy(label, chance) == pytest.approx(-np.log([0.5, 0.75, 0.8, 1 - 1e-7]).mean())


def test_paper_objects():
    assert len(images.paper_objects()) == 66 and "hot_dog" in images.paper_objects()


def test_coco_end_to_end(coco_folder, tmp_path):
    pytest.importorskip("torch")
    out = tmp_path / "counts.csv"
    arguments = ["coco", str(coco_folder), "--task", "toilet", "--task", "backpack", "--network", "tiny"]
    arguments += ["--epochs", "8", "--side", "24", "--out", str(out)]
    images.main([*arguments, "--mask", "none"])
    table = pd.read_csv(out)
    assert set(table["object"]) == {"toilet", "backpack"} and (table["mask"] == "none").all()
    assert table["mean_precision"].iloc[0] > 0.5 and table["gender_accuracy"].iloc[0] > 0.6
    joint = table.pivot(index="gender", columns="object", values="there").to_numpy()
    groups = table.groupby("gender")["images"].first().to_numpy()
    labels = amp.Counts(groups.sum(), groups, joint.sum(axis=0), joint)
    named = table.pivot(index="gender", columns="object", values="named").to_numpy()
    value = amp.from_counts("A->T", labels, amp.Counts(groups.sum(), groups, named.sum(axis=0), named))
    assert -1 < value < 1
    images.main([*arguments, "--mask", "full", "--epochs", "1"])
    assert (pd.read_csv(out)["mask"] == "full").all()


def test_celeba_end_to_end_with_weights(celeba_folder):
    pytest.importorskip("torch")
    sets = image_sets.celeba(celeba_folder, ["Young"])
    setting = images.Setting(network="tiny", side=16, epochs=15, predict_attribute=False, batch=10)
    table = images.run(sets, setting=setting, seed=0)
    assert table["mean_precision"].iloc[0] > 0.9 and table["gender_accuracy"].isna().all()
    weights = np.where(sets["training"].man, 2.0, 0.5)
    again = images.train(sets, setting=setting, seed=0, weights=weights)
    assert again["test"].shape == (20, 1)
    with pytest.raises(ValueError, match=r"weights must be one per training image \(20\), found \(3,\)"):
        images.train(sets, setting=setting, seed=0, weights=np.ones(3))


def test_celeba_at_a_ratio_from_the_command_line(celeba_folder, tmp_path):
    pytest.importorskip("torch")
    out = tmp_path / "counts.csv"
    arguments = ["celeba", str(celeba_folder), "--network", "tiny", "--side", "16", "--epochs", "1", "--out", str(out)]
    images.main([*arguments, "--task", "Young", "--ratio", "2.5"])
    assert (pd.read_csv(out)["ratio"] == 2.5).all()
    with pytest.raises(ValueError, match="ratio needs one task, found 2"):
        images.main([*arguments, "--task", "Young", "--task", "Male", "--ratio", "2.5"])


def test_the_papers_networks_get_a_new_last_layer():
    pytest.importorskip("torchvision")
    for name in ("alexnet", "resnet18"):  # vgg16's last layer is where alexnet's is
        network = images.build(images.Setting(network=name, pretrained=False), 67)
        assert list(network.parameters())[-1].shape == (67,)
