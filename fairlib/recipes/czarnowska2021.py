"""Outputs of models that this project trained on SemEval-2018 and CoNLL-2003."""

from __future__ import annotations

import pandas as pd

from fairlib.recipes.corpora import CONLL, SEMEVAL, conll
from fairlib.recipes.originals import recipe

FILES = [*SEMEVAL.values(), *CONLL.values()]


@recipe(files=[CONLL["train"]])
def country_mentions() -> pd.DataFrame:
    """How often each country of the entity suite is tagged as a place in CoNLL-2003's training split, in any case."""
    from fairlib.metrics import spans
    from fairlib.recipes import suites

    tokens = conll("train")
    places = spans.from_tags(tokens["label"], tokens["sentence"]).query("type == 'LOC'")
    words = tokens["token"].str.casefold().tolist()
    names = [" ".join(words[start:end]) for start, end in zip(places["start"], places["end"], strict=True)]
    countries = suites.terms("nationality")[["group", "term"]]
    mentions = countries["term"].str.casefold().map(pd.Series(names).value_counts()).fillna(0).astype(int)
    return countries.assign(mentions=mentions)


@recipe(files=SEMEVAL.values(), costly=True)
def sentiment_predictions() -> pd.DataFrame:
    """Every sentence of the template suites as two families of sentiment models, three seeds, see it."""
    from fairlib.recipes.training.text import sentiment_predictions

    return sentiment_predictions()


@recipe(files=CONLL.values(), costly=True)
def entity_predictions() -> pd.DataFrame:
    """Every token of the entity suite as two families of taggers, three seeds, see it."""
    from fairlib.recipes.training.text import entity_predictions

    return entity_predictions()


@recipe(files=FILES, costly=True)
def text_scores() -> pd.DataFrame:
    """How often the models are right on the dev and test splits: counts by model, seed and class."""
    from fairlib.recipes.training.text import scores

    return scores()
