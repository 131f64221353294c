"""Compare the episodes of a log with the settings that are to be continued.

Knows nothing about run folders.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gem import make
from gem.episode import Episode
from gem.rollouts import PlannedEpisode, WrapperLike
from gem.specs import EnvSpec
from gem_eval.settings import Settings

__all__ = ["Expectations"]

_SHOWN = 120


class Expectations:
    """What the episodes of an evaluation have on record. Makes an environment once, when asked."""

    def __init__(
        self,
        settings: Settings,
        env_kwargs: Mapping[str, Any],
        wrappers: Sequence[WrapperLike],
    ) -> None:
        self._settings = settings
        self._env_kwargs = env_kwargs
        self._wrappers = wrappers
        self._stacks: dict[int, tuple[Any, Any]] = {}

    def conflict(self, episode: Episode, planned: PlannedEpisode) -> str | None:
        """Say in what an episode is none of these settings'; None where it fits them."""
        spec = self._settings.envs[planned.env_index]
        pairs = [
            ("the environment is", episode.env_id, spec.id),
            ("a seed is", episode.seed, planned.seed),
            ("a task is", episode.task, planned.task),
        ]
        if not episode.is_error:  # an error may come before there is an environment to record
            env_kwargs, wrappers = self._stack(planned.env_index, spec)
            pairs.append(("env_kwargs are", dict(episode.env_kwargs), env_kwargs))
            pairs.append(("the wrappers are", list(episode.wrappers), wrappers))
        for name, then, now in pairs:
            if then != now:
                return f"{name} {_short(then)} in its log and {_short(now)} in its run.json"
        return self._other_limit(episode)

    def _other_limit(self, episode: Episode) -> str | None:
        limit = self._settings.max_turns
        turns = len(episode.turns)
        is_too_long = limit is not None and turns > limit
        is_cut_elsewhere = episode.stop_reason == "max_turns" and turns != limit
        if is_too_long or is_cut_elsewhere:
            return f"there are {turns} turns in its log and max_turns is {limit} in its run.json"
        return None

    def _stack(self, env_index: int, spec: EnvSpec) -> tuple[Any, Any]:
        """Return the arguments and wrappers that a record has of this environment, as JSON data."""
        if env_index not in self._stacks:
            with make(spec, wrappers=self._wrappers, **self._env_kwargs) as env:
                made_spec = env.spec or spec
            wrappers = [{"id": ref.id, "kwargs": dict(ref.kwargs)} for ref in made_spec.wrappers]
            self._stacks[env_index] = (_plain(dict(made_spec.kwargs)), _plain(wrappers))
        return self._stacks[env_index]


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
