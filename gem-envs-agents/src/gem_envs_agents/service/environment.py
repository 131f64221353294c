"""`agents:Service-v0`: serve the customers of a generated shop; with two seats, be one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, ClassVar, get_args

from gem.content import Observation
from gem.errors import BadArguments
from gem_envs_agents.desk.case import Case
from gem_envs_agents.desk.one_seat import ServiceDesk
from gem_envs_agents.desk.rules import Desk
from gem_envs_agents.desk.tool import Tools
from gem_envs_agents.desk.two_seats import ServiceDeskOfTwo
from gem_envs_agents.service.tasks import Difficulty, case
from gem_envs_agents.service.tools import AGENT_TOOLS, USER_TOOLS
from gem_envs_agents.service.wording import WORDINGS

__all__ = ["Service", "ServiceOfTwo"]


_REWARD = "db+communicate+policy"


class _Tasks(Desk):
    """The tasks of the generated shop, for environments of one seat and of two."""

    rng: random.Random
    shared: ClassVar[Sequence[str]] = ("_kept",)

    def __init__(
        self,
        *,
        difficulty: Difficulty = "medium",
        wording: int | None = None,
        max_turns: int | None = None,
    ) -> None:
        _check(
            (difficulty in get_args(Difficulty), f"difficulty={difficulty!r:.40} is none"),
            (
                wording is None or 0 <= wording < WORDINGS,
                f"wording={wording} is not between 0 and {WORDINGS - 1}",
            ),
            (max_turns is None or max_turns >= 1, f"max_turns={max_turns} is not 1 or more"),
        )
        self.difficulty: Difficulty = difficulty
        self.wording = wording
        self.task_seed = 0
        self.task_wording = 0
        self._kept: tuple[tuple[int, int], Case] | None = None
        super().__init__(reward=_REWARD, max_turns=max_turns)

    @property
    def case(self) -> Case:
        # It follows from the two numbers, so a snapshot holds these alone.
        key = (self.task_seed, self.task_wording)
        if self._kept is None or self._kept[0] != key:
            self._kept = (key, case(self.task_seed, self.difficulty, self.task_wording))
        return self._kept[1]

    @property
    def agent_tools(self) -> Tools:
        return AGENT_TOOLS

    @property
    def user_tools(self) -> Tools:
        return USER_TOOLS

    def _draw(self) -> None:
        # Both are drawn whatever `wording` is: the task of a seed is the same in every wording.
        self.task_seed = self.rng.getrandbits(48)
        drawn = self.rng.randrange(WORDINGS)
        self.task_wording = drawn if self.wording is None else self.wording


class Service(_Tasks, ServiceDesk):
    """Serve a scripted customer of a shop that is made up from the seed, customers and all.

    `difficulty` is how much a customer wants: one thing ("easy"), two ("medium"), or three, of
    which one may need the customer's own device ("hard"). Each request has 20 wordings: `wording`
    chooses one, None lets the seed draw it; the task is the same in all of them. `max_turns` is 60
    where it is None.

    The reward is 1.0 where both databases are as the rules want them, what was asked was answered,
    and nothing was changed without consent; else 0.0.
    """

    def reset(self, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        """Make up a shop, a customer and what they want."""
        self._draw()
        return self.start()


class ServiceOfTwo(_Tasks, ServiceDeskOfTwo):
    """The same with two seats, "agent" and "user": the arguments and tasks are those of Service.

    `max_turns` counts the actions of both, and is 100 where it is None.
    """

    def reset(self, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        """Make up a shop, a customer and what they want."""
        self._draw()
        return self.start()


def _check(*limits: tuple[bool, str]) -> None:
    problems = [problem for holds, problem in limits if not holds]
    if problems:
        raise BadArguments(
            f"agents:Service-v0 cannot be made: {'; '.join(problems)}. Choose within these limits.",
            subject="Service",
            problems=problems,
        )
