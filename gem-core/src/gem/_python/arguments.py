"""Check keyword arguments against a signature.

Knows nothing about what the arguments are for, or how they are recorded (`recorded_arguments`).
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from gem._python.signatures import Parameter, Signature, shortened, signature_of
from gem.errors import BadArguments

__all__ = ["checked"]


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
    signature = signature_of(target, skip)
    problems = []
    values = {}
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
    subject: str, problems: list[str], signature: Signature, defaults: Mapping[str, Any]
) -> BadArguments:
    """Return the error with every problem, and with all that the target takes."""
    declarations = []
    for name, parameter in signature.parameters.items():
        if name in defaults:
            preset = parameter._replace(default=defaults[name], is_required=False)
            declarations.append(str(preset))
        else:
            declarations.append(str(parameter))
    allowed = ", ".join(declarations) or "no arguments"
    return BadArguments(
        f"{subject} cannot be made with these arguments: {'; '.join(problems)}. "
        f"It takes {allowed}.",
        subject=subject,
        problems=problems,
    )


def _complaint(parameter: Parameter, value: Any, error: ValidationError) -> str:
    # A union has a reason for each of its types, often the same one: each is said once, in order.
    reasons = dict.fromkeys(_reason(value, detail) for detail in _details(error))
    first_reasons = ", or ".join(list(reasons)[:3])
    return f"{parameter.name}={shortened(value)} does not fit ({first_reasons})"


def _reason(value: Any, detail: Any) -> str:
    """Return what is wrong with a value; of a mapping in it, with the name that it is under."""
    names = []
    for part in detail["loc"]:  # types of a union stand there too
        if isinstance(value, Mapping) and part in value:
            names.append(part)
            value = value[part]
        elif isinstance(value, (list, tuple)) and part in range(len(value)):
            value = value[part]
    if detail["type"] == "missing":  # it is in no value, and stands last
        names.append(detail["loc"][-1])
    return f"{shortened(names[-1])}: {detail['msg']}" if names else detail["msg"]


def _details(error: ValidationError) -> list[Any]:
    # Without the value: an error must not render a table of a million rows.
    return list(error.errors(include_url=False, include_context=False, include_input=False))


def _fit(adapter: TypeAdapter[Any], value: Any) -> Any:
    """Return a value as an adapter takes it: itself, unless something in it was converted."""
    try:
        fitted = adapter.validate_python(value, strict=True)
    except ValidationError as error:
        return _fit_as_json(adapter, value, error)
    if isinstance(value, (int, float, str)):
        return fitted
    # Validation copies containers and makes iterables lazy. The copy is taken only where it
    # differs, so that a caller and its environment share what they mean to share.
    is_container = isinstance(value, (list, tuple, dict)) and not isinstance(fitted, Iterator)
    return fitted if is_container and fitted != value else value


def _fit_as_json(adapter: TypeAdapter[Any], value: Any, error: ValidationError) -> Any:
    """Return a value as JSON's rules let it fit, or raise `error`, or what those rules say."""
    try:
        text = json.dumps(value, allow_nan=False, default=_as_json_container)
    except (TypeError, ValueError, RecursionError):
        raise error from None
    try:
        return adapter.validate_json(text, strict=True)
    except ValidationError as json_error:
        # JSON's rules know nothing of the live object that would also fit.
        wants_object = any(detail["type"] == "is_instance_of" for detail in _details(error))
        raise (error if wants_object else json_error) from None


def _as_json_container(value: Any) -> Any:
    """Return a container of another kind, as configurations have them, as JSON knows it."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} is no JSON")
