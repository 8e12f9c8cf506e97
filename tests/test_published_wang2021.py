"""What the third paper prints, checked against itself."""

import pytest

from fairlib import ledger


@pytest.fixture(scope="module")
def claims():
    table = ledger.published()
    return table[table.index.str.startswith("wang2021/")]


def test_table_3_is_complete(claims):
    rows = claims[claims.index.str.startswith("wang2021/table3/")]
    assert len(rows) == 66 * 6 and (rows["kind"] == "number").all()
    assert (rows["error"].astype(float) >= 0).all()


@pytest.mark.parametrize("mask", ["none", "noisy", "full"])
def test_table_3_averages_to_table_1_for_t_to_a_and_not_for_a_to_t(claims, mask):
    def mean(direction):
        names = claims.index[
            claims.index.str.match(f"wang2021/table3/.*/{direction}/{mask}")
        ]
        return claims.loc[names, "printed"].astype(float).mean() / 100

    def printed(direction):
        return float(claims.loc[f"wang2021/table1/{direction}/{mask}", "printed"])

    assert round(mean("t_to_a"), 4) == printed("t_to_a")
    assert round(mean("a_to_t"), 4) != printed("a_to_t")


def test_every_claim_says_what_and_where(claims):
    assert (claims[["place", "quantity", "printed"]] != "").all(axis=None)
    assert set(claims["kind"]) == {"number", "statement"}
    assert claims.loc[claims["kind"] == "number", "printed"].astype(float).notna().all()
