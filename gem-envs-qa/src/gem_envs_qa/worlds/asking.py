"""Ask about a world: a chain of relations from one thing, put into words."""

from __future__ import annotations

import random
from typing import NamedTuple

from gem_envs_qa.worlds.facts import Facts
from gem_envs_qa.worlds.relations import RELATIONS, Kind, Relation

__all__ = ["Posed", "pose"]

_WORDINGS: dict[Kind, tuple[str, ...]] = {
    "person": ("Who is {}?", "Name {}."),
    "town": ("What is {}?", "Name {}."),
    "work": ("What is {}?", "Name {}."),
    "organisation": ("What is {}?", "Name {}."),
    "year": ("What is {}?", "State {}."),
}


class Posed(NamedTuple):
    """A question and its only answer, with the kind of thing that it is."""

    question: str
    answer: str
    kind: Kind


def pose(rng: random.Random, facts: Facts, hops: int) -> Posed:
    """Draw a question of `hops` relations; no thing comes twice on the way to the answer."""
    while True:  # ends: most chains are free of circles
        path, chain = _walk(rng, facts, hops)
        if len(set(path)) == len(path):
            break
    phrase = path[0]
    for relation in chain:
        phrase = rng.choice(relation.phrases).format(phrase)
    kind = chain[-1].object
    return Posed(rng.choice(_WORDINGS[kind]).format(phrase), path[-1], kind)


def _walk(rng: random.Random, facts: Facts, hops: int) -> tuple[list[str], list[Relation]]:
    kind = rng.choice(tuple(facts.names))
    path = [rng.choice(facts.names[kind])]
    chain = []
    for left in reversed(range(hops)):
        relation = rng.choice(
            [
                candidate
                for candidate in RELATIONS.values()
                if candidate.subject == kind and (candidate.object != "year" or not left)
            ]
        )
        path.append(facts.objects[relation.name][path[-1]])
        chain.append(relation)
        kind = relation.object
    return path, chain
