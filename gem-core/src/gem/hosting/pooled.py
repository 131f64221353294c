"""Environments in the workers of a pool: processes of this machine, or what a plugin brings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gem.content import Observation
from gem.hosting import ASK, MAKE, RESET, STEP, Failure, RecoveringHost
from gem.hosting.awaiting import AsyncWorkers
from gem.hosting.front import Stage
from gem.hosting.processes import MOST_ANSWER_BYTES, ProcessHost, available_cpus, check_pool
from gem.hosting.recipes import recipe_of
from gem.hosting.supervisor import StartMethod
from gem.making import EnvLike, WrapperLike
from gem.specs import EnvSpec
from gem.step import Step

__all__ = ["PooledStage", "ProcessStage"]


class _RemoteEnv:
    """An environment in a slot of a pool. A failed call leaves the slot to be reset."""

    def __init__(self, workers: AsyncWorkers, slot: int) -> None:
        self._workers, self.slot = workers, slot
        self.spec: EnvSpec | None = None
        self.rewrites_history = self.prompt_is_finished = False
        self.tools: Sequence[Mapping[str, Any]] = ()

    async def reset(
        self, seed: int, options: Mapping[str, Any], repeat: int
    ) -> tuple[Observation, dict[str, Any]]:
        outcome = await self.do(RESET, seed, dict(options), repeat)
        observation, info, shown = outcome
        self.rewrites_history, self.prompt_is_finished, self.tools = shown
        return observation, info

    async def step(self, action: str) -> Step:
        return Step(*await self.do(STEP, action))

    async def ask(self, method: str) -> str | None:
        answer: str | None = await self.do(ASK, method)
        return answer

    async def do(self, kind: int, *arguments: Any) -> Any:
        """Have a command done. Raises Failure where it failed."""
        outcome = await self._workers.do((kind, self.slot, *arguments))
        if type(outcome) is Failure:
            raise outcome
        return outcome


class PooledStage(Stage):
    """Keep environments in a pool that `hire` returns, on the event loop of the run.

    Raises OpaqueError on what its workers cannot make.
    """

    keeps_time = True

    def __init__(
        self,
        envs: Sequence[EnvLike],
        hire: Callable[[], RecoveringHost],
        *,
        wrappers: Sequence[WrapperLike],
        kwargs: Mapping[str, Any] | None,
        is_inherited: bool = False,
    ) -> None:
        super().__init__(envs)
        self._recipes = [
            recipe_of(spec, wrappers, kwargs, is_inherited=is_inherited) for spec in self.specs
        ]
        self._hire = hire
        self._workers: AsyncWorkers | None = None
        self._made: dict[int, tuple[Mapping[str, Any], EnvSpec]] = {}

    @property
    def restarts(self) -> int:  # type: ignore[override]
        return 0 if self._workers is None else self._workers.pool.restarts

    async def take(self, env_index: int) -> _RemoteEnv:
        if self._idle[env_index]:
            idle: _RemoteEnv = self._idle[env_index].pop()
            return idle
        if self._workers is None:
            self._workers = AsyncWorkers(self._hire())
        env = _RemoteEnv(self._workers, self._workers.pool.open(self._recipes[env_index]))
        try:
            told = await env.do(MAKE)
        except BaseException:
            self.abandon(env)
            raise
        env.spec = self._spec(env_index, told["spec"])
        return env

    def _spec(self, env_index: int, told: Mapping[str, Any]) -> EnvSpec:
        """Return a spec that a worker told, read once for all that are alike."""
        if env_index not in self._made or self._made[env_index][0] != told:
            self._made[env_index] = told, EnvSpec.model_validate(told)
        return self._made[env_index][1]

    async def discard(self, env: _RemoteEnv) -> None:
        self.abandon(env)

    def abandon(self, env: _RemoteEnv) -> None:
        assert self._workers is not None
        self._workers.drop(env.slot)

    async def close(self) -> None:
        if self._workers is not None:
            await self._workers.aclose()


class ProcessStage(PooledStage):
    """Keep environments in `num_workers` processes (as many as there are processors).

    The options are those of `gem.hosting.ProcessHost`.
    """

    def __init__(
        self,
        envs: Sequence[EnvLike],
        *,
        wrappers: Sequence[WrapperLike] = (),
        kwargs: Mapping[str, Any] | None = None,
        num_workers: int | None = None,
        step_timeout_s: float | None = None,
        start_method: StartMethod = "forkserver",
        most_memory_bytes: int | None = None,
        most_answer_bytes: int = MOST_ANSWER_BYTES,
    ) -> None:
        number = available_cpus() if num_workers is None else num_workers
        check_pool(number, start_method, step_timeout_s)
        hire = partial(
            ProcessHost,
            number,
            start_method=start_method,
            timeout_s=step_timeout_s,
            most_memory_bytes=most_memory_bytes,
            most_answer_bytes=most_answer_bytes,
        )
        is_inherited = start_method == "fork"
        super().__init__(envs, hire, wrappers=wrappers, kwargs=kwargs, is_inherited=is_inherited)
