"""Cards: what an item, a group, a pair and a cluster of a benchmark is.

A card is a small TOML file in `data/atlas/`. It holds counts, a definition of the
published score, and where both were counted. It holds no sentence of any benchmark.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from fairlib.checks import check_word, checked
from fairlib.data import DATA

CARDS = DATA / "atlas"
STATUSES = ("counted", "open")
KINDS = ("share", "difference", "ratio", "mean")
# The score of a model without bias, where the card does not say otherwise.
_FIXED = {"share": 0.5, "difference": 0.0, "ratio": 1.0, "mean": 0.0}


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where the items of a benchmark were counted.

    Attributes
    ----------
    repository : str
        Owner and name of the public repository.
    commit : str
        The version that was read.
    paths : tuple of str
        The files that were read.
    licence : str
        The licence of the benchmark, or that it has none.
    """

    repository: str = ""
    commit: str = ""
    paths: tuple[str, ...] = ()
    licence: str = ""


@dataclass(frozen=True, kw_only=True)
class Items:
    """What is scored, for example a question.

    Attributes
    ----------
    what : str
        What one item is, in the singular.
    number : int
        How many there are.
    """

    what: str = "item"
    number: int | None = None


@dataclass(frozen=True, kw_only=True)
class Groups:
    """What is compared.

    Attributes
    ----------
    what : str
        What the groups are.
    number : int
        How many there are.
    names : tuple of str
        Their names; of two groups, the score is the first compared with the second.
    sizes : dict
        The number of items of each group.
    smallest : int
        The number of items of the smallest group, if `sizes` are not known.
    """

    what: str = "group"
    number: int | None = None
    names: tuple[str, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    smallest: int | None = None


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Items that are matched, and differ in the group only.

    Attributes
    ----------
    what : str
        What one pair is.
    number : int
        How many there are; 0 if the benchmark has none.
    sizes : tuple of int
        The number of pairs of each cluster, if all are known. Otherwise they are
        taken to be proportional to the numbers of items.
    discordant : float
        The share of pairs whose two outcomes differed, if that was measured.
    """

    what: str = "pair"
    number: int = 0
    sizes: tuple[int, ...] = ()
    discordant: float | None = None


@dataclass(frozen=True, kw_only=True)
class Clusters:
    """Items that share something, and so resemble each other.

    Attributes
    ----------
    what : str
        What they share, for example a template.
    number : int
        How many clusters there are.
    sizes : tuple of int
        The number of items of each cluster, if all are known.
    smallest, largest : int
        The number of items of the smallest and the largest cluster.
    shared : bool
        Whether a cluster holds items of several groups, as a template does that is
        filled with every group's terms.
    """

    what: str = "cluster"
    number: int | None = None
    sizes: tuple[int, ...] = ()
    smallest: int | None = None
    largest: int | None = None
    shared: bool = True


@dataclass(frozen=True, kw_only=True)
class Score:
    """How the published score is defined.

    Attributes
    ----------
    kind : {"share", "difference", "ratio", "mean"}
        "share" is the share of items with outcome 1, beside a fixed value. "difference"
        and "ratio" compare the mean outcomes of groups. "mean" is the mean of outcomes.
    definition : str
        The definition in words.
    fixed : float
        The score of a model without bias.
    bounds : tuple of float
        The lowest and the highest outcome of an item.
    unit : {"points", "share"}
        "points" shows shares as percentages.
    weights : {"items", "clusters"}
        Whether all items count alike, or all clusters.
    """

    kind: str
    definition: str = ""
    fixed: float = 0.0
    bounds: tuple[float, float] = (0.0, 1.0)
    unit: str = "points"
    weights: str = "items"


@dataclass(frozen=True, kw_only=True)
class Dependence:
    """How much the items of a cluster resemble each other, as it was measured.

    Attributes
    ----------
    design_effect : float
        The variance of the score over clusters, divided by the variance that it would
        have if pairs were independent (or items, where there are no pairs).
    low, high : float
        An interval for the design effect.
    origin : str
        The released predictions that it was measured on; `from` in the file.
    """

    design_effect: float
    low: float | None = None
    high: float | None = None
    origin: str = ""


@dataclass(frozen=True, kw_only=True)
class Card:
    """What a benchmark consists of, and how its score is defined.

    Attributes
    ----------
    name, title : str
        The name in `atlas.names()`, and the one that people use.
    year : int
        When it was published.
    paper : str
        Where it was published.
    concerns : str
        What is asked, and who is concerned.
    status : {"counted", "open"}
        Whether its items were counted.
    reason : str
        Why not, if they were not.
    notes : tuple of str
        What else one has to know.
    source, items, groups, pairs, clusters, score, dependence
        The tables of the card.
    parts : dict
        The cards of the benchmark's parts, such as categories, by their names.
    """

    name: str
    score: Score
    title: str = ""
    year: int | None = None
    paper: str = ""
    concerns: str = ""
    status: str = "counted"
    reason: str = ""
    notes: tuple[str, ...] = ()
    source: Source = field(default_factory=Source)
    items: Items = field(default_factory=Items)
    groups: Groups = field(default_factory=Groups)
    pairs: Pairs = field(default_factory=Pairs)
    clusters: Clusters = field(default_factory=Clusters)
    dependence: Dependence | None = None
    parts: Mapping[str, "Card"] = field(default_factory=dict)

    @property
    def compares_groups(self) -> bool:
        """Whether the score compares groups, instead of one mean with a fixed value."""
        return self.score.kind in ("difference", "ratio")

    def part(self, name: str) -> "Card":
        """Return the card of a part of the benchmark.

        Parameters
        ----------
        name : str
            The name of the part.

        Returns
        -------
        Card
            The card, with the tables of the part where these differ.

        Raises
        ------
        ValueError
            If there is no such part.
        """
        if not self.parts:
            raise ValueError(f"part must be left out: {self.name} has no parts")
        check_word("part", name, self.parts)
        return self.parts[name]


_TABLES = {
    "source": Source,
    "items": Items,
    "groups": Groups,
    "pairs": Pairs,
    "clusters": Clusters,
    "score": Score,
    "dependence": Dependence,
}
_TEXTS = ("title", "paper", "concerns", "status", "reason")
_TOP = ("name", "year", "notes", *_TEXTS)
_COUNTS = {"number", "smallest", "largest"}
_LISTS = {"paths", "names"}
_CHOICES = {
    "kind": KINDS,
    "weights": ("items", "clusters"),
    "unit": ("points", "share"),
}


def names() -> list[str]:
    """Return the names of all benchmarks that have a card.

    Returns
    -------
    list of str
        The names, in the order of the alphabet.
    """
    return sorted(path.stem for path in CARDS.glob("*.toml"))


def card(source: str | Path | Mapping[str, Any] | Card) -> Card:
    """Return a benchmark's card, by its name, or your own from a file or a dictionary.

    Parameters
    ----------
    source : str, Path, dict or Card
        One of `names()`, the path of a TOML file, or its contents as a dictionary.

    Returns
    -------
    Card
        The card, with every field checked.

    Raises
    ------
    ValueError
        If there is no such card, or if a field is wrong; the error names the field.

    Examples
    --------
    >>> mine = card({"name": "mine", "score": {"kind": "share"}})
    >>> mine.score.fixed
    0.5
    """
    if isinstance(source, Card):
        return source
    if isinstance(source, Mapping):
        return _parsed(source, str(source.get("name", "card")))
    if not isinstance(source, str | Path):
        raise ValueError(
            "card must be a name, a path of a TOML file or a dictionary, "
            f"found {type(source).__name__}"
        )

    path = Path(source)
    if path.suffix != ".toml":
        check_word("name", str(source), names())
        path = CARDS / f"{source}.toml"
    return _read(path)


def _read(path: Path) -> Card:
    """Return the card in a TOML file."""
    try:
        contents = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"card {str(path)!r} does not exist") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"card {str(path)!r} is not TOML: {error}") from None
    return _parsed(contents, path.stem)


def _parsed(contents: Mapping[str, Any], name: str) -> Card:
    """Return the card with these contents; a part inherits what it does not state."""
    _check_fields(name, contents, (*_TOP, *_TABLES, "parts"))
    for needed in ("name", "score"):
        if needed not in contents:
            raise ValueError(f"card {name}: {needed} is missing")

    values: dict[str, Any] = {"name": _text(f"{name}: name", contents["name"])}
    for key in _TEXTS:
        if key in contents:
            values[key] = _text(f"{name}: {key}", contents[key])
    values.setdefault("title", values["name"])
    if "year" in contents:
        values["year"] = _count(f"{name}: year", contents["year"])
    if "notes" in contents:
        values["notes"] = _texts(f"{name}: notes", contents["notes"])
    check_word(f"card {name}: status", values.get("status", "counted"), STATUSES)

    for key in _TABLES:
        if key in contents:
            values[key] = _table(name, key, contents[key])
    result = Card(**values)
    _check_together(result)

    parts = {}
    for part, differing in _mapping(
        f"{name}: parts", contents.get("parts", {})
    ).items():
        parts[part] = _part(contents, part, differing)
    return Card(**values, parts=parts)


def _part(contents: Mapping[str, Any], part: str, differing: object) -> Card:
    """Return the card of a part, from what differs from the whole benchmark."""
    label = f"{contents['name']}.{part}"
    stated = _mapping(label, differing)

    merged: dict[str, Any] = {}
    for key, value in contents.items():
        if key not in ("parts", "notes", "dependence"):
            merged[key] = value
    for key, value in stated.items():
        whole = merged.get(key)
        if isinstance(whole, Mapping) and isinstance(value, Mapping):
            merged[key] = _replaced(whole, value)
        else:
            merged[key] = value

    merged["name"] = label
    if "title" not in stated:
        merged["title"] = f"{contents.get('title', contents['name'])}, {part}"
    return _parsed(merged, label)


def _replaced(whole: Mapping, part: Mapping) -> dict:
    """Return a table of the whole with a part's fields in place of its own.

    Counts of the whole say nothing about a part, so they are not inherited.
    """
    counted = {*_COUNTS, "sizes", "names"}
    if counted & part.keys():
        kept = {key: value for key, value in whole.items() if key not in counted}
        return kept | dict(part)
    return dict(whole) | dict(part)


def _table(name: str, key: str, contents: object) -> Any:
    """Return one table of a card."""
    label = f"{name}: [{key}]"
    values = dict(_mapping(label, contents))
    if key == "dependence" and "from" in values:
        values["origin"] = values.pop("from")
    values.pop("note", None)

    allowed = [one.name for one in fields(_TABLES[key])]
    _check_fields(label, values, allowed)
    for needed in ("kind",) if key == "score" else ():
        if needed not in values:
            raise ValueError(f"card {label}: {needed} is missing")
    if key == "dependence" and "design_effect" not in values:
        raise ValueError(f"card {label}: design_effect is missing")

    checked_values = {
        one: _value(label, key, one, value) for one, value in values.items()
    }
    if key == "score":
        checked_values.setdefault("fixed", _FIXED[checked_values["kind"]])
    return _TABLES[key](**checked_values)


def _value(label: str, table: str, key: str, value: object) -> Any:
    """Return the value of a field, after a check of its type."""
    place = f"{label} {key}"
    if key in _CHOICES:
        check_word(f"card {place}", _text(place, value), _CHOICES[key])
        return value
    if key in _COUNTS:
        return _count(place, value)
    if key in _LISTS:
        return _texts(place, value)
    if key == "sizes":
        return _sizes(place, table, value)

    if key == "shared":
        if not isinstance(value, bool):
            raise ValueError(f"card {place} must be true or false, found {value!r}")
        return value
    if key == "bounds":
        return _bounds(place, value)
    if key in ("fixed", "design_effect", "low", "high", "discordant"):
        return _number(place, key, value)
    return _text(place, value)


def _number(place: str, key: str, value: Any) -> float:
    """Return a finite number; a design effect is positive, a share is a share."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"card {place} must be a number, found {value!r}")
    if key == "discordant":
        checked(f"card {place}", value, "in [0, 1]", lambda x: (x >= 0) & (x <= 1))
    elif key != "fixed":
        checked(f"card {place}", value, "at least 0", lambda x: x >= 0)
    else:
        checked(f"card {place}", value, "finite", np.isfinite)
    return float(value)


def _bounds(place: str, value: Any) -> tuple[float, float]:
    """Return the lowest and the highest outcome."""
    is_pair = isinstance(value, list | tuple) and len(value) == 2
    if not is_pair:
        raise ValueError(f"card {place} must be two numbers, found {value!r}")
    low, high = checked(f"card {place}", value, "two finite numbers", np.isfinite)
    if low >= high:
        raise ValueError(f"card {place} must begin with the lower, found {value!r}")
    return float(low), float(high)


def _sizes(place: str, table: str, value: object) -> Any:
    """Return sizes: of groups by their names, of clusters and of pairs in a list."""
    if table == "groups":
        sizes = _mapping(place, value)
        return {group: _count(f"{place} {group}", n) for group, n in sizes.items()}
    if not isinstance(value, list | tuple):
        raise ValueError(f"card {place} must be a list of counts, found {value!r}")
    return tuple(_count(place, n) for n in value)


def _count(place: str, value: object) -> int:
    """Return a whole number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"card {place} must be a count, found {value!r}")
    return value


def _text(place: str, value: object) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise ValueError(f"card {place} must be a text, found {value!r}")
    return value


def _texts(place: str, value: object) -> tuple[str, ...]:
    """Return several texts; a single one will do."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple):
        raise ValueError(f"card {place} must be a list of texts, found {value!r}")
    return tuple(_text(place, text) for text in texts)


def _mapping(place: str, value: object) -> Mapping[str, Any]:
    """Return a table."""
    if not isinstance(value, Mapping):
        raise ValueError(f"card {place} must be a table, found {value!r}")
    return value


def _check_fields(label: str, contents: Mapping, allowed: tuple | list) -> None:
    """Raise if there is a field that no card has."""
    unknown = [key for key in contents if key not in allowed]
    if unknown:
        raise ValueError(
            f"card {label} has an unknown field {unknown[0]!r}; "
            f"allowed are {', '.join(allowed)}"
        )


def _check_together(one: Card) -> None:
    """Raise if two fields of a card contradict each other."""
    if one.status == "open" and not one.reason:
        raise ValueError(f"card {one.name}: an open card needs a reason")

    score = one.score
    is_beyond = not score.bounds[0] <= score.fixed <= score.bounds[1]
    if not one.compares_groups and is_beyond:
        raise ValueError(
            f"card {one.name}: [score] fixed must lie in bounds, found {score.fixed:g}"
        )
    if score.kind == "ratio" and score.bounds[0] < 0:
        raise ValueError(
            f"card {one.name}: [score] bounds must not be negative for a ratio"
        )

    sizes = one.groups.sizes
    names_of_groups = one.groups.names
    if sizes and names_of_groups and {*sizes} != {*names_of_groups}:
        raise ValueError(f"card {one.name}: [groups] names and sizes must agree")
    for what, known, number in (
        ("groups", len(sizes), one.groups.number),
        ("clusters", len(one.clusters.sizes), one.clusters.number),
    ):
        if known and number is not None and known != number:
            raise ValueError(
                f"card {one.name}: [{what}] number is {number}, but sizes has {known}"
            )

    pairs = one.pairs
    if pairs.sizes and len(pairs.sizes) != one.clusters.number:
        raise ValueError(
            f"card {one.name}: [pairs] sizes must have one number for each cluster, "
            f"found {len(pairs.sizes)} for {one.clusters.number or 0} clusters"
        )
    if pairs.sizes and sum(pairs.sizes) != pairs.number:
        raise ValueError(
            f"card {one.name}: [pairs] sizes must add up to number, {pairs.number}, "
            f"found {sum(pairs.sizes)}"
        )
