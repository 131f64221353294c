"""Where the tests of a problem enter a program: a function's name, or `Solution().method`.

Knows nothing about how a test is run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from gem_envs_code.naming import parsed

__all__ = ["CLASS", "entry_of", "is_checking", "method_of", "only_makes_instances", "only_method"]

CLASS = "Solution"
"""The class whose methods count as functions, in the form of LeetCode's problems."""

_METHOD = re.compile(rf"\s*{CLASS}(?:\(\s*\))?\.([^\W\d]\w*)\s*")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def method_of(entry: str) -> str:
    """Return the name of the method that an entry is, "" where it is none.

    >>> method_of("Solution().twoSum"), method_of("add")
    ('twoSum', '')
    """
    match = _METHOD.fullmatch(entry)
    return match[1] if match else ""


def is_checking(text: str) -> bool:
    """Say whether a text defines the function `check` that is to be called with a candidate."""
    return any(
        isinstance(node, ast.FunctionDef) and node.name == "check" for node in parsed(text).body
    )


def entry_of(text: str) -> str | None:
    r"""Return what a text calls `check` with, "" for no single entry; None where it does not.

    What stands under an `if` counts as not called: it may be one that is false there.

    >>> entry_of("def check(candidate): ...\ncheck(Solution().twoSum)")
    'Solution().twoSum'
    """
    calls = [node for node in _outside(parsed(text).body) if _is_check(node)]
    if not calls:
        return None
    arguments = {ast.unparse(argument) for node in calls for argument in _arguments(node)}
    entries = {text for text in arguments if text.isidentifier() or method_of(text)}
    return entries.pop() if len(entries) == len(arguments) == 1 else ""


def _outside(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield what runs whenever these statements do."""
    waiting = [node for node in nodes if not isinstance(node, (*_SCOPES, ast.If))]
    while waiting:
        node = waiting.pop()
        yield node
        below = ast.iter_child_nodes(node)
        waiting += [child for child in below if not isinstance(child, (*_SCOPES, ast.If))]


def _is_check(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check"
    )


def _arguments(node: ast.AST) -> list[ast.expr]:
    assert isinstance(node, ast.Call)
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def only_method(solution: str) -> str:
    """Return `Solution().method` where a program has that class with one public method, or ""."""
    try:
        body = parsed(solution).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    names = [
        node.name
        for statement in body
        if isinstance(statement, ast.ClassDef) and statement.name == CLASS
        for node in statement.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]
    return f"{CLASS}().{names[0]}" if len(names) == 1 else ""


def only_makes_instances(texts: Iterable[str]) -> bool:
    """Say whether tests do nothing with the class but make instances, without arguments."""
    for text in texts:
        nodes = list(ast.walk(parsed(text)))
        made = {
            id(node.func)
            for node in nodes
            if isinstance(node, ast.Call) and not node.args and not node.keywords
        }
        for node in nodes:
            if isinstance(node, ast.Name) and node.id == CLASS and id(node) not in made:
                return False
    return True
