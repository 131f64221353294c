"""What the tests of games share: a game played to its end by what it holds for the best move."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import gem

PlayOut = Callable[[gem.Env], list[gem.Step]]


@pytest.fixture(scope="session")
def play_out() -> PlayOut:
    """Return a function that plays on by `solve()` to the end, and returns the steps."""

    def steps_of(env: gem.Env) -> list[gem.Step]:
        steps: list[gem.Step] = []
        while not steps or not (steps[-1].terminated or steps[-1].truncated):
            action = env.solve()
            assert action is not None
            steps.append(env.step(action))
        return steps

    return steps_of
