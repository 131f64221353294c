"""What ends an episode that does not end by itself. One word for it, wherever it happens."""

from __future__ import annotations

from typing import Any

from gem._python.places import text_with_place
from gem.episode._episode import StopReason

__all__ = ["Failure"]


class Failure(Exception):
    """An episode ends because its environment failed, was late or was lost, or its policy failed.

    A host returns one in place of an answer: the environment must then be reset to go on. A front
    that awaits the answer raises it. `reason` is the episode's `stop_reason`, and `text` the
    `error` of its record.
    """

    def __init__(self, reason: StopReason, text: str) -> None:
        super().__init__(reason, text)
        self.reason: StopReason = reason
        self.text = text

    @classmethod
    def of(cls, error: BaseException, reason: StopReason = "env_error") -> Failure:
        """Return what an error of an environment's own, or of a policy's, leads to."""
        failure = cls(reason, text_with_place(error))
        failure.__cause__ = error  # for who is in the same process
        return failure

    def __eq__(self, other: object) -> bool:
        return type(other) is Failure and other.args == self.args

    def __hash__(self) -> int:
        return hash(self.args)

    @property
    def info(self) -> dict[str, Any]:
        """The info of a step or reset that this stands for."""
        return {"stop_reason": self.reason, "error": self.text}
