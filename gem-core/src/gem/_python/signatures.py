"""What a callable takes by keyword, read from its signature once.

Knows nothing about how a value is checked against it (`arguments`).
"""

from __future__ import annotations

import functools
import inspect
import reprlib
import types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

import typing_extensions
from pydantic import ConfigDict, PydanticUserError, TypeAdapter
from pydantic.errors import PydanticUndefinedAnnotation
from pydantic.fields import FieldInfo
from pydantic_core import SchemaError

__all__ = ["Parameter", "Signature", "parameters", "shortened", "signature_of"]

_MAX_REPR = 80  # characters of a value in an error


class Parameter(NamedTuple):
    """One keyword argument that a target takes."""

    name: str
    type: str
    default: Any
    is_required: bool

    def __str__(self) -> str:
        declaration = f"{self.name}: {self.type}" if self.type else self.name
        if self.is_required:
            return declaration
        return f"{declaration} = {shortened(self.default)}"


class Signature(NamedTuple):
    """What a target takes by keyword: each parameter, and what checks a value for it."""

    parameters: Mapping[str, Parameter]
    adapters: Mapping[str, TypeAdapter[Any]]
    is_open: bool
    """Whether it takes any other name too, by `**`."""


def parameters(target: Callable[..., Any], *, skip: int = 0) -> tuple[Parameter, ...]:
    """List what `target` takes by keyword, its first `skip` parameters left out."""
    return tuple(signature_of(target, skip).parameters.values())


class _Short(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxstring = 60
        self.maxother = 60


def shortened(value: Any) -> str:
    """Return a value's repr in one line of at most 80 characters. Walks no container to its end.

    >>> shortened(list(range(1_000_000)))
    '[0, 1, 2, 3, 4, 5, ...]'
    """
    text = " ".join(_Short().repr(value).split())
    return text if len(text) <= _MAX_REPR else f"{text[: _MAX_REPR - 3]}..."


# By target and by how many parameters are skipped. Weakly, so that a class which a notebook
# defines again and again is not kept for ever.
_signatures: WeakKeyDictionary[Any, dict[int, Signature]] = WeakKeyDictionary()


def signature_of(target: Callable[..., Any], skip: int) -> Signature:
    """Return what `target` takes by keyword, read once; its first `skip` parameters left out."""
    try:
        known = _signatures.setdefault(target, {})
    except TypeError:  # it has no hash, or takes no weak reference
        return _read_signature(target, skip)
    if skip not in known:
        known[skip] = _read_signature(target, skip)
    return known[skip]


def _read_signature(target: Callable[..., Any], skip: int) -> Signature:
    """Return what a target takes by keyword, as its signature and its annotations say."""
    function = target.__init__ if isinstance(target, type) else target  # type: ignore[misc]  # only read
    try:
        stated = list(inspect.signature(function).parameters.values())
    except ValueError:  # built in, and nothing is known of what it takes
        return Signature({}, {}, True)
    if isinstance(target, type):
        skip += 1  # `self`
    hints = _resolved_hints(function)
    named = [
        parameter
        for parameter in stated[skip:]
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    takes_more = any(parameter.kind is parameter.VAR_KEYWORD for parameter in stated)
    # A class without an `__init__` has that of `object`, which states `**kwargs` and takes none.
    is_open = takes_more and function is not object.__init__
    for parameter in stated:
        group = _unpacked_group(hints.get(parameter.name))
        if parameter.kind is parameter.VAR_KEYWORD and group is not None:
            is_open = False  # it says by name what it takes
            keys = _keys(group)
            named += keys
            hints |= {key.name: key.annotation for key in keys}
    return Signature(
        {parameter.name: _parameter(parameter, hints) for parameter in named},
        {parameter.name: _adapter(hints.get(parameter.name, Any)) for parameter in named},
        is_open,
    )


# Python 3.10 has the one of typing_extensions alone; on 3.11 the two differ.
_UNPACKS = (typing_extensions.Unpack, getattr(typing, "Unpack", typing_extensions.Unpack))


def _unpacked_group(hint: Any) -> Any:
    """Return the TypedDict of `**name: Unpack[TypedDict]`, None for any other annotation."""
    return get_args(hint)[0] if get_origin(hint) in _UNPACKS else None


def _keys(group: Any) -> list[inspect.Parameter]:
    """Return the keys of a TypedDict as parameters.

    One that may be left out has the default of its `Annotated[..., Field(default=...)]`, or None.
    """
    keys = []
    for name, hint in get_type_hints(group, include_extras=True).items():
        annotation = hint
        default = None
        for extra in getattr(hint, "__metadata__", ()):
            if isinstance(extra, FieldInfo) and not extra.is_required():
                annotation = get_args(hint)[0]
                default = extra.get_default()
        if name in group.__required_keys__:
            default = inspect.Parameter.empty
        keys.append(
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
            )
        )
    return keys


def _parameter(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> Parameter:
    hint = hints.get(parameter.name)
    type_text = "" if parameter.name not in hints else _type_text(hint)
    is_required = parameter.default is parameter.empty
    default = None if is_required else parameter.default
    return Parameter(parameter.name, type_text.replace("typing.", ""), default, is_required)


def _type_text(hint: Any) -> str:
    """Return an annotation as a reader writes it: of `Annotated`, the type and its bounds.

    >>> from pydantic import Field
    >>> _type_text(Annotated[int, Field(ge=2, le=64)])
    'int (ge=2, le=64)'
    """
    if get_origin(hint) is not Annotated:
        return inspect.formatannotation(hint)
    text = inspect.formatannotation(get_args(hint)[0])
    rules: list[Any] = []
    for extra in hint.__metadata__:
        if isinstance(extra, FieldInfo):
            rules += extra.metadata  # the rest of it is of no use to who passes the argument
        elif type(extra).__module__ == "annotated_types":
            rules.append(extra)
    bounds = [repr(rule).partition("(")[2].removesuffix(")") for rule in rules]  # of Ge(ge=2)
    return f"{text} ({', '.join(bounds)})" if bounds else text


def _resolved_hints(function: Any) -> dict[str, Any]:
    """Return what each parameter is annotated with; one that cannot be resolved is left out."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)  # a decorator has the annotations of what it wraps
    if not hasattr(function, "__code__"):
        function = type(function).__call__
    # A pack imports Unpack for type checkers alone: on Python 3.10 it is no part of `typing`.
    names = {"Unpack": typing_extensions.Unpack, **getattr(function, "__globals__", {})}
    hints: dict[str, Any] = {}
    # One at a time: of all at once, one that cannot be resolved would hide the others.
    for name, annotation in getattr(function, "__annotations__", {}).items():
        alone = types.SimpleNamespace(__annotations__={name: annotation})
        try:
            hints |= get_type_hints(alone, globalns=names, include_extras=True)
        except (NameError, TypeError, AttributeError, SyntaxError):
            continue  # most often a name that is imported for type checkers alone
    return hints


def _adapter(hint: Any) -> TypeAdapter[Any]:
    """Return what checks a value for an annotation; one that takes anything where nothing can."""
    for config in (ConfigDict(arbitrary_types_allowed=True), None):
        try:
            return TypeAdapter(hint, config=config)
        except PydanticUserError:  # a model or a dataclass carries its own configuration
            continue
        except (SchemaError, PydanticUndefinedAnnotation):  # a protocol, say, or a name unknown
            break
    return TypeAdapter(Any)
