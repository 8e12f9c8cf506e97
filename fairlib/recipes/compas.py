"""COMPAS: ProPublica's public records of 7,214 people, their risk scores and what happened within two years."""

from __future__ import annotations

import pandas as pd

from fairlib.recipes.originals import File, original, recipe, require_columns

COMPAS = File(
    "compas/compas-scores-two-years.csv",
    sha256="c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
    size=2_546_489,
    url="https://raw.githubusercontent.com/propublica/compas-analysis/master/compas-scores-two-years.csv",
)


@recipe(files=[COMPAS])
def compas_scores() -> pd.DataFrame:
    """People by race, decile score (1 to 10) and whether they were charged again within two years."""
    columns = ["race", "decile_score", "two_year_recid"]
    people = require_columns(pd.read_csv(original(COMPAS)), columns, COMPAS.path)
    return people[columns].value_counts().rename("count").reset_index().sort_values(columns, ignore_index=True)
