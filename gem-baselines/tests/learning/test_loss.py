"""The losses against closed forms."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("torch", reason="gem-baselines' extra `torch` is not installed")

import torch

from gem_baselines.learning._loss import (
    clipped_loss,
    entropy_of,
    importance_weights,
    k3,
    value_loss,
)


def test_beyond_the_clip_a_gain_counts_no_further_and_a_loss_in_full() -> None:
    ratios = torch.tensor([1.5, 1.5, 0.5, 0.5, 1.1])
    advantages = torch.tensor([2.0, -2.0, 2.0, -2.0, 2.0])

    losses = clipped_loss(ratios.log(), torch.zeros(5), advantages, 0.2)

    assert losses.tolist() == pytest.approx([-2.4, 3.0, -1.0, 1.6, -2.2])
    unclipped = clipped_loss(ratios.log(), torch.zeros(5), advantages, None)
    assert unclipped.tolist() == pytest.approx([-3.0, 3.0, -1.0, 1.0, -2.2])


def test_the_mean_of_k3_over_the_policy_is_the_divergence() -> None:
    policy = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    reference = torch.tensor([0.2, 0.2, 0.6], dtype=torch.float64)

    mean = (policy * k3(policy.log(), reference.log())).sum()

    assert mean.item() == pytest.approx((policy * (policy / reference).log()).sum().item())


def test_k3_stays_finite_at_a_token_that_the_policy_has_given_up() -> None:
    assert math.isfinite(k3(torch.tensor(-500.0), torch.tensor(0.0)).item())
    assert k3(torch.tensor(0.0), torch.tensor(-500.0)).item() == pytest.approx(39.0)


def test_entropy_of_even_chances_is_the_logarithm_of_their_number() -> None:
    even = torch.full((2, 8), math.log(1 / 8))

    assert entropy_of(even).tolist() == pytest.approx([math.log(8)] * 2)


def test_an_importance_weight_is_the_ratio_up_to_its_cap() -> None:
    learner = torch.tensor([0.6, 0.9]).log()
    sampler = torch.tensor([0.3, 0.1]).log()

    assert importance_weights(learner, sampler, 4.0).tolist() == pytest.approx([2.0, 4.0])


def test_a_value_that_moved_beyond_its_clip_keeps_the_larger_error() -> None:
    values = torch.tensor([1.0, 0.1])
    old = torch.zeros(2)
    targets = torch.ones(2)

    assert value_loss(values, old, targets, None).tolist() == pytest.approx([0.0, 0.405])
    assert value_loss(values, old, targets, 0.2).tolist() == pytest.approx([0.32, 0.405])
