"""An environment and wrappers that targets of these tests name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gem.content import Observation
from gem.env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.wrappers._concat import Concat

Install = Callable[..., Path]
Started = tuple[Observation, dict[str, Any]]


class Words(Env):
    """Remembers what it was made with."""

    def __init__(
        self,
        size: int = 3,
        *,
        letters: tuple[str, ...] = ("a", "b"),
        table: Any = None,
        path: Path | None = None,
    ) -> None:
        self.size, self.letters, self.table, self.path = size, letters, table, path

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return str(self.rng.random()), {}

    def step(self, action: str) -> Step:
        return Step(f"{action} {self.rng.random()}", 0.0, False, False, {})


class Prefix(Wrapper):
    def __init__(self, env: Env, prefix: str = ">", *, extra: Any = None) -> None:
        super().__init__(env)
        self.prefix, self.extra = prefix, extra

    def on_step(self, action: str, step: Step) -> Step:
        return step._replace(observation=f"{self.prefix}{step.observation}")


class Unconcat(Concat):
    """A wrapper that no plugin provides."""


def stack_of(env: Env) -> list[str]:
    names = []
    while isinstance(env, Wrapper):
        names.append(type(env).__name__)
        env = env.env
    return names[::-1]
