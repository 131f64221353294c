"""Turn keyword arguments of an earlier release into today's, as a spec's table says.

Knows nothing about what the arguments are for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from gem._python.deprecation import warn_deprecated
from gem.errors import BadArguments
from gem.specs import ObsoleteKwarg

__all__ = ["current_kwargs"]


def current_kwargs(
    kwargs: Mapping[str, Any], obsolete: Mapping[str, ObsoleteKwarg], *, subject: str
) -> dict[str, Any]:
    """Return `kwargs` with every obsolete argument left out or under its name of today.

    Each that is found is one DeprecationWarning. Raises BadArguments where an argument is given
    under both names, or has a value that the table does not translate.
    """
    current = {name: value for name, value in kwargs.items() if name not in obsolete}
    for name, value in kwargs.items():
        if name in obsolete:
            current = _with_moved(current, name, value, replacement=obsolete[name], subject=subject)
    return current


def _with_moved(
    current: dict[str, Any], name: str, value: Any, *, replacement: ObsoleteKwarg, subject: str
) -> dict[str, Any]:
    """Return the arguments with an obsolete one where it belongs today, and warn of it.

    `replacement` says where that is: under another name, `hub` as `source={"hub": ...}`, say.
    """
    if not replacement.instead:
        warn_deprecated(
            f"{subject} takes no {name!r} any longer; it is ignored.", instead="Leave it out."
        )
        return current
    if value is None:  # as if it were not given: the default of today stands
        warn_deprecated(f"{subject} takes no {name!r} any longer.", instead="Leave it out.")
        return current
    example = "..."
    if replacement.values:
        value = _translated(name, value, replacement, subject)
        example = repr(value)
    argument, _, field = replacement.instead.partition(".")
    written = f"{argument}={{{field!r}: {example}}}" if field else f"{argument}={example}"
    warn_deprecated(
        f"{subject} takes {name!r} only as the name of an earlier release.",
        instead=f"Write {written} in its place.",
    )
    fields = _fields(current.get(argument))
    is_given_too = field in fields if field else argument in current
    if is_given_too:
        raise BadArguments(
            f"{subject} was given {name!r}, an argument of an earlier release, and {written} too, "
            f"which is the same one. Leave {name!r} out.",
            subject=subject,
            problems=(name,),
        )
    return {**current, argument: {**fields, field: value} if field else value}


def _translated(name: str, value: Any, replacement: ObsoleteKwarg, subject: str) -> Any:
    try:
        return replacement.values[json.dumps(value)]
    except (KeyError, TypeError, ValueError):
        known = ", ".join(replacement.values)
        raise BadArguments(
            f"{subject} was given {name}={value!r:.80}, an argument of an earlier release, which "
            f"had one of {known}. Write {replacement.instead}= in its place.",
            subject=subject,
            problems=(name,),
        ) from None


def _fields(argument: Any) -> dict[str, Any]:
    """Return the fields that an argument sets, a mapping or a model, to be added to."""
    if isinstance(argument, BaseModel):
        return argument.model_dump(exclude_unset=True)
    return dict(argument) if isinstance(argument, Mapping) else {}
