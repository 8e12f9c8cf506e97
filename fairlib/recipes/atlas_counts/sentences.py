"""Benchmarks of sentences and of prompts: counts from the user's clones."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

from fairlib.recipes.atlas_counts.counting import (
    WHOLE,
    Counts,
    by_part,
    delimited,
    joined,
    json_file,
    tally,
    text_lines,
)

_STEREOSET_TESTS = ("gender_test", "race_test", "religion_test")
_ONE_MODEL = "predictions_gpt2_ModelNSP_GPT2LM.json"
_REDDIT_FILES = {
    "gender": ("female", "male"),
    "orientation": ("lgbtq", "straight"),
    "race": ("black", "white"),
    "religion1": ("jews", "christians"),
    "religion2": ("muslims", "christians"),
}
_HONEST_LANGUAGES = ("en", "es", "fr", "it", "pt", "ro")


def crows_pairs(clone: Path) -> Counts:
    """Count CrowS-Pairs: an item is a pair of sentences. A cluster is the writer.

    The groups are the kinds of bias; the score is one of each, beside 50 %.

    Parameters
    ----------
    clone : Path
        The clone of nyu-mll/crows-pairs.

    Returns
    -------
    dict
        The counts, as a whole and by kind of bias.
    """
    columns = ["bias_type", "anon_writer"]
    pairs = delimited(clone / "data" / "crows_pairs_anonymized.csv", columns)
    part = pairs["bias_type"].str.replace("-", "_")
    items = pd.DataFrame({"group": part, "cluster": pairs["anon_writer"]})
    return by_part(items, "group")


def stereoset(clone: Path, lists: Path) -> Counts:
    """Count three parts of StereoSet: intrasentence items about a target term.

    The file dev.json of the release is larger than 4 MiB. Its items about gender, race
    and religion also lie in another repository. An item counts if the release has a
    prediction for each of its sentences. A cluster is the target term.

    Parameters
    ----------
    clone : Path
        The clone of moinnadeem/StereoSet.
    lists : Path
        The clone of zjunlp/EditBias.

    Returns
    -------
    dict
        The counts, as a whole and by kind of bias.
    """
    predictions = json_file(clone / "code" / "predictions" / _ONE_MODEL)
    predicted = {sentence["id"] for sentence in predictions["intrasentence"]}

    files = [lists / "data" / "stereoset" / f"{name}.json" for name in _STEREOSET_TESTS]
    # Two items about gender are missing in the file for tests, and are in this one.
    files.append(lists / "bias_tracing" / "data" / "domain" / "gender.json")
    entries = [entry for path in files for entry in json_file(path)]
    rows = [
        {"id": entry["id"], "group": entry["bias_type"], "cluster": entry["target"]}
        for entry in entries
        if _sentence_ids(entry) <= predicted
    ]
    return by_part(pd.DataFrame(rows).drop_duplicates("id"), "group")


def _sentence_ids(entry: dict[str, Any]) -> set[str]:
    """Return the ids of an item's sentences, which have one of two forms."""
    sentences = entry.get("sentences") or entry["data"].values()
    return {sentence["id"] for sentence in sentences}


def hatecheck(clone: Path) -> Counts:
    """Count HateCheck: the same sentence about each of seven groups.

    The whole is the templates that are filled once for each group. The part
    "all_cases" is everything; there a case without a target has no group, and
    templates with slurs are filled several times. A pair (here, a set of seven) is a
    template, and so is a cluster. In the part "over_functionalities", a cluster is a
    kind of sentence, for example a negated threat.

    Parameters
    ----------
    clone : Path
        The clone of paul-rottger/hatecheck-data.

    Returns
    -------
    dict
        The counts.
    """
    columns = ["functionality", "target_ident", "templ_id"]
    cases = delimited(clone / "test_suite_cases.csv", columns)
    cases.columns = ["functionality", "group", "cluster"]
    cases["pair"] = cases["cluster"]

    of_template = cases.groupby("cluster")["group"]
    sizes = of_template.transform("size")
    targets = of_template.transform("nunique")
    filled_once = targets.eq(cases["group"].nunique()) & sizes.eq(targets)
    filled = cases[filled_once]
    over_functionalities = filled.assign(cluster=filled["functionality"])
    return {
        WHOLE: tally(filled),
        "over_functionalities": tally(over_functionalities),
        "all_cases": tally(cases),
    }


def equity_evaluation_corpus(clone: Path) -> Counts:
    """Count the Equity Evaluation Corpus: sentences about a person's feelings.

    The sentence about the nth man and the one about the nth woman of a set that
    differs in the person only are a pair ("my son", "my daughter"); for first names
    this is one matching of many. A cluster is the template.

    Parameters
    ----------
    clone : Path
        The clone of marionbartl/gender-bias-BERT, which holds a copy of the corpus.

    Returns
    -------
    dict
        The counts, between genders and (part "race") between races.
    """
    columns = ["Template", "Gender", "Race", "Emotion word"]
    path = clone / "data" / "Equity-Evaluation-Corpus.csv"
    sentences = delimited(path, columns)
    of_same_kind = sentences.groupby(columns, dropna=False)
    sentences["number"] = of_same_kind.cumcount()

    items = sentences.rename(columns={"Template": "cluster"})
    over_gender = ["cluster", "Race", "Emotion word", "number"]
    gender = items.assign(group=items["Gender"], pair=joined(items, over_gender))
    over_race = ["cluster", "Gender", "Emotion word", "number"]
    race = items.assign(group=items["Race"], pair=joined(items, over_race))
    return {WHOLE: tally(gender), "race": tally(race)}


def madlibs(clone: Path) -> Counts:
    """Count the Madlibs of Dixon et al.: templates filled with identity terms.

    A sentence about an occupation has no identity term, so it has no group. Sentences
    that differ in the term only are a pair (here, a set). A cluster is the template.

    Parameters
    ----------
    clone : Path
        The clone of conversationai/unintended-ml-bias-analysis.

    Returns
    -------
    dict
        The counts of all sentences, and of those that are not toxic.
    """
    folder = clone / "archive" / "unintended_ml_bias"
    terms = text_lines(folder / "bias_madlibs_data" / "adjectives_people.txt")
    sentences = delimited(
        folder / "eval_datasets" / "bias_madlibs_77k.csv",
        ["Text", "Label", "Template"],
    )

    # The longest first: "african american" is not "american".
    longest_first = sorted(terms, key=len, reverse=True)
    pattern = rf"\b({'|'.join(map(re.escape, longest_first))})\b"

    text = sentences["Text"]
    items = pd.DataFrame(
        {
            "group": text.str.extract(pattern, expand=False),
            "pair": text.str.replace(pattern, "_", n=1, regex=True),
            "cluster": sentences["Template"],
        }
    )
    not_toxic = sentences["Label"].eq("NOT_BAD")
    return {WHOLE: tally(items), "not_toxic": tally(items[not_toxic])}


def reddit_bias(clone: Path) -> Counts:
    """Count the test sets of RedditBias: comments, each with a counterfactual.

    An item is a comment with its counterfactual, in which the words for one group are
    replaced by words for the other. A cluster is these words of the first group.

    Parameters
    ----------
    clone : Path
        The clone of umanlp/RedditBias.

    Returns
    -------
    dict
        The counts, as a whole and by kind of bias.

    Raises
    ------
    ValueError
        If a file of comments has more or fewer rows than that of counterfactuals.
    """
    kinds = []
    for kind, (target, other) in _REDDIT_FILES.items():
        comments = delimited(_reddit_file(clone, kind, target), ["comments_processed"])
        counterfactuals = delimited(_reddit_file(clone, kind, other), ["initial_demo"])
        if len(comments) != len(counterfactuals):
            raise ValueError(
                f"RedditBias, {kind}: {len(comments)} comments, but "
                f"{len(counterfactuals)} counterfactuals"
            )
        words = counterfactuals["initial_demo"].str.lower()
        kinds.append(pd.DataFrame({"group": kind, "cluster": kind + "|" + words}))

    items = pd.concat(kinds, ignore_index=True)
    counts = by_part(items, "group")
    counts[WHOLE]["comments"] = 2 * len(items)
    return counts


def _reddit_file(clone: Path, kind: str, group: str) -> Path:
    """Return the path of a test set of RedditBias."""
    name = f"reddit_comments_{kind}_{group}_biased_test_reduced.csv"
    return clone / "data" / kind / name


def bec_pro(clone: Path) -> Counts:
    """Count the English part of BEC-Pro: sentences about a person's profession.

    The sentences about a man and about the matching woman (for example "my uncle" and
    "my aunt") are a pair. A cluster is the profession.

    Parameters
    ----------
    clone : Path
        The clone of i-gallegos/Fair-LLM-Benchmark.

    Returns
    -------
    dict
        The counts; in the part "over_templates", a cluster is the template.
    """
    columns = ["Template", "Person", "Gender", "Profession"]
    sentences = delimited(clone / "BEC-Pro" / "data" / "BEC-Pro_EN.tsv", columns)
    # The release lists the men and the women in the same order.
    persons = sentences[["Gender", "Person"]].drop_duplicates()
    number = persons.groupby("Gender").cumcount()
    numbers = dict(zip(persons["Person"], number, strict=True))

    items = sentences.rename(columns={"Gender": "group", "Profession": "cluster"})
    items["number"] = items["Person"].map(numbers)
    items["pair"] = joined(items, ["Template", "cluster", "number"])
    over_templates = items.assign(cluster=items["Template"])
    return {WHOLE: tally(items), "over_templates": tally(over_templates)}


def honest(clone: Path) -> Counts:
    """Count HONEST: beginnings of sentences that a language model completes.

    A cluster is the template.

    Parameters
    ----------
    clone : Path
        The clone of MilaNLProc/honest.

    Returns
    -------
    dict
        The counts of the English prompts about women and men, of five more languages,
        and of the prompts about queer and other people.
    """
    counts = {}
    for language in _HONEST_LANGUAGES:
        path = clone / "resources" / "binary" / f"{language}_template.tsv"
        prompts = delimited(path, ["raw", "category"])
        prompts.columns = ["cluster", "group"]
        counts[WHOLE if language == "en" else language] = tally(prompts)

    path = clone / "resources" / "queer_nonqueer" / "en_template.tsv"
    prompts = delimited(path, ["raw", "category"])
    group = prompts["category"].str.split("_").str[0]
    items = pd.DataFrame({"group": group, "cluster": prompts["raw"]})
    counts["queer"] = tally(items)
    return counts


def holistic_bias(clone: Path) -> Counts:
    """Count HolisticBias 1.1: an item is a descriptor in one of the templates.

    The release also fills in nouns and writes the sentences out. A group is an axis,
    for example age; the axis of invented words is none. A cluster is the descriptor.

    Parameters
    ----------
    clone : Path
        The clone of facebookresearch/ResponsibleNLP.

    Returns
    -------
    dict
        The counts; in the part "over_templates", a cluster is the template.
    """
    folder = clone / "holistic_bias" / "dataset" / "v1.1"
    axes = json_file(folder / "descriptors.json")
    templates = pd.Series(list(json_file(folder / "sentence_templates.json")))
    nouns = json_file(folder / "nouns.json")

    descriptors = pd.DataFrame(
        [
            {
                "group": None if axis == "nonce" else axis,
                "cluster": f"{axis}|{json.dumps(descriptor)}",
            }
            for axis, buckets in axes.items()
            for bucket in buckets.values()
            for descriptor in bucket
        ]
    )
    items = descriptors.merge(templates.rename("template"), how="cross")
    counts = tally(items)
    counts["descriptors"] = len(descriptors)
    counts["nouns"] = sum(map(len, nouns.values()))
    return {
        WHOLE: counts,
        "over_templates": tally(items.assign(cluster=items["template"])),
    }


def bold(clone: Path) -> Counts:
    """Count BOLD: beginnings of sentences of Wikipedia. A cluster is its subject.

    Only groups of the same domain are compared. The domain "gender" stands for the
    whole; the part "all_domains" is everything.

    Parameters
    ----------
    clone : Path
        The clone of amazon-science/bold.

    Returns
    -------
    dict
        The counts by domain.
    """
    rows = [
        {
            "part": path.name.removesuffix("_prompt.json"),
            "group": group,
            "cluster": f"{group}|{subject}",
        }
        for path in sorted((clone / "prompts").glob("*_prompt.json"))
        for group, subjects in json_file(path).items()
        for subject, prompts in subjects.items()
        for _ in prompts
    ]

    if not rows:
        raise FileNotFoundError(clone / "prompts" / "gender_prompt.json")
    counts = by_part(pd.DataFrame(rows), "part")
    return counts | {WHOLE: counts["gender"], "all_domains": counts[WHOLE]}


def regard(clone: Path) -> Counts:
    """Count the texts that Sheng et al. let GPT-2 write about six groups.

    A prompt names a group and begins a sentence in one of ten ways. A cluster is the
    beginning. No two texts are matched, because each was drawn by itself.

    Parameters
    ----------
    clone : Path
        The clone of ewsheng/nlg-bias.

    Returns
    -------
    dict
        The counts.
    """
    groups = text_lines(clone / "data" / "demographics.txt")
    texts = text_lines(
        clone / "data" / "generated_samples" / "small_gpt2_generated_samples.tsv"
    )
    constants = text_lines(clone / "scripts" / "constants.py")

    # The file names each beginning once, for example JOB = 'had a job as'.
    beginnings = constants.str.extract(r"^[A-Z_]+ = '(\w+ .+)'$", expand=False).dropna()

    rest = texts.str.extract(rf"^({'|'.join(groups)}) (.*)$")
    beginning = rest[1].str.extract(rf"^({'|'.join(beginnings)})", expand=False)
    items = pd.DataFrame({"group": rest[0], "cluster": beginning})
    return {WHOLE: tally(items)}


def grep_biasir(clone: Path) -> Counts:
    """Count Grep-BiasIR: documents that a search engine ranks for a query.

    The documents of a query differ in the gender they speak of. Documents of the same
    query that are equally relevant are a pair (here, a set of three). A cluster is the
    query.

    Parameters
    ----------
    clone : Path
        The clone of i-gallegos/Fair-LLM-Benchmark.

    Returns
    -------
    dict
        The counts of men and women; other documents have no group.
    """
    columns = ["q_id", "relevant", "content_gender"]
    folder = clone / "Grep-BiasIR" / "data"
    paths = sorted(folder.glob("queries-documents_*.csv"))
    if not paths:
        raise FileNotFoundError(folder / "queries-documents_Career.csv")

    documents = pd.concat([delimited(path, columns) for path in paths])
    genders = {"F": "feminine", "M": "masculine"}
    items = pd.DataFrame(
        {
            "group": documents["content_gender"].str.strip().map(genders),
            "pair": joined(documents, ["q_id", "relevant"]),
            "cluster": documents["q_id"],
        }
    )
    return {WHOLE: tally(items)}
