from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from fairlib import plots


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
        written.append([(desk / f"{name}.{kind}").read_bytes() for kind in ("svg", "png")])
    assert written[0] == written[1]


def test_type_is_readable_at_page_width(desk):
    figure = plots.save(example(), "a", caption="Some caption.")
    assert figure.get_figwidth() == plots.WIDTH == 6.5
    sizes = [text.get_fontsize() for text in figure.findobj(mpl.text.Text) if text.get_text()]
    assert min(sizes) >= 8


def test_caption_is_in_the_picture_and_below_the_axes(desk):
    figure = plots.save(example(), "a", caption="Source: nobody. " * 20)
    FigureCanvasAgg(figure).draw()  # `save` closed the figure, which leaves it without a canvas of its own
    caption = next(text for text in figure.texts if "Source" in text.get_text())
    box = caption.get_window_extent()
    assert box.x1 <= figure.bbox.x1  # no line runs over the page
    assert box.y1 <= figure.axes[0].get_tightbbox().y0


def test_heatmap_prints_values_and_says_what_is_missing():
    table = pd.DataFrame({"a": [0.5, np.nan], "b": [0.25, 1.0]}, index=["x", "y"])
    ax = plots.heatmap(table, digits=2)
    assert sorted(text.get_text() for text in ax.texts) == ["0.25", "0.50", "1.00", "n/a"]
    shaded = plots.heatmap(table, shade=table.fillna(1), digits=2, ax=plt.figure().subplots())
    assert sorted(text.get_text() for text in shaded.texts) == ["0.25", "0.50", "1.00", "n/a"]
    infinite = plots.heatmap(table.fillna(np.inf), digits=2, ax=plt.figure().subplots())
    assert sorted(text.get_text() for text in infinite.texts) == ["0.25", "0.50", "1.00", "inf"]


def test_neighbouring_colours_differ_in_grey():
    def luminance(colour):
        return mpl.colors.to_rgb(colour) @ np.array([0.299, 0.587, 0.114])

    greys = [luminance(colour) for colour in plots.COLOURS.values()]
    assert all(abs(a - b) > 0.1 for a, b in pairwise(greys))
