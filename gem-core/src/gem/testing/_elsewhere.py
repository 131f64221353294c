"""The other process of a check: rebuild an environment, replay, restore, and say what happened.

A request comes in on standard input as JSON, the reply goes out the same way.
"""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any, TextIO

from gem.env._snapshot import Snapshot
from gem.errors import in_one_line
from gem.registry._making import make
from gem.specs import EnvSpec
from gem.testing._playing import continued, play, repeating

__all__ = ["MARK", "answer", "main"]

MARK = "GEM_CHECKED_ELSEWHERE"
"""The environment variable that the other process has, so that it starts no check of its own."""


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to one request. An error of the environment's is a reply too."""
    try:
        spec = EnvSpec.model_validate(request["spec"])
        with make(spec) as env:
            played = play(env, repeating(request["actions"]), request["seed"])
        # An instance of its own: restoring shall take nothing from an episode that was played.
        with make(spec) as env:
            env.restore(Snapshot.from_json(request["snapshot"]))
            rest = continued(env, request["actions"][request["done"] :])
    except Exception as error:  # noqa: BLE001 - an environment may raise anything
        return {"error": in_one_line(error), "kind": type(error).__name__}
    return {"played": list(played.moments), "continued": rest}


def main(requests: TextIO, replies: TextIO) -> None:
    """Answer the one request. What the environment prints goes to standard error."""
    request = json.load(requests)
    # Standard output carries the reply: one line of an environment's own would spoil it.
    with contextlib.redirect_stdout(sys.stderr):
        reply = answer(request)
    json.dump(reply, replies)


if __name__ == "__main__":  # pragma: no cover - only the other process enters
    main(sys.stdin, sys.stdout)
