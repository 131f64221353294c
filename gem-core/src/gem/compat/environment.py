"""The wrapper `compat`: an environment's answers in the form that gem-llm gave them."""

from __future__ import annotations

from typing import Any

from gem.compat.constants import TERMINAL_STATE
from gem.content import Observation
from gem.seeding import stream
from gem.step import Step
from gem.wrapper import Wrapper

__all__ = ["AsPublished"]


class AsPublished(Wrapper):
    """Give flags, `info` and the order of tasks as gem-llm did; rewards stay what they are.

    - An episode that a limit of turns ends is truncated and terminated, and so is every episode
      of one turn.
    - An episode of one turn ends with the observation `TERMINAL_STATE`, and its `info` has
      `correct`, which is `info["success"]`.
    - `info["suffix"]` is there to the end in an environment that has one: the last one stays.
    - Over a finite set `reset()` takes the next task of an order in which every task comes once;
      then another order begins. `reset(seed)` begins one that the seed fixes, and
      `reset(task=i)` is not counted.
    """

    _writes_both = True
    _suffix: str | None = None
    _key: int | None = None
    _epoch: int = 0
    _place: int = 0
    _moved: dict[int, int]

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
            info["correct"] = info.get("success", False)
            return Step(TERMINAL_STATE, step.reward, True, True, info)
        # A format error in the last turn counts as the end of the turns; a success does not.
        is_last_turn = self.env.turn == self.env.max_turns
        at_limit = step.truncated or (is_last_turn and is_over and not info.get("success"))
        return step._replace(terminated=is_over, truncated=at_limit, info=info)

    def _with_task(self, options: dict[str, Any]) -> dict[str, Any]:
        """Add the next task of the order, unless one is asked for or there is no set."""
        size = self.env.num_tasks
        if not size or options.get("task") is not None:
            return options
        return {**options, "task": self._next_task(size)}

    def _next_task(self, size: int) -> int:
        # The guards have put the seed of this reset, or one that `make` was given, on the base
        # environment; None means that the present order goes on.
        seed = self.unwrapped._first_seed
        if seed is not None or self._key is None:
            self._key = self.rng.getrandbits(63) if seed is None else seed
            self._begin(epoch=0)
        elif self._place == size:
            self._begin(epoch=self._epoch + 1)
        # One step of a shuffle of range(size), of which only the moved places are kept: an order
        # of a million tasks costs what is drawn from it.
        place = self._place
        rng = stream("compat", self._key, self._epoch, place)
        chosen = rng.randrange(place, size)
        task = self._moved.get(chosen, chosen)
        self._moved[chosen] = self._moved.pop(place, place)
        self._place += 1
        return task

    def _begin(self, *, epoch: int) -> None:
        self._epoch = epoch
        self._place = 0
        self._moved = {}
