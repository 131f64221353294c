"""One world as a whole: its facts, its library and the index over it, made once a process."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from gem.env import stream
from gem_envs_qa.worlds.bm25 import Index
from gem_envs_qa.worlds.documents import Document, library
from gem_envs_qa.worlds.facts import Facts, invented

__all__ = ["World", "world"]

_KEPT = 64


@dataclass(frozen=True, slots=True)
class World:
    """A world. Its parts are shared between episodes: read them only."""

    facts: Facts
    documents: tuple[Document, ...]
    index: Index

    def search(self, query: str, *, k: int) -> list[Document]:
        """Return up to `k` documents, the best match first."""
        return [self.documents[place] for place in self.index.search(query, k=k)]


@functools.lru_cache(maxsize=_KEPT)
def world(worlds: str, number: int, entities: int) -> World:
    """Return world `number` of the set `worlds`; the arguments alone determine it.

    A world of 200 things has about 400 documents, and takes some 30 ms and 1 MB; the 64 that
    were used last are kept.
    """
    # One stream for all of it: a draw more or fewer anywhere makes every world another one, and
    # no recorded episode can be replayed.
    rng = stream("qa-world", worlds, number, entities)
    facts = invented(rng, entities)
    documents = library(rng, facts)
    # A title says what a document is about, so its words count twice.
    index = Index([f"{document.title} {document.title} {document.text}" for document in documents])
    return World(facts, documents, index)
