"""A vector whose environments are stepped one after the other, in the caller's thread."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Sequence
from itertools import chain

from gem.env import Env
from gem.errors import BadArguments
from gem.vector.base import AutoReset
from gem.vector.shard import Command, Maker, Shard, ShardAnswer
from gem.vector.sharded import ShardedVectorEnv

__all__ = ["SyncVectorEnv"]


class SyncVectorEnv(ShardedVectorEnv):
    """Step environments in turn. Each of `makers` is called for one, and again if that one fails.

    What was sent is carried out in `recv`, in the order it was sent: `min_ready` steps, or fewer
    where `timeout_s` passes between two; one at least. Raises BadArguments where there is no
    maker, and what a maker raises the first time.
    """

    def __init__(
        self,
        makers: Sequence[Maker],
        *,
        autoreset: AutoReset = "same_step",
        seed: int | None = None,
        num_workers: int | None = None,
        step_timeout_s: float | None = None,
    ) -> None:
        if step_timeout_s is not None:
            raise BadArguments(
                f"step_timeout_s={step_timeout_s!r} was given with the backend 'sync', which steps "
                "in the caller's thread and cannot stop a step. Leave it out, or run the "
                "environments with backend='thread', which leaves a late step behind.",
                subject="step_timeout_s",
            )
        if num_workers is not None:
            raise BadArguments(
                f"num_workers={num_workers!r} was given with the backend 'sync', which has none. "
                "Leave it out, or choose another backend.",
                subject="num_workers",
            )
        super().__init__(makers, self._employ, autoreset=autoreset, seed=seed)

    def _employ(self, makers: Sequence[Maker]) -> _Caller:
        self._shard = Shard(dict(enumerate(makers)))
        return _Caller(self._shard)

    @property
    def envs(self) -> tuple[Env, ...]:
        """The environments, in order. One that fails is replaced at its next reset."""
        return tuple(self._shard.envs.values())


class _Caller:
    """The caller's own thread, which carries a command out when its answer is asked for."""

    def __init__(self, shard: Shard) -> None:
        self._shard = shard
        self._commands: deque[Command] = deque()
        self._answers: list[ShardAnswer] = []
        self.specs = shard.make()

    @property
    def in_flight(self) -> Collection[int]:
        if not self._commands and not self._answers:
            return ()
        waiting = [command[1] for command in self._commands]
        waiting += [answer.indices for answer in self._answers]
        return list(chain.from_iterable(waiting))

    def close(self) -> None:
        self._shard.close()

    def submit(self, command: Command) -> None:
        self._commands.append(command)

    def gather(self, number: int, timeout_s: float | None) -> list[ShardAnswer]:
        limit = None if timeout_s is None else time.monotonic() + timeout_s
        ready = sum(len(answer.indices) for answer in self._answers)
        while ready < number and self._commands:
            command = self._next_command(number - ready if limit is None else 1)
            self._answers.append(self._shard.carry_out(command))
            ready += len(command[1])
            if limit is not None and time.monotonic() >= limit:
                break
        answers, self._answers = self._answers, []
        return answers

    def _next_command(self, most: int) -> Command:
        """Take the next command off the queue, or its first part."""
        command = self._commands.popleft()
        if len(command[1]) <= most:
            return command
        self._commands.appendleft(_part(command, slice(most, None)))
        return _part(command, slice(most))


def _part(command: Command, part: slice) -> Command:
    word, *columns = command
    return (word, *(column and column[part] for column in columns))
