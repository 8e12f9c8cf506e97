"""Dossiers: the evidence, and nothing that only teaches (lessons: test_lessons)."""

import re

import nbformat
import pytest
from notebook_cells import DOSSIERS, name_of, tag_of

TAGS = {"", "hosted", "ledger"}

dossiers = pytest.mark.parametrize("path", DOSSIERS, ids=name_of)


@dossiers
def test_a_dossier_has_no_exercises_no_widgets_and_no_predictions(path):
    cells = nbformat.read(path, as_version=4).cells
    for cell in cells:
        assert set(cell.metadata) <= {"tags"}, cell.id
        assert tag_of(cell) in TAGS, cell.id
        assert "## Exercises" not in cell.source, cell.id
        assert "ipywidgets" not in cell.source, cell.id
        assert not cell.source.startswith("**Predict.**"), cell.id


@dossiers
def test_a_dossier_says_what_it_is_for_and_what_to_doubt(path):
    cells = nbformat.read(path, as_version=4).cells
    assert re.match(
        r"# \d\d[a-z]? .+\n\n"
        r"\*\*With this dossier you can\*\*\n\n?(- .+\n(  .+\n)*){2,4}\n\S",
        cells[0].source,
    ), cells[0].source
    headings = "\n".join(cell.source for cell in cells)
    assert re.search("^## What to doubt$", headings, re.MULTILINE)


@dossiers
def test_a_dossier_saves_its_figures_beside_its_own_kind(path):
    number = path.stem.split("_")[0]
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            saved = re.findall(r"""plots\.save\([^"']*["']([^"']+)["']""", cell.source)
            assert len(saved) == cell.source.count("plots.save("), cell.id
            assert all(name.startswith(f"dossier/{number}_") for name in saved), cell.id
