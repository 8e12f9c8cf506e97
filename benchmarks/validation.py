"""What fairlib's numbers were checked against: `python benchmarks/validation.py` prints one line per source.

Published values stand in published.csv, each with its place, and agree where they are the same after rounding to the
digits printed. Values of other libraries are computed here, on the same data, and agree to 1e-9. Sources that need a
public file say which, and from where, until it lies in the folder of originals (`data/original/`, or `FAIRLIB_DATA`).
docs/checked_against.md has the table, and what is to be said of it.
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
    """Compare with values that were printed: they may be half of their last digit away, and a rounding error."""
    found = [
        look_up(case, quantity)
        for case, quantity in zip(rows["case"], rows["quantity"], strict=True)
    ]
    digits = rows["printed"].str.partition(".")[2].str.len().to_numpy()
    return compared(
        source,
        what,
        found,
        rows["printed"].astype(float),
        within=0.5 * 10.0**-digits + EXACT,
    )


def rates(people: pd.DataFrame) -> pd.DataFrame:
    """Return counts and rates by group, and over all, from an audit of columns group, label, prediction and count."""
    whole = pd.concat([people.astype({"group": str}), people.assign(group="overall")])
    roles = {name: name for name in ("group", "label", "prediction", "count")}
    audits = [
        fairlib.audit(whole, **roles, positive=one, minimum=2, metrics=RATES).to_frame()
        for one in (1, 0)
    ]
    wide = [
        found.pivot(index="group", columns="rate", values=["value", "n"])
        for found in audits
    ]
    (value, n), other = (wide[0]["value"], wide[0]["n"]), wide[1]["value"]
    size, positives, negatives = n["predicted"], n["misses"], n["false alarms"]
    fn, fp, pp = (
        value["misses"] * positives,
        value["false alarms"] * negatives,
        value["predicted"] * size,
    )
    table = pd.DataFrame(
        {
            "group_size": size,
            "group_label_pos": positives,
            "group_label_neg": negatives,
            "pp": pp,
            "pn": size - pp,
        }
        | {"fn": fn, "fp": fp, "tp": positives - fn, "tn": negatives - fp}
        | {
            "fpr": value["false alarms"],
            "fnr": value["misses"],
            "pprev": value["predicted"],
            "prev": positives / size,
        }
        | {
            "fdr": value["unreliable"],
            "for": other["unreliable"],
            "ppr": pp / pp["group = overall"],
        }
    ).rename(index=lambda group: group.removeprefix("group = "))
    opposite = {
        "tpr": "fnr",
        "tnr": "fpr",
        "precision": "fdr",
        "npv": "for",
        "negative share": "prev",
    }
    table = table.assign(**{name: 1 - table[of] for name, of in opposite.items()})
    table = table.assign(**{f"{name} %": 100 * table[name] for name in ("fpr", "fnr")})
    return table.assign(
        **{"LR+": table["tpr"] / table["fpr"], "LR-": table["fnr"] / table["tnr"]}
    )


def compas(threshold: int) -> pd.DataFrame:
    """Return the bundled counts of COMPAS by race; a score from the threshold on predicts new charges."""
    scores = fairlib.load("compas_scores").rename(
        columns={"race": "group", "two_year_recid": "label"}
    )
    return scores.assign(prediction=(scores["decile_score"] >= threshold).astype(int))


def propublica() -> Line:
    """ProPublica's tables of low scores against medium and high ones, and of high ones against the others."""
    tables = {"propublica": rates(compas(5)), "propublica, high": rates(compas(8))}
    rows = PUBLISHED[PUBLISHED["source"].isin(tables)]
    rows = rows.assign(case=rows["source"] + "/" + rows["case"])

    def look_up(case, quantity):
        source, _, group = case.partition("/")
        return tables[source].loc[group, quantity]

    return printed("ProPublica", "counts and rates of COMPAS", look_up, rows)


def aequitas(attribute: str, reference: str) -> Line:
    """Aequitas's demo on the same people: by race from the bundled counts, by sex and age from its public file."""
    people = compas(5)
    if attribute != "race":
        path = public(
            "aequitas/compas_for_aequitas.csv",
            "dssg/aequitas: examples/data/compas_for_aequitas.csv",
        )
        people = (
            pd.read_csv(path)
            .rename(columns={attribute: "group", "label_value": "label"})
            .assign(count=1)
        )
        people["prediction"] = people["score"].astype(int)
    table = rates(people)

    def look_up(group, quantity):
        name = quantity.removesuffix("_disparity")
        return table.loc[group, name] / (
            table.loc[reference, name] if name != quantity else 1
        )

    rows = PUBLISHED[PUBLISHED["source"] == f"aequitas, {attribute}"]
    return printed(
        f"Aequitas, {attribute}", "COMPAS demo: counts, rates, ratios", look_up, rows
    )


def fairlearn_guide() -> Line:
    """The numbers in fairlearn's user guide, for 18 cases in three groups, and these crossed with two others."""
    cases = pd.DataFrame({name: list(values) for name, values in GUIDE.items()}).assign(
        count=1
    )
    cases = cases.astype({"label": int, "prediction": int})
    crossed = cases["first"] + " and " + pd.Series(list(SECOND))
    single = rates(cases.assign(group=cases["first"]))
    table = pd.concat(
        [single, rates(cases.assign(group=crossed)).drop(index="overall")]
    )
    table = table.rename(columns={"pprev": "sel", "group_size": "count"})
    groups, overall = table.loc[["a", "b", "c"]], table.loc["overall"]
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
    rows = PUBLISHED[PUBLISHED["source"] == "fairlearn"]
    return printed(
        "fairlearn's user guide",
        "rates, differences, ratios",
        lambda *at: table.loc[at],
        rows,
    )


def newcombe_table(method: str, number: int) -> Line:
    """The worked examples of Newcombe's comparison of eleven methods."""

    def look_up(case, quantity):
        counts = [
            int(number) for part in case.split(" - ") for number in part.split("/")
        ]
        return bounds.METHODS[method].counts(*counts, alpha=0.05)[
            quantity.endswith("high")
        ]

    rows = PUBLISHED[PUBLISHED["quantity"].str.startswith(method)]
    return printed(
        "Newcombe 1998, Table II",
        f"95 % intervals, method {number} ({method})",
        look_up,
        rows,
    )


def perspective() -> Line:
    """The model card's areas and equality gaps of two releases of a toxicity model, for 12 terms and 20 pairs."""
    names = (
        "intersectional_madlibs_scored",
        "unitary_results",
        "intersectional_results",
    )
    place = "conversationai/unintended-ml-bias-analysis at 6a62fab: unintended_ml_bias/model_card"
    sentences, *results = (
        pd.read_csv(public(f"perspective/{name}.csv", f"{place}/{name}.csv"))
        for name in names
    )
    results, found, expected = pd.concat(results), [], []
    label = (sentences["toxicity"] == "toxic").astype(int)
    published = {
        "SubgroupAUC": "subgroup_auc",
        "BPSN": "negative_cross_auc",
        "BNSP": "positive_cross_auc",
    }
    published |= {"PosAvgEG": "positive_aeg", "NegAvgEG": "negative_aeg"}
    for _, row in results.iterrows():
        words = [
            sentences["phrase"].str.contains(rf"\b{word}\b", case=False)
            for word in row["subgroup"].split()
        ]
        for model in ("TOXICITY@1", "TOXICITY@6"):
            group = np.where(np.all(words, axis=0), "term", "other")
            cases = pd.DataFrame(
                {"group": group, "label": label, "p_1": sentences[model]}
            )
            measured = fairlib.measure(cases, ["PosAvgEG", "NegAvgEG"], classes=[1])
            measured = pd.concat([fairlib.auc(cases, classes=[1]), measured]).set_index(
                ["group", "metric"]
            )["value"]
            found += [measured["term", name] for name in published]
            expected += [row[f"{model}_{name}"] for name in published.values()]
    return compared(
        "Perspective's model card", "AUC, BPSN, BNSP, equality gaps", found, expected
    )


def public(name: str, place: str) -> Path:
    """Return where a public file lies, or raise with where it comes from."""
    if not (path := originals_folder() / "validation" / name).exists():
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
    print(
        "| source | what | values | agree | largest difference |\n|---|---|---|---|---|"
    )
    missing = []
    for name, source in (ALWAYS | ON_REQUEST).items():
        try:
            print(written(source()), flush=True)
        except FileNotFoundError as why:
            missing.append(f"{name}: not run, {why}")
    print(*missing, sep="\n")


if __name__ == "__main__":
    main()
