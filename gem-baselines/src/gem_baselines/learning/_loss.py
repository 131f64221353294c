"""The losses of policy gradients, as functions of tensors. Needs torch; knows no model.

All give one number an entry, to be summed by weights that are the caller's.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["clipped_loss", "entropy_of", "importance_weights", "k3", "value_loss"]

_MOST_LOG_RATIO = 40.0  # of k3: exp of it is still finite in float32


def clipped_loss(logprobs: Tensor, old: Tensor, advantages: Tensor, clip: float | None) -> Tensor:
    """Return the loss of each token under the clipped objective (PPO, arXiv 1707.06347, eq. 7).

    `max(-A ratio, -A clamp(ratio, 1 - clip, 1 + clip))`, with `ratio = exp(logprobs - old)`; at
    ratio 1 its gradient is that of `-A logprobs`. Without a clip it is `-A ratio`.
    """
    ratio = torch.exp(logprobs - old)
    loss = -advantages * ratio
    if clip is None:
        return loss
    return torch.maximum(loss, -advantages * ratio.clamp(1 - clip, 1 + clip))


def importance_weights(learner: Tensor, sampler: Tensor, cap: float) -> Tensor:
    """Return the ratio of the learner's probability to the sampler's, at most `cap`."""
    return torch.exp(learner - sampler).clamp(max=cap)


def k3(logprobs: Tensor, reference: Tensor) -> Tensor:
    """Return an estimate of the divergence from a reference, at tokens drawn from the policy.

    `exp(r) - r - 1` with `r = reference - logprobs`: never negative, and its mean is KL(policy ||
    reference). `r` is held within 40, so that a token that the policy has given up stays finite.
    """
    log_ratio = (reference - logprobs).clamp(-_MOST_LOG_RATIO, _MOST_LOG_RATIO)
    return torch.expm1(log_ratio) - log_ratio


def entropy_of(all_logprobs: Tensor) -> Tensor:
    """Return the entropy, in nats, of distributions whose logprobs are along the last axis."""
    return -(all_logprobs.exp() * all_logprobs).sum(-1)


def value_loss(values: Tensor, old: Tensor, targets: Tensor, clip: float | None) -> Tensor:
    """Return half the squared error of each value.

    With a clip it is the larger of that and the error of the value held within `clip` of its old
    one, so that a critic gains nothing by moving further.
    """
    error = (values - targets) ** 2
    if clip is not None:
        held = old + (values - old).clamp(-clip, clip)
        error = torch.maximum(error, (held - targets) ** 2)
    return 0.5 * error
