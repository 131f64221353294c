"""The command of docs/trainers/one-gpu.md makes a configuration that verl accepts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import verl
from hydra import compose, initialize_config_dir
from pages import arguments_of, launched
from verl.utils.config import validate_config


def test_verl_accepts_what_the_page_says(tmp_path: Path) -> None:
    [asked] = arguments_of("verl_grpo.sh")
    program, *stated = launched(tmp_path, "verl_grpo.sh", asked)[1:]
    folder = Path(verl.__file__).parent / "trainer" / "config"
    with initialize_config_dir(str(folder), version_base=None):
        config: Any = compose("ppo_trainer", stated)

    validate_config(config, use_reference_policy=False, use_critic=False)
    assert program == "verl.trainer.main_ppo"
    assert config.trainer.n_gpus_per_node == 1
    assert config.data.train_batch_size == config.actor_rollout_ref.actor.ppo_mini_batch_size == 16
    assert config.actor_rollout_ref.model.path == "Qwen/Qwen2.5-0.5B-Instruct"
