"""`tau:`: the published tasks, with a scripted user, or with a seat for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from gem.content import Observation
from gem.errors import BadArguments
from gem_envs_agents.desk.case import Case
from gem_envs_agents.desk.judging import Judge
from gem_envs_agents.desk.named_judges import as_judge
from gem_envs_agents.desk.one_seat import ServiceDesk
from gem_envs_agents.desk.rules import Desk
from gem_envs_agents.desk.tool import Tools
from gem_envs_agents.desk.two_seats import ServiceDeskOfTwo
from gem_envs_agents.tau.benchmark import BENCHMARKS, Benchmark, benchmark

__all__ = ["Tau", "TauOfTwo"]

_BASES = ("db", "db+communicate")


Name = Literal["retail-2024", "airline-2024", "retail-v1.0.1"]


class _Tasks(Desk):
    """The tasks of a published set, for environments of one seat and of two."""

    number: int
    num_tasks: int | None
    shared: ClassVar[Sequence[str]] = (
        "judge",
    )  # a function, or connections: no snapshot holds them

    def __init__(
        self,
        *,
        benchmark: Name,
        data: str | None = None,
        database: str | None = None,
        split: str | None = None,
        reward: str = "db+communicate",
        judge: Judge | str | None = None,
        max_turns: int | None = None,
    ) -> None:
        self.benchmark_name: str = benchmark
        self.data = _checked(benchmark, data, reward, judge, max_turns)
        self.judge = None if judge is None else as_judge(judge)
        self.tables_folder = database or self.data
        self.split = split or BENCHMARKS[benchmark].splits[0]
        self.number = 0
        self.num_tasks = len(self.published.tasks)
        super().__init__(reward=reward, max_turns=max_turns)

    @property
    def published(self) -> Benchmark:
        """The set of tasks, shared by every environment of the process."""
        return benchmark(self.benchmark_name, self.data, self.tables_folder, self.split)

    @property
    def case(self) -> Case:
        return self.published.case(self.number)

    @property
    def task_facts(self) -> Mapping[str, Any]:
        return {"task": self.number, "task_id": self.case.id}

    @property
    def agent_tools(self) -> Tools:
        return self.published.tools

    @property
    def user_tools(self) -> Tools:
        return {}


class Tau(_Tasks, ServiceDesk):
    """Serve the customers of a published set of tasks.

    `data` is a folder with the published files, `database` one with the tables where they lie
    apart. `split` is one of the published. `reward` is "db", the state of the database, or
    "db+communicate", that and what the agent has to say. "official" is how the corrected tasks
    were graded where they were published, the state and what a judge says, and without `judge` it
    is refused: a function from a question to an answer, its `module:attribute`, or the name of a
    policy, such as "openai:MODEL@URL". `max_turns` is 60 where it is None.

    The user is scripted: it asks for what the solution does. Scores are not those that were
    published with a model as the user.
    """

    def reset(
        self, seed: int | None = None, *, task: int | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a task: the one given by its place in the split, or one that is drawn."""
        self.number = self.pick_task(task)
        return self.start()


class TauOfTwo(_Tasks, ServiceDeskOfTwo):
    """The same with two seats, "agent" and "user": the arguments are those of Tau.

    The user's seat is shown the published paragraph. `max_turns` counts the actions of both, and is
    100 where it is None.
    """

    def reset(
        self, seed: int | None = None, *, task: int | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a task: the one given by its place in the split, or one that is drawn."""
        self.number = self.pick_task(task)
        return self.start()


def _checked(
    name: str, data: str | None, reward: str, judge: Judge | str | None, max_turns: int | None
) -> str:
    """Return the folder of the data. Raises BadArguments on what cannot be played."""
    problem = ""
    if data is None:
        problem = (
            "no data= was given, and the published files are not shipped. Download them from "
            "github.com/sierra-research and give their folder"
        )
    elif max_turns is not None and max_turns < 1:
        problem = f"max_turns={max_turns} is not 1 or more. Give more"
    elif reward == "official" and name != "retail-v1.0.1":
        problem = "reward='official' is that of the corrected tasks. Take 'db+communicate'"
    elif reward == "official" and judge is None:
        problem = (
            "reward='official' needs a model as a judge, and no judge= was given. Give "
            "'openai:MODEL@URL', or a function from a question to an answer as itself or as "
            f"'module:attribute', or take {' or '.join(map(repr, _BASES))}"
        )
    elif reward != "official" and judge is not None:
        problem = f"judge= was given, and reward={reward!r} needs none. Leave it out"
    elif reward not in (*_BASES, "official"):
        problem = f"reward={reward!r} is none of {', '.join(map(repr, _BASES))}. Choose one"
    if problem or data is None:
        id = BENCHMARKS[name].id
        raise BadArguments(f"{id} cannot be made: {problem}.", subject=id)
    return data
