"""The advantages that TRL's trainers compute for given rewards, and our estimators' of the same."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for trl_rig.py

from trl import RLOOConfig, RLOOTrainer
from trl_rig import CONFIG, tiny, trainer_of

from gem.returns import dr_grpo, grpo, rebn, rloo


def advantages_of(tokenizer: Any, folder: Path, kind: str, rewards: Any, **options: Any) -> Any:
    """Return the advantages that a trainer of TRL computes for these rewards, in pairs of 4."""
    flat = rewards.ravel().tolist()
    shared = CONFIG | {"num_generations": rewards.shape[1], "max_completion_length": 2}
    shared |= {"per_device_train_batch_size": rewards.size}
    model, data = tiny(tokenizer), [{"prompt": "x"}] * len(rewards)

    def paid(**_: Any) -> Any:
        return flat

    if kind == "grpo":
        trainer: Any = trainer_of(
            tokenizer, model, data, folder, reward_funcs=paid, **shared | options
        )
    else:
        trainer = RLOOTrainer(
            model=model,
            reward_funcs=paid,
            args=RLOOConfig(output_dir=str(folder), **shared | options),
            train_dataset=trainer_of(
                tokenizer, model, data, folder, reward_funcs=paid
            ).train_dataset,
            processing_class=tokenizer,
        )
    out = trainer._generate_and_score_completions(data_of(data, rewards.shape[1]))
    return out["advantages"].double().numpy()


def data_of(data: Sequence[dict[str, Any]], members: int) -> list[dict[str, Any]]:
    return [dict(each) for each in data for _ in range(members)]


@pytest.fixture(params=range(3))
def rewards(request: pytest.FixtureRequest) -> Any:
    """Random rewards of six groups, of three sizes."""
    drawn = np.random.default_rng(request.param).normal(size=(6, 8)) * 10**request.param
    return drawn.astype(np.float32)


def test_dr_grpo_is_trls_without_scaling(
    tokenizer: Any, tmp_path: Path, rewards: Any, shown: Counter[str]
) -> None:
    theirs = advantages_of(tokenizer, tmp_path, "grpo", rewards, scale_rewards="none")

    ours = dr_grpo(rewards.ravel(), np.arange(rewards.size) // 8)
    assert np.allclose(theirs, ours, rtol=1e-5, atol=1e-5 * np.abs(rewards).max())
    shown["advantages"] += rewards.size


def test_grpo_is_trls_with_the_deviation_of_a_population(
    tokenizer: Any, tmp_path: Path, rewards: Any, shown: Counter[str]
) -> None:
    theirs = advantages_of(tokenizer, tmp_path, "grpo", rewards, scale_rewards="group")

    ours = grpo(rewards.ravel(), np.arange(rewards.size) // 8)
    std, sample_std = (np.repeat(rewards.std(1, ddof=each), 8) for each in (0, 1))
    assert np.allclose(theirs, ours * std / (sample_std + 1e-4), atol=1e-4)
    shown["advantages"] += rewards.size


def test_scaling_by_the_batch_is_dr_grpo_over_its_deviation(
    tokenizer: Any, tmp_path: Path, rewards: Any, shown: Counter[str]
) -> None:
    theirs = advantages_of(tokenizer, tmp_path, "grpo", rewards, scale_rewards="batch")

    ours = dr_grpo(rewards.ravel(), np.arange(rewards.size) // 8)
    assert np.allclose(theirs, ours / (rewards.std(ddof=1) + 1e-4), atol=1e-4)
    shown["advantages"] += rewards.size


def test_normalising_twice_is_rebn_of_grpo(
    tokenizer: Any, tmp_path: Path, rewards: Any, shown: Counter[str]
) -> None:
    """TRL's `normalize_then_sum`, with one reward: each group, then the batch."""
    theirs = advantages_of(
        tokenizer, tmp_path, "grpo", rewards, multi_objective_aggregation="normalize_then_sum"
    )

    ours = rebn(grpo(rewards.ravel(), np.arange(rewards.size) // 8))
    sample = np.sqrt((rewards.size - 1) / rewards.size)
    assert np.allclose(theirs, ours * sample, atol=2e-3)  # TRL adds 1e-4 to each deviation
    shown["advantages"] += rewards.size


def test_equal_rewards_are_exact_zeros_here_and_nearly_so_in_trl(
    tokenizer: Any, tmp_path: Path, rewards: Any
) -> None:
    constant = np.repeat(rewards[:, :1], 8, axis=1)

    theirs = advantages_of(tokenizer, tmp_path, "grpo", constant, scale_rewards="group")

    groups = np.arange(constant.size) // 8
    assert not any(of(constant.ravel(), groups).any() for of in (grpo, dr_grpo, rloo))
    assert np.abs(theirs).max() < 0.2  # it divides what rounding leaves by 1e-4


def test_rloo_is_trls(tokenizer: Any, tmp_path: Path, rewards: Any, shown: Counter[str]) -> None:
    theirs = advantages_of(tokenizer, tmp_path, "rloo", rewards)

    ours = rloo(rewards.ravel(), np.arange(rewards.size) // 8)
    assert np.allclose(theirs, ours, rtol=1e-4, atol=1e-5 * np.abs(rewards).max())
    shown["advantages"] += rewards.size


def test_what_is_masked_is_what_trl_leaves_out(
    tokenizer: Any, tmp_path: Path, rewards: Any
) -> None:
    """A reward function that says None takes an episode out of its group."""
    kept = np.random.default_rng(0).random(rewards.shape) < 0.7
    told = np.where(kept, rewards, np.float32("nan"))

    theirs = advantages_of(tokenizer, tmp_path, "grpo", told, scale_rewards="none")

    ours = dr_grpo(rewards.ravel(), np.arange(rewards.size) // 8, mask=kept.ravel())
    assert np.allclose(theirs, ours, rtol=1e-5, atol=1e-5 * np.abs(rewards).max())
