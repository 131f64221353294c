"""Environments by the number of their slot, and what is done with them.

Knows nothing about threads and processes: whoever holds them calls `do`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from gem._python.seeding import stream
from gem.env._env import Env
from gem.hosting._failure import Failure
from gem.hosting._messages import ASK, DROP, MAKE, RESET, STEP, Command
from gem.hosting._port import MakesEnv, Outcome

__all__ = ["FAULTS", "SlotEnvs"]

FAULTS: tuple[type[BaseException], ...] = (Exception, SystemExit)
"""What an environment raises costs its episode. An interrupt is meant for the caller's thread."""

_DESCRIPTION = (
    "rewrites_history",
    "prompt_is_finished",
    "max_turns",
    "num_tasks",
    "seats",
    "single_turn",
    "reward_range",
)


class SlotEnvs:
    """Environments by slot. What is among `faults` costs the episode of who raised it.

    The slots are independent of each other: each may be used from a thread of its own.
    """

    def __init__(self, faults: tuple[type[BaseException], ...] = FAULTS) -> None:
        self.envs: dict[int, Env] = {}
        self.steps: dict[int, Callable[[str], Any]] = {}
        self._faults = faults
        self._makers: dict[int, MakesEnv] = {}
        self._failures: dict[int, Failure] = {}
        self._methods: dict[int, Callable[..., Outcome]] = {
            STEP: self._step,
            RESET: self._reset,
            MAKE: self._make,
            ASK: self._ask,
            DROP: self._drop,
        }

    def open(self, slot: int, recipe: MakesEnv) -> None:
        """Say what makes a slot's environment."""
        self._makers[slot] = recipe

    def do(self, command: Command) -> Outcome:
        """Do one command and return its outcome."""
        try:
            return self._methods[command[0]](*command[1:])
        except self._faults as error:
            failure = Failure.of(error)
            if command[0] == ASK:  # it cannot help the policy, and is well all the same
                return failure
            return self.fail(command[1], failure)

    def fail(self, slot: int, failure: Failure) -> Failure:
        """Give an environment up; every command but a reset of its slot has this outcome."""
        # Before it is closed, which may raise what is not suppressed: it has failed all the same.
        self._failures[slot] = failure
        self.steps.pop(slot, None)
        env = self.envs.pop(slot, None)
        if env is not None:
            with suppress(Exception):  # it failed already: why is on record
                env.close()
        return failure

    def close(self) -> list[str]:
        """Close every environment. Return what went wrong."""
        failures = [self.do((DROP, slot)) for slot in list(self.envs)]
        return [failure.text for failure in failures if failure is not None]

    def _put(self, slot: int) -> Env:
        """Make the slot's environment anew."""
        env = self._makers[slot]()
        # Only now, or a slot whose environment cannot be made would forget why.
        self._failures.pop(slot, None)
        self.envs[slot] = env
        self.steps[slot] = env.step
        return env

    def _make(self, slot: int) -> Outcome:
        env = self._put(slot)
        description = {name: getattr(env, name) for name in _DESCRIPTION}
        return {"spec": env.spec, **description, "tools": list(env.tools)}

    def _reset(self, slot: int, seed: int, options: dict[str, Any], repeat: int) -> Outcome:
        env = self.envs.get(slot)
        if env is None:
            env = self._put(slot)
        observation, info = env.reset(seed=seed, **options)
        resample(env, seed, repeat)
        return observation, info, [env.shown_to(seat) for seat in range(len(env.seats))]

    def _step(self, slot: int, action: Any) -> Outcome:
        step = self.steps.get(slot)
        if step is None:
            return self._failures[slot]
        return tuple(step(action))

    def _ask(self, slot: int, method: str, seat: int = 0) -> Outcome:
        env = self.envs.get(slot)
        return self._failures[slot] if env is None else env.hint(method, seat)

    def _drop(self, slot: int) -> Outcome:
        self._makers.pop(slot, None)
        self._failures.pop(slot, None)
        self.steps.pop(slot, None)
        env = self.envs.pop(slot, None)
        if env is not None:
            env.close()


def resample(env: Env, seed: int, repeat: int) -> None:
    """Let a repeat, another try of the same episode, sample other actions than the first."""
    if repeat:
        env.unwrapped.sample_rng = stream("sample", seed, repeat)
