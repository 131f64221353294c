"""What the tests of the transformer and of its learner share: an environment, a policy, a run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import numpy as np

import gem
from gem_baselines.learning_policy import Batch, Per
from gem_baselines.text import WordTokenizer
from gem_baselines.transformer.policy import TransformerPolicy

VOCABULARY = ["a", "b", "c", "d", "e", "f"]


class Chat(gem.Env):
    """Tells some words each turn, as many as chance decides, for one to five turns.

    An answer is worth the number of times that it has the word `a`.
    """

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self._num_turns = self.rng.randint(1, 5)
        return self._words(), {}

    def step(self, action: str) -> gem.Step:
        reward = float(action.count("a"))
        return gem.Step(self._words(), reward, self.turn + 1 == self._num_turns, False, {})

    def _words(self) -> str:
        return " ".join(self.rng.choices(VOCABULARY, k=self.rng.randint(0, 7)))


def make_policy(
    *, shape: Mapping[str, Any] | None = None, max_answer_tokens: int = 3, **options: Any
) -> TransformerPolicy:
    """Make a policy whose answers have one to three tokens, so that rows end at their own times."""
    return TransformerPolicy(
        WordTokenizer(VOCABULARY),
        max_answer_tokens=max_answer_tokens,
        shape={"width": 16, "max_length": 96, **(shape or {})},
        **options,
    )


def play(policy: gem.Policy, *, episodes: int = 12, **options: Any) -> list[gem.Episode]:
    """Play episodes, and return them in the order of their numbers."""

    async def run() -> list[gem.Episode]:
        return [
            episode async for episode in gem.rollout(policy, Chat, episodes=episodes, **options)
        ]

    played = asyncio.run(run())
    assert [episode.error for episode in played] == [None] * episodes
    return sorted(played, key=lambda episode: episode.episode_index)


def a_batch(episodes: list[gem.Episode], *, has_targets: bool = False, per: Per = "turn") -> Batch:
    """Return a batch with a different advantage for each turn, or token."""
    lengths = [
        len(episode.turns) if per == "turn" else sum(sum(turn.mask or ()) for turn in episode.turns)
        for episode in episodes
    ]
    advantages = [np.cos(np.arange(length) + 2.0 * number) for number, length in enumerate(lengths)]
    return Batch(episodes, advantages, advantages if has_targets else None, per)
