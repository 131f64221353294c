"""Lines on backends: an episode is the same however many run at once, and wherever."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gem._python.seeding import episode_seed
from gem._python.sync_async import wait_for
from gem.content import observation_to_json
from gem.episode._episode import Episode
from gem.errors import MissingRequirement, OpaqueError
from gem.registry._catalogue import executors
from gem.registry._importing import missing_of
from gem.rollouts._rollout import rollout
from gem.specs import ExecutorSpec
from gem.testing._playing import Moment, Play, first_difference, moment_of, play, require_same
from gem.testing._report import NotApplicableError, NotHeldError
from gem.testing._subject import Subject, boxed, drive, sampled

if TYPE_CHECKING:
    from gem.vector._base import VectorEnv

__all__ = ["rollouts_agree", "vectors_agree"]

_EPISODES = 6  # at once: enough for episodes to end in another order than they began
_MOST_TURNS = 30
_RUN_SEED = 0


def rollouts_agree(subject: Subject) -> str:
    """Roll the same episodes out one at a time and all at once, and compare fingerprints."""
    alone = _rolled_out(subject, concurrency=1)
    together = _rolled_out(subject, concurrency=_EPISODES)
    for index, episode in alone.items():
        if episode.is_error:
            # The loudest first: an episode that ended by an error would only differ below.
            raise NotHeldError(f"episode {index} ended by {episode.stop_reason}: {episode.error}")
        if episode.fingerprint() != together[index].fingerprint():
            difference = first_difference(_moments(episode), _moments(together[index]))
            raise NotHeldError(
                f"episode {index}, one at a time and {_EPISODES} at once: {difference}"
            )
    return f"inline, {_EPISODES} episodes at concurrency 1 and {_EPISODES}"


def _moments(episode: Episode) -> list[dict[str, object]]:
    """Return all that must reproduce, as moments of a play: the first is that of the reset.

    What two episodes of one seed differ in, if their fingerprints do, is in some moment.
    """
    moments: list[dict[str, object]] = [{"task": episode.task}]
    for turn in episode.turns:
        outcome = turn.outcome()
        # A turn begins with what the moment before it showed.
        for name in ("seat", "observation", "suffix"):
            moments[-1][name] = outcome.pop(name)
        moments.append(outcome)
    final = episode.final_observation
    moments[-1] |= {
        "observation": None if final is None else observation_to_json(final),
        "terminated": episode.terminated,
        "truncated": episode.truncated,
        "stop_reason": episode.stop_reason,
        "success": episode.success,
        "seats": [outcome.reproduced() for outcome in episode.seats],
    }
    return moments


def _rolled_out(subject: Subject, *, concurrency: int) -> dict[int, Episode]:
    async def collect() -> dict[int, Episode]:
        episodes = rollout(
            sampled if subject.has_samples else boxed,
            subject.env,
            episodes=_EPISODES,
            concurrency=concurrency,
            max_turns=_MOST_TURNS,
            wrappers=subject.wrappers,
            env_kwargs=subject.kwargs,
        )
        return {episode.episode_index: episode async for episode in episodes}

    return wait_for(collect())


def vectors_agree(subject: Subject) -> str:
    """Step several environments in lock-step on every backend, and compare each with one alone.

    Vectors need numpy, and an environment none: where it is not installed this does not apply.
    """
    try:
        importlib.import_module("gem.vector")
    except MissingRequirement as error:
        raise NotApplicableError(str(error)) from error
    alone = [_alone(subject, index) for index in range(_EPISODES)]
    names = []
    for executor in _backends(subject):
        try:
            streams = _in_lock_step(subject, executor, alone)
        except OpaqueError:  # it cannot leave this process, which its author knows
            names.append(f"not {executor.id} (it is made with what only this process has)")
            continue
        for index, stream in enumerate(streams):
            what = f"environment {index}, alone and in a vector ({executor.id})"
            require_same(what, alone[index].moments, stream)
        names.append(executor.id)
    return f"{', '.join(names)}; {_EPISODES} environments in lock-step"


def _backends(subject: Subject) -> Iterable[ExecutorSpec]:
    by_target = {}  # two words for one target are one backend
    for executor in executors():
        is_wanted = subject.backends is None or executor.id in subject.backends
        if is_wanted and not missing_of(executor.requires):
            by_target[executor.target] = executor
    return by_target.values()


def _in_lock_step(
    subject: Subject, executor: ExecutorSpec, alone: Sequence[Play]
) -> list[list[Moment]]:
    """Take the actions of episodes that were played alone."""
    from gem.vector._making import make_vec  # needs numpy

    vector = make_vec(
        subject.env,
        num_envs=_EPISODES,
        backend=executor.id,
        autoreset="off",
        wrappers=subject.wrappers,
        seed=_RUN_SEED,
        vec_kwargs=[subject.kwargs] * _EPISODES,
    )
    with vector:
        observations, infos = vector.reset()
        streams = [[moment_of(*start)] for start in zip(observations, infos, strict=True)]
        for turn in range(max(len(episode.actions) for episode in alone)):
            # Those whose episode is over are left out: autoreset is off.
            actions = {
                index: episode.actions[turn]
                for index, episode in enumerate(alone)
                if turn < len(episode.actions)
            }
            _step_together(vector, actions, streams)
    return streams


def _alone(subject: Subject, index: int) -> Play:
    with subject.make() as env:
        return play(env, drive, episode_seed(_RUN_SEED, index, 0), most_turns=_MOST_TURNS)


def _step_together(vector: VectorEnv, actions: dict[int, str], streams: list[list[Moment]]) -> None:
    observations, *rest, infos = vector.step(actions)
    rows = zip(actions, observations, infos, zip(*rest, strict=True), strict=True)
    for index, observation, info, (reward, terminated, truncated) in rows:
        # A vector returns numpy's numbers, which JSON does not write.
        flags = (float(reward), bool(terminated), bool(truncated))
        streams[index].append(moment_of(observation, info, flags))
