"""A game of two seats that takes no time, and a small experiment on it."""

from __future__ import annotations

from typing import Any

import gem
from gem_baselines.training import Experiment


class Matching(gem.SeatedEnv):
    """Each seat says a or b, one after the other; the first earns 1 where they match, else -1."""

    seats = ("even", "odd")
    zero_sum = True
    reward_range = (-1.0, 1.0)

    def reset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
        self.first = ""
        self.tell_all("a or b?")
        return self.begin(0)

    def step(self, action: str) -> gem.Step:
        if self.seat == 0:
            self.first = action
            return self.ask(1)
        won = 1.0 if action == self.first else -1.0
        return self.end([won, -won], success=[won > 0, won < 0])

    def sample_action(self) -> str:
        return str(self.sample_rng.choice(["a", "b"]))


def small(self_play: dict[str, Any] | None = None, **changes: Any) -> Experiment:
    """Return an experiment of a few games, some of its settings changed."""
    plain = {
        "env": f"{__file__}:Matching",
        "policy_kwargs": {"view": "whole", "actions": ["a", "b"], "learning_rate": 0.3},
        "estimator": "seat_average",
        "gamma": 1.0,
        "updates": 6,
        "episodes": 8,
        "eval_every": 0,
        "checkpoint_every": 1,
        "self_play": {"snapshot_every": 2, "pool_size": 4, **(self_play or {})},
    }
    return Experiment.of({**plain, **changes})
