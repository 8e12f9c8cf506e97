"""How many examples do five points need, and does each interval keep its word? The tables behind notebook 10.

python benchmarks/coverage.py          print the tables from data/bundled
python benchmarks/coverage.py needed   compute now what an observed difference of five points needs (half a minute)
python benchmarks/coverage.py build    compute all tables again and bundle them (some minutes; seeds are in the tables)
"""

from __future__ import annotations

import argparse

import pandas as pd
from tqdm import tqdm

import fairlib
from fairlib.bounds import METHODS
from fairlib.coverage import ERRORS
from fairlib.data import build
from fairlib.planning import sample_size


def observed(*, now: bool) -> pd.DataFrame:
    """Examples with which an observed difference of .05 excludes 0, by method and error rate of the better group.

    Beside them what the method promises, and its lowest coverage on the whole grid with the Monte-Carlo error.
    """
    if now:
        names = [name for name, method in METHODS.items() if not method.paired]
        counts = {
            name: [sample_size(0.05, power=None, method=name, error=error) for error in ERRORS]
            for name in tqdm(names, leave=False)
        }
        table = pd.DataFrame(counts, index=[f"error {error:.3g}" for error in ERRORS]).T
    else:
        bundled = fairlib.load("five_points", source="bundled").query("power.isna() and discordant.isna()")
        table = bundled.pivot_table(index="method", columns="error", values="n").astype(int)
        table.columns = [f"error {error:.3g}" for error in table.columns]
    lowest = kept().loc[table.index, ["promises", "coverage", "error"]]
    table = table.join(lowest.rename(columns={"coverage": "lowest coverage", "error": "Monte-Carlo error"}).round(4))
    return table.sort_values("error 0.475", ascending=False)


def with_power() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Examples, and pairs, that find a true difference of .05 in four samples out of five."""
    table = fairlib.load("five_points", source="bundled").query("power == 0.8")
    independent = table[table["discordant"].isna()].pivot_table(index="method", columns="error", values="n")
    paired = table[table["discordant"].notna()].pivot_table(index="method", columns="discordant", values="n")
    return independent.astype(int), paired.astype(int)


def kept() -> pd.DataFrame:
    """The lowest coverage of each method over the whole grid, with its Monte-Carlo error, and where it is."""
    table = fairlib.load("coverage", source="bundled")
    worst = table.loc[table.groupby("method")["coverage"].idxmin()].set_index("method")
    worst.insert(0, "promises", [METHODS[name].guarantee for name in worst.index])
    columns = ["promises", "coverage", "error", "n", "gamma", "rate", "bias", "discordant"]
    return worst.loc[[name for name in METHODS if name in worst.index], columns]


def show(title: str, table: pd.DataFrame) -> None:
    """Print a table below its title."""
    print(f"{title}\n\n{table.to_string()}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("print", "needed", "build"), default="print")
    what = parser.parse_args().what
    if what == "build":
        for name in ("five_points", "coverage"):
            print(build(name))
    show("Examples that exclude 0 at an observed difference of .05, balanced groups", observed(now=what == "needed"))
    if what != "needed":
        independent, paired = with_power()
        show(
            "Examples that find a true difference of .05 with 80 % power, by error rate of the better group",
            independent,
        )
        show("Pairs that do, by share of pairs in which exactly one goes wrong", paired)
        show("Lowest coverage on the grid (nominal .95)", kept().round(4))
