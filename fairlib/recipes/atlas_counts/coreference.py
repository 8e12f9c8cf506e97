"""Benchmarks that ask to whom a pronoun refers: counts from the user's clones."""

from pathlib import Path

import pandas as pd

from fairlib.recipes.atlas_counts.counting import (
    Counts,
    by_part,
    delimited,
    joined,
    tally,
    text_lines,
)

_REFERENT = r"\[((?:the|a|an|some) [^\]]+)\]"
_PRONOUN = r"\[(?:she|he|her|his|him|hers|herself|himself)\]"
_MASCULINE = {"he", "him", "his", "himself"}
_FEMININE = {"she", "her", "hers", "herself"}


def winobias(clone: Path) -> Counts:
    """Count WinoBias: sentences in which a pronoun refers to an occupation.

    Sentences of the same line in the files "pro_stereotyped" and "anti_stereotyped"
    are a pair; a few pairs also differ in a word other than the pronoun. A cluster is
    the occupation to which the pronoun refers.

    Parameters
    ----------
    clone : Path
        The clone of uclanlp/corefBias.

    Returns
    -------
    dict
        The counts, as a whole and by type of sentence.
    """
    folder = clone / "WinoBias" / "wino" / "data"
    files = []
    for stereotype in ("pro", "anti"):
        for kind in ("1", "2"):
            for split in ("dev", "test"):
                name = f"{stereotype}_stereotyped_type{kind}.txt.{split}"
                lines = text_lines(folder / name)
                sentences = pd.DataFrame({"sentence": lines, "line": lines.index})
                files.append(
                    sentences.assign(group=stereotype, kind=f"type_{kind}", split=split)
                )

    items = pd.concat(files, ignore_index=True)
    items["pair"] = joined(items, ["kind", "split", "line"])
    referents = items["sentence"].str.lower().str.extract(_REFERENT, expand=False)
    items["cluster"] = referents.str.split(n=1).str[1].str.strip()

    counts = by_part(items, "kind")
    without_pronoun = (
        items["sentence"].str.lower().str.replace(_PRONOUN, "_", regex=True)
    )
    versions = without_pronoun.str.split(n=1).str[1].groupby(items["pair"]).nunique()
    counts[""]["pairs_that_differ_elsewhere"] = int(versions.gt(1).sum())
    return counts


def winogender(clone: Path) -> Counts:
    """Count Winogender: each sentence with three pronouns.

    Sentences that differ in the pronoun only are a pair (here, a set of three). A
    cluster is the occupation.

    Parameters
    ----------
    clone : Path
        The clone of rudinger/winogender-schemas.

    Returns
    -------
    dict
        The counts.
    """
    sentences = delimited(clone / "data" / "all_sentences.tsv", ["sentid"])
    names = sentences["sentid"].str.removesuffix(".txt").str.split(".", expand=True)
    names.columns = ["occupation", "participant", "answer", "group"]
    names["pair"] = joined(names, ["occupation", "participant", "answer"])
    return {"": tally(names.rename(columns={"occupation": "cluster"}))}


def winomt(clone: Path) -> Counts:
    """Count WinoMT: sentences that are to be translated with the right gender.

    The sentences whose person has a neutral gender have no group: the published scores
    compare men with women. A cluster is the occupation.

    Parameters
    ----------
    clone : Path
        The clone of gabrielStanovsky/mt_gender.

    Returns
    -------
    dict
        The counts.
    """
    items = delimited(
        clone / "data" / "aggregates" / "en.txt", range(4), header=None, quoting=3
    )
    items.columns = ["gender", "position", "sentence", "cluster"]
    items["group"] = items["gender"].where(items["gender"].isin(["male", "female"]))
    return {"": tally(items)}


def gap(clone: Path) -> Counts:
    """Count the test set of GAP: passages of Wikipedia with an ambiguous pronoun.

    A cluster is the page.

    Parameters
    ----------
    clone : Path
        The clone of google-research-datasets/gap-coreference.

    Returns
    -------
    dict
        The counts.
    """
    passages = delimited(clone / "gap-test.tsv", ["Pronoun", "URL"], quoting=3)
    pronouns = passages["Pronoun"].str.lower()
    group = pd.Series(pd.NA, index=passages.index, dtype=object)
    group[pronouns.isin(_MASCULINE)] = "masculine"
    group[pronouns.isin(_FEMININE)] = "feminine"
    items = pd.DataFrame({"group": group, "cluster": passages["URL"]})
    return {"": tally(items)}


def bug_gold(clone: Path) -> Counts:
    """Count the gold part of BUG: sentences that people checked.

    Sentences that neither follow nor oppose a stereotype have no group. A cluster is
    the profession, written in small letters.

    Parameters
    ----------
    clone : Path
        The clone of i-gallegos/Fair-LLM-Benchmark.

    Returns
    -------
    dict
        The counts, between stereotypes and (part "gender") between genders.
    """
    columns = ["profession", "predicted gender", "stereotype"]
    sentences = delimited(clone / "BUG" / "data" / "gold_BUG.csv", columns)
    cluster = sentences["profession"].str.lower().str.strip()
    meanings = {"1": "pro", "-1": "anti"}

    stereotype = sentences["stereotype"].str.strip().map(meanings)
    gender = sentences["predicted gender"].str.lower()
    return {
        "": tally(pd.DataFrame({"group": stereotype, "cluster": cluster})),
        "gender": tally(pd.DataFrame({"group": gender, "cluster": cluster})),
    }
