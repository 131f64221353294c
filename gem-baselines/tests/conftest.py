"""What the tests share: a small experiment, records made by hand, and the odd ones of a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gem.episode import Episode, Turn
from gem_baselines.training import Experiment

MakeEpisode = Callable[..., Episode]
ACTED = Path(__file__).with_name("acted.py")

GUESS = {
    "env": "gem.testing.envs:Guess",
    "env_kwargs": {"highest": 3, "max_turns": 3},
    "policy_kwargs": {
        "view": "whole",
        "actions": ["\\boxed{1}", "\\boxed{2}", "\\boxed{3}"],
        "learning_rate": 0.3,
    },
    "updates": 4,
    "episodes": 4,
    "eval_every": 2,
    "eval_episodes": 3,
    "checkpoint_every": 1,
}


@pytest.fixture
def experiment() -> Callable[..., Experiment]:
    """Return a function that makes a small experiment, some of its settings changed."""

    def make(**changes: Any) -> Experiment:
        return Experiment.of({**GUESS, **changes})

    return make


@pytest.fixture
def acted() -> Callable[[str], str]:
    """Return a function from the name of a class in `acted.py` to its target."""
    return lambda name: f"{ACTED}:{name}"


@pytest.fixture
def episode() -> MakeEpisode:
    """Return a function that makes a record with these rewards, one a turn.

    Each turn has a token that was shown, and `num_tokens` that were answered: 1 if not told.
    """

    def make(
        rewards: list[float],
        *,
        start: int = 0,
        success: bool | None = None,
        repeat: int = 0,
        num_tokens: Sequence[int] | None = None,
    ) -> Episode:
        turns = tuple(
            Turn(
                "state", "act", reward, False, False,
                token_ids=(0, *[1] * number), mask=(0, *[1] * number),
            )
            for reward, number in zip(rewards, num_tokens or [1] * len(rewards), strict=True)
        )  # fmt: skip
        total = sum(rewards)
        return Episode(
            env_id="tiny:Hand",
            env_kwargs={},
            wrappers=(),
            env_index=0,
            episode_index=start,
            repeat=repeat,
            seed=start,
            task=None,
            policy="hand",
            turns=turns,
            final_observation=None,
            total_reward=total,
            terminated=True,
            truncated=False,
            stop_reason="terminated",
            error=None,
            success=total > 0 if success is None else success,
            versions={},
            duration_s=0.0,
        )

    return make
