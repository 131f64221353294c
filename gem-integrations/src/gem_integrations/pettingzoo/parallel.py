"""One of our environments as PettingZoo's parallel form: all agents act at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pettingzoo import ParallelEnv

from gem import Env, EnvSpec, Step
from gem_integrations.pettingzoo.seats import end_of
from gem_integrations.pettingzoo.spaces import TextObservation
from gem_integrations.pettingzoo.view import View

__all__ = ["ParallelView", "parallel_env"]

_Flags = dict[str, bool]
_Infos = dict[str, dict[str, Any]]
_Result = tuple[dict[str, TextObservation], dict[str, float], _Flags, _Flags, _Infos]


class ParallelView(View, ParallelEnv):  # type: ignore[misc]  # PettingZoo ships no types
    """An environment of ours in which every turn is a round, as a `ParallelEnv`.

    A game that asks seats in turn is refused at its reset: `aec_env` takes it. Where a seat alone
    is asked once more, because its answer could not be read, the others' infos say so by
    `"is_asked": False`, they observe "", and their next action is not used. All else, `max_cycles`
    (in rounds) and `returns` among it, is as of `AECView`.
    """

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, TextObservation], _Infos]:
        """Start an episode. Raises BadArguments where it does not ask every seat at once."""
        first = self._seats.reset(seed, options)
        self._asked = self._asked_by(first)
        if len(self._asked) < len(self.possible_agents):
            self.agents = []
            raise self._seats.wrong(
                f"asks {', '.join(self._asked)} alone, and a ParallelEnv asks all agents at once. "
                "Use gem_integrations.pettingzoo.aec_env."
            )
        self.agents = self.possible_agents[:]
        self._cycles = 0
        observations = {name: self._seats.text(name) for name in self.agents}
        return observations, self._seats.infos(self.agents)

    def step(self, actions: Mapping[str, str]) -> _Result:
        """Take an action of each agent that is asked.

        Returns observations, rewards, terminations, truncations and infos, each by the names of
        the agents that were left before it.
        """
        self._check(actions)
        agents = self.agents
        rewards = dict.fromkeys(agents, 0.0)
        terminations = dict.fromkeys(agents, False)
        truncations = dict.fromkeys(agents, False)
        infos = self._seats.infos(agents)
        asked = self._asked
        # The first answers of a round show nothing and end nothing; the last one says it all.
        for name in asked:
            step = self._seats.take(name, actions[name])
            self._seats.tell_own(infos, name, step)
            for each in agents:
                seat = self.possible_agents.index(each)
                rewards[each] += step.rewards[seat]
                how = end_of(step, seat)
                terminations[each] = terminations[each] or how == "terminated"
                truncations[each] = truncations[each] or how == "truncated"
            if step.terminated or step.truncated:
                break
        self._asked = self._asked_by(step)
        self._cycles += 1
        if self.max_cycles is not None and self._cycles >= self.max_cycles:
            for name in agents:
                truncations[name] = not terminations[name]
        observations = {}
        for name in agents:
            is_shown = name in self._asked
            observations[name] = self._seats.text(name) if is_shown else TextObservation()
            if not is_shown:
                infos[name]["is_asked"] = False
        self.agents = [name for name in agents if not (terminations[name] or truncations[name])]
        return observations, rewards, terminations, truncations, infos

    def _asked_by(self, step: Step) -> list[str]:
        """Return who is shown something: who is to answer now or, at the end, everybody."""
        return [self.possible_agents[seat] for seat in step.observations]

    def _check(self, actions: Mapping[str, str]) -> None:
        self._refuse_unless_running()
        for name in actions:
            if self._seats.known(name) not in self.agents:
                raise self._seats.wrong(
                    f"was given an action of {name}, which is out. Left are "
                    f"{', '.join(self.agents)}."
                )
        absent = [name for name in self._asked if name not in actions]
        if absent:
            raise self._seats.wrong(
                f"was given no action of {', '.join(absent)}. Pass one for each agent that is left."
            )
        # Before the first is taken: a round that was taken by half could not be taken again.
        for name in self._asked:
            self._seats.checked_action(name, actions[name])


def parallel_env(
    env: Env | str | EnvSpec | Callable[..., Env],
    *,
    max_cycles: int | None = None,
    render_mode: str | None = None,
    **kwargs: Any,
) -> ParallelView:
    """Return an environment of ours as a `ParallelEnv`: `env` is one, or what `gem.make` takes.

    >>> from gem.testing.envs import Signs
    >>> zoo_env = parallel_env(Signs)
    >>> observations, infos = zoo_env.reset(seed=1)
    >>> sorted(observations)
    ['left', 'right']
    """
    return ParallelView(env, max_cycles=max_cycles, render_mode=render_mode, **kwargs)
