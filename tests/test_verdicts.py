"""Verdicts of the notebooks do not depend on the seed or on the order of rows."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from notebook_cells import behind_the_ledger, shortened

import fairlib
from fairlib import ledger, plots
from fairlib.data import ROOT

LEDGER = pd.read_csv(ROOT / "figures" / "ledger.csv")
IN_ORDER = ("05_conll_heatmap",)  # its tables have tokens, whose order is data


def seeded(source, more):
    """Return the code of a cell with every seed raised."""
    return re.sub(
        r"(default_rng\(|rng=)(\d+)",
        lambda found: f"{found[1]}{int(found[2]) + more}",
        shortened(source),
    )


def run(sources, space):
    for cell, source in sources.items():
        exec(compile(source, cell, "exec"), space)
        plt.close("all")


def directions_with_ten_seeds(sources, space):
    assert (
        seeded(sources["directions"], 1) != sources["directions"]
        and "rng" not in sources["distances"]
    )
    found = set()
    for more in range(10):
        run(
            {cell: seeded(sources[cell], more) for cell in ("directions", "distances")},
            space,
        )
        found.add(space["direction"])
    assert found == {"ascending"}


def answers_with_ten_sets_of_draws(sources, space):
    """Other draws than the 9,999 bundled ones give other p-values, same statements."""
    bundled, found = space["metrics"], set()
    for seed in range(10):
        hits = np.random.default_rng(seed).binomial(9999, bundled["p"].fillna(1))
        space["metrics"] = bundled.assign(
            p=np.where(bundled["p"].notna(), (1 + hits) / 10_000, np.nan)
        )
        run({cell: sources[cell] for cell in ("tested", "attributes-asked")}, space)
        statements = ("most_attributes", "disability_most", "nationality_least")
        nationality = space["any_yes"](space["tests"].loc["nationality"])
        found.add(
            (
                *(space["answers"][f"section6/{name}"][0] for name in statements),
                nationality,
            )
        )
    assert found == {(False, True, True, True)}


AGAIN = {
    "04_semeval_heatmaps": answers_with_ten_sets_of_draws,
    "05_conll_heatmap": directions_with_ten_seeds,
}


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::pandas.errors.PerformanceWarning"
)  # of look-ups in rows that are not sorted
@pytest.mark.parametrize("name", sorted(LEDGER["notebook"].unique()))
def test_no_status_of_the_ledger_changes_with_the_seed_or_the_order_of_rows(
    name, monkeypatch, tmp_path, seed=1
):
    def shuffled(*arguments, **options):
        frame = bundled(*arguments, **options)
        mixed = frame.sample(frac=1, random_state=seed, ignore_index=True)
        return (
            frame
            if name in IN_ORDER
            else mixed.astype(frame.dtypes).__finalize__(frame)
        )

    bundled = fairlib.load
    monkeypatch.setattr(fairlib, "load", shuffled)
    for drawing in ("save", "heatmap"):
        monkeypatch.setattr(plots, drawing, lambda *arguments, **options: None)
    monkeypatch.setattr(ledger, "PARTS", tmp_path)
    monkeypatch.chdir(ROOT / "notebooks" / "dossier")
    sources, space = behind_the_ledger(name), {"display": print}
    run({cell: seeded(source, 1000 * seed) for cell, source in sources.items()}, space)
    found = pd.read_csv(tmp_path / f"{name}.csv").set_index("id")["status"]
    expected = LEDGER.set_index("id")["status"][LEDGER["notebook"].to_numpy() == name]
    assert found.sort_index().to_dict() == expected.sort_index().to_dict()
    if name in AGAIN:
        AGAIN[name](sources, space)
