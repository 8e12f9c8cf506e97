"""Write the executed lessons as Markdown, and the lists of lessons and figures.

python notebooks/pages.py build/01_mnli_genres.ipynb ...

writes docs/lessons/01_mnli_genres.md from an executed lesson. With or without lessons
it writes figures/README.md (every figure with its caption), the table of lessons in
README.md and that of dossiers in their folder, from what is stored. `make reproduce`
calls it.
"""

import re
import sys
from collections.abc import Iterator
from functools import partial
from html import unescape
from html.parser import HTMLParser
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

# jsonschema, which nbformat imports, would read a grammar of web addresses. That takes
# two seconds, and nothing here needs it.
sys.modules.setdefault("rfc3987_syntax", None)

import nbformat
from nbformat import NotebookNode

from fairlib.data import FIGURES, ROOT, write_whole

NOTEBOOKS = ROOT / "notebooks"
PAGES = ROOT / "docs" / "lessons"
# The name of a figure that a cell writes
SAVED = re.compile(r"""plots\.save\([^"']*["']([^"']+)["']""")
NARROW = "_narrow"
WIDGET = "application/vnd.jupyter.widget-view+json"
WIDEST_PHONE = 600  # pixels
UNREPEATABLE = re.compile(r" at 0x[0-9a-f]{6,}")
WRITTEN = "<!-- Written by `make reproduce` from notebooks/{name}.ipynb: edit that. -->"
MOVES = """*In the notebook, this picture has controls that you can move: \
[run it](../../notebooks/{name}.ipynb).*"""
YOURS = "*Write your prediction down before you read on.*"
LINK = re.compile(r"(!?\[[^\]]*\])\((?!https?:|#|mailto:)([^)\s]+)\)")


def lessons() -> list[Path]:
    """Return the stored lessons, in order."""
    return sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))


def dossiers() -> list[Path]:
    """Return the stored dossiers, in order."""
    return sorted(NOTEBOOKS.glob("dossier/[0-9][0-9]*_*.ipynb"))


def title_of(path: Path) -> str:
    """Return the title of a notebook, which begins with its number."""
    first_line = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0]
    return first_line.removeprefix("# ")


def caption(figure: Path) -> str:
    """Return the caption that an SVG carries as its description."""
    description = ElementTree.parse(figure).find(
        ".//{http://purl.org/dc/elements/1.1/}description"
    )
    if description is None or not (description.text or "").strip():
        raise ValueError(
            f"{figure.name} must carry its caption as its description; "
            "`plots.save` writes it"
        )
    return " ".join(description.text.split())


def in_place(figure: Path) -> str:
    """Return the words in place of a picture, for those who cannot see it.

    They are the finding above the figure. A figure without one, such as a drawing of a
    definition, is described by the first sentence of its caption.
    """
    title = ElementTree.parse(figure).find(
        ".//{*}Work/{http://purl.org/dc/elements/1.1/}title"
    )
    words = title.text if title is not None else first_sentence(caption(figure))
    return words.replace("$", "")


def first_sentence(text: str) -> str:
    """Return the first sentence of a caption."""
    return re.split(r"(?<=[^.\d][.:]) (?=[A-Z])", text.replace("$", ""))[0]


# --- figures and tables ---


def figure_lines(figure: Path, *, address: str) -> str:
    """Return a figure with its caption as Markdown.

    `address` is the way from the page to the folder of the figure. A variant for
    phones, if there is one, takes the place of the figure on narrow screens.
    """
    text = caption(figure)
    words = in_place(figure).replace('"', "&quot;").replace("[", "(").replace("]", ")")
    picture = f"![{words}]({address}/{figure.name})"

    narrow = figure.with_stem(f"{figure.stem}{NARROW}")
    if narrow.exists():
        source = f'<source media="(max-width: {WIDEST_PHONE}px)"'
        source += f' srcset="{address}/{narrow.name}">'
        image = f'<img src="{address}/{figure.name}" alt="{words}">'
        picture = f"<picture>{source}{image}</picture>"
    return f"{picture}\n\n*Figure.* {_plain(text)}"


def _plain(text: str) -> str:
    """Return text whose asterisks and underscores are no markup outside formulas."""
    parts = re.split(r"(\$[^$]+\$)", text)
    parts[::2] = [re.sub(r"([*_<])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


class _Table(HTMLParser):
    """Collects the rows of an HTML table; a cell over several places fills them all."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[dict[int, str]] = []
        self.heading_rows = 0
        self._in_head = False
        self._below: dict[tuple[int, int], str] = {}
        self._cell: list[str] | None = None
        self._spans = (1, 1)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        """Begin a row or a cell."""
        if tag == "thead":
            self._in_head = True
        elif tag == "tr":
            self.rows.append({})
            self.heading_rows += self._in_head
        elif tag in ("th", "td"):
            spans = dict(attrs)
            self._cell = []
            self._spans = (
                int(spans.get("rowspan") or 1),
                int(spans.get("colspan") or 1),
            )

    def handle_data(self, data: str) -> None:
        """Collect the text of a cell."""
        if self._cell is not None:
            self._cell.append(data)

    def handle_endtag(self, tag: str) -> None:
        """End a row or a cell."""
        if tag == "thead":
            self._in_head = False
        elif tag in ("th", "td") and self._cell is not None:
            self._place(" ".join("".join(self._cell).split()))
            self._cell = None

    def _place(self, text: str) -> None:
        """Put a cell's text at the next free place of the row, and where it spans."""
        row = self.rows[-1]
        number = len(self.rows) - 1
        column = 0
        while column in row or (number, column) in self._below:
            if column not in row:
                row[column] = self._below[number, column]
            column += 1

        rows, columns = self._spans
        for right in range(columns):
            row[column + right] = text
            for down in range(1, rows):
                # The name of a group of rows is written once, in its first row.
                self._below[number + down, column + right] = ""


def markdown_table(html: str) -> str:
    """Return an HTML table as a Markdown table."""
    table = _Table()
    table.feed(re.sub(r"<style.*?</style>", "", html, flags=re.DOTALL))
    width = max(max(row) for row in table.rows) + 1
    rows = [[row.get(column, "") for column in range(width)] for row in table.rows]

    # A table in Markdown has one row of headings: those above each other are joined.
    # Where the last row names the columns of the index, these names are enough.
    heading_rows = rows[: table.heading_rows] or [[""] * width]
    names_of_index = len(heading_rows) > 1 and not heading_rows[-1][-1]
    headings = []
    for texts in zip(*heading_rows, strict=True):
        kept = texts[-1:] if names_of_index and texts[-1] else texts
        headings.append(" ".join(dict.fromkeys(filter(None, kept))))

    lines = [headings, ["---"] * width, *rows[table.heading_rows :]]
    return "\n".join(f"| {' | '.join(map(_in_table, line))} |" for line in lines)


def _in_table(text: str) -> str:
    """Return text as a cell of a Markdown table."""
    return _plain(unescape(text)).replace("|", "\\|")


def _fence(text: str, language: str) -> str:
    """Return text as a block of code."""
    longest = max([2, *map(len, re.findall(r"`{3,}", text))])
    ticks = "`" * (longest + 1)
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


# --- a lesson ---


def page_of(notebook: NotebookNode, name: str) -> str:
    """Return an executed lesson as Markdown.

    Solutions are folded, and a widget leaves a sentence that says where it moves.
    """
    blocks = [WRITTEN.format(name=name)]
    cells = [cell for cell in notebook.cells if _tag(cell) != "hosted"]
    title, _, rest = cells[0].source.partition("\n")
    blocks.append(title)
    blocks.append(
        "*This page shows the lesson with its results. "
        f"To work through it, [run the notebook](../../notebooks/{name}.ipynb).*"
    )
    blocks.append(_with_links(rest.strip()))

    for tag, group in groupby(cells[1:], key=_tag):
        parts: list[str] = []
        for cell in group:
            parts += _blocks_of(cell, tag, name)
        if tag == "solution":
            parts = _folded("Solution", parts)
        blocks += parts

    text = "\n\n".join(block for block in blocks if block) + "\n"
    unrepeatable = UNREPEATABLE.search(text)
    if unrepeatable:
        raise ValueError(
            f"{name} must print the same each time, found {unrepeatable.group()!r}"
        )
    return text


def _tag(cell: NotebookNode) -> str:
    """Return the tag of a cell, or an empty text."""
    return "".join(cell.metadata.get("tags", []))


def _blocks_of(cell: NotebookNode, tag: str, name: str) -> list[str]:
    """Return what a page shows of a cell, block by block."""
    if tag == "yours":
        return [YOURS]
    if cell.cell_type == "markdown":
        return [_with_links(cell.source)]
    if tag == "widget":
        return [MOVES.format(name=name)]

    names = SAVED.findall(cell.source)
    figures = [figure for figure in names if not figure.endswith(NARROW)]
    blocks = [_fence(cell.source, "python")]
    if figures and tag != "solution":
        # How a figure is drawn is for those who ask.
        blocks = _folded("How this figure is drawn", blocks)
    if tag != "stub":
        for output in cell.outputs:
            blocks += _shown(output, has_figures=bool(figures), name=name)
        for figure in figures:
            path = FIGURES / f"{figure}.svg"
            blocks.append(figure_lines(path, address="../../figures"))
    return blocks


def _folded(title: str, blocks: list[str]) -> list[str]:
    """Return blocks that are shown when their title is clicked."""
    return [f"<details>\n<summary>{title}</summary>", *blocks, "</details>"]


def _shown(output: NotebookNode, *, has_figures: bool, name: str) -> list[str]:
    """Return an output as Markdown; what a cell saves as a figure is left out."""
    if output.output_type == "stream":
        is_text = output.name == "stdout" and output.text.strip()
        return [_fence(output.text, "text")] if is_text else []

    data = output.get("data", {})
    if "image/png" in data:
        if not has_figures:
            raise ValueError(
                f"{name} must save every picture that it shows with plots.save, "
                "found one that it does not save"
            )
        return []
    if WIDGET in data:
        return []

    html = "".join(data.get("text/html", ""))
    if "<table" in html:
        return [markdown_table(html)]
    if "text/markdown" in data:
        return [_with_links("".join(data["text/markdown"]))]
    text = "".join(data.get("text/plain", ""))
    return [_fence(text, "text")] if text.strip() else []


def _with_links(text: str) -> str:
    """Return a lesson's text with links that lead on from docs/lessons."""

    def lead(link: re.Match) -> str:
        words, target = link.groups()
        address, mark, anchor = target.partition("#")
        path = (NOTEBOOKS / address).resolve()
        if path.parent == NOTEBOOKS and path.suffix == ".ipynb":
            return f"{words}({path.stem}.md{mark}{anchor})"
        return f"{words}(../../{path.relative_to(ROOT).as_posix()}{mark}{anchor})"

    return LINK.sub(lead, text)


def write_page(executed: Path) -> Path:
    """Write the page of an executed lesson, and return its path."""
    notebook = nbformat.read(executed, as_version=4)
    target = PAGES / f"{executed.stem}.md"
    text = page_of(notebook, executed.stem)
    write_whole(target, partial(Path.write_text, data=text, encoding="utf-8"))
    return target


# --- the lists ---


def figures_of(path: Path) -> list[str]:
    """Return the names of the figures that a stored notebook saves, in order."""
    names: list[str] = []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            names += SAVED.findall(cell.source)
    return [name for name in names if not name.endswith(NARROW)]


def gallery() -> str:
    """Return the page of all figures: each with its caption, notebook by notebook."""
    blocks = [
        "<!-- Written by `make reproduce` from the notebooks. -->",
        "# Every figure, with its caption",
        "The figures of the lessons come first, then those of the dossiers. "
        "The ledger is [a page of its own](ledger.md). `make reproduce` draws "
        "all of them again.",
    ]
    for heading, paths in (("Lessons", lessons()), ("Dossiers", dossiers())):
        blocks.append(f"## {heading}")
        for path in paths:
            blocks += list(_figures_in_gallery(path))
    return "\n\n".join(blocks) + "\n"


def _figures_in_gallery(path: Path) -> Iterator[str]:
    """Yield a notebook's title and its figures."""
    names = figures_of(path)
    if not names:
        return
    if path.parent == NOTEBOOKS:
        yield f"### [{title_of(path)}](../docs/lessons/{path.stem}.md)"
    else:
        yield f"### [{title_of(path)}](../notebooks/dossier/{path.name})"
    for name in names:
        figure = FIGURES / f"{name}.svg"
        folder = "dossier" if figure.parent.name == "dossier" else "."
        text = figure_lines(figure, address=folder)
        yield text.replace("(./", "(").replace('"./', '"')


def table_of_lessons() -> str:
    """Return the README's table of lessons."""
    lines = ["| lesson | minutes | | |", "|---|---|---|---|"]
    for path in lessons():
        source = nbformat.read(path, as_version=4).cells[0].source
        time = re.search(r"^\*\*Time\.\*\* .*?(\d+) minutes", source, re.MULTILINE)
        minutes = time[1] if time else ""
        read = f"[read](docs/lessons/{path.stem}.md)"
        run = f"[run](notebooks/{path.name})"
        lines.append(f"| {title_of(path)} | {minutes} | {read} | {run} |")
    return "\n".join(lines)


def table_of_dossiers() -> str:
    """Return the table of dossiers, as their folder's README shows it."""
    lines = ["| dossier |", "|---|"]
    for path in dossiers():
        lines.append(f"| [{title_of(path)}]({path.name}) |")
    return "\n".join(lines)


def with_table(text: str, *, name: str, table: str) -> str:
    """Return a README with the table between its two marks as it should be."""
    marks = (f"<!-- {name} -->", f"<!-- end of {name} -->")
    before, _, rest = text.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not end:
        raise ValueError(f"README.md must have the lines {marks[0]} and {marks[1]}")
    return f"{before}{marks[0]}\n{table}\n{marks[1]}{after}"


def readmes() -> dict[Path, str]:
    """Return the READMEs that list lessons or dossiers, as they should be."""
    of_lessons = ROOT / "README.md"
    of_dossiers = NOTEBOOKS / "dossier" / "README.md"
    return {
        of_lessons: with_table(
            of_lessons.read_text(encoding="utf-8"),
            name="lessons",
            table=table_of_lessons(),
        ),
        of_dossiers: with_table(
            of_dossiers.read_text(encoding="utf-8"),
            name="dossiers",
            table=table_of_dossiers(),
        ),
    }


def write_lists() -> None:
    """Write the gallery and the tables of the READMEs; delete pages of no lesson."""
    known = {path.stem for path in lessons()}
    for page in PAGES.glob("*.md"):
        if page.stem not in known:
            page.unlink()

    texts = {FIGURES / "README.md": gallery(), **readmes()}
    for path, text in texts.items():
        write_whole(path, partial(Path.write_text, data=text, encoding="utf-8"))


def main(arguments: list[str]) -> None:
    """Write the pages of the named executed lessons, and the lists."""
    paths = [Path(argument) for argument in arguments]
    try:
        for path in paths:
            write_page(path)
        write_lists()
    except ValueError as error:
        sys.exit(f"pages: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
