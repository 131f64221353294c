"""The environments of one worker process, whose episodes can be brought back in another one."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import partial
from time import monotonic
from typing import Any

from gem._python.places import text_with_place
from gem.env._env import Env
from gem.env._snapshot import Snapshot, decode, encode
from gem.hosting._failure import Failure
from gem.hosting._heartbeat import REVIVING, SINCE, Heartbeat
from gem.hosting._messages import (
    DONE,
    REVIVE,
    SAVE,
    SAVED,
    Answer,
    Command,
    EpisodeSoFar,
    unpack_action,
)
from gem.hosting._port import Outcome
from gem.hosting._slot_envs import FAULTS, SlotEnvs
from gem.registry._making import make

__all__ = ["WorkerEnvs"]


class WorkerEnvs(SlotEnvs):
    """Environments by slot. Writes into the heartbeat what takes long.

    A MAKE comes with the recipe, as data, and so does the RESET of an environment that must be
    made anew.
    """

    def __init__(self, heartbeat: Heartbeat) -> None:
        super().__init__()
        self._heartbeat = heartbeat.cells
        self._methods[SAVE] = self._save
        self._methods[REVIVE] = self._revive

    def answer(self, command: Command) -> Answer:
        """Do one command. Whatever an environment raises but MemoryError is an answer too."""
        kind = command[0]
        try:
            outcome = self._methods[kind](*command[1:])
        except MemoryError:  # another process has more: this one ends
            raise
        except FAULTS as error:
            return self.fail_with(command[1], "env_error", text_with_place(error))
        if kind in (SAVE, REVIVE):
            answer: Answer = outcome
            return answer
        return DONE, outcome

    def fail_with(self, slot: int, reason: Any, text: str) -> Answer:
        """Give an environment up; every command but a reset of its slot gets this answer."""
        return DONE, self.fail(slot, Failure(reason, text))

    def _step(self, slot: int, action: Any) -> Outcome:
        return super()._step(slot, unpack_action(action))

    def _save(self, slot: int, action: Any) -> Answer:
        """Take a step, and a snapshot after it."""
        outcome = self._step(slot, action)
        if type(outcome) is Failure:
            return DONE, outcome
        return SAVED, outcome, _saved(self.envs[slot])

    def _make(self, slot: int, recipe: Any = None) -> Outcome:
        self._renew(slot, recipe)
        description = super()._make(slot)
        spec = description["spec"]
        # As JSON, which leaves out what is of this process alone.
        text = None if spec is None else json.dumps(spec.model_dump(mode="json"))
        return {**description, "spec": text}

    def _renew(self, slot: int, recipe: Any) -> None:
        """Give up what the slot holds, and note what makes the next one."""
        # Closed before the next is made: both may want the same file, port or memory.
        self.fail(slot, Failure("env_error", ""))
        spec, wrappers, kwargs = recipe
        self.open(slot, partial(make, spec, wrappers=wrappers, **kwargs))

    def _put(self, slot: int) -> Env:
        self._heartbeat[SINCE] = math.inf  # making has no deadline: it may load what all share
        env = super()._put(slot)
        self._heartbeat[SINCE] = monotonic()  # what follows in the same command has one again
        return env

    def _reset(
        self, slot: int, seed: int, options: dict[str, Any], repeat: int, recipe: Any = None
    ) -> Outcome:
        if recipe is not None:
            self._renew(slot, recipe)
        return super()._reset(slot, seed, options, repeat)

    def _revive(self, slot: int, recipe: Any, so_far: Sequence[Any], command: Command) -> Answer:
        """Bring an episode back to where it was in a worker that was lost, then go on."""
        # While this stands, a call that is stopped is told as "worker_lost": it is not the step's.
        self._heartbeat[REVIVING] = 1
        try:
            self._replay(slot, recipe, EpisodeSoFar(*so_far))
        except MemoryError:
            raise
        except FAULTS as error:
            self.fail_with(slot, "worker_lost", f"Restoring it failed: {text_with_place(error)}")
        self._heartbeat[REVIVING] = 0
        return self.answer(command)

    def _replay(self, slot: int, recipe: Any, so_far: EpisodeSoFar) -> None:
        observation = None
        if so_far.snapshot is None:
            assert so_far.start is not None
            seed, options, repeat = so_far.start
            observation = self._reset(slot, seed, options, repeat, recipe)[0]
        else:
            self._renew(slot, recipe)
            _restore(self._put(slot), so_far.snapshot)
        env = self.envs[slot]
        for action in so_far.actions:
            self._heartbeat[SINCE] = monotonic()  # each has the time of a step
            if type(action) is int:
                env.hint("sample_action", action)
            else:
                observation = env.step(unpack_action(action)).observation
        if isinstance(observation, str) and so_far.last_observation not in (None, observation):
            raise RuntimeError("the same seed and actions led to another observation")


def _saved(env: Env) -> tuple[str, Any] | None:
    """Return a snapshot, with the stream of samples that one leaves out; None if it has none."""
    try:
        snapshot = env.snapshot().to_json()
    except Exception:  # noqa: BLE001 - mostly a SnapshotError: it is replayed from its start
        return None
    sampler = env.unwrapped._sampler
    return snapshot, sampler and encode([("sampler", sampler)])


def _restore(env: Env, saved: tuple[str, Any]) -> None:
    snapshot, sampler = saved
    env.restore(Snapshot.from_json(snapshot))
    if sampler is not None:
        env.unwrapped.sample_rng = decode(sampler)["sampler"]
