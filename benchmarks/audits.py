"""How often an audit is right: simulated models whose truth is known, audited often.

`python benchmarks/audits.py` writes benchmarks/audits.md, in some minutes. What an
earlier version did with the same data is kept beside it in benchmarks/audits.csv.
`--as before` records the version that is installed as the earlier one; `--quick` takes
a tenth of the audits and writes nothing.
"""

# ruff: noqa: E402
import os

# NumPy reads these once, when it is imported.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import argparse
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from audits_options import CASES as OPTIONS
from audits_worlds import CASES as WORLDS
from audits_worlds import Case

from fairlib.data import write_csv, write_whole

CASES = [*WORLDS, *OPTIONS]

RESULT = Path(__file__).with_name("audits.md")
INTRODUCTION = """\
# How often an audit is right

Simulations: models whose truth is known, audited again and again, by an earlier \
version and by this one on the same
data. In brackets the Monte Carlo error (one standard error). A claim is a difference \
that is "shown", or a summary
metric that is "more than chance", where the truth has none; base rates alone move \
ParityGap, F1, how often a class is predicted and how reliably,
and do not count. The earlier version knew neither costs nor weights. Aims are the \
most, or the least (≥), that is
promised. `python benchmarks/audits.py` writes it.

"""
AIMS = {
    "any claim by a comparison": "5 %",
    "any claim by a summary metric": "5 %",
    "any claim at all": "5 %",
    "p of 5 % or less": "5 %",
    "a ratio whose interval excludes 1": "5 %",
    "a group said to be under 4/5": "5 %",
    "intervals of the gap's change that hold the truth": "≥ 95 %",
    "intervals that hold the truth": "≥ 93 %",
    "intervals of findings that miss it": "5 %",
    "differences beyond the margin that are ruled out": "5 %",
}


def measured(case: Case, audits: int) -> dict[str, tuple[float, float]]:
    """Return each quantity's share, estimated, with its standard error.

    The share is that of an infinity of audits; it is NaN without a trial. Tallies of
    one audit belong together, so that the error is that of a ratio of sums over audits.
    """
    seed = np.random.SeedSequence([*case.name.encode()])
    tallies = [case.once(np.random.default_rng(child)) for child in seed.spawn(audits)]
    estimates = {}
    for quantity in tallies[0]:
        pairs = [tally[quantity] for tally in tallies]
        hits, trials = np.array(pairs, dtype=float).T
        if trials.sum():
            share = hits.sum() / trials.sum()
            deviation = (hits - share * trials).std(ddof=1)
            error = deviation * np.sqrt(audits) / trials.sum()
            estimates[quantity] = (share, error)
        else:
            estimates[quantity] = (np.nan, np.nan)

    return estimates


def run(*, share: float = 1.0) -> pd.DataFrame:
    """Measure all cases with this version: one row per case and quantity."""
    audits = [max(2, int(case.audits * share)) for case in CASES]
    rows = []
    with ProcessPoolExecutor(max_workers=2) as pool:
        results = [
            pool.submit(_by_place, place, size) for place, size in enumerate(audits)
        ]
        for case, size, result in zip(CASES, audits, results, strict=True):
            for quantity, (estimate, error) in result.result().items():
                rows.append((case.name, quantity, size, estimate, error))
    return pd.DataFrame(rows, columns=["case", "quantity", "audits", "share", "error"])


def _by_place(place: int, audits: int) -> dict[str, tuple[float, float]]:
    """Measure the case at this place: closures do not travel between processes."""
    return measured(CASES[place], audits)


def _percent(share: float, error: float) -> str:
    """Return a share with its error in brackets."""
    return "–" if np.isnan(share) else f"{100 * share:.1f} % ({100 * error:.1f})"


def written(rows: pd.DataFrame) -> str:
    """Return the table in Markdown."""
    lines = [
        "| truth | what | audits | aim | before | now |",
        "| :-- | :-- | --: | --: | --: | --: |",
    ]
    for row in rows.to_dict("records"):
        cells = [
            row["case"],
            row["quantity"],
            f"{row['audits']:,}",
            AIMS.get(row["quantity"], ""),
            _percent(row["share_before"], row["error_before"]),
            _percent(row["share_now"], row["error_now"]),
        ]
        lines.append(f"| {' | '.join(cells)} |")

    return INTRODUCTION + "\n".join(lines) + "\n"


def main() -> None:
    """Run, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--as", dest="when", choices=("before", "now"), default="now")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()

    rows = run(share=0.1 if options.quick else 1.0)
    if options.quick:
        print(rows.to_string())
        return

    data = RESULT.with_suffix(".csv")
    rows = rows.rename(
        columns={name: f"{name}_{options.when}" for name in ("share", "error")}
    )
    if options.when == "now":
        key = ["case", "quantity"]
        before = pd.read_csv(data)[[*key, "share_before", "error_before"]]
        rows = rows.merge(before, on=key, how="left")
        text = written(rows)
        write_whole(RESULT, lambda path: path.write_text(text, encoding="utf-8"))
    write_csv(rows.round(5), data)


if __name__ == "__main__":
    main()
