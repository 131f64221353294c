"""`tau:`: the published tasks, with a scripted user."""

from __future__ import annotations

from typing import Any, Literal

from gem.content import Observation
from gem.errors import BadArguments
from gem_envs_agents.desk.case import Case
from gem_envs_agents.desk.one_seat import ServiceDesk
from gem_envs_agents.desk.tool import Tools
from gem_envs_agents.tau.benchmark import BENCHMARKS, Benchmark, benchmark

__all__ = ["Tau"]

_BASES = ("db", "db+communicate")


class Tau(ServiceDesk):
    """Serve the customers of a published set of tasks.

    `data` is a folder with the published files, `database` one with the tables where they lie
    apart. `split` is one of the published. `reward` is "db", the state of the database, or
    "db+communicate", that and what the agent has to say. "official" is how the corrected tasks
    were graded where they were published; it needs a model as a judge, so it is refused here.

    The user is scripted: it asks for what the solution does. Scores are not those that were
    published with a model as the user.
    """

    def __init__(
        self,
        *,
        benchmark: Literal["retail-2024", "airline-2024", "retail-v1.0.1"],
        data: str | None = None,
        database: str | None = None,
        split: str | None = None,
        reward: str = "db+communicate",
        max_turns: int = 60,
    ) -> None:
        self.benchmark_name: str = benchmark
        self.data = _checked(benchmark, data, reward, max_turns)
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
    def agent_tools(self) -> Tools:
        return self.published.tools

    def reset(
        self, seed: int | None = None, *, task: int | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a task: the one given by its place in the split, or one that is drawn."""
        self.number = self.pick_task(task)
        return self.start()


def _checked(name: str, data: str | None, reward: str, max_turns: int) -> str:
    """Return the folder of the data. Raises BadArguments on what cannot be played."""
    problem = ""
    if data is None:
        problem = (
            "no data= was given, and the published files are not shipped. Download them from "
            "github.com/sierra-research and give their folder"
        )
    elif reward == "official":
        problem = (
            "reward='official' needs a model as a judge, and none is built in. Take "
            f"{' or '.join(map(repr, _BASES))}, which need none"
        )
    elif reward not in _BASES:
        problem = f"reward={reward!r} is none of {', '.join(map(repr, _BASES))}. Choose one"
    elif max_turns < 1:
        problem = f"max_turns={max_turns} is not 1 or more. Give more"
    if problem or data is None:
        raise BadArguments(f"{name} cannot be made: {problem}.", subject=name)
    return data
