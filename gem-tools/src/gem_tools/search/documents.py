"""Read the documents that an index is built from. Knows nothing about indexes."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Union

from gem.content import normalise_text
from gem.errors import DataError

__all__ = ["Document", "Fields", "Source", "read_documents", "title_and_text"]

Source = Union[str, Path, Iterable[Mapping[str, Any]]]
"""A file of JSON lines (`.gz` too), a folder that `datasets` saved, or the rows themselves."""


class Document(NamedTuple):
    """One document: what cites it, a title of one line, and its text. Any may be empty."""

    id: str
    title: str
    text: str


class Fields(NamedTuple):
    """Which fields of a row hold what. A row without an id is cited by its number, from 1.

    Where a row has no `text`, `contents` is read instead: its first line is the title.
    """

    id: str = "id"
    title: str = "title"
    text: str = "text"


def read_documents(source: Source, fields: Fields) -> Iterator[tuple[Document, float | None]]:
    """Yield each document, and how much of the source was read by then: 0 to 1, None if unknown.

    Raises DataError, with the row, on what is no document.
    """
    name = str(source) if isinstance(source, (str, Path)) else type(source).__name__
    for number, (row, read) in enumerate(_rows(source, name), 1):
        yield _document(row, fields, name, number), read


def title_and_text(contents: str) -> tuple[str, str]:
    r"""Split what Search-R1 calls contents: a title on the first line, perhaps in quotes.

    >>> title_and_text('"Orrery"\nA clockwork model.')
    ('Orrery', 'A clockwork model.')
    """
    title, _, text = contents.partition("\n")
    title = title.strip()
    is_quoted = len(title) > 1 and title[0] == title[-1] == '"'
    return title[1:-1] if is_quoted else title, text


def _rows(source: Source, name: str) -> Iterator[tuple[Any, float | None]]:
    if not isinstance(source, (str, Path)):
        return ((row, None) for row in source)
    path = Path(source)
    if not path.exists():
        raise DataError(
            f"There is no {name} to read documents from. Give a file of JSON lines, or a folder "
            "written by save_to_disk of `datasets`.",
            source=name,
        )
    return _table(path) if path.is_dir() else _lines(path)


def _lines(path: Path) -> Iterator[tuple[Any, float | None]]:
    size = path.stat().st_size
    number = 0
    try:
        with path.open("rb") as file:
            lines: Iterable[bytes] = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
            for line in lines:
                number += 1
                yield json.loads(line), file.tell() / size
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"Row {number} of {path} is no JSON ({error}). Each line is one JSON object: "
            '{"id": "1", "title": "...", "text": "..."}.',
            source=str(path),
            row=number,
        ) from error
    except (OSError, EOFError, zlib.error) as error:  # gzip raises each of them
        raise DataError(
            f"{path} cannot be read after row {number} ({error}). Check that the file is whole.",
            source=str(path),
            row=number + 1,
        ) from error


def _table(path: Path) -> Iterator[tuple[Any, float | None]]:
    from gem.registry import check_requirements

    check_requirements(["datasets>=3.0"], subject=f"Reading the table {path}", of="gem-tools")
    import datasets  # heavy: 1 s

    try:
        table = datasets.load_from_disk(str(path))
    except (OSError, ValueError) as error:
        raise DataError(
            f"The folder {path} is no table that `datasets` saved ({error}). Give one written "
            "by save_to_disk, or a file of JSON lines.",
            source=str(path),
        ) from error
    if not isinstance(table, datasets.Dataset):
        raise DataError(
            f"The folder {path} holds several tables. Give one of its folders: "
            f"{', '.join(str(path / split) for split in table)}.",
            source=str(path),
        )
    many = len(table)
    return ((row, number / many) for number, row in enumerate(table, 1))


def _document(row: Any, fields: Fields, source: str, number: int) -> Document:
    def wrong(field: str | None, what: str) -> DataError:
        return DataError(
            f"Row {number} of {source} is no document: {what}. A row is an object whose "
            f"{fields.text!r} is a string; name other fields where yours differ.",
            source=source,
            row=number,
            field=field,
        )

    if not isinstance(row, Mapping):
        raise wrong(None, f"it is {type(row).__name__}")
    id = row.get(fields.id, number)
    title = row.get(fields.title) or ""
    text = row.get(fields.text)
    if text is None and isinstance(row.get("contents"), str):
        title, text = title_and_text(row["contents"])
    if isinstance(id, bool) or not isinstance(id, (str, int)):
        raise wrong(fields.id, f"its {fields.id!r} is {id!r:.60}")
    if not isinstance(title, str):
        raise wrong(fields.title, f"its {fields.title!r} is {title!r:.60}")
    if not isinstance(text, str):
        raise wrong(fields.text, f"its {fields.text!r} is {text!r:.60}")
    return Document(
        normalise_text(str(id)), normalise_text(" ".join(title.split())), normalise_text(text)
    )
