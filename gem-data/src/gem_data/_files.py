"""Read the rows of a local text file one by one. Knows nothing about what they mean.

A JSONL file has a JSON object on each line, a JSON file has a list of objects, a CSV file has a
header. All are UTF-8.
"""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Callable, Iterator
from itertools import dropwhile
from pathlib import Path
from typing import NoReturn

from gem.errors import DataError
from gem_data._rows import excerpt, malformed, type_name
from gem_data._strict_json import RepeatedKey, elements_of, value_of

__all__ = ["SUFFIXES", "read_rows"]

Numbered = tuple[int, object]
_ONE_A_LINE = "Write one JSON object a line."
_A_LIST = "Write a list of JSON objects."
_ONE_KEY = "Keep the one that is meant."
_SAVE_AS_UTF8 = "Save the file as UTF-8."

# In characters. The module `csv` takes 131,072, too few for a document; without a limit a quote
# that is never closed would take the rest of the file.
_LONGEST_FIELD = 16 << 20
_limit_lock = threading.Lock()


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
            try:
                # Some programs put a mark at the beginning of a file, and only there.
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise _not_utf8(path, number) from error
            if not text.strip():
                continue
            try:
                row = value_of(text)
            except RepeatedKey as error:
                raise malformed(path, number, str(error), _ONE_KEY) from error
            except (ValueError, RecursionError) as error:
                what = f"is not JSON ({_reason(error, is_line=True)})"
                raise malformed(path, number, what, _ONE_A_LINE) from error
            yield number, row


def _json_rows(path: str) -> Iterator[Numbered]:
    content = Path(path).read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}, line {line}: it is not UTF-8 text. {_SAVE_AS_UTF8}", source=path
        ) from error
    del content  # the text is as large again
    if not text.lstrip().startswith("["):
        _refuse_no_list(text, path)
    number = 0
    try:
        for row in elements_of(text):
            number += 1
            yield number, row
    except RepeatedKey as error:
        raise malformed(path, number + 1, str(error), _ONE_KEY) from error
    except (ValueError, RecursionError) as error:
        what = f"is not JSON ({_reason(error)})"
        raise malformed(path, number + 1, what, f"Correct it there. {_A_LIST}") from error


def _refuse_no_list(text: str, path: str) -> NoReturn:
    """Raise the error of a JSON file that does not begin as a list does."""
    if not text.strip():
        raise DataError(f"{path} is empty. {_A_LIST}", source=path)
    try:
        value = value_of(text)
    except RepeatedKey as error:
        raise DataError(f"{path} {error}. {_A_LIST}", source=path) from error
    except (ValueError, RecursionError) as error:
        what = f"is not JSON ({_reason(error)})"
        advice = _A_LIST
        # Lines of JSON under the wrong name are the usual mistake, and have an advice of their own.
        if isinstance(error, json.JSONDecodeError) and error.msg == "Extra data":
            what = f"goes on after its first JSON value (line {error.lineno})"
            advice = "Name it .jsonl if it has one object a line, or write one list of them."
        raise DataError(f"{path} {what}. {advice}", source=path) from error
    raise DataError(f"{path} holds {type_name(value)}, not a list. {_A_LIST}", source=path)


def _reason(error: Exception, *, is_line: bool = False) -> str:
    """Return what is wrong with a JSON text, and where, as far as it is known."""
    if isinstance(error, json.JSONDecodeError):
        line = "" if is_line else f"line {error.lineno}, "
        return f"{error.msg} at {line}column {error.colno}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _not_utf8(path: str, number: int) -> DataError:
    return malformed(path, number, "is not UTF-8 text", _SAVE_AS_UTF8)


def _csv_rows(path: str) -> Iterator[Numbered]:
    number = 0
    with Path(path).open("rb") as lines:
        # Decoded line by line, so that a byte which is no text is met in its own row.
        texts = (line.decode("utf-8" if at else "utf-8-sig") for at, line in enumerate(lines))
        # The module passes empty lines over, but the first line it takes for the header.
        rows = csv.DictReader(dropwhile(_is_empty_line, texts), strict=True)
        try:
            while (row := _next_record(rows)) is not None:
                number += 1
                names = list(rows.fieldnames or ())
                if number == 1:  # the header is read with the first record
                    _check_header(names, path)
                if None in row:  # where the module puts the fields that the header does not name
                    what = f"has more than the {len(names)} fields of the header"
                    raise malformed(path, number, what, "Quote the fields that hold commas.")
                if None in row.values():  # what the module gives the fields that the row lacks
                    what = f"has fewer than the {len(names)} fields of the header"
                    advice = "Write a comma between any two fields, empty ones too."
                    raise malformed(path, number, what, advice)
                yield number, row
        except UnicodeDecodeError as error:
            raise _not_utf8(path, number + 1) from error
        except csv.Error as error:
            raise _not_csv(path, number + 1, error) from error


def _is_empty_line(text: str) -> bool:
    return not text.strip("\r\n")


def _check_header(names: list[str], path: str) -> None:
    """Refuse a header that names a field twice; columns without a name are nobody's."""
    for name in names:
        if name and names.count(name) > 1:
            raise DataError(
                f"{path}: its header has the field {excerpt(name)} twice. Rename one of the two.",
                source=path,
                field=name,
            )


def _next_record(rows: Iterator[dict[str, str]]) -> dict[str, str] | None:
    """Return the next record, None after the last, long fields allowed.

    The module's limit is the process's and is looked at while a record is read. It is raised for
    as long as that takes, by one thread at a time, so that each puts back what it found.
    """
    with _limit_lock:
        limit = csv.field_size_limit()
        csv.field_size_limit(max(limit, _LONGEST_FIELD))
        try:
            return next(rows, None)
        finally:
            csv.field_size_limit(limit)


def _not_csv(path: str, number: int, error: csv.Error) -> DataError:
    if "field larger than field limit" not in str(error):
        return malformed(path, number, f"is not CSV ({error})", "Check its quotes.")
    what = f"has a field of more than {_LONGEST_FIELD:,} characters"
    advice = "Check that its quotes are closed, or write the rows as .jsonl, which has no limit."
    return malformed(path, number, what, advice)


_READERS: dict[str, Callable[[str], Iterator[Numbered]]] = {
    ".jsonl": _jsonl_rows,
    ".json": _json_rows,
    ".csv": _csv_rows,
}
SUFFIXES = tuple(_READERS)
"""The endings of the files that are read here."""
