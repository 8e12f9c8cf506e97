"""Rows of the ledger that need no model: printed tables, and what was released.

Each is computed here once more, by other means than in the notebooks.
"""

import numpy as np
import pandas as pd
import pytest

import fairlib
from fairlib import ledger
from fairlib.data import ROOT

PRINTED = ledger.published()["printed"]
STATUS = pd.read_csv(ROOT / "figures" / "ledger.csv").set_index("id")["status"]


def test_table_1_of_paper_1_agrees_with_its_ten_in_genre_costs():
    rows = PRINTED.filter(like="ethayarajh2020/table1/").astype(float)
    keys = rows.index.str.split("/", expand=True).droplevel([0, 1])
    table = rows.set_axis(keys).unstack()
    assert len(table) == 10

    # The mean over all genres, weighed alike, holds each genre's own cost, too.
    outside = (10 * table["in"].mean() - table["in"]) / 9
    assert (outside - table["out"]).abs().max() <= 0.0010
    assert (table["in"] - outside - table["difference"]).abs().max() <= 0.00106
    names = [f"ethayarajh2020/table1/{genre}/{part}" for genre, part in keys]
    is_inside = np.array([name.endswith("/in") for name in names])
    assert set(STATUS[names][~is_inside]) == {"checked"}
    assert set(STATUS[names][is_inside]) == {"open"}


def test_parity_gap_is_of_the_rate_of_predictions_not_of_accuracy():
    """Arithmetic on the counts that the authors' notebook prints, SemEval-3."""
    counts = {"female": (1926, 722, 74, 3278), "male": (1909, 618, 91, 3382)}
    accuracy, rate = (
        {group: pick(*numbers) / 6000 for group, numbers in counts.items()}
        for pick in (
            lambda tp, fp, fn, tn: tp + tn,
            lambda tp, fp, fn, tn: tp + fp,
        )
    )
    printed = PRINTED["czarnowska2021/figure1/names/semeval3/ParityGap"]
    assert f"{abs(rate['female'] - rate['male']):.3f}" == printed == "0.020"
    assert abs(accuracy["female"] - accuracy["male"]) == pytest.approx(0.0145)
    definitions = STATUS.filter(like="table2/definition/")
    assert definitions[definitions == "differs"].index.tolist() == [
        "czarnowska2021/table2/definition/ParityGap"
    ]
    assert set(definitions) == {"checked", "differs"}


def test_two_estimates_of_one_bias_are_not_equivalent():
    """All of n examples are wrong: by the formula the mean is 2 (n_A - n_B) / n."""
    rng = np.random.default_rng(0)
    for n_protected in rng.integers(1, 100, size=20):
        group = np.repeat([1, -1], [n_protected, 100 - n_protected])
        wrong = np.ones(100)
        terms = fairlib.bernstein.amortized_disparity(
            wrong, group, proportions=(0.5, 0.5)
        )
        assert fairlib.bernstein.groupwise_disparity(wrong, group) == 0
        assert terms.mean() == pytest.approx(2 * (2 * n_protected - 100) / 100)
    assert STATUS["ethayarajh2020/section2/equivalent"] == "differs"


def test_the_product_for_ovens_hangs_on_the_number_of_training_images():
    settings = fairlib.load("released_settings", source="bundled")
    n = settings.set_index("setting")["value"]["train_images"]
    assert f"{237 / n:.4f}" == PRINTED["wang2021/section3.3/oven/p_man_and_oven"]

    # 16,168 men are on the 22,761 images with a person; others may show more men.
    possible = {
        f"{men / n * 425 / n:.4f}"
        for men in range(16_168, 16_168 + int(n) - 22_761 + 1)
    }
    printed = PRINTED["wang2021/section3.3/oven/p_man_times_p_oven"]
    assert possible == {"0.0130", "0.0131", "0.0132"} and printed not in possible
    assert f"{16_168 / 23_080 * 425 / 23_080:.4f}" == printed
    assert STATUS["wang2021/section3.3/oven/p_man_times_p_oven"] == "inconclusive"


def test_whether_compas_is_close_to_zero_hangs_on_the_band():
    scores = fairlib.load("compas_filtered", source="bundled")
    pair = scores[scores["race"].isin(["African-American", "Caucasian"])]

    def gap(is_called):
        """The groups' difference in a share, weighed by the counts."""
        called = (pair["count"] * is_called).groupby(pair["race"]).sum()
        share = called / pair.groupby("race")["count"].sum()
        return share["African-American"] - share["Caucasian"]

    outcomes = gap(pair["two_year_recid"] == 1)
    forward = [(gap(pair["decile_score"] > k) - outcomes) / 2 for k in range(11)]
    within = [sum(abs(value) <= band for value in forward) for band in (0.02, 0.06)]
    assert within[0] < 9 <= within[1]
    assert STATUS["wang2021/figure6/amplification_near_zero"] == "inconclusive"


def test_the_preference_for_he_cancels_and_the_row_is_far_from_zero():
    stereotyped_as = fairlib.load("occupation_rates")["stereotyped_as"]
    assert (stereotyped_as == "men").sum() == (stereotyped_as == "women").sum() == 16
    row = float(PRINTED["wang2021/table2/t_to_a/labor_2"])
    spread = float(ledger.published()["error"]["wang2021/table2/t_to_a/uniform_2"])
    assert abs(row) > 5 * spread
    assert STATUS["wang2021/section5.3/effects_cancel"] == "inconclusive"


def test_nothing_circular_judges_an_experiment():
    claims = ledger.published()
    framework = claims[claims["experiment"] == "czarnowska2021/framework"]
    judging = framework[(framework["apart"] == "") & (framework["basis"] != "input")]
    assert judging.index.str.contains("/table2/definition/").all()
    names = claims.index.str.contains("/names/") & (claims["basis"] == "check")
    assert names.sum() == 32
    assert not (
        claims.index.str.contains("/names/") & (claims["basis"] == "original")
    ).any()


@pytest.mark.parametrize("name", ["01_sensitivity", "05_sensitivity", "09_sensitivity"])
def test_each_paper_has_its_sensitivity_figure_with_both_kinds_of_marks(name):
    figure = ROOT / "figures" / "dossier" / f"{name}.svg"
    text = figure.read_text(encoding="utf-8")
    assert "we chose" in text or "choices that the paper does not print" in text
    # Vermillion and blue: some choices decide one way, some the other.
    assert "#d55e00" in text and "#0072b2" in text
