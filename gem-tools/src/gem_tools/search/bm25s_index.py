"""An index ranked by BM25 whose scores were computed as it was built. Engine: bm25s.

Building holds every document's words in memory, and opening reads the whole vocabulary.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import unicodedata
from array import array
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import bm25s  # type: ignore[import-untyped]  # heavy: 0.1 s
import bm25s.stopwords  # type: ignore[import-untyped]
import numpy as np
import Stemmer  # type: ignore[import-not-found]

from gem_tools.search.documents import Document
from gem_tools.search.errors import SearchIndexError
from gem_tools.search.hits import MOST_WORDS, QUESTION_WORDS, Hit, check_search, plain_query
from gem_tools.search.manifest import Language, Manifest

__all__ = ["Bm25sIndex", "Bm25sWriter"]

_WORD = re.compile(r"[^\W_]+")
_DOCUMENTS = "documents.jsonl"
_OFFSETS = "offsets.npy"


class Bm25sWriter:
    """Writes an index into an empty folder. The scores are computed at the end."""

    version = importlib.metadata.version("bm25s")

    def __init__(self, folder: Path, language: Language) -> None:
        self._folder = folder
        self._analyzer = _Analyzer(language)
        self._words: list[list[str]] = []
        self._file = (folder / _DOCUMENTS).open("wb")
        self._offsets = array("q", [0])

    def add(self, document: Document) -> None:
        """Add one document."""
        self._words.append(self._analyzer.every_word(f"{document.title} {document.text}"))
        line = json.dumps(document, ensure_ascii=False).encode() + b"\n"
        self._file.write(line)
        self._offsets.append(self._offsets[-1] + len(line))

    def finish(self) -> None:
        """Compute and write the scores. Nothing can be added any more."""
        self._file.close()
        np.save(self._folder / _OFFSETS, np.frombuffer(self._offsets, dtype=np.int64))
        index = bm25s.BM25(backend="numpy")
        index.index(self._words, show_progress=False)
        index.save(self._folder)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


class Bm25sIndex:
    """An index of `gem-env build-search --engine bm25s`; its scores are memory-mapped."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.manifest = manifest
        self._analyzer = _Analyzer(manifest.language)
        try:
            self._index = bm25s.BM25.load(folder, mmap=True)
            self._offsets = np.load(folder / _OFFSETS, mmap_mode="r")
            self._documents = np.memmap(folder / _DOCUMENTS, mode="r")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SearchIndexError(
                f"bm25s {Bm25sWriter.version} cannot open the index {folder}, which bm25s "
                f"{manifest.engine_version} built ({error}). Build it again with "
                "`gem-env build-search`.",
                path=str(folder),
            ) from error

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        check_search(queries, k)
        word_lists = [self._known_words(query) for query in queries]
        hit_lists = iter(self._search([words for words in word_lists if words], k))
        return [next(hit_lists) if words else [] for words in word_lists]

    def close(self) -> None:
        """Do nothing: the files are unmapped with the last reference to this."""

    def _known_words(self, query: str) -> list[str]:
        words = dict.fromkeys(self._analyzer.telling_words(plain_query(query)))
        return [word for word in islice(words, MOST_WORDS) if word in self._index.vocab_dict]

    def _search(self, queries: list[list[str]], k: int) -> list[list[Hit]]:
        if not queries:
            return []
        rows, scores = self._index.retrieve(
            queries,
            k=min(k, self.manifest.documents),
            show_progress=False,
            backend_selection="numpy",
        )
        hit_lists = []
        for rows_of_query, scores_of_query in zip(rows, scores, strict=True):
            pairs = zip(rows_of_query, scores_of_query, strict=True)
            hit_lists.append(
                [self._hit(int(row), float(score)) for row, score in pairs if score > 0]
            )
        return hit_lists

    def _hit(self, row: int, score: float) -> Hit:
        start = int(self._offsets[row])
        end = int(self._offsets[row + 1])
        id, title, text = json.loads(self._documents[start:end].tobytes())
        return Hit(id, score, title, text)


class _Analyzer:
    """Turns text into words: lower case, without accents, without endings."""

    def __init__(self, language: Language) -> None:
        self._stop_words: frozenset[str] = frozenset()
        self._stem = None
        if language != "none":
            code = "EN" if language == "english" else language.upper()
            stop_words: tuple[str, ...] = getattr(bm25s.stopwords, f"STOPWORDS_{code}")
            if language == "english":
                stop_words += QUESTION_WORDS
            self._stop_words = frozenset(stop_words)
            self._stem = Stemmer.Stemmer(language)

    def every_word(self, text: str) -> list[str]:
        return self._stemmed(_WORD.findall(text.lower()))

    def telling_words(self, text: str) -> list[str]:
        """Leave stop words out, unless there is nothing else."""
        words = _WORD.findall(text.lower())
        return self._stemmed([word for word in words if word not in self._stop_words] or words)

    def _stemmed(self, words: list[str]) -> list[str]:
        if self._stem is not None:
            words = self._stem.stemWords(words)
        return [_without_accents(word) for word in words]


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
