"""The published sets of tasks, where their files are beside this checkout, played by calls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import gem
from gem import Env, Step
from gem_envs_agents.desk.actions import MOST_AT_ONCE, write_call
from gem_envs_agents.desk.case import Case
from gem_envs_agents.desk.do_nothing import LEAVING
from gem_envs_agents.desk.scoring import is_number
from gem_envs_agents.desk.tool import Call
from gem_envs_agents.tau.environment import Tau, TauOfTwo

FOLDERS = {
    "tau:Retail-2024": ("tau_retail", "tau_retail"),
    "tau:Airline-2024": ("tau_airline", "tau_airline"),
    "tau:Retail-v1.0.1": ("tau2_retail", "tau_retail"),
}


def arguments(id: str, data: Path) -> dict[str, Any]:
    """Return what `gem.make` takes for a set of tasks, of one seat or of two."""
    folder, tables = FOLDERS[id.removesuffix("-OfTwo")]
    return {"data": str(data / folder), "database": str(data / tables)}


class PublishedTasks:
    """A published set of tasks that is played call by call, without a solver."""

    def __init__(self, id: str, data: Path) -> None:
        self.env: Env = gem.make(id, **arguments(id, data))
        base = self.env.unwrapped
        assert isinstance(base, (Tau, TauOfTwo))
        self.base = base
        self.numbers = range(len(base.published.tasks))

    def case(self, number: int) -> Case:
        return self.base.published.case(number)

    def solution(self, number: int) -> tuple[Call, ...]:
        return self.base.published.tasks[number].actions

    def writes(self, call: Call) -> bool:
        tool = self.base.agent_tools.get(call.name)
        return tool is not None and tool.writes

    def earned(self, number: int, calls: Sequence[Call], outputs: Sequence[str]) -> float:
        """Make the calls of a task, say outputs, and let the user leave. Return the reward.

        Where an output is a text, every product is looked up before: a text counts once it is
        known, and some solutions leave the look-up out.
        """
        self.env.reset(seed=1, task=number)
        if not all(map(is_number, outputs)):
            self._look_products_up(number)
        for call in calls:
            assert not self.env.step(write_call(call)).terminated
        if outputs:
            step = self.env.step(f"The answer is: {'; '.join(outputs)}.")
            if step.terminated:
                return step.reward
        return left_alone(self.env).reward

    def _look_products_up(self, number: int) -> None:
        products = list(self.case(number).tables["products"])
        for start in range(0, len(products), MOST_AT_ONCE):
            some = products[start : start + MOST_AT_ONCE]
            calls = [Call("get_product_details", {"product_id": product}) for product in some]
            assert not self.env.step("".join(map(write_call, calls))).terminated


@lru_cache(maxsize=3)
def published_tasks(id: str, data: Path) -> PublishedTasks:
    """Return a set of tasks, which the tests of a module share."""
    return PublishedTasks(id, data)


def left_alone(env: Env) -> Step:
    """Say that everything is done until the user leaves, and return the last step."""
    while True:
        of_user: Any = env.seat == 1
        step = env.step(str(env.hint("solve", 1)) if of_user else LEAVING)
        if step.terminated or step.truncated:
            return step
