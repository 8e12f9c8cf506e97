"""Executed lessons as Markdown, the gallery, and the README's tables."""

import importlib.util
import re

import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from notebook_cells import LESSONS, NOTEBOOKS, name_of

from fairlib.data import ROOT


def opened(path):
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


pages = opened(ROOT / "notebooks" / "pages.py")
TITLE = """# 99 Is it?

See [one](08_one.ipynb#a), [two](dossier/05_two.ipynb), [three](../README.md) and
[four](https://e.org)."""
SVG = """<svg xmlns="http://www.w3.org/2000/svg"><metadata><dc:description
xmlns:dc="http://purl.org/dc/elements/1.1/">Of $n_1 = 3$ and two_words. Data: none.
</dc:description></metadata></svg>"""


@pytest.fixture
def figures(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "FIGURES", tmp_path)
    for name in ("99_one", "99_two", "99_two_narrow"):
        (tmp_path / f"{name}.svg").write_text(SVG)
    return tmp_path


def page(*cells):
    return pages.page_of(
        new_notebook(cells=[new_markdown_cell(TITLE), *cells]), "99_is_it"
    )


def code(source, *outputs, tag=None):
    return new_code_cell(
        source, outputs=list(outputs), metadata={"tags": [tag]} if tag else {}
    )


def words(source, tag):
    return new_markdown_cell(source, metadata={"tags": [tag]})


def shown(**data):
    types = {"png": "image/png", "html": "text/html", "plain": "text/plain"}
    return new_output(
        "display_data", data={types[kind]: text for kind, text in data.items()}
    )


def test_links_lead_on_from_the_page():
    text = page()
    assert "[one](08_one.md#a)" in text
    assert "[two](../../notebooks/dossier/05_two.ipynb)" in text
    assert "[three](../../README.md)" in text
    assert "[four](https://e.org)" in text
    assert "[run the notebook](../../notebooks/99_is_it.ipynb)" in text


def test_a_table_becomes_a_table_and_text_stays_text():
    frame = pd.DataFrame({"a_b": [0.5, 1.0], "c|d": ["x", "y"]}, index=["k", "l"])
    output = shown(html=frame._repr_html_(), plain=str(frame))
    stream = new_output("stream", text="printed\n")
    warning = new_output("stream", name="stderr", text="progress")
    text = page(code("frame", stream, warning, output, shown(plain="0.5 ```")))
    assert "|  | a\\_b | c\\|d |\n| --- | --- | --- |\n| k | 0.5 | x |" in text
    assert "```text\nprinted\n```" in text
    assert "````text\n0.5 ```\n````" in text
    assert "progress" not in text


def test_headings_above_each_other_are_joined_and_names_of_rows_are_written_once():
    columns = pd.MultiIndex.from_product([["low", "high"], ["one", "two"]])
    index = pd.MultiIndex.from_product([["k", "l"], [1, 2]], names=["big", "small"])
    frame = pd.DataFrame(7, index=index, columns=columns)
    lines = pages.markdown_table(frame._repr_html_()).splitlines()
    assert lines[0] == "| big | small | low one | low two | high one | high two |"
    assert lines[2] == "| k | 1 | 7 | 7 | 7 | 7 |"
    assert lines[3] == "|  | 2 | 7 | 7 | 7 | 7 |"


def test_the_name_of_the_columns_does_not_stand_above_that_of_the_rows():
    frame = pd.DataFrame({0: [1], 1: [2]}, index=pd.Index(["x"], name="gold"))
    html = frame.rename_axis(columns="right")._repr_html_()
    assert pages.markdown_table(html).splitlines()[0] == "| gold | 0 | 1 |"


def test_a_figure_is_linked_with_its_caption_and_its_variant_for_phones(figures):
    one = code('plots.save(f, "99_one", caption=c)', shown(png="iVBO"))
    two = code(
        'plots.save(n, "99_two_narrow", caption=c)\nplots.save(f, "99_two", caption=c)',
        shown(png="iVBO"),
    )
    text = page(one, two)
    assert "![Of n_1 = 3 and two_words.](../../figures/99_one.svg)" in text
    assert "*Figure.* Of $n_1 = 3$ and two\\_words. Data: none." in text
    assert 'srcset="../../figures/99_two_narrow.svg"' in text
    assert text.count("*Figure.*") == 2
    assert text.count("How this figure is drawn") == 2
    assert "iVBO" not in text


def test_cells_are_shown_by_their_tags():
    text = page(
        code("import importlib", tag="hosted"),
        words("**Predict.** How many?", "prediction"),
        words("**Your prediction:** (here)", "yours"),
        code("interact()", tag="widget"),
        words("**Exercise 1.** Try.", "exercise"),
        code("def f(): ...", shown(plain="None"), tag="stub"),
        code("def f(): return 1", tag="solution"),
        words("**Solution.** Because.", "solution"),
        code("assert f() == 1", tag="check"),
    )
    assert "importlib" not in text and "interact" not in text and "None" not in text
    assert "Write your prediction down" in text and "Your prediction" not in text
    assert "[run it](../../notebooks/99_is_it.ipynb)" in text
    folded = re.findall(r"<details>.*?</details>", text, re.DOTALL)
    assert len(folded) == 1
    assert "return 1" in folded[0] and "Because." in folded[0]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (shown(png="iVBO"), "99_is_it must save every picture that it shows"),
        (shown(plain="<A at 0x7f0000aa>"), "99_is_it must print the same each time"),
    ],
)
def test_what_cannot_be_shown_is_named(output, message):
    with pytest.raises(ValueError, match=message):
        page(code("1", output))


def test_the_readmes_and_the_gallery_name_every_notebook_and_figure():
    for path, text in pages.readmes().items():
        stored = path.read_text(encoding="utf-8")
        assert text == stored, "run: python notebooks/pages.py"
    for path in NOTEBOOKS:
        is_dossier = path.parent.name == "dossier"
        address = path.name if is_dossier else f"notebooks/{path.name}"
        listing = path.parent if is_dossier else ROOT
        assert f"({address})" in (listing / "README.md").read_text(encoding="utf-8")
    gallery = (ROOT / "figures" / "README.md").read_text(encoding="utf-8")
    assert pages.gallery() == gallery, "run: python notebooks/pages.py"
    with pytest.raises(ValueError, match="README.md must have the lines <!-- lessons"):
        pages.with_table("", name="lessons", table="")


def test_every_figure_belongs_to_a_notebook():
    named = {"ledger"}
    for path in NOTEBOOKS:
        for cell in nbformat.read(path, as_version=4).cells:
            named |= {*pages.SAVED.findall(cell.source)}
    folder = ROOT / "figures"
    drawn = {
        path.relative_to(folder).with_suffix("").as_posix()
        for path in folder.rglob("*.svg")
    }
    assert drawn == named
    assert drawn == {
        path.relative_to(folder).with_suffix("").as_posix()
        for path in folder.rglob("*.png")
    }


@pytest.mark.parametrize("path", LESSONS, ids=name_of)
def test_a_lesson_can_be_read_without_running_it(path):
    text = (ROOT / "docs" / "lessons" / f"{path.stem}.md").read_text(encoding="utf-8")
    assert text.splitlines()[2] == f"# {pages.title_of(path)}"
    for name in pages.figures_of(path):
        assert f"../../figures/{name}.svg" in text
    for target in re.findall(r"\]\((\.\./[^)#]+)", text):
        assert (ROOT / "docs" / "lessons" / target).exists(), target


@pytest.mark.parametrize("path", LESSONS, ids=name_of)
def test_a_lesson_has_slides_with_its_questions_and_figures(path):
    slides = opened(ROOT / "site" / "slides.py").slides_of(path)
    assert pages.title_of(path)[3:10] in slides[0]
    sources = [cell.source for cell in nbformat.read(path, as_version=4).cells]
    asked = sum(source.startswith("**Predict.**") for source in sources)
    assert sum('class="predict"' in slide for slide in slides) == asked
    text = "\n".join(slides)
    assert text.count("<img") == len(pages.figures_of(path))
    assert "Recap" in text and "What to doubt" in text and "$" not in text
    assert "Model answer" not in text and "Solution" not in text
