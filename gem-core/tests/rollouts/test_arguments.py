"""What a run takes, and what it refuses before anything runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

import pytest

import gem
from gem.errors import BadArguments, UnknownEnv
from gem.rollouts import rollout

from .running import Guess, Solve, run


@pytest.mark.parametrize(
    "limit",
    [
        {"max_turns": 0},
        {"max_turns": "3"},
        {"step_timeout_s": 0},
        {"policy_timeout_s": -1.0},
        {"episode_timeout_s": 0.0},
        {"policy_retries": -1},
        {"policy_retries": 1.0},
        {"retry_wait_s": -0.5},
        {"retry_wait_s": float("inf")},
    ],
)
def test_a_limit_that_allows_nothing_is_refused(limit: dict[str, Any]) -> None:
    with pytest.raises(BadArguments, match=f"{next(iter(limit))}=.* was asked for"):
        run(lambda request: "H", "demo:Coin", **limit)


def test_several_environments_run_side_by_side() -> None:
    episodes = run(Solve(), ["demo:Coin", "demo:Dice", "demo:Coin"], episodes=2)
    assert Counter(e.env_index for e in episodes) == {0: 2, 1: 2, 2: 2}
    assert len({e.seed for e in episodes}) == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"episodes": "all"}, "no finite set of tasks"),
        ({"episodes": 0}, "from 1 on"),
        ({"episodes": "5"}, "from 1 on"),
        ({"repeats": 0}, "from 1 on"),
        ({"concurrency": 0}, "from 1 on"),
        ({"backend": "abacus"}, "abacus"),
    ],
)
def test_wrong_use_is_one_clear_error(options: Mapping[str, Any], message: str) -> None:
    with pytest.raises(BadArguments, match=message):
        rollout(Guess(), "demo:Coin", **options)


def test_a_policy_that_cannot_be_called_is_refused_before_anything_runs() -> None:
    policy: Any = 7

    with pytest.raises(BadArguments, match="7 was given as the policy"):
        rollout(policy, "demo:Coin")


def test_an_unknown_environment_is_refused_before_anything_runs() -> None:
    with pytest.raises(UnknownEnv):
        rollout(Guess(), "demo:Nothing", plan=[])


def test_arguments_that_are_no_dict_are_refused() -> None:
    with pytest.raises(BadArguments, match=r"env_kwargs=\[1\] was given. It is a dict"):
        gem.rollout(lambda request: "", "demo:Echo", env_kwargs=cast(Any, [1]))
