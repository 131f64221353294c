"""The wrapper `compat`: an environment's answers in the form that gem-llm gave them."""

from __future__ import annotations

from typing import Any

from gem.compat._constants import TERMINAL_STATE
from gem.compat._task_order import TaskOrder
from gem.content import Observation
from gem.env._env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper

__all__ = ["AsPublished", "answered"]


class AsPublished(TaskOrder, Wrapper, both_forms=True):  # both resets choose the task
    """Give flags, `info` and the order of tasks as gem-llm did; rewards stay what they are.

    - An episode that a limit of turns ends is truncated and terminated, and so is every episode
      of one turn.
    - An episode of one turn ends with the observation `TERMINAL_STATE`, and its `info` has
      `correct`, which is `info["success"]`.
    - `info["suffix"]` is there to the end in an environment that has one: the last one stays.
    - Over a finite set `reset()` takes the next task of an order in which every task comes once;
      then another order begins. `reset(seed)` begins one that the seed fixes, and
      `reset(task=i)` is not counted.

    `seed` is what its first `reset()` begins with.
    """

    _suffix: str | None = None

    def __init__(self, env: Env, seed: int | None = None) -> None:
        super().__init__(env)
        # Where the guards look for the seed of the first reset: not on a wrapper.
        if seed is not None:
            self.unwrapped._first_seed = seed

    @property
    def env_id(self) -> str | None:
        """The id of the environment, under the name that gem-llm had for it."""
        spec = self.env.spec
        return None if spec is None else spec.id

    def reset(
        self, seed: int | None = None, *_: Any, **options: Any
    ) -> tuple[Observation, dict[str, Any]]:
        return super().reset(seed=seed, **self._with_task(options))

    async def areset(
        self, seed: int | None = None, *_: Any, **options: Any
    ) -> tuple[Observation, dict[str, Any]]:
        return await super().areset(seed=seed, **self._with_task(options))

    def on_reset(
        self, observation: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        self._suffix = info.get("suffix")
        return observation, info

    def on_step(self, action: str, step: Step) -> Step:
        info = dict(step.info)
        self._suffix = info.get("suffix", self._suffix)
        if self._suffix is not None:
            info["suffix"] = self._suffix
        is_over = step.terminated or step.truncated
        if is_over and self.env.single_turn:
            return answered(step._replace(info=info))
        # A format error in the last turn counts as the end of the turns; a success does not.
        is_last_turn = self.env.turn == self.env.max_turns
        at_limit = step.truncated or (is_last_turn and is_over and not info.get("success"))
        return step._replace(terminated=is_over, truncated=at_limit, info=info)

    def _with_task(self, options: dict[str, Any]) -> dict[str, Any]:
        """Add the next task of the order, unless one is asked for or there is no set."""
        size = self.env.num_tasks
        # `idx` is the older name of `task`: either says which one is wanted.
        if not size or any(options.get(name) is not None for name in ("task", "idx")):
            return options
        # The guards have put the seed of this reset, or one that `make` was given, on the base
        # environment; None means that the present order goes on.
        seed = self.unwrapped._first_seed
        return {**options, "task": self.next_task(size, seed, self.rng)}


def answered(step: Step) -> Step:
    """Return the step that ends an episode of one turn as gem-llm gave it."""
    info = {**step.info, "correct": step.info.get("success", False)}
    return Step(TERMINAL_STATE, step.reward, True, True, info)
