"""Policies, and runs of them as lists of episodes."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable
from typing import Any

from gem.conversation import Request
from gem.episode import Episode
from gem.rollouts import rollout

PATIENT_S = 60.0  # an episode that `late` ends has so long, to be made and to ask
HANGS_S = 1.0  # what a call on a thread is waited for; only one that hangs takes any time


class Guess:
    """Takes what the environment sampled."""

    name = "guess"
    wants = ("sample",)

    def __call__(self, request: Request) -> str:
        return request.sample or ""


class Solve:
    wants = ("solution",)

    async def __call__(self, request: Request) -> str:
        return request.solution or ""


def script(*answers: Any) -> Callable[[Request], Any]:
    def scripted(request: Request) -> Any:
        return answers[request.turn]

    return scripted


def run(policy: Any, env: Any, **options: Any) -> list[Episode]:
    async def collect() -> list[Episode]:
        return [episode async for episode in rollout(policy, env, **options)]

    return asyncio.run(collect())


def run_one(policy: Any, env: Any = "demo:Coin", **options: Any) -> Episode:
    (episode,) = run(policy, env, **options)
    return episode


def fingerprints(episodes: list[Episode]) -> Counter[str]:
    return Counter(episode.fingerprint() for episode in episodes)


async def never(request: Request) -> str:
    await asyncio.Event().wait()
    raise AssertionError


async def late(request: Request) -> str:
    """Never answer, and let an hour go by on the clock of the event loop, and on no other.

    What is late by then is late while this is waited for, however long it took to get here.
    """
    loop = asyncio.get_running_loop()
    now = loop.time
    loop.time = lambda: now() + 3600.0  # type: ignore[method-assign]
    return await never(request)


class Stubborn:
    """A policy that no cancellation ends; the test ends it."""

    def __init__(self) -> None:
        self.end = asyncio.Event()

    async def __call__(self, request: Request) -> str:
        while not self.end.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await self.end.wait()
        return "H"
