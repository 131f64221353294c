"""An environment and the wrappers around it that these tests share."""

from __future__ import annotations

from typing import Any

from gem.content import Observation
from gem.env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.specs import EnvSpec

Started = tuple[Observation, dict[str, Any]]

SPEC = EnvSpec(id="demo:Echo", target="a:b", blocking=False)


class Echo(Env):
    max_turns = 9
    reward_range = (0.0, 1.0)
    num_tasks = 4
    single_turn = rewrites_history = prompt_is_finished = True
    tools = ({"name": "search"},)
    public = "read me"
    _private = "read me too"

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.said = ["start"]
        return f"start {self.rng.randrange(10**9)}", {}

    def step(self, action: str) -> Step:
        self.said.append(action)
        return Step(f"heard {action}", 0.5, action == "end", False, {})

    def sample_action(self) -> str:
        return "sampled"

    def solve(self) -> str | None:
        return "solved"


class Loud(Wrapper):
    """Every hook, at once."""

    def on_reset(self, observation: Observation, info: dict[str, Any]) -> Started:
        return f"{observation}!", {**info, "loud": True}

    def on_action(self, action: str) -> str | Step:
        return action.upper()

    def on_step(self, action: str, step: Step) -> Step:
        return step._replace(observation=f"{step.observation} after {action}!")


class Limit(Wrapper):
    def __init__(self, env: Env, limit: int = 1, *, name: str = "x", **rest: Any) -> None:
        super().__init__(env)


def made() -> Echo:
    env = Echo()
    env.spec = SPEC
    return env


class History(Wrapper):
    """Keeps what it saw."""

    def __init__(self, env: Env, extra: Any = None) -> None:
        super().__init__(env)
        self.history: list[str] = []
        self.extra = extra

    def on_step(self, action: str, step: Step) -> Step:
        self.history.append(action)
        return step._replace(info={"history": " ".join(self.history)})
