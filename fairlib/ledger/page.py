"""The ledger as a page, a picture and a table: figures/ledger.{md,svg,png,csv}."""

import argparse
import sys
from pathlib import Path

import jinja2
import numpy as np
from numpy import ndarray
from pandas import DataFrame, Series, crosstab

from fairlib import ledger, plots
from fairlib.data import FIGURES, load, write_csv, write_whole

_COLOUR_AND_HATCH = {
    "reproduced": ("#0072B2", ""),
    "checked": ("#009E73", "\\\\"),
    "consistent": ("#56B4E9", ""),
    "inconclusive": ("#DDDDDD", ""),
    "differs": ("#D55E00", "//"),
    "open": ("white", ".."),
}


def as_markdown(table: DataFrame, experiments: DataFrame) -> str:
    """Return the ledger as a page of Markdown.

    Parameters
    ----------
    table : DataFrame
        The claims with their statuses, from `assemble`.
    experiments : DataFrame
        The experiments with their verdicts, from `verdicts`.

    Returns
    -------
    str
        The experiments, what the statuses mean, and every claim.
    """
    section_of_claim = table["apart"].where(table["apart"] != "", table["experiment"])
    titles = dict(experiments.index + ": " + experiments["title"])
    titles.update(ledger.APART)
    claims_by_title = {
        title: table[section_of_claim == section].to_dict("records")
        for section, title in titles.items()
    }

    # The template explains the statuses and the rule for verdicts.
    template = Path(__file__).with_name("page.jinja")
    page = jinja2.Template(
        template.read_text(encoding="utf-8"),
        finalize=_cell,
        trim_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    experiments_by_kind = {
        kind: rows.to_dict("index")
        for kind, rows in experiments.groupby("kind", sort=False)
    }
    return page.render(
        sentence=ledger.sentence(experiments),
        kinds=experiments_by_kind,
        statuses=ledger.STATUSES,
        parts=claims_by_title,
        atlas=_claims_of_the_atlas(),
        audits=_published_audits(),
    )


def draw(experiments: DataFrame) -> None:
    """Draw the verdicts: one bar per experiment, with its claims by status.

    Parameters
    ----------
    experiments : DataFrame
        The experiments with their verdicts, from `verdicts`.
    """
    plots.use_style()
    counts = experiments[[*_COLOUR_AND_HATCH]]
    shares = counts.div(counts.sum(axis=1).clip(lower=1), axis=0)

    # Before each kind there is a line of its own for the kind's name.
    kinds = experiments["kind"]
    kind_number = kinds.ne(kinds.shift()).cumsum()
    places = np.arange(len(counts)) + kind_number.to_numpy()
    height = 0.9 + 0.24 * (places[-1] + 1)
    figure, ax = plots.plt.subplots(figsize=(plots.WIDTH, height))

    left = np.zeros(len(counts))
    for status, (colour, hatch) in _COLOUR_AND_HATCH.items():
        bars = ax.barh(
            places,
            shares[status],
            left=left,
            color=colour,
            hatch=hatch,
            edgecolor="black",
            linewidth=0.6,
            label=status,
        )
        ax.bar_label(
            bars,
            labels=counts[status].astype(str).replace("0", ""),
            label_type="center",
            fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4},
        )
        left = left + shares[status].to_numpy()
    for place, verdict in zip(places, experiments["verdict"], strict=True):
        ax.text(1.02, place, verdict, va="center", fontsize=8)
    for first, kind in _first_places(places, kinds).items():
        ax.text(0, first - 1, kind, va="center", fontsize=9, fontweight="bold")

    ax.set_xlabel("share of an experiment's claims that could have failed")
    ax.set_yticks(places, experiments["title"])
    ax.set(xlim=(0, 1), ylim=(places[-1] + 0.7, -0.7))
    ax.legend(ncols=3, loc="lower right", bbox_to_anchor=(1.2, 1.0), frameon=False)
    caption = (
        f"{ledger.sentence(experiments)}. The {len(experiments)} experiments of the "
        "three papers by what they consist of, and the statuses of their claims "
        "(numbers in the bars: how many). Data: figures/ledger.csv."
    )
    plots.save(figure, "ledger", caption=caption)


def main(arguments: list[str]) -> None:
    """Write figures/ledger.{csv,md,svg,png} from what the notebooks recorded.

    Parameters
    ----------
    arguments : list of str
        The words after `python -m fairlib ledger`; there are none but `--help`.
    """
    parser = argparse.ArgumentParser(
        prog="python -m fairlib ledger",
        description="Write figures/ledger.{csv,md,svg,png} from the notebooks' parts.",
    )
    parser.parse_args(arguments)

    table = ledger.assemble()
    experiments = ledger.verdicts(table)
    page = as_markdown(table, experiments)
    write_csv(table, FIGURES / "ledger.csv")
    draw(experiments)
    write_whole(
        FIGURES / "ledger.md",
        lambda path: path.write_text(page, encoding="utf-8"),
    )
    sys.stdout.write(f"ledger: {ledger.sentence(experiments)}\n")


def _first_places(places: ndarray, kinds: Series) -> dict[int, str]:
    """Return the place of the first bar of each kind."""
    return {
        int(place): kind
        for place, kind, before in zip(places, kinds, kinds.shift(), strict=True)
        if kind != before
    }


def _claims_of_the_atlas() -> list[dict]:
    """Return how many printed numbers of the atlas have which status, by quantity."""
    printed = load("atlas_printed", source="bundled")
    statuses = ["reproduced", "possible", "differs"]
    by_quantity = [printed["benchmark"], printed["quantity"]]
    counts = crosstab(by_quantity, printed["status"]).reindex(
        columns=statuses, fill_value=0
    )
    counts.insert(0, "numbers", counts.sum(axis=1))
    return counts.reset_index().to_dict("records")


def _published_audits() -> list[dict]:
    """Return how many printed impact ratios have which verdict, by attribute."""
    ratios = load("local_law_144_ratios", source="bundled")
    follows = ratios["reason"] == "recomputes"
    counts = crosstab(
        [ratios["attribute"], ratios["printed"]],
        ratios["verdict"].where(follows, "open"),
        values=ratios["ratios"],
        aggfunc="sum",
    )
    verdicts = ["shown", "undecided", "excluded", "open"]
    counts = counts.reindex(columns=verdicts).fillna(0).astype(int)
    counts.insert(0, "ratios", counts.sum(axis=1))
    return counts.reset_index().to_dict("records")


def _cell(value: object) -> str:
    """Write a value for a cell of a Markdown table."""
    return str(value).replace("|", "\\|")
