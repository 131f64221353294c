from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import gem
from gem.errors import BadArguments

pytest.importorskip("reasoning_gym", reason="the extra `tasks` is not installed")

MIX: list[dict[str, Any]] = [
    {"name": "chain_sum", "weight": 3, "level": 1},
    {"name": "leg_counting", "config": {"min_animals": 1, "max_animals": 2}},
]


def names(count: int, **kwargs: Any) -> Counter[str]:
    env = gem.make("rg:composite", **kwargs)
    return Counter(env.reset(seed=seed)[1]["name"] for seed in range(count))


def test_tasks_come_as_often_as_their_weights_say() -> None:
    drawn = names(2_000, datasets=MIX)

    assert sorted(drawn) == ["chain_sum", "leg_counting"]
    assert 0.7 < drawn["chain_sum"] / 2_000 < 0.8


def test_a_task_of_weight_nought_never_comes() -> None:
    assert names(100, datasets=[MIX[0], {"name": "dice", "weight": 0}]) == {"chain_sum": 100}


def test_a_question_of_a_mix_is_judged_by_its_task() -> None:
    env = gem.make("rg:composite", datasets=MIX)
    for seed in range(20):
        _, info = env.reset(seed=seed)
        step = env.step(str(env.solve()))
        assert step.info["success"]
        assert step.info["name"] == info["name"]


def test_a_snapshot_keeps_whose_question_it_is() -> None:
    env = gem.make("rg:composite", datasets=MIX)
    env.reset(seed=3)
    with gem.make("rg:composite", datasets=MIX) as other:
        other.restore(gem.Snapshot.from_json(env.snapshot().to_json()))
        assert other.solve() == env.solve()
        assert other.step(str(env.solve())).info == env.step(str(env.solve())).info


def test_without_a_list_every_task_is_mixed() -> None:
    env = gem.make("rg:composite")
    _, info = env.reset(seed=0)

    assert info["name"]


@pytest.mark.parametrize(
    ("datasets", "message"),
    [
        ([], "one or more tasks"),
        ([MIX[0], MIX[0]], "each named once"),
        ([{"name": "dice", "weight": 0}], "sum of weights above 0"),
        ([{"name": "dice", "weight": -1}], "weight"),
        ([{"name": "dice", "weights": 1}], "weights"),
        ([{"name": "no_such_task"}], "no_such_task"),
        ([{"name": "composite"}], "composite"),
        ([{"name": "dice", "level": 99}], "level=99"),
        ([{"name": "dice", "config": {"sides": 3}}], "no 'sides'"),
    ],
)
def test_what_cannot_be_mixed_is_one_error(datasets: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(BadArguments, match=message):
        gem.make("rg:composite", datasets=datasets)
