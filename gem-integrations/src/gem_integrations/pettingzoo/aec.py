"""One of our environments as PettingZoo's AEC form: one agent acts at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pettingzoo import AECEnv

from gem import Env, EnvSpec
from gem_integrations.pettingzoo.seats import end_of
from gem_integrations.pettingzoo.spaces import TextObservation
from gem_integrations.pettingzoo.view import View

__all__ = ["AECView", "aec_env"]


class AECView(View, AECEnv):  # type: ignore[misc]  # PettingZoo ships no types
    """An environment of ours, of any number of seats, as an `AECEnv`: agents are its seats.

    Of a round, in which several seats answer the same moment, each answers in order, and nobody
    sees another's action before the last. What is observed is the text that an agent was shown
    last; a policy without memory wants the wrapper `concat_with_action` around its seat. An info
    holds the agent's `tools`, its own `action_error` and, at the end, its `success`.

    `max_cycles` truncates the episode for all once each agent that is left has acted as often. An
    agent is out as its seat is; what its seat earns later has no place in PettingZoo's rewards and
    counts in `returns`, the total of each agent. There is no `state()`.
    """

    def observe(self, agent: str) -> TextObservation:
        """Return what an agent was shown last, "" if nothing was in this episode."""
        return self._seats.text(agent)

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start an episode. `options` are those of the environment's reset; others are ignored."""
        first = self._seats.reset(seed, options)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = self._seats.infos(self.agents)
        self.agent_selection = self.possible_agents[first.seat]
        self._counts = dict.fromkeys(self.agents, 0)
        self._skip_agent_selection: str | None = None  # PettingZoo's own, for dead steps

    def step(self, action: str | None) -> None:
        """Take the selected agent's action, a text; None where it is out, and only there."""
        self._refuse_unless_running()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._take_out(agent, action)
            return
        step = self._seats.take(agent, action)
        self._counts[agent] += 1
        self._cumulative_rewards[agent] = 0.0  # it has seen what it earned until now
        self.infos = self._seats.infos(self.agents)
        self._seats.tell_own(self.infos, agent, step)
        for seat, name in enumerate(self.possible_agents):
            if name not in self.agents:
                continue
            self.rewards[name] = step.rewards[seat]
            how = end_of(step, seat)
            self.terminations[name] = self.terminations[name] or how == "terminated"
            self.truncations[name] = self.truncations[name] or how == "truncated"
        if not (step.terminated or step.truncated):
            self.agent_selection = self.possible_agents[step.seat]
            self._truncate_at_the_limit()
        self._accumulate_rewards()
        self._deads_step_first()

    def _take_out(self, agent: str, action: object) -> None:
        if action is not None:
            raise self._seats.wrong(
                f"was given an action of {agent}, which is out. Pass None, which removes it."
            )
        self._was_dead_step(action)

    def _truncate_at_the_limit(self) -> None:
        if self.max_cycles is None:
            return
        left = [
            name for name in self.agents if not (self.terminations[name] or self.truncations[name])
        ]
        if all(self._counts[name] >= self.max_cycles for name in left):
            self.truncations.update(dict.fromkeys(left, True))


def aec_env(
    env: Env | str | EnvSpec | Callable[..., Env],
    *,
    max_cycles: int | None = None,
    render_mode: str | None = None,
    **kwargs: Any,
) -> AECView:
    """Return an environment of ours as an `AECEnv`: `env` is one, or what `gem.make` takes.

    >>> from gem.testing.envs import Kuhn
    >>> zoo_env = aec_env(Kuhn)
    >>> zoo_env.reset(seed=1)
    >>> zoo_env.agents, zoo_env.agent_selection
    (['first', 'second'], 'first')
    """
    return AECView(env, max_cycles=max_cycles, render_mode=render_mode, **kwargs)
