"""Run a recorded episode again and compare it step by step.

Knows nothing about policies: recorded actions are taken as they stand.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from gem.content import Action, Observation, observation_to_json
from gem.env._env import Env
from gem.episode._ending import ending_differences
from gem.episode._episode import Episode, is_success
from gem.episode._seated_replay import SeatedReplay
from gem.episode._turn import Turn
from gem.errors import BadArguments, in_one_line
from gem.registry._catalogue import versions
from gem.registry._making import make, resolve
from gem.specs import WrapperRef

__all__ = [
    "Difference",
    "ReplayReport",
    "changed_versions",
    "closed_at_end",
    "made_again",
    "replay",
]


class Difference(NamedTuple):
    """The first thing that did not reproduce. Turns count from 0; `recorded` is the log's."""

    turn: int
    field: str
    recorded: Any
    replayed: Any


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
        if episode.seats:
            yield from _seated_differences(episode, env, live_tools=live_tools)
            return
        turn = 0
        rewards: list[float] = []
        try:
            options = {} if episode.task is None else {"task": episode.task}
            observation, info = env.reset(seed=episode.seed, **options)
            yield from _compare_observation(episode, 0, observation, info)
            for turn, recorded in enumerate(episode.played_turns):
                step = env.step(_action(recorded, live_tools=live_tools))
                replayed = recorded.answered(step)
                rewards.append(replayed.reward)
                yield from _compare_turn(turn, recorded, replayed)
                yield from _compare_observation(episode, turn + 1, step.observation, step.info)
                info = step.info
            if not episode.is_error:
                yield from _compare_end(episode, turn, info, math.fsum(rewards), env)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, it was not there when recorded
            yield Difference(turn, "exception", None, in_one_line(error))


def _seated_differences(episode: Episode, env: Env, *, live_tools: bool) -> Iterator[Difference]:
    again = SeatedReplay(episode, env)
    actions = (_action(turn, live_tools=live_tools) for turn in episode.played_turns)
    try:
        for difference in again.differences(actions):
            yield Difference(again.turn, *difference)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - as of one seat
        yield Difference(again.turn, "exception", None, in_one_line(error))


def _action(turn: Turn, *, live_tools: bool) -> Action:
    results = () if live_tools else turn.tool_results
    return Action(turn.action, tool_calls=turn.tool_calls, tool_results=results)


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


def _compare_turn(turn: int, recorded: Turn, replayed: Turn) -> Iterator[Difference]:
    replayed_outcome = replayed.outcome()
    for field, recorded_value in recorded.outcome().items():
        replayed_value = replayed_outcome[field]
        if recorded_value != replayed_value:
            yield Difference(turn, field, recorded_value, replayed_value)


def _compare_observation(
    episode: Episode, turn: int, observation: Observation, info: Mapping[str, Any]
) -> Iterator[Difference]:
    """Compare what the policy saw before a turn, or at the end."""
    if turn < len(episode.turns):
        observed = episode.turns[turn].observation
        suffix = episode.turns[turn].suffix
        if suffix != info.get("suffix"):
            yield Difference(turn, "suffix", suffix, info.get("suffix"))
    elif episode.final_observation is not None:
        observed = episode.final_observation
    else:
        return
    # As JSON data: of objects, a list and a tuple of the same parts would differ.
    recorded = observation_to_json(observed)
    replayed = observation_to_json(observation)
    if recorded != replayed:
        yield Difference(turn, "observation", recorded, replayed)


def _compare_end(
    episode: Episode, turn: int, info: Mapping[str, Any], total: float, env: Env
) -> Iterator[Difference]:
    """Compare what an evaluation counts."""
    for field, recorded, right in ending_differences(episode):
        yield Difference(turn, field, recorded, right)
    assert env.spec is not None, "it was made from one"
    is_unsolved = episode.stop_reason == "model_length"  # whatever was reached until then
    success = not is_unsolved and is_success(info, total, env.spec)
    if episode.success != success:
        yield Difference(turn, "success", episode.success, success)
    if episode.total_reward != total:
        yield Difference(turn, "total_reward", episode.total_reward, total)


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
