from __future__ import annotations

import asyncio

import pytest

import gem
from gem.testing import ScriptedPolicy


def test_turns_are_answered_in_order() -> None:
    policy = ScriptedPolicy(["a", "b"])

    answers = [policy(gem.Request(turn=turn)) for turn in (1, 0, 1)]

    assert answers == ["b", "a", "b"]


def test_a_function_answers_from_the_request() -> None:
    policy = ScriptedPolicy(lambda request: f"turn {request.turn}")

    assert policy(gem.Request(turn=3)) == "turn 3"


def test_requests_are_kept() -> None:
    policy = ScriptedPolicy(["a"])
    request = gem.Request(turn=0, env_id="fine:Thing")

    policy(request)

    assert policy.requests == [request]


def test_a_script_that_is_too_short_says_so() -> None:
    with pytest.raises(IndexError, match="Turn 2 was asked for, and the script has 1 answers"):
        ScriptedPolicy(["a"])(gem.Request(turn=1))


def test_it_plays_in_a_rollout_under_its_name() -> None:
    gem.register("fine:Scripted", "gem.testing.envs:Lamps")
    policy = ScriptedPolicy(lambda request: str(1 + request.turn % 4), name="lamplighter")

    async def run() -> list[gem.Episode]:
        return [episode async for episode in gem.rollout(policy, "fine:Scripted", episodes=3)]

    episodes = asyncio.run(run())

    assert {episode.policy for episode in episodes} == {"lamplighter"}
    assert len(policy.requests) == sum(len(episode.turns) for episode in episodes)
