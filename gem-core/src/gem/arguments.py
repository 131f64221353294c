"""Check keyword arguments against a signature, and record them as JSON data.

Knows nothing about what the arguments are for.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, get_type_hints

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

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
        return shown if self.is_required else f"{shown} = {self.default!r}"


class _Signature(NamedTuple):
    parameters: Mapping[str, Parameter]
    adapters: Mapping[str, TypeAdapter[Any]]
    is_open: bool


def parameters(target: Callable[..., Any], *, skip: int = 0) -> tuple[Parameter, ...]:
    """List what `target` takes by keyword, its first `skip` parameters left out."""
    return tuple(_signature(target, skip).parameters.values())


def checked(
    target: Callable[..., Any], kwargs: Mapping[str, Any], *, subject: str, skip: int = 0
) -> dict[str, Any]:
    """Return `kwargs` as `target` takes them. Raises BadArguments naming every problem at once.

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
        raise _bad_arguments(subject, problems, signature)
    return values


def _bad_arguments(subject: str, problems: list[str], signature: _Signature) -> BadArguments:
    allowed = ", ".join(map(str, signature.parameters.values())) or "no arguments"
    return BadArguments(
        f"{subject} cannot be made with these arguments: {'; '.join(problems)}. "
        f"It takes {allowed}.",
        subject=subject,
        problems=problems,
    )


def _complaint(parameter: Parameter, value: Any, error: ValidationError) -> str:
    reasons = dict.fromkeys(detail["msg"] for detail in error.errors(include_url=False))
    return f"{parameter.name}={_short(value)} does not fit ({', or '.join(reasons)})"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _fit(adapter: TypeAdapter[Any], value: Any) -> Any:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        try:
            text = json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            text = None
        if text is None:
            raise
        try:
            return adapter.validate_json(text)
        except ValidationError:
            if _wants_object(error):
                raise error from None
            raise


def _wants_object(error: ValidationError) -> bool:
    """Say whether a live object is among what would fit, which JSON's rules know nothing of."""
    return any(detail["type"] == "is_instance_of" for detail in error.errors(include_url=False))


@functools.lru_cache(maxsize=1024)
def _signature(target: Callable[..., Any], skip: int) -> _Signature:
    function = target.__init__ if isinstance(target, type) else target  # type: ignore[misc]  # only read
    found = list(inspect.signature(function).parameters.values())
    hints = _hints(function)
    named = [
        parameter
        for parameter in found[skip + isinstance(target, type) :]
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    is_open = any(parameter.kind is parameter.VAR_KEYWORD for parameter in found)
    return _Signature(
        {parameter.name: _parameter(parameter, hints) for parameter in named},
        {parameter.name: _adapter(hints.get(parameter.name, Any)) for parameter in named},
        is_open and function is not object.__init__,
    )


def _parameter(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> Parameter:
    hint = hints.get(parameter.name)
    shown = "" if hint is None else inspect.formatannotation(hint)
    is_required = parameter.default is parameter.empty
    default = None if is_required else parameter.default
    return Parameter(parameter.name, shown.replace("typing.", ""), default, is_required)


def _hints(function: Callable[..., Any]) -> Mapping[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, TypeError, AttributeError):  # a name imported for type checkers alone
        return {}


def _adapter(hint: Any) -> TypeAdapter[Any]:
    config = ConfigDict(strict=True, arbitrary_types_allowed=True)
    try:
        return TypeAdapter(hint, config=config)
    except PydanticUserError:  # a model or a dataclass carries its own configuration
        return TypeAdapter(hint)


def recorded(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return `kwargs` as JSON data; a live or very large object becomes a note of its type."""
    return {name: _recorded(value) for name, value in kwargs.items()}


def _recorded(value: Any) -> Any:
    try:
        plain = to_jsonable_python(value)
        text = json.dumps(plain, allow_nan=False)
    except (PydanticSerializationError, ValueError, TypeError, RecursionError):
        text = None
    if text is None or len(text) > _MAX_RECORDED:
        return {_OPAQUE: f"{type(value).__module__}.{type(value).__qualname__}"}
    return json.loads(text)


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
