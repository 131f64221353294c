"""Run a recorded episode again and compare it step by step.

Knows nothing about policies: recorded actions are taken as they stand.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from gem.content import Action, Observation, observation_to_json
from gem.env._env import Env
from gem.episode._differences import Difference, ending_differences, field_differences
from gem.episode._episode import Episode, is_success
from gem.episode._seated_replay import SeatedReplay
from gem.episode._turn import Turn
from gem.errors import BadArguments, in_one_line
from gem.registry._catalogue import versions
from gem.registry._making import make, resolve
from gem.specs import WrapperRef

__all__ = [
    "ReplayReport",
    "changed_versions",
    "closed_at_end",
    "made_again",
    "replay",
]


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What came of one replay.

    "partial": all that was recorded reproduced, but an error ended the episode, and what led to
    it (a deadline, a lost worker, a policy) is not run again. `versions` has those that changed
    since, as (then, now).
    """

    episode: Episode
    state: Literal["same", "different", "partial"]
    difference: Difference | None
    turns_compared: int
    versions: Mapping[str, tuple[str | None, str | None]]


def replay(episode: Episode, *, live_tools: bool = False) -> ReplayReport:
    """Take the recorded actions again, from the recorded seed and task, and compare.

    Calls of tools get the answers that were recorded; with `live_tools` they are made again.
    Raises GemError where the environment cannot be made again (not installed, or made with a
    live object), and BadArguments for a part of an episode; an environment that now raises is a
    difference, not an error.
    """
    if len(episode.seats) == 1:
        raise BadArguments(
            f"A replay of the part of the seat {episode.seats[0].name!r} was asked for, and it "
            "takes the actions of all seats. Replay the episode that the part was taken of.",
            subject="episode",
        )
    # Only the first: what follows a difference is another episode.
    difference = next(_differences(episode, live_tools=live_tools), None)
    if difference is not None:
        state: Literal["same", "different", "partial"] = "different"
    else:
        state = "partial" if episode.is_error else "same"
    compared = len(episode.played_turns) if difference is None else difference.turn
    changes = changed_versions(episode.env_id, episode.versions)
    return ReplayReport(episode, state, difference, compared, changes)


def _differences(episode: Episode, *, live_tools: bool) -> Iterator[Difference]:
    """Take the recorded actions, and yield each difference as soon as it shows."""
    if episode.is_error and not episode.turns:
        return  # it may have failed in reset: nothing is on record to compare
    refs = [WrapperRef.model_validate(ref) for ref in episode.wrappers]
    with closed_at_end(made_again(episode.env_id, episode.env_kwargs, refs)) as env:
        again = SeatedReplay(episode, env) if episode.seats else _Replay(episode, env)
        actions = (_action(turn, live_tools=live_tools) for turn in episode.played_turns)
        try:
            yield from again.differences(actions)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, it was not there when recorded
            yield Difference(again.turn, "exception", None, in_one_line(error))


def _action(turn: Turn, *, live_tools: bool) -> Action:
    results = () if live_tools else turn.tool_results
    return Action(turn.action, tool_calls=turn.tool_calls, tool_results=results)


class _Replay:
    """One episode that is taken again. `turn` is the number of the turn that is compared."""

    def __init__(self, episode: Episode, env: Env) -> None:
        self._episode = episode
        self._env = env
        self.turn = 0

    def differences(self, actions: Iterator[Action]) -> Iterator[Difference]:
        """Reset, take the actions in order, and yield each difference as soon as it shows."""
        episode = self._episode
        rewards: list[float] = []
        options = {} if episode.task is None else {"task": episode.task}
        observation, info = self._env.reset(seed=episode.seed, **options)
        yield from self._shown_at(0, observation, info)
        for self.turn, action in enumerate(actions):
            recorded = episode.turns[self.turn]
            step = self._env.step(action)
            replayed = recorded.answered(step)
            rewards.append(replayed.reward)
            yield from field_differences(self.turn, recorded.outcome(), replayed.outcome())
            yield from self._shown_at(self.turn + 1, step.observation, step.info)
            info = step.info
        if not episode.is_error:
            yield from self._at_the_end(info, math.fsum(rewards))

    def _shown_at(
        self, turn: int, observation: Observation, info: Mapping[str, Any]
    ) -> Iterator[Difference]:
        """Compare what the policy saw before a turn, or at the end."""
        episode = self._episode
        # As JSON data: of objects, a list and a tuple of the same parts would differ.
        replayed = {"suffix": info.get("suffix"), "observation": observation_to_json(observation)}
        recorded: dict[str, Any] = {}
        if turn < len(episode.turns):
            recorded["suffix"] = episode.turns[turn].suffix
            recorded["observation"] = observation_to_json(episode.turns[turn].observation)
        elif episode.final_observation is not None:
            recorded["observation"] = observation_to_json(episode.final_observation)
        yield from field_differences(turn, recorded, replayed)

    def _at_the_end(self, info: Mapping[str, Any], total: float) -> Iterator[Difference]:
        """Compare what an evaluation counts."""
        episode = self._episode
        yield from ending_differences(self.turn, episode)
        assert self._env.spec is not None, "it was made from one"
        is_unsolved = episode.stop_reason == "model_length"  # whatever was reached until then
        success = not is_unsolved and is_success(info, total, self._env.spec)
        yield from field_differences(
            self.turn,
            {"success": episode.success, "total_reward": episode.total_reward},
            {"success": success, "total_reward": total},
        )


@contextmanager
def closed_at_end(env: Env) -> Iterator[Env]:
    """Close an environment at the end, whatever that raises."""
    try:
        yield env
    finally:
        try:
            env.close()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - what it did is compared already
            warnings.warn(
                f"Closing {env} failed: {in_one_line(error)}", RuntimeWarning, stacklevel=2
            )


def made_again(env_id: str, env_kwargs: Mapping[str, Any], wrappers: Iterable[WrapperRef]) -> Env:
    """Make an environment of what is on record. The id of today finds the target."""
    recorded = {"kwargs": dict(env_kwargs), "wrappers": tuple(wrappers)}
    return make(resolve(env_id).model_copy(update=recorded))


def changed_versions(
    env_id: str, recorded: Mapping[str, str]
) -> dict[str, tuple[str | None, str | None]]:
    """Return the versions that are not those on record, as (then, now)."""
    current = versions(env_id)
    changed: dict[str, tuple[str | None, str | None]] = {}
    for name in {**recorded, **current}:
        recorded_version = recorded.get(name)
        current_version = current.get(name)
        if recorded_version != current_version:
            changed[name] = (recorded_version, current_version)
    return changed
