"""A vector whose environments are stepped one after the other, in the caller's thread."""

from __future__ import annotations

import operator
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from random import SystemRandom
from typing import Any, get_args

import numpy as np

from gem.content import Observation
from gem.env import Env
from gem.errors import BadArguments, EnvClosed, ResetNeeded
from gem.seeding import episode_seed
from gem.specs import EnvSpec
from gem.vector.base import AutoReset, VectorEnv, VectorStep

__all__ = ["SyncVectorEnv"]

_INF = float("inf")

Started = tuple[Observation, dict[str, Any]]


class SyncVectorEnv(VectorEnv):
    """Step environments in turn. Each of `makers` is called for one, and again if that one fails.

    Raises BadArguments where there is none, and what a maker raises the first time.
    """

    def __init__(
        self,
        makers: Sequence[Callable[[], Env]],
        *,
        autoreset: AutoReset = "same_step",
        seed: int | None = None,
    ) -> None:
        _check(makers, autoreset)
        self.num_envs = len(makers)
        self.autoreset = autoreset
        self._run_seed = SystemRandom().getrandbits(63) if seed is None else _checked_seed(seed)
        self._makers = tuple(makers)
        self._envs = _made(makers)
        self._steps = [env.step for env in self._envs]
        self._episodes = [0] * self.num_envs
        self._waits = set(range(self.num_envs))  # without an episode: never reset, or ended
        self._lost: set[int] = set()  # failed, to be made anew before the next episode
        self._untouched = set(self._waits)  # never reset
        self._is_closed = False

    @property
    def envs(self) -> tuple[Env, ...]:
        """The environments, in order. One that fails is replaced at its next reset."""
        return tuple(self._envs)

    @property
    def specs(self) -> tuple[EnvSpec | None, ...]:
        return tuple(env.spec for env in self._envs)

    def reset(
        self, seed: int | None = None, *, indices: Iterable[int] | None = None
    ) -> tuple[list[Observation], list[dict[str, Any]]]:
        self._refuse_if_closed("reset")
        if seed is not None:
            if indices is not None:
                raise BadArguments(
                    f"reset was given seed={seed!r} together with indices. A seed restarts every "
                    "environment: give one of the two.",
                    subject="reset",
                )
            self._run_seed, self._episodes = _checked_seed(seed), [0] * self.num_envs
        chosen = self._checked(range(self.num_envs) if indices is None else indices)
        started = [self._begin(index) for index in chosen]
        return [observation for observation, _ in started], [info for _, info in started]

    def step(self, actions: Sequence[str] | Mapping[int, str]) -> VectorStep:
        chosen, given = self._paired(actions)
        number = len(given)
        observations: list[Observation] = []
        infos: list[dict[str, Any]] = []
        rewards = np.zeros(number)
        terminated, truncated = np.zeros(number, np.bool_), np.zeros(number, np.bool_)
        steps, waits = self._steps, self._waits
        for position, (index, action) in enumerate(zip(chosen, given, strict=True)):
            if waits and index in waits:
                observation, info = self._begin(index)
                truncated[position] = index in waits
            else:
                try:
                    observation, reward, has_ended, is_cut, info = steps[index](action)
                    if not -_INF < reward < _INF:
                        raise ValueError(f"step returned the reward {reward!r}, not a finite one")
                    rewards[position] = reward
                except (Exception, SystemExit) as error:  # noqa: BLE001 - costs one episode
                    has_ended, is_cut = False, True
                    observation, info = self._fail(index, error)
                if has_ended or is_cut:
                    terminated[position], truncated[position] = bool(has_ended), bool(is_cut)
                    observation, info = self._end(index, observation, info)
            observations.append(observation)
            infos.append(info)
        return VectorStep(observations, rewards, terminated, truncated, infos)

    def close(self) -> None:
        self._is_closed = True
        with ExitStack() as stack:
            for env in reversed(self._envs):
                stack.callback(env.close)

    def _paired(
        self, actions: Sequence[str] | Mapping[int, str]
    ) -> tuple[Sequence[int], Sequence[str]]:
        """Return the indices and their actions. Raises before any environment is stepped."""
        self._refuse_if_closed("step")
        chosen: Sequence[int] = range(self.num_envs)
        if isinstance(actions, Mapping):
            chosen, actions = self._checked(actions), list(actions.values())
        elif isinstance(actions, str) or len(actions) != self.num_envs:
            what = "one text" if isinstance(actions, str) else f"{len(actions)} actions"
            raise BadArguments(
                f"step was given {what} for {self.num_envs} environments. Give a list with an "
                "action for each, or {index: action} for some.",
                subject="step",
            )
        self._refuse_if_waiting(chosen)
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
        return chosen

    def _refuse_if_waiting(self, chosen: Sequence[int]) -> None:
        if self._untouched and not self._untouched.isdisjoint(chosen):
            raise ResetNeeded(
                "step was called before the first reset. Call reset() to start the episodes."
            )
        ended = sorted(self._waits.intersection(chosen)) if self._waits else []
        if ended and self.autoreset == "off":
            raise ResetNeeded(
                f"step was called for {ended}, whose episodes ended, with autoreset='off'. Leave "
                "them out of {index: action}, or call reset(indices=...)."
            )

    def _refuse_if_closed(self, method: str) -> None:
        if self._is_closed:
            raise EnvClosed(f"{method} was called after close. Make another vector.")

    def _begin(self, index: int) -> Started:
        """Start the next episode; one that fails to start leaves the environment waiting."""
        self._waits.add(index)
        self._untouched.discard(index)
        seed = episode_seed(self._run_seed, index, self._episodes[index])
        self._episodes[index] += 1
        try:
            if index in self._lost:
                self._replace(index)
            started = self._envs[index].reset(seed=seed)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - costs one episode
            return self._fail(index, error)
        self._waits.discard(index)
        return started

    def _end(self, index: int, observation: Observation, info: dict[str, Any]) -> Started:
        """Do what autoreset says after an episode's end."""
        if self.autoreset != "same_step":
            self._waits.add(index)
            return observation, info
        first, first_info = self._begin(index)
        return first, {**first_info, "final_observation": observation, "final_info": info}

    def _fail(self, index: int, error: BaseException) -> Started:
        """Give an environment up and return what stands for its answer."""
        self._lost.add(index)
        text = "".join(traceback.format_exception_only(type(error), error)).strip()
        return "", {"stop_reason": "env_error", "error": text}

    def _replace(self, index: int) -> None:
        try:
            self._envs[index].close()
        except Exception as error:  # noqa: BLE001 - it failed already: another one takes its place
            warnings.warn(f"Closing environment {index} failed: {error!r}", RuntimeWarning, 2)
        env = self._makers[index]()
        self._envs[index], self._steps[index] = env, env.step
        self._lost.discard(index)


def _check(makers: Sequence[Callable[[], Env]], autoreset: str) -> None:
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
    if isinstance(seed, bool) or not hasattr(type(seed), "__index__"):
        raise BadArguments(
            f"A vector was given seed={seed!r}. A seed is an int, or None.", subject="seed"
        )
    return operator.index(seed)


def _made(makers: Sequence[Callable[[], Env]]) -> list[Env]:
    """Make every environment, or none: those made before a failure are closed."""
    with ExitStack() as stack:
        envs = []
        for make in makers:
            envs.append(make())
            stack.callback(envs[-1].close)
        stack.pop_all()
    return envs
