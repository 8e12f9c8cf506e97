"""The generated images: labels at the stated rates, and masks that hide the person and
nothing else.
"""

import numpy as np
import pandas as pd
import pytest

from fairlib.recipes import generated_images as generated

COUNTS = pd.DataFrame(
    {
        "object": ["(every image)", "tie", "bowl"],
        "man": [700, 350, 70],
        "woman": [300, 30, 150],
    }
)


def test_labels_follow_the_counts():
    man, task = generated.draw_labels(40_000, COUNTS, 1)
    assert man.mean() == pytest.approx(0.7, abs=0.01)
    assert task[man].mean(axis=0) == pytest.approx([0.5, 0.1], abs=0.015)
    assert task[~man].mean(axis=0) == pytest.approx([0.1, 0.5], abs=0.015)


def test_masks_hide_the_person_and_nothing_else():
    man, task = generated.draw_labels(200, COUNTS, 2)
    images = generated.draw_images(man, task, contrast=generated.Contrast(), rng=3)
    full, noisy = images.masked("full", 0), images.masked("noisy", 0)
    assert (full[images.person] == 0).all() and np.array_equal(
        full[~images.person], images.pixels[~images.person]
    )
    hidden = (noisy == 0) & images.person
    assert hidden.sum() / images.person.sum() == pytest.approx(0.5, abs=0.01)
    assert np.array_equal(noisy[~hidden], images.pixels[~hidden])
    assert images.masked("none", 0) is not images.pixels and np.array_equal(
        images.masked("none", 0), images.pixels
    )
    assert 0.1 < images.person.mean() < 0.35
    with pytest.raises(
        ValueError, match="mask must be one of none, noisy, full, found 'half'"
    ):
        images.masked("half", 0)


def test_a_full_mask_takes_the_attribute_away_and_leaves_the_objects():
    quiet = generated.Contrast(noise=0.0, pattern=0.5)
    task = np.zeros((400, 2), dtype=bool)
    pair = [
        generated.draw_images(np.full(400, sex), task, contrast=quiet, rng=4)
        for sex in (True, False)
    ]
    assert not np.array_equal(pair[0].pixels, pair[1].pixels)
    assert np.array_equal(pair[0].masked("full", 0), pair[1].masked("full", 0))
    with_tie = generated.draw_images(
        np.full(400, True), np.array([[True, False]] * 400), contrast=quiet, rng=4
    )
    assert not np.array_equal(with_tie.masked("full", 0), pair[0].masked("full", 0))
