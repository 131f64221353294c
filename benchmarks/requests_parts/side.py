"""Ask the server by one client, in a process of its own, and say what it cost.

`python -m benchmarks.requests_parts.side CLIENT URL IN_FLIGHT REQUESTS` prints JSON: CPU and wall
seconds of the requests after a first one of each place, which opens its connection.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

Ask = Callable[[], Awaitable[object]]
QUESTION = "Guess a number from 1 to 50, and say it in a box."
TURNS = 5


@asynccontextmanager
async def bare_aiohttp(url: str, in_flight: int) -> AsyncIterator[Ask]:
    """Ask by aiohttp and read the JSON: the floor."""
    import aiohttp

    body = {"model": "model", "messages": [{"role": "user", "content": QUESTION}]}

    async def ask() -> object:
        async with session.post(f"{url}/chat/completions", json=body) as answer:
            return await answer.json()

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        yield ask


@asynccontextmanager
async def openai_policy(url: str, in_flight: int) -> AsyncIterator[Ask]:
    """Ask by the policy `openai:`."""
    from gem import Message, Request
    from gem_eval import make_policy

    policy: Any = make_policy(f"openai:model@{url}")
    request = Request((Message("user", QUESTION),), seed=5)
    yield lambda: policy(request)
    await policy.aclose()


@asynccontextmanager
async def inspect_ai(url: str, in_flight: int) -> AsyncIterator[Ask]:
    """Ask by Inspect's provider for servers that speak the OpenAI API."""
    from inspect_ai.model import ChatMessageUser, GenerateConfig, get_model

    config = GenerateConfig(max_connections=in_flight)
    model = get_model("openai-api/local/model", base_url=url, api_key="none", config=config)
    yield lambda: model.generate([ChatMessageUser(content=QUESTION)])


CLIENTS = {"aiohttp": bare_aiohttp, "openai": openai_policy, "inspect_ai": inspect_ai}


async def asked(client: str, url: str, in_flight: int, requests: int) -> dict[str, float]:
    """Return what so many requests cost, as many at once as there are places."""
    async with CLIENTS[client](url, in_flight) as ask:
        await asyncio.gather(*(ask() for _ in range(in_flight)))
        left = iter(range(requests))

        async def place() -> None:
            for _ in left:
                await ask()

        cpu_s = time.process_time()
        wall_s = time.perf_counter()
        await asyncio.gather(*(place() for _ in range(in_flight)))
        return {
            "cpu_s": time.process_time() - cpu_s,
            "wall_s": time.perf_counter() - wall_s,
            "requests": requests,
        }


async def played(url: str, in_flight: int, requests: int) -> dict[str, float]:
    """Return the same of whole episodes: the environment, the conversation and the record, too."""
    import gem
    from gem_eval import make_policy

    class Patient(gem.Env):
        """Say the question again, a few times."""

        max_turns = TURNS

        def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
            return QUESTION, {}

        def step(self, action: str) -> gem.Step:
            return gem.Step(QUESTION, 0.0, False, self.turn + 1 >= TURNS, {})

    spec = gem.EnvSpec(id="bench:Patient", target="bench:Patient", blocking=False)
    gem.register(spec, Patient)
    policy = make_policy(f"openai:model@{url}")
    cpu_s = wall_s = 0.0
    for episodes in (in_flight, requests // TURNS):  # the first ones open the connections
        cpu_s = time.process_time()
        wall_s = time.perf_counter()
        run = gem.rollout(policy, "bench:Patient", episodes=episodes, concurrency=in_flight)
        turns = [len(episode.turns) async for episode in run]
        cpu_s = time.process_time() - cpu_s
        wall_s = time.perf_counter() - wall_s
    await policy.aclose()
    return {"cpu_s": cpu_s, "wall_s": wall_s, "requests": sum(turns)}


def main(client: str, url: str, in_flight: str, requests: str) -> None:
    """Print the figures of one client."""
    numbers = int(in_flight), int(requests)
    work = played(url, *numbers) if client == "rollout" else asked(client, url, *numbers)
    print(json.dumps(asyncio.run(work)))


if __name__ == "__main__":
    main(*sys.argv[1:])
