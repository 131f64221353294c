"""The same episodes on every backend: 256 environments of many kinds, in whatever order.

Some wait for a chance time of their own, so that no two runs meet them in the same order.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping
from itertools import cycle, islice
from typing import Any, NamedTuple, get_args

import pytest
from tests.execution.playing import (
    Act,
    Key,
    Played,
    Reader,
    Sampler,
    fingerprints,
    played,
    rolled_out,
    spec_of,
    stepped_through,
)
from tests.execution.worlds import Chatty, Nested, Slow, Tag

import gem
from gem import EnvSpec
from gem.errors import MissingRequirement
from gem.hosting._supervisor import StartMethod
from gem.registry import check_requirements, executor_spec, executors

SEED = 11
EPISODES = 3
NUM_ENVS = 256
KINDS: list[EnvSpec] = [
    gem.spec("game:GuessTheNumber-v0-hard"),
    gem.spec("game:Mastermind-v0-random"),
    gem.spec("game:TowerofHanoi-v0-random"),
    gem.spec("game:Hangman-v0-random"),
    gem.spec("game:Minesweeper-v0-easy"),
    gem.spec("math:Arithmetic-v0"),
    spec_of(Tag, blocking=False),
    spec_of(Slow, blocking=True),
    spec_of(Chatty, blocking=False),
    spec_of(Nested, blocking=False),
]
ENVS = list(islice(cycle(KINDS), NUM_ENVS))
LIMIT = {"id": "time_limit", "max_turns": 6}
JITTER = ["tests.execution.worlds:Jitter", LIMIT]
# How a worker starts and how many share the environments are two matters: not every pair of them.
WORKERS = [*((method, 2) for method in get_args(StartMethod)), ("fork", 1), ("fork", 5)]
OWN = {"sync", "inline", "thread", "process"}
OTHERS = [executor.id for executor in executors() if executor.id not in OWN]
EXAMPLE = "own"  # examples/own_backend.py, which a fixture installs


class Book(NamedTuple):
    """The episodes as they are in this thread, one step after the other."""

    said: Mapping[int, str]
    act: Act
    fingerprints: Mapping[Key, str]
    played: Mapping[Key, Played]


@pytest.fixture(scope="module")
def book() -> Book:
    sampler = Sampler()
    options: Any = {"episodes": EPISODES, "seed": SEED, "wrappers": [LIMIT], "concurrency": 1}
    episodes = asyncio.run(rolled_out(sampler, ENVS, **options))

    def act(index: int, episode: int, turn: int) -> str:
        return episodes[index, episode].turns[turn].action

    return Book(sampler.said, act, fingerprints(episodes), played(episodes))


def rollout_fingerprints(policy: Any, backend: str, **options: Any) -> dict[Key, str]:
    options = {"episodes": EPISODES, "seed": SEED, "wrappers": JITTER, **options}
    return fingerprints(asyncio.run(rolled_out(policy, ENVS, backend=backend, **options)))


def vector_episodes(book: Book, backend: str, *, order: int = 0, **options: Any) -> Any:
    options = {"seed": SEED, "wrappers": JITTER, "num_workers": None, **options}
    with gem.make_vec(ENVS, backend=backend, **options) as vector:
        return stepped_through(vector, book.act, episodes=EPISODES, order=order)


def test_the_episodes_differ_and_none_failed(book: Book) -> None:
    assert len(set(book.fingerprints.values())) > 0.95 * NUM_ENVS * EPISODES
    assert {each.error for each in book.played.values()} == {None}


@pytest.mark.parametrize("concurrency", [7, 256])
def test_inline_rollouts_are_the_same_at_any_concurrency(book: Book, concurrency: int) -> None:
    episodes = rollout_fingerprints(Reader(book.said), "inline", concurrency=concurrency)

    assert episodes == book.fingerprints


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("backend", ["sync", "thread"])
def test_vectors_tell_what_rollouts_tell(book: Book, backend: str, order: int) -> None:
    assert vector_episodes(book, backend, order=order) == book.played


def test_rollouts_on_threads_are_the_same(book: Book) -> None:
    assert rollout_fingerprints(Reader(book.said), "thread") == book.fingerprints


@pytest.mark.parametrize(("start_method", "num_workers"), WORKERS)
def test_rollouts_in_processes_are_the_same(
    book: Book, start_method: str, num_workers: int
) -> None:
    options: Any = {"num_workers": num_workers, "backend_options": {"start_method": start_method}}
    episodes = rollout_fingerprints(Reader(book.said), "process", concurrency=100, **options)

    assert episodes == book.fingerprints


@pytest.mark.parametrize(("start_method", "num_workers"), WORKERS)
def test_vectors_in_processes_are_the_same(book: Book, start_method: str, num_workers: int) -> None:
    options: Any = {"num_workers": num_workers, "backend_options": {"start_method": start_method}}

    assert vector_episodes(book, "process", order=num_workers, **options) == book.played


@pytest.mark.parametrize("backend", ["thread", "process"])
def test_what_is_sampled_is_the_same(book: Book, backend: str) -> None:
    assert rollout_fingerprints(Sampler(), backend) == book.fingerprints


@pytest.fixture
def _no_ray_stays() -> Iterator[None]:
    """End the Ray that a test may have started: its processes come and go as they like."""
    yield
    if cluster := sys.modules.get("gem_integrations.ray.cluster"):
        cluster.shutdown()


@pytest.mark.usefixtures("_no_ray_stays")
@pytest.mark.parametrize("backend", [*OTHERS, EXAMPLE])
def test_other_backends_that_are_installed_are_the_same(book: Book, backend: str) -> None:
    try:
        check_requirements(executor_spec(backend).requires, subject=backend)
    except MissingRequirement as missing:
        pytest.skip(str(missing))
    options: Any = {"num_workers": 3}  # 256 are not shared out evenly among them

    assert vector_episodes(book, backend, **options) == book.played
    assert rollout_fingerprints(Reader(book.said), backend, **options) == book.fingerprints
