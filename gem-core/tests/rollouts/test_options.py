"""The options of a rollout: one object, checked when it is made, or the same as keywords."""

from __future__ import annotations

import asyncio
from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

import gem
from gem.errors import BadArguments, UnknownEnv
from gem.rollouts import check_rollout
from gem.rollouts._options import RolloutKeywords


def guess(request: gem.Request) -> str:
    return "3"


@pytest.fixture(autouse=True)
def _demo() -> None:
    gem.register("demo:Guess", "gem.testing.envs:Guess")


def fingerprints(**options: Any) -> list[str]:
    async def collect() -> list[str]:
        run = gem.rollout(guess, "demo:Guess", **options)
        return sorted([episode.fingerprint() async for episode in run])

    return asyncio.run(collect())


def test_an_object_runs_the_episodes_that_its_keywords_run() -> None:
    options = gem.RolloutOptions(episodes=3, seed=7, max_turns=2)

    assert fingerprints(options=options) == fingerprints(episodes=3, seed=7, max_turns=2)


def test_a_keyword_beside_the_object_stands_in_place_of_its_own() -> None:
    options = gem.RolloutOptions(episodes=3, seed=7)

    assert fingerprints(options=options, seed=8) == fingerprints(episodes=3, seed=8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"episodes": 0}, "episodes=0 was asked for"),
        ({"repeats": 1.0}, "repeats=1.0 was asked for"),
        ({"seed": "x"}, "seed='x' was asked for"),
        ({"concurrency": 0}, "concurrency=0 was asked for"),
        ({"step_timeout_s": "5"}, "step_timeout_s='5' was asked for"),
        ({"policy_retries": -1}, "policy_retries=-1 was asked for"),
        ({"retry_wait_s": None}, "retry_wait_s=None was asked for"),
        ({"wrappers": "concat"}, "give one of them in a list of its own"),
        ({"wrappers": 3}, "wrappers=3 was given"),
        ({"env_kwargs": [1]}, "env_kwargs=.* is a dict of arguments"),
        ({"backend_options": "fork"}, "backend_options='fork' was given"),
    ],
)
def test_what_cannot_be_is_refused_when_the_options_are_made(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadArguments, match=message) as caught:
        gem.RolloutOptions(**options)

    assert caught.value.subject in options


def test_an_option_of_another_name_is_answered_by_the_nearest() -> None:
    options: Any = {"episode": 3}

    with pytest.raises(BadArguments, match=r"'episode', .*Did you mean 'episodes'\? It has ep"):
        gem.rollout(guess, "demo:Guess", **options)


def test_an_option_like_no_other_is_answered_by_their_list() -> None:
    options: Any = {"xyzzy": 3}

    with pytest.raises(BadArguments, match=r"none of that name\. It has episodes, repeats"):
        gem.rollout(guess, "demo:Guess", **options)


def test_options_do_not_change_with_what_they_were_made_of() -> None:
    kwargs = {"highest": 9}
    options = gem.RolloutOptions(env_kwargs=kwargs, backend_options=None)
    kwargs["highest"] = 3

    assert options.env_kwargs == {"highest": 9}
    assert options.backend_options == {}
    with pytest.raises(FrozenInstanceError):
        options.seed = 1  # type: ignore[misc]


def test_type_checkers_know_each_option_by_the_type_that_the_object_has() -> None:
    keywords = {
        name: hint.__forward_arg__ for name, hint in RolloutKeywords.__annotations__.items()
    }

    assert keywords == {option.name: option.type for option in fields(gem.RolloutOptions)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "abacus"}, "abacus"),
        ({"num_workers": 2}, "num_workers=2 was given with a backend"),
        ({"backend": "process", "backend_options": {"start_method": "spoon"}}, "spoon"),
    ],
)
def test_a_check_asks_the_backend_too_and_starts_nothing(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadArguments, match=message):
        check_rollout("demo:Guess", gem.RolloutOptions(**options))


def test_a_check_of_what_can_run_raises_nothing_and_asks_for_the_environment() -> None:
    check_rollout("demo:Guess", gem.RolloutOptions(backend="process", num_workers=2))

    with pytest.raises(UnknownEnv):
        check_rollout("demo:Gess", gem.RolloutOptions())
