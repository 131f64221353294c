"""An index on disk that is memory-mapped and ranked by BM25: the default. Engine: tantivy.

Query text never meets tantivy's query language: a query is made of its words, one term each.
"""

from __future__ import annotations

import importlib.metadata
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import tantivy  # 15 ms

from gem_tools.search.documents import Document
from gem_tools.search.errors import SearchIndexError
from gem_tools.search.hits import MOST_WORDS, QUESTION_WORDS, Hit, check_search, plain_query
from gem_tools.search.manifest import Language, Manifest

__all__ = ["TantivyIndex", "TantivyWriter"]

_ANALYZER = "gem"
_LONGEST_WORD_BYTES = 64
_WRITER_BYTES = 128 * 1024 * 1024
_SEARCHED = ("title", "text")
_FREQUENCIES = "freq"  # how often each word stands in a document, and not where


class TantivyWriter:
    """Writes an index into an empty folder. One thread, so that every build is the same."""

    version = importlib.metadata.version("tantivy")

    def __init__(self, folder: Path, language: Language) -> None:
        index = tantivy.Index(_schema(), path=str(folder))
        index.register_tokenizer(_ANALYZER, _analyzer(language))
        self._writer = index.writer(heap_size=_WRITER_BYTES, num_threads=1)

    def add(self, document: Document) -> None:
        """Add one document. Raises OSError where the disk is full, or the like."""
        row = tantivy.Document(id=document.id, title=document.title, text=document.text)
        try:
            self._writer.add_document(row)
        except ValueError as error:
            raise OSError(f"tantivy could not write it: {error}") from error

    def finish(self) -> None:
        """Write what was added. Nothing can be added any more. Raises as `add` does."""
        try:
            self._writer.commit()
            self._writer.wait_merging_threads()
        except ValueError as error:
            raise OSError(f"tantivy could not write it: {error}") from error

    def close(self) -> None:
        """Let go of what was not finished; its threads have ended afterwards."""
        del self._writer


class TantivyIndex:
    """An index of `gem-env build-search`: opened in a millisecond, shared by many processes."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.manifest = manifest
        self._searcher, self._schema = _opened(folder, manifest)
        self._every_word = _analyzer(manifest.language)
        self._telling_words = _analyzer(manifest.language, leaves_out_stop_words=True)

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        check_search(queries, k)
        return [self._search(plain_query(query), k) for query in queries]

    def close(self) -> None:
        """Do nothing: the files are unmapped with the last reference to this."""

    def _search(self, query: str, k: int) -> list[Hit]:
        words = self._telling_words.analyze(query) or self._every_word.analyze(query)
        terms = [
            (tantivy.Occur.Should, self._term(field, word))
            for word in islice(dict.fromkeys(words), MOST_WORDS)
            for field in _SEARCHED
        ]
        if not terms:
            return []
        result = self._searcher.search(tantivy.Query.boolean_query(terms), k, count=False)
        return [self._hit(score, address) for score, address in result.hits]

    def _term(self, field: str, word: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, word, _FREQUENCIES)

    def _hit(self, score: float, address: tantivy.DocAddress) -> Hit:
        document = self._searcher.doc(address)
        id, title, text = (str(document.get_first(field)) for field in ("id", *_SEARCHED))
        return Hit(id, score, title, text)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    for field in _SEARCHED:
        builder.add_text_field(
            field, stored=True, tokenizer_name=_ANALYZER, index_option=_FREQUENCIES
        )
    return builder.build()


def _analyzer(language: Language, *, leaves_out_stop_words: bool = False) -> tantivy.TextAnalyzer:
    """Return what turns text into words: lower case, without accents, without endings."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    builder = builder.filter(tantivy.Filter.remove_long(_LONGEST_WORD_BYTES))
    builder = builder.filter(tantivy.Filter.lowercase())
    if language != "none":
        if leaves_out_stop_words:
            builder = builder.filter(tantivy.Filter.stopword(language))
            if language == "english":
                builder = builder.filter(tantivy.Filter.custom_stopword(list(QUESTION_WORDS)))
        builder = builder.filter(tantivy.Filter.stemmer(language))
    return builder.filter(tantivy.Filter.ascii_fold()).build()


@contextmanager
def _links_folder() -> Iterator[str]:
    """Give an empty folder, and remove it: twice, for a file may come while it is removed."""
    folder = tempfile.TemporaryDirectory(prefix="gem-search-", ignore_cleanup_errors=True)
    try:
        with folder as links:
            yield links
    finally:  # an index that could not be opened leaves nothing behind either
        shutil.rmtree(folder.name, ignore_errors=True)


def _opened(folder: Path, manifest: Manifest) -> tuple[tantivy.Searcher, tantivy.Schema]:
    """Open the index by way of links: tantivy writes lock files beside what it opens.

    So the folder may be read-only and many processes do not wait for each other. Once the
    files are mapped the links have done their work.
    """
    try:
        # A thread of tantivy's may still take its lock there while the folder is removed. What is
        # then left is a lock file, and no reason to refuse the index, which is open.
        with _links_folder() as links:
            for name in manifest.files:
                Path(links, name).symlink_to((folder / name).absolute())
            index = tantivy.Index.open(links)
            index.config_reader("manual")
            return index.searcher(), index.schema
    except (OSError, ValueError) as error:
        raise SearchIndexError(
            f"tantivy {TantivyWriter.version} cannot open the index {folder}, which tantivy "
            f"{manifest.engine_version} built ({error}). Build it again with "
            "`gem-env build-search`.",
            path=str(folder),
        ) from error
