"""Prepare the pages of the site in build/site: notebooks, the ledger, and the rest.

The tags of a notebook's cells decide how each cell is shown.

python site/prepare.py   (`make site` calls it, and then Sphinx)
"""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Collection
from html import escape, unescape
from itertools import zip_longest
from pathlib import Path
from xml.etree import ElementTree

import benchmark_table
import jinja2
import nbformat
import pandas as pd
import play
from mathematics import mathml

import fairlib
from fairlib import atlas, coverage, ledger
from fairlib.data import FIGURES, ROOT

sys.path.insert(0, str(ROOT / "notebooks"))
from pages import NARROW, SAVED, WIDEST_PHONE, caption, in_place

HERE = Path(__file__).resolve().parent
NOTEBOOKS = ROOT / "notebooks"
BUILT = ROOT / "build" / "site"
FRAMES = ROOT / "build" / "frames"
PAPERS = {
    "ethayarajh2020": "Paper 1",
    "czarnowska2021": "Paper 2",
    "wang2021": "Paper 3",
}
AUTHORS = {
    "Paper 1": "Ethayarajh 2020: how sure can one be?",
    "Paper 2": "Czarnowska, Vyas and Shah 2021: which measure?",
    "Paper 3": "Wang and Russakovsky 2021: is bias amplified?",
}
# The groups of the table of contents: title -> the beginnings of the notebooks' names,
# and the names of other pages
GROUPS = {
    "Start": (("00",), ("games", "calculators")),
    "Audit your own classifier": ((), ("your_own_data", "audit")),
    "Lessons on paper 1: how sure?": (("01", "02", "03"), ()),
    "Lessons on paper 2: which measure?": (("04", "05", "06", "07"), ()),
    "Lessons on paper 3: amplified?": (("08", "09", "10", "11", "12"), ()),
    "Lessons beyond the papers": (("1", "2"), ()),
    "Dossiers: the evidence": (("dossier/",), ()),
    "The atlas: what can be shown?": (
        (),
        ("benchmarks", "published_audits", "which_interval"),
    ),
    "The record": ((), ("ledger", "found_in_the_papers", "checked_against")),
    "The package": (
        (),
        ("data_and_models", "api", "layout", "CONTRIBUTING"),
    ),
}
# Lessons whose widget, if they have one, has a calculator of its own -> its place on
# that page
CALCULATORS = {
    "02_winobias_curve": "sample-size-calculator",
    "08_what_amplification_measures": "painting-calculator",
}
DOCUMENTS = (
    "docs/found_in_the_papers.md",
    "docs/checked_against.md",
    "docs/published_audits.md",
    "benchmarks/which_interval.md",
    "docs/your_own_data.md",
    "docs/data_and_models.md",
    "docs/layout.md",
    "CONTRIBUTING.md",
)
PICTURES = ("bias_or_luck.svg", "audit_page.png")
EMPTY_HEADING = re.compile(r"<th(\s[^>]*)?>(?:\s|&nbsp;)*</th>")
WIDGET = "application/vnd.jupyter.widget-view+json"
DRAWN = {
    "code_prompt_show": "Show how it is drawn",
    "code_prompt_hide": "Hide how it is drawn",
}
HIDDEN = {"ledger": "remove-input", "solution": "hide-cell"}  # tag -> tag for Sphinx


def to_root(name: str) -> str:
    """Return the way from a notebook's page to the folder above all pages."""
    return "../" * (1 + name.count("/"))


def figure_html(figure: Path, *, above: str = "../") -> str:
    """Return a figure as HTML: its SVG, linked, with its caption as text.

    The finding is the text in place of the picture. `above` is the way from the page to
    the folder above `figures`. On phones the figure's narrow variant is shown, if
    there is one.
    """
    text = caption(figure)
    words = in_place(figure)
    caption_html = re.sub(
        r"\$(.+?)\$",
        lambda formula: mathml(unescape(formula[1])),
        escape(text),
    )

    svg = ElementTree.parse(figure).getroot()
    width = svg.get("width").removesuffix("pt")
    height = svg.get("height").removesuffix("pt")
    folder = "figures/dossier" if figure.parent.name == "dossier" else "figures"
    address = f"{above}{folder}/{figure.name}"
    # Not lazy: a picture that waits to be seen is left out when the page is printed.
    picture = (
        f'<img src="{address}" alt="{escape(words)}" width="{width}" height="{height}">'
    )
    narrow = figure.with_stem(f"{figure.stem}{NARROW}")
    if narrow.exists():
        source = f'<source media="(max-width: {WIDEST_PHONE}px)"'
        source += f' srcset="{above}{folder}/{narrow.name}">'
        picture = f"<picture>{source}{picture}</picture>"
    return (
        f'<figure class="drawn"><a href="{address}">{picture}</a>\n'
        f"<figcaption>{caption_html}</figcaption></figure>"
    )


def moved(name: str, figure: Path, frames: Path) -> str:
    """Return what replaces a notebook's widget: a calculator, or controls."""
    if name in CALCULATORS:
        return (
            f'<p class="fetch"><a href="../calculators.html#{CALCULATORS[name]}">'
            "A page of its own</a> has a calculator for it that needs no Python.</p>"
        )

    controls = frames / name / "controls.html"
    if not controls.exists():
        raise ValueError(
            f"{name} must have its widget's settings in site/frames.py, "
            "or a calculator; found neither"
        )

    # The script writes the words of a setting into the empty, hidden span.
    if any(controls.parent.glob("*.svg")):
        drawn = (
            figure_html(figure)
            .replace("<figcaption>", '<figcaption><span class="words">')
            .replace(
                "</figcaption>",
                '</span><span class="words" hidden></span></figcaption>',
            )
        )
    else:
        table = '<div class="chosen cell_output" aria-live="polite"></div>'
        drawn = f'<figure class="drawn cell">{table}<figcaption></figcaption></figure>'

    opening, rest = drawn.split(">", 1)
    form = controls.read_text(encoding="utf-8")
    return f"```{{raw}} html\n{opening}>\n{form}{rest}\n```"


def outputs_of(
    cell, figures: Path, *, above: str = "../", without: Collection[str] = ()
) -> list:
    """Return a cell's outputs for the site, without widgets.

    Pictures that the cell saves are replaced by the saved figures, in their order,
    except for those named in `without`. Saved figures that the cell does not show come
    first.
    """
    names = [
        name
        for name in SAVED.findall(cell.source)
        if name not in without and not name.endswith(NARROW)
    ]
    saves_figures = SAVED.search(cell.source) is not None

    kept = []
    for output in cell.outputs:
        data = output.get("data", {})
        if WIDGET in data:
            continue
        if not (saves_figures and "image/png" in data):
            kept.append(_with_named_headings(output))
        elif names:
            figure = figures / f"{names.pop(0)}.svg"
            kept.append(_html(figure_html(figure, above=above)))

    not_shown = [
        _html(figure_html(figures / f"{name}.svg", above=above)) for name in names
    ]
    return not_shown + kept


def _with_named_headings(output):
    """Return an output whose table has no empty headings: they become empty cells."""
    if "text/html" not in output.get("data", {}):
        return output
    html = EMPTY_HEADING.sub(r"<td\1></td>", output.data["text/html"])
    return nbformat.from_dict(output | {"data": output.data | {"text/html": html}})


def _html(text: str):
    """Return an output that shows this HTML."""
    return nbformat.v4.new_output("display_data", data={"text/html": text})


def admonition(title: str, text: str, kind: str) -> str:
    """Return text in a box; its fence is longer than any in the text."""
    fences = re.findall(r"^:+", text, flags=re.MULTILINE)
    fence = ":" * max([3, *(len(inner) + 1 for inner in fences)])
    return f"{fence}{{admonition}} {title}\n:class: {kind}\n\n{text}\n{fence}"


def transformed(notebook, *, name: str, figures: Path = FIGURES, frames: Path = FRAMES):
    """Return a notebook as the site shows it: each cell as its tags say."""
    cells = []
    drawn_by_widget = set()  # figures that a widget's place shows already
    for cell, after in zip_longest(notebook.cells, notebook.cells[1:]):
        tags = set(cell.metadata.get("tags", []))

        if "widget" in tags:
            # The cell behind a widget saves its picture.
            *_, figure = SAVED.findall(after.source)
            text = moved(name, figures / f"{figure}.svg", frames)
            cells.append(nbformat.v4.new_markdown_cell(text))
            if "<img" in text:
                drawn_by_widget.add(figure)
        elif not tags & {"hosted", "yours"}:
            shown = nbformat.from_dict(cell)
            shown.metadata = nbformat.NotebookNode()
            if cell.cell_type == "code":
                shown.outputs = outputs_of(
                    shown, figures, above=to_root(name), without=drawn_by_widget
                )
                shown.metadata |= _metadata_of_code(cell.source, tags)
            else:
                shown.source = _boxed(cell.source, tags)
            cells.append(shown)

    cells[0].source = _with_downloads(cells[0].source, name)
    metadata = {
        key: value for key, value in notebook.metadata.items() if key != "widgets"
    }
    return nbformat.from_dict(notebook | {"cells": cells, "metadata": metadata})


def _metadata_of_code(source: str, tags: set[str]) -> dict:
    """Return the metadata that tell Sphinx which part of a code cell to hide."""
    kept = [HIDDEN[tag] for tag in sorted(tags & HIDDEN.keys())]
    kept += sorted(tags & {"stub", "check"})

    # How a figure is drawn is for those who ask.
    if SAVED.search(source) and not kept:
        return {"tags": ["hide-input"], "mystnb": DRAWN}
    return {"tags": kept}


def _boxed(source: str, tags: set[str]) -> str:
    """Return the text of a prediction or a solution in its box; other text as it is."""
    if "prediction" in tags:
        text = re.sub(r"^\*\*Predict\.\*\*\s*", "", source)
        return admonition("Predict", text, "tip predict")
    if "solution" in tags:
        text = re.sub(r"^\*\*Solutions?\.?\*\*\.?\s*", "", source)
        return admonition("Solution", text, "dropdown")
    return source


def _with_downloads(source: str, name: str) -> str:
    """Return a notebook's first cell with links to the notebook behind the title."""
    title, _, rest = source.partition("\n")
    stem = Path(name).name
    students = "."
    if stem == name:
        students = (
            f', or <a href="student/{stem}.ipynb" download>its copy without '
            "solutions</a>."
        )
    download = (
        f'<p class="fetch"><a href="{stem}.ipynb" download>Download this notebook</a> '
        f"and run it yourself{students}</p>"
    )
    return f"{title}\n\n{download}\n\n{rest}"


def linked(text: str, pages: dict[str, str]) -> str:
    """Return a document whose links to files lead to their pages, or are only text."""

    def lead(link: re.Match) -> str:
        words, target = link.groups()
        if target.startswith(("http", "#")):
            return link.group()
        path = Path(target.split("#")[0])
        in_dossier = "dossier/" if path.parent.name == "dossier" else ""
        page = pages.get(f"{in_dossier}{path.stem}")
        return f"[{words}]({page})" if page else words

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", lead, text)


def ledger_rows(table: pd.DataFrame) -> list[dict]:
    """Return the ledger's rows for the page, paper by paper."""
    paper = table["id"].str.split("/").str[0].map(PAPERS)
    apart = table["apart"].map(
        {"": "", "definition": "cannot fail", "ours": "our own check"}
    )
    rows = table.assign(paper=paper, apart=apart).sort_values("paper", kind="stable")
    return rows.to_dict("records")


def choices(table: pd.DataFrame) -> list[dict]:
    """Return the verdicts that hang on a choice, with every choice that was tried."""
    paths = sorted(FIGURES.glob("dossier/*_choices.csv"))
    tried = pd.concat([pd.read_csv(path) for path in paths], ignore_index=True)
    rows = table.set_index("id")

    questions = []
    for claim, group in tried.groupby("claim", sort=False):
        columns = group[["choice", "value", "low", "high", "holds"]]
        questions.append(
            {
                "claim": claim,
                "question": rows.loc[claim, "quantity"],
                "source": PAPERS[claim.split("/")[0]],
                "status": rows.loc[claim, "status"],
                "choices": json.loads(columns.to_json(orient="records")),
            }
        )
    return questions


def winobias() -> dict[str, float]:
    """Return what WinoBias can show, in points, for the first page."""
    report = fairlib.benchmark("winobias")
    planning = report.planning.set_index(["question", "assumption"])["smallest_bias"]
    return {
        "clusters": report.card.clusters.number,
        "like_these": round(100 * report.smallest_bias),
        "these": round(100 * planning["these", "items are independent"]),
    }


def facts(notebooks: dict[str, str]) -> dict:
    """Return what the pages' templates may show.

    Every number is computed here, or read from what was computed.
    """
    table = pd.read_csv(FIGURES / "ledger.csv", dtype=str, keep_default_na=False)
    verdicts = _verdicts(table)

    page = (FIGURES / "ledger.md").read_text(encoding="utf-8")
    statuses = re.findall(r"^- \*\*(\w+)\*\*: (.*)", page, flags=re.MULTILINE)
    rules = [
        line for line in page.splitlines() if line.startswith("An experiment is judged")
    ]

    return {
        "bound": coverage.observed_size("bernstein_maximal", error=0.2),
        "exact": coverage.observed_size("exact_unconditional", error=0.2),
        "fair_flagged": round(100 * play.often_unfair(points=0)["dashboard"]),
        "winobias": winobias(),
        "counted_benchmarks": sum(
            atlas.card(name).status == "counted" for name in atlas.names()
        ),
        "sentence": ledger.sentence(verdicts),
        "experiments": verdicts.to_dict("records"),
        "rows": ledger_rows(table),
        "choices": json.dumps(choices(table)).replace("<", "\\u003c"),
        "statuses": dict(statuses),
        "rule": rules[0],
        "papers": AUTHORS,
        "api": api(),
        "lessons": {
            name: title
            for name, title in notebooks.items()
            if not name.startswith("dossier/")
        },
        "dossiers": {
            name: title
            for name, title in notebooks.items()
            if name.startswith("dossier/")
        },
        "paths": _paths(),
        "metrics": fairlib.METRICS,
        "methods": fairlib.bounds.METHODS,
        "figure": lambda name: figure_html(FIGURES / f"{name}.svg", above=""),
    }


def _verdicts(table: pd.DataFrame) -> pd.DataFrame:
    """Return the experiments' verdicts, with their paper and what was original."""
    verdicts = ledger.verdicts(table).reset_index()
    verdicts["paper"] = verdicts["experiment"].str.split("/").str[0].map(PAPERS)
    verdicts["kind_order"] = verdicts["kind"].map(ledger.KINDS.index)
    is_original = verdicts[["data", "model", "suite", "code"]] == "original"
    verdicts["original"] = is_original.apply(lambda row: [*row.index[row]], axis=1)
    return verdicts


def _paths() -> list[str]:
    """Return the ways through the notebooks that the first notebook proposes."""
    start = NOTEBOOKS / "00_start_here.ipynb"
    if not start.exists():
        return []
    for cell in nbformat.read(start, as_version=4).cells:
        if cell.id == "paths":
            return re.findall(r"^- .*(?:\n  .*)*", cell.source, flags=re.MULTILINE)
    return []


def api() -> list[dict]:
    """Return the groups of the page of names: title, text, and what they offer."""
    text = (ROOT / "site" / "api.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["group"]


def toctrees(pages: set[str]) -> str:
    """Return the tables of contents, group by group.

    Pages that belong to no group come last, in the last group.
    """
    left = {page for page in pages if page != "index"}
    lines = []
    for title, (numbers, others) in GROUPS.items():
        prefixes = tuple(f"notebooks/{number}" for number in numbers)
        members = sorted(page for page in left if page.startswith(prefixes))
        members += [page for page in others if page in left]
        left -= set(members)

        if title == list(GROUPS)[-1]:
            members += sorted(left)
        if members:
            lines += ["```{toctree}", ":hidden:", f':caption: "{title}"', ""]
            lines += [*members, "```", ""]

    return "\n".join(lines)


def copy_files(extra: Path, stored: list[Path]) -> None:
    """Copy what the site shows or offers as it is: figures, frames and notebooks."""
    not_png = shutil.ignore_patterns("*.png")
    shutil.copytree(FIGURES, extra / "figures", ignore=not_png)
    not_html = shutil.ignore_patterns("done", "*.html")
    shutil.copytree(FRAMES, extra / "frames", ignore=not_html)

    (extra / "notebooks" / "dossier").mkdir()
    for path in stored:
        shutil.copy(path, extra / "notebooks" / path.relative_to(NOTEBOOKS))
    lessons = [path for path in stored if path.parent == NOTEBOOKS]
    runner = NOTEBOOKS / "execute.py"
    folder = extra / "notebooks" / "student"
    command = [sys.executable, runner, "--student", folder, *lessons]
    subprocess.run([str(part) for part in command], check=True)


def write_notebooks(source: Path, stored: list[Path]) -> dict[str, str]:
    """Write the executed notebooks as the site shows them; return their titles."""
    titles = {}
    (source / "notebooks" / "dossier").mkdir()
    for path in stored:
        below = path.relative_to(NOTEBOOKS)
        name = below.with_suffix("").as_posix()
        notebook = nbformat.read(ROOT / "build" / below, as_version=4)
        first_line = notebook.cells[0].source.splitlines()[0]
        titles[name] = first_line.removeprefix("# ")
        page = transformed(notebook, name=name)
        nbformat.write(page, source / "notebooks" / below)
    return titles


def write_pages(source: Path, titles: dict[str, str]) -> None:
    """Write the other pages: templates, filled in, and documents of the checkout."""
    texts = {
        path.name: path.read_text(encoding="utf-8")
        for path in sorted(HERE.glob("*.md"))
    }
    documents = [ROOT / name for name in DOCUMENTS]
    pages = {
        Path(name).stem: f"/{name}"
        for name in [*texts, *(document.name for document in documents)]
    }
    pages |= {name: f"/notebooks/{name}.ipynb" for name in titles}
    for document in documents:
        if document.exists():
            text = document.read_text(encoding="utf-8")
            texts[document.name] = linked(text, pages)

    known = facts(titles)
    known["benchmarks"] = benchmark_table.rows()
    known["toctrees"] = toctrees(
        {f"notebooks/{name}" for name in titles} | {Path(name).stem for name in texts}
    )
    for name, text in texts.items():
        page = text
        if (HERE / name).exists() and "{#- a template -#}" in text:
            template = jinja2.Template(
                text, undefined=jinja2.StrictUndefined, autoescape=False
            )
            page = template.render(known)
        (source / name).write_text(page, encoding="utf-8")


def main() -> None:
    """Write build/site/source, which Sphinx reads, and extra, which it copies."""
    source = BUILT / "source"
    extra = BUILT / "extra"
    for folder in (source, extra):
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "notebooks").mkdir(parents=True)

    lessons = sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))
    stored = [*lessons, *sorted(NOTEBOOKS.glob("dossier/[0-9]*.ipynb"))]
    copy_files(extra, stored)
    play.write(extra / "play")
    for folder in (source, extra):
        (folder / "pictures").mkdir()
        for name in PICTURES:
            shutil.copy(ROOT / "docs" / name, folder / "pictures")
    titles = write_notebooks(source, stored)
    write_pages(source, titles)


if __name__ == "__main__":
    main()
