"""Values of every kind that an argument may have, and a target that takes one of them."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from gem._python.arguments import checked


class Suit(enum.Enum):
    HEARTS = "hearts"


class Deck(BaseModel):
    size: int
    jokers: bool = False


@dataclass
class Table:
    rows: tuple[int, ...]


class Tokenizer(Protocol):
    def encode(self, text: str) -> list[int]: ...


class Live:
    """An object that JSON knows nothing of."""


@dataclass
class Holder:
    """A dataclass that pydantic cannot describe."""

    live: Live


def takes(hint: Any) -> Callable[..., Any]:
    def target(value: Any) -> Any:
        return value

    target.__annotations__["value"] = hint
    return target


def fit(hint: Any, value: Any) -> Any:
    return checked(takes(hint), {"value": value}, subject="demo:A")["value"]


def game(size: int, *, colour: Literal["red", "blue"] = "red", ratio: float | None = None) -> None:
    """Take one required argument and two with defaults."""


LIVE = Live()
DECK = Deck(size=1)
TABLE = Table((1,))
