"""Read the rows of a local text file one by one. Knows nothing about what they mean.

A JSONL file has a JSON object on each line, a JSON file has a list of objects, a CSV file has a
header. All are UTF-8.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gem.data.rows import malformed, type_name
from gem.errors import DataError

__all__ = ["SUFFIXES", "read_rows"]

Numbered = tuple[int, object]
_ONE_A_LINE = "Write one JSON object a line."


def read_rows(path: str) -> Iterator[Numbered]:
    """Yield each row of a .jsonl, .json or .csv file with its number.

    Raises DataError, with the row, at the first that cannot be read.
    """
    try:
        yield from _READERS[Path(path).suffix.lower()](path)
    except OSError as error:
        raise DataError(
            f"{path} cannot be read ({error.strerror or error}). Check that it is a file and "
            "that you may read it.",
            source=path,
        ) from error


def _jsonl_rows(path: str) -> Iterator[Numbered]:
    with Path(path).open("rb") as lines:
        for number, line in enumerate(lines, 1):
            text = _decoded(line, number, path)
            if text.strip():
                yield number, _json_value(text, number, path)


def _json_rows(path: str) -> Iterator[Numbered]:
    rows = _json_value(_decoded(Path(path).read_bytes(), 1, path), 1, path)
    if not isinstance(rows, list):
        raise DataError(
            f"{path} holds {type_name(rows)}, not a list. Write a list of JSON objects.",
            source=path,
        )
    yield from enumerate(rows, 1)


def _decoded(line: bytes, number: int, path: str) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, number) from error


def _not_utf8(path: str, number: int) -> DataError:
    return malformed(path, number, "is not UTF-8 text", "Save the file as UTF-8.")


def _json_value(text: str, number: int, path: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise malformed(path, number, f"is not JSON ({error})", _ONE_A_LINE) from error


def _csv_rows(path: str) -> Iterator[Numbered]:
    number = 0
    with Path(path).open("rb") as lines:
        # decoded line by line, so that a byte which is no text is met in its own row
        texts = (line.decode("utf-8" if at else "utf-8-sig") for at, line in enumerate(lines))
        rows = csv.DictReader(texts, strict=True)
        try:
            for row in rows:
                number += 1
                if None in row:
                    what = f"has more than the {len(row) - 1} fields of the header"
                    raise malformed(path, number, what, "Quote the fields that hold commas.")
                yield number, row
        except UnicodeDecodeError as error:
            raise _not_utf8(path, number + 1) from error
        except csv.Error as error:
            what, advice = f"is not CSV ({error})", "Check its quotes."
            raise malformed(path, number + 1, what, advice) from error


_READERS: dict[str, Callable[[str], Iterator[Numbered]]] = {
    ".jsonl": _jsonl_rows,
    ".json": _json_rows,
    ".csv": _csv_rows,
}
SUFFIXES = tuple(_READERS)
"""The endings of the files that are read here."""
