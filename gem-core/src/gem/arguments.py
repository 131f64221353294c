"""Check keyword arguments against a signature, and record them as JSON data.

Knows nothing about what the arguments are for.
"""

from __future__ import annotations

import functools
import inspect
import json
import reprlib
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

import typing_extensions
from pydantic import BaseModel, ConfigDict, PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticUndefinedAnnotation
from pydantic.fields import FieldInfo
from pydantic_core import SchemaError

from gem.errors import BadArguments, OpaqueError

__all__ = ["Parameter", "checked", "is_opaque", "parameters", "recorded", "refuse_opaque"]

_OPAQUE = "$opaque"
_MAX_RECORDED = 64 * 1024


class Parameter(NamedTuple):
    """One keyword argument that a target takes."""

    name: str
    type: str
    default: Any
    is_required: bool

    def __str__(self) -> str:
        shown = f"{self.name}: {self.type}" if self.type else self.name
        return shown if self.is_required else f"{shown} = {_short(self.default)}"


class _Signature(NamedTuple):
    parameters: Mapping[str, Parameter]
    adapters: Mapping[str, TypeAdapter[Any]]
    is_open: bool


def parameters(target: Callable[..., Any], *, skip: int = 0) -> tuple[Parameter, ...]:
    """List what `target` takes by keyword, its first `skip` parameters left out."""
    return tuple(_signature(target, skip).parameters.values())


def checked(
    target: Callable[..., Any],
    kwargs: Mapping[str, Any],
    *,
    subject: str,
    skip: int = 0,
    defaults: Mapping[str, Any] = types.MappingProxyType({}),
) -> dict[str, Any]:
    """Return `kwargs` as `target` takes them. Raises BadArguments naming every problem at once.

    `defaults` are what the subject has set for the target; an error shows them as its defaults.
    Strict, with JSON's rules: a list fits a tuple and an int fits a float, but `"1"` and `True`
    are not ints.
    """
    signature = _signature(target, skip)
    problems, values = [], {}
    for name, value in kwargs.items():
        if name not in signature.parameters:
            if signature.is_open:
                values[name] = value
            else:
                problems.append(f"it takes no {name!r}")
            continue
        try:
            values[name] = _fit(signature.adapters[name], value)
        except ValidationError as error:
            problems.append(_complaint(signature.parameters[name], value, error))
    problems += [
        f"{parameter.name!r} is missing"
        for parameter in signature.parameters.values()
        if parameter.is_required and parameter.name not in kwargs
    ]
    if problems:
        raise _bad_arguments(subject, problems, signature, defaults)
    return values


def _bad_arguments(
    subject: str, problems: list[str], signature: _Signature, defaults: Mapping[str, Any]
) -> BadArguments:
    taken = (
        parameter._replace(default=defaults[name], is_required=False)
        if name in defaults
        else parameter
        for name, parameter in signature.parameters.items()
    )
    allowed = ", ".join(map(str, taken)) or "no arguments"
    return BadArguments(
        f"{subject} cannot be made with these arguments: {'; '.join(problems)}. "
        f"It takes {allowed}.",
        subject=subject,
        problems=problems,
    )


def _complaint(parameter: Parameter, value: Any, error: ValidationError) -> str:
    reasons = dict.fromkeys(detail["msg"] for detail in _details(error))
    shown = ", or ".join(list(reasons)[:3])
    return f"{parameter.name}={_short(value)} does not fit ({shown})"


def _details(error: ValidationError) -> list[Any]:
    return list(error.errors(include_url=False, include_context=False, include_input=False))


class _Short(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 60


def _short(value: Any) -> str:
    text = " ".join(_Short().repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def _fit(adapter: TypeAdapter[Any], value: Any) -> Any:
    try:
        fitted = adapter.validate_python(value, strict=True)
    except ValidationError as error:
        return _fit_as_json(adapter, value, error)
    if isinstance(value, (int, float, str)):
        return fitted
    # Validation copies containers and makes iterables lazy; what was given is good as it is,
    # unless something in it was converted.
    is_container = isinstance(value, (list, tuple, dict)) and not isinstance(fitted, Iterator)
    return fitted if is_container and fitted != value else value


def _fit_as_json(adapter: TypeAdapter[Any], value: Any, error: ValidationError) -> Any:
    try:
        text = json.dumps(value, allow_nan=False, default=_plain)
    except (TypeError, ValueError, RecursionError):
        raise error from None
    try:
        return adapter.validate_json(text, strict=True)
    except ValidationError as json_error:
        # JSON's rules know nothing of the live object that would also fit.
        wants_object = any(detail["type"] == "is_instance_of" for detail in _details(error))
        raise (error if wants_object else json_error) from None


def _plain(value: Any) -> Any:
    """Return a container of another kind, as configurations have them, as JSON knows it."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


_signatures: WeakKeyDictionary[Any, dict[int, _Signature]] = WeakKeyDictionary()


def _signature(target: Callable[..., Any], skip: int) -> _Signature:
    try:
        known = _signatures.setdefault(target, {})
    except TypeError:  # it has no hash, or takes no weak reference
        return _read_signature(target, skip)
    if skip not in known:
        known[skip] = _read_signature(target, skip)
    return known[skip]


def _read_signature(target: Callable[..., Any], skip: int) -> _Signature:
    function = target.__init__ if isinstance(target, type) else target  # type: ignore[misc]  # only read
    try:
        found = list(inspect.signature(function).parameters.values())
    except ValueError:  # built in, and nothing is known of what it takes
        return _Signature({}, {}, True)
    hints = _hints(function)
    named = [
        parameter
        for parameter in found[skip + isinstance(target, type) :]
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    takes_more = any(parameter.kind is parameter.VAR_KEYWORD for parameter in found)
    is_open = takes_more and function is not object.__init__
    for parameter in found:
        group = _unpacked(hints.get(parameter.name))
        if parameter.kind is parameter.VAR_KEYWORD and group is not None:
            is_open = False  # it says by name what it takes
            keys = _keys(group)
            named += keys
            hints |= {key.name: key.annotation for key in keys}
    return _Signature(
        {parameter.name: _parameter(parameter, hints) for parameter in named},
        {parameter.name: _adapter(hints.get(parameter.name, Any)) for parameter in named},
        is_open,
    )


# Python 3.10 has the one of typing_extensions alone; on 3.11 the two differ.
_UNPACKS = (typing_extensions.Unpack, getattr(typing, "Unpack", typing_extensions.Unpack))


def _unpacked(hint: Any) -> Any:
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
    shown = "" if parameter.name not in hints else inspect.formatannotation(hint)
    is_required = parameter.default is parameter.empty
    default = None if is_required else parameter.default
    return Parameter(parameter.name, shown.replace("typing.", ""), default, is_required)


def _hints(function: Any) -> dict[str, Any]:
    """Return what each parameter is annotated with; one that cannot be resolved is left out."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    if not hasattr(function, "__code__"):
        function = type(function).__call__
    # A pack imports Unpack for type checkers alone: on Python 3.10 it is no part of `typing`.
    names = {"Unpack": typing_extensions.Unpack, **getattr(function, "__globals__", {})}
    hints: dict[str, Any] = {}
    for name, annotation in getattr(function, "__annotations__", {}).items():
        alone = types.SimpleNamespace(__annotations__={name: annotation})
        try:
            hints |= get_type_hints(alone, globalns=names, include_extras=True)
        except (NameError, TypeError, AttributeError, SyntaxError):
            continue  # most often a name that is imported for type checkers alone
    return hints


def _adapter(hint: Any) -> TypeAdapter[Any]:
    for config in (ConfigDict(arbitrary_types_allowed=True), None):
        try:
            return TypeAdapter(hint, config=config)
        except PydanticUserError:  # a model or a dataclass carries its own configuration
            continue
        except (SchemaError, PydanticUndefinedAnnotation):  # a protocol, say, or a name unknown
            break
    return TypeAdapter(Any)


def recorded(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return `kwargs` as JSON data; a live or very large object becomes a note of its type.

    The cost has a bound: a table of a million rows is not walked to its end.
    """
    return {name: _recorded(value) for name, value in kwargs.items()}


def _recorded(value: Any) -> Any:
    try:
        return _Plain(_MAX_RECORDED).data(value)
    except _LIVE:
        return {_OPAQUE: f"{type(value).__module__}.{type(value).__qualname__}"}


class _NotPlainError(Exception):
    """A value is no JSON data, or too much of it."""


_LIVE = (_NotPlainError, ValueError, RecursionError)


class _Plain:
    """Turn values into JSON data until so many characters, about, are spent."""

    def __init__(self, budget: int) -> None:
        self._left = budget

    def data(self, value: Any) -> Any:
        self._spend(2)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, Enum):
            return self.data(value.value)
        if isinstance(value, str):
            self._spend(len(value))
            return str(value)
        if isinstance(value, int):
            self._spend(len(str(value)))
            return int(value)
        if isinstance(value, float) and abs(value) < float("inf"):
            self._spend(8)
            return float(value)
        if isinstance(value, PurePath):
            return self.data(str(value))
        if isinstance(value, BaseModel):
            return self.data(dict(value))
        if is_dataclass(value) and not isinstance(value, type):
            return self.data({each.name: getattr(value, each.name) for each in fields(value)})
        if isinstance(value, Mapping):
            return {self._key(key): self.data(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.data(item) for item in value]
        raise _NotPlainError

    def _key(self, key: object) -> str:
        if not isinstance(key, str):
            raise _NotPlainError
        self._spend(len(key) + 2)
        return str(key)

    def _spend(self, characters: int) -> None:
        self._left -= characters
        if self._left < 0:
            raise _NotPlainError


def is_opaque(value: object) -> bool:
    """Say whether a recorded argument only notes the type of a live object."""
    return isinstance(value, Mapping) and _OPAQUE in value


def refuse_opaque(kwargs: Mapping[str, Any], *, subject: str) -> None:
    """Raise OpaqueError if these recorded arguments stand for live objects."""
    for name, value in kwargs.items():
        if is_opaque(value):
            raise OpaqueError(
                f"{subject} was made with a live {value[_OPAQUE]} as {name!r}, which its record "
                f"does not hold. Make it again and pass {name}= yourself.",
                argument=name,
            )
