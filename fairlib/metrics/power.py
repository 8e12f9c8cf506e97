"""Say how large an effect must be before a test by exchange of terms would find it.

A test that finds nothing says little unless one knows what it could have found. So an
effect of a known size is put into worlds in which groups make no difference, and the
test is asked in each of them whether it sees the effect.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from numpy.random import Generator
from pandas import DataFrame
from scipy import special, stats

from fairlib.metrics import draws
from fairlib.metrics.examples import ACCUMULATED, Columns, Examples, read
from fairlib.metrics.measuring import ALL_CLASSES, choose, observed, over_draws
from fairlib.metrics.table2 import Metric
from fairlib.metrics.uncertainty import Key, distance, p_value

# The scales of an effect, and the largest effect that is tried on each.
LARGEST: Mapping[str, float] = {"probability": 1.0, "logit": 16.0, "errors": 1.0}
# The search stops when an effect is known up to this share of itself, or up to this
# share of the largest one.
_TOLERANCE = 1 / 32
_TINY = 1 / 2048
# Confidence of the interval for what a finite number of worlds leaves uncertain.
_CONFIDENCE = 0.95
_COLUMNS = ["metric", "class", "group", "effect", "low", "high", "moves"]


def smallest_effect(
    predictions: object,
    metrics: str | Iterable[str] | Mapping[str, Metric],
    *,
    classes: Hashable | Iterable | None = None,
    scale: str = "probability",
    affected: Hashable | Iterable[Hashable] | None = None,
    tested: Hashable = ACCUMULATED,
    level: float = 0.05,
    power: float = 0.8,
    worlds: int = 100,
    exchanges: int = 99,
    group: str = "group",
    label: str | None = "label",
    prediction: str | None = "prediction",
    source: str = "source",
    term: str = "term",
    probability: str = "p_{}",
    rng: Generator | int = 0,
) -> DataFrame:
    """Find the smallest effect that a test by exchange of terms would usually find.

    The test is that of `measure` with `replicates`: whole identity terms change groups
    at random, and p says how often the metric is then as far from "no difference". If
    its answer is no, this function says how large an effect could have hidden from it.

    Parameters
    ----------
    predictions : frame, path or dataset
        Any table that `fairlib.tables` reads, with sources and terms.
    metrics : str, iterable of str or mapping of str to Metric
        What is tested, as for `measure`.
    classes : class or iterable of classes, optional
        The classes to measure, each against the rest. By default all.
    scale : {"probability", "logit", "errors"}
        What an effect of size e does to an example of an affected group.

        - "probability": adds e to the probability of the measured class. A sum above 1
          becomes 1, so an example at .98 moves by .02 at most. The other classes keep
          their proportions.
        - "logit": adds e to the log-odds of the measured class. Nothing has to be cut
          off, but examples near 0 or 1 hardly move.
        - "errors": makes a right prediction wrong with probability e. An example of the
          measured class is then missed, and any other is taken for the measured class.

        On the first two, a prediction changes where another class becomes the most
        probable one.
    affected : group or iterable of groups, optional
        The groups whose terms get the effect. By default the group that is tested, and
        for "accumulated" every second group: the second, the fourth, and so on.
    tested : group or "accumulated", default "accumulated"
        The row of the metric that is tested.
    level : float, default 0.05
        The test finds something where p is at most this.
    power : float, default 0.8
        The share of worlds in which the effect has to be found.
    worlds : int, default 100
        How many worlds without any difference between groups get the effect.
    exchanges : int, default 99
        How often terms are exchanged in each test.
    group, label, prediction, source, term, probability
        The columns, as for `measure`.
    rng : Generator or int, default 0
        Random numbers for worlds and exchanges.

    Returns
    -------
    DataFrame
        One row per metric and class, with these columns:

        - metric, class, and group: what was tested;
        - effect: the smallest one. It is NaN if the test could find nothing, whatever
          the effect; `result.attrs["undefined"]` says why;
        - low, high: the 95 % interval for the effect that infinitely many worlds would
          give. `high` is infinite if the largest effect is found in too few worlds;
        - moves: by how much the effect moves the mean probability of an affected
          example, or its share of errors. It is less than the effect where
          probabilities are cut off at 1, or where examples are wrong already.

        The attributes also hold "affected", the groups that got the effect.

    Raises
    ------
    ValueError
        If there are no sources or terms, if a choice is not one of those above, or if
        an effect on this scale cannot move a metric.

    Notes
    -----
    A world without difference is made from the table itself: its terms change groups
    once, among terms of the same sources, as in the test. Groups keep their numbers of
    terms of each kind, and terms keep their peculiarities, which are the noise that
    hides an effect. A suite may have terms of several kinds, such as nouns and
    adjectives that fill different templates. A test that exchanges them across kinds
    gives groups other templates too, and that noise hides effects. In the suite of
    religions of dossier 04 such a test finds a difference of .1 in hardly any world,
    and the test here finds it in nearly all.

    A probability that reaches 1 stops there. So an effect of .05 moves a model that is
    often sure of itself by less than .05, and `moves` says by how much.

    In each world, bisection finds an effect at which the answer of the test turns from
    no to yes, up to 3 % of the effect and with the same exchanges at every step. The
    result is the quantile `power` of these effects. Its interval comes from order
    statistics and supposes nothing about their distribution.

    The effect is that for one question. If many are asked together, each must pass a
    stricter `level`, and a larger effect can hide.

    The cost is about seven tests in each world. With the default numbers a row of the
    result takes 70,000 values of the metric: some seconds for a suite of a thousand
    sentences, and a minute for one of ten thousand.

    Examples
    --------
    Two groups of eight names in twelve sentences; names differ by about .05:

    >>> import numpy as np, pandas as pd
    >>> source, name = np.indices((12, 16)).reshape(2, -1)
    >>> table = pd.DataFrame({"source": source, "term": name, "group": name // 8})
    >>> table["p_1"] = 0.4 + np.random.default_rng(0).normal(0, 0.05, 16)[name]
    >>> table["p_0"] = 1 - table["p_1"]
    >>> hidden = smallest_effect(table, "AvgGF", classes="1", worlds=20)
    >>> hidden["effect"].round(2).tolist()
    [0.08]

    One name in each group cannot be told from its group:

    >>> lonely = smallest_effect(table[name % 8 == 0], "AvgGF", classes="1")
    >>> lonely["effect"].tolist(), lonely.attrs["undefined"][0]["reason"]
    ([nan], 'the terms can be shared out in only 1 way(s): no p-value is below 1')
    """
    _check_choices(scale, level, power, worlds=worlds, exchanges=exchanges)
    columns = Columns(
        group=group,
        label=label,
        prediction=prediction,
        source=source,
        term=term,
        probability=probability,
    )
    examples = read(predictions, columns, classes=classes)
    design = Design(
        scale=scale,
        affected=_affected_groups(examples, affected, tested),
        tested=tested,
        level=level,
        power=power,
        worlds=worlds,
        exchanges=exchanges,
    )

    lines = []
    undefined = []
    for name, metric in choose(metrics).items():
        for target in examples.measured if metric.per_class else (None,):
            class_name = ALL_CLASSES if target is None else examples.classes[target]
            question = Question(name, metric, target)
            result = search([examples], question, design=design, rng=rng)
            lines.append((name, class_name, tested, *result[:-1]))
            if result.reason:
                keys = {"metric": name, "class": class_name, "group": tested}
                undefined.append({**keys, "reason": result.reason})

    table = DataFrame(lines, columns=_COLUMNS)
    table.attrs["affected"] = [examples.groups[place] for place in design.affected]
    table.attrs["undefined"] = undefined
    return table


def _check_choices(
    scale: str, level: float, power: float, *, worlds: int, exchanges: int
) -> None:
    """Raise unless a test can answer at this level, and worlds can be counted."""
    if scale not in LARGEST:
        raise ValueError(
            f"scale must be one of {', '.join(map(repr, LARGEST))}, found {scale!r}"
        )

    for name, share in (("level", level), ("power", power)):
        if not 0 < share < 1:
            raise ValueError(f"{name} must be between 0 and 1, found {share!r}")

    for name, number in (("worlds", worlds), ("exchanges", exchanges)):
        if not isinstance(number, int | np.integer) or number < 1:
            raise ValueError(
                f"{name} must be a whole number of at least 1, found {number!r}"
            )

    if level * (exchanges + 1) < 1:
        raise ValueError(
            f"exchanges must be at least {math.ceil(1 / level) - 1} for a p-value of "
            f"{level:g}, found {exchanges}"
        )


def _affected_groups(
    examples: Examples, affected: object, tested: Hashable
) -> tuple[int, ...]:
    """Return the places of the groups that get the effect."""
    groups = examples.groups
    if tested != ACCUMULATED and tested not in groups:
        raise ValueError(
            f"tested must be {ACCUMULATED!r} or one of the groups "
            f"{', '.join(map(str, groups))}; found {tested!r}"
        )

    if affected is None and tested == ACCUMULATED:
        return tuple(range(1, len(groups), 2))
    if affected is None:
        return (groups.index(tested),)

    several = isinstance(affected, Iterable) and not isinstance(affected, str)
    names = list(affected) if several else [affected]  # type: ignore[call-overload]
    unknown = [name for name in names if name not in groups]
    if unknown or not names or len({*names}) == len(groups):
        raise ValueError(
            f"affected must be some but not all of the groups "
            f"{', '.join(map(str, groups))}; found {', '.join(map(str, names))}"
        )
    return tuple(groups.index(name) for name in names)


@dataclass(frozen=True, kw_only=True)
class Design:
    """A test, and the effect that it is asked about.

    Parameters
    ----------
    scale, tested, level, power, worlds, exchanges
        As for `smallest_effect`.
    affected : tuple of int
        The places of the groups that get the effect.
    """

    scale: str
    affected: tuple[int, ...]
    tested: Hashable
    level: float
    power: float
    worlds: int
    exchanges: int


class Question(NamedTuple):
    """A metric by its name, and the place of the class that it measures, if any."""

    name: str
    metric: Metric
    target: int | None


class Smallest(NamedTuple):
    """The smallest effect that is found, its interval, or why there is none.

    `moves` is what the effect does to the mean of all examples.
    """

    effect: float
    low: float
    high: float
    moves: float
    reason: str = ""


def _nothing_found(reason: str) -> Smallest:
    """Return the result where a test can find nothing."""
    return Smallest(effect=np.nan, low=np.nan, high=np.nan, moves=np.nan, reason=reason)


def search(
    runs: Sequence[Examples],
    question: Question,
    *,
    design: Design,
    rng: Generator | int,
) -> Smallest:
    """Find the smallest effect for one row of one metric.

    Parameters
    ----------
    runs : sequence of Examples
        The same suite as several runs of a training see it. What is tested is the mean
        of the metric over the runs, of a ratio the geometric one.
    question : Question
        What is tested.
    design : Design
        The test and the effect.
    rng : Generator or int
        Random numbers.

    Returns
    -------
    Smallest
    """
    for run in runs:
        _check_run(run, question, design)
    ways = draws.different_worlds(runs[0], apart=design.tested)
    if ways * design.level < 1:
        reason = (
            f"the terms can be shared out in only {ways} way(s): "
            f"no p-value is below {1 / ways:.2g}"
        )
        return _nothing_found(reason)

    test = _Test([_one_row_per_failure(run, design) for run in runs], question, design)
    generator = np.random.default_rng(rng)
    batches = draws.exchanged(runs[0], design.worlds, generator)
    largest = LARGEST[design.scale]
    guess = largest / 16
    effects: list[float] = []
    for groups_of_terms in np.concatenate([batch.term_group for batch in batches]):
        seed = int(generator.integers(2**62))
        finds = partial(test.finds, groups_of_terms, seed)
        effects.append(_turning_point(finds, guess, largest))

        # Most worlds turn near the others, which saves steps.
        guess = float(np.clip(np.median(effects), _TINY * largest, largest))
    result = _quantile(np.sort(effects), design)
    return result._replace(moves=mean_move(runs, question, design, result.effect))


def mean_move(
    runs: Sequence[Examples], question: Question, design: Design, effect: float
) -> float:
    """Return by how much an effect moves the mean of all examples, if it gets all.

    Parameters
    ----------
    runs, question, design
        As for `search`.
    effect : float
        The size of the effect.

    Returns
    -------
    float
        The mean change of the probability of the measured class, or of the share of
        errors.
    """
    moves = []
    for run in runs:
        if design.scale == "errors":
            change = effect * (run.need("prediction") == run.need("label"))
        else:
            old = run.need("probabilities")[:, question.target]
            change = _shifted(old, design.scale, effect) - old
        moves.append(np.average(change, weights=run.count))
    return float(np.mean(moves))


def _shifted(probability: ndarray, scale: str, effect: float) -> ndarray:
    """Return probabilities after an effect on them."""
    if scale == "probability":
        return np.minimum(probability + effect, 1)
    return special.expit(special.logit(probability) + effect)


def _check_run(run: Examples, question: Question, design: Design) -> None:
    """Raise unless an effect can be put into a run on this scale, and is measured."""
    if not run.source.any() or run.untied:
        raise ValueError(
            "source: terms are exchanged within sources, and at least two sources are "
            "needed; predictions has one or none"
        )

    if design.scale == "errors":
        run.need("label")
        run.need("prediction")
        if question.metric.uses == "probabilities":
            raise ValueError(
                f"scale 'errors' changes predictions, but {question.name} looks at "
                "probabilities; the scales 'probability' and 'logit' move it"
            )
        return

    run.need("probabilities")
    if question.target is None:
        raise ValueError(
            f"scale {design.scale!r} needs a measured class, but {question.name} takes "
            "all classes together; the scale 'errors' may move it"
        )


def _one_row_per_failure(run: Examples, design: Design) -> Examples:
    """Return the run with one row per example where each example fails on its own."""
    if design.scale != "errors" or run.count is None:
        return run
    single = run.only(np.repeat(np.arange(len(run)), run.count))
    return replace(single, count=None)


@dataclass(frozen=True)
class _Test:
    """The test of one row of one metric, on the mean over runs."""

    runs: Sequence[Examples]
    question: Question
    design: Design

    @property
    def key(self) -> Key:
        """The metric, class and group of the row that is tested."""
        name, _, target = self.question
        class_name = ALL_CLASSES if target is None else self.runs[0].classes[target]
        return name, class_name, self.design.tested

    def finds(self, groups_of_terms: ndarray, seed: int, effect: float) -> bool:
        """Whether the test finds an effect in a world where terms have these groups.

        The same seed means the same exchanges and the same errors.
        """
        name, metric, _ = self.question
        values = []
        exchanged = []
        for run in self.runs:
            world = replace(
                run, term_group=groups_of_terms, group=groups_of_terms[run.term]
            )
            moved = np.isin(world.group, self.design.affected)
            rng = np.random.default_rng(seed)
            world = self._with_effect(world, moved, effect, rng.random(len(world)))

            metrics = {name: metric}
            value_of = observed(world, metrics, True, rng).values
            if self.key not in value_of:
                raise ValueError(
                    f"tested: {name} has no row {self.design.tested!r}; its rows are "
                    f"{', '.join(str(key[2]) for key in value_of)}"
                )
            drawn = draws.exchanged(
                world, self.design.exchanges, np.random.default_rng(seed)
            )
            null = over_draws(world, drawn, metrics, keys=value_of, rng=rng)
            values.append(value_of[self.key])
            exchanged.append(null[self.key])

        value = _mean_over_runs(metric, values)
        null_values = _mean_over_runs(metric, exchanged)
        far = distance(metric, value)
        p = p_value(far[0], distance(metric, null_values))
        return bool(p <= self.design.level)

    def _with_effect(
        self, world: Examples, moved: ndarray, effect: float, chance: ndarray
    ) -> Examples:
        """Return the world after an effect on the examples that it moves."""
        target = self.question.target
        if self.design.scale == "errors":
            return _with_errors(world, target, moved & (chance < effect))

        probabilities = world.need("probabilities")
        old = probabilities[:, target]
        new = np.where(moved, _shifted(old, self.design.scale, effect), old)

        # The other classes share what is left as they did before.
        left = np.divide(1 - new, 1 - old, out=np.ones_like(old), where=old < 1)
        shifted = probabilities * left[:, None]
        shifted[:, target] = new

        prediction = world.prediction
        if prediction is not None:
            most_probable = shifted.argmax(axis=1)
            changes = most_probable != probabilities.argmax(axis=1)
            prediction = np.where(changes, most_probable, prediction)
        return replace(world, probabilities=shifted, prediction=prediction)


def _with_errors(world: Examples, target: int | None, fails: ndarray) -> Examples:
    """Return the world with wrong predictions where a right one fails."""
    label = world.need("label")
    prediction = world.need("prediction")

    # The class after the true one stands for any other.
    wrong = (label + 1) % len(world.classes)
    if target is not None:
        wrong = np.where(label == target, wrong, target)
    becomes_wrong = fails & (prediction == label)
    return replace(world, prediction=np.where(becomes_wrong, wrong, prediction))


def _mean_over_runs(metric: Metric, values: Sequence[ndarray]) -> ndarray:
    """Return the mean over runs: of ratios the geometric one."""
    of_runs = np.stack(values)
    if metric.neutral != 1:
        return of_runs.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.exp(np.log(of_runs).mean(axis=0))


def _turning_point(
    finds: Callable[[float], bool], guess: float, largest: float
) -> float:
    """Return the effect at which a test turns from no to yes; or infinity.

    A test that finds something where there is nothing, as it may at its level, turns
    near 0.
    """
    low = 0.0
    high = guess
    while not finds(high):
        if high >= largest:
            return np.inf
        low = high
        high = min(2 * high, largest)

    while high - low > max(_TOLERANCE * high, _TINY * largest):
        middle = (low + high) / 2
        if finds(middle):
            high = middle
        else:
            low = middle
    return high


def _quantile(effects: ndarray, design: Design) -> Smallest:
    """Return a quantile of sorted effects, with an interval from order statistics."""
    worlds = len(effects)
    effect = effects[math.ceil(design.power * worlds - 1e-9) - 1]
    if np.isinf(effect):
        largest = LARGEST[design.scale]
        reason = (
            f"even an effect of {largest:g} ({design.scale}) is found in only "
            f"{np.isfinite(effects).mean():.0%} of the worlds"
        )
        return _nothing_found(reason)

    tail = (1 - _CONFIDENCE) / 2
    below, above = stats.binom.ppf([tail, 1 - tail], worlds, design.power).astype(int)
    low = effects[below - 1] if below > 0 else 0.0
    high = effects[above] if above < worlds else np.inf
    return Smallest(float(effect), float(low), float(high), moves=np.nan)
