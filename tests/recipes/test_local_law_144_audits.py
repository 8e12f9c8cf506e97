"""Published audits: what is read, what recomputes, and what the counts can show."""

import pandas as pd
import pytest

from fairlib.data import load
from fairlib.recipes import local_law_144_audits

NAMES = list(local_law_144_audits._COLUMNS)


def rows(*, audit="a", kind="sex", counts, ratios, rates=None):
    """Return the rows of an invented table of an audit."""
    if rates is None:
        rates = [round(x / n, 3) for n, x in counts]
    return pd.DataFrame(
        [
            [audit, "Selection", kind, "Total", f"group {place}", n, x, rate, ratio]
            for place, ((n, x), rate, ratio) in enumerate(
                zip(counts, rates, ratios, strict=True)
            )
        ],
        columns=NAMES,
    )


@pytest.fixture
def ledger_of(tmp_path, monkeypatch):
    def ledger(*tables):
        folder = tmp_path / local_law_144_audits.AUDITS.file.path / "audits"
        folder.mkdir(parents=True)
        pd.concat(tables).to_csv(folder / "audits_full.csv", index=False)
        monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))
        return local_law_144_audits.ledger()

    return ledger


def test_a_ratio_is_shown_undecided_or_excluded(ledger_of):
    counts = [(1000, 500), (1000, 300), (1000, 400), (1000, 490), (20, 8)]
    ledger = ledger_of(rows(counts=counts, ratios=[1, 0.6, 0.8, 0.98, 0.8]))
    assert list(ledger["reason"]) == ["recomputes"] * 4
    assert list(ledger["verdict"]) == ["shown", "undecided", "excluded", "undecided"]
    assert list(ledger["could_exclude"]) == ["yes", "yes", "yes", "no"]
    assert list(ledger["could_show"]) == ["yes"] * 4


def test_more_categories_widen_the_interval_because_any_may_be_the_reference(ledger_of):
    two = rows(audit="a", counts=[(1000, 500), (1000, 400)], ratios=[1, 0.8])
    more = [(1000, 500), (1000, 400), (1000, 450), (1000, 480)]
    four = rows(audit="b", counts=more, ratios=[1, 0.8, 0.9, 0.96])
    ledger = ledger_of(two, four).set_index("audit")
    width = ledger["high"] - ledger["low"]
    same = ledger["calculated"] == 0.8
    assert width["b"][same["b"]].iloc[0] > width["a"]


def test_counts_computed_from_rounded_rates_leave_a_ratio_open(ledger_of):
    # 0.80 may have been 0.795 or 0.805 of which half a million cases know everything.
    counts = [(500_000, 500_000 * 0.5), (500_001, 500_001 * 0.4)]
    ledger = ledger_of(rows(counts=counts, ratios=[1, 0.8], rates=[0.5, 0.4]))
    assert ledger["rounding"].item() == 0.05
    assert ledger["verdict"].item() == "undecided"


@pytest.mark.parametrize(
    ("counts", "ratios", "rates", "reason"),
    [
        # The second category is divided by the third, whose rate is higher.
        ([(900, 450), (900, 405), (900, 540)], [1, 0.75, 1.2], None, "highest rate"),
        ([(100, 50), (100, 27), (100, 20)], [1, 0.38, 0.4], [0.5, 0.19, 0.2], "counts"),
        ([(900, 450), (900, 405), (900, 440)], [1, 1.4, 0.5], None, "no single"),
        ([(100, 20), (100, 10)], [1, 0.56], [0.2, 0.1], "rounding"),
    ],
)
def test_why_a_ratio_does_not_recompute(ledger_of, counts, ratios, rates, reason):
    ledger = ledger_of(rows(counts=counts, ratios=ratios, rates=rates))
    assert ledger["reason"].iloc[0].startswith(reason)


def test_the_bundled_counts_agree_with_each_other():
    ratios = load("local_law_144_ratios", source="bundled")
    audits = load("local_law_144_audits", source="bundled")
    rows = load("local_law_144_rows", source="bundled")
    assert audits["audits"].sum() == 116
    assert audits["rows"].sum() == rows["rows"].sum() == 4507
    assert ratios["ratios"].sum() == 2450
    recomputed = ratios[ratios["reason"] == "recomputes"]
    assert recomputed["ratios"].sum() == 1581
