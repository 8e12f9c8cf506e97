"""Outputs of models that this project trained on SemEval-2018 and CoNLL-2003, and counts of the paper's own."""

import json
import re

import pandas as pd

from fairlib.recipes import suites
from fairlib.recipes.corpora import CONLL, SEMEVAL, conll
from fairlib.recipes.originals import File, original, recipe

FILES = [*SEMEVAL.values(), *CONLL.values()]
SUITES = suites.ORIGINALS.values()
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
CLASSES = {
    "SemEval-2": {"1": "positive"},
    "SemEval-3": {"0": "negative", "1": "neutral", "2": "positive"},
    "CoNLL-2003": {"PER": "PER"},
}


@recipe(files=[CONLL["train"], suites.ORIGINALS["terms/identity_terms/countries.csv"]])
def country_mentions() -> pd.DataFrame:
    """How often each country of the entity suite is tagged as a place in CoNLL-2003's training split, in any case."""
    from fairlib.metrics import sequences

    tokens = conll("train")
    places = sequences.from_tags(tokens["label"], tokens["sentence"]).query(
        "type == 'LOC'"
    )
    words = tokens["token"].str.casefold().tolist()
    names = [
        " ".join(words[start:end])
        for start, end in zip(places["start"], places["end"], strict=True)
    ]
    countries = suites.fillers("nationality", genuine=True).query("slot == 'country'")[
        ["group", "term"]
    ]
    mentions = (
        countries["term"]
        .str.casefold()
        .map(pd.Series(names).value_counts())
        .fillna(0)
        .astype(int)
    )
    return countries.assign(mentions=mentions).reset_index(drop=True)


@recipe(files=[*SEMEVAL.values(), *SUITES], costly=True)
def suite_predictions() -> pd.DataFrame:
    """Every sentence of the released suites as two families of sentiment models, three seeds, see it."""
    from fairlib.recipes.training.text import suite_predictions

    return suite_predictions()


@recipe(files=[*CONLL.values(), *SUITES], costly=True)
def country_predictions() -> pd.DataFrame:
    """Every token of the released entity suite as two families of taggers, three seeds, see it."""
    from fairlib.recipes.training.text import country_predictions

    return country_predictions()


@recipe(files=[*FILES, *SUITES], costly=True)
def text_scores() -> pd.DataFrame:
    """How often the models are right on the dev and test splits: counts by model, seed and class."""
    from fairlib.recipes.training.text import scores

    return scores()


@recipe(files=[NOTEBOOK])
def names_roberta() -> pd.DataFrame:
    """What the paper's own RoBERTa got right and wrong on its names suite, as its released notebook prints it.

    One row per task, class and gender: true and false positives and negatives of the class against the rest. For named
    entities there are no true negatives.
    """
    cells = json.loads(original(NOTEBOOK).read_text(encoding="utf-8"))["cells"]
    rows = []
    for cell in cells:
        model = re.search(r"mname='([\w-]+)'", "".join(cell["source"]))
        task = TASKS.get(model[1]) if model else None
        printed = "".join(
            "".join(output.get("text", [])) for output in cell.get("outputs", [])
        )
        for block in printed.split("======== CLASS ")[1:] if task else []:
            name = CLASSES[task].get(block.split()[0])
            found = dict(
                re.findall(
                    r"^(TP|FP|FN|TN): +[\d.]+ +([\d.]+ +[\d.]+)$", block, re.MULTILINE
                )
            )
            counts = {
                kind: map(float, found[kind.upper()].split())
                for kind in COUNTS
                if kind.upper() in found
            }
            if name and counts:
                rows.append(
                    pd.DataFrame(
                        {
                            "task": task,
                            "class": name,
                            "group": ["female", "male"],
                            **counts,
                        }
                    )
                )
    table = pd.concat(rows, ignore_index=True)
    return table.astype({kind: "Int64" for kind in COUNTS if kind in table})
