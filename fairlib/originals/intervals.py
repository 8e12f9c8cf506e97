"""Tables of notebook 10: WinoBias pairs by occupation, and how often each interval contains the truth."""

from __future__ import annotations

import pandas as pd

from fairlib.data import original, recipe, require_columns
from fairlib.originals.ethayarajh2020 import LLM, WINOBIAS_FILES

PRO_TEST = WINOBIAS_FILES["pro_stereotyped_type1.txt.test"]
FIRST_LINE = 1  # the answers' pair i is the file's line i + 1, counted from 1: see `winobias_occupations`


@recipe("winobias_occupations", files=[LLM, PRO_TEST])
def winobias_occupations() -> pd.DataFrame:
    """The language model's pairs by trial, by the occupation that the pronoun refers to, and by what was right.

    The answers are numbered from 1 to 395, the file has 396 lines. That pair i is line i + 1 (the first taken for a
    header) is inferred, not documented: with this shift the rate of right answers differs between occupations far more
    than with any other (an intraclass correlation of .146 on the stereotyped sentences, and below .05 with every other
    shift of up to six lines).
    """
    lines = [line for line in original(PRO_TEST).read_text(encoding="utf-8").splitlines() if line.strip()]
    occupations = pd.Series(lines).str.extract(r"\[(?:[Tt]he|[Aa]n?) ([^\]]+)\]")[0].str.strip()
    answers = require_columns(pd.read_csv(original(LLM)), ["trial", "pair", "pro_correct", "anti_correct"], LLM.path)
    answers = answers.assign(occupation=answers["pair"].map(lambda pair: occupations[pair - 1 + FIRST_LINE]))
    keys = ["trial", "occupation", "pro_correct", "anti_correct"]
    return answers[keys].value_counts().rename("pairs").reset_index().sort_values(keys, ignore_index=True)


@recipe("coverage", files=[], costly=True)
def coverage() -> pd.DataFrame:
    """Coverage and width of every method in `fairlib.bounds` on the whole grid: about ten minutes."""
    from fairlib.coverage import grid

    return grid(progress=True)


@recipe("five_points", files=[], costly=True)
def five_points() -> pd.DataFrame:
    """Examples that a claim of five points needs, by every method in `fairlib.bounds`: about five minutes."""
    from fairlib.coverage import five_points

    return five_points(progress=True)
