"""What may be mixed, by class, factory, target or id, and what is refused."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from pydantic import ValidationError

import gem
from gem.errors import BadArguments, UnknownEnv
from gem.rollouts._mixtures import Component, Mixture
from gem.specs import EnvSpec
from gem.testing.envs import Echo, Guess

from .envs import ECHO, GUESS, SLOW, Slow, mixture


def test_arguments_and_wrappers_are_the_components_own() -> None:
    spec = mixture(
        {
            "env": GUESS,
            "kwargs": {"highest": 3},
            "wrappers": [{"id": "time_limit", "max_turns": 1}],
            "name": "short",
        }
    )
    with gem.make(spec) as env:
        observation, info = env.reset(seed=0)
        assert "1 to 3" in str(observation)
        assert info["component"] == {"index": 0, "name": "short"}
        assert env.max_turns == 1
        assert env.step("\\boxed{9}").truncated


def test_a_component_is_data_that_nobody_changes() -> None:
    component = Component(env=GUESS)
    with pytest.raises(ValidationError, match="frozen"):
        component.weight = 2.0


@pytest.mark.parametrize(
    ("envs", "message"),
    [
        ([], "one or more"),
        ([{"env": GUESS, "weight": 0}], "sum of weights above 0"),
        ([{"env": GUESS, "weight": 1e308}, {"env": ECHO, "weight": 1e308}], "finite sum"),
        ([{"env": GUESS, "weight": -1}], "weight"),
        ([{"env": GUESS, "weight": float("inf")}], "weight"),
        ([{"env": GUESS}, {"env": GUESS}], "names that differ"),
        ([{"id": "test:Guess"}], "env.*required|Field required"),
        ([{"env": GUESS, "kwargs": {"lowest": 1}}], "no 'lowest'"),
        ([{"env": 7}], "env"),
        ([{"env": dict}], "a class and no gem.Env"),
    ],
)
def test_what_is_no_mixture_is_one_error(envs: list[Any], message: str) -> None:
    with pytest.raises(BadArguments, match=message):
        Mixture(envs=envs)


def test_classes_factories_and_targets_are_components() -> None:
    listed = [
        {"env": Slow},
        {"env": lambda: Guess(4), "name": "made"},
        {"env": functools.partial(Guess, highest=3)},
        {"env": "gem.testing.envs:Coin"},
    ]
    with Mixture(envs=listed) as env:  # type: ignore[arg-type]
        seen = {env.reset(seed=seed)[1]["component"]["name"] for seed in range(40)}

    envs = "gem.testing.envs"
    assert seen == {SLOW.target, "made", f"{envs}:Guess", f"{envs}:Coin"}


def test_a_class_in_a_mixture_is_found_by_other_processes() -> None:
    with gem.make("gem:Mixture", envs=[Component(env=Echo), Component(env=Guess)]) as env:
        assert env.spec is not None
        recorded = EnvSpec.model_validate_json(env.spec.model_dump_json())
        with gem.make(recorded) as again:
            assert [again.reset(seed=seed) for seed in range(9)] == [
                env.reset(seed=seed) for seed in range(9)
            ]


def test_an_unknown_component_is_named() -> None:
    with pytest.raises(UnknownEnv, match="no:Such-v0"):
        Mixture(envs=[{"env": "no:Such-v0"}])  # type: ignore[list-item]
