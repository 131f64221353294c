"""What training asks of a policy that learns. Knows no policy and no way to train."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gem.conversation import PolicyAnswer, Request
from gem.episode import Episode

__all__ = ["Batch", "Floats", "LearningPolicy", "LearntRow", "Per", "ShowsLearning"]

Floats = NDArray[np.float64]
Per = Literal["turn", "token"]
"""What a number is of: a turn, or one of the tokens that the policy itself said."""


class Batch(NamedTuple):
    """What one update learns from.

    `advantages` has an array an episode, with an entry a turn, or with `per` "token" one for each
    token that the policy said, in order. `value_targets`, where a critic learns too, is what it
    should have expected before each of them, in the same shape.
    """

    episodes: Sequence[Episode]
    advantages: Sequence[Floats]
    value_targets: Sequence[Floats] | None = None
    per: Per = "turn"


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
        """Improve by one update, and return its figures (`loss`, `entropy`, `clip_share`, ...).

        BadArguments for a batch by token where the policy plays by text.
        """

    def values(self, episodes: Sequence[Episode], *, per: Per = "turn") -> Sequence[Floats]:
        """Return what the critic expects before each turn, or before each token of its own.

        BadArguments where there is no critic, or no token.
        """

    def save(self, folder: Path) -> None:
        """Write everything that decides what it does next into an existing, empty folder."""

    def restore(self, folder: Path) -> None:
        """Take on what `save` wrote. From there on it does bit for bit what that one would."""

    def describe(self) -> Mapping[str, Any]:
        """Return what it was made with, as JSON: the arguments that `restore` does not hold."""


class LearntRow(NamedTuple):
    """What a learner has of one sequence of an episode: what `gem-env doctor` compares.

    `episode` is the number of the episode in its batch. `ids` are all tokens of the sequence, and
    `places` where those stand in it that are learned; a policy without tokens has no `ids`, and
    its places are the numbers of the turns. The others have an entry a place: the `advantages`
    that the loss is given, the logprobs of the `sampler` that the learner was handed (None where it
    was handed none), those that the `learner` itself computes as it is now, and the `entropies`,
    in nats, of the distributions that these are of (None where they are unknown).
    """

    episode: int
    ids: Sequence[int] | None
    places: Sequence[int]
    advantages: Floats
    sampler: Floats | None
    learner: Floats
    entropies: Floats | None = None


class ShowsLearning(Protocol):
    """What a learning policy may have besides: it shows what its updates learn from.

    A training asks before and after an update that it samples. Asking changes nothing.
    """

    def learnt_from(self, batch: Batch, episodes: Sequence[int]) -> Sequence[LearntRow]:
        """Return the rows that an update by this batch learns from, of these episodes alone."""
