"""The program of a checker's jail: ask a problem's own function whether an output is right."""

from __future__ import annotations

import json
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
            reply = _tried(lambda: check(message["input"], message["output"], message["expected"]))  # noqa: B023
        send(json.dumps(reply).encode("ascii"))


def _tried(question: Any) -> dict[str, Any]:
    try:
        return {"right": bool(question())}
    except BaseException as error:  # noqa: BLE001 - it is the problem's author's
        why = traceback.format_exception_only(type(error), error)[-1].strip()
        return {"right": False, "why": why[:_MOST_SAID]}
