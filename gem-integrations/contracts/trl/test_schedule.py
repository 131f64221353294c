"""GRPOTrainer trains on the components of a schedule, which a callback steers between steps."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for trl_rig.py

from harness import GAME, PAYING
from transformers import TrainerCallback
from trl_rig import Scripted, Watched, tiny, trainer_of

import gem
from gem.errors import BadArguments
from gem_integrations.trl import reward_func, rollout_func

COMPONENTS = [{"env": GAME["env_id"], "name": "game"}, {"env": PAYING, "name": "pays"}]


class Steered(TrainerCallback):
    """Leaves one component out after the first step."""

    def __init__(self, schedule: gem.Schedule, without: str) -> None:
        self.schedule, self.without = schedule, without

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.schedule.update(weights={self.without: 0})


def trained(tokenizer: Any, folder: Any, prompt: str, **options: Any) -> Watched:
    schedule = gem.Schedule(COMPONENTS)
    trainer = trainer_of(
        tokenizer,
        tiny(tokenizer, Scripted),
        [prompt] * 24,
        folder,
        rollout_func=rollout_func(schedule, max_turns=4),
        reward_funcs=reward_func,
        per_device_train_batch_size=16,
        max_steps=3,
        callbacks=[Steered(schedule, "pays")],
        **options,
    )
    trainer.train()
    return trainer


def test_a_callback_steers_the_environments_of_the_next_step(tokenizer: Any, tmp_path: Any) -> None:
    trainer = trained(tokenizer, tmp_path, "")

    ids = [[episode.env_id for episode in given["episode"]] for given in trainer.given]
    assert [set(each) for each in ids] == [{GAME["env_id"], PAYING}, *[{GAME["env_id"]}] * 2]
    assert all(each[::2] == each[1::2] for each in ids)  # a group is of one component


def test_a_row_may_fix_the_seed_and_not_the_task(tokenizer: Any, tmp_path: Any) -> None:
    trainer = trained(tokenizer, tmp_path, json.dumps({"seed": 3}))

    assert {episode.seed for episode in trainer.given[0]["episode"]} == {3}
    with pytest.raises(BadArguments, match="fixes task 1, and a schedule chooses"):
        trained(tokenizer, tmp_path, json.dumps({"seed": 3, "task": 1}))
