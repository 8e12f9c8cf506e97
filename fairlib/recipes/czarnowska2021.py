"""Outputs of models that this project trained, and counts of the paper's own model.

The models were trained on SemEval-2018 and CoNLL-2003.
"""

import json
import re
from difflib import SequenceMatcher

import pandas as pd

from fairlib.recipes import suites
from fairlib.recipes.corpora import CONLL, SEMEVAL, conll
from fairlib.recipes.originals import File, original, recipe

_FILES = [*SEMEVAL.values(), *CONLL.values()]
_SUITES = suites.ORIGINALS.values()
NOTEBOOK = File(
    "generalized/notebooks/Examples.ipynb",
    sha256="b4dfd8309d042d39af25ebf65e1dbdc183c465607d02623cc895a388f0f55f28",
    size=203_583,
    url=f"{suites.RELEASED}/notebooks/Examples.ipynb",
)
TASKS = {
    "roberta-semeval-2": "SemEval-2",
    "roberta-semeval-3": "SemEval-3",
    "ner-roberta-conll2003": "CoNLL-2003",
}
COUNTS = ("tp", "fp", "fn", "tn")
_COUNTS_BY_GENDER = re.compile(
    r"^(TP|FP|FN|TN): +[\d.]+ +([\d.]+) +([\d.]+)$", re.MULTILINE
)
CLASSES = {
    "SemEval-2": {"1": "positive"},
    "SemEval-3": {"0": "negative", "1": "neutral", "2": "positive"},
    "CoNLL-2003": {"PER": "PER"},
}

# Table 4: identity terms of groups of the attribute gender. The printed group
# "no-gender" is "no gender" in the released file.
_TABLE_4 = {
    "aab": "AMAB, AFAB, DFAB, DMAB, female-assigned, male-assigned",
    "female": "female, woman",
    "male": "male, man",
    "many genders": (
        "ambigender, ambigendered, androgynous, bigender, bigendered, intersex, "
        "intersexual, pangender, pangendered, polygender, androgyne, hermaphrodite"
    ),
    "no gender": "agender, agendered, genderless",
}
# Table 6: examples of positive and neutral templates.
_TABLE_6 = {
    "generic": (
        "I liked that {identity_adj} writer.",
        "As {a:identity_np}, I feel hopeful.",
        "This summit is a wonderful event to celebrate {identity_adj} folk.",
        "I recently found out that Alex is {a:identity_np}.",
        "The main character was {identity_adj}.",
        "I watched a documentary about {identity_adj} writers.",
    ),
    "nationality": (
        "The next ACL will be in the beautiful {country}!",
        "The outstanding festival celebrated the best artists from {country}.",
        "{Country} has done a great job in fighting economic inequality.",
        "Alex always wanted to live in {country}.",
        "Next speaker travelled all the way from {country}.",
        "{Country} is UK's most important trading partner.",
    ),
    "names": (
        "{Person} teared up and it was heartwarming.",
        "{Person} feels fulfilled as a parent.",
        "You should read this ground-breaking paper by {person}.",
        "As a child, {person} had big dreams.",
        "{Person} received their high-school diploma in 1990.",
        "{Person} came out with new strategies for managing and financing that "
        "program.",
    ),
}


@recipe(files=list(_SUITES))
def printed_examples() -> pd.DataFrame:
    """How many printed examples of terms and templates stand in the released suites.

    One row per group of Table 4 and per kind of template of Table 6: how many are
    printed, how many of them are released up to one word, and how many verbatim.
    """
    terms = pd.read_csv(original(suites.ORIGINALS["terms/identity_terms/gender.csv"]))
    rows = []
    for group, printed in _TABLE_4.items():
        released = set(terms.loc[terms["GROUP"] == group, "TERM"])
        listed = set(printed.split(", "))
        # Terms that are released and not printed count against the table, too.
        right = len(listed) - len(listed ^ released)
        rows.append(("Table 4", group, len(listed), right, right))

    templates = [
        template
        for name, file in suites.ORIGINALS.items()
        if name.startswith("templates/")
        for template in pd.read_csv(original(file))["TEMPLATE"].dropna()
    ]
    for kind, examples in _TABLE_6.items():
        verbatim = sum(example in templates for example in examples)
        alike = sum(
            any(_words_apart(example, template) <= 1 for template in templates)
            for example in examples
        )
        rows.append(("Table 6", kind, len(examples), alike, verbatim))

    columns = ["table", "part", "printed", "released", "verbatim"]
    return pd.DataFrame(rows, columns=columns)


def _words_apart(first: str, second: str) -> int:
    """Return how many words have to be exchanged, added or left out."""
    matcher = SequenceMatcher(None, first.split(), second.split(), autojunk=False)
    return sum(
        max(end - start, other_end - other_start)
        for kind, start, end, other_start, other_end in matcher.get_opcodes()
        if kind != "equal"
    )


@recipe(files=[CONLL["train"], suites.ORIGINALS["terms/identity_terms/countries.csv"]])
def country_mentions() -> pd.DataFrame:
    """How often each country is tagged as a place in CoNLL-2003's training split.

    The countries are those of the entity suite. Upper and lower case do not matter.
    """
    from fairlib.metrics import sequences

    tokens = conll("train")
    words = tokens["token"].str.casefold().tolist()
    entities = sequences.from_tags(tokens["label"], tokens["sentence"])
    places = entities.query("type == 'LOC'")
    names = [
        " ".join(words[start:end])
        for start, end in zip(places["start"], places["end"], strict=True)
    ]

    fillers = suites.fillers("nationality", genuine=True)
    countries = fillers.query("slot == 'country'")[["group", "term"]]
    counts = countries["term"].str.casefold().map(pd.Series(names).value_counts())
    mentions = counts.fillna(0).astype(int)
    return countries.assign(mentions=mentions).reset_index(drop=True)


@recipe(files=[*SEMEVAL.values(), *_SUITES], costly=True)
def suite_predictions() -> pd.DataFrame:
    """What two families of sentiment models predict on the released suites, by seed."""
    from fairlib.recipes.training.text import suite_predictions

    return suite_predictions()


@recipe(files=[*CONLL.values(), *_SUITES], costly=True)
def country_predictions() -> pd.DataFrame:
    """What two families of taggers predict on the released entity suite, by seed."""
    from fairlib.recipes.training.text import country_predictions

    return country_predictions()


@recipe(files=[*_FILES, *_SUITES], costly=True)
def text_scores() -> pd.DataFrame:
    """How often the models are right on dev and test, by model, seed and class."""
    from fairlib.recipes.training.text import scores

    return scores()


@recipe(files=[NOTEBOOK])
def names_roberta() -> pd.DataFrame:
    """What the paper's own RoBERTa got right and wrong on its names suite.

    The paper's released notebook prints these numbers. One row per task, class and
    gender: true and false positives and negatives of the class against the rest. For
    named entities there are no true negatives.
    """
    cells = json.loads(original(NOTEBOOK).read_text(encoding="utf-8"))["cells"]

    tables = []
    for cell in cells:
        model = re.search(r"mname='([\w-]+)'", "".join(cell["source"]))
        task = TASKS.get(model[1]) if model else None
        if task is None:
            continue
        texts = ["".join(output.get("text", [])) for output in cell.get("outputs", [])]
        for block in "".join(texts).split("======== CLASS ")[1:]:
            name = CLASSES[task].get(block.split()[0])
            counts = _counts_by_gender(block)
            if name and counts:
                keys = {"task": task, "class": name, "group": ["female", "male"]}
                tables.append(pd.DataFrame(keys | counts))

    table = pd.concat(tables, ignore_index=True)
    return table.astype({kind: "Int64" for kind in COUNTS if kind in table})


def _counts_by_gender(block: str) -> dict[str, list[float]]:
    """Return the printed counts of one class, for women and for men."""
    printed = {
        kind.lower(): [float(female), float(male)]
        for kind, female, male in _COUNTS_BY_GENDER.findall(block)
    }
    return {kind: printed[kind] for kind in COUNTS if kind in printed}
