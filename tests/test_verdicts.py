"""Published verdicts that rest on drawn numbers are the same whatever is drawn: the notebooks, with other seeds."""

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest

from fairlib import plots
from fairlib.data import ROOT


def cells(name):
    """Return the code cells of a notebook by id, in order, without the one that may install fairlib."""
    notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    return {cell.id: cell.source for cell in notebook.cells if cell.cell_type == "code" and cell.id != "hosted"}


def run_until(last, sources, space):
    for name, source in sources.items():
        exec(compile(source, name, "exec"), space)
        plt.close("all")
        if name == last:
            return


@pytest.mark.slow
def test_notebook_05_decides_the_same_for_ten_seeds(monkeypatch):
    monkeypatch.setattr(plots, "save", lambda *arguments, **options: None)
    sources, space = cells("05_conll_heatmap"), {}
    run_until("distances", sources, space)
    found = set()
    for seed in range(10):
        for name in ("directions", "distances"):
            assert (name == "distances") == ("default_rng(5)" not in sources[name])
            exec(compile(sources[name].replace("default_rng(5)", f"default_rng({seed})"), name, "exec"), space)
        found.add(space["direction"])
    assert found == {"ascending"}


@pytest.mark.slow
def test_notebook_04_decides_the_same_for_ten_sets_of_draws(monkeypatch):
    """The bundled p-values come from 9,999 draws. As many others would have given others, and the same statements."""
    monkeypatch.setattr(plots, "save", lambda *arguments, **options: None)
    sources, space = cells("04_semeval_heatmaps"), {}
    run_until("attributes-asked", sources, space)
    bundled, found = space["metrics"], set()
    for seed in range(10):
        hits = np.random.default_rng(seed).binomial(9999, bundled["p"].fillna(1))
        space["metrics"] = bundled.assign(p=np.where(bundled["p"].notna(), (1 + hits) / 10_000, np.nan))
        for name in ("tested", "attributes-asked"):
            exec(compile(sources[name], name, "exec"), space)
        statements = ("most_attributes", "disability_most", "nationality_least")
        nationality = space["any_yes"](space["tests"].loc["nationality"])
        found.add((*(space["answers"][f"section6/{name}"][0] for name in statements), nationality))
    assert found == {(False, True, True, True)}
