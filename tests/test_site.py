"""How executed notebooks become pages. For a test in a browser see site/check.py."""

import importlib.util
import json
import re

import jinja2
import matplotlib.pyplot as plt
import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from notebook_cells import LESSONS, NOTEBOOKS, name_of

import fairlib
from fairlib import atlas, plots
from fairlib.data import ROOT

TABLE = pd.read_csv(ROOT / "figures" / "ledger.csv", dtype=str, keep_default_na=False)


def opened(name):
    specification = importlib.util.spec_from_file_location(
        f"site_{name}", ROOT / "site" / f"{name}.py"
    )
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


prepare, conf, frames = opened("prepare"), opened("conf"), opened("frames")
SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="468pt" height="216pt"><metadata>
<dc:description xmlns:dc="http://purl.org/dc/elements/1.1/">{}</dc:description></metadata></svg>"""


@pytest.fixture
def figures(tmp_path):
    for name, text in {
        "one": "Of $n = 3$ at a rate of 0.5 in eq. 4 &amp; more. Simulation.",
        "two": "Second.",
        "none": " ",
    }.items():
        (tmp_path / f"{name}.svg").write_text(SVG.format(text))
    return tmp_path


def picture():
    return new_output(
        "display_data", data={"image/png": "iVBO", "text/plain": "<Figure>"}
    )


def shown(*cells, figures, metadata=None, **options):
    notebook = new_notebook(
        cells=[new_markdown_cell("# 99 Title\n\nThe question."), *cells],
        metadata=metadata or {},
    )
    return prepare.transformed(
        notebook, **{"name": "99_title", "figures": figures} | options
    )


def code(source, *outputs, tag=None):
    return new_code_cell(
        source, outputs=list(outputs), metadata={"tags": [tag]} if tag else {}
    )


def words(source, tag):
    return new_markdown_cell(source, metadata={"tags": [tag]})


def test_cells_are_shown_by_their_tags(figures):
    cells = shown(
        code("import importlib", tag="hosted"),
        words("**Predict.** How many?", "prediction"),
        words("**Exercise 1.** Try.", "exercise"),
        code("def f(): ...", tag="stub"),
        code("def f(): return 1", tag="solution"),
        words("**Solution.** Because:\n\n:::{note}\nso\n:::", "solution"),
        code("assert f() == 1", tag="check"),
        code("ledger.record()", new_output("stream", text="a table"), tag="ledger"),
        figures=figures,
    ).cells
    assert [cell.source for cell in cells[3:5]] == ["def f(): ...", "def f(): return 1"]
    assert (
        cells[1].source
        == ":::{admonition} Predict\n:class: tip predict\n\nHow many?\n:::"
    )
    assert cells[5].source.startswith(
        "::::{admonition} Solution\n:class: dropdown\n\nBecause:"
    )
    assert cells[5].source.endswith("\n::::")
    tags = [cell.metadata.get("tags", []) for cell in cells if cell.cell_type == "code"]
    assert tags == [["stub"], ["hide-cell"], ["check"], ["remove-input"]]
    assert cells[-1].outputs[0].text == "a table"
    assert not any("importlib" in cell.source for cell in cells)


def test_the_title_stays_first_and_the_stored_notebook_can_be_fetched(figures):
    first = shown(figures=figures).cells[0].source
    assert first.startswith("# 99 Title\n\n") and first.endswith("The question.")
    assert (
        '<a href="99_title.ipynb" download>' in first
        and '<a href="student/99_title.ipynb" download>' in first
    )


def test_how_a_figure_is_drawn_is_folded_and_its_solution_is_called_one(figures):
    draw = 'plots.save(figure, "one", caption=caption)'
    drawn, solved = shown(
        code(draw), code(draw, tag="solution"), figures=figures
    ).cells[-2:]
    assert drawn.metadata == {"tags": ["hide-input"], "mystnb": prepare.DRAWN}
    assert solved.metadata == {"tags": ["hide-cell"]}


def test_what_only_moves_is_left_out_with_its_state(figures):
    moving = new_output(
        "display_data",
        data={prepare.WIDGET: {"model_id": "x"}, "text/plain": "interactive"},
    )
    made = shown(
        code("show()", moving, new_output("stream", text="kept")),
        figures=figures,
        metadata={"widgets": {}},
    )
    assert [output.output_type for output in made.cells[1].outputs] == ["stream"]
    assert "widgets" not in made.metadata


def test_pictures_become_figures_in_their_order_with_captions_as_text(figures):
    source = (
        'plots.save(figure, "one", caption=a)\n'
        'plots.save(\n    draw(size=(1, 2)),\n    "two",\n    caption=b,\n)'
    )
    first, second = (
        shown(code(source, picture(), picture()), figures=figures).cells[1].outputs
    )
    html = first.data["text/html"]
    assert 'alt="Of n = 3 at a rate of 0.5 in eq. 4 &amp; more."' in html
    assert "<figcaption>Of <math " in html and "<mn>3</mn>" in html
    assert "</math> at a rate" in html
    assert html.count("../figures/one.svg") == 2 and 'width="468" height="216"' in html
    assert "two.svg" in second.data["text/html"] and "image/png" not in second.data


def test_a_heading_without_words_is_an_ordinary_cell(figures):
    table = "<thead><tr><th></th><th class='x'> </th><th>n</th></tr></thead>"
    output = new_output("display_data", data={"text/html": table})
    cell = shown(code("show()", output), figures=figures).cells[-1]
    expected = "<thead><tr><td></td><td class='x'></td><th>n</th></tr></thead>"
    assert cell.outputs[0].data["text/html"] == expected


def test_a_formula_that_would_be_shown_as_it_is_stops_the_site():
    assert "<mfrac>" in prepare.mathml(r"\frac{1}{2}")
    with pytest.raises(ValueError, match="MathML cannot be made of"):
        prepare.mathml(r"\nosuchcommand x")


def test_a_figure_that_is_saved_but_not_shown_is_shown_first_and_other_pictures_stay(
    figures,
):
    text = new_output("stream", text="numbers")
    hidden, other = shown(
        code('plots.save(figure, "one", caption=a)\nnumbers', text),
        code("draw()", picture()),
        figures=figures,
    ).cells[1:]
    assert (
        "one.svg" in hidden.outputs[0].data["text/html"]
        and hidden.outputs[1].text == "numbers"
    )
    assert "image/png" in other.outputs[0].data


def test_a_figure_without_a_caption_is_an_error(figures):
    with pytest.raises(ValueError, match=r"none\.svg must carry its caption"):
        prepare.caption(figures / "none.svg")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_every_figure_that_a_notebook_saves_is_found_with_its_caption(path):
    source = "\n".join(
        cell.source
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code"
    )
    names = prepare.SAVED.findall(source)
    assert len(names) == source.count("plots.save(")
    for name in names:
        assert len(prepare.caption(prepare.FIGURES / f"{name}.svg")) > 20


def test_every_widget_has_settings_or_a_calculator():
    sources = {name_of(path): path.read_text(encoding="utf-8") for path in NOTEBOOKS}
    moving = {name for name, source in sources.items() if "widgets.interact(" in source}
    assert moving <= {path.stem for path in LESSONS}
    assert frames.FRAMES.keys() <= moving <= frames.FRAMES.keys() | prepare.CALCULATORS
    assert not frames.FRAMES.keys() & prepare.CALCULATORS.keys()
    # Words, not the names of arguments, stand beside the controls.
    for chosen in frames.FRAMES.values():
        assert chosen.labels.keys() >= chosen.values.keys()
    page = (ROOT / "site" / "calculators.md").read_text(encoding="utf-8")
    assert all(f'id="{place}"' in page for place in prepare.CALCULATORS.values())


DRAW = """import ipywidgets as widgets
import jinja2
import matplotlib.pyplot as plt
import fairlib
from fairlib import atlas, plots
plots.use_style()
def draw(share=0.5, kind="<a>", narrow=False):
    figure, ax = plt.subplots(figsize=(1 if narrow else 2, 1))
    ax.plot([0, share], label=f"at {share}")
    ax.set_title("the same")
    ax.legend(title=kind)
    return figure"""
INTERACT = "widgets.interact(lambda **chosen: plt.show(draw(**chosen)), {});"
SHARE = "share=widgets.FloatSlider(0.5, min=0, max=1, step=0.1)"
SAVE = """caption = 'A line that is simulated at one half. Data:\\nnone.'
plots.save(draw(), "99_line", caption=caption)"""
TWO = frames.Frames(
    "A simulated line.", {"share": (0.1, 0.5, 1.0)}, {"share": "Share of the line"}
)


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """Draw the frames of a small notebook, whose own figure is there already."""
    monkeypatch.setattr(plots, "FIGURES", tmp_path)
    with plt.rc_context():
        exec(f"{DRAW}\n{SAVE}", {})

    def run(controls, chosen=TWO, call=INTERACT):
        cells = [
            code(DRAW),
            code(call.format(controls), tag="widget"),
            code(SAVE),
            code("1 / 0"),
        ]
        nbformat.write(new_notebook(cells=cells), tmp_path / "99_title.ipynb")
        folder = tmp_path / "frames" / "99_title"
        count = frames.draw(tmp_path / "99_title.ipynb", chosen, folder)
        page = (folder / "controls.html").read_text(encoding="utf-8")
        data = re.search(r'<script type="application/json">(.*)</script>', page)[1]
        return count, folder, page, json.loads(data)

    return run


def test_every_combination_of_values_has_its_picture_and_the_first_is_the_notebooks(
    drawn, tmp_path
):
    before = (tmp_path / "99_line.svg").read_bytes()
    count, folder, page, facts = drawn(f'{SHARE}, kind=["<a>", "b"]')
    keys = {f"{share}-{kind}" for share in range(3) for kind in range(2)}
    assert (
        count == 6
        and {path.stem for path in folder.glob("*.svg")} == keys == facts["said"].keys()
    )
    assert facts["options"] == [["0.1", "0.5", "1.0"], ["<a>", "b"]]
    assert (
        'max="2" value="1"' in page
        and '<option value="0" selected>&lt;a&gt;</option>' in page
    )
    assert facts["said"]["2-1"] == "at 1.0"
    assert "<span>Share of the line</span>" in page and "<span>kind</span>" in page
    assert facts["caption"] == prepare.caption(folder / "1-0.svg").removeprefix(
        "Share of the line 0.5; kind <a>. "
    )
    assert facts["caption"] == "A simulated line. Data: none."
    pictures = {
        path.stem: re.sub("<dc:desc.*?>.*?<", "", path.read_text(), flags=re.DOTALL)
        for path in folder.glob("*.svg")
    }
    assert pictures["1-0"] == re.sub(
        "<dc:desc.*?>.*?<", "", before.decode(), flags=re.DOTALL
    )
    assert len({*pictures.values()}) == 6
    assert (tmp_path / "99_line.svg").read_bytes() == before


def test_on_phones_controls_choose_among_narrow_pictures(drawn, tmp_path):
    save = SAVE.replace("draw()", "draw(narrow=True)").replace("line", "line_narrow")
    with plt.rc_context():
        exec(f"{DRAW}\n{save.replace('A line_narrow', 'A line')}", {})
    count, folder, _, facts = drawn(SHARE)
    assert count == 3 and facts["narrow"] == "_narrow"
    names = {path.stem for path in folder.glob("*.svg")}
    assert names == {"0", "1", "2", "0_narrow", "1_narrow", "2_narrow"}
    first = (folder / "1_narrow.svg").read_text(encoding="utf-8")
    assert "Share of the line 0.5." in first and 'width="72pt"' in first


def test_a_first_setting_that_shows_another_picture_is_an_error(drawn, tmp_path):
    (tmp_path / "99_line.svg").write_text("<svg/>")
    with pytest.raises(
        ValueError, match="the first setting of a widget must show 99_line.svg"
    ):
        drawn(SHARE)


@pytest.mark.parametrize(
    ("controls", "values", "message"),
    [
        ("share=True", {}, "control 'share' must be one of .*Dropdown.*found Checkbox"),
        (
            SHARE,
            {"share": (0.5, 0.55)},
            "values of control 'share' must be .*and 0.5 among them",
        ),
        (SHARE, {"share": (0.5, 1.1)}, "values of control 'share'"),
        (SHARE, {"share": (0.1, 0.2)}, "values of control 'share'"),
        (SHARE, {}, "values of control 'share'"),
        ('kind=["a", "b"]', {"kind": ("a", "c")}, "values of control 'kind'"),
        (
            SHARE,
            {"share": (0.5,), "other": (1,)},
            "controls \\['share'\\], found \\['other'\\]",
        ),
    ],
)
def test_a_control_that_the_site_cannot_have_is_refused_by_its_name(
    drawn, controls, values, message
):
    with pytest.raises(ValueError, match=message):
        drawn(controls, frames.Frames("A line.", values))


def test_what_a_widget_writes_is_kept_as_it_is_shown(drawn):
    call = """import pandas as pd
def tell(word):
    print("<none>") if word == "no" else display(pd.DataFrame({{"here": [word]}}))
widgets.interact(tell, word=["no", "yes"]);"""
    count, folder, page, facts = drawn("", frames.Frames("A table.", {}), call)
    assert count == 2 and not [*folder.glob("*.svg")]
    assert facts["tables"]["0"] == "<p>&lt;none&gt;</p>"
    assert (
        "<td>yes</td>" in facts["tables"]["1"] and "<style" not in facts["tables"]["1"]
    )
    assert page.count("</script>") == 1


def test_controls_stand_with_their_picture_in_the_place_of_a_widget(drawn, tmp_path):
    drawn(SHARE)
    cells = [
        words("How much?", "question"),
        code("interact()", tag="widget"),
        code(SAVE, picture()),
    ]
    _, _, place, after = shown(
        *cells, figures=tmp_path, frames=tmp_path / "frames"
    ).cells
    assert re.search(
        r'<figure class="drawn">\s<form .* hidden>.*</form>\s*'
        r'<a href="../figures/99_line.svg">',
        place.source,
        re.S,
    )
    assert '<figcaption><span class="words">A line that is' in place.source
    assert after.outputs == [] and after.metadata["tags"] == ["hide-input"]
    with pytest.raises(
        ValueError, match="99_title must have its widget's settings in site/frames.py"
    ):
        shown(*cells, figures=tmp_path, frames=tmp_path / "other")
    name = "08_what_amplification_measures"
    *_, place, after = shown(*cells, figures=tmp_path, name=name).cells
    assert (
        "../calculators.html#painting-calculator" in place.source
        and len(after.outputs) == 1
    )


def test_links_lead_to_pages_or_are_only_text():
    pages = {
        "ledger": "/ledger.md",
        "02_curve": "/notebooks/02_curve.ipynb",
        "dossier/02_curve": "/notebooks/dossier/02_curve.ipynb",
    }
    elsewhere = "[d](https://e.org) ![e](f.png)"
    text = (
        "[a](../figures/ledger.md#x) [b](notebooks/02_curve.ipynb) [c](.github/FORM) "
        f"[f](notebooks/dossier/02_curve.ipynb) {elsewhere}"
    )
    expected = (
        "[a](/ledger.md) [b](/notebooks/02_curve.ipynb) c "
        f"[f](/notebooks/dossier/02_curve.ipynb) {elsewhere}"
    )
    assert prepare.linked(text, pages) == expected


def test_every_page_stands_in_the_contents_once():
    pages = {f"notebooks/{name_of(path)}" for path in NOTEBOOKS} | {
        "api",
        "ledger",
        "a_page_of_its_own",
        "index",
    }
    text = prepare.toctrees(pages)
    listed = re.findall(r"^(?!:|```)(\S+)$", text, flags=re.MULTILINE)
    assert sorted(listed) == sorted(pages - {"index"})
    assert listed[-1] == "a_page_of_its_own"
    assert (
        text.index("notebooks/00_")
        < text.index('"Dossiers')
        < text.index("dossier/07a_")
        < text.index("dossier/10a_")
        < text.index('"The record')
    )


def test_the_ledger_has_every_number_paper_by_paper():
    rows = prepare.ledger_rows(TABLE)
    assert sorted(row["id"] for row in rows) == sorted(TABLE["id"])
    papers = [row["paper"] for row in rows]
    assert papers == sorted(papers) and set(papers) == {"Paper 1", "Paper 2", "Paper 3"}
    assert {row["apart"] for row in rows} == {"", "cannot fail", "our own check"}
    assert {path.stem for path in ROOT.glob("data/published/*.csv")} - {
        "experiments"
    } == set(prepare.PAPERS)


def test_docstrings_are_put_into_a_form_that_sphinx_reads():
    lines = [
        "Say *it*, |A|, `a_b`s.",
        "",
        "first, second : what it is",
        "    and more_.",
        "third : [0, 1].",
        "",
        ">>> f(1)",
        "a : b_c",
        "",
        "no : item here",
        "as it goes on.",
    ]
    conf.as_rst(None, "function", "f", None, None, lines)
    assert lines == [
        r"Say \*it\*, \|A\|, `a_b`\ s.",
        "",
        "",
        "``first, second``",
        "    what it is",
        r"    and more\_.",
        "",
        "``third``",
        "    [0, 1].",
        "",
        ">>> f(1)",
        "a : b_c",
        "",
        "no : item here",
        "as it goes on.",
    ]


def test_sections_of_docstrings_have_headings_and_their_types_stand_beside_the_names():
    lines = [
        "Return |x|.",
        "",
        "Parameters",
        "----------",
        "cost_a, cost_b : array_like of float",
        "    Costs; see `f`.",
        "",
        "Raises",
        "------",
        "ValueError",
        "    If not.",
        "",
        "Examples",
        "--------",
        ">>> f(1)",
        "a : b_c",
    ]
    conf.as_rst(None, "function", "f", None, None, lines)
    assert lines == [
        r"Return \|x\|.",
        "",
        "**Parameters**",
        "",
        r"``cost_a, cost_b`` : array\_like of float",
        "    Costs; see `f`.",
        "",
        "**Raises**",
        "",
        "ValueError",
        "    If not.",
        "",
        "**Examples**",
        "",
        ">>> f(1)",
        "a : b_c",
    ]


def test_the_sites_packages_are_pinned_and_agree_with_the_others():
    texts = [
        (ROOT / path).read_text(encoding="utf-8")
        for path in ("requirements.lock", "site/requirements.lock")
    ]
    main, site = (
        dict(re.findall(r"^([a-z0-9._-]+)==([^ ;]+)(?= \\)", text, flags=re.MULTILINE))
        for text in texts
    )
    assert "://" not in texts[1]
    assert {"sphinx", "sphinx-book-theme", "myst-nb", "playwright"} <= set(
        re.findall(r"^([\w.-]+)==", texts[1], re.M)
    )
    for block in re.split(r"\n(?=[a-z])", texts[1]):
        assert "--hash=sha256:" in block, block.splitlines()[0]
    assert not {
        name: (main[name], site[name])
        for name in main.keys() & site.keys()
        if main[name] != site[name]
    }
    assert "sphinx" not in texts[0]


def test_the_switchboard_has_every_choice_and_the_verdict_of_the_ledger():
    questions = prepare.choices(TABLE)
    statuses = TABLE.set_index("id")["status"]
    assert len(questions) >= 6
    for question in questions:
        assert question["status"] == statuses[question["claim"]]
        holds = {choice["holds"] for choice in question["choices"]}
        # A verdict that another choice would change is no verdict.
        if holds == {True, False}:
            assert question["status"] in ("inconclusive", "differs"), question["claim"]


def test_the_table_of_benchmarks_has_every_card_and_what_it_can_show():
    rows = {row["name"]: row for row in prepare.benchmark_table.rows()}
    assert sorted(rows) == sorted(atlas.names())
    for name, row in rows.items():
        is_open = atlas.card(name).status == "open"
        assert bool(row["reason"]) == is_open, name
        assert bool(row["like_these"]) != is_open, name

    winobias = fairlib.benchmark("winobias")
    assert rows["winobias"]["items"].startswith("3,168 ")
    assert float(rows["winobias"]["like_these"]) == round(
        100 * winobias.smallest_bias, 1
    )
    template = jinja2.Template((ROOT / "site" / "benchmarks.md").read_text())
    page = template.render(benchmarks=rows.values())
    assert page.count("<tr id=") == len(rows)
    assert page.count('data-status="open"') == sum(
        row["status"] == "open" for row in rows.values()
    )
