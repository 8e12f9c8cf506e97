"""Tables of CheckList's identity sentences: five released sentiment systems.

Within a source only the identity term changes; a source is a name and the word that
completes "NAME is a TERM ...". The systems were released with Ribeiro, Wu, Guestrin and
Singh (2020): three commercial services, and BERT and RoBERTa fine-tuned on SST-2.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from fairlib.data import read_parquet
from fairlib.metrics import draws, scores
from fairlib.metrics.comparisons import above_background
from fairlib.metrics.examples import Examples, read
from fairlib.metrics.measuring import interval, observed, over_draws, p_value
from fairlib.metrics.table2 import METRICS, Metric
from fairlib.recipes import templates
from fairlib.recipes.originals import File, original, recipe, require_columns

PREDICTIONS = File(
    "checklist/predictions.parquet",
    sha256="009a7194ad623738b9d72baf2a7d559523d83ca597feb33fbe71f026d29e9fda",
    size=1_965_638,
    how="Join the prediction files and the test suite released with CheckList "
    "(github.com/marcotcr/checklist, release_data.tar.gz): one row per sentence of the "
    "four 'protected' tests and system; columns test, source_id, name_gender, name, "
    "filler, group, term, term_index, system, pred (0, 1, 2), p_neg, p_neu, p_pos.",
)
_COLUMNS = [
    "test",
    "source_id",
    "name_gender",
    "name",
    "filler",
    "group",
    "term",
    "term_index",
    "system",
    "pred",
]
_PROBABILITIES = {"p_neg": "p_negative", "p_neu": "p_neutral", "p_pos": "p_positive"}
# Systems whose three probabilities were made from one score s in [-1, 1], and the
# half-width of their neutral zone.
_NEUTRAL_ZONE = {"google": 1 / 4, "bert": 1 / 3, "roberta": 1 / 3}
_TOLERANCE = 0.1  # CheckList's: a change of probability up to this is no failure
REPLICATES = 500


# Metrics that need no gold label: metrics of Table 2, and three that look at the
# examples of one gold class there. Here these three take the positive class, or all
# examples.
WITHOUT_LABEL = {
    "AvgGF": METRICS["AvgGF"],
    "CFGap": METRICS["CFGap"],
    "AvgIF": METRICS["AvgIF"],
    "PertSR (positive)": replace(
        METRICS["PertSR"], score=scores.probability, per_class=True
    ),
    "PertSD (positive)": replace(
        METRICS["PertSD"], score=scores.probability, per_class=True
    ),
    "AvgEG (all)": replace(METRICS["PosAvgEG"], examples="all"),
    "mean difference": Metric(
        "VBCM",
        scores.mean_probability,
        above_background,
        background="complement",
        uses="probabilities",
    ),
}
_PREDICTED = {"ParityGap": METRICS["ParityGap"]}


def predictions() -> pd.DataFrame:
    """Return the released predictions with the names that `fairlib.measure` expects.

    Repeated cases are included.

    Returns
    -------
    pandas.DataFrame
        One row per sentence and system. The column `score` is (1 + s)/2 with s in
        [-1, 1]: the difference of the positive and the negative probability, or, for
        systems that released only one score, that score.

    Notes
    -----
    The three "probabilities" of the systems with one score were made from it and are
    not monotone in it: with s just above -1/3 the positive probability is 0, just below
    it is 1/3.
    """
    table = read_parquet(original(PREDICTIONS))
    table = require_columns(table, [*_COLUMNS, *_PROBABILITIES], PREDICTIONS.path)
    table = table.rename(columns=_PROBABILITIES)

    table["test"] = table["test"].str.removeprefix("protected: ")
    table["prediction"] = np.array(templates.CLASSES)[table["pred"]]
    table["source"] = table["name_gender"] + "/" + table["name"] + "/" + table["filler"]

    # Inside the neutral zone the difference is s, divided by twice the zone.
    difference = table["p_positive"] - table["p_negative"]
    zone = table["system"].map(_NEUTRAL_ZONE).astype(float)
    recoded_as_neutral = zone.notna() & (table["p_neutral"] > 0)
    score = difference.where(~recoded_as_neutral, 2 * zone * difference)
    table["score"] = (1 + score) / 2
    return table


def distinct(table: pd.DataFrame) -> pd.DataFrame:
    """Leave out test cases that repeat another case of the same test word for word.

    These are 5 of the 500 cases of each test.

    Parameters
    ----------
    table : pandas.DataFrame
        As `predictions` returns it.

    Returns
    -------
    pandas.DataFrame
        Its rows without the repeated cases.
    """
    cases = table.groupby(["test", "system", "source"])["source_id"]
    return table[table["source_id"] == cases.transform("min")]


@recipe(files=[PREDICTIONS])
def checklist_invariance() -> pd.DataFrame:
    """Failure rates of the five systems per test and group, by three rules.

    The rule "checklist" is CheckList's own: every term against the first term, changes
    of probability up to 0.1 forgiven, repeated cases counted. The rule "most frequent"
    compares every term with the most frequent prediction, in distinct cases. The rule
    "sign" is the same with the sign of the score as prediction, for the two models that
    know two classes.
    """
    tables = []
    for test, part in predictions().groupby("test"):
        rates_by_rule = {
            "checklist": _by_checklist(part),
            "most frequent": templates.invariance(distinct(part), by="system"),
            "sign": _by_sign(distinct(part)),
        }
        for rule, rates in rates_by_rule.items():
            tables.append(rates.assign(test=test, rule=rule))

    table = pd.concat(tables, ignore_index=True)
    rate = table["failure_rate"]
    table["standard_error"] = np.sqrt(rate * (1 - rate) / table["sources"])
    keys = ["test", "rule"]
    return table[[*keys, *table.columns.drop(keys)]].round(6)


def _by_checklist(part: pd.DataFrame) -> pd.DataFrame:
    """Return failure rates by CheckList's own rule."""
    first_term = part.loc[part["term_index"] == 0, "term"].iloc[0]
    return templates.invariance(
        part,
        by="system",
        source="source_id",
        reference=first_term,
        tolerance=_TOLERANCE,
    )


def _by_sign(part: pd.DataFrame) -> pd.DataFrame:
    """Return failure rates of the sign of the score, for models of two classes."""
    two_classes = part[part["system"].isin(["bert", "roberta"])]
    sign = np.sign(two_classes["score"] - 0.5)
    return templates.invariance(two_classes.assign(prediction=sign), by="system")


@recipe(files=[PREDICTIONS], costly=True)
def checklist_systems() -> pd.DataFrame:
    """Every metric that needs no gold label, for five systems and four attributes.

    The score "undone" is the single score of `predictions`, "released" the probability
    of the positive class as released, "prediction" the released prediction. Intervals
    and standard errors come from drawing whole sources again, with the same terms; null
    and p come from exchanging whole terms between groups.
    """
    table = distinct(predictions())

    tables = []
    for (test, system), part in table.groupby(["test", "system"]):
        sentences = part[["source", "group", "term"]]
        for score, column in {"undone": "score", "released": "p_positive"}.items():
            positive = part[column]
            frame = sentences.assign(p_positive=positive, p_negative=1 - positive)
            examples = read(frame, classes="positive")
            measured = with_uncertainty(examples, WITHOUT_LABEL)
            tables.append(measured.assign(test=test, system=system, score=score))

        # The probabilities only name the classes: a class that a system never predicts
        # is a class nevertheless.
        columns = [*sentences, "prediction", *_PROBABILITIES.values()]
        measured = with_uncertainty(read(part[columns]), _PREDICTED)
        tables.append(measured.assign(test=test, system=system, score="prediction"))

    result = pd.concat(tables, ignore_index=True)
    keys = ["test", "system", "score", "metric", "class", "group"]
    return result[[*keys, *result.columns.drop(keys)]].round(6)


def with_uncertainty(
    examples: Examples, metrics: dict[str, Metric], *, rng=2020
) -> pd.DataFrame:
    """Return the values of metrics with standard errors, intervals and p-values.

    Parameters
    ----------
    examples : Examples
        The examples.
    metrics : dict of Metric
        The metrics, by name.
    rng : numpy.random.Generator or int, default 2020
        Random numbers.

    Returns
    -------
    pandas.DataFrame
        One row per metric, class and group: value, standard_error, low and high (over
        sources), null and p (over terms), and the numbers of terms and sources.
    """
    generator = np.random.default_rng(rng)
    values = observed(examples, metrics, True, generator)[0]

    resampled = (
        replace(drawn, term_weight=np.ones_like(drawn.term_weight))
        for drawn in draws.bootstrap(examples, REPLICATES, generator)
    )
    exchanged = draws.exchanged(examples, REPLICATES, generator)
    over_sources = over_draws(examples, resampled, metrics, keys=values, rng=generator)
    over_terms = over_draws(examples, exchanged, metrics, keys=values, rng=generator)

    terms_of_groups = np.bincount(examples.term_group)
    sources = int(examples.source.max()) + 1
    rows = []
    for key, (value, *_) in values.items():
        metric, class_name, group = key
        low, high = interval(metrics[metric], value, over_sources[key], 0.95)
        null = over_terms[key]
        terms = terms_of_groups.sum()
        if group in examples.groups:
            terms = terms_of_groups[examples.groups.index(group)]
        row = {
            "metric": metric,
            "class": class_name,
            "group": group,
            "value": value,
            "standard_error": over_sources[key].std(ddof=1),
            "low": low,
            "high": high,
            "null": null.mean(),
            "p": p_value(abs(value), np.abs(null)),
            "terms": terms,
            "sources": sources,
        }
        rows.append(row)
    return pd.DataFrame(rows)
