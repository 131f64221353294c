"""Games of PettingZoo to try things on: in turn and in rounds, with a mask and without one."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from pettingzoo import AECEnv, ParallelEnv

NAMES = ["player_0", "player_1", "player_2"]


class _Told(AECEnv):  # type: ignore[misc]  # PettingZoo ships no types
    """What a game in turn needs beside its rules."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "told_v0",
        "render_modes": [],
        "is_parallelizable": False,
    }
    render_mode = None

    def __init__(self, players: int = 2) -> None:
        super().__init__()
        self.possible_agents = NAMES[:players]
        self.is_closed = False

    def start(self) -> None:
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]

    def is_dead_step(self, action: Any) -> bool:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return True
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        return False

    def next_agent(self) -> None:
        place = self.agents.index(self.agent_selection)
        self.agent_selection = self.agents[(place + 1) % len(self.agents)]

    def render(self) -> None:
        """Show nothing."""

    def close(self) -> None:
        self.is_closed = True


class Pick(_Told):
    """Take one of the numbers that are left, 0 to 4, in turn; who takes the drawn one loses.

    Of three players who takes it is out and loses 1; the other two take one number each of those
    that are left, and each that is even earns 1.
    """

    def __init__(self, players: int = 2) -> None:
        super().__init__(players)
        self.action_spaces = {agent: spaces.Discrete(5) for agent in self.possible_agents}
        part = spaces.Box(0, 1, (5,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": part, "action_mask": part})
            for agent in self.possible_agents
        }

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.start()
        rng, _ = seeding.np_random(seed)
        self.drawn = int(rng.integers(5))
        self.left = np.ones(5, np.int8)
        self.moves_left = -1

    def observe(self, agent: str) -> Any:
        return {"observation": 1 - self.left, "action_mask": self.left.copy()}

    def step(self, action: Any) -> None:
        if self.is_dead_step(action):
            return
        agent = self.agent_selection
        assert self.left[action], "this number is taken"
        self.left[action] = 0
        is_late = self.moves_left > 0
        if is_late:
            self.rewards[agent] = 1 - int(action) % 2
            self.moves_left -= 1
        self.next_agent()
        if not is_late and action == self.drawn:
            self.rewards[agent] = -1
            self.terminations[agent] = True
            self.moves_left = 2
        is_duel = len(self.possible_agents) == 2
        if self.moves_left == 0 or (is_duel and self.terminations[agent]):
            self.terminations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()
        self._deads_step_first()


class Strict(_Told):
    """Count to three together by 1s; on a 2 it raises, half way through, and has no mask."""

    metadata: ClassVar[dict[str, Any]] = {"name": "strict_v0", "render_modes": []}
    places = spaces.Discrete(10)
    moves = spaces.Discrete(3)

    def observation_space(self, agent: str) -> Any:
        return self.places

    def action_space(self, agent: str) -> Any:
        return self.moves

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.start()
        self.count = 0

    def observe(self, agent: str) -> int:
        return self.count

    def step(self, action: Any) -> None:
        if self.is_dead_step(action):
            return
        self.count += int(action)
        if action == 2:
            raise ValueError("2 is too much")
        self.next_agent()
        if self.count == 3:
            self.rewards = dict.fromkeys(self.agents, 1)
            self.terminations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()
        self._deads_step_first()


class Push(ParallelEnv):  # type: ignore[misc]
    """Push a cart at once, by two numbers each, for three rounds; the last player leaves after two.

    Each earns what all pushed by their first numbers, in each round.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "push_v0", "render_modes": []}
    render_mode = None

    def __init__(self) -> None:
        super().__init__()
        self.possible_agents = NAMES[:]
        self._moves = {agent: spaces.Box(-1, 1, (2,)) for agent in NAMES}
        self._views = {
            agent: spaces.Dict(
                {"cart": spaces.Box(-np.inf, np.inf, ()), "wind": spaces.Discrete(3)}
            )
            for agent in NAMES
        }

    def observation_space(self, agent: str) -> Any:
        return self._views[agent]

    def action_space(self, agent: str) -> Any:
        return self._moves[agent]

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.agents = NAMES[:]
        rng, _ = seeding.np_random(seed)
        self.wind = int(rng.integers(3))
        self.cart = float(self.wind)
        self.rounds = 0
        return self._seen(), {agent: {} for agent in self.agents}

    def _seen(self) -> Any:
        return {agent: {"cart": np.float32(self.cart), "wind": self.wind} for agent in self.agents}

    def step(self, actions: Any) -> Any:
        self.rounds += 1
        push = float(sum(action[0] for action in actions.values()))
        self.cart += push
        agents = self.agents
        observations = self._seen()
        rewards = dict.fromkeys(agents, push)
        over = self.rounds == 3
        leaves = self.rounds == 2
        terminations = dict.fromkeys(agents, over)
        truncations = {agent: leaves and agent == NAMES[2] for agent in agents}
        self.agents = [agent for agent in agents if not (terminations[agent] or truncations[agent])]
        return observations, rewards, terminations, truncations, {agent: {} for agent in agents}


def mark(observation: Any, agent: str) -> str:
    """Write what `Pick` shows as a row of marks."""
    row = "".join("x" if taken else "." for taken in observation)
    return f"{agent} sees {row}"


def number_word(text: str, observation: Any, agent: str) -> int | None:
    """Read a number that is written as a word."""
    words = ["zero", "one", "two", "three", "four", "nine"]
    return words.index(text) if text in words else None
