"""Tables of CheckList's identity sentences: five released sentiment systems when only the identity term changes.

The systems were released with Ribeiro, Wu, Guestrin and Singh (2020): three commercial services, and BERT and RoBERTa
fine-tuned on SST-2. A source is a name and the word that completes "NAME is a TERM ...".
"""

from dataclasses import replace

import numpy as np
import pandas as pd

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
COLUMNS = [
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
PROBABILITIES = {"p_neg": "p_negative", "p_neu": "p_neutral", "p_pos": "p_positive"}
# Systems whose three probabilities were made from one score s in [-1, 1], and the
# half-width of their neutral zone.
NEUTRAL_ZONE = {"google": 1 / 4, "bert": 1 / 3, "roberta": 1 / 3}
TOLERANCE = 0.1  # CheckList's: a change of probability up to this is no failure
REPLICATES = 500


# What can be measured without a gold label: metrics of Table 2, and three that ask for
# the gold class there and are taken with the positive class, or with all examples,
# here.
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
PREDICTED = {"ParityGap": METRICS["ParityGap"]}


def predictions() -> pd.DataFrame:
    """Return the released predictions with the names that `fairlib.measure` expects, repeats included.

    score is (1 + s)/2 with s in [-1, 1]: the difference of the positive and the negative probability, or for systems
    that released one score only, that score. (Their three "probabilities" were made from it and are not monotone in it:
    with s just above -1/3 the positive one is 0, just below it is 1/3.)
    """
    table = require_columns(
        pd.read_parquet(original(PREDICTIONS)),
        [*COLUMNS, *PROBABILITIES],
        PREDICTIONS.path,
    )
    table = table.rename(columns=PROBABILITIES)
    table["test"] = table["test"].str.removeprefix("protected: ")
    table["prediction"] = np.array(templates.CLASSES)[table["pred"]]
    table["source"] = table["name_gender"] + "/" + table["name"] + "/" + table["filler"]
    difference = table["p_positive"] - table["p_negative"]
    zone = table["system"].map(NEUTRAL_ZONE).astype(float)
    recoded_as_neutral = zone.notna() & (table["p_neutral"] > 0)
    table["score"] = (
        1 + difference.where(~recoded_as_neutral, 2 * zone * difference)
    ) / 2
    return table


def distinct(table: pd.DataFrame) -> pd.DataFrame:
    """Leave out test cases that repeat another one of the same test word for word (5 of
    500 in each).
    """
    first = table.groupby(["test", "system", "source"])["source_id"].transform("min")
    return table[table["source_id"] == first]


@recipe(files=[PREDICTIONS])
def checklist_invariance() -> pd.DataFrame:
    """Failure rates of the five systems per test and group.

    rule "checklist" is CheckList's own: every term against the first one, changes of probability up to 0.1 forgiven,
    repeated cases counted. Rule "most frequent": distinct cases, every term against the most frequent prediction. Rule
    "sign": the same with the sign of the score as prediction, for the two models that know two classes.
    """
    table = predictions()
    tables = []
    for test, part in table.groupby("test"):
        first = part.loc[part["term_index"] == 0, "term"].iloc[0]
        own = templates.invariance(
            part, by="system", source="source_id", reference=first, tolerance=TOLERANCE
        )
        once = distinct(part)
        frequent = templates.invariance(once, by="system")
        two = once[once["system"].isin(["bert", "roberta"])]
        sign = templates.invariance(
            two.assign(prediction=np.sign(two["score"] - 0.5)), by="system"
        )
        for rule, rates in {
            "checklist": own,
            "most frequent": frequent,
            "sign": sign,
        }.items():
            tables.append(rates.assign(test=test, rule=rule))
    result = pd.concat(tables, ignore_index=True)
    rate = result["failure_rate"]
    result["standard_error"] = np.sqrt(rate * (1 - rate) / result["sources"])
    return result[["test", "rule", *result.columns.drop(["test", "rule"])]].round(6)


@recipe(files=[PREDICTIONS], costly=True)
def checklist_systems() -> pd.DataFrame:
    """Every metric that needs no gold label, for five systems and four attributes, with intervals over sources.

    score "undone" is the single score of `predictions`, "released" the probability of the positive class as released,
    "prediction" the released prediction. Intervals and standard errors come from drawing whole sources again, the terms
    being what they are; null and p from exchanging whole terms between groups.
    """
    table = distinct(predictions())
    tables = []
    for (test, system), part in table.groupby(["test", "system"]):
        sentences = part[["source", "group", "term"]]
        for kind, column in {"undone": "score", "released": "p_positive"}.items():
            frame = sentences.assign(
                p_positive=part[column], p_negative=1 - part[column]
            )
            measured = with_uncertainty(read(frame, classes="positive"), WITHOUT_LABEL)
            tables.append(measured.assign(test=test, system=system, score=kind))
        # The probabilities only name the classes: a class that a system never predicts
        # is still one.
        measured = with_uncertainty(
            read(part[[*sentences, "prediction", *PROBABILITIES.values()]]), PREDICTED
        )
        tables.append(measured.assign(test=test, system=system, score="prediction"))
    result = pd.concat(tables, ignore_index=True)
    keys = ["test", "system", "score", "metric", "class", "group"]
    return result[[*keys, *result.columns.drop(keys)]].round(6)


def with_uncertainty(
    examples: Examples, metrics: dict[str, Metric], *, rng=2020
) -> pd.DataFrame:
    """Return values with standard_error, low and high (over sources), null and p (over
    terms), and counts.
    """
    rng = np.random.default_rng(rng)
    values = observed(examples, metrics, True, rng)[0]
    resampled = (
        replace(drawn, term_weight=np.ones_like(drawn.term_weight))
        for drawn in draws.bootstrap(examples, REPLICATES, rng)
    )
    exchanged = draws.exchanged(examples, REPLICATES, rng)
    over_sources, over_terms = (
        over_draws(examples, drawn, metrics, values, rng)
        for drawn in (resampled, exchanged)
    )
    terms, sources = np.bincount(examples.term_group), int(examples.source.max()) + 1
    rows = []
    for key, value in values.items():
        low, high = interval(metrics[key[0]], value[0], over_sources[key], 0.95)
        count = (
            terms[examples.groups.index(key[2])]
            if key[2] in examples.groups
            else terms.sum()
        )
        error, null = over_sources[key].std(ddof=1), over_terms[key]
        p = p_value(abs(value[0]), np.abs(null))
        rows.append((*key, value[0], error, low, high, null.mean(), p, count, sources))
    columns = [
        "value",
        "standard_error",
        "low",
        "high",
        "null",
        "p",
        "terms",
        "sources",
    ]
    return pd.DataFrame(rows, columns=["metric", "class", "group", *columns])
