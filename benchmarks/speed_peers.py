"""How long other packages take that audit predictions or use few annotations.

Most of them ask for other versions of common packages than ours do. They are measured
where they are installed, and named in the result where they are not.
`benchmarks/speed.py` asks these questions and writes the answers into its table.
"""

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from speed_frame import Case, memory, seconds
from speed_tables import GROUPS, WORDS, predictions

import fairlib
from fairlib.intervals import annotation

# Import names of the packages, and how they are called.
PEERS = {
    "aequitas": "Aequitas",
    "aif360": "AIF360",
    "ppi_py": "ppi_py",
    "confseq": "confseq",
}
_RUNS_OF_THE_COMMAND = 3
_NOTHING_ELSE = "import numpy, pandas, pyarrow"
# A small process that starts another and prints its processor time and its memory. The
# size of a process counts as at least the size of the process that started it.
_WATCHER = """
import resource, subprocess, sys
nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
subprocess.run([sys.executable, *sys.argv[1:]], check=True, **nowhere)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
"""


def is_installed(name: str) -> bool:
    """Whether a package of `PEERS` can be imported."""
    return find_spec(name) is not None


def not_installed() -> list[str]:
    """Return how the packages are called that are not installed here."""
    return [called for name, called in PEERS.items() if not is_installed(name)]


def audited(n: int = 100_000) -> Iterator[Case]:
    """Audit ten groups, beside packages that give rates without intervals."""
    group, label, prediction = predictions(n)
    frame = pd.DataFrame(
        {
            "group": WORDS[group],
            "label": label.astype(int),
            "prediction": prediction.astype(int),
        }
    ).astype({"group": object})  # Aequitas does not know the newer type for words

    def ours() -> object:
        return fairlib.audit(
            frame, group="group", label="label", prediction="prediction"
        )

    def by_aequitas() -> pd.DataFrame:
        from aequitas.bias import Bias
        from aequitas.group import Group

        renamed = frame.rename(columns={"label": "label_value", "prediction": "score"})
        rates, _ = Group().get_crosstabs(renamed, attr_cols=["group"])
        return Bias().get_disparity_predefined_groups(
            rates,
            original_df=renamed,
            ref_groups_dict={"group": WORDS[0]},
            check_significance=False,
        )

    def by_aif360() -> list[float]:
        from aif360.datasets import BinaryLabelDataset
        from aif360.metrics import ClassificationMetric

        numbers = frame.assign(group=group).astype(float)
        truth = BinaryLabelDataset(
            df=numbers[["group", "label"]],
            label_names=["label"],
            protected_attribute_names=["group"],
        )
        predicted = truth.copy()
        predicted.labels = numbers[["prediction"]].to_numpy()
        rates = []
        for number in range(1, GROUPS):
            metric = ClassificationMetric(
                truth,
                predicted,
                unprivileged_groups=[{"group": number}],
                privileged_groups=[{"group": 0}],
            )
            rates += [
                metric.true_positive_rate_difference(),
                metric.false_positive_rate_difference(),
                metric.statistical_parity_difference(),
            ]
        return rates

    peers = {"aequitas": by_aequitas, "aif360": by_aif360}
    for name, peer in peers.items():
        if is_installed(name):
            yield _beside(
                ours,
                peer,
                question="an audit of ten groups, with intervals and corrections",
                n=n,
                name=f"{PEERS[name]}, rates without intervals",
                reason="the peer computes rates only. We give every difference an "
                "interval and a p-value that are corrected for the number of "
                "differences, draw 999 tables for the metrics of the literature, and "
                "write the findings.",
            )


def annotated(n: int = 100_000) -> Iterator[Case]:
    """Use 5 % annotated examples and guesses for all, beside ppi_py."""
    if not is_installed("ppi_py"):
        return

    rng = np.random.default_rng(n)
    in_a = rng.random(n) < 0.4
    cost = (rng.random(n) < np.where(in_a, 0.2, 0.15)).astype(float)
    guess = np.clip(0.8 * in_a + 0.2 * rng.random(n), 0, 1)
    is_known = rng.random(n) < 0.05
    side = np.where(is_known, np.where(in_a, 1.0, -1.0), np.nan)
    truth = (cost * in_a)[is_known]
    guessed = cost * guess

    def ours() -> object:
        return annotation.prediction_powered(cost, guess, side)

    def peer() -> object:
        from ppi_py import ppi_mean_ci

        return ppi_mean_ci(truth, guessed[is_known], guessed[~is_known], alpha=0.05)

    yield _beside(
        ours,
        peer,
        question="difference of two mean costs, 5 % of the groups annotated",
        n=n,
        name="ppi_py, one of the four means that the difference needs",
        reason="the peer estimates one mean. We estimate four, and check all examples.",
    )


def command(n: int = 1_250_000) -> Iterator[Case]:
    """Audit a CSV file (about 40 MB) from the command line, in a new process."""
    rng = np.random.default_rng(0)
    group, label, prediction = predictions(n)
    table = pd.DataFrame(
        {
            "id": np.arange(n),
            "group": WORDS[group],
            "sex": np.array(["woman", "man"])[rng.integers(2, size=n)],
            "label": label.astype(int),
            "prediction": prediction.astype(int),
            "score": rng.random(n).round(3),
        }
    )
    with TemporaryDirectory() as folder:
        path = Path(folder, "predictions.csv")
        table.to_csv(path, index=False)
        columns = ["--group", "sex", "--label", "label", "--prediction", "prediction"]
        ours = ["-m", "fairlib", "audit", str(path), *columns]
        by_hand = (
            "import pandas, sys; "
            "rows = pandas.read_csv(sys.argv[1], engine='pyarrow', "
            "usecols=['sex', 'label', 'prediction']); "
            "print(rows.groupby(['sex', 'label', 'prediction']).size())"
        )
        peers = {
            "pandas by hand, counts only": ["-c", by_hand, str(path)],
            f"nothing but `{_NOTHING_ELSE}`": ["-c", _NOTHING_ELSE],
        }
        taken, size = _new_process(ours)
        for peer, arguments in peers.items():
            theirs, peer_size = _new_process(arguments)
            yield Case(
                question="the command `fairlib audit` on a CSV file, imports included",
                n=n,
                ours=taken,
                memory=size,
                peer=peer,
                theirs=theirs,
                peer_memory=peer_size,
                other_algorithm=True,
                reason="importing fairlib's own modules and SciPy takes about as long "
                "as importing NumPy, pandas and PyArrow. The rest is the audit. The "
                "memory is that of the whole process.",
            )


def _beside(
    ours: Callable, peer: Callable, *, question: str, n: int, name: str, reason: str
) -> Case:
    """Return the case of two functions that answer different questions."""
    with warnings.catch_warnings():
        # Other packages warn of what they will change.
        warnings.simplefilter("ignore")
        peer()  # the first call imports the package
        theirs = seconds(peer)
        peer_memory = memory(peer)
    return Case(
        question=question,
        n=n,
        ours=seconds(ours),
        memory=memory(ours),
        peer=name,
        theirs=theirs,
        peer_memory=peer_memory,
        other_algorithm=True,
        reason=reason,
    )


def _new_process(arguments: list[str]) -> tuple[float, float]:
    """Return the processor time of the quickest of some processes, and its memory."""
    answers = []
    for _ in range(_RUNS_OF_THE_COMMAND):
        answer = subprocess.check_output(
            [sys.executable, "-c", _WATCHER, *arguments], text=True
        )
        answers.append(tuple(float(number) for number in answer.split()))
    return min(answers)


QUESTIONS = (audited, annotated, command)
