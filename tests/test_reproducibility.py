"""The same seed gives the same episodes: at any concurrency, in any process, whoever meddles.

Run as a script it prints the fingerprints, so that a test can have them from another process.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gem

Run = Callable[..., "subprocess.CompletedProcess[str]"]

ENVS = [
    "game:GuessTheNumber-v0-hard",
    "game:GuessTheNumber-v0-random",
    "game:Mastermind-v0-random",
    "game:TowerofHanoi-v0-random",
    "math:Arithmetic-v0",
]
EPISODES = 12


class Sampler:
    """Play what the environment samples."""

    name = "sampler"
    wants = ("sample",)

    async def __call__(self, request: gem.Request) -> str:
        await asyncio.sleep(0)  # let other episodes in between
        assert request.sample is not None
        return request.sample


class Meddler(Sampler):
    """Reseed and draw from the global generators before every answer, as other libraries do."""

    async def __call__(self, request: gem.Request) -> str:
        random.seed(0)
        random.random()
        np.random.seed(0)  # noqa: NPY002 - the global generator is the point
        np.random.rand()  # noqa: NPY002
        return await super().__call__(request)


def fingerprints(policy: Sampler, *, concurrency: int = 16, seed: int = 0) -> list[str]:
    async def collect() -> list[gem.Episode]:
        run = gem.rollout(policy, ENVS, episodes=EPISODES, seed=seed, concurrency=concurrency)
        return [episode async for episode in run]

    episodes = sorted(asyncio.run(collect()), key=lambda each: (each.env_index, each.episode_index))
    assert [each.error for each in episodes] == [None] * len(ENVS) * EPISODES
    return [episode.fingerprint() for episode in episodes]


@pytest.fixture(scope="module")
def expected() -> list[str]:
    return fingerprints(Sampler())


def test_episodes_of_one_run_differ(expected: list[str]) -> None:
    assert len(set(expected)) > len(expected) * 0.9  # games of one variant may start alike


@pytest.mark.parametrize("concurrency", [1, 7, 64])
def test_any_concurrency_gives_the_same_episodes(expected: list[str], concurrency: int) -> None:
    assert fingerprints(Sampler(), concurrency=concurrency) == expected


def test_another_seed_gives_other_episodes(expected: list[str]) -> None:
    assert not set(fingerprints(Sampler(), seed=1)) & set(expected)


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_another_process_with_other_hashes_gives_the_same_episodes(
    run_python: Run, expected: list[str], hash_seed: str
) -> None:
    done = run_python(str(Path(__file__)), env={"PYTHONHASHSEED": hash_seed})

    assert done.stderr == ""
    assert json.loads(done.stdout) == expected


def test_a_library_that_reseeds_and_draws_between_steps_changes_nothing(
    expected: list[str],
) -> None:
    assert fingerprints(Meddler()) == expected


def test_the_global_generators_are_left_as_they_were() -> None:
    random.seed(11)
    before = random.getstate()
    theirs = str(np.random.get_state())  # noqa: NPY002

    fingerprints(Sampler())

    assert random.getstate() == before
    assert str(np.random.get_state()) == theirs  # noqa: NPY002


if __name__ == "__main__":
    print(json.dumps(fingerprints(Sampler())))  # noqa: T201 - the other process reads this
