"""The published sets of tasks: which files, tools and splits each has, and its cases."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gem.errors import BadArguments, DataError, in_one_line
from gem_envs_agents.desk.case import Case
from gem_envs_agents.desk.database import Database
from gem_envs_agents.desk.scoring import Goal, goal
from gem_envs_agents.desk.tool import Tool, by_name
from gem_envs_agents.tau.airline import AIRLINE_2024
from gem_envs_agents.tau.reading import Task, read_policy, read_tables, read_tasks
from gem_envs_agents.tau.retail import RETAIL_2024, RETAIL_V1
from gem_envs_agents.tau.scripts import scripted

__all__ = ["BENCHMARKS", "Benchmark", "Published", "benchmark"]


class Published(NamedTuple):
    """What is known of a published set before its files are read."""

    id: str
    shop: str
    tools: tuple[Tool, ...]
    splits: tuple[str, ...]


BENCHMARKS = {
    "retail-2024": Published("tau:Retail-2024", "retail", RETAIL_2024, ("test", "train", "dev")),
    "airline-2024": Published("tau:Airline-2024", "airline", AIRLINE_2024, ("test",)),
    "retail-v1.0.1": Published("tau:Retail-v1.0.1", "retail", RETAIL_V1, ("base", "train", "test")),
}
"""The sets, by name; the first split is the one that scores are reported on."""


class Benchmark:
    """The cases of one split, each made when it is first played, and shared by all episodes."""

    def __init__(self, name: str, data: str, database: str, split: str) -> None:
        published = BENCHMARKS[name]
        self.name = name
        self.tools = by_name(published.tools)
        self.tables = read_tables(database, published.shop)
        self.policy = read_policy(data)
        self.tasks: tuple[Task, ...] = read_tasks(data, split)
        self._cases: dict[int, Case] = {}

    def case(self, number: int) -> Case:
        """Return a task, ready to be played. Raises DataError where its data make no sense."""
        if number not in self._cases:
            task = self.tasks[number]
            try:
                self._cases[number] = self._made(task)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise DataError(
                    f"The task {task.id} of {self.name} is not as it was published "
                    f"({in_one_line(error)}). Download the tasks again.",
                    source=self.name,
                ) from error
        return self._cases[number]

    def _made(self, task: Task) -> Case:
        user = scripted(task, self.tools, self.tables)
        return Case(
            id=f"{self.name}/{task.id}",
            policy=self.policy,
            tools=self.tools,
            tables=self.tables,
            user_tools={},
            user_tables={},
            script=user.script,
            instruction=task.instruction,
            plans=user.plans,
            goal=goal(self.tools, Database(self.tables, {}), task.actions),
            user_goal=Goal("{}"),
            outputs=task.outputs,
            assertions=task.assertions,
        )


@lru_cache(maxsize=8)  # 256 environments of a process share one
def benchmark(name: str, data: str, database: str, split: str) -> Benchmark:
    """Return a set of tasks. Raises BadArguments on a split that it has not, DataError on files."""
    splits = BENCHMARKS[name].splits
    if split not in splits:
        raise BadArguments(
            f"The split {split!r} was asked for, and {BENCHMARKS[name].id} has "
            f"{', '.join(splits)}. Choose one.",
            subject=name,
        )
    return Benchmark(name, data, database, split)
