"""Draw the lessons' widgets at some of their settings, for readers of the site.

No Python runs on the site. `FRAMES` lists the settings. Each picture, or table, comes
from the function that the notebook gives to its widget. For each lesson, the folder
build/frames/<lesson> holds the pictures, named by the places of their values
(`0-2-1.svg`, and for telephones `0-2-1_narrow.svg`), and controls.html: the controls,
and what `_static/frames.js` writes beside the picture, or in its place.

python site/frames.py

`make site` calls it when a notebook was executed anew, or this file changed.
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
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from unittest import mock

import IPython.display
import ipywidgets
import matplotlib.pyplot as plt
import nbformat

from fairlib import plots
from fairlib.data import ROOT
from fairlib.plots import save

sys.path.insert(0, str(ROOT / "notebooks"))
from pages import NARROW

BUILT = ROOT / "build" / "frames"
# The tags of cells on which no widget rests
APART = {"hosted", "stub", "solution", "check"}
SLIDERS = (ipywidgets.IntSlider, ipywidgets.FloatSlider)
ALLOWED = (*SLIDERS, ipywidgets.SelectionSlider, ipywidgets.Dropdown, ipywidgets.Text)
SOURCE = re.compile(r"(Data: |Computed |No data ).*")
DESCRIPTION = re.compile(r"<dc:description>.*?<", re.DOTALL)


@dataclass(frozen=True)
class Frames:
    """What the site shows of a widget.

    The caption is true at every setting. `values` are those of its controls; a control
    that chooses among values has all of them if it is not named. `labels` are the words
    beside the controls, in place of the names of a function's arguments.
    """

    caption: str
    values: dict[str, tuple]
    labels: dict[str, str] = field(default_factory=dict)


FRAMES = {
    "00_start_here": Frames(
        "Twenty simulated checks, half of the sentences about women and half about "
        "men, drawn from those that were checked: difference of the shares with a "
        "lost gender, with Newcombe's intervals. Google, English to Hebrew.",
        {
            "n": (20, 100, 300, 1000),
            "confidence": (0.5, 0.8, 0.95, 0.99),
            "draw": (1, 2, 3),
        },
        {
            "n": "Sentences that each person checks",
            "confidence": "Confidence",
            "draw": "Draw: which twenty people",
        },
    ),
    "13_five_intervals": Frames(
        "How probable each number of false alarms in the small group is, in imagined "
        "towns; the rate in the large group is five points lower, and the group is "
        "nine times as large. Blue: Welch's 95 % interval contains the true "
        "difference. Orange, hatched: it misses.",
        {"people": (5, 10, 20, 50, 100), "rate": (0.07, 0.15, 0.25, 0.5)},
        {
            "people": "People in the small group",
            "rate": "Rate of false alarms in the small group",
        },
    ),
    "18_setting_a_threshold": Frames(
        "Scores of 200 people in need (upwards) and of 242 others (downwards); a bar "
        "spans five points of score, and the line is the chosen threshold.",
        {"threshold": tuple(range(0, 101, 5))},
        {"threshold": "Threshold"},
    ),
}


@dataclass(frozen=True)
class Widget:
    """A call of `interact`, and the figure that the cell behind it saves."""

    function: Callable
    arguments: dict[str, object]
    figure: str
    caption: str


@dataclass(frozen=True)
class Control:
    """What the site has in place of one of a widget's controls."""

    label: str
    options: tuple[tuple[str, object], ...]  # the words and the value of each
    first: int
    slides: bool


@dataclass(frozen=True)
class Setting:
    """One choice of a value for every control of a widget."""

    places: tuple[int, ...]
    arguments: dict[str, object]
    words: str

    @property
    def key(self) -> str:
        """The name of the setting's picture."""
        return "-".join(map(str, self.places))


@dataclass(frozen=True)
class Jupyter:
    """What a notebook does where there is no Jupyter: it is remembered, not shown."""

    shown: list = field(default_factory=list)
    calls: list = field(default_factory=list)  # of `interact`: function, arguments
    saved: list = field(default_factory=list)  # by `plots.save`: name, caption

    def show(self, *things) -> None:
        """Remember what is shown."""
        self.shown.extend(things)

    def interact(self, function: Callable, **arguments) -> None:
        """Remember a widget."""
        self.calls.append((function, arguments))

    def save(self, figure: plt.Figure, name: str, *, caption: str) -> plt.Figure:
        """Remember which figure is saved, and write nothing."""
        self.saved.append((name, caption))
        plt.close(figure)
        return figure


@contextlib.contextmanager
def without_jupyter() -> Iterator[Jupyter]:
    """Remember what is shown, saved and given to `interact`."""
    jupyter = Jupyter()

    # matplotlib writes an attribute onto `plt.show`, which a method does not allow.
    def show(*figures) -> None:
        jupyter.show(*figures)

    with (
        mock.patch.object(plots, "save", jupyter.save),
        mock.patch.object(plt, "show", show),
        mock.patch.object(IPython.display, "display", jupyter.show),
        mock.patch.object(ipywidgets, "interact", jupyter.interact),
    ):
        yield jupyter


def widget_of(path: Path, jupyter: Jupyter) -> Widget:
    """Run a stored notebook as far as the cell behind its widget; return the widget."""
    cells = []
    for cell in nbformat.read(path, as_version=4).cells:
        tags = set(cell.metadata.get("tags", []))
        if cell.cell_type == "code" and not tags & APART:
            cells.append(cell)

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

    function, arguments = jupyter.calls[-1]
    figure, caption = jupyter.saved[-1]
    return Widget(function, arguments, figure, caption)


def controls_of(widget: Widget, chosen: Frames) -> list[Control]:
    """Return the site's controls for a widget, at the chosen values."""
    named = chosen.values.keys() | chosen.labels.keys()
    unknown = named - widget.arguments.keys()
    if unknown:
        raise ValueError(
            f"values and labels must be of the controls {list(widget.arguments)}, "
            f"found {sorted(unknown)}"
        )
    controls = []
    for name, argument in widget.arguments.items():
        label = chosen.labels.get(name, name.replace("_", " "))
        control = control_of(name, argument, chosen.values.get(name), label=label)
        controls.append(control)
    return controls


def control_of(
    name: str, argument: object, chosen: tuple | None, *, label: str
) -> Control:
    """Return a control of the site for what a notebook gives to `interact`.

    `chosen` are the values at which the site shows it; by default all.
    """
    widget = ipywidgets.interactive.widget_from_abbrev(argument) or argument
    if not isinstance(widget, ALLOWED):
        allowed = ", ".join(kind.__name__ for kind in ALLOWED)
        raise ValueError(
            f"control {name!r} must be one of {allowed}, found {type(widget).__name__}"
        )

    labels = labels_of(widget)
    values = tuple(labels) if chosen is None else chosen
    can_all = all(is_possible(widget, value, labels) for value in values)
    if not can_all or widget.value not in values:
        raise ValueError(
            f"values of control {name!r} must be some that it can take, "
            f"and {widget.value!r} among them, found {list(values)}"
        )

    options = []
    for value in values:
        words = (
            f"{value:,}" if isinstance(widget, SLIDERS) else labels.get(value, value)
        )
        options.append((words, value))
    return Control(
        label=widget.description or label,
        options=tuple(options),
        first=values.index(widget.value),
        slides=isinstance(widget, (*SLIDERS, ipywidgets.SelectionSlider)),
    )


def labels_of(widget) -> dict[object, str]:
    """Return the values among which a control chooses, each with its label."""
    labels = {}
    for option in getattr(widget, "options", ()):
        label, value = option if isinstance(option, tuple) else (str(option), option)
        labels[value] = label
    return labels


def is_possible(widget, value, labels: dict[object, str]) -> bool:
    """Whether a control can take this value."""
    if isinstance(widget, ipywidgets.Text):
        return True
    if not isinstance(widget, SLIDERS):
        return value in labels
    steps = (value - widget.min) / widget.step
    is_whole = math.isclose(steps, round(steps), abs_tol=1e-6)
    return widget.min <= value <= widget.max and is_whole


def settings_of(widget: Widget, controls: list[Control]) -> list[Setting]:
    """Return every combination of the controls' values."""
    settings = []
    ranges = [range(len(control.options)) for control in controls]
    for places in itertools.product(*ranges):
        arguments = {}
        words = []
        for name, control, place in zip(
            widget.arguments, controls, places, strict=True
        ):
            label, arguments[name] = control.options[place]
            words.append(f"{control.label} {label}")
        settings.append(Setting(places, arguments, "; ".join(words)))
    return settings


def source(caption: str) -> str:
    """Return the end of a caption, which says on which data the picture rests."""
    end = SOURCE.search(" ".join(caption.split()))
    if not end:
        raise ValueError(
            "a widget's picture must end its caption with 'Data: ...' or the like, "
            f"found {caption!r}"
        )
    return end.group()


def svg(figure: plt.Figure, name: str, *, caption: str) -> str:
    """Return the figure as `plots.save` writes it under this name.

    `plots.save` labels what is simulated or invented.
    """
    text = io.StringIO()

    def keep(path, write):
        if path.suffix == ".svg":
            write(text)

    with mock.patch.object(plots, "write_whole", keep):
        save(figure, name, caption=caption)
    return text.getvalue()


def described(text: str, caption: str) -> str:
    """Return an SVG with another description."""
    return DESCRIPTION.sub(lambda _: f"<dc:description>{escape(caption)}<", text)


def words(figure: plt.Figure) -> list[str]:
    """Return the texts of a figure's titles and legends."""
    titles = [ax.get_title() for ax in figure.axes]
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes)]
    entries = []
    for legend in legends:
        if legend:
            entries += [text.get_text() for text in legend.get_texts()]
    return [" ".join(text.split()) for text in [*titles, *entries] if text]


def changing(texts_by_setting: dict[str, list[str]]) -> dict[str, str]:
    """Return, for each setting, those of its texts that other settings lack."""
    same = set.intersection(*map(set, texts_by_setting.values()))
    return {
        key: "; ".join(text for text in texts if text not in same)
        for key, texts in texts_by_setting.items()
    }


def html(shown: list, printed: str) -> str:
    """Return what a widget's function displays and prints, as a notebook shows it."""
    parts = [
        re.sub(r"<style.*?</style>", "", table._repr_html_(), flags=re.DOTALL)
        for table in shown
    ]
    if printed.strip():
        parts.append(f"<p>{escape(printed.strip())}</p>")
    return "".join(parts)


def form(controls: list[Control], facts: dict) -> str:
    """Return the controls as HTML, with what the script needs to know.

    They are hidden until the script comes.
    """
    fields = "".join(field_of(control) for control in controls)
    words = [[words for words, _ in control.options] for control in controls]
    data = json.dumps(facts | {"options": words}, ensure_ascii=False)
    data_in_html = data.replace("</", r"<\/")
    count = math.prod(len(control.options) for control in controls)

    return (
        '<form class="frames" aria-label="Settings" autocomplete="off" hidden>\n'
        f"<div>{fields}</div>\n"
        f"<p>{count} settings, computed by the notebook's own code when this site was "
        "made. Where the notebook runs, its controls move freely.</p>\n"
        "<output></output>\n"
        '<script type="application/json">'
        f"{data_in_html}</script>\n"
        "</form>\n"
    )


def field_of(control: Control) -> str:
    """Return one control as HTML: a slider, or a list of choices."""
    if control.slides:
        last = len(control.options) - 1
        field = f'<input type="range" min="0" max="{last}" value="{control.first}">'
    else:
        choices = []
        for place, (words, _) in enumerate(control.options):
            selected = " selected" if place == control.first else ""
            choices.append(
                f'<option value="{place}"{selected}>{escape(words)}</option>'
            )
        field = f"<select>{''.join(choices)}</select>"

    label = escape(control.label)
    return f"<label><span><span>{label}</span> <b></b></span>{field}</label>"


def draw(path: Path, chosen: Frames, folder: Path) -> int:
    """Draw a notebook's widget at the chosen settings into a folder.

    The folder gets the controls too. Returns the number of settings.
    """
    folder.mkdir(parents=True)
    tables = {}
    texts_by_setting = {}
    with without_jupyter() as jupyter, plt.rc_context():
        widget = widget_of(path, jupyter)
        controls = controls_of(widget, chosen)
        caption = f"{chosen.caption} {source(widget.caption)}"
        start = tuple(control.first for control in controls)
        has_narrow = (plots.FIGURES / f"{widget.figure}{NARROW}.svg").exists()

        for setting in settings_of(widget, controls):
            jupyter.shown.clear()
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                widget.function(**setting.arguments)
            if not any(isinstance(thing, plt.Figure) for thing in jupyter.shown):
                tables[setting.key] = html(jupyter.shown, printed.getvalue())
                continue

            (figure,) = jupyter.shown
            texts_by_setting[setting.key] = words(figure)
            figures = {"": figure}
            if has_narrow:
                jupyter.shown.clear()
                widget.function(**setting.arguments, narrow=True)
                (figures[NARROW],) = jupyter.shown

            for suffix, drawn in figures.items():
                text = svg(drawn, f"{widget.figure}{suffix}", caption=widget.caption)
                if setting.places == start:
                    check_first(text, f"{widget.figure}{suffix}")
                picture = described(text, f"{setting.words}. {caption}")
                path = folder / f"{setting.key}{suffix}.svg"
                path.write_text(picture, encoding="utf-8")

    if tables:
        facts = {"tables": tables}
    else:
        pictures = f"../frames/{folder.name}"
        facts = {
            "pictures": pictures,
            "narrow": NARROW if has_narrow else "",
            "said": changing(texts_by_setting),
        }
    facts["caption"] = caption
    (folder / "controls.html").write_text(form(controls, facts), encoding="utf-8")
    return len(texts_by_setting) + len(tables)


def check_first(text: str, name: str) -> None:
    """Raise unless the first setting gives the figure that the notebook saves."""
    if text != (plots.FIGURES / f"{name}.svg").read_text(encoding="utf-8"):
        raise ValueError(
            f"the first setting of a widget must show {name}.svg, found another picture"
        )


def main() -> None:
    """Draw all of `FRAMES`, each in a process of its own.

    A notebook may change what it likes in its process.
    """
    shutil.rmtree(BUILT, ignore_errors=True)
    with ProcessPoolExecutor(max_workers=os.cpu_count(), max_tasks_per_child=1) as pool:
        counts = {}
        for name, chosen in FRAMES.items():
            path = ROOT / "notebooks" / f"{name}.ipynb"
            counts[name] = pool.submit(draw, path, chosen, BUILT / name)

        for name, count in counts.items():
            try:
                print(f"{name}: {count.result()} settings", flush=True)
            except ValueError as error:
                sys.exit(f"{name}: {error}")

    (BUILT / "done").touch()


if __name__ == "__main__":
    main()
