"""What can search an index on disk, by name. Each engine is imported when it is first used."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from gem.registry import check_requirements
from gem_tools.search.documents import Document
from gem_tools.search.hits import SearchIndex
from gem_tools.search.manifest import Engine, Language, Manifest

__all__ = ["IndexWriter", "LocalIndex", "local_index", "writer"]

_NEEDS = {
    "tantivy": ["tantivy>=0.25"],
    "bm25s": ["bm25s>=0.2.12", "numpy>=1.26", "PyStemmer>=2.2.0.3"],
}


class IndexWriter(Protocol):
    """Writes an index into an empty folder. `version` is the engine's."""

    version: str

    def add(self, document: Document) -> None:
        """Add one document."""
        ...

    def finish(self) -> None:
        """Write everything to disk. Nothing can be added any more."""
        ...

    def close(self) -> None:
        """Let go of what is open, finished or not."""
        ...


class LocalIndex(SearchIndex, Protocol):
    """An index in a folder of this machine, and what its manifest says."""

    manifest: Manifest


def writer(engine: Engine, folder: Path, language: Language) -> IndexWriter:
    """Return what writes an engine's index. Raises MissingRequirement."""
    check_requirements(_NEEDS[engine], subject=f"An index of {engine}", of="gem-tools")
    if engine == "bm25s":
        from gem_tools.search.bm25s_index import Bm25sWriter

        return Bm25sWriter(folder, language)
    from gem_tools.search.tantivy_index import TantivyWriter

    return TantivyWriter(folder, language)


def local_index(folder: Path) -> LocalIndex:
    """Open an index with the engine that built it. Raises as `open_index` does."""
    manifest = Manifest.read(folder)
    check_requirements(_NEEDS[manifest.engine], subject=f"The index {folder}", of="gem-tools")
    if manifest.engine == "bm25s":
        from gem_tools.search.bm25s_index import Bm25sIndex

        return Bm25sIndex(folder, manifest)
    from gem_tools.search.tantivy_index import TantivyIndex

    return TantivyIndex(folder, manifest)
