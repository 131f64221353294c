from __future__ import annotations

import asyncio
import inspect

import pytest

import gem
from gem import Message, Reply, Request
from gem.errors import BadArguments, GemError, TargetError, UnknownPolicy
from gem_eval import make_policy
from gem_eval.policies import NamedPolicy

QUESTION = Request((Message("user", "Guess."),), env_id="tiny:Guess")


def ask(policy: NamedPolicy, request: Request = QUESTION) -> object:
    answer = policy(request)
    if not inspect.isawaitable(answer):
        return answer

    async def answered() -> Reply | Message | str:
        return await answer

    return asyncio.run(answered())


def play(policy: str, env: str, episodes: int = 20) -> list[gem.Episode]:
    async def collect() -> list[gem.Episode]:
        return [
            episode async for episode in gem.rollout(make_policy(policy), env, episodes=episodes)
        ]

    return asyncio.run(collect())


def test_solver_solves() -> None:
    assert {episode.success for episode in play("solver", "tiny:Guess")} == {True}


def test_random_draws_valid_actions() -> None:
    episodes = play("random", "tiny:Guess")

    assert {turn.reward for episode in episodes for turn in episode.turns} == {0.0, 1.0}


def test_noop_says_nothing() -> None:
    assert {turn.action for episode in play("noop", "tiny:Guess") for turn in episode.turns} == {""}


@pytest.mark.parametrize(
    ("policy", "error"), [("solver", "knows none"), ("random", "sample_action")]
)
def test_an_environment_that_cannot_help_is_an_error_and_no_wrong_answer(
    policy: str, error: str
) -> None:
    [episode] = play(policy, "tiny:Silent", episodes=1)

    assert (episode.stop_reason, episode.success) == ("policy_error", None)
    assert error in str(episode.error)


def test_a_scripted_class_is_made_and_asked() -> None:
    assert ask(make_policy("scripted:gem_eval_tiny.policies:Bisect")) == r"\boxed{8}"


def test_a_scripted_function_is_asked() -> None:
    assert ask(make_policy("scripted:gem_eval_tiny.policies:shout")) == "GUESS."


def test_a_policy_is_recorded_under_the_name_it_was_asked_by() -> None:
    assert make_policy("scripted:gem_eval_tiny.policies:Bisect").name == (
        "scripted:gem_eval_tiny.policies:Bisect"
    )


@pytest.mark.parametrize(
    ("target", "what"),
    [
        ("no_such_module:Policy", "No module named"),
        ("gem_eval_tiny.policies:Absent", "Absent"),
        ("gem_eval_tiny.policies", "module:Class"),
        ("gem_eval_tiny.policies:Needy", "without arguments"),
        ("gem_eval_tiny.policies:number", "cannot be called"),
    ],
)
def test_a_script_that_cannot_be_loaded_is_told(target: str, what: str) -> None:
    with pytest.raises(TargetError, match=what):
        make_policy(f"scripted:{target}")


def test_a_policy_of_another_pack_is_found() -> None:
    assert ask(make_policy("parrot:ab", times=3)) == "ababab"


def test_a_rollout_takes_these_policies_by_their_names() -> None:
    [episode] = gem.run("solver", "tiny:Guess")

    assert (episode.policy, episode.success) == ("solver", True)


def test_an_unknown_policy_is_answered_by_the_nearest() -> None:
    with pytest.raises(UnknownPolicy, match="'solver'"):
        make_policy("solvr")


@pytest.mark.parametrize("policy", ["parrot", "parrot:", "noop:word", "noop:"])
def test_an_argument_that_is_missing_or_too_much_is_refused(policy: str) -> None:
    with pytest.raises(BadArguments, match="argument"):
        make_policy(policy)


@pytest.mark.parametrize("kwargs", [{"tims": 3}, {"times": "3"}, {"word": "b"}])
def test_options_are_checked_against_the_policy(kwargs: dict[str, object]) -> None:
    with pytest.raises(GemError, match="times: int"):
        make_policy("parrot:a", **kwargs)


def test_closing_reaches_the_policy() -> None:
    closed = []

    class Holder:
        def __call__(self, request: Request) -> str:
            return ""

        async def aclose(self) -> None:
            closed.append(self)

    asyncio.run(NamedPolicy("holder", Holder()).aclose())

    assert len(closed) == 1
