"""Whether probabilities mean the same in all groups: against formulas and loops."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable

import fairlib
from fairlib.auditing import calibrating, probabilities
from fairlib.auditing.probabilities import calibration_test


def logistic(x):
    return 1 / (1 + np.exp(-x))


def scored(sizes=(500, 500), *, seed=0, effect=0.0, shift=0.0, base=0.0):
    """Groups whose outcomes follow the probability; those of the first, `effect` off.

    With `shift`, the first group has higher probabilities.
    """
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    is_first = group == 0
    odds = rng.normal(base + shift * is_first, 1.2)
    outcome = rng.random(len(group)) < logistic(odds + effect * is_first)
    return pd.DataFrame({"g": group, "y": outcome.astype(int), "p": logistic(odds)})


def questions_of(frame, group="g", **options):
    columns = {"group": group, "label": "y", "probability": "p"}
    return fairlib.audit(frame, **columns, metrics="errors", **options).questions


def rows_of(frame, group="g", **options):
    return calibration_test(questions_of(frame, group, **options))


def test_one_level_is_fishers_test():
    """With one probability for all cases, the numbers are hypergeometric."""
    frame = scored((30, 90), effect=1.0).assign(p=0.5)
    (row,) = rows_of(frame).to_dict("records")
    y = frame["y"].groupby(frame["g"]).sum()
    chance = stats.hypergeom(120, y.sum(), 30)
    tail = min(chance.cdf(y[0]), chance.sf(y[0] - 1))
    # All probabilities have one half of the level, and the halves the rest.
    assert row["p"] == pytest.approx(min(1, 2 * tail / calibrating.PARTS["all"]))
    assert row["value"] == pytest.approx(abs(y[0] / 30 - y[1] / 90))


def few_levels(seed=0, effect=0.8):
    frame = scored((200, 300), seed=seed, effect=effect)
    return frame.assign(p=(frame["p"] * 4).round() / 4)


def tables_of(frame):
    return [
        pd.crosstab(level["g"], level["y"])
        .reindex(index=[0, 1], columns=[1, 0], fill_value=0)
        .to_numpy()
        for _, level in frame.groupby("p")
    ]


def test_the_difference_is_that_of_mantel_and_haenszel():
    frame = few_levels()
    numerator = denominator = 0.0
    for (a, b), (c, d) in tables_of(frame):
        n, m = a + b, c + d
        numerator += (a * m - c * n) / (n + m)
        denominator += n * m / (n + m)
    (row,) = rows_of(frame).to_dict("records")
    assert (row["lowest"], row["highest"]) == pytest.approx((0, 1), abs=1e-6)
    assert row["value"] == pytest.approx(numerator / denominator)


def test_p_is_that_of_many_exchanges_and_near_cochrans_test():
    frame = few_levels(effect=0.35)
    tables = tables_of(frame)
    rng = np.random.default_rng(0)
    drawn = sum(
        rng.hypergeometric(
            table[:, 0].sum(), table[:, 1].sum(), table[0].sum(), 2_000_000
        )
        for table in tables
    )
    observed = sum(table[0, 0] for table in tables)
    tail = min((drawn >= observed).mean(), (drawn <= observed).mean())

    cases = probabilities._cases(*_counts_and_family(frame))[0]
    by_part = {part.part: part for part in calibrating._compare(cases, 0)}
    assert by_part["all"].p == pytest.approx(2 * tail, rel=0.05)
    cochran = StratifiedTable(tables).test_null_odds(correction=True).pvalue
    assert by_part["all"].p == pytest.approx(cochran, rel=0.1)


def _counts_and_family(frame):
    counts = questions_of(frame).levels["g"]
    return counts, probabilities.family(counts, ("g",), {})


@pytest.mark.parametrize("size", [300, 60_000])
def test_the_distribution_is_a_convolution_and_nearly_normal(size):
    rng = np.random.default_rng(1)
    total = rng.integers(2, size // 10, 12).astype(float)
    n = np.ceil(total * rng.random(12))
    outcomes = np.ceil(total * rng.random(12))
    strata = calibrating._Strata(
        place=np.arange(12), n=n, total=total, k=n, outcomes=outcomes
    )
    chances, first = calibrating._distribution(strata)
    number = first + np.arange(len(chances))
    assert chances.sum() == pytest.approx(1)
    mean = (chances * number).sum()
    assert mean == pytest.approx(strata.expected.sum())
    variance = (chances * (number - mean) ** 2).sum()
    assert variance == pytest.approx(strata.variance.sum())

    exact = np.ones(1)
    for one, other, event in zip(total, n, outcomes, strict=True):
        values = np.arange(other + 1)
        exact = np.convolve(exact, stats.hypergeom.pmf(values, one, event, other))
    is_inside = (number >= 0) & (number < len(exact))
    np.testing.assert_allclose(chances[is_inside], exact[number[is_inside]], atol=1e-12)
    assert chances[~is_inside].sum() < 1e-12


def test_large_numbers_are_as_good_as_normal(monkeypatch):
    frame = few_levels(effect=0.35)
    exact = rows_of(frame)["p"][0]
    monkeypatch.setattr(calibrating, "_LARGEST_EXACT_VARIANCE", 0.0)
    assert rows_of(frame)["p"][0] == pytest.approx(exact, rel=0.1)


def test_what_differs_at_both_ends_in_opposite_ways_is_seen():
    frame = scored()
    frame["p"] = np.where(frame["g"] == 0, 1 - frame["p"], frame["p"])
    (row,) = rows_of(frame).to_dict("records")
    assert row["verdict"] == "shown" and row["low"] > 0.2
    assert (
        row["lowest"] > 0.45 or row["highest"] < 0.55
    )  # one half of the probabilities


def test_a_planted_difference_is_shown_with_its_size():
    # Outcomes are half as frequent as the probability says, in one group.
    frame = scored((3000, 3000))
    rng = np.random.default_rng(0)
    lost = (frame["g"] == 0) & (rng.random(6000) < 0.3)
    frame["y"] = np.where(lost, 0, frame["y"])
    (row,) = rows_of(frame).to_dict("records")
    truth = 0.3 * frame["p"].mean()
    assert row["verdict"] == "shown"
    assert row["low"] < truth < row["high"]
    assert (row["group"], row["against"]) == ("g = 1", "g = 0")


def test_of_many_groups_the_clearest_is_named():
    frame = scored((300,) * 5, effect=-1.2)
    (row,) = rows_of(frame).to_dict("records")
    assert (row["group"], row["against"]) == ("g = 0", "everyone else")
    assert row["value"] < 0 and row["high"] < 0 and row["verdict"] == "shown"


def test_names_do_not_decide_which_of_two_groups_is_named_first():
    frame = scored(effect=-0.8)
    (row,) = rows_of(frame).to_dict("records")
    (again,) = rows_of(frame.assign(g=5 - frame["g"])).to_dict("records")
    assert row["group"] == "g = 1" and again["group"] == "g = 4"
    for name in probabilities.CALIBRATION_NUMBERS:
        assert again[name] == pytest.approx(row[name])


def test_probabilities_that_are_wrong_for_all_are_no_difference():
    frame = scored((2000, 2000), shift=1.0, seed=2)
    frame["p"] = frame["p"] ** 4
    assert rows_of(frame)["verdict"][0] == "open"


def test_intervals_exclude_0_exactly_where_a_difference_is_shown():
    verdicts = set()
    for seed in range(30):
        frame = scored((60, 400), seed=seed, effect=0.9, base=-1.5)
        (row,) = rows_of(frame).to_dict("records")
        assert (not row["low"] <= 0 <= row["high"]) == (row["verdict"] == "shown")
        assert row["low"] <= row["value"] <= row["high"]
        verdicts.add(row["verdict"])
    assert verdicts == {"shown", "open"}


def test_attributes_share_their_part_of_alpha():
    frame = scored(effect=0.5).assign(h=np.arange(1000) % 3)
    rows = rows_of(frame, ["g", "h"])
    small = calibration_test(questions_of(frame, ["g", "h"]), share=0.1)
    np.testing.assert_allclose(
        small["p_corrected"], np.minimum(rows["p_corrected"] * 10, 1)
    )
    assert (rows["p_corrected"] >= rows["p"] - 1e-12).all()
    with pytest.raises(ValueError, match="share must lie above 0"):
        calibration_test(questions_of(frame), share=2)


def test_copies_of_sources_add_nothing():
    frame = scored((150, 250), effect=0.7).assign(person=np.arange(400))
    copies = pd.concat([frame] * 10, ignore_index=True)
    (alone,) = rows_of(frame, source="person").to_dict("records")
    (tied,) = rows_of(copies, source="person").to_dict("records")
    (forgotten,) = rows_of(copies).to_dict("records")
    assert tied["value"] == pytest.approx(alone["value"], abs=0.02)
    assert tied["p"] == pytest.approx(alone["p"], rel=0.7)
    assert forgotten["p"] < 1e-6 < tied["p"]


def test_nobody_shares_a_probability():
    frame = scored()
    frame["p"] = np.where(frame["g"] == 0, 0.2, 0.7)
    rows = rows_of(frame)
    assert rows["verdict"].tolist() == ["undefined"]
    assert rows[["value", "low", "high", "p"]].isna().all(axis=None)
    assert "shares probabilities with others" in rows.attrs["notes"][0]


def test_small_groups_are_not_rows_of():
    rows = rows_of(scored((20, 500)))
    assert rows["verdict"].tolist() == ["undefined"]
    assert "no group with 30 cases shares" in rows.attrs["notes"][0]


def test_a_constant_outcome_is_undefined():
    assert rows_of(scored().assign(y=1), positive=1)["verdict"][0] == "undefined"


def test_too_many_cases_by_source_have_a_note(monkeypatch):
    monkeypatch.setattr("fairlib.auditing.counts.MOST_TIED_CASES", 100)
    rows = rows_of(scored().assign(s=np.arange(1000) // 3), source="s")
    assert rows["verdict"].tolist() == ["undefined"]
    assert "too many cases to test calibration by source" in rows.attrs["notes"][0]


def test_beside_strata_it_is_left_out_and_without_labels_nothing_is_asked():
    frame = scored().assign(place=np.arange(1000) % 2)
    rows = rows_of(frame, within="place")
    assert rows.empty and list(rows.columns) == probabilities.CALIBRATION_COLUMNS
    assert "do not take strata into account" in rows.attrs["notes"][0]
    unlabelled = fairlib.audit(frame, group="g", probability="p", positive="1")
    rows = calibration_test(unlabelled.questions)
    assert rows.empty and rows.attrs["notes"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "shift", "base"), [((500, 500), 1, 0), ((40, 1000), 1, -4)]
)
def test_fair_probabilities_are_hardly_ever_accused(sizes, shift, base):
    audits = 150
    accused = 0
    for seed in range(audits):
        frame = scored(sizes, seed=seed, shift=shift, base=base)
        accused += rows_of(frame)["verdict"][0] == "shown"
    assert accused / audits <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / audits)
