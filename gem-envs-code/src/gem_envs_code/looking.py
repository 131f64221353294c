"""Whether tests look into what a program's functions return. Runs nothing of them."""

from __future__ import annotations

import ast
import collections
import decimal
import fractions
import functools
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from gem_envs_code.entries import CLASS
from gem_envs_code.naming import parsed

__all__ = ["looks_into"]

_PROGRAM = "solution"
_PLAIN: tuple[type, ...] = (
    *(bool, bytearray, bytes, complex, dict, float, frozenset, int, list, range, set, str, tuple),
    *(type, type(None), type({}.keys()), type({}.values()), type({}.items())),
    *(collections.deque, decimal.Decimal, fractions.Fraction),
)


def looks_into(texts: Iterable[str], names: Collection[str]) -> bool:
    r"""Say whether texts use, of what a call of a name returned, an attribute that no data has.

    What has it is an instance of a class of the program's: a test that is apart from the program
    could not pass. Names that texts import from the program count as well.

    >>> looks_into(["s = Stack()\ns.push(1)"], ["Stack"]), looks_into(["f(1).sort()"], ["f"])
    (True, False)
    """
    nodes = [node for text in texts for node in ast.walk(parsed(text))]
    names = {*names, *_imported(nodes)} - {CLASS}
    variables = _returned(nodes, names)
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr not in _plain_attributes():
            owner = node.value
            if _is_call(owner, names) or (isinstance(owner, ast.Name) and owner.id in variables):
                return True
    return False


def _imported(nodes: Iterable[ast.AST]) -> set[str]:
    return {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == _PROGRAM
        for alias in node.names
    }


def _returned(nodes: Sequence[ast.AST], names: Collection[str]) -> set[str]:
    """Return the variables that hold what calls of these names returned, and nothing else."""
    stored = Counter(
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    stored.update(node.arg for node in nodes if isinstance(node, ast.arg))
    stored.update(str(node.name) for node in nodes if isinstance(node, ast.ExceptHandler))
    calls = Counter(
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and _is_call(node.value, names)
        for target in node.targets
        if isinstance(target, ast.Name)
    )
    return {name for name, count in calls.items() if count == stored[name]}


def _is_call(node: ast.AST, names: Collection[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


@functools.cache
def _plain_attributes() -> frozenset[str]:
    return frozenset(name for kind in _PLAIN for name in dir(kind))
