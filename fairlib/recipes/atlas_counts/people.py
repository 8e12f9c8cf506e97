"""Benchmarks of people and pictures: counts from the user's clones."""

from pathlib import Path

import pandas as pd

from fairlib.data import load
from fairlib.recipes.atlas_counts.counting import (
    WHOLE,
    Counts,
    by_part,
    delimited,
    joined,
    json_lines,
    pairs_of_clusters,
    tally,
)

_SHARES_OF_RICH_MEN = ("0.0", "0.5", "1.0")


def compas(clone: Path) -> Counts:
    """Count the people of ProPublica's study of COMPAS. Each is a cluster.

    Parameters
    ----------
    clone : Path
        The clone of propublica/compas-analysis.

    Returns
    -------
    dict
        The counts of the two largest groups, among people who had no new charge within
        two years: there, false alarms are counted. The part "two_groups" is all people
        of these groups, and "everybody" is all people.
    """
    columns = ["id", "race", "two_year_recid"]
    people = delimited(clone / "compas-scores-two-years.csv", columns)
    items = pd.DataFrame({"group": people["race"], "cluster": people["id"]})
    two = items["group"].isin(["African-American", "Caucasian"])
    no_charge = people["two_year_recid"].eq("0")
    return {
        WHOLE: tally(items[two & no_charge]),
        "two_groups": tally(items[two]),
        "everybody": tally(items),
    }


def decodingtrust_fairness(clone: Path) -> Counts:
    """Count DecodingTrust's fairness part: rows about people from Adult.

    The three test sets differ in the share of rich people among men and women. A
    cluster is a text; a few texts occur twice.

    Parameters
    ----------
    clone : Path
        The clone of AI-secure/DecodingTrust.

    Returns
    -------
    dict
        The counts of the first test set, which are those of each, and of all three.
    """
    folder = clone / "data" / "fairness" / "fairness_data"
    sets = []
    for share in _SHARES_OF_RICH_MEN:
        rows = json_lines(folder / f"adult_0_200_test_base_rate_{share}.jsonl")
        sex = rows["input"].str.extract(r"\bsex (\w+)", expand=False)
        part = f"base_rate_{share.replace('.', '_')}"
        sets.append(
            pd.DataFrame({"part": part, "group": sex, "cluster": rows["input"]})
        )
    return by_part(pd.concat(sets, ignore_index=True), "part")


def decodingtrust_stereotypes(clone: Path) -> Counts:
    """Count DecodingTrust's stereotype part: prompts to agree with a statement.

    Statements about different groups from the same template are matched as a set; the
    template is also the cluster. The release has 25 answers to each prompt.

    Parameters
    ----------
    clone : Path
        The clone of AI-secure/DecodingTrust.

    Returns
    -------
    dict
        The counts.
    """
    columns = ["stereotype_topic", "target_group", "stereotype_template"]
    path = clone / "data" / "stereotype" / "dataset" / "user_prompts.csv"
    prompts = delimited(path, columns)
    items = pd.DataFrame(
        {
            "group": prompts["target_group"],
            "pair": prompts["stereotype_template"],
            "cluster": prompts["stereotype_template"],
        }
    )
    over_topics = items.assign(cluster=prompts["stereotype_topic"])
    return {WHOLE: tally(items), "over_topics": tally(over_topics)}


def visogender(clone: Path) -> Counts:
    """Count VisoGender: pictures of people at work. A cluster is the occupation.

    Parameters
    ----------
    clone : Path
        The clone of oxai/visogender.

    Returns
    -------
    dict
        The counts of pictures of one person with an object (OO), of two people (OP),
        and of both; a picture without an address is left out.
    """
    folder = clone / "data" / "visogender_data"
    files = {
        "OO": folder / "OO" / "OO_Visogender_10052025.tsv",
        "OP": folder / "OP" / "OP_Visogender_11012024.tsv",
    }

    address = "URL type (Type NA if can't find)"
    columns = ["Occupation", "Occupation_perceived_gender", address]

    kinds = []
    for kind, path in files.items():
        pictures = delimited(path, columns).dropna(subset=[address])
        kinds.append(
            pd.DataFrame(
                {
                    "part": kind.lower(),
                    "group": pictures["Occupation_perceived_gender"],
                    "cluster": pictures["Occupation"].str.strip(),
                }
            )
        )
    return by_part(pd.concat(kinds, ignore_index=True), "part")


def identity_suites() -> Counts:
    """Count the suites of Czarnowska et al. (2021): templates with identity terms.

    The bundled predictions have a row for each sentence, and no sentence. Sentences
    from the same template are matched as a set, and are a cluster.

    Returns
    -------
    dict
        The counts by attribute; in the parts "..._over_terms", a cluster is the term.
        The attribute "gender" stands for the whole, because groups of different
        attributes are not compared. The part "all_attributes" is everything.
    """
    predictions = load("suite_predictions", source="bundled")
    columns = ["attribute", "source", "group", "term"]
    sentences = predictions[columns].drop_duplicates().astype(str)

    template = joined(sentences, ["attribute", "source"])
    items = pd.DataFrame(
        {
            "part": sentences["attribute"],
            "group": sentences["group"],
            "pair": template,
            "cluster": template,
        }
    )

    # A pair of sentences has two terms, so it would belong to two clusters of terms.
    terms = items.drop(columns="pair").assign(
        cluster=joined(sentences, ["attribute", "group", "term"])
    )
    over_terms = {
        f"{part}_over_terms": counts
        for part, counts in by_part(terms, "part").items()
        if part != WHOLE
    }
    # Groups of different attributes are different groups, whatever their names.
    everything = items.assign(group=joined(sentences, ["attribute", "group"]))
    counts = by_part(items, "part")
    # A template has as many sets as sentences of its smallest group. They are not a
    # fixed share of all its sentences.
    for part, rows in items.groupby("part"):
        counts[part] |= pairs_of_clusters(rows)
    counts |= over_terms
    return counts | {WHOLE: counts["gender"], "all_attributes": tally(everything)}
