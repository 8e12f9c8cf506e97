"""How large the benchmarks of the atlas are, counted from clones of their releases.

A benchmark's card (`data/atlas/<name>.toml`) says in words what an item, a group, a
pair and a cluster is. The numbers come from here: for each benchmark, one function
counts them in the user's clone of a public repository. Nothing else of a benchmark is
kept.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from fairlib.data import DataError
from fairlib.recipes.atlas_counts import (
    coreference,
    people,
    questions,
    sentences,
    words,
)
from fairlib.recipes.atlas_counts.counting import Clone, Counts
from fairlib.recipes.originals import original, recipe

_COREFBIAS = Clone("uclanlp/corefBias", "0bce984dd081bbc10b0622f326727a024c607895")
_WINOGENDER = Clone(
    "rudinger/winogender-schemas", "1c7f8b481ad8a234b41e9f76a424d6e856e13f7f"
)
_MT_GENDER = Clone(
    "gabrielStanovsky/mt_gender", "586292861cf2efdda2dec03c69c3408995a8b293"
)
_GAP = Clone(
    "google-research-datasets/gap-coreference",
    "83135f26025cdd705c04f77e940d0c9201116b80",
)
_FAIR_LLM = Clone(
    "i-gallegos/Fair-LLM-Benchmark", "b21f3912c4722f1b067e646d1cb100771b65095f"
)
_CROWS_PAIRS = Clone("nyu-mll/crows-pairs", "8aaac11c485473159ec9328a65253a5be9a479dc")
_STEREOSET = Clone("moinnadeem/StereoSet", "ead7d086a64a192a1eca88e0dd2fd163de375218")
_EDITBIAS = Clone("zjunlp/EditBias", "5ecfebcf154a40107cf7e885ab0a3c8274378a5b")
_HATECHECK = Clone(
    "paul-rottger/hatecheck-data", "d84302298ceeb34f4b0dde2d8a1f4932c2caa612"
)
_GENDER_BIAS_BERT = Clone(
    "marionbartl/gender-bias-BERT", "c1e28434555f79b59e13e3f5ff87846e653fb553"
)
_UNINTENDED_BIAS = Clone(
    "conversationai/unintended-ml-bias-analysis",
    "9c7d91aaa53406a362354661a93e07956d95e59a",
)
_REDDIT_BIAS = Clone("umanlp/RedditBias", "61f9ae9458e26a64ae1113425192280503f8fb92")
_HONEST = Clone("MilaNLProc/honest", "6efc7817cbeb36e61bba51a34bbce13ecc8af69f")
_RESPONSIBLE_NLP = Clone(
    "facebookresearch/ResponsibleNLP", "0ec714eb084217f44cd9ac466d9e988c795302f9"
)
_BOLD = Clone("amazon-science/bold", "3ad652c773f5d1e30d5f6f61657ed934d768ecad")
_NLG_BIAS = Clone("ewsheng/nlg-bias", "7f8d08ea4f33bf3368c5cb0d0ac5f9c515625546")
_BBQ = Clone("nyu-mll/BBQ", "bea11bd97d79217245b5871acd247b9d6eb24598")
_MBBQ = Clone("Veranep/MBBQ", "adaa40172cdcf52eb403c01954a1aef8b0b1e97d")
_KOBBQ = Clone("naver-ai/KoBBQ", "0dd165aeaaacd1bd46c63513a9b2e9875eb6dce7")
_UNQOVER = Clone("allenai/unqover", "3e47969b78acc0de436f9d17c9ab1b2f6a108ff0")
_SENT_BIAS = Clone("W4ngatang/sent-bias", "e3559fb669ca4832743b42fee715994c15c7f1af")
_COMPAS = Clone(
    "propublica/compas-analysis", "bafff5da3f2e45eca6c2d5055faad269defd135a"
)
_DECODINGTRUST = Clone(
    "AI-secure/DecodingTrust", "161ae8321ced62f45fcd9ceb412e05b47c603cd4"
)
_VISOGENDER = Clone("oxai/visogender", "51ef6c7e87491211c728b18959cd7e588e54988a")


@dataclass(frozen=True)
class Benchmark:
    """How a benchmark is counted.

    Parameters
    ----------
    count : callable
        Returns the counts; it is called with the folders of the clones.
    clones : tuple of Clone
        The clones that it reads.
    """

    count: Callable[..., Counts]
    clones: tuple[Clone, ...]


BENCHMARKS = {
    "bbq": Benchmark(questions.bbq, (_BBQ,)),
    "bec_pro": Benchmark(sentences.bec_pro, (_FAIR_LLM,)),
    "bold": Benchmark(sentences.bold, (_BOLD,)),
    "bug_gold": Benchmark(coreference.bug_gold, (_FAIR_LLM,)),
    "compas": Benchmark(people.compas, (_COMPAS,)),
    "crows_pairs": Benchmark(sentences.crows_pairs, (_CROWS_PAIRS,)),
    "decodingtrust_fairness": Benchmark(
        people.decodingtrust_fairness, (_DECODINGTRUST,)
    ),
    "decodingtrust_stereotypes": Benchmark(
        people.decodingtrust_stereotypes, (_DECODINGTRUST,)
    ),
    "equity_evaluation_corpus": Benchmark(
        sentences.equity_evaluation_corpus, (_GENDER_BIAS_BERT,)
    ),
    "gap": Benchmark(coreference.gap, (_GAP,)),
    "grep_biasir": Benchmark(sentences.grep_biasir, (_FAIR_LLM,)),
    "hatecheck": Benchmark(sentences.hatecheck, (_HATECHECK,)),
    "holistic_bias": Benchmark(sentences.holistic_bias, (_RESPONSIBLE_NLP,)),
    "honest": Benchmark(sentences.honest, (_HONEST,)),
    "identity_suites": Benchmark(people.identity_suites, ()),
    "kobbq": Benchmark(questions.kobbq, (_KOBBQ,)),
    "madlibs": Benchmark(sentences.madlibs, (_UNINTENDED_BIAS,)),
    "mbbq": Benchmark(questions.mbbq, (_MBBQ,)),
    "reddit_bias": Benchmark(sentences.reddit_bias, (_REDDIT_BIAS,)),
    "regard": Benchmark(sentences.regard, (_NLG_BIAS,)),
    "seat": Benchmark(words.seat, (_SENT_BIAS,)),
    "stereoset": Benchmark(sentences.stereoset, (_STEREOSET, _EDITBIAS)),
    "unqover": Benchmark(questions.unqover, (_UNQOVER,)),
    "visogender": Benchmark(people.visogender, (_VISOGENDER,)),
    "weat": Benchmark(words.weat, (_SENT_BIAS,)),
    "winobias": Benchmark(coreference.winobias, (_COREFBIAS,)),
    "winogender": Benchmark(coreference.winogender, (_WINOGENDER,)),
    "winomt": Benchmark(coreference.winomt, (_MT_GENDER,)),
}
CLONES = sorted(
    {clone for benchmark in BENCHMARKS.values() for clone in benchmark.clones},
    key=lambda clone: clone.repository.lower(),
)


def counts_of(name: str) -> pd.DataFrame:
    """Count one benchmark from the user's clones.

    Parameters
    ----------
    name : str
        The benchmark, a name in `BENCHMARKS`.

    Returns
    -------
    DataFrame
        The columns benchmark, part, quantity and value.

    Raises
    ------
    DataError
        If a clone or one of its files is missing, or the clone has another form.
    """
    benchmark = BENCHMARKS[name]
    folders = [original(clone.file) for clone in benchmark.clones]
    try:
        counts = benchmark.count(*folders)
    except FileNotFoundError as error:
        how = " ".join(clone.file.how for clone in benchmark.clones)
        raise DataError(f"{error.filename or error} is not there. {how}") from error

    rows = [
        (name, part or "whole", quantity, value)
        for part, quantities in counts.items()
        for quantity, value in quantities.items()
    ]
    return pd.DataFrame(rows, columns=["benchmark", "part", "quantity", "value"])


@recipe(files=[clone.file for clone in CLONES])
def atlas_counts() -> pd.DataFrame:
    """Items, groups, pairs and clusters of the benchmarks of the atlas."""
    return pd.concat([counts_of(name) for name in BENCHMARKS], ignore_index=True)
