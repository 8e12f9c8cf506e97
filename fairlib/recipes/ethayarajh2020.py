"""Tables of the first paper: annotator disagreement, and real systems.

The annotators are those of MultiNLI, the systems were run on WinoBias and WinoMT.
"""

from itertools import product

import numpy as np
import pandas as pd

from fairlib.data import load
from fairlib.ledger import published
from fairlib.recipes.originals import File, original, recipe, require_columns

_MULTINLI = "https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip"
MATCHED = File(
    "mnli/multinli_1.0_dev_matched.jsonl",
    sha256="9db14e02591c51b7c0401802382f01602ce97c21697a68a263f8c4b5958229a6",
    size=12_925_073,
    url=_MULTINLI,
    member="multinli_1.0/multinli_1.0_dev_matched.jsonl",
)
MISMATCHED = File(
    "mnli/multinli_1.0_dev_mismatched.jsonl",
    sha256="65f3a993919f6a26f1468145a7ea2a7d8f5da175f1fee93a14315ba4fda0fd0e",
    size=13_460_535,
    url=_MULTINLI,
    member="multinli_1.0/multinli_1.0_dev_mismatched.jsonl",
)
PARTIAL = File(
    "mnli/dev_matched_partial.csv.gz",
    sha256="df1d7c5cd3e9d551464d4b9ee6227b64e85dff34afa8f64f8373b37449e694fb",
    size=84_672,
    how="It joins MultiNLI's matched dev set with ChaosNLI's annotator labels "
    "(github.com/easonnie/ChaosNLI) and the predictions of a RoBERTa-base; columns "
    "index, pairID, genre, gold_label, annotator_labels_if_3of5, roberta_split, "
    "roberta_pred_seed0-2.",
)
LLM = File(
    "winobias/gpt35_turbo_type1_test.csv",
    sha256="6dbfe8197c35e267aca6b830b5076db186fbeb95579a26ceac2de9a371641e5e",
    size=19_246,
    how="Released answers of gpt-3.5-turbo on the type 1 test pairs; columns trial, "
    "pair, pro_correct, anti_correct.",
)
WINOMT = File(
    "winobias/winomt_systems.csv",
    sha256="3a4bfd0012894bfd1b049e89857402f2d83268a7d7afcc42343af3962337cd56",
    size=5_365,
    how="Gold against translated gender, counted from the outputs released with WinoMT "
    "(github.com/gabrielStanovsky/mt_gender); columns system, language, gold, "
    "predicted, count.",
)
_WINOBIAS = (
    "https://raw.githubusercontent.com/uclanlp/corefBias/master/WinoBias/wino/data/"
)
_SENTENCES = {
    f"{stereotype}_stereotyped_type{kind}.txt.{split}": sha256
    for (stereotype, kind, split), sha256 in zip(
        product(("anti", "pro"), (1, 2), ("dev", "test")),
        (
            "a4e0ebae344e78b56f657a42e8ae684b9db7747d177c5e7149c0907ebb7f3bf6",
            "331db5bd74bfefebf146a60b67645152a4a1991570d2a56f57154103ac361dd2",
            "763ad829ad724f9a85ead689ba8ca69072020cb1238def6210f0fc6a47b97e59",
            "336571ac1ea8c06cd2aba8e5dd2bd98e00acc0c48da3e4ec5ec7e54eb2633a8f",
            "dd55a0d220fe4c0ceb63dd4648223fb4fe1a58d5ad95c116a002ad24b0e292a5",
            "db7838907238a758eeb5779e48f38c013b892910d6fe864456c59f04245c6689",
            "8f0250de723cea9328e3eaf7169e07936f01aa5909ce7aa580db66eb803f4e86",
            "ea1c1fd94fa612e3cc44d7fa3cc4cb76021bb63fdf94f9826f430051e9052438",
        ),
        strict=True,
    )
}
WINOBIAS_FILES = {
    name: File(f"winobias/{name}", sha256=sha, url=_WINOBIAS + name)
    for name, sha in _SENTENCES.items()
}

PAIRS_PER_GENRE = 2000
# Pairs without a majority label in the mismatched genres. Not counted by us: reported
# elsewhere, and confirmed in sum by the 9,832 labelled pairs of the mismatched dev set.
_MISMATCHED_WITHOUT_MAJORITY = {
    "facetoface": 26,
    "letters": 23,
    "nineeleven": 26,
    "oup": 39,
    "verbatim": 54,
}


def _annotator_costs(annotations: pd.DataFrame) -> pd.DataFrame:
    """Count the pairs by genre and cost.

    The cost of a pair is the share of its annotators who differ from its gold label. A
    pair without a majority has the gold label "-", which every annotator differs from:
    its cost is 1. Keeping these pairs comes closest to the means that the paper prints.

    Parameters
    ----------
    annotations : pandas.DataFrame
        One row per pair, with the columns genre, gold_label and annotator_labels (a
        list).

    Returns
    -------
    pandas.DataFrame
        Columns genre, cost, count.
    """
    annotators = annotations["annotator_labels"].explode()
    differs = annotators != annotations["gold_label"].reindex(annotators.index)
    cost = differs.groupby(level=0).mean().round(4)
    pairs = pd.DataFrame({"genre": annotations["genre"], "cost": cost})
    return _counted(pairs, "count")


def _counted(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the different rows in sorted order, with how often each occurs."""
    counts = rows.value_counts().rename(name).reset_index()
    return counts.sort_values(list(rows), ignore_index=True)


def _reconstructed_costs() -> pd.DataFrame:
    """Return the counts that follow from the printed means and the known counts.

    They stand in for the genuine files where these are not at hand.

    Returns
    -------
    pandas.DataFrame
        Columns genre, cost, count.

    Notes
    -----
    A genre's 2,000 costs are multiples of 1/5, so its printed mean fixes their sum up
    to ± 5 fifths; the other columns of Table 1 narrow that down. In the matched genres
    the pairs with 3 of 5 votes and those without a majority are known, so the pairs
    with 4 of 5 votes follow. In the mismatched genres only the pairs without a majority
    are known; the rest is split between 3 and 4 of 5 votes as in the matched genres.
    """
    known = load("mnli_known_counts").set_index("genre")
    fifths = _sums_of_fifths()
    without = known["without_majority"].reindex(fifths.index)
    without = without.fillna(pd.Series(_MISMATCHED_WITHOUT_MAJORITY))

    # The rest of the fifths comes from pairs with 4 of 5 votes (one fifth each) and
    # with 3 of 5 votes (two fifths each).
    rest = fifths - 5 * without
    three = known["three_of_five"].reindex(fifths.index)
    four = rest - 2 * three

    odds = three.sum() / four.sum()  # of 3 against 4 votes, in the matched genres
    three = three.fillna((rest * odds / (1 + 2 * odds)).round())
    four = rest - 2 * three

    five = PAIRS_PER_GENRE - four - three - without
    counts = pd.DataFrame({0.0: five, 0.2: four, 0.4: three, 1.0: without})
    by_genre = counts.astype(int).rename_axis("genre").reset_index()
    table = by_genre.melt("genre", var_name="cost", value_name="count")
    table = table.astype({"cost": float})
    return table.sort_values(["genre", "cost"], ignore_index=True)


def _sums_of_fifths() -> pd.Series:
    """Return the sum of each genre's costs, in fifths, that fits Table 1 best.

    With K fifths in a genre and T in all, Table 1 prints in-genre K/10,000 and
    out-genre (T - K)/90,000. Each of its 30 printed numbers allows half a unit of its
    last digit, so for a given T each K lies in a range. Of the T whose ranges can add
    up to T, the function takes the T whose K lie closest to the printed means.
    """
    table = published()["printed"].filter(like="ethayarajh2020/table1/").astype(float)
    table.index = pd.MultiIndex.from_tuples(
        [name.split("/")[2:] for name in table.index], names=["genre", None]
    )
    printed = table.unstack()
    nearest = (printed["in"] * 10_000).round()

    best = None
    smallest_distance = np.inf
    for total in range(int(nearest.sum()) - 50, int(nearest.sum()) + 51):
        fifths = _with_total(total, nearest, printed)
        if fifths is None:
            continue
        distance = ((fifths - nearest) ** 2).sum()
        if distance < smallest_distance:
            best = fifths
            smallest_distance = distance

    if best is None:
        raise ValueError("no counts fit all printed numbers of Table 1")
    return best


def _with_total(
    total: int, nearest: pd.Series, printed: pd.DataFrame
) -> pd.Series | None:
    """Return fifths with this total that Table 1 allows, or None if there are none."""
    low, high = _allowed(printed, total)
    if (low > high).any() or not low.sum() <= total <= high.sum():
        return None

    fifths = nearest.clip(low, high)
    while total != fifths.sum():
        # Move the genre that is still nearest to its printed mean.
        step = np.sign(total - fifths.sum())
        movable = fifths[(fifths + step).between(low, high)]
        fifths[(movable - nearest).abs().idxmin()] += step
    return fifths


def _allowed(printed: pd.DataFrame, total: int) -> tuple[pd.Series, pd.Series]:
    """Return the smallest and largest number of fifths per genre, given their total."""
    half = 0.0005

    def fifths(sign: int) -> pd.DataFrame:
        by_in = 10_000 * (printed["in"] + sign * half)
        by_out = total - 90_000 * (printed["out"] - sign * half)
        by_difference = 9_000 * (printed["difference"] + sign * half) + total / 10
        return pd.concat([by_in, by_out, by_difference], axis=1)

    return np.ceil(fifths(-1).max(axis=1)), np.floor(fifths(+1).min(axis=1))


@recipe(files=[MATCHED, MISMATCHED], bundle=_reconstructed_costs)
def mnli_costs() -> pd.DataFrame:
    """Pairs of MultiNLI's two dev sets by genre and cost."""
    columns = ["genre", "gold_label", "annotator_labels"]
    parts = []
    for file in (MATCHED, MISMATCHED):
        rows = pd.read_json(original(file), lines=True)
        parts.append(require_columns(rows, columns, file.path)[columns])
    return _annotator_costs(pd.concat(parts, ignore_index=True))


def _matched_pairs() -> pd.DataFrame:
    columns = ["genre", "gold_label", "annotator_labels_if_3of5"]
    return require_columns(pd.read_csv(original(PARTIAL)), columns, PARTIAL.path)


@recipe(files=[PARTIAL])
def mnli_known_counts() -> pd.DataFrame:
    """Pairs of each matched genre without a majority, and with 3 of 5 votes."""
    by_genre = _matched_pairs().groupby("genre")
    counts = {
        "without_majority": PAIRS_PER_GENRE - by_genre.size(),
        "three_of_five": by_genre["annotator_labels_if_3of5"].count(),
    }
    return pd.DataFrame(counts).reset_index()


@recipe(files=[])
def mnli_agreement() -> pd.DataFrame:
    """Pairs of MultiNLI by how many of five annotators agree.

    The pairs are a random half of each dev set. They were counted as columns of public
    response matrices, of which there is one for each number of agreeing annotators.
    These matrices do not name the genres, and leave out the pairs without a majority.
    """
    counts = {"matched": (740, 1204, 2964), "mismatched": (724, 1193, 2999)}
    rows = [
        (part, agree, n)
        for part, counts_of_part in counts.items()
        for agree, n in zip((3, 4, 5), counts_of_part, strict=True)
    ]
    return pd.DataFrame(rows, columns=["part", "agree", "pairs"])


@recipe(files=[PARTIAL])
def mnli_roberta() -> pd.DataFrame:
    """Predictions of a RoBERTa-base on the matched genres, by seed and genre."""
    pairs = _matched_pairs()
    classes = {0.0: "entailment", 1.0: "contradiction", 2.0: "neutral"}

    tables = []
    for seed in range(3):
        predicted = pairs[f"roberta_pred_seed{seed}"].map(classes)
        right = (predicted == pairs["gold_label"])[predicted.notna()]
        rows = pd.DataFrame({"genre": pairs["genre"], "right": right.astype(int)})
        counts = rows.dropna().value_counts().rename("count").reset_index()
        tables.append(counts.assign(seed=seed))

    table = pd.concat(tables).astype({"right": int})
    return table[["seed", "genre", "right", "count"]].sort_values(
        ["seed", "genre", "right"], ignore_index=True
    )


@recipe(files=WINOBIAS_FILES.values())
def winobias_sentences() -> pd.DataFrame:
    """Sentences in each file of the WinoBias release."""
    rows = []
    for name, file in WINOBIAS_FILES.items():
        # Such as pro_stereotyped_type1.txt.test
        stereotype, _, rest = name.split("_")
        kind, _, split = rest.split(".")

        lines = original(file).read_text(encoding="utf-8").splitlines()
        row = {
            "stereotype": stereotype,
            "type": int(kind.removeprefix("type")),
            "split": split,
            "sentences": sum(bool(line.strip()) for line in lines),
        }
        rows.append(row)
    return pd.DataFrame(rows)


@recipe(files=[LLM])
def winobias_llm() -> pd.DataFrame:
    """Answers of a large language model on 395 WinoBias pairs.

    Pairs by trial, and by which of the two sentences the model understood rightly.
    """
    columns = ["trial", "pro_correct", "anti_correct"]
    answers = require_columns(pd.read_csv(original(LLM)), columns, LLM.path)
    return _counted(answers[columns], "pairs")


@recipe(files=[WINOMT])
def winomt_systems() -> pd.DataFrame:
    """Translation systems on WinoMT, by language and by gender in the source.

    Sentences, and whether the gender was kept.
    """
    columns = ["system", "language", "gold", "predicted", "count"]
    counts = require_columns(pd.read_csv(original(WINOMT)), columns, WINOMT.path)
    counts = counts.query("gold != 'neutral'")
    right = (counts["gold"] == counts["predicted"]).astype(int)
    by_outcome = counts.assign(right=right).groupby(
        ["system", "language", "gold", "right"]
    )
    return by_outcome["count"].sum().rename("sentences").reset_index()
