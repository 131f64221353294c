"""A vector whose environments live in the workers of a pool."""

from __future__ import annotations

import math
import select
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from time import monotonic
from typing import Any, NamedTuple

from gem.content import Observation
from gem.errors import GemError
from gem.hosting import MAKE, RESET, STEP, Failure, RecoveringHost
from gem.hosting.processes import MOST_ANSWER_BYTES, ProcessHost, available_cpus, check_pool
from gem.hosting.recipes import Recipe, recipe_of
from gem.hosting.recovering import Outcome
from gem.hosting.supervisor import StartMethod
from gem.specs import EnvSpec
from gem.vector.base import AutoReset
from gem.vector.making import EnvMaker
from gem.vector.shard import Command, Row, ShardAnswer, one_after, refuse_reward
from gem.vector.sharded import ShardedVectorEnv
from gem.vector.unbroken import Unbroken

__all__ = ["PooledVectorEnv", "ProcessVectorEnv"]


class PooledVectorEnv(ShardedVectorEnv):
    """Step environments in the pool that `hire` returns. `close` closes that pool.

    An environment that cannot be made is a GemError.
    """

    def __init__(
        self,
        makers: Sequence[EnvMaker],
        hire: Callable[[], RecoveringHost],
        *,
        autoreset: AutoReset,
        seed: int | None,
        is_inherited: bool = False,
    ) -> None:
        def employ(_: object) -> _Pooled:
            recipes = _recipes(makers, is_inherited)
            self.pool = hire()
            return _Pooled(self.pool, recipes)

        super().__init__(makers, employ, autoreset=autoreset, seed=seed)


class ProcessVectorEnv(PooledVectorEnv):
    """Step environments in `num_workers` processes, at most one for each processor unless given.

    The options are those of `gem.hosting.ProcessHost`.
    """

    def __init__(
        self,
        makers: Sequence[EnvMaker],
        *,
        autoreset: AutoReset = "same_step",
        seed: int | None = None,
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
            min(number, max(1, len(makers))),
            start_method=start_method,
            timeout_s=step_timeout_s,
            most_memory_bytes=most_memory_bytes,
            most_answer_bytes=most_answer_bytes,
        )
        is_inherited = start_method == "fork"
        super().__init__(makers, hire, autoreset=autoreset, seed=seed, is_inherited=is_inherited)


def _recipes(makers: Sequence[EnvMaker], is_inherited: bool) -> list[Recipe]:
    """Return the recipe of each, made once for all that are alike."""
    known: dict[tuple[int, ...], Recipe] = {}
    for each in makers:
        key = id(each.env), id(each.wrappers), id(each.kwargs)
        if key not in known:
            recipe = recipe_of(each.env, each.wrappers, each.kwargs, is_inherited=is_inherited)
            known[key] = recipe
    return [known[id(each.env), id(each.wrappers), id(each.kwargs)] for each in makers]


class _Pooled:
    """A new pool, whose slot 0 is environment 0. A reset that follows an end is a command more."""

    def __init__(self, pool: RecoveringHost, recipes: Sequence[Recipe]) -> None:
        self._pool = pool
        self._in_flight: set[int] = set()
        self._next_seeds: dict[int, int | None] = {}  # of those that are being stepped
        self._ends: dict[int, Row] = {}  # while the reset that follows is under way
        self._poll = select.poll()
        self._poll.register(pool.fileno(), select.POLLIN)
        self._columns = _no_columns()
        try:
            self.specs = self._make(recipes)
        except BaseException:
            pool.close()
            raise

    def _make(self, recipes: Sequence[Recipe]) -> list[EnvSpec | None]:
        slots = [self._pool.open(recipe) for recipe in recipes]
        self._pool.submit([(MAKE, slot) for slot in slots])
        told = dict(self._pool.collect(len(slots)))
        for index, slot in enumerate(slots):
            if isinstance(told[slot], Failure):
                name = recipes[index].spec["id"]
                raise GemError(
                    f"Environment {index}, {name}, cannot be made in a worker: {told[slot].text}"
                )
        return [_spec(told[slot]["spec"]) for slot in slots]

    @property
    def in_flight(self) -> Collection[int]:
        return self._in_flight

    def submit(self, command: Command) -> None:
        word, indices, *columns = command
        with Unbroken():
            if word == "reset":
                self._reset(zip(indices, columns[0], strict=True))
            else:
                actions, seeds = columns
                self._pool.submit([(STEP, *each) for each in zip(indices, actions, strict=True)])
                follow = seeds or [None] * len(indices)
                self._next_seeds.update(zip(indices, follow, strict=True))
            self._in_flight.update(indices)

    def _reset(self, seeded: Iterable[tuple[int, int]]) -> None:
        self._pool.submit([(RESET, index, seed, {}, 0) for index, seed in seeded])

    def gather(self, number: int, timeout_s: float | None) -> list[ShardAnswer]:
        limit = math.inf if timeout_s is None else monotonic() + timeout_s
        while True:
            with Unbroken():
                self._land()
            if len(self._columns.rewards) >= number or (left := limit - monotonic()) <= 0:
                break
            self._poll.poll(math.ceil(1000 * min(left, self._pool.next_check_s())))
        with Unbroken():
            columns, self._columns = self._columns, _no_columns()
            self._in_flight.difference_update(columns.indices)
        return [ShardAnswer(*columns)]

    def _land(self) -> None:
        """Add what came in to the answer, and let the next episodes begin of those that ended."""
        follows = []
        for index, outcome in self._pool.collect(0):
            if index not in self._next_seeds:
                self._started(index, outcome)
                continue
            seed, row = self._next_seeds.pop(index), self._row(index, outcome)
            observation, reward, terminated, truncated, info = row
            if terminated or truncated:
                if seed is not None:
                    self._ends[index] = row
                    follows.append((index, seed))
                    continue
                self._ended(index, row)
                self._columns.idle.append(index)
            self._add(index, observation, reward, info)
        if follows:
            self._reset(follows)

    def _started(self, index: int, outcome: Outcome) -> None:
        if type(outcome) is Failure:
            start = _failed(outcome)
            self._columns.idle.append(index)
        else:
            start = outcome[0], 0.0, False, False, outcome[1]
        end = self._ends.pop(index, None)
        if end is None:
            self._add(index, start[0], 0.0, start[4])
        else:
            self._ended(index, end)
            observation, info = one_after(end, start)
            self._add(index, observation, end[1], info)

    def _ended(self, index: int, row: Row) -> None:
        self._columns.ended.append((index, bool(row[2]), bool(row[3])))

    def _add(self, index: int, observation: Observation, reward: float, info: Any) -> None:
        indices, observations, rewards, infos, *_ = self._columns
        indices.append(index)
        observations.append(observation)
        rewards.append(reward)
        infos.append(info)

    def _row(self, index: int, outcome: Outcome) -> Row:
        if type(outcome) is Failure:
            return _failed(outcome)
        try:
            refuse_reward(outcome[1])
        except Exception as error:  # noqa: BLE001 - a reward may be any object
            self._pool.give_up(index)
            return "", 0.0, False, True, Failure.of(error).info
        row: Row = outcome
        return row

    def close(self) -> None:
        self._pool.close()


class _Columns(NamedTuple):
    """The columns of a ShardAnswer that is being put together."""

    indices: list[int]
    observations: list[Observation]
    rewards: list[float]
    infos: list[dict[str, Any]]
    ended: list[tuple[int, bool, bool]]
    idle: list[int]


def _no_columns() -> _Columns:
    return _Columns([], [], [], [], [], [])


def _failed(failure: Failure) -> Row:
    return "", 0.0, False, True, failure.info


def _spec(told: Any) -> EnvSpec | None:
    return None if told is None else EnvSpec.model_validate(told)
