"""Which names Python code uses, and which it defines. Runs nothing of it."""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Iterable
from typing import NamedTuple

from gem.parsing import syntax_tree

__all__ = ["Defined", "defined", "free_names", "imports_all", "is_builtin", "parsed"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Defined(NamedTuple):
    """The names that a module's own level defines; `imports` has the statement of each.

    `generators` are those of the functions that return an iterator or a coroutine of their own.
    """

    functions: set[str]
    generators: set[str]
    imports: dict[str, str]
    classes: set[str]
    others: set[str]


def parsed(text: str) -> ast.Module:
    """Return the syntax tree. Raises SyntaxError, ValueError or RecursionError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a data set's odd escapes
        return syntax_tree(text)


def free_names(texts: Iterable[str]) -> set[str]:
    """Return the names that these texts, run one after the other, use and do not define."""
    nodes = [node for text in texts for node in ast.walk(parsed(text))]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    bound = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    bound |= {node.name for node in nodes if isinstance(node, (*_FUNCTIONS, ast.ClassDef))}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {
        name
        for node in nodes
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in _imported(node)
    }
    return {name.id for name in names} - bound


def imports_all(texts: Iterable[str]) -> bool:
    """Say whether a text imports all that a module has, and that is not the program's."""
    return any(
        isinstance(node, ast.ImportFrom) and node.names[0].name == "*" and node.module != "solution"
        for text in texts
        for node in ast.walk(parsed(text))
    )


def defined(text: str) -> Defined:
    """Return what a module defines; nothing where it is no Python."""
    names = Defined(set(), set(), {}, set(), set())
    try:
        body = parsed(text).body
    except (SyntaxError, ValueError, RecursionError):
        return names
    for node in body:
        if isinstance(node, _FUNCTIONS):
            names.functions.add(node.name)
            if isinstance(node, ast.AsyncFunctionDef) or _yields(node):
                names.generators.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.imports.update(dict.fromkeys(_imported(node), ast.unparse(node)))
        elif isinstance(node, ast.ClassDef):
            names.classes.add(node.name)
        elif isinstance(node, ast.Assign):
            names.others.update(
                target.id for target in node.targets if isinstance(target, ast.Name)
            )
    return names


def _yields(function: ast.FunctionDef) -> bool:
    """Say whether a call returns a generator: whether there is a `yield` in no scope within it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)
    return False


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]


def is_builtin(name: str) -> bool:
    """Say whether Python itself defines a name."""
    return hasattr(builtins, name)
