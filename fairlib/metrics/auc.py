"""Areas under the ROC curve that compare scores of two different sets (Borkan et al. 2019), as metrics of kind VBCM."""

from dataclasses import replace

import numpy as np
import pandas as pd

from fairlib.metrics.cells import Cells, background, described
from fairlib.metrics.comparisons import above_background, superiority
from fairlib.metrics.examples import Columns, read
from fairlib.metrics.measuring import tabulate
from fairlib.metrics.table2 import Metric


def _metric(title: str, positives: str, negatives: str) -> Metric:
    @described(title, given="label", needs="positive or negative examples to compare")
    def area(cells: Cells) -> np.ndarray:
        """How often a positive example has a higher probability than a negative one."""
        sets = {"its": cells, "others": background(cells, "complement")}
        above = sets[positives].sample(cells.probability, among=cells.gold)
        return superiority(above, sets[negatives].sample(cells.probability, among=~cells.gold))

    return Metric("VBCM", area, above_background, uses="probabilities", title=title, reference="Borkan et al. 2019")


AUCS: dict[str, Metric] = {
    "SubgroupAUC": _metric("AUC within the group", "its", "its"),
    "BPSN": _metric("AUC, others' positives, its negatives", "others", "its"),
    "BNSP": _metric("AUC, its positives, others' negatives", "its", "others"),
}


def auc(predictions, *, classes=None, **columns) -> pd.DataFrame:
    """Measure the areas under the ROC curve of each group: phi of `AUCS`, not yet compared with that of all examples.

    An area is how often a positive example has a higher probability than a negative one. SubgroupAUC: the group's
    positives against its negatives. BPSN: the background's positives against the group's negatives (low where the group
    is falsely flagged). BNSP: the group's positives against the background's negatives (low where the group is missed).
    The background is all other groups; classes and columns as for `measure`.

    >>> table = pd.DataFrame({"group": list("aabb"), "label": [0, 1, 0, 1], "p_1": [0.2, 0.6, 0.7, 0.9]})
    >>> auc(table, classes=[1]).pivot(index="metric", columns="group", values="value").loc["BPSN"].to_dict()
    {'a': 1.0, 'b': 0.0}
    """
    areas = {name: replace(metric, comparison=lambda whole, group: group) for name, metric in AUCS.items()}
    examples = read(predictions, Columns(**columns), classes=classes)
    return tabulate([(examples, areas)], True)
