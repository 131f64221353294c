"""What one action led to. Knows nothing about environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypedDict

from gem.content import Observation

__all__ = ["Step", "StepInfo", "as_step"]


class StepInfo(TypedDict, total=False):
    """What `info` says to everybody: to rollouts, records, wrappers and checks.

    Every field may be absent, and an environment may put anything else beside them.

    >>> info: StepInfo = {"success": False, "action_error": "format"}
    """

    success: bool
    """At the end of an episode: whether the task was done."""
    suffix: str
    """The current state as text; a conversation keeps it at the end of the observation."""
    reward_parts: Mapping[str, float]
    """What the reward is made of, by name."""
    action_error: str
    """Why an action was refused: "format", it could not be read, or "invalid", it is no move."""


class _Fields(NamedTuple):
    observation: Observation
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


_new_tuple = tuple.__new__


class Step(_Fields):
    """What one action led to. Gymnasium's five, by name; all but the observation may be left out.

    `terminated`: the task ended. `truncated`: a limit ended it (turns, time, an error). `info` is
    a StepInfo, with whatever else the environment tells.

    >>> Step("It is higher.")
    Step(observation='It is higher.', reward=0.0, terminated=False, truncated=False, info={})
    >>> Step("Right.", 1.0, terminated=True, info={"success": True}).info["success"]
    True
    """

    __slots__ = ()

    # A named tuple of its own would give one dictionary to every step without an `info`, and what
    # a wrapper writes into one step would be in all. This differs from what `NamedTuple` generates
    # by that one test for None: a step is the hot path (benchmarks/overhead.py).
    def __new__(
        cls,
        observation: Observation,
        reward: float = 0.0,
        terminated: bool = False,
        truncated: bool = False,
        info: StepInfo | dict[str, Any] | None = None,
    ) -> Step:
        return _new_tuple(
            cls, (observation, reward, terminated, truncated, {} if info is None else info)
        )


def as_step(result: Any) -> Step:
    """Accept a Step or a plain tuple of its five fields. Raises TypeError on anything else."""
    if type(result) is Step:
        return result
    if isinstance(result, tuple) and len(result) == len(Step._fields):
        return Step._make(result)
    raise TypeError(
        f"step returned {type(result).__name__}. It must return a Step, or a tuple of "
        f"{', '.join(Step._fields)}."
    )
