"""What training asks of a policy that learns. Knows no policy and no way to train."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gem.conversation import PolicyAnswer, Request
from gem.episode import Episode

__all__ = ["Batch", "Floats", "LearningPolicy"]

Floats = NDArray[np.float64]


class Batch(NamedTuple):
    """What one update learns from.

    `advantages` has an array an episode, with an entry a turn; `value_targets`, where a critic
    learns too, is what it should have expected before each turn, in the same shape.
    """

    episodes: Sequence[Episode]
    advantages: Sequence[Floats]
    value_targets: Sequence[Floats] | None = None


class LearningPolicy(Protocol):
    """A policy that plays through `gem.rollout` and is improved by updates.

    It samples with `request.seed` alone, so a run with the same seed is the same run. `name` is
    recorded; `tokens` is there where it plays by token ids (see `gem.conversation.Policy`).
    """

    name: str
    is_greedy: bool
    """Whether it takes its most probable action, instead of drawing one: for evaluation."""

    def __call__(self, request: Request) -> Awaitable[PolicyAnswer] | PolicyAnswer: ...

    def update(self, batch: Batch) -> Mapping[str, float]:
        """Improve by one update, and return its figures (`loss`, `entropy`, `clip_share`, ...)."""

    def values(self, episodes: Sequence[Episode]) -> Sequence[Floats]:
        """Return what the critic expects before each turn. BadArguments where there is none."""

    def save(self, folder: Path) -> None:
        """Write everything that decides what it does next into an existing, empty folder."""

    def restore(self, folder: Path) -> None:
        """Take on what `save` wrote. From there on it does bit for bit what that one would."""

    def describe(self) -> Mapping[str, Any]:
        """Return what it was made with, as JSON: the arguments that `restore` does not hold."""
