import re
import runpy
from itertools import pairwise
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from fairlib import Interval, plots
from fairlib.data import ROOT


@pytest.fixture(autouse=True)
def desk(tmp_path, monkeypatch):
    monkeypatch.setattr(plots, "FIGURES", tmp_path)
    with mpl.rc_context():
        mpl.use("agg")
        plots.use_style()
        yield tmp_path
    plt.close("all")


def example():
    figure, ax = plt.subplots()
    plots.intervals([1, 2], [0.1, 0.2], [0.0, 0.1], [0.3, 0.4], ax=ax)
    return figure


def test_figures_are_the_same_byte_for_byte(desk):
    written = []
    for name in ("a", "b"):
        plots.save(example(), name, caption="What it shows. " * 12)
        written.append(
            [(desk / f"{name}.{kind}").read_bytes() for kind in ("svg", "png")]
        )
    assert written[0] == written[1]


def test_a_figure_that_is_shown_is_closed(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    figure = example()
    plots.show(figure)
    assert shown == [figure]
    assert not plt.get_fignums()


def test_type_is_readable_at_page_width(desk):
    figure = plots.save(example(), "a", caption="Some caption.")
    assert figure.get_figwidth() == plots.WIDTH == 6.5
    sizes = [
        text.get_fontsize() for text in figure.findobj(mpl.text.Text) if text.get_text()
    ]
    assert min(sizes) >= 8


def test_caption_is_in_the_picture_and_below_the_axes(desk):
    figure = plots.save(example(), "a", caption="Source: nobody. " * 20)
    FigureCanvasAgg(
        figure
    ).draw()  # `save` closed the figure, which leaves it without a canvas of its own
    caption = next(text for text in figure.texts if "Source" in text.get_text())
    box = caption.get_window_extent()
    assert box.x1 <= figure.bbox.x1  # no line runs over the page
    assert box.y1 <= figure.axes[0].get_tightbbox().y0


def test_a_caption_fits_the_width_of_a_narrow_figure(desk):
    figure = example()
    figure.set_size_inches(plots.NARROW, 3)
    plots.save(figure, "a_narrow", caption="Source: somebody measured. " * 10)
    FigureCanvasAgg(figure).draw()
    caption = next(text for text in figure.texts if "Source" in text.get_text())
    assert caption.get_window_extent().x1 <= figure.bbox.x1


def test_the_svg_has_its_caption_as_a_description_and_no_room_for_it(desk):
    figure = example()
    height = figure.get_figheight()
    plots.save(figure, "a", caption="Shares < 5 %, n = 3 & more.")
    tree = ElementTree.parse(desk / "a.svg")
    assert [
        found.text
        for found in tree.iter("{http://purl.org/dc/elements/1.1/}description")
    ] == ["Shares < 5 %, n = 3 & more."]
    assert tree.getroot().get("height") == f"{72 * height:g}pt"
    assert "Shares" not in "".join(
        re.findall("<!--.*?-->", (desk / "a.svg").read_text())
    )  # text is drawn as paths


def test_pages_have_the_finding_in_place_of_the_picture(desk):
    """Who cannot see a figure learns what it shows, whatever lines it was set in."""
    pages = runpy.run_path(str(ROOT / "notebooks" / "pages.py"))
    caption = "Shares of $n$ people. Data: none."

    plots.save(example(), "without", caption=caption)
    assert pages["in_place"](desk / "without.svg") == "Shares of n people."

    figure = example()
    figure.suptitle("Half of them\nare $p < 5$ % & more")
    plots.save(figure, "with", caption=caption)
    assert pages["in_place"](desk / "with.svg") == "Half of them are p < 5 % & more"
    assert pages["caption"](desk / "with.svg") == caption


def test_a_page_for_phones_has_its_panels_below_each_other(desk):
    wide, panels = plots.page(False, panels=(1, 2), heights=(2, 4))
    narrow, stacked = plots.page(True, panels=(1, 2), heights=(2, 4))
    assert wide.get_size_inches().tolist() == [plots.WIDTH, 2]
    assert narrow.get_size_inches().tolist() == [plots.NARROW, 4]
    assert panels[0].get_position().y0 == panels[1].get_position().y0
    assert stacked[0].get_position().y0 > stacked[1].get_position().y0


def test_a_simulation_says_so_in_the_svg_too(desk):
    figure = example()
    height = figure.get_figheight()
    plots.save(figure, "a", caption="SIMULATION: 25 models.")
    text = (desk / "a.svg").read_text()
    assert (
        "<!-- Simulation -->" in text
        and float(re.search(r'height="([\d.]+)pt"', text)[1]) > 72 * height + 10
    )
    assert figure.texts[0].get_text() == "SIMULATION: 25 models."


def test_heatmap_prints_values_and_says_what_is_missing():
    table = pd.DataFrame({"a": [0.5, np.nan], "b": [0.25, 1.0]}, index=["x", "y"])
    ax = plots.heatmap(table, digits=2)
    assert sorted(text.get_text() for text in ax.texts) == [
        "0.25",
        "0.50",
        "1.00",
        "n/a",
    ]
    shaded = plots.heatmap(
        table, shade=table.fillna(1), digits=2, ax=plt.figure().subplots()
    )
    assert sorted(text.get_text() for text in shaded.texts) == [
        "0.25",
        "0.50",
        "1.00",
        "n/a",
    ]
    infinite = plots.heatmap(table.fillna(np.inf), digits=2, ax=plt.figure().subplots())
    assert sorted(text.get_text() for text in infinite.texts) == [
        "0.25",
        "0.50",
        "1.00",
        "inf",
    ]


@pytest.mark.parametrize("signed", [False, True])
def test_heatmap_prints_on_every_colour_at_a_contrast_of_four_and_a_half(signed):
    shade = pd.DataFrame(np.linspace(-1 if signed else 0, 1, 40)[None, :])
    ax = plots.heatmap(shade, signed=signed, ax=plt.figure().subplots())
    ax.figure.canvas.draw()

    def luminance(colour):
        parts = np.array(mpl.colors.to_rgb(colour))
        return np.where(
            parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4
        ) @ [0.2126, 0.7152, 0.0722]

    backs = ax.collections[0].get_facecolors()
    for text, back in zip(ax.texts, backs, strict=True):
        lower, higher = sorted([luminance(text.get_color()), luminance(back)])
        assert (higher + 0.05) / (lower + 0.05) >= 4.5


def test_neighbouring_colours_differ_in_grey():
    def luminance(colour):
        return mpl.colors.to_rgb(colour) @ np.array([0.299, 0.587, 0.114])

    greys = [luminance(colour) for colour in plots.COLOURS.values()]
    assert all(abs(a - b) > 0.1 for a, b in pairwise(greys))


def test_curves_differ_in_style_and_colour_and_start_again_when_looks_run_out():
    ax = plots.curves(
        [1, 2], {name: [0, 1] for name in "abcde"}, ax=plt.figure().subplots()
    )
    looks = [(line.get_linestyle(), line.get_color()) for line in ax.lines]
    assert [line.get_label() for line in ax.lines] == list("abcde")
    assert len(set(looks[:4])) == 4 and looks[4] == looks[0]


def test_intervals_by_name_stand_side_by_side_at_their_names():
    table = pd.DataFrame(
        {"estimate": [0.1, 0.2], "low": [0.0, 0.1], "high": [0.3, 0.4]},
        index=["x", "y"],
    )
    ax = plots.intervals_by_name(
        {"one": table, "two": table + 1}, spread=0.2, ax=plt.figure().subplots()
    )
    assert [label.get_text() for label in ax.get_yticklabels()] == ["x", "y"]
    drawn = [points.lines[0].get_xydata() for points in ax.containers]
    np.testing.assert_allclose(drawn[0], [[0.1, -0.1], [0.2, 0.9]])
    np.testing.assert_allclose(drawn[1], [[1.1, 0.1], [1.2, 1.1]])


def test_a_logarithmic_axis_has_numbers_at_its_ticks_only():
    ax = plots.log_axis([10, 1000], axis="x", ax=plt.figure().subplots())
    ax.set_xlim(1, 10_000)
    ax.figure.draw_without_rendering()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["10", "1,000"]
    assert not len(ax.xaxis.get_minorticklocs())


def test_a_note_stands_beside_its_point():
    ax = plots.note(
        "here",
        (0.5, 0.5),
        offset=(3, 2),
        edge=True,
        fontsize=7,
        ax=plt.figure().subplots(),
    )
    (text,) = ax.texts
    assert text.get_path_effects()
    assert (
        text.get_text() == "here" and text.xy == (0.5, 0.5) and text.get_fontsize() == 7
    )


def test_intervals_with_ends_of_their_own_are_drawn_there():
    found = [Interval(0.1, 0.0, 0.3), Interval(0.2, 0.1, 0.4)]
    upright, lying = (
        plots.intervals([1, 2], found, ax=plt.figure().subplots(), horizontal=h)
        for h in (False, True)
    )
    bars, lines = (
        ax.containers[0].lines[2][0].get_segments() for ax in (upright, lying)
    )
    np.testing.assert_allclose(bars, [[[1, 0.0], [1, 0.3]], [[2, 0.1], [2, 0.4]]])
    np.testing.assert_allclose(lines, [[[0.0, 1], [0.3, 1]], [[0.1, 2], [0.4, 2]]])


def test_choices_under_which_a_statement_holds_are_marked_and_on_top_stands_the_first():
    choices = pd.DataFrame(
        {"value": [0.1, 0.3, 0.2], "low": 0.0, "high": 0.4, "holds": [1, 0, 1]},
        index=["one", "two", "three"],
    )
    ax = plots.sensitivity(choices, limit=0.25, ax=plt.figure().subplots())
    holds, fails = (container.lines[0] for container in ax.containers)
    np.testing.assert_allclose(holds.get_xydata(), [[0.1, 0], [0.2, 2]])
    np.testing.assert_allclose(fails.get_xydata(), [[0.3, 1]])
    assert holds.get_fillstyle() == "full" and fails.get_fillstyle() == "none"
    assert [text.get_text() for text in ax.get_yticklabels()] == list(choices.index)
    assert ax.get_ylim() == (2.5, -0.5)

    # Without intervals, and where all choices agree, one kind of mark is left.
    bare = choices[["value"]].assign(holds=True)
    ax = plots.sensitivity(bare, ax=plt.figure().subplots())
    assert [container.get_label() for container in ax.containers] == ["holds"]
    bars = ax.containers[0].lines[2][0].get_segments()
    np.testing.assert_allclose(bars[1], [[0.3, 1], [0.3, 1]])
