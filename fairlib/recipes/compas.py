"""COMPAS: ProPublica's public records of 7,214 people.

The records hold risk scores, and what happened within two years.
"""

import pandas as pd

from fairlib.recipes.originals import File, original, recipe, require_columns

COMPAS = File(
    "compas/compas-scores-two-years.csv",
    sha256="c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
    size=2_546_489,
    url="https://raw.githubusercontent.com/propublica/compas-analysis/master/compas-scores-two-years.csv",
)
COLUMNS = ["race", "decile_score", "two_year_recid"]


@recipe(files=[COMPAS])
def compas_scores() -> pd.DataFrame:
    """People by race, decile score (1 to 10) and new charges within two years."""
    return _counted(_people())


@recipe(files=[COMPAS])
def compas_filtered() -> pd.DataFrame:
    """People by race, decile score and new charges, of those in ProPublica's analysis.

    ProPublica's filter keeps 6,172 people: screened within 30 days of the arrest, with
    a known record, for more than an ordinary traffic offence, and with a score. These
    are the people of paper 3's Figure 6.
    """
    columns = ["days_b_screening_arrest", "is_recid", "c_charge_degree", "score_text"]
    people = require_columns(_people(), columns, COMPAS.path)

    screened_in_time = people["days_b_screening_arrest"].abs().le(30)
    has_record = people["is_recid"].ne(-1)
    more_than_traffic = people["c_charge_degree"].ne("O")
    has_score = people["score_text"].notna()
    return _counted(
        people[screened_in_time & has_record & more_than_traffic & has_score]
    )


def _people() -> pd.DataFrame:
    """Return the file, one row per person; a score_text of "N/A" is read as missing."""
    return require_columns(pd.read_csv(original(COMPAS)), COLUMNS, COMPAS.path)


def _counted(people: pd.DataFrame) -> pd.DataFrame:
    """Count the people by race, score and outcome."""
    counts = people[COLUMNS].value_counts().rename("count").reset_index()
    return counts.sort_values(COLUMNS, ignore_index=True)
