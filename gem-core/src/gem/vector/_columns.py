"""The columnar front of a host: many environments have one kind of thing done, all at once.

Knows nothing about run seeds, arrays, or when a new episode is due.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from math import fsum, isfinite
from time import monotonic
from typing import Any, NamedTuple

from gem.content import Observation
from gem.errors import GemError
from gem.hosting._failure import Failure
from gem.hosting._in_thread import InThreadHost
from gem.hosting._messages import MAKE, RESET, STEP, Command
from gem.hosting._port import Host, MakesEnv, Outcome, Ready
from gem.hosting._slot_envs import FAULTS
from gem.specs import EnvSpec
from gem.vector._unbroken import Unbroken

__all__ = ["Answer", "Columns"]

Row = tuple[Observation, float, bool, bool, dict[str, Any]]
"""A step's fields, or a start's, whose reward is 0. A start that failed is truncated."""


class Answer(NamedTuple):
    """What became of commands, in columns: one entry in each for each of `indices`.

    Where an episode ended and another follows, the observation and the info are the next one's,
    the ended one's being in its `final_observation` and `final_info`; the reward is the step's.
    `ended` has (index, terminated, truncated) for each episode that ended, `idle` the indices
    that have no episode now because none followed, or failed to start.
    """

    indices: Sequence[int]
    observations: list[Observation]
    rewards: list[float]
    infos: list[dict[str, Any]]
    ended: list[tuple[int, bool, bool]]
    idle: list[int]


class Columns:
    """Environments by index, each in a slot of a host. `close` closes the host.

    Raises what the making of one raised, or a GemError where that happened in another process.
    """

    def __init__(self, host: Host, recipes: Sequence[MakesEnv]) -> None:
        self.host = host
        self.in_flight: set[int] = set()  # what was submitted, and not given back by `gather`
        self._here = host if isinstance(host, InThreadHost) else None
        # Of those that are being stepped; the others in flight are being reset.
        self._next_seeds: dict[int, int | None] = {}
        self._ends: dict[int, Row] = {}  # while the reset that follows is under way
        self._answer = _no_answer()
        try:
            self._slots = [host.open(recipe) for recipe in recipes]
            self._index_of = {slot: index for index, slot in enumerate(self._slots)}
            self.specs = self._make(recipes)
        except BaseException:
            host.close()
            raise

    def _make(self, recipes: Sequence[MakesEnv]) -> list[EnvSpec | None]:
        self.host.submit([(MAKE, slot) for slot in self._slots])
        outcomes = dict(self.host.collect(len(self._slots)))
        for index, slot in enumerate(self._slots):
            failure = outcomes[slot]
            if isinstance(failure, Failure):
                name = str(recipes[index])
                raise failure.__cause__ or GemError(
                    f"Environment {index}, {name}, cannot be made in a worker: {failure.text}"
                ) from None
        return [outcomes[slot]["spec"] for slot in self._slots]

    def close(self) -> None:
        """Close the host."""
        self.host.close()

    def submit_resets(self, indices: Sequence[int], seeds: Sequence[int]) -> None:
        """Have an episode started in each."""
        # An interrupt between the two would lose track of what is under way.
        with Unbroken():
            self._submit_resets(zip(indices, seeds, strict=True))
            self.in_flight.update(indices)

    def _submit_resets(self, seeded: Any) -> None:
        self.host.submit([(RESET, self._slots[index], seed, {}, 0) for index, seed in seeded])

    def submit_steps(
        self, indices: Sequence[int], actions: Sequence[str], seeds: Sequence[int] | None
    ) -> None:
        """Have an action taken in each. Where that ends an episode, one by this seed follows."""
        slots = self._slots
        with Unbroken():
            pairs = zip(indices, actions, strict=True)
            self.host.submit([(STEP, slots[index], action) for index, action in pairs])
            if seeds is None:
                self._next_seeds.update(dict.fromkeys(indices))
            else:
                self._next_seeds.update(zip(indices, seeds, strict=True))
            self.in_flight.update(indices)

    def step(
        self, indices: Sequence[int], actions: Sequence[str], seeds: Sequence[int] | None
    ) -> Answer:
        """Take an action in each and wait for all. The order of the answer is any."""
        if self._here is not None:
            return self._stepped_here(self._here, indices, actions, seeds)
        self.submit_steps(indices, actions, seeds)
        return self.gather(len(indices), None)

    def gather(self, number: int, timeout_s: float | None) -> Answer:
        """Give back the answers for at least so many environments; fewer at the timeout.

        An interrupt loses no answer: a later call gives it back.
        """
        due = math.inf if timeout_s is None else monotonic() + timeout_s
        while True:
            missing = number - len(self._answer.rewards)
            if self._here is None:
                with Unbroken():
                    self._take(self.host.collect(0))
            else:  # it is here that environments are called, and they may be interrupted
                left = None if timeout_s is None else due - monotonic()
                self._take(self.host.collect(missing, left))
            left_s = due - monotonic()
            is_done = len(self._answer.rewards) >= number
            if is_done or left_s <= 0 or self._here is not None:  # which has done what it could
                break
            self.host.wait(left_s)
        with Unbroken():
            answer = self._answer
            self._answer = _no_answer()
            self.in_flight.difference_update(answer.indices)
        return answer

    def _take(self, ready: Sequence[Ready]) -> None:
        """Add outcomes to the answer, and let the next episodes begin of those that ended."""
        follows = []
        for slot, outcome in ready:
            index = self._index_of[slot]
            if index not in self._next_seeds:
                self._started(index, outcome)
                continue
            seed = self._next_seeds.pop(index)
            row = self._row(slot, outcome)
            if row[2] or row[3]:
                if seed is not None:
                    self._ends[index] = row
                    if self._here is None:
                        follows.append((index, seed))
                    else:
                        reset: Command = (RESET, slot, seed, {}, 0)
                        self._started(index, self._here.do_now(reset))
                    continue
                self._note_end(index, row)
                self._answer.idle.append(index)
            self._add(index, row[0], row[1], row[4])
        # All in one batch: each frame to a worker costs more than the commands in it.
        if follows:
            self._submit_resets(follows)

    def _started(self, index: int, outcome: Outcome) -> None:
        start = _start_of(outcome)
        if start[3]:
            self._answer.idle.append(index)
        end = self._ends.pop(index, None)
        if end is None:
            self._add(index, start[0], 0.0, start[4])
        else:
            self._note_end(index, end)
            observation, info = _one_after(end, start)
            self._add(index, observation, end[1], info)

    def _note_end(self, index: int, row: Row) -> None:
        self._answer.ended.append((index, bool(row[2]), bool(row[3])))

    def _add(self, index: int, observation: Observation, reward: float, info: Any) -> None:
        answer = self._answer
        answer.indices.append(index)  # type: ignore[attr-defined]  # here it is a list
        answer.observations.append(observation)
        answer.rewards.append(reward)
        answer.infos.append(info)

    def _row(self, slot: int, outcome: Outcome) -> Row:
        if type(outcome) is Failure:
            return _failed(outcome)
        try:
            _refuse_reward(outcome[1])
        except Exception as error:  # noqa: BLE001 - a reward may be any object
            self.host.give_up(slot)
            return _failed(Failure.of(error))
        row: Row = outcome
        return row

    def _stepped_here(
        self,
        host: InThreadHost,
        indices: Sequence[int],
        actions: Sequence[str],
        seeds: Sequence[int] | None,
    ) -> Answer:
        """Step in this thread, without a command and an outcome for each (benchmarks/overhead.py).

        The slots of such a host are numbered as they are opened, as the indices are.
        """
        step_now = host.step_now
        ends: dict[int, tuple[bool, bool]] = {}  # by position
        answer = Answer(indices, [], [], [], [], [])
        _, observations, rewards, infos, *_ = answer
        # A row is taken apart at once: rows that were kept would let the garbage collector in.
        for index, action in zip(indices, actions, strict=True):
            try:
                observation, reward, terminated, truncated, info = step_now[index](action)
            except FAULTS as error:
                observation, reward, terminated, truncated, info = self._lose(index, error)
            if terminated or truncated:
                ends[len(rewards)] = bool(terminated), bool(truncated)
            observations.append(observation)
            rewards.append(reward)
            infos.append(info)
        if not _are_finite(rewards):
            self._refuse_rewards(answer, ends)
        if ends:
            self._follow(host, answer, ends, seeds)
        return answer

    def _lose(self, index: int, error: BaseException) -> Row:
        self.host.give_up(index)
        return _failed(Failure.of(error))

    def _refuse_rewards(self, answer: Answer, ends: dict[int, tuple[bool, bool]]) -> None:
        """Let each whose reward is not a finite number have failed."""
        for at, (index, reward) in enumerate(zip(answer.indices, answer.rewards, strict=True)):
            try:
                _refuse_reward(reward)
            except Exception as error:  # noqa: BLE001 - a reward may be any object
                row = self._lose(index, error)
                answer.observations[at], answer.rewards[at], *_, answer.infos[at] = row
                ends[at] = False, True

    def _follow(
        self,
        host: InThreadHost,
        answer: Answer,
        ends: Mapping[int, tuple[bool, bool]],
        seeds: Sequence[int] | None,
    ) -> None:
        """Where an episode ended, by position, let the next one begin if there are seeds."""
        for at, flags in ends.items():
            index = answer.indices[at]
            answer.ended.append((index, *flags))
            if seeds is None:
                answer.idle.append(index)
                continue
            end = answer.observations[at], answer.rewards[at], *flags, answer.infos[at]
            start = _start_of(host.local.do((RESET, index, seeds[at], {}, 0)))
            answer.observations[at], answer.infos[at] = _one_after(end, start)
            if start[3]:
                answer.idle.append(index)


def _no_answer() -> Answer:
    return Answer([], [], [], [], [], [])


def _start_of(outcome: Outcome) -> Row:
    if type(outcome) is Failure:
        return _failed(outcome)
    return outcome[0], 0.0, False, False, outcome[1]


def _failed(failure: Failure) -> Row:
    return "", 0.0, False, True, failure.info


def _one_after(end: Row, start: Row) -> tuple[Observation, dict[str, Any]]:
    """Return the first observation and info of an episode that follows another's end."""
    return start[0], {**start[4], "final_observation": end[0], "final_info": end[4]}


def _refuse_reward(reward: Any) -> None:
    """Raise unless a reward is a finite number."""
    if not isfinite(reward):
        raise ValueError(f"step returned the reward {reward!r}, not a finite one")


def _are_finite(rewards: Sequence[float]) -> bool:
    try:
        return isfinite(fsum(rewards))
    except Exception:  # noqa: BLE001 - a reward may be any object; each is looked at by itself
        return False
