"""Each episode of a vector has the seed of its place and number."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

import gem
from gem.episode import Episode
from gem.vector import make_vec

from .envs import first_of, started


def test_each_episode_has_the_seed_of_its_place() -> None:
    vector = started(2, length=1)

    later = [vector.step(["a", "a"]).observations for _ in range(2)]

    assert later == [[first_of(0, 1), first_of(1, 1)], [first_of(0, 2), first_of(1, 2)]]


def test_the_first_reset_has_the_seed_that_the_vector_was_made_with() -> None:
    vector, other = make_vec("vec:Count", num_envs=2, seed=5), make_vec("vec:Count", num_envs=2)

    assert vector.reset() == other.reset(5)


def test_a_reset_goes_on_and_a_seeded_one_begins_again() -> None:
    vector = make_vec("vec:Count", seed=5)

    shown = [vector.reset()[0], vector.reset()[0], vector.reset(5)[0], vector.reset()[0]]

    assert shown == [[first_of(0, 0)], [first_of(0, 1)]] * 2


def test_without_a_seed_two_vectors_differ() -> None:
    one, other = make_vec("vec:Count", num_envs=8), make_vec("vec:Count", num_envs=8)

    assert one.reset()[0] != other.reset()[0]


@pytest.mark.parametrize("seed", [-1, 0, 2**80, np.int64(7)])
def test_any_int_is_a_seed(seed: int) -> None:
    with make_vec("vec:Count") as vector:
        assert vector.reset(seed)[0] == [first_of(0, 0, int(seed))]


def test_an_episode_is_the_same_as_in_a_rollout() -> None:
    async def run() -> list[Episode]:
        found = gem.rollout(lambda request: "a", "vec:Count", episodes=3, seed=5)
        return [episode async for episode in found]

    episodes = sorted(asyncio.run(run()), key=lambda episode: episode.episode_index)
    vector = started(1, length=1)
    openings = [first_of(0, 0), *(vector.step(["a"]).observations[0] for _ in range(2))]

    assert [episode.turns[0].observation for episode in episodes] == openings


def test_what_the_neighbours_do_changes_nothing() -> None:
    alone = make_vec("vec:Count", num_envs=1, seed=5, length=2)
    crowd = make_vec("vec:Count", num_envs=3, seed=5, length=2)
    alone.reset()
    crowd.reset()

    lonely = [alone.step(["a"]).observations[0] for _ in range(5)]
    crowded = [crowd.step({2: "raise", 0: "a"}).observations[1] for _ in range(5)]

    assert crowded == lonely
