"""The import paths of the published gem-llm, for code that was written for it.

`gem.core` and `gem.wrappers.wrapper_factory` can be imported, and names that only have to be there
are there; any other path is an ImportError that says what replaces it. Nothing else imports this.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from gem.content import Action as ActType
from gem.content import Observation as ObsType
from gem.env import Env
from gem.errors import BadArguments
from gem.registry import wrapper_spec
from gem.targets import load_target
from gem.wrapper import Wrapper
from gem.wrappers.factory import WRAPPER_FACTORY

__all__ = [
    "WRAPPER_FACTORY",
    "ActType",
    "Env",
    "EnvWrapper",
    "ObsType",
    "ToolEnvWrapper",
    "find_spec",
    "get_wrapper_fns",
]

EnvWrapper = Wrapper
"""`gem.Wrapper` under its older name."""

_MODULES = {
    "gem.core": ("ActType", "Env", "EnvWrapper", "ObsType"),
    "gem.tools.tool_env_wrapper": ("ToolEnvWrapper",),
    "gem.wrappers.wrapper_factory": ("WRAPPER_FACTORY", "get_wrapper_fns"),
}
_REPLACED = {
    "gem.envs": 'Environments are made by id: gem.make("math:GSM8K"). `gem-env list` shows them, '
    "and docs/writing-a-pack.md says how to write one.",
    "gem.tools.base_tool": "Write a tool as a function with `gem.tool`, or subclass gem.Tool.",
    "gem.tools.mcp_tool": 'Install gem-tools[mcp] and give its tool "mcp" to the wrapper "tools".',
    "gem.tools.python_code_tool": 'Install gem-tools: gem.make(..., wrappers=["python_tool"]).',
    "gem.tools.search_tool": 'Install gem-tools[http]: gem.make(..., wrappers=["search_tool"]).',
    "gem.utils": "gem.parsing reads answers (`last_boxed`), gem-tools runs programs.",
}


def get_wrapper_fns(wrappers: str, tokenizer: Any = None) -> list[Callable[[Env], Env]]:
    """Return what puts each of these wrappers on an environment, innermost first.

    `wrappers` are names with commas between them, "" for none; those that take a tokenizer are
    given it. Raises UnknownWrapper.

    >>> [around] = get_wrapper_fns("concat")
    """
    names = [name.strip() for name in wrappers.split(",")]
    return [_wrapper_fn(name, tokenizer) for name in names if name]


def _wrapper_fn(name: str, tokenizer: Any) -> Callable[[Env], Env]:
    target: Callable[..., Env] = load_target(wrapper_spec(name).target)
    if "tokenizer" not in inspect.signature(target).parameters:
        return functools.partial(target)
    return functools.partial(target, tokenizer=tokenizer)


class ToolEnvWrapper(Wrapper):
    """The published wrapper for tools, by name alone: tools here are wrappers with an id."""

    def __init__(self, env: Env, *_: Any, **__: Any) -> None:
        raise BadArguments(
            f"A ToolEnvWrapper was asked for around {env!r}, and this is another package's way. "
            'Install gem-tools and name the tools: gem.make(..., wrappers=["python_tool"]).',
            subject="ToolEnvWrapper",
        )


def find_spec(name: str) -> ModuleSpec | None:
    """Return the spec of a module of the published package that is served here.

    Raises ImportError, with what replaces it, for one that is not; None where it had none.
    """
    if name in _MODULES:
        return ModuleSpec(name, _Served())
    for gone, instead in _REPLACED.items():
        if name == gone or name.startswith(f"{gone}."):
            raise ModuleNotFoundError(
                f"{name!r} is a module of gem-llm, and gem-core has none of that name. {instead}",
                name=name,
            )
    return None


class _Served(Loader):
    """Loads a module whose names are here."""

    def exec_module(self, module: ModuleType) -> None:
        """Give it its names."""
        for name in _MODULES[module.__name__]:
            setattr(module, name, globals()[name])
