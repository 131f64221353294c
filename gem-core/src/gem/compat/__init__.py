"""What code that was written for the published gem-llm finds here, and the switch `compat`.

`gem.compat.gem_llm` is a folder of modules with its import paths; `gem` has that folder on its
own path, so that `gem.utils.parsing` is found like any module. Where others need what is behind a
path it is in this package, or in the pack that the environment is of, and the module passes its
names on. `gem.make(..., compat=True)` is in `_switch` and `_environment`. Nothing else of core
imports this package.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gem._python.signatures import parameters
from gem.compat._environment import AsPublished, answered
from gem.compat._parsing import extract_last_boxed_answer, extract_last_tagged_answer
from gem.compat._tables import table_arguments
from gem.compat._task_order import TaskOrder
from gem.compat._tools import BaseTool, ToolEnvWrapper
from gem.compat._wrapper_factory import WRAPPER_FACTORY, wrapper_class
from gem.content import Action as ActType
from gem.content import Observation as ObsType
from gem.env._env import Env
from gem.env._wrapper import Wrapper

__all__ = [
    "WRAPPER_FACTORY",
    "ActType",
    "AsPublished",
    "BaseTool",
    "Env",
    "EnvWrapper",
    "ObsType",
    "TaskOrder",
    "ToolEnvWrapper",
    "answered",
    "extract_last_boxed_answer",
    "extract_last_tagged_answer",
    "get_wrapper_fns",
    "table_arguments",
]

EnvWrapper = Wrapper
"""`gem.Wrapper` under its older name."""


def get_wrapper_fns(wrappers: str, tokenizer: Any = None) -> list[Callable[[Env], Env]]:
    """Return what puts each of these wrappers on an environment, innermost first.

    `wrappers` are names with commas between them, "" for none; those that take a tokenizer are
    given it. With GEM_COMPAT=1 they are in the form that gem-llm had. Raises UnknownWrapper.

    >>> [around] = get_wrapper_fns("concat")
    """
    names = [name.strip() for name in wrappers.split(",")]
    return [_wrapper_fn(name, tokenizer) for name in names if name]


def _wrapper_fn(name: str, tokenizer: Any) -> Callable[[Env], Env]:
    target = wrapper_class(name)
    # Not inspect.signature: on Python 3.10 it reads a class's __new__ before its __init__.
    takes_tokenizer = any(parameter.name == "tokenizer" for parameter in parameters(target))
    return functools.partial(target, **({"tokenizer": tokenizer} if takes_tokenizer else {}))
