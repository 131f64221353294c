"""Read the rows of a local file one by one, and check each. Knows nothing about Arrow tables.

A row is a question and its answer, both as text. Rows count from 1: the lines of a JSONL file,
the records after a CSV file's header, the rows of a Parquet file.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from gem.errors import DataError
from gem_envs_math.answers import read_number

__all__ = ["Keys", "Problem", "check_row", "read_problems", "require_rows"]


class Keys(NamedTuple):
    """The names of the two fields that matter."""

    question: str
    answer: str


class Problem(NamedTuple):
    """One question and its answer, a text that `read_number` reads."""

    question: str
    answer: str


Numbered = tuple[int, Mapping[str, Any]]


def read_problems(path: str, keys: Keys) -> Iterator[Problem]:
    """Read and check a .jsonl, .csv or .parquet file, row by row.

    Raises DataError, with the row and the field, at the first thing that is wrong.
    """
    read = _READERS.get(Path(path).suffix.lower())
    if read is None:
        raise DataError(
            f"{path} is not a kind of file that is read here. Give one that ends in "
            f"{', '.join(_READERS)}.",
            source=path,
        )
    count = 0
    try:
        for count, row in read(path, keys):
            yield check_row(row, count, path, keys)
    except OSError as error:
        raise DataError(
            f"{path} cannot be read ({error.strerror or error}). Check that it is a file and "
            "that you may read it.",
            source=path,
        ) from error
    require_rows(count, path)


def require_rows(count: int, source: str) -> None:
    """Raise DataError if there are none."""
    if not count:
        raise DataError(
            f"{source} holds no rows. Give a table with one row or more.", source=source
        )


def _jsonl_rows(path: str, keys: Keys) -> Iterator[Numbered]:
    with Path(path).open("rb") as lines:
        for number, line in enumerate(lines, 1):
            text = _decoded(line, number, path)
            if text.strip():
                yield number, _json_object(text, number, path)


def _decoded(line: bytes, number: int, path: str) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, number) from error


def _not_utf8(path: str, number: int) -> DataError:
    return _malformed(path, number, "is not UTF-8 text", "Save the file as UTF-8.")


def _json_object(text: str, number: int, path: str) -> Mapping[str, Any]:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        what = f"is not JSON ({error})"
        raise _malformed(path, number, what, "Write one JSON object a line.") from error
    if not isinstance(row, dict):
        what = f"is {_kind(row)}, not a JSON object"
        raise _malformed(path, number, what, "Write one JSON object a line.")
    return row


def _csv_rows(path: str, keys: Keys) -> Iterator[Numbered]:
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
                    raise _malformed(path, number, what, "Quote the fields that hold commas.")
                yield number, row
        except UnicodeDecodeError as error:
            raise _not_utf8(path, number + 1) from error
        except csv.Error as error:
            what, advice = f"is not CSV ({error})", "Check its quotes."
            raise _malformed(path, number + 1, what, advice) from error


def _parquet_rows(path: str, keys: Keys) -> Iterator[Numbered]:
    import pyarrow as pa  # heavy: 0.1 s
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            for key in keys:
                if key not in names:
                    raise _missing(path, 1, key, names)
            number = 0
            for batch in file.iter_batches(columns=list(dict.fromkeys(keys))):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except pa.ArrowException as error:
        raise DataError(
            f"{path} is not a whole Parquet file ({_one_line(error)}). Write it again.",
            source=path,
        ) from error


_READERS: dict[str, Callable[[str, Keys], Iterator[Numbered]]] = {
    ".jsonl": _jsonl_rows,
    ".csv": _csv_rows,
    ".parquet": _parquet_rows,
}


def check_row(row: object, number: int, source: str, keys: Keys) -> Problem:
    """Return a row's question and answer. Raises DataError, naming the row and the field.

    An answer may be a number or a text; where the text has a `####`, as in the first
    publication of GSM8K, the answer is what follows the last one.
    """
    if not isinstance(row, Mapping):
        advice = f"Give rows with the fields {keys.question!r} and {keys.answer!r}."
        raise _malformed(source, number, f"is {_kind(row)}, not an object", advice)
    for key in keys:
        if key not in row:
            raise _missing(source, number, key, list(row))
    question, answer = row[keys.question], row[keys.answer]
    if not isinstance(question, str) or not _is_text(question):
        raise _unfit(source, number, keys.question, question, "text")
    if isinstance(answer, (int, float, Decimal)) and not isinstance(answer, bool):
        answer = str(answer)
    number_text = answer.rpartition("####")[2].strip() if isinstance(answer, str) else ""
    if read_number(number_text) is None:
        raise _unfit(source, number, keys.answer, row[keys.answer], "a number")
    return Problem(question, number_text)


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can spell
        return False
    return bool(value.strip())


def _missing(source: str, number: int, field: str, fields: list[str]) -> DataError:
    listed = ", ".join(map(repr, fields[:10])) or "none"
    return DataError(
        f"{source}, row {number}: there is no field {field!r}; its fields are {listed}. "
        "Rename it, or name yours with question_key= and answer_key=.",
        source=source,
        row=number,
        field=field,
    )


def _unfit(source: str, number: int, field: str, value: object, wanted: str) -> DataError:
    shown = ascii(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return DataError(
        f"{source}, row {number}: the field {field!r} is {shown}, and must be {wanted}. "
        "Correct the row or leave it out.",
        source=source,
        row=number,
        field=field,
    )


def _malformed(source: str, number: int, what: str, advice: str) -> DataError:
    return DataError(f"{source}, row {number}: it {what}. {advice}", source=source, row=number)


def _kind(value: object) -> str:
    return "null" if value is None else f"a {type(value).__name__}"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
