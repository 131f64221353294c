"""Some environments of a vector, by index, and what is asked of them as plain data.

A command is a tuple: a word, and columns with one entry for each environment. `carry_out` returns
a ShardAnswer, columns again. Neither holds an environment, so both can cross to another thread,
process or machine. Knows nothing about arrays, run seeds, deadlines or when a new episode is due.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from math import fsum, isfinite
from typing import Any, NamedTuple

from gem.content import Observation
from gem.env import Env
from gem.errors import in_one_line
from gem.hosting import Failure
from gem.specs import EnvSpec

__all__ = [
    "FAULTS",
    "Command",
    "Maker",
    "Row",
    "Shard",
    "ShardAnswer",
    "one_after",
    "refuse_reward",
]

Maker = Callable[[], Env]

Command = tuple[Any, ...]
"""`("reset", indices, seeds)`, `("step", indices, actions, seeds)` or `("fail", indices, infos,
seeds)`, which gives environments up as if a step of theirs had failed with that info.

The `seeds` of step and fail are for the episodes that follow those which end; None: none follows.
"""

FAULTS: tuple[type[BaseException], ...] = (Exception, SystemExit)
"""What costs an episode where a shard is worked by its caller's own thread."""

Row = tuple[Observation, float, bool, bool, dict[str, Any]]
"""A step's fields, or a start's."""

_Flags = tuple[bool, bool]


class ShardAnswer(NamedTuple):
    """What became of a command: three columns, one entry for each of `indices`, and what is rare.

    Where an episode ended and another follows, the observation and the info are the next one's,
    the ended one's being in its `final_observation` and `final_info`; the reward is the step's.
    `ended` has (index, terminated, truncated) for each episode that ended, `idle` the indices
    that have no episode now because none followed, or failed to start. `warned` are texts that
    the user should see.
    """

    indices: Sequence[int]
    observations: list[Observation]
    rewards: list[float]
    infos: list[dict[str, Any]]
    ended: Sequence[tuple[int, bool, bool]] = ()
    idle: Sequence[int] = ()
    warned: Sequence[str] = ()


class Shard:
    """Environments by index. Each of `makers` makes one, and makes it anew where that one failed.

    What is among `faults` ends the episode of the environment that raised it: reward 0,
    observation "", truncated, an info of `stop_reason` and `error`. All else is raised.
    """

    def __init__(
        self,
        makers: Mapping[int, Maker],
        *,
        faults: tuple[type[BaseException], ...] = FAULTS,
    ) -> None:
        self._makers, self._faults = dict(makers), faults
        self._envs: dict[int, Env] = {}
        self._steps: dict[int, Callable[[str], Any]] = {}
        self._lost = set(self._makers)  # failed or not made yet, to be made before a reset
        self._ends: dict[int, Row] = {}  # while the reset that follows an end is running
        self._warned: list[str] = []

    @property
    def envs(self) -> Mapping[int, Env]:
        """The environments. One that failed stays here until it is made anew."""
        return self._envs

    def make(self) -> list[EnvSpec | None]:
        """Make all and return their specs. Where one cannot be made, close the others and raise."""
        with ExitStack() as stack:
            for index in self._makers:
                self._put(index)
                stack.callback(self._envs[index].close)
            stack.pop_all()
        return [env.spec for env in self._envs.values()]

    def carry_out(self, command: Command) -> ShardAnswer:
        """Do what a command says, environment by environment, in its order."""
        word, *columns = command
        answer: ShardAnswer = getattr(self, f"_{word}")(*columns)
        if self._warned:
            answer, self._warned = answer._replace(warned=self._warned), []
        return answer

    def close(self) -> None:
        """Close every environment, the last first, even where closing one raises."""
        with ExitStack() as stack:
            for env in self._envs.values():
                stack.callback(env.close)

    def left_behind(self) -> Shard:
        """Return a successor whose environments are yet to be made. This one starts no episode.

        It is for a shard that a call of an environment does not give back.
        """
        successor = Shard(self._makers, faults=self._faults)
        self._lost.update(self._makers)
        self._makers.clear()
        return successor

    def unfinished(self, command: Command, info: dict[str, Any]) -> ShardAnswer | None:
        """Answer for one environment whose reset does not come back; None for a step or fail.

        It is for a shard that was left behind; `info` stands for the episode that does not start.
        An end that the reset was to follow is told as it was.
        """
        word, indices = command[:2]
        if word == "reset":
            return ShardAnswer(indices, [""], [0.0], [info], (), indices)
        end = self._ends.get(indices[0])
        if end is None:
            return None
        observation, first_info = one_after(end, ("", 0.0, False, True, info))
        ended = [(indices[0], end[2], end[3])]
        return ShardAnswer(indices, [observation], [end[1]], [first_info], ended, indices)

    def _reset(self, indices: Sequence[int], seeds: Sequence[int]) -> ShardAnswer:
        rows = [self._start(index, seed) for index, seed in zip(indices, seeds, strict=True)]
        idle = [index for index, row in zip(indices, rows, strict=True) if row[3]]
        return ShardAnswer(
            indices, [row[0] for row in rows], [0.0] * len(rows), [row[4] for row in rows], (), idle
        )

    def _step(
        self, indices: Sequence[int], actions: Iterable[str], seeds: Sequence[int] | None
    ) -> ShardAnswer:
        steps, answer, over = self._steps, ShardAnswer(indices, [], [], []), dict[int, _Flags]()
        _, observations, rewards, infos, *_ = answer
        # A row is taken apart at once: rows that were kept would let the garbage collector in.
        for index, action in zip(indices, actions, strict=True):
            try:
                observation, reward, terminated, truncated, info = steps[index](action)
            except self._faults as error:
                observation, reward, terminated, truncated, info = self._lose(index, error)
            if terminated or truncated:
                over[len(rewards)] = bool(terminated), bool(truncated)
            observations.append(observation)
            rewards.append(reward)
            infos.append(info)
        if not _are_finite(rewards):
            self._refuse_rewards(answer, over)
        return self._followed(answer, over, seeds) if over else answer

    def _fail(
        self, indices: Sequence[int], infos: Sequence[dict[str, Any]], seeds: Sequence[int] | None
    ) -> ShardAnswer:
        self._lost.update(indices)
        number = len(indices)
        answer = ShardAnswer(indices, [""] * number, [0.0] * number, list(infos))
        return self._followed(answer, dict.fromkeys(range(number), (False, True)), seeds)

    def _refuse_rewards(self, answer: ShardAnswer, over: dict[int, _Flags]) -> None:
        """Let each whose reward is not a finite number have failed."""
        for at, (index, reward) in enumerate(zip(answer.indices, answer.rewards, strict=True)):
            try:
                refuse_reward(reward)
            except self._faults as error:
                row = self._lose(index, error)
                answer.observations[at], answer.rewards[at], *_, answer.infos[at] = row
                over[at] = False, True

    def _followed(
        self, answer: ShardAnswer, over: Mapping[int, _Flags], seeds: Sequence[int] | None
    ) -> ShardAnswer:
        """Let the next episode follow where one is over, by position, if there are seeds."""
        indices, observations, rewards, infos, *_ = answer
        ended = [(indices[at], *flags) for at, flags in over.items()]
        if seeds is None:
            return answer._replace(ended=ended, idle=[index for index, *_ in ended])
        idle = []
        for at, flags in over.items():
            index = indices[at]
            end = self._ends[index] = observations[at], rewards[at], *flags, infos[at]
            start = self._start(index, seeds[at])
            observations[at], infos[at] = one_after(end, start)
            del self._ends[index]
            if start[3]:
                idle.append(index)
        return answer._replace(ended=ended, idle=idle)

    def _start(self, index: int, seed: int) -> Row:
        """Start an episode. The row is truncated where that failed."""
        try:
            if index in self._lost:
                self._replace(index)
            observation, info = self._envs[index].reset(seed=seed)
        except self._faults as error:
            return self._lose(index, error)
        return observation, 0.0, False, False, info

    def _replace(self, index: int) -> None:
        former = self._envs.get(index)
        try:
            if former is not None:
                former.close()
        except self._faults as error:  # it failed already: another one takes its place
            self._warned.append(f"Closing environment {index} failed: {in_one_line(error)}")
        self._put(index)

    def _put(self, index: int) -> None:
        env = self._makers[index]()
        self._envs[index], self._steps[index] = env, env.step
        self._lost.discard(index)

    def _lose(self, index: int, error: BaseException) -> Row:
        """Give an environment up and return what stands for its answer."""
        self._lost.add(index)
        return "", 0.0, False, True, Failure.of(error).info


def refuse_reward(reward: Any) -> None:
    """Raise unless a reward is a finite number."""
    if not isfinite(reward):
        raise ValueError(f"step returned the reward {reward!r}, not a finite one")


def _are_finite(rewards: Sequence[float]) -> bool:
    try:
        return isfinite(fsum(rewards))
    except Exception:  # noqa: BLE001 - a reward may be any object; each is looked at by itself
        return False


def one_after(end: Row, start: Row) -> tuple[Observation, dict[str, Any]]:
    """Return the first observation and info of an episode that follows another's end."""
    return start[0], {**start[4], "final_observation": end[0], "final_info": end[4]}
