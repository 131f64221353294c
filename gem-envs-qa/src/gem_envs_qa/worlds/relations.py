"""What is true of things in a world, and the words for it: in questions and in documents.

Every relation is a function: each subject has exactly one object. So every question that is a
chain of relations has exactly one answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

__all__ = ["KINDS", "RELATIONS", "Kind", "Relation"]

Kind = Literal["person", "town", "work", "organisation", "year"]

KINDS: tuple[Kind, ...] = ("person", "town", "work", "organisation")
"""The kinds of things that have documents; years have none."""


class Relation(NamedTuple):
    """One function. `phrases` name the object by its subject, `{}`; `sentences` state a fact.

    A sentence that begins with `{s}` may have a pronoun there. `words` are good to search with.
    """

    name: str
    subject: Kind
    object: Kind
    words: str
    phrases: tuple[str, ...]
    sentences: tuple[str, ...]


_ALL = (
    Relation(
        "birthplace",
        "person",
        "town",
        "born birthplace",
        ("the birthplace of {}", "the town where {} was born"),
        ("{s} was born in {o}.", "{s} first saw the light in {o}.", "{o} is where {s} was born."),
    ),
    Relation(
        "teacher",
        "person",
        "person",
        "teacher taught pupil",
        ("the teacher of {}", "the person who taught {}"),
        ("{s} was a pupil of {o}.", "{s} learned the craft from {o}.", "{o} taught {s}."),
    ),
    Relation(
        "employer",
        "person",
        "organisation",
        "employer worked",
        ("the employer of {}", "the organisation that {} worked for"),
        ("{s} worked for {o}.", "{s} spent a whole career at {o}.", "{o} employed {s}."),
    ),
    Relation(
        "favourite",
        "person",
        "work",
        "favourite admired work",
        ("the favourite work of {}", "the work that {} admired most"),
        ("{s} admired no work more than {o}.", "{s} knew {o} by heart and loved it above all."),
    ),
    Relation(
        "birth_year",
        "person",
        "year",
        "born birth year",
        ("the birth year of {}", "the year in which {} was born"),
        ("{s} came into the world in the year {o}.", "The year {o} saw the birth of {s}."),
    ),
    Relation(
        "governor",
        "town",
        "person",
        "governor governs governed",
        ("the governor of {}", "the person who governs {}"),
        ("{s} is governed by {o}.", "{s} chose {o} as its governor.", "{o} governs {s}."),
    ),
    Relation(
        "mother_town",
        "town",
        "town",
        "settled settlers mother town",
        ("the mother town of {}", "the town from which {} was settled"),
        ("{s} was settled from {o}.", "{s} owes its first families to {o}."),
    ),
    Relation(
        "charter_year",
        "town",
        "year",
        "charter year",
        ("the charter year of {}", "the year in which {} received its charter"),
        ("{s} received its charter in the year {o}.", "The charter of {s} is dated {o}."),
    ),
    Relation(
        "author",
        "work",
        "person",
        "author wrote written",
        ("the author of {}", "the person who wrote {}"),
        ("{s} was written by {o}.", "{s} came from the pen of {o}.", "{o} wrote {s}."),
    ),
    Relation(
        "setting",
        "work",
        "town",
        "setting set takes place",
        ("the setting of {}", "the town where {} is set"),
        ("{s} is set in {o}.", "{s} takes place in the streets of {o}."),
    ),
    Relation(
        "publisher",
        "work",
        "organisation",
        "publisher published printed",
        ("the publisher of {}", "the organisation that published {}"),
        ("{s} was published by {o}.", "{s} was printed for {o}.", "{o} published {s}."),
    ),
    Relation(
        "publication_year",
        "work",
        "year",
        "published publication year",
        ("the publication year of {}", "the year in which {} was published"),
        ("{s} appeared in the year {o}.", "The first copies of {s} are of the year {o}."),
    ),
    Relation(
        "founder",
        "organisation",
        "person",
        "founder founded",
        ("the founder of {}", "the person who founded {}"),
        ("{s} was founded by {o}.", "{s} goes back to {o}.", "{o} founded {s}."),
    ),
    Relation(
        "seat",
        "organisation",
        "town",
        "seat based headquarters",
        ("the seat of {}", "the town where {} has its seat"),
        ("{s} has its seat in {o}.", "{s} meets in a hall in {o}."),
    ),
    Relation(
        "founding_year",
        "organisation",
        "year",
        "founded founding year",
        ("the founding year of {}", "the year in which {} was founded"),
        ("{s} was founded in the year {o}.", "The first members of {s} met in the year {o}."),
    ),
)

RELATIONS: Mapping[str, Relation] = MappingProxyType({relation.name: relation for relation in _ALL})
"""Every relation by its name."""
