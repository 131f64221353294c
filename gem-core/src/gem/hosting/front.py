"""What an episode needs of its environment, wherever that lives.

Knows nothing about episodes or policies.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol

from gem.content import Observation
from gem.errors import in_one_line
from gem.making import EnvLike, resolve
from gem.specs import EnvSpec
from gem.step import Step

__all__ = ["Stage", "StagedEnv"]


class StagedEnv(Protocol):
    """An environment as an episode uses it. Its calls raise Failure where it was lost."""

    @property
    def spec(self) -> EnvSpec | None:
        """Its spec, wrappers included."""

    @property
    def rewrites_history(self) -> bool:
        """As `Env.rewrites_history`."""

    @property
    def prompt_is_finished(self) -> bool:
        """As `Env.prompt_is_finished`."""

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """As `Env.tools`."""

    def reset(
        self, seed: int, options: Mapping[str, Any], repeat: int
    ) -> Awaitable[tuple[Observation, dict[str, Any]]]:
        """Start an episode. A repeat, another try of the same seed, samples differently."""

    def step(self, action: str) -> Step | Awaitable[Step]:
        """Take one action. What need not be waited for comes at once."""

    def ask(self, method: str) -> Awaitable[str | None]:
        """Return what "sample_action" or "solve" returns."""


class Stage(ABC):
    """The environments of a run: made on demand, used again, given up when they fail.

    `keeps_time`: the stage itself ends calls that outlast the step's deadline. `restarts` counts
    workers that were replaced.
    """

    keeps_time = False
    restarts = 0

    def __init__(self, envs: Sequence[EnvLike]) -> None:
        self.specs = [resolve(env) for env in envs]
        self._idle: list[list[Any]] = [[] for _ in self.specs]

    @abstractmethod
    async def take(self, env_index: int) -> StagedEnv:
        """Return an environment that nobody else uses."""

    def idle(self, env_index: int) -> int:
        """Return how many environments wait for the next episodes."""
        return len(self._idle[env_index])

    def give_back(self, env_index: int, env: Any) -> None:
        """Offer an environment to the next episode: its next call is a reset."""
        self._idle[env_index].append(env)

    @abstractmethod
    async def discard(self, env: Any) -> None:
        """Close an environment that nobody uses again; a failure is warned of."""

    @abstractmethod
    def abandon(self, env: Any) -> None:
        """Give up an environment that a call may still be running in. Waits for nothing."""

    @abstractmethod
    async def close(self) -> None:
        """Close every environment that is not in use; a failure is warned of and stops no other."""


def warn_of_close(env: object, error: BaseException) -> None:
    """Warn that closing an environment failed."""
    warnings.warn(f"Closing {env} failed: {in_one_line(error)}", RuntimeWarning, stacklevel=2)
