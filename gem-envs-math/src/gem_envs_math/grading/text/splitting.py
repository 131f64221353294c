"""Split tokens where no bracket is open. Knows nothing about what the parts mean."""

from __future__ import annotations

from collections.abc import Container, Sequence

from gem_envs_math.grading.text.tokens import CLOSERS, OPENERS, Token

__all__ = ["encloses", "levels", "split"]

Tokens = Sequence[Token]

_OPENING = OPENERS | {"\\begin"}
_CLOSING = CLOSERS | {"\\end"}


def levels(tokens: Tokens) -> list[int]:
    """Return the number of brackets around each token (a bracket counts as outside itself)."""
    depths = []
    depth = 0
    for token in tokens:
        text = token.text
        if text in _CLOSING:
            depth -= 1
        depths.append(depth)
        if text in _OPENING:
            depth += 1
    return depths


def split(tokens: Tokens, signs: Container[str]) -> list[Tokens]:
    """Split tokens at signs, where no bracket is open."""
    parts: list[Tokens] = []
    start = 0
    for index, depth in enumerate(levels(tokens)):
        if not depth and tokens[index].text in signs:
            parts.append(tokens[start:index])
            start = index + 1
    return [*parts, tokens[start:]]


def encloses(tokens: Sequence[Token]) -> bool:
    """Whether the first and the last token are the brackets around all others."""
    depths = levels(tokens)
    return depths[0] == 0 and depths[-1] == 0 and 0 not in depths[1:-1]
