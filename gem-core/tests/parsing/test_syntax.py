"""Text is read as Python whatever else the process parses at that moment."""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gem.parsing import syntax_tree

LONG = "f(" + ", ".join(f"g({number})" for number in range(300)) + ")"


@contextmanager
def parsing_between(times: int) -> Iterator[None]:
    """Parse something, from deeper calls, in the midst of what is parsed: `times` times."""
    left = times

    def parse(depth: int) -> None:
        if depth:
            parse(depth - 1)
        else:
            ast.parse("1 + 1")

    def collected(phase: str, info: dict[str, int]) -> None:
        nonlocal left
        if phase == "start" and left:
            left -= 1
            parse(30)

    before = gc.get_threshold()
    gc.callbacks.append(collected)
    gc.set_threshold(1)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(collected)


@pytest.mark.parametrize("times", [1, 5])
def test_text_is_read_while_something_else_is_parsed(times: int) -> None:
    with parsing_between(times):
        tree = syntax_tree(LONG, "eval")
    assert ast.dump(tree) == ast.dump(ast.parse(LONG, mode="eval"))


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="only Python 3.11 loses count")
def test_a_text_that_cannot_be_read_for_others_is_given_up_after_some_tries() -> None:
    with parsing_between(10_000), pytest.raises(SystemError, match="recursion depth"):
        syntax_tree(LONG, "eval")


def test_what_is_no_python_is_told_as_ast_tells_it() -> None:
    with pytest.raises(SyntaxError):
        syntax_tree("1 +")
