"""What authors printed about bias benchmarks, and what their own answers give.

`data/bundled/atlas_printed/printed.csv` holds the printed numbers and their places.
"""

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from fairlib.data import BUNDLED, load
from fairlib.recipes.atlas_answers import HATECHECK_GROUPS, STEREOSET_MODELS
from fairlib.recipes.originals import recipe

PRINTED = BUNDLED / "atlas_printed" / "printed.csv"
_KEYS = ["benchmark", "model", "part", "quantity"]
_CONTEXTS = {"ambig": "bias score, ambiguous", "disambig": "bias score, disambiguated"}
_ROUNDING = 1e-7
_POINTS = 100
_DECIMALS = 9


@recipe(files=[])
def atlas_printed() -> DataFrame:
    """Numbers printed about bias benchmarks, computed again from released answers.

    A number is `reproduced` if it equals the printed one after rounding. It is
    `possible` if some answers are unclear (see `atlas_bbq`), and the printed number
    lies within what they leave open, between `low` and `high`. Otherwise it `differs`.
    """
    columns = ["lowest", "computed", "highest"]
    computed = pd.concat([_hatecheck(), _bbq(), _stereoset(), _winomt()])
    printed = pd.read_csv(PRINTED, dtype={"printed": str}, keep_default_na=False)
    table = printed.merge(computed, how="left", on=_KEYS, validate="1:1")
    table[columns] = table[columns].round(_DECIMALS)

    # Half a unit of the last digit that is printed; a tie may be rounded either way.
    digits = table["printed"].str.split(".").str[1].str.len()
    half_unit = 0.5 / 10.0**digits + _ROUNDING
    table["printed"] = table["printed"].astype(float)
    value = table["printed"]
    is_equal = (value - table["computed"]).abs() <= half_unit
    is_possible = (value >= table["lowest"] - half_unit) & (
        value <= table["highest"] + half_unit
    )
    is_open = table["lowest"] < table["highest"]
    table["status"] = np.select(
        [is_equal & ~is_open, is_possible], ["reproduced", "possible"], "differs"
    )
    return table


def _certain(values: DataFrame) -> DataFrame:
    """Return computed numbers that nothing leaves open."""
    return values.assign(lowest=values["computed"], highest=values["computed"])


def _hatecheck() -> DataFrame:
    """Return accuracies by group, and of all cases by label."""
    templates = load("atlas_hatecheck", source="bundled")
    total = templates.groupby("system")["templates"].sum()
    tables = []
    for place, group in enumerate(HATECHECK_GROUPS):
        right = templates["templates"] * templates["errors"].str[place].eq(".")
        accuracy = _POINTS * right.groupby(templates["system"]).sum() / total
        tables.append(_long(accuracy, part=group, quantity="accuracy"))

    cases = load("atlas_hatecheck_totals", source="bundled")
    parts = {
        "hateful": cases["hateful"] == 1,
        "not hateful": cases["hateful"] == 0,
        "all": cases["hateful"] >= 0,
    }
    for part, is_used in parts.items():
        used = cases[is_used]
        right = used[used["wrong"] == 0].groupby("system")["cases"].sum()
        accuracy = _POINTS * right / used.groupby("system")["cases"].sum()
        tables.append(_long(accuracy, part=part, quantity="accuracy, all cases"))
    return _certain(pd.concat(tables).assign(benchmark="HateCheck"))


def _long(values: Series, *, part: str, quantity: str) -> DataFrame:
    """Return values by model as rows."""
    table = values.rename("computed").rename_axis("model").reset_index()
    return table.assign(part=part, quantity=quantity)


def _bbq() -> DataFrame:
    """Return bias scores and costs in accuracy, and what unclear answers leave open."""
    answers = load("atlas_bbq", source="bundled")
    rows = []
    groups = answers[answers["answer"] != "unread"].groupby(
        ["category", "format", "context"]
    )
    for (category, style, context), readable in groups:
        counts = readable.groupby("answer")["questions"].sum()
        unclear = counts.get("unclear", 0)
        balance = counts["biased"] - counts["counter"]
        named = counts["biased"] + counts["counter"]
        factor = 1.0
        if context == "ambig":
            # Authors multiply by the share of wrong answers: those that name a person.
            factor = (named + unclear) / (named + unclear + counts["unknown"])

        rows.append(
            {
                "model": style,
                "part": category,
                "quantity": _CONTEXTS[context],
                "computed": _POINTS * factor * balance / named,
                "lowest": _POINTS * factor * (balance - unclear) / (named + unclear),
                "highest": _POINTS * factor * (balance + unclear) / (named + unclear),
            }
        )
    scores = DataFrame(rows)
    return pd.concat([scores, _bbq_costs(answers)]).assign(benchmark="BBQ")


def _bbq_costs(answers: DataFrame) -> DataFrame:
    """Return accuracy where the right answer is no stereotype, minus where it is one.

    A question that does not say whom the stereotype is about may belong to either side.
    """
    clear = answers[answers["context"] == "disambig"]
    rows = []
    for (category, style), group in clear.groupby(["category", "format"]):
        right = group["questions"].where(group["right"] == 1, 0)
        counts = DataFrame({"n": group["questions"], "right": right})
        sums = counts.groupby(group["aligned"]).sum()
        unclear = sums.reindex(["none"], fill_value=0).loc["none"]

        # All ways to give the unclear questions, right and wrong ones, to the sides.
        given_right = np.arange(unclear["right"] + 1)[:, None]
        given_wrong = np.arange(unclear["n"] - unclear["right"] + 1)
        given = given_right + given_wrong
        costs = (sums.loc["no", "right"] + given_right) / (
            sums.loc["no", "n"] + given
        ) - (sums.loc["yes", "right"] + unclear["right"] - given_right) / (
            sums.loc["yes", "n"] + unclear["n"] - given
        )

        rates = sums["right"] / sums["n"]
        rows.append(
            {
                "model": style,
                "part": category,
                "quantity": "cost in accuracy",
                "computed": _POINTS * (rates["no"] - rates["yes"]),
                "lowest": _POINTS * costs.min(),
                "highest": _POINTS * costs.max(),
            }
        )
    return DataFrame(rows)


def _stereoset() -> DataFrame:
    """Return the stereotype scores: means over terms."""
    items = load("atlas_stereoset", source="bundled")
    by_term = [items["domain"], items["term"]]
    total = items["items"].groupby(by_term).sum()
    tables = []
    for place, model in enumerate(STEREOSET_MODELS):
        chosen = items["items"] * items["choices"].str[place].eq("s")
        rates = chosen.groupby(by_term).sum() / total
        score = _POINTS * rates.groupby("domain").mean()
        table = score.rename("computed").rename_axis("part").reset_index()
        tables.append(table.assign(model=model))
    values = pd.concat(tables)
    return _certain(values.assign(benchmark="StereoSet", quantity="stereotype score"))


def _winomt() -> DataFrame:
    """Return accuracies, and recalls of men and women."""
    cells = load("atlas_winomt", source="bundled")
    cells["right"] = cells["sentences"] * cells["gold"].eq(cells["predicted"])
    parts = {
        "accuracy": cells["sentences"] > 0,
        "recall, men": cells["gold"] == "male",
        "recall, women": cells["gold"] == "female",
    }

    tables = []
    for quantity, is_used in parts.items():
        sums = cells[is_used].groupby(["system", "language"])[["right", "sentences"]]
        counts = sums.sum()
        share = _POINTS * counts["right"] / counts["sentences"]
        table = share.rename("computed").rename_axis(["model", "part"]).reset_index()
        tables.append(table.assign(quantity=quantity))
    return _certain(pd.concat(tables).assign(benchmark="WinoMT"))
