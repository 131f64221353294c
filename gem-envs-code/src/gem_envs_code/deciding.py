"""Whether the text of a test can fail a program, as far as its syntax tells. Runs nothing of it."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Iterator

from gem_envs_code.naming import parsed

__all__ = ["decides", "deciding", "prepares"]

_PROGRAM = "solution"
_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SCOPES = (*_DEFINING, ast.Lambda)
_TRUE_DISPLAYS = (ast.Tuple, ast.List, ast.Set)
_CATCHING = ("AssertionError", "Exception", "BaseException")
_PREPARING = (
    *_DEFINING,
    ast.Import,
    ast.ImportFrom,
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
)
_PYTHONS_OWN = frozenset(dir(builtins))
_FAILING_CALL = re.compile(r"(.+\.)?(assert|fail|raises|exit|quit|_exit)\w*|exec|asyncio\.run")
"""What is imported and still fails a program: numpy.testing.assert_equal, pytest.raises."""


def decides(text: str) -> bool:
    r"""Say whether running a text reaches something that can fail a program.

    That is an `assert` that may be false, a `raise`, or a statement that calls a function of the
    program's or of the text's own. What a call of another function returns there is thrown away.

    >>> decides("assert f(1) == 2"), decides("f(1) == 2"), decides("assert (f(1) == 2, 'no')")
    (True, False, False)
    >>> test = "def test_f():\n    assert f(1) == 2\n"
    >>> decides(test), decides(f"{test}\ntest_f()")
    (False, True)
    """
    return deciding([text])[0]


def deciding(texts: Iterable[str]) -> list[bool]:
    """Say of each of these texts, which run one after the other, whether it `decides`.

    >>> deciding(["import random", "random.seed(0)", "assert f(1) == 2"])
    [False, False, True]
    """
    foreign = set(_PYTHONS_OWN)  # a name that one text sets is in those after it
    found = []
    for text in texts:
        is_one = False
        for node in _reached(parsed(text).body):
            _learn(node, foreign)  # in order: further on a name may be of something else
            is_one = is_one or _can_fail(node, foreign)
        found.append(is_one)
    return found


def prepares(text: str) -> bool:
    """Say whether a text does something for the texts after it: it defines, imports or calls.

    In a loop or a branch a call counts unless it is of a function of Python's own: a text that only
    prints there, `for n in range(3): print(f(n) == n)`, is a test by mistake.
    """
    body = parsed(text).body
    if any(isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) for node in body):
        return True
    return any(
        isinstance(node, _PREPARING) or _calls_own(node, _PYTHONS_OWN) for node in _reached(body)
    )


def _reached(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield what may run where these statements do, in order; a scope, but nothing that is in it.

    Left out is what stands under `if __name__ == ...`, for no text of a test is run as a program,
    and what a `try` runs that catches its assertions.
    """
    waiting = list(nodes)[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        below: Iterable[ast.AST] = ast.iter_child_nodes(node)
        if isinstance(node, _SCOPES) or (isinstance(node, ast.If) and _is_guard(node.test)):
            below = ()
        elif isinstance(node, ast.Try) and any(map(_catches_all, node.handlers)):
            below = [*node.handlers, *node.orelse, *node.finalbody]
        waiting += list(below)[::-1]


def _is_guard(test: ast.expr) -> bool:
    if isinstance(test, ast.Constant):
        return not test.value
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(test))


def _catches_all(handler: ast.ExceptHandler) -> bool:
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        kind is None or (isinstance(kind, ast.Name) and kind.id in _CATCHING) for kind in caught
    )


def _can_fail(node: ast.AST, foreign: set[str]) -> bool:
    if isinstance(node, ast.Assert):
        return not _is_always_true(node.test)
    if isinstance(node, ast.Call):
        return _FAILING_CALL.fullmatch(_dotted(node.func)) is not None
    return isinstance(node, ast.Raise) or _calls_own(node, foreign)


def _calls_own(node: ast.AST, foreign: Collection[str]) -> bool:
    """Say whether a node is a statement that calls what is not foreign."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and _is_own(node.value, foreign)
    )


def _is_always_true(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return bool(value.value)
    if isinstance(value, _TRUE_DISPLAYS):
        return bool(value.elts)
    return isinstance(value, (ast.GeneratorExp, ast.Lambda))


def _learn(node: ast.AST, foreign: set[str]) -> None:
    """Take a name that a statement sets out of `foreign`, or put it there.

    It is foreign unless it is of something of the program's or of the text's own: that is neither
    what is imported from elsewhere nor what foreign names made.
    """
    for name, is_own in _named(node, foreign):
        if is_own:
            foreign.discard(name)
        else:
            foreign.add(name)


def _named(node: ast.AST, foreign: set[str]) -> Iterator[tuple[str, bool]]:
    """Yield the names that a statement sets, each with whether it is own."""
    if isinstance(node, _DEFINING):
        yield node.name, True
    elif isinstance(node, ast.Import):
        for alias in node.names:
            root = alias.name.partition(".")[0]
            yield alias.asname or root, root == _PROGRAM
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, node.module == _PROGRAM
    elif isinstance(node, ast.Assign):
        is_own = _is_own(node.value, foreign)
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, is_own
    elif isinstance(node, ast.AnnAssign) and node.value and isinstance(node.target, ast.Name):
        yield node.target.id, _is_own(node.value, foreign)
    elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
        yield node.optional_vars.id, _is_own(node.context_expr, foreign)


def _is_own(value: ast.expr, foreign: Collection[str]) -> bool:
    """Say whether a value begins with a name that is not foreign, as `Solution().f(1)` does."""
    root = _dotted(value).partition(".")[0]
    return isinstance(value, ast.Lambda) or (root != "" and root not in foreign)


def _dotted(value: ast.expr) -> str:
    """Return the names of a chain, calls and items left out: `a.b.c` for `a().b[0].c`, or ""."""
    names: list[str] = []
    while not isinstance(value, ast.Name):
        if isinstance(value, ast.Call):
            value = value.func
        elif isinstance(value, ast.Subscript):
            value = value.value
        elif isinstance(value, ast.Attribute):
            names.append(value.attr)
            value = value.value
        else:
            return ""
    names.append(value.id)
    return ".".join(reversed(names))
