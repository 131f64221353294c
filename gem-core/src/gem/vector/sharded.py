"""The rules of a vector: seeds, who waits for a reset, autoreset, checks. Knows no threads.

Where the environments live is a `Workers`' business: what a vector asks of it are commands, and
what comes back are answers (`gem.vector.shard`).
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from random import SystemRandom
from typing import Any, Protocol, get_args

import numpy as np

from gem.content import Observation
from gem.errors import BadArguments, EnvBusy, EnvClosed, EnvUsageError, ResetNeeded
from gem.quantities import check_count, check_seed, check_timeout
from gem.seeding import seeds_under
from gem.specs import EnvSpec
from gem.vector.base import AutoReset, IndexedStep, VectorEnv, VectorStep
from gem.vector.shard import Command, Maker, ShardAnswer

__all__ = ["ShardedVectorEnv", "Workers"]

Actions = Sequence[str] | Mapping[int, str]


class Workers(Protocol):
    """Where the environments of a vector live, and what carries its commands out.

    Every environment is in at most one command at a time. An answer may cover part of a command.
    """

    @property
    def specs(self) -> Sequence[EnvSpec | None]:
        """Each environment's spec, its wrappers included."""

    @property
    def in_flight(self) -> Collection[int]:
        """Environments whose command was taken on, and whose answer was not yet given back."""

    def submit(self, command: Command) -> None:
        """Take a command on. Never waits for an environment."""

    def gather(self, number: int, timeout_s: float | None) -> list[ShardAnswer]:
        """Give back the answers for at least so many environments; fewer at the timeout.

        An interrupt loses no answer: a later call gives it back.
        """

    def close(self) -> None:
        """Close every environment and end what works for them, also where closing one raises."""


class ShardedVectorEnv(VectorEnv):
    """A vector over whatever `employ(makers)` returns; a backend subclasses it to say what.

    Each of `makers` is called for one environment, and again if that one fails. Raises
    BadArguments where there is none, and what a maker raises the first time.
    """

    def __init__(
        self,
        makers: Sequence[Maker],
        employ: Callable[[Sequence[Maker]], Workers],
        *,
        autoreset: AutoReset,
        seed: int | None,
    ) -> None:
        _check(makers, autoreset)
        self.num_envs = len(makers)
        self.autoreset = autoreset
        self._run_seed = SystemRandom().getrandbits(63) if seed is None else _checked_seed(seed)
        self._workers = employ(tuple(makers))
        self._all = range(self.num_envs)
        self._waits = set(self._all)  # without an episode: never reset, or ended
        self._untouched = set(self._all)  # never reset
        self._is_closed = False
        self._count_from_0()

    def _count_from_0(self) -> None:
        self._episodes = [0] * self.num_envs  # the next one's number, and below its seed
        # `gem.seeding.episode_seed` of each, whose last key alone changes.
        self._seed_of = [seeds_under("episode", self._run_seed, index) for index in self._all]
        self._seeds = [seed_of(0) for seed_of in self._seed_of]

    @property
    def specs(self) -> tuple[EnvSpec | None, ...]:
        return tuple(self._workers.specs)

    def reset(
        self, seed: int | None = None, *, indices: Iterable[int] | None = None
    ) -> tuple[list[Observation], list[dict[str, Any]]]:
        self._refuse_unless_idle("reset")
        if seed is not None:
            if indices is not None:
                raise BadArguments(
                    f"reset was given seed={seed!r} together with indices. A seed restarts every "
                    "environment: give one of the two.",
                    subject="reset",
                )
            self._run_seed = _checked_seed(seed)
            self._count_from_0()
        chosen = self._all if indices is None else self._checked(indices)
        self._waits.update(chosen)
        self._workers.submit(self._reset_of(chosen))
        answer = _in_order(chosen, _joined(self._workers.gather(len(chosen), None)))
        self._untouched.difference_update(chosen)
        self._waits.difference_update(chosen)
        step = self._arranged(answer)
        return step.observations, step.infos

    def step(self, actions: Actions) -> VectorStep:
        self._refuse_unless_idle("step")
        chosen = self._submit("step", actions)
        answers = self._workers.gather(len(chosen), None)
        return self._arranged(_in_order(chosen, _joined(answers)))

    def send(self, actions: Actions) -> None:
        self._refuse_if_closed("send")
        self._submit("send", actions)

    def recv(self, min_ready: int = 1, timeout_s: float | None = None) -> IndexedStep:
        self._refuse_if_closed("recv")
        _check_recv(min_ready, timeout_s)
        in_flight = len(self._workers.in_flight)
        if not in_flight:
            raise EnvUsageError(
                "recv was called with nothing in flight: every action was answered, or none sent. "
                "Call send(actions) first."
            )
        answer = _joined(self._workers.gather(min(min_ready, in_flight), timeout_s))
        return IndexedStep(*self._arranged(answer), list(answer.indices))

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._workers.close()

    def _submit(self, method: str, actions: Actions) -> Sequence[int]:
        """Hand a step over, and a reset for those that wait for one. Returns all their indices."""
        chosen, given = self._paired(method, actions)
        waiting = self._waits.intersection(chosen) if self._waits else ()
        if waiting:
            self._waits.difference_update(waiting)
            self._workers.submit(self._reset_of([each for each in chosen if each in waiting]))
            pairs = [each for each in zip(chosen, given, strict=True) if each[0] not in waiting]
            self._submit_steps([index for index, _ in pairs], [action for _, action in pairs])
        else:
            self._submit_steps(chosen, given)
        return chosen

    def _submit_steps(self, indices: Sequence[int], actions: Sequence[str]) -> None:
        if indices:
            seeds = self._seeds_of(indices) if self.autoreset == "same_step" else None
            self._workers.submit(("step", indices, actions, seeds))

    def _reset_of(self, indices: Sequence[int]) -> Command:
        seeds = list(self._seeds_of(indices))
        for index in indices:
            self._begin(index)
        return "reset", indices, seeds

    def _seeds_of(self, indices: Sequence[int]) -> Sequence[int]:
        return self._seeds if indices is self._all else [self._seeds[each] for each in indices]

    def _begin(self, index: int) -> None:
        """Count an episode that begins."""
        self._episodes[index] += 1
        self._seeds[index] = self._seed_of[index](self._episodes[index])

    def _arranged(self, answer: ShardAnswer) -> VectorStep:
        """Return an answer's columns as a step, and take note of what ended."""
        number = len(answer.rewards)
        terminated, truncated = np.zeros(number, np.bool_), np.zeros(number, np.bool_)
        if answer.ended or answer.idle:
            place = _places(answer.indices)
            for index in answer.idle:
                self._waits.add(index)
                truncated[place[index]] = True
            for index, is_terminated, is_truncated in answer.ended:
                if self.autoreset == "same_step":
                    self._begin(index)
                terminated[place[index]], truncated[place[index]] = is_terminated, is_truncated
        for text in answer.warned:
            warnings.warn(text, RuntimeWarning, stacklevel=3)
        rewards = np.fromiter(answer.rewards, np.float64, number)
        return VectorStep(answer.observations, rewards, terminated, truncated, answer.infos)

    def _paired(self, method: str, actions: Actions) -> tuple[Sequence[int], Sequence[str]]:
        """Return the indices and their actions. Raises before any environment is stepped."""
        chosen: Sequence[int] = self._all
        if isinstance(actions, Mapping):
            chosen, actions = self._checked(actions), list(actions.values())
        elif isinstance(actions, str) or len(actions) != self.num_envs:
            what = "one text" if isinstance(actions, str) else f"{len(actions)} actions"
            raise BadArguments(
                f"{method} was given {what} for {self.num_envs} environments. Give a list with an "
                "action for each, or {index: action} for some.",
                subject=method,
            )
        self._refuse_if_in_flight(method, chosen)
        self._refuse_if_waiting(method, chosen)
        return chosen, actions

    def _checked(self, indices: Iterable[int]) -> list[int]:
        chosen = list(indices)
        for index in chosen:
            if isinstance(index, bool) or not hasattr(index, "__index__"):
                raise BadArguments(
                    f"An environment was named {index!r}. Name it by its index, an int.",
                    subject="indices",
                )
            if not 0 <= index < self.num_envs:
                raise BadArguments(
                    f"Environment {index} was named, and there are {self.num_envs}, from 0 on.",
                    subject="indices",
                )
        if len(set(chosen)) < len(chosen):
            raise BadArguments(
                f"The indices {chosen} name an environment twice. Name each once.",
                subject="indices",
            )
        return [operator.index(index) for index in chosen]

    def _refuse_if_in_flight(self, method: str, chosen: Sequence[int]) -> None:
        in_flight = self._workers.in_flight
        taken = sorted(set(in_flight).intersection(chosen)) if in_flight else []
        if taken:
            raise EnvBusy(
                f"{method} was called for {taken}, whose last actions are in flight. Call recv() "
                "until their results are there."
            )

    def _refuse_if_waiting(self, method: str, chosen: Sequence[int]) -> None:
        if self._untouched and not self._untouched.isdisjoint(chosen):
            raise ResetNeeded(
                f"{method} was called before the first reset. Call reset() to start the episodes."
            )
        ended = sorted(self._waits.intersection(chosen)) if self._waits else []
        if ended and self.autoreset == "off":
            raise ResetNeeded(
                f"{method} was called for {ended}, whose episodes ended, with autoreset='off'. "
                "Leave them out of {index: action}, or call reset(indices=...)."
            )

    def _refuse_unless_idle(self, method: str) -> None:
        self._refuse_if_closed(method)
        if self._workers.in_flight:
            number = len(self._workers.in_flight)
            raise EnvBusy(
                f"{method} was called with {number} actions in flight, whose results it would "
                f"mix with its own. Call recv(min_ready={number}) first."
            )

    def _refuse_if_closed(self, method: str) -> None:
        if self._is_closed:
            raise EnvClosed(f"{method} was called after close. Make another vector.")


def _joined(answers: Sequence[ShardAnswer]) -> ShardAnswer:
    """Return several answers as one."""
    if len(answers) == 1:
        return answers[0]
    columns = zip(*answers, strict=True) if answers else iter([()] * len(ShardAnswer._fields))
    return ShardAnswer(*(list(chain.from_iterable(column)) for column in columns))


def _in_order(indices: Sequence[int], answer: ShardAnswer) -> ShardAnswer:
    if answer.indices is indices:
        return answer
    place = _places(answer.indices)
    order = [place[index] for index in indices]
    return answer._replace(
        indices=indices,
        observations=[answer.observations[at] for at in order],
        rewards=[answer.rewards[at] for at in order],
        infos=[answer.infos[at] for at in order],
    )


def _places(indices: Sequence[int]) -> Mapping[int, int] | Sequence[int]:
    """Return what maps an index to its position."""
    if isinstance(indices, range) and indices.start == 0:
        return indices
    return {index: position for position, index in enumerate(indices)}


def _check(makers: Sequence[Maker], autoreset: str) -> None:
    if not makers:
        raise BadArguments(
            "A vector was asked for without environments. Give at least one.", subject="makers"
        )
    if autoreset not in get_args(AutoReset):
        raise BadArguments(
            f"A vector was asked for with autoreset={autoreset!r}. It is one of "
            f"{', '.join(map(repr, get_args(AutoReset)))}.",
            subject="autoreset",
        )


def _checked_seed(seed: int) -> int:
    check_seed("seed", seed)
    return operator.index(seed)


def _check_recv(min_ready: int, timeout_s: float | None) -> None:
    check_count("min_ready", min_ready)
    check_timeout("timeout_s", timeout_s, may_be_zero=True)
