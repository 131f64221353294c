"""Turn what a user names into a tool. Knows nothing about calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Union

from gem.arguments import checked
from gem.errors import BadArguments
from gem.registry import tool_spec
from gem.targets import check_requirements, load_target
from gem.tools import FunctionTool, Tool

__all__ = ["ToolLike", "as_tool"]

ToolLike = Union[str, Mapping[str, Any], Tool, Callable[..., Any]]
"""A tool's id, `{"id": ..., **kwargs}`, a `module:attribute`, a Tool, or a typed function."""

_made: dict[str, Tool] = {}
_making = Lock()


def as_tool(like: ToolLike) -> Tool:
    """Return the tool. One that is named is made once a process, and serves all who name it.

    Raises UnknownTool, IdConflict, MissingRequirement, TargetError or BadArguments.
    """
    if isinstance(like, Tool):
        return like
    if callable(like):
        return FunctionTool(like)
    id, kwargs = _named(like)
    try:
        key = json.dumps([id, kwargs], sort_keys=True)
    except (TypeError, ValueError):  # made with a live object, so for this user alone
        return _make(id, kwargs)
    with _making:
        if key not in _made:
            _made[key] = _make(id, kwargs)
        return _made[key]


def _named(like: Any) -> tuple[str, dict[str, Any]]:
    if isinstance(like, str):
        return like, {}
    if isinstance(like, Mapping) and isinstance(like.get("id"), str):
        return like["id"], {name: value for name, value in like.items() if name != "id"}
    raise BadArguments(
        f"A tool was given as {like!r:.80}, and none is known by that. Give its id, a dictionary "
        "with its 'id' and arguments, a 'module:attribute', a gem.Tool or a typed function.",
        subject="tools",
    )


def _make(id: str, kwargs: dict[str, Any]) -> Tool:
    found = load_target(id) if ":" in id else _provided(id)
    if isinstance(found, Tool) and not kwargs:
        return found
    made = found(**checked(found, kwargs, subject=f"The tool {id!r}")) if callable(found) else found
    if isinstance(made, Tool):
        return made
    raise BadArguments(
        f"{id!r} is no tool: it made a {type(made).__name__}. Name a gem.Tool, or what makes one.",
        subject="tools",
    )


def _provided(id: str) -> Any:
    spec = tool_spec(id)
    check_requirements(spec.requires, subject=f"The tool {id!r}")
    return load_target(spec.target)
