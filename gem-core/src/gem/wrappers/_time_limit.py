"""`time_limit`: an episode is truncated after a number of actions."""

from __future__ import annotations

from typing import Any

from gem.content import Observation
from gem.env._env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.errors import BadArguments

__all__ = ["TimeLimit", "cut_off"]


class TimeLimit(Wrapper):
    """Truncate an episode after `max_turns` actions. It never terminates one.

    Every action that reaches this layer counts. An action that a tool wrapper answers reaches
    the layers around that wrapper, not those inside it: put the limit outside to bound tool use.
    Of several seats the actions of all count, and the episode is truncated for all.
    """

    all_seats = True

    def __init__(self, env: Env, max_turns: int) -> None:
        super().__init__(env)
        if max_turns < 1:
            raise BadArguments(
                f"time_limit was given max_turns={max_turns}. It counts actions: give 1 or more.",
                subject="time_limit",
            )
        self._limit = max_turns
        self._taken = 0

    @property
    def max_turns(self) -> int:  # type: ignore[override]
        """The smaller of this limit and the wrapped environment's own."""
        inner = self.env.max_turns
        return self._limit if inner is None else min(inner, self._limit)

    def on_reset(
        self, observation: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        self._taken = 0
        return observation, info

    def on_step(self, action: str, step: Step) -> Step:
        self._taken += 1
        # The last action may have done the task: that episode is terminated, and not cut off.
        if self._taken < self._limit or step.terminated or step.truncated:
            return step
        return cut_off(self.env, step)


def cut_off(env: Env, step: Step) -> Step:
    """Return a step as the last one, truncated; of several seats each is shown what it was told."""
    seats = range(len(env.seats))
    if len(seats) == 1:
        return step._replace(truncated=True)
    base: Any = env
    observations = {seat: base.peek(seat) for seat in seats} | dict(step.observations)
    # Which seats are out already only the environment knows: it tells of the others.
    ends = dict(step.ends) | {seat: "truncated" for seat in seats if not base.is_out(seat)}
    info = {**step.info, "observations": observations, "ends": ends}
    return step._replace(truncated=True, info=info)
