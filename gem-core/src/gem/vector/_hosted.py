"""The rules of a vector: seeds, who waits for a reset, autoreset, checks. Knows no threads."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable, Mapping, Sequence
from random import SystemRandom
from typing import Any, get_args

import numpy as np

from gem._python.quantities import check_count, check_seed, check_timeout
from gem._python.seeding import seeds_under
from gem.content import Observation
from gem.errors import BadArguments, EnvBusy, EnvClosed, EnvUsageError, ResetNeeded
from gem.hosting._port import Host, MakesEnv
from gem.specs import EnvSpec
from gem.vector._base import AutoReset, IndexedStep, VectorEnv, VectorStep
from gem.vector._columns import Answer, Columns

__all__ = ["HostedVectorEnv"]

Actions = Sequence[str] | Mapping[int, str]


class HostedVectorEnv(VectorEnv):
    """A vector whose environments live in a host, which it closes in the end.

    Each of `recipes` is for one environment, and is used again if that one fails. Raises
    BadArguments where there is none, and what the making of one raises the first time.
    """

    def __init__(
        self,
        host: Host,
        recipes: Sequence[MakesEnv],
        *,
        autoreset: AutoReset = "same_step",
        seed: int | None = None,
    ) -> None:
        _check(recipes, autoreset)
        self.num_envs = len(recipes)
        self.autoreset = autoreset
        self._run_seed = SystemRandom().getrandbits(63) if seed is None else _checked_seed(seed)
        self._columns = Columns(host, recipes)
        self._all = range(self.num_envs)
        self._waits = set(self._all)  # without an episode: never reset, or ended
        self._untouched = set(self._all)  # never reset
        self._is_closed = False
        self._count_from_0()

    def _count_from_0(self) -> None:
        self._episodes = [0] * self.num_envs  # the next one's number, and below its seed
        # `gem._python.seeding.episode_seed` of each, whose last key alone changes.
        self._seed_of = [seeds_under("episode", self._run_seed, index) for index in self._all]
        self._seeds = [seed_of(0) for seed_of in self._seed_of]

    @property
    def specs(self) -> tuple[EnvSpec | None, ...]:
        return tuple(self._columns.specs)

    @property
    def host(self) -> Host:
        """Where the environments live."""
        return self._columns.host

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
        # Until they are there: an interrupt leaves them without an episode, not in an old one.
        self._waits.update(chosen)
        self._submit_resets(chosen)
        answer = _in_order(chosen, self._columns.gather(len(chosen), None))
        self._untouched.difference_update(chosen)
        self._waits.difference_update(chosen)
        step = self._arranged(answer)
        return step.observations, step.infos

    def step(self, actions: Actions) -> VectorStep:
        self._refuse_unless_idle("step")
        chosen, texts = self._paired("step", actions)
        if self._waits and not self._waits.isdisjoint(chosen):
            self._submit(chosen, texts)
            answer = self._columns.gather(len(chosen), None)
        else:
            answer = self._columns.step(chosen, texts, self._seeds_after(chosen))
        return self._arranged(_in_order(chosen, answer))

    def send(self, actions: Actions) -> None:
        self._refuse_if_closed("send")
        self._submit(*self._paired("send", actions))

    def recv(self, min_ready: int = 1, timeout_s: float | None = None) -> IndexedStep:
        self._refuse_if_closed("recv")
        check_count("min_ready", min_ready)
        check_timeout("timeout_s", timeout_s, may_be_zero=True)
        in_flight = len(self._columns.in_flight)
        if not in_flight:
            raise EnvUsageError(
                "recv was called with nothing in flight: every action was answered, or none sent. "
                "Call send(actions) first."
            )
        answer = self._columns.gather(min(min_ready, in_flight), timeout_s)
        return IndexedStep(*self._arranged(answer), list(answer.indices))

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._columns.close()
        late = list(self.host.left_behind)
        if late:
            warnings.warn(
                f"A vector was closed while calls of its environments {late} went on, long after "
                "they should have come back. Python cannot stop their threads: each ends with its "
                "call, or with the process.",
                RuntimeWarning,
                stacklevel=2,
            )

    def _submit(self, indices: Sequence[int], actions: Sequence[str]) -> None:
        """Hand a step over, and a reset for those that wait for one."""
        waiting = self._waits.intersection(indices)
        if waiting:
            self._waits.difference_update(waiting)
            self._submit_resets([index for index in indices if index in waiting])
            pairs = [pair for pair in zip(indices, actions, strict=True) if pair[0] not in waiting]
            indices = [index for index, _ in pairs]
            actions = [action for _, action in pairs]
        if indices:
            self._columns.submit_steps(indices, actions, self._seeds_after(indices))

    def _seeds_after(self, indices: Sequence[int]) -> Sequence[int] | None:
        """Return the seeds of the episodes that follow at once where one ends; None: none does."""
        return self._seeds_of(indices) if self.autoreset == "same_step" else None

    def _submit_resets(self, indices: Sequence[int]) -> None:
        seeds = list(self._seeds_of(indices))  # a copy: counting the episode changes the seed
        for index in indices:
            self._begin(index)
        self._columns.submit_resets(indices, seeds)

    def _seeds_of(self, indices: Sequence[int]) -> Sequence[int]:
        return self._seeds if indices is self._all else [self._seeds[index] for index in indices]

    def _begin(self, index: int) -> None:
        """Count an episode that begins."""
        self._episodes[index] += 1
        self._seeds[index] = self._seed_of[index](self._episodes[index])

    def _arranged(self, answer: Answer) -> VectorStep:
        """Return an answer's columns as a step, and take note of what ended."""
        number = len(answer.rewards)
        terminated = np.zeros(number, np.bool_)
        truncated = np.zeros(number, np.bool_)
        if answer.ended or answer.idle:
            place = _places(answer.indices)
            for index in answer.idle:
                self._waits.add(index)
                truncated[place[index]] = True
            for index, is_terminated, is_truncated in answer.ended:
                if self.autoreset == "same_step":
                    self._begin(index)
                terminated[place[index]] = is_terminated
                truncated[place[index]] = is_truncated
        rewards = np.fromiter(answer.rewards, np.float64, number)
        return VectorStep(answer.observations, rewards, terminated, truncated, answer.infos)

    def _paired(self, method: str, actions: Actions) -> tuple[Sequence[int], Sequence[str]]:
        """Return the indices and their actions. Raises before any environment is stepped."""
        chosen: Sequence[int] = self._all
        if isinstance(actions, Mapping):
            chosen = self._checked(actions)
            actions = list(actions.values())
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
        in_flight = self._columns.in_flight
        busy = sorted(set(in_flight).intersection(chosen)) if in_flight else []
        if busy:
            raise EnvBusy(
                f"{method} was called for {busy}, whose last actions are in flight. Call recv() "
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
        if self._columns.in_flight:
            number = len(self._columns.in_flight)
            raise EnvBusy(
                f"{method} was called with {number} actions in flight, whose results it would "
                f"mix with its own. Call recv(min_ready={number}) first."
            )

    def _refuse_if_closed(self, method: str) -> None:
        if self._is_closed:
            raise EnvClosed(f"{method} was called after close. Make another vector.")


def _in_order(indices: Sequence[int], answer: Answer) -> Answer:
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


def _check(recipes: Sequence[MakesEnv], autoreset: str) -> None:
    if not recipes:
        raise BadArguments(
            "A vector was asked for without environments. Give at least one.", subject="recipes"
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
