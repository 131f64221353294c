"""Train a model by Tinker's cookbook on an environment; needs a key of Tinker's service.

    python examples/trainers/tinker_grpo.py examples/trainers/tinker_grpo.yaml guess
    python examples/trainers/tinker_grpo.py examples/trainers/tinker_grpo.yaml arithmetic
    python examples/trainers/tinker_grpo.py examples/trainers/tinker_grpo.yaml tool

The file says what the words mean, and everything else.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import yaml
from tinker_cookbook.rl import train

from gem_integrations.tinker import GemDatasetBuilder


def config_of(path: str, name: str) -> train.Config:
    """Return the cookbook's configuration of one of the environments in a file."""
    config = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    training = config["training"]
    data = GemDatasetBuilder(
        model_name_for_tokenizer=training["model_name"],
        **config["groups"],
        **config["environments"][name],
    )
    log_path = f"{training.pop('log_path')}/{name}"
    return train.Config(dataset_builder=data, log_path=log_path, recipe_name=name, **training)


if __name__ == "__main__":
    asyncio.run(train.main(config_of(*sys.argv[1:3])))
