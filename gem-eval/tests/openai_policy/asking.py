"""A policy of an OpenAI-compatible server with short waits, and what it is asked here."""

from __future__ import annotations

import asyncio
from typing import Any

from gem import Message, Reply, Request
from gem_eval import PolicyError
from gem_eval.policies.openai import OpenAIPolicy

QUESTION = Request((Message("user", "Guess."),), seed=5)


def policy_at(url: str, **options: Any) -> OpenAIPolicy:
    usual = {"backoff_s": 0.0, "max_backoff_s": 0.0, "wait_for_server_s": 0.0}
    return OpenAIPolicy(f"my-model@{url}", **{**usual, **options})


def ask(policy: OpenAIPolicy, *requests: Request) -> list[Reply | str]:
    """Ask one after another; an error stands as its text."""

    async def answers() -> list[Reply | str]:
        said: list[Reply | str] = []
        for request in requests or (QUESTION,):
            try:
                said.append(await policy(request))
            except PolicyError as error:
                said.append(str(error))
        await policy.aclose()
        return said

    return asyncio.run(answers())


def complaint(policy: OpenAIPolicy) -> str:
    [said] = ask(policy)
    assert isinstance(said, str)
    assert "\n" not in said
    return said
