"""What the two forms of a view have in common: all but whose turn it is. Knows no form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gem import Env, EnvSpec
from gem.errors import ResetNeeded
from gem_integrations.pettingzoo.seats import Seats
from gem_integrations.pettingzoo.spaces import ActionSpace, ObservationSpace

__all__ = ["View"]


class View:
    """An environment of ours, its spaces by agents, its text and its limit of cycles.

    `env` is an environment, or anything that `gem.make` takes, with its arguments in `kwargs`.
    """

    def __init__(
        self,
        env: Env | str | EnvSpec | Callable[..., Env],
        *,
        max_cycles: int | None = None,
        render_mode: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._seats = Seats(env, max_cycles=max_cycles, render_mode=render_mode, kwargs=kwargs)
        self.max_cycles = max_cycles
        self.render_mode = render_mode
        self.metadata = self._seats.metadata
        self.possible_agents = self._seats.names[:]
        self.agents: list[str] = []

    @property
    def env(self) -> Env:
        """The environment that this is a view of."""
        return self._seats.env

    @property
    def returns(self) -> Mapping[str, float]:
        """What each agent's seat earned in this episode, after it was out too."""
        return self._seats.returns

    def observation_space(self, agent: str) -> ObservationSpace:
        """Return the space of an agent's observations, the same object at each call."""
        return self._seats.observation_spaces[self._seats.known(agent)]

    def action_space(self, agent: str) -> ActionSpace:
        """Return the space of an agent's actions, the same object at each call."""
        return self._seats.action_spaces[self._seats.known(agent)]

    def render(self) -> str | None:
        """Return the text of the episode ("ansi"), or print it ("human")."""
        return self._seats.render()

    def close(self) -> None:
        """Close the environment. A second call does nothing."""
        self._seats.env.close()

    def _refuse_unless_running(self) -> None:
        if not self.agents:
            raise ResetNeeded(
                f"step was called on {self._seats.subject} as a PettingZoo environment, and no "
                "episode is running. Call reset() first."
            )
