"""Outputs of models that this project trained, and counts of the paper's own model.

The models were trained on SemEval-2018 and CoNLL-2003.
"""

import json
import re

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
