"""The loss of some rows of a minibatch, and its figures. Needs torch; takes no step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from gem_baselines.learning._figures import Figures
from gem_baselines.learning._loss import (
    clipped_loss,
    entropy_of,
    importance_weights,
    k3,
    value_loss,
)
from gem_baselines.learning._passes import Pass
from gem_baselines.learning._rows import Row
from gem_baselines.learning._settings import LearningSettings
from gem_baselines.learning_policy import Floats

__all__ = ["Known", "loss_of"]


class Known(NamedTuple):
    """What is known of a row before the first step; an entry for each of the model's tokens.

    `sampler` are the logprobs with which the tokens were drawn, `old` those that ratios are taken
    to, `reference` those of the reference. `old_values` has an entry for each of `value_places`.
    """

    sampler: Floats
    old: Floats
    reference: Floats | None
    old_values: Floats | None


class Weighted(NamedTuple):
    """A row of a minibatch, with what its tokens and each value of the critic count in the loss."""

    row: Row
    known: Known
    token_weights: Floats
    value_weight: float


def loss_of(
    result: Pass, rows: Sequence[Weighted], settings: LearningSettings, figures: Figures
) -> Tensor:
    """Return what rows add to the loss of their minibatch, and add to its figures."""
    device = result.logprobs.device

    def joined(arrays: Sequence[Floats]) -> Tensor:
        return torch.from_numpy(np.concatenate(arrays)).to(device, torch.float32)

    logprobs = result.logprobs
    old = joined([each.known.old for each in rows])
    sampler = joined([each.known.sampler for each in rows])
    advantages = joined([each.row.advantages for each in rows])
    losses = clipped_loss(logprobs, old, advantages, settings.clip)
    if settings.importance_cap is not None:
        losses = losses * importance_weights(old, sampler, settings.importance_cap)
    num_tokens = len(logprobs)
    references = [each.known.reference for each in rows if each.known.reference is not None]
    if references:
        divergence = k3(logprobs, joined(references))
        losses = losses + settings.kl_weight * divergence
        figures.add("reference_kl", divergence.sum(), num_tokens)
    with torch.set_grad_enabled(settings.entropy_weight > 0):
        entropy = entropy_of(result.all_logprobs)
    if settings.entropy_weight > 0:
        losses = losses - settings.entropy_weight * entropy
    loss = (losses * joined([each.token_weights for each in rows])).sum()
    with torch.no_grad():
        ratio = torch.exp(logprobs - old)
        figures.add("entropy", entropy.sum(), num_tokens)
        figures.add("kl", k3(logprobs, old).sum(), num_tokens)
        if settings.clip is not None:
            is_beyond = (ratio - 1).abs() > settings.clip
            figures.add("clip_share", is_beyond.float().sum(), num_tokens)
    targets = [each.row.value_targets for each in rows if each.row.value_targets is not None]
    if result.values is not None and targets:
        old_values = [each.known.old_values for each in rows if each.known.old_values is not None]
        errors = value_loss(
            result.values,
            joined(old_values) if old_values else result.values.detach(),
            joined(targets),
            settings.value_clip,
        )
        value_weights = joined(
            [np.full(len(each.row.value_places), each.value_weight) for each in rows]
        )
        loss = loss + settings.value_weight * (errors * value_weights).sum()
        figures.add("value_loss", errors.sum(), len(errors))
    return loss
