"""Which modules of core other distributions may import, and what of theirs imports another."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

__all__ = ["PUBLIC_MODULES", "private_imports"]

PUBLIC_MODULES = MappingProxyType(
    {
        "gem": "what most programs use",
        "gem.cli": "what a command of another pack takes from the command line",
        "gem.cli.screen": "the screen of `gem-env play`, for a policy that a person plays",
        "gem.compat": "what a pack needs to provide names of the published gem-llm",
        "gem.content": "observations and actions: messages, parts, calls of tools",
        "gem.conversation": "what a policy is shown and answers",
        "gem.data": "tables of rows: the hub, files, lists (of gem-data)",
        "gem.env": "what authors of environments write with",
        "gem.episode": "the record of one episode",
        "gem.errors": "every exception",
        "gem.hooks": "what is announced to listeners, and more commands",
        "gem.hosting": "what runs environments, for those who write a backend",
        "gem.parsing": "calls of tools and answers, read out of text",
        "gem.registry": "what is installed under which id, and how to make something of it",
        "gem.retries": "how long to wait before a server is asked again",
        "gem.returns": "rewards into returns and advantages",
        "gem.rollouts": "what programs that run episodes use besides `gem.rollout`",
        "gem.specs": "what plugins state",
        "gem.testing": "checks for authors of environments and packs",
        "gem.testing.envs": "small environments to try things on",
        "gem.tokens": "an episode as tokens",
        "gem.tools": "what a policy may call",
        "gem.vector": "environments stepped together",
        "gem.wrappers": "the built-in wrappers, by their ids",
    }
)
"""Each public module with what it holds; of each the names in its `__all__` are public."""


def private_imports(folder: str | Path) -> list[str]:
    """List what the Python files below `folder` import from core that is not public.

    Each is one line, "FILE:LINE: NAME". A pack's own test keeps the list empty, and the pack then
    runs on every later version of core that keeps its public names:

        def test_this_pack_imports_only_what_is_public() -> None:
            assert private_imports("src") == []

    Imports inside functions and for type checkers count too. Raises SyntaxError for a file that
    is no Python.
    """
    return [
        f"{path}:{line}: {name}"
        for path in sorted(Path(folder).rglob("*.py"))
        for line, name in _uses(ast.parse(path.read_text(encoding="utf-8")))
        if not _is_public(name)
    ]


def _uses(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield every name of core that a source uses, whole: `gem.env.Env`, with its line."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Import, ast.ImportFrom, ast.Attribute)):
            continue
        for name in _names(node):
            if name.startswith("gem."):
                yield node.lineno, name


def _names(node: ast.Import | ast.ImportFrom | ast.Attribute) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        # A relative one stays in the pack.
        return [] if node.level else [f"{node.module}.{alias.name}" for alias in node.names]
    # Of a public module only: what lies deeper (`gem.Env.step`) is of an object, not of a module.
    module = _dotted(node.value)
    return [f"{module}.{node.attr}"] if module in PUBLIC_MODULES else []


def _dotted(node: ast.expr) -> str | None:
    """Return `gem.env` of the expression `gem.env`, None of one that is more than names."""
    if isinstance(node, ast.Name):
        return node.id
    inner = _dotted(node.value) if isinstance(node, ast.Attribute) else None
    return f"{inner}.{node.attr}" if isinstance(node, ast.Attribute) and inner else None


def _is_public(name: str) -> bool:
    if name in PUBLIC_MODULES:
        return True
    module, _, last = name.rpartition(".")
    if module not in PUBLIC_MODULES:
        return False
    is_of_python = last.startswith("__") and last.endswith("__")
    return is_of_python or last == "*" or last in importlib.import_module(module).__all__
