"""Resampling counts is resampling the rows that they stand for."""

from dataclasses import replace

import numpy as np
import pytest
from test_tables import predictions

import fairlib
from fairlib.metrics import draws, measuring
from fairlib.metrics.examples import read
from fairlib.metrics.table2 import METRICS

COLUMNS = ["group", "label", "prediction"]


@pytest.fixture(scope="module")
def counted():
    return read(predictions(n=600)[COLUMNS])


def rows(examples):
    """The same examples, one row each."""
    picked = np.repeat(np.arange(len(examples)), examples.count)
    every = replace(examples.only(picked), count=None)
    return replace(
        every, term=np.arange(len(picked)), term_group=examples.group[picked]
    )


@pytest.mark.parametrize("kind", ["bootstrap", "null"])
def test_replicates_are_distributed_as_those_of_rows(counted, kind):
    metrics = {name: METRICS[name] for name in ("FPED*", "TPRGap")}
    found = []
    for examples in (counted, rows(counted)):
        values = measuring.observed(examples, metrics, True, np.random.default_rng(0))[
            0
        ]
        found.append(
            measuring.replicated(
                examples,
                metrics,
                values,
                kind=kind,
                replicates=4000,
                rng=np.random.default_rng(1),
            )
        )
    by_count, by_row = found
    for key in by_count:
        a, b = by_count[key], by_row[key]
        assert a.mean() == pytest.approx(b.mean(), abs=5 * b.std() / np.sqrt(4000)), (
            key
        )  # five standard errors
        assert a.std() == pytest.approx(b.std(), rel=0.07), key


def test_exchanged_counts_keep_the_sizes_of_groups_and_kinds(counted):
    complete = draws.exchangeable(counted, "")
    table = complete.count.reshape(len(counted.groups), -1)
    changed = 0
    for some in draws.exchanged(complete, 30, np.random.default_rng(0)):
        for weights in some.term_weight:
            drawn = weights.reshape(table.shape)
            np.testing.assert_array_equal(drawn.sum(axis=0), table.sum(axis=0))
            np.testing.assert_array_equal(drawn.sum(axis=1), table.sum(axis=1))
            changed += np.any(drawn != table)
    assert changed == 30


def test_what_is_given_stays_as_it_is(counted):
    world = draws.exchangeable(counted, "label")
    table = np.zeros((len(counted.groups), len(counted.classes)))
    for some in draws.exchanged(world, 20, np.random.default_rng(0), given="label"):
        for weights in some.term_weight:
            drawn, held = (table.copy(), table.copy())
            np.add.at(drawn, (world.group, world.label), weights)
            np.add.at(held, (world.group, world.label), world.count)
            np.testing.assert_array_equal(drawn, held)
            assert np.any(weights != world.count)


def test_a_group_without_a_label_gets_none_of_it(counted):
    # SciPy's Patefield draws numbers below 0 for tables with one row or an empty one.
    one_sided = counted.only((counted.group != 0) | (counted.label == 0))
    world = draws.exchangeable(
        replace(one_sided, term=np.arange(len(one_sided)), term_group=one_sided.group),
        "label",
    )
    for some in draws.exchanged(world, 20, np.random.default_rng(0), given="label"):
        assert some.term_weight.min() >= 0
        assert not some.term_weight[:, (world.group == 0) & (world.label == 1)].any()


def test_a_label_that_only_one_group_has_stays_with_it(counted):
    alone = counted.only((counted.group == 0) | (counted.label == 0))
    world = draws.exchangeable(
        replace(alone, term=np.arange(len(alone)), term_group=alone.group), "label"
    )
    has_label = world.label == 1
    assert np.count_nonzero(world.count[has_label]) > 1
    for batch in draws.exchanged(world, 20, np.random.default_rng(0), given="label"):
        for weights in batch.term_weight:
            assert (weights[has_label] == world.count[has_label]).all()


def test_completing_adds_no_example(counted):
    some = counted.only(np.arange(len(counted)) != 0)  # so that a cell is missing
    complete = draws.exchangeable(
        replace(some, term=np.arange(len(some)), term_group=some.group), ""
    )
    assert len(complete) == len(some) + 1 and complete.count.sum() == some.count.sum()
    assert np.count_nonzero(complete.count == 0) == 1


def test_the_cost_does_not_grow_with_the_examples():
    """A billion examples in a table of counts: this test would not end otherwise."""
    people = predictions()[COLUMNS].value_counts().rename("people").reset_index()
    people["people"] *= 10**6
    found = fairlib.measure(people, "TPRGap", count="people", replicates=200)
    assert ((found["high"] - found["low"]) < 1e-3).all()


def test_too_many_examples_to_exchange_are_refused_in_words():
    """SciPy's generator of tables would end the process."""
    frame = predictions(n=600)[COLUMNS].value_counts().rename("people").reset_index()
    frame["people"] *= 10**9
    found = fairlib.measure(frame, "TPRGap", count="people", replicates=5)
    assert "more than the 999,999,999 to exchange" in found.attrs["no null"]
    assert found[["null", "p"]].isna().all(axis=None) and found[
        ["low", "high"]
    ].notna().all(axis=None)
