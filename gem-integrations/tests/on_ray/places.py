"""An environment that says where it runs. It is named by its path: `./places.py:Places`."""

from __future__ import annotations

import os
from typing import Any

import gem


class Places(gem.Env):
    """Walk at random for five steps. Infos hold the process id of the raylet that is above."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.place = self.rng.randrange(1000)
        return f"at {self.place}", {}

    def step(self, action: str) -> gem.Step:
        self.place += self.rng.randrange(-5, 6)
        raylet = os.environ.get("RAY_RAYLET_PID", "none")  # which Ray sets in every actor
        is_over = self.turn + 1 == 5
        observation = f"{action} to {self.place}"
        return gem.Step(observation, float(self.place), truncated=is_over, info={"raylet": raylet})
