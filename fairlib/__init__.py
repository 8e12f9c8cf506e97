"""How unfair is a classifier, and how sure can we be?

Measure a difference between two groups, with an interval
    disparity_interval : the difference of two groups' mean costs
    bounds : all methods for it, what each of them guarantees, and its reference
    betting, gaps, sequential : bounded costs, gaps among many groups, repeated looks
    planning, annotation : how many examples are needed, and which ones to label
    Interval, resampling : an estimate with its ends; bootstrap, and runs of a training
    discoveries : which of many differences are shown
    coverage : how often the intervals contain the truth, counted exactly

Audit a classifier of your own
    audit : one call on its predictions; the report prints, draws and makes a page
    auditing : the parts of such a report
    tables : counts from data frames, Parquet files and databases

Find out what a bias benchmark can show
    benchmark : the smallest bias that it can show, and what predictions on it show
    atlas : the benchmarks that are known, and what they consist of

Reproduce the papers
    bernstein : Ethayarajh 2020, Bernstein-bounded unfairness
    metrics : Czarnowska et al. 2021, generalized fairness metrics
        measure, measure_sequences, auc : any metric on any table of predictions
        smallest_effect : how large an effect must be to be found
        METRICS, Metric, scores, comparisons, spans : what a metric is made of
        suites, templates : the sentences that the metrics are measured on
    amplification : Wang and Russakovsky 2021, directional bias amplification
    data, load : the tables that come with the project
    ledger : which printed numbers could be reproduced
    plots : one look for all figures

>>> import fairlib
>>> print(fairlib.disparity_interval([1, 0, 0, 1] * 25, [0, 0, 0, 1] * 25))
0.250 [0.116, 0.378] (95% exact_unconditional)

Names are imported when they are first used, so that `import fairlib` stays light.
"""

from typing import TYPE_CHECKING

from fairlib import _door

if TYPE_CHECKING:
    from fairlib import (
        amplification,
        atlas,
        auditing,
        bernstein,
        data,
        ledger,
        metrics,
        plots,
        tables,
    )
    from fairlib import interval as resampling
    from fairlib.atlas.benchmark import benchmark
    from fairlib.auditing.report import audit
    from fairlib.data import load
    from fairlib.interval import Interval
    from fairlib.intervals import (
        annotation,
        betting,
        gaps,
        planning,
        sequential,
    )
    from fairlib.intervals import disparity as bounds
    from fairlib.intervals.disparity import disparity_interval
    from fairlib.intervals.multiplicity import discoveries
    from fairlib.metrics import comparisons, scores
    from fairlib.metrics import sequences as spans
    from fairlib.metrics.measuring import auc, measure
    from fairlib.metrics.power import smallest_effect
    from fairlib.metrics.sequences import measure_sequences
    from fairlib.metrics.table2 import METRICS, Metric
    from fairlib.recipes import coverage, suites, templates

__version__ = "0.2.0"

__all__ = [
    "METRICS",
    "Interval",
    "Metric",
    "amplification",
    "annotation",
    "atlas",
    "auc",
    "audit",
    "auditing",
    "benchmark",
    "bernstein",
    "betting",
    "bounds",
    "comparisons",
    "coverage",
    "data",
    "discoveries",
    "disparity_interval",
    "gaps",
    "ledger",
    "load",
    "measure",
    "measure_sequences",
    "metrics",
    "planning",
    "plots",
    "resampling",
    "scores",
    "sequential",
    "smallest_effect",
    "spans",
    "suites",
    "tables",
    "templates",
]

# Public names outlive moves: these modules are called otherwise, or live deeper.
_MODULES = {
    "annotation": "fairlib.intervals.annotation",
    "betting": "fairlib.intervals.betting",
    "bounds": "fairlib.intervals.disparity",
    "comparisons": "fairlib.metrics.comparisons",
    "coverage": "fairlib.recipes.coverage",
    "gaps": "fairlib.intervals.gaps",
    "planning": "fairlib.intervals.planning",
    "resampling": "fairlib.interval",
    "scores": "fairlib.metrics.scores",
    "sequential": "fairlib.intervals.sequential",
    "spans": "fairlib.metrics.sequences",
    "suites": "fairlib.recipes.suites",
    "templates": "fairlib.recipes.templates",
}
_ROOMS = {
    "amplification": "fairlib.amplification",
    "atlas": "fairlib.atlas",
    "auditing": "fairlib.auditing",
    "bernstein": "fairlib.bernstein",
    "data": "fairlib.data",
    "ledger": "fairlib.ledger",
    "metrics": "fairlib.metrics",
    "plots": "fairlib.plots",
    "tables": "fairlib.tables",
}
_OBJECTS = {
    "METRICS": "fairlib.metrics.table2:METRICS",
    "Interval": "fairlib.interval:Interval",
    "Metric": "fairlib.metrics.table2:Metric",
    "auc": "fairlib.metrics.measuring:auc",
    "audit": "fairlib.auditing.report:audit",
    "benchmark": "fairlib.atlas.benchmark:benchmark",
    "discoveries": "fairlib.intervals.multiplicity:discoveries",
    "disparity_interval": "fairlib.intervals.disparity:disparity_interval",
    "load": "fairlib.data:load",
    "measure": "fairlib.metrics.measuring:measure",
    "measure_sequences": "fairlib.metrics.sequences:measure_sequences",
    "smallest_effect": "fairlib.metrics.power:smallest_effect",
}

__getattr__, __dir__ = _door.lazy_names(__name__, _ROOMS | _MODULES | _OBJECTS)
_door.import_under_public_names(
    {f"{__name__}.{name}": place for name, place in _MODULES.items()}
)
