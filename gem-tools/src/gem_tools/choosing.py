"""Turn what a user names into tools. Knows nothing about calls."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import Lock
from typing import Any, Protocol, Union, get_args, get_origin, get_type_hints, runtime_checkable

from gem.errors import BadArguments
from gem.registry import check_requirements, checked, load_target, provider, tool_spec
from gem.tools import FunctionTool, Tool

__all__ = ["ToolLike", "Toolset", "as_tools", "given"]


@runtime_checkable
class Toolset(Protocol):
    """What yields tools, the same ones each time."""

    def __iter__(self) -> Iterator[Tool]:
        """Yield the tools. It may block."""


ToolLike = Union[str, Mapping[str, Any], Tool, Callable[..., Any], Toolset]
"""A tool's id, `{"id": ..., **kwargs}`, a `module:attribute`, a Tool, a typed function, several.

What an id or a `module:attribute` leads to is a tool or several, or makes them. A class makes them,
and so does a function that is given arguments or is annotated to return tools; any other function
is a tool by its types.
"""

_made: dict[str, Any] = {}
_making = Lock()


def as_tools(like: ToolLike | Any) -> tuple[Tool, ...]:
    """Return the tools. What is named is made once a process, and serves all who name it.

    Raises UnknownTool, IdConflict, MissingRequirement, TargetError or BadArguments, and what
    making the tools raises.
    """
    if isinstance(like, Tool):
        return (like,)
    if callable(like):
        return (FunctionTool(like),)
    if isinstance(like, Iterable) and not isinstance(like, (str, Mapping)):
        return _several(like, f"{like!r:.80}")
    id, kwargs = _named(like)
    choice = _choice(id, kwargs)
    # Where there are several they may wait for a server, so not while the lock is held.
    return (choice,) if isinstance(choice, Tool) else _several(choice, repr(id))


def given(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are not None: equal choices then lead to one tool."""
    return {name: value for name, value in kwargs.items() if value is not None}


def _choice(id: str, kwargs: dict[str, Any]) -> Any:
    try:
        key = json.dumps([id, kwargs], sort_keys=True)
    except (TypeError, ValueError):  # made with a live object, so for this user alone
        return _make(id, kwargs)
    with _making:
        if key not in _made:
            _made[key] = _make(id, kwargs)
        return _made[key]


def _several(choice: Any, name: str) -> tuple[Tool, ...]:
    tools = (
        tuple(choice) if isinstance(choice, Iterable) and not isinstance(choice, str) else (choice,)
    )
    for tool in tools:
        if not isinstance(tool, Tool):
            raise BadArguments(
                f"{name} is no tool: it made a {type(tool).__name__}. Name a gem.Tool, or what "
                "makes one or yields several.",
                subject="tools",
            )
    return tools


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


def _make(id: str, kwargs: dict[str, Any]) -> Any:
    target = load_target(id) if ":" in id else _provided(id)
    if isinstance(target, Tool) and not kwargs:
        return target
    if inspect.isroutine(target) and not kwargs and not _makes_tools(target, id):
        return FunctionTool(target)
    return (
        target(**checked(target, kwargs, subject=f"The tool {id!r}"))
        if callable(target)
        else target
    )


def _makes_tools(function: Callable[..., Any], id: str) -> bool:
    """Say whether a function makes tools or is one, by what it says that it returns.

    It is never called to find out. Raises BadArguments where it says nothing.
    """
    returned = _returned_by(function)
    if returned is Any:
        raise BadArguments(
            f"{id!r} was given as a tool, and is a function that does not say what it returns: it "
            "may be a tool or make one. Put @gem.tool above it if it is one, and annotate it with "
            "`-> gem.Tool` if it makes one.",
            subject="tools",
        )
    # A class of tools says of what it is by its `__iter__`, as `Toolset` has it.
    yielded = _returned_by(getattr(get_origin(returned) or returned, "__iter__", None))
    return _names_tools(returned) or _names_tools(yielded)


def _returned_by(function: Any) -> Any:
    """Return the annotation of what a function returns, `Any` where none can be read."""
    try:
        return get_type_hints(function).get("return", Any)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return Any


def _names_tools(annotation: Any) -> bool:
    """Say whether an annotation has a class of tools in it: `gem.Tool`, `list[gem.Tool]`."""
    origin = get_origin(annotation) or annotation
    if isinstance(origin, type) and issubclass(origin, Tool):
        return True
    return any(map(_names_tools, get_args(annotation)))


def _provided(id: str) -> Any:
    spec = tool_spec(id)
    check_requirements(spec.requires, subject=f"The tool {id!r}", of=provider("tools", id))
    return load_target(spec.target)
