"""What a bias benchmark can show: cards of benchmarks, and scores with intervals.

    names, card, Card : the benchmarks that have a card, and what it says
    compare, Comparison : two models on the same items
    read_log : the answers in a log of Inspect or of lm-evaluation-harness
    BenchmarkReport : what `fairlib.benchmark` returns

A score has two intervals. One is for *these* templates (or occupations, or terms): how
far the score would move with other items of the same templates. The other is for
templates *like these*: how far it would move with other templates. A claim about a
model is a claim of the second kind.
"""

from typing import TYPE_CHECKING

from fairlib import _door

if TYPE_CHECKING:
    from fairlib.atlas.benchmark import BenchmarkReport
    from fairlib.atlas.cards import Card, card, names
    from fairlib.atlas.readers import read_log
    from fairlib.atlas.two_models import Comparison, compare

__all__ = [
    "BenchmarkReport",
    "Card",
    "Comparison",
    "card",
    "compare",
    "names",
    "read_log",
]

__getattr__, __dir__ = _door.lazy_names(
    __name__,
    {
        "BenchmarkReport": "fairlib.atlas.benchmark:BenchmarkReport",
        "Card": "fairlib.atlas.cards:Card",
        "Comparison": "fairlib.atlas.two_models:Comparison",
        "card": "fairlib.atlas.cards:card",
        "compare": "fairlib.atlas.two_models:compare",
        "names": "fairlib.atlas.cards:names",
        "read_log": "fairlib.atlas.readers:read_log",
    },
)
