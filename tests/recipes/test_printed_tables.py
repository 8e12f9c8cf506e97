"""What printed numbers can be: against brute force, on a small table of known runs, and
on what is bundled.
"""

import itertools

import numpy as np
import pandas as pd
import pytest

import fairlib
from fairlib import ledger
from fairlib.recipes import printed_tables as printed
from fairlib.recipes.printed_tables import five_runs, possible, totals
from fairlib.recipes.wang2021 import EVERY


@pytest.mark.parametrize(
    ("runs", "decimals", "scale"), [(1, 1, 100), (5, 2, 100), (3, 3, 1), (5, 0, 100)]
)
def test_totals_are_those_whose_quotient_rounds_to_what_is_printed(
    runs, decimals, scale
):
    for images in (1, 7, 30, 64, 455):
        every = np.arange(-2 * runs * images, 2 * runs * images + 1)
        for number in (
            np.random.default_rng(images).uniform(-scale, scale, 40).round(decimals)
        ):
            low, high = totals(
                number, images, runs=runs, decimals=decimals, scale=scale
            )
            # in whole numbers, so that a tie is a tie: |2 T 10^d scale - 2 last runs
            # images| <= runs images
            last = round(number * 10**decimals)
            off = np.abs(2 * every * 10**decimals * scale - 2 * last * runs * images)
            assert every[off <= runs * images].tolist() == list(range(low, high + 1))


def test_five_whole_numbers_exist_for_every_total_and_sum_of_squares_of_one_parity():
    """What `possible` rests on, counted out: numbers -12 ... 12 give every even or odd
    sum of squares up to 144.
    """
    reached = {(0, 0)}
    for _ in range(5):
        reached = {
            (s + v, q + v * v)
            for s, q in reached
            for v in range(-12, 13)
            if q + v * v <= 144
        }
    for total in range(-7, 8):
        smallest = min(q for s, q in reached if s == total)
        found = {q for s, q in reached if s == total}
        assert found == set(range(smallest, 145, 2)), total


def test_possible_and_five_runs_agree_with_all_sets_of_five():
    images, half = 11, 5e-3 + 1e-9
    sets = np.array(list(itertools.combinations_with_replacement(range(-3, 4), 5)))
    means, errors = (
        100 * sets.mean(axis=1) / images,
        100 * 1.96 * sets.std(axis=1) / np.sqrt(5) / images,
    )
    rng = np.random.default_rng(0)
    for k in rng.choice(len(sets), 60, replace=False):
        for move in (0, 0.01, -0.03):
            mean, error = round(means[k], 2), max(round(errors[k] + move, 2), 0)
            same = sets[
                (np.abs(means - mean) <= half) & (np.abs(errors - error) <= half)
            ]
            found = five_runs(mean, error, images)
            inside = found[(np.abs(found) <= 3).all(axis=1)]
            assert sorted(map(tuple, inside)) == sorted(map(tuple, same))
            assert possible(mean, error, images)[0] == (len(found) > 0)
            assert len(same) or move


def test_the_formula_of_the_error_matters():
    runs = np.array([3, 3, 4, 6, 9])
    mean, error = (
        round(100 * value / 80, 2) for value in (runs.mean(), runs.std(ddof=1))
    )
    assert possible(mean, error, 80, factor=1, ddof=1)[0]
    assert not possible(mean, error, 80)[0]
    assert runs.tolist() in five_runs(mean, error, 80, factor=1, ddof=1).tolist()


def test_table_of_whole_numbers_on_small_files(monkeypatch):
    """Known runs are printed in another order than the files' columns, and found again
    under their own names.
    """
    order, images = ("person", "bed", "tie"), {"bed": 30, "tie": 45}
    runs = {"bed": [2, 2, 2, 2, 2], "tie": [-3, 0, 1, 1, 4]}
    rows = {}
    for name, printed_as in zip(order[1:], ("person", "bed"), strict=True):
        for mask in printed.MASKS:
            values = 100 * np.array(runs[name]) / images[name]
            cell = {
                "printed": f"{values.mean():.2f}",
                "error": f"{1.96 * values.std() / np.sqrt(5):.2f}",
            }
            rows[f"wang2021/table3/{printed_as}/t_to_a/{mask}"] = cell
    first = {
        f"wang2021/table3/tie/t_to_a/{mask}": {"printed": "1.0", "error": "0.5"}
        for mask in printed.MASKS
    }
    n = 60
    labels = pd.DataFrame(
        {
            "split": ["dev"] * n + ["test"] * 5,
            "tie": np.arange(n + 5) < 45,
            "bed": np.arange(n + 5) < 30,
        }
    )
    monkeypatch.setattr(printed, "COCO_ORDER", order)
    monkeypatch.setattr(printed, "image_labels", lambda: labels)
    monkeypatch.setattr(ledger, "published", lambda: pd.DataFrame(first | rows).T)
    table = printed.table3_integers().set_index(["object", "mask"])
    assert table["images"].groupby("object").first().to_dict() == images
    assert table.loc[
        ("bed", "full"), ["printed_as", "net", "sets", "runs"]
    ].tolist() == ["person", 10, 1, "2 2 2 2 2"]
    assert table.loc[("tie", "none"), "net"] == 3
    assert (
        sorted(runs["tie"])
        in five_runs(
            1.33, float(rows["wang2021/table3/bed/t_to_a/none"]["error"]), 45
        ).tolist()
    )


def test_what_is_bundled_rounds_to_what_is_printed_and_only_under_these_names():
    table = fairlib.load("table3_integers", source="bundled")
    assert len(table) == 195 and (table["sets"] >= 1).all()
    claims = ledger.published()
    ids = "wang2021/table3/" + table["printed_as"] + "/t_to_a/" + table["mask"]
    as_printed = claims.loc[ids, "printed"].astype(float).to_numpy()
    np.testing.assert_allclose(
        100 * table["net"] / (5 * table["images"]), as_printed, atol=0.005000001
    )
    objects = fairlib.load("coco_objects", source="bundled")
    dev = objects[(objects["split"] == "dev") & (objects["object"] != EVERY)].set_index(
        "object"
    )
    counts = dev["man"] + dev["woman"]
    assert (table["images"] == counts[table["object"]].to_numpy()).all()
    of_printed_name = counts.reindex(table["printed_as"])
    low, high = totals(as_printed, of_printed_name.fillna(1))
    assert (low <= high)[of_printed_name.notna()].sum() < 40


def test_the_printed_table_keeps_the_printed_order_and_a_column_for_each_mask():
    means, errors = printed.printed_table3()
    assert means.shape == errors.shape == (66, 3)
    assert list(means.index[:3]) == ["teddy_bear", "handbag", "fork"]
    assert means.loc["bed"].to_dict() == {"none": 1.33, "noisy": 5.33, "full": 6.67}
    assert errors.loc["handbag", "none"] == 0.67
