"""A model of transformers by the contract of a policy that learns."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="gem-baselines' extra `hf` is not installed")
pytest.importorskip("transformers", reason="gem-baselines' extra `hf` is not installed")

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, GenerationConfig

import gem
from gem.errors import BadArguments
from gem_baselines._sampling import Question
from gem_baselines.hf.policy import HFPolicy
from gem_baselines.learning import Row, rows_of
from gem_baselines.learning._passes import read
from gem_baselines.learning_policy import Batch
from gem_baselines.policies import again
from gem_baselines.training import Experiment, train
from gem_baselines.training.training import Training

from .small import CONTEXT, make_policy, play


def rows_by(policy: HFPolicy, episodes: list[gem.Episode]) -> list[Row]:
    """Return rows with an advantage of 1 for each turn, and the critic's targets."""
    ones = [np.ones(len(episode.turns)) for episode in episodes]
    return rows_of(Batch(episodes, ones, ones))


def test_sampled_logprobs_equal_those_of_reading_the_episode_whole(model_folder: Path) -> None:
    policy = make_policy(model_folder, temperature=0.8)
    episodes = play(policy, episodes=16)
    rows = rows_by(policy, episodes)

    readings = read(policy._learner.model, rows, temperature=0.8)

    assert len({sum(turn.mask or ()) for episode in episodes for turn in episode.turns}) > 1
    for row, reading in zip(rows, readings, strict=True):
        assert row.logprobs is not None
        assert np.abs(row.logprobs - reading.logprobs).max() < 1e-5


def test_a_row_reads_alike_alone_and_among_longer_ones(model_folder: Path) -> None:
    policy = make_policy(model_folder, critic=True)
    model: Any = policy._learner.model
    torch.nn.init.ones_(model.critic.weight)
    rows = rows_by(policy, play(policy))

    together = read(model, rows, temperature=1.0)
    alone = [read(model, [row], temperature=1.0)[0] for row in rows]

    assert len({len(row.ids) for row in rows}) > 1
    for one, other in zip(together, alone, strict=True):
        assert one.values is not None
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-5)
        assert one.values == pytest.approx(other.values, abs=1e-5)


def test_it_learns_what_earns_more(model_folder: Path) -> None:
    policy = make_policy(model_folder, learning={"lr": 0.01}, max_turn_tokens=1)
    means = []
    for seed in range(12):
        episodes = play(policy, episodes=16, seed=seed)
        rewards = [np.array([turn.reward for turn in episode.turns]) for episode in episodes]
        means.append(float(np.concatenate(rewards).mean()))
        policy.update(Batch(episodes, [own - means[-1] for own in rewards]))

    assert means[0] < 0.4
    assert means[-1] > 0.9


def test_a_training_goes_on_from_a_checkpoint_with_the_same_metrics(
    model_folder: Path, experiment: Callable[..., Experiment], tmp_path: Path
) -> None:
    kwargs = {
        "path": str(model_folder),
        "max_turn_tokens": 2,
        "learning": {"lr": 0.001, "minibatches": 2, "kl_weight": 0.1, "precision": "bf16"},
        "critic": True,
        "threads": 1,
        "sample_at_once": 1,  # or timing would decide what is computed together
    }
    by_token = {"policy": "hf", "policy_kwargs": kwargs, "estimator": "ppo_token", "updates": 3}
    whole = train(experiment(**by_token), tmp_path / "whole")
    train(experiment(**{**by_token, "updates": 2}), tmp_path / "part")

    Training.resumed(tmp_path / "part", {"updates": 3}).run()

    metrics = (tmp_path / "whole" / "metrics.jsonl").read_bytes()
    assert (tmp_path / "part" / "metrics.jsonl").read_bytes() == metrics
    assert {"value_loss", "reference_kl"} <= set(whole.folder.metrics[0]["learning"])


def test_alone_a_sequence_has_the_same_metrics_at_any_concurrency(
    model_folder: Path, experiment: Callable[..., Experiment], tmp_path: Path
) -> None:
    kwargs = {"path": str(model_folder), "max_turn_tokens": 2, "threads": 1, "sample_at_once": 1}
    alone = {"policy": "hf", "policy_kwargs": kwargs, "updates": 2, "episodes": 8, "eval_every": 0}

    for concurrency in (1, 3, 64):
        train(experiment(**alone, concurrency=concurrency), tmp_path / str(concurrency))

    texts = {(tmp_path / name / "metrics.jsonl").read_bytes() for name in ("1", "3", "64")}
    assert len(texts) == 1


def test_what_is_exported_plays_the_same(model_folder: Path, tmp_path: Path) -> None:
    state = torch.get_rng_state()
    policy = make_policy(model_folder, seed=3)
    policy.export(tmp_path)

    exported = make_policy(tmp_path, seed=4)
    other = make_policy(model_folder, seed=4)

    fingerprints = [episode.fingerprint() for episode in play(policy)]
    assert [episode.fingerprint() for episode in play(exported)] == fingerprints
    assert [episode.fingerprint() for episode in play(other)] != fingerprints
    assert torch.equal(torch.get_rng_state(), state)


def test_what_is_exported_says_as_its_folder_how_to_sample(
    model_folder: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(model_folder, tmp_path / "model")
    make_policy(folder).export(tmp_path / "without")
    GenerationConfig(eos_token_id=[1, 3], temperature=0.7, do_sample=True).save_pretrained(folder)
    make_policy(folder).export(tmp_path / "with")
    make_policy(folder).export(folder)

    def read(name: str) -> Any:
        return AutoModelForCausalLM.from_pretrained(tmp_path / name).generation_config

    assert read("without").eos_token_id == 1  # of config.json
    assert (read("with").eos_token_id, read("with").temperature) == ([1, 3], 0.7)
    assert read("model").eos_token_id == [1, 3]


@pytest.mark.parametrize("is_tied", [False, True])
def test_weights_of_which_a_part_is_missing_are_not_drawn_at_random(
    model_folder: Path, tmp_path: Path, is_tied: bool
) -> None:
    whole = shutil.copytree(model_folder, tmp_path / "whole")
    config = json.loads((whole / "config.json").read_text())
    (whole / "config.json").write_text(json.dumps({**config, "tie_word_embeddings": is_tied}))
    exported = tmp_path / "exported"
    make_policy(whole).export(exported)
    weights = load_file(exported / "model.safetensors")

    make_policy(exported)  # a head that shares its weights is in no file, and is not missing
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, exported / "model.safetensors", {"format": "pt"})

    assert ("lm_head.weight" in weights) is not is_tied
    with pytest.raises(BadArguments, match=r"1 of its weights are in no file, as model\.layers\.1"):
        make_policy(exported)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.safetensors.index.json", "q4.gguf"])
def test_weights_that_are_not_read_are_not_drawn_at_random(
    model_folder: Path, tmp_path: Path, name: str
) -> None:
    folder = shutil.copytree(model_folder, tmp_path / "model")
    (folder / "training_args.bin").touch()  # of a trainer, and no weights
    make_policy(folder)
    (folder / name).touch()

    with pytest.raises(BadArguments, match=f"safetensors alone, and there is {name} in their"):
        make_policy(folder)


def test_what_is_described_as_json_makes_an_equal_policy(model_folder: Path) -> None:
    policy = make_policy(model_folder, learning={"lr": 0.1}, template_options={"x": 1})

    made = again("hf", json.loads(json.dumps(policy.describe())))

    assert made.describe() == policy.describe()


def test_a_row_ends_at_its_own_limit_and_within_the_context(model_folder: Path) -> None:
    sampler = make_policy(model_folder)._sampler
    prompts = [(4, 5, 6) * 20, (4, 5), (6,)]
    questions = [
        Question(ids, limit, seed)
        for seed in range(4)
        for ids, limit in zip(prompts, (CONTEXT - 60, 1, 7), strict=True)
    ]

    together = sampler.sample(questions, is_greedy=False)
    alone = [sampler.sample([question], is_greedy=False)[0] for question in questions]

    for question, answer, own in zip(questions, together, alone, strict=True):
        assert answer.ids == own.ids
        assert answer.logprobs == pytest.approx(own.logprobs, abs=1e-5)
        assert len(answer.ids) == question.limit or answer.ids[-1] == 1
        assert 1 not in answer.ids[:-1]


def test_a_row_near_the_end_of_the_context_has_no_other_row_wait(model_folder: Path) -> None:
    policy = make_policy(model_folder)
    model: Any = policy._learner.model
    num_rows = []
    model.inner.register_forward_pre_hook(
        lambda module, args, kwargs: num_rows.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    lengths = (4, CONTEXT - 2, 3, 5, CONTEXT - 3)
    questions = [Question((4,) * length, min(7, CONTEXT - length), 0) for length in lengths]

    policy._sampler.sample(questions, is_greedy=False)

    assert set(num_rows) == {3, 1}


def test_a_greedy_policy_draws_nothing(model_folder: Path) -> None:
    policy = make_policy(model_folder, is_greedy=True)

    async def answers() -> set[Any]:
        requests = [
            gem.Request(prompt_ids=(3, 5, 1, 4), seed=seed, token_budget=3) for seed in range(12)
        ]
        return {reply.token_ids for reply in await asyncio.gather(*map(policy, requests))}

    assert len(asyncio.run(answers())) == 1
    policy.is_greedy = False
    assert len(asyncio.run(answers())) > 1


def test_wrong_use_is_refused_in_one_line(model_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadArguments, match=r"has no config\.json\. Give a folder"):
        make_policy(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(BadArguments, match=r"The model in .* cannot be loaded: ValueError"):
        make_policy(tmp_path)
    with pytest.raises(BadArguments, match="the sampler 'transformers' takes none"):
        make_policy(model_folder, sampler_options={"seed": 1})
    with pytest.raises(BadArguments, match=r"has no critic\. Make it with critic=True"):
        make_policy(model_folder).values([])
