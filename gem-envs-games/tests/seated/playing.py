"""Episodes of games of several seats, by direct steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gem

Player = Callable[[Any], str | None]


def boxed(move: str) -> str:
    return f"\\boxed{{{move}}}"


def taken(env: gem.SeatedEnv, *moves: str, seed: int = 0) -> list[gem.Step]:
    """The steps of an episode in which these moves are made, each in a box."""
    env.reset(seed=seed)
    return [env.step(boxed(move)) for move in moves]


def played(env: gem.SeatedEnv, players: list[Player], seed: int) -> list[gem.Step]:
    """The steps of an episode that these players play, one a seat."""
    env.reset(seed=seed)
    steps: list[gem.Step] = []
    while not steps or not (steps[-1].terminated or steps[-1].truncated):
        steps.append(env.step(players[env.seat](env) or ""))
    return steps


def sampled(env: Any) -> str:
    return str(env.sample_action())


def solved(env: Any) -> str:
    return str(env.solve())


def totals(steps: list[gem.Step]) -> list[float]:
    return [sum(amounts) for amounts in zip(*[step.rewards for step in steps], strict=True)]
