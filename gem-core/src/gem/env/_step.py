"""What one action led to. Knows nothing about environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from gem.content import Observation

__all__ = ["Step", "StepInfo", "as_step", "check_flags", "described"]


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
    action_errors: Mapping[int, str]
    """Of a round, with the step that ends it: why the action of each seat was refused."""
    seat: int
    """Of several seats: `Step.seat`."""
    rewards: Sequence[float]
    """Of several seats: `Step.rewards`."""
    ends: Mapping[int, str]
    """Of several seats: `Step.ends`."""
    observations: Mapping[int, Observation]
    """Of several seats: `Step.observations`."""
    successes: Sequence[bool]
    """Of several seats, at the end: whether each did its task; `success` then says it of all."""


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

    # What several seats add stands in `info`, so that vectors, workers, replay and snapshots carry
    # it as they are. Of an environment of one seat `info` may use these names for its own things.

    @property
    def seat(self) -> int:
        """Whose turn it is; at the end, who moved last."""
        seat: int = self.info.get("seat", 0)
        return seat

    @property
    def rewards(self) -> tuple[float, ...]:
        """What this action earned each seat. `reward` is what the seat that acted earned by it."""
        rewards = self.info.get("rewards")
        return (self.reward,) if rewards is None else tuple(rewards)

    @property
    def ends(self) -> Mapping[int, str]:
        """The seats that are out by this action, each "terminated" or "truncated"."""
        ends: Mapping[int, str] = self.info.get("ends", {})
        return ends

    @property
    def observations(self) -> Mapping[int, Observation]:
        """What is newly shown, and to whom: to the seats that are asked; to all at the end.

        It is empty while a round is still being heard. Whoever keeps conversations reads this;
        `observation` is what `seat` is to answer now.
        """
        observations: Mapping[int, Observation] | None = self.info.get("observations")
        return {self.seat: self.observation} if observations is None else observations


def as_step(result: Any, source: object, method: str = "step") -> Step:
    """Accept a Step or a plain tuple of its five fields. Raises TypeError on anything else.

    The error names the class of `source`, whose method returned it.
    """
    if type(result) is Step:
        return result
    if isinstance(result, tuple) and len(result) == len(Step._fields):
        return Step._make(result)
    raise TypeError(
        f"{type(source).__name__}.{method} returned {described(result)}. It must return a Step, or "
        f"a tuple of {', '.join(Step._fields)}."
    )


def check_flags(step: Step, source: object) -> None:
    """Raise TypeError where `terminated` or `truncated` is no flag, as where `info` stands there.

    numpy's bools are flags too, and so are 0 and 1.
    """
    fields: tuple[Any, ...] = step
    if type(fields[2]) is bool and type(fields[3]) is bool:  # most are, at each episode's end
        return
    for name, flag in zip(Step._fields[2:4], fields[2:4], strict=True):
        if flag not in (True, False):
            raise TypeError(
                f"{type(source).__name__}.step returned {name}={flag!r:.60}, and it must be true "
                f"or false. The fields of a Step are {', '.join(Step._fields)}."
            )


def described(result: Any) -> str:
    """Name the type of what an environment returned, and of a tuple how much it holds."""
    if type(result) is tuple:  # a named tuple tells more by its name
        return f"a tuple of {len(result)}"
    return type(result).__name__
