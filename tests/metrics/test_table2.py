"""Every metric against a slow second implementation, by hand and by its symmetries."""

import itertools
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as sk
from toy_predictions import MANY_GROUPS, suite, value

import fairlib
from fairlib import METRICS, Metric
from fairlib.data import ROOT
from fairlib.metrics import comparisons, scores
from fairlib.metrics.table2 import AUCS, KINDS, NORMALIZERS, TABLE_2, VARIANTS, read

# What the paper prints, in its order. Variants may be added, and these stay.
PRINTED = [
    "FPED",
    "FNED",
    "AvgGF",
    "FPRRatio",
    "PosAvgEG",
    "NegAvgEG",
    "DisparityScore",
    "TPRGap",
    "TNRGap",
    "ParityGap",
    "AccuracyDifference",
    "TPRDifference",
    "F1Difference",
    "LASDifference",
    "RecallDifference",
    "F1Ratio",
    "CFGap",
    "PertSS",
    "PertSD",
    "PertSR",
    "AvgIF",
    "AvgScoreDifference",
]


# --- a slow second implementation -----------------------------------------------------


def slow(frame, name, c):
    """Compute {group: value} from the words of Table 2, with loops and others' code."""
    base = name.removesuffix("*").removesuffix(" (TC)")
    data = frame
    if name.endswith("(TC)") or name == "PosAvgEG":
        data = frame[frame["label"] == c]
    if name == "NegAvgEG":
        data = frame[frame["label"] != c]
    of = {g: data[data["group"] == g] for g in sorted(frame["group"].unique())}

    scalar_bcm = {"FPED": rate("fpr", c), "FNED": rate("fnr", c)}
    gaps = {
        "DisparityScore": lambda d: sk.f1_score(d["label"] == c, d["prediction"] == c),
        "TPRGap": rate("tpr", c),
        "TNRGap": rate("tnr", c),
        "ParityGap": lambda d: (d["prediction"] == c).mean(),
    }
    gaps["ParityGap (accuracy)"] = accuracy
    if base in scalar_bcm:
        score = scalar_bcm[base]
        per = {g: abs(score(data) - score(of[g])) for g in of}
        divisor = len(of) if name.endswith("*") else 1
        return per | {"accumulated": sum(per.values()) / divisor}
    if base in ("AvgGF", "FPRRatio", "FNRRatio", "PosAvgEG", "NegAvgEG"):
        return slow_against_background(data, of, base, c)
    if name in gaps or base in gaps:
        divisor = len(of) if name == "DisparityScore" else None
        return slow_gap(of, gaps.get(name) or gaps[base], divisor)
    return slow_counterfactual(data, list(of), base, c)


def rate(kind, c):
    """Return a function that computes a rate of the class against the rest."""

    def score(d):
        tn, fp, fn, tp = sk.confusion_matrix(
            d["label"] == c, d["prediction"] == c, labels=[False, True]
        ).ravel()
        rates = {
            "fpr": fp / (fp + tn),
            "fnr": fn / (fn + tp),
            "tpr": tp / (tp + fn),
            "tnr": tn / (tn + fp),
        }
        return rates[kind]

    return score


def accuracy(d):
    return sk.accuracy_score(d["label"], d["prediction"])


def over_pairs(groups, gap):
    """Return the mean over the pairs that contain each group."""
    return {g: np.mean([v for pair, v in gap.items() if g in pair]) for g in groups}


def slow_gap(of, score, divisor):
    pairs = list(itertools.combinations(of, 2))
    gap = {(i, j): abs(score(of[i]) - score(of[j])) for i, j in pairs}
    total = sum(gap.values())
    return over_pairs(of, gap) | {"accumulated": total / (divisor or len(pairs))}


def slow_against_background(data, of, base, c):
    column = f"p_{c}"
    rest = {g: data[data["group"] != g] for g in of}
    if base == "AvgGF":
        per = {g: stats.wasserstein_distance(of[g][column], data[column]) for g in of}
        return per | {"accumulated": np.mean(list(per.values()))}
    if base in ("FPRRatio", "FNRRatio"):
        score = rate("fpr" if base == "FPRRatio" else "fnr", c)
        return {g: score(of[g]) / score(rest[g]) for g in of}

    per = {}
    for g in of:
        x, y = rest[g][column], of[g][column]
        u = stats.mannwhitneyu(x, y, alternative="greater").statistic
        per[g] = 0.5 - u / (len(x) * len(y))
    return per


def slow_counterfactual(data, groups, base, c):
    """Go source by source, and take the mean over them."""
    column = f"p_{c}"
    if base.startswith("Pert"):
        data = data.assign(own=[row[f"p_{row['label']}"] for _, row in data.iterrows()])
        column = "own"

    by_source = []
    for _, part in data.groupby("source"):
        sets = {g: part.loc[part["group"] == g, column].to_numpy() for g in groups}
        if base in ("PertSD", "PertSR"):
            d = np.std if base == "PertSD" else np.ptp
            worlds = itertools.product(*sets.values())
            by_source.append({"accumulated": np.mean([d(world) for world in worlds])})
            continue

        gap = {}
        for i, j in itertools.combinations(groups, 2):
            if base == "AvgIF":
                gap[i, j] = stats.wasserstein_distance(sets[i], sets[j])
            else:
                pairs = itertools.product(sets[i], sets[j])
                gap[i, j] = np.mean([abs(x - y) for x, y in pairs])
        mean = {"accumulated": np.mean(list(gap.values()))}
        by_source.append(over_pairs(groups, gap) | mean)
    return pd.DataFrame(by_source).mean().to_dict()


@pytest.mark.parametrize("name", MANY_GROUPS)
@pytest.mark.parametrize("digits", [None, 1])
def test_equals_a_slow_second_implementation(name, digits):
    frame = suite(sources=9, terms=3, digits=digits, seed=1)
    found = fairlib.measure(frame, name)
    for class_name, rows in found.groupby("class"):
        expected = slow(frame, name, "pos" if class_name == "all" else class_name)
        assert rows.set_index("group")["value"].to_dict() == pytest.approx(
            expected, abs=1e-12
        )


@pytest.mark.parametrize(
    "name",
    [
        "FPED",
        "AvgGF",
        "PosAvgEG",
        "ParityGap",
        "CFGap (TC)",
        "AvgIF",
        "PertSR",
        "PertSD",
    ],
)
def test_equals_it_on_groups_of_unequal_size_and_sources_of_unequal_shape(name):
    frame = suite(sources=9, terms=3, seed=2)
    frame = frame.drop(
        frame.index[
            (frame["term"] == "a2")
            | ((frame["term"] == "b0") & (frame["source"] % 2 == 0))
        ]
    )
    found = fairlib.measure(frame, name, classes="neg")
    expected = slow(frame, name, "neg")
    assert found.set_index("group")["value"].to_dict() == pytest.approx(
        expected, abs=1e-12
    )


def check_file(path):
    """Check that a file such as table2.csv has what is printed, and no defaults."""
    table_2, variants, others = read(path)
    assert list(table_2) == PRINTED

    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    assert rows["name"].is_unique
    names = {place: list(part["name"]) for place, part in rows.groupby("place")}
    assert names == {
        "Table 2": PRINTED,
        "variant": list(variants),
        "other": list(others),
    }
    assert (
        rows[["single", "per_class", "two_groups"]].isin(["yes", "no"]).all(axis=None)
    )
    assert (
        rows["normalizer"].isin(NORMALIZERS) == rows["kind"].isin(["PCM", "BCM"])
    ).all()
    assert (rows[["title", "reference"]] != "").all(axis=None)


def test_the_file_has_the_22_metrics_that_the_paper_prints_and_others():
    assert len(PRINTED) == 22
    file = ROOT / "fairlib" / "metrics" / "table2.csv"
    check_file(file)
    assert read(file) == [TABLE_2, VARIANTS, AUCS]
    assert list(METRICS) == [*TABLE_2, *VARIANTS]
    assert {"AvgGF (TC)", "FPED*", "FNED*", "DisparityScore*"} < VARIANTS.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_every_score_and_comparison_says_what_it_is(kind):
    for name, metric in (METRICS | AUCS).items():
        if metric.kind == kind:
            for function in (metric.score, metric.comparison):
                assert function.symbol and function.words[0].isupper(), name
                assert not function.words.endswith("."), name


@pytest.mark.parametrize("name", [*METRICS, *AUCS])
def test_a_metric_is_the_same_after_pickling(name):
    metric = (METRICS | AUCS)[name]
    again = pickle.loads(pickle.dumps(metric))
    assert again == metric

    frame = suite(groups=("a", "b"), sources=5, seed=13)
    before = fairlib.measure(frame, {name: metric})
    pd.testing.assert_frame_equal(fairlib.measure(frame, {name: again}), before)


def test_the_table_of_metrics_can_be_pickled():
    again = pickle.loads(pickle.dumps(METRICS))
    assert again == METRICS and list(again) == list(METRICS)
    normalizers = pickle.loads(pickle.dumps(NORMALIZERS))
    assert [normalizers[name](6) for name in normalizers] == [1, 6, 15]


def test_two_group_metrics_against_their_building_blocks():
    frame = suite(groups=("female", "male"), sources=12, seed=3)
    x, y = frame[frame["group"] == "female"], frame[frame["group"] == "male"]
    pos = [(d["label"] == "pos", d["prediction"] == "pos") for d in (x, y)]
    f1 = [sk.f1_score(*labels) for labels in pos]
    recall = [sk.recall_score(*labels) for labels in pos]
    accuracy = [sk.accuracy_score(d["label"], d["prediction"]) for d in (x, y)]
    expected = {
        "AccuracyDifference": accuracy[0] - accuracy[1],
        "LASDifference": accuracy[0] - accuracy[1],
        "TPRDifference": recall[0] - recall[1],
        "RecallDifference": recall[0] - recall[1],
        "F1Difference": f1[0] - f1[1],
        "F1Ratio": f1[0] / f1[1],
        "AvgScoreDifference": x["p_pos"].mean()
        - y["p_pos"].mean(),  # as many variations in every source
    }
    for name, number in expected.items():
        class_name = "pos" if METRICS[name].per_class else "all"
        assert value(frame, name, class_name) == pytest.approx(number)
        assert METRICS[name].two_groups


def test_the_paper_s_figure_3_follows_from_its_own_rows():
    """Sums, means and the two normalizers, applied to the printed per-group values."""
    fned, gap = (
        np.array([0.144, 0.002, 0.017, 0.036, 0.042, 0.055]),
        [0.216, 0.068, 0.063, 0.063, 0.066, 0.074],
    )
    pairs = len(gap) * (len(gap) - 1) / 2
    assert fned.sum() == pytest.approx(0.296)
    assert np.mean(gap) * pairs / 6 == pytest.approx(
        0.230, abs=0.002
    )  # divided by groups, as Table 2 says


def test_table_1_by_hand():
    """Two sources, three names each: rates, gaps and distances that fit on a napkin."""
    frame = pd.DataFrame(
        {
            "source": [1] * 6 + [2] * 6,
            "group": (["female"] * 3 + ["male"] * 3) * 2,
            "term": ["Anna", "Mary", "Liz", "Adam", "Mark", "Chris"] * 2,
            "label": [1] * 12,
            "p_1": [0.9, 0.8, 0.4, 0.9, 0.8, 0.7, 0.6, 0.6, 0.6, 0.3, 0.6, 0.9],
        }
    )
    frame["prediction"] = (frame["p_1"] > 0.5).astype(
        int
    )  # one female and one male variation of six are wrong
    frame.loc[frame["term"] == "Chris", "label"] = 1
    assert value(frame, "FNED", 1) == pytest.approx(0)
    assert value(frame, "TPRGap", 1) == pytest.approx(0)
    # Source 1: sorted .4 .8 .9 against .7 .8 .9; source 2: .6 .6 .6 against .3 .6 .9.
    assert value(frame, "AvgIF", 1) == pytest.approx((0.3 / 3 + 0.6 / 3) / 2)
    # All nine pairs: |x - y| sums to .3+.4+.5 + .1+0+.1 + .2+.1+0 for source 1, and to
    # 3 (.3+0+.3) for source 2.
    assert value(frame, "CFGap", 1) == pytest.approx((1.7 / 9 + 1.8 / 9) / 2)
    # With two groups the range is the difference and the standard deviation half of it.
    assert value(frame, "PertSR") == pytest.approx((1.7 / 9 + 1.8 / 9) / 2)
    assert value(frame, "PertSD") == pytest.approx((1.7 / 9 + 1.8 / 9) / 4)
    assert value(frame, "AvgScoreDifference", 1) == pytest.approx(
        ((2.1 - 2.4) / 3 + 0) / 2
    )


# --- what the paper says about its Table 2 --------------------------------------------


def test_table_2_has_the_counts_that_the_paper_prints():
    group = {
        name: metric for name, metric in TABLE_2.items() if metric.fairness == "group"
    }
    white = {name: metric for name, metric in TABLE_2.items() if not metric.two_groups}
    assert (
        len(group) == 16
        and sum(metric.uses == "predictions" for metric in group.values()) == 13
    )
    assert all(
        metric.uses == "probabilities"
        for metric in TABLE_2.values()
        if metric.fairness == "counterfactual"
    )
    assert len(white) == 15 and [
        name for name, metric in white.items() if metric.signed
    ] == ["PosAvgEG", "NegAvgEG"]


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_says_honestly_whether_it_uses_predictions(name):
    frame = suite(groups=("a", "b"))
    lacking = (
        frame.filter(regex="^(?!p_)")
        if METRICS[name].uses == "probabilities"
        else frame.drop(columns="prediction")
    )
    with pytest.raises(
        ValueError,
        match="probability columns" if "p_pos" not in lacking else "prediction",
    ):
        fairlib.measure(lacking, name)


# --- properties -----------------------------------------------------------------------

suites = st.builds(
    suite,
    sources=st.integers(3, 7),
    groups=st.sampled_from([("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d")]),
    terms=st.integers(1, 3),
    seed=st.integers(0, 10**6),
    digits=st.sampled_from([None, 1]),
)


def measured(frame, **options):
    return fairlib.measure(frame, MANY_GROUPS, **options).set_index(
        ["metric", "class", "group"]
    )["value"]


@settings(max_examples=8, deadline=None)
@given(frame=suites, seed=st.integers(0, 1000))
def test_the_order_of_examples_does_not_matter(frame, seed):
    shuffled = frame.sample(frac=1, random_state=seed)
    pd.testing.assert_series_equal(measured(shuffled), measured(frame))


@settings(max_examples=8, deadline=None)
@given(frame=suites)
def test_renaming_groups_renames_the_rows(frame):
    names = sorted(frame["group"].unique())
    new = {
        name: f"{9 - i}{name}" for i, name in enumerate(names)
    }  # and turns their order around
    renamed = measured(frame.assign(group=frame["group"].map(new)))
    back = renamed.rename(
        index={value: key for key, value in new.items()}, level="group"
    )
    before = measured(frame)
    pd.testing.assert_series_equal(
        back.reindex(before.index), before, rtol=1e-9, atol=1e-12
    )


@settings(max_examples=8, deadline=None)
@given(frame=suites)
def test_doubling_all_examples_changes_nothing(frame):
    doubled = pd.concat([frame, frame.assign(term=frame["term"] + "'")])
    # Not the sampled one, whose combinations differ.
    names = [name for name in MANY_GROUPS if name != "PertSD"]
    before, after = (fairlib.measure(d, names)["value"] for d in (frame, doubled))
    pd.testing.assert_series_equal(after, before)


@pytest.mark.parametrize("name", MANY_GROUPS)
def test_a_perfect_model_is_fair(name):
    frame = suite(terms=1, seed=4).assign(prediction=lambda d: d["label"])
    for class_name in ("neg", "neu", "pos"):
        frame[f"p_{class_name}"] = (frame["label"] == class_name).astype(float)
    found = fairlib.measure(frame, name)["value"]
    if METRICS[name].neutral == 1:
        assert found.isna().all()  # no errors anywhere: 0/0
    else:
        assert found.abs().max() == pytest.approx(0)


def copies(k):
    """Return one unfair pair of groups, and k - 1 more that are its copies."""
    pair = suite(groups=("a", "b"), sources=12, terms=2, seed=5)
    named = [
        pair.assign(group=pair["group"] + str(i), term=pair["term"] + f"-{i}")
        for i in range(k)
    ]
    return pd.concat(named, ignore_index=True)


def test_only_correctly_normalized_metrics_ignore_copies_of_the_groups():
    """Section 6: FPED, FNED and the Disparity Score grow with the number of groups."""
    two, six, ten = (
        fairlib.measure(copies(k), MANY_GROUPS, classes="pos") for k in (1, 3, 5)
    )
    one, three, five = (
        d[d["group"] == "accumulated"].set_index("metric")["value"]
        for d in (two, six, ten)
    )
    for name in (
        "FPED*",
        "FNED*",
        "AvgGF",
        "AvgGF (TC)",
    ):  # backgrounds: exactly invariant
        assert three[name] == pytest.approx(one[name]) == five[name]
    for name in ("FPED", "FNED"):
        assert three[name] == pytest.approx(3 * one[name]) and five[
            name
        ] == pytest.approx(5 * one[name])
    # Of the pairs among 2k groups a share k/(2k-1) are unlike ones: the mean over pairs
    # falls to half of the first.
    for name in ("DisparityScore*", "TPRGap", "TNRGap", "ParityGap"):
        assert three[name] == pytest.approx(one[name] * 3 / 5) and five[
            name
        ] == pytest.approx(one[name] * 5 / 9)
    # Divided by the number of groups it grows without end: k / 2k per pair, times k.
    assert three["DisparityScore"] == pytest.approx(3 * one["DisparityScore"])


def test_backgrounds_of_all_and_of_the_others_differ_by_the_group_s_share():
    """F_g − F_all = (1 − π)(F_g − F_others).

    This is why the released code's AvgGF (TC) is larger than its definition.
    """
    frame = suite(groups=("a", "b", "c", "d", "e", "f"), seed=6)
    others = replace(METRICS["AvgGF"], background="complement")
    found = fairlib.measure(
        frame, {"all": METRICS["AvgGF"], "others": others}, classes="pos"
    )
    per = found.pivot(index="group", columns="metric", values="value")
    assert per["all"].to_numpy() == pytest.approx(
        (1 - 1 / 6) * per["others"].to_numpy()
    )


def test_equality_gap_is_negative_for_lower_probabilities_and_sums_to_nothing():
    frame = suite(sources=12, seed=7)
    low = frame["group"] == "a"
    frame.loc[low, "p_pos"] *= 0.5
    frame[["p_neg", "p_neu"]] *= (
        (1 - frame["p_pos"]) / frame[["p_neg", "p_neu"]].sum(axis=1)
    ).to_numpy()[:, None]
    found = fairlib.measure(frame, "PosAvgEG", classes="pos").set_index("group")[
        "value"
    ]
    assert found["a"] < 0 < found[["b", "c"]].max()
    assert found.sum() == pytest.approx(
        0
    )  # for groups of equal size: why there is no aggregate
    assert "accumulated" not in found


# --- one's own metrics ----------------------------------------------------------------


def test_a_metric_of_one_s_own_takes_three_lines():
    frame = suite(sources=9, seed=8)

    def precision(cells):
        return cells.share(cells.gold, among=cells.predicted)

    found = fairlib.measure(
        frame,
        {"gap": Metric("PCM", precision, comparisons.absolute_difference)},
        classes="pos",
    )
    expected = [
        sk.precision_score(d["label"] == "pos", d["prediction"] == "pos")
        for _, d in frame.groupby("group")
    ]
    gap = np.mean([abs(x - y) for x, y in itertools.combinations(expected, 2)])
    assert found["value"].iloc[-1] == pytest.approx(gap)


@pytest.mark.parametrize("name", ["all", "complement"])
def test_a_group_that_is_called_like_a_background_is_still_compared(name):
    frame = suite(seed=12)
    renamed = frame.replace({"group": {"a": name}})
    plain, named = (
        fairlib.measure(some, ["FPED", "FPRRatio"]).set_index(
            ["metric", "class", "group"]
        )["value"]
        for some in (frame, renamed)
    )
    pd.testing.assert_series_equal(plain.rename({"a": name}).loc[named.index], named)


def test_sampled_combinations_agree_with_the_closed_form():
    frame = suite(sources=60, groups=("a", "b", "c", "d"), terms=5, seed=10)
    for name, score in (("PertSR", np.ptp), ("CFGap", None)):
        exact = METRICS[name]
        own = (lambda x: np.ptp(x, axis=-1)) if score else (lambda x, y: np.abs(x - y))
        sampled = fairlib.measure(
            frame, {"exact": exact, "sampled": replace(exact, comparison=own)}
        )
        both = sampled[sampled["group"] == "accumulated"].pivot(
            index="class", columns="metric", values="value"
        )
        assert both["sampled"].to_numpy() == pytest.approx(
            both["exact"].to_numpy(), rel=0.01
        )


def test_the_same_seed_gives_the_same_combinations():
    frame = suite(sources=5, groups=("a", "b", "c", "d"), terms=5, seed=11)
    assert value(frame, "PertSD", rng=3) == value(frame, "PertSD", rng=3)
    assert value(frame, "PertSD", rng=3) != value(frame, "PertSD", rng=4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "XCM"}, "kind must be one of 'PCM'"),
        ({"normalizer": "T"}, "normalizer must be one of"),
        ({"fairness": "both"}, "fairness must be one of"),
        ({"examples": "some"}, "examples must be one of"),
        ({"per_class": False, "examples": "gold"}, "examples must be 'all'"),
        (
            {"kind": "BCM", "background": "men"},
            "background must be one of 'all', 'complement', found 'men'",
        ),
        (
            {"kind": "BCM", "single": True},
            "single must be False for metrics with a background",
        ),
    ],
)
def test_a_metric_that_cannot_be_says_why(change, message):
    options = {
        "kind": "PCM",
        "score": scores.f1,
        "comparison": comparisons.difference,
    } | change
    with pytest.raises(ValueError, match=message):
        Metric(**options)


def test_a_score_of_the_wrong_shape_or_without_its_class_is_an_error():
    frame = suite()
    with pytest.raises(ValueError, match=r"array of shape \(1, 1, 3\); found \(\)"):
        fairlib.measure(
            frame, {"m": Metric("PCM", lambda cells: 1.0, comparisons.difference)}
        )
    one_at_a_time = Metric(
        "PCM", scores.accuracy, comparisons.absolute_difference, single=True
    )
    with pytest.raises(ValueError, match="return a Sample where single is True"):
        fairlib.measure(frame, {"m": one_at_a_time})
    with pytest.raises(ValueError, match="no class of its own"):
        fairlib.measure(frame, {"m": replace(METRICS["FPED"], per_class=False)})
