"""How a table of logits learns: the clipped objective, its gradient, and what takes the steps.

Pure numpy in float64. Knows nothing about episodes, texts or files.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gem_baselines.learning_policy import Floats

__all__ = ["PlayedTurns", "Steps", "Surrogate", "decayed", "log_softmax", "surrogate"]

_FIRST_DECAY = 0.9
_SECOND_DECAY = 0.95
_LEAST_DENOMINATOR = 1e-8


class PlayedTurns(NamedTuple):
    """The turns of a batch as arrays of shape (turns,).

    `rows` are the states' rows in the table, `actions` the columns that were played, and
    `log_probs` their log-probabilities under the policy that played them. `num_episodes` is what
    the sum over the turns is divided by.
    """

    rows: NDArray[np.int64]
    actions: NDArray[np.int64]
    advantages: Floats
    log_probs: Floats
    num_episodes: int


class Surrogate(NamedTuple):
    """The loss of a table on a batch, its gradient of shape (states, actions), and two figures."""

    loss: float
    gradient: Floats
    clip_share: float
    entropy: float


def log_softmax(logits: Floats) -> Floats:
    """Return log-probabilities over the last axis, without overflow.

    >>> log_softmax(np.array([[0.0, 0.0]])).round(3).tolist()
    [[-0.693, -0.693]]
    """
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_probs: Floats = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return log_probs


def surrogate(
    logits: Floats, played: PlayedTurns, clip: float, entropy_weight: float = 0.0
) -> Surrogate:
    """Return the clipped loss (PPO, arXiv 1707.06347, eq. 7) of a table of logits.

    The loss is the sum over all turns, divided by the number of episodes: at the policy that
    played them its gradient is REINFORCE's. `entropy` is the mean over the turns, in nats; times
    `entropy_weight` their sum is taken from the loss, also divided by the number of episodes.
    """
    log_probs = log_softmax(logits[played.rows])
    probs = np.exp(log_probs)
    places = np.arange(len(played.rows))
    ratios = np.exp(log_probs[places, played.actions] - played.log_probs)
    bounded = np.clip(ratios, 1.0 - clip, 1.0 + clip)
    plain_gain = ratios * played.advantages
    bounded_gain = bounded * played.advantages
    gains = np.minimum(plain_gain, bounded_gain)
    # Where the bounded gain is the smaller one, the loss does not depend on the logits.
    is_clipped = bounded_gain < plain_gain
    weights = np.where(is_clipped, 0.0, plain_gain) / played.num_episodes
    # The derivative of a log-probability by its row of logits: 1 at the action, less the probs.
    by_turn = -weights[:, None] * probs
    by_turn[places, played.actions] += weights
    entropies = -(probs * log_probs).sum(axis=1)
    if entropy_weight:
        # The derivative of an entropy by its row of logits.
        slopes = -probs * (log_probs + entropies[:, None])
        by_turn += entropy_weight / played.num_episodes * slopes
    gradient = np.zeros_like(logits)
    # Not `gradient[rows] -= ...`: a state that comes twice in the batch counts twice.
    np.subtract.at(gradient, played.rows, by_turn)
    gained = gains.sum() + entropy_weight * entropies.sum()
    return Surrogate(
        loss=float(-gained / played.num_episodes),
        gradient=gradient,
        clip_share=float(is_clipped.mean()),
        entropy=float(entropies.mean()),
    )


def decayed(updates: float, half_life: float | None) -> float:
    """Return what is left of 1 after some updates; all of it without a half-life.

    >>> decayed(200, half_life=100)
    0.25
    """
    return 1.0 if half_life is None else 0.5 ** (updates / half_life)


class Steps:
    """Takes gradient steps on a table that grows: Adam with decays 0.9 and 0.95, or plain SGD.

    Adam's moments are of the table's shape; a row that is added has moments of 0, and a row that
    a batch does not visit moves on by its momentum. `share` is what a step is multiplied by.
    """

    def __init__(self, kind: Literal["adam", "sgd"], learning_rate: float, width: int) -> None:
        self._kind = kind
        self._learning_rate = learning_rate
        self.taken = 0
        self.share = 1.0
        self.first_moment = np.zeros((0, width))
        self.second_moment = np.zeros((0, width))

    def add_rows(self, number: int) -> None:
        """Make room for more states."""
        rows = np.zeros((number, self.first_moment.shape[1]))
        self.first_moment = np.concatenate([self.first_moment, rows])
        self.second_moment = np.concatenate([self.second_moment, rows])

    def stepped(self, logits: Floats, gradient: Floats) -> Floats:
        """Return the table after one step against the gradient."""
        self.taken += 1
        if self._kind == "sgd":
            return logits - self._learning_rate * self.share * gradient
        self.first_moment = _FIRST_DECAY * self.first_moment + (1 - _FIRST_DECAY) * gradient
        self.second_moment = _SECOND_DECAY * self.second_moment + (1 - _SECOND_DECAY) * gradient**2
        # Both moments begin at 0: divided by these they are of the right size from the first on.
        mean = self.first_moment / (1 - _FIRST_DECAY**self.taken)
        square = self.second_moment / (1 - _SECOND_DECAY**self.taken)
        rate = self._learning_rate * self.share
        return logits - rate * mean / (np.sqrt(square) + _LEAST_DENOMINATOR)
