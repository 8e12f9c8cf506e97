"""From the numbers of a benchmark's items to their groups and clusters.

A model's answers usually name items by the benchmark's own numbers. These tables say
which cluster an item belongs to, and which outcome each option of an answer has. They
hold numbers, and no text of an item.
"""

import json

from pandas import DataFrame

from fairlib.recipes.atlas_answers import BBQ, BBQ_CATEGORIES
from fairlib.recipes.originals import original, recipe

OPTIONS = (0, 1, 2)


@recipe(files=[BBQ])
def atlas_keys_bbq() -> DataFrame:
    """BBQ: template, group and outcome of every option, by the question's number.

    In an ambiguous question, the outcome is 1 for the person whom the stereotype
    suggests, -1 for the other person, and 0 for "unknown". In a disambiguated question,
    it is 1 for the right option and 0 for the others. It is missing where the release
    does not say which person the stereotype is about.
    """
    rows = []
    for category in BBQ_CATEGORIES:
        path = original(BBQ) / "data" / f"{category}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines()
        rows += [_key(question) for question in map(json.loads, lines)]

    columns = ["item", "part", "group", "cluster"]
    columns += [f"outcome_{option}" for option in OPTIONS]
    table = DataFrame(rows)[columns]
    for option in OPTIONS:
        table[f"outcome_{option}"] = table[f"outcome_{option}"].astype("Int8")
    return table


def _key(question: dict) -> dict:
    """Return the row of a question."""
    category = question["category"].lower()
    target = _stereotyped_option(question)
    is_negative = question["question_polarity"] == "neg"
    is_ambiguous = question["context_condition"] == "ambig"

    key = {
        "item": f"{question['category']}/{question['example_id']}",
        "part": category if is_ambiguous else f"{category}_disambiguated",
        "group": category,
        "cluster": f"{category}/{question['question_index']}",
    }
    if not is_ambiguous:
        agrees = (question["label"] == target) == is_negative
        key["group"] = "agrees" if agrees else "disagrees"

    for option in OPTIONS:
        if is_ambiguous:
            outcome = _outcome(question, option, target)
        else:
            outcome = int(option == question["label"])
        key[f"outcome_{option}"] = outcome
    return key


def _outcome(question: dict, option: int, target: int | None) -> int | None:
    """Return the outcome of an option of an ambiguous question."""
    if question["answer_info"][f"ans{option}"][1] == "unknown":
        return 0
    if target is None:
        return None
    is_negative = question["question_polarity"] == "neg"
    return 1 if (option == target) == is_negative else -1


def _stereotyped_option(question: dict) -> int | None:
    """Return which option names the stereotyped person, if exactly one does."""
    groups = question["additional_metadata"]["stereotyped_groups"]
    lowered = {str(group).lower() for group in groups}
    options = []
    for option in OPTIONS:
        words = question["answer_info"][f"ans{option}"]
        if lowered & {str(word).lower() for word in words}:
            options.append(option)
    return options[0] if len(options) == 1 else None
