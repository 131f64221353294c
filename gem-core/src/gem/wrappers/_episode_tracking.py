"""`episode_tracking`: the episode's return and length so far, in info."""

from __future__ import annotations

from typing import Any

from gem.content import Observation
from gem.env._step import Step
from gem.env._wrapper import Wrapper

__all__ = ["EpisodeTracking"]


class EpisodeTracking(Wrapper):
    """Add `info["episode"]`: the sum of rewards (`return`) and the actions taken (`length`).

    Both count up to and including this step; after a reset both are 0.
    """

    _return: float = 0.0
    _length: int = 0

    def on_reset(
        self, observation: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        self._return = 0.0
        self._length = 0
        return observation, self._with_totals(info)

    def on_step(self, action: str, step: Step) -> Step:
        self._return += step.reward
        self._length += 1
        return step._replace(info=self._with_totals(step.info))

    def _with_totals(self, info: dict[str, Any]) -> dict[str, Any]:
        return {**info, "episode": {"return": self._return, "length": self._length}}
