"""The four operations, for agents that are told to calculate. Knows nothing else of Python."""

from __future__ import annotations

import re

from gem_envs_agents.desk.tool import Refusal

__all__ = ["calculate"]

_LONGEST = 500  # characters
_DEEPEST = 30  # parentheses within each other: reading them calls itself
_TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+|[-+*/()])")


def calculate(expression: str) -> str:
    """Return the value of an expression, rounded to cents. Raises Refusal for what is none.

    >>> calculate("(12.5 + 7.25) * 2")
    '39.5'
    """
    if len(expression) > _LONGEST:
        raise Refusal(f"The expression is longer than {_LONGEST} characters.")
    reader = _Reader(_tokens(expression))
    value = reader.sum(0)
    if reader.next_token() is not None:
        raise Refusal("The expression does not end where it should.")
    if not abs(value) < 1e15:
        raise Refusal("The value is too large.")
    return str(round(value, 2))


def _tokens(expression: str) -> list[str]:
    tokens = []
    text = expression.rstrip()
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise Refusal("An expression holds numbers, + - * / and parentheses alone.")
        tokens.append(match[1])
        place = match.end()
    return tokens


class _Reader:
    """Reads tokens from the left: a sum of products of signed numbers or parentheses."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._place = 0

    def next_token(self) -> str | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def sum(self, depth: int) -> float:
        value = self._product(depth)
        while (sign := self.next_token()) in ("+", "-"):
            self._place += 1
            other = self._product(depth)
            value = value + other if sign == "+" else value - other
        return value

    def _product(self, depth: int) -> float:
        value = self._signed(depth)
        while (sign := self.next_token()) in ("*", "/"):
            self._place += 1
            other = self._signed(depth)
            if sign == "/" and other == 0:
                raise Refusal("The expression divides by zero.")
            value = value * other if sign == "*" else value / other
        return value

    def _signed(self, depth: int) -> float:
        is_negative = False
        while (sign := self.next_token()) in ("+", "-"):
            self._place += 1
            is_negative ^= sign == "-"
        value = self._single(depth)
        return -value if is_negative else value

    def _single(self, depth: int) -> float:
        token = self.next_token()
        self._place += 1
        if token is None or token in "*/)":
            raise Refusal("A number is missing in the expression.")
        if token != "(":
            return float(token)
        if depth >= _DEEPEST:
            raise Refusal(f"More than {_DEEPEST} parentheses stand within each other.")
        value = self.sum(depth + 1)
        if self.next_token() != ")":
            raise Refusal("A parenthesis is not closed.")
        self._place += 1
        return value
