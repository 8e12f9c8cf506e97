"""The bundled table is what its recipe gives, and says what the suites can show."""

import numpy as np
import pytest

import fairlib
from fairlib.recipes import suite_power

WORDS = "TF-IDF + logistic regression"
KEYS = ["model", "classes", "attribute"]


@pytest.fixture(scope="module")
def bundled():
    return fairlib.load("suite_power", source="bundled")


@pytest.mark.slow
def test_the_recipe_gives_a_bundled_row(bundled):
    outputs = fairlib.load("suite_predictions", source="bundled")
    suite = outputs[(outputs[KEYS] == [WORDS, 2, "age"]).all(axis=1)]
    stored = bundled[(bundled[KEYS] == [WORDS, 2, "age"]).all(axis=1)].iloc[0]
    assert [*suite_power.of_suite(suite)] == stored[suite_power.COLUMNS].tolist()


def test_every_suite_has_a_row_with_ordered_numbers(bundled):
    metrics = fairlib.load("suite_metrics", source="bundled")
    assert {*map(tuple, bundled[KEYS].to_numpy())} == {
        *map(tuple, metrics[KEYS].to_numpy())
    }
    assert (bundled["low"] <= bundled["effect"]).all()
    assert (bundled["effect"] <= bundled["high"]).all()
    assert (bundled["moves"] <= bundled["effect"]).all()
    assert (bundled["null_low"] < bundled["null_high"]).all()


def test_the_range_of_chance_agrees_with_the_p_values(bundled):
    """A value above the 95 % quantile has a p-value below about 5 %, and no other."""
    metrics = fairlib.load("suite_metrics", source="bundled").query(
        "metric == 'AvgGF' and group == 'accumulated' and seed == 'all'"
    )
    both = bundled.merge(metrics, on=KEYS)
    assert len(both) == len(bundled)
    assert (
        (both["null"] > both["null_low"]) & (both["null"] < both["null_high"])
    ).all()
    clear = np.abs(both["p"] - 0.05) > 0.02
    above = both["value"] > both["null_high"]
    assert (above[clear] == (both["p"] < 0.05)[clear]).all()


def test_few_terms_hide_more_than_many(bundled):
    """Names have a hundred terms a group, and six groups of disability have one."""
    effect = bundled.set_index(KEYS)["effect"].unstack("attribute")
    assert (effect["names"] < effect["disability"] / 3).all()
    assert (effect["nationality"] < effect["race"] / 3).all()
