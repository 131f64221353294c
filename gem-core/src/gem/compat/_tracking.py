"""`EpisodeTrackingWrapper`: what an episode has come to, under the names that gem-llm had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gem.content import Observation
from gem.env._env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper

__all__ = ["EpisodeTrackingWrapper", "of_episode_before"]


class EpisodeTrackingWrapper(Wrapper):
    """Add `step_counter` and `cumulative_rewards` to `info`.

    At a reset both are 0, and `prev_ep_step_counter` and `prev_ep_cumulative_rewards` are what
    they were at the end of the episode before.
    """

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self.step_counter = 0
        self.cumulative_rewards = 0.0

    def on_reset(
        self, observation: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        before = of_episode_before(self._totals())  # before they begin again
        self.step_counter = 0
        self.cumulative_rewards = 0.0
        return observation, {**info, **self._totals(), **before}

    def on_step(self, action: str, step: Step) -> Step:
        self.step_counter += 1
        self.cumulative_rewards += step.reward
        return step._replace(info={**step.info, **self._totals()})

    def _totals(self) -> dict[str, Any]:
        return {
            "step_counter": self.step_counter,
            "cumulative_rewards": self.cumulative_rewards,
        }


def of_episode_before(counters: Mapping[str, Any]) -> dict[str, Any]:
    """Return counters as the `info` of a reset shows them once they have begun again.

    >>> of_episode_before({"step_counter": 3})
    {'prev_ep_step_counter': 3}
    """
    return {f"prev_ep_{name}": value for name, value in counters.items()}
