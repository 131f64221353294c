"""Turn keyword arguments of an earlier release into today's, as a spec's table says.

Knows nothing about what the arguments are for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from gem.deprecation import warn_deprecated
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
            current = _with_moved(current, name, value, now=obsolete[name], subject=subject)
    return current


def _with_moved(
    current: dict[str, Any], name: str, value: Any, *, now: ObsoleteKwarg, subject: str
) -> dict[str, Any]:
    """Return the arguments with an obsolete one where it belongs today, and warn of it."""
    if not now.instead:
        warn_deprecated(
            f"{subject} takes no {name!r} any longer; it is ignored.", instead="Leave it out."
        )
        return current
    if value is None:  # as if it were not given: the default of today stands
        warn_deprecated(f"{subject} takes no {name!r} any longer.", instead="Leave it out.")
        return current
    shown = "..."
    if now.values:
        value = _translated(name, value, now, subject)
        shown = repr(value)
    argument, _, field = now.instead.partition(".")
    written = f"{argument}={{{field!r}: {shown}}}" if field else f"{argument}={shown}"
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


def _translated(name: str, value: Any, now: ObsoleteKwarg, subject: str) -> Any:
    try:
        return now.values[json.dumps(value)]
    except (KeyError, TypeError, ValueError):
        known = ", ".join(now.values)
        raise BadArguments(
            f"{subject} was given {name}={value!r:.80}, an argument of an earlier release, which "
            f"had one of {known}. Write {now.instead}= in its place.",
            subject=subject,
            problems=(name,),
        ) from None


def _fields(given: Any) -> dict[str, Any]:
    """Return the fields of a mapping or of a model that are given, to be added to."""
    if isinstance(given, BaseModel):
        return given.model_dump(exclude_unset=True)
    return dict(given) if isinstance(given, Mapping) else {}
