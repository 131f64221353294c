"""Read formulas of propositional logic as truth tables. Knows nothing about which task asks.

A table is one whole number with a bit for each way to make the variables true or false, so a
formula costs time in proportion to its length, however deep it nests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gem_envs_reasoning.arithmetic import UnreadableError

__all__ = ["Formula", "all_rows", "read_formula"]

_NOT = "¬"
_BINARY: Mapping[str, tuple[int, Callable[[int, int, int], int]]] = {
    "↔": (1, lambda left, right, rows: ~(left ^ right) & rows),
    "→": (2, lambda left, right, rows: (~left & rows) | right),
    "\u2228": (3, lambda left, right, _: left | right),
    "∧": (4, lambda left, right, _: left & right),
}
"""How strongly an operator binds, and the table that it makes of two and of all rows."""
_TOKEN = re.compile(r"\s*([A-Z]|[¬↔→\u2228∧()])\s*")


class Formula(NamedTuple):
    """Where a formula is true, and whether it is a variable and nothing else."""

    table: int
    is_variable: bool


def all_rows(variables: Sequence[str]) -> int:
    """Return the table that is true in every row.

    >>> all_rows("PQ")
    15
    """
    return int((1 << (1 << len(variables))) - 1)


def read_formula(text: str, variables: Sequence[str]) -> Formula:
    """Return the table of a formula in these variables, each one letter from A to Z.

    As in the library, `A → B → C` is `(A → B) → C`. Raises UnreadableError on any other letter,
    sign or word.

    >>> read_formula("P → P", "PQ").table == all_rows("PQ")
    True
    """
    tables = {name: _column(place, len(variables)) for place, name in enumerate(variables)}
    reading = _Reading(all_rows(variables))
    tokens = _tokens(text)
    wants_value = True
    for token in tokens:
        opens_value = token in tables or token in (_NOT, "(")
        if opens_value != wants_value:
            raise UnreadableError(f"{token} stands where it cannot")
        if token in tables:
            reading.values.append(tables[token])
        elif token == ")":
            reading.close_bracket()
        else:
            reading.wait_with(token)
        wants_value = token not in tables and token != ")"
    if wants_value:
        raise UnreadableError("the formula is not complete")
    is_variable = all(token in tables or token in "()" for token in tokens)
    return Formula(reading.finish(), is_variable)


class _Reading:
    """What was read of a formula so far: tables, and the signs whose right side is not read yet.

    A stack and no recursion, so that no answer nests too deep.
    """

    def __init__(self, rows: int) -> None:
        self.values = list[int]()
        self._rows = rows
        self._waiting = list[str]()

    def wait_with(self, sign: str) -> None:
        if sign in _BINARY:
            self._apply(at_least=_BINARY[sign][0])
        elif sign not in (_NOT, "("):
            raise UnreadableError(f"{sign} is no variable of these")
        self._waiting.append(sign)

    def close_bracket(self) -> None:
        self._apply(at_least=0)
        if not self._waiting:
            raise UnreadableError("a bracket was never opened")
        self._waiting.pop()

    def finish(self) -> int:
        self._apply(at_least=0)
        if self._waiting:
            raise UnreadableError("a bracket is never closed")
        return self.values[0]

    def _apply(self, *, at_least: int) -> None:
        """Apply the signs after the last open bracket, last first, if they bind so strongly.

        A negation always does.
        """
        while self._waiting and self._waiting[-1] != "(":
            sign = self._waiting[-1]
            if sign == _NOT:
                self.values.append(~self.values.pop() & self._rows)
            else:
                strength, combine = _BINARY[sign]
                if strength < at_least:
                    return
                right = self.values.pop()
                left = self.values.pop()
                self.values.append(combine(left, right, self._rows))
            self._waiting.pop()


def _column(place: int, count: int) -> int:
    """Return the table of one of so many variables: it is true where this bit of the row is 1."""
    return sum(1 << row for row in range(1 << count) if row >> place & 1)


def _tokens(text: str) -> list[str]:
    tokens = list[str]()
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            raise UnreadableError(f"{text[place]!r} is no part of a formula")
        tokens.append(token[1])
        place = token.end()
    return tokens
