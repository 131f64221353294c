from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import gem
from gem.errors import BadArguments
from gem_envs_games.rewards import PUBLISHED, Rewards
from gem_envs_games.seated.listing import ENVS as SEATED


def test_the_defaults_are_the_published_constants() -> None:
    assert dataclasses.asdict(PUBLISHED) == {
        "success": 1.0,
        "step": 0.0,
        "fail": 0.0,
        "invalid": 0.0,
        "format_error": -0.1,
    }


def test_rewards_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        PUBLISHED.step = 1.0  # type: ignore[misc]


def test_published_rewards_stay_between_the_format_error_and_success() -> None:
    assert PUBLISHED.bounds() == (-0.1, 1.0)


@pytest.mark.parametrize(
    ("rewards", "bounds"),
    [
        (Rewards(invalid=-0.5), (-0.5, 1.0)),
        (Rewards(invalid=-0.5, fail=-1.0), (-1.5, 1.0)),
        (Rewards(success=2.0, step=-0.1), (-0.1, 2.0)),
        (Rewards(step=2.0, fail=-1.0), (-1.0, 3.0)),
        (Rewards(success=0.0, format_error=0.0), (0.0, 0.0)),
        (Rewards(success=1.0, step=0.5, invalid=0.5, fail=0.5, format_error=0.5), (0.0, 2.0)),
    ],
)
def test_bounds_hold_the_worst_and_the_best_step(
    rewards: Rewards, bounds: tuple[float, float]
) -> None:
    assert rewards.bounds() == bounds


def test_a_win_that_pays_less_than_any_other_step_is_within_the_bounds() -> None:
    rewards = Rewards(step=0.5, invalid=0.5, fail=0.5, format_error=0.5)
    env = gem.make("game:Sudoku-v0-easy", rewards=rewards)
    env.reset(seed=0)
    while not (step := env.step(env.solve() or "")).terminated:
        pass

    assert step.info["success"]
    assert env.reward_range[0] <= step.reward < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("id", [spec.id for spec in gem.list_envs("game:*") if spec not in SEATED])
@pytest.mark.parametrize("sign", [1, -1])
def test_no_step_leaves_the_bounds_of_replaced_rewards(id: str, sign: int) -> None:
    rewards = {"success": 1.0 * sign, "step": 2.0 * sign, "fail": -1.0 * sign}
    env = gem.make(id, rewards=rewards)
    env.reset(seed=0)
    low, high = env.reward_range
    is_over = False
    while not is_over:
        is_searched = env.turn % 2 and env.turn < 60
        action = env.solve() if is_searched else None
        step = env.step(action or env.sample_action())
        is_over = step.terminated or step.truncated

        assert low - 1e-9 <= step.reward <= high + 1e-9


@pytest.mark.parametrize("rewards", [{"invalid": -0.05}, Rewards(invalid=-0.05)])
def test_a_user_replaces_a_constant_through_make(rewards: Any) -> None:
    env = gem.make("game:GuessTheNumber-v0-easy", rewards=rewards)
    env.reset(seed=0)

    step = env.step("\\boxed{99}")

    assert step.reward == -0.05
    assert step.info["reward_parts"] == {"invalid": -0.05}


def test_replaced_rewards_survive_the_spec() -> None:
    env = gem.make("game:TowerofHanoi-v0-easy", rewards={"invalid": -0.05})
    assert env.spec is not None

    again = gem.make(type(env.spec).model_validate_json(env.spec.model_dump_json()))
    again.reset(seed=0)

    assert again.step("\\boxed{B A}").reward == -0.05


@pytest.mark.parametrize(
    "rewards",
    [{"invald": 0.0}, {"invalid": "0"}, {"invalid": True}, {"invalid": None}, [], 1.0],
)
def test_rewards_that_do_not_fit_are_refused_before_anything_is_built(rewards: Any) -> None:
    with pytest.raises(BadArguments, match="rewards="):
        gem.make("game:GuessTheNumber-v0-easy", rewards=rewards)
