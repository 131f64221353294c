"""Find rows of one table that are in another as well. Knows nothing about what a row means."""

from __future__ import annotations

import json
import re
import unicodedata
from hashlib import blake2b
from typing import Any, NamedTuple

from gem.errors import BadArguments
from gem_data._table import Table

__all__ = ["Overlap", "contamination"]

# What may differ in copies of one text: white space, quotes, dollar signs, and marks of a
# sentence that are part of no number. Everything else says something: 1 + 1 is not 1 - 1.
_LOOSE = re.compile(r"[\s\"'`\u2018-\u201f$?]|(?<![0-9])[.,;:]|[.,;:](?![0-9])")


class Overlap(NamedTuple):
    """What two tables share: pairs of indices, the first of `a`, the second of `b`.

    Each row of `b` is in one pair at most, with the first row of `a` that equals it. `exact` are
    equal as they stand, `normalised` only without regard to case, white space, quotes and marks
    of a sentence. `rows` is how many each table has.
    """

    rows: tuple[int, int]
    exact: tuple[tuple[int, int], ...]
    normalised: tuple[tuple[int, int], ...]

    @property
    def share(self) -> float:
        """The share of the rows of `b` that are in `a`, from 0 to 1."""
        return (len(self.exact) + len(self.normalised)) / self.rows[1]


def contamination(a: Table[Any], b: Table[Any], *, of: str = "question") -> Overlap:
    """Compare two tables by one field of ours; see Overlap. Raises BadArguments if one has none.

    Linear in the rows of both; of each text a hash of 16 bytes is held.
    """
    _require_field(a, of)
    _require_field(b, of)
    exact_of_a: dict[bytes, int] = {}
    normal_of_a: dict[bytes, int] = {}
    for index, record in enumerate(a.records()):
        text = _text(record[of])
        # The first row of several that are alike is the one that a pair names.
        exact_of_a.setdefault(_hash(text), index)
        normal_of_a.setdefault(_hash(_normal(text)), index)
    exact: list[tuple[int, int]] = []
    normalised: list[tuple[int, int]] = []
    for index, record in enumerate(b.records()):
        text = _text(record[of])
        same = exact_of_a.get(_hash(text))
        if same is not None:
            exact.append((same, index))
            continue
        alike = normal_of_a.get(_hash(_normal(text)))
        if alike is not None:
            normalised.append((alike, index))
    return Overlap((len(a), len(b)), tuple(exact), tuple(normalised))


def _require_field(table: Table[Any], of: str) -> None:
    if of not in table.fields:
        raise BadArguments(
            f"Tables were to be compared by the field {of!r}, and a {table.kind.name} has "
            f"{', '.join(map(repr, table.fields))}. Choose one of them with of=.",
            subject="of",
        )


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=repr)


def _normal(text: str) -> str:
    return _LOOSE.sub("", unicodedata.normalize("NFKC", text).casefold())


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
