"""A fault that every episode has stops GRPOTrainer, or never lets it begin."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fragile import HOPELESS, TURNING

sys.path.insert(0, str(Path(__file__).parent))  # for trl_rig.py

from harness import PAYING
from pages import EXAMPLES
from trl_rig import Scripted, Watched, tiny, trainer_of

from gem.errors import BadArguments
from gem_integrations.episodes import UnplayableError
from gem_integrations.faults import EPISODES
from gem_integrations.trl import environment, reward_func, rollout_func

SHARED = f"the last {EPISODES} in this process all ended .* OSError: the board is lost"


@pytest.mark.parametrize("door", [rollout_func, environment])
def test_no_trainer_is_made_of_what_cannot_begin(door: Any) -> None:
    with pytest.raises(UnplayableError, match=r"none can begin: .* OSError: the board is lost"):
        door(HOPELESS)


@pytest.mark.parametrize("door", [rollout_func, environment])
def test_nor_of_a_misspelt_argument(door: Any) -> None:
    with pytest.raises(BadArguments, match="lenght"):
        door(PAYING, env_kwargs={"lenght": 3})


def test_the_example_stops_where_there_is_no_sandbox() -> None:
    """It ended with status 0 before, and had trained nothing."""
    config = str(EXAMPLES / "trl_grpo.yaml")
    asked = ["--env", "tool", "--config", config, "--use_cpu", "True", "--bf16", "False"]
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "trl_grpo.py"), *asked],
        env={**os.environ, "PATH": ""},
        check=False,
        capture_output=True,
        text=True,
    )

    assert done.returncode != 0
    assert "bubblewrap (the command `bwrap`) is not installed" in done.stderr


def trainer(tokenizer: Any, folder: Any, size: int, steps: int) -> Watched:
    """Return a trainer of rows with a seed each, in groups of two."""
    return trainer_of(
        tokenizer,
        tiny(tokenizer, Scripted),
        [json.dumps({"seed": seed}) for seed in range(size * steps // 2)],
        folder,
        rollout_func=rollout_func(TURNING),
        reward_funcs=reward_func,
        per_device_train_batch_size=size,
        max_steps=steps,
    )


def test_a_batch_that_all_ends_by_one_error_ends_the_training(
    tokenizer: Any, tmp_path: Path
) -> None:
    made = trainer(tokenizer, tmp_path, EPISODES, 1)

    with pytest.raises(UnplayableError, match=SHARED):
        made.train()
    assert made.state.global_step == 0


def test_small_batches_that_all_do_end_it_as_well(tokenizer: Any, tmp_path: Path) -> None:
    made = trainer(tokenizer, tmp_path, 2, EPISODES)

    with pytest.raises(UnplayableError, match=SHARED):
        made.train()
    assert made.state.global_step == EPISODES // 2 - 1


def test_a_class_of_tools_ends_it_at_the_reset_after_them(tokenizer: Any) -> None:
    kind: Any = environment(TURNING)
    for seed in range(EPISODES):
        played = kind()
        played.reset(seed=seed)
        with pytest.raises(OSError, match="the board is lost"):  # TRL shows it to the model
            played.act("x")

    with pytest.raises(UnplayableError, match=SHARED):
        kind().reset(seed=EPISODES)
