"""A policy whose answers are written beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gem.conversation import PolicyAnswer, Request

__all__ = ["ScriptedPolicy"]


class ScriptedPolicy:
    """Answer turn k of every episode with the k-th answer, or with what a function returns.

    It depends on the request alone, so it is the same at any concurrency. `requests` keeps what
    it was asked, in order. A script that is too short raises IndexError, which ends that episode
    as a policy error.

    >>> policy = ScriptedPolicy(["1", "2"])
    >>> policy(Request(turn=1))
    '2'
    """

    def __init__(
        self,
        script: Sequence[PolicyAnswer] | Callable[[Request], PolicyAnswer],
        *,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self.requests: list[Request] = []
        self._script = script

    def __call__(self, request: Request) -> PolicyAnswer:
        """Answer one request."""
        self.requests.append(request)
        if callable(self._script):
            return self._script(request)
        if request.turn >= len(self._script):
            raise IndexError(
                f"Turn {request.turn + 1} was asked for, and the script has "
                f"{len(self._script)} answers. Add one, or end the episode before."
            )
        return self._script[request.turn]
