"""The policy `do-nothing`: the floor of a service desk, and not always 0.

An empty answer is no floor there: the user waits for words until the dialogue is cut off.
"""

from __future__ import annotations

from gem.conversation import Request

__all__ = ["LEAVING", "DoNothing"]

LEAVING = "That is done. Is there anything else? I cannot do more."
"""What lets a user leave: it reports, offers more and refuses at once."""


class DoNothing:
    """Say that everything is done until the user leaves, and call no tool."""

    name = "do-nothing"
    asks_model = False

    def __call__(self, request: Request) -> str:
        return LEAVING
