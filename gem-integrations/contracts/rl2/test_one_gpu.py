"""The command of docs/trainers/one-gpu.md has keys of RL2's configuration alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from pages import arguments_of, launched


def test_rl2_has_the_keys_of_the_page(tmp_path: Path, checkout: Path) -> None:
    """Hydra, which RL2 composes it by, is not pinned here: its defaults are joined by hand."""
    folder = checkout / "RL2" / "trainer" / "config"
    config: Any = OmegaConf.load(folder / "ppo.yaml")
    actor = OmegaConf.load(folder / "actor" / "fsdp.yaml")
    config.actor = OmegaConf.merge(actor, config.actor)
    OmegaConf.set_struct(config, True)

    [asked] = arguments_of("rl2_reinforce.sh")
    processes, _, program, *stated = launched(tmp_path, "rl2_reinforce.sh", asked, GPUS="1")
    for each in stated:
        key, _, value = each.partition("=")
        OmegaConf.update(config, key, value)  # raises for a key that there is not

    assert (processes, program) == ("--nproc_per_node=1", "RL2.trainer.ppo")
    assert config.actor.model_name == "Qwen/Qwen2.5-0.5B-Instruct"
    assert config.rollout.server_args.mem_fraction_static == "0.4"
