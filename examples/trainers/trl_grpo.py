"""Train by TRL's GRPOTrainer on the environment that is named; `trl_grpo.yaml` configures it.

    python examples/trainers/trl_grpo.py --env guess --config examples/trainers/trl_grpo.yaml

Everything of `GRPOConfig` and `ModelConfig` may be given as an argument, too. `--env` is `guess`,
`arithmetic`, `tool`, whose tool the model calls in its text, or `methods`, where the tool and the
environment are TRL's own tool calls, which a model must have been trained for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer, ModelConfig, TrlParser

from gem_integrations.rows import rows
from gem_integrations.trl import environment, reward_func, rollout_func

PYTHON = {"wrappers": ["python_tool"], "max_turns": 4}
CHOICES: dict[str, tuple[str, dict[str, Any]]] = {
    "guess": ("game:GuessTheNumber-v0-hard", {"max_turns": 7, "max_turn_tokens": 512}),
    "arithmetic": ("math:Arithmetic-v0", {}),
    "tool": ("math:Arithmetic-v0", PYTHON),
    "methods": ("math:Arithmetic-v0", PYTHON),
}


@dataclass
class Chosen:
    """What to train on. `episodes` rows are written; each is a group of `num_generations`."""

    env: str = field(default="guess", metadata={"choices": sorted(CHOICES)})
    episodes: int = 6400
    tool_prompt: str = "Work with the tools, and give your answer by calling `act`.\n\n"


def main() -> None:
    """Read the arguments and train."""
    chosen, config, model = TrlParser((Chosen, GRPOConfig, ModelConfig)).parse_args_and_config()
    env_id, options = CHOICES[chosen.env]
    written = rows(env_id, count=chosen.episodes, seed=config.seed)
    if chosen.env == "methods":
        prompt = [{"role": "user", "content": chosen.tool_prompt}]
        data = [{"prompt": prompt, "seed": row["seed"]} for row in written]
        parts: dict[str, Any] = {"environment_factory": environment(env_id, **options)}
    else:
        data = [{"prompt": row["label"]} for row in written]
        parts = {"rollout_func": rollout_func(env_id, **options), "reward_funcs": reward_func}
    trainer = GRPOTrainer(
        model=model.model_name_or_path, args=config, train_dataset=Dataset.from_list(data), **parts
    )
    trainer.train()
    print(json.dumps(trainer.state.log_history[-1]))


if __name__ == "__main__":
    main()
