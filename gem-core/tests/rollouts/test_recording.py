"""The turns of an episode: kept small while it is played, and each a whole Turn at its end."""

from __future__ import annotations

from typing import Any

import gem
from gem.content import TextPart

from .running import run_one


class Paying(gem.Env):
    """Pays these rewards, one a turn, and has something else to say in each."""

    rewards = (1e16, 1.0, -1e16)

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "Begin.", {}

    def step(self, action: str) -> gem.Step:
        is_last = self.turn + 1 == len(self.rewards)
        info = {"suffix": "Last."} if self.turn == 1 else {}
        observation: Any = (TextPart("On."),) if self.turn == 0 else "On."
        return gem.Step(observation, self.rewards[self.turn], is_last, False, info)


def test_turns_come_back_in_order_with_what_only_some_have() -> None:
    episode = run_one(lambda request: str(request.turn), Paying)

    observations = [turn.observation for turn in episode.turns]
    assert observations == ["Begin.", (TextPart("On."),), "On."]
    assert [turn.action for turn in episode.turns] == ["0", "1", "2"]
    assert [turn.reward for turn in episode.turns] == [1e16, 1.0, -1e16]
    assert [turn.suffix for turn in episode.turns] == [None, None, "Last."]
    assert [turn.terminated for turn in episode.turns] == [False, False, True]


def test_turns_share_no_info() -> None:
    first, second, _ = run_one(lambda request: "go", Paying).turns

    assert first.info is not second.info


def test_the_sum_of_rewards_is_exact() -> None:
    assert run_one(lambda request: "go", Paying).total_reward == 1.0
