"""Answer nothing."""

from __future__ import annotations

from gem.conversation import Request

__all__ = ["Noop"]


class Noop:
    """The `noop` policy: an empty answer, the floor that any policy should beat."""

    asks_model = False

    def __call__(self, request: Request) -> str:
        return ""
