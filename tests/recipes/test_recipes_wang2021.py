"""The recipes of paper 3 on small files of the same format, and what is bundled."""

import hashlib
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import fairlib
from fairlib import amplification as amp
from fairlib.recipes import captions as captioned
from fairlib.recipes import wang2021 as paper
from fairlib.recipes.caption_words import read_gender, read_objects

OBJECTS = ["bed", "tie", "dog"]


@pytest.fixture
def originals(tmp_path, monkeypatch):
    """Write small stand-ins for the genuine files, and make the recipes expect them."""
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))
    rng = np.random.default_rng(0)
    n = 400
    man = rng.random(n) < 0.6
    labels = pd.DataFrame(
        {
            "split": np.where(np.arange(n) < 200, "dev", "test"),
            "image_id": np.arange(n)[::-1],
        }
    )
    labels["gender"] = np.where(man, "man", "woman")
    for name, (women, men) in zip(
        OBJECTS, ((0.5, 0.3), (0.1, 0.6), (0.3, 0.3)), strict=True
    ):
        labels[name] = rng.random(n) < np.where(man, men, women)
    captions = pd.DataFrame({"image_id": np.arange(n)})
    for model in captioned.MODELS:
        who = np.array(["a man", "a woman", "a person", "a man and a woman"])[
            rng.integers(0, 4, n)
        ]
        what = np.array(["", " with a tie", " on a bed", " with a dog in bed"])[
            rng.integers(0, 4, n)
        ]
        captions[model] = np.char.add(who, what)
    shares = pd.DataFrame(
        {
            "object": ["bed", "person", "tie", "dog"],
            "training_ratio": [0.48, 0.6, 0.9, 0.55],
        }
    )
    shares["gender_ratio_before_RBA"] = [0.4, 0.62, 0.95, 0.5]
    shares["gender_ratio_after_RBA"] = [0.45, 0.61, 0.91, 0.5]
    training = pd.DataFrame(
        {"image_id": range(5), "gender": ["man"] * 3 + ["woman"] * 2}
    )

    def put(module, name, frame):
        file = getattr(module, name)
        path = tmp_path / file.path
        path.parent.mkdir(exist_ok=True)
        frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(
            path, index=False
        )
        content = path.read_bytes()
        small = replace(
            file, sha256=hashlib.sha256(content).hexdigest(), size=len(content)
        )
        for owner in (paper, captioned):
            if hasattr(owner, name):
                monkeypatch.setattr(owner, name, small)

    put(paper, "COCO_RATIOS", shares)
    put(paper, "LABELS", labels)
    put(paper, "TRAINING", training)
    put(captioned, "CAPTIONS", captions)
    return labels, captions


def test_mals_from_shares(originals):
    table = paper.coco_mals().set_index("object")
    assert table.loc["bed", ["majority", "training_share"]].tolist() == ["woman", 0.52]
    assert table.loc["bed", "change_before"] == pytest.approx(0.08)
    assert table["change_before"].mean() == pytest.approx(
        (0.08 + 0.02 + 0.05 - 0.05) / 4
    )
    rates = paper.training_counts(table.reset_index(), ["bed", "tie", "dog"], men=0.6)
    assert rates.attribute_given_task[0] == pytest.approx([0.48, 0.9, 0.55])
    y = amp.directions(
        paper.training_counts(table.reset_index(), ["bed", "tie"], men=0.6)
    )
    assert y.tolist() == [[0, 1], [1, 0]]


def test_training_counts_come_back_from_twelve_digits(originals, tmp_path, monkeypatch):
    """Counts of 3,001 images, released as shares: the fraction is exact, and the truth
    among the multiples.
    """
    rng = np.random.default_rng(1)
    labels = pd.DataFrame({"split": "dev", "image_id": np.arange(700), "gender": "man"})
    rates = dict(zip(OBJECTS, (0.05, 0.2, 0.6), strict=True))
    labels = labels.assign(
        **{name: rng.random(700) < rate for name, rate in rates.items()}
    )
    images = pd.Series(
        {name: rng.binomial(3001, rate) for name, rate in rates.items()}
        | {"person": 3001}
    )
    men = (
        images * pd.Series({"bed": 1 / 3, "tie": 0.8, "dog": 0.5, "person": 0.7})
    ).astype(int)
    # Shares with small denominators.
    images["bed"], men["bed"], men["dog"] = (
        150,
        50,
        images["dog"] // 4 * 2,
    )
    table = pd.DataFrame(
        {
            "object": images.index,
            "training_ratio": [f"{share:.12g}" for share in men / images],
        }
    )
    for name, frame in {"COCO_RATIOS": table, "LABELS": labels}.items():
        path = tmp_path / getattr(paper, name).path
        frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(
            path, index=False
        )
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        monkeypatch.setattr(
            paper,
            name,
            replace(getattr(paper, name), sha256=digest, size=path.stat().st_size),
        )
    found = paper.coco_training().set_index("object").loc[images.index]
    assert (found["men"] * images == found["images"] * men).all()
    truth = images / found["images"]
    assert ((found["lowest"] <= truth) & (truth <= found["highest"])).all()
    assert (found["multiple"] == truth)[["tie", "person"]].all() and found.loc[
        "person", "images"
    ] == 3001
    assert (
        found.loc["bed", ["men", "images"]].tolist() == [1, 3]
        and found.loc["bed", "lowest"] < 50
    )


def test_bundled_training_counts_say_what_is_known():
    """41 of 66 fractions are the counts, 8 a known multiple of them; the number of
    images follows from the people.
    """
    table = fairlib.load("coco_training", source="bundled").set_index("object")
    shares = fairlib.load("coco_mals", source="bundled").set_index("object")
    of_men = shares["training_share"].where(
        shares["majority"] == "man", 1 - shares["training_share"]
    )
    assert of_men.to_numpy() == pytest.approx(
        (table["men"] / table["images"])[of_men.index].to_numpy(), abs=1e-12
    )
    known = table["lowest"] == table["highest"]
    assert (known.sum(), (known & (table["multiple"] == 1)).sum()) == (49, 41)
    assert table.loc["person", ["men", "images", "multiple"]].tolist() == [
        16168,
        22761,
        1,
    ]
    assert table.loc["oven", ["men", "images", "highest"]].tolist() == [237, 425, 1]
    assert (
        (table["lowest"] <= table["multiple"]) & (table["multiple"] <= table["highest"])
    ).all()


def test_objects_are_counted_by_split_and_gender(originals):
    labels, _ = originals
    table = paper.coco_objects().set_index(["split", "object"])
    assert table.loc[("train", paper.EVERY)].tolist() == [3, 2]
    dev = labels[labels["split"] == "dev"]
    assert (
        table.loc[("dev", "tie"), "man"]
        == (dev["tie"] & (dev["gender"] == "man")).sum()
    )
    assert len(table) == 1 + 2 * (1 + len(OBJECTS))


def test_captions_are_counted_as_a_loop_would(originals):
    labels, captions = originals
    table = captioned.coco_captions().set_index(["model", "gender", "object"])
    by_image = labels.set_index("image_id")
    for key in (
        ("equalizer", "woman", "dog"),
        ("baseline_ft", "man", "tie"),
        ("upweight", "man", paper.EVERY),
    ):
        model, gender, name = key
        found = dict.fromkeys(
            ("images", "there", "named", "named_there", "called_man", "called_both"), 0
        )
        for image, sentence in zip(captions["image_id"], captions[model], strict=True):
            if by_image.loc[image, "gender"] != gender:
                continue
            there = name == paper.EVERY or by_image.loc[image, name]
            named = name != paper.EVERY and f" {name}" in sentence
            found["images"] += 1
            found["there"] += there
            found["named"] += named
            found["named_there"] += named and there
            found["called_man"] += there and "a man" in sentence
            found["called_both"] += there and "man and a woman" in sentence
        assert table.loc[key, list(found)].to_dict() == found


def test_caption_amplification_is_the_metric_with_the_influence_functions_error(
    originals,
):
    labels, captions = originals
    table = (
        captioned.coco_caption_amplification()
        .set_index(["measure", "model", "object"])
        .sort_index()
    )
    labels = labels.set_index("image_id").loc[captions["image_id"]].reset_index()
    train = paper.training_counts(paper.coco_mals(), OBJECTS, men=0.6)
    attribute = pd.get_dummies(labels["gender"])[list(paper.GENDERS)]
    for model in ("baseline_ft", "equalizer"):
        named = read_objects(captions[model], OBJECTS)
        row = table.loc[("A->T", model, paper.EVERY)]
        assert row["value"] == pytest.approx(
            amp.attribute_to_task(labels[OBJECTS], attribute, named, train=train)
        )
        error = (
            amp.interval(
                "A->T", labels[OBJECTS], attribute, named, train=train
            ).half_width
            / 1.96
        )
        # The interval takes Student's quantile.
        assert row["standard_error"] == pytest.approx(error, rel=0.05)
        # blind: an object is named as often where it is there, and as often where it is
        # not, whatever the gender
        there, said = labels[OBJECTS].to_numpy(dtype=bool), named.to_numpy()
        often = [
            np.where(there == flag, said, 0).sum(axis=0) / (there == flag).sum(axis=0)
            for flag in (True, False)
        ]
        blind = amp.attribute_to_task(
            labels[OBJECTS], attribute, np.where(there, *often), train=train
        )
        assert table.loc[("A->T blind", model, paper.EVERY), "value"] == pytest.approx(
            blind
        )
        assert table.loc[("A->T excess", model, paper.EVERY), "value"] == pytest.approx(
            table.loc[("A->T", model, paper.EVERY), "value"] - blind
        )
        called = read_gender(captions[model])
        one = called["man"] ^ called["woman"]
        arguments = (labels.loc[one, OBJECTS], attribute[one], called[one])
        row = table.loc[("T->A", model, paper.EVERY)]
        assert row["value"] == pytest.approx(
            amp.task_to_attribute(*arguments, train=train)
        )
        error = amp.interval("T->A", *arguments, train=train).half_width / 1.96
        # The interval takes Student's quantile.
        assert row["standard_error"] == pytest.approx(error, rel=0.05)
        # blind: the same errors by gender, whatever the object
        truth = attribute[one].to_numpy(dtype=float)
        chances = truth @ (
            truth.T @ called[one].to_numpy(dtype=float) / truth.sum(axis=0)[:, None]
        )
        blind = amp.task_to_attribute(
            labels.loc[one, OBJECTS], attribute[one], chances, train=train
        )
        assert table.loc[("T->A blind", model, paper.EVERY), "value"] == pytest.approx(
            blind
        )
    pairs = table.loc["A->T"].loc["equalizer"].drop(index=paper.EVERY)
    assert pairs["value"].mean() == pytest.approx(
        table.loc[("A->T", "equalizer", paper.EVERY), "value"]
    )
    assert (table.loc[("A->T", "baseline_ft"), "change_error"] == 0).all()


def test_caption_means_for_other_shares_of_men(originals):
    table = captioned.coco_caption_shares()
    assert table["source"].unique().tolist() == [
        "public file",
        "oven, lowest",
        "oven, highest",
        "released shares",
    ]
    released = table[table["source"] == "released shares"]
    assert released["share_of_men"].eq(0.6).all()

    rows = table.set_index(["source", "measure", "model"]).sort_index()
    columns = ["value", "standard_error", "change", "change_error"]
    one_share = captioned.coco_caption_amplification()
    means = one_share[one_share["object"] == paper.EVERY]
    means = means.set_index(["measure", "model"])[columns].sort_index()
    for measure in means.index.levels[0]:
        expected = means.loc[measure].to_numpy()
        # The stand-ins have as many men in training as the released shares. Their
        # captions name every object often.
        same = [measure]
        if measure in ("T->A", "T->A excess"):
            same.append(f"{measure}, all objects")
        for source in ("public file", "released shares"):
            for name in same:
                found = rows.loc[(source, name), columns].to_numpy()
                assert found == pytest.approx(expected)

    counts = captioned.coco_captions()
    every = counts[counts["object"] == paper.EVERY]
    one = every["called_man"] + every["called_woman"] - 2 * every["called_both"]
    named_one = one.groupby(every["model"]).sum()
    other = every["called_woman"].where(every["gender"] == "man", every["called_man"])
    wrong = (other - every["called_both"]).groupby(every["model"]).sum()
    for model in captioned.MODELS:
        rate = rows.loc[("public file", "wrong gender", model)]
        expected = wrong[model] / named_one[model]
        assert rate["value"] == pytest.approx(expected)
        # Of a share, the jackknife's standard error is the usual one.
        usual = np.sqrt(expected * (1 - expected) / named_one[model])
        assert rate["standard_error"] == pytest.approx(usual, rel=1e-3)

        excess = rows.loc[("oven, lowest", "T->A excess", model), "value"]
        per_error = rows.loc[("oven, lowest", "T->A excess per error", model), "value"]
        assert per_error == pytest.approx(excess / expected)


def test_caption_means_over_all_objects_follow_from_the_bundled_counts():
    counts = fairlib.load("coco_captions", source="bundled")
    counts = counts[counts["object"] != paper.EVERY]
    for gender in ("man", "woman"):
        counts[gender] = counts[f"called_{gender}"] - counts["called_both"]
    by_gender = counts.set_index(["model", "object", "gender"])[["man", "woman"]]
    named_one = by_gender.sum(axis=1).unstack("gender")
    called = by_gender.groupby(["model", "object"]).sum()
    images = named_one.sum(axis=1)
    too_many_men = (called["man"] / images - named_one["man"] / images).unstack("model")
    assert len(too_many_men) == 65

    training = fairlib.load("coco_training", source="bundled").set_index("object")
    share_of_men = training["men"] / training["images"]
    shares = fairlib.load("coco_caption_shares", source="bundled")
    rows = shares[shares["measure"] == "T->A, all objects"]
    assert len(rows) == 4 * len(captioned.MODELS)
    for share, means in rows.set_index("model").groupby("share_of_men"):
        with_men = share_of_men[too_many_men.index] > share
        signs = np.where(with_men, 1, -1)
        expected = too_many_men.mul(signs, axis=0).mean()
        found = means.loc[expected.index, "value"].to_numpy()
        assert found == pytest.approx(expected.to_numpy())


def test_bundled_means_of_captions_agree_with_the_bundled_table_by_object():
    shares = fairlib.load("coco_caption_shares", source="bundled")
    public = shares[shares["source"] == "public file"]
    by_object = fairlib.load("coco_caption_amplification", source="bundled")
    means = by_object[by_object["object"] == paper.EVERY].drop(columns="object")
    both = public.merge(means, on=["measure", "model"], suffixes=("", "_there"))
    assert len(both) == len(means) == 36
    for column in ("value", "standard_error", "change", "change_error"):
        there = both[f"{column}_there"].to_numpy()
        assert both[column].to_numpy() == pytest.approx(there, rel=1e-6)


def t_to_a_by_hand(rows, lean):
    """Return T->A, its blind part and its excess as means over objects, with loops.

    `rows` are the labels and the gender that each caption names; `lean` is +1 for an
    object that goes with men, and -1 for one that goes with women.
    """
    rate = {}
    for gender in ("man", "woman"):
        calls = [row["called"] for row in rows if row["gender"] == gender]
        rate[gender] = sum(call != gender for call in calls) / len(calls)

    values, blind = [], []
    for name, sign in lean.items():
        beside = [row for row in rows if row[name]]
        step = expected = 0.0
        for row in beside:
            towards_men = 1 if row["gender"] == "woman" else -1
            step += towards_men * (row["called"] != row["gender"])
            expected += towards_men * rate[row["gender"]]
        values.append(sign * step / len(beside))
        blind.append(sign * expected / len(beside))
    value, blind = np.mean(values), np.mean(blind)
    return {"T->A": value, "T->A blind": blind, "T->A excess": value - blind}


def test_captioners_are_compared_on_the_same_pictures_as_loops_would(originals):
    labels, captions = originals
    labels = labels.set_index("image_id").loc[captions["image_id"]].reset_index()
    called = {}
    for model in ("baseline_ft", "equalizer"):
        sentences = captions[model].str.replace("a man and a woman", "both")
        named = sentences.str.extract(r"^a (man|woman)")[0]
        called[model] = named.fillna("neither").tolist()

    def rows(model, pictures):
        return [
            labels.loc[place].to_dict() | {"called": called[model][place]}
            for place in pictures
        ]

    genders = {"man", "woman"}
    own = {
        model: [place for place in range(400) if called[model][place] in genders]
        for model in called
    }
    common = [place for place in own["baseline_ft"] if place in own["equalizer"]]
    assert 50 < len(common) < min(map(len, own.values()))

    # With a share of men of .6, ties go with men; beds and dogs go with women.
    lean = {"bed": -1, "tie": 1, "dog": -1}
    before = t_to_a_by_hand(rows("baseline_ft", common), lean)
    after = t_to_a_by_hand(rows("equalizer", common), lean)
    own_before = t_to_a_by_hand(rows("baseline_ft", own["baseline_ft"]), lean)
    own_after = t_to_a_by_hand(rows("equalizer", own["equalizer"]), lean)

    table = captioned.coco_caption_shares_common()
    table = table[(table["share_of_men"] == 0.6) & (table["model"] == "equalizer")]
    table = table[table["source"] == "released shares"].set_index("measure")
    assert table["pictures"].eq(len(common)).all()
    for measure in before:
        row = table.loc[measure]
        assert row["baseline"] == pytest.approx(before[measure])
        assert row["value"] == pytest.approx(after[measure])
        change = after[measure] - before[measure]
        assert row["change"] == pytest.approx(change)
        own_change = own_after[measure] - own_before[measure]
        assert row["own_minus_common"] == pytest.approx(own_change - change)

    # One picture is left out at a time: the ordinary jackknife of the paired change,
    # and of how much it differs from the change on the captioners' own pictures.
    changes, further = [], []
    for left_out in range(400):
        kept = {
            name: [place for place in places if place != left_out]
            for name, places in {**own, "common": common}.items()
        }
        excess = {
            (model, pictures): t_to_a_by_hand(rows(model, kept[pictures]), lean)[
                "T->A excess"
            ]
            for model in own
            for pictures in (model, "common")
        }
        change = excess["equalizer", "common"] - excess["baseline_ft", "common"]
        own_change = excess["equalizer", "equalizer"]
        own_change -= excess["baseline_ft", "baseline_ft"]
        changes.append(change)
        further.append(own_change - change)
    row = table.loc["T->A excess"]
    for column, values in (
        ("change_error", changes),
        ("own_minus_common_error", further),
    ):
        jackknife = np.sqrt(399 * np.var(values))
        assert row[column] == pytest.approx(jackknife, rel=0.05)


def test_pairs_of_captions_are_counted_as_a_loop_would(originals):
    labels, captions = originals
    table = captioned.coco_caption_pairs()
    keys = ["object", "gender", "baseline_ft", "equalizer"]
    ours = table[table["reader"] == "our word lists"].set_index(keys)["images"]
    assert len(table) == 2 * len(ours) == 2 * 4 * 2 * 9

    by_image = labels.set_index("image_id")
    counted = dict.fromkeys(ours.index, 0)
    calls = {"a man": "man", "a woman": "woman"}
    for image, *sentences in captions[["image_id", "baseline_ft", "equalizer"]].values:
        said = [
            calls.get(sentence.split(" with ")[0].split(" on ")[0], "other")
            for sentence in sentences
        ]
        row = by_image.loc[image]
        for name in (paper.EVERY, *OBJECTS):
            if name == paper.EVERY or row[name]:
                counted[(name, row["gender"], *said)] += 1
    assert ours.to_dict() == counted


def test_shared_images_are_counted_as_a_loop_would(originals):
    labels, captions = originals
    table = captioned.coco_caption_shared().set_index(["object", "other"])
    said = {
        model: read_gender(captions.set_index("image_id")[model])
        for model in ("baseline_ft", "equalizer")
    }

    counted = {}
    for _, row in labels.iterrows():
        names = {model: said[model].loc[row["image_id"]] for model in said}
        if any(name["man"] == name["woman"] for name in names.values()):
            continue
        man = [bool(names[model]["man"]) for model in said]
        for one in OBJECTS:
            for other in OBJECTS:
                if row[one] and row[other]:
                    counts = counted.setdefault((one, other), [0, 0, 0])
                    counts[0] += 1
                    counts[1] += man == [True, False]
                    counts[2] += man == [False, True]
    columns = ["images", "only_baseline", "only_equalizer"]
    assert table[columns].T.to_dict("list") == counted


def test_bundled_shared_images_fit_the_bundled_pairs_and_their_errors():
    """With themselves, objects share all images; and the errors of means follow."""
    shared = fairlib.load("coco_caption_shared", source="bundled")
    by_pair = shared.set_index(["object", "other"])
    swapped = by_pair.reorder_levels([1, 0]).loc[by_pair.index]
    assert (swapped.to_numpy() == by_pair.to_numpy()).all()

    pairs = fairlib.load("coco_caption_pairs", source="bundled")
    pairs = pairs[pairs["reader"] == "our word lists"]
    says_one = (pairs[["baseline_ft", "equalizer"]] != "other").all(axis=1)
    common = pairs[says_one & (pairs["object"] != paper.EVERY)]
    alone = by_pair.loc[[(name, name) for name in common["object"].unique()]]
    alone = alone.droplevel("other")
    kinds = {"only_baseline": ("man", "woman"), "only_equalizer": ("woman", "man")}
    sums = common.groupby("object")["images"].sum().loc[alone.index]
    assert (alone["images"] == sums).all()
    for column, (first, second) in kinds.items():
        is_kind = (common["baseline_ft"] == first) & (common["equalizer"] == second)
        counts = common[is_kind].groupby("object")["images"].sum()
        assert (alone[column] == counts.loc[alone.index]).all()

    # The standard error of the change of mean T->A, from the differences +1, -1 and 0.
    training = fairlib.load("coco_training", source="bundled").set_index("object")
    share_of_men = training["men"] / training["images"]
    by_object = fairlib.load("coco_caption_amplification", source="bundled")
    often = by_object["object"].unique()[1:]
    lean = np.where(share_of_men[often] > share_of_men["person"], 1, -1)
    counts = {
        name: by_pair[name].unstack(fill_value=0).loc[often, often].to_numpy()
        for name in by_pair
    }
    total = counts["only_equalizer"] - counts["only_baseline"]
    mean = np.diag(total) / np.diag(counts["images"])
    squares = counts["only_equalizer"] + counts["only_baseline"]
    products = squares - (mean + mean[:, None]) * total
    products = products + np.outer(mean, mean) * counts["images"]
    weight = lean / np.diag(counts["images"]) / len(often)
    table = fairlib.load("coco_caption_shares_common", source="bundled")
    is_row = (table["model"] == "equalizer") & (table["measure"] == "T->A")
    row = table[is_row & (table["source"] == "released shares")].iloc[0]
    assert weight @ np.diag(total) == pytest.approx(row["change"], abs=1e-12)
    assert np.sqrt(weight @ products @ weight) == pytest.approx(
        row["change_error"], rel=1e-5
    )


def test_bundled_comparisons_on_common_pictures_follow_from_the_bundled_pairs():
    pairs = fairlib.load("coco_caption_pairs", source="bundled")
    pairs = pairs[pairs["reader"] == "our word lists"]
    counts = fairlib.load("coco_captions", source="bundled")
    counts = counts.set_index(["model", "object", "gender"])
    for model in ("baseline_ft", "equalizer"):
        summed = pairs.groupby(["object", "gender", model])["images"].sum().unstack()
        expected = counts.loc[model].loc[summed.index]
        for who in ("man", "woman"):
            of_one = expected[f"called_{who}"] - expected["called_both"]
            assert (summed[who] == of_one).all()
        assert (summed.sum(axis=1) == expected["there"]).all()

    called_one = (pairs[["baseline_ft", "equalizer"]] != "other").all(axis=1)
    common = pairs[called_one]
    every = common["object"] == paper.EVERY
    assert common.loc[every, "images"].sum() == 6732

    training = fairlib.load("coco_training", source="bundled").set_index("object")
    share_of_men = training["men"] / training["images"]
    by_object = fairlib.load("coco_caption_amplification", source="bundled")
    often = by_object["object"].unique()[1:]
    assert len(often) == 52
    table = fairlib.load("coco_caption_shares_common", source="bundled")
    table = table[table["model"] == "equalizer"].set_index("measure")
    assert table["pictures"].eq(6732).all()

    for model, column in (("baseline_ft", "baseline"), ("equalizer", "value")):
        cells = common.groupby(["object", "gender", model])["images"].sum().unstack()
        people = cells.sum(axis=1).unstack()
        called_other = pd.DataFrame(
            {
                "man": cells["woman"].unstack()["man"],
                "woman": cells["man"].unstack()["woman"],
            }
        )
        rates = called_other.loc[paper.EVERY] / people.loc[paper.EVERY]
        assert table.loc["women called men", column].iloc[0] == pytest.approx(
            rates["woman"]
        )
        step = called_other["woman"] - called_other["man"]
        blind = people["woman"] * rates["woman"] - people["man"] * rates["man"]
        means = {"T->A": step, "T->A blind": blind, "T->A excess": step - blind}
        for measure, sums in means.items():
            per_picture = sums / people.sum(axis=1)
            for _, row in table.loc[measure].iterrows():
                for name, objects in (
                    (measure, often),
                    (f"{measure}, all objects", per_picture.index.drop(paper.EVERY)),
                ):
                    if name not in table.index:
                        continue
                    rows = table.loc[name].set_index("share_of_men")
                    found = rows.loc[row["share_of_men"], column]
                    with_men = share_of_men[objects] > row["share_of_men"]
                    signs = np.where(with_men, 1, -1)
                    expected = (signs * per_picture[objects]).mean()
                    assert found == pytest.approx(expected)


def test_the_fall_of_the_excess_is_shown_only_on_each_captioner_s_own_pictures():
    own = fairlib.load("coco_caption_shares", source="bundled")
    common = fairlib.load("coco_caption_shares_common", source="bundled")
    excess = ["T->A excess", "T->A excess, all objects"]
    for table, shown in ((own, 8), (common, 0)):
        rows = table[table["model"] == "equalizer"]
        rows = rows[rows["measure"].isin(excess)]
        assert len(rows) == 8 and (rows["change"] < 0).all()
        z = rows["change"] / rows["change_error"]
        assert (z < -1.96).sum() == shown
    rows = common[(common["model"] == "equalizer") & common["measure"].isin(excess)]
    assert (rows["own_minus_common"] / rows["own_minus_common_error"] < -3.9).all()


def test_bundled_mals_is_the_released_value():
    """0.0317... before and 0.0217... after constraints on COCO; 0.0502... before on
    imSitu.
    """
    coco = fairlib.load("coco_mals", source="bundled")
    assert coco["change_before"].mean() == pytest.approx(0.031742516637, abs=1e-12)
    assert coco["change_after"].mean() == pytest.approx(0.021695390329, abs=1e-12)
    assert fairlib.load("imsitu_mals", source="bundled")[
        "change_before"
    ].mean() == pytest.approx(0.0502234224, abs=1e-10)


def test_bundled_captions_give_the_known_rates_of_wrong_gender():
    table = fairlib.load("coco_captions", source="bundled")
    every = table[table["object"] == paper.EVERY]
    wrong = (
        np.where(every["gender"] == "man", every["called_woman"], every["called_man"])
        - every["called_both"]
    )
    rate = (
        100
        * every.assign(wrong=wrong).groupby("model")["wrong"].sum()
        / every.groupby("model")["images"].sum()
    )
    assert rate["baseline_ft"] == pytest.approx(12.9, abs=0.1)
    assert rate["equalizer"] == pytest.approx(7.0, abs=0.1)
    assert every.groupby("model")["images"].sum().eq(10_840).all()


def test_bundled_masking_runs_hold_together():
    runs = fairlib.load("masking_runs", source="bundled")
    assert (
        runs.groupby(["objects", "mask"])["seed"].nunique().tolist()
        == [5] * 3 * runs["objects"].nunique()
    )
    assert (
        runs.groupby("objects")["inputs"]
        .first()
        .loc[["clear", "faint"]]
        .eq("generated images")
        .all()
    )
    assert (runs["there"] <= runs["images"]).all() and (
        runs["named_called"] <= runs["called"]
    ).all()
    assert (runs["there_named"] <= runs[["there", "named"]].min(axis=1)).all()
    right = runs.groupby(["objects", "mask", "seed", "object"])[
        ["called_right", "images", "gender_accuracy"]
    ]
    right = right.agg(
        {"called_right": "sum", "images": "sum", "gender_accuracy": "first"}
    )
    assert np.allclose(
        right["called_right"] / right["images"], right["gender_accuracy"]
    )
    columns = ["named", "named_called", "there", "there_called"]
    totals = runs.groupby(["objects", "mask", "seed", "object"])[columns].sum()
    assert (totals["named"] == totals["named_called"]).all() and (
        totals["there"] == totals["there_called"]
    ).all()
