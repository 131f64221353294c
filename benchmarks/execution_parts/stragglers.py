"""Rollouts against lock-step with autoreset, on a simulated inference server.

Everything runs on a virtual clock: what computes takes no time, what waits takes what it says.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

from benchmarks.execution_parts.part import Bar, Part, spread
from benchmarks.execution_parts.side import Side, serve
from benchmarks.execution_parts.simulated_server import SimulatedServer
from benchmarks.execution_parts.tool_envs import IN_LOCKSTEP, IN_ROLLOUT
from benchmarks.execution_parts.virtual_clock import run_in_virtual_time

import gem

SLOTS = 256
SEEDS = (0, 1, 2)
WAYS = ("rollout", "lock-step")


def measure(*, is_quick: bool) -> Part:
    """Play as many environments as there are slots, and four times as many."""
    slots = 16 if is_quick else SLOTS
    rows = []
    with Side(sys.executable, "stragglers") as side:
        for times in (1, 4):
            runs_by_way: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
            for seed in SEEDS[: 1 if is_quick else None]:
                for way in WAYS:
                    asked = {"way": way, "slots": slots, "num_envs": slots * times, "seed": seed}
                    runs_by_way[way].append(side.tell("play", **asked))
            rows += [summary(way, times, slots, runs) for way, runs in runs_by_way.items()]
            pairs = zip(*(runs_by_way[way] for way in WAYS), strict=True)  # (ours, theirs)
            faster = [one["episodes_per_s"] / other["episodes_per_s"] for one, other in pairs]
            rows[-2]["ratio"] = spread(faster)
            rows[-1]["ratio"] = spread([1.0])
    return Part(
        "Rollouts against lock-step",
        rows,
        {
            "": "{way}",
            "slots": "{slots}",
            "episodes in flight": "{num_envs:,}",
            "episodes a second": "{episodes_per_s[median]:.2f}",
            "times lock-step's (least to most)": "{ratio[median]:.2f} "
            "({ratio[least]:.2f} to {ratio[most]:.2f})",
            "share of what the slots allow": "{share[median]:.3f}",
        },
        bars(rows),
    )


def summary(way: str, times: int, slots: int, runs: list[dict[str, float]]) -> dict[str, Any]:
    """Return one row, of all seeds."""
    figures = {name: spread(run[name] for run in runs) for name in runs[0]}
    return {"way": way, "slots": slots, "num_envs": slots * times, **figures}


def bars(rows: list[dict[str, Any]]) -> list[Bar]:
    """Return the bars, of medians."""
    one, four = (row for row in rows if row["way"] == "rollout")
    what = "episodes a second of a rollout, times lock-step's"
    return [
        Bar(f"{what}, as many as slots", one["ratio"]["median"], least=4),
        Bar(f"{what}, 4 times as many", four["ratio"]["median"], least=1.7),
        Bar("share of what the slots allow, as many as slots", one["share"]["median"], least=0.97),
        Bar("share of what the slots allow, 4 times", four["share"]["median"], least=0.97),
    ]


def play(way: str, slots: int, num_envs: int, seed: int) -> dict[str, float]:
    """Return episodes a second of virtual time, and the share of the tokens that could be."""
    return run_in_virtual_time(observed(way, slots, num_envs, seed))


async def observed(way: str, slots: int, num_envs: int, seed: int) -> dict[str, float]:
    """Watch a stretch in the middle: not the beginning, and nobody is waited for at the end."""
    server = SimulatedServer(slots)
    now_s = asyncio.get_running_loop().time
    ended = {"rollout": in_rollout, "lock-step": in_lockstep}[way](server, num_envs, seed)
    begin = 2 * num_envs
    end = 2 * num_envs + max(2048, 4 * num_envs) * slots // SLOTS
    count = 0
    before = (0, 0.0, 0)
    async for more in ended:
        if count < begin <= count + more:
            before = count + more, now_s(), server.tokens
        count += more
        if count >= end:
            break
    episodes = count - before[0]
    taken_s = now_s() - before[1]
    tokens = server.tokens - before[2]
    await ended.aclose()  # type: ignore[attr-defined]
    await server.close()
    return {"episodes_per_s": episodes / taken_s, "share": tokens / server.most_tokens(taken_s)}


async def in_rollout(server: SimulatedServer, num_envs: int, seed: int) -> AsyncIterator[int]:
    """Yield 1 for each episode that ends."""

    async def policy(request: gem.Request) -> str:
        await server.generate(int(str(request.messages[-1].text)))
        return "go on"

    plays = gem.rollout(policy, IN_ROLLOUT, episodes=20 * num_envs, concurrency=num_envs, seed=seed)
    try:
        async for _ in plays:
            yield 1
    finally:
        await plays.aclose()


async def in_lockstep(server: SimulatedServer, num_envs: int, seed: int) -> AsyncIterator[int]:
    """Yield how many episodes end in each round: generate for all, then step all.

    The environments step at once, each in its own time, and the round waits for the slowest.
    """
    with gem.make_vec(IN_LOCKSTEP, num_envs=num_envs, seed=seed) as vector:
        observations, _ = vector.reset()
        while True:
            await asyncio.gather(
                *(server.generate(int(str(observation))) for observation in observations)
            )
            observations, _, terminated, _, infos = vector.step(["go on"] * num_envs)
            await asyncio.sleep(max(info.get("final_info", info)["step_s"] for info in infos))
            yield int(terminated.sum())


if __name__ == "__main__":
    serve({"play": play})
