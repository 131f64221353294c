"""The gradient of a learner's loss, and its steps."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="gem-baselines' extra `torch` is not installed")

import torch

import gem
from gem.tokens import Trajectory
from gem_baselines.learning import LearningSettings, Row, rows_of
from gem_baselines.learning._figures import Figures
from gem_baselines.learning._learner import Learner
from gem_baselines.learning._objective import Known, Weighted, loss_of
from gem_baselines.learning._passes import in_parts, read, run_pass
from gem_baselines.learning._rows import token_weights
from gem_baselines.learning_policy import Per

from .small import a_batch, make_policy, play

SHAPE = {"value_head": True}


@pytest.fixture(scope="module")
def episodes() -> list[gem.Episode]:
    return play(make_policy(shape=SHAPE), episodes=8)


@pytest.fixture
def model() -> Any:
    return make_policy(shape=SHAPE)._learner.model


def gradient_of(model: Any, loss: Any) -> Any:
    model.zero_grad()
    loss.backward()
    gradients = [each.grad for each in model.parameters() if each.grad is not None]
    return torch.cat([gradient.flatten() for gradient in gradients])


def loss_over(model: Any, rows: Sequence[Row], **options: Any) -> Any:
    """Return the loss at the weights that the rows were sampled with."""
    settings = LearningSettings(aggregation="sum", **options)
    weights = token_weights(rows, settings.aggregation, settings.constant)
    minibatch = [
        Weighted(row, Known(row.logprobs, row.logprobs, None, None), own, 1.0)
        for row, own in zip(rows, weights, strict=True)
        if row.logprobs is not None
    ]
    result = run_pass(model, rows, temperature=1.0)
    return loss_of(result, minibatch, settings, Figures())


def a_row_a_turn(episodes: Sequence[gem.Episode], per: Per) -> list[Row]:
    """Return what `rows_of` packs as a row for each turn, prompt and answer alone."""
    rows = []
    batch = a_batch(list(episodes), has_targets=True, per=per)
    for number, episode in enumerate(episodes):
        entries = list(batch.advantages[number])
        for sample in Trajectory.of(episode).samples():
            num_prompt = len(sample.prompt_ids)
            num_own = len(sample.response_ids)
            num_values = 1 if per == "turn" else num_own
            own = np.array([entries.pop(0) for _ in range(num_values)])
            rows.append(
                Row(
                    episode=number,
                    ids=np.array([*sample.prompt_ids, *sample.response_ids]),
                    places=np.arange(num_prompt, num_prompt + num_own),
                    logprobs=np.array(sample.logprobs),
                    advantages=np.full(num_own, own[0]) if per == "turn" else own,
                    value_places=np.arange(num_prompt - 1, num_prompt - 1 + num_values),
                    value_targets=own,
                )
            )
    return rows


def test_at_ratio_one_the_clipped_gradient_is_that_of_reinforce(
    model: Any, episodes: list[gem.Episode]
) -> None:
    rows = rows_of(a_batch(episodes))
    clipped = gradient_of(model, loss_over(model, rows))
    result = run_pass(model, rows, temperature=1.0)
    advantages = torch.from_numpy(np.concatenate([row.advantages for row in rows])).float()

    reinforce = gradient_of(model, -(advantages * result.logprobs).sum())

    assert reinforce.norm() > 1
    assert torch.allclose(clipped, reinforce, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("per", ["turn", "token"])
def test_a_packed_episode_has_the_gradient_of_a_row_a_turn(
    model: Any, episodes: list[gem.Episode], per: Per
) -> None:
    packed = rows_of(a_batch(episodes, has_targets=True, per=per))
    unpacked = a_row_a_turn(episodes, per)
    options = {"entropy_weight": 0.1, "value_weight": 0.5}

    gradient = gradient_of(model, loss_over(model, packed, **options))
    expected = gradient_of(model, loss_over(model, unpacked, **options))

    assert len(packed) == len(episodes) < len(unpacked)
    assert torch.allclose(gradient, expected, rtol=1e-4, atol=1e-5)


def test_gradients_that_accumulate_are_those_of_one_pass(episodes: list[gem.Episode]) -> None:
    rows = rows_of(a_batch(episodes, has_targets=True))

    def learned(rows_at_once: int | None) -> Any:
        policy = make_policy(shape=SHAPE, learning={"rows_at_once": rows_at_once, "epochs": 1})
        figures = policy._learner.update(rows)
        model: Any = policy._learner.model
        return figures, model.embedding.weight.grad

    figures, gradient = learned(None)
    in_parts, gradient_in_parts = learned(3)
    assert in_parts == pytest.approx(figures, rel=1e-4, abs=1e-6)
    assert torch.allclose(gradient, gradient_in_parts, rtol=1e-4, atol=1e-6)


def test_in_parts_rows_of_similar_length_go_together_and_padding_is_bounded(
    episodes: list[gem.Episode],
) -> None:
    row = rows_of(a_batch(episodes))[0]
    lengths = [30, 400, 10, 31, 402, 10, 29, 398, 10, 10]
    rows = [row._replace(ids=np.zeros(length, np.int64)) for length in lengths]

    def parts(rows_at_once: int | None) -> list[list[int]]:
        return [[lengths[n] for n in part] for part in in_parts(rows, rows_at_once)]

    assert parts(8) == [[10, 10, 10, 10, 29, 30, 31], [398, 400, 402]]
    assert parts(3) == [[10, 10, 10], [10, 29, 30], [31], [398, 400, 402]]
    assert parts(None) == [sorted(lengths)]
    assert sorted(itertools.chain(*in_parts(rows, 3))) == list(range(len(rows)))
    assert list(in_parts([], 3)) == []


def test_each_episode_is_in_one_minibatch_of_each_epoch(
    model: Any, episodes: list[gem.Episode]
) -> None:
    learner = Learner(model, LearningSettings(minibatches=3), seed=1)
    rows = rows_of(a_batch(episodes))

    epochs = [list(learner._minibatches(rows, epoch)) for epoch in range(2)]

    assert epochs[0] != epochs[1]
    for minibatches in epochs:
        assert sorted(itertools.chain(*minibatches)) == list(range(len(rows)))
        assert [len(each) for each in minibatches] == [3, 3, 2]


def test_a_divergence_weight_holds_the_policy_to_its_first_weights(
    episodes: list[gem.Episode],
) -> None:
    rows = rows_of(a_batch(episodes))

    def distance(kl_weight: float) -> float:
        policy = make_policy(shape=SHAPE, learning={"kl_weight": kl_weight, "lr": 0.01})
        before = read(policy._learner.model, rows, temperature=1.0)
        for _ in range(8):
            policy._learner.update(rows)
        after = read(policy._learner.model, rows, temperature=1.0)
        moves = [b.logprobs - a.logprobs for a, b in zip(before, after, strict=True)]
        return float(np.abs(np.concatenate(moves)).mean())

    assert distance(50.0) < distance(0.0) / 3


def test_an_entropy_weight_makes_the_policy_more_even(episodes: list[gem.Episode]) -> None:
    rows = rows_of(a_batch(episodes))

    def entropy(weight: float) -> float:
        policy = make_policy(shape=SHAPE, learning={"entropy_weight": weight, "lr": 0.01})
        return [policy._learner.update(rows)["entropy"] for _ in range(8)][-1]

    assert entropy(5.0) > entropy(0.0) + 0.05


def test_an_importance_cap_weighs_what_the_sampler_computed_otherwise(
    episodes: list[gem.Episode],
) -> None:
    rows = rows_of(a_batch(episodes))
    # The sampler gave each token half of what the learner gives: each counts twice.
    halved = [
        row._replace(logprobs=row.logprobs - np.log(2)) for row in rows if row.logprobs is not None
    ]

    def first_loss(own_rows: list[Row], **learning: Any) -> dict[str, float]:
        policy = make_policy(shape=SHAPE, learning={"epochs": 1, **learning})
        return policy._learner.update(own_rows)

    plain = first_loss(rows)
    corrected = first_loss(halved, importance_cap=5.0)
    capped = first_loss(halved, importance_cap=1.5)
    assert corrected["loss"] == pytest.approx(2 * plain["loss"], rel=1e-4)
    assert capped["loss"] == pytest.approx(1.5 * plain["loss"], rel=1e-4)
    assert corrected["logprob_gap"] == pytest.approx(np.log(2), rel=1e-4)
    assert plain["logprob_gap"] < 1e-5


def test_rows_without_logprobs_are_taken_as_the_learner_computes_them(
    episodes: list[gem.Episode],
) -> None:
    rows = rows_of(a_batch(episodes))
    without = [row._replace(logprobs=None) for row in rows]

    expected = make_policy(shape=SHAPE)._learner.update(rows)
    figures = make_policy(shape=SHAPE)._learner.update(without)

    assert figures == pytest.approx(expected, rel=1e-3, abs=1e-5)


def test_in_bfloat16_the_figures_are_near_those_of_float32(episodes: list[gem.Episode]) -> None:
    rows = rows_of(a_batch(episodes))

    exact = make_policy(shape=SHAPE)._learner.update(rows)
    policy = make_policy(shape=SHAPE, learning={"precision": "bf16"})
    figures = policy._learner.update(rows)

    assert figures["entropy"] == pytest.approx(exact["entropy"], rel=0.01)
    assert 1e-5 < figures["logprob_gap"] < 0.05
    model: Any = policy._learner.model
    assert model.embedding.weight.dtype == torch.float32
