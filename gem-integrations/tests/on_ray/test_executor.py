"""Vectors and rollouts in Ray are those of this process, and leave nothing behind."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Sequence
from contextlib import aclosing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.errors import BadArguments, GemError
from gem.specs import EnvSpec

ON_TWO: dict[str, Any] = {"backend": "ray", "num_workers": 2}
STEPS = 15


def told(vector: gem.VectorEnv) -> list[Any]:
    """Step a vector through several episodes of each environment and return all that it said."""
    with vector:
        heard: list[Any] = [vector.reset()]
        for turn in range(STEPS):
            actions = [rf"\boxed{{{(turn * 7 + index) % 15}}}" for index in range(len(vector))]
            step = vector.step(actions)
            flags = step.rewards.tolist(), step.terminated.tolist(), step.truncated.tolist()
            heard.append((step.observations, *flags, step.infos))
    return heard


def has_ended(process: int) -> bool:
    """Wait until a process has ended, or for a while; say whether it has."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            stat = Path(f"/proc/{process}/stat").read_text()
        except FileNotFoundError:
            return True
        if stat.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.01)
    return False


def processes(vector: gem.VectorEnv) -> list[int]:
    """Return the processes of every environment, and their actors."""
    vector.reset()
    return [
        int(each)
        for line in vector.step(["who"] * len(vector)).observations
        for each in str(line).split()
    ]


@pytest.mark.parametrize("num_workers", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_environments_step_in_uneven_shards_as_they_do_here(
    mixed: list[EnvSpec], num_workers: int
) -> None:
    here = told(gem.make_vec(mixed, seed=3))

    there = told(gem.make_vec(mixed, seed=3, backend="ray", num_workers=num_workers))

    assert there == here


def test_an_actor_may_have_several_processes(walk: EnvSpec) -> None:
    options = {"processes_per_worker": 2}
    with gem.make_vec(
        walk, num_envs=4, backend="ray", num_workers=1, backend_options=options
    ) as vector:
        pairs = [tuple(pair) for pair in zip(*[iter(processes(vector))] * 2, strict=True)]

    assert len(set(pairs)) == 2
    assert len({actor for _, actor in pairs}) == 1


@pytest.mark.slow
def test_no_environment_waits_for_a_slower_one(walk: EnvSpec) -> None:
    with gem.make_vec(walk, num_envs=2, step_timeout_s=5.0, **ON_TWO) as vector:
        vector.reset()
        vector.send({0: "hang", 1: "go"})

        assert [vector.recv().indices, vector.recv().indices] == [[1], [0]]


def test_objects_that_are_no_plain_data_come_back(walk: EnvSpec) -> None:
    with gem.make_vec(walk, backend="ray", seed=0) as vector:
        vector.reset()

        info = vector.step(["odd"]).infos[0]

    assert info == {"odd": Fraction(info["odd"])}


def test_an_action_that_is_no_plain_data_costs_its_own_episode(walk: EnvSpec) -> None:
    actions: Sequence[Any] = [Fraction(1, 2), "go"]
    with gem.make_vec(walk, num_envs=2, backend="ray", num_workers=1) as vector:
        vector.reset()

        step = vector.step(actions)

    assert step.truncated.tolist() == [True, False]
    assert "plain data" in step.infos[0]["final_info"]["error"]


def test_closing_ends_every_actor_and_process(walk: EnvSpec) -> None:
    with gem.make_vec(walk, num_envs=3, **ON_TWO) as vector:
        found = processes(vector)

    assert len(set(found)) == 4
    assert all(map(has_ended, found))


def test_a_vector_that_nobody_keeps_ends_its_actors(walk: EnvSpec) -> None:
    vector = gem.make_vec(walk, backend="ray")
    found = processes(vector)

    del vector
    gc.collect()

    assert all(map(has_ended, found))


def test_an_environment_that_cannot_be_closed_is_warned_of(walk: EnvSpec) -> None:
    vector = gem.make_vec(walk, backend="ray", closes=False)
    vector.reset()

    with pytest.warns(RuntimeWarning, match="the door is stuck"):
        vector.close()


def test_an_environment_that_cannot_be_made_says_why() -> None:
    missing = EnvSpec(id="perilous:Gone", target="perilous:Gone")

    with pytest.raises(GemError, match="perilous:Gone"):
        gem.make_vec(missing, backend="ray")


def policy(request: gem.Request) -> str:
    """Answer by the turn alone."""
    return rf"\boxed{{{request.turn * 3}}}"


def fingerprints(envs: list[EnvSpec], **options: Any) -> dict[tuple[int, int], str]:
    async def run() -> dict[tuple[int, int], str]:
        rollout = gem.rollout(policy, envs, episodes=3 * len(envs), seed=5, **options)
        episodes = [episode async for episode in rollout]
        assert not [each.error for each in episodes if each.is_error]
        return {(each.env_index, each.episode_index): each.fingerprint() for each in episodes}

    return asyncio.run(run())


def test_rollouts_play_the_episodes_that_they_play_here(mixed: list[EnvSpec]) -> None:
    here = fingerprints(mixed, concurrency=1)

    assert fingerprints(mixed, concurrency=8, **ON_TWO) == here


def test_a_rollout_that_is_left_early_ends_its_actors(walk: EnvSpec) -> None:
    async def first() -> gem.Episode:
        run = gem.rollout(lambda _: "who", walk, episodes=50, concurrency=4, **ON_TWO)
        async with aclosing(run):
            return await anext(run)

    observation = asyncio.run(first()).turns[1].observation

    assert all(has_ended(int(each)) for each in str(observation).split())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"num_workers": 0}, "from 1 on"),
        ({"step_timeout_s": -1.0}, "timeout_s=-1.0"),
        ({"backend_options": {"address": 8000}}, "address=8000"),
        ({"backend_options": {"address": "ray://head:10001"}}, "Run this program on a node"),
        ({"backend_options": {"cpus_per_worker": -0.5}}, "cpus_per_worker=-0.5"),
        ({"backend_options": {"cpus_per_worker": float("nan")}}, "cpus_per_worker=nan"),
        ({"backend_options": {"processes_per_worker": 0}}, "processes_per_worker=0"),
        ({"backend_options": {"colour": "red"}}, "'colour'"),
    ],
)
def test_a_bad_option_is_one_clear_error(walk: EnvSpec, options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadArguments, match=says) as raised:
        gem.make_vec(walk, backend="ray", **options)

    assert "\n" not in str(raised.value)
