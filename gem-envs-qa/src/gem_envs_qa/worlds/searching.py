"""Answer a question by searching: one move at a time, from nothing but what was read so far.

It reads as a person would who knows how such documents are worded. Knows nothing about the world:
not its facts, and of its documents only those that a search has shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gem_envs_qa.worlds.documents import PRONOUNS, Document
from gem_envs_qa.worlds.relations import RELATIONS, Relation

__all__ = ["chain_of", "next_move", "stated"]

_ASKING = re.compile(r"(?:Who is|What is|Name|State) (.+)[?.]")


def next_move(question: str, read: Sequence[Document], searched: Sequence[str]) -> tuple[bool, str]:
    """Return (True, the answer), or (False, what to search for next).

    `read` are the documents that were shown so far, `searched` the queries so far. Where what
    is needed was not found by any query, the answer is empty.
    """
    name, chain = chain_of(question)
    for relation in chain:
        next_name = stated(relation, name, read)
        if next_name is None:
            # The words of a fact last: they find it where a search shows a single document.
            worded = (form.format(s=name, o="") for form in relation.sentences)
            tries = (f"{name} {relation.words}", name, f"Notes on {name}", *worded)
            untried = next((query for query in tries if query not in searched), None)
            return (True, "") if untried is None else (False, untried)
        name = next_name
    return True, name


def chain_of(question: str) -> tuple[str, list[Relation]]:
    """Return the thing that a question starts from, and the relations in the order of the way.

    >>> name, chain = chain_of("Who is the teacher of the author of The Lantern of Osk?")
    >>> name, [relation.name for relation in chain]
    ('The Lantern of Osk', ['author', 'teacher'])
    """
    asking = _ASKING.fullmatch(question)
    phrase = question if asking is None else asking[1]
    chain = []
    while (peeled := _peeled(phrase)) is not None:
        relation, phrase = peeled
        chain.append(relation)
    return phrase, chain[::-1]


def _peeled(phrase: str) -> tuple[Relation, str] | None:
    for relation in RELATIONS.values():
        for form in relation.phrases:
            before, _, after = form.partition("{}")
            if phrase.startswith(before) and phrase.endswith(after):
                return relation, phrase[len(before) : len(phrase) - len(after)]
    return None


def stated(relation: Relation, name: str, read: Iterable[Document]) -> str | None:
    """Return the object of a name as the documents state it; None where none does."""
    titles = (name, f"Notes on {name}")
    subject = "|".join(map(re.escape, (name, *PRONOUNS[relation.subject])))
    value = "[0-9]+" if relation.object == "year" else "[^.]+?"
    forms = [
        re.escape(sentence).replace(r"\{s\}", f"(?:{subject})").replace(r"\{o\}", f"({value})")
        for sentence in relation.sentences
    ]
    pattern = re.compile(rf"(?:^|(?<=\. ))(?:{'|'.join(forms)})")
    for document in read:
        if document.title in titles and (match := pattern.search(document.text)):
            return next(group for group in match.groups() if group is not None)
    return None
