"""Lines on backends: an episode is the same however many run at once, and wherever."""

from __future__ import annotations

from gem.bridge import wait_for
from gem.conversation import Request
from gem.episode import Episode
from gem.rollouts import rollout
from gem.testing.playing import first_difference
from gem.testing.report import NotHeldError
from gem.testing.subject import Subject

__all__ = ["rollouts_agree"]

_EPISODES = 6
_MOST_TURNS = 30


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
            _Sampler(),
            subject.env,
            episodes=_EPISODES,
            concurrency=concurrency,
            max_turns=_MOST_TURNS,
            wrappers=subject.wrappers,
            env_kwargs=subject.kwargs,
        )
        return {episode.episode_index: episode async for episode in episodes}

    return wait_for(collect())


class _Sampler:
    """The policy that takes what the environment samples."""

    name = "random"
    wants = ("sample",)

    def __call__(self, request: Request) -> str:
        return request.sample or ""
