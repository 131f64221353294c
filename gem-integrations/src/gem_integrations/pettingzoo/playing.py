"""One running game of PettingZoo, in either form: who is asked, what it sees, what actions lead to.

Agents are numbers here, their places among `possible_agents`. Knows nothing about texts.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any, NamedTuple

import pettingzoo

from gem.errors import GemError

__all__ = ["Game", "Outcome", "Question", "started"]


class Question(NamedTuple):
    """What an agent is to answer: its observation, and which actions are legal, where it is said.

    The mask is taken out of the observation or the info that it stands in.
    """

    observation: Any
    mask: Any = None


class Outcome(NamedTuple):
    """What actions led to, by agents: rewards, how agents are out, and what those saw last."""

    rewards: dict[int, float]
    ends: dict[int, str]
    final_questions: dict[int, Question]


class Game(abc.ABC):
    """A running game, in an environment that only its `owner` may step, reset and close.

    `actions` are the plain actions that were taken in this episode so far.
    """

    def __init__(self, env: Any, owner: object) -> None:
        self.env = env
        self.owner = owner
        self.agents = list(env.possible_agents)
        self.actions: list[Any] = []

    @abc.abstractmethod
    def asked(self) -> tuple[int, ...]:
        """Return who is to act now: nobody once it is over."""

    @abc.abstractmethod
    def question(self, agent: int) -> Question:
        """Return what an agent that is asked has to answer."""

    @abc.abstractmethod
    def take(self, actions: Mapping[int, Any]) -> Outcome:
        """Take the actions of all that are asked."""

    def _number(self, agent: Any) -> int:
        try:
            return self.agents.index(agent)
        except ValueError:
            raise GemError(
                f"PettingZoo's {self.env} has the agent {agent!r:.40}, which is none of its "
                "possible_agents. Seats are fixed, so it cannot be played here."
            ) from None


class _Turns(Game):
    """The AEC form: one agent at a time, and those that are out take a step of None each."""

    def asked(self) -> tuple[int, ...]:
        return (self._number(self.env.agent_selection),) if self.env.agents else ()

    def question(self, agent: int) -> Question:
        name = self.agents[agent]
        return _question(self.env.observe(name), self.env.infos.get(name))

    def take(self, actions: Mapping[int, Any]) -> Outcome:
        [action] = actions.values()
        self.env.step(action)
        outcome = Outcome({}, {}, {})
        self._add_rewards(outcome)
        while self.env.agents:
            name = self.env.agent_selection
            if not (self.env.terminations[name] or self.env.truncations[name]):
                break
            agent = self._number(name)
            is_terminated = self.env.terminations[name]
            outcome.ends[agent] = "terminated" if is_terminated else "truncated"
            outcome.final_questions[agent] = self.question(agent)
            self.env.step(None)
            self._add_rewards(outcome)
        return outcome

    def _add_rewards(self, outcome: Outcome) -> None:
        """Add what the last step earned: PettingZoo clears it before, or at, the next one."""
        for name, reward in self.env.rewards.items():
            agent = self._number(name)
            outcome.rewards[agent] = outcome.rewards.get(agent, 0.0) + float(reward)


class _Rounds(Game):
    """The parallel form: all agents that are left act at once."""

    def __init__(self, env: Any, owner: object, begun: tuple[Any, Any]) -> None:
        super().__init__(env, owner)
        self._observations, self._infos = begun

    def asked(self) -> tuple[int, ...]:
        return tuple(map(self._number, self.env.agents))

    def question(self, agent: int) -> Question:
        name = self.agents[agent]
        return _question(self._observations[name], self._infos.get(name))

    def take(self, actions: Mapping[int, Any]) -> Outcome:
        named = {self.agents[agent]: action for agent, action in actions.items()}
        result = self.env.step(named)
        self._observations, rewards, terminations, truncations, self._infos = result
        outcome = Outcome({}, {}, {})
        for name, reward in rewards.items():
            outcome.rewards[self._number(name)] = float(reward)
        for agent in actions:
            name = self.agents[agent]
            if terminations.get(name) or truncations.get(name):
                is_terminated = terminations.get(name)
                outcome.ends[agent] = "terminated" if is_terminated else "truncated"
                if name in self._observations:
                    outcome.final_questions[agent] = self.question(agent)
        return outcome


def started(env: Any, seed: int, *, owner: object) -> Game:
    """Reset an environment of either form by a seed, and return the game that it then is."""
    if isinstance(env, pettingzoo.ParallelEnv):
        return _Rounds(env, owner, env.reset(seed=seed))
    env.reset(seed=seed)
    return _Turns(env, owner)


def _question(observation: Any, info: Mapping[str, Any] | None) -> Question:
    mask = (info or {}).get("action_mask")
    if isinstance(observation, Mapping) and "action_mask" in observation:
        mask = observation["action_mask"]
        rest = {name: part for name, part in observation.items() if name != "action_mask"}
        # PettingZoo's own games have the observation beside the mask, under this name.
        observation = rest["observation"] if list(rest) == ["observation"] else rest
    return Question(observation, mask)
