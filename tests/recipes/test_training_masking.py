"""The networks trained on generated images."""

from dataclasses import replace

import pandas as pd

from fairlib.recipes.generated_images import Contrast
from fairlib.recipes.training import masking

COUNTS = pd.DataFrame(
    {
        "object": ["(every image)", "tie", "bowl"],
        "man": [700, 350, 70],
        "woman": [300, 30, 150],
    }
)
EASY = Contrast(noise=0.05, pattern=0.6)
SMALL = masking.Setting(
    training=1500,
    validation=400,
    test=600,
    epochs=5,
    hidden=32,
    contrast=EASY,
    rate=0.004,
)


def test_a_run_learns_and_counts_add_up():
    table = masking.run(COUNTS, setting=SMALL, seeds=1)
    assert len(table) == 3 * 2 * 2 and set(table["object"]) == {"tie", "bowl"}
    runs = table.groupby("mask")[["mean_precision", "gender_accuracy"]].first()
    assert runs.loc["none", "gender_accuracy"] > runs.loc["full", "gender_accuracy"]
    assert runs.loc["none", "mean_precision"] > 0.5  # chance is some 0.25
    totals = table.groupby(["mask", "object"])[
        ["there", "there_called", "images", "called"]
    ].sum()
    assert (totals["there"] == totals["there_called"]).all() and (
        totals["images"] == SMALL.test
    ).all()
    assert (totals["called"] == SMALL.test).all()


def test_the_seed_decides_everything():
    tiny = replace(SMALL, training=200, validation=100, test=100, epochs=1)
    first, again = (masking.run(COUNTS, setting=tiny, seeds=1) for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
