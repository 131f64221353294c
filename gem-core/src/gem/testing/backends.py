"""Lines on backends: an episode is the same however many run at once, and wherever."""

from __future__ import annotations

from collections.abc import Sequence

from gem.bridge import wait_for
from gem.conversation import Request
from gem.episode import Episode
from gem.errors import MissingRequirement, OpaqueError
from gem.registry import executors
from gem.rollouts import rollout
from gem.seeding import episode_seed
from gem.specs import ExecutorSpec
from gem.targets import check_requirements
from gem.testing.playing import Moment, Play, first_difference, moment_of, play
from gem.testing.report import NotHeldError
from gem.testing.subject import Subject, drive
from gem.vector import VectorEnv, make_vec

__all__ = ["rollouts_agree", "vectors_agree"]

_EPISODES = 6
_MOST_TURNS = 30
_RUN_SEED = 0


def rollouts_agree(subject: Subject) -> str:
    """Roll the same episodes out one at a time and all at once, and compare fingerprints."""
    alone, together = (_rolled_out(subject, concurrency) for concurrency in (1, _EPISODES))
    for index, episode in alone.items():
        if episode.is_error:
            raise NotHeldError(f"episode {index} ended by {episode.stop_reason}: {episode.error}")
        if episode.fingerprint() != together[index].fingerprint():
            difference = first_difference(_moments(episode), _moments(together[index]))
            raise NotHeldError(
                f"episode {index}, one at a time and {_EPISODES} at once: {difference}"
            )
    return f"inline, {_EPISODES} episodes at concurrency 1 and {_EPISODES}"


def _moments(episode: Episode) -> list[dict[str, object]]:
    return [turn.outcome() for turn in episode.turns]


def _rolled_out(subject: Subject, concurrency: int) -> dict[int, Episode]:
    async def collect() -> dict[int, Episode]:
        episodes = rollout(
            _Sampler() if subject.has_samples else _in_a_box,
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
    """Step several environments in lock-step on every backend, and compare each with one alone."""
    alone = [_alone(subject, index) for index in range(_EPISODES)]
    names = []
    # Two words for one target are one backend.
    for executor in {each.target: each for each in _backends(subject)}.values():
        try:
            streams = _in_lock_step(subject, executor, alone)
        except OpaqueError:  # it cannot leave this process, which its author knows
            names.append(f"not {executor.id} (it is made with what only this process has)")
            continue
        for index, stream in enumerate(streams):
            difference = first_difference(alone[index].moments, stream)
            if difference is not None:
                raise NotHeldError(
                    f"environment {index}, alone and in a vector ({executor.id}): {difference}"
                )
        names.append(executor.id)
    return f"{', '.join(names)}; {_EPISODES} environments in lock-step"


def _backends(subject: Subject) -> list[ExecutorSpec]:
    wanted = subject.backends
    return [
        each for each in executors() if (wanted is None or each.id in wanted) and _is_present(each)
    ]


def _is_present(executor: ExecutorSpec) -> bool:
    try:
        check_requirements(executor.requires, subject=executor.id)
    except MissingRequirement:
        return False
    return True


def _in_lock_step(
    subject: Subject, executor: ExecutorSpec, alone: Sequence[Play]
) -> list[list[Moment]]:
    """Take the actions of episodes that were played alone."""
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
        for turn in range(max(len(each.actions) for each in alone)):
            actions = {
                index: each.actions[turn]
                for index, each in enumerate(alone)
                if turn < len(each.actions)
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
        flags = (float(reward), bool(terminated), bool(truncated))
        streams[index].append(moment_of(observation, info, flags))


def _in_a_box(request: Request) -> str:
    """Answer as `drive` does where there is nothing to draw."""
    return f"\\boxed{{{request.turn}}}"


class _Sampler:
    """The policy that takes what the environment samples."""

    name = "random"
    wants = ("sample",)

    def __call__(self, request: Request) -> str:
        return request.sample or ""
