"""A model that calls a tool as the chat template asks is understood, in GRPOTrainer's own loop."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # for trl_rig.py

from harness import GAME
from templates import CALL, SEED, TOOLS, check, with_tools
from trl_rig import Scripted, tiny, trainer_of

from gem_integrations.trl import reward_func, rollout_func


def test_a_call_as_the_template_asks_for_it_is_answered(
    tokenizer: Any, tmp_path: Path, shown: Counter[str]
) -> None:
    tokenizer = with_tools(tokenizer)
    model = tiny(tokenizer, Scripted)
    model.first = CALL
    trainer = trainer_of(
        tokenizer,
        model,
        [json.dumps({"seed": SEED})],
        tmp_path,
        rollout_func=rollout_func(**GAME | TOOLS),
        reward_funcs=reward_func,
        per_device_train_batch_size=2,
    )

    trainer.train()

    for got in trainer.batches[0]:
        ids = got.prompt_ids + got.response_ids
        check(tokenizer, ids, [0] * len(got.prompt_ids) + got.response_mask)
        shown["tokens"] += len(ids)
