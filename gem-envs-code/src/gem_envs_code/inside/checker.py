"""The program of a checker's jail: ask a problem's own function whether an output is right."""

from __future__ import annotations

import json
import numbers
import re
import traceback
from typing import Any

from gem_tools.sandbox.inside.channel import receive, send

__all__ = ["main"]

_MOST_SAID = 500


def main() -> None:
    """Serve the host until it closes the channel."""
    check: Any = None
    while (order := receive()) is not None:
        message = json.loads(order)
        if "checker" in message:
            namespace: dict[str, Any] = {"__name__": "checker"}
            reply = _tried(lambda: exec(message["checker"], namespace))  # noqa: B023, S102
            check = namespace.get("check")
        else:
            reply = _tried(
                lambda: _truth(check(message["input"], message["output"], message["expected"]))  # noqa: B023
            )
        send(json.dumps(reply).encode("ascii"))


def _truth(verdict: Any) -> bool:
    """Return whether an output is right. Raises TypeError on what would be true of every output.

    That is a tuple of a verdict and a reason, a text, a share of points, or a coroutine, say. A
    type that is true or false of itself has a `__bool__`; a match, which is None otherwise, is one.
    """
    if not verdict:
        return False
    is_number = isinstance(verdict, numbers.Number)  # Decimal's and numpy's are of it too
    is_share = is_number and verdict != 1
    if is_share or not (hasattr(type(verdict), "__bool__") or isinstance(verdict, re.Match)):
        kind = type(verdict).__name__
        raise TypeError(f"check returned a value of type {kind}, and must return True or False")
    return True


def _tried(question: Any) -> dict[str, Any]:
    try:
        return {"right": bool(question())}
    except BaseException as error:  # noqa: BLE001 - it is the problem's author's
        why = traceback.format_exception_only(type(error), error)[-1].strip()
        return {"right": False, "why": why[:_MOST_SAID]}
