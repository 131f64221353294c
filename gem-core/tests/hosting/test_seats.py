"""A worker that is killed while several seats play: their episodes go on as of one seat."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

import gem
from gem.hosting import ASK, RESET, STEP
from gem.hosting._processes import ProcessHost
from gem.hosting._recipes import Recipe
from gem.testing.envs import Kuhn, LastOne, Signs

from .batches import done, process_of

SEEDS = (4, 5, 6)
ROUNDS = ("rock", "paper", "rock", "rock", "paper", "scissors")
HAND = ("\\boxed{pass}", "\\boxed{bet}", "\\boxed{pass}")


@pytest.fixture
def one() -> Iterator[ProcessHost]:
    """Return a pool of one worker: whoever is killed has every episode."""
    with ProcessHost(1, start_method="fork") as pool:
        yield pool


def started(pool: ProcessHost, kind: type[gem.SeatedEnv]) -> list[int]:
    """Open a slot for each seed and reset it."""
    recipe = Recipe(f"gem.testing.envs:{kind.__name__}", (), {})
    slots = [pool.open(recipe) for _ in SEEDS]
    done(pool, *((RESET, slot, seed) for slot, seed in zip(slots, SEEDS, strict=True)))
    return slots


def stepped(pool: ProcessHost, slots: list[int], action: str) -> list[Any]:
    outcomes = done(pool, *((STEP, slot, action) for slot in slots))
    return [outcomes[slot] for slot in slots]


def alone(kind: type[gem.SeatedEnv], seed: int, actions: tuple[str, ...]) -> list[Any]:
    """Step an environment of this process, and return what each step was."""
    env = kind()
    env.reset(seed=seed)
    return [tuple(env.step(action)) for action in actions]


@pytest.mark.parametrize("saves", [False, True])
@pytest.mark.parametrize(
    ("kind", "actions", "killed_after"),
    [(Signs, ROUNDS, 1), (Signs, ROUNDS, 2), (Signs, ROUNDS, 3), (Kuhn, HAND, 1), (Kuhn, HAND, 2)],
)
def test_killed_at_rest_a_worker_costs_no_seat_anything(
    one: ProcessHost,
    monkeypatch: pytest.MonkeyPatch,
    kind: type[gem.SeatedEnv],
    actions: tuple[str, ...],
    killed_after: int,
    saves: bool,
) -> None:
    if saves:  # else what was played is played again from the seed
        monkeypatch.setattr("gem.hosting._slots._SAVE_AFTER_STEPS", 1)
        monkeypatch.setattr("gem.hosting._slots._SAVE_AFTER_S", math.inf)
    slots = started(one, kind)
    steps = []
    for turn, action in enumerate(actions):
        if turn == killed_after:  # of a round: in its middle, and between two
            os.kill(process_of(one), signal.SIGKILL)
        steps.append(stepped(one, slots, action))

    assert [list(each) for each in zip(*steps, strict=True)] == [
        alone(kind, seed, actions) for seed in SEEDS
    ]
    assert one.restarts == 1


def test_what_each_seat_samples_goes_on_after_a_loss(one: ProcessHost) -> None:
    env = LastOne()
    env.reset(seed=SEEDS[0])
    expected = [env.hint("sample_action", seat) for seat in (0, 2, 1, 0)]
    slot, *_ = started(one, LastOne)
    samples = [done(one, (ASK, slot, "sample_action", seat))[slot] for seat in (0, 2)]
    os.kill(process_of(one), signal.SIGKILL)

    samples += [done(one, (ASK, slot, "sample_action", seat))[slot] for seat in (1, 0)]

    assert samples == expected
