"""The plan of a run: every task once, none twice, and the same whatever runs it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import pytest

import gem
from gem._python.seeding import episode_seed
from gem.env import Env
from gem.errors import BadArguments
from gem.rollouts._planning import plan_episodes
from gem.specs import EnvSpec


class Coin(Env):
    """No finite set of tasks."""


class Dice(Env):
    """Three tasks, or as many as asked for."""

    def __init__(self, *, size: int = 3) -> None:
        self.num_tasks = size


@pytest.fixture(autouse=True)
def _envs() -> None:
    gem.register("demo:Coin", Coin)
    gem.register("demo:Dice", Dice)


def test_repeats_share_their_episode() -> None:
    plan = plan_episodes("demo:Coin", episodes=2, repeats=3)
    assert len(plan) == 6
    assert len({each.seed for each in plan}) == 2


def test_a_plan_is_the_same_in_every_version() -> None:
    plan = plan_episodes("demo:Dice", episodes=4, repeats=1)

    assert [each.task for each in plan] == [1, 0, 2, 2]
    assert [each.seed for each in plan] == [episode_seed(0, 0, number) for number in range(4)]


def test_a_schedule_is_planned_by_its_components() -> None:
    schedule = gem.Schedule([{"env": "demo:Coin"}, {"env": "demo:Dice", "weight": 2}])

    plan = plan_episodes(schedule, episodes=5, repeats=2)

    places = [(each.env_index, each.episode_index, each.repeat) for each in plan]
    assert places == [(schedule.choose(0, at), at, again) for at in range(5) for again in (0, 1)]
    assert {each.task for each in plan if each.env_index == 0} <= {None}
    assert {each.task for each in plan if each.env_index == 1} == {0, 1, 2}


def test_all_of_a_schedule_is_refused() -> None:
    with pytest.raises(BadArguments, match="how often each comes"):
        plan_episodes(gem.Schedule([{"env": "demo:Dice"}]), episodes="all")


def test_a_set_may_have_one_task() -> None:
    plan = plan_episodes("demo:Dice", episodes="all", env_kwargs={"size": 1})
    assert [each.task for each in plan] == [0]


def test_all_is_every_task_once() -> None:
    plan = plan_episodes("demo:Dice", episodes="all")
    assert sorted(each.task or 0 for each in plan) == [0, 1, 2]


def test_n_is_the_first_n_of_the_seeds_permutation() -> None:
    tasks = [each.task for each in plan_episodes("demo:Dice", episodes="all", seed=3)]
    assert [each.task for each in plan_episodes("demo:Dice", episodes=2, seed=3)] == tasks[:2]


def test_another_seed_is_another_permutation() -> None:
    orders = {
        tuple(each.task for each in plan_episodes("demo:Dice", episodes="all", seed=seed))
        for seed in range(40)
    }
    assert len(orders) == 6


def test_more_episodes_than_tasks_go_round_again() -> None:
    plan = plan_episodes("demo:Dice", episodes=7)
    assert sorted(Counter(each.task for each in plan).values()) == [2, 2, 3]
    assert len({each.seed for each in plan}) == 7


def test_a_longer_plan_begins_as_a_shorter_one() -> None:
    short, long = (plan_episodes("demo:Dice", episodes=n, seed=1) for n in (4, 9))
    assert long[:4] == short


def test_a_large_set_costs_only_what_is_taken() -> None:
    plan = plan_episodes("demo:Dice", episodes=5, env_kwargs={"size": 10**15})
    assert len({each.task for each in plan}) == 5


def test_environments_are_told_apart_by_their_position() -> None:
    plan = plan_episodes(["demo:Coin", "demo:Coin"], episodes=3)
    assert [each.env_index for each in plan] == [0, 0, 0, 1, 1, 1]
    assert len({each.seed for each in plan}) == 6


@pytest.mark.parametrize(
    "options", [{"episodes": 0}, {"episodes": True}, {"episodes": "5"}, {"repeats": 0}]
)
def test_a_count_that_is_no_count_is_refused(options: dict[str, Any]) -> None:
    [(name, value)] = options.items()
    with pytest.raises(BadArguments, match=f"^{name}={value!r} .* from 1 on"):
        plan_episodes("demo:Dice", **{"episodes": 1, **options})


@pytest.mark.parametrize("episodes", ["all", 1])
def test_an_empty_set_of_tasks_is_refused(episodes: Any) -> None:
    with pytest.raises(BadArguments, match=r"'demo:Dice'.*empty"):
        plan_episodes("demo:Dice", episodes=episodes, env_kwargs={"size": 0})


def test_all_of_no_finite_set_is_refused() -> None:
    with pytest.raises(BadArguments, match="'demo:Coin' were asked for"):
        plan_episodes([gem.spec("demo:Coin"), EnvSpec(id="demo:X", target="x:x")], episodes="all")


@pytest.mark.parametrize("seed", ["0", 1.5, None, True])
def test_a_seed_is_an_int(seed: Any) -> None:
    with pytest.raises(BadArguments, match=f"^seed={seed!r} .*A seed is an int"):
        plan_episodes("demo:Coin", episodes=1, seed=seed)


@pytest.mark.parametrize(("env", "kind"), [(dict, "a class and no"), (Coin(), "a live instance")])
@pytest.mark.parametrize("ask", [gem.make, lambda env: gem.rollout(lambda request: "", env)])
def test_what_makes_no_environment_is_told_what_does(
    env: Any, kind: str, ask: Callable[[Any], Any]
) -> None:
    with pytest.raises(BadArguments, match=f"which is {kind}.*Give a subclass of gem.Env"):
        ask(env)


def test_what_is_no_environment_is_refused() -> None:
    with pytest.raises(BadArguments, match="5 does not describe an environment"):
        gem.rollout(lambda request: "", cast(Any, 5))
