"""Claims about bias: the numbers that were found, and how they are computed."""

import numpy as np
import pandas as pd
import pytest

from fairlib.data import load
from fairlib.recipes import atlas_claims, atlas_methods, atlas_printed


@pytest.fixture(scope="module")
def claims():
    return load("atlas_claims", source="bundled")


def shown(claims, kind):
    """Count by benchmark, quantity and model which intervals exclude 0."""
    excludes = (claims[f"{kind}_low"] > 0) | (claims[f"{kind}_high"] < 0)
    return excludes.groupby([claims["benchmark"], claims["quantity"]]).sum()


def test_printed_numbers_are_reproduced_or_possible():
    table = load("atlas_printed", source="bundled")
    assert table["status"].value_counts().to_dict() == {
        "reproduced": 157,
        "possible": 6,
    }
    assert set(table["part"][table["status"] == "possible"]) == {"Physical_appearance"}


def test_pairs_show_gaps_of_hatecheck_that_independent_items_do_not(claims):
    gaps = claims[claims["quantity"] == "gap of error rates"]
    for kind, expected in (("items", [6, 14, 0, 0]), ("pairs", [11, 16, 0, 10])):
        excludes = (gaps[f"{kind}_low"] > 0) | (gaps[f"{kind}_high"] < 0)
        by_system = excludes.groupby(gaps["model"]).sum()
        systems = ["BERT-D", "BERT-F", "Perspective", "SiftNinja"]
        assert by_system[systems].tolist() == expected


def test_templates_take_away_three_of_twelve_scores_of_bbq(claims):
    scores = claims[claims["quantity"] == "bias score, ambiguous"]
    assert shown(scores, "items").tolist() == [12]
    assert shown(scores, "clusters").tolist() == [9]
    assert shown(scores, "t").tolist() == [9]

    row = scores[(scores["part"] == "Age") & (scores["model"] == "ARC")].iloc[0]
    ends = row[["items_low", "items_high"]].astype(float).round(1)
    assert ends.tolist() == [46.0, 51.9]
    ends = row[["t_low", "t_high"]].astype(float).round(1)
    assert ends.tolist() == [31.4, 66.4]


def test_terms_of_stereoset_take_away_half_of_the_rankings(claims):
    ranks = claims[claims["quantity"] == "difference of stereotype scores"]
    assert len(ranks) == 108
    assert shown(ranks, "pairs").tolist() == [48]
    assert shown(ranks, "clusters").tolist() == [26]

    scores = claims[claims["quantity"] == "stereotype score minus 50"]
    scores = scores[scores["model"] != "SentimentModel"]
    over_terms = (scores["clusters_low"] > 0) | (scores["clusters_high"] < 0)
    by_domain = over_terms.groupby(scores["part"]).sum()
    assert by_domain.to_dict() == {"gender": 7, "race": 8, "religion": 0}


def test_the_first_papers_bound_suffices_for_winomt_only(claims):
    counts = shown(claims, "bernstein")
    assert counts["WinoMT", "recall of men minus women"] == 18
    assert counts["Winogender", "pronouns resolved to the occupation"] == 1
    assert counts["BBQ"].sum() == 0
    pairs = shown(claims, "pairs")
    assert pairs["Winogender", "pronouns resolved to the occupation"] == 3


def test_gpt_4_is_not_shown_to_be_worse_than_gpt_3_5(claims):
    row = claims[claims["quantity"] == "difference of gaps"].iloc[0]
    values = row[["estimate", "pairs_low", "pairs_high"]].astype(float)
    assert values.round().tolist() == [4, -10, 18]


def test_independent_items_cover_too_little_when_templates_are_redrawn():
    coverage = load("atlas_redrawn", source="bundled")
    assert coverage["items"].min() == pytest.approx(0.28, abs=0.01)
    assert coverage["items"].max() == pytest.approx(0.70, abs=0.01)
    assert coverage["clusters"].min() > 0.92


def test_the_largest_design_effect_is_31():
    effects = load("atlas_dependence", source="bundled")
    largest = effects.sort_values("design_effect").iloc[-1]
    assert (largest["benchmark"], largest["part"]) == ("BBQ", "Age")
    assert round(largest["design_effect"]) == 31
    assert largest["low"] > 10


def test_cheap_tables_follow_from_the_bundled_counts(claims):
    pd.testing.assert_frame_equal(
        atlas_printed.atlas_printed(bundle=True),
        load("atlas_printed", source="bundled"),
        check_dtype=False,
    )
    scores = [*atlas_claims._bbq_scores(), *atlas_claims._winogender()]
    bundled = claims.set_index(["benchmark", "part", "model", "quantity"])
    for claim in scores:
        key = tuple(claim[name] for name in bundled.index.names)
        low, high = claim["methods"]["items"](0.05)
        expected = bundled.loc[key, ["estimate", "items_low", "items_high"]]
        values = [claim["estimate"], 100 * low, 100 * high]
        assert expected.tolist() == pytest.approx(values, abs=1e-4)


def test_the_design_effect_of_independent_items_is_one():
    rng = np.random.default_rng(1)
    values = rng.random((40, 50)) < 0.3
    sums = np.column_stack([np.full(40, 50.0), values.sum(axis=1), values.sum(axis=1)])
    effect, low, high = atlas_methods.design_effect(sums, atlas_methods.effect_of_mean)
    assert low < 1 < high
    assert effect == pytest.approx(1, abs=0.5)

    # If each cluster is a copy of one item, it counts as often as it has items.
    copies = 50.0 * values[:, :1]
    sums = np.column_stack([np.full(40, 50.0), copies, copies])
    effect, _, _ = atlas_methods.design_effect(sums, atlas_methods.effect_of_mean)
    assert effect == pytest.approx(50 * 40 / 39)


def test_a_design_effect_that_rests_on_one_cluster_has_no_interval():
    sums = np.array([[10.0, 0, 0], [10, 5, 5], [10, 0, 0], [10, 0, 0]])
    sums[:, 1] = [0, 5, 0, 0]
    effect, low, high = atlas_methods.design_effect(sums, atlas_methods.effect_of_mean)
    assert effect > 1
    assert np.isnan([low, high]).all()


def test_intervals_of_design_effects_cover():
    """25 clusters of 72 items, with a true design effect of 1 + 71 * 0.1."""
    rng = np.random.default_rng(0)
    means = rng.beta(0.3 * 9, 0.7 * 9, size=(150, 25))
    covered = 0
    for k in rng.binomial(72, means).astype(float):
        sums = np.column_stack([np.full(25, 72.0), k, k])
        _, low, high = atlas_methods.design_effect(sums, atlas_methods.effect_of_mean)
        covered += low <= 8.1 <= high
    assert covered / 150 > 0.88
