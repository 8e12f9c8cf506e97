"""Draw the notebooks' widgets at some of their settings, for readers of the site, where no Python runs.

python site/frames.py   (`make site` calls it when a notebook was executed anew, or this file changed)

`FRAMES` says at which settings. Each picture, or table, comes from the function that the notebook gives to its widget.
A folder per notebook, build/frames/<notebook>, holds the pictures, named by the places of their values (`0-2-1.svg`),
and controls.html: the controls, and what `_static/frames.js` writes beside the picture, or in its place.
"""

import contextlib
import io
import itertools
import json
import math
import os
import re
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor
from html import escape
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import IPython.display
import ipywidgets
import matplotlib.pyplot as plt
import nbformat

from fairlib import plots
from fairlib.data import ROOT
from fairlib.plots import save

BUILT = ROOT / "build" / "frames"
APART = {
    "hosted",
    "exercise",
    "stub",
    "solution",
    "check",
}  # the tags of cells on which no widget rests
SLIDERS = (ipywidgets.IntSlider, ipywidgets.FloatSlider)
ALLOWED = (*SLIDERS, ipywidgets.SelectionSlider, ipywidgets.Dropdown, ipywidgets.Text)
SOURCE = re.compile(r"(Data: |Computed |No data ).*")
DESCRIPTION = re.compile(r"<dc:description>.*?<", re.DOTALL)


class Frames(NamedTuple):
    """What the site shows of a widget: a caption that is true at every setting, and the values of its controls."""

    caption: str
    values: dict[
        str, tuple
    ]  # of a control that chooses among values: all of them, if it is not named


FRAMES = {
    "00_start_here": Frames(
        "Twenty simulated checks, half of the sentences about women and half about men, drawn from those that were "
        "checked: difference of the shares with a lost gender, with Newcombe's intervals. Google, English to Hebrew.",
        {"n": (20, 100, 300, 1000), "draw": (1, 2, 3, 4)},
    ),
    "01_mnli_genres": Frames(
        "Half-width of a 95 % Bernstein interval (eq. 3, C = 1) and its two parts, for a smaller group with the share "
        "gamma and a mean squared cost on both sides; the dots are at n and at four times n.",
        {
            "n": (100, 500, 2000, 5000),
            "gamma": (0.02, 0.1, 0.3, 0.5),
            "mean_square": (0.01, 0.05, 0.25, 1.0),
        },
    ),
    "03_one_framework": Frames(
        "The metrics of Table 2 and its variants that fit these answers.", {}
    ),
    "08_celeba": Frames(
        "t intervals over the runs (left), and the half-width from 2 to 30 runs if further ones vary as much as the "
        "five that there are (right, the mark at the number that is chosen).",
        {"runs": (2, 3, 5, 10, 30), "confidence": (0.8, 0.95, 0.99)},
    ),
    "09_where_amplification_misleads": Frames(
        "T→A as the base rates move from uniform to the labor force; the marks are at the weight that is chosen.",
        {"weight": tuple(step / 20 for step in range(21))},
    ),
    "13_what_printed_tables_give_away": Frames(
        "Lines: what a mean of so many runs can be, if each is a share of so many images; band: what is printed so. Of "
        "the dev set, 30 images show an airplane, 51 a teddy bear, 203 a bicycle and 537 a car.",
        {
            "printed": ("1.23", "1.33", "6.60", "6.67", "7.88"),
            "runs": (1, 5, 10),
            "images": (30, 51, 203, 537),
        },
    ),
}


class Widget(NamedTuple):
    """A call of `interact`, and the figure that the cell behind it saves."""

    function: object
    given: dict[str, object]
    figure: str
    caption: str


class Control(NamedTuple):
    """What the site has in place of one of a widget's controls."""

    label: str
    options: tuple[tuple[str, object], ...]  # each value with its words
    first: int
    slides: bool


def control(name: str, given: object, values: tuple | None) -> Control:
    """Return a control of the site for what a notebook gives to `interact`, at these values."""
    widget = ipywidgets.interactive.widget_from_abbrev(given) or given
    if not isinstance(widget, ALLOWED):
        allowed = ", ".join(kind.__name__ for kind in ALLOWED)
        raise ValueError(
            f"control {name!r} must be one of {allowed}, found {type(widget).__name__}"
        )
    listed = [
        each if isinstance(each, tuple) else (str(each), each)
        for each in getattr(widget, "options", ())
    ]
    labels = {value: label for label, value in listed}
    values = tuple(labels) if values is None else values

    def possible(value) -> bool:
        if not isinstance(widget, SLIDERS):
            return isinstance(widget, ipywidgets.Text) or value in labels
        steps = (value - widget.min) / widget.step
        return widget.min <= value <= widget.max and math.isclose(
            steps, round(steps), abs_tol=1e-6
        )

    if not all(map(possible, values)) or widget.value not in values:
        must = f"be some that it can take, and {widget.value!r} among them"
        raise ValueError(
            f"values of control {name!r} must {must}, found {list(values)}"
        )
    options = tuple(
        (f"{each:,}" if isinstance(widget, SLIDERS) else labels.get(each, each), each)
        for each in values
    )
    slides = isinstance(widget, (*SLIDERS, ipywidgets.SelectionSlider))
    return Control(
        (widget.description or name).replace("_", " "),
        options,
        values.index(widget.value),
        slides,
    )


@contextlib.contextmanager
def without_jupyter():
    """Keep in lists what is shown, and how `interact` and `plots.save` are called, and show and write nothing."""
    shown, calls, saved = [], [], []

    def remember(figure, name, *, caption):
        saved.append((name, caption))
        plt.close(figure)
        return figure

    with (
        mock.patch.object(plots, "save", remember),
        mock.patch.object(plt, "show", lambda *figures: shown.extend(figures)),
        mock.patch.object(
            IPython.display, "display", lambda *things: shown.extend(things)
        ),
        mock.patch.object(
            ipywidgets,
            "interact",
            lambda function, **given: calls.append((function, given)),
        ),
    ):
        yield shown, calls, saved


def widget_of(path: Path, calls: list, saved: list) -> Widget:
    """Run a stored notebook as far as the cell behind its widget, and return the widget."""
    cells = [
        cell
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code"
    ]
    cells = [cell for cell in cells if not APART & {*cell.metadata.get("tags", [])}]
    places = [
        place
        for place, cell in enumerate(cells)
        if "widget" in cell.metadata.get("tags", [])
    ]
    if len(places) != 1:
        raise ValueError(
            f"{path.stem} must have one cell with the tag 'widget', found {len(places)}"
        )
    names = {"__name__": "__main__", "display": IPython.display.display}
    with contextlib.chdir(path.parent), contextlib.redirect_stdout(io.StringIO()):
        for cell in cells[: places[0] + 2]:
            exec(compile(cell.source, f"<{path.stem}, cell {cell.id}>", "exec"), names)
    return Widget(*calls[-1], *saved[-1])


def source(caption: str) -> str:
    """Return the end of a caption, which says on what the picture rests."""
    found = SOURCE.search(" ".join(caption.split()))
    if not found:
        raise ValueError(
            f"a widget's picture must end its caption with 'Data: ...' or the like, found {caption!r}"
        )
    return found.group()


def svg(figure: plt.Figure, widget: Widget) -> str:
    """Return the figure as `plots.save` writes it, which labels what is simulated or invented."""
    written = {}

    def keep(path, write):
        if path.suffix == ".svg":
            write(text := io.StringIO())
            written["svg"] = text.getvalue()

    with mock.patch.object(plots, "write_whole", keep):
        save(figure, widget.figure, caption=widget.caption)
    return written["svg"]


def described(text: str, caption: str) -> str:
    """Return an SVG with another description."""
    return DESCRIPTION.sub(lambda _: f"<dc:description>{escape(caption)}<", text)


def words(figure: plt.Figure) -> list[str]:
    """Return what stands in a figure's titles and legends."""
    titles = [ax.get_title() for ax in figure.axes]
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes)]
    found = [
        *titles,
        *(
            text.get_text()
            for legend in legends
            if legend
            for text in legend.get_texts()
        ),
    ]
    return [" ".join(text.split()) for text in found if text]


def changing(said: dict[str, list[str]]) -> dict[str, str]:
    """Return of each setting's words those that are not the same at all settings."""
    same = set.intersection(*map(set, said.values()))
    return {
        key: "; ".join(text for text in found if text not in same)
        for key, found in said.items()
    }


def html(shown: list, printed: str) -> str:
    """Return what a widget's function displays and prints, as a notebook shows it."""
    tables = [
        re.sub(r"<style.*?</style>", "", table._repr_html_(), flags=re.DOTALL)
        for table in shown
    ]
    return "".join(tables) + (
        f"<p>{escape(printed.strip())}</p>" if printed.strip() else ""
    )


def form(controls: list[Control], facts: dict) -> str:
    """Return the controls as HTML, hidden until the script comes, and with them what it needs to know."""
    parts = []
    for label, options, first, slides in controls:
        field = f'<input type="range" min="0" max="{len(options) - 1}" value="{first}">'
        if not slides:
            choices = "".join(
                f'<option value="{place}"{" selected" * (place == first)}>{escape(words)}</option>'
                for place, (words, _) in enumerate(options)
            )
            field = f"<select>{choices}</select>"
        parts.append(
            f"<label><span><span>{escape(label)}</span> <b></b></span>{field}</label>"
        )
    facts |= {"options": [[words for words, _ in each.options] for each in controls]}
    data = json.dumps(facts, ensure_ascii=False).replace("</", r"<\/")
    count = math.prod(len(each.options) for each in controls)
    note = (
        f"{count} settings, computed by the notebook's own code when this site was made. "
        "Where the notebook runs, its controls move freely."
    )
    return (
        f'<form class="frames" aria-label="Settings" autocomplete="off" hidden>\n<div>{"".join(parts)}</div>\n'
        f'<p>{note}</p>\n<output></output>\n<script type="application/json">{data}</script>\n</form>\n'
    )


def draw(path: Path, chosen: Frames, folder: Path) -> int:
    """Draw a notebook's widget at the chosen settings into a folder, with the controls; return how many there are."""
    folder.mkdir(parents=True)
    with without_jupyter() as (shown, calls, saved), plt.rc_context():
        widget = widget_of(path, calls, saved)
        if unknown := chosen.values.keys() - widget.given.keys():
            raise ValueError(
                f"values must be of the controls {list(widget.given)}, found {sorted(unknown)}"
            )
        controls = [
            control(name, given, chosen.values.get(name))
            for name, given in widget.given.items()
        ]
        caption = f"{chosen.caption} {source(widget.caption)}"
        start, said, tables = [each.first for each in controls], {}, {}
        for options in itertools.product(
            *(enumerate(each.options) for each in controls)
        ):
            places = [place for place, _ in options]
            key = "-".join(map(str, places))
            shown.clear()
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                widget.function(
                    **{
                        name: value
                        for name, (_, (_, value)) in zip(
                            widget.given, options, strict=True
                        )
                    }
                )
            if not any(isinstance(thing, plt.Figure) for thing in shown):
                tables[key] = html(shown, printed.getvalue())
                continue
            (figure,) = shown
            said[key], text = words(figure), svg(figure, widget)
            if places == start and text != (
                plots.FIGURES / f"{widget.figure}.svg"
            ).read_text(encoding="utf-8"):
                raise ValueError(
                    f"the first setting of a widget must show {widget.figure}.svg, found another picture"
                )
            setting = "; ".join(
                f"{each.label} {label}"
                for each, (_, (label, _)) in zip(controls, options, strict=True)
            )
            (folder / f"{key}.svg").write_text(
                described(text, f"{setting}. {caption}"), encoding="utf-8"
            )
    facts = (
        {"tables": tables}
        if tables
        else {"pictures": f"../frames/{folder.name}", "said": changing(said)}
    )
    (folder / "controls.html").write_text(
        form(controls, facts | {"caption": caption}), encoding="utf-8"
    )
    return len(said) + len(tables)


def main() -> None:
    """Draw all of `FRAMES`, each in a process of its own: a notebook may change what it likes."""
    shutil.rmtree(BUILT, ignore_errors=True)
    with ProcessPoolExecutor(max_workers=os.cpu_count(), max_tasks_per_child=1) as pool:
        paths = [ROOT / "notebooks" / f"{name}.ipynb" for name in FRAMES]
        drawn = [
            pool.submit(draw, path, FRAMES[path.stem], BUILT / path.stem)
            for path in paths
        ]
        for path, count in zip(paths, drawn, strict=True):
            try:
                print(f"{path.stem}: {count.result()} settings", flush=True)
            except ValueError as error:
                sys.exit(f"{path.stem}: {error}")
    (BUILT / "done").touch()


if __name__ == "__main__":
    main()
