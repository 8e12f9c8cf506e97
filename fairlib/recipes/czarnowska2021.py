"""Outputs of models that this project trained on SemEval-2018 and CoNLL-2003."""

from __future__ import annotations

import pandas as pd

from fairlib.recipes import suites
from fairlib.recipes.corpora import CONLL, SEMEVAL, conll
from fairlib.recipes.originals import recipe

FILES = [*SEMEVAL.values(), *CONLL.values()]
SUITES = suites.ORIGINALS.values()


@recipe(files=[CONLL["train"], suites.ORIGINALS["terms/identity_terms/countries.csv"]])
def country_mentions() -> pd.DataFrame:
    """How often each country of the entity suite is tagged as a place in CoNLL-2003's training split, in any case."""
    from fairlib.metrics import spans

    tokens = conll("train")
    places = spans.from_tags(tokens["label"], tokens["sentence"]).query("type == 'LOC'")
    words = tokens["token"].str.casefold().tolist()
    names = [" ".join(words[start:end]) for start, end in zip(places["start"], places["end"], strict=True)]
    countries = suites.fillers("nationality", genuine=True).query("slot == 'country'")[["group", "term"]]
    mentions = countries["term"].str.casefold().map(pd.Series(names).value_counts()).fillna(0).astype(int)
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
