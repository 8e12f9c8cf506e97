"""Plans for the cards that ship: dependence never helps."""

from dataclasses import replace

import pytest

import fairlib
from fairlib.atlas import planning
from fairlib.atlas.cards import card, names

SETTING = planning.Setting()


@pytest.mark.parametrize(
    "name", ["bold", "bug_gold", "decodingtrust_fairness", "stereoset", "visogender"]
)
def test_copies_within_clusters_show_no_less_than_independent_items(name):
    table = planning.plan(card(name), SETTING)
    worst = planning.smallest_bias(table)
    assert worst >= planning.if_independent(table)


def test_bug_says_how_much_its_clusters_matter():
    """Some professions hold both groups and some do not, so two choices are open."""
    bug = card("bug_gold")
    assert not bug.clusters.shared
    counts = fairlib.load("atlas_counts", source="bundled")
    of_bug = counts[(counts["benchmark"] == "bug_gold") & (counts["part"] == "whole")]
    count = of_bug.set_index("quantity")["value"]
    assert f"{count['clusters_with_several_groups']} hold" in " ".join(bug.notes)

    shared = replace(bug, clusters=replace(bug.clusters, shared=True))
    as_shared = planning.smallest_bias(planning.plan(shared, SETTING))
    assert f"about {100 * as_shared:.0f} points" in " ".join(bug.notes)
    assert as_shared < planning.smallest_bias(planning.plan(bug, SETTING))


def test_clusters_of_groups_that_are_not_compared_are_left_out():
    mine = card(
        {
            "name": "mine",
            "score": {"kind": "difference"},
            "items": {"number": 1000},
            "groups": {"number": 4, "sizes": {"a": 50, "b": 50, "c": 400, "d": 500}},
            "clusters": {"number": 100, "smallest": 10, "largest": 10, "shared": False},
        }
    )
    of_a, of_b = planning._sizes_of_sides(mine, (10.0,) * 100)
    assert (sum(of_a), sum(of_b)) == (50, 50)


def test_few_items_are_spread_over_many_shared_clusters():
    mine = card(
        {
            "name": "mine",
            "score": {"kind": "difference"},
            "groups": {"number": 2, "sizes": {"a": 7, "b": 93}},
            "clusters": {"number": 50},
        }
    )
    of_a, of_b = planning._sizes_of_sides(mine, (2.0,) * 50)
    assert (sum(of_a), sum(of_b)) == (7, 93)
    assert max(of_a) == 1


def test_the_pairs_of_a_cluster_are_those_that_were_counted():
    """In the suite of gender, 10 templates hold 3 sets each and 50 hold one."""
    suite = card("identity_suites")
    sizes = planning._cluster_sizes(suite, suite.pairs.number)
    assert sorted(sizes) == [1.0] * 50 + [3.0] * 10

    worst = planning.plan(suite, SETTING).iloc[-1]
    assert worst["design_effect"] == pytest.approx((50 * 1**2 + 10 * 3**2) / 80)


@pytest.mark.parametrize("name", names())
def test_clusters_hold_as_many_units_as_there_are(name):
    whole = card(name)
    for one in (whole, *whole.parts.values()):
        if one.status == "open" or not one.clusters.number:
            continue
        _, number = planning.unit_of(one)
        sizes = planning._cluster_sizes(one, number)
        assert sizes.sum() == number, one.name
        assert sizes.min() >= 1, one.name
        assert sizes.size <= one.clusters.number, one.name


@pytest.mark.parametrize("name", ["bbq", "bug_gold", "honest", "winobias", "winomt"])
def test_the_order_of_the_clusters_on_a_card_does_not_matter(name):
    whole = card(name)
    for one in (whole, *whole.parts.values()):
        backwards = tuple(reversed(one.clusters.sizes))
        turned = replace(one, clusters=replace(one.clusters, sizes=backwards))
        assert planning.plan(turned, SETTING).equals(planning.plan(one, SETTING))


def test_clusters_that_hold_nothing_show_nothing():
    mine = card(
        {
            "name": "mine",
            "score": {"kind": "difference"},
            "items": {"number": 8},
            "groups": {"number": 2},
            "clusters": {"number": 3, "sizes": [0, 0, 0]},
        }
    )
    assert planning.plan(mine, SETTING).iloc[-1].isna()["smallest_bias"]
