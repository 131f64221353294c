"""Write the library of a world: what is true of each thing, in a document or two, and more.

No document tells of two things; several mention a thing and tell nothing that is asked.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from gem_envs_qa.worlds.facts import Facts
from gem_envs_qa.worlds.relations import RELATIONS, Kind, Relation

__all__ = ["PRONOUNS", "Document", "library"]

PRONOUNS: dict[Kind, tuple[str, ...]] = {
    "person": ("She", "He"),
    "town": ("It",),
    "work": ("It",),
    "organisation": ("It",),
}
"""What stands for a name at the beginning of a sentence."""

_OPENINGS: dict[Kind, tuple[str, ...]] = {
    "person": ("{s} is well remembered by those who met them.", "Little is left of {s} but this."),
    "town": ("{s} lies between two hills.", "Travellers speak kindly of {s}."),
    "work": ("{s} has found many readers.", "Few texts are quoted as often as {s}."),
    "organisation": ("{s} keeps its own records.", "The doors of {s} are open to all."),
}
_FILLERS = (
    "A portrait hangs in the public library.",
    "The records of this were copied twice after a fire.",
    "Some letters on the matter are lost.",
    "A street bears the name.",
    "There is a small exhibition every spring.",
    "Opinions on this have changed over time.",
    "The winters of those days were long.",
)
_EVENTS = (
    ("Market day in {town}", "{person} bought a copy of {work} at the market of {town}."),
    ("A debate at the {organisation}", "{person} and {other} argued about {work} all night."),
    ("Travels of {person}", "{person} passed through {town} and met {other} on the way."),
    ("A reading of {work}", "{other} read from {work} in {town}, and {person} listened."),
)
_OTHERS_IN_EVENTS: tuple[Kind, ...] = ("town", "work", "organisation")
_REMARKS = (
    "Nobody remembers how it ended.",
    "It rained.",
    "The crowd was larger than expected.",
    "A newspaper gave it three lines.",
)


class Document(NamedTuple):
    """One document: what cites it, its title, and its text of one line."""

    id: str
    title: str
    text: str


def library(rng: random.Random, facts: Facts) -> tuple[Document, ...]:
    """Write every document of a world, in a random order; ids count from `d0`."""
    count = sum(map(len, facts.names.values()))
    pages = [*_articles(rng, facts), *(_event(rng, facts) for _ in range(count // 3))]
    rng.shuffle(pages)
    return tuple(Document(f"d{place}", *page) for place, page in enumerate(pages))


def _articles(rng: random.Random, facts: Facts) -> Iterator[tuple[str, str]]:
    for kind, names in facts.names.items():
        relations = [relation for relation in RELATIONS.values() if relation.subject == kind]
        for name in names:
            rng.shuffle(relations)
            cut = rng.choice((len(relations), len(relations) // 2))
            yield name, _article(rng, facts, name, relations[:cut])
            if cut < len(relations):
                yield f"Notes on {name}", _article(rng, facts, name, relations[cut:])


def _article(rng: random.Random, facts: Facts, name: str, relations: list[Relation]) -> str:
    kind = relations[0].subject
    pronoun = rng.choice(PRONOUNS[kind])
    sentences = [
        _sentence(rng, relation, (name, pronoun), facts.objects[relation.name][name])
        for relation in relations
    ]
    sentences += rng.sample(_FILLERS, 2)
    rng.shuffle(sentences)
    return " ".join([rng.choice(_OPENINGS[kind]).format(s=name), *sentences])


def _sentence(rng: random.Random, relation: Relation, names: tuple[str, str], value: str) -> str:
    sentence = rng.choice(relation.sentences)
    subject = rng.choice(names) if sentence.startswith("{s}") else names[0]
    return sentence.format(s=subject, o=value)


def _event(rng: random.Random, facts: Facts) -> tuple[str, str]:
    title, sentence = rng.choice(_EVENTS)
    person, other = rng.sample(facts.names["person"], 2)
    cast = {"person": person, "other": other}
    for kind in _OTHERS_IN_EVENTS:
        cast[kind] = rng.choice(facts.names[kind])
    remarks = " ".join(rng.sample(_REMARKS, 2))
    return title.format(**cast), f"{sentence.format(**cast)} {remarks}"
