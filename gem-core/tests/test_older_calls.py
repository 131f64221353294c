"""Calls of earlier releases go on working, or name what replaces them."""

from __future__ import annotations

import re
from typing import Any

import pytest

import gem
from gem._python.sync_async import wait_for
from gem.content import observation_text
from gem.errors import BadArguments
from gem.testing.envs import Coin, Guess


class AwaitedCoin(gem.Env):
    """Two tasks, and a reset that waits."""

    num_tasks = 2

    async def areset(
        self, seed: int | None = None, *, task: int | None = None
    ) -> tuple[str, dict[str, Any]]:
        return "up", {"task": self.pick_task(task)}


class Indexed(gem.Env):
    """Has a use of its own for `idx`."""

    def reset(
        self, seed: int | None = None, *, task: int = 0, idx: int = 0
    ) -> tuple[str, dict[str, Any]]:
        return "", {"task": task, "idx": idx}


@pytest.fixture(autouse=True)
def _registered() -> None:
    gem.register("older:Guess", Guess)
    gem.register("older:Coin", Coin)


def test_make_takes_env_id() -> None:
    env = gem.make(env_id="older:Guess", highest=3)
    assert observation_text(env.reset(seed=1)[0]).startswith("Guess a number from 1 to 3")


@pytest.mark.vector
def test_make_vec_takes_none_for_no_wrappers() -> None:
    vector = gem.make_vec(["older:Guess"], wrappers=None, seed=1)
    assert observation_text(vector.reset()[0][0]).startswith("Guess a number")


@pytest.mark.parametrize("coin", [Coin, AwaitedCoin])
def test_reset_takes_idx_for_a_task(coin: type[gem.Env]) -> None:
    env = coin()
    for task in (1, 0):
        with pytest.warns(DeprecationWarning, match="Write task="):
            assert env.reset(idx=task)[1]["task"] == task


async def _awaited(env: gem.Env, task: int) -> Any:
    return (await env.areset(idx=task))[1]["task"]


@pytest.mark.parametrize("coin", [Coin, AwaitedCoin])
def test_a_reset_that_is_awaited_takes_idx_too(coin: type[gem.Env]) -> None:
    with pytest.warns(DeprecationWarning, match="Write task="):
        assert wait_for(_awaited(coin(), 1)) == 1


def test_a_wrapped_reset_takes_idx_too() -> None:
    env = gem.make("older:Coin", wrappers=["concat"])
    with pytest.warns(DeprecationWarning, match="Write task="):
        assert env.reset(idx=1)[1]["task"] == 1


def test_idx_and_task_together_are_refused() -> None:
    env: gem.Env = Coin()
    with pytest.raises(BadArguments, match="Leave idx= out"):
        env.reset(idx=1, task=1)


def test_an_environment_with_an_idx_of_its_own_keeps_it() -> None:
    assert Indexed().reset(idx=3)[1] == {"task": 0, "idx": 3}


def test_an_environment_without_tasks_refuses_idx() -> None:
    env: gem.Env = Guess()
    with pytest.raises(BadArguments, match="reset with idx"):
        env.reset(idx=3)


def test_states_are_taken_and_set() -> None:
    env = Guess()
    env.reset(seed=3)
    state = env.get_state()
    first = env.step(r"\boxed{1}")
    env.set_state(state)
    assert env.step(r"\boxed{1}") == first


def test_states_of_a_whole_stack_are_taken_and_set() -> None:
    env = gem.make("older:Guess", seed=3, wrappers=["concat"])
    env.reset()
    state = env.get_state()
    first = env.step(r"\boxed{1}")
    env.set_state(state)
    assert env.step(r"\boxed{1}") == first


@pytest.mark.parametrize("same_state", [True, False])
@pytest.mark.parametrize("wrappers", [(), ("concat",)])
def test_spawn_takes_the_seed_of_the_twin_s_next_episode(
    same_state: bool, wrappers: tuple[str, ...]
) -> None:
    env = gem.make("older:Guess", seed=3, wrappers=wrappers)
    env.reset()
    twin = env.spawn(same_state=same_state, seed=5)
    assert (twin.unwrapped.turn, env.turn) == (0, 0)
    twin.reset()
    assert twin.episode_seed == 5


def test_spawn_keeps_the_state_where_it_takes_a_seed() -> None:
    env = Guess()
    env.reset(seed=3)
    assert env.spawn(seed=5).step(r"\boxed{1}") == env.step(r"\boxed{1}")


def test_spawn_refuses_what_is_no_seed() -> None:
    with pytest.raises(BadArguments, match="spawn was given seed=True"):
        Guess().spawn(seed=True)


def test_print_envs_prints_every_id(capsys: pytest.CaptureFixture[str]) -> None:
    gem.print_envs()  # type: ignore[operator]  # older names are nothing for type checkers
    printed = capsys.readouterr().out.splitlines()
    assert printed == [spec.id for spec in gem.list_envs()]
    assert "older:Guess" in printed


@pytest.mark.vector
def test_make_vec_takes_env_ids() -> None:
    with pytest.warns(DeprecationWarning, match="Write ids="):
        vector = gem.make_vec(env_ids=["older:Guess", "older:Coin"])
    with vector:
        assert len(vector) == 2


@pytest.mark.vector
@pytest.mark.parametrize("ids", [{}, {"ids": "older:Coin", "env_ids": "older:Coin"}])
def test_make_vec_takes_ids_once(ids: dict[str, Any]) -> None:
    with pytest.raises(BadArguments, match="Give the ids of the environments once"):
        gem.make_vec(**ids)


@pytest.mark.vector
def test_make_vec_takes_numbered_arguments() -> None:
    with pytest.warns(DeprecationWarning, match="Write vec_kwargs="):
        vector = gem.make_vec(
            ["older:Guess"] * 3, env0_kwargs={"highest": 3}, env2_kwargs={"highest": 4}, max_turns=2
        )
    with vector:
        texts = map(observation_text, vector.reset()[0])
        assert [re.findall(r"to (\d+)", text) for text in texts] == [["3"], ["15"], ["4"]]


@pytest.mark.vector
@pytest.mark.parametrize("kwargs", [{"env1_kwargs": {}}, {"env0_kwargs": 3}])
def test_numbered_arguments_are_of_an_environment_that_is_there(kwargs: dict[str, Any]) -> None:
    with pytest.raises(BadArguments, match="Give vec_kwargs="):
        gem.make_vec(["older:Guess"], **kwargs)
