"""The drawing of lesson 09: bias amplification when people are hidden."""

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._findings import write_finding

MASKS = (
    "Bias amplification of networks on COCO with none, half and the whole of each "
    "person hidden. Each panel has its own scale. Grey bars: means of 5 runs ± as "
    "printed. Blue: 95 % t intervals over the runs, computed from them. "
    "Data: Wang and Russakovsky (2021), Table 1."
)


def masks(
    mean: DataFrame,
    margin: DataFrame,
    printed_margin: DataFrame,
    *,
    narrow: bool = False,
) -> Figure:
    """Draw three measures of bias amplification under three masks.

    Parameters
    ----------
    mean, margin, printed_margin : DataFrame
        The means, the half-widths of their intervals, and the printed ±: a row for each
        mask, a column for each measure.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each measure.
    """
    figure, axes = plots.page(narrow, panels=(1, 3), heights=(3.1, 6.8))
    places = np.arange(len(mean))

    for ax, name in zip(axes, mean, strict=True):
        ax.vlines(
            places - 0.16,
            mean[name] - printed_margin[name],
            mean[name] + printed_margin[name],
            color="0.6",
            linewidth=5,
            label="± as printed",
        )
        plots.intervals(
            places=places,
            estimate=mean[name],
            low=mean[name] - margin[name],
            high=mean[name] + margin[name],
            ax=ax,
            label="95 % t interval",
        )
        ax.axhline(0, color="black", linewidth=0.8)
        ax.set(
            xticks=places,
            xticklabels=mean.index,
            xlim=(-0.5, 2.5),
            xlabel="of each person hidden",
        )
        # An empty line for the legend, between the finding and the panels' titles.
        below_legend = not narrow or ax is axes[0]
        ax.set_title(f"\n{name}" if below_legend else name)
        if narrow:
            ax.locator_params(axis="y", nbins=5, min_n_ticks=4)
        if narrow or name == "MALS":
            ax.set_ylabel("bias amplification")

    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside upper center",
        ncols=2,
        borderaxespad=3.2 if narrow else 2.0,
    )
    write_finding(
        figure,
        "Five runs leave the means less certain than printed: "
        "intervals are 1.6 times as long",
    )
    return figure
