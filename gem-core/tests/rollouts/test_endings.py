"""How an episode ends: by its environment, a limit or an error, which costs one episode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gem
from gem._python.seeding import key_seed
from gem.content import ToolCall
from gem.conversation import Reply, Request, Usage
from gem.episode import Episode
from gem.errors import ModelLengthError
from gem.rollouts._planning import PlannedEpisode, plan_episodes
from gem.specs import EnvSpec

from .envs import FAULTS, Slow, _answer, fail_with, nested
from .running import Solve, run, run_one


def test_the_solver_wins_and_success_is_recorded() -> None:
    episode = run_one(Solve())
    assert (episode.success, episode.stop_reason, episode.total_reward) == (True, "terminated", 1.0)
    assert episode.policy == "Solve"
    assert episode.turns[0].reward_parts == {"hit": 1.0}
    assert episode.turns[0].suffix == "first"


def test_a_turn_limit_of_the_environment_truncates() -> None:
    episode = run_one(lambda request: "neither", env_kwargs={"limit": 2})
    assert (episode.stop_reason, episode.truncated, episode.terminated) == (
        "truncated",
        True,
        False,
    )
    assert episode.success is False
    assert episode.env_kwargs == {"limit": 2}


def test_a_turn_limit_of_the_run_truncates_the_episode_and_not_its_turn() -> None:
    episode = run_one(lambda request: "neither", max_turns=3)
    assert (episode.stop_reason, len(episode.turns)) == ("max_turns", 3)
    assert episode.truncated
    assert not episode.turns[-1].truncated


def test_without_success_in_info_the_return_decides() -> None:
    assert run_one(lambda request: "x", "demo:Dice").success is True


@pytest.mark.parametrize("env", ["demo:Coin", "demo:BlockingCoin"])
@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_an_error_of_the_environment_ends_its_own_episode_only(env: str, fault: str) -> None:
    def policy(request: Request) -> str:
        return fault if request.seed == broken else request.solution or ""

    policy.wants = ("solution",)  # type: ignore[attr-defined]
    plan = plan_episodes(env, episodes=5)
    broken = key_seed("policy", plan[2].seed, 0, 0)
    episodes = {e.episode_index: e for e in run(policy, env, plan=plan)}
    assert {i for i, e in episodes.items() if e.is_error} == {2}
    assert episodes[2].stop_reason == "env_error"
    assert episodes[2].turns[-1].action == fault
    assert episodes[2].success is None
    assert episodes[2].error
    assert Episode.from_json(episodes[2].to_json()) == episodes[2]


def test_an_environment_that_cannot_be_made_is_an_error_on_its_episodes(
    placed: Callable[[str, str], str],
) -> None:
    plan = [PlannedEpisode(0, 0, 0, 1, None)]
    episode = run_one(lambda request: "H", "demo:Unmakable", plan=plan)
    assert (episode.stop_reason, episode.error) == (
        "env_error",
        placed("RuntimeError: no data", "__init__"),
    )
    assert episode.turns == ()


@pytest.mark.parametrize(
    ("policy", "error"),
    [
        (lambda request: fail_with(ConnectionError("refused")), "ConnectionError: refused"),
        (lambda request: fail_with(SystemExit(2)), "SystemExit: 2"),
        (lambda request: 7, "TypeError: A policy returned int."),
    ],
)
def test_an_error_of_the_policy_is_no_wrong_answer(policy: Any, error: str) -> None:
    episode = run_one(policy)
    assert episode.stop_reason == "policy_error"
    assert episode.success is None
    assert (episode.error or "").startswith(error)


def test_a_prompt_beyond_the_models_context_is_unsolved_and_no_error() -> None:
    asked = []

    async def short_of_memory(request: Request) -> str:
        asked.append(request.turn)
        if request.turn == 1:
            raise ModelLengthError("The prompt is too long.")
        return "neither"

    episode = run_one(short_of_memory, env_kwargs={"limit": 9}, policy_retries=3)

    assert asked == [0, 1]  # the same prompt is as long when it is sent again
    assert (episode.stop_reason, episode.error, episode.is_error) == ("model_length", None, False)
    assert (len(episode.turns), episode.truncated, episode.success) == (1, True, False)
    assert gem.replay(episode).state == "same"


def test_what_was_reached_before_the_models_context_ended_is_not_solved() -> None:
    def silent(request: Request) -> str:
        raise ModelLengthError("The prompt is too long.")

    generous = EnvSpec(id="demo:Generous", target="here:Slow", success_return=0.0)
    gem.register(generous, Slow)

    episode = run_one(silent, "demo:Generous")

    assert (episode.turns, episode.success) == ((), False)
    assert gem.replay(episode).state == "same"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("text reward", "step returned the reward 'much', and it must be a number"),
        ("text info", "step returned the info 'oops', and it must be a dict"),
        ("text success", "info['success'] is 'no', and it must be true or false"),
        ("number of parts", "info['reward_parts'] is 5, and it must be a dict"),
        (
            "bad observation",
            "The environment returned the observation 7, of type int. It must be text, a "
            "gem.Message, or a list of messages or of parts.",
        ),
    ],
)
def test_what_no_record_can_hold_is_named(fault: str, error: str) -> None:
    assert run_one(lambda request: fault).error == f"TypeError: {error}"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(gem.Message("assistant", "H"), (1,), (float("nan"),)),
        Reply(gem.Message("assistant", "H", (ToolCall("c", "f", {"x": float("inf")}),))),
        Reply(gem.Message("assistant", "H", (ToolCall("c", "f", {"x": object()}),))),
        Reply(gem.Message("assistant", "H"), ("one",)),  # type: ignore[arg-type]
        Reply(gem.Message("assistant", "H", (ToolCall(None, "f"),))),  # type: ignore[arg-type]
        Reply(gem.Message("assistant", "H"), usage={"prompt_tokens": 1}),  # type: ignore[arg-type]
        Reply(gem.Message("assistant", "H"), usage=Usage("1")),  # type: ignore[arg-type]
        Reply(gem.Message("assistant", "H", (ToolCall("c", "f", {"x": nested(200)}),))),
        Reply(gem.Message("assistant", None)),  # type: ignore[arg-type]
        Reply(gem.Message("assistant", "H"), reasoning=["so"]),  # type: ignore[arg-type]
    ],
)
def test_a_reply_that_no_record_could_hold_is_the_policys_error(reply: Reply) -> None:
    episode = run_one(lambda request: reply)
    assert episode.stop_reason == "policy_error"
    assert Episode.from_json(episode.to_json()) == episode


def test_rewards_that_overflow_their_sum_end_one_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAULTS, "huge", lambda: _answer(reward=1.7e308))

    def policy(request: Request) -> str:
        return "huge" if request.turn < 2 else "H"

    first, second = run(policy, "demo:Coin", episodes=2)
    assert (first.stop_reason, second.stop_reason) == ("env_error", "env_error")
    assert first.total_reward == 1.7e308
