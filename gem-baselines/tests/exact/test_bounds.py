"""What bounds the best play of an environment that is not enumerated: what it declares."""

from __future__ import annotations

import math
from typing import Any

import pytest

import gem
from gem.env import Env, Step
from gem.specs import CheckHints, EnvSpec
from gem_baselines.exact.yardstick import yardstick


class Paid(Env):
    """Each turn pays 1, and success, which returns 1, ends the episode."""

    max_turns = 3
    reward_range = (0.0, 1.0)

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "Stay or win.", {}

    def step(self, action: str) -> Step:
        self.rng.gauss(0, 1)  # so that nothing of it is enumerated
        return Step("", 1.0, action == "win", False, {"success": action == "win"})

    def sample_action(self) -> str:
        return self.sample_rng.choice(["win", "stay"])

    def solve(self) -> str:
        return "win"


def test_a_success_is_no_bound_of_what_an_episode_returns() -> None:
    gem.register("urn:Paid", Paid)

    found = yardstick("urn:Paid", episodes=50)

    assert not found.best.is_exact
    assert (found.best.low, found.best.high) == (1.0, 3.0)


class Bounded(Paid):
    """To stay pays nothing. Its draws of actions cannot be enumerated, its steps can."""

    def step(self, action: str) -> Step:
        is_over = action == "win"
        return Step("", float(is_over), is_over, False, {"success": is_over})

    def sample_action(self) -> str:
        return "win" if self.sample_rng.gauss(0, 1) < 0 else "stay"


class BoundedByItself(Bounded):
    check_hints = CheckHints(bound=1.0)


@pytest.mark.parametrize(
    ("hints", "maker"), [(CheckHints(bound=1.0), Bounded), (CheckHints(), BoundedByItself)]
)
def test_a_bound_that_is_declared_and_reached_is_the_best_return_without_turns(
    hints: CheckHints, maker: type[Bounded]
) -> None:
    gem.register(EnvSpec(id="urn:Bounded", target="urn:Paid", check=hints), maker)

    found = yardstick("urn:Bounded", episodes=50)

    assert found.best.is_exact
    assert found.best.low == found.best.high == 1.0
    assert found.best.mean_turns is None


def test_a_declaration_that_play_goes_beyond_bounds_nothing() -> None:
    gem.register(EnvSpec(id="urn:Modest", target="urn:Paid", check=CheckHints(bound=0.5)), Paid)

    found = yardstick("urn:Modest", episodes=50)

    assert found.best.high == math.inf
    assert "more than what is declared, 0.5" in found.best.how
