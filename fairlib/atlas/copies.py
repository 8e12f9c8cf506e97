"""Keys of a benchmark's items, read from the user's own copy of the benchmark.

Some releases cannot be bundled as numbers, because their files were not available to
us. Whoever has answers to them has the files, too.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
from pandas import DataFrame

from fairlib import data
from fairlib.atlas.cards import Card, Groups, Items
from fairlib.recipes import atlas_keys

_METADATA = "additional_metadata.csv"
_DISAMBIGUATED = "disambiguated"


def keys_of_copy(folder: Path) -> DataFrame:
    """Return the keys of every question in a copy of BBQ.

    The bundled keys stay as they are. Those of the other categories come from the
    files of the copy. Its table of metadata says which option agrees with the
    stereotype; questions without this are left out.

    Parameters
    ----------
    folder : Path
        The folder of a clone of nyu-mll/BBQ.

    Returns
    -------
    DataFrame
        Columns item, part, group and cluster, and the outcome of each option.

    Raises
    ------
    ValueError
        If the folder lacks the questions, or their metadata.
    """
    bundled = data.load("atlas_keys_bbq", source="bundled")
    targets = _targets(folder)

    rows = []
    for question in _questions(folder):
        name = f"{question['category']}/{question['example_id']}"
        if name in targets:
            rows.append(atlas_keys.key(question, targets[name]))
    if not rows:
        raise ValueError(
            f"keys must be the folder of a copy of BBQ, found no question in "
            f"{str(folder)!r} that its {_METADATA} knows"
        )

    others = atlas_keys.as_table(rows)
    is_new = ~others["item"].isin(bundled["item"])
    return pd.concat([bundled, others[is_new]], ignore_index=True)


def with_every_part(card: Card) -> Card:
    """Return BBQ's card with a part for every category's disambiguated questions.

    Parameters
    ----------
    card : Card
        The card of BBQ.

    Returns
    -------
    Card
        The card. The parts that it lacked have no plan, because the sizes of their
        groups were not counted.
    """
    whole = card.parts[_DISAMBIGUATED]
    parts = dict(card.parts)
    for category in card.groups.sizes:
        name = f"{category}_{_DISAMBIGUATED}"
        if name in parts:
            continue

        title = parts[category].title.replace("ambiguous", _DISAMBIGUATED)
        parts[name] = replace(
            whole,
            name=f"{card.name}.{name}",
            title=title,
            items=Items(what=whole.items.what),
            groups=Groups(what=whole.groups.what, number=2, names=whole.groups.names),
            clusters=replace(parts[category].clusters, shared=True),
        )
    return replace(card, parts=parts)


def _questions(folder: Path) -> Iterator[dict]:
    """Return the questions in the files of a copy."""
    for path in sorted(folder.rglob("*.jsonl")):
        if path.parent.name != "data":
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                yield json.loads(line)


def _targets(folder: Path) -> dict[str, int]:
    """Return the option that agrees with the stereotype, by the name of a question."""
    paths = sorted(folder.rglob(_METADATA))
    if not paths:
        raise ValueError(
            f"keys must be the folder of a copy of BBQ, found no file {_METADATA} in "
            f"{str(folder)!r}"
        )

    table = pd.read_csv(paths[0], usecols=["category", "example_id", "target_loc"])
    known = table.dropna(subset="target_loc")
    names = known["category"] + "/" + known["example_id"].astype(str)
    return dict(zip(names, known["target_loc"].astype(int), strict=True))
