"""The policy by its contract: what it records, how it is saved, and what it refuses."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="gem-baselines' extra `torch` is not installed")

import torch

import gem
from gem.errors import BadArguments
from gem.tokens import Trajectory
from gem_baselines.learning_policy import Batch, LearningPolicy
from gem_baselines.text import ByteTokenizer
from gem_baselines.transformer.policy import TransformerPolicy

from .small import a_batch, make_policy, play

EVERYTHING: dict[str, Any] = {
    "minibatches": 3,
    "rows_at_once": 2,
    "importance_cap": 2.0,
    "kl_weight": 0.1,
    "entropy_weight": 0.01,
    "value_clip": 0.2,
}


def train(policy: LearningPolicy, seeds: range) -> list[dict[str, float]]:
    figures = []
    for seed in seeds:
        episodes = play(policy, episodes=6, seed=seed)
        figures.append(dict(policy.update(a_batch(episodes, has_targets=True))))
    return figures


def test_training_goes_on_from_a_saved_policy_bit_for_bit(tmp_path: Path) -> None:
    options: dict[str, Any] = {"learning": EVERYTHING, "shape": {"value_head": True}}
    policy = make_policy(**options)
    train(policy, range(2))
    policy.save(tmp_path)
    expected = train(policy, range(2, 5))

    restored = make_policy(**options, seed=0)
    restored.restore(tmp_path)
    figures = train(restored, range(2, 5))

    assert figures == expected
    assert set(figures[0]) == {
        "loss", "grad_norm", "entropy", "clip_share", "kl", "logprob_gap", "reference_kl",
        "value_loss",
    }  # fmt: skip


def test_a_restored_policy_of_other_weights_becomes_the_saved_one(tmp_path: Path) -> None:
    saved = make_policy(seed=1)
    saved.save(tmp_path)
    other = make_policy(seed=2)
    before = play(other)
    other.restore(tmp_path)

    expected = [episode.fingerprint() for episode in play(saved)]
    assert [episode.fingerprint() for episode in before] != expected
    assert [episode.fingerprint() for episode in play(other)] == expected


def test_what_is_described_as_json_makes_an_equal_policy() -> None:
    policy = make_policy(learning={"lr": 0.01}, temperature=0.7, keep="a|b", closing="}")
    described = json.loads(json.dumps(policy.describe()))

    again = TransformerPolicy(**described)

    assert again.describe() == policy.describe()
    assert list(map(Trajectory.of, play(again))) == list(map(Trajectory.of, play(policy)))


def test_a_policy_learns_what_earns_more() -> None:
    policy = make_policy(learning={"lr": 0.01}, max_answer_tokens=1)
    means = []
    for seed in range(25):
        episodes = play(policy, episodes=16, seed=seed)
        rewards = [np.array([turn.reward for turn in episode.turns]) for episode in episodes]
        means.append(float(np.concatenate(rewards).mean()))
        policy.update(Batch(episodes, [each - means[-1] for each in rewards]))

    assert means[0] < 0.3
    assert means[-1] > 0.9


def test_a_greedy_policy_draws_nothing() -> None:
    policy = make_policy(is_greedy=True)

    async def answers() -> set[Any]:
        requests = [gem.Request(prompt_ids=(1, 4, 2), seed=seed) for seed in range(20)]
        return {str(reply) for reply in await asyncio.gather(*map(policy, requests))}

    assert len(asyncio.run(answers())) == 1
    policy.is_greedy = False
    assert len(asyncio.run(answers())) > 1


def test_values_come_at_the_last_token_of_each_turns_prompt() -> None:
    policy = make_policy(shape={"value_head": True}, learning={"lr": 0.05})
    episodes = play(policy)
    policy.update(a_batch(episodes, has_targets=True))
    values = policy.values(episodes)
    by_token = policy.values(episodes, per="token")

    model: Any = policy._learner.model
    for episode, own in zip(episodes, values, strict=True):
        for sample, value in zip(Trajectory.of(episode).samples(), own, strict=True):
            ids = torch.tensor([sample.prompt_ids])
            with torch.no_grad():
                hidden = model(ids, torch.arange(ids.shape[1])[None])
            assert model.values(hidden)[0, -1].item() == pytest.approx(value, abs=1e-5)
    for episode, token_values in zip(episodes, by_token, strict=True):
        sequence = Trajectory.of(episode).sequence
        ids = torch.tensor([sequence.ids])
        with torch.no_grad():
            all_values = model.values(model(ids, torch.arange(ids.shape[1])[None]))[0]
        expected = all_values[np.flatnonzero(sequence.mask) - 1].tolist()
        assert token_values.tolist() == pytest.approx(expected, abs=1e-5)


def test_an_episode_without_a_turn_has_no_values_and_is_not_learned_from() -> None:
    policy = make_policy(shape={"value_head": True})
    [played, *_] = play(policy)
    unplayed = dataclasses.replace(played, turns=())

    values = policy.values([unplayed, played])
    figures = policy.update(Batch([unplayed, played], values))

    assert [len(own) for own in values] == [0, len(played.turns)]
    assert np.isfinite(figures["loss"])


def test_sampler_and_learner_have_one_temperature() -> None:
    policy = make_policy(temperature=0.5)

    assert policy.update(a_batch(play(policy)))["logprob_gap"] < 1e-5


def test_a_critic_learns_what_it_should_have_expected() -> None:
    policy = make_policy(shape={"value_head": True}, learning={"lr": 0.01, "value_weight": 1.0})
    episodes = play(policy)
    losses = [policy.update(a_batch(episodes, has_targets=True))["value_loss"] for _ in range(30)]

    assert losses[-1] < losses[0] / 3


def test_nothing_is_kept_of_what_was_computed_before_an_update() -> None:
    policy = make_policy(learning={"lr": 0.05}, max_answer_tokens=1)

    async def ask(policy: TransformerPolicy, ids: tuple[int, ...]) -> gem.Reply:
        reply = await policy(gem.Request(prompt_ids=ids, token_budget=1))
        assert isinstance(reply, gem.Reply)
        return reply

    episodes = play(policy)
    first = asyncio.run(ask(policy, (1, 4, 5, 2)))
    policy.update(a_batch(episodes))
    later_ids = (1, 4, 5, 2, *(first.token_ids or ()), 6, 2)
    later = asyncio.run(ask(policy, later_ids))

    model: Any = policy._learner.model
    with torch.no_grad():
        hidden = model(torch.tensor([later_ids]), torch.arange(len(later_ids))[None])
        logprobs = model.logits(hidden)[0, -1].log_softmax(-1)
    [token] = later.token_ids or ()
    assert later.logprobs == pytest.approx([logprobs[token].item()], abs=1e-5)


def test_torch_is_left_as_it_was() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    state = torch.get_rng_state()
    policy = make_policy()
    policy.update(a_batch(play(policy, episodes=3)))
    threads = torch.get_num_threads()
    torch.set_num_threads(before)

    assert threads == 2
    assert torch.equal(torch.get_rng_state(), state)


def test_the_first_weights_are_fixed_by_the_seed() -> None:
    weights = [
        torch.cat([each.flatten() for each in make_policy(seed=seed)._learner.model.parameters()])
        for seed in (0, 0, 1)
    ]

    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


@pytest.mark.parametrize("seed", [-1, 2**70])
def test_any_whole_number_is_a_seed(seed: int) -> None:
    policy = make_policy(seed=seed, learning={"minibatches": 2})

    assert "loss" in policy.update(a_batch(play(policy, episodes=3)))


def test_wrong_use_is_refused_in_one_line(tmp_path: Path) -> None:
    policy = make_policy()
    episodes = play(policy, episodes=2)

    with pytest.raises(
        BadArguments, match=r"does not fit: width=30 is no multiple of 4\. .*its fields"
    ):
        make_policy(shape={"width": 30})
    with pytest.raises(
        BadArguments, match=r"learning=.*it has no 'epoch' .did you mean 'epochs'\?.\. L"
    ):
        make_policy(learning={"epoch": 1})
    with pytest.raises(BadArguments, match=r"fit: lr=-1 has to be greater than 0. .*: lr, epochs"):
        make_policy(learning={"lr": -1})
    with pytest.raises(BadArguments, match=r"device='nowhere' was asked for, and torch cannot"):
        make_policy(device="nowhere")
    with pytest.raises(BadArguments, match="threads=0 was asked for"):
        make_policy(threads=0)
    with pytest.raises(BadArguments, match=r"Give it to gem\.rollout, which fills them in"):
        policy(gem.Request())
    with pytest.raises(BadArguments, match="to go on from 96 tokens, and reads max_length=96"):
        policy(gem.Request(prompt_ids=(1,) * 96))
    with pytest.raises(BadArguments, match="with a batch of no episodes"):
        policy.update(Batch([], []))
    with pytest.raises(BadArguments, match="with advantages for 2 episodes and 2 turns"):
        policy.update(Batch(episodes, [np.zeros(1), np.zeros(1)]))
    with pytest.raises(BadArguments, match="asked for values, and has no critic"):
        policy.values(episodes)
    with pytest.raises(BadArguments, match="holds no state of this policy: FileNotFoundError"):
        policy.restore(tmp_path)
    TransformerPolicy(ByteTokenizer()).save(tmp_path)
    with pytest.raises(BadArguments, match="size mismatch"):
        policy.restore(tmp_path)
    torch.save([1], tmp_path / "state.pt")
    with pytest.raises(BadArguments, match="holds no state of this policy: TypeError"):
        policy.restore(tmp_path)
    (tmp_path / "state.pt").write_bytes(b"no zip")
    with pytest.raises(BadArguments, match="holds no state of this policy"):
        policy.restore(tmp_path)
