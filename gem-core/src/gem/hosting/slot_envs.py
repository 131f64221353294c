"""The environments of one worker, and what is done with them. Knows nothing about processes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from gem.env import Env
from gem.errors import text_of
from gem.hosting.heartbeat import REVIVING, SINCE, Heartbeat
from gem.hosting.messages import (
    ASK,
    DONE,
    DROP,
    FAILED,
    MAKE,
    RESET,
    REVIVE,
    SAVE,
    SAVED,
    STEP,
    Answer,
    Command,
    unpack_action,
)
from gem.making import make
from gem.seeding import stream
from gem.snapshot import Snapshot, decode, encode

__all__ = ["SlotEnvs"]


class SlotEnvs:
    """Environments by the number of their slot. Writes into the heartbeat what takes long."""

    def __init__(self, heartbeat: Heartbeat) -> None:
        self._heartbeat = heartbeat.cells
        self._envs: dict[int, Env] = {}
        self._steps: dict[int, Any] = {}
        self._failures: dict[int, Answer] = {}
        self._doing: dict[int, Callable[..., Answer]] = {
            STEP: self._step,
            SAVE: self._save,
            RESET: self._reset,
            MAKE: self._make,
            ASK: self._ask,
            DROP: self._drop,
            REVIVE: self._revive,
        }

    def do(self, command: Command) -> Answer:
        """Do one command. Whatever an environment raises but MemoryError is an answer too."""
        try:
            return self._doing[command[0]](*command[1:])
        except MemoryError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - costs one episode
            return self.fail(command[1], "env_error", text_of(error))

    def fail(self, slot: int, reason: str, text: str) -> Answer:
        """Give an environment up; every command but a reset of its slot gets this answer."""
        self._failures[slot] = FAILED, reason, text
        self._steps.pop(slot, None)
        env = self._envs.pop(slot, None)
        if env is not None:
            with suppress(Exception):  # it failed already: why is on record
                env.close()
        return self._failures[slot]

    def close(self) -> list[str]:
        """Close every environment. Return what went wrong."""
        texts = []
        for slot in list(self._envs):
            _, *failed = self._drop(slot)
            texts += failed[1:]
        return texts

    def _step(self, slot: int, action: Any) -> Answer:
        step = self._steps.get(slot)
        if step is None:
            return self._failures[slot]
        return DONE, tuple(step(action if type(action) is str else unpack_action(action)))

    def _save(self, slot: int, action: Any) -> Answer:
        answer = self._step(slot, action)
        if answer[0] != DONE:
            return answer
        return SAVED, answer[1], _saved(self._envs[slot])

    def _make(self, slot: int, recipe: Any) -> Answer:
        env = self._put(slot, recipe)
        spec = env.spec.model_dump(mode="json") if env.spec else None
        told = {name: getattr(env, name) for name in _TOLD}
        return DONE, {"spec": spec, **told, "tools": list(env.tools)}

    def _put(self, slot: int, recipe: Any) -> Env:
        """Make the slot's environment anew."""
        self.fail(slot, "env_error", "")
        spec, wrappers, kwargs = recipe
        self._heartbeat[SINCE] = math.inf  # making has no deadline: it may load what all share
        env = make(spec, wrappers=wrappers, **kwargs)
        self._heartbeat[SINCE] = monotonic()
        del self._failures[slot]
        self._envs[slot], self._steps[slot] = env, env.step
        return env

    def _reset(
        self, slot: int, seed: int, options: dict[str, Any], repeat: int, recipe: Any = None
    ) -> Answer:
        env = self._envs[slot] if recipe is None else self._put(slot, recipe)
        observation, info = env.reset(seed=seed, **options)
        if repeat:  # another try of the same episode: what is sampled differs
            env.unwrapped.sample_rng = stream("sample", seed, repeat)
        shown = env.rewrites_history, env.prompt_is_finished, list(env.tools)
        return DONE, (observation, info, shown)

    def _ask(self, slot: int, method: str) -> Answer:
        env = self._envs.get(slot)
        return self._failures[slot] if env is None else (DONE, getattr(env, method)())

    def _drop(self, slot: int) -> Answer:
        self._steps.pop(slot, None)
        self._failures.pop(slot, None)
        env = self._envs.pop(slot, None)
        try:
            if env is not None:
                env.close()
        except Exception as error:  # noqa: BLE001 - it is gone, and nothing else may be lost by it
            return FAILED, "env_error", text_of(error)
        return DONE, None

    def _revive(
        self,
        slot: int,
        recipe: Any,
        start: Sequence[Any],
        saved: Any,
        actions: Sequence[Any],
        last: str | None,
        command: Command,
    ) -> Answer:
        """Bring an episode back to where it was in a worker that was lost, then go on."""
        self._heartbeat[REVIVING] = 1
        try:
            self._replay(slot, recipe, start, saved, actions, last)
        except MemoryError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - costs one episode
            self.fail(slot, "worker_lost", f"Restoring it failed: {text_of(error)}")
        self._heartbeat[REVIVING] = 0
        return self.do(command)

    def _replay(
        self,
        slot: int,
        recipe: Any,
        start: Sequence[Any],
        saved: Any,
        actions: Sequence[Any],
        last: str | None,
    ) -> None:
        shown = None
        if saved is None:
            seed, options, repeat = start
            shown = self._reset(slot, seed, options, repeat, recipe)[1][0]
        else:
            _restore(self._put(slot, recipe), saved)
        env = self._envs[slot]
        for action in actions:
            self._heartbeat[SINCE] = monotonic()
            if action is None:
                env.sample_action()
            else:
                shown = env.step(unpack_action(action)).observation
        if isinstance(shown, str) and last not in (None, shown):
            raise RuntimeError("the same seed and actions led to another observation")


_TOLD = (
    "rewrites_history",
    "prompt_is_finished",
    "max_turns",
    "num_tasks",
    "single_turn",
    "reward_range",
)


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
