"""The file of docs/trainers/one-gpu.md is a configuration of ROLL, as its script reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from dacite import from_dict
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from pages import EXAMPLES, arguments_of
from roll.pipeline.agentic.agentic_config import AgenticConfig


@pytest.mark.parametrize("name", ["guess", "tool"])
def test_roll_reads_the_file_of_the_page(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # ROLL makes folders beside it
    monkeypatch.setenv("GEM_EXAMPLE", name)
    [asked] = arguments_of("roll_grpo.sh")
    with initialize_config_dir(str(EXAMPLES), version_base=None):
        stated = compose(asked[1])

    config = from_dict(AgenticConfig, OmegaConf.to_container(stated, resolve=True))  # type: ignore[arg-type]

    workers = (config.actor_train, config.actor_infer, config.reference)
    assert [each.device_mapping for each in workers] == [[0], [0], [0]]
    assert config.actor_train.strategy_args.strategy_name == "megatron_train"
    envs = config.train_env_manager
    assert envs.num_env_groups * envs.group_size == config.rollout_batch_size == 64
    assert config.custom_envs[name].env_manager_cls == "gem_integrations.roll.TokenEnvManager"
