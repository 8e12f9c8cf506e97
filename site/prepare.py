"""Prepare the pages of the site in build/site: the executed notebooks by the tags of their cells, the ledger, the rest.

python site/prepare.py   (`make site` calls it, and then Sphinx)
"""

import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from html import escape
from itertools import zip_longest
from pathlib import Path
from xml.etree import ElementTree

import jinja2
import nbformat
import pandas as pd

import fairlib
from fairlib import coverage, ledger
from fairlib.data import ROOT

HERE = Path(__file__).resolve().parent
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
GROUPS = {  # title -> which notebooks, and which other pages
    "Start": (("00",), ("calculators",)),
    "Paper 1: how sure?": (("01", "02"), ()),
    "Paper 2: which measure?": (("03", "04", "05"), ()),
    "Paper 3: amplified?": (("06", "07", "08", "09"), ()),
    "Beyond the papers": (("1",), ("audit",)),
    "The record": ((), ("ledger", "found_in_the_papers", "checked_against")),
    "The package": ((), ("api", "CONTRIBUTING")),
}
CALCULATORS = {  # the notebooks whose widget the page of calculators has, and where
    "02_winobias_curve": "sample-size-calculator",
    "06_what_amplification_measures": "painting-calculator",
    "10a_tighter_intervals": "width-calculator",
}
DOCUMENTS = (
    "docs/found_in_the_papers.md",
    "docs/checked_against.md",
    "CONTRIBUTING.md",
)
WIDGET = "application/vnd.jupyter.widget-view+json"
DRAWN = {
    "code_prompt_show": "Show how it is drawn",
    "code_prompt_hide": "Hide how it is drawn",
}
SAVED = re.compile(
    r"""plots\.save\([^"']*["']([^"']+)["']"""
)  # the name of a figure that a cell writes


def caption(figure: Path) -> str:
    """Return the caption that an SVG carries as its description."""
    found = ElementTree.parse(figure).find(
        ".//{http://purl.org/dc/elements/1.1/}description"
    )
    if found is None or not (found.text or "").strip():
        raise ValueError(
            f"{figure.name} must carry its caption as its description; `plots.save` writes it"
        )
    return " ".join(found.text.split())


def figure_html(figure: Path, *, to_root: str = "../", eager: bool = False) -> str:
    """Return a figure with its SVG, linked, its caption as text, and the caption's first sentence in place of it."""
    text = caption(figure)
    short = re.split(r"(?<=[^.\d][.:]) (?=[A-Z])", text.replace("$", ""))[0]
    width, height = (
        ElementTree.parse(figure).getroot().get(side).removesuffix("pt")
        for side in ("width", "height")
    )
    shown = re.sub(
        r"\$(.+?)\$",
        r'<span class="math notranslate nohighlight">\(\1\)</span>',
        escape(text),
    )
    address, lazy = (
        f"{to_root}figures/{figure.name}",
        "" if eager else ' loading="lazy"',
    )
    picture = f'<img src="{address}" alt="{escape(short)}" width="{width}" height="{height}"{lazy}>'
    return f'<figure class="drawn"><a href="{address}">{picture}</a>\n<figcaption>{shown}</figcaption></figure>'


def moved(name: str, figure: Path, frames: Path) -> str:
    """Return what stands in the place of a notebook's widget: a calculator, or controls with what they change."""
    if place := CALCULATORS.get(name):
        words = "has a calculator for it that needs no Python."
        return f'<p class="fetch"><a href="../calculators.html#{place}">A page of its own</a> {words}</p>'
    controls = frames / name / "controls.html"
    if not controls.exists():
        raise ValueError(
            f"{name} must have its widget's settings in site/frames.py, or a calculator; found neither"
        )
    table = '<div class="chosen cell_output" aria-live="polite"></div>'
    drawn = f'<figure class="drawn cell">{table}<figcaption></figcaption></figure>'
    if any(controls.parent.glob("*.svg")):
        drawn = figure_html(figure).replace(
            "<figcaption>", '<figcaption><span class="words">'
        )
        drawn = drawn.replace(
            "</figcaption>", '</span><span class="words" hidden></span></figcaption>'
        )
    inside = drawn.replace(">", ">\n" + controls.read_text(encoding="utf-8"), 1)
    return f"```{{raw}} html\n{inside}\n```"


def outputs_of(cell, figures: Path, *, without: Iterable[str] = ()) -> list:
    """Return a cell's outputs: pictures that it saves as figures, in their order, and nothing that only moves."""
    names = [name for name in SAVED.findall(cell.source) if name not in without]
    kept = []
    for output in cell.outputs:
        if WIDGET in output.get("data", {}):
            continue
        if "image/png" in output.get("data", {}) and SAVED.search(cell.source):
            if not names:
                continue
            output = _html(figure_html(figures / f"{names.pop(0)}.svg"))
        kept.append(output)
    return [_html(figure_html(figures / f"{name}.svg")) for name in names] + kept


def _html(text: str):
    return nbformat.v4.new_output("display_data", data={"text/html": text})


def admonition(title: str, text: str, kind: str) -> str:
    """Return text in a box; its fence is longer than any in the text."""
    fence = ":" * max(
        3,
        *(len(found) + 1 for found in re.findall(r"^:+", text, flags=re.MULTILINE)),
        3,
    )
    return f"{fence}{{admonition}} {title}\n:class: {kind}\n\n{text}\n{fence}"


def transformed(
    notebook, *, name: str, figures: Path = ledger.FIGURES, frames: Path = FRAMES
):
    """Return a notebook as the site shows it: cells by their tags, figures as linked SVGs with captions as text."""
    cells, shown = [], set()
    for cell, after in zip_longest(notebook.cells, notebook.cells[1:]):
        tags = set(cell.metadata.get("tags", []))
        if "widget" in tags:  # the cell behind it saves its picture
            (drawn,) = SAVED.findall(after.source)
            cells.append(
                nbformat.v4.new_markdown_cell(
                    moved(name, figures / f"{drawn}.svg", frames)
                )
            )
            shown |= {drawn} if "<img" in cells[-1].source else set()
        if tags & {"hosted", "widget"}:
            continue
        cell = nbformat.from_dict(cell)
        cell.metadata = nbformat.NotebookNode()
        if cell.cell_type == "code":
            cell.outputs = outputs_of(cell, figures, without=shown)
            hidden = {"ledger": "remove-input", "solution": "hide-cell"}
            tags_kept = [hidden[tag] for tag in sorted(tags & set(hidden))] + sorted(
                tags & {"stub", "check"}
            )
            cell.metadata["tags"] = tags_kept
            if (
                SAVED.search(cell.source) and not tags_kept
            ):  # how a figure is drawn is for those who ask
                cell.metadata |= {"tags": ["hide-input"], "mystnb": DRAWN}
        elif "prediction" in tags:
            cell.source = admonition(
                "Predict",
                re.sub(r"^\*\*Predict\.\*\*\s*", "", cell.source),
                "tip predict",
            )
        elif "solution" in tags:
            text = re.sub(r"^\*\*Solutions?\.?\*\*\.?\s*", "", cell.source)
            cell.source = admonition("Solution", text, "dropdown")
        cells.append(cell)
    download = (
        f'<p class="fetch"><a href="{name}.ipynb" download>Download this notebook</a> and run it yourself, '
        f'or <a href="student/{name}.ipynb" download>its copy without solutions</a>.</p>'
    )
    first, rest = (
        cells[0].source.split("\n", 1)
        if "\n" in cells[0].source
        else (cells[0].source, "")
    )
    cells[0].source = f"{first}\n\n{download}\n\n{rest}"
    kept = {key: value for key, value in notebook.metadata.items() if key != "widgets"}
    return nbformat.from_dict(notebook | {"cells": cells, "metadata": kept})


def linked(text: str, pages: dict[str, str]) -> str:
    """Return a document whose links to files of the checkout lead to their pages, or are only text."""

    def lead(found: re.Match) -> str:
        words, target = found.groups()
        if target.startswith(("http", "#")):
            return found.group()
        page = pages.get(Path(target.split("#")[0]).stem)
        return f"[{words}]({page})" if page else words

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", lead, text)


def ledger_rows(table: pd.DataFrame) -> list[dict]:
    """Return the ledger's rows for the page: paper by paper, with what sets some apart."""
    paper = table["id"].str.split("/").str[0].map(PAPERS)
    apart = table["apart"].map(
        {"": "", "definition": "cannot fail", "ours": "our own check"}
    )
    found = table.assign(paper=paper, apart=apart).sort_values("paper", kind="stable")
    return found.to_dict("records")


def facts(notebooks: dict[str, str]) -> dict:
    """Return what the pages' templates may show; every number is computed here or read from what was computed."""
    start = ROOT / "notebooks" / "00_start_here.ipynb"
    cells = nbformat.read(start, as_version=4).cells if start.exists() else []
    paths = next((cell.source for cell in cells if cell.id == "paths"), "")
    table = pd.read_csv(ledger.FIGURES / "ledger.csv", dtype=str, keep_default_na=False)
    page = (ledger.FIGURES / "ledger.md").read_text(encoding="utf-8")
    verdicts = ledger.verdicts(table).reset_index()
    verdicts["paper"] = verdicts["experiment"].str.split("/").str[0].map(PAPERS)
    parts = verdicts[["data", "model", "suite", "code"]] == "original"
    verdicts["original"] = parts.apply(lambda row: [*row.index[row]], axis=1)
    rows = re.findall(
        r"\(notebooks/(\w+)\.ipynb\) \| (.*?) \|",
        (ROOT / "README.md").read_text(encoding="utf-8"),
    )
    return {
        "bound": coverage.observed_size("bernstein_maximal", error=0.2),
        "exact": coverage.observed_size("exact_unconditional", error=0.2),
        "sentence": ledger.sentence(verdicts),
        "experiments": verdicts.to_dict("records"),
        "rows": ledger_rows(table),
        "statuses": dict(
            re.findall(r"^- \*\*(\w+)\*\*: (.*)", page, flags=re.MULTILINE)
        ),
        "rule": next(
            line
            for line in page.splitlines()
            if line.startswith("An experiment is judged")
        ),
        "papers": AUTHORS,
        "public": public(),
        "notebooks": notebooks,
        "paths": re.findall(r"^- .*(?:\n  .*)*", paths, flags=re.MULTILINE),
        "questions": dict(rows),
        "metrics": fairlib.METRICS,
        "methods": fairlib.bounds.METHODS,
        "figure": lambda name: figure_html(
            ledger.FIGURES / f"{name}.svg", to_root="", eager=True
        ),
    }


def public() -> dict[str, dict[str, object]]:
    """Return what the public names stand for: modules, functions and classes, and tables."""
    things = {name: getattr(fairlib, name) for name in fairlib.__all__}
    modules = {name: thing for name, thing in things.items() if inspect.ismodule(thing)}
    called = {name: thing for name, thing in things.items() if callable(thing)}
    return {
        "modules": modules,
        "called": called,
        "tables": things.keys() - modules.keys() - called.keys(),
    }


def toctrees(pages: set[str]) -> str:
    """Return the tables of contents: notebooks and other pages in their groups, and what has no group in the last."""
    left = {page for page in pages if page != "index"}
    lines = []
    for title, (numbers, others) in GROUPS.items():
        found = sorted(
            page
            for page in left
            if page.startswith(tuple(f"notebooks/{number}" for number in numbers))
        )
        found += [page for page in others if page in left]
        left -= set(found)
        if title == list(GROUPS)[-1]:
            found += sorted(left)
        if found:
            lines += [
                "```{toctree}",
                ":hidden:",
                f':caption: "{title}"',
                "",
                *found,
                "```",
                "",
            ]
    return "\n".join(lines)


def main() -> None:
    """Write build/site/source, which Sphinx reads, and build/site/extra, which it copies."""
    source, extra = BUILT / "source", BUILT / "extra"
    for folder in (source, extra):
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "notebooks").mkdir(parents=True)
    shutil.copytree(
        ledger.FIGURES, extra / "figures", ignore=shutil.ignore_patterns("*.png")
    )
    shutil.copytree(
        FRAMES, extra / "frames", ignore=shutil.ignore_patterns("done", "*.html")
    )
    notebooks, stored = {}, sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
    without = [
        ROOT / "notebooks" / "execute.py",
        "--student",
        extra / "notebooks" / "student",
        *stored,
    ]
    subprocess.run([sys.executable, *map(str, without)], check=True)
    for path in stored:
        shutil.copy(path, extra / "notebooks")
        notebook = nbformat.read(ROOT / "build" / path.name, as_version=4)
        notebooks[path.stem] = (
            notebook.cells[0].source.splitlines()[0].removeprefix("# ")
        )
        nbformat.write(
            transformed(notebook, name=path.stem), source / "notebooks" / path.name
        )
    texts = {
        path.name: path.read_text(encoding="utf-8")
        for path in sorted(HERE.glob("*.md"))
    }
    pages = {
        Path(name).stem: f"/{name}"
        for name in [*texts, *(Path(document).name for document in DOCUMENTS)]
    }
    pages |= {name: f"/notebooks/{name}.ipynb" for name in notebooks}
    for document in map(ROOT.joinpath, DOCUMENTS):
        if document.exists():
            texts[document.name] = linked(document.read_text(encoding="utf-8"), pages)
    known = facts(notebooks)
    known["toctrees"] = toctrees(
        {f"notebooks/{name}" for name in notebooks}
        | {Path(name).stem for name in texts}
    )
    for name, text in texts.items():
        if (HERE / name).exists() and "{#- a template -#}" in text:
            text = jinja2.Template(
                text, undefined=jinja2.StrictUndefined, autoescape=False
            ).render(known)
        (source / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
