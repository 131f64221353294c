"""Which component an episode is of: weights and seeds decide, and the episode is its own."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

import gem
from gem.content import Observation

from .envs import ECHO, GUESS, mixture


def test_components_come_as_often_as_their_weights_say() -> None:
    with gem.make(mixture()) as env:
        drawn = Counter(env.reset(seed=seed)[1]["component"]["name"] for seed in range(1_000))

    assert sorted(drawn) == ["test:Echo", "test:Guess"]
    assert 700 < drawn["test:Guess"] < 800


def test_what_a_seed_draws_is_the_same_in_every_version() -> None:
    with gem.make(mixture()) as env:
        drawn = [env.reset(seed=seed)[1]["component"]["index"] for seed in range(20)]
        env.reset(seed=0)
        words = [str(env.reset()[0])[-8:] for _ in range(5)]

    assert drawn == [0] * 13 + [1, 1, 0, 1, 0, 1, 0]
    assert (words[2], words[4]) == ("ehidgbhj", "hjebjghd")  # those of echoes


def test_a_component_of_weight_nought_never_comes() -> None:
    with gem.make(mixture({"env": GUESS}, {"env": ECHO, "weight": 0})) as env:
        assert all(env.reset(seed=seed)[1]["component"]["index"] == 0 for seed in range(50))


@pytest.mark.parametrize("seed", range(20))
def test_an_episode_is_the_one_that_its_component_has_alone(seed: int) -> None:
    with gem.make(mixture(), seed=seed) as env:
        observation, info = env.reset()
        component = (GUESS, ECHO)[info["component"]["index"]]
        with gem.make(component) as alone:
            assert alone.reset(seed=seed)[0] == observation
            action = alone.sample_action()
            assert env.sample_action() == action
            assert env.solve() == alone.solve()
            mixed, single = env.step(action), alone.step(action)
            assert mixed[:4] == single[:4]
            assert {**mixed.info, **single.info} == mixed.info


def test_weights_change_which_episode_and_never_what_is_in_it() -> None:
    other = mixture({"env": GUESS}, {"env": ECHO, "weight": 5})
    with gem.make(mixture()) as env, gem.make(other) as changed:
        for seed in range(30):
            (seen, info), (again, told) = env.reset(seed=seed), changed.reset(seed=seed)
            assert info["component"] != told["component"] or seen == again


def test_resets_without_a_seed_go_on_with_the_instances_own_stream() -> None:
    def starts() -> list[tuple[Observation, dict[str, Any]]]:
        with gem.make(mixture(), seed=4) as env:
            return [env.reset() for _ in range(100)]

    assert starts() == starts()
    assert len({str(start) for start in starts()}) > 5


@pytest.mark.vector
@pytest.mark.parametrize("backend", ["sync", "thread", "process"])
def test_a_vector_has_the_episodes_of_single_environments(backend: str) -> None:
    def seen(backend: str) -> list[Any]:
        with gem.make_vec(mixture(), num_envs=4, backend=backend, seed=5) as vector:
            starts = vector.reset()
            steps = [vector.step(["\\boxed{4}"] * 4)[0] for _ in range(3)]
            return [starts, steps]

    assert seen(backend) == seen("sync")


def test_rollouts_record_the_component_and_replay() -> None:
    async def play() -> list[gem.Episode]:
        gem.register(mixture(blocking=False))
        run = gem.rollout(lambda request: "\\boxed{7}", "test:Mix", episodes=20)
        return [episode async for episode in run]

    episodes = asyncio.run(play())
    names = {episode.turns[-1].info["component"]["name"] for episode in episodes}

    assert names == {"test:Guess", "test:Echo"}
    assert {gem.replay(episode).state for episode in episodes} == {"same"}


def test_actions_are_sampled_from_the_mixtures_own_stream() -> None:
    with gem.make(mixture()) as env:
        env.reset(seed=0)
        before = env.unwrapped.sample_rng.getstate()
        env.sample_action()
        assert env.unwrapped.sample_rng.getstate() != before
