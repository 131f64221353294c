"""`system_prompt`: a message of the system before the first observation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import gem
from gem.content import Message, TextPart
from gem.env import Env
from gem.wrappers._system_prompt import SystemPrompt

MakeEnv = Callable[..., Env]


def test_it_opens_the_episode_and_no_turn_after_it(quiet: MakeEnv) -> None:
    env = SystemPrompt(quiet(), "Be brief.")

    assert env.reset()[0] == (Message("system", "Be brief."), Message("user", "one"))
    assert env.step("a").observation == "two"


def test_parts_stay_parts(quiet: MakeEnv) -> None:
    env = SystemPrompt(quiet([[TextPart("b")], "end"]), "Look.")

    assert env.reset()[0] == (Message("system", "Look."), Message("user", (TextPart("b"),)))


def test_a_policy_is_shown_it_once_and_the_suffix_stays_with_the_user(said_id: str) -> None:
    seen: list[list[tuple[str, str]]] = []

    async def policy(request: gem.Request) -> str:
        seen.append([(each.role, each.text) for each in request.messages])
        return "yes"

    async def play() -> None:
        layers = [{"id": "system_prompt", "text": "Be brief."}]
        async for _ in gem.rollout(policy, said_id, wrappers=layers):
            pass

    asyncio.run(play())

    assert seen[0] == [("system", "Be brief."), ("user", "one\ns0")]
    assert seen[1] == [*seen[0], ("assistant", "yes"), ("user", "two\ns1")]
