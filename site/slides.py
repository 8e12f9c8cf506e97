"""Make slides of the lessons: their questions, predictions, figures and recaps.

python site/slides.py   (`make slides` calls it)

writes build/slides/index.html and a page for each lesson, with the figures beside them.
The pages need no network. Arrow keys and the space bar move; printing gives one slide
a page.
"""

import re
import shutil
import sys
from html import escape, unescape
from pathlib import Path

import nbformat
from nbconvert.filters import markdown2html

from fairlib.data import FIGURES, ROOT

sys.path.insert(0, str(ROOT / "notebooks"))
from mathematics import mathml
from pages import (
    SAVED,
    caption,
    figures_of,
    first_sentence,
    in_place,
    lessons,
    title_of,
)

BUILT = ROOT / "build" / "slides"
STYLE = """
body { margin: 0; font: 1.5rem/1.4 system-ui, sans-serif; color: #111; }
section { box-sizing: border-box; min-height: 100vh; padding: 5vh 8vw;
  display: flex; flex-direction: column; justify-content: center; }
section:nth-child(even) { background: #f4f6f8; }
h1 { font-size: 2.6rem; } h2 { font-size: 2rem; margin: 0 0 1rem; }
img { display: block; width: 100%; max-height: 78vh; object-fit: contain; }
figcaption { font-size: 0.9rem; color: #444; }
table { border-collapse: collapse; } td, th { padding: 0.2rem 0.8rem; }
.predict { border-left: 0.5rem solid #0072b2; padding-left: 2rem; }
figure { margin: 0; }
@media print { section { page-break-after: always; min-height: 95vh; } }
"""
KEYS = """
const slides = [...document.querySelectorAll("section")];
addEventListener("keydown", (event) => {
  const steps = {ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1};
  const step = steps[event.key];
  if (!step) return;
  event.preventDefault();
  const here = slides.findIndex((slide) => slide.getBoundingClientRect().bottom > 10);
  slides[Math.min(Math.max(here + step, 0), slides.length - 1)].scrollIntoView();
});
"""
SECTIONS = ("What to doubt", "Recap")


def html_of(text: str) -> str:
    """Return Markdown as HTML, with formulas as MathML and links as plain words."""
    plain = re.sub(r"(?<!!)\[([^\]]+)\]\([^)\s]+\)", r"\1", text)
    html = markdown2html(plain)
    html = re.sub(r"<a class=.anchor-link.*?</a>", "", html)
    return re.sub(r"\$([^$]+)\$", lambda found: mathml(unescape(found[1])), html)


def figure_of(name: str) -> str:
    """Return a figure with the beginning of its caption as HTML."""
    figure = FIGURES / f"{name}.svg"
    return (
        f'<figure><img src="figures/{name}.svg" alt="{escape(in_place(figure))}">'
        f"<figcaption>{escape(first_sentence(caption(figure)))}</figcaption></figure>"
    )


def slides_of(path: Path) -> list[str]:
    """Return the slides of a stored lesson as HTML, in the order of the lesson."""
    cells = nbformat.read(path, as_version=4).cells
    title, _, rest = cells[0].source.partition("\n")
    skills = rest.split("**Time.**")[0]
    slides = [f"<h1>{escape(title.removeprefix('# '))}</h1>{html_of(skills)}"]

    figures = set(figures_of(path))
    for cell in cells:
        tags = cell.metadata.get("tags", [])
        if "prediction" in tags:
            slides.append(f'<div class="predict">{html_of(cell.source)}</div>')
        elif cell.cell_type == "code" and "solution" not in tags:
            names = [name for name in SAVED.findall(cell.source) if name in figures]
            slides += [figure_of(name) for name in names]
        elif cell.source.startswith("**Judgement.**"):
            slides.append(html_of(cell.source))
        elif cell.cell_type == "markdown":
            slides += _sections_of(cell.source)
    return slides


def _sections_of(text: str) -> list[str]:
    """Return the sections of a text that belong on slides, as HTML."""
    parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    kept = tuple(f"## {heading}\n" for heading in SECTIONS)
    return [html_of(part) for part in parts if part.startswith(kept)]


def page(title: str, slides: list[str]) -> str:
    """Return a page of slides."""
    sections = "\n".join(f"<section>{slide}</section>" for slide in slides)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body>\n{sections}\n<script>{KEYS}</script>\n</body></html>\n"
    )


def main() -> None:
    """Write the slides of all lessons, and a page that lists them."""
    shutil.rmtree(BUILT, ignore_errors=True)
    (BUILT / "figures").mkdir(parents=True)

    links = []
    for path in lessons():
        title = title_of(path)
        slides = slides_of(path)
        (BUILT / f"{path.stem}.html").write_text(page(title, slides), "utf-8")
        links.append(f'<li><a href="{path.stem}.html">{escape(title)}</a></li>')
        for name in figures_of(path):
            shutil.copy(FIGURES / f"{name}.svg", BUILT / "figures")

    contents = f"<h1>Slides of the lessons</h1><ul>{''.join(links)}</ul>"
    index = page("Slides of the lessons", [contents])
    (BUILT / "index.html").write_text(index, "utf-8")
    print("slides: build/slides/index.html")


if __name__ == "__main__":
    main()
