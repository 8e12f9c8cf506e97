"""How many examples do five points need, and does each interval keep its word? The tables behind notebook 10.

python benchmarks/coverage.py          print both tables from data/bundled
python benchmarks/coverage.py --build  compute them again first (a quarter of an hour; seeds are in the tables)
"""

from __future__ import annotations

import argparse

import fairlib
from fairlib.bounds import METHODS
from fairlib.data import build


def needed():
    """Examples that exclude 0 at an observed difference of .05, and that find a true one with 80 % power."""
    table = fairlib.load("five_points", source="bundled")
    table["power"] = table["power"].map({0.8: "80 % power"}).fillna("observed")
    independent = table[table["discordant"].isna()].pivot_table(index="method", columns=["power", "error"], values="n")
    paired = table[table["discordant"].notna()].pivot_table(index="method", columns=["power", "discordant"], values="n")
    order = [name for name in METHODS if name in independent.index]
    return independent.loc[order, ["observed", "80 % power"]].astype(int), paired[["observed", "80 % power"]].astype(
        int
    )


def kept():
    """The lowest coverage of each method over the whole grid, with its Monte-Carlo error, and where it is."""
    table = fairlib.load("coverage", source="bundled")
    worst = table.loc[table.groupby("method")["coverage"].idxmin()].set_index("method")
    worst.insert(0, "promises", [METHODS[name].guarantee for name in worst.index])
    columns = ["promises", "coverage", "error", "n", "gamma", "rate", "bias", "discordant"]
    return worst.loc[[name for name in METHODS if name in worst.index], columns]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true", help="compute the tables again")
    if parser.parse_args().build:
        for name in ("five_points", "coverage"):
            print(build(name))
    independent, paired = needed()
    print("Examples needed for five points, balanced groups, by error rate of the better group\n")
    print(independent.to_string())
    print("\nPairs needed for five points, by share of pairs in which exactly one goes wrong\n")
    print(paired.to_string())
    print("\nLowest coverage on the grid (nominal .95)\n")
    print(kept().round(4).to_string())
