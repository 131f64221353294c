"""Episodes with tools are the same wherever their environments live."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.specs import EnvSpec

GUESS = EnvSpec(
    id="demo:Guess", target="gem.testing.envs:Guess", kwargs={"highest": 31}, blocking=False
)


def policy(request: gem.Request) -> gem.Action:
    """Ask a tool on every other turn, and answer what it said on the others."""
    last = request.messages[-1]
    if last.role == "tool":
        return gem.Action(f"\\boxed{{{last.text.partition(',')[0]}}}")
    calls = [
        gem.ToolCall(f"c{number}", "halve", {"low": number, "high": len(request.messages)})
        for number in range(2)
    ]
    return gem.Action("Where is the middle?", tool_calls=calls)


def episodes(backend: str, **options: Any) -> dict[str, str]:
    wrappers = [{"id": "tools", "tools": ["stateless_tools:halve"], "max_tool_uses": 6}]
    run = gem.rollout(
        policy, GUESS, episodes=6, seed=3, wrappers=wrappers, backend=backend, **options
    )
    return asyncio.run(fingerprints(run))


async def fingerprints(run: AsyncIterator[gem.Episode]) -> dict[str, str]:
    return {f"{episode.seed}": episode.fingerprint() async for episode in run}


@pytest.mark.parametrize(
    ("backend", "options"), [("thread", {}), ("process", {"num_workers": 2})], ids=str
)
def test_every_backend_plays_the_same_episodes_with_tools(
    backend: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))

    inline = episodes("inline")

    assert len(inline) == 6
    assert episodes(backend, **options) == inline
