"""What an address asks of a run: filters, order, page. Pure data; knows nothing about pages."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from gem.content import normalise_text

__all__ = ["CONVERSATIONS", "ERROR", "FACETS", "ORDERS", "OUTCOMES", "Query", "whole_number"]

OUTCOMES = ("succeeded", "failed", "error")
FACETS = ("outcome", "env", "policy", "stop", "finder")
"""The filters that are chosen from a list, with counts beside what can be chosen."""

ORDERS = {
    "env": "Environment",
    "policy": "Policy",
    "number": "No.",
    "seed": "Seed",
    "return": "Return",
    "turns": "Turns",
    "stop": "Ended",
    "duration": "Time",
    "last": "Last word",
}
"""What a list can be sorted by, and what its columns are called."""

CONVERSATIONS = "conversations"
"""What `within` in an address says where whole conversations are searched."""

ERROR = "error"
"""What `within` in an address says where the text is a whole error, and nothing is searched."""

_WITHIN = (CONVERSATIONS, ERROR)
_INT64 = 1 << 63
_MOST_PAGES = 1 << 40
_MOST_VALUES = 100  # of one filter: a page has a link without each, which names all the others
_MOST_ENVS = 1000  # of which an environment is as many as an argument of it may have values
_LONGEST = 1000  # characters of a text that is searched for: a database refuses very long ones


@dataclass(frozen=True, slots=True)
class Query:
    """Filters, an order and a page. Several values of one filter are alternatives.

    There are at most 100 of them, and of `env` 1,000: an environment that was varied is one for
    each value of the argument.

    `sort` is a key of `ORDERS`, with a minus in front for the largest first; empty is the order of
    the log. `q` is a text in the last words and a few columns, or `within` whole conversations,
    or all of an error. `upto` is the last line of the log that counts: what is later waits to be
    shown.
    """

    outcome: tuple[str, ...] = ()
    env: tuple[int, ...] = ()
    policy: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    finder: tuple[str, ...] = ()
    q: str = ""
    within: str = ""
    return_min: float | None = None
    return_max: float | None = None
    turns_min: float | None = None
    turns_max: float | None = None
    sort: str = ""
    page: int = 1
    upto: int | None = None

    @classmethod
    def read(cls, pairs: Iterable[tuple[str, str]]) -> Query:
        """Take what there is of an address. What makes no sense there is left out."""
        words: dict[str, list[str]] = {}
        for name, value in pairs:
            words.setdefault(name, []).append(normalise_text(value))
        single = {name: values[-1].strip() for name, values in words.items()}
        sort = single.get("sort", "")
        page = whole_number(single.get("page", ""))
        return cls(
            outcome=tuple(word for word in OUTCOMES if word in words.get("outcome", ())),
            env=_unique(_numbers(words.get("env", ())), _MOST_ENVS),
            policy=_unique(words.get("policy", ())),
            stop=_unique(words.get("stop", ())),
            finder=_unique(words.get("finder", ())),
            q=single.get("q", "")[:_LONGEST],
            within=next((word for word in _WITHIN if word == single.get("within")), ""),
            return_min=_number(single.get("return_min", "")),
            return_max=_number(single.get("return_max", "")),
            turns_min=_number(single.get("turns_min", "")),
            turns_max=_number(single.get("turns_max", "")),
            sort=sort if sort.removeprefix("-") in ORDERS else "",
            page=min(max(page or 1, 1), _MOST_PAGES),
            upto=whole_number(single.get("upto", "")),
        )

    def pairs(self) -> list[tuple[str, str]]:
        """Return what an address holds of it: `read` gives an equal one."""
        found: list[tuple[str, str]] = []
        for own_field in fields(self):
            value = getattr(self, own_field.name)
            if value == own_field.default:
                continue
            for word in value if isinstance(value, tuple) else (value,):
                is_round = isinstance(word, float) and word.is_integer()
                found.append((own_field.name, f"{word:.0f}" if is_round else str(word)))
        return found

    def address(self, **changes: Any) -> str:
        """Return the part of an address from `?` on, with some fields changed.

        A filter that changes leads to the first page. Without anything it is `?`, which a link
        needs to leave the filters of its page.
        """
        if not changes.keys() <= {"page", "upto"}:
            changes.setdefault("page", 1)
        return f"?{urlencode(replace(self, **changes).pairs())}"

    @property
    def conversation_text(self) -> str:
        """The text that whole conversations are searched for, empty where they are not."""
        return self.q if self.within == CONVERSATIONS else ""

    @property
    def is_filtered(self) -> bool:
        """Whether it leaves anything out."""
        return bool(self.filters())

    def filters(self) -> list[str]:
        """Name the filters that are in use. A range is one of them, by the name of its column."""
        names = [name for name in (*FACETS, "q") if getattr(self, name)]
        for name in ("return", "turns"):
            bounds = (getattr(self, f"{name}_min"), getattr(self, f"{name}_max"))
            if bounds != (None, None):
                names.append(name)
        return names

    def without(self, name: str) -> Query:
        """Return it without one of its filters."""
        if name in ("return", "turns"):
            bounds: dict[str, Any] = {f"{name}_min": None, f"{name}_max": None}
            return replace(self, **bounds, page=1)
        empty: Any = "" if name == "q" else ()
        return replace(self, **{name: empty, "page": 1})

    def cleared(self) -> Query:
        """Return it without filters; the order stays."""
        return Query(sort=self.sort, upto=self.upto)


def _unique(values: Iterable[Any], most: int = _MOST_VALUES) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))[:most]


def _numbers(words: Iterable[str]) -> Iterable[int]:
    return (number for number in map(whole_number, words) if number is not None)


def whole_number(text: str) -> int | None:
    """Read digits of an address. None is of any other text, and of more than a database holds.

    >>> whole_number("12"), whole_number("-1"), whole_number("9" * 30)
    (12, None, None)
    """
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        return None
    number = int(text)
    return number if number < _INT64 else None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
