"""Read text as Python, without running it."""

from __future__ import annotations

import ast
from typing import Literal, overload

__all__ = ["syntax_tree"]

_TRIES = 10  # more than other threads can be in the way of one after another


@overload
def syntax_tree(text: str, mode: Literal["exec"] = "exec") -> ast.Module: ...
@overload
def syntax_tree(text: str, mode: Literal["eval"]) -> ast.Expression: ...
def syntax_tree(text: str, mode: Literal["exec", "eval"] = "exec") -> ast.mod:
    """Return what `ast.parse` returns, whatever else this process parses meanwhile.

    Python 3.11 counts how deep a tree is in one place for all threads, and raises SystemError
    where another thread, or a finalizer, has parsed in between. Such a text is read again.

    Raises:
        SyntaxError, ValueError, MemoryError, RecursionError: as `ast.parse` does.
    """
    for _ in range(_TRIES - 1):
        try:
            return ast.parse(text, mode=mode)
        except SystemError:
            continue
    return ast.parse(text, mode=mode)
