"""What fairlib's numbers were checked against.

`python benchmarks/validation.py` prints one line per source.

Published values are in published.csv, each with its place. They agree where they are
the same after rounding to the digits printed. Values of other libraries are computed
here, on the same data, and agree to 1e-9. Sources that need a public file say which
file, and from where, until it lies in the folder of originals (`data/original/`, or
`FAIRLIB_DATA`). docs/checked_against.md has the table, and discusses it.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import validation_peers as peers
from validation_peers import EXACT, Line, compared

import fairlib
from fairlib import bounds
from fairlib.data import originals_folder

PUBLISHED = pd.read_csv(Path(__file__).with_name("published.csv"), dtype=str)
RATES = ["misses", "false alarms", "predicted", "unreliable"]
# The example of fairlearn's user guide, one character per case
GUIDE = {
    "label": "011110101000111111",
    "prediction": "001011100111100110",
    "first": "bbabbcccaacabccbcc",
}
SECOND = "868888666866668666"


def printed(
    source: str, what: str, look_up: Callable[[str, str], float], rows: pd.DataFrame
) -> Line:
    """Compare with values that were printed, each rounded to its last digit."""
    ours = [
        look_up(case, quantity)
        for case, quantity in zip(rows["case"], rows["quantity"], strict=True)
    ]
    digits = rows["printed"].str.partition(".")[2].str.len().to_numpy()
    rounding = 0.5 * 10.0**-digits + EXACT
    expected = rows["printed"].astype(float)
    return compared(source, what, ours, expected=expected, within=rounding)


def rates(people: pd.DataFrame) -> pd.DataFrame:
    """Return counts and rates by group, and over all, from an audit.

    `people` has the columns group, label, prediction and count.
    """
    value, n = audited(people, positive=1)
    value_of_zeros, _ = audited(people, positive=0)

    size = n["predicted"]
    positives = n["misses"]
    negatives = n["false alarms"]
    false_negatives = value["misses"] * positives
    false_positives = value["false alarms"] * negatives
    predicted = value["predicted"] * size

    table = pd.DataFrame(
        {
            "group_size": size,
            "group_label_pos": positives,
            "group_label_neg": negatives,
            "pp": predicted,
            "pn": size - predicted,
            "fn": false_negatives,
            "fp": false_positives,
            "tp": positives - false_negatives,
            "tn": negatives - false_positives,
            "fpr": value["false alarms"],
            "fnr": value["misses"],
            "pprev": value["predicted"],
            "prev": positives / size,
            "fdr": value["unreliable"],
            "for": value_of_zeros["unreliable"],
            "ppr": predicted / predicted["group = overall"],
        }
    ).rename(index=lambda group: group.removeprefix("group = "))

    table["tpr"] = 1 - table["fnr"]
    table["tnr"] = 1 - table["fpr"]
    table["precision"] = 1 - table["fdr"]
    table["npv"] = 1 - table["for"]
    table["negative share"] = 1 - table["prev"]
    table["fpr %"] = 100 * table["fpr"]
    table["fnr %"] = 100 * table["fnr"]
    table["LR+"] = table["tpr"] / table["fpr"]
    table["LR-"] = table["fnr"] / table["tnr"]
    return table


def audited(
    people: pd.DataFrame, *, positive: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return each group's rates, and their n, from an audit with this positive class.

    All people are one more group, "overall".
    """
    overall = people.assign(group="overall")
    rows = fairlib.audit(
        pd.concat([people.astype({"group": str}), overall]),
        group="group",
        label="label",
        prediction="prediction",
        count="count",
        positive=positive,
        minimum=2,
        metrics=RATES,
    ).to_frame()

    wide = rows.pivot(index="group", columns="rate", values=["value", "n"])
    return wide["value"], wide["n"]


def compas(threshold: int) -> pd.DataFrame:
    """Return the bundled counts of COMPAS by race.

    A score from the threshold on predicts new charges.
    """
    scores = fairlib.load("compas_scores").rename(
        columns={"race": "group", "two_year_recid": "label"}
    )
    return scores.assign(prediction=(scores["decile_score"] >= threshold).astype(int))


def propublica() -> Line:
    """ProPublica's two tables, which divide scores in different places.

    The first separates low scores from medium and high ones; the second, high scores
    from all others.
    """
    tables = {"propublica": rates(compas(5)), "propublica, high": rates(compas(8))}
    rows = PUBLISHED[PUBLISHED["source"].isin(tables)]
    rows = rows.assign(case=rows["source"] + "/" + rows["case"])

    def look_up(case: str, quantity: str) -> float:
        source, _, group = case.partition("/")
        return tables[source].loc[group, quantity]

    return printed("ProPublica", "counts and rates of COMPAS", look_up, rows)


def aequitas(attribute: str, reference: str) -> Line:
    """Aequitas's demo on the same people.

    Race is in the bundled counts; sex and age need its public file.
    """
    if attribute == "race":
        people = compas(5)
    else:
        path = public(
            "aequitas/compas_for_aequitas.csv",
            "dssg/aequitas: examples/data/compas_for_aequitas.csv",
        )
        people = pd.read_csv(path)
        people = people.rename(columns={attribute: "group", "label_value": "label"})
        people["count"] = 1
        people["prediction"] = people["score"].astype(int)
    table = rates(people)

    def look_up(group: str, quantity: str) -> float:
        name = quantity.removesuffix("_disparity")
        if name == quantity:
            return table.loc[group, name]
        return table.loc[group, name] / table.loc[reference, name]

    rows = PUBLISHED[PUBLISHED["source"] == f"aequitas, {attribute}"]
    what = "COMPAS demo: counts, rates, ratios"
    return printed(f"Aequitas, {attribute}", what, look_up, rows)


def fairlearn_guide() -> Line:
    """The numbers in fairlearn's user guide.

    They are for 18 cases in three groups, and for these crossed with two others.
    """
    cases = pd.DataFrame({name: list(values) for name, values in GUIDE.items()})
    cases = cases.astype({"label": int, "prediction": int}).assign(count=1)
    crossed = cases["first"] + " and " + pd.Series(list(SECOND))
    of_groups = rates(cases.assign(group=cases["first"]))
    of_crossed = rates(cases.assign(group=crossed)).drop(index="overall")
    table = pd.concat([of_groups, of_crossed])
    table = table.rename(columns={"pprev": "sel", "group_size": "count"})

    groups = table.loc[["a", "b", "c"]]
    overall = table.loc["overall"]
    share = groups / overall
    summaries = {
        "lowest": groups.min(),
        "highest": groups.max(),
        "difference": groups.max() - groups.min(),
        "ratio": groups.min() / groups.max(),
        "difference to overall": (groups - overall).abs().max(),
        "ratio to overall": share.where(share < 1, 1 / share).min(),
    }
    table = pd.concat([table, pd.DataFrame(summaries).T])

    def look_up(case: str, quantity: str) -> float:
        return table.loc[case, quantity]

    rows = PUBLISHED[PUBLISHED["source"] == "fairlearn"]
    what = "rates, differences, ratios"
    return printed("fairlearn's user guide", what, look_up, rows)


def newcombe_table(method: str, number: int) -> Line:
    """The worked examples of Newcombe's comparison of eleven methods."""

    def look_up(case: str, quantity: str) -> float:
        counts = [
            int(count) for group in case.split(" - ") for count in group.split("/")
        ]
        low, high = bounds.METHODS[method].counts(*counts, alpha=0.05)
        return high if quantity.endswith("high") else low

    rows = PUBLISHED[PUBLISHED["quantity"].str.startswith(method)]
    what = f"95 % intervals, method {number} ({method})"
    return printed("Newcombe 1998, Table II", what, look_up, rows)


CARD = "unintended_ml_bias/model_card"
COLUMNS_OF_CARD = {
    "SubgroupAUC": "subgroup_auc",
    "BPSN": "negative_cross_auc",
    "BNSP": "positive_cross_auc",
    "PosAvgEG": "positive_aeg",
    "NegAvgEG": "negative_aeg",
}


def of_card(name: str) -> pd.DataFrame:
    """Return a table of the model card."""
    place = f"conversationai/unintended-ml-bias-analysis at 6a62fab: {CARD}"
    return pd.read_csv(public(f"perspective/{name}.csv", f"{place}/{name}.csv"))


def perspective() -> Line:
    """The model card's areas and equality gaps, for 12 terms and 20 pairs of terms.

    It has those of two releases of a toxicity model.
    """
    sentences = of_card("intersectional_madlibs_scored")
    results = pd.concat([of_card("unitary_results"), of_card("intersectional_results")])
    label = (sentences["toxicity"] == "toxic").astype(int)

    ours = []
    expected = []
    for _, row in results.iterrows():
        has_words = [
            sentences["phrase"].str.contains(rf"\b{word}\b", case=False)
            for word in row["subgroup"].split()
        ]
        group = np.where(np.all(has_words, axis=0), "term", "other")
        for model in ("TOXICITY@1", "TOXICITY@6"):
            cases = pd.DataFrame(
                {"group": group, "label": label, "p_1": sentences[model]}
            )
            areas = fairlib.auc(cases, classes=[1])
            gaps = fairlib.measure(cases, ["PosAvgEG", "NegAvgEG"], classes=[1])
            measured = pd.concat([areas, gaps]).set_index(["group", "metric"])["value"]
            for metric, column in COLUMNS_OF_CARD.items():
                ours.append(measured["term", metric])
                expected.append(row[f"{model}_{column}"])

    what = "AUC, BPSN, BNSP, equality gaps"
    return compared("Perspective's model card", what, ours, expected)


def public(name: str, place: str) -> Path:
    """Return where a public file lies, or raise with where it comes from."""
    path = originals_folder() / "validation" / name
    if not path.exists():
        raise FileNotFoundError(f"needs {path}, which is {place}")
    return path


ALWAYS = {
    "ProPublica": propublica,
    "Aequitas, race": partial(aequitas, "race", "Hispanic"),
    "fairlearn's user guide": fairlearn_guide,
    "Newcombe": partial(newcombe_table, "newcombe", 10),
    "Miettinen-Nurminen": partial(newcombe_table, "miettinen_nurminen", 6),
    "SciPy": peers.wasserstein,
    "scikit-learn": peers.areas,
    "statsmodels": peers.holm,
}
ON_REQUEST = {
    "Perspective": perspective,
    "Aequitas, sex": partial(aequitas, "sex", "Male"),
    "Aequitas, age": partial(aequitas, "age_cat", "25 - 45"),
    "ppi_py": peers.prediction_powered,
}


def written(line: Line) -> str:
    """Return one row of the table in docs/checked_against.md."""
    largest = "below 1e-12" if line.largest < 1e-12 else f"{line.largest:.2g}"
    return f"| {line.source} | {line.what} | {line.values} | {line.agree} | {largest} |"


def main() -> None:
    """Print the table, and what is missing for the rest of it."""
    print("| source | what | values | agree | largest difference |")
    print("|---|---|---|---|---|")
    missing = []
    for name, source in (ALWAYS | ON_REQUEST).items():
        try:
            print(written(source()), flush=True)
        except FileNotFoundError as error:
            missing.append(f"{name}: not run, {error}")
    print(*missing, sep="\n")


if __name__ == "__main__":
    main()
