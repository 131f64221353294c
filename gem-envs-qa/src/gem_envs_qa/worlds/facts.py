"""Make up what is true in a world. Knows nothing about documents and questions."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gem_envs_qa.worlds.names import Names
from gem_envs_qa.worlds.relations import KINDS, RELATIONS, Kind

__all__ = ["Facts", "invented"]

_YEARS = range(1000, 2000)


class Facts(NamedTuple):
    """The things of a world by kind, and the object of each subject in each relation."""

    names: Mapping[Kind, tuple[str, ...]]
    objects: Mapping[str, Mapping[str, str]]

    def kind_of(self, name: str) -> Kind:
        """Return the kind of a thing. Raises StopIteration for a name that is none."""
        return next(kind for kind, names in self.names.items() if name in names)


def invented(rng: random.Random, entities: int) -> Facts:
    """Invent `entities` things, two fifths of them people, and the facts about them.

    Objects are dealt evenly: no answer is likelier than another by more than the remainder of a
    division, so nobody does well by always saying the same.
    """
    draw = Names(rng)
    few = entities // 5
    counts = {"person": entities - 3 * few, "town": few, "work": few, "organisation": few}
    names = {kind: tuple(getattr(draw, kind)() for _ in range(counts[kind])) for kind in KINDS}
    objects = {}
    for relation in RELATIONS.values():
        subjects = names[relation.subject]
        if relation.object == "year":
            dealt = [str(year) for year in rng.sample(_YEARS, len(subjects))]
        elif relation.object == relation.subject:
            subjects, dealt = _in_a_ring(rng, subjects)
        else:
            dealt = _dealt(rng, names[relation.object], len(subjects))
        objects[relation.name] = dict(zip(subjects, dealt, strict=True))
    return Facts(names, objects)


def _in_a_ring(rng: random.Random, names: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Pair each name with its neighbour in a random ring, so that none is paired with itself."""
    ring = rng.sample(names, len(names))
    return tuple(ring), [*ring[1:], ring[0]]


def _dealt(rng: random.Random, names: Sequence[str], count: int) -> list[str]:
    """Deal so many names, each as often as any other, but for those of the last round."""
    dealt: list[str] = []
    while len(dealt) < count:
        dealt += rng.sample(names, len(names))
    return dealt[:count]
