"""Build an index: whole, in the folder that was asked for, or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from gem.errors import BadArguments, DataError
from gem_tools.search.documents import Document, Fields, Source, read_documents
from gem_tools.search.engines import writer
from gem_tools.search.errors import SearchIndexError
from gem_tools.search.manifest import ENGINES, LANGUAGES, Engine, Language, Manifest

__all__ = ["Progress", "build_index"]

Progress = Callable[[int, "float | None"], None]
"""Told how many documents were added, and how much of the source was read: 0 to 1, or None."""

_LOCK = ".lock"
_TELL_EVERY = 1000


def build_index(
    source: Source,
    out: str | os.PathLike[str],
    *,
    engine: Engine = "tantivy",
    language: Language = "english",
    fields: Fields = Fields(),  # noqa: B008 - a tuple, which nobody can change
    on_progress: Progress | None = None,
) -> Manifest:
    """Build an index of the documents of `source` in the new folder `out`.

    It is built beside `out` and moved there when it is whole. A build that was killed leaves
    `out` absent and `OUT.building` behind, which the next one clears away. Raises DataError on
    a source that cannot be read, SearchIndexError on a folder that cannot be written, and
    MissingRequirement where the engine is not installed.
    """
    _check_choice("engine", engine, ENGINES)
    _check_choice("language", language, LANGUAGES)
    target = Path(out).absolute()
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise _unbuildable(target, "it is there already. Name another folder, or remove that one")
    try:
        with _building(target) as folder:
            manifest = _write(folder, source, engine, language, fields, on_progress)
            manifest.write(folder)
            (folder / _LOCK).unlink()
            folder.rename(target)
    except OSError as error:
        raise _unbuildable(target, f"{error}. Check the folder and the room on its disk") from error
    return manifest


def _check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise BadArguments(
            f"{name}={value!r} was asked for. It is one of {', '.join(choices)}.", subject=name
        )


def _write(
    folder: Path,
    source: Source,
    engine: Engine,
    language: Language,
    fields: Fields,
    on_progress: Progress | None,
) -> Manifest:
    digest = hashlib.sha256()
    count = 0
    name = str(source) if isinstance(source, (str, Path)) else type(source).__name__
    with closing(writer(engine, folder, language)) as index:
        for count, (document, read) in enumerate(read_documents(source, fields), 1):
            index.add(document)
            digest.update(_bytes(document))
            if on_progress is not None and count % _TELL_EVERY == 0:
                on_progress(count, read)
        if not count:
            raise DataError(
                f"{name} holds no documents. Give at least one, as a line of JSON.", source=name
            )
        index.finish()
    return Manifest(
        engine=engine,
        engine_version=index.version,
        language=language,
        documents=count,
        source=name,
        fields=fields._asdict(),
        digest=f"sha256:{digest.hexdigest()}",
        files={file.name: file.stat().st_size for file in sorted(folder.glob("[!.]*"))},
    )


def _bytes(document: Document) -> bytes:
    """Return bytes that no other document has: every part comes after its length."""
    parts = [part.encode() for part in document]
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


@contextmanager
def _building(target: Path) -> Iterator[Path]:
    """Give an empty folder beside the target to one process, and leave none behind."""
    folder = target.with_name(f"{target.name}.building")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.path.samestat(os.fstat(lock.fileno()), (folder / _LOCK).stat())
        except (BlockingIOError, FileNotFoundError):  # held, or moved away with a finished index
            is_ours = False
        if not is_ours:
            raise _unbuildable(target, "another process is building it. Wait for that one")
        try:
            for left in folder.iterdir():
                if left.name != _LOCK:
                    left.unlink()
            yield folder
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _unbuildable(target: Path, why: str) -> SearchIndexError:
    return SearchIndexError(f"No index can be built in {target}: {why}.", path=str(target))
