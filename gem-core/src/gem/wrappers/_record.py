"""`record`: every finished episode goes to a log, also where an environment is driven by hand."""

from __future__ import annotations

import json
import math
import threading
import time
from dataclasses import replace
from typing import Any

from gem._python.seeding import key_seed
from gem.content import (
    Action,
    Observation,
    normalise_text,
    observation_from_json,
    observation_to_json,
)
from gem.env._env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.episode._episode import Episode, is_success
from gem.episode._log import EpisodeLog
from gem.episode._turn import Turn
from gem.registry._catalogue import versions
from gem.wrappers._seated_record import seated_fields, shown_text

__all__ = ["Record"]

_writing = threading.Lock()


class Record(Wrapper, both_forms=True):  # both forms of reset choose the seed
    """Append each episode to the JSON lines at `path` as soon as it terminates or is truncated.

    An episode that is abandoned, by a reset, a close or an error, is not written. The record is
    of the environment inside this layer: that is what a replay makes again. A `reset()` without
    a seed draws one from the environment's own stream, so that every record has the seed which
    replays it. The file is locked only while an episode is written: any number of environments
    of a process can share it. Raises LogError at once where `path` cannot be written.
    """

    all_seats = True
    shared = ("_began_s",)

    def __init__(self, env: Env, path: str, *, policy: str = "by hand") -> None:
        super().__init__(env)
        EpisodeLog(path).close()  # it raises here, and not after the first whole episode
        self._path = path
        self._policy = policy
        self._began_s = time.monotonic()
        self._written = 0
        self._seed = 0
        self._task: int | None = None
        # JSON text: a list that an observation or an info shares with the environment would
        # otherwise stand in the way of a snapshot.
        self._turns: list[str] = []
        self._seen = ""  # the observation and the suffix before the next action, as JSON text too
        self._shown: list[str] = []  # of several seats instead, for the reset and each turn

    def reset(self, seed: int | None = None, **options: Any) -> tuple[Observation, dict[str, Any]]:
        self._task = options.get("task")
        return super().reset(seed=self._chosen_seed(seed), **options)

    async def areset(
        self, seed: int | None = None, **options: Any
    ) -> tuple[Observation, dict[str, Any]]:
        self._task = options.get("task")
        return await super().areset(seed=self._chosen_seed(seed), **options)

    def _chosen_seed(self, seed: int | None) -> int | None:
        """Return the seed to reset with; one of its own choice where nobody gave one."""
        base = self.unwrapped
        # `_first_seed` is what `make` was given: the base takes it where reset gets none.
        if seed is not None or base._first_seed is not None:
            return seed
        return key_seed("record", base.rng.getrandbits(64))

    def on_reset(
        self, observation: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        self._began_s = time.monotonic()
        seed = self.unwrapped._episode_seed
        assert seed is not None, "reset was given one"
        self._seed = seed
        self._turns = []
        self._shown = []
        self._remember(Step(observation, info=info))
        return observation, info

    def on_action(self, action: str) -> str:
        # The environment sees what a record can hold, so that a replay gives it the same.
        text = normalise_text(action)
        if not isinstance(action, Action):
            return Action(text)
        return Action(text, tool_calls=action.tool_calls, tool_results=action.tool_results)

    def on_step(self, action: str, step: Step) -> Step:
        self._turns.append(json.dumps(self._turn(action, step).to_json()))
        self._remember(step)
        if step.terminated or step.truncated:
            self._write(step)
        return step

    def _remember(self, step: Step) -> None:
        if len(self.env.seats) > 1:
            self._shown.append(shown_text(step))
        self._seen = json.dumps([observation_to_json(step.observation), step.info.get("suffix")])

    def _turn(self, action: str, step: Step) -> Turn:
        observation, suffix = json.loads(self._seen)
        turn = Turn(
            observation=observation_from_json(observation),
            action=normalise_text(action),
            reward=0.0,
            terminated=False,
            truncated=False,
            suffix=suffix,
            tool_calls=action.tool_calls if isinstance(action, Action) else (),
        )
        return turn.answered(step, seats=len(self.env.seats))

    def _write(self, step: Step) -> None:
        episode = self._episode(step)
        # A log refuses a second writer of this process too, so they take turns.
        with _writing, EpisodeLog(self._path) as log:
            log.append(episode)
        self._written += 1

    def _episode(self, step: Step) -> Episode:
        spec = self.env.spec
        base = type(self.unwrapped)
        turns = tuple(Turn.from_json(json.loads(turn)) for turn in self._turns)
        total = math.fsum(turn.reward for turn in turns)
        env_id = spec.id if spec else f"{base.__module__}:{base.__qualname__}"
        layers = spec.wrappers if spec else ()
        episode = Episode(
            env_id=env_id,
            env_kwargs=dict(spec.kwargs) if spec else {},
            wrappers=tuple({"id": ref.id, "kwargs": dict(ref.kwargs)} for ref in layers),
            env_index=0,
            episode_index=self._written,
            repeat=0,
            seed=self._seed,
            task=self._task,
            policy=self._policy,
            turns=turns,
            final_observation=step.observation,
            total_reward=total,
            terminated=bool(step.terminated),
            truncated=bool(step.truncated),
            stop_reason="terminated" if step.terminated else "truncated",
            error=None,
            success=is_success(step.info, total, spec),
            versions=versions(env_id),
            duration_s=time.monotonic() - self._began_s,
            rewrites_history=self.env.rewrites_history,
        )
        return episode if len(self.env.seats) == 1 else self._seated(episode)

    def _seated(self, episode: Episode) -> Episode:
        """Return the record with what it has of several seats."""
        names = self.env.seats
        fields = seated_fields(
            names,
            self._shown,
            episode.turns,
            policy=self._policy,
            spec=self.env.spec,
            is_terminated=episode.terminated,
            rewrites=[self.env.shown_to(seat)[0] for seat in range(len(names))],
        )
        return replace(episode, **fields)
