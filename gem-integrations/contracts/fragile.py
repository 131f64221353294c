"""Environments that fail, for the contracts: some episodes of one, and all of others."""

from __future__ import annotations

from typing import Any

from harness import Paying

import gem

__all__ = ["HOPELESS", "TURNING", "UNLUCKY", "Hopeless", "Turning", "Unlucky"]


class Unlucky(Paying):
    """Cannot begin from a seed below 1,000: those that a test states, and no others."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        if (self.episode_seed or 0) < 1000:
            raise OSError("the board is lost")
        return super().reset(seed)


class Turning(Paying):
    """Begins well, and fails at the first answer of every episode."""

    def step(self, action: str) -> gem.Step:
        raise OSError("the board is lost")


class Hopeless(Paying):
    """Cannot begin from any seed."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        raise OSError("the board is lost")


UNLUCKY = gem.register("contract:Unlucky", "fragile:Unlucky").id
TURNING = gem.register("contract:Turning", "fragile:Turning").id
HOPELESS = gem.register("contract:Hopeless", "fragile:Hopeless").id
